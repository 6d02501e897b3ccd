#include "scenarios/witness/witness_replay.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/deployment/fault_step.hpp"
#include "scenarios/deployment/partition_sides.hpp"
#include "sim/schedules/event_namer.hpp"

namespace lockstep::scenarios {
namespace {

using checker::ExploredEvent;
using checker::ExploredFault;
using sim::Duration;
using sim::Instant;

constexpr std::uint32_t kNone = ExploredEvent::no_cause;

class Replayer final : public sim::Scheduler {
 public:
  Replayer(const Scenario& scenario, const models::locks::Catalogue& catalogue, const ExploredTrace& trace,
           const WitnessTimes& times)
      : scenario_(scenario),
        trace_(trace),
        times_(times),
        deployment_(scenario, catalogue, defaults_, Deployment::Faults::none),
        world_(deployment_.world()) {
    result_.events.resize(trace.events.size());
    result_.lost.resize(trace.faults.size());
    world_.set_scheduler(*this);
  }
  ~Replayer() { world_.leave(*this); }
  Replayer(const Replayer&) = delete;
  Replayer& operator=(const Replayer&) = delete;

  std::variant<Replay, std::string> operator()() {
    put_in_order();
    deployment_.begin();
    arm_faults();
    begin_partitions();
    for (const std::uint32_t position : result_.order) {
      if (!execute(position)) return trouble_;
    }
    return std::move(result_);
  }

  // --- sim::Scheduler.

  bool explores() const override { return true; }
  void emitted(std::uint32_t slot) override {
    ++emissions_;
    const sim::Event& event = world_.event(slot);
    pending_.push_back(slot);
    bounced_ = bounced_ || event.bounced;
    const std::optional<sim::EventName> name = namer_.name(event);
    names_[event.id] = name;
    const std::int64_t occurrence = count_message(event);
    if (struck_ && name) result_.lost[*struck_] = LostMessage{*name, occurrence};
    struck_.reset();
  }
  void lost(const sim::Event& message) override {
    const std::optional<sim::EventName> name = namer_.name(message);
    const std::int64_t occurrence = count_message(message);
    if (struck_ && name) result_.lost[*struck_] = LostMessage{*name, occurrence};
    struck_.reset();
  }
  bool loses(sim::Event& message) override {
    if (is_doomed_) return true;
    for (std::size_t i = 0; i < trace_.faults.size(); ++i) {
      const ExploredFault& fault = trace_.faults[i];
      const bool is_of_message = strikes_message(fault.kind);
      if (!is_of_message || fault.event != position_ || fault.emission != emissions_ + 1) continue;
      struck_ = i;
      if (delays_message(fault.kind)) {
        message.base = Instant::at(times_.of(fault.until));
        return false;
      }
      ++emissions_;
      return true;
    }
    return false;
  }
  void cancelled(std::uint32_t slot) override {
    pending_.erase(std::find(pending_.begin(), pending_.end(), slot));
    const sim::Event& event = world_.event(slot);
    const std::optional<sim::EventName>& name = names_[event.id];
    if (event.kind == sim::EventKind::timer && !event.delay.is_exact() && name) result_.called_off.push_back(*name);
  }
  void postponed(std::uint32_t, Duration) override {}
  /// At concrete times it may ask for less than the exploration did, never for more.
  std::uint64_t choose(sim::Decisions& decisions, std::uint64_t options, sim::EventId event) override {
    if (position_ == kNone) return Scheduler::choose(decisions, options, event);
    const std::vector<sim::PlannedChoice>& choices = trace_.choices[position_];
    std::vector<sim::PlannedChoice>& made = result_.events[position_].choices;
    if (made.size() == choices.size()) return Scheduler::choose(decisions, options, event);
    made.push_back(choices[made.size()]);
    return made.back().among(options);
  }
  bool is_at_or_after(Instant a, Instant b) override { return a.offset() >= b.offset(); }
  Instant later_of(Instant a, Instant b) override { return a.offset() >= b.offset() ? a : b; }

 private:
  Duration time_of(std::uint32_t position) const { return times_.of(trace_.events[position].at); }

  void put_in_order() {
    result_.order.resize(trace_.events.size());
    std::iota(result_.order.begin(), result_.order.end(), 0u);
    std::sort(result_.order.begin(), result_.order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair(time_of(a), a) < std::pair(time_of(b), b); });
  }

