#include "reports/run/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "checker/properties/properties.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;

/// What a file says of its properties: names of what it expects to break, or that all holds.
std::string expectations_text(const scenarios::Outcome& outcome, Language language) {
  std::vector<std::string> parts;
  std::vector<std::string> unknown;
  bool expects_anything = false;
  for (const scenarios::Judgement& judgement : outcome.properties) {
    if (!judgement.expected) continue;
    expects_anything = true;
    const std::string name = property_in(language, judgement.finding.property);
    if (judgement.expected->verdict == Verdict::violated) parts.push_back(name);
    const Verdict verdict = judgement.expected->verdict;
    if (verdict == Verdict::unknown || verdict == Verdict::not_judged) unknown.push_back(name);
  }
  if (!expects_anything) return language == Language::zh ? "无" : "nothing";
  std::string text = parts.empty() ? std::string(word_of(Verdict::holds, language)) : "✗ " + joined(parts);
  if (!unknown.empty()) text += "\n? " + joined(unknown);
  return text;
}

/// What was found of these properties, and what else broke of which the file says nothing.
std::string observations_text(const scenarios::Outcome& outcome, Language language) {
  std::vector<std::string> broken;
  std::vector<std::string> unknown;
  std::vector<std::string> besides;
  for (const scenarios::Judgement& judgement : outcome.properties) {
    const std::string name = property_in(language, judgement.finding.property);
    // What is claimed is expected of a file that says nothing.
    const bool is_asked = judgement.expected || !judgement.as_expected;
    if (judgement.finding.verdict == Verdict::violated) (is_asked ? broken : besides).push_back(name);
    const Verdict verdict = judgement.finding.verdict;
    const bool is_known = verdict == Verdict::holds || verdict == Verdict::violated;
    if (!is_known && (judgement.expected || judgement.claim != scenarios::Claim::none)) unknown.push_back(name);
  }
  // Two beliefs at once are always more than one mutex allows: not worth a line of its own in every row.
  const auto contains = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const checker::Property& property : checker::properties()) {
    const std::string implied_by = property_in(language, property.implied_by);
    if (contains(broken, implied_by) || contains(besides, implied_by))
      std::erase(besides, property_in(language, property.name));
  }
  const bool is_any_kept =
      std::any_of(outcome.properties.begin(), outcome.properties.end(),
                  [](const scenarios::Judgement& j) { return j.finding.verdict == Verdict::holds; });
  std::string text = !broken.empty() ? "✗ " + joined(broken)
                     : is_any_kept   ? std::string(word_of(Verdict::holds, language))
                                     : "";
  if (!unknown.empty()) text += (text.empty() ? "? " : "\n? ") + joined(unknown);
  if (!besides.empty()) text += (language == Language::zh ? "\n另外：" : "\nbesides: ") + joined(besides);
  return text;
}

void add_surprises(Lines& lines, const Story& story, std::size_t width, Language language) {
  lines.emplace_back();
  lines.emplace_back(printable(story.scenario.file), Ink::strong);
  if (!story.outcome.mistake.empty()) {
    for (const std::string& part : wrap(reason_in(language, story.outcome.mistake), width - 2))
      lines.emplace_back("  " + part, Ink::bad);
  }
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    if (judgement.as_expected) continue;
    const std::string what = fmt::format("{}: {}", property_in(language, judgement.finding.property),
                                         surprise_text(story.outcome, judgement, language));
    for (const std::string& part : wrap(what, width - 2)) lines.emplace_back("  " + part, Ink::bad);
    if (judgement.finding.why.empty()) continue;
    for (const std::string& part : wrap(reason_in(language, judgement.finding.why), width - 4))
      lines.emplace_back("    " + part);
  }
}

}  // namespace

std::size_t count_as_expected(std::span<const Story> stories) {
  return static_cast<std::size_t>(
      std::count_if(stories.begin(), stories.end(), [](const Story& s) { return s.outcome.as_expected; }));
}

std::string totals_text(std::span<const Story> stories, Language language) {
  const std::size_t good = count_as_expected(stories);
  if (language == Language::zh)
    return good == stories.size()
               ? fmt::format("{} 个故事，全部符合预期", good)
               : fmt::format("{} 个故事：{} 个符合预期，{} 个不符合", stories.size(), good, stories.size() - good);
  const std::string all = counted(stories.size(), "story", "stories");
  if (good == stories.size()) return stories.size() == 1 ? all + ", as expected" : all + ", all as expected";
  return fmt::format("{}: {} as expected, {} NOT", all, good, stories.size() - good);
}

Lines summary(std::span<const Story> stories, const SummaryOptions& options) {
  const bool zh = options.language == Language::zh;
  Table table({{"", 3},
               {zh ? "故事" : "story", 17},
               {zh ? "算法" : "algorithm", 12},
               {zh ? "预期" : "expected", 19},
               {zh ? "观察到" : "observed", 19}});
  for (const Story& story : stories) {
    const bool good = story.outcome.as_expected;
    if (good && options.only_failures) continue;
    table.add({{good ? "ok" : "NOT", good ? Ink::good : Ink::bad},
               {story.scenario.id, Ink::strong},
               {story.scenario.lock.algorithm},
               {expectations_text(story.outcome, options.language)},
               {observations_text(story.outcome, options.language), good ? Ink::plain : Ink::bad}},
              {.text = in(options.language, story.scenario.title), .ink = Ink::faint, .first = 1, .last = 2});
  }
  Lines lines;
  if (!options.only_failures || count_as_expected(stories) != stories.size()) lines = table.lines(options.width);
  for (const Story& story : stories) {
    if (!story.outcome.as_expected) add_surprises(lines, story, options.width, options.language);
  }
  const bool good = count_as_expected(stories) == stories.size();
  if (!lines.empty()) lines.emplace_back();
  lines.emplace_back(totals_text(stories, options.language), good ? Ink::good : Ink::bad);
  return lines;
}

}  // namespace lockstep::reports
