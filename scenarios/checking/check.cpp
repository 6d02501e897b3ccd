#include "scenarios/checking/check.hpp"

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include "checker/properties/properties.hpp"
#include "scenarios/checking/agreement.hpp"
#include "scenarios/checking/margins.hpp"
#include "scenarios/exploring/oracles/grid.hpp"
#include "scenarios/exploring/oracles/second_opinion.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

/// Of which nothing is known.
Exploration not_finished(std::string bound, std::string_view why) {
  Exploration exploration;
  exploration.bound = std::move(bound);
  for (const checker::Property& property : checker::properties()) {
    ExploredProperty& explored = exploration.properties.emplace_back();
    explored.name = property.name;
    explored.why = why;
  }
  return exploration;
}

/// When nobody waits any more for what does not end by itself where a bound is hit, as nearly everything does: an event
/// of a huge world, a trace that is judged for minutes.
class EndOfPatience {
 public:
  EndOfPatience(const ExplorationOptions& how, double begin) : how_(how), begin_(begin) {}

  bool operator()() {
    if (!how_.stopwatch) return false;
    const double now = how_.stopwatch();
    const bool is_hit = (how_.max_seconds > 0 && now - begin_ >= how_.max_seconds) || is_interrupted();
    if (!is_hit) return false;
    constexpr double kSeconds = 1.2;  // what is found by then is still shown
    double first = 0;
    return !hit_at_.compare_exchange_strong(first, now) && now - first >= kSeconds;
  }
  bool is_interrupted() const { return how_.interrupted && how_.interrupted(); }

 private:
  const ExplorationOptions& how_;
  double begin_;
  std::atomic<double> hit_at_ = 0;  ///< when it was noticed that a bound was hit; 0: not yet
};

}  // namespace

std::variant<Exploration, Diagnostic> check(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                            const CheckOptions& options) {
  ExplorationOptions how = options.exploration;
  how.began = how.begin();
  how.worst = true;
  // A search that is cut leaves time for concrete runs.
  ExplorationOptions search = how;
  constexpr double kOfSearch = 7.0 / 8;
  if (options.second_opinion && !options.tick) search.max_seconds *= kOfSearch;
  std::variant<Exploration, Diagnostic> result;
  if (how.interrupted && how.interrupted()) {
    result = not_finished("interrupted", "interrupted before it began");
  } else {
    EndOfPatience patience(how, *how.began);
    const sim::Stop::Question is_late = [&] { return patience(); };
    const sim::Stop::Scope scope(is_late);
    try {
      result =
          options.tick ? explore_grid(scenario, catalogue, *options.tick, how) : explore(scenario, catalogue, search);
    } catch (const sim::Stopped&) {
      result = not_finished(patience.is_interrupted() ? "interrupted" : "max-seconds",
                            "a bound was hit before anything was known");
    }
    if (auto* exploration = std::get_if<Exploration>(&result); exploration != nullptr && !options.tick) {
      try {
        confirm_margins(scenario, catalogue, how, *exploration);
        if (options.second_opinion) second_opinion(scenario, catalogue, how, *exploration, options.opinion_effort);
      } catch (const sim::Stopped&) {
        // What was known before stays known.
      }
    }
    Exploration* exploration = std::get_if<Exploration>(&result);
    if (exploration != nullptr && how.stopwatch && exploration->seconds == 0)
      exploration->seconds = how.stopwatch() - *how.began;
  }
  if (Exploration* exploration = std::get_if<Exploration>(&result))
    compare_with_file(scenario, catalogue, options, *exploration);
  return result;
}

void compare_with_file(const Scenario& scenario, const models::locks::Catalogue& catalogue, const CheckOptions& options,
                       Exploration& exploration) {
  const ExplorationOptions& how = options.exploration;
  const models::locks::Entry* entry = find_entry(scenario.lock, catalogue);
  compare(scenario, exploration,
          {.parameter = how.parameter,
           .counts_traces = how.reduction && !how.thorough && !options.tick,
           .claims = entry == nullptr ? std::span<const std::string_view>() : entry->claims});
}

}  // namespace lockstep::scenarios