  /// What the explorer decides before the first event is emitted after the clients' starts. Which of these events is
  /// which, their identities tell.
  void arm_faults() {
    std::size_t count = 0;
    for (const ExploredEvent& event : trace_.events) count += event.kind == sim::EventKind::fault ? 1 : 0;
    for (; count > 0; --count) {
      sim::PlannedFault& fault = armed_.emplace_back();
      fault.at = Duration::zero();
      fault.process = sim::ProcessId{0};
      world_.arm(fault, {Duration::zero(), Duration::forever()});
      sim::Event& event = world_.event(pending_.back());
      for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
        if (trace_.events[i].id != event.id) continue;
        event.process = fault.process = trace_.events[i].process;
        fault.kind =
            sim::PlannedFault::Kind::lose;  // nothing, as it was for the dead, and for who was at something else
        for (const ExploredFault& known : trace_.faults) {
          if (known.event != i || !is_own_event(known.kind)) continue;
          fault.kind = known.kind;
          fault.length = known.parameter ? times_.parameters[*known.parameter] : known.by;
          fault.keep = keeps(known);
          if (known.restarts) fault.restart_after = sim::DurationRange{Duration::zero(), Duration::forever()};
        }
        sim::EventName name;
        name.what = sim::EventName::of(fault.kind);
        name.process = fault.process;
        names_[event.id] = name;
      }
    }
  }

  void begin_partitions() {
    for (const ExploredFault& fault : trace_.faults) {
      if (!cuts_off(fault.kind)) continue;
      const PartitionSides sides = partition_sides(scenario_, scenario_.may[fault.budget])[fault.side];
      world_.plan(sim::Partition{deployment_.sides_named(sides.left, sides.right), Instant::at(times_.of(fault.from)),
                                 Instant::at(times_.of(fault.until))});
    }
  }

  bool keeps(const ExploredFault& fault) const {
    return fault.budget < scenario_.may.size() && scenario_.may[fault.budget].keep;
  }

  bool execute(std::uint32_t position) {
    const ExploredEvent& planned = trace_.events[position];
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [&](std::uint32_t slot) { return world_.event(slot).id == planned.id; });
    if (found == pending_.end()) {
      trouble_ = fmt::format("event {} of the trace, at {} of {}, does not come about at these times", position,
                             world_.name(planned.process), sim::to_string(time_of(position)));
      return false;
    }
    const std::uint32_t slot = *found;
    pending_.erase(found);
    const sim::Event& event = world_.event(slot);
    position_ = position;
    emissions_ = 0;
    bounced_ = is_doomed_ = false;
    ReplayedEvent& seen = result_.events[position];
    seen.name = names_[planned.id];
    const std::string step = fault_step(world_, event);
    sim::ProcessState& process = world_.state(event.process);
    const bool was_alive = process.alive;
    for (const ExploredFault& pause : trace_.faults) {
      const bool is_here = freezes(pause.kind) && pause.place == ExploredFault::Place::after;
      if (!is_here || pause.event != position) continue;
      process.was_paused = true;
      process.frozen_until = Instant::at(times_.of(pause.until));
      is_doomed_ = is_doomed_ || pause.cut_short.has_value();
    }
    const sim::ProcessId who = event.process;
    const bool is_start = event.kind == sim::EventKind::start;
    world_.execute(slot, Instant::at(time_of(position)));
    process.was_paused = false;
    const bool did_happen = is_start ? process.alive : was_alive && !bounced_;
    if (!step.empty() && did_happen) {
      seen.step = step;
      seen.occurrence = ++reached_[{who, step}];
    }
    return true;
  }

  /// As losses count: by client, step and direction; what bounces is no message of anybody.
  std::int64_t count_message(const sim::Event& event) {
    if (event.kind != sim::EventKind::message || event.bounced) return 0;
    const bool is_reply = event.message->is_reply;
    return ++sent_[{is_reply ? event.process : event.from, std::string(event.message->name()), is_reply}];
  }

  const Scenario& scenario_;
  const ExploredTrace& trace_;
  const WitnessTimes& times_;
  sim::DefaultDecisions defaults_;
  Deployment deployment_;
  sim::World& world_;
  sim::EventNamer namer_;
  std::deque<sim::PlannedFault> armed_;
  std::vector<std::uint32_t> pending_;
  std::map<sim::EventId, std::optional<sim::EventName>> names_;
  std::map<std::pair<sim::ProcessId, std::string>, std::int64_t> reached_;
  std::map<std::tuple<sim::ProcessId, std::string, bool>, std::int64_t> sent_;
  std::uint32_t position_ = kNone;
  std::uint32_t emissions_ = 0;
  bool bounced_ = false;
  bool is_doomed_ = false;             ///< what the present event sends never leaves: see `ExploredFault::cut_short`
  std::optional<std::size_t> struck_;  ///< the fault that the message meets that is about to leave
  std::string trouble_;
  Replay result_;
};

}  // namespace

std::variant<Replay, std::string> replay(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                         const ExploredTrace& trace, const WitnessTimes& times) {
  return Replayer(scenario, catalogue, trace, times)();
}

}  // namespace lockstep::scenarios
