// `lock = { … }` of a [[client]]: parameters of the algorithm of which a client has values of its own.

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenarios/comparing/comparison.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/alike.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::own_parameters_test {
namespace {

using testing::catalogue;

using namespace sim::literals;
using checker::Verdict;

Scenario story_of(const std::string& text) {
  auto loaded = parse("title = \"t\"\n" + text, "own.toml", catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

std::string refusal(const std::string& text) {
  const auto loaded = parse("title = \"t\"\n" + text, "x", catalogue());
  const auto* trouble = std::get_if<Diagnostic>(&loaded);
  return trouble == nullptr ? "(a scenario)" : trouble->to_string();
}

std::string lock_of(const std::string& algorithm, const std::string& more = "") {
  return "[lock]\nalgorithm = \"" + algorithm + "\"\n" + more;
}

/// A has the lock first; B comes at any time in `from` and tries once.
std::string two(const std::string& a, const std::string& b, const std::string& from = "[\"0ms\", \"400ms\"]") {
  return "[[client]]\nname = \"A\"\nhold = \"20ms\"\n" + a + "[[client]]\nname = \"B\"\nacquire_at = " + from +
         "\nhold = \"20ms\"\n" + b;
}

constexpr const char* kPause = "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"10s\"]\n";

Exploration explored(const std::string& text) {
  auto result = explore(story_of(text), catalogue(), {});
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  return std::get<Exploration>(std::move(result));
}

checker::Extent margin(const std::string& text) {
  const Exploration exploration = explored(text);
  const ExploredProperty& property = exploration.property("mutual-exclusion");
  REQUIRE(property.verdict == Verdict::violated);
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().is_exact);
  return property.thresholds.front().infimum;
}

const Judgement& judged(const Outcome& outcome, std::string_view property) {
  return *std::find_if(outcome.properties.begin(), outcome.properties.end(),
                       [&](const Judgement& one) { return one.finding.property == property; });
}

Outcome played(const std::string& text) {
  auto result = run(story_of(text), catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  return std::get<Outcome>(std::move(result));
}

sim::Duration recovery_bound(const std::string& text) {
  const Scenario story = story_of(text);
  sim::DefaultDecisions decisions;
  return Deployment(story, catalogue(), decisions).recovery_bound();
}

}  // namespace

TEST_CASE("own parameters: each client's lease is its own, in run") {
  // A's key is set at 1ms and gone at 51ms, when B's SET comes; A, paused for 40ms, works until 62ms.
  const std::string pause = "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nafter = \"acquire\"\nlength = \"40ms\"\n";
  const std::string lock = lock_of("set-nx-px-lua", "ttl = \"100ms\"\n");
  const auto verdict = [&](const std::string& a, const std::string& b) {
    const Outcome outcome = played(lock + two(a, b, "\"50ms\"") + pause);
    return judged(outcome, "mutual-exclusion").finding.verdict;
  };
  CHECK(verdict("", "") == Verdict::holds);
  CHECK(verdict("lock = { ttl = \"50ms\" }\n", "") == Verdict::violated);
  CHECK(verdict("", "lock = { ttl = \"50ms\" }\n") == Verdict::holds);
  CHECK(verdict("[client.lock]\nttl = \"50ms\"\n", "lock = { ttl = \"70ms\" }\n") == Verdict::violated);
}

TEST_CASE("own parameters: the margin of a pause, by hand, is that of its client's lease") {
  // A's SET is carried out at 1ms; its key lives for T, so B has the lock at T + 2ms at the earliest. A knows at 2ms, works for
  // 20ms and is paused for P: until 22ms + P. So P > T - 20ms.
  const std::string lock = lock_of("set-nx-px-lua", "ttl = \"100ms\"\n");
  CHECK(margin(lock + two("", "") + kPause) == checker::Extent{80_ms, false});
  CHECK(margin(lock + two("lock = { ttl = \"50ms\" }\n", "") + kPause) == checker::Extent{30_ms, false});
  CHECK(margin(lock + two("", "lock = { ttl = \"50ms\" }\n") + kPause) == checker::Extent{80_ms, false});
}

TEST_CASE(
    "own parameters: a timestamp lock goes by the lease that its owner wrote, a semaphore's by that of who asks") {
  const std::string semaphore = lock_of("ria-sem-unfair", "limit = 1\nttl = \"100ms\"\n");
  const auto holds = [&](const std::string& lock, const std::string& a, const std::string& b, const char* property) {
    const Outcome outcome =
        played(lock + two(a, b, "\"60ms\"") +
               "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nafter = \"acquire\"\nlength = \"60ms\"\n");
    return judged(outcome, property).finding.verdict == Verdict::holds;
  };
  const std::string short_lease = "lock = { ttl = \"50ms\" }\n";
  const std::string stamp = lock_of("setnx-ts-del-setnx", "ttl = \"100ms\"\n");
  CHECK_FALSE(holds(stamp, short_lease, "", "mutual-exclusion"));
  CHECK(holds(stamp, "", short_lease, "mutual-exclusion"));
  CHECK(holds(semaphore, short_lease, "", "capacity"));
  CHECK_FALSE(holds(semaphore, "", short_lease, "capacity"));
}

TEST_CASE("own parameters: recoverable waits for the longest lease of all who use the lock") {
  // One server and latency 1ms: 16ms of round trips.
  const std::string lock = lock_of("set-nx-px-lua", "ttl = \"100ms\"\n");
  const std::string longer = "lock = { ttl = \"300ms\" }\n", shorter = "lock = { ttl = \"50ms\" }\n";
  CHECK(recovery_bound(lock + two("", "")) == 116_ms);
  CHECK(recovery_bound(lock + two(longer, "")) == 316_ms);
  CHECK(recovery_bound(lock + two(shorter, longer)) == 316_ms);
  CHECK(recovery_bound(lock + two(shorter, "")) == 116_ms);
  CHECK(recovery_bound(lock + two(shorter, shorter)) == 66_ms);
  // The probe sees old places with the eyes of [lock].
  CHECK(recovery_bound(lock_of("ria-sem-unfair", "ttl = \"100ms\"\n") + two(shorter, shorter)) == 116_ms);
  const Outcome crashed =
      played(lock + two(longer, "", "\"1s\"") + "[[fault]]\nkind = \"crash\"\nclient = \"A\"\nafter = \"acquire\"\n");
  CHECK(judged(crashed, "recoverable").finding.verdict == Verdict::holds);
}

TEST_CASE("own parameters: clients with other leases are not alike") {
  const std::string lock = lock_of("set-nx-px-lua");
  const std::string b = "[[client]]\nname = [\"B\", \"C\"]\nlock = { ttl = \"50ms\" }\n";
  const auto alike = [&](const std::string& a) {
    return alike_names(story_of(lock + "[[client]]\nname = \"A\"\n" + a + b), catalogue());
  };
  using Groups = std::vector<std::vector<std::string>>;
  CHECK(alike("") == Groups{{"B", "C"}});
  CHECK(alike("lock = { ttl = \"60ms\" }\n") == Groups{{"B", "C"}});
  CHECK(alike("lock = { ttl = \"50ms\" }\n") == Groups{{"A", "B", "C"}});
}

TEST_CASE("own parameters: they are written as they are read, with those of threads") {
  const Scenario story = story_of(lock_of("redisson-lock", "wait = \"1s\"\n") +
                                  "[[client]]\nname = \"A\"\nlock = { lease = \"50ms\", passes_on_wakeups = true }\n"
                                  "threads = [{ hold = \"5ms\" }, {}]\n[[client]]\nname = \"B\"\n");
  CHECK(story.clients[0].threads[1].parameters == story.clients[0].parameters);
  CHECK(story.clients[0].parameters.size() == 2);
  CHECK(story.clients[1].parameters.empty());
  auto again = parse(to_toml(story), "own.toml", catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&again)) FAIL(trouble->to_string() << to_toml(story));
  CHECK(without_positions(std::get<Scenario>(again)) == without_positions(story));
}

TEST_CASE("own parameters: compare keeps those that another algorithm has as well, and of the same kind") {
  // wait: a duration here, a number of replicas there, a choice in a third.
  const Scenario story =
      story_of(lock_of("redisson-lock", "wait = \"1s\"\n") + two("lock = { wait = \"10ms\" }\n", "threads = 2\n"));
  CompareOptions options;
  options.algorithms = {"redisson-lock", "master-replica-lock", "redlock-par"};
  options.clients = {2};
  options.length = 100_ms;
  const auto result = compare_costs(story, catalogue(), options);
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  CHECK(std::get<std::vector<ComparedRun>>(result).size() == 3);
}

TEST_CASE("own parameters: bad input is refused where it stands") {
  const std::string lock = lock_of("redisson-multilock");  // lines 2 and 3
  const auto client = [&](const std::string& line) {
    return refusal(lock + "[[client]]\nname = \"A\"\n" + line + "\n");
  };
  CHECK(client("lock = { leese = \"5ms\" }") ==
        "x:6:10: unknown key \"leese\" in \"lock\" of a [[client]] with redisson-multilock: did you mean \"lease\"?");
  CHECK(client("lock = { lease = 5 }") ==
        "x:6:18: lease: expected a duration such as \"5ms\" (units: ns, us, ms, s, min), not 5");
  CHECK(client("lock = \"stock\"") ==
        "x:6:8: lock: expected a table such as { lease = … } with parameters of the algorithm; which locks it takes is "
        "\"locks\", not \"stock\"");
  CHECK(client("lock = { algorithm = \"x\", key = \"k\", attempts = 3 }") ==
        "x:6:10: algorithm: all clients use the algorithm of [lock]; only its parameters can differ\n"
        "x:6:27: key: write locks = [\"…\"] in the [[client]] itself, beside \"lock\"\n"
        "x:6:38: attempts: write it in the [[client]] itself, beside \"lock\"");
  CHECK(client("lock = { parts = 3, opposite_orders = true }") ==
        "x:6:10: parts: all clients have the same, for it is what the lock consists of: set it in [lock]\n"
        "x:6:21: opposite_orders: all clients have the same, for it says itself which of the clients do so: set it in "
        "[lock]");
  CHECK(
      client("commands = [\"PING\"]\nlock = { lease = \"5ms\" }").starts_with("x:7:1: \"lock\" says nothing about a "));
  CHECK(refusal(lock_of("setnx-del") + "[[client]]\nname = \"A\"\nlock = { ttl = \"5ms\" }\n") ==
        "x:6:8: lock: a client cannot have values of its own for any parameter of setnx-del");
  CHECK(refusal(lock_of("redisson-semaphore") + "[[client]]\nname = \"A\"\nlock = { limit = 2 }\n") ==
        "x:6:10: limit: all clients have the same, for the places are the lock's: set it in [lock]");
  // The algorithm may stand below its clients.
  CHECK(refusal("[[client]]\nname = \"A\"\nlock = { ttl = \"5ms\" }\n" + lock_of("set-nx-px-lua")) == "(a scenario)");
}

}  // namespace lockstep::scenarios::own_parameters_test
