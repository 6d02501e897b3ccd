#pragma once

// What a program can wait for: time to pass, work to be done, an answer to come.

#include <coroutine>
#include <optional>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::sim {

/// `co_await Wait(process, 5ms..10ms, TimerKind::sleep)`.
class [[nodiscard]] Wait final : private TimerOwner {
 public:
  Wait(Process& process, DurationRange length, TimerKind kind) : process_(process), length_(length), kind_(kind) {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() { process_.world().cancel_timer(timer_); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> program) {
    program_ = program;
    timer_ = process_.world().set_timer(process_.id(), length_, kind_, *this);
  }
  void await_resume() noexcept { timer_ = {}; }

 private:
  void timer_fired() override { process_.executor().make_ready(program_); }

  Process& process_;
  DurationRange length_;
  TimerKind kind_;
  TimerRef timer_;
  std::coroutine_handle<> program_;
};

/// Sends a request and waits for its answer: the content of a `Response` (a message with a member `content`), or
/// nothing when none came within `timeout`, or none can come any more. Then the outcome is unknown: the request may
/// have been carried out, may still be, or never.
template <class Response>
class [[nodiscard]] Call : private ReplyOwner, private TimerOwner {
 public:
  using Content = decltype(Response::content);

  Call(Process& client, ConnectionId connection, MessagePtr request, std::optional<Duration> timeout)
      : client_(client), connection_(connection), request_(std::move(request)), timeout_(timeout) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    if (call_.generation != 0) client_.world().close_call(call_);
    client_.world().cancel_timer(timer_);
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> program) {
    note_origin(code_frame_of(program));
    begin(program);
  }
  std::optional<Content> await_resume() { return std::move(answer_); }

 protected:
  /// Requires: it is not awaited yet.
  void redirect(ConnectionId connection) { connection_ = connection; }
  void note_origin(const CodeFrame* frame) { client_.world().note_origin(*request_, frame); }
  void begin(std::coroutine_handle<> program) {
    World& world = client_.world();
    program_ = program;
    call_ = world.open_call(*this, client_.id());
    request_->call = call_;
    world.send_request(connection_, std::move(request_));
    if (timeout_) {
      timer_ = world.set_timer(client_.id(), DurationRange::exactly(*timeout_), TimerKind::timeout, *this);
    }
  }

 private:
  void reply_arrived(Message& reply) override {
    answer_.emplace(std::move(static_cast<Response&>(reply).content));
    finish();
  }
  void connection_lost() override { finish(); }
  void timer_fired() override {
    timer_ = {};
    client_.world().close_call(call_);
    finish();
  }
  /// Requires: the call is closed.
  void finish() {
    World& world = client_.world();
    call_ = {};
    world.cancel_timer(timer_);
    timer_ = {};
    world.executor().make_ready(program_);
  }

  Process& client_;
  ConnectionId connection_;
  MessagePtr request_;
  std::optional<Duration> timeout_;
  CallRef call_;
  TimerRef timer_;
  std::coroutine_handle<> program_;
  std::optional<Content> answer_;
};

}  // namespace lockstep::sim
