// Happens-before, against the transitive closure of what the trace says; and ShiViz's vector clocks against both.

#include "reports/export/causality.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "reports/export/run_stories_testing.hpp"
#include "reports/export/shiviz.hpp"
#include "reports/run/forged_story.hpp"

namespace lockstep::reports::causality_test {
namespace {

using Relation = std::vector<std::vector<bool>>;

/// Warshall's, which knows nothing of an order: relation[a][b] says that a comes before b.
void close(Relation& relation) {
  for (std::size_t k = 0; k < relation.size(); ++k) {
    for (std::size_t i = 0; i < relation.size(); ++i) {
      if (!relation[i][k]) continue;
      for (std::size_t j = 0; j < relation.size(); ++j) relation[i][j] = relation[i][j] || relation[k][j];
    }
  }
}

/// Of steps, from the trace alone: those of one process, and each message's.
struct StepOrder {
  std::map<sim::Step, std::size_t> index;
  Relation before;
};

StepOrder order_of_steps(const scenarios::Outcome& outcome, sim::Step end) {
  StepOrder order;
  std::map<sim::Step, sim::ProcessId> process;
  for (const sim::TraceRecord& r : outcome.trace.records) {
    if (!r.lost && r.step < end) process.emplace(r.step, outcome.history.host_of(r.process));
  }
  for (const auto& [step, who] : process) order.index.emplace(step, order.index.size());
  order.before.assign(process.size(), std::vector<bool>(process.size()));
  for (const auto& [a, of_a] : process) {
    for (const auto& [b, of_b] : process)
      if (a < b && of_a == of_b) order.before[order.index[a]][order.index[b]] = true;
  }
  for (const sim::TraceRecord& r : outcome.trace.records) {
    if (r.kind == sim::EventKind::message && !r.lost && r.step < end)
      order.before[order.index.at(r.cause)][order.index.at(r.step)] = true;
  }
  close(order.before);
  return order;
}

struct ShivizEvent {
  std::string host;
  std::map<std::string, std::uint64_t> clock;
  std::string text;
};

/// As ShiViz reads it: its first line is a regular expression with names, which JavaScript understands and C++ does not.
std::vector<ShivizEvent> read_shiviz(const std::string& log) {
  std::istringstream in(log);
  std::string parser, delimiter;
  std::getline(in, parser);
  std::getline(in, delimiter);
  REQUIRE(parser == R"((?<host>\S*) (?<clock>{.*})\n(?<event>.*))");
  REQUIRE(delimiter.empty());
  const std::regex pattern(R"((\S*) (\{.*\}))");
  std::vector<ShivizEvent> events;
  for (std::string head, text; std::getline(in, head) && std::getline(in, text);) {
    std::smatch match;
    INFO(head);
    REQUIRE(std::regex_match(head, match, pattern));
    events.push_back(
        {match[1], nlohmann::json::parse(match[2].str()).get<std::map<std::string, std::uint64_t>>(), text});
  }
  return events;
}

bool knows(const ShivizEvent& later, const ShivizEvent& earlier) {
  for (const auto& [host, count] : earlier.clock) {
    const auto own = later.clock.find(host);
    if (own == later.clock.end() || own->second < count) return false;
  }
  return true;
}

constexpr std::size_t kEventsMax = 260;  // the oracle takes the cube

}  // namespace

TEST_CASE("causality: of two steps one happens before the other exactly if the trace's closure says so") {
  std::size_t compared = 0;
  for (const Story& story : testing::stories_for_exports()) {
    const Causality causality = causality_of(story);
    if (causality.events.size() > kEventsMax) continue;
    INFO(story.scenario.file);
    Relation before(causality.events.size(), std::vector<bool>(causality.events.size()));
    for (const CausalEdge& edge : causality.edges) {
      REQUIRE(edge.from < edge.to);
      before[edge.from][edge.to] = true;
    }
    close(before);
    const StepOrder steps = order_of_steps(story.outcome, end_of_story(story.outcome));
    for (std::size_t a = 0; a < before.size(); ++a) {
      if (causality.events[a].kind != CausalEvent::Kind::step) continue;
      const std::size_t step_a = steps.index.at(causality.events[a].step);
      for (std::size_t b = 0; b < before.size(); ++b) {
        if (causality.events[b].kind != CausalEvent::Kind::step || a == b) continue;
        const bool expected = steps.before[step_a][steps.index.at(causality.events[b].step)];
        if (before[a][b] != expected) FAIL(causality.events[a].text << " / " << causality.events[b].text);
        ++compared;
      }
    }
  }
  CHECK(compared > 10'000);
}

TEST_CASE(
    "causality: every step, message and operation of every story is there, and time never goes back on a process") {
  for (const Story& story : testing::stories_for_exports()) {
    INFO(story.scenario.file);
    const Causality causality = causality_of(story);
    const sim::Step end = end_of_story(story.outcome);
    std::size_t arrived = 0;
    std::set<sim::Step> steps;
    for (const sim::TraceRecord& r : story.outcome.trace.records) {
      if (r.lost || r.step >= end) continue;
      steps.insert(r.step);
      arrived += r.kind == sim::EventKind::message ? 1 : 0;
    }
    std::size_t messages = 0;
    for (const CausalEdge& edge : causality.edges) {
      messages += edge.is_message ? 1 : 0;
      CHECK(causality.events[edge.from].at.offset() <= causality.events[edge.to].at.offset());
      if (!edge.is_message) CHECK(causality.events[edge.from].process == causality.events[edge.to].process);
    }
    CHECK(messages == arrived);
    for (const CausalEvent& event : causality.events) {
      if (event.kind == CausalEvent::Kind::step) steps.erase(event.step);
    }
    CHECK(steps.empty());
  }
}

TEST_CASE("causality: a message leaves in the step that caused it, on the process that handled that step") {
  for (const Story& story : testing::stories_for_exports()) {
    std::map<sim::Step, sim::ProcessId> handled;
    for (const sim::TraceRecord& r : story.outcome.trace.records) {
      if (!r.lost) handled.emplace(r.step, story.outcome.history.host_of(r.process));
    }
    for (const sim::TraceRecord& r : story.outcome.trace.records) {
      if (r.kind != sim::EventKind::message) continue;
      INFO(story.scenario.file << ": " << r.name << " " << r.text << " in step " << r.cause);
      REQUIRE(handled.contains(r.cause));
      CHECK(handled[r.cause] == story.outcome.history.host_of(r.from));
    }
  }
}

TEST_CASE("shiviz: one clock is below another exactly if its event happens before the other") {
  std::size_t ordered = 0;
  std::size_t concurrent = 0;
  for (const Story& story : testing::stories_for_exports()) {
    const Causality causality = causality_of(story);
    if (causality.events.size() > kEventsMax) continue;
    INFO(story.scenario.file);
    Relation before(causality.events.size(), std::vector<bool>(causality.events.size()));
    for (const CausalEdge& edge : causality.edges) before[edge.from][edge.to] = true;
    close(before);
    const std::vector<ShivizEvent> log = read_shiviz(shiviz_log(story));
    REQUIRE(log.size() == causality.events.size());
    for (std::size_t a = 0; a < log.size(); ++a) {
      for (std::size_t b = 0; b < log.size(); ++b) {
        if (a == b) continue;
        if (knows(log[b], log[a]) != before[a][b]) FAIL(log[a].text << " / " << log[b].text);
        (before[a][b] ? ordered : concurrent) += 1;
      }
    }
  }
  CHECK(ordered > 10'000);
  CHECK(concurrent > 10'000);
}

TEST_CASE("shiviz: each host counts its own events from one, without a gap") {
  for (const Story& story : testing::stories_for_exports()) {
    INFO(story.scenario.file);
    std::map<std::string, std::uint64_t> counts;
    for (const ShivizEvent& event : read_shiviz(shiviz_log(story)))
      CHECK(event.clock.at(event.host) == ++counts[event.host]);
  }
}

TEST_CASE(
    "shiviz: names with blanks, names that are the same without, and names that JavaScript has taken stay apart") {
  ForgedStory forged;
  forged.story().outcome.lanes[0].name = "a b";
  forged.story().outcome.lanes[1].name = "a\nb";
  forged.story().outcome.lanes[2].name = "constructor";
  std::set<std::string> hosts;
  for (const ShivizEvent& event : read_shiviz(shiviz_log(forged.story()))) hosts.insert(event.host);
  CHECK(hosts == std::set<std::string>{"a_b", "a_b.2", "constructor_"});
}

TEST_CASE("causality: the probe's attempts are left out, but for the first one where it never gets the lock") {
  const Story fine =
      testing::run_for_exports(in_tree("scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml"));
  const Story stuck = testing::run_for_exports(in_tree("scenarios/stories/redis-lock-java/f000-2i-inverted-dead.toml"));
  const auto attempts = [](const Story& story) {
    std::size_t count = 0;
    for (const CausalEvent& event : causality_of(story).events) {
      const bool is_probe = name_of(story.outcome, event.process) == "probe";
      count += is_probe && event.text == "acquire lock: begins" ? 1 : 0;
    }
    return count;
  };
  CHECK(attempts(fine) == 0);
  CHECK(attempts(stuck) == 1);
  const auto asked = std::count_if(
      stuck.outcome.history.operations.begin(), stuck.outcome.history.operations.end(),
      [&](const sim::Operation& o) { return name_of(stuck.outcome, o.process) == "probe" && o.function == "acquire"; });
  CHECK(asked > 50);
  CHECK(causality_of(stuck).events.size() < stuck.outcome.events / 2);
}

}  // namespace lockstep::reports::causality_test
