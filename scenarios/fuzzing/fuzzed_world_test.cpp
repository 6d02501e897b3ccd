// Worlds of campaigns are stories that a file could tell: what the loader would refuse, nobody could replay.

#include "scenarios/fuzzing/fuzzed_world.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <variant>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::fuzzed_world_test {
namespace {

using testing::catalogue;
using testing::parsed;

constexpr std::string_view kStory = R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
timeout = "50ms"
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
)";

}  // namespace

TEST_CASE("made-up worlds: the file that says them is read back as they are, for every algorithm") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(40, 4);
  std::set<std::size_t> clients;
  std::set<std::size_t> servers;
  std::set<MaySpec::Kind> kinds;
  std::size_t with_sentinels = 0;
  for (const models::locks::Entry& entry : catalogue().entries()) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const Scenario world = generated_world(entry, seed);
      CHECK(world == generated_world(entry, seed));
      const std::string text = to_toml(world);
      auto read = parse(text, world.file, catalogue());
      if (const auto* problem = std::get_if<Diagnostic>(&read)) FAIL(problem->to_string() << "\n" << text);
      Scenario back = without_positions(std::get<Scenario>(std::move(read)));
      back.id = world.id;
      back.file = world.file;
      if (back != without_positions(world)) FAIL("reads differently:\n" << text << "\n---\n" << to_toml(back));
      clients.insert(world.clients.size());
      servers.insert(world.servers.size());
      with_sentinels += world.sentinels ? 1 : 0;
      for (const MaySpec& may : world.may) kinds.insert(may.kind);
    }
  }
  CHECK(*clients.begin() == 2);
  CHECK(*clients.rbegin() > 40);
  CHECK(*servers.begin() == 1);
  CHECK(*servers.rbegin() == 9);
  CHECK(kinds.size() == 7);
  CHECK(with_sentinels > 0);
}

TEST_CASE("a file's world: its [[may]] and nothing else; without any, what its faults show, and more") {
  const std::string pause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";
  const std::string struck = "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nat = \"5ms\"\nlength = \"30ms\"\n";
  const Scenario allowing = parsed(std::string(kStory) + struck + pause);
  CHECK(is_only_world(allowing, false));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Scenario world = fuzzed_world(allowing, seed, false);
    CHECK(world.may == allowing.may);
    CHECK(world.faults.empty());
  }
  const Scenario silent = parsed(std::string(kStory) + struck);
  CHECK_FALSE(is_only_world(silent, false));
  CHECK(fuzzed_world(silent, 7, true).may.empty());
  bool has_more = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Scenario world = fuzzed_world(silent, seed, false);
    REQUIRE_FALSE(world.may.empty());
    CHECK(world.may.front().kind == MaySpec::Kind::pause);
    CHECK(world.may.front().who == std::vector<std::string>{"A"});
    CHECK(world.may.front().length.hi == sim::Duration::milliseconds(60));
    has_more = has_more || world.may.size() > 1;
    const auto read = parse(to_toml(world), world.file, catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&read)) FAIL(problem->to_string() << "\n" << to_toml(world));
  }
  CHECK(has_more);
}

TEST_CASE("a file's world without a timeout: whoever gives up has waited for longer than an undisturbed answer takes") {
  // Of a cluster too, whose followers ask the leader, and whose leader asks the others: with the 5 ms that one server
  // was given, no client ever got a session by way of a follower, and that the lock cannot be had was a finding.
  std::size_t with_timeout = 0;
  for (const char* file : {"consul/consul-stale-read-fixed.toml", "consul/consul-leader-dies.toml",
                           "etcd/etcd-leader-dies.toml", "zookeeper/zk-follower-lags.toml"}) {
    auto loaded = load(in_tree("scenarios/stories") + "/" + file, catalogue());
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    Scenario told = std::get<Scenario>(std::move(loaded));
    told.network.timeout.reset();
    for (std::uint64_t seed = 0; seed < sim::cases<std::uint64_t>(20, 4); ++seed) {
      Scenario world = fuzzed_world(told, seed, false);
      if (!world.network.timeout) continue;
      ++with_timeout;
      INFO(file << " " << sim::to_string(*world.network.timeout));
      world.may.clear();
      world.faults.clear();
      const auto result = run(world, catalogue());
      REQUIRE(std::holds_alternative<Outcome>(result));
      for (const Judgement& judgement : std::get<Outcome>(result).properties) {
        if (judgement.finding.property == "recoverable") CHECK(judgement.finding.verdict == checker::Verdict::holds);
      }
    }
  }
  CHECK(with_timeout > 10);
}

}  // namespace lockstep::scenarios::fuzzed_world_test
