#include "reports/run/timeline.hpp"

#include <fmt/format.h>

#include "reports/text/chart.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"

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
void add_broken(Lines& lines, const Story& story, const scenarios::Judgement& judgement,
                const TimelineOptions& options) {
  const bool zh = options.language == Language::zh;
  const checker::Finding& finding = judgement.finding;
  const bool violated = finding.verdict == Verdict::violated;
  Line line(std::string(words_of(finding.verdict).sign) + " ", violated ? Ink::bad : Ink::warning);
  line.append(printable(property_in(options.language, finding.property)), Ink::strong).append(" ");
  line.append(printable(observed_text(story.outcome, finding, options.language)), violated ? Ink::bad : Ink::plain);
  if (judgement.claim != scenarios::Claim::none) line.append(zh ? "，算法承诺" : ", claimed", Ink::faint);
  if (judgement.expected && judgement.as_expected) line.append(zh ? "，符合预期" : ", as expected", Ink::good);
  line.wrap_into(lines, options.width, 2);
  if (!judgement.as_expected && !judgement.expected) {
    add_prose(lines, zh ? "与算法的承诺不符" : "NOT as claimed: the algorithm promises it", options.width, 2, Ink::bad);
  } else if (!judgement.as_expected) {
    const std::string expected = expected_text(*judgement.expected, options.language);
    add_prose(lines, zh ? "不符合预期：预期 " + expected : "NOT as expected: " + expected + " was expected",
              options.width, 2, Ink::bad);
  }
  if (!finding.why.empty()) add_prose(lines, reason_in(options.language, finding.why), options.width, 2);
  // Nothing happens at that moment: it is the end of a time that was allowed.
  if (violated && finding.at && finding.property == "recoverable") {
    const std::string at = time_text(*finding.at);
    add_prose(lines, zh ? "允许的时间到 " + at + " 为止" : "the time that is allowed was over at " + at, options.width,
              2);
  }
}

/// `text` behind `label`, broken into lines that begin below each other.
void add_labelled(Lines& lines, std::string_view label, const std::string& text, const TimelineOptions& options,
                  Ink ink) {
  const std::size_t indent = display_width(label);
  for (const std::string& part : wrap(text, std::min(options.width, kProseMax) - indent)) {
    lines.emplace_back(label, ink);
    lines.back().fill_to(indent).append(part);
    label = "";
  }
}

void add_verdicts(Lines& lines, const Story& story, const TimelineOptions& options) {
  std::vector<std::string> holding;
  NamesAndReasons unknown, not_judged;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    const bool holds = judgement.finding.verdict == Verdict::holds;
    if (holds && judgement.as_expected) {
      holding.emplace_back(property_in(options.language, judgement.finding.property));
    } else if (judgement.finding.verdict == Verdict::unknown && !judgement.expected) {
      unknown.emplace_back(property_in(options.language, judgement.finding.property), judgement.finding.why);
    } else if (judgement.finding.verdict == Verdict::not_judged && !judgement.expected) {
      not_judged.emplace_back(property_in(options.language, judgement.finding.property), judgement.finding.why);
    } else {
      add_broken(lines, story, judgement, options);
    }
  }
  const auto label_of = [&](Verdict verdict, std::string_view words) {
    return fmt::format("{} {}{}", words_of(verdict).sign, words, options.language == Language::zh ? "：" : ": ");
  };
  const auto add = [&](Verdict verdict, std::string_view words, const std::string& text, Ink ink) {
    if (!text.empty()) add_labelled(lines, label_of(verdict, words), text, options, ink);
  };
  add(Verdict::holds, holds_text(Scope::this_run, options.language), joined(holding), Ink::good);
  add(Verdict::unknown, word_of(Verdict::unknown, options.language), with_reasons(unknown, options.language),
      Ink::warning);
  add(Verdict::not_judged, word_of(Verdict::not_judged, options.language), with_reasons(not_judged, options.language),
      Ink::faint);
  if (const std::string claims = assumed_claims_text(story.scenario, options.language); !claims.empty())
    add_prose(lines, (options.language == Language::zh ? "注意：" : "note: ") + claims, options.width, 0);
}

}  // namespace

Lines timeline(const Story& story, const TimelineOptions& options) {
  Lines lines;
  add_heading(lines, story, options);
  for (Line& line : chart(story, options.width, options.language)) lines.push_back(std::move(line));
  lines.emplace_back();
  add_verdicts(lines, story, options);
  for (const std::string& note : story.outcome.notes)
    add_prose(lines, (options.language == Language::zh ? "注意：" : "note: ") + note, options.width, 0);
  if (const std::string& lesson = in(options.language, story.scenario.lesson); !lesson.empty()) {
    lines.emplace_back();
    add_prose(lines, lesson, options.width, 0);
  }
  return lines;
}

}  // namespace lockstep::reports
