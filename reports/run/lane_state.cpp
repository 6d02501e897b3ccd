#include "reports/run/lane_state.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "checker/properties/places.hpp"

namespace lockstep::reports {

bool keeps_keys(const scenarios::Scenario& scenario, const std::string& server) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](const scenarios::FaultSpec& fault) {
    return kills(fault.kind) && fault.who == server && fault.keep;
  });
}

LaneStates::LaneStates(const Story& story)
    : story_(&story),
      locks_(scenarios::lock_keys(story.scenario)),
      holds_(checker::ownership_intervals(story.outcome.history)) {
  std::sort(holds_.begin(), holds_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from.offset(), a.acquire) < std::pair(b.from.offset(), b.acquire);
  });
  for (const sim::Effect& effect : story.outcome.history.effects) {
    if (!is_lock(effect.object)) continue;
    if (effect.kind == sim::Effect::Kind::write)
      keys_.push_back({effect.step, keys_.size(), effect.server, effect.object, effect.by});
    if (effect.kind == sim::Effect::Kind::remove || effect.kind == sim::Effect::Kind::expire ||
        effect.kind == sim::Effect::Kind::lose) {
      keys_.push_back({effect.step, keys_.size(), effect.server, effect.object, std::nullopt});
    }
  }
  std::sort(keys_.begin(), keys_.end(), [](const KeyChange& a, const KeyChange& b) {
    return std::pair(a.step, a.order) < std::pair(b.step, b.order);
  });
  for (const std::string& lock : locks_) {
    std::set<std::string_view> parts;
    for (const KeyChange& change : keys_) {
      if (checker::is_of_lock(change.key, lock)) parts.insert(change.key);
    }
    key_names_.insert(key_names_.end(), parts.begin(), parts.end());
  }
}

bool LaneStates::covers(const checker::OwnershipInterval& hold, Moment moment) {
  const sim::Duration at = moment.at.offset();
  if (at < hold.from.offset() || (at == hold.from.offset() && moment.step < hold.from_step)) return false;
  if (!hold.to || at < hold.to->offset()) return true;
  const bool ends_in_a_step = hold.end != checker::BeliefEnd::deadline && hold.to_step != sim::no_step;
  if (at != hold.to->offset() || !ends_in_a_step) return false;
  const bool crashes_next = hold.end == checker::BeliefEnd::crashed && moment.before_faults;
  return moment.step < hold.to_step || (moment.step == hold.to_step && crashes_next);
}

bool LaneStates::holds(sim::ProcessId process, Moment moment) const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [&](const auto& h) { return h.process == process && covers(h, moment); });
}

bool LaneStates::is_stopped(sim::HowLong how_long, sim::ProcessId process, Moment moment) const {
  const auto& all = story_->outcome.history.interruptions;
  return std::any_of(all.begin(), all.end(), [&](const sim::Interruption& i) {
    const bool struck = moment.step > i.step || (moment.step == i.step && !moment.before_faults);
    const bool begun = moment.at.offset() > i.from.offset() || (moment.at.offset() == i.from.offset() && struck);
    return entry_of(i.kind).stops == how_long && i.process == process && begun &&
           (!i.until || moment.at.offset() < i.until->offset());
  });
}

bool LaneStates::is_paused(sim::ProcessId process, Moment moment) const {
  return is_stopped(sim::HowLong::meanwhile, process, moment) && !is_dead(process, moment);
}

bool LaneStates::is_dead(sim::ProcessId process, Moment moment) const {
  return is_stopped(sim::HowLong::for_good, process, moment);
}

bool LaneStates::is_lock(std::string_view key) const {
  return std::any_of(locks_.begin(), locks_.end(),
                     [&](const std::string& lock) { return checker::is_of_lock(key, lock); });
}

std::optional<sim::ProcessId> LaneStates::writer_of(sim::ProcessId server, std::string_view key, sim::Step step) const {
  std::optional<sim::ProcessId> writer;
  for (const KeyChange& change : keys_) {
    if (change.step > step) break;
    if (change.server == server && change.key == key) writer = change.writer;
  }
  return writer;
}

std::optional<sim::ProcessId> LaneStates::key_writer(sim::ProcessId server, sim::Step step) const {
  for (const std::string_view key : key_names_) {
    if (const auto writer = writer_of(server, key, step)) return writer;
  }
  return std::nullopt;
}

std::optional<sim::ProcessId> LaneStates::key_writer_before(sim::ProcessId server, std::string_view key,
                                                            sim::Step step) const {
  return step == 0 ? std::nullopt : writer_of(server, key, step - 1);
}

bool LaneStates::lets_several_in(sim::OperationId operation) const {
  if (story_->outcome.places) return true;
  const std::vector<sim::Operation>& operations = story_->outcome.history.operations;
  if (operation == 0 || operation > operations.size()) return false;
  const sim::Operation& own = operations[operation - 1];
  const bool gives_back = own.of > 0 && own.of <= operations.size();
  return gives_back ? operations[own.of - 1].is_shared : own.is_shared;
}

std::vector<sim::ProcessId> LaneStates::overlapping(Moment moment) const {
  std::vector<const checker::OwnershipInterval*> present;
  for (const auto& hold : holds_) {
    if (covers(hold, moment) && hold.contains(moment.at)) present.push_back(&hold);
  }
  const auto is_broken_by = [&](const checker::OwnershipInterval& hold) {
    std::set<sim::ProcessId> holders{hold.process};
    bool is_alone = true;  // with those who may be there, too
    for (const auto* other : present) {
      if (other->object != hold.object || other->process == hold.process) continue;
      holders.insert(other->process);
      is_alone = is_alone && hold.is_shared && other->is_shared;
    }
    const std::optional<std::int64_t>& places = story_->outcome.places;
    return places ? holders.size() > static_cast<std::size_t>(*places) : !is_alone;
  };
  std::vector<sim::ProcessId> holders;
  for (const auto* hold : present) {
    if (is_broken_by(*hold) && std::find(holders.begin(), holders.end(), hold->process) == holders.end())
      holders.push_back(hold->process);
  }
  return holders;
}

}  // namespace lockstep::reports
