// The seam for servers: a second kind of server, with a lock and stories, that is known to nothing but its own files and
// the catalogue that is handed to the program. Every command takes the way that it takes for Redis.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "confirm/real_server.hpp"
#include "models/testing/registers/cas_lock.hpp"
#include "models/testing/registers/register_kind.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/fuzzing/fuzzed_world.hpp"
#include "scenarios/matrix/matrix.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/scaled.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::server_kinds_test {
namespace {

using namespace sim::literals;
using Catch::Matchers::Contains;
using checker::Verdict;
using models::locks::Catalogue;
using scenarios::Diagnostic;
using scenarios::Scenario;

const Catalogue& with_registers() {
  static const Catalogue catalogue = [] {
    Catalogue all = Catalogue::built_in();
    all.add(models::locks::cas_lock());
    return all;
  }();
  return catalogue;
}

Called called_with_registers(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const int exit = run(args, out, err, with_registers(), {});
  return {exit, out.str(), err.str()};
}

const std::string kFolder = in_tree("models/testing/registers");
const std::string kHolds = kFolder + "/cas-lock-holds.toml";
const std::string kPause = kFolder + "/cas-lock-pause.toml";

Scenario story_of(const std::string& text) {
  auto read = scenarios::parse(text, "registers.toml", with_registers());
  if (const auto* trouble = std::get_if<Diagnostic>(&read)) FAIL(trouble->to_string() << "\n" << text);
  return std::get<Scenario>(std::move(read));
}

std::string refusal(const std::string& text) {
  const auto read = scenarios::parse("title = \"t\"\n" + text, "t.toml", with_registers());
  const auto* trouble = std::get_if<Diagnostic>(&read);
  return trouble != nullptr ? trouble->to_string() : "none";
}

/// Three that act as one, as an ensemble does, and that nobody explores. (A client asks the first.)
class TrioKind final : public models::ServerKind {
 public:
  std::string_view name() const override { return "trio"; }
  std::string_view request() const override { return models::register_kind().request(); }
  std::vector<std::string_view> requests() const override { return models::register_kind().requests(); }
  /// No jumps.
  std::span<const sim::FaultKind> implements() const override {
    using enum sim::FaultKind;
    static constexpr std::array kFaults{pause, crash, lose, skew, delay};
    return kFaults;
  }
  bool reads_wall_clock() const override { return true; }
  bool are_independent(std::span<const models::ServerSpec>) const override { return false; }
  bool keep_one_state(std::span<const models::ServerSpec>) const override { return true; }
  std::size_t usual_count() const override { return 3; }
  std::string_view not_explored(std::span<const models::ServerSpec>, const models::Settings&) const override {
    return "they beat for ever";
  }
  std::unique_ptr<models::Servers> make(const models::ServersSetup& setup) const override {
    return models::register_kind().make(setup);
  }
};

const Catalogue& with_trio() {
  static const TrioKind trio;
  static const Catalogue catalogue = [] {
    Catalogue all = Catalogue::built_in();
    models::locks::Entry lock = models::locks::cas_lock();
    lock.id = "trio-lock";
    lock.server_kind = &trio;
    all.add(std::move(lock));
    return all;
  }();
  return catalogue;
}

scenarios::ExploredProperty explored(const Scenario& story, std::string_view property) {
  auto result = scenarios::explore(story, with_registers(), {});
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  const auto& exploration = std::get<scenarios::Exploration>(result);
  CHECK(exploration.counts.complete);
  return exploration.property(property);
}

constexpr std::string_view kTwo = R"(title = "t"
[network]
latency = "1ms"
timeout = "20ms"
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "100ms"]
hold = "10ms"
)";

}  // namespace

TEST_CASE("a second kind of server: its stories run, and are explored, as their files expect") {
  for (const char* command : {"run", "check"}) {
    const Called result = called_with_registers({command, kFolder});
    INFO(command << "\n" << result.out << result.err);
    CHECK(result.exit == 0);
  }
}

