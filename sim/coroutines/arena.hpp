#pragma once

// Memory of a world: coroutine frames and messages. Freed blocks are reused by size, and all of it is forgotten at
// once when the world starts over, so that running a world asks the system for nothing in steady state.
//
// A world that goes back is copied with all of its memory, whether in use or not, some ten thousand times a second: so
// an arena is small, and grows in small steps.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace lockstep::sim {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// At least `size` bytes, aligned for any ordinary type. Requires: size > 0.
  void* allocate(std::size_t size) {
    const std::size_t size_class = (size + kGrain - 1) / kGrain;
    if (size_class >= kClasses) return allocate_large(size_class);
    if (Block* block = free_[size_class]; block != nullptr) {
      free_[size_class] = block->next;
      return block;
    }
    return carve(size_class * kGrain);
  }

  /// Gives a block back for reuse. Requires: `size` is what it was allocated with.
  void release(void* p, std::size_t size) {
    const std::size_t size_class = (size + kGrain - 1) / kGrain;
    if (size_class < kClasses) {
      free_[size_class] = new (p) Block{free_[size_class]};
    } else {
      free_large_ = new (p) LargeBlock{free_large_, size_class};
    }
  }

  /// Forgets every block and keeps the memory. Requires: no block is in use.
  void reset();

  /// How often memory was asked of the system since construction: constant in steady state.
  std::uint64_t system_allocations() const { return system_allocations_; }
  std::size_t reserved_bytes() const { return reserved_; }

 private:
  struct Block {
    Block* next;
  };
  /// Rare: one list of all sizes.
  struct LargeBlock {
    LargeBlock* next;
    std::size_t size_class;
  };
  static constexpr std::size_t kGrain = 32;
  static constexpr std::size_t kClasses = 96;
  static constexpr std::size_t kChunk = 4 * 1024;
  struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
  };

  void* carve(std::size_t size);
  void* allocate_large(std::size_t size_class);

  std::array<Block*, kClasses> free_{};
  LargeBlock* free_large_ = nullptr;
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;  ///< the chunk being carved
  std::size_t used_ = 0;   ///< bytes of it that are taken
  std::size_t reserved_ = 0;
  std::uint64_t system_allocations_ = 0;
};

}  // namespace lockstep::sim
