// What can happen next is compared with all executions that the exhaustive search of the story has: the constraints of
// each, with the events that were chosen first and in this order.

#include "scenarios/stepping/stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::stepping_test {
namespace {

using checker::Answer;
using checker::BranchPoint;
using checker::Constraint;
using checker::DifferenceConstraints;
using checker::ExploredEvent;
using checker::Extent;
using testing::catalogue;
using testing::parsed;

/// An event with its answers.
using Key = std::pair<std::uint64_t, std::vector<std::uint32_t>>;

/// What is armed first is called alike, whomever it strikes.
Key key_of(sim::EventId event, sim::ProcessId process, const std::vector<Answer>& answers) {
  Key key{event.value, {process.index}};
  for (const Answer& answer : answers) key.second.push_back(answer.index);
  return key;
}

struct Execution {
  std::vector<Key> events;
  std::vector<ExploredEvent> trace;
  std::vector<bool> is_void;  ///< a crash that strikes nobody
  DifferenceConstraints constraints;

  /// Another event comes later in the trace, and is to come before this one. That two can be at one moment does not say
  /// that they can come in either order: those of one process, and causes, may not.
  bool may_overtake(std::size_t later, std::size_t earlier) const {
    if (later < earlier || trace[later].process != trace[earlier].process) return trace[later].cause != earlier;
    return trace[later].cause != earlier &&
           constraints.is_feasible_with(Constraint::less_than(trace[later].at, trace[earlier].at));
  }
};

std::vector<Execution> all_executions(const Scenario& story) {
  checker::ExplorerOptions options;
  options.faults = std::get<std::vector<checker::FaultBudget>>(fault_budgets(story));
  checker::Explorer explorer(options);
  ExploredStory subject(story, catalogue(), explorer, ExploredStory::Probe::none);
  std::vector<Execution> all;
  const auto counts = explorer.explore(subject, [&](checker::Explorer& at_end) {
    Execution& one = all.emplace_back();
    const std::vector<ExploredEvent> trace = at_end.trace();
    const checker::Branch here = at_end.here();
    std::vector<std::vector<Answer>> answers{here.answers};
    for (const BranchPoint* p = here.from.get(); p->before; p = p->before.get()) answers.push_back(p->answers);
    std::reverse(answers.begin(), answers.end());
    for (std::uint32_t i = 0; i < trace.size(); ++i) {
      one.events.push_back(key_of(trace[i].id, trace[i].process, answers[i]));
      const auto strikes = [&](const checker::ExploredFault& fault) { return fault.event == i; };
      one.is_void.push_back(trace[i].kind == sim::EventKind::fault &&
                            std::none_of(at_end.faults().begin(), at_end.faults().end(), strikes));
    }
    one.trace = trace;
    one.constraints = at_end.constraints();
    bool is_none = false;
    for (const checker::ExploredFault& fault : at_end.faults()) {
      if (sim::lasts(fault.kind))
        is_none = is_none || !one.constraints.add(Constraint::less_than(fault.from, fault.until));
    }
    if (is_none) all.pop_back();
    return all.size() < 20'000;
  });
  REQUIRE(counts.complete);
  return all;
}

struct Times {
  Extent earliest;
  std::optional<Extent> latest;
};

void widen(std::map<Key, Times>& next, const Key& key, DifferenceConstraints& constraints, sim::Instant at) {
  const Extent least = *constraints.least_difference(0, at.variable());
  const auto greatest = constraints.greatest_difference(0, at.variable());
  const auto [found, is_new] = next.try_emplace(key, Times{least, greatest});
  if (is_new) return;
  Times& times = found->second;
  const auto beyond = [](const Extent& a, const Extent& b) { return a.attained && !b.attained && a.value == b.value; };
  if (least.value < times.earliest.value || beyond(least, times.earliest)) times.earliest = least;
  if (!greatest) times.latest.reset();
  if (greatest && times.latest && (greatest->value > times.latest->value || beyond(*greatest, *times.latest)))
    times.latest = greatest;
}

std::map<Key, Times> can_be_next(std::vector<Execution>& all, const std::vector<Key>& chosen) {
  std::map<Key, Times> next;
  for (Execution& one : all) {
    std::vector<std::size_t> first;
    for (const Key& key : chosen) {
      const auto found = std::find(one.events.begin(), one.events.end(), key);
      if (found != one.events.end()) first.push_back(static_cast<std::size_t>(found - one.events.begin()));
    }
    if (first.size() < chosen.size()) continue;
    const DifferenceConstraints::Mark mark = one.constraints.mark();
    bool is_possible = true;
    for (std::size_t i = 1; i < first.size() && is_possible; ++i) {
      for (std::size_t k = 0; k < i; ++k) is_possible = is_possible && one.may_overtake(first[k], first[i]);
      is_possible = is_possible && one.constraints.add_at_most(one.trace[first[i - 1]].at, one.trace[first[i]].at);
    }
    const auto is_chosen = [&](std::size_t i) { return std::find(first.begin(), first.end(), i) != first.end(); };
    for (std::size_t i = 0; i < one.events.size() && is_possible; ++i) {
      for (const std::size_t before : first)
        is_possible = is_possible && (is_chosen(i) || one.is_void[i] || one.may_overtake(before, i));
    }
    for (std::size_t i = 0; i < one.events.size() && is_possible; ++i) {
      if (is_chosen(i) || one.is_void[i]) continue;
      const DifferenceConstraints::Mark before = one.constraints.mark();
      const sim::Instant at = one.trace[i].at;
      bool is_next = first.empty() || one.constraints.add_at_most(one.trace[first.back()].at, at);
      for (std::size_t k = 0; k < one.events.size() && is_next; ++k) {
        if (k == i || is_chosen(k) || one.is_void[k]) continue;
        is_next = one.may_overtake(i, k) && one.constraints.add_at_most(at, one.trace[k].at);
      }
      if (is_next) widen(next, one.events[i], one.constraints, at);
      one.constraints.undo(before);
    }
    one.constraints.undo(mark);
  }
  return next;
}

std::string text_of(const std::optional<Extent>& end) {
  return end ? fmt::format("{}{}", sim::to_string(end->value), end->attained ? "" : " not") : "any";
}

/// Whether `run` plays what was kept, event by event, from its text.
void check_replay(const std::variant<SteppedRun, std::string>& kept, const std::vector<NextStep>& chosen) {
  if (const auto* trouble = std::get_if<std::string>(&kept)) FAIL(*trouble);
  const SteppedRun& stepped = std::get<SteppedRun>(kept);
  const std::string text = to_toml(stepped.scenario);
  INFO(text);
  const auto again = run(parsed(text), catalogue(), {.trace = true});
  if (const auto* problem = std::get_if<Diagnostic>(&again)) FAIL(problem->to_string());
  std::vector<const sim::TraceRecord*> records;
  for (const sim::TraceRecord& record : std::get<Outcome>(again).trace.records) {
    const bool is_pause = record.kind == sim::EventKind::fault && record.name == "pause";
    if (!record.lost && !is_pause) records.push_back(&record);
  }
  REQUIRE(records.size() >= chosen.size());
  const sim::History& history = std::get<Outcome>(again).history;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    INFO(i << ": " << records[i]->name << " " << sim::to_string(records[i]->at.offset()));
    REQUIRE(records[i]->kind == chosen[i].event.kind);
    REQUIRE(history.host_of(records[i]->process).index == history.host_of(chosen[i].event.process).index);
    if (chosen[i].event.kind == sim::EventKind::message) REQUIRE(records[i]->name == chosen[i].message);
  }
  if (!chosen.empty()) CHECK(records[chosen.size() - 1]->at.offset() == stepped.at);
}

