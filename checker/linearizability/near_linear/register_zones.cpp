#include "checker/linearizability/near_linear/register_zones.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
constexpr std::int64_t endless = std::numeric_limits<std::int64_t>::max();

/// An operation, sorted into its cluster: the write first, then the reads by invocation.
struct Member {
  std::int64_t value;
  bool is_read;
  std::int64_t invoked;
  Position operation;
  auto operator<=>(const Member&) const = default;
};

struct Cluster {
  std::int64_t from;
  std::int64_t to;
  bool is_stretch;    ///< must last from `from` to `to`; otherwise it needs one moment of them
  std::size_t begin;  ///< among the members
  std::size_t end;
  std::int64_t moment;
};

}  // namespace

std::optional<std::vector<std::uint32_t>> order_by_zones(const OperationHistory& history,
                                                         std::span<const std::uint32_t> positions,
                                                         const LinearizabilityOptions& options) {
  constexpr std::uint16_t write = 1;
  std::vector<Member> members;
  members.reserve(positions.size());
  for (const Position i : positions) {
    const HistoryOperation& o = history.operations[i];
    if (o.phase == sim::Phase::fail || (o.function != write && o.is_unknown())) continue;
    if (o.function != write && !o.out_known) return std::nullopt;  // it has read from who knows where
    members.push_back({o.function == write ? o.a : o.out, o.function != write, o.invoked, i});
  }
  std::sort(members.begin(), members.end());

  std::vector<Cluster> clusters;
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && members[end].value == members[begin].value) ++end;
    const bool is_initial = members[begin].value == options.initial;
    const HistoryOperation& first = history.operations[members[begin].operation];
    if (is_initial != members[begin].is_read) return std::nullopt;  // written again, or never
    if (!is_initial && end - begin == 1 && !first.is_certain()) continue;
    Cluster cluster{.from = -endless, .to = endless, .begin = begin, .end = end};
    if (is_initial) cluster.to = -endless;  // it was there before everything
    for (std::size_t m = begin; m < end; ++m) {
      const HistoryOperation& o = history.operations[members[m].operation];
      if (m != begin && !members[m].is_read) return std::nullopt;
      cluster.from = std::max(cluster.from, o.invoked);
      if (o.is_certain()) cluster.to = std::min(cluster.to, o.returned);
      if (!is_initial && o.is_certain() && o.returned < first.invoked) return std::nullopt;
    }
    cluster.is_stretch = cluster.to < cluster.from;
    if (cluster.is_stretch) std::swap(cluster.from, cluster.to);
    cluster.moment = cluster.from;
    clusters.push_back(cluster);
  }

  // The stretches, by their beginning, then the others.
  std::sort(clusters.begin(), clusters.end(), [](const Cluster& a, const Cluster& b) {
    return std::tuple(!a.is_stretch, a.from, a.begin) < std::tuple(!b.is_stretch, b.from, b.begin);
  });
  std::size_t stretches = 0;
  while (stretches < clusters.size() && clusters[stretches].is_stretch) ++stretches;
  for (std::size_t i = 1; i < stretches; ++i) {
    if (clusters[i].from < clusters[i - 1].to) return std::nullopt;
  }
  for (std::size_t i = stretches; i < clusters.size(); ++i) {
    Cluster& cluster = clusters[i];
    auto after = std::lower_bound(clusters.begin(), clusters.begin() + static_cast<std::ptrdiff_t>(stretches),
                                  cluster.from, [](const Cluster& s, std::int64_t moment) { return s.from < moment; });
    if (after == clusters.begin() || (after - 1)->to <= cluster.from) continue;
    cluster.moment = (after - 1)->to;
    if (cluster.moment > cluster.to) return std::nullopt;
  }
  // At one moment: the stretch that ends there began earlier, and those that need only this moment come before the one
  // that begins there.
  std::sort(clusters.begin(), clusters.end(), [](const Cluster& a, const Cluster& b) {
    return std::tuple(a.moment, a.is_stretch, a.begin) < std::tuple(b.moment, b.is_stretch, b.begin);
  });
  std::vector<std::uint32_t> order;
  order.reserve(members.size());
  for (const Cluster& cluster : clusters) {
    for (std::size_t m = cluster.begin; m < cluster.end; ++m) order.push_back(members[m].operation);
  }
  return order;
}

}  // namespace lockstep::checker
