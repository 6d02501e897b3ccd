#pragma once

// What has been tried at each place of the present trace, and what is still to be tried there: the way through the tree
// of all traces that a search is on. Of a branch the first places belong to others: what is found out about these is
// handed back.
//
// Sleep sets keep equivalent orders from being explored twice: an event that was tried at a place sleeps there and at
// the places after it, as long as nothing happens that it depends on. What it would do is known, since it was executed
// from that very state.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/trace.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::checker::explorer {

/// A place of a trace: the state before its event, and what has been tried there.
struct Place {
  std::vector<Wakeup> backtrack;  ///< to be tried, in this order; the chosen event and those done are among them
  std::vector<Sleeping> sleep;    ///< explored already, here or before and independent of all since
  std::vector<Sleeping> done;     ///< the chosen event, with the answers before
  bool has_tried = false;         ///< an event that did not sleep with the answers that it was given
  bool tried_before = false;      ///< likewise, before the chosen one with these answers
  bool is_impossible = false;     ///< the chosen event, with the present answers
  bool may_live = false;      ///< with some answers it is feasible, or something that is still to come may make it so
  bool lived_before = false;  ///< likewise, with the answers before the present ones
  std::vector<std::uint32_t> conflict;  ///< if not: who does not allow it
  std::vector<Reversal> reversals;      ///< of what comes before the branch: somebody else is to be told of them
};

class SearchTree {
 public:
  SearchTree(const SearchRules& rules, Trace& trace) : rules_(rules), trace_(trace) {}

  Place& operator[](std::uint32_t position) { return places_[position]; }
  const Place& operator[](std::uint32_t position) const { return places_[position]; }

  // --- The branch. The places before `own_from` belong to others.

  std::uint32_t own_from() const { return own_from_; }
  /// How many of the events that stand are also the first on the way to a branch.
  std::uint32_t common_with(const Branch& branch) const;
  /// Lays out the way to a branch. Requires: no more stands than is common with it.
  void follow(const Branch& branch);
  /// The states on the present trace from which branches may start, by position: the branch's own, and where it starts
  /// itself.
  std::vector<std::shared_ptr<BranchPoint>> points_of(const Branch& branch) const;
  /// What has been tried, and what sleeps, at the points that are the branch's own.
  void complete(std::vector<std::shared_ptr<BranchPoint>>& points) const;
  /// What was found out about events that belong to other branches.
  void tell_others(BranchOutcome& outcome);
  /// The branch that consists of the present trace alone.
  Branch here() const;

  // --- Forward.

  /// The state after the last event is new: nothing has been tried there, and of what slept before sleeps what does not
  /// depend on that event.
  Place& arrive();
  /// This event is tried in it, and is now the last of the trace.
  void choose(Scheduled event);
  /// What comes next if a reversal is followed; nothing: whatever comes next.
  std::optional<sim::EventId> next_to_follow();
  /// The same, all of it, what comes first first.
  std::vector<sim::EventId> to_follow() const { return {follows_.rbegin(), follows_.rend()}; }
  /// The event with the answers that it has just been given is a part of some execution.
  void note_tried(std::uint32_t position) { places_[position].has_tried = places_[position].may_live = true; }
  /// Whether the event sleeps with the answers that it has just been given: then an equivalent trace is explored
  /// elsewhere. Nothing is lost but the one event, so this is no blocked execution.
  bool is_redundant(std::uint32_t position) const;

  // --- Backward: what is tried next at a place whose event has been taken down.

  void begin_to_back_up() { follows_.clear(); }
  /// The chosen event with other answers. False: it was tried with all.
  bool try_next_answer(std::uint32_t position);
  /// Another event. False: all that is to be tried here has been.
  bool try_next_event(std::uint32_t position);
  /// Who was picked turned out to sleep, with the only answers that it could be given; so it was not to be picked.
  bool is_to_pick_again(std::uint32_t position) const;
  /// Other answers of the last step before the branch, or to what is decided before the first event, as far as they are
  /// the branch's own. False: there are none.
  bool try_next_own_answer();
  /// Whether something is left to be tried in place of the event, or with other answers.
  bool is_open(std::uint32_t position) const;

  /// No execution begins with the events up to this one. Requires: it is the branch's own.
  void die(std::uint32_t position);
  /// Whether a place needs nothing more since no execution leads there. Asked of each place on the way back, the last
  /// first: at the place that `die` named it is not so any more, and its event is no event of an execution.
  bool is_dead(std::uint32_t position);
  bool is_dying() const { return dead_from_.has_value(); }

  // --- What is to be tried.

  /// Any of the candidates has to be tried in place of the event at `position`.
  void reverse(std::uint32_t position, const Reversal& reversal);
  /// Whether one of the candidates is tried, or has been.
  bool needs_no_reversal(std::uint32_t position, const Reversal& reversal) const;

 private:
  void follow_wakeup(std::uint32_t position);
  void note_done(std::uint32_t position, bool is_impossible);

  const SearchRules& rules_;
  Trace& trace_;
  std::vector<Place> places_;  ///< by position; those that are not in use keep their memory
  std::uint32_t own_from_ = 0;
  /// The first answers of the event before `own_from`, or of the root, that belong to others, too.
  std::size_t fixed_answers_ = 0;
  std::vector<sim::EventId> follows_;  ///< what is to be executed next, as long as it can, what comes first last
  std::optional<std::uint32_t> dead_from_;
};

}  // namespace lockstep::checker::explorer
