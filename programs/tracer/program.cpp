#include "programs/tracer/program.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "programs/tracer/calls.hpp"
#include "programs/tracer/launch.hpp"
#include "programs/tracer/sockets.hpp"
#include "programs/tracer/threads.hpp"
#include "programs/tracer/timers/timers.hpp"

namespace lockstep::programs::tracer {

namespace {

constexpr int kRandomNumbers = 8192;

/// What is read in place of /dev/urandom.
door::File random_file(std::uint64_t seed) {
  door::File file(::memfd_create("random", MFD_CLOEXEC));
  for (int i = 0; i < kRandomNumbers; ++i) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    const std::uint64_t number = seed ^ (seed >> 29);
    if (::write(file.number(), &number, sizeof number) != sizeof number) throw TracerTrouble("no memory for a file");
  }
  return file;
}

}  // namespace

struct Program::Parts final : CallHandler {
  Parts(const Command& command, std::uint64_t seed, Readings readings, Outside& outside)
      : random(random_file(seed)),
        page(fmt::format("/proc/{}/fd/{}", ::getpid(), random.number())),
        threads(page, *this, seed),
        sockets(threads, outside),
        timers(threads),
        calls(page, threads, sockets, timers, outside) {
    page.set(readings);
    launched = launch(command);
    threads.add_first(launched.process);
    if (launched.first_of_namespace <= 0) {
      threads.note_escape(
          "it sees numbers of processes that differ from run to run, since a namespace for them needs "
          "root (CAP_SYS_ADMIN)");
    }
  }
  ~Parts() {
    threads.kill_all();
    if (launched.first_of_namespace <= 0) return;
    // With it goes whatever has got away from the process that started it.
    ::kill(launched.first_of_namespace, SIGKILL);
    ::waitpid(launched.first_of_namespace, nullptr, 0);
  }
  Turn before_call(Thread& thread) override { return calls.before_call(thread); }

  door::File random;
  ClockPage page;
  Threads threads;
  Sockets sockets;
  Timers timers;
  Calls calls;
  Launched launched;
};

Program::Program(const Command& command, std::uint64_t seed, Readings readings, Outside& outside)
    : parts_(std::make_unique<Parts>(command, seed, readings, outside)) {}
Program::~Program() = default;

void Program::set_clocks(Readings readings) { parts_->page.set(readings); }

void Program::run() {
  parts_->timers.expire();
  parts_->threads.end_waits();
  // Taking what it has sent may wake it: a full socket has room again.
  do {
    parts_->threads.run();
    parts_->sockets.collect();
  } while (parts_->threads.notice_woken());
}

std::optional<std::int64_t> Program::next_deadline() const {
  const std::optional<std::int64_t> of_threads = parts_->threads.next_deadline();
  const std::optional<std::int64_t> of_timers = parts_->timers.next_deadline();
  return of_threads && of_timers ? std::min(*of_threads, *of_timers) : of_threads ? of_threads : of_timers;
}

void Program::deliver(SocketId socket, std::string_view bytes) { parts_->sockets.deliver(socket, bytes); }
void Program::finish_connect(SocketId socket, int error) { parts_->sockets.finish_connect(socket, error); }
void Program::close(SocketId socket) { parts_->sockets.close(socket); }
void Program::reset(SocketId socket) { parts_->sockets.reset(socket); }
bool Program::is_over() const { return parts_->threads.is_over(); }
std::optional<int> Program::status() const { return parts_->threads.status(); }
const std::vector<CallMade>& Program::calls() const { return parts_->threads.calls(); }
const std::vector<std::string>& Program::escapes() const { return parts_->threads.escapes(); }

}  // namespace lockstep::programs::tracer
