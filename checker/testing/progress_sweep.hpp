#pragma once

// progress, nanosecond by nanosecond: an oracle for tests. It shares only the ends of beliefs with the checker (`ownership_intervals`, which has
// tests of its own); who tries it reads from the operations itself. Requires: whole nanoseconds; every acquire ends or is its process's last operation.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checker/properties/ownership.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

inline bool sweep_progress(const sim::History& history, sim::Duration within) {
  std::int64_t last = 0;
  const auto see = [&](sim::Instant at) { last = std::max(last, at.offset().count_ns()); };
  for (const sim::Operation& o : history.operations) {
    see(o.invoked);
    if (o.phase != sim::Phase::invoke) see(o.completed);
    if (o.valid_until) see(*o.valid_until);
  }
  for (const sim::Interruption& i : history.interruptions) {
    see(i.from);
    if (i.until) see(*i.until);
  }
  const std::int64_t end = last + within.count_ns() + 2;

  // Nanosecond n is [n, n + 1).
  const auto is_stopped = [&](sim::ProcessId process, std::int64_t n) {
    return std::any_of(history.interruptions.begin(), history.interruptions.end(), [&](const sim::Interruption& i) {
      return freezes(i.kind) && i.process == process && i.from.offset().count_ns() <= n &&
             (!i.until || n < i.until->offset().count_ns());
    });
  };
  // A pause of no length interrupts, too.
  const auto is_interrupted = [&](sim::ProcessId process, std::int64_t n) {
    return std::any_of(history.interruptions.begin(), history.interruptions.end(), [&](const sim::Interruption& i) {
      return freezes(i.kind) && i.process == process && i.from.offset().count_ns() == n;
    });
  };
  std::map<std::pair<sim::ProcessId, std::string>, std::set<std::int64_t>> tries;
  std::map<std::pair<sim::ProcessId, std::string>, std::set<std::int64_t>>
      begins;  // another try, even if one has just ended
  std::map<sim::ProcessId, const sim::Operation*> before;
  for (const sim::Operation& o : history.operations) {
    const sim::Operation* previous = std::exchange(before[o.process], &o);
    if (o.function != "acquire") continue;
    std::int64_t from = o.invoked.offset().count_ns();
    std::int64_t to = o.phase == sim::Phase::invoke ? end : o.completed.offset().count_ns();
    for (const sim::Interruption& i : history.interruptions) {
      const bool is_his = kills(i.kind) && i.process == o.process;
      if (!is_his || i.step < o.invoked_in) continue;
      if (o.phase == sim::Phase::invoke || i.step < o.completed_in) to = std::min(to, i.from.offset().count_ns());
    }
    bool goes_on = false;
    if (previous != nullptr && previous->function == "acquire" && previous->object == o.object &&
        previous->phase != sim::Phase::ok) {
      const bool died =
          std::any_of(history.interruptions.begin(), history.interruptions.end(), [&](const sim::Interruption& i) {
            return kills(i.kind) && i.process == o.process && i.step >= previous->invoked_in && i.step < o.invoked_in;
          });
      goes_on = !died;
      if (!died) from = previous->completed.offset().count_ns();
    }
    if (!goes_on) begins[{o.process, o.object}].insert(from);
    for (std::int64_t n = from; n < to; ++n) tries[{o.process, o.object}].insert(n);
  }

  const std::vector<OwnershipInterval> beliefs = ownership_intervals(history);
  const auto believes = [](const OwnershipInterval& belief, std::int64_t n) {
    return belief.contains(sim::Instant::at(sim::Duration::nanoseconds(n)));
  };
  for (const auto& [who, when] : tries) {
    std::int64_t nobody = 0;
    std::vector<std::int64_t> held(beliefs.size(), 0);
    for (std::int64_t n = 0; n < end; ++n) {
      bool is_held = false;
      for (const OwnershipInterval& belief : beliefs) {
        if (belief.object != who.second) continue;
        is_held = is_held || believes(belief, n);
        if (belief.from.offset().count_ns() != n) continue;
        nobody = 0;
        std::fill(held.begin(), held.end(), 0);
      }
      if (is_interrupted(who.first, n) || begins[who].contains(n)) {
        nobody = 0;
        std::fill(held.begin(), held.end(), 0);
      }
      for (std::size_t b = 0; b < beliefs.size(); ++b) {
        if (is_interrupted(beliefs[b].process, n)) held[b] = 0;
      }
      const bool is_trying = when.contains(n) && !is_stopped(who.first, n);
      nobody = is_trying && !is_held ? nobody + 1 : 0;
      if (nobody > within.count_ns()) return true;
      for (std::size_t b = 0; b < beliefs.size(); ++b) {
        const bool is_holder = beliefs[b].object == who.second && believes(beliefs[b], n);
        held[b] = is_trying && is_holder && !is_stopped(beliefs[b].process, n) ? held[b] + 1 : 0;
        if (held[b] > within.count_ns()) return true;
      }
    }
  }
  return false;
}

}  // namespace lockstep::checker
