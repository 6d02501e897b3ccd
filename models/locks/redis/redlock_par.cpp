// Redlock that asks all servers at once: an attempt takes one round trip to the slowest server instead of one to each.
// Source: redis.io distlock page, which suggests multiplexing; the six steps are those of redlock-seq.
// Claims: mutual-exclusion among clients that look at their clock, own-release, recoverable.
// Breaks: f003-2-redlock-par-pause (paused before its write, the owner still believes).

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/redlock.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {
namespace {

constexpr std::array<std::string_view, 2> kWait{"all", "decided"};

class RedlockPar final : public Redlock {
 public:
  explicit RedlockPar(const Parameters& p) : Redlock(p), wait_for_all_(p.choice("wait") == "all") {}

 private:
  /// All at once, with one patience for all of them. Who goes on as soon as the votes are decided still cannot delete
  /// before it has set: both go the same way to each server, first in, first out.
  sim::Task<redis::Votes> ask(Client& client, std::uint64_t servers, redis::Command command, IsYes is_yes,
                              std::optional<std::size_t> enough) const override {
    if (wait_for_all_) enough.reset();
    co_return co_await redis::Gather(redis::servers_of(client), servers, std::move(command),
                                     {.is_yes = is_yes, .timeout = node_timeout(), .enough = enough});
  }

  bool wait_for_all_;
};

}  // namespace

Entry redlock_par() {
  std::vector<ParameterSpec> parameters = redlock_parameters();
  parameters.push_back(
      {"wait", std::string("all"), "how long: until all have answered, or only until the votes are decided", kWait});
  return {.id = "redlock-par",
          .summary = "Redlock on independent servers, all asked at once",
          .documents = {"redisson-source", "lock-summary"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .many_nodes = true,
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<RedlockPar>(p); }};
}

}  // namespace lockstep::models::locks
