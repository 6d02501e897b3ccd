// What is written reads back as what it was.

#include "scenarios/format/writer.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <rapidcheck/catch.h>

#include "scenarios/exploring/oracles/random_scenario.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/loader_samples.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::writer_test {
namespace {

using sim::Duration;
using sim::DurationRange;
using sim::Random;

Scenario parsed(const std::string& text, const std::string& file, const models::locks::Catalogue& catalogue) {
  auto result = parse(text, file, catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::move(std::get<Scenario>(result));
}

/// Anything that UTF-8 has, also what TOML must escape; not blank.
std::string random_text(Random& random) {
  static constexpr std::string_view pieces[] = {
      "lock", " ",    "  ", "\"",  "\"\"\"", "\\", "\n", "\t",     "\r\n", "锁已过期",         "，",  "。",  "é",
      "\x7f", "\x01", "'",  "\\n", "]",      "=",  "#",  "word, ", "a ",   "\xF0\x9F\x94\x92", "'''", "\\ ", " \\\n  "};
  std::string text = "x";
  for (std::uint64_t i = random.below(60); i > 0; --i) text += pieces[random.below(std::size(pieces))];
  return text;
}

Duration random_duration(Random& random, bool may_be_negative = false) {
  static constexpr std::int64_t units[] = {1, 1'000, 1'000'000, 1'000'000'000, 60'000'000'000};
  const Duration d = Duration::nanoseconds(random.between(0, 2000) * units[random.below(std::size(units))]);
  return may_be_negative && random.one_in(2) ? -d : d;
}

DurationRange random_range(Random& random, bool may_be_negative = false) {
  const Duration a = random_duration(random, may_be_negative);
  const Duration b = random_duration(random, may_be_negative);
  return random.one_in(3) ? DurationRange::exactly(a) : DurationRange{std::min(a, b), std::max(a, b)};
}

ClockSpec random_clock(Random& random) {
  ClockSpec clock;
  if (random.one_in(2)) clock.offset = random_duration(random, true);
  if (random.one_in(2)) clock.drift_ppm = random.between(-500'000, 500'000);
  if (random.one_in(2)) clock.uptime = random_duration(random);
  return clock;
}

template <class T>
const T& one_of(Random& random, const std::vector<T>& from) {
  return from[random.below(from.size())];
}

/// A scenario that uses whatever a file can say, sense or not.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Scenario operator()() {
    s_.file = s_.id = "x";
    for (Text* text : {&s_.title, &s_.story, &s_.lesson}) *text = {random_text(random_), random_text(random_)};
    if (random_.one_in(2)) s_.source = random_text(random_);
    if (random_.one_in(2)) s_.reproduces = {"F000-2", "F001-2"};
    s_.cost = one_of(random_, std::vector{Cost::fast, Cost::slow, Cost::rare});
    lock();
    if (random_.one_in(2)) s_.network.latency = random_range(random_);
    s_.network.timeout = random_duration(random_);
    servers();
    if (random_.one_in(2)) {
      s_.resource = ResourceSpec{.kind = random_.one_in(2) ? ResourceSpec::Kind::counter : ResourceSpec::Kind::reg,
                                 .fenced = random_.one_in(2),
                                 .latency = std::nullopt};
      if (random_.one_in(2)) s_.resource->latency = random_range(random_);
    }
    clients();
    for (std::uint64_t i = random_.below(5); i > 0; --i) fault();
    for (std::uint64_t i = random_.below(4); i > 0; --i) may();
    random_.one_in(2) ? pin() : schedule();
    if (random_.one_in(3)) s_.fair_overtakings = random_.between(0, 1000);
    if (random_.one_in(2)) s_.recover_within = random_duration(random_);
    if (random_.one_in(2)) s_.deadlock_lasting = random_duration(random_);
    expect();
    return s_;
  }

 private:
  void lock() {
    s_.lock.algorithm = "sample";
    if (random_.one_in(2)) s_.lock.key = random_text(random_);
    auto& p = s_.lock.parameters;
    if (random_.one_in(2)) p.emplace("ttl", std::max(random_duration(random_), sim::Duration::milliseconds(1)));
    if (random_.one_in(2)) p.emplace("retry", random_range(random_));
    if (random_.one_in(2)) p.emplace("attempts", random_.between(1, 9));
    if (random_.one_in(2)) p.emplace("unlock_all", random_.one_in(2));
    if (random_.one_in(2)) p.emplace("mode", std::string(random_.one_in(2) ? "strict" : "lenient"));
  }

  void servers() {
    const std::uint64_t count = 1 + random_.below(3);
    const bool are_alike = random_.one_in(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      ServerSpec server;
      server.name = count == 1 ? "redis" : "redis" + std::to_string(i + 1);
      if (!are_alike) {
        if (random_.one_in(3)) server.name = "node-" + std::to_string(i);
        if (random_.one_in(2)) server.clock = random_clock(random_);
        if (random_.one_in(2)) server.latency = random_range(random_);
      }
      servers_.push_back(server.name);
      s_.servers.push_back(std::move(server));
    }
  }

  void clients() {
    ClientSpec client;
    for (std::uint64_t i = 0, count = 1 + random_.below(5); i < count; ++i) {
      if (!random_.one_in(3)) client = random_client();
      client.name = "C" + std::to_string(i);
      clients_.push_back(client.name);
      s_.clients.push_back(client);
    }
  }

  ClientSpec random_client() {
    ClientSpec client;
    if (random_.one_in(2)) client.acquire_at = random_range(random_);
    if (random_.one_in(2)) client.clock = random_clock(random_);
    if (random_.one_in(4)) {
      client.commands.push_back({models::redis::Command{"SET", random_text(random_), ""}, {}});
      client.commands.push_back({models::redis::Command{"DEL", "lock"}, {}});
      return client;
    }
    if (random_.one_in(2)) client.hold = random_range(random_);
    if (random_.one_in(3)) client.locks = {"a", random_text(random_)};
    if (random_.one_in(2)) client.rounds = random_.between(1, 5);
    if (random_.one_in(2)) client.between = random_range(random_);
    if (random_.one_in(2)) client.attempts = random_.between(1, 5);
    if (random_.one_in(2)) client.retry = random_range(random_);
    client.release = random_.one_in(2);
    // The sample has no questions to answer.
    if (client.release && random_.one_in(3)) client.finally.assign(1 + random_.below(3), models::locks::Call::unlock);
    return client;
  }

  std::string message() {
    std::vector<std::string> steps{"SET", "SETNX", "SCRIPT LOAD"};
    if (s_.resource) steps.insert(steps.end(), {"read", "write"});
    return one_of(random_, steps);
  }

  void fault() {
    FaultSpec& fault = s_.faults.emplace_back();
    fault.kind = sim::planned_fault_kinds()[random_.below(sim::kPlannedFaultKinds)].second;
    Trigger& trigger = fault.trigger;
    if (cuts_off(fault.kind)) {
      fault.between = {{clients_.front()}, {servers_.front()}};
      if (s_.resource) fault.between[1].push_back("resource");
      trigger.time = random_duration(random_);
      fault.length = DurationRange::exactly(random_duration(random_));
      return;
    }
    if (strikes_message(fault.kind)) {
      fault.who = one_of(random_, clients_);
      trigger = {.kind = Trigger::Kind::sent, .time = {}, .step = message(), .occurrence = random_.between(1, 3)};
      fault.direction = random_.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply;
      if (lasts(fault.kind)) fault.length = DurationRange::exactly(random_duration(random_));
      return;
    }
    const bool of_server = !may_name(fault.kind, sim::Whose::clients) || random_.one_in(3);
    fault.who = one_of(random_, of_server ? servers_ : clients_);
    if (random_.one_in(3)) {
      trigger.time = random_duration(random_);
    } else if (of_server) {
      trigger = {.kind = Trigger::Kind::after,
                 .time = {},
                 .step = one_of(random_, clients_) + ".SET",
                 .occurrence = random_.between(1, 3)};
    } else {
      trigger.kind = static_cast<Trigger::Kind>(1 + random_.below(3));
      std::vector<std::string> steps{message(), "acquire", "release"};
      if (trigger.kind == Trigger::Kind::after) {
        steps.insert(steps.end(), {"start", "work", "sleep", "timeout", "reset"});
      }
      trigger.step = one_of(random_, steps);
      trigger.occurrence = random_.between(1, 3);
    }
    if (lasts(fault.kind)) fault.length = DurationRange::exactly(random_duration(random_));
    if (moves_clock(fault.kind)) fault.by = DurationRange::exactly(random_duration(random_, true));
    if (may_come_back(fault.kind)) {
      if (random_.one_in(2)) fault.restart_after = DurationRange::exactly(random_duration(random_));
      fault.keep = of_server && random_.one_in(2);
    }
  }

  void may() {
    MaySpec& may = s_.may.emplace_back();
    may.kind = sim::kFaultKinds[random_.below(sim::kFaultKinds.size())];
    const bool of_message = strikes_message(may.kind);
    const bool of_server = !may_name(may.kind, sim::Whose::clients) || (!of_message && random_.one_in(3));
    if (of_server || random_.one_in(2)) may.who = {one_of(random_, of_server ? servers_ : clients_)};
    if (cuts_off(may.kind) && random_.one_in(2)) {
      may.who.clear();
      may.between = {{one_of(random_, clients_)}, {one_of(random_, servers_)}};
    }
    if (lasts(may.kind)) may.length = random_range(random_);
    const bool has_during = entry_of(may.kind).limited != sim::Limited::no && !of_server;
    if (has_during && random_.one_in(2)) {
      may.during = static_cast<sim::Activity>(random_.below(5));
      const bool is_background = of_message || freezes(may.kind);
      if (may.during == sim::Activity::work && is_background) may.during = sim::Activity::acquire;
    }
    if (of_message && random_.one_in(2)) may.message = message();
    if (of_message && random_.one_in(2)) {
      may.direction = random_.one_in(2) ? FaultSpec::Direction::request : FaultSpec::Direction::reply;
    }
    if (moves_clock(may.kind)) may.length = random_range(random_, true);
    if (may_come_back(may.kind)) {
      if (random_.one_in(2)) may.restart_after = random_range(random_);
      may.keep = of_server && random_.one_in(2);
    }
    may.times = random_.between(1, 3);
  }

  void pin() {
    for (std::int64_t i = random_.between(0, 12); i > 0; --i) {
      PinEntry entry{one_of(random_, clients_), message(), std::nullopt, "", {}};
      if (random_.one_in(2)) entry.occurrence = i;
      if (entry.command != "read" && entry.command != "write" && random_.one_in(2)) {
        entry.server = one_of(random_, servers_);
      }
      s_.pin.push_back(std::move(entry));
    }
  }

  void schedule() {
    Duration now;
    for (std::int64_t i = random_.between(0, 12); i > 0; --i) {
      now += random_duration(random_);
      ScheduleEntry entry;
      entry.time = now;
      entry.what = static_cast<sim::EventName::What>(random_.below(10));
      entry.occurrence = i;
      if (sim::EventName::is_of_request(entry.what)) {
        entry.process = one_of(random_, clients_);
        entry.step = message();
        if (entry.step != "read" && entry.step != "write" && random_.one_in(2)) {
          entry.server = one_of(random_, servers_);
        }
      } else {
        entry.process = one_of(random_, random_.one_in(2) ? servers_ : clients_);
      }
      s_.schedule.push_back(std::move(entry));
    }
  }

  void expect() {
    if (random_.one_in(2)) {
      s_.expect_run.push_back({.property = "own-release", .verdict = checker::Verdict::holds});
      s_.expect_run.push_back({.property = "mutual-exclusion", .verdict = checker::Verdict::violated});
      Expectation& second = s_.expect_run.back();
      if (random_.one_in(2)) second.violated_by = {clients_.front()};
      if (random_.one_in(2)) second.at = random_duration(random_);
      s_.expect_run.push_back({.property = "fencing", .verdict = checker::Verdict::unknown});
    }
    if (random_.one_in(2)) {
      s_.expect_check.push_back({.property = "mutual-exclusion", .verdict = checker::Verdict::violated});
      for (const MaySpec& may : s_.may) {
        if (may.kind == MaySpec::Kind::pause) s_.expect_check.back().from["pause"] = "91ms";
        if (may.kind == MaySpec::Kind::skew) s_.expect_check.back().from["skew"] = "-91ms";
        if (may.kind == MaySpec::Kind::delay) s_.expect_check.back().from["delay"] = "91ms";
        if (may.kind == MaySpec::Kind::partition) s_.expect_check.back().from["partition"] = "91ms";
        if (may.restart_after) s_.expect_check.back().from["restart_after"] = "91ms";
      }
    }
    if (random_.one_in(2)) s_.expect_traces = random_.between(1, 1000);
  }

  Random random_;
  Scenario s_;
  std::vector<std::string> servers_;
  std::vector<std::string> clients_;
};

}  // namespace

