#pragma once

// `check` of one story behind a page: one at a time, with a look at how far it is, and an end that somebody may ask for.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "models/locks/catalogue.hpp"
#include "reports/check/explored.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports::play {

class BackgroundCheck {
 public:
  enum class Phase : std::uint8_t { idle, running, done, failed };

  struct State {
    Phase phase = Phase::idle;
    std::uint64_t traces = 0;
    std::optional<double> estimated_traces;
    double seconds = 0;
    std::string problem;  ///< failed: why
    std::string text;     ///< of the story
  };

  /// It ends by itself after so long, and sooner if nobody asks for its state any more: then its page is gone.
  static constexpr double kSecondsMax = 600;
  static constexpr double kSecondsUnasked = 90;

  /// `stopwatch`: seconds since some moment. Requires: `catalogue` outlives it.
  BackgroundCheck(const models::locks::Catalogue& catalogue, std::function<double()> stopwatch, unsigned jobs);
  ~BackgroundCheck();
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  /// False: one is running.
  bool start(std::string text, scenarios::Scenario scenario);
  void cancel() { is_cancelled_ = true; }
  State state();
  /// Of the last check, if it was one of just this text.
  std::shared_ptr<const ExploredStory> result_of(std::string_view text) const;

 private:
  void explore(scenarios::Scenario scenario);
  void finish(State state, std::shared_ptr<const ExploredStory> result);

  const models::locks::Catalogue& catalogue_;
  std::function<double()> stopwatch_;
  unsigned jobs_;
  mutable std::mutex mutex_;
  State state_;
  std::shared_ptr<const ExploredStory> result_;
  double asked_ = 0;  ///< when somebody asked for the state
  std::atomic<bool> is_cancelled_ = false;
  std::thread thread_;
};

}  // namespace lockstep::reports::play
