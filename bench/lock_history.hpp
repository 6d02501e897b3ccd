#pragma once

// Histories of locks, as long as one likes, for measurements.

#include <cstdint>
#include <numeric>
#include <vector>

#include "checker/linearizability/operation_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::bench {

using checker::HistoryOperation;
using checker::OperationHistory;

/// Clients that wait for a lock with `permits` places, hold it, release it, and think. Positions are those of a log:
/// each invocation and each return has its own.
/// `lost_one_in`: of so many operations, one is never answered, and its client goes on, under a new process number or
/// under its own. `tried_one_in`: of so many acquires of a taken lock, one is a try that fails.
struct Disturbed {
  std::uint64_t lost_one_in = 0;
  bool keeps_number = false;
  std::uint64_t tried_one_in = 0;
};

inline OperationHistory lock_history(std::size_t operations, std::uint32_t clients, std::uint32_t permits,
                                     bool has_tokens, bool is_stolen, Disturbed disturbed = {}) {
  enum class Doing : std::uint8_t { thinking, acquiring, acquired, holding, releasing, released };
  sim::Random random(clients);
  std::vector<Doing> doing(clients, Doing::thinking);
  std::vector<std::size_t> open(clients, 0);
  std::vector<std::uint32_t> process(clients);
  std::iota(process.begin(), process.end(), 0);
  std::uint32_t processes = clients;
  OperationHistory h;
  h.operations.reserve(operations);
  std::uint32_t taken = 0;
  std::int64_t token = 0;
  std::int64_t position = 0;
  bool may_steal = is_stolen;
  while (h.operations.size() < operations) {
    const auto p = static_cast<std::uint32_t>(random.below(clients));
    const auto invoke = [&](std::uint16_t function) {
      open[p] = h.operations.size();
      h.operations.push_back(
          {.invoked = position++, .process = process[p], .function = function, .phase = sim::Phase::info});
    };
    const auto is_lost = [&] { return disturbed.lost_one_in != 0 && random.one_in(disturbed.lost_one_in); };
    const auto go_on = [&] {
      if (!disturbed.keeps_number) process[p] = processes++;
    };
    const auto end = [&] {
      h.operations[open[p]].returned = position++;
      h.operations[open[p]].phase = sim::Phase::ok;
    };
    switch (doing[p]) {
      case Doing::thinking:
        invoke(0);
        doing[p] = Doing::acquiring;
        break;
      case Doing::acquiring: {
        if (is_lost()) {
          go_on();
          doing[p] = Doing::thinking;
          break;
        }
        if (taken == permits && disturbed.tried_one_in != 0 && random.one_in(disturbed.tried_one_in)) {
          h.operations[open[p]].returned = position++;
          h.operations[open[p]].phase = sim::Phase::fail;
          doing[p] = Doing::thinking;
          break;
        }
        const bool steals = may_steal && taken == permits && h.operations.size() > operations - operations / 100;
        if (taken == permits && !steals) break;
        may_steal = may_steal && !steals;
        ++taken;
        if (has_tokens) {
          h.operations[open[p]].out = ++token;
          h.operations[open[p]].out_known = true;
        }
        doing[p] = Doing::acquired;
        break;
      }
      // A lost acquire that took effect would keep the lock for good, so only lost releases do.
      case Doing::acquired:
        end();
        doing[p] = Doing::holding;
        break;
      case Doing::holding:
        invoke(1);
        doing[p] = Doing::releasing;
        break;
      case Doing::releasing:
        --taken;
        doing[p] = Doing::released;
        break;
      case Doing::released:
        if (is_lost()) {
          go_on();
        } else {
          end();
        }
        doing[p] = Doing::thinking;
        break;
    }
  }
  return h;
}

}  // namespace lockstep::bench
