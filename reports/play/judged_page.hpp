#pragma once

// A history that was dropped onto the page, judged as `lockstep linearize` does.

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "checker/properties/verdict.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

struct JudgedPage {
  checker::Verdict verdict = checker::Verdict::unknown;
  std::string html;  ///< a whole page without scripts
};

struct HistoryToJudge {
  std::string_view text;
  std::string name;   ///< of the file: its ending says the format where the text does not
  std::string model;  ///< empty: the one that the text names
  bool is_chinese = false;
};

/// A problem says the line. `is_out_of_time`: then the verdict is unknown.
std::variant<JudgedPage, scenarios::Text> judged_page(const HistoryToJudge& history,
                                                      const std::function<bool()>& is_out_of_time);

}  // namespace lockstep::reports::play
