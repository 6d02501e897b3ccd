// Frontiers, point by point: with every parameter given, `check` breaks a property just where the frontier says so.
//
// An exploration at a point knows of no frontier, and projects nothing: its ranges end there.

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "scenarios/checking/agreement.hpp"
#include "scenarios/deployment/allowed_faults.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::frontier_points_test {
namespace {

using checker::FrontierBound;
using checker::FrontierPiece;
using checker::Verdict;
using sim::Duration;
using sim::DurationRange;
using testing::catalogue;
using testing::parsed;

/// By axis of the frontier, in nanoseconds.
using Point = std::vector<std::int64_t>;
using Pieces = std::vector<FrontierPiece>;

const char* const kExclusion = "mutual-exclusion";

ExplorationOptions asking(std::string_view property) {
  ExplorationOptions options;
  options.asks = [property](std::string_view asked) { return asked == property; };
  return options;
}

Exploration explored(const Scenario& story) {
  auto result = explore(story, catalogue(), asking(kExclusion));
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string() << "\n" << to_toml(story));
  return std::get<Exploration>(std::move(result));
}

bool is_beyond(const FrontierBound& bound, const Point& point) {
  __int128 sum = -static_cast<__int128>(bound.more_than);
  for (std::size_t i = 0; i < point.size(); ++i) sum += static_cast<__int128>(bound.factors[i]) * point[i];
  return sum > 0 || (sum == 0 && bound.attained);
}

bool breaks(const Pieces& pieces, const Point& point) {
  return std::any_of(pieces.begin(), pieces.end(), [&](const FrontierPiece& piece) {
    return std::all_of(piece.bounds.begin(), piece.bounds.end(),
                       [&](const FrontierBound& bound) { return is_beyond(bound, point); });
  });
}

/// What the file allows of this parameter.
DurationRange range_of(const Scenario& story, std::string_view parameter) {
  for (const MaySpec& may : story.may) {
    if (parameter_of(may) == parameter) return *length_of(may);
  }
  FAIL("no range of " << parameter);
  return {};
}

/// With faults that are no larger than at the point, and to its side; a restart takes just so long.
Scenario at_point(Scenario story, std::span<const checker::FrontierAxis> axes, const Point& point) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (MaySpec& may : story.may) {
      if (parameter_of(may) != axes[i].name) continue;
      const Duration value = Duration::nanoseconds(point[i]);
      *length_of(may) = may_come_back(may.kind)
                            ? DurationRange::exactly(value)
                            : DurationRange{std::min(value, Duration::zero()), std::max(value, Duration::zero())};
    }
  }
  return story;
}

/// Nothing: at the point it is not known.
std::optional<bool> is_broken_at(const Scenario& story, std::span<const checker::FrontierAxis> axes,
                                 const Point& point) {
  const Exploration exploration = explored(at_point(story, axes, point));
  const ExploredProperty& property = exploration.property(kExclusion);
  if (property.verdict == Verdict::violated || property.violating_traces > 0) return true;
  if (property.verdict == Verdict::holds || property.verdict == Verdict::not_judged) return false;
  return std::nullopt;
}

/// Within what the file allows; most of them on a bound of a piece, or a nanosecond beside it.
std::optional<Point> random_point(sim::Random& random, const Scenario& story, const checker::Frontier& frontier) {
  constexpr std::int64_t kMs = 1'000'000;
  Point point;
  std::vector<DurationRange> ranges;
  for (const checker::FrontierAxis& axis : frontier.axes()) {
    ranges.push_back(range_of(story, axis.name));
    point.push_back(random.between(ranges.back().lo.count_ns() / kMs, ranges.back().hi.count_ns() / kMs) * kMs);
  }
  const auto pieces = frontier.pieces();
  const FrontierPiece& piece = pieces[random.below(pieces.size())];
  if (random.one_in(3) || piece.bounds.empty()) return point;
  const FrontierBound& bound = piece.bounds[random.below(piece.bounds.size())];
  const std::size_t axis = random.below(point.size());
  if (bound.factors[axis] == 0) return std::nullopt;
  std::int64_t rest = bound.more_than;
  for (std::size_t i = 0; i < point.size(); ++i) rest -= i == axis ? 0 : bound.factors[i] * point[i];
  point[axis] = rest / bound.factors[axis] + random.between(-1, 1);
  if (point[axis] < ranges[axis].lo.count_ns() || point[axis] > ranges[axis].hi.count_ns()) return std::nullopt;
  return point;
}