TEST_CASE("every story of the project is written as it was read") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t stories = 0;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = load(file, catalogue);
    REQUIRE(std::holds_alternative<Scenario>(loaded));
    const auto& story = std::get<Scenario>(loaded);
    const std::string text = to_toml(story);
    INFO(text);
    CHECK(without_positions(parsed(text, story.file, catalogue)) == without_positions(story));
    ++stories;
  }
  CHECK(stories > 30);
}

TEST_CASE("the sample with every table is written as it was read") {
  const models::locks::Catalogue catalogue = samples::catalogue();
  const Scenario scenario = parsed(std::string(samples::kGood), "x", catalogue);
  const std::string text = to_toml(scenario);
  INFO(text);
  CHECK(without_positions(parsed(text, "x", catalogue)) == without_positions(scenario));
}

TEST_CASE("whatever a file can say is written as it was") {
  const models::locks::Catalogue catalogue = samples::catalogue();
  rc::prop("parse(write(s)) == s", [&] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Scenario scenario = Generator(seed)();
    const std::string text = to_toml(scenario);
    const auto result = parse(text, "x", catalogue);
    if (const auto* problem = std::get_if<Diagnostic>(&result)) RC_FAIL(problem->to_string() + "\n" + text);
    if (without_positions(std::get<Scenario>(result)) != scenario) RC_FAIL("another story:\n" + text);
  });
}

