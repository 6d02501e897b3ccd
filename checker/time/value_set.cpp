#include "checker/time/value_set.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

#include "checker/time/thresholds.hpp"

namespace lockstep::checker {
namespace {

/// Whether there is a gap between what ends here and what begins there.
bool ends_before(const Extent& greatest, const Extent& least) {
  if (greatest.value != least.value) return greatest.value < least.value;
  return !greatest.attained && !least.attained;
}

/// An end that is attained reaches further than one that is not.
bool reaches_further(const Extent& a, const Extent& b) {
  return a.value != b.value ? a.value > b.value : a.attained && !b.attained;
}

}  // namespace

void ValueSet::add(ValueInterval interval) {
  const bool is_point = interval.least.value == interval.greatest.value;
  if (interval.greatest.value < interval.least.value ||
      (is_point && !(interval.least.attained && interval.greatest.attained)))
    return;
  const auto first = std::find_if(intervals_.begin(), intervals_.end(), [&](const ValueInterval& other) {
    return !ends_before(other.greatest, interval.least);
  });
  auto last = first;
  for (; last != intervals_.end() && !ends_before(interval.greatest, last->least); ++last) {
    if (is_smaller(last->least, interval.least)) interval.least = last->least;
    if (reaches_further(last->greatest, interval.greatest)) interval.greatest = last->greatest;
  }
  intervals_.insert(intervals_.erase(first, last), interval);
}

void ValueSet::merge(const ValueSet& other) {
  for (const ValueInterval& interval : other.intervals_) add(interval);
}

void ValueSet::write(std::ostream& out) const {
  out << intervals_.size();
  for (const ValueInterval& interval : intervals_) {
    for (const Extent& end : {interval.least, interval.greatest})
      out << ' ' << end.value.count_ns() << ' ' << end.attained;
  }
  out << '\n';
}

bool ValueSet::read(std::istream& in) {
  constexpr std::size_t kMost = 1'000'000;
  std::size_t count = 0;
  if (!(in >> count) || count > kMost) return false;
  intervals_.clear();
  for (; count > 0; --count) {
    ValueInterval interval;
    for (Extent* end : {&interval.least, &interval.greatest}) {
      std::int64_t ns = 0;
      if (!(in >> ns >> end->attained)) return false;
      end->value = sim::Duration::nanoseconds(ns);
    }
    add(interval);
  }
  return true;
}

}  // namespace lockstep::checker
