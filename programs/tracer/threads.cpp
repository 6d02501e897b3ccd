#include "programs/tracer/threads.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace lockstep::programs::tracer {

namespace {

/// Some programs wait until the clock is past their deadline, and not just there: Ruby polled 30,000 times.
constexpr std::int64_t kLateness = 1000;
/// Interruptions, each after a second of processor time, after which a computation counts as one without end.
constexpr int kMostComputations = 5;
/// What a call returns inside the kernel that was interrupted and would begin anew: ERESTARTSYS to
/// ERESTART_RESTARTBLOCK.
constexpr std::int64_t kFirstRestart = 512;
constexpr std::int64_t kLastRestart = 516;

bool was_interrupted(std::int64_t result) {
  return result == -EINTR || (-result >= kFirstRestart && -result <= kLastRestart);
}

/// The sets of a select that ends at its deadline are empty.
void clear_sets(Tracee& tracee) {
  const std::array<char, 128> empty{};
  const std::size_t size = std::min<std::size_t>((tracee.registers.rdi + 63) / 64 * 8, empty.size());
  for (const std::uint64_t set : {tracee.registers.rsi, tracee.registers.rdx, tracee.registers.r10}) {
    if (set != 0) tracee.space().write(set, empty.data(), size);
  }
}

}  // namespace

Turn answered(Thread& thread, std::int64_t result) {
  thread.tracee.answer(result);
  return Turn::goes_on;
}

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

timespec as_timespec(std::int64_t nanoseconds) { return {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000}; }

bool is_wall(std::uint64_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
         clock == CLOCK_REALTIME_ALARM;
}

Threads::~Threads() { kill_all(); }

void Threads::add_first(pid_t process) {
  first_ = process;
  threads_.push_back(std::make_unique<Thread>(++born_, process, std::make_shared<AddressSpace>(process)));
  if (!threads_.back()->tracee.wait_patiently()) throw TracerTrouble("a program died before it began");
  row_.push_back(threads_.back().get());
}

void Threads::run() {
  do {
    while (!row_.empty()) {
      Thread& thread = *row_.front();
      row_.pop_front();
      if (thread.state == Thread::State::ready) take_turn(thread);
    }
  } while (notice_woken());
  forget_dead();
}

bool Threads::notice_woken() {
  // By number: burying one of them may shorten nothing here, but welcomes lengthen the list.
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = *threads_[i];
    if (thread.state != Thread::State::in_call) continue;
    const Wait end = thread.tracee.settle();
    if (end == Wait::dead) bury(thread);
    if (end != Wait::stopped) continue;
    if (thread.tracee.stop_kind() == StopKind::is_dying) {
      die(thread);
      continue;
    }
    if (thread.tracee.stop_kind() == StopKind::signal) thread.tracee.pass_on(thread.tracee.stop_signal());
    make_ready(thread);
  }
  return !row_.empty();
}

std::int64_t Threads::monotonic_of(const Deadline& deadline) const {
  const Readings readings = page_.readings();
  const std::int64_t at = deadline.is_on_wall ? deadline.at - (readings.wall - readings.monotonic) : deadline.at;
  return at + kLateness;
}

std::optional<std::int64_t> Threads::next_deadline() const {
  std::optional<std::int64_t> next;
  for (const auto& thread : threads_) {
    if (thread->state != Thread::State::held && thread->state != Thread::State::in_call) continue;
    if (!thread->deadline) continue;
    const std::int64_t at = monotonic_of(*thread->deadline);
    if (!next || at < *next) next = at;
  }
  return next;
}

void Threads::end_waits() {
  // The earliest first, and of those at the same moment the eldest thread.
  std::vector<std::pair<std::int64_t, std::size_t>> due;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = *threads_[i];
    const bool waits = thread.state == Thread::State::held || thread.state == Thread::State::in_call;
    if (!waits || !thread.deadline) continue;
    const std::int64_t at = monotonic_of(*thread.deadline);
    if (at <= monotonic()) due.emplace_back(at, i);
  }
  std::sort(due.begin(), due.end());
  for (const auto& [at, number] : due) end_wait(*threads_[number]);
}

void Threads::end_wait(Thread& thread) {
  if (thread.state == Thread::State::held) return release(thread, thread.result_at_deadline);
  if (thread.state != Thread::State::in_call) return;
  // It stops when the call ends: interrupted, or because what it waited for has come just now, which then counts.
  thread.tracee.interrupt();
  if (!thread.tracee.wait_patiently()) return bury(thread);
  if (thread.tracee.stop_kind() == StopKind::is_dying) return static_cast<void>(die(thread));
  thread.tracee.fetch();
  if (was_interrupted(static_cast<std::int64_t>(thread.tracee.registers.rax))) {
    if (thread.call == SYS_select || thread.call == SYS_pselect6) clear_sets(thread.tracee);
    thread.tracee.replace_result(thread.result_at_deadline);
  }
  make_ready(thread);
}

