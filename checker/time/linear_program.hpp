#pragma once

// Linear programs of a handful of variables, exactly: for parameter_space.hpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checker/time/fraction.hpp"

namespace lockstep::checker {

/// constant + sum of coefficients[i] * x[i] >= 0.
struct LinearInequality {
  Fraction constant;
  std::vector<Fraction> coefficients;
};

/// Minimizes a linear function over a box, cut by inequalities that come one by one. The dual simplex method (Lemke
/// 1954) with Bland's rule, in fractions: a new inequality leaves the solution optimal for what was there before, so
/// that it goes on from there.
class LinearProgram {
 public:
  /// Variable i is at least `least[i]` and at most `greatest[i]`; `costs` may be of any sign. Requires: equally many of
  /// each.
  LinearProgram(std::span<const Fraction> least, std::span<const Fraction> greatest, std::span<const Fraction> costs);

  void require(const LinearInequality& inequality);
  /// A point at which the function is least; nothing if no point satisfies all.
  const std::vector<Fraction>* solve();
  /// By how much the least value would grow if this inequality, the first of which is number 0, asked for 1 more.
  /// Requires: `solve` gave a point.
  Fraction price(std::size_t inequality) const;

 private:
  /// A basic variable: constant + sum of coefficients[j] * (the j-th nonbasic variable), all of which are at least 0.
  struct Row {
    std::uint32_t basic;
    Fraction constant;
    std::vector<Fraction> coefficients;
  };

  void pivot(Row& row, std::size_t column);
  void add_row(Fraction constant, std::vector<Fraction> coefficients);

  /// x[i] = origin[i] + sign * y[i], where y[i] >= 0 costs nothing less than 0.
  std::vector<Fraction> origin_;
  std::vector<bool> is_flipped_;
  std::vector<std::uint32_t> nonbasic_;  ///< by column: which variable; the first are the y, then the slacks
  std::vector<Fraction> costs_;          ///< by column, never negative
  std::vector<Row> rows_;
  std::uint32_t variables_ = 0;  ///< y and slacks
  std::vector<Fraction> point_;
  bool is_infeasible_ = false;
};

}  // namespace lockstep::checker
