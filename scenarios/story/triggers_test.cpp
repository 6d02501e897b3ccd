// Where faults strike and what a schedule refuses: what `check` writes down when it has found something, played by `run`.

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::triggers_test {
namespace {

using testing::catalogue;

using sim::Duration;
using namespace sim::literals;
using Kind = sim::Interruption::Kind;

/// A takes a lock of 100ms, works 5ms, and gives it back.
std::string story(const std::string& network, const std::string& client, const std::string& more) {
  return "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"s\", zh = \"s\" }\nlesson = { en = \"l\", zh = \"l\" }\n"
         "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n[network]\n" +
         network + "[[client]]\nname = \"A\"\nhold = \"5ms\"\n" + client + more;
}

std::string problem_of(const std::string& text) {
  const auto parsed = parse(text, "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&parsed)) return problem->to_string();
  const auto result = run(std::get<Scenario>(parsed), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) return problem->to_string();
  return "";
}

Outcome outcome_of(const std::string& text) {
  const auto parsed = parse(text, "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&parsed)) FAIL(problem->to_string());
  auto result = run(std::get<Scenario>(parsed), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  CHECK(std::get<Outcome>(result).notes.empty());
  return std::get<Outcome>(std::move(result));
}

struct Struck {
  std::string who;
  Kind kind;
  Duration at;
  bool operator==(const Struck&) const = default;
};

Struck first_interruption(const Outcome& outcome) {
  REQUIRE_FALSE(outcome.history.interruptions.empty());
  const sim::Interruption& first = outcome.history.interruptions.front();
  return {outcome.lanes[first.process.index].name, first.kind, first.from.offset()};
}

/// When A's n-th operation of this name ended, and how.
std::pair<Duration, sim::Phase> end_of(const Outcome& outcome, std::string_view function, std::size_t nth = 1) {
  for (const sim::Operation& operation : outcome.history.operations) {
    if (operation.function == function && outcome.lanes[operation.process.index].name == "A" && --nth == 0)
      return {operation.completed.offset(), operation.phase};
  }
  FAIL("there is no such " << function);
  return {};
}

const std::string kLatency = "latency = \"1ms\"\n";

std::string pause(const std::string& after) {
  return "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nafter = \"" + after + "\"\nlength = \"3ms\"\n";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

// Undisturbed: SET arrives at 1ms, its answer at 2ms, the work is done at 7ms, the release at 9ms.

TEST_CASE("trigger: after its start nothing has left yet") {
  const Outcome outcome = outcome_of(story(kLatency, "", pause("start")));
  CHECK(first_interruption(outcome) == Struck{"A", Kind::pause, 0_ms});
  CHECK(end_of(outcome, "acquire") == std::pair(5_ms, sim::Phase::ok));
}

TEST_CASE("trigger: after its work the release has not left yet") {
  const Outcome outcome = outcome_of(story(kLatency, "", pause("work")));
  CHECK(first_interruption(outcome) == Struck{"A", Kind::pause, 7_ms});
  CHECK(end_of(outcome, "release") == std::pair(12_ms, sim::Phase::ok));
}

TEST_CASE("trigger: after the second sleep, and not the first") {
  const std::string holder = "[[client]]\nname = \"B\"\nhold = \"50ms\"\n";
  const std::string client = "acquire_at = \"10ms\"\nattempts = 4\nretry = \"10ms\"\n";
  // Attempts at 10 and 22; the second sleep is over at 34.
  const Outcome outcome = outcome_of(story(kLatency, client, holder + pause("sleep#2")));
  CHECK(first_interruption(outcome) == Struck{"A", Kind::pause, 34_ms});
  CHECK(end_of(outcome, "acquire", 3).first == 39_ms);
}

TEST_CASE("trigger: after a timeout the next attempt has not left yet") {
  const std::string lost = "[[fault]]\nkind = \"lose\"\nclient = \"A\"\nmessage = \"SET\"\n";
  const Outcome outcome =
      outcome_of(story(kLatency + "timeout = \"10ms\"\n", "attempts = 2\nretry = \"1ms\"\n", lost + pause("timeout")));
  CHECK(first_interruption(outcome) == Struck{"A", Kind::pause, 10_ms});
  CHECK(end_of(outcome, "acquire") == std::pair(10_ms, sim::Phase::info));
  CHECK(end_of(outcome, "acquire", 2).second == sim::Phase::ok);
  CHECK(end_of(outcome, "acquire", 2).first >= 15_ms);
}

TEST_CASE("trigger: after a connection was lost") {
  const std::string crash =
      "[[fault]]\nkind = \"crash\"\nserver = \"redis\"\nat = \"0.5ms\"\nrestart_after = \"0.1ms\"\n";
  const Outcome outcome = outcome_of(story(kLatency, "attempts = 2\nretry = \"1ms\"\n",
                                           crash + "[[fault]]\nkind = \"crash\"\nclient = \"A\"\nafter = \"reset\"\n"));
  CHECK(end_of(outcome, "acquire") == std::pair(2_ms, sim::Phase::info));
  REQUIRE(outcome.history.interruptions.size() == 2);
  const sim::Interruption& of_client = outcome.history.interruptions[1];
  CHECK(outcome.lanes[of_client.process.index].name == "A");
  CHECK(of_client.from.offset() == 2_ms);
  for (const sim::Effect& effect : outcome.history.effects) CHECK(outcome.lanes[effect.by.index].name != "A");
}

TEST_CASE("trigger: a server that crashes after a command has carried it out, and its answer is lost") {
  const std::string more =
      "[[fault]]\nkind = \"crash\"\nserver = \"redis\"\nafter = \"A.SET#2\"\nrestart_after = \"1ms\"\nkeep = true\n";
  const Outcome outcome = outcome_of(story(kLatency + "timeout = \"50ms\"\n", "rounds = 2\n", more));
  // The second round begins at 9ms.
  CHECK(first_interruption(outcome) == Struck{"redis", Kind::crash, 10_ms});
  CHECK(end_of(outcome, "acquire").second == sim::Phase::ok);
  CHECK(end_of(outcome, "acquire", 2).second == sim::Phase::info);
  const auto writes = std::count_if(outcome.history.effects.begin(), outcome.history.effects.end(), [&](const auto& e) {
    return e.kind == sim::Effect::Kind::write && outcome.lanes[e.by.index].name == "A";
  });
  CHECK(writes == 2);
}

TEST_CASE("trigger: a server that is paused after a command holds its answer back") {
  const std::string more = "[[fault]]\nkind = \"pause\"\nserver = \"redis\"\nafter = \"A.EVAL\"\nlength = \"20ms\"\n";
  const Outcome outcome = outcome_of(story(kLatency, "", more));
  CHECK(first_interruption(outcome) == Struck{"redis", Kind::pause, 8_ms});
  CHECK(end_of(outcome, "release") == std::pair(29_ms, sim::Phase::ok));
}

TEST_CASE("trigger: a fault whose step never comes is told in a note, and strikes nobody") {
  const auto parsed = parse(story(kLatency, "", pause("sleep")), "story.toml", catalogue());
  const auto result = run(std::get<Scenario>(parsed), catalogue());
  const auto& outcome = std::get<Outcome>(result);
  CHECK(outcome.history.interruptions.empty());
  REQUIRE(outcome.notes.size() == 1);
  CHECK(contains(outcome.notes.front(), "never struck: A did not come to sleep"));
}

// --- Schedules.

TEST_CASE("schedule: times that no delay leads to, and events that do not come, are named with a remedy") {
  const std::string latency = "latency = [\"1ms\", \"5ms\"]\ntimeout = \"50ms\"\n";
  const auto schedule = [](const std::string& events) { return "[schedule]\nevents = [" + events + "]\n"; };
  CHECK(problem_of(story(latency, "", schedule(R"("2ms A.SET", "6ms A.SET reply", "11ms A work")"))) == "");
  struct Case {
    std::string events;
    std::string message;
  };
  const std::vector<Case> cases{
      {R"("9ms A.SET")",
       "A.SET#1 comes at 5ms at the latest; give it a time from 1ms to 5ms, or change what leads to it"},
      {R"("0.5ms A.SET")", "A.SET#1 comes at 1ms at the earliest; give it a time from 1ms to 5ms"},
      {R"("3ms A.DEL")", "A.DEL#1 has not come about by 3ms; remove this entry, or change what stands before it"},
      {R"("2ms A.SET", "3ms A.SET reply", "52ms A.SET timeout")", "A.SET#1 timeout was called off before 52ms"},
      {R"("never A work")", "A work#1 comes at "},
      {R"("2ms A.SET", "3ms A.SET reply", "9ms A work")", "A work#1 comes at 8ms at the latest"},
      {R"("500s A sleep")", "A sleep#1 has not come about by 500s"},
      {R"("2ms A.SET", "2ms A.SET")", "names an event a second time (first in line 14)"},
      {R"("3ms A.SET reply", "2ms A.SET")", "put the events in the order of their times"},
      {R"("2ms B.SET")", "B"},
      {R"("soon A.SET")", "soon"},
      {R"("2ms A nap")", "nap"},
  };
  for (const Case& c : cases) {
    const std::string problem = problem_of(story(latency, "", schedule(c.events)));
    INFO(c.events << " gives " << problem);
    CHECK(contains(problem, c.message));
    CHECK(problem.starts_with("story.toml:1"));
    CHECK(problem.find('\n') == std::string::npos);
  }
  CHECK(contains(problem_of(story(latency, "", "[pin]\norder = [\"A.SET\"]\n" + schedule(R"("2ms A.SET")"))),
                 "both [pin] and [schedule]"));
}

}  // namespace lockstep::scenarios::triggers_test
