// Families against plain runs: a story whose length was changed by hand is run, and shows the very events at the very times that the family says; on both sides of every
// border, and in between. The runs know nothing of slopes and bounds.

#include "scenarios/families/families.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "scenarios/families/family_story.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::families_test {
namespace {

using testing::catalogue;
using testing::parsed;

using sim::Duration;
using namespace sim::literals;
using Kind = sim::FaultKind;

Scenario loaded(const std::string& file) {
  auto result = load(in_tree("scenarios/stories/" + file), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  return std::get<Scenario>(std::move(result));
}

/// The story with another length, written here once more.
Scenario changed(Scenario story, const FamilyParameter& parameter, Duration value) {
  if (!parameter.fault) {
    story.network.latency = {value, std::max(value, story.network.latency.hi)};
    return story;
  }
  switch (*parameter.fault) {
    case Kind::jump: story.faults.at(parameter.index).by = {value, value}; return story;
    case Kind::crash: story.faults.at(parameter.index).restart_after = sim::DurationRange{value, value}; return story;
    case Kind::skew:
      for (ClientSpec& client : story.clients)
        if (client.name == parameter.who) client.clock.offset = value;
      for (ServerSpec& server : story.servers)
        if (server.name == parameter.who) server.clock.offset = value;
      return story;
    default: story.faults.at(parameter.index).length = {value, value}; return story;
  }
}

/// What a run shows otherwise than the piece does; empty: nothing.
std::string difference(const Scenario& story, const FamilyParameter& parameter, const FamilyPiece& piece, Duration p) {
  const auto ran = run(changed(story, parameter, p), catalogue(), {.trace = true, .max_events = 20'000});
  const auto* outcome = std::get_if<Outcome>(&ran);
  if (outcome == nullptr) return piece.impossible.empty() ? "it cannot happen" : "";
  if (!piece.impossible.empty()) return "it can happen";
  const std::vector<sim::TraceRecord>& records = outcome->trace.records;
  if (records.size() < piece.events.size()) return "less happens";
  for (std::size_t i = 0; i < piece.events.size(); ++i) {
    const FamilyEvent& event = piece.events[i];
    if (records[i].id != event.id || records[i].name != event.name) return "another event: " + records[i].name;
    if (records[i].sent.offset() != event.sent.at(p)) return "sent at another time: " + event.name;
    if (!event.lost && records[i].at.offset() != event.at.at(p)) return "at another time: " + event.name;
  }
  for (std::size_t i = 0; i < piece.verdicts.size(); ++i) {
    const auto& [property, verdict] = piece.verdicts[i];
    const bool is_known = verdict != checker::Verdict::unknown;
    if (is_known && outcome->properties[i].finding.verdict != verdict)
      return "another verdict on " + std::string(property);
  }
  const checker::Finding& exclusion = outcome->properties.front().finding;
  const bool has_overlap = exclusion.verdict == checker::Verdict::violated;
  if (has_overlap != !piece.overlaps.empty()) return "others believe at once";
  if (!has_overlap) return "";
  const auto first = std::min_element(piece.overlaps.begin(), piece.overlaps.end(),
                                      [&](const auto& a, const auto& b) { return a.from.at(p) < b.from.at(p); });
  return exclusion.at->offset() == first->from.at(p) ? "" : "they believe at once from another moment on";
}

struct Tally {
  std::size_t pieces = 0;
  std::size_t confirmed = 0;
  std::size_t wrong = 0;
};

/// Every confirmed piece, at both ends, and at some values between them.
Tally compared(const Scenario& story, const Family& family, std::uint64_t seed) {
  sim::Random random(seed);
  Tally tally;
  Duration next = family.parameter.range.lo;
  for (const FamilyPiece& piece : family.pieces) {
    CHECK(piece.from == next);
    CHECK(piece.from <= piece.to);
    next = piece.to + 1_ns;
    ++tally.pieces;
    if (!piece.is_confirmed) continue;
    ++tally.confirmed;
    std::vector<Duration> values{piece.from, piece.to};
    const auto width = static_cast<std::uint64_t>((piece.to - piece.from).count_ns()) + 1;
    for (int i = 0; i < 3; ++i)
      values.push_back(piece.from + Duration::nanoseconds(static_cast<std::int64_t>(random.below(width))));
    for (const Duration p : values) {
      const std::string what = difference(story, family.parameter, piece, p);
      if (what.empty()) continue;
      UNSCOPED_INFO(story.id << ", " << name_of(family.parameter) << " = " << sim::to_string(p) << ": " << what);
      ++tally.wrong;
    }
  }
  if (family.is_complete) CHECK(next == family.parameter.range.hi + 1_ns);
  return tally;
}

const std::vector<std::string> kStories{
    "redis-lock-java/f000-2-both-delete-expired.toml", "redisson-source/f003-2-pause-outlives-lease.toml",
    "redisson-source/f003-2-redlock-pause.toml", "redisson-source/f003-2-watchdog-pause.toml"};

}  // namespace

TEST_CASE("families: for every value of a length, runs show the very events and times, on both sides of each border") {
  Tally all;
  for (const std::string& file : kStories) {
    const Scenario story = loaded(file);
    const auto told = as_told(story);
    REQUIRE(told);
    for (const FamilyParameter& parameter : family_parameters(story, catalogue())) {
      const Family family = family_of(*told, catalogue(), parameter);
      const Tally tally = compared(story, family, 1);
      CHECK(tally.wrong == 0);
      all.pieces += tally.pieces;
      all.confirmed += tally.confirmed;
    }
  }
  CHECK(all.pieces > 100);
  CHECK(all.confirmed * 100 >= all.pieces * 95);
}

TEST_CASE("families: neighbours differ, so no piece could be longer") {
  const Scenario story = loaded(kStories.front());
  const auto told = as_told(story);
  REQUIRE(told);
  for (const FamilyParameter& parameter : family_parameters(story, catalogue())) {
    const Family family = family_of(*told, catalogue(), parameter);
    for (std::size_t i = 1; i < family.pieces.size(); ++i) {
      const FamilyPiece& before = family.pieces[i - 1];
      const FamilyPiece& after = family.pieces[i];
      if (before.from == before.to || after.from == after.to) continue;
      const auto same_line = [](const std::optional<LinearTime>& a, const std::optional<LinearTime>& b) {
        return a == b;
      };
      const bool same_holds = std::equal(
          before.holds.begin(), before.holds.end(), after.holds.begin(), after.holds.end(),
          [&](const FamilyHold& a, const FamilyHold& b) { return a.from == b.from && same_line(a.to, b.to); });
      CHECK((!same_holds || !difference(story, parameter, before, after.from).empty()));
    }
  }
}

TEST_CASE("families: of the 71ms story the two believe at once from just above 71ms on, as check says") {
  const Scenario story = loaded("redisson-source/f003-2-pause-margin.toml");
  const auto explored = explore(story, catalogue());
  const auto& exploration = std::get<Exploration>(explored);
  const StoryFamilies all = families_of(story, catalogue(), &exploration);
  const auto family = std::find_if(all.families.begin(), all.families.end(), [](const Family& f) {
    return f.property == "mutual-exclusion" && f.parameter.fault == Kind::pause;
  });
  REQUIRE(family != all.families.end());
  CHECK(family->is_complete);
  CHECK(family->parameter.range.hi == 10_s);
  REQUIRE(!family->margins.empty());
  CHECK(family->margins.front().property == "mutual-exclusion");
  CHECK(family->margins.front().kept_up_to == 71_ms);
  for (const FamilyPiece& piece : family->pieces) {
    CHECK(piece.is_confirmed);
    CHECK(piece.overlaps.empty() == (piece.to <= 71_ms));
    for (const FamilyOverlap& overlap : piece.overlaps) {
      REQUIRE(overlap.to);
      if (piece.from == 71_ms + 1_ns) CHECK(overlap.to->at(piece.from) - overlap.from.at(piece.from) == 1_ns);
      CHECK(overlap.from.slope == 0);
    }
  }
}

TEST_CASE("families: pauses, jumps, skews, late messages and partitions of a story by hand") {
  const std::string head = R"(
[lock]
algorithm = "getset-java"
ttl = "100ms"
[network]
latency = "2ms"
timeout = "300ms"
[[client]]
name = "A"
acquire_at = "0ms"
hold = "20ms"
CLOCK
[[client]]
name = "B"
acquire_at = "110ms"
hold = "30ms"
)";
  const auto with = [&](const std::string& clock, const std::string& rest) {
    std::string text = head + rest;
    text.replace(text.find("CLOCK"), 5, clock);
    return parsed(text);
  };
  const std::vector<Scenario> stories{
      with("", "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nafter = \"acquire\"\nlength = \"90ms\"\n"),
      with("",
           "[[fault]]\nkind = \"pause\"\nclient = \"A\"\nat = \"5ms\"\nlength = \"90ms\"\n[[fault]]\nkind = \"pause\"\n"
           "client = \"A\"\nat = \"15ms\"\nlength = \"30ms\"\n"),
      with("clock = { offset = \"-30ms\" }", ""),
      with("", "[[fault]]\nkind = \"delay\"\nclient = \"A\"\nmessage = \"SETNX\"\nlength = \"40ms\"\n"),
      with("",
           "[[fault]]\nkind = \"partition\"\nbetween = [[\"A\"], [\"redis\"]]\nfrom = \"1ms\"\nlength = \"50ms\"\n")};
  std::size_t confirmed = 0;
  for (const Scenario& story : stories) {
    const auto told = as_told(story);
    REQUIRE(told);
    std::size_t others = 0;
    for (const FamilyParameter& parameter : family_parameters(story, catalogue())) {
      others += parameter.fault ? 1 : 0;
      const Tally tally = compared(story, family_of(*told, catalogue(), parameter), 2);
      CHECK(tally.wrong == 0);
      confirmed += tally.confirmed;
    }
    CHECK(others >= 1);
  }
  CHECK(confirmed >= 20);
}

TEST_CASE("families: a witness's family never breaks its property with less than check's margin") {
  for (const char* file :
       {"redisson-source/f003-2-pause-outlives-lease.toml", "redisson-source/f003-2-redlock-pause.toml",
        "redisson-source/f003-2-watchdog-pause-fixed.toml"}) {
    const Scenario story = loaded(file);
    const auto explored = explore(story, catalogue());
    const auto& exploration = std::get<Exploration>(explored);
    const StoryFamilies all = families_of(story, catalogue(), &exploration);
    std::size_t equal = 0;
    for (const Family& family : all.families) {
      if (family.property.empty()) continue;
      for (const Threshold& threshold : exploration.property(family.property).thresholds) {
        for (const FamilyMargin& margin : family.margins) {
          if (margin.property != family.property || threshold.parameter != kind_of(family.parameter)) continue;
          CHECK(margin.broken_from >= threshold.infimum.value);
          equal += margin.kept_up_to == threshold.infimum.value && !threshold.infimum.attained ? 1 : 0;
        }
      }
    }
    CHECK(equal >= 1);
  }
}

TEST_CASE(
    "families: mutants are found out by the runs that confirm, and what confirms nothing by the runs of this test") {
  const Scenario story = loaded(kStories[1]);
  const auto told = as_told(story);
  const FamilyParameter pause = family_parameters(story, catalogue()).front();
  REQUIRE(pause.fault == Kind::pause);
  for (const FamilyMutant mutant :
       {FamilyMutant::forget_bound, FamilyMutant::late_border, FamilyMutant::stiff_pauses}) {
    FamilyOptions options;
    options.mutant = mutant;
    const Family family = family_of(*told, catalogue(), pause, options);
    CHECK(
        std::any_of(family.pieces.begin(), family.pieces.end(), [](const FamilyPiece& p) { return !p.is_confirmed; }));
    CHECK(compared(story, family, 3).wrong == 0);
  }
  // Timestamps that scripts and clients compare as text: their digits move in steps.
  const Scenario digits = loaded("redis-in-action-notes/f004-3-both-find-it-expired.toml");
  FamilyOptions options;
  options.mutant = FamilyMutant::no_confirmation;
  const auto parameters = family_parameters(digits, catalogue());
  CHECK(compared(digits, family_of(*as_told(digits), catalogue(), parameters.back(), options), 4).wrong > 0);
  CHECK(compared(digits, family_of(*as_told(digits), catalogue(), parameters.back()), 4).wrong == 0);
}

TEST_CASE("families: a cluster, whose executions have no end, is run and not taken for symbolic") {
  for (const char* file :
       {"consul/consul-stale-read.toml", "etcd/etcd-leader-dies.toml", "zookeeper/zk-leader-dies.toml"}) {
    INFO(file);
    const Scenario story = loaded(file);
    const auto told = as_told(story);
    REQUIRE(told);
    REQUIRE_FALSE(family_parameters(story, catalogue()).empty());
    FamilyOptions options;
    options.max_pieces = 3;
    const Family family = family_of(*told, catalogue(), family_parameters(story, catalogue()).front(), options);
    CHECK_FALSE(family.pieces.empty());
  }
}

TEST_CASE("families: what is stopped says so") {
  const Scenario story = loaded(kStories.front());
  FamilyOptions options;
  options.max_pieces = 3;
  const Family family = family_of(*as_told(story), catalogue(), family_parameters(story, catalogue()).front(), options);
  CHECK_FALSE(family.is_complete);
  CHECK(family.stopped.find("3 pieces") == 0);
}

TEST_CASE("planes: regions do not overlap, fill the plane, and runs in them show their verdicts") {
  const Scenario story = loaded(kStories.front());
  const auto parameters = family_parameters(story, catalogue());
  REQUIRE(parameters.size() == 2);
  const FamilyPlane plane = plane_of(*as_told(story), catalogue(), parameters[0], parameters[1]);
  CHECK(plane.is_complete);
  CHECK(plane.regions.size() > 10);
  const auto inside = [](const FamilyRegion& region, Duration x, Duration y) {
    for (std::size_t i = 0; i < region.corners.size(); ++i) {
      const auto& a = region.corners[i];
      const auto& b = region.corners[(i + 1) % region.corners.size()];
      const checker::Fraction px = checker::Fraction(x.count_ns()) - a.x;
      const checker::Fraction py = checker::Fraction(y.count_ns()) - a.y;
      if (((b.x - a.x) * py - (b.y - a.y) * px).sign() <= 0) return false;
    }
    return true;
  };
  sim::Random random(5);
  const auto drawn = [&](sim::DurationRange range) {
    return range.lo + Duration::nanoseconds(static_cast<std::int64_t>(
                          random.below(static_cast<std::uint64_t>((range.hi - range.lo).count_ns()))));
  };
  std::size_t found = 0;
  for (int i = 0; i < 200; ++i) {
    const Duration x = drawn(plane.x.range);
    const Duration y = drawn(plane.y.range);
    const auto is_here = [&](const FamilyRegion& region) { return inside(region, x, y); };
    CHECK(std::count_if(plane.regions.begin(), plane.regions.end(), is_here) <= 1);
    const auto region = std::find_if(plane.regions.begin(), plane.regions.end(), is_here);
    if (region == plane.regions.end()) continue;  // on a border
    ++found;
    const auto ran = run(changed(changed(story, plane.x, x), plane.y, y), catalogue());
    const auto& outcome = std::get<Outcome>(ran);
    CHECK(outcome.properties.front().finding.verdict == region->verdicts.front().verdict);
  }
  CHECK(found > 190);
}

TEST_CASE(
    "pause and skew add up: some run breaks it just where their sum is more than 72ms, and the map's run meets that") {
  // On paper: A stores a + 100ms and believes until a + 10ms + 20ms + P, where 10ms is the slowest SETNX; B, whose clock is D ahead, reads it 2ms before it has the lock. So both
  // believe at once for a moment if 10 + 20 - 2 + P + D > 100. Neither P nor D is more than 50ms: what is broken is a triangle of 28ms by 28ms.
  const Scenario story = loaded("redis-lock-java/f000-5-pause-and-skew.toml");
  const auto explored = explore(story, catalogue());
  const auto& exploration = std::get<Exploration>(explored);
  const ExploredProperty& exclusion = exploration.property("mutual-exclusion");
  CHECK(exclusion.frontier == "skew > 22ms and pause > 22ms and pause + skew > 72ms");
  REQUIRE(exclusion.region.pieces().size() == 1);
  const checker::Fraction lower(22'000'000), higher(50'000'000);
  CHECK(exclusion.region.pieces()[0].corners == std::vector<checker::FrontierCorner>{{lower, higher}, {higher, lower}});

  // The same asked at points on both sides, which runs can show: servers keep whole milliseconds.
  for (const auto& [pause, skew, breaks] :
       {std::tuple(36_ms, 36_ms, false), std::tuple(36_ms, 37_ms, true), std::tuple(22_ms, 50_ms, false),
        std::tuple(23_ms, 50_ms, true), std::tuple(50_ms, 22_ms, false), std::tuple(50_ms, 23_ms, true),
        std::tuple(0_ms, 50_ms, false), std::tuple(50_ms, 0_ms, false), std::tuple(50_ms, 50_ms, true)}) {
    Scenario less = story;
    less.may[0].length = {0_ms, pause};
    less.may[1].length = {0_ms, skew};
    const auto asked = explore(less, catalogue());
    INFO(sim::to_string(pause) << ", " << sim::to_string(skew));
    CHECK((std::get<Exploration>(asked).property("mutual-exclusion").verdict == checker::Verdict::violated) == breaks);
  }

  const std::vector<FamilyStory> stories = family_stories(story, catalogue(), &exploration);
  const auto witness = std::find_if(stories.begin(), stories.end(),
                                    [](const FamilyStory& s) { return s.property == "mutual-exclusion"; });
  REQUIRE(witness != stories.end());
  const std::vector<FamilyParameter> parameters = family_parameters(witness->scenario, catalogue());
  const auto of_kind = [&](Kind kind) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const auto& p) { return p.fault == kind; });
    REQUIRE(found != parameters.end());
    CHECK(found->range == sim::DurationRange{0_ms, 50_ms});
    return *found;
  };
  const FamilyPlane plane = plane_of(*witness, catalogue(), of_kind(Kind::pause), of_kind(Kind::skew));
  const checker::Fraction border(72'000'000);
  std::size_t broken = 0;
  bool meets = false;
  for (const FamilyRegion& region : plane.regions) {
    const bool is_broken = std::any_of(region.verdicts.begin(), region.verdicts.end(), [](const FamilyVerdict& v) {
      return v.property == "mutual-exclusion" && v.verdict == checker::Verdict::violated;
    });
    CHECK(region.overlaps.empty() == !is_broken);
    if (!is_broken) continue;
    ++broken;
    for (const FamilyRegion::Corner& corner : region.corners) {
      CHECK((corner.x + corner.y - border).sign() >= 0);
      meets = meets || corner.x + corner.y == border;
    }
  }
  CHECK(broken > 0);
  CHECK(meets);
}

