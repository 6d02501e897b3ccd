#include "scenarios/workers/interruptible.hpp"

#include <algorithm>

namespace lockstep::scenarios {

std::optional<sim::Simulation::End> run_interruptibly(sim::Simulation& simulation, sim::Instant until,
                                                      std::uint64_t max_events,
                                                      const std::function<bool()>& interrupted) {
  constexpr std::uint64_t kBetweenQuestions = 20'000;  // some milliseconds
  while (true) {
    if (interrupted && interrupted()) return std::nullopt;
    const std::uint64_t events = std::min(max_events, kBetweenQuestions);
    const sim::Simulation::End end = simulation.run(until, events);
    max_events -= events;
    if (end != sim::Simulation::End::too_many_events || max_events == 0) return end;
  }
}

}  // namespace lockstep::scenarios