// The server swaps when A's request arrives, at a, and counts 50ms. A knows by a + 4ms at the latest, works for 10ms and
// whatever it is paused for. B's request can arrive as the lease ends, at a + 50ms, and its answer 1ms later. Both
// believe to hold the lock if a + 4ms + 10ms + pause > a + 51ms.
TEST_CASE("a second kind of server: the margin is that of the paper, and its witness is a story that run breaks") {
  auto loaded = scenarios::load(kPause, with_registers());
  const auto property = explored(std::get<Scenario>(loaded), "mutual-exclusion");
  REQUIRE(property.verdict == Verdict::violated);
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().is_exact);
  CHECK(property.thresholds.front().infimum == checker::Extent(37_ms));
  REQUIRE(property.witness);
  const Scenario again = story_of(to_toml(*property.witness));
  const auto outcome = scenarios::run(again, with_registers());
  REQUIRE(std::holds_alternative<scenarios::Outcome>(outcome));
  CHECK(std::get<scenarios::Outcome>(outcome).as_expected);
}

// The same sum with a server that counts 60ms, however that is said; and twice as long in a time that is twice as slow.
TEST_CASE("a second kind of server: what all servers share stands in [servers], with servers that are listed or not") {
  const auto margin = [](const Scenario& story) {
    const auto property = explored(story, "mutual-exclusion");
    REQUIRE(property.thresholds.size() == 1);
    return property.thresholds.front().infimum;
  };
  const std::string lock =
      "[lock]\nalgorithm = \"cas-lock\"\nlease = \"50ms\"\n[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";
  for (const char* servers : {"[servers]\ngrace = \"10ms\"\n", "[servers]\ncount = 2\ngrace = \"10ms\"\n",
                              "[servers]\ngrace = \"10ms\"\n[[server]]\nname = \"x\"\n",
                              "[[server]]\nname = \"x\"\n[servers]\ngrace = \"10ms\"\n"}) {
    INFO(servers);
    const Scenario story = story_of(fmt::format("{}{}{}", kTwo, lock, servers));
    CHECK(without_positions(story_of(to_toml(story))) == without_positions(story));
    // a + 1ms + 10ms + pause > a + 60ms + 1ms
    CHECK(margin(story) == checker::Extent(50_ms));
    CHECK(margin(scaled(story, with_registers(), {2, 1})) == checker::Extent(100_ms));
  }
  CHECK_THAT(refusal("[lock]\nalgorithm = \"cas-lock\"\n[[client]]\nname = \"A\"\n[servers]\ncount = 2\n[[server]]\n"),
             Contains("the servers are given twice"));
  CHECK_THAT(refusal("[lock]\nalgorithm = \"setnx-del\"\n[[client]]\nname = \"A\"\n[servers]\ngrace = \"1ms\"\n"),
             Contains("unknown key \"grace\""));
}

// Without a lease the register is A's until A says otherwise, unless its server forgets.
TEST_CASE("a second kind of server: a lock without a lease holds if its server has a disk, and else breaks") {
  const auto verdict = [](bool durable) {
    return explored(story_of(fmt::format("{}[lock]\nalgorithm = \"cas-lock\"\n[[server]]\ndurable = {}\n[[may]]\nkind "
                                         "= \"crash\"\nserver = \"register\"\nrestart_after = \"1ms\"\n",
                                         kTwo, durable)),
                    "mutual-exclusion")
        .verdict;
  };
  CHECK(verdict(true) == Verdict::holds);
  CHECK(verdict(false) == Verdict::violated);
}

// Nobody frees the register of a dead client.
TEST_CASE("a second kind of server: a lock without a lease is not recoverable, and one with a lease is") {
  const auto verdict = [](std::string_view lease) {
    return explored(story_of(fmt::format("{}[lock]\nalgorithm = \"cas-lock\"\nlease = \"{}\"\n[[may]]\nkind = "
                                         "\"crash\"\nclient = \"A\"\n",
                                         kTwo, lease)),
                    "recoverable")
        .verdict;
  };
  CHECK(verdict("0ms") == Verdict::violated);
  CHECK(verdict("30ms") == Verdict::holds);
}

