// The memory of a world.

#include "sim/coroutines/arena.hpp"

#include <cstring>
#include <deque>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::sim::arena_test {
namespace {

TEST_CASE("arena: blocks are aligned for any ordinary type") {
  Arena arena;
  for (std::size_t size = 1; size < 5'000; size += 37) {
    CHECK(reinterpret_cast<std::uintptr_t>(arena.allocate(size)) % alignof(std::max_align_t) == 0);
  }
}

TEST_CASE("arena: a released block is the next one of its size") {
  Arena arena;
  void* a = arena.allocate(100);
  void* b = arena.allocate(100);
  arena.release(a, 100);
  arena.release(b, 100);
  CHECK(arena.allocate(100) == b);
  CHECK(arena.allocate(97) == a);
}

TEST_CASE("arena: live blocks never overlap") {
  rc::prop("under any sequence of allocations and releases", [] {
    struct Block {
      unsigned char* bytes;
      std::size_t size;
      unsigned char mark;
    };
    Arena arena;
    std::deque<Block> live;
    unsigned char mark = 0;
    const auto is_intact = [](const Block& block) {
      for (std::size_t i = 0; i < block.size; ++i) {
        if (block.bytes[i] != block.mark) return false;
      }
      return true;
    };
    for (int i = 0; i < 200; ++i) {
      if (live.empty() || *rc::gen::inRange(0, 3) != 0) {
        const std::size_t size =
            *rc::gen::element<std::size_t>(1, 31, 32, 33, 64, 500, 2'016, 2'048, 9'000, 16'384, 40'000);
        auto* bytes = static_cast<unsigned char*>(arena.allocate(size));
        std::memset(bytes, ++mark, size);
        live.push_back({bytes, size, mark});
      } else {
        RC_ASSERT(is_intact(live.front()));
        arena.release(live.front().bytes, live.front().size);
        live.pop_front();
      }
    }
    for (const Block& block : live) RC_ASSERT(is_intact(block));
  });
}

TEST_CASE("arena: the same work again asks the system for nothing") {
  Arena arena;
  const auto work = [&] {
    std::deque<void*> blocks;
    for (std::size_t i = 0; i < 1'000; ++i) blocks.push_back(arena.allocate(i % 900 + 1));
    for (std::size_t i = 0; i < 1'000; ++i) arena.release(blocks[i], i % 900 + 1);
  };
  work();
  const std::uint64_t before = arena.system_allocations();
  for (int i = 0; i < 10; ++i) work();
  CHECK(arena.system_allocations() == before);
}

TEST_CASE("arena: the frame of a large coroutine is reused too") {
  Arena arena;
  void* frame = arena.allocate(8'000);
  arena.release(frame, 8'000);
  CHECK(arena.allocate(8'000) == frame);
}

TEST_CASE("arena: a reset forgets the blocks and keeps the memory") {
  Arena arena;
  void* first = arena.allocate(100);
  for (int i = 0; i < 1'000; ++i) arena.allocate(1'000);
  void* large = arena.allocate(100'000);
  std::memset(large, 1, 100'000);
  const std::uint64_t asked = arena.system_allocations();
  const std::size_t reserved = arena.reserved_bytes();
  CHECK(reserved >= 1'100'000);
  arena.reset();
  CHECK(arena.allocate(100) == first);
  for (int i = 0; i < 1'000; ++i) arena.allocate(1'000);
  arena.allocate(100'000);
  CHECK(arena.system_allocations() == asked);
  CHECK(arena.reserved_bytes() == reserved);
}

}  // namespace
}  // namespace lockstep::sim::arena_test
