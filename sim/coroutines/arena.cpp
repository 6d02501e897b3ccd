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
  const std::size_t chunk_size = std::max(size, kChunk);
  chunks_.push_back({std::make_unique_for_overwrite<std::byte[]>(chunk_size), chunk_size});
  ++system_allocations_;
  reserved_ += chunk_size;
  used_ = size;
  return chunks_.back().bytes.get();
}

void Arena::reset() {
  free_.fill(nullptr);
  chunk_ = 0;
  used_ = 0;
}

}  // namespace lockstep::sim
