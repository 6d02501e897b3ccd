#include "reports/check/headline.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/text/text.hpp"
#include "reports/words/property_names.hpp"
#include "reports/words/reasons.hpp"
#include "sim/worlds/fault_kinds.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {
namespace {

using checker::Extent;
using checker::Verdict;
using scenarios::ExploredProperty;
using scenarios::Threshold;
using sim::Duration;

/// Of the properties that say who has the lock: that comes before what else breaks.
constexpr std::array<std::string_view, 2> kWhoHoldsIt = {"mutual-exclusion", "capacity"};

bool is_about_holders(const ExploredProperty& property) {
  return std::find(kWhoHoldsIt.begin(), kWhoHoldsIt.end(), property.name) != kWhoHoldsIt.end();
}

bool is_asked(const ExploredProperty& property) {
  return property.claim != scenarios::Claim::none || property.expected.has_value();
}

/// What is broken then.
std::string broken_text(const ExploredProperty& property, bool zh) {
  if (property.name == "mutual-exclusion") return zh ? "两个客户端同时持有锁" : "two clients hold the lock at once";
  if (property.name == "capacity") return zh ? "持有者多于名额" : "more clients hold it than there are places";
  return fmt::format(fmt::runtime(zh ? "{} 被破坏" : "{} is broken"),
                     property_in(zh ? Language::zh : Language::en, property.name));
}

/// "more than 71ms", "71ms or more".
std::string more_than(const Extent& extent, bool zh) {
  const std::string value = sim::to_string(std::max(extent.value, -extent.value));
  if (zh) return fmt::format(fmt::runtime(extent.attained ? "达到 {}" : "超过 {}"), value);
  return fmt::format(fmt::runtime(extent.attained ? "{} or more" : "more than {}"), value);
}

/// "once a client is paused for more than 71ms". Requires: longer does more harm.
std::string once_text(const ExploredStory& story, const Threshold& threshold, bool zh) {
  const Extent& least = threshold.infimum;
  const auto kind = sim::kind_of_parameter(threshold.parameter);
  const std::string more = more_than(least, zh);
  if (!kind) return fmt::format(fmt::runtime(zh ? "{} {}时" : "once {} is {}"), threshold.parameter, more);
  const auto& all = story.scenario.may;
  const auto strikes = [&](sim::Whose whose) {
    return std::any_of(all.begin(), all.end(), [&](const scenarios::MaySpec& may) {
      if (may.kind != *kind) return false;
      if (may.who.empty()) return sim::entry_of(may.kind).unless_named == whose;
      const auto& servers = story.scenario.servers;
      const bool is_server = std::any_of(servers.begin(), servers.end(),
                                         [&](const auto& server) { return server.name == may.who.front(); });
      return is_server == (whose == sim::Whose::servers);
    });
  };
  const bool of_server = strikes(sim::Whose::servers) && !strikes(sim::Whose::clients);
  const sim::FaultWords words = sim::words_of(*kind);
  const sim::Words once = threshold.is_downward ? words.once_back : words.once;
  if (once.en.empty()) return fmt::format(fmt::runtime(zh ? "{} {}时" : "once {} is {}"), threshold.parameter, more);
  const std::string_view who = of_server ? (zh ? "服务器" : "a server") : (zh ? "客户端" : "a client");
  return fmt::format(fmt::runtime(zh ? once.zh : once.en), fmt::arg("who", who), fmt::arg("length", more));
}

bool needs_nothing(const Threshold& threshold) { return threshold.infimum == Extent{Duration::zero(), true}; }

/// "once a job takes more than 9996ms; or, with jobs of 2s, once a client is paused for more than 7996ms". Empty: no
/// such border is known.
std::string borders_text(const ExploredStory& story, bool zh) {
  std::vector<std::string> works, faults;
  for (const scenarios::FormulaBorder& border : story.formulas.borders) {
    const std::string more = more_than(border.at, zh);
    if (border.is_work) {
      works.push_back(fmt::format(fmt::runtime(zh ? "工作时间{}时" : "once a job takes {}"), more));
      continue;
    }
    std::string text = once_text(story, Threshold{border.length, border.at}, zh);
    if (border.works_less) {
      const std::string work = sim::to_string(border.work);
      text = zh ? fmt::format("工作 {} 时，{}", work, text) : fmt::format("with jobs of {}, {}", work, text);
    }
    faults.push_back(text);
  }
  if (works.empty()) return "";
  // What has no length may happen all the same: deaths, and messages that are lost.
  const std::vector<std::string> all = faults_in_words(story.scenario, zh ? Language::zh : Language::en);
  std::vector<std::string> besides;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (sim::words_of(story.scenario.may[i].kind).once.en.empty()) besides.push_back(all[i]);
  }
  if (!besides.empty())
    works.front() += fmt::format(fmt::runtime(zh ? "（{}）" : ", with {}"), joined(besides, zh ? "；" : "; "));
  if (faults.empty()) return works.front();
  return works.front() + (zh ? "；或者，" : "; or, ") + faults.front();
}

