#pragma once

// The memory of one Lua state, which can go back to an earlier moment at once. A world has an interpreter of its own,
// and worlds are short: to open the libraries and to close the state, object by object, would take longer than many a
// run. So an interpreter is made once, and after a world its memory is put back to what it was before the first script:
// bytes and addresses are the same, and with them all that Lua can know.

#include <array>
#include <cstddef>

namespace lockstep::models::redis {

class LuaMemory {
 public:
  LuaMemory() = default;
  LuaMemory(const LuaMemory&) = delete;
  LuaMemory& operator=(const LuaMemory&) = delete;
  ~LuaMemory();

  /// At least `size` bytes, aligned for any ordinary type. Requires: size > 0. Throws std::bad_alloc.
  void* allocate(std::size_t size);
  /// Requires: `size` is what it was allocated with.
  void release(void* block, std::size_t size);

  /// From now on `go_back` comes back to this moment. Requires: it was not called before; what is allocated now fits
  /// into one chunk, as an interpreter does that has run nothing.
  void mark();
  /// Forgets all that was allocated since `mark`, and undoes what was written into the rest. Requires: mark().
  void go_back();

 private:
  struct Block {
    Block* next;
  };
  /// A chunk, or a block that is too large for one: in a list, before its bytes.
  struct alignas(std::max_align_t) Piece {
    Piece* next;
    Piece* previous;
  };
  static constexpr std::size_t kGrain = 16;
  static constexpr std::size_t kClasses = 513;
  static constexpr std::size_t kLargest = (kClasses - 1) * kGrain;  ///< the table of an interpreter's strings fits
  static constexpr std::size_t kChunk = 64 * 1024;
  struct Carving {
    std::byte* from = nullptr;  ///< what is left of the chunk that is being carved
    std::size_t left = 0;
    std::array<Block*, kClasses> free{};  ///< by size / kGrain
  };

  static Piece* make_piece(std::size_t size);
  static void free_all(Piece*& list);
  void* carve(std::size_t size);

  Carving carving_;
  Piece* first_ = nullptr;   ///< the first chunk
  Piece* chunks_ = nullptr;  ///< the others
  Piece* large_ = nullptr;
  Carving marked_;
  std::byte* copy_ = nullptr;  ///< of what the first chunk had at `mark`
  std::size_t copied_ = 0;
};

}  // namespace lockstep::models::redis
