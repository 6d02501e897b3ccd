#pragma once

// A client process: what a lock algorithm's code can see and do.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/connection.hpp"
#include "models/redis/sentinel_route.hpp"
#include "sim/await.hpp"
#include "sim/process.hpp"

namespace lockstep::models {

/// One client with its connections. Its program starts with the process, and again after a restart.
class Client final : public sim::Process {
 public:
  using Program = std::function<sim::Task<void>(Client&)>;

  explicit Client(Program program) : program_(std::move(program)) {}

  /// Requires: after the client was added to its world, before it starts.
  void connect_redis(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
    redis_.emplace_back(*this, session_, connection, timeout);
  }

  /// Instead: its only server is whoever is primary, which sentinels know. The same requirement.
  void follow_primary(const std::string& name, std::vector<redis::PrimaryRoute::Sentinel> sentinels,
                      std::vector<redis::PrimaryRoute::Server> servers, std::optional<sim::Duration> timeout) {
    route_.emplace(*this, session_, name, std::move(sentinels), std::move(servers), timeout);
    redis_.emplace_back(*this, session_, *route_, timeout);
  }

  /// The only server, or the first of several.
  redis::Connection& redis() { return redis_.front(); }
  /// All independent servers, in their order.
  std::span<redis::Connection> redis_masters() { return redis_; }

  /// A value that nobody else in this world uses, and this client never again: "A-1".
  redis::Value unique_token();

  /// Waits by its own clock.
  sim::Wait sleep(sim::DurationRange length);
  sim::Wait sleep(sim::Duration length) { return sleep(sim::DurationRange::exactly(length)); }
  /// Keeps its processor busy: a pause makes it last longer.
  sim::Wait work(sim::DurationRange length) { return sim::Wait(*this, length, sim::TimerKind::work); }

  /// Whether two strings that it holds are the same. Timestamps may be symbolic, so this may fork an exploration.
  bool equal(const redis::Value& a, const redis::Value& b) const;

  /// A named step of its program, at which a planned fault can strike: `co_await client.step("release", …)`. Goes on at
  /// once, or when the pause that struck is over; a crash lets it go on never.
  class Step;
  Step step(std::string_view name, sim::Moment moment);

  redis::Connection::Session& session() { return session_; }

  void start() override { spawn(program_(*this)); }
  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;

 private:
  Program program_;
  redis::Connection::Session session_;
  std::optional<redis::PrimaryRoute> route_;
  std::vector<redis::Connection> redis_;
  std::int64_t tokens_ = 0;
};

class [[nodiscard]] Client::Step {
 public:
  Step(Client& client, std::string_view name, sim::Moment moment);
  bool await_ready() const noexcept { return !struck_; }
  void await_suspend(std::coroutine_handle<> program) { pause_.await_suspend(program); }
  void await_resume() noexcept { pause_.await_resume(); }

 private:
  bool struck_;
  sim::Wait pause_;
};

}  // namespace lockstep::models
