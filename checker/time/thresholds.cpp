#include "checker/time/thresholds.hpp"

#include <algorithm>
#include <vector>

namespace lockstep::checker {
namespace {

constexpr sim::Duration kZero = sim::Duration::zero();
/// What is half as long as forever is no bound.
constexpr sim::Duration kLongest = sim::Duration::forever() / 4;

/// All lengths are at most, or less than, `limit`.
bool can_be_within(DifferenceConstraints& constraints, std::span<const Length> lengths, const Extent& limit) {
  const DifferenceConstraints::Mark mark = constraints.mark();
  const bool feasible = std::all_of(lengths.begin(), lengths.end(), [&](const Length& length) {
    return constraints.add_at_most(length.until, length.from + limit.value, !limit.attained);
  });
  constraints.undo(mark);
  return feasible;
}

}  // namespace

std::optional<Extent> least_largest(const DifferenceConstraints& constraints, std::span<const Length> lengths) {
  if (lengths.empty()) return Extent{kZero, true};
  if (lengths.size() == 1) {
    const Length& only = lengths.front();
    std::optional<Extent> least = constraints.least_difference(only.from.anchor(), only.until.anchor());
    if (least) least->value += only.until.offset() - only.from.offset();
    return least;
  }
  std::vector<ParametricBound> at_most;
  for (const Length& length : lengths) {
    at_most.push_back({.base = Constraint::at_most(length.until, length.from), .plus = 0});
  }
  const auto interval = feasible_parameter(constraints, at_most, {-kLongest, kLongest});
  if (!interval) return std::nullopt;
  return interval->least_whole();
}

bool is_smaller(const Extent& a, const Extent& b) {
  return a.value != b.value ? a.value < b.value : a.attained && !b.attained;
}

void ThresholdFold::add_upward(const Extent& extent) {
  if (!upward_ || is_smaller(extent, *upward_)) upward_ = extent;
}

void ThresholdFold::add_downward(const Extent& extent) {
  if (!downward_ || is_smaller({-extent.value, extent.attained}, {-downward_->value, downward_->attained}))
    downward_ = extent;
}

/// Nearly no trace improves what is known, and that is cheap to see: it must be less, or equal if that was only
/// approached.
bool ThresholdFold::can_improve(DifferenceConstraints& constraints, std::span<const Length> lengths) const {
  return !upward_ || can_be_within(constraints, lengths, {upward_->value, !upward_->attained});
}

bool ThresholdFold::is_undercut_by(const ThresholdFold& other) const {
  ThresholdFold both = *this;
  both.merge(other);
  return both.upward_ != upward_ || both.downward_ != downward_;
}

void ThresholdFold::add(DifferenceConstraints& constraints, std::span<const Length> lengths) {
  if (lengths.empty()) {
    add_without();
    return;
  }
  if (!can_improve(constraints, lengths)) return;
  if (const std::optional<Extent> least = least_largest(constraints, lengths)) add_upward(*least);
}

void ThresholdFold::add(const ParameterInterval& interval) {
  const Extent least = interval.least_whole();
  const Extent greatest = interval.greatest_whole();
  const bool reaches_up = greatest.value > kZero || (greatest.value == kZero && greatest.attained);
  const bool reaches_down = least.value < kZero || (least.value == kZero && least.attained);
  if (reaches_up) add_upward(least.value < kZero ? Extent{kZero, true} : least);
  if (reaches_down) add_downward(greatest.value > kZero ? Extent{kZero, true} : greatest);
}

void ThresholdFold::add_without() {
  if (range_.hi >= kZero) add_upward({std::max(range_.lo, kZero), true});
  if (range_.lo <= kZero) add_downward({std::min(range_.hi, kZero), true});
}

void ThresholdFold::merge(const ThresholdFold& other) {
  if (other.upward_) add_upward(*other.upward_);
  if (other.downward_) add_downward(*other.downward_);
}

}  // namespace lockstep::checker
