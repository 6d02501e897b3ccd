// Two clients and a pause, in every order and with every delay; then random worlds.

#include <catch2/catch.hpp>

#include "token_lock.hpp"

using lockstep::Story;
using namespace lockstep::sim::literals;

namespace {

const Story kPauses = Story::text(R"(
title = { en = "Two clients, and one of them may pause", zh = "两个客户端，其中一个可能停顿" }
story = { en = "Both want the lock once.", zh = "两者各取一次锁。" }
lesson = { en = "Looking and deleting have to be one step.", zh = "检查和删除必须是一步。" }

[lock]
algorithm = "token-lock"
ttl = "100ms"

[network]
latency = ["1ms", "5ms"]

[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"

[[may]]
kind = "pause"
length = ["0ms", "10s"]
)",
                                  "pauses.toml");

}  // namespace

TEST_CASE("token-lock: no pause makes anybody delete another one's lock") {
  const auto result = lockstep::check({.story = kPauses, .catalogue = tested_lock::catalogue()});
  INFO(result);
  CHECK(result.holds("own-release"));
  CHECK(result.is_complete);
}

TEST_CASE("token-lock: two may believe that they hold it, after a pause that outlives the lease") {
  // SET is carried out at s and answered by s + 5ms; the work takes 20ms from then on; the lease ends at s + 100ms. B's answer comes no earlier
  // than 1ms after that.
  const auto result = lockstep::check({.story = kPauses, .catalogue = tested_lock::catalogue()});
  INFO(result);
  const lockstep::Margin* margin = result["mutual-exclusion"].margin("pause");
  REQUIRE(margin != nullptr);
  CHECK(margin->from == 76_ms);
}

TEST_CASE("token-lock: random worlds do not break it") {
  const auto result =
      lockstep::fuzz({.algorithm = "token-lock", .catalogue = tested_lock::catalogue(), .runs = 10'000});
  INFO(result);
  CHECK(result.findings.empty());
}

// What a failure looks like.

// tidy: fails on purpose
TEST_CASE("token-lock-broken: checked", "[!shouldfail]") {
  const auto result =
      lockstep::check({.story = kPauses, .algorithm = "token-lock-broken", .catalogue = tested_lock::catalogue()});
  INFO(result);
  CHECK(result.holds("own-release"));
}

// tidy: fails on purpose
TEST_CASE("token-lock-broken: fuzzed", "[!shouldfail]") {
  const auto result = lockstep::fuzz(
      {.story = kPauses, .algorithm = "token-lock-broken", .catalogue = tested_lock::catalogue(), .runs = 200'000});
  INFO(result);
  CHECK(result.findings.empty());
}
