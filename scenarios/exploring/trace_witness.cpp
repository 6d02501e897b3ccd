#include "scenarios/exploring/trace_witness.hpp"

#include <utility>
#include <vector>

#include "scenarios/exploring/judging/how_long.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::scenarios {

using sim::Duration;

TraceWitness witness_of(const BestTrace& trace, std::string_view property, TraceWorld world, TraceJudge& judge,
                        std::optional<Duration> longer_than) {
  constexpr std::size_t kWays = 8;
  TraceWitness result{Unconfirmed{"its trace was not met again", {}}};
  world.story.begin_branch(true);
  world.explorer.explore(world.story, trace.branch, {.traces = 1}, [&](checker::Explorer& at_end) {
    const std::vector<TraceJudge::Way> ways = judge.ways_to_break(property, at_end, kWays, longer_than);
    if (ways.empty()) result.shown = Unconfirmed{"its trace does not break it any more", {}};
    for (const TraceJudge::Way& way : ways) {
      Violation violation;
      violation.property = property;
      violation.constraints = way.constraints;
      violation.parameters = way.parameters;
      violation.pauses = way.pauses;
      auto made = make_witness(world.scenario, world.catalogue, trace_of(at_end), violation);
      if (std::holds_alternative<Witness>(made) || &way == &ways.front()) result.shown = std::move(made);
      result.is_large = way.is_large;
      if (std::holds_alternative<Witness>(result.shown)) break;
    }
    return false;
  });
  return result;
}

namespace {

/// How long several hold at once in it; nothing: it does not run.
std::optional<Duration> shown_in(const Scenario& story, const models::locks::Catalogue& catalogue) {
  const auto outcome = run(story, catalogue, {.brief = true});
  const auto* const happened = std::get_if<Outcome>(&outcome);
  if (happened == nullptr) return std::nullopt;
  sim::ProcessId probe;
  for (std::size_t i = 0; i < happened->lanes.size(); ++i) {
    if (happened->lanes[i].role == Lane::Role::probe) probe.index = static_cast<std::uint16_t>(i);
  }
  return longest_together(happened->history, too_many(happened->places), probe);
}

}  // namespace

std::optional<WorstCase> worst_case(const PropertyTally& tally, TraceWorld world, TraceJudge& judge,
                                    const Scenario& least, bool is_whole) {
  if (!tally.longest) return std::nullopt;
  const Duration longest = tally.longest->longest;
  const bool is_exact = is_whole && longest >= tally.possibly_longest;
  const std::optional<Duration> at_least = shown_in(least, world.catalogue);
  if (at_least == longest) return WorstCase{longest, is_exact, longest, least};
  std::optional<WorstCase> best;
  if (at_least) best = {*at_least, false, *at_least, least};
  // What is approached and not reached, a run of whole nanoseconds stays below; and so it may where others are strict.
  for (const Duration less : {Duration::nanoseconds(1), Duration::nanoseconds(3), Duration::microseconds(1)}) {
    const Duration asked = std::min(longest, checker::kLongestLength) - less;
    TraceWitness made = witness_of(tally.longest->trace, tally.name, world, judge, asked);
    auto* const witness = std::get_if<Witness>(&made.shown);
    if (witness == nullptr) continue;
    const std::optional<Duration> shown = shown_in(witness->scenario, world.catalogue);
    if (!shown) continue;
    if (*shown <= longest && *shown + less >= longest)
      return WorstCase{longest, is_exact, *shown, std::move(witness->scenario)};
    if (!best || *shown > best->shown) best = {*shown, false, *shown, std::move(witness->scenario)};
  }
  return best;
}

}  // namespace lockstep::scenarios
