// The ways to break what order alone decides, and what comes with it: renewals that stop too early, wakeups that never
// come.

#include <algorithm>

#include "checker/properties/evidence.hpp"
#include "checker/properties/properties.hpp"
#include "checker/properties/server/faithful_renewal.hpp"
#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

void ViolationFinder::order_properties() {
  const OrderedHistory ordered = story();
  for (const Property& property : properties()) {
    if (property.breaches == nullptr) continue;
    for (const Breach& breach : property.breaches(ordered)) {
      sim::invariant(!breach.by.empty(), "somebody is to blame for a breach");
      sim::invariant(find_property(breach.property) != nullptr, "a breach is one of a property");
      begin(breach.property, breach.is_unknown, breach.by.front(),
            breach.by.size() > 1 ? breach.by[1] : sim::ProcessId{});
      finish();
    }
  }
}

/// A lease that was to be renewed runs out, and its holder is alive at that moment.
void ViolationFinder::leases_that_run_out() {
  for (const checker::LeaseEnd& end : ends_of_renewed_leases(operations_, effects_, locks_)) {
    const std::size_t belief = belief_of_[end.acquire->id];
    sim::invariant(belief < beliefs_.size(), "a lease that is to be renewed is that of somebody who got the lock");
    const BeliefWays ways = alive_ways(belief);
    for (std::size_t w = ways.begin; w < ways.end; ++w) {
      const bool never_ends = !ways_[w].event && !ways_[w].clock;
      if (never_ends && end.after == nullptr) continue;
      begin("faithful-renewal", ways_[w].is_widened, end.acquire->process, {});
      if (end.after != nullptr) require(end.at, end.after->at, false);
      // [from, …): it believes at that moment.
      require(beliefs_[belief].from, end.at, false);
      add_alive(ways_[w], end.at);
      add_sides(ways_[w].sides);
      finish();
    }
  }
}

void ViolationFinder::lost_wakeups(const WakeupQuestion& question) {
  if (!question.server.is_valid()) return;
  const std::vector<OpenWait> waits = open_waits(operations_, *history_, question.object);
  for (const FreeTime& free : free_times(effects_, locks_, question)) {
    const std::optional<sim::Instant> taken = free.taken == nullptr ? std::nullopt : std::optional(free.taken->at);
    for (const OpenWait& open : waits) {
      const sim::Operation& wait = *open.wait;
      std::optional<sim::Instant> ended = open.until;
      if (!ended && wait.phase != sim::Phase::invoke) ended = wait.completed;
      if (!ended) {
        for (const sim::Interruption& crash : history_->interruptions) {
          const bool is_his = kills(crash.kind) && crash.process == wait.process;
          if (is_his && crash.step >= wait.invoked_in && !ended) ended = crash.from;
        }
      }
      lost_wakeup(question, {&wait, open.from, ended}, free.freed->at, taken);
    }
  }
}

/// Time in which the waiter is paused does not count, so what counts is a sum of stretches between n pauses, which is
/// no difference of two instants. Where one stretch alone is too long, that is a way, and an exact one; and where the
/// sum is too long, one of the n + 1 is longer than its share of what is allowed, which is a wider way, for a replay to
/// confirm.
void ViolationFinder::lost_wakeup(const WakeupQuestion& question, const OpenWait& open, sim::Instant freed,
                                  const std::optional<sim::Instant>& taken) {
  const sim::Operation& wait = *open.wait;
  const std::optional<sim::Instant>& ended = open.until;
  std::vector<const Pause*> own;
  for (const Pause& pause : pauses_) {
    if (pause.process == wait.process) own.push_back(&pause);
  }
  const auto count = static_cast<std::int64_t>(own.size());
  const auto stretch = [&](std::size_t i, sim::Duration longer_than, bool is_widened) {
    const Pause* before = i > 0 ? own[i - 1] : nullptr;
    const Pause* after = i < own.size() ? own[i] : nullptr;
    if (before != nullptr && !before->until) return;  // it never goes on
    begin("no-lost-wakeup", is_widened, wait.process, {});
    const std::optional<sim::Instant> paused = after == nullptr ? std::nullopt : std::optional(after->from);
    const std::optional<sim::Instant> resumed = before == nullptr ? std::nullopt : before->until;
    const auto lasts = [&](const std::optional<sim::Instant>& end, sim::Duration least) {
      if (!end) return;
      require(freed + least, *end, true);
      require(open.from + least, *end, true);
    };
    // All of it is longer in any case. What is the same for all who wait comes first, and is most likely impossible.
    lasts(taken, question.within);
    lasts(ended, question.within);
    lasts(paused, longer_than);
    for (const std::optional<sim::Instant>& end : {taken, ended, paused}) {
      if (end && resumed) require(*resumed + longer_than, *end, true);
    }
    finish();
  };
  for (std::size_t i = 0; i <= own.size(); ++i) {
    stretch(i, question.within, i < own.size() && own[i]->is_loose);
    if (count > 0) stretch(i, sim::Duration::nanoseconds(question.within.count_ns() / (count + 1)), true);
  }
}

}  // namespace lockstep::checker
