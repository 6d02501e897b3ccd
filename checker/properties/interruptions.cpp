#include "checker/properties/interruptions.hpp"

#include <algorithm>
#include <utility>

#include "sim/worlds/fault_kinds.hpp"

namespace lockstep::checker {

Crashes::Crashes(std::span<const sim::Interruption> interruptions) : interruptions_(interruptions) {
  for (std::size_t i = 0; i < interruptions.size(); ++i) {
    const sim::Interruption& crash = interruptions[i];
    if (kills(crash.kind)) crashes_.push_back({crash.process, crash.step, i});
  }
  std::sort(crashes_.begin(), crashes_.end());
}

const sim::Interruption* Crashes::first(sim::ProcessId process, sim::Step from) const {
  const auto found = std::lower_bound(crashes_.begin(), crashes_.end(), Crash{process, from, 0});
  return found == crashes_.end() || found->process != process ? nullptr : &interruptions_[found->position];
}

Pauses::Pauses(const sim::History& history) {
  for (const sim::Interruption& i : history.interruptions) {
    if (freezes(i.kind)) lists_[i.process].push_back(i);
  }
  for (auto& [process, list] : lists_) {
    std::sort(list.begin(), list.end(), [](const sim::Interruption& a, const sim::Interruption& b) {
      return std::pair(a.from.offset(), a.step) < std::pair(b.from.offset(), b.step);
    });
    std::size_t last = 0;
    for (std::size_t i = 1; i < list.size(); ++i) {
      sim::Interruption& before = list[last];
      if (before.until && before.until->offset() < list[i].from.offset()) {
        list[++last] = list[i];
      } else if (before.until && (!list[i].until || before.until->offset() < list[i].until->offset())) {
        before.until = list[i].until;
        before.step = list[i].step;
      }
    }
    list.resize(last + 1);
  }
}

std::span<const sim::Interruption> Pauses::of(sim::ProcessId process) const {
  const auto own = lists_.find(process);
  return own == lists_.end() ? std::span<const sim::Interruption>{} : std::span(own->second);
}

}  // namespace lockstep::checker