TEST_CASE("a random world that was written and read runs as it did") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t ran = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Scenario scenario = random_scenario(seed, catalogue);
    scenario.title = scenario.story = scenario.lesson = {"t", "z"};
    const std::string text = to_toml(scenario);
    INFO(text);
    const Scenario again = parsed(text, scenario.file, catalogue);
    REQUIRE(without_positions(again) == scenario);
    const auto one = run(scenario, catalogue);
    const auto other = run(again, catalogue);
    REQUIRE(one.index() == other.index());
    if (const auto* outcome = std::get_if<Outcome>(&one)) {
      CHECK(outcome->digest == std::get<Outcome>(other).digest);
      ++ran;
    }
  }
  CHECK(ran > 250);
}

TEST_CASE("a long text is broken where a reader would break it, and says the same") {
  const models::locks::Catalogue catalogue = samples::catalogue();
  Scenario scenario = parsed(std::string(samples::kLeast), "x", catalogue);
  scenario.story.en =
      "A is paused for 72ms, and while it sleeps the key expires; B takes the lock and works beside A, "
      "which wakes up and knows nothing.";
  const std::string text = to_toml(scenario);
  CHECK(text.find("en = \"\"\"\nA is paused for 72ms, and while it sleeps the key expires; B takes the lock and works "
                  "beside A, which wakes \\\nup and knows nothing.\"\"\"\n") != std::string::npos);
  CHECK(parsed(text, "x", catalogue).story.en == scenario.story.en);
}

}  // namespace lockstep::scenarios::writer_test