/// Random walks, compared at each place. Returns how many places had several ways to go on.
std::size_t check_walks(const std::string& text, std::uint64_t walks, std::size_t longest = 100) {
  const Scenario story = parsed(text);
  std::vector<Execution> all = all_executions(story);
  INFO(text << "\n" << all.size() << " executions");
  std::size_t branchings = 0;
  for (std::uint64_t seed = 1; seed <= walks; ++seed) {
    sim::Random random(seed);
    StepPlace place;
    std::vector<Key> keys;
    std::vector<NextStep> chosen;
    std::string way;
    while (chosen.size() < longest) {
      auto answer = steps_at(story, catalogue(), place);
      if (const auto* problem = std::get_if<Diagnostic>(&answer)) FAIL(problem->to_string());
      StepsHere& here = std::get<StepsHere>(answer);
      REQUIRE(here.is_all);
      std::map<Key, Times> listed;
      for (const NextStep& step : here.next) {
        REQUIRE(step.knows_times);
        listed[key_of(step.event.id, step.event.process, step.place.ways.front()->answers)] = {step.earliest,
                                                                                               step.latest};
      }
      const std::map<Key, Times> expected = can_be_next(all, keys);
      std::string differences;
      for (const auto& [key, times] : expected) {
        if (!listed.contains(key))
          differences += fmt::format("{:x} {} from {} to {} is not listed\n", key.first, fmt::join(key.second, " "),
                                     text_of(times.earliest), text_of(times.latest));
      }
      for (const auto& [key, times] : listed) {
        const auto found = expected.find(key);
        if (found == expected.end()) {
          differences += fmt::format("{:x} cannot be\n", key.first);
        } else if (found->second.earliest != times.earliest || found->second.latest != times.latest) {
          differences +=
              fmt::format("{:x} from {} to {}, not from {} to {}\n", key.first, text_of(times.earliest),
                          text_of(times.latest), text_of(found->second.earliest), text_of(found->second.latest));
        }
      }
      INFO("walk " << seed << ", after" << way);
      REQUIRE(differences == "");
      if (random.below(4) == 0 || here.next.empty()) check_replay(here.run, chosen);
      if (here.next.empty()) {
        CHECK(here.is_over);
        break;
      }
      branchings += here.next.size() > 1 ? 1 : 0;
      const std::size_t index = random.below(here.next.size());
      way += fmt::format(" {}", index);
      NextStep& next = here.next[index];
      place = next.place;
      keys.push_back(key_of(next.event.id, next.event.process, next.place.ways.front()->answers));
      chosen.push_back(std::move(next));
      if (random.below(4) == 0) check_replay(chosen.back().run, chosen);
    }
  }
  return branchings;
}

}  // namespace

