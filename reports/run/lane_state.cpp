#include "reports/run/lane_state.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

namespace lockstep::reports {

bool keeps_keys(const scenarios::Scenario& scenario, const std::string& server) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(), [&](const scenarios::FaultSpec& fault) {
    return kills(fault.kind) && fault.who == server && fault.keep;
  });
}

LaneStates::LaneStates(const Story& story)
    : story_(&story),
      locks_(scenarios::lock_keys(story.scenario)),
      objects_(story.outcome.history.operations, story.outcome.history.effects, story.outcome.history),
      holds_(checker::ownership_intervals(story.outcome.history)) {
  std::sort(holds_.begin(), holds_.end(), [](const auto& a, const auto& b) {
    return std::pair(a.from.offset(), a.acquire) < std::pair(b.from.offset(), b.acquire);
  });
  std::vector<sim::Duration> ends;
  for (const auto& hold : holds_) ends.push_back(hold.to ? hold.to->offset() : sim::Duration::forever());
  ends_ = checker::RowOfLengths(std::move(ends), sim::Duration::forever());
  struct Change {
    sim::Step step = 0;
    std::size_t order = 0;  ///< within the step
    sim::ProcessId server;
    std::string_view key;
    std::optional<sim::ProcessId> writer;
  };
  std::vector<Change> changes;
  for (const sim::Effect& effect : story.outcome.history.effects) {
    if (!is_lock(effect.object)) continue;
    if (effect.kind == sim::Effect::Kind::write)
      changes.push_back({effect.step, changes.size(), effect.server, effect.object, effect.by});
    if (effect.kind == sim::Effect::Kind::remove || effect.kind == sim::Effect::Kind::expire ||
        effect.kind == sim::Effect::Kind::lose) {
      changes.push_back({effect.step, changes.size(), effect.server, effect.object, std::nullopt});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return std::pair(a.step, a.order) < std::pair(b.step, b.order); });

  // Keys in the order of their locks, and of one lock by their names.
  std::map<std::string_view, std::pair<std::size_t, std::string_view>> rank_of;
  for (const Change& change : changes) {
    const auto lock =
        std::find_if(locks_.begin(), locks_.end(), [&](const std::string& each) { return is_of(change.key, each); });
    rank_of.try_emplace(change.key, static_cast<std::size_t>(lock - locks_.begin()), change.key);
  }
  std::map<sim::ProcessId, std::map<std::pair<std::size_t, std::string_view>, sim::ProcessId>> present_on;
  for (const Change& change : changes) {
    note(of_key_[{change.server, change.key}], {change.step, change.writer});
    auto& present = present_on[change.server];
    if (change.writer) {
      present.insert_or_assign(rank_of.at(change.key), *change.writer);
    } else {
      present.erase(rank_of.at(change.key));
    }
    note(of_server_[change.server],
         {change.step, present.empty() ? std::nullopt : std::optional(present.begin()->second)});
  }
}

void LaneStates::note(Writers& writers, Written written) {
  if (!writers.empty() && writers.back().step == written.step) {
    writers.back() = written;
  } else {
    writers.push_back(written);
  }
}

std::optional<sim::ProcessId> LaneStates::writer_at(const Writers& writers, sim::Step step) {
  const auto later = std::upper_bound(writers.begin(), writers.end(), step,
                                      [](sim::Step at, const Written& each) { return at < each.step; });
  return later == writers.begin() ? std::nullopt : std::prev(later)->writer;
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

std::vector<const checker::OwnershipInterval*> LaneStates::present(Moment moment) const {
  const auto later = std::upper_bound(
      holds_.begin(), holds_.end(), moment.at.offset(),
      [](sim::Duration at, const checker::OwnershipInterval& hold) { return at < hold.from.offset(); });
  std::vector<const checker::OwnershipInterval*> present;
  ends_.each_longer(0, static_cast<std::size_t>(later - holds_.begin()),
                    moment.at.offset() - sim::Duration::nanoseconds(1), [&](std::size_t hold) {
                      if (covers(holds_[hold], moment)) present.push_back(&holds_[hold]);
                    });
  return present;
}

bool LaneStates::holds(sim::ProcessId process, Moment moment) const {
  const auto all = present(moment);
  return std::any_of(all.begin(), all.end(), [&](const auto* hold) { return hold->process == process; });
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
  return std::any_of(locks_.begin(), locks_.end(), [&](const std::string& lock) { return is_of(key, lock); });
}

bool LaneStates::is_of(std::string_view key, const std::string& lock) const {
  const bool is_named_so = key.starts_with(lock) && (key.size() == lock.size() || key[lock.size()] == '/');
  return is_named_so || objects_.contains(lock, key);
}

std::optional<sim::ProcessId> LaneStates::key_writer(sim::ProcessId server, sim::Step step) const {
  const auto found = of_server_.find(server);
  return found == of_server_.end() ? std::nullopt : writer_at(found->second, step);
}

std::optional<sim::ProcessId> LaneStates::key_writer_before(sim::ProcessId server, std::string_view key,
                                                            sim::Step step) const {
  const auto found = of_key_.find({server, key});
  return step == 0 || found == of_key_.end() ? std::nullopt : writer_at(found->second, step - 1);
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
  std::vector<const checker::OwnershipInterval*> present = this->present(moment);
  std::erase_if(present, [&](const auto* hold) { return !hold->contains(moment.at); });
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
