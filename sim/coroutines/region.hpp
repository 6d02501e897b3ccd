#pragma once

// Memory that can be copied and put back: all that a world consists of, so that the world can go back to an earlier
// moment. Start here: `Restorable` is an object with such memory. Why it is done this way:
// docs/decisions/worlds-go-back-by-copy.md.
//
// While a thread is inside a region (`Region::Inside`), everything that it allocates with `new` lies there: coroutine
// frames, strings, vectors that grow. `save` copies the used bytes, `restore` copies them back to the same addresses,
// and with them every pointer between them, the allocator's own free lists included. Two rules make that sound, and
// both are asserted at every `delete`:
//
// - What lies in the region is freed only inside of it. So whatever is to outlast a `restore` (the explorer's notes,
//   compiled scripts) is allocated outside: under a `Region::Outside`, or in an `Outlasting`.
// - What lies outside is not freed inside: the world would come back with a pointer to it.
//
// Under sanitizers, which have an allocator of their own, and where the system gives no address space, there are no
// regions.

#include <cstddef>
#include <memory>
#include <utility>

namespace lockstep::sim {

class Region {
 public:
  /// Null where there are none.
  static std::unique_ptr<Region> make();
  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// A copy of a region's contents. Keeps its memory when it is overwritten.
  class Copy {
   public:
    std::size_t size() const { return size_; }

   private:
    friend class Region;
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
  };
  void save(Copy& copy) const;
  /// Requires: `copy` is of this region; nobody is inside; is_whole().
  void restore(const Copy& copy);

  /// Whether all that was allocated inside lies here. A region that is full lets the rest lie elsewhere: its objects go
  /// on as if nothing had happened, but they cannot go back any more.
  bool is_whole() const { return is_whole_; }
  /// Whether this user claimed it last: copies that he made then are still of what lies here.
  bool claim(const void* user) { return std::exchange(user_, user) == user; }
  /// How many bytes a copy has.
  std::size_t used_bytes() const;
  /// For tests: from now on it is full at this size.
  void limit(std::size_t bytes);

  /// From here to the end of the scope this thread allocates in the region; null: outside of all.
  class Inside {
   public:
    explicit Inside(Region* region) : before_(std::exchange(active_, region)) {}
    ~Inside() { active_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Region* before_;
  };
  class Outside : public Inside {
   public:
    Outside() : Inside(nullptr) {}
  };

 private:
  friend struct RegionMemory;
  struct Heap;
  explicit Region(Heap* heap) : heap_(heap) {}

  // Where this thread's memory comes from is no state that anything could depend on.
  static constinit thread_local Region* active_;  // tidy: allocation only
  Heap* heap_;
  bool is_whole_ = true;
  const void* user_ = nullptr;
};

/// An object in a region of its own.
template <class T>
class Restorable {
 public:
  template <class... Args>
  explicit Restorable(Args&&... args) : region_(Region::make()) {
    const Region::Inside inside(region_.get());
    object_ = new T(std::forward<Args>(args)...);
  }
  ~Restorable() {
    const Region::Inside inside(region_.get());
    delete object_;
  }
  Restorable(const Restorable&) = delete;
  Restorable& operator=(const Restorable&) = delete;

  /// Null if this object cannot go back.
  Region* region() const { return region_.get(); }
  /// Requires: inside the region, if what is done may allocate or free.
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  std::unique_ptr<Region> region_;
  T* object_;
};

/// An object that lies outside of every region, though what it belongs to may lie in one: it stays as it is when that
/// goes back. What it allocates later to keep, it must allocate outside as well.
template <class T>
class Outlasting {
 public:
  template <class... Args>
  explicit Outlasting(Args&&... args) {
    const Region::Outside outside;
    object_ = new T(std::forward<Args>(args)...);
  }
  ~Outlasting() {
    const Region::Outside outside;
    delete object_;
  }
  Outlasting(const Outlasting&) = delete;
  Outlasting& operator=(const Outlasting&) = delete;

  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};

}  // namespace lockstep::sim
