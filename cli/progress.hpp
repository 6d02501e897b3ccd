#pragma once

// One line on stderr that says how far an exploration has come, and leaves nothing behind.

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"
#include "scenarios/exploring/exploration.hpp"

namespace lockstep::cli {

class ProgressLine {
 public:
  struct Settings {
    std::size_t width = 100;
    reports::Language language = reports::Language::en;
    std::size_t stories = 1;
  };
  /// Without `out` nothing is ever shown. `stopwatch` gives seconds: the line changes a few times in each.
  ProgressLine(std::ostream* out, std::function<double()> stopwatch, Settings settings);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  bool is_shown() const { return out_ != nullptr; }
  /// From any thread.
  void show(std::string_view id, const scenarios::ExplorationProgress& progress);
  void one_done();

 private:
  std::ostream* out_;
  std::function<double()> stopwatch_;
  Settings settings_;
  std::mutex mutex_;
  double shown_at_ = 0;
  std::size_t done_ = 0;
  bool is_dirty_ = false;
};

/// "12000 traces, 80000/s, about 30%": what the line says of one story.
std::string progress_text(const scenarios::ExplorationProgress& progress, reports::Language language);

}  // namespace lockstep::cli
