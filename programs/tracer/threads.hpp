#pragma once

// The threads of a program, one at a time: each that can go on stands in a row, first come, first served, and has its
// turn until it waits for something. So there is no race whose end could differ, and the program rests exactly when the
// row is empty.

#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/tracer/clock_page.hpp"
#include "programs/tracer/command.hpp"
#include "programs/tracer/tracee.hpp"

namespace lockstep::programs::tracer {

/// A moment on one of the program's own clocks, in nanoseconds. The wall clock may jump meanwhile.
struct Deadline {
  std::int64_t at = 0;
  bool is_on_wall = false;
};

/// What a thread waits for that sleeps on a word of its memory.
struct FutexWait {
  std::uint64_t address = 0;
  std::uint32_t bits = 0;
  std::uint32_t expected = 0;
  std::uint64_t arrival = 0;
};

struct Thread {
  Thread(std::uint32_t n, pid_t id, std::shared_ptr<AddressSpace> space) : number(n), tracee(id, std::move(space)) {}

  enum class State : std::uint8_t {
    ready,    ///< stands in the row
    running,  ///< has its turn
    held,     ///< before a call that its tracer carries out
    in_call,  ///< sleeps in the kernel, and comes to a stop when it is woken
    dead
  };

  std::uint32_t number;  ///< as `CallMade` has it
  Tracee tracee;
  State state = State::ready;
  long call = -1;                       ///< the last one that was seen
  std::optional<Deadline> deadline;     ///< held, in_call: waits no longer than this
  std::int64_t result_at_deadline = 0;  ///< of its call, then
  std::optional<FutexWait> futex;
  int idle_turns = 0;  ///< that did nothing but look what time it is
};

/// What becomes of a thread before one of its calls.
enum class Turn : std::uint8_t {
  goes_on,
  is_held,
  enters  ///< the call, in which it may sleep
};

/// The thread's call does not take place, and gives this.
Turn answered(Thread& thread, std::int64_t result);

std::int64_t nanoseconds(const timespec& time);
timespec as_timespec(std::int64_t nanoseconds);
/// Whether a clock, as programs number them, shows the time of day.
bool is_wall(std::uint64_t clock);

/// Carries out calls in place of the kernel, or changes them.
class CallHandler {
 public:
  virtual Turn before_call(Thread& thread) = 0;

 protected:
  ~CallHandler() = default;
};

class Threads {
 public:
  /// Requires: both outlive it. `seed`: of what the kernel would have drawn at random.
  Threads(ClockPage& page, CallHandler& calls, std::uint64_t seed) : page_(page), calls_(calls), random_(seed) {}
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// The first thread of a program: a child that has been seized and is about to execute it.
  void add_first(pid_t process);
  /// Everybody who can go on, until nobody can.
  void run();
  /// Threads that the kernel has woken stand in the row again. False: there are none.
  bool notice_woken();
  /// Nothing: nobody waits for time to go on.
  std::optional<std::int64_t> next_deadline() const;
  /// Ends the waits whose deadline has come.
  void end_waits();
  void kill_all();
  bool is_over() const { return threads_.empty(); }
  /// How the first process ended, as by wait(2). Nothing: it has not.
  std::optional<int> status() const { return status_; }
  /// What is not deterministic, or cannot be followed, in sentences.
  const std::vector<std::string>& escapes() const { return escapes_; }
  void note_escape(std::string sentence);
  /// All of them, in their order.
  const std::vector<CallMade>& calls() const { return made_; }

  // --- For those who carry out calls.

  void note_call(const Thread& thread, const char* name) { made_.push_back({thread.number, name}); }
  Turn hold(Thread& thread, std::optional<Deadline> deadline, std::int64_t result_at_deadline);
  Turn enter(Thread& thread, std::optional<Deadline> deadline, std::int64_t result_at_deadline);
  /// A held thread goes on, when it is its turn; its call gives this.
  void release(Thread& thread, std::int64_t result);
  /// It has its turn after everybody else in the row; nobody is: false.
  bool yield(Thread& thread);
  std::uint64_t draw();
  std::int64_t monotonic() const { return page_.readings().monotonic; }
  /// When the monotonic clock will be there, and a little later: what waits is waiting no longer then.
  std::int64_t monotonic_of(const Deadline& deadline) const;
  const std::vector<std::unique_ptr<Thread>>& all() const { return threads_; }

 private:
  void take_turn(Thread& thread);
  bool go_to_next_stop(Thread& thread);
  bool handle_stop(Thread& thread);
  bool let_enter(Thread& thread);
  bool follow_into_call(Thread& thread);
  bool interrupt_computation(Thread& thread);
  bool go_on(Thread& thread);
  void handle_signal(Thread& thread);
  bool answer_time_stamp(Thread& thread);
  void welcome(Thread& parent, pid_t id);
  void become_program(Thread& thread);
  bool die(Thread& thread);
  void bury(Thread& thread);
  void see_off(Thread& thread);
  void bury_process(const AddressSpace& space);
  void wake_from_deaths(const AddressSpace& space);
  void make_ready(Thread& thread);
  void end_wait(Thread& thread);
  void forget_dead();

  ClockPage& page_;
  CallHandler& calls_;
  std::uint64_t random_;
  pid_t first_ = 0;
  int computations_ = 0;  ///< that were interrupted
  std::optional<int> status_;
  std::vector<std::unique_ptr<Thread>> threads_;  ///< in the order of their births
  std::deque<Thread*> row_;
  std::uint32_t born_ = 0;
  std::vector<CallMade> made_;
  std::vector<std::string> escapes_;
};

}  // namespace lockstep::programs::tracer
