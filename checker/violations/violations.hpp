#pragma once

// In which ways the delays of one explored trace can break the properties. Start here for the explorer's judge.
//
// The checkers beside this file (mutual_exclusion.hpp, linearizable.hpp, …) decide for true times. Here the instants
// are symbolic: the answer is a list of *ways*, each a conjunction of difference constraints under which the history of
// this trace breaks a property. A property is violable on the trace exactly if one of its ways is feasible together
// with the trace's own constraints, but for the widened ones. The definitions are those of the checkers; the tests
// compare both on thousands of histories.
//
// What needs no time is decided at once: the order of the events of one process, and what a server did to one object
// in which order. Where a checker compares instants of one process, this reads their steps.
//
// mutual-exclusion. Belief i is still alive at moment m in each of these ways: m is before its first ending by an event
// (release, loss, crash: one process, so steps say which is first), and
//   - m < deadline, or
//   - pauses p1, …, pk of its process, in order, cover everything from the deadline to m: p1.from <= deadline,
//     p(j+1).from <= pj.until, m < pk.until. (That the deadline is before p1.until need not be said: otherwise m <
//     deadline.) Two beliefs overlap if both are alive at both beginnings; each way holds for every earlier m as well,
//     so one way for each belief is enough for both moments. That a hold is not empty is thereby said, too.
// Pauses within work (`Place::within`) begin anywhere in the work; `from` is only the latest such moment. That they
// begin there, one after the other, is one way. In the other they begin earlier, at c: the deadline, or the end of what
// has been covered up to there. All pauses of the work then follow each other from there on, since more cover more;
// they are over at c + length, where length is the sum of theirs, that is, by how much the work has been prolonged: end
// - from. `m < c + (end - from)` is no difference of two instants (`Violation::sums`): parameter_space.hpp decides it.
// c is a moment of the work without them: not before it began, and not after `from`, its end.
//
// linearizable. See violations/linearizable.cpp for the argument, and violations/semaphore.cpp for semaphores. What is
// shared among readers is no mutex: it has no ways then. no-deadlock: violations/no_deadlock.cpp.
//
// no-lost-wakeup. A wait that nobody may cut short by a pause is four differences: from the release, and from the
// beginning of the wait, to the next grant, and to the end of the wait. With a pause of whoever waits the pause would
// have to be taken off: widened. capacity, fair. See violations/places.cpp. progress: violations/progress.cpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checker/explorer/explored.hpp"
#include "checker/properties/belief/progress.hpp"
#include "checker/properties/belief/wait_for.hpp"
#include "checker/properties/breach.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/places.hpp"
#include "checker/properties/server/fair.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/recoverable.hpp"
#include "checker/time/difference_constraints.hpp"
#include "checker/time/parametric.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// moment - base < until - from.
struct SumConstraint {
  sim::Instant moment;
  sim::Instant base;
  sim::Instant from;
  sim::Instant until;

  bool operator==(const SumConstraint& o) const;
};

/// The pauses within the work that ends with this event begin here, each when the one before ends.
struct WorkPauses {
  std::uint32_t event;
  sim::Instant begin;
};

/// One way to break a property.
struct Violation {
  std::string_view property;            ///< as in properties.hpp
  std::vector<sim::ProcessId> by;       ///< whom to blame, in no particular order
  std::vector<Constraint> constraints;  ///< all of them together break it; empty: every delay of this trace does
  std::vector<SumConstraint> sums;      ///< and these
  std::vector<WorkPauses> pauses;       ///< for a witness: what the sums rest on
  bool is_widened = false;              ///< necessary, but not sufficient: only a replay tells
  bool lasts = false;                   ///< several hold at once for some time, no longer than each of these, and sums
  std::vector<Length> lengths;

  /// The same, but that it lasts longer than this: more constraints and sums. Requires: it lasts.
  void last_longer_than(sim::Duration length);
};

/// For tests alone: a judge that is broken on purpose, so that it calls kept what can be broken (or of a semaphore the
/// other way round), and must be found out.
enum class JudgingMutant : std::uint8_t {
  none,
  early_deadlines,      ///< a deadline of a hold is taken to be 3ms earlier
  late_deadlines,       ///< or 3ms later
  deadlines_in_pauses,  ///< a deadline ends a hold even while its holder is paused
  single_pauses,        ///< pauses that adjoin do not cover a deadline together
  pauses_begin_late,    ///< a pause within work begins at its end, and so covers no deadline before
  own_by_all,           ///< a lock is whoever's who removes it
  first_way,            ///< a margin is that of the first way of each trace
  one_clock_is_right,   ///< of several clocks that are off by a range only one is
  no_probe,             ///< whether the lock comes back is not asked
  one_place_less,       ///< linearizable: a semaphore allows one hold less than it has places
  one_place_more,       ///< or one more
  holds_begin_early,    ///< or a place is taken when its acquire is invoked
  tries_take_places,    ///< or an acquire that failed had a place in between
  nothing_is_spare      ///< or of several releases of a hold each may end only that
};

