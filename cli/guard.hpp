#pragma once

// The last resort: a thread that looks at the whole process now and then, and ends it where nothing else does. Files
// are written whole or not at all (reports/text/output_file.hpp), so nothing is left half.

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <thread>

#include "cli/arguments/option.hpp"
#include "cli/interrupt.hpp"

namespace lockstep::cli {

/// Half of what this machine has: bytes.
std::uint64_t half_of_memory();

/// --max-memory, of every command that runs or explores.
Option memory_bound(std::uint64_t& bytes);

class Guard {
 public:
  /// From here to the end of its life the process ends, with a line and exit status 3, as soon as it has more than
  /// `max_memory` bytes; and when Ctrl-C was pressed two seconds ago, if `interrupt` is not null. Requires: that
  /// outlives it.
  explicit Guard(std::uint64_t max_memory, const Interrupt* interrupt = nullptr);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// And when --max-seconds, these from now on, were over two seconds ago.
  void expect_end_in(double seconds);

 private:
  void look(const std::stop_token& end) const;

  std::uint64_t max_memory_;
  const Interrupt* interrupt_;
  std::atomic<double> end_ = 0;  ///< by our clock; 0: none is expected
  std::jthread thread_;
};

}  // namespace lockstep::cli
