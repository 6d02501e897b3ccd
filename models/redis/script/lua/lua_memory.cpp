#include "models/redis/script/lua/lua_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "sim/invariant.hpp"

namespace lockstep::models::redis {
namespace {

/// Not by `operator new`: within a world that would lie where the world's memory is.
void* from_system(std::size_t size) {
  void* memory = std::malloc(size);
  while (memory == nullptr) {  // as `operator new` does it
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    memory = std::malloc(size);
  }
  return memory;
}

}  // namespace

LuaMemory::~LuaMemory() {
  free_all(large_);
  free_all(chunks_);
  free_all(first_);
  std::free(copy_);
}

void* LuaMemory::allocate(std::size_t size) {
  if (size > kLargest) {
    Piece* const piece = make_piece(size);
    piece->next = large_;
    if (large_ != nullptr) large_->previous = piece;
    large_ = piece;
    return piece + 1;
  }
  const std::size_t size_class = (size + kGrain - 1) / kGrain;
  if (Block* const block = carving_.free[size_class]) {
    carving_.free[size_class] = block->next;
    return block;
  }
  return carve(size_class * kGrain);
}

void LuaMemory::release(void* block, std::size_t size) {
  if (block == nullptr) return;
  if (size > kLargest) {
    Piece* const piece = static_cast<Piece*>(block) - 1;
    (piece->previous != nullptr ? piece->previous->next : large_) = piece->next;
    if (piece->next != nullptr) piece->next->previous = piece->previous;
    std::free(piece);
    return;
  }
  const std::size_t size_class = (size + kGrain - 1) / kGrain;
  carving_.free[size_class] = new (block) Block{carving_.free[size_class]};
}

void LuaMemory::mark() {
  sim::invariant(copy_ == nullptr && first_ != nullptr && chunks_ == nullptr && large_ == nullptr,
                 "an interpreter that has run nothing fits into one chunk");
  const auto* const bytes = reinterpret_cast<std::byte*>(first_ + 1);
  copied_ = static_cast<std::size_t>(carving_.from - bytes);
  copy_ = static_cast<std::byte*>(from_system(copied_));
  std::memcpy(copy_, bytes, copied_);
  marked_ = carving_;
}

void LuaMemory::go_back() {
  sim::invariant(copy_ != nullptr, "there is a moment to go back to");
  free_all(large_);
  free_all(chunks_);
  std::memcpy(first_ + 1, copy_, copied_);
  carving_ = marked_;
}

LuaMemory::Piece* LuaMemory::make_piece(std::size_t size) {
  return new (from_system(sizeof(Piece) + size)) Piece{nullptr, nullptr};
}

void LuaMemory::free_all(Piece*& list) {
  while (list != nullptr) std::free(std::exchange(list, list->next));
}

void* LuaMemory::carve(std::size_t size) {
  if (size > carving_.left) {
    Piece* const chunk = make_piece(kChunk);
    if (first_ == nullptr) {
      first_ = chunk;
    } else {
      chunk->next = chunks_;
      chunks_ = chunk;
    }
    carving_.from = reinterpret_cast<std::byte*>(chunk + 1);
    carving_.left = kChunk;
  }
  void* const block = carving_.from;
  carving_.from += size;
  carving_.left -= size;
  return block;
}

}  // namespace lockstep::models::redis
