#include "programs/tracer/timers/timers.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>

namespace lockstep::programs::tracer {

namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;
/// _IOW('T', 0, u64) of linux/timerfd.h.
constexpr unsigned long kSetTicks = 0x40085400;

timeval as_timeval(std::int64_t time) { return {time / kOneSecond, (time % kOneSecond + 999) / 1000}; }
std::int64_t nanoseconds_of(const timeval& time) { return time.tv_sec * kOneSecond + time.tv_usec * 1000; }

/// What /proc says under a name that begins a line: "SigBlk:".
std::string field_of(const std::string& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return "";
}

struct Disposition {
  bool is_blocked = false;
  bool is_ignored = false;
  pid_t number = 0;  ///< of the thread, as its program knows it
};

Disposition disposition_of(const Tracee& tracee, int signal) {
  const std::string status = fmt::format("/proc/{}/task/{}/status", tracee.id(), tracee.id());
  const auto has = [&](const char* mask) {
    return (std::strtoull(field_of(status, mask).c_str(), nullptr, 16) >> (signal - 1) & 1) != 0;
  };
  Disposition result{has("SigBlk:"), has("SigIgn:"), tracee.id()};
  // The last is that of the innermost namespace.
  std::istringstream numbers(field_of(status, "NSpid:"));
  for (pid_t number = 0; numbers >> number;) result.number = number;
  return result;
}

/// Whether a signal ends this call, which its tracer carries out.
bool is_interruptible(long call) { return call == SYS_futex || call == SYS_nanosleep || call == SYS_clock_nanosleep; }

}  // namespace

Timers::Timer* Timers::find(Timer::Kind kind, const AddressSpace& space, std::int64_t number) {
  const auto found = std::find_if(timers_.begin(), timers_.end(), [&](const Timer& timer) {
    return timer.kind == kind && timer.number == number && timer.space.get() == &space;
  });
  return found == timers_.end() ? nullptr : &*found;
}

Timers::Timer& Timers::of(Timer::Kind kind, const Thread& thread, std::int64_t number) {
  const std::shared_ptr<AddressSpace>& space = thread.tracee.shared_space();
  if (Timer* known = find(kind, *space, number)) return *known;
  Timer& timer = timers_.emplace_back();
  timer.kind = kind;
  timer.space = space;
  timer.number = number;
  return timer;
}

void Timers::arm(Timer& timer, const itimerspec& setting, bool is_absolute) const {
  timer.interval = nanoseconds(setting.it_interval);
  timer.due.reset();
  const std::int64_t value = nanoseconds(setting.it_value);
  // One that was set for a length of time does not mind when the wall clock jumps.
  if (value != 0) timer.due = is_absolute ? Deadline{value, timer.is_on_wall} : Deadline{threads_.monotonic() + value};
}

itimerspec Timers::left_of(const Timer* timer) const {
  itimerspec left{};
  if (timer == nullptr || !timer->due) return left;
  left.it_interval = as_timespec(timer->interval);
  left.it_value = as_timespec(std::max<std::int64_t>(threads_.monotonic_of(*timer->due) - threads_.monotonic(), 1));
  return left;
}

bool Timers::is_there(const Timer& timer) const {
  const auto& all = threads_.all();
  const bool lives = std::any_of(all.begin(), all.end(), [&](const auto& thread) {
    return thread->state != Thread::State::dead && &thread->tracee.space() == timer.space.get();
  });
  if (!lives || timer.kind != Timer::Kind::file) return lives;
  return timer.space->target(static_cast<int>(timer.number)) == "anon_inode:[timerfd]";
}

std::optional<std::int64_t> Timers::next_deadline() const {
  std::optional<std::int64_t> next;
  for (const Timer& timer : timers_) {
    if (!timer.due || !is_there(timer)) continue;
    const std::int64_t at = threads_.monotonic_of(*timer.due);
    if (!next || at < *next) next = at;
  }
  return next;
}

void Timers::expire() {
  if (timers_.empty()) return;
  std::erase_if(timers_, [&](const Timer& timer) { return !is_there(timer); });
  // The earliest first, and of those at the same moment the one that was made first.
  for (;;) {
    Timer* first = nullptr;
    std::int64_t first_at = std::numeric_limits<std::int64_t>::max();
    for (Timer& timer : timers_) {
      if (!timer.due) continue;
      const std::int64_t at = threads_.monotonic_of(*timer.due);
      if (at <= threads_.monotonic() && at < first_at) first = &timer, first_at = at;
    }
    if (first == nullptr) return;
    expire(*first);
  }
}

