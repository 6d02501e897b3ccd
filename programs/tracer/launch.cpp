#include "programs/tracer/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "programs/tracer/calls.hpp"

namespace lockstep::programs::tracer {

namespace {

constexpr int kCannotExecute = 127;

/// All that the child needs, made before there is a child: between fork and exec nothing may be allocated.
struct Preparation {
  explicit Preparation(const Command& command) : directory(command.directory), seen(Calls::seen()) {
    for (const std::string& text : command.arguments) arguments.push_back(const_cast<char*>(text.c_str()));
    for (const std::string& text : command.environment) environment.push_back(const_cast<char*>(text.c_str()));
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
  }
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string directory;
  std::vector<SeenCall> seen;
  int may_go = -1;                              ///< a pipe: the child waits until there is a byte
  std::array<int, kLastOutput + 1> standard{};  ///< by descriptor: what the program begins with
};

void pin_to_this_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(std::max(::sched_getcpu(), 0)), &set);
  ::sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] void become(Preparation& preparation) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  char byte = 0;
  if (::read(preparation.may_go, &byte, 1) != 1) ::_exit(kCannotExecute);
  // The first of them may not take the place of one that is still to be copied.
  for (int& file : preparation.standard) file = ::fcntl(file, F_DUPFD, kLastOutput + 1);
  for (int descriptor = 0; descriptor <= kLastOutput; ++descriptor)
    ::dup2(preparation.standard[static_cast<std::size_t>(descriptor)], descriptor);
  ::close_range(kLastOutput + 1, ~0U, 0);
  if (!preparation.directory.empty() && ::chdir(preparation.directory.c_str()) != 0) ::_exit(kCannotExecute);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  ::setsid();
  ::personality(ADDR_NO_RANDOMIZE);
  ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  pin_to_this_processor();
  if (!install_filter(preparation.seen)) ::_exit(kCannotExecute);
  ::execvpe(preparation.arguments[0], preparation.arguments.data(), preparation.environment.data());
  ::_exit(kCannotExecute);
}

/// What is the first process of a namespace: nothing that ends by itself.
[[noreturn]] void be_first() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close_range(0, ~0U, 0);
  ::signal(SIGCHLD, SIG_IGN);
  ::setsid();
  for (;;) ::pause();
}

/// Children that are made meanwhile are in a new namespace of processes, where the first one has number 1.
class NewNamespace {
 public:
  NewNamespace() : old_(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC)) {
    is_new_ = old_.number() >= 0 && ::unshare(CLONE_NEWPID) == 0;
  }
  ~NewNamespace() {
    if (is_new_) ::setns(old_.number(), CLONE_NEWPID);
  }
  NewNamespace(const NewNamespace&) = delete;
  NewNamespace& operator=(const NewNamespace&) = delete;
  bool is_new() const { return is_new_; }

 private:
  door::File old_;
  bool is_new_ = false;
};

void end_process(pid_t process) {
  if (process <= 0) return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, __WALL);
}

}  // namespace

Launched launch(const Command& command) {
  Preparation preparation(command);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw TracerTrouble("no pipe is to be had for a program");
  const door::File may_go(ends[0]);
  const door::File let_go(ends[1]);
  std::array<door::File, kLastOutput + 1> standard;
  standard[0] = door::File(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int descriptor = kFirstOutput; descriptor <= kLastOutput; ++descriptor)
    standard[static_cast<std::size_t>(descriptor)] =
        door::File(::memfd_create(output_name(descriptor).c_str(), MFD_CLOEXEC));
  preparation.may_go = may_go.number();
  for (std::size_t i = 0; i < standard.size(); ++i) preparation.standard[i] = standard[i].number();

  Launched launched;
  {
    const NewNamespace space;
    if (space.is_new()) launched.first_of_namespace = ::fork();
    if (space.is_new() && launched.first_of_namespace == 0) be_first();
    // Without a first process the program would be that itself, whom the kernel spares many signals.
    if (launched.first_of_namespace >= 0) launched.process = ::fork();
    if (launched.process == 0) become(preparation);
  }
  try {
    if (launched.process < 0) throw TracerTrouble(fmt::format("no process is to be had: {}", std::strerror(errno)));
    seize(launched.process);
    if (::write(let_go.number(), "x", 1) != 1) throw TracerTrouble("a program cannot be let go");
  } catch (const TracerTrouble&) {
    for (const pid_t process : {launched.process, launched.first_of_namespace}) end_process(process);
    throw;
  }
  return launched;
}

}  // namespace lockstep::programs::tracer
