#pragma once

// Exact fractions, for the few places that need more than whole numbers: parameter_space.hpp.

#include <cassert>
#include <compare>
#include <cstdint>

namespace lockstep::checker {

/// A rational number in lowest terms. Asserts that nothing overflows 127 bits: the numbers here are nanoseconds of some
/// days times determinants of a few small coefficients.
class Fraction {
 public:
  using Integer = __int128;

  constexpr Fraction() = default;
  constexpr explicit Fraction(std::int64_t whole) : numerator_(whole) {}
  constexpr Fraction(Integer numerator, Integer denominator) : numerator_(numerator), denominator_(denominator) {
    assert(denominator != 0);
    if (denominator_ < 0) {
      numerator_ = -numerator_;
      denominator_ = -denominator_;
    }
    const Integer divisor = greatest_divisor(numerator_ < 0 ? -numerator_ : numerator_, denominator_);
    if (divisor > 1) {
      numerator_ /= divisor;
      denominator_ /= divisor;
    }
  }

  constexpr Integer numerator() const { return numerator_; }
  constexpr Integer denominator() const { return denominator_; }
  constexpr int sign() const { return numerator_ > 0 ? 1 : numerator_ < 0 ? -1 : 0; }
  constexpr bool is_whole() const { return denominator_ == 1; }

  constexpr Fraction operator-() const { return {-numerator_, denominator_}; }
  constexpr Fraction operator+(const Fraction& o) const {
    if (denominator_ == 1 && o.denominator_ == 1) return {sum(numerator_, o.numerator_), 1};
    return {sum(product(numerator_, o.denominator_), product(o.numerator_, denominator_)),
            product(denominator_, o.denominator_)};
  }
  constexpr Fraction operator-(const Fraction& o) const { return *this + -o; }
  constexpr Fraction operator*(const Fraction& o) const {
    if (numerator_ == 0 || o.numerator_ == 0) return {};
    return {product(numerator_, o.numerator_), product(denominator_, o.denominator_)};
  }
  constexpr Fraction operator/(const Fraction& o) const {
    return {product(numerator_, o.denominator_), product(denominator_, o.numerator_)};
  }
  constexpr Fraction& operator+=(const Fraction& o) { return *this = *this + o; }

  constexpr bool operator==(const Fraction&) const = default;
  constexpr std::strong_ordering operator<=>(const Fraction& o) const {
    const Integer a = product(numerator_, o.denominator_);
    const Integer b = product(o.numerator_, denominator_);
    return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
  }

 private:
  static constexpr Integer greatest_divisor(Integer a, Integer b) {
    while (b != 0) {
      const Integer rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  }
  static constexpr Integer sum(Integer a, Integer b) {
    Integer result = 0;
    const bool overflows = __builtin_add_overflow(a, b, &result);
    assert(!overflows && "a fraction of more than 127 bits");
    static_cast<void>(overflows);
    return result;
  }
  static constexpr Integer product(Integer a, Integer b) {
    Integer result = 0;
    const bool overflows = __builtin_mul_overflow(a, b, &result);
    assert(!overflows && "a fraction of more than 127 bits");
    static_cast<void>(overflows);
    return result;
  }

  Integer numerator_ = 0;
  Integer denominator_ = 1;
};

}  // namespace lockstep::checker
