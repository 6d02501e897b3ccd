#include "programs/tracer/tracee.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "programs/tracer/filter.hpp"

namespace lockstep::programs::tracer {

namespace {

constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                          PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
constexpr int kCallStop = SIGTRAP | 0x80;
constexpr std::uint64_t kLongComputation = 1'000'000'000;

long trace(__ptrace_request request, pid_t id, std::uintptr_t address, std::uintptr_t data) {
  return ::ptrace(request, id, address, data);
}

std::string proc_path(pid_t id, const char* name) { return fmt::format("/proc/{}/{}", id, name); }

door::File open_proc(pid_t id, const char* name, int flags) {
  return door::File(::open(proc_path(id, name).c_str(), flags | O_CLOEXEC));
}

std::string read_start(const door::File& file) {
  char bytes[512];
  const ssize_t count = ::pread(file.number(), bytes, sizeof bytes, 0);
  return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// Stops of children pend as SIGCHLD while that is blocked, so a wait for them can have an end. SIGCHLD is the whole
/// process's: another thread that does not block it may take it, and then a stop is noticed when `await` gives up.
class ChildNews {
 public:
  ChildNews() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~ChildNews() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ChildNews(const ChildNews&) = delete;
  ChildNews& operator=(const ChildNews&) = delete;
  /// False: a hundredth of a second went by.
  bool await() const {
    const timespec patience{0, 10'000'000};
    return ::sigtimedwait(&set_, nullptr, &patience) == SIGCHLD || errno == EINTR;
  }

 private:
  sigset_t set_;
  sigset_t before_;
};

}  // namespace

AddressSpace::AddressSpace(pid_t process)
    : process_(process), handle_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {
  reopen();
}

void AddressSpace::reopen() { memory_ = open_proc(process_, "mem", O_RDWR); }

bool AddressSpace::read(std::uint64_t address, void* bytes, std::size_t size) const {
  return ::pread(memory_.number(), bytes, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

bool AddressSpace::write(std::uint64_t address, const void* bytes, std::size_t size) const {
  return ::pwrite(memory_.number(), bytes, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

door::File AddressSpace::duplicate(int descriptor) const {
  return door::File(static_cast<int>(::syscall(SYS_pidfd_getfd, handle_.number(), descriptor, 0)));
}

std::string AddressSpace::target(int descriptor) const {
  char name[256];
  const ssize_t size = ::readlink(fmt::format("/proc/{}/fd/{}", process_, descriptor).c_str(), name, sizeof name);
  return size <= 0 ? std::string() : std::string(name, static_cast<std::size_t>(size));
}

std::uint64_t AddressSpace::socket_number(int descriptor) const {
  const std::string name = target(descriptor);
  constexpr std::string_view kPrefix = "socket:[";
  return name.starts_with(kPrefix) ? std::strtoull(name.c_str() + kPrefix.size(), nullptr, 10) : 0;
}

std::string output_name(int descriptor) { return fmt::format("lockstep-output-{}", descriptor); }

int output_of(const AddressSpace& space, int descriptor) {
  const std::string target = space.target(descriptor);
  for (int output = kFirstOutput; output <= kLastOutput; ++output) {
    if (target == "/memfd:" + output_name(output) + " (deleted)") return output;
  }
  return 0;
}

Tracee::Tracee(pid_t id, std::shared_ptr<AddressSpace> space)
    : id_(id),
      space_(std::move(space)),
      where_(open_proc(id, "wchan", O_RDONLY)),
      stat_(open_proc(id, "stat", O_RDONLY)) {}

void Tracee::fetch() { trace(PTRACE_GETREGS, id_, 0, reinterpret_cast<std::uintptr_t>(&registers)); }
void Tracee::store() { trace(PTRACE_SETREGS, id_, 0, reinterpret_cast<std::uintptr_t>(&registers)); }

void Tracee::answer(std::int64_t result) { replace_result(result); }

void Tracee::replace_result(std::int64_t result) {
  // No number of a call: before it there is nothing to carry out, and after it nothing to start again.
  registers.orig_rax = ~0ULL;
  registers.rax = static_cast<std::uint64_t>(result);
  store();
}

void Tracee::resume(Until until) {
  const int signal = std::exchange(signal_, 0);
  const auto request = until == Until::next_event ? PTRACE_CONT : PTRACE_SYSCALL;
  trace(request, id_, 0, static_cast<std::uintptr_t>(signal));
}

bool Tracee::finish_call() {
  resume(Until::end_of_call);
  if (!wait_patiently()) return false;
  fetch();
  return true;
}

void Tracee::interrupt() { trace(PTRACE_INTERRUPT, id_, 0, 0); }

bool Tracee::look_for_stop() {
  const pid_t who = ::waitpid(id_, &status_, __WALL | WNOHANG);
  is_dead_ = is_dead_ || (who == id_ && !WIFSTOPPED(status_)) || (who < 0 && errno == ECHILD);
  return who == id_ || is_dead_;
}

Wait Tracee::wait() {
  const ChildNews news;
  std::optional<std::uint64_t> since;
  for (;;) {
    if (look_for_stop()) return is_dead_ ? Wait::dead : Wait::stopped;
    if (news.await()) continue;
    if (is_asleep()) return look_for_stop() ? (is_dead_ ? Wait::dead : Wait::stopped) : Wait::asleep;
    if (!since) since = processor_time();
    if (processor_time() - *since > kLongComputation) return Wait::computing;
  }
}

bool Tracee::wait_patiently() {
  for (;;) {
    const Wait end = wait();
    if (end == Wait::stopped || end == Wait::dead) return end == Wait::stopped;
  }
}

Wait Tracee::settle() {
  for (;;) {
    if (look_for_stop()) return is_dead_ ? Wait::dead : Wait::stopped;
    // Between the two looks it may have stopped.
    if (is_asleep()) return look_for_stop() ? (is_dead_ ? Wait::dead : Wait::stopped) : Wait::asleep;
    ::sched_yield();
  }
}

StopKind Tracee::stop_kind() const {
  switch (status_ >> 16) {
    case PTRACE_EVENT_SECCOMP: return StopKind::before_call;
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK: return StopKind::made_thread;
    case PTRACE_EVENT_VFORK: return StopKind::made_process_and_waits;
    case PTRACE_EVENT_EXEC: return StopKind::executed;
    case PTRACE_EVENT_EXIT: return StopKind::is_dying;
    case PTRACE_EVENT_STOP: return StopKind::was_interrupted;
    default: return stop_signal() == kCallStop ? StopKind::after_call : StopKind::signal;
  }
}

int Tracee::stop_signal() const { return WSTOPSIG(status_); }

pid_t Tracee::made() const {
  unsigned long id = 0;
  trace(PTRACE_GETEVENTMSG, id_, 0, reinterpret_cast<std::uintptr_t>(&id));
  return static_cast<pid_t>(id);
}

std::int64_t Tracee::inject(long call, const Arguments& arguments) {
  const Registers kept = registers;
  registers.rip -= 2;
  registers.orig_rax = ~0ULL;
  registers.rax = static_cast<std::uint64_t>(call);
  registers.rdi = arguments[0];
  registers.rsi = arguments[1];
  registers.rdx = arguments[2];
  registers.r10 = arguments[3];
  registers.r8 = arguments[4];
  registers.r9 = arguments[5];
  store();
  for (int stops = 0; stops < 2;) {
    resume(Until::end_of_call);
    if (!wait_patiently()) return -ESRCH;
    if (stop_kind() == StopKind::after_call) ++stops;
  }
  fetch();
  const auto result = static_cast<std::int64_t>(registers.rax);
  registers = kept;
  store();
  return result;
}

void Tracee::await_death(Rest of_its_process) {
  while (!is_dead_) {
    if (look_for_stop()) {
      if (!is_dead_) resume(Until::next_event);
      continue;
    }
    if (of_its_process == Rest::may_live && state_letter() == 'Z' && !look_for_stop()) return;
    ::sched_yield();
  }
}

char Tracee::state_letter() const {
  const std::string text = read_start(stat_);
  const std::size_t name_end = text.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= text.size() ? 'Z' : text[name_end + 2];
}

bool Tracee::is_blocked() const {
  const std::string where = read_start(where_);
  return !where.empty() && where != "0" && where != "ptrace_stop" && where != "do_exit" && where != "do_signal_stop";
}

bool Tracee::is_asleep() const { return is_blocked() && state_letter() == 'S' && is_blocked(); }

std::uint64_t Tracee::processor_time() const {
  const door::File file = open_proc(id_, "schedstat", O_RDONLY);
  return std::strtoull(read_start(file).c_str(), nullptr, 10);
}

void seize(pid_t process) {
  if (trace(PTRACE_SEIZE, process, 0, kOptions) != 0) {
    throw TracerTrouble(
        fmt::format("programs cannot be traced here (ptrace: {}); in a container: --cap-add=SYS_PTRACE, "
                    "or a seccomp profile that permits ptrace",
                    std::strerror(errno)));
  }
  trace(PTRACE_INTERRUPT, process, 0, 0);
}

}  // namespace lockstep::programs::tracer