/// What is asked of semaphores, and of locks with a queue; what is not said is not asked.
struct SemaphoreQuestion {
  std::optional<std::int64_t> places;
  std::optional<std::int64_t> overtakings;
  std::string_view lock = {};  ///< linearizable asks for a semaphore of this name then, and not for mutexes
};

/// Finds the ways of one trace after the other. Keeps its buffers: no allocation once they have grown.
class ViolationFinder {
 public:
  /// All ways of all properties, in their order. Valid until the next call. Pauses are those among `faults` and those
  /// that the history has; crashes are the history's. Requires: the pauses of one process are in order of their
  /// beginning; steps order the events of each process; the effects on one object are in the order of its server.
  ///
  /// `recoverable`: what a probe showed that ran after the story. Its operations, and what comes after its first, are
  /// no part of the story that the other properties judge. Without one, recoverable has no ways. `deadlock_lasting`:
  /// how long a circle must last for `no-deadlock`; without, that has no ways. `wakeup`: the same for no-lost-wakeup;
  /// its `end` means nothing here.
  std::span<const Violation> find(const sim::History& history, std::span<const ExploredFault> faults,
                                  std::span<const sim::ProcessId> resources,
                                  const RecoverableQuestion* recoverable = nullptr,
                                  std::optional<sim::Duration> deadlock_lasting = std::nullopt,
                                  const WakeupQuestion* wakeup = nullptr);

  /// What was looked at: the history of `find`, without what the probe did. Valid as long as that history.
  OrderedHistory story() const { return {operations_, effects_, *history_, resources_, &locks_}; }

