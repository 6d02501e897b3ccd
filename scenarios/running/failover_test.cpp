// A primary that dies, a replica that lags, and clients that follow: what `[servers] failover` stands for.

#include <catch2/catch.hpp>
#include <string>

#include "scenarios/checking/formula.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::failover_test {
namespace {

using checker::Verdict;
using namespace sim::literals;
using testing::catalogue;
using testing::parsed;

/// 1ms one way; a promotion five seconds after the death; B comes when that is over.
std::string story_with(const std::string& algorithm, const std::string& replication, const std::string& rest) {
  return "[lock]\nalgorithm = \"" + algorithm + "\"\n[servers]\nreplicas = 1\nfailover = \"sentinel\"\n" +
         "[sentinels]\ndown_after = \"5s\"\n[network]\nlatency = \"1ms\"\nreplication = \"" + replication + "\"\n" +
         "[[client]]\nname = \"A\"\nhold = \"9s\"\n[[client]]\nname = \"B\"\nacquire_at = \"6s\"\nhold = \"10ms\"\n" +
         rest;
}

const std::string kCrash = "[[fault]]\nkind = \"crash\"\nserver = \"redis1\"\nat = \"15ms\"\n";

Outcome outcome_of(const std::string& text) {
  auto result = run(parsed(text), catalogue(), {.trace = true});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Outcome>(std::move(result));
}

const checker::Finding& finding_in(const Outcome& outcome, std::string_view property) {
  for (const Judgement& judgement : outcome.properties) {
    if (judgement.finding.property == property) return judgement.finding;
  }
  FAIL("no " << property);
  return outcome.properties.front().finding;
}

Exploration explored(const Scenario& story) {
  auto result = explore(story, catalogue(), {});
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

}  // namespace

// A's SET is carried out at 1ms. With a lag of 20ms it dies with the primary at 15ms; B gets the lock at 6002ms, since
// it has heard of the promotion by then: it asks (1ms there, 1ms back), and takes it (1ms, 1ms).
TEST_CASE("failover: what has not left its primary is forgotten, and the promoted replica gives the lock away") {
  for (const char* algorithm : {"set-nx-px-lua", "redisson-lock", "redisson-spin", "lua-reentrant-hash"}) {
    INFO(algorithm);
    const Outcome outcome = outcome_of(story_with(algorithm, "20ms", kCrash));
    const checker::Finding& finding = finding_in(outcome, "mutual-exclusion");
    CHECK(finding.verdict == Verdict::violated);
    REQUIRE(finding.at);
    CHECK(finding.at->offset() >= 6004_ms);
    CHECK(finding.at->offset() <= 6010_ms);
  }
}

TEST_CASE("failover: what has left its primary is known to the promoted replica") {
  for (const char* algorithm : {"set-nx-px-lua", "redisson-lock"}) {
    INFO(algorithm);
    CHECK(finding_in(outcome_of(story_with(algorithm, "10ms", kCrash)), "mutual-exclusion").verdict == Verdict::holds);
    CHECK(finding_in(outcome_of(story_with(algorithm, "20ms", "")), "mutual-exclusion").verdict == Verdict::holds);
  }
}

// B waits for a message of the first primary. When the second is promoted it subscribes there, and hears of A's release.
TEST_CASE("failover: a waiter's subscription follows the primary") {
  const std::string waiting =
      "[lock]\nalgorithm = \"redisson-lock\"\nwait = \"30s\"\n[servers]\nreplicas = 1\nfailover = \"sentinel\"\n"
      "[sentinels]\ndown_after = \"5s\"\n[network]\nlatency = \"1ms\"\nreplication = \"10ms\"\n"
      "[[client]]\nname = \"A\"\nhold = \"9s\"\n[[client]]\nname = \"B\"\nacquire_at = \"100ms\"\nhold = \"10ms\"\n"
      "[[fault]]\nkind = \"crash\"\nserver = \"redis1\"\nat = \"200ms\"\n";
  const Outcome outcome = outcome_of(waiting);
  CHECK(finding_in(outcome, "mutual-exclusion").verdict == Verdict::holds);
  bool has_b = false;
  for (const sim::Operation& operation : outcome.history.operations) {
    const bool is_acquire = operation.function == "acquire" && operation.phase == sim::Phase::ok;
    has_b = has_b || (is_acquire && operation.process.index == 1);
  }
  CHECK(has_b);
}

// A's SET is carried out at t, and the primary may die then. A believes from t + 5ms on at the latest. The promoter finds
// out at t + 5s; its command takes 1ms there and 1ms back, and its news 1ms; B, that begins then, asks it (2ms), and gets
// the lock (2ms): at t + 5007ms at the earliest. So both hold it if A works more than 5002ms.
TEST_CASE("failover: check finds the work from which on two hold the lock, as derived on paper") {
  const std::string may =
      "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"10s\"\n[servers]\nreplicas = 1\nfailover = \"sentinel\"\n"
      "[sentinels]\ndown_after = \"5s\"\n[network]\nlatency = [\"1ms\", \"5ms\"]\nreplication = [\"1ms\", \"1s\"]\n"
      "[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0s\", \"10s\"]\nhold = \"8s\"\n[[may]]\nkind = "
      "\"failover\"\n";
  const Scenario story = parsed(may);
  const Formulas found = formulas_of(story, catalogue(), "mutual-exclusion", {.only_borders = true});
  REQUIRE(found.borders.size() == 1);
  CHECK(found.borders.front().length == "hold");
  CHECK(found.borders.front().at == checker::Extent{5002_ms, false});

  const Exploration exploration = explored(story);
  CHECK(exploration.counts.complete);
  CHECK(exploration.property("mutual-exclusion").verdict == Verdict::violated);
  Scenario safe = story;
  safe.may.clear();
  CHECK(explored(safe).property("mutual-exclusion").verdict == Verdict::holds);
}

// F001-10 in its shortest form: the renewed lease of Redisson's lock, and nothing but what is usual.
TEST_CASE("failover: five lines show that a failover forgets a lock") {
  const std::string shortest =
      "title = \"A failover forgets the lock\"\n"
      "lock = { algorithm = \"redisson-lock\" }\n"
      "servers = { replicas = 1, failover = \"sentinel\" }\n"
      "client = [{ name = [\"A\", \"B\"], acquire_at = [\"0s\", \"40s\"], hold = \"40s\" }]\n"
      "may = [{ kind = \"failover\" }]\n";
  const Scenario story = parsed(shortest);
  const Exploration exploration = explored(story);
  CHECK(exploration.property("mutual-exclusion").verdict == Verdict::violated);
  REQUIRE(exploration.property("mutual-exclusion").witness);
  // What it is short for says the same.
  auto again = parse(to_toml(story), story.file, catalogue());
  REQUIRE(std::holds_alternative<Scenario>(again));
  CHECK(to_toml(std::get<Scenario>(again)) == to_toml(story));
}

TEST_CASE("failover: what it cannot stand for is refused, with a remedy") {
  const auto message_of = [](const std::string& text) {
    auto result = parse("title = \"t\"\n" + text, "story.toml", catalogue());
    const auto* problem = std::get_if<Diagnostic>(&result);
    return problem == nullptr ? std::string("none") : problem->to_string();
  };
  const auto refuses = [&](const std::string& text, const std::string& words) {
    INFO(text);
    CHECK_THAT(message_of(text), Catch::Contains(words));
  };
  const std::string lock = "[lock]\nalgorithm = \"set-nx-px-lua\"\n[[client]]\nname = \"A\"\n";
  const std::string may = "[[may]]\nkind = \"failover\"\n";
  refuses(lock + may, "nobody watches the primary: add [servers] with replicas = 1");
  refuses(lock + "[servers]\nfailover = \"sentinel\"\n", "nobody can take the primary's place: add replicas = 1");
  refuses(lock + "[servers]\ncount = 3\nreplicas = 1\n", "several independent servers");
  const std::string servers = "[servers]\nreplicas = 1\nfailover = \"sentinel\"\n";
  refuses(lock + servers + may + "restart_after = \"1s\"\n", "a failover is the death of the primary, for good");
  refuses("[lock]\nalgorithm = \"redlock-seq\"\n[[client]]\nname = \"A\"\n" + servers,
          "wants several independent servers");
  refuses("[lock]\nalgorithm = \"etcd-mutex\"\n[[client]]\nname = \"A\"\n" + servers,
          "unknown key \"replicas\" in [servers]");
}

}  // namespace lockstep::scenarios::failover_test
