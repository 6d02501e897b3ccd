#pragma once

// The page in a program's memory from which it reads what time it is, without a call: the kernel's own functions for
// that (the vDSO) are replaced by jumps into it.

#include <cstdint>
#include <string>

#include "door/file.hpp"
#include "programs/tracer/tracee.hpp"

namespace lockstep::programs::tracer {

/// What a program's clocks show, in nanoseconds.
struct Readings {
  std::int64_t monotonic = 0;
  std::int64_t wall = 0;  ///< since 1970
};

class ClockPage {
 public:
  /// Where programs have it.
  static constexpr std::uint64_t kAddress = 0x100000000000;
  /// And in it, the name of a file that is read in place of /dev/urandom.
  static constexpr std::uint64_t kRandomFile = kAddress + 3072;

  explicit ClockPage(const std::string& random_file);
  ~ClockPage();
  ClockPage(const ClockPage&) = delete;
  ClockPage& operator=(const ClockPage&) = delete;

  void set(Readings readings);
  Readings readings() const;
  /// Whether the program has read a clock so often, since somebody was last told, that it seems to wait for time to go
  /// on. From then on each of its readings is a call.
  bool is_spun_on() const;
  void forget_readings();

  /// The thread has just executed a program: maps the page and replaces the functions. Requires: it stands after the
  /// call. `random`: sixteen bytes that the kernel would have drawn.
  void put_into(Tracee& tracee, const std::array<std::uint64_t, 2>& random) const;

 private:
  struct Layout;
  door::File file_;
  Layout* page_ = nullptr;
};

}  // namespace lockstep::programs::tracer