TEST_CASE("stepping: two clients of SET NX PX, and a pause: what is listed is what all executions have") {
  CHECK(check_walks(R"([lock]
algorithm = "set-nx-px-lua"
ttl = "20ms"
attempts = 1
[network]
latency = ["1ms", "3ms"]
[[client]]
name = "A"
hold = "10ms"
[[client]]
name = "B"
acquire_at = ["5ms", "12ms"]
hold = "10ms"
[[may]]
kind = "pause"
client = "A"
length = ["0ms", "1s"]
)",
                    sim::cases<std::uint64_t>(40, 4)) > 10);
}

TEST_CASE("stepping: crashes and their restarts, lost and delayed messages come as others do") {
  for (const char* fault :
       {"kind = \"crash\"\nserver = \"redis\"\nrestart_after = [\"1ms\", \"30ms\"]", "kind = \"crash\"",
        "kind = \"lose\"\nclient = \"A\"", "kind = \"delay\"\nclient = \"A\"\nlength = [\"0ms\", \"40ms\"]",
        "kind = \"jump\"\nserver = \"redis\"\nby = \"15ms\"", "kind = \"partition\"\nlength = [\"1ms\", \"9ms\"]"}) {
    INFO(fault);
    check_walks(fmt::format(R"([lock]
algorithm = "setnx-del"
attempts = 1
[network]
latency = ["1ms", "2ms"]
timeout = "20ms"
[[client]]
name = "A"
hold = "4ms"
[[client]]
name = "B"
acquire_at = "3ms"
hold = "2ms"
[[may]]
{}
)",
                            fault),
                sim::cases<std::uint64_t>(10, 1));
  }
}

TEST_CASE("stepping: somebody who waits for a message of Redisson's lock") {
  CHECK(check_walks(R"([lock]
algorithm = "redisson-lock"
wait = "100ms"
lease = "30ms"
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "10ms"
[[client]]
name = "B"
acquire_at = "5ms"
hold = "5ms"
)",
                    sim::cases<std::uint64_t>(10, 1)) > 4);
}

TEST_CASE("stepping: ephemeral nodes and sessions of ZooKeeper") {
  CHECK(check_walks(R"([lock]
algorithm = "zk-ephemeral-create"
session_timeout = "100ms"
[[server]]
kind = "zookeeper"
[network]
latency = ["1ms", "2ms"]
[[client]]
name = ["A", "B"]
hold = "10ms"
)",
                    sim::cases<std::uint64_t>(10, 1)) > 5);
}

}  // namespace lockstep::scenarios::stepping_test
