#pragma once

// progress (belief): nobody tries for longer than a bound while nobody holds the lock for a good reason.
//
// A client *tries* from the invocation of its first attempt (acquire) until it has the lock, gives up, or dies.
// Attempts in a row with nothing in between but sleep are one try, as many of them as one round of its program has
// (`attempts`): whoever comes back a day later has not tried for a day. An acquire that waits inside is a try like any
// other; one that never ends never stops trying. A client that is stopped does not try meanwhile: a try with a pause in
// it is several, one before and one after.
//
// Progress is violated if there is a stretch of more than `within` in which
//   - one client tries, all the time,
//   - nobody gets the lock (no acquire of it ends ok), and
//   - nobody believes to hold it (ownership.hpp), all the time; or one and the same client believes it, and is not
//     stopped, all the time.
// The first is a lock that nobody has and nobody gets: of a dead holder and never free again, of a dead reader whose
// share is renewed, of several who take it away from each other. The second is a holder that never gives back. Whoever
// works long blocks rightly: `within` is longer than the longest work. A holder that is stopped blocks rightly too:
// that somebody stops it is no fault of the lock's, and whether the lock outlives that, its lease says.
//
// Not seen: who is always overtaken (somebody else gets the lock: `fair`), who takes several locks one after the other
// and gives them back again and again for want of the last (each of them is got).

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "checker/properties/ownership.hpp"
#include "checker/properties/verdict.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

class DifferenceConstraints;

struct ProgressQuestion {
  sim::Duration within;
  /// By process: how many attempts one try has at most; 0, or no entry: any number.
  std::span<const std::int64_t> attempts = {};
  /// Of a run: when the story was over. What ends later was ended by the probe, so it goes on for ever; nothing: all of
  /// it is the story.
  std::optional<sim::Instant> end = std::nullopt;
  /// Of an exploration: what its delays allow, to leave out at once what can never last long enough. Null: nothing is
  /// left out.
  const DifferenceConstraints* delays = nullptr;
};

/// A row of attempts of one process to get one object.
struct Try {
  sim::ProcessId process;
  std::string_view object;     ///< belongs to the history
  sim::OperationId first = 0;  ///< the first attempt
  std::int64_t attempts = 0;
  bool is_successful = false;
  sim::Instant from;
  sim::Step from_step = sim::no_step;
  std::optional<Ending> until;  ///< it got it, gave up, or died; nothing: it tries for ever
};

/// By their first attempts. Looks at ids and steps, never at two instants.
void collect_tries(std::span<const sim::Operation> operations, std::span<const sim::Interruption> interruptions,
                   std::span<const std::int64_t> attempts, std::vector<Try>& tries);

/// Blames whoever tries in vain, or the holder that does not give back and then whoever tries; `at` is when it has
/// lasted for `within`. Requires: instants are true times.
Finding progress(const sim::History& history, const Names& names, const ProgressQuestion& question);

}  // namespace lockstep::checker