struct Compared {
  std::size_t points = 0, broken = 0, unknown = 0;
  std::size_t mutants = 0, caught = 0;

  std::string text() const {
    return fmt::format("{} points, {} broken, {} unknown; {} of {} mutants", points, broken, unknown, caught, mutants);
  }
};

/// Without one of its bounds; with the end of one in or out, the other way round.
std::vector<Pieces> mutants_of(const Pieces& pieces) {
  std::vector<Pieces> mutants;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (std::size_t j = 0; j < pieces[i].bounds.size(); ++j) {
      Pieces& weaker = mutants.emplace_back(pieces);
      weaker[i].bounds.erase(weaker[i].bounds.begin() + static_cast<std::ptrdiff_t>(j));
      Pieces& closed = mutants.emplace_back(pieces);
      closed[i].bounds[j].attained = !closed[i].bounds[j].attained;
    }
  }
  return mutants;
}

/// At random points, and for each mutant at one where it says something else, if there is any. Requires: the story has
/// a frontier.
void compare(const Scenario& story, const ExploredProperty& property, std::uint64_t seed, Compared& all) {
  constexpr int kTries = 5'000;
  const checker::Frontier& frontier = property.region;
  const Pieces pieces(frontier.pieces().begin(), frontier.pieces().end());
  sim::Random random(sim::combine64(0x706f696e7473, seed));
  const auto is_right_at = [&](const Point& point) {
    const std::optional<bool> is_broken = is_broken_at(story, frontier.axes(), point);
    all.unknown += is_broken ? 0 : 1;
    if (!is_broken) return false;
    ++all.points;
    all.broken += *is_broken ? 1 : 0;
    INFO(property.frontier << "\nat " << fmt::format("{}", fmt::join(point, ", ")) << "\n" << to_toml(story));
    CHECK(breaks(pieces, point) == *is_broken);
    return breaks(pieces, point) == *is_broken;
  };
  for (std::size_t left = sim::cases<std::size_t>(30, 6); left > 0;) {
    const std::optional<Point> point = random_point(random, story, frontier);
    if (!point) continue;
    --left;
    is_right_at(*point);
  }
  for (const Pieces& mutant : mutants_of(pieces)) {
    for (int tries = 0; tries < kTries; ++tries) {
      const std::optional<Point> point = random_point(random, story, frontier);
      if (!point || breaks(mutant, *point) == breaks(pieces, *point)) continue;
      ++all.mutants;
      all.caught += is_right_at(*point) ? 1 : 0;
      break;
    }
  }
}

std::string may(std::string_view kind, std::string_view rest) {
  return fmt::format("[[may]]\nkind = \"{}\"\n{}\n", kind, rest);
}

/// Two clients, one attempt each, and three ranges of faults.
Scenario random_story(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x746872656572, seed));
  const bool by_clocks = random.one_in(2);
  std::string text = fmt::format(
      "[lock]\nalgorithm = \"{}\"\nttl = \"{}ms\"\nattempts = 1\n[network]\nlatency = [\"1ms\", \"{}ms\"]\n"
      "[[client]]\nname = \"A\"\nhold = \"{}ms\"\n[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"300ms\"]\n"
      "hold = \"5ms\"\n",
      by_clocks ? "getset-java" : "set-nx-px-lua", random.between(40, 90), random.between(1, 5),
      random.between(10, 40));
  const auto length = [&](std::string_view key) {
    return fmt::format("{} = [\"0ms\", \"{}ms\"]\n", key, random.between(10, 120));
  };
  const auto offset = [&] {
    const std::int64_t most = random.between(10, 90);
    return fmt::format("by = [\"{}ms\", \"{}ms\"]\n", random.one_in(2) ? -most : 0, most);
  };
  std::vector<std::string> kinds{
      may("pause", "client = \"A\"\n" + length("length")), may("delay", "client = \"A\"\n" + length("length")),
      by_clocks ? may("skew", "client = \"B\"\n" + offset()) : may("jump", "server = \"redis\"\n" + offset()),
      may("crash", fmt::format("server = \"redis\"\nrestart_after = [\"{}ms\", \"{}ms\"]\n", random.between(1, 30),
                               random.between(31, 90)))};
  kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(random.below(kinds.size())));
  for (const std::string& kind : kinds) text += kind;
  return parsed(text);
}