void Timers::expire(Timer& timer) {
  if (timer.interval > 0) {
    timer.due->at += timer.interval;
  } else {
    timer.due.reset();
  }
  if (timer.kind != Timer::Kind::file) return send_signal(timer);
  pollfd look{timer.file.number(), POLLIN, 0};
  const bool is_unread = ::poll(&look, 1, 0) == 1;
  timer.unread = is_unread ? timer.unread + 1 : 1;
  if (::ioctl(timer.file.number(), kSetTicks, &timer.unread) == 0) return;
  // Where the kernel has no checkpoints: it expires as soon as it is armed, and whoever waits for it is woken by then.
  const itimerspec at_once{{}, {0, 1}};
  ::timerfd_settime(timer.file.number(), 0, &at_once, nullptr);
  ::poll(&look, 1, 1000);
}

/// Of a sleep for a length of time, where the program wants to know it.
void Timers::write_rest(Thread& thread) const {
  const Registers& r = thread.tracee.registers;
  const bool is_relative = thread.call == SYS_nanosleep || (thread.call == SYS_clock_nanosleep && r.rsi == 0);
  const std::uint64_t at = thread.call == SYS_nanosleep ? r.rsi : r.r10;
  if (!is_relative || at == 0 || !thread.deadline) return;
  const std::int64_t left = threads_.monotonic_of(*thread.deadline) - threads_.monotonic();
  thread.tracee.write(at, as_timespec(std::max<std::int64_t>(left, 0)));
}

void Timers::send_signal(const Timer& timer) {
  if (timer.signal == 0) return;
  Thread* taker = nullptr;
  Disposition taken;
  for (const auto& thread : threads_.all()) {
    if (thread->state == Thread::State::dead || &thread->tracee.space() != timer.space.get()) continue;
    const Disposition here = disposition_of(thread->tracee, timer.signal);
    if (here.is_ignored) return;
    const bool is_meant = timer.thread != 0 ? here.number == timer.thread : taken.is_blocked && !here.is_blocked;
    if (taker != nullptr && !is_meant) continue;
    if (timer.thread != 0 && !is_meant) continue;
    taker = thread.get();
    taken = here;
  }
  if (taker == nullptr) return;
  const pid_t process = timer.space->process();
  if (timer.kind == Timer::Kind::made) {
    siginfo_t info{};
    info.si_signo = timer.signal;
    info.si_code = SI_TIMER;
    info.si_timerid = static_cast<int>(timer.number);
    std::memcpy(&info.si_value, &timer.value, sizeof timer.value);
    ::syscall(SYS_rt_tgsigqueueinfo, process, taker->tracee.id(), timer.signal, &info);
  } else {
    ::syscall(SYS_tgkill, process, taker->tracee.id(), timer.signal);
  }
  // What sleeps in the kernel the kernel wakes.
  if (taken.is_blocked || taker->state != Thread::State::held || !is_interruptible(taker->call)) return;
  write_rest(*taker);
  threads_.release(*taker, -EINTR);
}

Turn Timers::not_followed(const char* what) {
  threads_.note_escape(fmt::format("it sets {}, which runs in real time", what));
  return Turn::goes_on;
}

// --- timerfd.

Turn Timers::timerfd_settime(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const auto setting = thread.tracee.read<itimerspec>(r.rdx);
  if (!setting) return answered(thread, -EFAULT);
  const auto descriptor = static_cast<int>(r.rdi);
  const AddressSpace& space = thread.tracee.space();
  if (space.target(descriptor) != "anon_inode:[timerfd]") return Turn::goes_on;
  door::File file = space.duplicate(descriptor);
  if (file.number() < 0) return not_followed("a timerfd");
  Timer& timer = of(Timer::Kind::file, thread, descriptor);
  timer.file = std::move(file);
  timer.unread = 0;
  const std::string info = fmt::format("/proc/{}/fdinfo/{}", space.process(), descriptor);
  timer.is_on_wall = is_wall(std::strtol(field_of(info, "clockid:").c_str(), nullptr, 10));
  if (r.r10 != 0) thread.tracee.write(r.r10, left_of(&timer));
  arm(timer, *setting, (r.rsi & TFD_TIMER_ABSTIME) != 0);
  const itimerspec unarmed{};
  ::timerfd_settime(timer.file.number(), 0, &unarmed, nullptr);
  return answered(thread, 0);
}

Turn Timers::timerfd_gettime(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const Timer* timer = find(Timer::Kind::file, thread.tracee.space(), static_cast<int>(r.rdi));
  if (timer == nullptr) return Turn::goes_on;
  return answered(thread, thread.tracee.write(r.rsi, left_of(timer)) ? 0 : -EFAULT);
}

// --- setitimer, alarm.

