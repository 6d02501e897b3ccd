#include "sim/coroutines/region.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define LOCKSTEP_NO_REGIONS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOCKSTEP_NO_REGIONS
#endif

namespace lockstep::sim {
namespace {

constexpr std::size_t kRegionBytes = std::size_t{16} << 20;
constexpr std::size_t kRegionsMost = 1024;

/// Blocks begin 8 before a multiple of 16: 8 bytes say how long the block is, and what follows is aligned as `new` has
/// to.
constexpr std::size_t kGrain = 16;
constexpr std::size_t kHeader = 8;
/// Sizes up to here have a free list each, in steps of the grain; larger ones eight between one power of two and the
/// next.
constexpr std::size_t kSmallMost = 1024;
constexpr std::size_t kSmallClasses = kSmallMost / kGrain + 1;
constexpr std::size_t kOctaves = 14;
constexpr std::size_t kClasses = kSmallClasses + 8 * kOctaves;
static_assert(kSmallMost << kOctaves == kRegionBytes);

/// The smallest class whose blocks are as long as that. Requires: a multiple of the grain, at most kRegionBytes.
std::size_t class_of(std::size_t block) {
  if (block <= kSmallMost) return block / kGrain;
  const auto octave = static_cast<std::size_t>(std::bit_width(block - 1)) - std::bit_width(kSmallMost - 1) - 1;
  const std::size_t begin = kSmallMost << octave;
  const std::size_t step = begin / 8;
  return kSmallClasses + 8 * octave + (block - begin - 1) / step;
}
std::size_t size_of_class(std::size_t size_class) {
  if (size_class < kSmallClasses) return size_class * kGrain;
  const std::size_t begin = kSmallMost << (size_class - kSmallClasses) / 8;
  return begin + begin / 8 * ((size_class - kSmallClasses) % 8 + 1);
}

/// A copy is made of whole lines of this many bytes.
constexpr std::size_t kLine = 64;
std::size_t whole_lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// As memcpy does, which takes `rep movsb` for such sizes. That is slow on the virtual machines that we know (AMD EPYC,
/// glibc 2.36): to go back was 40 % of a search that takes a third less with this. Requires: `bytes` are whole lines.
void copy_lines(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLine) {
    std::memcpy(to + i, from + i, kLine);
    asm volatile("" ::: "memory");  // or the compiler sees that it is a memcpy
  }
}

}  // namespace

/// What stands at the beginning of a region's memory, and is copied with it.
struct Region::Heap {
  std::uint32_t used;                        ///< bytes, from the beginning of the heap
  std::uint32_t limit;                       ///< from here on it is full
  std::array<std::uint32_t, kClasses> free;  ///< by class: where the first free block's contents begin; 0: none

  std::byte* at(std::uint32_t offset) { return reinterpret_cast<std::byte*>(this) + offset; }

  /// Null: full.
  void* allocate(std::size_t size) {
    const std::size_t wanted = (std::max<std::size_t>(size, 1) + kHeader + kGrain - 1) / kGrain * kGrain;
    if (wanted > kRegionBytes) return nullptr;
    const std::size_t size_class = class_of(wanted);
    if (const std::uint32_t first = free[size_class]; first != 0) {
      std::memcpy(&free[size_class], at(first), sizeof first);
      return at(first);
    }
    const std::size_t block = size_of_class(size_class);
    if (used + block > limit) return nullptr;
    const auto contents = static_cast<std::uint32_t>(used + kHeader);
    const auto noted = static_cast<std::uint32_t>(size_class);
    std::memcpy(at(used), &noted, sizeof noted);
    used += static_cast<std::uint32_t>(block);
    return at(contents);
  }

  void release(void* p) {
    const auto offset = static_cast<std::uint32_t>(static_cast<std::byte*>(p) - at(0));
    std::uint32_t size_class;
    std::memcpy(&size_class, at(offset) - kHeader, sizeof size_class);
    std::memcpy(p, &free[size_class], sizeof offset);
    free[size_class] = offset;
  }
};

/// The address space of all regions, in one piece: so an address says whether it lies in a region.
struct RegionMemory {
  static constexpr std::size_t bytes = kRegionBytes * kRegionsMost;

  static constinit std::atomic<std::uintptr_t> begin;  // tidy: allocation only; 0: there is none

  static bool holds(const void* p) {
    const std::uintptr_t first = begin.load(std::memory_order_relaxed);
    return first != 0 && reinterpret_cast<std::uintptr_t>(p) - first < bytes;
  }

  static void* allocate(std::size_t size) {
    if (Region* const region = Region::active_; region != nullptr) {
      if (void* p = region->heap_->allocate(size)) return p;
      region->is_whole_ = false;
    }
    return std::malloc(std::max<std::size_t>(size, 1));
  }