/// The conditions under which it breaks; `is_border`: of all that is less it is known that it does not.
std::string condition_text(const ExploredStory& story, const ExploredProperty& property, bool zh, bool& is_border) {
  const bool is_whole = story.exploration.counts.complete && !story.tick;
  is_border = false;
  const auto& margins = property.thresholds;
  if (!property.frontier.empty() && is_short(property.region)) {
    is_border = is_whole && property.is_region_exact;
    return zh ? property.frontier + " 时" : "once " + property.frontier;
  }
  const bool is_one = margins.size() == 1 && margins.front().values.empty();
  if (margins.empty() || (is_one && needs_nothing(margins.front()))) {
    std::string borders = borders_text(story, zh);
    if (!borders.empty()) {
      // Of two of them less of each may be too much of both.
      is_border = is_whole && story.formulas.borders.size() == 1 && story.formulas.borders.front().is_whole;
      return borders;
    }
  }
  if (is_one && needs_nothing(margins.front())) {
    const std::string& name = margins.front().parameter;
    return zh ? fmt::format("即使没有 {}", name) : fmt::format("even without a {}", name);
  }
  if (is_one) {
    is_border = is_whole && margins.front().is_exact;
    return once_text(story, margins.front(), zh);
  }
  if (!margins.empty()) {
    std::vector<std::string> each;
    for (const Threshold& margin : margins)
      each.push_back(margin.parameter + " " + threshold_text(story, margin, zh ? Language::zh : Language::en));
    return joined(each, zh ? "；" : "; ");
  }
  const std::vector<std::string> faults = faults_in_words(story.scenario, zh ? Language::zh : Language::en);
  if (faults.empty()) return zh ? "没有任何故障" : "without any fault";
  return (zh ? "其间：" : "with ") + joined(faults, zh ? "；" : "; ");
}

std::string violated_sentence(const ExploredStory& story, const ExploredProperty& property, bool zh) {
  bool is_border = false;
  const std::string condition = condition_text(story, property, zh, is_border);
  const auto& margins = property.thresholds;
  const bool is_open = margins.empty() || std::any_of(margins.begin(), margins.end(),
                                                      [](const Threshold& margin) { return !needs_nothing(margin); });
  std::string broken = broken_text(property, zh);
  if (property.worst) broken += (zh ? "，" : ", ") + lasting_text(*property.worst, zh ? Language::zh : Language::en);
  std::string text = fmt::format(fmt::runtime(zh ? "{}会被破坏：{}。" : "Breaks {}: {}."), condition, broken);
  if (is_border)
    text += zh ? "不到就不会。" : " Up to that nothing breaks it.";
  else if (!story.exploration.counts.complete && is_open)
    text += zh ? "搜索没有完成：更少也可能破坏它。" : " The search was cut: less may break it, too.";
  return text;
}

std::string kept_sentence(const ExploredStory& story, const ExploredProperty& property, bool zh) {
  const std::uint64_t traces = story.exploration.counts.traces;
  const std::vector<std::string> faults = faults_in_words(story.scenario, zh ? Language::zh : Language::en);
  const std::string within = faults.empty() ? "" : (zh ? "，其间：" : ", with ") + joined(faults, zh ? "；" : "; ");
  const std::string name = property_in(zh ? Language::zh : Language::en, property.name);
  const std::string_view what = property.name == "mutual-exclusion" ? (zh ? "从不会有两个持有者" : "never two holders")
                                : property.name == "capacity"
                                    ? (zh ? "持有者从不多于名额" : "never more holders than places")
                                    : std::string_view(name);
  const std::string of = traces_text(traces, story.tick.has_value(), zh ? Language::zh : Language::en);
  return zh ? fmt::format("成立：{}，在文件允许的所有顺序和延迟中（{}{}）。", what, of, within)
            : fmt::format("Holds: {}, in every order and with every delay that the file allows ({}{}).", what, of,
                          within);
}

}  // namespace