  /// From now on also the ways of capacity and fair. Requires: its name outlives this.
  void ask(SemaphoreQuestion question) { semaphore_ = question; }
  void break_on_purpose(JudgingMutant mutant) { mutant_ = mutant; }
  JudgingMutant mutant() const { return mutant_; }
  /// From now on also the ways of progress; what `delays` points to is that of the next trace.
  void ask(const ProgressQuestion& question) { progress_ = question; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  struct Pause {
    sim::ProcessId process;
    sim::Instant from;
    std::optional<sim::Instant> until;
    bool is_loose;                ///< `from` is only the latest moment at which it can have begun
    std::uint32_t event = kNone;  ///< if it is loose: the end of the work
    sim::Instant earliest = {};   ///< likewise: the beginning of the work
    std::size_t last = 0;         ///< likewise: the position of the last pause of the same work, of the same process
    bool is_first = false;        ///< likewise: the first of these
  };
  /// A slice of `sides_`.
  struct Slice {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// m is before all limits, and the side conditions hold.
  struct AliveWay {
    std::optional<sim::Instant> event;
    std::optional<sim::Instant> clock;
    Slice sides;
    bool is_widened = false;
    std::optional<std::size_t>
        work_pause;  ///< position of a loose pause: `clock` is put off by as much as all pauses of that work last
    std::optional<std::size_t> work_at_end = {};  ///< likewise, whose pauses lie at the end of the work
  };
  struct BeliefWays {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // --- linearizable
  struct Item {
    const std::string* object;
    sim::ProcessId process;
    bool is_acquire;
    bool is_certain;
    sim::Instant invoked;
    sim::Step invoked_in;    ///< or the first at which a deadline can have made it
    sim::Step event;         ///< of its invocation; no_step: it stands for a deadline alone
    sim::Instant completed;  ///< if certain
    sim::Step completed_in;
    std::uint32_t belief;    ///< with a deadline, which this acquire begins, or this release ends
    sim::OperationId hold;   ///< the acquire whose hold it begins or ends; 0: of none
    bool is_puzzle = false;  ///< stands for operations within a hold of which only a replay says what they did
    bool is_extra = false;   ///< one more release of a hold with a deadline, or its loss before its release
  };
  /// The lock is this process' at least from `latest_begin` to `earliest_end`, or for ever; see the argument.
  struct Hold {
    sim::Instant latest_begin;
    std::optional<sim::Instant> earliest_end;
    std::uint32_t belief;  ///< whose deadline ends it as well
  };
  struct Plan {
    const std::string* object;
    sim::ProcessId process;
    Slice conditions;
    std::size_t holds_begin;
    std::size_t holds_end;
    bool is_widened;
  };

  void read(const sim::History& history, std::span<const ExploredFault> faults, const RecoverableQuestion* recoverable);
  bool is_resource(sim::ProcessId server) const;
  const sim::Operation* operation_of(const sim::Effect& effect) const;

  // Each of these adds the ways of one property.
  void mutual_exclusion();
  void linearizable();
  void linearizable_semaphore(std::size_t places);
  void no_deadlock(sim::Duration lasting);
  void own_release();
  std::vector<const sim::Operation*> owners_before(std::size_t position, std::string_view member);
  void counted_places();
  std::span<const PlaceChange> changes_at(std::size_t effect) const;
  void removes_grant(std::size_t position, const sim::Operation& remover, const sim::Operation& owner);
  /// What servers and renewals say, just before an effect, of the end of the lease that is there.
  struct KnownEnd {
    std::optional<sim::Instant> at_server;
    std::optional<sim::Instant> announced;
  };
  KnownEnd lease_before(std::size_t position, const sim::Operation& owner) const;
  void recoverable(const RecoverableQuestion& question);
  void order_properties();
  void leases_that_run_out();
  void lost_wakeups(const WakeupQuestion& question);
  void lost_wakeup(const WakeupQuestion& question, const OpenWait& open, sim::Instant freed,
                   const std::optional<sim::Instant>& taken);
  void fencing();

  const BeliefWays& alive_ways(std::size_t belief);
  sim::Instant deadline_of(const Belief& belief) const;
  void add_pause_chains(const Belief& belief, std::optional<sim::Instant> event, std::size_t first_pause);
  void add_alive(const AliveWay& way, sim::Instant moment);
  void add_together(const AliveWay& way, sim::Instant moment);
  void add_unnoticed(const AliveWay& way, sim::Instant moment);
  void begin_pauses(std::uint32_t event, sim::Instant begin);
  void add_sides(Slice sides);

  void collect_items(bool with_inner);
  void inner_operations();
  static void sort_items(std::span<Item> items);
  void plan_process(std::size_t begin, std::size_t end);
  bool make_plan(bool is_widened);
  void left_out_holds();
  void late_deadlines();
  void conflicts(const Plan& a, const Plan& b);
  std::size_t kept_ways(const Hold& hold);
  bool is_kept_widened(const Hold& hold, std::size_t way) const;
  void add_kept(const Hold& hold, std::size_t way, sim::Instant moment);

  void add_circles(const Waits& waits, const WaitCycle& cycle, std::vector<const Wait*>& reasons,
                   sim::Duration lasting);
  void add_circle(const Waits& waits, const std::vector<const Wait*>& reasons, sim::Duration lasting);
  // --- linearizable, of semaphores; see violations/semaphore.cpp
  struct PlaceHold : Hold {
    sim::ProcessId process;
    std::optional<Constraint> untouched;  ///< a way is exact if this is satisfied as well
    bool is_widened;
    bool is_nested;  ///< it may lie within another of its process, which might have been given back in its stead
    bool may_meet;   ///< others of its process
  };
  struct Taken {
    std::size_t acquire;                 ///< item
    std::optional<std::size_t> release;  ///< likewise
  };
  void plan_places(std::span<const Item> items);
  void add_hold(std::size_t first, std::size_t missing);
  void choose_way(std::size_t member);
  void begin_overfull(bool as_cores, bool is_widened);

  // --- capacity and fair
  struct Companion {
    std::size_t belief;  ///< or the hold
    std::size_t way;
  };
  struct Faster {
    std::size_t arrival;
    std::uint64_t leases_over;  ///< of the holders with leases, by order of arrival: those that were over
  };
  void capacity(std::size_t places);
  void add_to_crowd(std::size_t first, std::size_t missing);
  void begin_crowd(std::size_t member, bool is_widened);
  void fairness(std::size_t overtakings);
  void add_overtaker(std::size_t overtaken, std::size_t first, std::size_t missing);
  void add_leases(std::size_t overtaken, std::size_t member);
  void add_order(std::size_t before, std::size_t after);
  bool is_holder(const Arrival& z, const Arrival& y) const;
  void add_still_taken(const Arrival& x, const Arrival& y, std::uint64_t leases_over);

  // --- progress
  /// What a stretch of a try has been chosen to be so far; see violations/progress.cpp. Positions are those of beliefs
  /// and pauses.
  struct Stretch {
    const Try* trying = nullptr;
    std::optional<sim::Instant> until;
    sim::Duration within;
    sim::Step story_end = sim::no_step;
    std::vector<std::size_t> others, before, after;
    std::vector<sim::Instant> starts, ends;
    std::vector<std::size_t> own, of_holder, noticing;
  };
  void progress(const ProgressQuestion& question);
  void split_grants(std::size_t next);
  void nobody_believes(std::size_t next, bool is_widened);
  void somebody_holds(std::size_t holder);
  void between_pauses(bool is_widened, const Belief* holder);
  void add_stretch(std::size_t gap, std::size_t gap_of_holder, bool is_widened, const Belief* holder);
  void after_work_pauses(const Pause& last);
  std::optional<sim::Instant> ended_by_event(const Belief& belief) const;
  void own_pauses(sim::ProcessId process, std::vector<std::size_t>& own) const;

  const sim::Operation* grant_of(const sim::Operation& write) const;
  void collect_grant_writes();
  void add_newer_grant(const sim::Operation& newer, const sim::Operation& older, const sim::Effect& newer_write,
                       const sim::Effect& late_write);

  void begin(std::string_view property, bool is_widened, sim::ProcessId a, sim::ProcessId b);
  /// a < b, or a <= b. What needs no solver is decided here.
  void require(sim::Instant a, sim::Instant b, bool strict);
  void require(const Constraint& constraint);
  void require(const SumConstraint& sum);
  void finish();

  const sim::History* history_ = nullptr;
  std::span<const sim::Operation> operations_;
  std::span<const sim::Effect> effects_;
  std::span<const sim::ProcessId> resources_;
  LockObjects locks_;
  std::vector<Belief> beliefs_;
  std::vector<std::size_t> belief_of_;
  std::vector<Pause> pauses_;
  std::vector<Constraint> sides_;
  std::vector<AliveWay> ways_;
  std::vector<BeliefWays> ways_of_;  ///< by belief; end 0: not made yet
  std::vector<std::size_t> chain_;

  std::vector<Item> items_;
  std::vector<Plan> plans_;
  std::vector<Hold> holds_;
  std::vector<Item> group_;  ///< of one process and object
  std::vector<bool> is_given_back_;
  bool has_inner_ = false;             ///< something happens within holds
  std::vector<Constraint> untouched_;  ///< acquires that do not touch what gives their holds back
  std::vector<std::uint32_t> maybe_;   ///< of the group: releases that only a deadline can have made by then
  std::vector<std::size_t> unknown_acquires_;
  std::vector<std::size_t> unknown_releases_;
  struct Pair {
    std::size_t acquire;  ///< item
    std::size_t release;  ///< item, or none
  };
  std::vector<Pair> pairs_;
  std::vector<PlaceHold> place_holds_;
  std::vector<Taken> taken_;  ///< of one process

  struct GrantWrite {
    sim::OperationId operation;
    std::size_t position;  ///< among the effects
  };
  std::vector<GrantWrite> grant_writes_;
  std::vector<std::size_t> written_;  ///< positions of the effects at resources

  std::vector<PlaceChange> place_changes_;
  std::vector<Slice> changes_of_;          ///< of `place_changes_`, by effect
  std::vector<std::string_view> members_;  ///< of an object that something is removed from

  SemaphoreQuestion semaphore_;
  JudgingMutant mutant_ = JudgingMutant::none;
  std::optional<ProgressQuestion> progress_;
  std::vector<Constraint> conditions_;  ///< of the stretch that is looked at
  std::vector<Try> tries_;
  Stretch stretch_;
  std::vector<Companion> crowd_;
  std::vector<Arrival> arrivals_;
  std::vector<Faster> faster_;

  std::vector<Violation> found_;
  std::size_t found_count_ = 0;
  Violation* current_ = nullptr;
  bool is_impossible_ = false;
};

/// What the ways mean together with the constraints of the trace.
struct Violable {
  bool for_certain = false;  ///< some delays break the property
  bool perhaps = false;      ///< a widened way is feasible
};

/// Adds the sums of a way as bounds with a parameter for each length in them, and the ranges of these, behind those
/// that are there. Each sum holds by as much more as the parameter `lasting` is, if one is given.
void add_parametric(std::span<const SumConstraint> sums, std::vector<ParametricBound>& bounds,
                    std::vector<sim::DurationRange>& ranges, std::uint32_t lasting = ParametricBound::none);
/// What a length of `SumConstraint` is at most.
inline constexpr sim::Duration kLongestLength = sim::Duration::seconds(6 * 86'400);

/// Whether the property can be broken by some delays of the trace. Adds nothing to `constraints` for good.
Violable violable(std::string_view property, std::span<const Violation> ways, DifferenceConstraints& constraints);

}  // namespace lockstep::checker
