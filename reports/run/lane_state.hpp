#pragma once

// How each lane stands at a moment of the run: who believes to hold the lock, who is stopped, whose key is on a server.
//
// A moment is a true time and a step, because several things may happen at one time. A step that changes something
// already shows the change: the row that says "has the lock" is the first one of its bar. Only a fault that strikes in
// the same step comes after all else: who gets the lock and crashes had it for one row.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/properties/lock_objects.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/time_spans.hpp"
#include "reports/run/verdicts.hpp"

namespace lockstep::reports {

struct Moment {
  sim::Instant at;
  sim::Step step = 0;
  bool before_faults = false;  ///< the faults of this very step have not struck yet
};

class LaneStates {
 public:
  /// Requires: `story` outlives this.
  explicit LaneStates(const Story& story);

  /// Whether somebody has this hold at that moment.
  static bool covers(const checker::OwnershipInterval& hold, Moment moment);
  bool holds(sim::ProcessId process, Moment moment) const;
  bool is_paused(sim::ProcessId process, Moment moment) const;
  bool is_dead(sim::ProcessId process, Moment moment) const;

  /// Who wrote the lock's key on this server, if it is there; of several locks or parts, the first of these keys that
  /// is there. A key whose time is over counts until the server notices.
  std::optional<sim::ProcessId> key_writer(sim::ProcessId server, sim::Step step) const;
  /// The same of this key alone, before what this step did.
  std::optional<sim::ProcessId> key_writer_before(sim::ProcessId server, std::string_view key, sim::Step step) const;
  /// Whether a lock's places are there, or it is named like one: as long as nobody has got it, that is all there is.
  bool is_lock(std::string_view key) const;

  /// Those who believe to hold the same lock and may not do so together, by their beginning: two of whom one does not
  /// share, or more than a semaphore has places for. Else nothing. Times decide, not steps: a lock that is given back
  /// and taken at the same time was never held twice.
  std::vector<sim::ProcessId> overlapping(Moment moment) const;

  const std::vector<checker::OwnershipInterval>& holds() const { return holds_; }
  /// Several may hold the lock that was got, or is given back, by this operation, so a change of its key takes nothing
  /// from anybody.
  bool lets_several_in(sim::OperationId operation) const;

 private:
  /// Whose key it is from this step on.
  struct Written {
    sim::Step step = 0;
    std::optional<sim::ProcessId> writer;
  };
  using Writers = std::vector<Written>;  ///< by step
  static void note(Writers& writers, Written written);
  static std::optional<sim::ProcessId> writer_at(const Writers& writers, sim::Step step);
  bool is_stopped(sim::HowLong how_long, sim::ProcessId process, Moment moment) const;

  /// Those that somebody has at that moment, by their beginning.
  std::vector<const checker::OwnershipInterval*> present(Moment moment) const;

  const Story* story_;
  bool is_of(std::string_view key, const std::string& lock) const;

  std::vector<std::string> locks_;
  checker::LockObjects objects_;
  std::vector<checker::OwnershipInterval> holds_;                          ///< by their beginning
  checker::RowOfLengths ends_;                                             ///< when each is over
  std::map<std::pair<sim::ProcessId, std::string_view>, Writers> of_key_;  ///< by server and key
  std::map<sim::ProcessId, Writers> of_server_;                            ///< of the first of its keys
};

/// Whether a crash of this server leaves its keys, as the scenario has it.
bool keeps_keys(const scenarios::Scenario& scenario, const std::string& server);

}  // namespace lockstep::reports