void Threads::kill_all() {
  for (const auto& thread : threads_) {
    if (thread->state != Thread::State::dead) ::kill(thread->tracee.space().process(), SIGKILL);
  }
  // A leader's end is told last.
  for (const bool leaders : {false, true}) {
    for (const auto& thread : threads_) {
      if (thread->tracee.is_leader() == leaders) see_off(*thread);
    }
  }
  row_.clear();
  threads_.clear();
}

void Threads::see_off(Thread& thread) {
  if (thread.state != Thread::State::dead) thread.tracee.await_death(Tracee::Rest::is_dead);
  thread.state = Thread::State::dead;
}

void Threads::note_escape(std::string sentence) {
  if (std::find(escapes_.begin(), escapes_.end(), sentence) == escapes_.end()) escapes_.push_back(std::move(sentence));
}

Turn Threads::hold(Thread& thread, std::optional<Deadline> deadline, std::int64_t result_at_deadline) {
  enter(thread, deadline, result_at_deadline);
  thread.state = Thread::State::held;
  return Turn::is_held;
}

Turn Threads::enter(Thread& thread, std::optional<Deadline> deadline, std::int64_t result_at_deadline) {
  thread.deadline = deadline;
  thread.result_at_deadline = result_at_deadline;
  return Turn::enters;
}

void Threads::release(Thread& thread, std::int64_t result) {
  thread.tracee.answer(result);
  make_ready(thread);
}

bool Threads::yield(Thread& thread) {
  if (row_.empty()) return false;
  make_ready(thread);
  return true;
}

