// Scripts that calculate with times: what they do on a grid of ticks, where they see digits, against what the explorer finds, where
// they see none.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "models/redis/wire/command.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/oracles/grid.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::script_times_test {
namespace {

using testing::catalogue;

using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;

const std::uint64_t kStories = sim::cases<std::uint64_t>(300, 12);

Exploration explored(const Scenario& scenario) {
  auto result = explore(scenario, catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

/// Client A holds the lock for `hold`; "op" runs a script beside it, and B wants the lock.
Scenario story(std::string_view script, std::string_view more = "") {
  auto scenario = parse(fmt::format(R"(
title = {{ en = "t", zh = "t" }}
story = {{ en = "x", zh = "x" }}
lesson = {{ en = "x", zh = "x" }}
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "80ms"
[[client]]
name = "op"
acquire_at = "60ms"
commands = ["EVAL \"{}\" 1 lock"]
[[client]]
name = "B"
hold = "5ms"
acquire_at = "65ms"
{})",
                                    script, more),
                        "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  return std::get<Scenario>(scenario);
}

checker::Verdict exclusion_with(std::string_view script) {
  return explored(story(script)).property("mutual-exclusion").verdict;
}

/// A number of milliseconds (or what a script makes of them) that depends on what is left of the key "lock", and by what it was multiplied.
struct Quantity {
  std::string text;
  std::int64_t factor = 1;
};

/// Two clients, and one that looks at the lock with a script. All times are whole ticks.
class RandomStory {
 public:
  explicit RandomStory(std::uint64_t seed) : random_(sim::combine64(0x74696d65, seed)) {
    uses_seconds_ = random_.one_in(4);
    tick_ = uses_seconds_ ? 250_ms : 1_ms;
    Scenario& s = scenario;
    s.file = s.id = "times-" + std::to_string(seed);
    s.lock.algorithm = "set-nx-px-lua";
    s.lock.parameters.emplace("ttl", ticks(3, 7));
    s.network.latency = DurationRange::exactly(tick_);
    if (random_.one_in(3)) s.network.latency.hi = tick_ * 2;
    s.servers.push_back({.name = "redis", .clock = {}, .latency = {}});
    for (const char* name : {"A", "B"}) {
      ClientSpec client;
      client.name = name;
      client.acquire_at = DurationRange::exactly(client.name == "A" ? ticks(0, 1) : ticks(2, 8));
      if (random_.one_in(2)) client.acquire_at.hi += ticks(1, 2);
      client.hold = DurationRange::exactly(ticks(1, 4));
      client.attempts = 1;
      s.clients.push_back(client);
    }
    ClientSpec looks;
    looks.name = "op";
    looks.acquire_at = DurationRange::exactly(ticks(1, 5));
    if (random_.one_in(2)) looks.acquire_at.hi += ticks(1, 3);
    if (random_.one_in(3)) add(looks, "redis.call('SET', 'stamp', " + now() + ")");
    has_stamp_ = !looks.commands.empty();
    script = this->text();
    add(looks, script);
    s.clients.push_back(looks);
    MaySpec pause;
    pause.length = {0_ms, ticks(2, 6)};
    pause.who = {"A"};
    s.may.push_back(pause);
  }

  Scenario scenario;
  std::string script;
  Duration tick() const { return tick_; }

 private:
  Duration ticks(std::int64_t lo, std::int64_t hi) { return tick_ * random_.between(lo, hi); }
  static void add(ClientSpec& client, const std::string& script) {
    client.commands.push_back({models::redis::Command{"EVAL", models::Value(script), 1, "lock"}, {}});
  }
  std::string one_of(std::initializer_list<std::string_view> texts) {
    return std::string(texts.begin()[random_.below(texts.size())]);
  }

  std::string now() {
    return one_of(
        {"(function() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end)()",
         "(function() local t = redis.call('TIME') return math.floor((t[1] * 1000000 + t[2]) / 1000) end)()"});
  }

  Quantity quantity() {
    const std::string pttl = "redis.call('PTTL', KEYS[1])";
    switch (random_.below(uses_seconds_ ? 14 : 12)) {
      case 0: return {fmt::format("({} + {})", pttl, in_ms(ticks(0, 2)))};
      case 1: return {fmt::format("({} - {})", pttl, in_ms(ticks(0, 2)))};
      case 2: return {fmt::format("math.max({}, {})", pttl, in_ms(ticks(1, 3)))};
      case 3: return {fmt::format("math.min({}, {})", pttl, in_ms(ticks(2, 5)))};
      case 4: return {fmt::format("math.floor({} / 2) * 2", pttl)};
      case 5: return {fmt::format("({} - {})", in_ms(tick_count(1) * 10), pttl)};
      case 6: return {fmt::format("({} * 1000)", pttl), 1000};
      case 7: return {fmt::format("(redis.call('PEXPIRETIME', KEYS[1]) - {})", now())};
      case 8: return {fmt::format("tonumber({})", pttl)};
      case 9: return {has_stamp_ ? fmt::format("({} - tonumber(redis.call('GET', 'stamp')))", now()) : pttl};
      case 10: return {fmt::format("math.ceil({} / 3) * 3", pttl)};
      case 11: return {pttl};
      case 12: return {"redis.call('TTL', KEYS[1]) * 1000"};
      default: return {"math.floor(" + pttl + " / 1000) * 1000"};
    }
  }
  Duration tick_count(std::int64_t n) const { return tick_ * n; }
  static std::int64_t in_ms(Duration d) { return d.floor_ms(); }

  std::string condition() {
    const Quantity q = quantity();
    std::int64_t limit = in_ms(ticks(0, 6)) * q.factor;
    if (random_.one_in(6)) limit += random_.below(2) == 0 ? 1 : -1;
    const std::string sign = one_of({"<", "<=", ">", ">=", "==", "~="});
    if (random_.one_in(3)) return fmt::format("{} {} {}", limit, sign, q.text);
    return fmt::format("{} {} {}", q.text, sign, limit);
  }

  std::string action() {
    return one_of(
        {"redis.call('DEL', KEYS[1])", "redis.call('DEL', KEYS[1])",
         "redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) + " + std::to_string(in_ms(ticks(1, 3))) + ")",
         "redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]) - " + std::to_string(in_ms(ticks(1, 3))) + ")",
         "redis.call('SET', KEYS[1], 'op', 'XX', 'PX', math.max(redis.call('PTTL', KEYS[1]), 1) + 1)",
         "redis.call('PEXPIRE', KEYS[1], " + std::to_string(in_ms(ticks(1, 4))) + ")"});
  }

  std::string text() {
    const std::string first = condition();
    const std::string all =
        random_.one_in(3) ? fmt::format("{} {} {}", first, one_of({"and", "or"}), condition()) : first;
    return fmt::format("if redis.call('EXISTS', KEYS[1]) == 1 and ({}) then {} end return 1", all, action());
  }

  sim::Random random_;
  bool uses_seconds_ = false;
  bool has_stamp_ = false;
  Duration tick_;
};

}  // namespace

TEST_CASE("a script that looks how much of a lease is left takes it away in an exploration, too") {
  // At 61ms the script finds 40ms of the lease of 100ms that began at 1ms.
  CHECK(exclusion_with("if redis.call('PTTL',KEYS[1]) < 50 then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::violated);
  CHECK(exclusion_with("if redis.call('PTTL',KEYS[1]) < 40 then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::holds);
  CHECK(exclusion_with("if redis.call('PTTL',KEYS[1]) <= 40 then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::violated);
  CHECK(exclusion_with("if redis.call('PTTL',KEYS[1]) == 40 then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::violated);
  CHECK(exclusion_with("if redis.call('PTTL',KEYS[1]) ~= 40 then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::holds);
  CHECK(exclusion_with("if 41 > redis.call('PTTL',KEYS[1]) then return redis.call('DEL',KEYS[1]) end return 0") ==
        checker::Verdict::violated);
  CHECK(exclusion_with("local p = redis.call('PTTL',KEYS[1]) redis.call('PEXPIRE', KEYS[1], p - 36) return p") ==
        checker::Verdict::violated);
  CHECK(exclusion_with("local p = redis.call('PTTL',KEYS[1]) redis.call('PEXPIRE', KEYS[1], p + 36) return p") ==
        checker::Verdict::holds);
}

TEST_CASE("where the digits are needed nothing holds, and the script's line says why") {
  for (const std::string_view script :
       {"local p = redis.call('PTTL',KEYS[1])\\nif p .. '' == '39' then return redis.call('DEL',KEYS[1]) end return 0",
        "local p = redis.call('PTTL',KEYS[1])\\nif p % 7 == 3 then return redis.call('DEL',KEYS[1]) end return 0",
        "local p = redis.call('PTTL',KEYS[1])\\nlocal ok = pcall(function() return #tostring(p) end) return 0",
        "local p = redis.call('PTTL',KEYS[1])\\nredis.call('SET','x',p) return 0",
        "local p = redis.call('PTTL',KEYS[1])\\nfor i = 1, p do redis.call('DEL',KEYS[1]) end return 0",
        "local p = redis.call('PTTL',KEYS[1])\\nif ({[40] = 1})[p] then redis.call('DEL',KEYS[1]) end return 0"}) {
    INFO(script);
    const Exploration result = explored(story(script));
    CHECK(result.counts.complete);
    for (const ExploredProperty& property : result.properties) {
      CHECK(property.verdict != checker::Verdict::holds);
      if (property.verdict == checker::Verdict::violated) continue;
      const bool is_asked = property.why.find("a script needs the digits of a time") != std::string::npos;
      const bool is_open = is_asked || property.why.find("story") != std::string::npos;
      INFO(property.name << ": " << property.why);
      CHECK(is_open);
      if (property.name != "mutual-exclusion") continue;
      const bool says_line =
          property.why.find("line 2") != std::string::npos || property.why.find("script:2:") != std::string::npos;
      CHECK(says_line);
      CHECK(property.why.find("(story.toml:") != std::string::npos);
    }
  }
}

TEST_CASE("a violation that needs no digits is found beside a script that does") {
  const Exploration result =
      explored(story("local p = redis.call('PTTL',KEYS[1]) redis.call('DEL',KEYS[1]) return 'left: ' .. p"));
  CHECK(result.property("mutual-exclusion").verdict == checker::Verdict::violated);
  CHECK(result.property("recoverable").verdict == checker::Verdict::unknown);
}

TEST_CASE("scripts that calculate with times break in the explorer what they break on a grid, and at the same pause") {
  std::size_t broken = 0;
  std::size_t compared = 0;
  std::size_t holding = 0;
  for (std::uint64_t seed = 0; seed < kStories; ++seed) {
    const RandomStory random(seed);
    const Scenario& scenario = random.scenario;
    INFO("story " << seed << ", lease " << scenario.lock.parameters.size() << ": " << random.script);
    auto brute = explore_grid(scenario, catalogue(), random.tick(), {.max_traces = 3'000});
    if (const auto* problem = std::get_if<Diagnostic>(&brute)) FAIL(problem->to_string());
    const Exploration& grid = std::get<Exploration>(brute);
    const Exploration exact_search = explored(scenario);
    const ExploredProperty& exact = exact_search.property("mutual-exclusion");
    const ExploredProperty& coarse = grid.property("mutual-exclusion");
    if (exact.verdict == checker::Verdict::unknown) {
      INFO(exact.why);
      CHECK(false);
      continue;
    }
    const Duration most = scenario.may.front().length.hi;
    if (coarse.verdict != checker::Verdict::violated) {
      if (!grid.counts.complete) continue;
      ++compared;
      ++holding;
      // Strict inequalities want a tick each, which a short range may not have; so the grid alone may hold.
      if (exact.verdict == checker::Verdict::violated && !exact.thresholds.empty()) {
        INFO(sim::to_string(exact.thresholds.at(0).infimum.value));
        CHECK(most - exact.thresholds.at(0).infimum.value <= random.tick());
      }
      continue;
    }
    ++broken;
    CHECK(exact.verdict == checker::Verdict::violated);
    if (exact.verdict != checker::Verdict::violated || exact.thresholds.empty()) continue;
    const checker::Extent margin = exact.thresholds.at(0).infimum;
    const Duration least = coarse.thresholds.at(0).infimum.value;
    INFO("explorer " << sim::to_string(margin.value) << (margin.attained ? "" : " (not attained)") << ", grid "
                     << sim::to_string(least));
    CHECK((margin.attained ? margin.value <= least : margin.value < least));
    if (!grid.counts.complete) continue;
    ++compared;
    CHECK(least - margin.value <= random.tick());
  }
  WARN(broken << " of " << kStories << " stories broken, " << holding << " holding, " << compared
              << " compared to the end");
  CHECK(broken > kStories / 10);
  CHECK(holding > kStories / 20);
  CHECK(compared > kStories / 6);
}

}  // namespace lockstep::scenarios::script_times_test
