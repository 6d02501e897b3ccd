// Campaigns: they find what is there, what they find is so, and who plays them, how often they are stopped, makes no difference.

#include "scenarios/fuzzing/campaign.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <set>
#include <variant>

#include "scenarios/format/loader.hpp"
#include "scenarios/fuzzing/lock_mutants.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::campaign_test {
namespace {

using testing::catalogue;
using testing::parsed;

using models::locks::Catalogue;

/// A lock that gives way to a pause of more than 71ms (docs/manual/exploring.md), and to nothing below.
std::string margin_story(std::string_view longest) {
  return R"(
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
[[may]]
kind = "pause"
length = ["0ms", ")" +
         std::string(longest) + "\"]\n";
}

std::vector<FuzzTarget> two_targets() {
  return {target_of(parsed(margin_story("200ms")), catalogue()), target_of(*catalogue().find("set-nx-px-lua"))};
}

/// With few cases one that breaks at once, and for one reason: to make findings small takes nearly all of the time.
std::vector<FuzzTarget> targets_with_findings() {
  if (!sim::takes_few_cases()) return two_targets();
  return {target_of(parsed(margin_story("10s")), catalogue())};
}

/// With sanitizers mostly without making findings small, which takes nearly all of the time there.
const bool kShrinks = !sim::takes_few_cases();

std::string played(FuzzOptions options, int batches, std::vector<FuzzTarget> targets) {
  Campaign campaign(std::move(targets), catalogue(), std::move(options));
  for (int i = 0; i < batches; ++i) REQUIRE(campaign.step());
  return to_text(campaign.state());
}

Outcome run_text(const std::string& text) {
  auto read = parse(text, "found.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&read)) FAIL(problem->to_string() << "\n" << text);
  auto result = run(std::get<Scenario>(read), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::move(std::get<Outcome>(result));
}

bool is_violated(const Scenario& story, std::string_view property) {
  const auto result = run(story, catalogue());
  const auto* outcome = std::get_if<Outcome>(&result);
  return outcome != nullptr &&
         std::any_of(outcome->properties.begin(), outcome->properties.end(), [&](const Judgement& j) {
           return j.finding.property == property && j.finding.verdict == checker::Verdict::violated;
         });
}

}  // namespace

TEST_CASE("campaign: the same on any number of threads") {
  const int batches = 1;
  const auto with = [&](std::size_t jobs) {
    return played({.seed = 5, .jobs = jobs}, batches, targets_with_findings());
  };
  const std::string one = with(1);
  CHECK(one == with(2));
  if (!sim::takes_few_cases()) CHECK(one == with(5));
  const auto read = parse_campaign(one);
  CHECK_FALSE(std::get<CampaignState>(read).findings.empty());
}

TEST_CASE("campaign: units that were begun before their batch make no difference") {
  // The more threads, the more of them; and the earlier batches show much that such a unit took for new.
  const int batches = sim::cases(6, 2);
  const auto with = [&](std::size_t jobs) {
    return played({.seed = 11, .jobs = jobs, .shrinks = false}, batches, two_targets());
  };
  const std::string one = with(1);
  for (const std::size_t jobs : {2U, 7U, 40U}) CHECK(one == with(jobs));
}

TEST_CASE("campaign: whoever interrupts it loses what was begun, and nothing else") {
  const FuzzOptions options{.seed = 11, .jobs = 7, .shrinks = false};
  const std::string whole = played(options, 2, two_targets());
  std::atomic<int> asked{0};
  FuzzOptions interrupted = options;
  // In the middle of the second batch, once.
  interrupted.interrupted = [&] { return ++asked == 100; };
  Campaign campaign(two_targets(), catalogue(), interrupted);
  int batches = 0;
  int lost = 0;
  while (batches < 2) ++(campaign.step() ? batches : lost);
  CHECK(lost == 1);
  CHECK(to_text(campaign.state()) == whole);
}

TEST_CASE("campaign: whoever goes on from its state comes to the same, wherever it stopped") {
  const int batches = 2;
  const std::string whole = played({.seed = 9, .jobs = 2, .shrinks = kShrinks}, batches, two_targets());
  for (int stop = 0; stop < batches; ++stop) {
    const std::string state = played({.seed = 9, .jobs = 2, .shrinks = kShrinks}, stop, two_targets());
    auto read = parse_campaign(state);
    REQUIRE(std::holds_alternative<CampaignState>(read));
    CHECK(to_text(std::get<CampaignState>(read)) == state);
    Campaign campaign(two_targets(), catalogue(), {.seed = 9, .jobs = 1, .shrinks = kShrinks});
    REQUIRE_FALSE(campaign.restore(std::get<CampaignState>(std::move(read))));
    for (int i = stop; i < batches; ++i) REQUIRE(campaign.step());
    CHECK(to_text(campaign.state()) == whole);
  }
}

TEST_CASE("campaign: a state of another campaign is refused") {
  auto read = parse_campaign(played({.seed = 9, .shrinks = kShrinks}, 1, two_targets()));
  REQUIRE(std::holds_alternative<CampaignState>(read));
  const CampaignState& state = std::get<CampaignState>(read);
  const auto refuses = [&](std::vector<FuzzTarget> targets, FuzzOptions options) {
    Campaign campaign(std::move(targets), catalogue(), std::move(options));
    return campaign.restore(state).has_value();
  };
  CHECK_FALSE(refuses(two_targets(), {.seed = 9, .jobs = 3, .shrinks = kShrinks}));
  CHECK(refuses(two_targets(), {.seed = 10, .shrinks = kShrinks}));
  CHECK(refuses(two_targets(), {.seed = 9, .shrinks = !kShrinks}));
  CHECK(refuses(two_targets(), {.seed = 9, .coverage = false, .shrinks = kShrinks}));
  CHECK(refuses(two_targets(), {.seed = 9, .shard = 1, .shards = 2, .shrinks = kShrinks}));
  CHECK(refuses({two_targets().front()}, {.seed = 9, .shrinks = kShrinks}));
  CHECK(refuses({two_targets().back(), two_targets().front()}, {.seed = 9, .shrinks = kShrinks}));
}

TEST_CASE("campaign: a torn or changed state is known for what it is") {
  const std::string state = played({.seed = 9, .shrinks = kShrinks}, 1, two_targets());
  sim::Random random(1);
  for (int i = 0; i < 300; ++i) {
    CHECK(std::holds_alternative<std::string>(parse_campaign(state.substr(0, random.below(state.size())))));
    std::string changed = state;
    char& at = changed[random.below(changed.size())];
    at = static_cast<char>(at ^ static_cast<char>(1 + random.below(127)));
    CHECK(std::holds_alternative<std::string>(parse_campaign(changed)));
  }
  CHECK(std::holds_alternative<std::string>(parse_campaign("")));
  const auto older = parse_campaign("lockstep campaign 1\n" + state.substr(state.find('\n') + 1));
  REQUIRE(std::holds_alternative<std::string>(older));
  CHECK(std::get<std::string>(older).find("it is of an earlier version") == 0);
}

TEST_CASE("campaign: shards play different worlds, and together those of one") {
  const auto worlds = [](std::uint64_t shard, std::uint64_t shards, int batches) {
    // Without coverage all worlds are fresh ones.
    Campaign campaign({target_of(*catalogue().find("set-nx-px-lua"))}, catalogue(),
                      {.seed = 3, .shard = shard, .shards = shards, .shrinks = false});
    for (int i = 0; i < batches; ++i) campaign.step();
    std::set<std::uint64_t> seeds;
    for (const FuzzSeed& seed : campaign.state().corpus) seeds.insert(seed.world);
    return seeds;
  };
  const std::set<std::uint64_t> first = worlds(0, 2, 1);
  const std::set<std::uint64_t> second = worlds(1, 2, 1);
  REQUIRE(first.size() > 3);
  REQUIRE(second.size() > 3);
  for (const std::uint64_t seed : first) CHECK(second.count(seed) == 0);
}

TEST_CASE("campaign: what it finds is replayed, and needs every one of its faults and clients") {
  Campaign campaign({target_of(parsed(margin_story("10s")), catalogue()), target_of(*catalogue().find("redlock-seq")),
                     target_of(*catalogue().find("setnx-ts-del-setnx"))},
                    catalogue(), {.jobs = 2, .as_written = false});
  const int batches = sim::cases(2, 1);
  for (int i = 0; i < batches; ++i) REQUIRE(campaign.step());
  const CampaignState& state = campaign.state();
  CHECK(state.findings.size() >= sim::cases<std::size_t>(6, 1));
  std::set<std::string> names;
  std::size_t minimal = 0;
  for (const FuzzFinding& finding : state.findings) {
    INFO(finding.text);
    names.insert(finding.name);
    CHECK(run_text(finding.text).as_expected);
    auto read = parse(finding.text, "found.toml", catalogue());
    const Scenario story = std::get<Scenario>(read);
    CHECK(is_violated(story, finding.property));
    minimal += finding.is_minimal ? 1 : 0;
    if (!finding.is_minimal) continue;
    for (std::size_t i = 0; i < story.faults.size(); ++i) {
      Scenario smaller = story;
      smaller.schedule.clear();
      smaller.faults.erase(smaller.faults.begin() + static_cast<std::ptrdiff_t>(i));
      if (story.schedule.empty()) CHECK_FALSE(is_violated(smaller, finding.property));
    }
  }
  CHECK(names.size() == state.findings.size());
  CHECK(minimal * 2 > state.findings.size());
}

TEST_CASE("campaign: what check proves within its bounds it does not break, and just beyond it does") {
  const auto found = [](std::string_view longest) {
    Campaign campaign({target_of(parsed(margin_story(longest)), catalogue())}, catalogue(),
                      {.max_runs = sim::cases<std::uint64_t>(60'000, 4'000), .jobs = 2, .as_written = true});
    while (!campaign.first_violation(0, "mutual-exclusion") && campaign.step()) {
    }
    return campaign.first_violation(0, "mutual-exclusion").has_value();
  };
  CHECK_FALSE(found("71ms"));
  CHECK(found("80ms"));
}

TEST_CASE("campaign: every mistake of docs/evidence/lock-mutants.md is found, and not where it was not made") {
  for (const LockMutant& mutant : lock_mutants()) {
    INFO(mutant.name);
    const Catalogue with = catalogue_with(mutant);
    const auto found = [&](const Scenario& story, std::uint64_t runs) {
      FuzzTarget target = target_of(story, with);
      target.properties = {std::string(mutant.property)};
      Campaign campaign({std::move(target)}, with, {.max_runs = runs, .jobs = 2, .as_written = true, .shrinks = false});
      while (!campaign.first_violation(0, mutant.property) && campaign.step()) {
      }
      return campaign.first_violation(0, mutant.property).has_value();
    };
    CHECK(found(story_of(mutant, with), sim::cases<std::uint64_t>(20'000, 20'000)));
    CHECK_FALSE(found(repaired_story_of(mutant, with), sim::cases<std::uint64_t>(4'000, 400)));
  }
}

TEST_CASE("campaign: joining two keeps each cause once, under names of their own") {
  auto one = parse_campaign(played({.seed = 5, .jobs = 2}, 1, targets_with_findings()));
  auto other = parse_campaign(played({.seed = 6, .jobs = 2}, 1, targets_with_findings()));
  CampaignState all;
  merge_into(all, std::get<CampaignState>(one));
  const std::size_t before = all.findings.size();
  REQUIRE(before > 0);
  CHECK(before == std::get<CampaignState>(one).findings.size());
  merge_into(all, std::get<CampaignState>(one));
  CHECK(all.findings.size() == before);
  merge_into(all, std::get<CampaignState>(other));
  // Some of what they found is the same.
  CHECK(all.findings.size() < before + std::get<CampaignState>(other).findings.size());
  std::set<std::string> causes;
  std::set<std::string> names;
  for (const FuzzFinding& finding : all.findings) {
    causes.insert(finding.cause);
    names.insert(finding.name);
  }
  CHECK(causes.size() == all.findings.size());
  CHECK(names.size() == all.findings.size());
}

}  // namespace lockstep::scenarios::campaign_test
