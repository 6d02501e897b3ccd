// The same result however an exploration was carried out: on any number of threads, in one go or in pieces, with or without
// reduction.

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <sstream>

#include "checker/explorer/branches.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/oracles/explored_verdicts.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/tiny_story.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::exploration_search_test {
namespace {

using testing::catalogue;
using testing::parsed;

using checker::Verdict;
using Kind = MaySpec::Kind;
using namespace sim::literals;

const std::uint64_t kStories = sim::cases<std::uint64_t>(30, 4);
const std::uint64_t kTracesMax = sim::cases<std::uint64_t>(2'000, 700);
constexpr Kind kKinds[] = {Kind::pause, Kind::crash, Kind::lose, Kind::jump, Kind::skew};

Exploration explored(const Scenario& scenario, const ExplorationOptions& options = {}) {
  auto result = explore(scenario, catalogue(), options);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Exploration>(std::move(result));
}

/// All of it but real time.
std::string all_of(const Exploration& exploration) {
  std::ostringstream out;
  out << verdicts_of(exploration);
  const checker::ExplorerCounts& counts = exploration.counts;
  out << counts.traces << ' ' << counts.blocked << ' ' << counts.infeasible << ' ' << counts.complete << ' '
      << exploration.bound << ' ' << exploration.unconfirmed << '\n';
  for (const Mark& mark : exploration.marks) out << mark.name << ' ' << mark.traces << '\n';
  for (const ExploredProperty& property : exploration.properties) {
    out << property.name << ' ' << property.violating_traces << ' ' << property.why << '\n';
    for (const std::string& name : property.by) out << name << '\n';
    if (property.witness) out << to_toml(*property.witness);
  }
  return std::move(out).str();
}

/// Three clients, none of which is like another, one server, one pause.
Scenario three_clients() {
  return parsed(R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[may]]
kind = "pause"
length = ["0ms", "10s"]
[[client]]
name = "A"
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 1
[[client]]
name = "B"
acquire_at = ["0ms", "1s"]
hold = "21ms"
attempts = 1
[[client]]
name = "C"
acquire_at = ["0ms", "1s"]
hold = "22ms"
attempts = 1
)");
}

struct Saved {
  std::string text;
  std::uint64_t traces = 0;
};

/// Goes on from a checkpoint until the `patience`-th time that somebody asks whether to stop.
Exploration a_while(const Scenario& scenario, Saved& checkpoint, std::uint64_t patience, unsigned jobs = 1) {
  ExplorationOptions options;
  std::atomic<std::uint64_t> asked{0};
  options.interrupted = [&] { return ++asked >= patience; };
  options.save = [&](const std::string& text) { checkpoint.text = text; };
  options.resume_from = checkpoint.text;
  options.jobs = jobs;
  Exploration result = explored(scenario, options);
  checkpoint.traces = result.counts.traces;
  return result;
}

std::optional<Diagnostic> refusal(const Scenario& scenario, std::string text) {
  ExplorationOptions options;
  options.resume_from = std::move(text);
  options.resume_name = "checkpoint";
  options.max_traces = 1;  // should it be taken for a good one
  auto result = explore(scenario, catalogue(), options);
  if (auto* problem = std::get_if<Diagnostic>(&result)) return std::move(*problem);
  return std::nullopt;
}

}  // namespace

TEST_CASE("an exploration gives the same on one thread and on several") {
  std::uint64_t several_rounds = 0;
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < kStories; ++seed) {
      const Scenario scenario = tiny_story(1'000 + seed, kind);
      INFO(to_toml(scenario));
      const Exploration one = explored(scenario, {.max_traces = kTracesMax});
      if (one.counts.traces > 600) ++several_rounds;
      const unsigned jobs = seed % 3 == 0 ? 5 : seed % 3 == 1 ? 2 : 3;
      CHECK(all_of(explored(scenario, {.max_traces = kTracesMax, .jobs = jobs})) == all_of(one));
    }
  }
  if (kStories > 10) CHECK(several_rounds > 1);
}

TEST_CASE("going back to saved moments finds what running each trace from its beginning finds, whatever may go wrong") {
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < kStories; ++seed) {
      const Scenario scenario = tiny_story(4'000 + seed, kind);
      INFO(to_toml(scenario));
      const Exploration again = explored(scenario, {.max_traces = kTracesMax, .goes_back = false});
      CHECK(all_of(explored(scenario, {.max_traces = kTracesMax})) == all_of(again));
    }
  }
}

