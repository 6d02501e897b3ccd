#include "programs/tracer/calls.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>

namespace lockstep::programs::tracer {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;
/// A thread that waits for time to go on by looking at a clock sleeps for 10 us, and twice as long each time that it
/// goes on to do so, up to 20 ms.
constexpr std::int64_t kFirstRest = 5000;
constexpr int kMostDoublings = 12;
constexpr long kEpollPwait2 = 441;

bool looks_at_clock(long call) {
  return call == SYS_clock_gettime || call == SYS_gettimeofday || call == SYS_sched_yield;
}

}  // namespace

std::span<const Calls::Row> Calls::rows() {
  static constexpr Row kRows[] = {
      {SYS_clock_gettime, "clock_gettime", Seen::always, &Calls::read_clock},
      {SYS_gettimeofday, "gettimeofday", Seen::always, &Calls::read_time_of_day},
      {SYS_time, "time", Seen::always, &Calls::time},
      {SYS_nanosleep, "nanosleep", Seen::always, &Calls::nanosleep},
      {SYS_clock_nanosleep, "clock_nanosleep", Seen::always, &Calls::clock_nanosleep},
      {SYS_sched_yield, "sched_yield", Seen::always, &Calls::sched_yield},
      {SYS_sched_getaffinity, "sched_getaffinity", Seen::always, &Calls::sched_getaffinity},
      {SYS_getrandom, "getrandom", Seen::always, &Calls::getrandom},
      {SYS_openat, "openat", Seen::always, &Calls::openat},
      {SYS_futex, "futex", Seen::always, &Calls::futex},
      {SYS_poll, "poll", Seen::always, &Calls::poll},
      {SYS_ppoll, "ppoll", Seen::always, &Calls::ppoll},
      {SYS_select, "select", Seen::always, &Calls::select},
      {SYS_pselect6, "pselect6", Seen::always, &Calls::pselect},
      {SYS_epoll_wait, "epoll_wait", Seen::always, &Calls::epoll_wait},
      {SYS_epoll_pwait, "epoll_pwait", Seen::always, &Calls::epoll_wait},
      {kEpollPwait2, "epoll_pwait2", Seen::always, &Calls::epoll_pwait2},
      {SYS_rt_sigtimedwait, "rt_sigtimedwait", Seen::always, &Calls::sigtimedwait},
      {SYS_rt_sigsuspend, "rt_sigsuspend", Seen::always, &Calls::enter},
      {SYS_pause, "pause", Seen::always, &Calls::enter},
      {SYS_wait4, "wait4", Seen::always, &Calls::enter},
      {SYS_waitid, "waitid", Seen::always, &Calls::enter},
      {SYS_accept, "accept", Seen::always, &Calls::enter},
      {SYS_accept4, "accept4", Seen::always, &Calls::enter},
      {SYS_read, "read", Seen::on_sockets, &Calls::receive},
      {SYS_readv, "readv", Seen::on_sockets, &Calls::receive},
      {SYS_recvfrom, "recvfrom", Seen::on_sockets, &Calls::receive},
      {SYS_recvmsg, "recvmsg", Seen::on_sockets, &Calls::receive},
      {SYS_write, "write", Seen::on_output, &Calls::write},
      {SYS_writev, "writev", Seen::on_output, &Calls::writev},
      {SYS_socket, "socket", Seen::always, &Calls::socket},
      {SYS_connect, "connect", Seen::on_sockets, &Calls::connect},
      {SYS_bind, "bind", Seen::on_sockets, &Calls::bind},
      {SYS_setsockopt, "setsockopt", Seen::on_sockets, &Calls::setsockopt},
      {SYS_getsockopt, "getsockopt", Seen::on_sockets, &Calls::getsockopt},
      {SYS_getsockname, "getsockname", Seen::on_sockets, &Calls::getsockname},
      {SYS_getpeername, "getpeername", Seen::on_sockets, &Calls::getpeername},
      {SYS_madvise, "madvise", Seen::always, &Calls::madvise},
      {SYS_io_uring_setup, "io_uring_setup", Seen::always, &Calls::refuse},
      {SYS_timerfd_settime, "timerfd_settime", Seen::always, &Calls::by<&Timers::timerfd_settime>},
      {SYS_timerfd_gettime, "timerfd_gettime", Seen::always, &Calls::by<&Timers::timerfd_gettime>},
      {SYS_setitimer, "setitimer", Seen::always, &Calls::by<&Timers::setitimer>},
      {SYS_getitimer, "getitimer", Seen::always, &Calls::by<&Timers::getitimer>},
      {SYS_alarm, "alarm", Seen::always, &Calls::by<&Timers::alarm>},
      {SYS_timer_create, "timer_create", Seen::always, &Calls::by<&Timers::timer_create>},
      {SYS_timer_settime, "timer_settime", Seen::always, &Calls::by<&Timers::timer_settime>},
      {SYS_timer_gettime, "timer_gettime", Seen::always, &Calls::by<&Timers::timer_gettime>},
      {SYS_timer_delete, "timer_delete", Seen::always, &Calls::by<&Timers::timer_delete>},
      // Threads takes note of it: the end of all threads of the process.
      {SYS_exit_group, "exit_group", Seen::always, &Calls::go_on},
      {SYS_exit, "exit", Seen::always, &Calls::go_on},
  };
  return kRows;
}

