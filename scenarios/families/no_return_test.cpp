// The point of no return against runs: of tiny stories all of them on a grid of milliseconds, one after the other and without any reduction; of a larger one random continuations.
// These share the world with the search, and nothing else.

#include "scenarios/families/no_return.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/in_tree.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::no_return_test {
namespace {

using testing::catalogue;
using testing::parsed;

using sim::Duration;
using namespace sim::literals;
using Answer = NoReturn::Answer;

/// All answers to all questions, one run each.
class AllAnswers final : public sim::Decisions {
 public:
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId) override {
    if (choice != sim::Choice::delay && choice != sim::Choice::order) return 0;
    if (next_ == digits_.size()) digits_.push_back({options, 0});
    return digits_[next_++].second;
  }
  bool advance() {
    digits_.resize(next_);
    next_ = 0;
    while (!digits_.empty() && digits_.back().second + 1 == digits_.back().first) digits_.pop_back();
    if (digits_.empty()) return false;
    ++digits_.back().second;
    return true;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> digits_;
  std::size_t next_ = 0;
};

/// The moment and the end of the pause of the run, if it has one.
struct RunPause {
  Duration from;
  Duration until;
  bool is_after_event = false;
  sim::ProcessId process;
};

std::optional<RunPause> pause_of(const NoReturn& found, const Outcome& outcome) {
  for (const sim::Interruption& pause : outcome.history.interruptions) {
    if (pause.kind != sim::Interruption::Kind::pause) continue;
    return RunPause{pause.from.offset(), pause.until->offset(),
                    !found.witness.faults.empty() && found.witness.faults.front().trigger.kind != Trigger::Kind::at,
                    pause.process};
  }
  return std::nullopt;
}

bool breaks(const Outcome& outcome, std::string_view property) {
  return std::any_of(outcome.properties.begin(), outcome.properties.end(), [&](const Judgement& judgement) {
    return judgement.finding.property == property && judgement.finding.verdict == checker::Verdict::violated;
  });
}

/// How many of the run's first events another run begins with, and nothing else.
std::size_t common_past(const NoReturn& found, const std::optional<RunPause>& pause, const Outcome& other) {
  std::vector<const sim::TraceRecord*> rest;
  for (const sim::TraceRecord& record : other.trace.records) {
    if (record.kind != sim::EventKind::fault && !record.lost &&
        other.lanes[record.process.index].role != Lane::Role::probe)
      rest.push_back(&record);
  }
  const std::optional<RunPause> own = pause_of(found, other);
  std::size_t longest = 0;
  for (std::size_t length = 1; length <= found.events.size(); ++length) {
    const NoReturnEvent& last = found.events[length - 1];
    const auto known =
        std::find_if(rest.begin(), rest.end(), [&](const auto* record) { return record->id == last.id; });
    if (known == rest.end() || (*known)->at.offset() != last.at || last.at >= found.violated_at) break;
    const Duration now = last.at;
    // What the same process did before is of the past, too, though it was at the same moment.
    const bool is_next =
        std::none_of(rest.begin(), known, [&](const auto* record) { return record->process == last.process; });
    if (!is_next) break;
    rest.erase(known);
    const bool is_alone =
        std::all_of(rest.begin(), rest.end(), [&](const auto* record) { return record->at.offset() >= now; });
    const bool has_struck = pause && (pause->is_after_event ? pause->from <= now : pause->from < now);
    bool is_as = true;
    if (has_struck) {
      is_as = own && own->from == pause->from && (pause->until <= now ? own->until == pause->until : own->until >= now);
    } else if (own) {
      is_as = own->from >= now;
    }
    if (is_alone && is_as) longest = length;
  }
  return longest;
}

/// The longest past of the run that some run on the grid goes on from without breaking the property. Nothing: each breaks it from the beginning.
std::optional<std::size_t> avoidable_on_grid(const Scenario& story, const NoReturn& found, Duration longest_pause) {
  const auto ran = run(found.witness, catalogue(), {.trace = true});
  const auto pause = pause_of(found, std::get<Outcome>(ran));
  std::vector<Scenario> variants{story};
  if (pause) {
    const Duration least = std::max(1_ms, story.may.front().length.lo);
    for (Duration length = least; length <= longest_pause; length += 3_ms) {
      Scenario& variant = variants.emplace_back(story);
      variant.faults = found.witness.faults;
      variant.faults.front().length = sim::DurationRange::exactly(length);
    }
  }
  std::optional<std::size_t> longest;
  for (const Scenario& variant : variants) {
    AllAnswers answers;
    do {
      const auto result = run(variant, catalogue(), {.decisions = &answers, .tick = 1_ms, .trace = true});
      const auto& outcome = std::get<Outcome>(result);
      if (breaks(outcome, found.property)) continue;
      const std::size_t common = common_past(found, pause, outcome);
      if (!longest || *longest < common) longest = common;
    } while (answers.advance());
  }
  return longest;
}

/// Two clients of one server; what is said of the lock, and of the second client, differs.
Scenario tiny(const std::string& algorithm, const std::string& hold, const std::string& second,
              const std::string& may) {
  return parsed("[lock]\nalgorithm = \"" + algorithm + "\"\nttl = \"6ms\"\n[network]\nlatency = [\"1ms\", \"2ms\"]\n" +
                "[[client]]\nname = \"A\"\nacquire_at = \"0ms\"\nattempts = 1\nhold = \"" + hold +
                "\"\n[[client]]\nname = \"B\"\nattempts = 1\nacquire_at = \"" + second + "\"\nhold = \"4ms\"\n" + may);
}

const std::string kPause = "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"9ms\"]\n";

const std::string kLongPause = "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"6ms\", \"9ms\"]\n";
struct Tiny {
  Scenario story;
  std::string property;
};

std::vector<Tiny> tiny_stories() {
  return {{tiny("set-nx-px-lua", "3ms", "7ms", kPause), "mutual-exclusion"},
          {tiny("set-nx-px-lua", "6ms", "6ms", ""), "mutual-exclusion"},
          {tiny("set-nx-px-plain-del", "6ms", "6ms", ""), "own-release"},
          {tiny("set-nx-px-lua", "3ms", "7ms", kPause), "linearizable"},
          // B has the lock when A, which is late, has not given it back yet.
          {tiny("set-nx-px-plain-del", "3ms", "6ms", ""), "own-release"},
          // A pause that has begun is long enough.
          {tiny("set-nx-px-plain-del", "2ms", "6ms", kLongPause), "own-release"}};
}

}  // namespace

