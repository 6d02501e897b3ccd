#include <fmt/format.h>

#include <algorithm>

#include "reports/check/exploration.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;
using scenarios::ExploredProperty;

std::string_view said(Language language, std::string_view en, std::string_view zh) {
  return language == Language::zh ? zh : en;
}

/// "✗ mutual-exclusion: pause above 71ms", "holds", "? recoverable": first of what the file speaks of; then, of what it
/// does not, what broke. A file that expects nothing has all its verdicts shown, and what is unknown counted.
std::string found_text(const scenarios::Exploration& exploration, Language language) {
  bool expects = false;
  for (const ExploredProperty& property : exploration.properties) expects = expects || property.expected.has_value();
  std::vector<std::string> parts;
  std::vector<std::string> unknown;
  std::vector<std::string> not_judged;
  std::vector<std::string> holding;
  std::vector<std::string> besides;
  for (const ExploredProperty& property : exploration.properties) {
    const std::string name = property_in(language, property.name);
    if (expects && !property.expected) {
      if (property.verdict == Verdict::violated) besides.push_back(name);
      continue;
    }
    const bool is_claimed = property.claim != scenarios::Claim::none;
    if (property.verdict == Verdict::not_judged && (property.expected || is_claimed)) not_judged.push_back(name);
    if (property.verdict == Verdict::unknown) unknown.push_back(name);
    if (property.verdict == Verdict::holds) holding.push_back(name);
    if (property.verdict != Verdict::violated) continue;
    std::string part = "✗ " + name;
    const bool tells_frontier = !property.frontier.empty() && is_short(property.region);
    if (tells_frontier) part += ": " + property.frontier;
    for (const scenarios::Threshold& threshold : property.thresholds) {
      if (tells_frontier) break;
      const auto add_rest = [&] {
        if (!threshold.together_with.empty())
          part +=
              fmt::format(fmt::runtime(said(language, " (with {})", "（连同 {}）")), joined(threshold.together_with));
        if (!threshold.is_exact || !exploration.counts.complete) part += said(language, " or less", " 或更小");
      };
      // Where small values do harm, the largest that does.
      if (!threshold.values.empty() && threshold.greatest() != checker::Extent{threshold.range.hi, true}) {
        part += fmt::format(": {} {} {}", threshold.parameter, threshold.greatest().attained ? "≤" : "<",
                            sim::to_string(threshold.greatest().value));
        add_rest();
        continue;
      }
      const bool is_down = threshold.is_downward;
      part += fmt::format(": {} {} {}", threshold.parameter,
                          threshold.infimum.attained ? (is_down ? "≤" : "≥")
                          : is_down                  ? "<"
                                                     : ">",
                          sim::to_string(threshold.infimum.value));
      add_rest();
    }
    parts.push_back(std::move(part));
  }
  if (!holding.empty()) parts.push_back(fmt::format("✓ {}", joined(holding)));
  if (!unknown.empty() && expects) parts.push_back("? " + joined(unknown));
  if (!unknown.empty() && !expects)
    parts.push_back(fmt::format(fmt::runtime(said(language, "? {} unknown", "? {} 个未知")), unknown.size()));
  if (!not_judged.empty()) parts.push_back("– " + joined(not_judged));
  if (exploration.disagreements > 0) parts.push_back("! " + disagreements_text(exploration.disagreements, language));
  if (!besides.empty()) parts.push_back(std::string(said(language, "besides: ", "另外：")) + joined(besides));
  return joined(parts, "\n");
}

void add_surprises(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  lines.emplace_back();
  lines.emplace_back(printable(story.scenario.file), Ink::strong);
  const auto add = [&](const std::string& text, std::size_t indent, Ink ink) {
    for (const std::string& part : wrap(text, options.width - indent))
      lines.push_back(std::move(Line().fill_to(indent).append(part, ink)));
  };
  for (const ExploredProperty& property : story.exploration.properties) {
    if (property.as_expected) continue;
    add(fmt::format("{}: {}; {}", property_in(options.language, property.name),
                    verdict_text(property, options.language), surprise_text(story, property, options.language)),
        2, Ink::bad);
    for (const scenarios::Threshold& threshold : property.thresholds)
      add(threshold_text(story, threshold, options.language), 4, Ink::plain);
    if (!property.why.empty()) add(reason_in(options.language, property.why), 4, Ink::plain);
  }
  if (const std::string traces = trace_surprise(story.exploration, options.language); !traces.empty())
    add(traces, 2, Ink::bad);
  if (!story.exploration.counts.complete) add(completeness_text(story, options.language), 2, Ink::warning);
}