TEST_CASE("a second kind of server: mistakes in its files are told as everywhere else") {
  const std::string lock = "[lock]\nalgorithm = \"cas-lock\"\n[[client]]\nname = \"A\"\n";
  CHECK(refusal(lock + "[[server]]\nkind = \"regsiter\"\n") ==
        "t.toml:7:8: kind: there is no kind of server \"regsiter\": did you mean \"register\"?");
  CHECK(refusal(lock + "[[server]]\nkind = \"redis\"\n") ==
        "t.toml:7:8: kind: the algorithm of [lock] runs on servers of kind \"register\", not on \"redis\"");
  CHECK(refusal(lock + "[[server]]\ndurabel = true\n") ==
        "t.toml:7:1: unknown key \"durabel\" in a [[server]]: did you mean \"durable\"?");
  CHECK_THAT(refusal(lock + "[[server]]\nappend_only = \"always\"\n"), Contains("unknown key \"append_only\""));
  CHECK_THAT(refusal(lock + "[[fault]]\nkind = \"lose\"\nclient = \"A\"\nmessage = \"SET\"\n"),
             Contains("\"SET\" is no step"));
  CHECK_THAT(refusal(lock + "[[client]]\nname = \"B\"\ncommands = [\"DEL lock\"]\n"),
             Contains("\"B\" sends commands, which only Redis has so far"));
  CHECK_THAT(refusal(lock + "[sentinels]\ncount = 3\n"), Contains("which only Redis has so far"));
  // And nobody else has its keys.
  CHECK_THAT(refusal("[lock]\nalgorithm = \"setnx-del\"\n[[client]]\nname = \"A\"\n[[server]]\ndurable = true\n"),
             Contains("unknown key \"durable\""));
}

TEST_CASE("a second kind of server: what is read is written, and read again") {
  const Scenario story =
      story_of(fmt::format("{}[lock]\nalgorithm = \"cas-lock\"\n[[server]]\nname = \"x\"\nkind = "
                           "\"register\"\ndurable = true\nrestart_delay = \"3ms\"\n",
                           kTwo));
  REQUIRE(story.servers.size() == 1);
  CHECK(story.servers.front().kind == &models::register_kind());
  CHECK(story.servers.front().settings.get("durable", false));
  const Scenario again = story_of(to_toml(story));
  CHECK(without_positions(again) == without_positions(story));
}

TEST_CASE("a second kind of server: it has a row in the matrix, with margins") {
  const Called result = called_with_registers(
      {"matrix", "cas-lock", "--faults", "pause,crash,node-restart,primary-lost", "--runs", "20"});
  INFO(result.out << result.err);
  CHECK(result.exit == 0);
  CHECK_THAT(result.out, Contains("cas-lock"));
}

TEST_CASE("a second kind of server: locks of different products are compared under one workload") {
  const Called result = called_with_registers(
      {"compare", kPause, "--algorithms", "cas-lock,set-nx-px-lua", "--clients", "2,4", "--seconds", "5"});
  INFO(result.out << result.err);
  CHECK(result.exit == 0);
  CHECK_THAT(result.out, Contains("cas-lock") && Contains("set-nx-px-lua"));
}

TEST_CASE("a second kind of server: a story of the one is a story of the other, where it uses what both have") {
  const auto loaded = scenarios::load(kPause, with_registers());
  const auto& story = std::get<Scenario>(loaded);
  const auto there = scenarios::with_algorithm(story, *with_registers().find("set-nx-px-lua"), with_registers());
  REQUIRE(std::holds_alternative<Scenario>(there));
  CHECK(std::get<Scenario>(there).servers.front().name == "redis");
  const auto back =
      scenarios::with_algorithm(std::get<Scenario>(there), *with_registers().find("cas-lock"), with_registers());
  REQUIRE(std::holds_alternative<Scenario>(back));
  CHECK(std::get<Scenario>(back).servers == story.servers);
}

TEST_CASE("a second kind of server: fuzzing makes worlds for it, and finds what check finds") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Scenario world = scenarios::generated_world(*with_registers().find("cas-lock"), seed);
    CHECK(story_of(to_toml(world)).servers.front().kind == &models::register_kind());
  }
  const confirm::TemporaryFolder folder;
  const Called result = called_with_registers({"fuzz", kPause, "--runs", "3000", "--found", folder.path()});
  INFO(result.out << result.err);
  CHECK_THAT(result.out, Contains("mutual-exclusion"));
  CHECK(result.exit == 1);
}