/// Of the same story with its tables in another order the frontier is the same.
void check_order(Scenario story, const ExploredProperty& property) {
  std::reverse(story.may.begin(), story.may.end());
  const Exploration other = explored(story);
  ExploredProperty expected = other.property(kExclusion);
  INFO(property.frontier << "\n" << expected.frontier << "\n" << to_toml(story));
  expected.expected = Expectation{};
  expected.expected->verdict = Verdict::violated;
  expected.expected->frontier = property.frontier;
  CHECK(agreement(other, expected, "") == Agreement::agrees);
}

}  // namespace

TEST_CASE("frontier points: three ranges, two sides and restarts, of stories whose frontier is known on paper") {
  // A's reply comes after 4 + D, its work ends 20 + P later; the key ends 100 - J after the grant, and B knows 1 later.
  const std::string two =
      "attempts = 1\n[network]\nlatency = [\"1ms\", \"4ms\"]\n[[client]]\nname = \"A\"\nhold = "
      "\"20ms\"\n[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"20ms\"\n";
  const std::string lease = "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n" + two;
  const std::string pause = may("pause", "client = \"A\"\nlength = [\"0ms\", \"50ms\"]");
  const Scenario three = parsed(lease + pause + may("delay", "client = \"A\"\nlength = [\"0ms\", \"50ms\"]") +
                                may("jump", "server = \"redis\"\nby = [\"0ms\", \"50ms\"]"));
  // A believes for 24 + P after the grant; the server forgets the key, and B knows R + 1 after the grant.
  const Scenario restart =
      parsed(lease + pause + may("crash", "server = \"redis\"\nrestart_after = [\"30ms\", \"200ms\"]"));
  // A writes its clock + 201 and believes for 7 + 7 + 30 + P; B finds its clock beyond it, and knows 2 + 2 later. Where it
  // is B who writes, by a clock that is behind, A's pause is of no use.
  const Scenario sides = parsed(
      "[lock]\nalgorithm = \"getset-java\"\nttl = \"200ms\"\nattempts = 1\n[network]\nlatency = [\"2ms\", \"7ms\"]\n"
      "[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"30ms\"\n" +
      may("skew", "client = \"B\"\nby = [\"-300ms\", \"300ms\"]") +
      may("pause", "client = \"A\"\nlength = [\"0ms\", \"300ms\"]"));
  const std::vector<std::pair<const Scenario*, std::string>> known{
      {&three, "pause + delay + jump > 77ms"},
      {&restart, "pause - restart_after > -23ms"},
      {&sides, "skew < -161ms or pause > 161ms or skew + pause > 161ms"}};
  Compared all;
  for (const auto& [story, text] : known) {
    const Exploration whole = explored(*story);
    const ExploredProperty& property = whole.property(kExclusion);
    CHECK(property.frontier == text);
    CHECK(property.is_region_exact);
    compare(*story, property, 1, all);
    check_order(*story, property);
  }
  INFO(all.text());
  CHECK(all.caught == all.mutants);
  CHECK(all.mutants >= 8);
  CHECK(all.broken > all.points / 8);
}

TEST_CASE("frontier points: random stories of three ranges") {
  Compared all;
  std::size_t told = 0;
  const std::uint64_t stories = sim::cases<std::uint64_t>(60, 4);
  for (std::uint64_t seed = 0; seed < stories; ++seed) {
    INFO("seed " << seed);
    const Scenario story = random_story(seed);
    const Exploration whole = explored(story);
    const ExploredProperty& property = whole.property(kExclusion);
    if (property.frontier.empty() || !property.is_region_exact) continue;
    ++told;
    compare(story, property, seed, all);
    if (seed % 4 == 0) check_order(story, property);
  }
  INFO(told << " frontiers; " << all.text());
  CHECK(told > stories / 3);
  CHECK(all.caught + all.unknown >= all.mutants);
}

}  // namespace lockstep::scenarios::frontier_points_test