std::vector<SeenCall> Calls::seen() {
  std::vector<SeenCall> calls;
  for (const Row& row : rows()) calls.push_back({row.number, row.seen});
  return calls;
}

Turn Calls::before_call(Thread& thread) {
  if (!looks_at_clock(thread.call)) thread.idle_turns = 0;
  const auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& r) { return r.number == thread.call; });
  if (row == rows().end()) return Turn::goes_on;
  threads_.note_call(thread, row->name);
  return (this->*row->handle)(thread);
}

Turn Calls::read_clock(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const Readings readings = page_.readings();
  thread.tracee.write(r.rsi, as_timespec(is_wall(r.rdi) ? readings.wall : readings.monotonic));
  return after_reading(thread);
}

Turn Calls::read_time_of_day(Thread& thread) {
  const std::int64_t wall = page_.readings().wall;
  const std::uint64_t at = thread.tracee.registers.rdi;
  if (at != 0) thread.tracee.write(at, timeval{wall / kSecond, wall % kSecond / 1000});
  return after_reading(thread);
}

Turn Calls::time(Thread& thread) {
  const std::int64_t seconds = page_.readings().wall / kSecond;
  const std::uint64_t at = thread.tracee.registers.rdi;
  if (at != 0) thread.tracee.write(at, seconds);
  return answered(thread, seconds);
}

Turn Calls::after_reading(Thread& thread) {
  if (!page_.is_spun_on()) return answered(thread, 0);
  page_.forget_readings();
  thread.idle_turns = std::min(thread.idle_turns + 1, kMostDoublings);
  return threads_.hold(thread, Deadline{threads_.monotonic() + (kFirstRest << thread.idle_turns)}, 0);
}

Turn Calls::nanosleep(Thread& thread) {
  const auto time = thread.tracee.read<timespec>(thread.tracee.registers.rdi);
  if (!time) return answered(thread, -EFAULT);
  return threads_.hold(thread, Deadline{threads_.monotonic() + nanoseconds(*time)}, 0);
}

Turn Calls::clock_nanosleep(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const auto time = thread.tracee.read<timespec>(r.rdx);
  if (!time) return answered(thread, -EFAULT);
  const bool is_absolute = (r.rsi & TIMER_ABSTIME) != 0;
  const std::int64_t from = is_absolute ? 0 : threads_.monotonic();
  return threads_.hold(thread, Deadline{from + nanoseconds(*time), is_absolute && is_wall(r.rdi)}, 0);
}

Turn Calls::sched_yield(Thread& thread) {
  thread.tracee.answer(0);
  if (threads_.yield(thread)) return Turn::is_held;
  thread.idle_turns = std::min(thread.idle_turns + 1, kMostDoublings);
  return threads_.hold(thread, Deadline{threads_.monotonic() + (kFirstRest << thread.idle_turns) / 10}, 0);
}

Turn Calls::sched_getaffinity(Thread& thread) {
  // One processor, always the same.
  const Registers& r = thread.tracee.registers;
  if (r.rsi < sizeof(std::uint64_t)) return answered(thread, -EINVAL);
  thread.tracee.write(r.rdx, std::uint64_t{1});
  return answered(thread, sizeof(std::uint64_t));
}

Turn Calls::getrandom(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  std::array<std::uint64_t, 32> bytes{};
  const std::size_t size = std::min<std::size_t>(r.rsi, sizeof bytes);
  for (std::size_t i = 0; i * sizeof bytes[0] < size; ++i) bytes[i] = threads_.draw();
  thread.tracee.space().write(r.rdi, bytes.data(), size);
  return answered(thread, static_cast<std::int64_t>(size));
}

