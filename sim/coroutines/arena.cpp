#include "sim/coroutines/arena.hpp"

#include <algorithm>

namespace lockstep::sim {

void* Arena::carve(std::size_t size) {
  while (chunk_ < chunks_.size()) {
    if (used_ + size <= chunks_[chunk_].size) {
      void* p = chunks_[chunk_].bytes.get() + used_;
      used_ += size;
      return p;
    }
    ++chunk_;
    used_ = 0;
  }
  // With what an allocator notes of a block it is no larger than a chunk.
  const std::size_t chunk_size = std::max(size, kChunk - kGrain);
  chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(chunk_size), chunk_size});
  ++system_allocations_;
  reserved_ += chunk_size;
  used_ = size;
  return chunks_.back().bytes.get();
}

void* Arena::allocate_large(std::size_t size_class) {
  for (LargeBlock** each = &free_large_; *each != nullptr; each = &(*each)->next) {
    LargeBlock* const block = *each;
    if (block->size_class != size_class) continue;
    *each = block->next;
    return block;
  }
  return carve(size_class * kGrain);
}

void Arena::reset() {
  free_.fill(nullptr);
  free_large_ = nullptr;
  chunk_ = 0;
  used_ = 0;
}

}  // namespace lockstep::sim
