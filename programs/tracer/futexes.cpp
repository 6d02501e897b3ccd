#include "programs/tracer/futexes.hpp"

#include <linux/futex.h>

#include <cerrno>
#include <ctime>

namespace lockstep::programs::tracer {

namespace {

constexpr std::uint32_t kAllBits = 0xffffffff;

std::int32_t signed_field(std::uint32_t value, int lowest) {
  return static_cast<std::int32_t>(value << (20 - lowest)) >> 20;
}

/// The second word of FUTEX_WAKE_OP, as its operation leaves it.
std::uint32_t operated(std::uint32_t operation, std::uint32_t old) {
  std::uint32_t argument = static_cast<std::uint32_t>(signed_field(operation, 12));
  if ((operation >> 31) != 0) argument = 1U << (argument & 31);
  switch ((operation >> 28) & 7) {
    case FUTEX_OP_SET: return argument;
    case FUTEX_OP_ADD: return old + argument;
    case FUTEX_OP_OR: return old | argument;
    case FUTEX_OP_ANDN: return old & ~argument;
    default: return old ^ argument;
  }
}

bool compares(std::uint32_t operation, std::uint32_t word) {
  const auto old = static_cast<std::int32_t>(word);
  const std::int32_t argument = signed_field(operation, 0);
  switch ((operation >> 24) & 15) {
    case FUTEX_OP_CMP_EQ: return old == argument;
    case FUTEX_OP_CMP_NE: return old != argument;
    case FUTEX_OP_CMP_LT: return old < argument;
    case FUTEX_OP_CMP_LE: return old <= argument;
    case FUTEX_OP_CMP_GT: return old > argument;
    default: return old >= argument;
  }
}

}  // namespace

Turn Futexes::call(Thread& thread) {
  const Registers& r = thread.tracee.registers;
  const AddressSpace& space = thread.tracee.space();
  switch (r.rsi & FUTEX_CMD_MASK) {
    case FUTEX_WAIT: return wait(thread, false, kAllBits);
    case FUTEX_WAIT_BITSET: return wait(thread, true, static_cast<std::uint32_t>(r.r9));
    case FUTEX_WAKE: return answered(thread, wake(space, r.rdi, r.rdx, kAllBits));
    case FUTEX_WAKE_BITSET: return answered(thread, wake(space, r.rdi, r.rdx, static_cast<std::uint32_t>(r.r9)));
    case FUTEX_REQUEUE: return requeue(thread, false);
    case FUTEX_CMP_REQUEUE: return requeue(thread, true);
    case FUTEX_WAKE_OP: return wake_two(thread);
    default: return threads_.enter(thread, std::nullopt, 0);  // priority inheritance: the kernel's
  }
}

Turn Futexes::wait(Thread& thread, bool is_absolute, std::uint32_t bits) {
  const Registers& r = thread.tracee.registers;
  const auto expected = static_cast<std::uint32_t>(r.rdx);
  const auto word = thread.tracee.read<std::uint32_t>(r.rdi);
  if (!word) return answered(thread, -EFAULT);
  if (*word != expected) return answered(thread, -EAGAIN);
  std::optional<Deadline> deadline;
  if (r.r10 != 0) {
    const auto time = thread.tracee.read<timespec>(r.r10);
    if (!time) return answered(thread, -EFAULT);
    deadline = Deadline{nanoseconds(*time) + (is_absolute ? 0 : threads_.monotonic()),
                        is_absolute && (r.rsi & FUTEX_CLOCK_REALTIME) != 0};
  }
  thread.futex = FutexWait{r.rdi, bits, expected, arrivals_++};
  return threads_.hold(thread, deadline, -ETIMEDOUT);
}

Turn Futexes::requeue(Thread& thread, bool must_be_equal) {
  const Registers r = thread.tracee.registers;
  if (must_be_equal) {
    const auto word = thread.tracee.read<std::uint32_t>(r.rdi);
    if (!word || *word != static_cast<std::uint32_t>(r.r9)) return answered(thread, -EAGAIN);
  }
  const AddressSpace& space = thread.tracee.space();
  std::int64_t count = wake(space, r.rdi, r.rdx, kAllBits);
  for (std::uint64_t moved = 0; moved < static_cast<std::uint32_t>(r.r10); ++moved) {
    Thread* waiting = first_waiting(space, r.rdi, kAllBits);
    if (waiting == nullptr) break;
    waiting->futex->address = r.r8;
    ++count;
  }
  return answered(thread, count);
}

Turn Futexes::wake_two(Thread& thread) {
  const Registers r = thread.tracee.registers;
  const auto operation = static_cast<std::uint32_t>(r.r9);
  const auto old = thread.tracee.read<std::uint32_t>(r.r8);
  if (!old) return answered(thread, -EFAULT);
  thread.tracee.write(r.r8, operated(operation, *old));
  const AddressSpace& space = thread.tracee.space();
  std::int64_t count = wake(space, r.rdi, r.rdx, kAllBits);
  if (compares(operation, *old)) count += wake(space, r.r8, r.r10, kAllBits);
  return answered(thread, count);
}

std::int64_t Futexes::wake(const AddressSpace& space, std::uint64_t address, std::uint64_t most, std::uint32_t bits) {
  std::int64_t count = 0;
  for (; count < static_cast<std::int32_t>(most); ++count) {
    Thread* waiting = first_waiting(space, address, bits);
    if (waiting == nullptr) break;
    threads_.release(*waiting, 0);
  }
  return count;
}

Thread* Futexes::first_waiting(const AddressSpace& space, std::uint64_t address, std::uint32_t bits) const {
  Thread* first = nullptr;
  for (const auto& thread : threads_.all()) {
    if (thread->state != Thread::State::held || !thread->futex || &thread->tracee.space() != &space) continue;
    if (thread->futex->address != address || (thread->futex->bits & bits) == 0) continue;
    if (first == nullptr || thread->futex->arrival < first->futex->arrival) first = thread.get();
  }
  return first;
}

}  // namespace lockstep::programs::tracer