std::uint64_t Threads::draw() {
  // SplitMix64: the same numbers for the same seed everywhere.
  std::uint64_t x = random_ += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void Threads::make_ready(Thread& thread) {
  thread.state = Thread::State::ready;
  thread.deadline.reset();
  thread.futex.reset();
  row_.push_back(&thread);
}

void Threads::take_turn(Thread& thread) {
  thread.state = Thread::State::running;
  thread.tracee.resume(Tracee::Until::next_event);
  while (go_to_next_stop(thread)) {
  }
}

bool Threads::go_to_next_stop(Thread& thread) {
  switch (thread.tracee.wait()) {
    case Wait::stopped: return handle_stop(thread);
    case Wait::asleep: return follow_into_call(thread);
    case Wait::computing: return interrupt_computation(thread);
    case Wait::dead: break;
  }
  bury(thread);
  return false;
}

bool Threads::go_on(Thread& thread) {
  thread.tracee.resume(Tracee::Until::next_event);
  return true;
}

bool Threads::handle_stop(Thread& thread) {
  Tracee& tracee = thread.tracee;
  switch (tracee.stop_kind()) {
    case StopKind::before_call: {
      tracee.fetch();
      thread.call = static_cast<long>(tracee.registers.orig_rax);
      const Turn turn = calls_.before_call(thread);
      if (turn == Turn::enters) return let_enter(thread);
      return turn == Turn::goes_on && go_on(thread);
    }
    case StopKind::made_thread: welcome(thread, tracee.made()); return go_on(thread);
    case StopKind::made_process_and_waits:
      // Until the child has executed a program or ended.
      welcome(thread, tracee.made());
      tracee.resume(Tracee::Until::end_of_call);
      thread.state = Thread::State::in_call;
      return false;
    case StopKind::executed: become_program(thread); return go_on(thread);
    case StopKind::is_dying: return die(thread);
    case StopKind::signal: handle_signal(thread); return go_on(thread);
    case StopKind::after_call:
    case StopKind::was_interrupted: break;
  }
  return go_on(thread);
}

bool Threads::let_enter(Thread& thread) {
  thread.tracee.resume(Tracee::Until::end_of_call);
  switch (thread.tracee.settle()) {
    case Wait::stopped: return handle_stop(thread);
    case Wait::dead: bury(thread); return false;
    default: thread.state = Thread::State::in_call; return false;
  }
}

bool Threads::follow_into_call(Thread& thread) {
  // It sleeps in a call of which nobody told us, from which it must not return unseen: the call is begun anew.
  Tracee& tracee = thread.tracee;
  tracee.interrupt();
  if (!tracee.wait_patiently()) return bury(thread), false;
  if (tracee.stop_kind() != StopKind::was_interrupted) return handle_stop(thread);
  tracee.resume(Tracee::Until::end_of_call);
  if (!tracee.wait_patiently()) return bury(thread), false;
  if (tracee.stop_kind() != StopKind::after_call) return handle_stop(thread);
  tracee.fetch();
  thread.call = static_cast<long>(tracee.registers.orig_rax);
  thread.deadline.reset();
  return let_enter(thread);
}

bool Threads::interrupt_computation(Thread& thread) {
  if (++computations_ > kMostComputations) {
    throw TracerTrouble(
        fmt::format("a thread of it computes without end: {} seconds of processor time without a system "
                    "call; time stands still meanwhile",
                    kMostComputations));
  }
  note_escape(
      "a thread computes for more than a second of processor time without a system call; where it is "
      "interrupted then differs from run to run");
  thread.tracee.interrupt();
  if (!thread.tracee.wait_patiently()) return bury(thread), false;
  if (thread.tracee.stop_kind() != StopKind::was_interrupted) return handle_stop(thread);
  make_ready(thread);
  return false;
}

void Threads::handle_signal(Thread& thread) {
  const int signal = thread.tracee.stop_signal();
  if (signal == SIGSEGV && answer_time_stamp(thread)) return;
  thread.tracee.pass_on(signal);
}

bool Threads::answer_time_stamp(Thread& thread) {
  // rdtsc is 0f 31, rdtscp 0f 01 f9: the processor refuses them, and their answer is the monotonic clock.
  Tracee& tracee = thread.tracee;
  tracee.fetch();
  const auto code = tracee.read<std::array<unsigned char, 3>>(tracee.registers.rip);
  if (!code || (*code)[0] != 0x0f) return false;
  const bool is_serial = (*code)[1] == 0x01 && (*code)[2] == 0xf9;
  if ((*code)[1] != 0x31 && !is_serial) return false;
  const auto stamp = static_cast<std::uint64_t>(monotonic());
  tracee.registers.rax = stamp & 0xffffffff;
  tracee.registers.rdx = stamp >> 32;
  if (is_serial) tracee.registers.rcx = 0;
  tracee.registers.rip += is_serial ? 3 : 2;
  tracee.store();
  return true;
}

void Threads::welcome(Thread& parent, pid_t id) {
  const std::string as_thread = fmt::format("/proc/{}/task/{}", parent.tracee.space().process(), id);
  const bool is_thread = ::access(as_thread.c_str(), F_OK) == 0;
  auto space = is_thread ? parent.tracee.shared_space() : std::make_shared<AddressSpace>(id);
  auto child = std::make_unique<Thread>(++born_, id, std::move(space));
  if (!child->tracee.wait_patiently()) return;
  make_ready(*child);
  threads_.push_back(std::move(child));
}

void Threads::become_program(Thread& thread) {
  if (!thread.tracee.finish_call()) return;
  thread.tracee.space().reopen();
  page_.put_into(thread.tracee, {draw(), draw()});
}

bool Threads::die(Thread& thread) {
  // Its own end, or that of the whole process: by exit_group, or by a signal (the lower bits of what made() gives).
  const auto status = static_cast<int>(thread.tracee.made());
  const bool ends_process = thread.call == SYS_exit_group || (status & 0x7f) != 0;
  if (thread.tracee.is_leader() && thread.tracee.id() == first_) status_ = status;
  if (ends_process && thread.tracee.space().process() == first_) status_ = status;
  thread.tracee.resume(Tracee::Until::next_event);
  if (ends_process) {
    bury_process(thread.tracee.space());
  } else {
    thread.tracee.await_death(Tracee::Rest::may_live);
    bury(thread);
  }
  return false;
}

void Threads::bury_process(const AddressSpace& space) {
  for (const bool leaders : {false, true}) {
    for (const auto& thread : threads_) {
      if (&thread->tracee.space() == &space && thread->tracee.is_leader() == leaders) see_off(*thread);
    }
  }
}

void Threads::bury(Thread& thread) {
  thread.state = Thread::State::dead;
  wake_from_deaths(thread.tracee.space());
}

void Threads::wake_from_deaths(const AddressSpace& space) {
  // The kernel cleared the word that a thread is joined by, and marked the locks that it held.
  for (const auto& other : threads_) {
    if (other->state != Thread::State::held || !other->futex || &other->tracee.space() != &space) continue;
    const auto word = other->tracee.read<std::uint32_t>(other->futex->address);
    if (word && *word != other->futex->expected) release(*other, 0);
  }
}

void Threads::forget_dead() {
  std::erase_if(threads_, [](const auto& thread) { return thread->state == Thread::State::dead; });
}

}  // namespace lockstep::programs::tracer