TEST_CASE("what a region tells moves with both lengths, as runs there show") {
  const Scenario story = loaded(kStories.front());
  const auto parameters = family_parameters(story, catalogue());
  const FamilyPlane plane = plane_of(*as_told(story), catalogue(), parameters[0], parameters[1]);
  std::size_t compared = 0;
  for (const FamilyRegion& region : plane.regions) {
    if (!region.is_confirmed || !region.impossible.empty()) continue;
    // Half way from its point to a corner, in whole nanoseconds: inside, since it is convex.
    const auto& corner = region.corners[compared % region.corners.size()];
    const auto half = [](Duration at, const checker::Fraction& to) {
      return at +
             Duration::nanoseconds(static_cast<std::int64_t>(to.numerator() / to.denominator() - at.count_ns()) / 2);
    };
    const Duration x = half(region.x, corner.x), y = half(region.y, corner.y);
    const auto ran =
        run(changed(changed(story, plane.x, x), plane.y, y), catalogue(), {.trace = true, .max_events = 20'000});
    const auto* outcome = std::get_if<Outcome>(&ran);
    REQUIRE(outcome != nullptr);
    std::vector<const sim::TraceRecord*> messages;
    for (const sim::TraceRecord& record : outcome->trace.records)
      if (record.kind == sim::EventKind::message) messages.push_back(&record);
    INFO(sim::to_string(x) << ", " << sim::to_string(y));
    REQUIRE(messages.size() >= region.messages.size());
    for (std::size_t i = 0; i < region.messages.size(); ++i) {
      CHECK(messages[i]->name == region.messages[i].name);
      CHECK(messages[i]->sent.offset() == region.messages[i].sent.at(x, y));
      if (!messages[i]->lost) CHECK(messages[i]->at.offset() == region.messages[i].at.at(x, y));
    }
    const std::vector<checker::OwnershipInterval> beliefs = beliefs_of(*outcome);
    REQUIRE(beliefs.size() == region.holds.size());
    for (std::size_t i = 0; i < beliefs.size(); ++i) {
      CHECK(beliefs[i].from.offset() == region.holds[i].from.at(x, y));
      REQUIRE(beliefs[i].to.has_value() == region.holds[i].to.has_value());
      if (beliefs[i].to) CHECK(beliefs[i].to->offset() == region.holds[i].to->at(x, y));
    }
    ++compared;
  }
  CHECK(compared > 10);
}

}  // namespace lockstep::scenarios::families_test
