#include "scenarios/check.hpp"

#include <algorithm>
#include <utility>

#include "checker/properties.hpp"
#include "scenarios/expectation.hpp"
#include "scenarios/grid.hpp"
#include "scenarios/second_opinion.hpp"

namespace lockstep::scenarios {
namespace {

Exploration never_begun() {
  Exploration exploration;
  exploration.bound = "interrupted";
  for (const checker::Property& property : checker::properties()) {
    ExploredProperty& explored = exploration.properties.emplace_back();
    explored.name = property.name;
    explored.why = "interrupted before it began";
  }
  return exploration;
}

}  // namespace

std::variant<Exploration, Diagnostic> check(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                            const CheckOptions& options) {
  const ExplorationOptions& how = options.exploration;
  std::variant<Exploration, Diagnostic> result;
  if (how.interrupted && how.interrupted()) {
    result = never_begun();
  } else {
    const double begin = how.stopwatch ? how.stopwatch() : 0;
    result = options.tick ? explore_grid(scenario, catalogue, *options.tick, how) : explore(scenario, catalogue, how);
    Exploration* exploration = std::get_if<Exploration>(&result);
    if (exploration != nullptr && !options.tick && options.second_opinion)
      second_opinion(scenario, catalogue, how, begin, *exploration);
    if (exploration != nullptr && how.stopwatch && exploration->seconds == 0)
      exploration->seconds = how.stopwatch() - begin;
  }
  if (Exploration* exploration = std::get_if<Exploration>(&result)) {
    const models::locks::Entry* entry = catalogue.find(scenario.lock.algorithm);
    compare(scenario, *exploration,
            {.parameter = how.parameter,
             .counts_traces = how.reduction && !how.thorough && !options.tick,
             .claims = entry == nullptr ? std::span<const std::string_view>() : entry->claims});
  }
  return result;
}

bool has_parameter(const Scenario& scenario, std::string_view parameter) {
  return std::any_of(scenario.may.begin(), scenario.may.end(), [&](const MaySpec& may) {
    switch (may.kind) {
      case MaySpec::Kind::pause: return parameter == "pause" && !may.length.is_exact();
      case MaySpec::Kind::jump: return parameter == "jump" && !may.length.is_exact();
      case MaySpec::Kind::skew: return parameter == "skew" && !may.length.is_exact();
      case MaySpec::Kind::crash:
        return parameter == "restart_after" && may.restart_after && !may.restart_after->is_exact();
      case MaySpec::Kind::lose: return false;
    }
    return false;
  });
}

}  // namespace lockstep::scenarios