TEST_CASE("no return: of tiny stories it is where all runs on a grid say that it is") {
  std::size_t at_event = 0;
  for (const Tiny& one : tiny_stories()) {
    const auto found = no_return(one.story, catalogue(), one.property);
    REQUIRE(found);
    INFO(one.property << " " << one.story.lock.algorithm << ": step " << found->step << " of " << found->events.size()
                      << ", answer " << static_cast<int>(found->answer) << ", broken at "
                      << sim::to_string(found->violated_at));
    CHECK(found->is_exact);
    const std::optional<std::size_t> on_grid = avoidable_on_grid(one.story, *found, 9_ms);
    REQUIRE(on_grid);
    CHECK(found->step == *on_grid);
    at_event += found->answer == Answer::at_event ? 1 : 0;
  }
  CHECK(at_event >= 1);
}

TEST_CASE("no return: the run's events are those of its witness") {
  const Tiny one = tiny_stories().front();
  const auto found = no_return(one.story, catalogue(), one.property);
  REQUIRE(found);
  const auto ran = run(found->witness, catalogue(), {.trace = true});
  const auto& records = std::get<Outcome>(ran).trace.records;
  for (const NoReturnEvent& event : found->events) {
    CHECK(std::any_of(records.begin(), records.end(), [&](const sim::TraceRecord& record) {
      return record.id == event.id && record.at.offset() == event.at && record.process == event.process;
    }));
  }
}

TEST_CASE("no return: what nobody can avoid is lost from the beginning, and what is kept has no such point") {
  const Scenario lost = tiny("set-nx-px-lua", "20ms", "10ms", "");
  const auto found = no_return(lost, catalogue(), "mutual-exclusion");
  REQUIRE(found);
  CHECK(found->answer == Answer::beginning);
  CHECK(!avoidable_on_grid(lost, *found, 0_ms));
  CHECK(!no_return(tiny("set-nx-px-lua", "1ms", "10ms", ""), catalogue(), "mutual-exclusion"));
  CHECK(!no_return(lost, catalogue(), "recoverable"));
}

namespace {

/// Continues the past of the run at random.
class RandomFuture final : public sim::Decisions {
 public:
  RandomFuture(const std::map<sim::EventId, std::uint64_t>& past, std::uint64_t seed) : past_(past), random_(seed) {}
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override {
    if (choice != sim::Choice::delay) return choice == sim::Choice::order ? random_.below(options) : 0;
    const auto known = past_.find(event);
    if (known != past_.end()) return std::min(known->second, options - 1);
    const std::uint64_t mood = random_.below(3);
    return mood == 0 ? 0 : mood == 1 ? options - 1 : random_.below(options);
  }

