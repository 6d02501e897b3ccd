#pragma once

// What processes send to each other. Servers define their own kinds; the engine moves them without looking inside.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sim/coroutines/arena.hpp"
#include "sim/worlds/ids.hpp"

namespace lockstep::sim {

/// Identifies the call that waits for a reply. A reply that comes after its call gave up is dropped.
struct CallRef {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;  ///< 0: no call
};

class Message {
 public:
  virtual ~Message() = default;

  /// The step as scenario files call it: "SETNX". A reply bears the name of its request.
  virtual std::string_view name() const = 0;
  /// All of it, for a timeline.
  virtual std::string describe() const = 0;
  /// Equal for equal contents: goes into the digest of the run.
  virtual std::uint64_t digest() const = 0;

  bool is_reply = false;
  bool is_push = false;        ///< unsolicited, from a server: `Process::notified` gets it
  bool is_fin = false;         ///< no request: its client has died, and the connection is closed
  bool opens_session = false;  ///< of a request: its server may keep more of it than its reply, until the FIN
  CallRef call;
  OperationId operation = 0;  ///< the sender's operation that it belongs to
  std::uint32_t session = 0;  ///< of a push: how many sessions of its connection had ended at its server
  std::uint32_t origin = 0;   ///< of a request and its reply: `World::note_origin`; 0: not traced

 private:
  friend struct MessageDelete;
  template <class T, class... Args>
  friend std::unique_ptr<T, struct MessageDelete> make_message(Arena& arena, Args&&... args);
  Arena* arena_ = nullptr;
  std::uint32_t size_ = 0;
};

struct MessageDelete {
  void operator()(Message* message) const {
    Arena* arena = message->arena_;
    const std::uint32_t size = message->size_;
    message->~Message();
    arena->release(message, size);
  }
};

template <class T>
using MessagePtrOf = std::unique_ptr<T, MessageDelete>;
using MessagePtr = MessagePtrOf<Message>;

/// A message in the arena of its world. Requires: it is gone before the arena is reset.
template <class T, class... Args>
MessagePtrOf<T> make_message(Arena& arena, Args&&... args) {
  static_assert(alignof(T) <= alignof(std::max_align_t));
  T* message = new (arena.allocate(sizeof(T))) T(std::forward<Args>(args)...);
  message->arena_ = &arena;
  message->size_ = sizeof(T);
  return MessagePtrOf<T>(message);
}

}  // namespace lockstep::sim
