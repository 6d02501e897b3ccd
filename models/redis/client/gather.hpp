#pragma once

// One question to several servers at once, and how many said yes.

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/redis/client/connection.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::redis {

/// Which servers answered what, as sets of positions. The order of the answers is not kept.
struct Votes {
  std::uint64_t yes = 0;
  std::uint64_t answered = 0;  ///< yes or no; the outcome at all others is unknown

  std::size_t count() const;
  bool has(std::size_t server) const { return (yes >> server & 1) != 0; }
};

/// A set of all servers, for `Gather`.
constexpr std::uint64_t kEveryServer = ~std::uint64_t{0};

/// `const Votes votes = co_await Gather(servers, whom, command, rule);` sends the command to each server of the set at
/// once, and goes on when all have answered, when `rule.timeout` is over, or when `rule.enough` votes are in or out of
/// reach. A connection that was lost is an answer that will never come. Replies that come later are dropped; what they
/// answer was carried out, so the outcome of the client's operation counts as unknown then, unless it succeeds.
class [[nodiscard]] Gather final : private sim::TimerOwner {
 public:
  static constexpr std::size_t kMaxServers = 64;

  struct Rule {
    bool (*is_yes)(const Reply&);
    std::optional<sim::Duration> timeout = std::nullopt;  ///< for all of them together
    std::optional<std::size_t> enough = std::nullopt;     ///< absent: waits for every answer
  };

  /// Requires: `servers` are connections of one client, at most `kMaxServers`, and outlive this.
  Gather(std::span<Connection> servers, std::uint64_t whom, Command command, Rule rule);
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;
  ~Gather() { withdraw(); }

  bool await_ready() const noexcept { return asked_ == 0; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> program) {
    ask(program, sim::code_frame_of(program));
  }
  Votes await_resume();

 private:
  struct Branch final : sim::ReplyOwner {
    void reply_arrived(sim::Message& reply) override;
    void connection_lost() override;
    Gather* gather = nullptr;
    std::uint64_t bit = 0;
    sim::CallRef call;
  };

  void ask(std::coroutine_handle<> program, const sim::CodeFrame* frame);
  void timer_fired() override;
  void describe(const Branch& arrived) const;
  void settle(Branch& branch);
  bool is_decided() const;
  void finish();
  void withdraw();

  std::span<Connection> servers_;
  Command command_;
  Rule rule_;
  std::uint64_t asked_;
  std::uint64_t open_ = 0;
  Votes votes_;
  std::uint64_t question_ = 0;  ///< tells it apart from others of this client
  sim::TimerRef timer_;
  std::coroutine_handle<> program_;
  std::array<Branch, kMaxServers> branches_;
};

}  // namespace lockstep::models::redis
