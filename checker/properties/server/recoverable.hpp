#pragma once

#include <optional>
#include <span>

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// What to ask: a fresh client that tries to get the lock after everything has come to rest.
struct RecoverableQuestion {
  sim::ProcessId probe;    ///< the fresh client
  sim::Instant quiescent;  ///< all holders are done or dead, and every lease has run out
  sim::Duration within;    ///< how long it may take from there
  sim::Instant
      probed_until;  ///< when the probing (or the story) ended; explored: when its last attempt that failed began
  bool is_renewed = false;  ///< explored: something went on renewing a lease when the story was over
  /// The probe tries as its program does, from `quiescent` on. It has the lock in time if that is no later than so
  /// long after the bound, or after the beginning of that attempt, the first that begins when its time is
  /// over. Nothing: only
  /// how the lock comes back is asked, and a probe that has it later than the bound is too late.
  std::optional<sim::Duration> visitor_attempt = {};
};

/// The same of a visitor: when the last of its attempts began that failed; in the last one it may wait for ever, which
/// is longer than any bound.
sim::Instant probed_until(std::span<const sim::Operation> operations, sim::ProcessId probe, sim::Instant bound);

/// Whether a release of this hold said ok.
bool was_given_back(std::span<const sim::Operation> operations, const sim::Operation& acquire);

/// recoverable (server): a fresh client gets the lock no later than `within` after `quiescent`.
///
/// Only the first successful acquire of the probe counts, and its completion: a grant whose reply never arrives helps
/// nobody. If it got the lock too late, or never in the probing, the property is violated at quiescent + within, by
/// whoever had the lock last and has not given it back: no release of it said ok. (Nobody, if there is no such one.)
/// Who came too late may only have begun too late: an attempt that failed, and had still had the time to get the lock
/// by the bound, leaves open what one between the two would have got. `decisive_attempt` says when.
/// unknown: there is no such probe, the probing ended before the bound, so that silence proves nothing, or that.
Finding recoverable(const sim::History& history, const Names& names, const RecoverableQuestion& question);

/// When the probe must begin, so that whatever comes of it decides a question that is open since it did not begin
/// between two of its attempts: what takes as long as the one that got the lock then ends at the bound. Nothing: that
/// is not open.
std::optional<sim::Instant> decisive_attempt(const sim::History& history, const RecoverableQuestion& question);

}  // namespace lockstep::checker
