#pragma once

// What came of an exploration, in one sentence that can be acted on: the first of a page and of a terminal's report.

#include <string>

#include "checker/properties/verdict.hpp"
#include "reports/check/explored.hpp"

namespace lockstep::reports {

struct Headline {
  /// violated: two hold the lock at once, or something else is broken that is claimed or was not expected. holds: all
  /// that is claimed or expected was seen and is kept, by the whole search. Else unknown, or not judged.
  checker::Verdict verdict = checker::Verdict::unknown;
  std::string text;
};

/// "Breaks once a client is paused for more than 71ms: two clients hold the lock at once. Up to that nothing breaks
/// it." Of several broken properties the one that says most: who holds the lock comes first.
Headline headline(const ExploredStory& story, Language language);

/// How it looks on a page: "bad", "good" or "warning". No answer is a warning, whatever kept it from being one.
std::string_view look_of(const Headline& answer);

/// The property that the sentence is about.
const scenarios::ExploredProperty& headline_property(const ExploredStory& story);

/// "ttl + least latency ≥ pause + hold + greatest latency", with where it was shown; a line each. Empty: none was
/// looked for.
std::vector<std::string> formulas_in_words(const ExploredStory& story, Language language);

}  // namespace lockstep::reports
