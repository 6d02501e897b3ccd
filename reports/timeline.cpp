#include "reports/timeline.hpp"

#include <fmt/format.h>

#include "reports/chart.hpp"
#include "reports/text.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

void add_heading(Lines& lines, const Story& story, const TimelineOptions& options) {
  const scenarios::Scenario& scenario = story.scenario;
  add_prose(lines, in(options.language, scenario.title), options.width, 0, Ink::strong);
  std::string facts = fmt::format("{} · {}", scenario.id, scenario.lock.algorithm);
  if (!scenario.reproduces.empty()) facts += " · reproduces " + joined(scenario.reproduces);
  add_prose(lines, facts, options.width, 0, Ink::faint);
  if (!in(options.language, scenario.story).empty()) {
    lines.emplace_back();
    add_prose(lines, in(options.language, scenario.story), options.width, 0);
  }
  lines.emplace_back();
}

/// "✗ mutual-exclusion violated by B, C at 163ms (as expected)", and why.
void add_broken(Lines& lines, const Story& story, const scenarios::Judgement& judgement, std::size_t width) {
  const checker::Finding& finding = judgement.finding;
  const bool violated = finding.verdict == Verdict::violated;
  Line line(violated ? "✗ " : finding.verdict == Verdict::holds ? "✓ " : "? ", violated ? Ink::bad : Ink::warning);
  line.append(printable(finding.property), Ink::strong).append(" ");
  line.append(printable(observed_text(story.outcome, finding)), violated ? Ink::bad : Ink::plain);
  if (judgement.claim != scenarios::Claim::none) line.append(", claimed", Ink::faint);
  if (judgement.expected && judgement.as_expected) line.append(", as expected", Ink::good);
  line.wrap_into(lines, width, 2);
  if (!judgement.as_expected && !judgement.expected) {
    add_prose(lines, "NOT as claimed: the algorithm promises it", width, 2, Ink::bad);
  } else if (!judgement.as_expected) {
    add_prose(lines, "NOT as expected: " + expected_text(*judgement.expected) + " was expected", width, 2, Ink::bad);
  }
  if (!finding.why.empty()) add_prose(lines, finding.why, width, 2);
}

void add_verdicts(Lines& lines, const Story& story, std::size_t width) {
  std::vector<std::string> holding;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    const bool holds = judgement.finding.verdict == Verdict::holds;
    if (holds && judgement.as_expected) {
      holding.emplace_back(judgement.finding.property);
    } else if (judgement.finding.verdict != Verdict::unknown || judgement.expected) {
      add_broken(lines, story, judgement, width);
    }
  }
  if (holding.empty()) return;
  bool is_first = true;
  for (const std::string& part : wrap(joined(holding), width - 9)) {
    lines.emplace_back(is_first ? "✓ holds: " : "         ", Ink::good);
    lines.back().append(part);
    is_first = false;
  }
}

}  // namespace

Lines timeline(const Story& story, const TimelineOptions& options) {
  Lines lines;
  add_heading(lines, story, options);
  for (Line& line : chart(story, options.width)) lines.push_back(std::move(line));
  lines.emplace_back();
  add_verdicts(lines, story, options.width);
  for (const std::string& note : story.outcome.notes) add_prose(lines, "note: " + note, options.width, 0);
  if (const std::string& lesson = in(options.language, story.scenario.lesson); !lesson.empty()) {
    lines.emplace_back();
    add_prose(lines, lesson, options.width, 0);
  }
  return lines;
}

}  // namespace lockstep::reports
