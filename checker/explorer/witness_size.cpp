#include "checker/explorer/witness_size.hpp"

#include <algorithm>
#include <vector>

#include "sim/schedules/random.hpp"

namespace lockstep::checker {
namespace {

/// Takes events while they are ready, and another process's only where there is no other way.
std::uint32_t count_switches(std::span<const ExploredEvent> events) {
  std::size_t processes = 0;
  for (const ExploredEvent& event : events) processes = std::max<std::size_t>(processes, event.process.index + 1u);
  std::vector<std::vector<std::uint32_t>> lanes(processes);
  for (std::uint32_t i = 0; i < events.size(); ++i) lanes[events[i].process.index].push_back(i);

  std::vector<bool> is_done(events.size(), false);
  std::vector<std::size_t> next(processes, 0);
  const auto is_ready = [&](std::size_t lane) {
    if (next[lane] == lanes[lane].size()) return false;
    const std::uint32_t cause = events[lanes[lane][next[lane]]].cause;
    return cause == ExploredEvent::no_cause || cause >= events.size() || is_done[cause];
  };
  std::uint32_t switches = 0;
  std::size_t lane = processes;
  for (std::size_t done = 0; done < events.size();) {
    // The first event that is not done has its cause behind it, so somebody is always ready.
    std::size_t to = 0;
    while (!is_ready(to)) ++to;
    if (lane != processes) ++switches;
    lane = to;
    for (; is_ready(lane); ++done) is_done[lanes[lane][next[lane]++]] = true;
  }
  return switches;
}

}  // namespace

WitnessSize witness_size(std::span<const ExploredEvent> events, std::span<const ExploredFault> faults) {
  WitnessSize size;
  size.faults = static_cast<std::uint32_t>(faults.size());
  size.events = static_cast<std::uint32_t>(events.size());
  size.switches = count_switches(events);
  // Sums, since independent events come in any order.
  for (const ExploredEvent& event : events) size.tie += sim::combine64(0x7469, event.id.value);
  for (const ExploredFault& fault : faults) {
    const bool has_event = fault.event < events.size();
    std::uint64_t one = sim::combine64(static_cast<std::uint64_t>(fault.kind), static_cast<std::uint64_t>(fault.place));
    one = sim::combine64(one, has_event ? events[fault.event].id.value : fault.process.index);
    size.tie += sim::combine64(one, fault.emission);
  }
  return size;
}

}  // namespace lockstep::checker