TEST_CASE("more effort after infeasible events finds nothing more, whatever may go wrong") {
  std::uint64_t compared = 0;
  std::uint64_t infeasible = 0;
  std::uint64_t infeasible_thorough = 0;
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < kStories; ++seed) {
      const Scenario scenario = tiny_story(5'000 + seed, kind);
      const Exploration thorough = explored(scenario, {.max_events = 500'000, .thorough = true});
      if (!thorough.counts.complete) continue;
      const Exploration found = explored(scenario);
      ++compared;
      infeasible += found.counts.infeasible;
      infeasible_thorough += thorough.counts.infeasible;
      INFO(to_toml(scenario));
      CHECK(found.counts.traces == thorough.counts.traces);
      CHECK(verdicts_of(found) == verdicts_of(thorough));
    }
  }
  WARN(compared << " compared; infeasible: " << infeasible << " and " << infeasible_thorough);
  CHECK(compared > 0);
  if (kStories > 10) CHECK(infeasible_thorough > infeasible);
}

TEST_CASE("three clients and a pause: the same on 1, 2, 3 and 5 threads, and in pieces") {
  const Scenario scenario = three_clients();
  ExplorationOptions options;
  if (kStories < 10) options.max_traces = kTracesMax;
  const Exploration whole = explored(scenario, options);
  CHECK(whole.counts.traces > 600);
  for (const unsigned jobs : {2U, 3U, 5U}) {
    options.jobs = jobs;
    CHECK(all_of(explored(scenario, options)) == all_of(whole));
  }
  if (options.max_traces != 0) return;
  for (const std::uint64_t patience : {2U, 3U, 5U, 8U}) {
    Saved checkpoint;
    Exploration part = a_while(scenario, checkpoint, patience);
    std::uint64_t pieces = 1;
    for (std::uint64_t before = 0; !part.counts.complete; ++pieces) {
      CHECK(part.bound == "interrupted");
      REQUIRE(part.counts.events > before);
      for (const ExploredProperty& property : part.properties) CHECK(property.verdict != Verdict::holds);
      before = part.counts.events;
      part = a_while(scenario, checkpoint, patience + pieces, 1 + pieces % 3);
    }
    INFO(patience << ": " << pieces << " pieces");
    CHECK(pieces > 1);
    CHECK(all_of(part) == all_of(whole));
  }
}

TEST_CASE("an exploration that was interrupted goes on to the same result, whatever may go wrong") {
  std::uint64_t interrupted = 0;
  for (const Kind kind : kKinds) {
    for (std::uint64_t seed = 0; seed < kStories + 10; ++seed) {
      const Scenario scenario = tiny_story(2'000 + seed, kind);
      const Exploration whole = explored(scenario, {.max_traces = 5'000});
      if (whole.counts.traces < 600 || !whole.counts.complete) continue;
      ++interrupted;
      INFO(to_toml(scenario));
      Saved checkpoint;
      Exploration part = a_while(scenario, checkpoint, 1);
      for (std::uint64_t i = 0; !part.counts.complete; ++i) part = a_while(scenario, checkpoint, 2 + i, 1 + i % 2);
      CHECK(all_of(part) == all_of(whole));
    }
  }
  if (kStories > 10) CHECK(interrupted > 1);
}

TEST_CASE("a checkpoint that is not whole, is foreign, or is changed is refused with a message") {
  const Scenario scenario = three_clients();
  Saved checkpoint;
  a_while(scenario, checkpoint, 1);
  const std::string good = checkpoint.text;
  REQUIRE(good.size() > 1'000);
  REQUIRE(!refusal(scenario, good));
  const std::size_t step = good.size() > 20'000 ? good.size() / 10'000 : 1;
  for (std::size_t length = 1; length < good.size(); length += length + 200 < good.size() ? step : 1) {
    const std::optional<Diagnostic> problem = refusal(scenario, good.substr(0, length));
    REQUIRE(problem);
    REQUIRE(problem->file == "checkpoint");
    REQUIRE(problem->message.find("leave out --resume to begin anew") != std::string::npos);
  }
  sim::Random random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string bad = good;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      char& c = bad[random.below(bad.size())];
      c = static_cast<char>(random.one_in(2) ? c ^ 1 : static_cast<int>(random.below(256)));
    }
    if (bad == good) continue;
    REQUIRE(refusal(scenario, bad));
  }
  const std::size_t version = good.find('\n');
  for (int i = 0; i < 500; ++i) {
    std::string bad = random.one_in(2) ? good.substr(0, version + 1) : "";
    for (std::uint64_t n = 1 + random.below(200); n > 0; --n) bad += static_cast<char>(random.below(256));
    REQUIRE(refusal(scenario, bad));
  }
  CHECK(refusal(tiny_story(0, Kind::pause), good)->message.find("another story") != std::string::npos);
  std::string other_version = good;
  other_version.insert(version, "0");
  CHECK(refusal(scenario, other_version)->message.find("of this version") != std::string::npos);
  ExplorationOptions all{.reduction = false, .resume_from = good};
  CHECK(std::holds_alternative<Diagnostic>(explore(scenario, catalogue(), all)));
}

TEST_CASE("an exploration that reached its bound stays there when it is resumed under the same one") {
  const Scenario scenario = three_clients();
  for (const std::uint64_t bound : {1U, 300U, 500U, 501U}) {
    std::string checkpoint;
    ExplorationOptions options{.max_traces = bound};
    options.save = [&](const std::string& text) { checkpoint = text; };
    const Exploration first = explored(scenario, options);
    CHECK(first.counts.traces == bound);
    for (const unsigned jobs : {2U, 5U}) {
      CHECK(all_of(explored(scenario, {.max_traces = bound, .jobs = jobs})) == all_of(first));
    }
    CHECK(first.bound == "max-traces");
    CHECK(!first.counts.complete);
    for (const ExploredProperty& property : first.properties) CHECK(property.verdict != Verdict::holds);
    options.resume_from = checkpoint;
    CHECK(all_of(explored(scenario, options)) == all_of(first));
    options.max_traces = bound / 2 + 1;
    CHECK(explored(scenario, options).counts.traces == first.counts.traces);
    options.max_traces = first.counts.traces + 100;
    const Exploration more = explored(scenario, options);
    CHECK(more.counts.traces == options.max_traces);
  }
}

TEST_CASE(
    "a bound on events ends an exploration at the same place for any number of threads, and it can go on from there") {
  const Scenario scenario = three_clients();
  for (const std::uint64_t bound : {1U, 3'000U, 10'000U}) {
    std::string checkpoint;
    ExplorationOptions options{.max_events = bound};
    options.save = [&](const std::string& text) { checkpoint = text; };
    const Exploration first = explored(scenario, options);
    CHECK(first.bound == "max-events");
    CHECK(!first.counts.complete);
    CHECK(first.counts.events >= bound);
    CHECK(first.counts.events < bound + 1'000);  // the last run is ended
    for (const unsigned jobs : {2U, 5U}) {
      CHECK(all_of(explored(scenario, {.max_events = bound, .jobs = jobs})) == all_of(first));
    }
    options.resume_from = checkpoint;
    CHECK(all_of(explored(scenario, options)) == all_of(first));
    options.max_events = bound * 2 + 1'000;
    options.save = nullptr;
    CHECK(explored(scenario, options).counts.events >= options.max_events);
  }
}

TEST_CASE("a world that does not end is no story to explore") {
  Scenario scenario = three_clients();
  scenario.clients.resize(2);
  for (ClientSpec& client : scenario.clients) client.rounds = 100'000;
  const auto result = explore(scenario, catalogue());
  REQUIRE(std::holds_alternative<Diagnostic>(result));
  CHECK(std::get<Diagnostic>(result).message.find("more than 16000 events, too long to explore all of them") !=
        std::string::npos);
}

TEST_CASE("the reduction changes no verdict and no margin, whatever may go wrong") {
  for (const Kind kind : kKinds) {
    // Crashes and jumps, at any time, have more orders.
    const bool is_an_event = kind == Kind::crash || kind == Kind::jump;
    const std::uint64_t all_max = is_an_event ? 6'000 : 1'500;
    std::uint64_t compared = 0;
    std::uint64_t violated = 0;
    std::uint64_t reduced_traces = 0;
    std::uint64_t all_traces = 0;
    for (std::uint64_t seed = 0; seed < kStories / 2; ++seed) {
      Scenario scenario = tiny_story(3'000 + seed, kind);
      scenario.resource.reset();
      scenario.network.latency.hi = scenario.network.latency.lo;
      if (kind != Kind::lose) scenario.network.timeout.reset();
      if (is_an_event && seed % 3 == 0) {
        scenario.clients.pop_back();
        for (std::string& who : scenario.may.front().who) who = who == "B" ? "A" : who;
      }
      const Exploration all = explored(scenario, {.reduction = false, .max_traces = all_max});
      if (!all.counts.complete) continue;
      const Exploration reduced = explored(scenario);
      ++compared;
      reduced_traces += reduced.counts.traces;
      all_traces += all.counts.traces;
      for (const ExploredProperty& property : all.properties) violated += property.verdict == Verdict::violated;
      INFO("story " << seed << '\n' << to_toml(scenario));
      CHECK(verdicts_of(reduced) == verdicts_of(all));
      // In which traces a mark is met may differ, but not whether.
      for (std::size_t i = 0; i < all.marks.size(); ++i) {
        INFO(all.marks[i].name);
        CHECK((reduced.marks[i].traces > 0) == (all.marks[i].traces > 0));
      }
    }
    WARN(compared << " compared, " << violated << " violations, " << reduced_traces << " of " << all_traces
                  << " traces");
    if (kStories < 10) continue;  // too few to say that they are not vacuous
    CHECK(compared > 0);
    CHECK(violated > 0);
    CHECK(reduced_traces < all_traces);
  }
}

TEST_CASE("search: a bound in seconds also ends a branch that takes long") {
  ExplorationOptions options;
  std::atomic<int> asked{0};
  options.stopwatch = [&] { return 0.25 * ++asked; };
  options.max_seconds = 1;
  const Exploration early = explored(three_clients(), options);
  CHECK(early.bound == "max-seconds");
  CHECK(!early.counts.complete);
  CHECK(early.counts.traces < 500);
  for (const ExploredProperty& property : early.properties) CHECK(property.verdict != checker::Verdict::holds);
  // As many questions as all of it takes, and it is all there.
  options.max_seconds = 1e9;
  CHECK(all_of(explored(three_clients(), options)) == all_of(explored(three_clients())));
}

}  // namespace lockstep::scenarios::exploration_search_test
