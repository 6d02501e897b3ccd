// A library that is loaded into a redis-server before the C library: the server's wall clock is as far off as a file
// says, at every moment. So the clock of a real server jumps while the machine's stays as it is.
//
// LOCKSTEP_CLOCK_SHIFT names the file: eight bytes, nanoseconds, in the machine's order. Nothing of C++'s library is
// used here.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

const volatile std::int64_t* mapped() {
  const char* name = getenv("LOCKSTEP_CLOCK_SHIFT");
  if (name == nullptr) return nullptr;
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory = mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<const volatile std::int64_t*>(memory);
}

/// Nanoseconds since 1970 by the shifted clock.
std::int64_t shifted(clockid_t clock) {
  static const volatile std::int64_t* const shift = mapped();
  timespec now{};
  syscall(SYS_clock_gettime, clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec + (shift != nullptr ? *shift : 0);
}

}  // namespace

extern "C" {

// tidy: real processes — what a server asks the machine.
int clock_gettime(clockid_t clock, timespec* out) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
    return static_cast<int>(syscall(SYS_clock_gettime, clock, out));
  const std::int64_t now = shifted(clock);
  out->tv_sec = now / kSecond;
  out->tv_nsec = now % kSecond;
  return 0;
}

// tidy: real processes — and this.
int gettimeofday(timeval* out, void*) {
  const std::int64_t now = shifted(CLOCK_REALTIME);
  out->tv_sec = now / kSecond;
  out->tv_usec = now % kSecond / 1'000;
  return 0;
}

time_t time(time_t* out) {
  const time_t now = shifted(CLOCK_REALTIME) / kSecond;
  if (out != nullptr) *out = now;
  return now;
}
}
