#pragma once

// Processes that do one piece of work together, each with its own memory: what mpirun starts. All of them run the same
// program with the same arguments, each does its share, and they tell each other what came of it. Who does what must
// make no difference to the result.

#include <cstddef>
#include <string>
#include <vector>

#include "scenarios/workers/text_archive.hpp"

namespace lockstep::scenarios {

class Ranks {
 public:
  virtual ~Ranks() = default;

  /// From 0 on, less than `size`.
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// What each said, by rank. Returns when all have called it, as often as this one has. From one thread.
  virtual std::vector<std::string> exchange(const std::string& own) = 0;

  /// What rank 0 says; of the others nobody asks.
  std::string from_first(const std::string& own) { return exchange(rank() == 0 ? own : std::string()).front(); }
  bool from_first(bool own) { return from_first(std::string(own ? "1" : "0")) == "1"; }
};

/// Whether number `i` of a list of tasks is this process's. Null: there is only this one.
inline bool is_mine(const Ranks* ranks, std::size_t i) {
  return ranks == nullptr || i % ranks->size() == ranks->rank();
}

/// How many of the tasks are.
inline std::size_t share_of(const Ranks* ranks, std::size_t tasks) {
  return ranks == nullptr ? tasks : (tasks + ranks->size() - 1 - ranks->rank()) / ranks->size();
}

/// Fills in the results that others have. `write(out, i)` for each that is mine, `read(in, i)` for the rest; both in
/// the order of the tasks. Returns false if what somebody said cannot be read: then they are not the same program.
template <class Write, class Read>
bool share(Ranks* ranks, std::size_t tasks, const Write& write, const Read& read) {
  if (ranks == nullptr || ranks->size() == 1 || tasks == 0) return true;
  Writing out;
  for (std::size_t i = ranks->rank(); i < tasks; i += ranks->size()) write(out, i);
  const std::vector<std::string> all = ranks->exchange(std::move(out).take());
  bool is_good = true;
  for (std::size_t r = 0; r < ranks->size(); ++r) {
    if (r == ranks->rank()) continue;
    Reading in(all[r]);
    for (std::size_t i = r; i < tasks && in.is_good(); i += ranks->size()) read(in, i);
    is_good = is_good && in.is_good() && in.is_at_end();
  }
  return is_good;
}

}  // namespace lockstep::scenarios