/// "42 stories: 40 as expected, 1 NOT, 1 still open; 1 not complete: --max-traces was reached".
std::string totals(std::span<const ExploredStory> stories, Language language) {
  std::size_t good = 0;
  std::size_t open = 0;
  std::size_t incomplete = 0;
  std::vector<std::string> reasons;
  for (const ExploredStory& story : stories) {
    if (agreement(story) == scenarios::Agreement::agrees) ++good;
    if (agreement(story) == scenarios::Agreement::open) ++open;
    if (story.exploration.counts.complete) continue;
    ++incomplete;
    const std::string reason = completeness_text(story, language);
    if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) reasons.push_back(reason);
  }
  const bool zh = language == Language::zh;
  const std::size_t all = stories.size();
  const std::size_t bad = all - good - open;
  std::string text = zh ? fmt::format("{} 个故事", all) : counted(all, "story", "stories");
  if (good == all) {
    text += zh ? "，全部符合预期" : all == 1 ? ", as expected" : ", all as expected";
  } else {
    text += fmt::format(fmt::runtime(zh ? "：{} 个符合预期" : ": {} as expected"), good);
    if (bad > 0) text += fmt::format(fmt::runtime(zh ? "，{} 个不符合" : ", {} NOT"), bad);
    if (open > 0) text += fmt::format(fmt::runtime(zh ? "，{} 个尚未确定" : ", {} still open"), open);
  }
  if (incomplete > 0) {
    text += fmt::format(fmt::runtime(zh ? "；其中 {} 个{}" : "; {} {}"), incomplete, joined(reasons, zh ? "，" : ", "));
  }
  return text;
}

}  // namespace

Lines explorations(std::span<const ExploredStory> stories, const ExplorationOptions& options) {
  const Language language = options.language;
  Table table({{"", 3},
               {std::string(said(language, "story", "故事")), 17},
               {std::string(said(language, "algorithm", "算法")), 12},
               {std::string(said(language, "traces", "轨迹")), 8},
               {std::string(said(language, "found", "发现")), 24}});
  bool is_empty = true;
  for (const ExploredStory& story : stories) {
    const scenarios::Exploration& exploration = story.exploration;
    const bool good = agreement(story) != scenarios::Agreement::differs;
    const bool complete = exploration.counts.complete;
    if (agreement(story) == scenarios::Agreement::agrees && complete && options.only_failures) continue;
    is_empty = false;
    table.add({{good ? complete ? "ok" : "cut" : "NOT", good ? complete ? Ink::good : Ink::warning : Ink::bad},
               {story.scenario.id, Ink::strong},
               {story.scenario.lock.algorithm},
               {std::to_string(exploration.counts.traces) + (complete ? "" : "+")},
               {found_text(exploration, language), good ? Ink::plain : Ink::bad}},
              {.text = in(language, story.scenario.title), .ink = Ink::faint, .first = 1, .last = 2});
  }
  Lines lines;
  if (!is_empty) lines = table.lines(options.width);
  for (const ExploredStory& story : stories) {
    if (!story.exploration.as_expected) add_surprises(lines, story, options);
  }
  const bool good = std::none_of(stories.begin(), stories.end(),
                                 [](const auto& s) { return agreement(s) == scenarios::Agreement::differs; });
  if (!lines.empty()) lines.emplace_back();
  for (const std::string& part : wrap(totals(stories, language), options.width))
    lines.emplace_back(part, good ? Ink::good : Ink::bad);
  return lines;
}

}  // namespace lockstep::reports