 private:
  const std::map<sim::EventId, std::uint64_t>& past_;
  sim::Random random_;
};

/// Whether one of many random runs with this past keeps the property.
bool is_avoided(const Scenario& story, const NoReturn& found, std::size_t length, int runs) {
  const auto ran = run(found.witness, catalogue(), {.trace = true});
  const auto& outcome = std::get<Outcome>(ran);
  const auto pause = pause_of(found, outcome);
  std::map<sim::EventId, std::uint64_t> past;
  for (std::size_t i = 0; i < length; ++i) {
    for (const sim::TraceRecord& record : outcome.trace.records) {
      if (record.id != found.events[i].id || record.kind == sim::EventKind::timer) continue;
      const Duration least = record.kind == sim::EventKind::message ? story.network.latency.lo : Duration::zero();
      Duration took = record.at.offset() - record.sent.offset() - least;
      if (pause && record.process == pause->process && record.at.offset() == pause->until &&
          record.sent.offset() < pause->from)
        took = pause->from - record.sent.offset() - least;
      past[record.id] = static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count_ns()));
    }
  }
  sim::Random random(length);
  for (int i = 0; i < runs; ++i) {
    Scenario variant = story;
    variant.faults = found.witness.faults;
    if (!variant.faults.empty() && random.below(2) == 0)
      variant.faults.front().length =
          sim::DurationRange::exactly(Duration::microseconds(static_cast<std::int64_t>(1 + random.below(150'000))));
    if (random.below(4) == 0) variant.faults.clear();
    RandomFuture future(past, random.below(1'000'000'000));
    const auto result = run(variant, catalogue(), {.decisions = &future, .tick = 1_ns, .trace = true});
    const auto* other = std::get_if<Outcome>(&result);
    if (other != nullptr && !breaks(*other, found.property) && common_past(found, pause, *other) >= length) return true;
  }
  return false;
}

}  // namespace

namespace {

struct Larger {
  const char* file;
  const char* property;
};

const std::vector<Larger> kLarger{{"redisson-source/f003-2-pause-margin.toml", "mutual-exclusion"},
                                  {"redisson-source/f003-2-pause-margin.toml", "linearizable"},
                                  {"redisson-source/f003-2-pause-outlives-lease.toml", "mutual-exclusion"},
                                  {"redisson-reentrant/f002-6-guard-then-expiry.toml", "mutual-exclusion"},
                                  {"redis-lock-java/f000-6-nanotime-solves-nothing.toml", "mutual-exclusion"}};

Scenario loaded(const std::string& file) {
  auto result = load(in_tree("scenarios/stories/" + file), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  Scenario story = std::get<Scenario>(std::move(result));
  story.faults.clear();
  story.pin.clear();
  return story;
}

}  // namespace

TEST_CASE("no return: random continuations from the step before avoid it, and none from it on") {
  for (const Larger& one : kLarger) {
    const Scenario story = loaded(one.file);
    const auto found = no_return(story, catalogue(), one.property);
    REQUIRE(found);
    INFO(one.file << ", " << one.property << ": step " << found->step << " of " << found->events.size() << ", answer "
                  << static_cast<int>(found->answer));
    const int runs = sim::cases(2'000, 100);
    CHECK(is_avoided(story, *found, found->step, runs));
    if (found->answer == Answer::at_event) CHECK_FALSE(is_avoided(story, *found, found->step + 1, runs));
  }
}

TEST_CASE("no return: mutants of the search say another step, which runs contradict") {
  for (const NoReturnMutant mutant : {NoReturnMutant::past_is_open, NoReturnMutant::faults_are_free,
                                      NoReturnMutant::one_way, NoReturnMutant::lengths_are_fixed}) {
    std::size_t wrong = 0;
    for (const Larger& one : kLarger) {
      const Scenario story = loaded(one.file);
      const auto found = no_return(story, catalogue(), one.property, {.mutant = mutant});
      REQUIRE(found);
      // Too late: nobody comes from there. Too early: somebody comes from the next step, which was said to be lost.
      const int runs = sim::cases(500, 100);
      const bool is_late = !is_avoided(story, *found, found->step, runs);
      const bool is_early = found->answer == Answer::at_event && is_avoided(story, *found, found->step + 1, runs);
      wrong += is_late || is_early ? 1 : 0;
    }
    INFO("mutant " << static_cast<int>(mutant));
    CHECK(wrong > 0);
  }
}

}  // namespace lockstep::scenarios::no_return_test
