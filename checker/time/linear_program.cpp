#include "checker/time/linear_program.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace lockstep::checker {

LinearProgram::LinearProgram(std::span<const Fraction> least, std::span<const Fraction> greatest,
                             std::span<const Fraction> costs)
    : variables_(static_cast<std::uint32_t>(costs.size())) {
  assert(least.size() == costs.size() && greatest.size() == costs.size());
  // At the end of the box at which the function is least no variable can lower it.
  for (std::uint32_t i = 0; i < variables_; ++i) {
    is_flipped_.push_back(costs[i].sign() < 0);
    origin_.push_back(is_flipped_[i] ? greatest[i] : least[i]);
    costs_.push_back(is_flipped_[i] ? -costs[i] : costs[i]);
    nonbasic_.push_back(i);
  }
  const std::size_t dimensions = costs.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::vector<Fraction> coefficients(dimensions);
    coefficients[i] = Fraction(-1);
    add_row(greatest[i] - least[i], std::move(coefficients));
  }
}

void LinearProgram::add_row(Fraction constant, std::vector<Fraction> coefficients) {
  rows_.push_back({variables_++, constant, std::move(coefficients)});
}

void LinearProgram::require(const LinearInequality& inequality) {
  Fraction constant = inequality.constant;
  std::vector<Fraction> coefficients(nonbasic_.size());
  for (std::size_t i = 0; i < inequality.coefficients.size(); ++i) {
    const Fraction& factor = inequality.coefficients[i];
    if (factor.sign() == 0) continue;
    constant += factor * origin_[i];
    const Fraction of_y = is_flipped_[i] ? -factor : factor;
    bool is_nonbasic = false;
    for (std::size_t j = 0; j < nonbasic_.size(); ++j) {
      if (nonbasic_[j] != i) continue;
      coefficients[j] += of_y;
      is_nonbasic = true;
    }
    for (const Row& row : rows_) {
      if (is_nonbasic || row.basic != i) continue;
      constant += of_y * row.constant;
      for (std::size_t j = 0; j < nonbasic_.size(); ++j) coefficients[j] += of_y * row.coefficients[j];
    }
  }
  add_row(constant, std::move(coefficients));
}

/// The row's variable becomes nonbasic, in this column, whose variable becomes basic.
void LinearProgram::pivot(Row& row, std::size_t column) {
  const Fraction factor = row.coefficients[column];
  std::swap(row.basic, nonbasic_[column]);
  // y = (slack - constant - others) / factor
  row.constant = -row.constant / factor;
  for (std::size_t j = 0; j < nonbasic_.size(); ++j) {
    row.coefficients[j] = j == column ? Fraction(1) / factor : -row.coefficients[j] / factor;
  }
  for (Row& other : rows_) {
    if (&other == &row) continue;
    const Fraction share = other.coefficients[column];
    if (share.sign() == 0) continue;
    other.coefficients[column] = {};
    other.constant += share * row.constant;
    for (std::size_t j = 0; j < nonbasic_.size(); ++j) other.coefficients[j] += share * row.coefficients[j];
  }
  const Fraction share = costs_[column];
  costs_[column] = {};
  for (std::size_t j = 0; j < nonbasic_.size(); ++j) costs_[j] += share * row.coefficients[j];
}

const std::vector<Fraction>* LinearProgram::solve() {
  while (!is_infeasible_) {
    Row* leaving = nullptr;
    for (Row& row : rows_) {
      if (row.constant.sign() < 0 && (leaving == nullptr || row.basic < leaving->basic)) leaving = &row;
    }
    if (leaving == nullptr) break;
    // The column whose cost falls to 0 first, so that none becomes negative; of equal ones the first variable, so that
    // it ends.
    std::optional<std::size_t> entering;
    for (std::size_t j = 0; j < nonbasic_.size(); ++j) {
      if (leaving->coefficients[j].sign() <= 0) continue;
      if (entering) {
        const Fraction here = costs_[j] / leaving->coefficients[j];
        const Fraction there = costs_[*entering] / leaving->coefficients[*entering];
        if (there < here || (here == there && nonbasic_[*entering] < nonbasic_[j])) continue;
      }
      entering = j;
    }
    if (!entering) {
      is_infeasible_ = true;
      break;
    }
    pivot(*leaving, *entering);
  }
  if (is_infeasible_) return nullptr;
  point_ = origin_;
  for (const Row& row : rows_) {
    if (row.basic >= origin_.size()) continue;
    point_[row.basic] += is_flipped_[row.basic] ? -row.constant : row.constant;
  }
  return &point_;
}

Fraction LinearProgram::price(std::size_t inequality) const {
  // Before it there are the variables and the upper ends of the box.
  const std::size_t slack = 2 * origin_.size() + inequality;
  const auto column = std::find(nonbasic_.begin(), nonbasic_.end(), slack);
  return column == nonbasic_.end() ? Fraction() : costs_[static_cast<std::size_t>(column - nonbasic_.begin())];
}

}  // namespace lockstep::checker