const ExploredProperty& headline_property(const ExploredStory& story) {
  const auto& all = story.exploration.properties;
  const auto rank = [](const ExploredProperty& property) {
    const bool is_broken = property.verdict == Verdict::violated;
    const bool is_wanted = is_asked(property) || !property.as_expected;
    if (is_broken && is_wanted) return is_about_holders(property) ? 0 : 1;
    if (!property.as_expected) return 2;  // open
    if (is_wanted) return is_about_holders(property) ? 3 : 4;
    if (is_broken && is_about_holders(property)) return 5;
    return is_about_holders(property) && property.applies ? 6 : 7;
  };
  return *std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

Headline headline(const ExploredStory& story, Language language) {
  const bool zh = language == Language::zh;
  const ExploredProperty& property = headline_property(story);
  if (property.verdict == Verdict::violated) return {Verdict::violated, violated_sentence(story, property, zh)};
  if (property.verdict == Verdict::holds && !story.tick) {
    std::string text = kept_sentence(story, property, zh);
    const ExploredProperty& mutex = story.exploration.property("mutual-exclusion");
    if (mutex.verdict == Verdict::violated)
      text += zh ? "两个客户端可能同时持有它，算法对此没有承诺。"
                 : " Two clients can hold it at once: against that it promises nothing.";
    if (const std::string never = weakness_text(story.exploration, language); !never.empty())
      text += zh ? "但" + never + "。" : " But " + never + ".";
    return {Verdict::holds, text};
  }
  if (property.verdict == Verdict::unknown && property.why == scenarios::kNotBrokenSoFar) {
    return {Verdict::unknown, fmt::format(fmt::runtime(zh ? "未证明：到目前为止没有被破坏（{}，{}{}）。"
                                                          : "Not proved: nothing broke so far ({}, {}{})."),
                                          traces_text(story.exploration.counts.traces, false, language),
                                          completeness_text(story, language), random_runs_text(story, language))};
  }
  const std::string why = reason_in(language, property.why);
  return {property.verdict == Verdict::holds ? Verdict::unknown : property.verdict,
          fmt::format(fmt::runtime(zh ? "{} {}：{}。" : "{} {}: {}."), property_in(language, property.name),
                      word_of(property.verdict, language), why)};
}

std::string_view look_of(const Headline& answer) {
  return answer.verdict == Verdict::not_judged ? words_of(Verdict::unknown).look : words_of(answer.verdict).look;
}

std::vector<std::string> formulas_in_words(const ExploredStory& story, Language language) {
  const bool zh = language == Language::zh;
  std::vector<std::string> lines;
  for (const scenarios::Formula& formula : story.formulas.all) {
    std::vector<std::string> boxes;
    for (std::size_t i = 1; i < formula.terms.size(); ++i) {
      const scenarios::FormulaTerm& term = formula.terms[i];
      boxes.push_back(fmt::format("{} {}", term.length, sim::to_string(term.box)));
    }
    std::string text = to_string(formula);
    if (zh) text.replace(0, std::string_view("safe while").size(), "安全条件：");
    lines.push_back(std::move(text));
    std::string shown =
        fmt::format(fmt::runtime(zh ? "在 {} 个角点处证实：{}" : "shown at {} of {}"),
                    zh ? fmt::to_string(formula.corners) : counted(formula.corners, "corner", "corners"),
                    joined(boxes, zh ? "、" : ", "));
    if (!formula.without.empty())
      shown += fmt::format(fmt::runtime(zh ? "；没有 {}" : "; without {}"), joined(formula.without));
    lines.push_back(std::move(shown));
  }
  if (lines.empty() && !story.formulas.why.empty())
    lines.push_back((zh ? "没有公式：" : "no formula: ") + story.formulas.why);
  return lines;
}

}  // namespace lockstep::reports
