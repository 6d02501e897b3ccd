#pragma once

// The words in which every report speaks of a story: the same in timelines, tables, JSON and JUnit.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports {

/// A scenario that was run, and what came of it.
struct Story {
  scenarios::Scenario scenario;
  scenarios::Outcome outcome;
};

/// In which language a story's own text is shown. The reports' own words are English.
enum class Language : std::uint8_t { en, zh };
const std::string& in(Language language, const scenarios::Text& text);  ///< in English where it was not translated

/// "A"; "process 7" for one without a lane, "nobody" for an invalid one.
std::string name_of(const scenarios::Outcome& outcome, sim::ProcessId process);
/// By process: clients come first.
checker::Names client_names(const scenarios::Scenario& scenario);
/// In the order of the finding: the earlier holder first.
std::vector<std::string> blamed(const scenarios::Outcome& outcome, const checker::Finding& finding);

/// How a verdict is written, wherever one is: "✗ … violated", "– … not judged".
struct VerdictWords {
  checker::Verdict verdict;
  std::string_view sign;
  std::string_view en;
  std::string_view zh;
  std::string_view look;  ///< of a page: "good", "bad", "warning", "faint"
};
const VerdictWords& words_of(checker::Verdict verdict);
std::string_view word_of(checker::Verdict verdict, Language language);

/// Of which executions a verdict that something holds is.
enum class Scope : std::uint8_t { this_run, all_executions, this_grid };
/// "holds (this run)".
std::string holds_text(Scope scope, Language language);

/// Which script has no `claims`, and what it is held to; empty: it has some, or is none.
std::string assumed_claims_text(const scenarios::Scenario& scenario, Language language);

/// "violated by B, C at 163ms", "holds", "unknown", "not judged".
std::string observed_text(const scenarios::Outcome& outcome, const checker::Finding& finding,
                          Language language = Language::en);
/// The same of what a file expects: "violated by B, C", "holds".
std::string expected_text(const scenarios::Expectation& expectation, Language language = Language::en);

/// "expected: holds; observed: violated by B, C at 163ms", or what the algorithm claims. Requires: it is not as
/// expected.
std::string surprise_text(const scenarios::Outcome& outcome, const scenarios::Judgement& judgement,
                          Language language = Language::en);

/// "163ms", rounded for reading.
std::string time_text(sim::Instant at);

/// The digest of a run as 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

/// "1 story", "17 stories".
std::string counted(std::size_t n, std::string_view one, std::string_view many);

}  // namespace lockstep::reports
