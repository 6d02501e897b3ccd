#pragma once

// What becomes of each system call that the filter shows: one row of a table for each, in calls.cpp.

#include <span>
#include <string_view>
#include <vector>

#include "programs/tracer/clock_page.hpp"
#include "programs/tracer/filter.hpp"
#include "programs/tracer/futexes.hpp"
#include "programs/tracer/outside.hpp"
#include "programs/tracer/sockets.hpp"
#include "programs/tracer/threads.hpp"
#include "programs/tracer/timers/timers.hpp"

namespace lockstep::programs::tracer {

class Calls final : public CallHandler {
 public:
  /// Requires: all of them outlive it. `threads` calls it.
  Calls(ClockPage& page, Threads& threads, Sockets& sockets, Timers& timers, Outside& outside)
      : page_(page), threads_(threads), sockets_(sockets), timers_(timers), outside_(outside), futexes_(threads) {}

  /// For the filter.
  static std::vector<SeenCall> seen();

  Turn before_call(Thread& thread) override;

 private:
  struct Row {
    long number;
    const char* name;
    Seen seen;
    Turn (Calls::*handle)(Thread&);
  };
  static std::span<const Row> rows();

  Turn read_clock(Thread& thread);
  Turn read_time_of_day(Thread& thread);
  Turn time(Thread& thread);
  Turn after_reading(Thread& thread);
  Turn nanosleep(Thread& thread);
  Turn clock_nanosleep(Thread& thread);
  Turn sched_yield(Thread& thread);
  Turn sched_getaffinity(Thread& thread);
  Turn getrandom(Thread& thread);
  Turn openat(Thread& thread);
  Turn futex(Thread& thread) { return futexes_.call(thread); }
  Turn poll(Thread& thread);
  Turn ppoll(Thread& thread) { return wait_for_timespec(thread, thread.tracee.registers.rdx); }
  Turn select(Thread& thread);
  Turn pselect(Thread& thread) { return wait_for_timespec(thread, thread.tracee.registers.r8); }
  Turn epoll_wait(Thread& thread);
  Turn epoll_pwait2(Thread& thread) { return wait_for_timespec(thread, thread.tracee.registers.r10); }
  Turn sigtimedwait(Thread& thread);
  Turn wait_for_timespec(Thread& thread, unsigned long long& address);
  Turn wait_for(Thread& thread, std::int64_t duration, std::int64_t result);
  Turn enter(Thread& thread) { return threads_.enter(thread, std::nullopt, 0); }
  Turn receive(Thread& thread);
  Turn write(Thread& thread);
  Turn writev(Thread& thread);
  Turn tell(Thread& thread, std::string_view bytes);
  Turn madvise(Thread& thread);
  Turn refuse(Thread& thread);
  template <Turn (Timers::*call)(Thread&)>
  Turn by(Thread& thread) {
    return (timers_.*call)(thread);
  }
  Turn go_on(Thread&) { return Turn::goes_on; }
  Turn socket(Thread& thread) { return sockets_.socket(thread); }
  Turn connect(Thread& thread) { return sockets_.connect(thread); }
  Turn bind(Thread& thread) { return sockets_.bind(thread); }
  Turn setsockopt(Thread& thread) { return sockets_.setsockopt(thread); }
  Turn getsockopt(Thread& thread) { return sockets_.getsockopt(thread); }
  Turn getsockname(Thread& thread) { return sockets_.getsockname(thread); }
  Turn getpeername(Thread& thread) { return sockets_.getpeername(thread); }

  ClockPage& page_;
  Threads& threads_;
  Sockets& sockets_;
  Timers& timers_;
  Outside& outside_;
  Futexes futexes_;
};

}  // namespace lockstep::programs::tracer
