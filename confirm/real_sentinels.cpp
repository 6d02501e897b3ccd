#include "confirm/real_sentinels.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

namespace lockstep::confirm {
namespace {

using models::redis::Command;
using models::redis::Reply;
using scenarios::FaultSpec;

/// How often they tell each other of themselves: often until they know each other, then as always. A replica that says
/// it follows another address than they know is put right by them after four of these periods, and replicas here follow
/// ports of slow links.
constexpr std::int64_t kQuickly = 300;
constexpr std::int64_t kAsAlways = 2'000;

Command debug(std::string_view setting, std::int64_t milliseconds) {
  return Command{"SENTINEL", "DEBUG", setting, milliseconds};
}

}  // namespace

bool RealSentinels::can_watch(const scenarios::Scenario& scenario) {
  if (!scenario.sentinels) return false;
  const auto is_sentinel = [&](const std::string& name) {
    return std::any_of(scenario.sentinels->each.begin(), scenario.sentinels->each.end(),
                       [&](const auto& each) { return each.name == name; });
  };
  return std::none_of(scenario.faults.begin(), scenario.faults.end(), [&](const FaultSpec& fault) {
    const auto has_one = [&](const std::vector<std::string>& side) {
      return std::any_of(side.begin(), side.end(), is_sentinel);
    };
    return is_sentinel(fault.who) || std::any_of(fault.between.begin(), fault.between.end(), has_one);
  });
}

RealSentinels::RealSentinels(const scenarios::Scenario& scenario, const std::string& folder, std::uint16_t primary,
                             std::size_t replicas) {
  const scenarios::SentinelsSpec& spec = *scenario.sentinels;
  const std::string configuration = fmt::format(
      "sentinel monitor primary 127.0.0.1 {} {}\n"
      "sentinel down-after-milliseconds primary {}\n"
      "sentinel failover-timeout primary {}\n"
      "sentinel parallel-syncs primary {}\n",
      primary, spec.quorum, spec.down_after.floor_ms(), spec.failover_timeout.floor_ms(), spec.parallel_syncs);
  for (const scenarios::SentinelSpec& each : spec.each)
    processes_.push_back(RealServer::sentinel(folder + "/" + each.name, configuration));
  for (const auto& process : processes_) {
    process->await_ready();
    Wire& wire = wires_.emplace_back(process->endpoint());
    wire.ask(debug("PUBLISH-PERIOD", kQuickly));
    wire.ask(debug("INFO-PERIOD", 100));
    wire.ask(debug("ASK-PERIOD", 100));
  }
  constexpr int kTries = 1'000;
  const auto knows_all = [&](Wire& wire) {
    return field(wire, "num-slaves") == std::to_string(replicas) &&
           field(wire, "num-other-sentinels") == std::to_string(spec.each.size() - 1);
  };
  for (int i = 0; !std::all_of(wires_.begin(), wires_.end(), knows_all); ++i) {
    if (i == kTries) throw ServerTrouble("the real sentinels do not get to know each other");
    usleep(10'000);
  }
  for (Wire& wire : wires_) wire.ask(debug("PUBLISH-PERIOD", kAsAlways));
}

std::int64_t RealSentinels::primary() {
  const Reply address = wires_.front().ask(Command{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", "primary"});
  if (!address.is_array() || address.items().size() != 2) return 0;
  return address.items()[1].value().integer().value_or(0);
}

std::string RealSentinels::field(Wire& wire, std::string_view name) const {
  const Reply all = wire.ask(Command{"SENTINEL", "MASTER", "primary"});
  if (!all.is_array()) return {};
  for (std::size_t i = 0; i + 1 < all.items().size(); i += 2) {
    if (all.items()[i].value() == name) return all.items()[i + 1].value().text();
  }
  return {};
}

}  // namespace lockstep::confirm
