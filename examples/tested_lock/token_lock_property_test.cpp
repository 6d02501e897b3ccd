// The same for all leases and works, as properties: RapidCheck draws the story and makes it small, Lockstep the runs in it.

#include <string>

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include "token_lock.hpp"

using lockstep::Story;

namespace {

struct Times {
  int ttl_ms = 0;
  int work_ms = 0;
};

/// A lease, and work that fits into it if nothing goes wrong.
Times some_times() {
  const int ttl = *rc::gen::inRange(50, 500);
  return {ttl, *rc::gen::inRange(1, ttl - 20)};
}

Story two_clients(Times times) {
  return Story::text(R"(
title = { en = "Two clients, and one of them may pause", zh = "两个客户端，其中一个可能停顿" }
story = { en = "Both want the lock once.", zh = "两者各取一次锁。" }
lesson = { en = "A lease runs out while somebody looks.", zh = "检查时租约到期。" }
[lock]
algorithm = "token-lock"
ttl = ")" + std::to_string(times.ttl_ms) +
                     R"(ms"
[network]
latency = ["1ms", "5ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = ")" + std::to_string(times.work_ms) +
                     R"(ms"
[[may]]
kind = "pause"
length = ["0ms", "2s"]
)");
}

}  // namespace

TEST_CASE("token-lock: whatever the lease and the work") {
  rc::prop("nobody deletes another one's lock, in any order", [] {
    const auto result = lockstep::check({.story = two_clients(some_times()), .catalogue = tested_lock::catalogue()});
    RC_LOG() << result;
    RC_ASSERT(result.holds("own-release"));
  });

  rc::prop("random runs break nothing", [](std::uint64_t seed) {
    const auto result = lockstep::fuzz(
        {.story = two_clients(some_times()), .catalogue = tested_lock::catalogue(), .runs = 500, .seed = seed});
    RC_LOG() << result;
    RC_ASSERT(result.findings.empty());
  });
}

// tidy: fails on purpose
TEST_CASE("token-lock-broken: whatever the lease and the work", "[!shouldfail]") {
  rc::prop("random runs break nothing", [] {
    const auto result = lockstep::fuzz({.story = two_clients(some_times()),
                                        .algorithm = "token-lock-broken",
                                        .catalogue = tested_lock::catalogue(),
                                        .runs = 10'000});
    RC_LOG() << result;
    RC_ASSERT(result.findings.empty());
  });
}
