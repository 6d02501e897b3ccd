#include "reports/check/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reports/check/headline.hpp"
#include "reports/run/timeline.hpp"
#include "reports/text/chart.hpp"
#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports {
namespace {

using checker::Verdict;
using scenarios::ExploredProperty;

bool is_zh(const ExplorationOptions& options) { return options.language == Language::zh; }

std::string_view said(const ExplorationOptions& options, std::string_view en, std::string_view zh) {
  return is_zh(options) ? zh : en;
}

/// `text` after `label`, broken into lines that begin below each other.
void add_labelled(Lines& lines, std::string_view label, std::string_view text, const ExplorationOptions& options,
                  Ink ink = Ink::plain) {
  const std::size_t indent = display_width(label);
  bool is_first = true;
  for (const std::string& part : wrap(text, std::min(options.width, kProseMax) - indent)) {
    Line line;
    if (is_first) line.append(label, Ink::faint);
    lines.push_back(std::move(line.fill_to(indent).append(part, ink)));
    is_first = false;
  }
}

std::string separator(const ExplorationOptions& options) { return is_zh(options) ? "；" : "; "; }

void add_heading(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  add_labelled(lines, "", in(options.language, story.scenario.title), options, Ink::strong);
  add_labelled(lines, "", fmt::format("{} · {}", story.scenario.id, story.scenario.lock.algorithm), options,
               Ink::faint);
  lines.emplace_back();
}

/// The answer, before how it was found.
void add_headline(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  const Headline answer = headline(story, options.language);
  const bool is_bad = answer.verdict == Verdict::violated;
  add_labelled(lines, std::string(words_of(answer.verdict).sign) + " ", answer.text, options,
               is_bad                             ? Ink::bad
               : answer.verdict == Verdict::holds ? Ink::good
                                                  : Ink::warning);
  bool is_formula = true;
  for (const std::string& text : formulas_in_words(story, options.language)) {
    add_labelled(lines, is_formula ? "  " : "    ", text, options, is_formula ? Ink::strong : Ink::faint);
    is_formula = !is_formula;
  }
  lines.emplace_back();
}

std::string how_text(const ExploredStory& story, const ExplorationOptions& options) {
  if (!story.tick) return std::string(said(options, "every order and every delay", "所有顺序和所有延迟"));
  return fmt::format(
      fmt::runtime(said(options, "every order, and delays that are multiples of {}", "所有顺序，延迟为 {} 的倍数")),
      sim::to_string(*story.tick));
}

/// How it was looked at: the orders, the times and what may go wrong.
void add_bounds(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  const std::vector<std::string> faults = faults_in_words(story.scenario, options.language);
  const std::string_view nothing = said(options, "nothing goes wrong", "没有故障");
  add_labelled(lines, said(options, "explored  ", "探索  "), how_text(story, options), options);
  add_labelled(lines, said(options, "times     ", "时间  "),
               joined(ranges_in_words(story.scenario, options.language), separator(options)), options);
  add_labelled(lines, said(options, "faults    ", "故障  "),
               faults.empty() ? std::string(nothing) : joined(faults, separator(options)), options);
}

/// How far it came, and all that a reader is to be warned of.
void add_result(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  for (const std::string& what : left_out_in_words(story.scenario, options.language))
    add_labelled(lines, said(options, "left out  ", "略去  "), what, options);
  for (const std::string& idle : idle_in_words(story, options.language))
    add_labelled(lines, said(options, "no effect ", "无作用  "), idle, options, Ink::warning);

  const scenarios::Exploration& found = story.exploration;
  std::string counts = traces_text(found.counts.traces, story.tick.has_value(), options.language);
  if (options.times && found.seconds > 0) {
    counts += fmt::format(fmt::runtime(said(options, " in {:.2f} s", "，{:.2f} 秒")), found.seconds);
  }
  const bool complete = found.counts.complete;
  const std::string_view comma = said(options, ", ", "，");
  Line line(said(options, "result    ", "结果  "), Ink::faint);
  line.append(counts.append(comma));
  // Of a search that was cut that is not so, but for its ticks.
  const std::string how = !options.full && (complete || story.tick) ? how_text(story, options) : std::string();
  if (complete && !how.empty()) line.append(how).append(comma);
  line.append(completeness_text(story, options.language), complete ? Ink::good : Ink::warning);
  if (!complete && !how.empty()) line.append(comma).append(how);
  const std::string_view beside = said(options, "          ", "      ");
  line.wrap_into(lines, options.width, beside.size());
  if (found.unconfirmed > 0) {
    add_labelled(
        lines, beside,
        fmt::format(fmt::runtime(said(options, "{} that seem to violate something could not be confirmed by a replay",
                                      "{} 似乎破坏了性质，但重放未能证实")),
                    traces_text(found.unconfirmed, false, options.language)),
        options, Ink::warning);
  }
  if (!found.mistake.empty())
    add_labelled(lines, beside, reason_in(options.language, found.mistake), options, Ink::bad);
  if (const std::string claims = assumed_claims_text(story.scenario, options.language); !claims.empty())
    add_labelled(lines, beside, claims, options, Ink::warning);
  if (const std::string never = weakness_text(found, options.language); !never.empty())
    add_labelled(lines, beside, never, options, Ink::warning);
  if (found.disagreements > 0) {
    add_labelled(lines, beside, disagreements_text(found.disagreements, options.language), options, Ink::bad);
  }
  lines.emplace_back();
}

/// What somebody claims or expects, and what the first sentence is about.
bool decides(const ExploredStory& story, const ExploredProperty& property) {
  return property.expected || !property.as_expected || property.claim != scenarios::Claim::none ||
         &property == &headline_property(story);
}

void add_property(Lines& lines, const ExploredStory& story, const ExploredProperty& property,
                  const ExplorationOptions& options) {
  const bool violated = property.verdict == Verdict::violated;
  const bool holds = property.verdict == Verdict::holds;
  Line line(std::string(words_of(property.verdict).sign) + " ", violated ? Ink::bad : holds ? Ink::good : Ink::warning);
  line.append(property_in(options.language, property.name), Ink::strong).append(" ");
  line.append(printable(verdict_text(property, options.language)), violated ? Ink::bad : Ink::plain);
  if (property.claim != scenarios::Claim::none) line.append(said(options, ", claimed", "，算法承诺"), Ink::faint);
  if (property.expected && property.as_expected) line.append(said(options, ", as expected", "，符合预期"), Ink::good);
  line.wrap_into(lines, options.width, 2);
  if (!property.as_expected)
    add_labelled(lines, "  ", surprise_text(story, property, options.language), options, Ink::bad);
  // In short, of what nobody asked for the verdict alone. Why it is broken the run below says.
  if (!options.full && !decides(story, property)) return;
  for (const scenarios::Threshold& threshold : property.thresholds) {
    // Without it, if the other is large enough: the frontier says that better.
    const bool is_nothing = threshold.infimum == checker::Extent{sim::Duration::zero(), true};
    if (is_nothing && !property.frontier.empty()) continue;
    add_labelled(lines, "  ", threshold_text(story, threshold, options.language), options, Ink::strong);
  }
  if (!property.frontier.empty())
    add_labelled(lines, "  ", frontier_text(story, property, options.language), options, Ink::strong);
  // The first sentence has it.
  if (property.worst && (options.full || &property != &headline_property(story)))
    add_labelled(lines, said(options, "  at worst ", "  最坏时"), lasting_text(*property.worst, options.language),
                 options);
  if (!property.why.empty() && (options.full || !violated))
    add_labelled(lines, "  ", reason_in(options.language, property.why), options);
}

/// What is unknown or not judged, and nobody asked for. In short without the reasons.
void add_not_known(Lines& lines, Verdict verdict, NamesAndReasons properties, const ExplorationOptions& options,
                   Ink ink) {
  if (properties.empty()) return;
  if (!options.full) {
    for (auto& [name, why] : properties) why.clear();
  }
  const std::string label =
      fmt::format("{} {}{}", words_of(verdict).sign, word_of(verdict, options.language), said(options, ": ", "："));
  add_labelled(lines, label, with_reasons(properties, options.language), options, ink);
}

/// "recoverable (claimed, as expected)".
std::string marked_name(const ExploredProperty& property, const ExplorationOptions& options) {
  std::vector<std::string> marks;
  if (property.claim != scenarios::Claim::none) marks.emplace_back(said(options, "claimed", "算法承诺"));
  if (property.expected) marks.emplace_back(said(options, "as expected", "符合预期"));
  std::string name = property_in(options.language, property.name);
  if (!marks.empty()) name += fmt::format(fmt::runtime(said(options, " ({})", "（{}）")), joined(marks));
  return name;
}

/// What a search that was cut has not broken, in one line.
void add_not_proved(Lines& lines, const std::vector<std::string>& names, const ExploredStory& story,
                    const ExplorationOptions& options) {
  if (names.empty()) return;
  add_labelled(lines, said(options, "? not proved: ", "? 未证明："), joined(names), options, Ink::warning);
  const std::string_view bound = story.exploration.bound;
  const bool is_option = bound.starts_with("max-");
  const std::string_view so_far = story.exploration.counts.traces == 0
                                      ? said(options, "no execution was looked at to its end", "没有任何执行看到了结尾")
                                      : said(options, "not broken so far", "到目前为止没有被破坏");
  const std::string why =
      is_option
          ? fmt::format(
                fmt::runtime(said(options, "{}; the search ended when --{} was reached", "{}；搜索在达到 --{} 时结束")),
                so_far, bound)
          : reason_in(options.language, std::string(scenarios::kNotBrokenSoFar));
  add_labelled(lines, "  ", why + random_runs_text(story, options.language), options);
}

/// What holds for the same reason as its neighbours says so together with them.
void add_kept(Lines& lines, std::vector<const ExploredProperty*>& kept, Scope scope,
              const ExplorationOptions& options) {
  const std::string label = "✓ " + holds_text(scope, options.language) + std::string(said(options, ": ", "："));
  for (std::size_t first = 0, end = 0; first < kept.size(); first = end) {
    std::vector<std::string> names;
    for (; end < kept.size() && (!options.full || kept[end]->why == kept[first]->why); ++end)
      names.push_back(marked_name(*kept[end], options));
    add_labelled(lines, label, joined(names), options, Ink::good);
    const std::string& why = kept[first]->why;
    if (!why.empty() && options.full) add_labelled(lines, "  ", reason_in(options.language, why), options);
  }
  kept.clear();
}

void add_properties(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  std::vector<const ExploredProperty*> kept;
  NamesAndReasons unknown, not_judged;
  std::vector<std::string> not_proved;
  for (const ExploredProperty& property : story.exploration.properties) {
    const bool is_asked = property.expected || !property.as_expected;
    const bool is_cut = property.verdict == Verdict::unknown && property.why == scenarios::kNotBrokenSoFar;
    if (is_cut && !property.expected)
      not_proved.push_back(marked_name(property, options));
    else if (property.verdict == Verdict::not_judged && !is_asked)
      not_judged.emplace_back(property_in(options.language, property.name), property.why);
    else if (property.verdict == Verdict::unknown && !is_asked)
      unknown.emplace_back(property_in(options.language, property.name), property.why);
    else if (property.verdict == Verdict::holds && property.as_expected)
      kept.push_back(&property);
    else
      add_property(lines, story, property, options);
  }
  add_kept(lines, kept, story.tick ? Scope::this_grid : Scope::all_executions, options);
  add_not_proved(lines, not_proved, story, options);
  add_not_known(lines, Verdict::unknown, unknown, options, Ink::plain);
  add_not_known(lines, Verdict::not_judged, not_judged, options, Ink::faint);
}

void add_marks(Lines& lines, const ExploredStory& story, const ExplorationOptions& options) {
  std::vector<std::string> reached;
  std::vector<std::string> never;
  for (const scenarios::Mark& mark : story.exploration.marks) {
    const std::string name(is_zh(options) && !mark.name_zh.empty() ? mark.name_zh : mark.name);
    if (mark.traces == 0)
      never.push_back(name);
    else
      reached.push_back(fmt::format(fmt::runtime(said(options, "{} ({})", "{}（{}）")), name,
                                    traces_text(mark.traces, story.tick.has_value(), options.language)));
  }
  if (reached.empty() && never.empty()) return;
  lines.emplace_back();
  if (!reached.empty())
    add_labelled(lines, said(options, "reached: ", "达到过："), joined(reached, separator(options)), options);
  if (!never.empty())
    add_labelled(lines, said(options, "never reached: ", "从未达到："), joined(never, separator(options)), options);
}

/// What a witness expects is what was found: that it is so again is nobody's expectation.
Story without_expectations(Story story) {
  for (scenarios::Judgement& judgement : story.outcome.properties) {
    judgement.expected.reset();
    judgement.as_expected = true;
  }
  return story;
}

/// Where the rest is to be had.
std::string more_text(const ExploredStory& story, const ExplorationOptions& options) {
  std::string text(said(options, "More: --full", "更多：--full"));
  const std::optional<std::size_t> shown = shown_witness(story);
  if (!shown) return text;
  if (!options.witness.empty())
    return text +
           fmt::format(fmt::runtime(said(options, "; play it again: lockstep run {}", "；再播放一次：lockstep run {}")),
                       options.witness);
  if (story.exploration.properties[*shown].worst)
    return text + std::string(said(
                      options, "; as files that `lockstep run` plays: this run --witness FILE, the worst --worst FILE",
                      "；保存成 `lockstep run` 可以播放的文件：--witness FILE，最坏的一次：--worst FILE"));
  return text + std::string(said(options, "; the run as a file that `lockstep run` plays: --witness FILE",
                                 "；保存成 `lockstep run` 可以播放的文件：--witness FILE"));
}

/// The run in as many lines as are left: as a picture, or else its first and last moments in words.
void add_witness_in_short(Lines& lines, const ExploredStory& story, const ExploredProperty& property,
                          const ExplorationOptions& options, std::size_t room) {
  Lines told;
  if (!property.why.empty()) add_labelled(told, "  ", reason_in(options.language, property.why), options);
  Lines picture;
  if (story.replay) picture = chart(*story.replay, options.width, options.language);
  if (!picture.empty() && told.size() + picture.size() <= room) {
    std::move(picture.begin(), picture.end(), std::back_inserter(told));
  } else if (story.replay) {
    // The reason ends what happened, and stands here already.
    std::string happened = in(options.language, story.replay->scenario.story);
    happened = happened.substr(0, happened.find(said(options, " So ", "于是")));
    add_labelled(told, "  ", happened, options, Ink::faint);
  }
  if (told.size() > room) {
    told.resize(room);
    if (room > 0) told.back() = Line("  …", Ink::faint);
  }
  std::move(told.begin(), told.end(), std::back_inserter(lines));
}

/// `after`: so many lines are still to come.
void add_witness(Lines& lines, const ExploredStory& story, const ExplorationOptions& options, std::size_t after) {
  const std::optional<std::size_t> shown = shown_witness(story);
  if (!shown) return;
  const ExploredProperty& property = story.exploration.properties[*shown];
  lines.emplace_back();
  add_labelled(lines, "",
               fmt::format(fmt::runtime(said(options, "A run in which {} breaks:", "{} 被破坏的一次运行：")),
                           property_in(options.language, property.name)),
               options, Ink::strong);
  if (!options.full) {
    const std::size_t room = kShortLinesMax - std::min(kShortLinesMax, lines.size() + after);
    add_witness_in_short(lines, story, property, options, room);
    return;
  }
  if (story.replay) {
    lines.emplace_back();
    for (Line& line :
         timeline(without_expectations(*story.replay), {.width = options.width, .language = options.language}))
      lines.push_back(std::move(line));
  }
  lines.emplace_back();
  const std::string file =
      options.witness.empty()
          ? fmt::format(
                fmt::runtime(said(options, "As a file that `lockstep run` plays: lockstep check {} --witness FILE",
                                  "保存成 `lockstep run` 可以播放的文件：lockstep check {} --witness FILE")),
                story.scenario.file)
          : fmt::format(fmt::runtime(said(options, "Play it again: lockstep run {}", "再播放一次：lockstep run {}")),
                        options.witness);
  add_labelled(lines, "", file, options, Ink::faint);
}

}  // namespace

Lines exploration(const ExploredStory& story, const ExplorationOptions& options) {
  Lines lines;
  add_heading(lines, story, options);
  add_headline(lines, story, options);
  if (options.full) add_bounds(lines, story, options);
  add_result(lines, story, options);
  add_properties(lines, story, options);
  if (const std::string traces = trace_surprise(story.exploration, options.language); !traces.empty())
    add_labelled(lines, "", std::string(said(options, "NOT as expected: ", "不符合预期：")) + traces, options,
                 Ink::bad);
  if (options.full) add_marks(lines, story, options);
  Lines more;
  if (!options.full) add_labelled(more, "", more_text(story, options), options, Ink::faint);
  add_witness(lines, story, options, more.size());
  std::move(more.begin(), more.end(), std::back_inserter(lines));
  return lines;
}

}  // namespace lockstep::reports
