#include "reports/text/figures.hpp"

#include <fmt/format.h>

namespace lockstep::reports {

using sim::Duration;

std::string per(std::uint64_t n, std::uint64_t by) {
  return by == 0 ? "-" : fmt::format("{}.{:02}", n / by, n % by * 100 / by);
}

std::string text_of(std::optional<Duration> d) {
  if (!d) return "-";
  const std::int64_t step = *d < Duration::milliseconds(100) ? 100'000 : 1'000'000;
  return sim::to_string(Duration::nanoseconds(d->count_ns() / step * step));
}

}  // namespace lockstep::reports
