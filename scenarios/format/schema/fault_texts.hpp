#pragma once

// Lists of kinds of faults for the tables of keys: from the table of faults, put together by the compiler.

#include <array>
#include <cstddef>
#include <string_view>

#include "scenarios/format/schema/table.hpp"
#include "sim/worlds/fault_kinds.hpp"

namespace lockstep::scenarios::schema {

struct FixedText {
  std::array<char, 256> letters{};
  std::size_t size = 0;

  constexpr FixedText& operator+=(std::string_view more) {
    for (const char letter : more) letters[size++] = letter;
    return *this;
  }
  constexpr operator std::string_view() const { return {letters.data(), size}; }
};

/// "a, b or c", each between these.
template <std::size_t N>
constexpr FixedText listed(const std::array<std::string_view, N>& names, std::string_view quote,
                           std::string_view last) {
  FixedText text;
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0) text += i + 1 == N ? last : ", ";
    ((text += quote) += names[i]) += quote;
  }
  return text;
}

template <std::size_t N>
constexpr FixedText listed_kinds(const std::array<std::pair<std::string_view, sim::FaultKind>, N>& kinds) {
  std::array<std::string_view, N> names{};
  for (std::size_t i = 0; i < N; ++i) names[i] = kinds[i].first;
  return listed(names, "\"", " or ");
}

/// A bit for each of these kinds of which `is_one` is true.
template <std::size_t N, class IsOne>
constexpr Kinds bits_where(const std::array<std::pair<std::string_view, sim::FaultKind>, N>& kinds, IsOne is_one) {
  static_assert(N <= 8 * sizeof(Kinds));
  std::size_t bits = 0;
  for (std::size_t i = 0; i < N; ++i) bits |= is_one(kinds[i].second) ? std::size_t{1} << i : 0;
  // What all have, every kind has: the reference names none then.
  return bits == (std::size_t{1} << N) - 1 ? kEveryKind : static_cast<Kinds>(bits);
}

template <std::size_t N>
constexpr Kinds bit_of(sim::FaultKind kind, const std::array<std::pair<std::string_view, sim::FaultKind>, N>& kinds) {
  return bits_where(kinds, [kind](sim::FaultKind each) { return each == kind; });
}

}  // namespace lockstep::scenarios::schema