Turn Calls::openat(Thread& thread) {
  std::array<char, 16> start{};
  thread.tracee.space().read(thread.tracee.registers.rsi, start.data(), start.size() - 1);
  const std::string path = start.data();
  if (path == "/dev/urandom" || path == "/dev/random") {
    thread.tracee.registers.rsi = ClockPage::kRandomFile;
    thread.tracee.store();
  }
  return Turn::goes_on;
}

Turn Calls::wait_for(Thread& thread, std::int64_t duration, std::int64_t result) {
  return threads_.enter(thread, Deadline{threads_.monotonic() + duration}, result);
}

Turn Calls::wait_for_timespec(Thread& thread, unsigned long long& address) {
  if (address == 0) return enter(thread);
  const auto time = thread.tracee.read<timespec>(address);
  if (!time || nanoseconds(*time) == 0) return Turn::goes_on;
  address = 0;
  thread.tracee.store();
  return wait_for(thread, nanoseconds(*time), 0);
}

Turn Calls::poll(Thread& thread) {
  Registers& r = thread.tracee.registers;
  const auto milliseconds = static_cast<int>(r.rdx);
  if (milliseconds == 0) return Turn::goes_on;
  if (milliseconds < 0) return enter(thread);
  r.rdx = ~0ULL;
  thread.tracee.store();
  return wait_for(thread, milliseconds * kMillisecond, 0);
}

Turn Calls::select(Thread& thread) {
  Registers& r = thread.tracee.registers;
  if (r.r8 == 0) return enter(thread);
  const auto time = thread.tracee.read<timeval>(r.r8);
  if (!time || (time->tv_sec == 0 && time->tv_usec == 0)) return Turn::goes_on;
  r.r8 = 0;
  thread.tracee.store();
  return wait_for(thread, time->tv_sec * kSecond + time->tv_usec * 1000, 0);
}

Turn Calls::epoll_wait(Thread& thread) {
  Registers& r = thread.tracee.registers;
  const auto milliseconds = static_cast<int>(r.r10);
  if (milliseconds == 0) return Turn::goes_on;
  if (milliseconds < 0) return enter(thread);
  r.r10 = ~0ULL;
  thread.tracee.store();
  return wait_for(thread, milliseconds * kMillisecond, 0);
}

Turn Calls::sigtimedwait(Thread& thread) {
  const Turn turn = wait_for_timespec(thread, thread.tracee.registers.rdx);
  thread.result_at_deadline = -EAGAIN;
  return turn;
}

Turn Calls::receive(Thread& thread) {
  const std::optional<std::int64_t> patience = sockets_.patience(thread);
  return patience ? wait_for(thread, *patience, -EAGAIN) : enter(thread);
}

Turn Calls::write(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  constexpr std::size_t kMost = 1 << 20;
  std::string bytes(std::min<std::size_t>(r.rdx, kMost), 0);
  if (!thread.tracee.space().read(r.rsi, bytes.data(), bytes.size())) return answered(thread, -EFAULT);
  return tell(thread, bytes);
}

Turn Calls::writev(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  std::string bytes;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(r.rdx, 1024); ++i) {
    const auto part = thread.tracee.read<iovec>(r.rsi + i * sizeof(iovec));
    if (!part) return answered(thread, -EFAULT);
    std::string text(std::min<std::size_t>(part->iov_len, 1 << 20), 0);
    if (!thread.tracee.space().read(reinterpret_cast<std::uint64_t>(part->iov_base), text.data(), text.size())) {
      return answered(thread, -EFAULT);
    }
    bytes += text;
    if (text.size() < part->iov_len) break;
  }
  return tell(thread, bytes);
}

Turn Calls::tell(Thread& thread, std::string_view bytes) {
  const int output = output_of(thread.tracee.space(), static_cast<int>(thread.tracee.registers.rdi));
  if (output == 0) return enter(thread);
  // What was sent before this is heard of before this.
  sockets_.collect();
  outside_.wrote(output, bytes);
  return answered(thread, static_cast<std::int64_t>(bytes.size()));
}

Turn Calls::madvise(Thread& thread) {
  // V8 keeps its heap out of forks, and a copy of the program would be without one.
  const std::uint64_t advice = thread.tracee.registers.rdx;
  return advice == MADV_DONTFORK || advice == MADV_WIPEONFORK ? answered(thread, 0) : Turn::goes_on;
}

Turn Calls::refuse(Thread& thread) { return answered(thread, -ENOSYS); }

}  // namespace lockstep::programs::tracer
