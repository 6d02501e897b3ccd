#pragma once

#include <span>

#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

/// fair (server): nobody is overtaken more than `overtakings` times while it tries to get the lock.
///
/// An attempt *arrives* with the first write that it does to the lock's keys, and is *granted* with its last one, if it
/// ended ok: what the server has in its order, not what a client's clock says. (An attempt that writes nothing never
/// stood in line.) X overtakes Y, an attempt of another process at the same lock, if X arrived after Y, X was granted,
/// and either
///   - Y was granted after X, or
///   - Y was turned away, although everybody who held a place when Y arrived still held it when X was granted: nothing
///     had become free, so whoever had room for X had room for Y before.
/// A place is held from its grant until its release reaches the server or its announced lease is over. Without the
/// second rule a semaphore that says "busy" could never be unfair; without its condition it always would be, since a
/// place that becomes free goes to whoever asks next.
///
/// violated: the grant that was one overtaking too many; `by` = the overtaken process, then those that overtook it.
/// Requires: effects are in true order; `overtakings` >= 0.
Finding fair(const sim::History& history, const Names& names, std::int64_t overtakings);

/// An attempt as the servers saw it, by positions among the effects.
struct Arrival {
  const sim::Operation* attempt;
  std::size_t arrived;
  std::size_t granted;  ///< its last write: the grant, if it ended ok
};
/// By order of arrival. Attempts of unknown outcome or that were never finished are left out. The result points into
/// `operations`.
void collect_arrivals(std::span<const sim::Operation> operations, std::span<const sim::Effect> effects,
                      std::vector<Arrival>& arrivals);

/// The first effect of the release of this hold: its place is free then. Nothing: it was never given back.
std::optional<std::size_t> place_given_back(sim::OperationId acquire, std::span<const sim::Operation> operations,
                                            std::span<const sim::Effect> effects);

}  // namespace lockstep::checker
