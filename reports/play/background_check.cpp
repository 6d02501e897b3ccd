#include "reports/play/background_check.hpp"

#include <new>
#include <utility>
#include <variant>

#include "reports/check/headline.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::reports::play {

BackgroundCheck::BackgroundCheck(const models::locks::Catalogue& catalogue, std::function<double()> stopwatch,
                                 unsigned jobs)
    : catalogue_(catalogue), stopwatch_(std::move(stopwatch)), jobs_(jobs) {}

BackgroundCheck::~BackgroundCheck() {
  cancel();
  if (thread_.joinable()) thread_.join();
}

bool BackgroundCheck::start(std::string text, scenarios::Scenario scenario) {
  const std::lock_guard lock(mutex_);
  if (state_.phase == Phase::running) return false;
  if (thread_.joinable()) thread_.join();
  state_ = {.phase = Phase::running, .text = std::move(text)};
  result_.reset();
  is_cancelled_ = false;
  asked_ = stopwatch_();
  thread_ = std::thread([this, story = std::move(scenario)]() mutable { explore(std::move(story)); });
  return true;
}

BackgroundCheck::State BackgroundCheck::state() {
  const std::lock_guard lock(mutex_);
  asked_ = stopwatch_();
  return state_;
}

std::shared_ptr<const ExploredStory> BackgroundCheck::result_of(std::string_view text) const {
  const std::lock_guard lock(mutex_);
  return state_.phase == Phase::done && state_.text == text ? result_ : nullptr;
}

void BackgroundCheck::explore(scenarios::Scenario scenario) {
  scenarios::CheckOptions options;
  options.exploration.jobs = jobs_;
  options.exploration.stopwatch = stopwatch_;
  options.exploration.max_seconds = kSecondsMax;
  options.exploration.interrupted = [this] {
    if (is_cancelled_) return true;
    const std::lock_guard lock(mutex_);
    return stopwatch_() - asked_ > kSecondsUnasked;
  };
  options.exploration.progress = [this](const scenarios::ExplorationProgress& progress) {
    const std::lock_guard lock(mutex_);
    state_.traces = progress.counts.traces;
    state_.estimated_traces = progress.estimated_traces;
    state_.seconds = progress.seconds;
  };
  try {
    auto explored = scenarios::check(scenario, catalogue_, options);
    if (const auto* problem = std::get_if<scenarios::Diagnostic>(&explored))
      return finish({.phase = Phase::failed, .problem = problem->to_string()}, nullptr);
    auto story = std::make_shared<ExploredStory>();
    story->scenario = std::move(scenario);
    story->exploration = std::get<scenarios::Exploration>(std::move(explored));
    if (auto how = scenarios::unasked_formulas(story->exploration)) {
      how->exploration.interrupted = options.exploration.interrupted;
      story->formulas = scenarios::formulas_of(story->scenario, catalogue_, headline_property(*story).name, *how);
      story->formulas.why.clear();
    }
    State state{.phase = Phase::done};
    state.traces = story->exploration.counts.traces;
    state.seconds = story->exploration.seconds;
    finish(std::move(state), std::move(story));
  } catch (const std::bad_alloc&) {
    finish({.phase = Phase::failed, .problem = "there is not enough memory to explore all of it"}, nullptr);
  }
}

void BackgroundCheck::finish(State state, std::shared_ptr<const ExploredStory> result) {
  const std::lock_guard lock(mutex_);
  state.text = std::move(state_.text);
  state_ = std::move(state);
  result_ = std::move(result);
}

}  // namespace lockstep::reports::play
