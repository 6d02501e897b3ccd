#pragma once

// `Task<T>`: a piece of a process's program, as a coroutine. It runs when it is awaited (or spawned), suspends only
// where real code would wait, and dies with its process.
//
//   sim::Task<bool> release(Client& client) {
//     const redis::Reply reply = co_await redis::server_of(client).del(key);
//     co_return reply.is_integer(1);
//   }
//
// One of its parameters must lead to the executor (`HasExecutor`: a client or a world): that is where its frame lives.
// No globals, so worlds on different threads do not know of each other.

#include <coroutine>
#include <cstddef>
#include <new>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "sim/coroutines/code_place.hpp"
#include "sim/coroutines/executor.hpp"
#include "sim/last_words.hpp"

namespace lockstep::sim {

template <class T>
class Task;

namespace detail {

template <class First, class... Rest>
Executor& executor_among(First& first, Rest&... rest) {
  if constexpr (HasExecutor<First>) {
    return first.executor();
  } else {
    static_assert(sizeof...(Rest) > 0, "a Task needs a parameter that leads to the executor: a Client& or a World&");
    return executor_among(rest...);
  }
}

class PromiseBase : public CodeFrame {
 public:
  template <class... Args>
  explicit PromiseBase(Args&... args) : executor_(&executor_among(args...)) {
    (note_text(args), ...);
  }

  /// Every `co_await` of a task says where it stands: the default argument is the compiler's, for that place.
  template <class Awaited>
  Awaited&& await_transform(Awaited&& awaited, std::source_location where = std::source_location::current()) noexcept {
    waits_at(where);
    return std::forward<Awaited>(awaited);
  }

  // The arena is noted in front of the frame, since `operator delete` is not told where the frame came from.
  template <class... Args>
  static void* operator new(std::size_t size, Args&... args) {
    Arena& arena = executor_among(args...).arena();
    auto* header = static_cast<Header*>(arena.allocate(size + sizeof(Header)));
    header->arena = &arena;
    return header + 1;
  }
  static void operator delete(void* frame, std::size_t size) {
    Header* header = static_cast<Header*>(frame) - 1;
    header->arena->release(header, size + sizeof(Header));
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct ResumeAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      PromiseBase& promise = finished.promise();
      if (promise.continuation_) promise.executor_->make_ready(promise.continuation_);
    }
    void await_resume() const noexcept {}
  };
  ResumeAwaiter final_suspend() const noexcept { return {}; }

  // Errors of the simulated world are values. An exception here is a bug of ours, or of somebody's own algorithm.
  [[noreturn]] void unhandled_exception() const noexcept { end_with_exception(); }

  void set_continuation(std::coroutine_handle<> awaiting, const CodeFrame* caller) {
    continuation_ = awaiting;
    is_called_by(caller);
  }
  Executor& executor() const { return *executor_; }

 private:
  template <class Arg>
  void note_text(const Arg& arg) {
    if constexpr (std::derived_from<Arg, InterpretedText>) interprets(arg);
  }

  struct alignas(std::max_align_t) Header {
    Arena* arena;
  };
  Executor* executor_;
  std::coroutine_handle<> continuation_;
};

template <class T>
class Promise : public PromiseBase {
 public:
  using PromiseBase::PromiseBase;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& value) {
    result_.emplace(std::forward<U>(value));
  }
  T take_result() { return std::move(*result_); }

 private:
  std::optional<T> result_;
};

template <>
class Promise<void> : public PromiseBase {
 public:
  using PromiseBase::PromiseBase;
  Task<void> get_return_object();
  void return_void() const noexcept {}
  void take_result() const noexcept {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;

  Task() = default;
  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  bool done() const { return !frame_ || frame_.done(); }

  /// Lets it run without anybody waiting for it; whoever holds the task keeps it alive.
  void start() { frame_.promise().executor().make_ready(frame_); }

  struct Awaiter {
    std::coroutine_handle<promise_type> frame;
    bool await_ready() const noexcept { return false; }
    template <class Awaiting>
    void await_suspend(std::coroutine_handle<Awaiting> awaiting) const {
      frame.promise().set_continuation(awaiting, code_frame_of(awaiting));
      frame.promise().executor().make_ready(frame);
    }
    T await_resume() const { return frame.promise().take_result(); }
  };
  Awaiter operator co_await() && { return Awaiter{frame_}; }

 private:
  std::coroutine_handle<promise_type> frame_;
};

namespace detail {
template <class T>
Task<T> Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}
inline Task<void> Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}
}  // namespace detail

}  // namespace lockstep::sim
