// Threads that meet in every way that futexes make possible, and what its clocks and random numbers are.

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using std::chrono::milliseconds;

long now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);  // tidy: a program of others
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

void show_clocks() {
  std::printf("monotonic %ld wall %ld\n", now(CLOCK_MONOTONIC), now(CLOCK_REALTIME));
  ::poll(nullptr, 0, 1000);
  timespec kernel{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &kernel);
  std::printf("by a call %ld stamp %llu\n", kernel.tv_sec * 1'000'000'000 + kernel.tv_nsec,
              static_cast<unsigned long long>(__rdtsc()));
}

void show_random() {
  std::uint64_t drawn = 0;
  std::uint64_t read = 0;
  const int file = ::open("/dev/urandom", O_RDONLY);
  if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn || ::read(file, &read, sizeof read) != sizeof read) return;
  std::uint64_t given = 0;
  std::memcpy(&given, reinterpret_cast<const void*>(::getauxval(AT_RANDOM)), sizeof given);
  std::printf("random %016lx %016lx %016lx\n", drawn, read, given);
}

/// Everybody adds, and says in which order: by a mutex, a condition with a deadline, spinning on a word, yielding.
void meet() {
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<int> word = 0;
  std::vector<int> order;
  int turn = 0;
  const auto work = [&](int number) {
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, milliseconds(3 + number), [&] { return turn == number; })) order.push_back(-number);
    order.push_back(number);
    ++turn;
    changed.notify_all();
    lock.unlock();
    while (word != number) ::sched_yield();
    ++word;
    word.notify_all();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(work, i);
  word.wait(0);
  for (std::thread& thread : threads) thread.join();
  for (const int number : order) std::printf("%d ", number);
  std::printf("at %ld\n", now(CLOCK_MONOTONIC));
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "spin") == 0) {
    // Waits for time to go on by looking at the clock.
    const long end = now(CLOCK_MONOTONIC) + 50'000'000;
    while (now(CLOCK_MONOTONIC) < end) {
    }
    std::printf("spun\n");
    return 0;
  }
  if (count > 1 && std::strcmp(arguments[1], "compute") == 0) {
    for (volatile std::uint64_t i = 0;; i = i + 1) {
    }
  }
  if (count > 1 && std::strcmp(arguments[1], "wait") == 0) {
    // With a child, which waits as well.
    static_cast<void>(::fork());
    for (;;) ::pause();
  }
  show_clocks();
  show_random();
  meet();
  return 7;
}
