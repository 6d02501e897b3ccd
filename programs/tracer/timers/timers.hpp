#pragma once

// Timers of the system in virtual time: timerfd, setitimer, alarm and timer_create. The kernel's own are never armed.
// When one is due, its descriptor becomes readable, or a thread of the program gets its signal.

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "door/file.hpp"
#include "programs/tracer/threads.hpp"
#include "programs/tracer/tracee.hpp"

namespace lockstep::programs::tracer {

class Timers {
 public:
  /// Requires: `threads` outlives it.
  explicit Timers(Threads& threads) : threads_(threads) {}

  /// What the monotonic clock must show for the next one to expire. Nothing: none is armed.
  std::optional<std::int64_t> next_deadline() const;
  /// Those whose time has come.
  void expire();

  // --- The calls, by their names.

  Turn timerfd_settime(Thread& thread);
  Turn timerfd_gettime(Thread& thread);
  Turn setitimer(Thread& thread);
  Turn getitimer(Thread& thread);
  Turn alarm(Thread& thread);
  Turn timer_create(Thread& thread);
  Turn timer_settime(Thread& thread);
  Turn timer_gettime(Thread& thread);
  Turn timer_delete(Thread& thread);

 private:
  struct Timer {
    enum class Kind : std::uint8_t {
      file,      ///< timerfd
      interval,  ///< setitimer, alarm: of a process the only one
      made       ///< timer_create
    };
    Kind kind = Kind::interval;
    std::shared_ptr<AddressSpace> space;  ///< whose it is
    std::int64_t number = 0;              ///< the descriptor; made: its id
    door::File file;                      ///< a duplicate of the descriptor
    std::uint64_t unread = 0;             ///< expirations of a file that have not been read
    bool is_on_wall = false;              ///< by its clock
    int signal = 0;                       ///< 0: none is sent
    std::uint64_t value = 0;              ///< comes with the signal
    pid_t thread = 0;                     ///< to whom, as the program numbers threads; 0: to any of the process
    std::optional<Deadline> due;          ///< nothing: it is not armed
    std::int64_t interval = 0;            ///< 0: it expires once
  };

  Timer* find(Timer::Kind kind, const AddressSpace& space, std::int64_t number);
  Timer& of(Timer::Kind kind, const Thread& thread, std::int64_t number);
  void arm(Timer& timer, const itimerspec& setting, bool is_absolute) const;
  itimerspec left_of(const Timer* timer) const;
  bool is_there(const Timer& timer) const;
  void expire(Timer& timer);
  void send_signal(const Timer& timer);
  void write_rest(Thread& thread) const;
  Turn not_followed(const char* what);

  Threads& threads_;
  std::vector<Timer> timers_;
};

}  // namespace lockstep::programs::tracer