  static void release(void* p) {
    if (p == nullptr) return;
    Region* const region = Region::active_;
    if (!holds(p)) {
      assert((region == nullptr || !region->is_whole_) && "memory from outside is freed within a region");
      std::free(p);
      return;
    }
    assert(region != nullptr &&
           static_cast<std::size_t>(static_cast<std::byte*>(p) - region->heap_->at(0)) < kRegionBytes &&
           "memory of a region is freed outside of it");
    region->heap_->release(p);
  }

  static Region::Heap* take();
  static void give_back(Region::Heap* heap);
};

constinit thread_local Region* Region::active_ = nullptr;       // tidy: allocation only
constinit std::atomic<std::uintptr_t> RegionMemory::begin = 0;  // tidy: allocation only

#ifdef LOCKSTEP_NO_REGIONS

Region::Heap* RegionMemory::take() { return nullptr; }
void RegionMemory::give_back(Region::Heap*) {}

#else

namespace {

constexpr std::size_t kKeptBytes = std::size_t{256} << 10;

/// Which parts of the address space are taken.
struct Places {
  std::mutex mutex;
  bool is_tried = false;
  std::array<bool, kRegionsMost> is_taken{};
};
Places& places() {
  static constinit Places all;  // tidy: allocation only
  return all;
}

}  // namespace

Region::Heap* RegionMemory::take() {
  Places& all = places();
  const std::scoped_lock lock(all.mutex);
  if (!all.is_tried) {
    all.is_tried = true;
    void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) begin = reinterpret_cast<std::uintptr_t>(p);
  }
  if (begin == 0) return nullptr;
  const auto place = std::find(all.is_taken.begin(), all.is_taken.end(), false);
  if (place == all.is_taken.end()) return nullptr;
  const auto index = static_cast<std::size_t>(place - all.is_taken.begin());
  void* const p = reinterpret_cast<void*>(begin + index * kRegionBytes);
  if (mprotect(p, kRegionBytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  *place = true;
  auto* heap = new (p) Region::Heap;
  heap->used = (sizeof(Region::Heap) + kGrain - 1) / kGrain * kGrain + kHeader;
  heap->limit = kRegionBytes;
  heap->free.fill(0);
  return heap;
}

void RegionMemory::give_back(Region::Heap* heap) {
  // What most worlds use stays with the process: the system asks two microseconds for each page. The next region here
  // begins with nothing all the same.
  madvise(heap->at(kKeptBytes), kRegionBytes - kKeptBytes, MADV_DONTNEED);
  Places& all = places();
  const std::scoped_lock lock(all.mutex);
  all.is_taken[(reinterpret_cast<std::uintptr_t>(heap) - begin) / kRegionBytes] = false;
}

#endif

std::unique_ptr<Region> Region::make() {
  Heap* const heap = RegionMemory::take();
  if (heap == nullptr) return nullptr;
  const Outside outside;
  return std::unique_ptr<Region>(new Region(heap));
}

Region::~Region() { RegionMemory::give_back(heap_); }

std::size_t Region::used_bytes() const { return heap_->used; }

void Region::limit(std::size_t bytes) { heap_->limit = static_cast<std::uint32_t>(std::min(bytes, kRegionBytes)); }

void Region::save(Copy& copy) const {
  if (copy.capacity_ < heap_->used) {
    copy.capacity_ = whole_lines(heap_->used + heap_->used / 4);
    copy.bytes_ = std::make_unique_for_overwrite<std::byte[]>(copy.capacity_);
  }
  copy.size_ = heap_->used;
  copy_lines(copy.bytes_.get(), heap_->at(0), whole_lines(copy.size_));
}

void Region::restore(const Copy& copy) {
  assert(is_whole_ && active_ != this);
  copy_lines(heap_->at(0), copy.bytes_.get(), whole_lines(copy.size_));
}

}  // namespace lockstep::sim

#ifndef LOCKSTEP_NO_REGIONS

// The program's `new` and `delete`: as ever, but for threads that are inside a region.

void* operator new(std::size_t size) {
  while (true) {
    if (void* p = lockstep::sim::RegionMemory::allocate(size)) return p;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* p) noexcept { lockstep::sim::RegionMemory::release(p); }
void operator delete[](void* p) noexcept { lockstep::sim::RegionMemory::release(p); }
void operator delete(void* p, std::size_t) noexcept { lockstep::sim::RegionMemory::release(p); }
void operator delete[](void* p, std::size_t) noexcept { lockstep::sim::RegionMemory::release(p); }

#endif
