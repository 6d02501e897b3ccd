#pragma once

// futex(2), carried out by the tracer. Threads have their turns one after the other, so to compare a word of memory and
// to wait for its change needs no atomic operation.

#include <cstdint>

#include "programs/tracer/threads.hpp"

namespace lockstep::programs::tracer {

class Futexes {
 public:
  explicit Futexes(Threads& threads) : threads_(threads) {}
  /// Requires: the thread stands before a futex call.
  Turn call(Thread& thread);

 private:
  Turn wait(Thread& thread, bool is_absolute, std::uint32_t bits);
  Turn requeue(Thread& thread, bool must_be_equal);
  Turn wake_two(Thread& thread);
  std::int64_t wake(const AddressSpace& space, std::uint64_t address, std::uint64_t most, std::uint32_t bits);
  Thread* first_waiting(const AddressSpace& space, std::uint64_t address, std::uint32_t bits) const;

  Threads& threads_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace lockstep::programs::tracer
