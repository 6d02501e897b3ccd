#include "reports/lane_state.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::reports {
namespace {

bool covers(const checker::OwnershipInterval& hold, Moment moment) {
  const sim::Duration at = moment.at.offset();
  if (at < hold.from.offset() || (at == hold.from.offset() && moment.step < hold.from_step)) return false;
  if (!hold.to || at < hold.to->offset()) return true;
  const bool ends_in_a_step = hold.end != checker::BeliefEnd::deadline && hold.to_step != sim::no_step;
  if (at != hold.to->offset() || !ends_in_a_step) return false;
  const bool crashes_next = hold.end == checker::BeliefEnd::crashed && moment.before_faults;
  return moment.step < hold.to_step || (moment.step == hold.to_step && crashes_next);
}

}  // namespace

bool keeps_keys(const scenarios::Scenario& scenario, const std::string& server) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](const scenarios::FaultSpec& fault) {
    return fault.kind == scenarios::FaultSpec::Kind::crash && fault.who == server && fault.keep;
  });
}

LaneStates::LaneStates(const Story& story)
    : story_(&story), holds_(checker::ownership_intervals(story.outcome.history)) {
  std::sort(holds_.begin(), holds_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from.offset(), a.acquire) < std::pair(b.from.offset(), b.acquire);
  });
  for (const sim::Effect& effect : story.outcome.history.effects) {
    if (effect.object != story.scenario.lock.key) continue;
    if (effect.kind == sim::Effect::Kind::write) keys_.push_back({effect.step, keys_.size(), effect.server, effect.by});
    if (effect.kind == sim::Effect::Kind::remove || effect.kind == sim::Effect::Kind::expire) {
      keys_.push_back({effect.step, keys_.size(), effect.server, std::nullopt});
    }
  }
  for (const sim::Interruption& i : story.outcome.history.interruptions) {
    if (i.kind != sim::Interruption::Kind::crash || keeps_keys(story.scenario, name_of(story.outcome, i.process)))
      continue;
    keys_.push_back({i.step, keys_.size(), i.process, std::nullopt});
  }
  std::sort(keys_.begin(), keys_.end(), [](const KeyChange& a, const KeyChange& b) {
    return std::pair(a.step, a.order) < std::pair(b.step, b.order);
  });
}

bool LaneStates::holds(sim::ProcessId process, Moment moment) const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [&](const auto& h) { return h.process == process && covers(h, moment); });
}

bool LaneStates::is_interrupted(sim::Interruption::Kind kind, sim::ProcessId process, Moment moment) const {
  const auto& all = story_->outcome.history.interruptions;
  return std::any_of(all.begin(), all.end(), [&](const sim::Interruption& i) {
    const bool struck = moment.step > i.step || (moment.step == i.step && !moment.before_faults);
    const bool begun = moment.at.offset() > i.from.offset() || (moment.at.offset() == i.from.offset() && struck);
    return i.kind == kind && i.process == process && begun && (!i.until || moment.at.offset() < i.until->offset());
  });
}

bool LaneStates::is_paused(sim::ProcessId process, Moment moment) const {
  return is_interrupted(sim::Interruption::Kind::pause, process, moment) && !is_dead(process, moment);
}

bool LaneStates::is_dead(sim::ProcessId process, Moment moment) const {
  return is_interrupted(sim::Interruption::Kind::crash, process, moment);
}

std::optional<sim::ProcessId> LaneStates::key_writer(sim::ProcessId server, sim::Step step) const {
  std::optional<sim::ProcessId> writer;
  for (const KeyChange& change : keys_) {
    if (change.step > step) break;
    if (change.server == server) writer = change.writer;
  }
  return writer;
}

std::optional<sim::ProcessId> LaneStates::key_writer_before(sim::ProcessId server, sim::Step step) const {
  return step == 0 ? std::nullopt : key_writer(server, step - 1);
}

std::vector<sim::ProcessId> LaneStates::overlapping(Moment moment) const {
  std::vector<sim::ProcessId> holders;
  for (const auto& hold : holds_) {
    if (!covers(hold, moment) || !hold.contains(moment.at)) continue;
    if (std::find(holders.begin(), holders.end(), hold.process) == holders.end()) holders.push_back(hold.process);
  }
  if (holders.size() < 2) holders.clear();
  return holders;
}

}  // namespace lockstep::reports