TEST_CASE("an ensemble is three servers where nobody says how many, with one state between them") {
  const models::locks::Entry& lock = *with_trio().find("trio-lock");
  CHECK_THAT(scenarios::new_story(lock, "t", "t.toml"), Contains("[servers]\ncount = 3\n"));
  CHECK(scenarios::generated_world(lock, 1).servers.size() == 3);
  CHECK(scenarios::matrix_world(lock, scenarios::matrix_faults()[0], scenarios::matrix_questions()[0],
                                scenarios::MatrixWorld::two)
            .servers.size() == 3);
  const auto loaded = scenarios::load(kPause, with_registers());
  auto moved = scenarios::with_algorithm(std::get<Scenario>(loaded), lock, with_trio());
  REQUIRE(std::holds_alternative<Scenario>(moved));
  Scenario& story = std::get<Scenario>(moved);
  REQUIRE(story.servers.size() == 3);
  CHECK(story.servers.back().name == "trio3");

  const auto result = scenarios::run(story, with_trio());
  REQUIRE(std::holds_alternative<scenarios::Outcome>(result));
  for (const scenarios::Judgement& judgement : std::get<scenarios::Outcome>(result).properties) {
    if (judgement.finding.property == "no-lost-wakeup") CHECK(judgement.finding.verdict == Verdict::holds);
  }

  const auto exploration = scenarios::explore(story, with_trio(), {});
  REQUIRE(std::holds_alternative<scenarios::Exploration>(exploration));
  const scenarios::ExploredProperty& property =
      std::get<scenarios::Exploration>(exploration).property("mutual-exclusion");
  CHECK(property.verdict == Verdict::unknown);
  CHECK(property.why == "they beat for ever");
}

TEST_CASE("a second kind of server: serve says which kinds speak to clients outside") {
  const Called served = called_with_registers({"serve", kHolds});
  INFO(served.out << served.err);
  CHECK(served.exit == 2);
  CHECK_THAT(served.err, Contains("these do: redis, zookeeper"));
}

// What nobody taught a kind of server must not look like what it withstands.
TEST_CASE("a kind of server that does not know a fault: a story that has it there is refused, at its place") {
  const auto refusal_of_trio = [](std::string_view fault) {
    const std::string lock =
        "title = \"t\"\n[lock]\nalgorithm = \"trio-lock\"\n[network]\ntimeout = \"9ms\"\n[[client]]\nname = \"A\"\n";
    const auto read = scenarios::parse(lock + std::string(fault), "story.toml", with_trio());
    const auto* trouble = std::get_if<Diagnostic>(&read);
    return trouble != nullptr ? trouble->to_string() : "none";
  };
  for (const char* table : {"[[may]]", "[[fault]]"}) {
    INFO(table);
    const std::string at = table == std::string_view("[[fault]]") ? "at = \"1ms\"\n" : "";
    const std::string jump = std::string(table) + "\nkind = \"jump\"\nby = \"1ms\"\n" + at;
    CHECK_THAT(refusal_of_trio(jump + "server = \"trio\"\n"),
               Contains("story.toml:8:1") && Contains("servers of kind \"trio\" know no \"jump\"") &&
                   Contains("leave it out"));
    CHECK(refusal_of_trio(jump + "client = \"A\"\n") == "none");
    CHECK(refusal_of_trio(std::string(table) + "\nkind = \"pause\"\nlength = \"1ms\"\nserver = \"trio\"\n" + at) ==
          "none");
  }
  CHECK_THAT(refusal_of_trio("[[may]]\nkind = \"jump\"\nby = \"1ms\"\n"), Contains("know no \"jump\""));
  CHECK_THAT(refusal_of_trio("[[may]]\nkind = \"partition\"\nlength = \"1ms\"\nbetween = [[\"A\"], [\"trio\"]]\n"),
             Contains("know no \"partition\""));
}

}  // namespace lockstep::cli::server_kinds_test