Turn Timers::setitimer(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  if (r.rdi != ITIMER_REAL) return not_followed("a timer of processor time");
  itimerval setting{};
  if (r.rsi != 0) {
    const auto given = thread.tracee.read<itimerval>(r.rsi);
    if (!given) return answered(thread, -EFAULT);
    setting = *given;
  }
  Timer& timer = of(Timer::Kind::interval, thread, 0);
  const itimerspec left = left_of(&timer);
  if (r.rdx != 0) {
    thread.tracee.write(r.rdx,
                        itimerval{as_timeval(nanoseconds(left.it_interval)), as_timeval(nanoseconds(left.it_value))});
  }
  timer.signal = SIGALRM;
  arm(timer, {as_timespec(nanoseconds_of(setting.it_interval)), as_timespec(nanoseconds_of(setting.it_value))}, false);
  return answered(thread, 0);
}

Turn Timers::getitimer(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  if (r.rdi != ITIMER_REAL) return Turn::goes_on;
  const itimerspec left = left_of(find(Timer::Kind::interval, thread.tracee.space(), 0));
  const itimerval value{as_timeval(nanoseconds(left.it_interval)), as_timeval(nanoseconds(left.it_value))};
  return answered(thread, thread.tracee.write(r.rsi, value) ? 0 : -EFAULT);
}

Turn Timers::alarm(Thread& thread) {
  Timer& timer = of(Timer::Kind::interval, thread, 0);
  const std::int64_t left = nanoseconds(left_of(&timer).it_value);
  timer.signal = SIGALRM;
  arm(timer, {{}, {static_cast<time_t>(static_cast<std::uint32_t>(thread.tracee.registers.rdi)), 0}}, false);
  // In whole seconds, and at least one if there is any.
  return answered(thread, left == 0 ? 0 : std::max<std::int64_t>((left + kOneSecond / 2) / kOneSecond, 1));
}

// --- timer_create.

Turn Timers::timer_create(Thread& thread) {
  const Registers asked = thread.tracee.registers;
  const auto clock = static_cast<std::int32_t>(asked.rdi);
  if (clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID)
    return not_followed("a timer of processor time");
  sigevent event{};
  event.sigev_signo = SIGALRM;
  event.sigev_notify = SIGEV_SIGNAL;
  if (asked.rsi != 0) {
    const auto given = thread.tracee.read<sigevent>(asked.rsi);
    if (given) event = *given;
  }
  if (!thread.tracee.finish_call()) return Turn::goes_on;
  const auto id = thread.tracee.read<int>(asked.rdx);
  if (static_cast<std::int64_t>(thread.tracee.registers.rax) != 0 || !id) return Turn::goes_on;
  Timer& timer = of(Timer::Kind::made, thread, *id);
  timer.is_on_wall = is_wall(clock);
  timer.signal = event.sigev_notify == SIGEV_NONE ? 0 : event.sigev_signo;
  timer.value = static_cast<std::uint64_t>(*id);
  if (asked.rsi != 0) std::memcpy(&timer.value, &event.sigev_value, sizeof timer.value);
  // glibc has no name for this field everywhere.
  constexpr std::size_t kThreadAt = 16;
  timer.thread = 0;
  if (event.sigev_notify == SIGEV_THREAD_ID)
    std::memcpy(&timer.thread, reinterpret_cast<const char*>(&event) + kThreadAt, sizeof timer.thread);
  timer.due.reset();
  return Turn::goes_on;
}

Turn Timers::timer_settime(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  Timer* timer = find(Timer::Kind::made, thread.tracee.space(), static_cast<int>(r.rdi));
  if (timer == nullptr) return Turn::goes_on;
  const auto setting = thread.tracee.read<itimerspec>(r.rdx);
  if (!setting) return answered(thread, -EFAULT);
  if (r.r10 != 0) thread.tracee.write(r.r10, left_of(timer));
  arm(*timer, *setting, (r.rsi & TIMER_ABSTIME) != 0);
  return answered(thread, 0);
}

Turn Timers::timer_gettime(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const Timer* timer = find(Timer::Kind::made, thread.tracee.space(), static_cast<int>(r.rdi));
  if (timer == nullptr) return Turn::goes_on;
  return answered(thread, thread.tracee.write(r.rsi, left_of(timer)) ? 0 : -EFAULT);
}

Turn Timers::timer_delete(Thread& thread) {
  const Timer* timer = find(Timer::Kind::made, thread.tracee.space(), static_cast<int>(thread.tracee.registers.rdi));
  if (timer != nullptr) timers_.erase(timers_.begin() + (timer - timers_.data()));
  return Turn::goes_on;
}

}  // namespace lockstep::programs::tracer
