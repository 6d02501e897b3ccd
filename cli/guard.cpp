#include "cli/guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/seconds_now.hpp"

namespace lockstep::cli {
namespace {

constexpr double kPatience = 1.7;  // more than `scenarios::check` and `Interrupt` have

/// Bytes that are in memory now; 0: the system does not say.
std::uint64_t resident_bytes() {
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[100] = {};  // no memory is taken to measure memory
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  unsigned long all = 0;
  unsigned long resident = 0;
  if (length <= 0 || std::sscanf(text, "%lu %lu", &all, &resident) != 2) return 0;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void end_with_line(std::string_view why) {
  const std::string line = fmt::format("lockstep: {}\n", why);
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(3);
  _exit(3);
}

}  // namespace

std::uint64_t half_of_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

Option memory_bound(std::uint64_t& bytes) {
  return size({"--max-memory", "SIZE", "end when more than that is needed, e.g. 512MB (half of what the machine has)"},
              bytes);
}

Guard::Guard(std::uint64_t max_memory, const Interrupt* interrupt) : max_memory_(max_memory), interrupt_(interrupt) {
  // Signals are for the thread that the program began with.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::jthread([this](const std::stop_token& end) { look(end); });
  } catch (const std::system_error&) {
    // The system allows no more threads: then there is no last resort.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Guard::expect_end_in(double seconds) { end_ = seconds_now() + seconds + kPatience; }

void Guard::look(const std::stop_token& end) const {
  double interrupted_at = 0;
  std::mutex mutex;
  std::condition_variable_any ends;
  std::unique_lock lock(mutex);
  while (!ends.wait_for(lock, end, std::chrono::milliseconds(20), [&] { return end.stop_requested(); })) {
    if (resident_bytes() > max_memory_) {
      end_with_line(
          fmt::format("more than {} MB of memory are needed, and --max-memory allows no more; a smaller world, "
                      "or --jobs 1, needs less",
                      max_memory_ >> 20U));
    }
    const double now = seconds_now();
    if (end_ > 0 && now >= end_) end_with_line("--max-seconds was reached two seconds ago; nothing is known");
    if (interrupt_ == nullptr || !interrupt_->is_requested()) continue;
    if (interrupted_at == 0) interrupted_at = now;
    if (now - interrupted_at >= kPatience) end_with_line("interrupted");
  }
}

}  // namespace lockstep::cli
