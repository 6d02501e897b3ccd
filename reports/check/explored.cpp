#include "reports/check/explored.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/text/text.hpp"
#include "scenarios/checking/agreement.hpp"
#include "scenarios/exploring/trace_marks.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {

using scenarios::Agreement;
using scenarios::ExploredProperty;

namespace {

using checker::Verdict;
using scenarios::MaySpec;

bool is_zh(Language language) { return language == Language::zh; }

std::string range_text(sim::DurationRange range, Language language) {
  if (range.is_exact()) return sim::to_string(range.lo);
  return fmt::format(fmt::runtime(is_zh(language) ? "{} 到 {}" : "{} to {}"), sim::to_string(range.lo),
                     sim::to_string(range.hi));
}

std::string violated_by(const std::vector<std::string>& by, Language language) {
  if (by.empty()) return std::string(word_of(Verdict::violated, language));
  if (is_zh(language)) return fmt::format("被 {} 破坏", joined(by, "、"));
  return "violated by " + joined(by);
}

std::string times_text(std::int64_t times, Language language) {
  if (is_zh(language)) return fmt::format("最多 {} 次", times);
  if (times == 1) return "at most one";
  return fmt::format("at most {}", times);
}

/// "A or B"; "any client". In Chinese a name in Latin letters is set off by a blank.
std::string whom_text(const MaySpec& may, Language language) {
  const bool zh = is_zh(language);
  if (may.who.empty()) {
    if (entry_of(may.kind).unless_named == sim::Whose::servers) return zh ? "任一服务器" : "any server";
    return zh ? "任一客户端" : "any client";
  }
  if (zh) return " " + joined(may.who, "、") + " ";
  std::string text = may.who.front();
  for (std::size_t i = 1; i < may.who.size(); ++i) text += (i + 1 == may.who.size() ? " or " : ", ") + may.who[i];
  return text;
}

/// " at work"; what a fault is limited to, or nothing.
std::string during_text(sim::Activity activity, Language language) {
  const bool zh = is_zh(language);
  switch (activity) {
    case sim::Activity::anything: return "";
    case sim::Activity::work: return zh ? "工作时" : " at work";
    case sim::Activity::acquire: return zh ? "加锁过程中" : " while acquiring";
    case sim::Activity::release: return zh ? "释放锁过程中" : " while releasing";
    case sim::Activity::renewal: return zh ? "续期过程中" : " while renewing";
  }
  return "";
}

/// "message", "replies to SET of acquires": which messages a fault strikes.
std::string messages_text(const MaySpec& may, Language language) {
  const bool zh = is_zh(language);
  const bool is_one = may.times == 1;
  const bool is_reply = may.direction == scenarios::FaultSpec::Direction::reply;
  std::string of;
  switch (may.during) {
    case sim::Activity::acquire: of = zh ? "加锁的" : is_one ? " of an acquire" : " of acquires"; break;
    case sim::Activity::release: of = zh ? "释放锁的" : is_one ? " of a release" : " of releases"; break;
    case sim::Activity::renewal: of = zh ? "续期的" : is_one ? " of a renewal" : " of renewals"; break;
    case sim::Activity::anything:
    case sim::Activity::work: break;
  }
  if (zh) {
    const std::string name = may.message.empty() ? "" : " " + may.message + " ";
    return of + name + (!may.direction ? "消息" : is_reply ? "答复" : "请求");
  }
  if (!may.direction) return (may.message.empty() ? "" : may.message + " ") + (is_one ? "message" : "messages") + of;
  if (!is_reply) return (may.message.empty() ? "" : may.message + " ") + (is_one ? "request" : "requests") + of;
  return (is_one ? "reply" : "replies") + (may.message.empty() ? "" : " to " + may.message) + of;
}

/// "for good", "back after 5ms with its data".
std::string back_text(const MaySpec& may, Language language) {
  const bool zh = is_zh(language);
  if (!may.restart_after) return zh ? "不再恢复" : "for good";
  const std::string after = range_text(*may.restart_after, language);
  const std::string back = zh ? after + " 后恢复" : "back after " + after;
  return may.keep ? back + (zh ? "，数据还在" : " with its data") : back;
}

/// Who is cut off from whom: "A and B", "A and everybody else".
std::string sides_text(const MaySpec& may, Language language) {
  const bool zh = is_zh(language);
  if (may.between.empty()) return whom_text(may, language) + (zh ? "与其他所有进程" : " and everybody else");
  return zh ? fmt::format("{} 与 {} 之间", joined(may.between[0], "、"), joined(may.between[1], "、"))
            : fmt::format("{} and {}", joined(may.between[0]), joined(may.between[1]));
}

std::string fault_text(const MaySpec& may, Language language) {
  const sim::Words words = sim::words_of(may.kind).allowed;
  const bool is_one = may.times == 1;
  return fmt::format(fmt::runtime(is_zh(language) ? words.zh : words.en),
                     fmt::arg("times", times_text(may.times, language)), fmt::arg("s", is_one ? "" : "s"),
                     fmt::arg("es", is_one ? "" : "es"), fmt::arg("whom", whom_text(may, language)),
                     fmt::arg("length", range_text(may.length, language)),
                     fmt::arg("during", during_text(may.during, language)), fmt::arg("back", back_text(may, language)),
                     fmt::arg("messages", messages_text(may, language)), fmt::arg("sides", sides_text(may, language)));
}

}  // namespace

std::optional<std::size_t> shown_witness(const ExploredStory& story) {
  const auto rank = [](const scenarios::ExploredProperty& property) {
    if (property.claim != scenarios::Claim::none || !property.as_expected) return 0;
    return property.expected ? 1 : 2;
  };
  const auto& properties = story.exploration.properties;
  std::optional<std::size_t> shown;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (properties[i].verdict != Verdict::violated || !properties[i].witness) continue;
    if (!shown || rank(properties[i]) < rank(properties[*shown])) shown = i;
  }
  return shown;
}

std::string verdict_text(const scenarios::ExploredProperty& property, Language language) {
  if (property.verdict == Verdict::violated) return violated_by(property.by, language);
  return std::string(word_of(property.verdict, language));
}

std::string lasting_text(const scenarios::WorstCase& worst, Language language) {
  const bool zh = is_zh(language);
  if (worst.longest == sim::Duration::forever()) return zh ? "而且不会结束" : "and nothing ends it";
  const std::string longest = sim::to_string(worst.longest);
  if (!worst.is_exact) return zh ? fmt::format("长达 {} 或更久", longest) : fmt::format("for {} or longer", longest);
  return zh ? fmt::format("最长 {}", longest) : fmt::format("for up to {}", longest);
}

std::string expectation_text(const scenarios::Expectation& expectation, Language language) {
  if (expectation.verdict != Verdict::violated) return std::string(word_of(expectation.verdict, language));
  std::string text = violated_by(expectation.violated_by, language);
  for (const auto& [parameter, value] : expectation.from) {
    text += is_zh(language) ? fmt::format("，从 {} {} 起", parameter, value)
                            : fmt::format(", from {} {} on", parameter, value);
  }
  for (const auto& [parameter, value] : expectation.up_to) {
    text += is_zh(language) ? fmt::format("，{} 不超过 {} 时", parameter, value)
                            : fmt::format(", up to {} {}", parameter, value);
  }
  if (!expectation.frontier.empty())
    text += is_zh(language) ? "，当 " + expectation.frontier : ", for " + expectation.frontier;
  return text;
}

namespace {

/// "from 5ms to 36ms", "above 5ms and below 36ms"; at an end of the file's range: "up to 36ms", "of 5ms or more".
std::string interval_text(const checker::ValueInterval& interval, sim::DurationRange range, Language language) {
  const bool zh = is_zh(language);
  const std::string from = sim::to_string(interval.least.value);
  const std::string to = sim::to_string(interval.greatest.value);
  const bool is_from_begin = interval.least == checker::Extent{range.lo, true};
  const bool is_to_end = interval.greatest == checker::Extent{range.hi, true};
  const bool is_closed = interval.greatest.attained;
  if (is_from_begin && is_to_end)
    return zh ? fmt::format("{} 到 {}", from, to) : fmt::format("from {} to {}", from, to);
  if (is_from_begin)
    return fmt::format(fmt::runtime(zh          ? (is_closed ? "不超过 {}" : "小于 {}")
                                    : is_closed ? "up to {}"
                                                : "below {}"),
                       to);
  const std::string begin = fmt::format(fmt::runtime(zh ? (interval.least.attained ? "从 {} 起" : "超过 {}")
                                                     : interval.least.attained ? "of {} or more"
                                                                               : "above {}"),
                                        from);
  if (is_to_end) return begin;
  return begin + fmt::format(fmt::runtime(zh          ? (is_closed ? "且不超过 {}" : "且小于 {}")
                                          : is_closed ? " and up to {}"
                                                      : " and below {}"),
                             to);
}

/// Of a parameter that does harm where it is small.
std::string values_text(const ExploredStory& story, const scenarios::Threshold& threshold, Language language) {
  const bool zh = is_zh(language);
  std::string values;
  for (const checker::ValueInterval& interval : threshold.values) {
    if (!values.empty()) values += zh ? "，或 " : ", or ";
    values += interval_text(interval, threshold.range, language);
  }
  const bool is_exact = threshold.is_exact && story.exploration.counts.complete && !story.tick;
  if (!threshold.together_with.empty()) {
    return fmt::format(fmt::runtime(zh ? "{} {} 时，连同 {}，会被破坏；单独不一定{}"
                                       : "for some {} {}, together with {}; not for each of them alone{}"),
                       threshold.parameter, values, joined(threshold.together_with, zh ? "、" : " and "),
                       is_exact ? ""
                       : zh     ? "；其余的值也可能破坏它"
                                : "; others may break it, too");
  }
  if (!is_exact) {
    return fmt::format(
        fmt::runtime(zh ? "{} {} 时被破坏；其余的值也可能破坏它" : "with a {} {}; others may break it, too"),
        threshold.parameter, values);
  }
  const checker::ValueInterval& first = threshold.values.front();
  if (threshold.values.size() > 1 || (first.least != checker::Extent{threshold.range.lo, true} &&
                                      first.greatest != checker::Extent{threshold.range.hi, true})) {
    return fmt::format(fmt::runtime(zh ? "{} {} 时都会被破坏，其余不会" : "for every {} {}, and for no other"),
                       threshold.parameter, values);
  }
  if (first.greatest != checker::Extent{threshold.range.hi, true}) {
    return fmt::format(fmt::runtime(zh                        ? "{} {} 时都会被破坏，更大就不会"
                                    : first.greatest.attained ? "for every {} {}, and for none above"
                                                              : "for every {} {}, and for none from there on"),
                       threshold.parameter, values);
  }
  if (first.least != checker::Extent{threshold.range.lo, true}) {
    return fmt::format(fmt::runtime(zh ? "{} {} 都会被破坏，更小就不会" : "for every {} {}, and for none below"),
                       threshold.parameter, values);
  }
  return fmt::format(
      fmt::runtime(zh ? "{} {} 时都会被破坏：文件允许的每一个" : "for every {} {}: all that the file allows"),
      threshold.parameter, values);
}

/// "above 71ms", "of 71ms or more"; on the other side of 0 "below -71ms", "of -71ms or less".
std::string beyond_text(const checker::Extent& extent, bool is_downward, Language language) {
  const bool zh = is_zh(language);
  const std::string value = sim::to_string(extent.value);
  if (extent.attained)
    return fmt::format(fmt::runtime(is_downward ? (zh ? "不超过 {}" : "of {} or less")
                                    : zh        ? "达到 {}"
                                                : "of {} or more"),
                       value);
  return fmt::format(fmt::runtime(is_downward ? (zh ? "小于 {}" : "below {}") : zh ? "超过 {}" : "above {}"), value);
}

/// Of a margin that hangs on faults of other ranges: first what it is without them.
std::string together_text(const ExploredStory& story, const scenarios::Threshold& threshold, Language language) {
  const bool zh = is_zh(language);
  const std::string& name = threshold.parameter;
  const std::string others = joined(threshold.together_with, zh ? "、" : " and ");
  std::string text;
  if (threshold.alone) {
    text = fmt::format(fmt::runtime(zh ? "单独：{} {} 就会被破坏；" : "alone for every {} {}; "), name,
                       beyond_text(*threshold.alone, threshold.is_downward, language));
  } else {
    text = fmt::format(fmt::runtime(zh ? "单独：文件允许的任何 {} 都不会破坏；" : "for no {} alone; "), name);
  }
  if (threshold.infimum == checker::Extent{sim::Duration::zero(), true}) {
    text += fmt::format(fmt::runtime(zh ? "连同足够的 {}，不需要它" : "with enough of {}, for none at all"), others);
  } else {
    text += fmt::format(fmt::runtime(zh ? "连同 {}，{} 才可能被破坏" : "together with {}, for some {}"), others,
                        beyond_text(threshold.infimum, threshold.is_downward, language));
  }
  if (!threshold.is_exact || !story.exploration.counts.complete || story.tick)
    text += zh ? "；更小的值也可能破坏它" : "; less may break it, too";
  return text;
}

}  // namespace

std::string threshold_text(const ExploredStory& story, const scenarios::Threshold& threshold, Language language) {
  if (!threshold.values.empty()) return values_text(story, threshold, language);
  if (!threshold.together_with.empty()) return together_text(story, threshold, language);
  const std::string value = sim::to_string(threshold.infimum.value);
  const std::string& name = threshold.parameter;
  if (threshold.infimum == checker::Extent{sim::Duration::zero(), true})
    return fmt::format(fmt::runtime(is_zh(language) ? "即使没有 {} 也会被破坏" : "breaks even without a {}"), name);
  const bool is_down = threshold.is_downward;
  if (!threshold.is_exact && story.exploration.counts.complete && !story.tick) {
    if (is_zh(language)) return fmt::format("{} 超过 {} 时被破坏；更小的值取决于放宽了的时间，未能判定", name, value);
    std::string above;
    if (const auto& least = threshold.least_possible; least && least->value > sim::Duration::zero())
      above = fmt::format(", and none {} {}", least->attained ? "below" : "up to", sim::to_string(least->value));
    return fmt::format(
        "with a {} {} {}; the least is at most that{}: with less it rests on widened times, which only a replay can "
        "tell",
        name,
        threshold.infimum.attained ? "of"
        : is_down                  ? "just below"
                                   : "just above",
        value, above);
  }
  if (!story.exploration.counts.complete || story.tick) {
    if (is_zh(language)) {
      return fmt::format(fmt::runtime(threshold.infimum.attained ? "{} 为 {} 时被破坏；更小的值也可能破坏它"
                                                                 : "{} 略超过 {} 时被破坏；更小的值也可能破坏它"),
                         name, value);
    }
    return fmt::format("with a {} {} {}; less may break it, too", name,
                       threshold.infimum.attained ? "of"
                       : is_down                  ? "just below"
                                                  : "just above",
                       value);
  }
  if (is_down) {
    if (is_zh(language))
      return fmt::format("{} {}就会被破坏，不到就不会", name, beyond_text(threshold.infimum, true, language));
    return fmt::format("for every {} {}, and for none {}", name, beyond_text(threshold.infimum, true, language),
                       threshold.infimum.attained ? "nearer to 0" : "from it to 0");
  }
  if (is_zh(language)) {
    return threshold.infimum.attained ? fmt::format("{} 达到 {} 就会被破坏，更小就不会", name, value)
                                      : fmt::format("{} 只要超过 {} 就会被破坏，不超过就不会", name, value);
  }
  return threshold.infimum.attained ? fmt::format("for every {} of {} or more, and for none below", name, value)
                                    : fmt::format("for every {} above {}, and for none up to it", name, value);
}

bool is_short(const checker::Frontier& region) {
  constexpr std::size_t kPiecesMax = 6;
  return region.pieces().size() <= kPiecesMax;
}

namespace {

/// Of a region of too many pieces for a line: how many they are, and the corners that are nearest to no faults at all.
std::string corners_text(const checker::Frontier& region, Language language) {
  constexpr std::size_t kCornersMax = 6;
  const auto size_of = [](const checker::FrontierCorner& corner) {
    checker::Fraction sum;
    for (const checker::Fraction& value : corner) sum += value.sign() < 0 ? -value : value;
    return sum;
  };
  std::vector<std::pair<checker::Fraction, checker::FrontierCorner>> corners;
  for (const checker::FrontierPiece& piece : region.pieces()) {
    for (const checker::FrontierCorner& corner : piece.corners) corners.emplace_back(size_of(corner), corner);
  }
  std::sort(corners.begin(), corners.end());
  corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
  if (corners.size() > kCornersMax) corners.resize(kCornersMax);
  std::vector<std::string> texts;
  for (const auto& [size, corner] : corners) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < corner.size(); ++i) {
      if (corner[i].sign() != 0)
        values.push_back(fmt::format("{} {}", region.axes()[i].name, checker::to_string(corner[i])));
    }
    texts.push_back(joined(values, " + "));
  }
  return fmt::format(
      fmt::runtime(is_zh(language) ? "{} 块区域（--json 给出全部），从这些角点起：{}"
                                   : "in {} pieces, all of which --json tells; they begin at corners such as {}"),
      region.pieces().size(), joined(texts, is_zh(language) ? "；" : "; "));
}

}  // namespace

std::string frontier_text(const ExploredStory& story, const ExploredProperty& property, Language language) {
  const bool is_exact =
      story.exploration.counts.complete && property.is_region_exact &&
      std::all_of(property.thresholds.begin(), property.thresholds.end(), [](const auto& t) { return t.is_exact; });
  const std::span<const checker::FrontierAxis> axes = property.region.axes();
  const bool is_upward = std::all_of(axes.begin(), axes.end(), [](const auto& axis) { return axis.is_upward; });
  const bool is_told = is_short(property.region);
  if (is_zh(language)) {
    return fmt::format("{}：{}{}", axes.size() == 2 ? "两者一起" : "合在一起",
                       is_told ? property.frontier : corners_text(property.region, language),
                       !is_exact   ? (is_upward ? "；更少也可能破坏它" : "；其余的也可能破坏它")
                       : is_upward ? "，再少就不会"
                                   : "，其余不会");
  }
  return fmt::format("together: {}{}", is_told ? "for " + property.frontier : corners_text(property.region, language),
                     !is_exact   ? (is_upward ? "; less may break it, too" : "; others may break it, too")
                     : is_upward ? ", and for nothing less"
                                 : ", and for nothing else");
}

std::vector<std::string> faults_in_words(const scenarios::Scenario& scenario, Language language) {
  std::vector<std::string> words;
  for (const MaySpec& may : scenario.may) words.push_back(fault_text(may, language));
  return words;
}

std::vector<std::string> left_out_in_words(const scenarios::Scenario& scenario, Language language) {
  const bool zh = is_zh(language);
  std::vector<std::string> words;
  if (!scenario.faults.empty())
    words.push_back(
        fmt::format(fmt::runtime(zh ? "[[fault]]（{} 个）只在 run 中发生；这里看 [[may]]"
                                    : "[[fault]] ({}), which happens in `run` alone; here what [[may]] says"),
                    scenario.faults.size()));
  for (const MaySpec& may : scenario.may) {
    if (!is_nothing(may.kind, length_of(may))) continue;
    words.push_back(fmt::format(fmt::runtime(zh ? "第 {} 行的 [[may]]：长度为 0 的 {} 等于没有"
                                                : "[[may]] of line {}: a {} of length 0 is none"),
                                may.at.line, sim::name_of(may.kind)));
  }
  return words;
}

std::vector<std::string> idle_in_words(const ExploredStory& story, Language language) {
  using Why = scenarios::Idle::Why;
  const auto reason = [](Why why) -> sim::Words {
    switch (why) {
      case Why::no_moment: return {"there is no moment for it", "没有它能发生的时刻"};
      case Why::meets_nobody: return {"no client has anything to do with it", "没有客户端与它有任何关系"};
      case Why::unread_clock: return {"nothing depends on that clock", "没有任何东西取决于这个时钟"};
    }
    return {};
  };
  std::vector<std::string> words;
  for (const scenarios::Idle& idle : story.exploration.idle) {
    const std::string what = idle.is_server ? story.scenario.servers[idle.number].name
                                            : fault_text(story.scenario.may[idle.number], language);
    const sim::Words why = reason(idle.why);
    words.push_back(fmt::format("{}{}{}", what, is_zh(language) ? "：" : ": ", is_zh(language) ? why.zh : why.en));
  }
  return words;
}

std::vector<std::string> ranges_in_words(const scenarios::Scenario& scenario, Language language) {
  const bool zh = is_zh(language);
  std::vector<std::string> words;
  words.push_back((zh ? "延迟 " : "latency ") + range_text(scenario.network.latency, language));
  for (const scenarios::ServerSpec& server : scenario.servers) {
    if (!server.latency) continue;
    words.push_back(fmt::format(fmt::runtime(zh ? "{} 的延迟 {}" : "{}'s latency {}"), server.name,
                                range_text(*server.latency, language)));
  }
  // Clients that are alike share their words.
  std::vector<std::pair<std::string, std::vector<std::string>>> ways;
  for (const scenarios::ClientSpec& client : scenario.clients) {
    std::string way = (zh ? "开始于 " : "from ") + range_text(client.acquire_at, language);
    if (client.commands.empty()) way += (zh ? "，工作 " : ", working ") + range_text(client.hold, language);
    if (client.rounds > 1) way += fmt::format(fmt::runtime(zh ? "，{} 轮" : ", {} rounds"), client.rounds);
    const auto same = std::find_if(ways.begin(), ways.end(), [&](const auto& other) { return other.first == way; });
    if (same == ways.end())
      ways.push_back({way, {client.name}});
    else
      same->second.push_back(client.name);
  }
  for (const auto& [way, names] : ways) words.push_back(fmt::format("{} {}", joined(names, zh ? "、" : ", "), way));
  return words;
}

std::string completeness_text(const ExploredStory& story, Language language) {
  const bool zh = is_zh(language);
  const std::string& bound = story.exploration.bound;
  if (story.exploration.counts.complete) return zh ? "完整" : "complete";
  if (bound == "max-traces") return zh ? "不完整：达到了 --max-traces" : "not complete: --max-traces was reached";
  if (bound == "max-events") return zh ? "不完整：达到了 --max-events" : "not complete: --max-events was reached";
  if (bound == "max-seconds") return zh ? "不完整：达到了 --max-seconds" : "not complete: --max-seconds was reached";
  if (bound == "interrupted") return zh ? "不完整：被中断" : "not complete: interrupted";
  return bound.empty() ? (zh ? "不完整" : "not complete") : (zh ? "不完整：" : "not complete: ") + bound;
}

std::string random_runs_text(const ExploredStory& story, Language language) {
  const std::uint64_t runs = story.exploration.random_runs;
  if (runs == 0) return "";
  if (is_zh(language)) return fmt::format("；另外 {} 次随机运行也没有破坏", runs);
  return fmt::format("; {} did not break it either", counted(runs, "random run", "random runs"));
}

std::string traces_text(std::uint64_t n, bool on_a_grid, Language language) {
  if (is_zh(language)) return fmt::format(fmt::runtime(on_a_grid ? "{} 次运行" : "{} 条轨迹"), n);
  return on_a_grid ? counted(n, "run", "runs") : counted(n, "trace", "traces");
}

std::string disagreements_text(std::uint64_t n, Language language) {
  if (is_zh(language)) return fmt::format("{} 处分歧：具体运行破坏了搜索认为成立的结论（lockstep 的错误）", n);
  return fmt::format("{}: concrete runs break what the search called kept, an error of lockstep",
                     counted(n, "disagreement", "disagreements"));
}

std::string weakness_text(const scenarios::Exploration& exploration, Language language) {
  const auto& properties = exploration.properties;
  const bool is_any_kept =
      std::any_of(properties.begin(), properties.end(), [](const auto& p) { return p.verdict == Verdict::holds; });
  const auto& marks = exploration.marks;
  const auto never = std::find_if(marks.begin(), marks.end(), [](const scenarios::Mark& mark) {
    return mark.traces == 0 && mark.name == scenarios::TraceMarks::names().front().first;
  });
  if (!is_any_kept || never == marks.end()) return "";
  return fmt::format(fmt::runtime(is_zh(language) ? "从未达到：{}" : "never reached: {}"),
                     is_zh(language) ? never->name_zh : never->name);
}

std::string trace_surprise(const scenarios::Exploration& exploration, Language language) {
  if (scenarios::trace_agreement(exploration) == scenarios::Agreement::agrees) return "";
  return fmt::format(fmt::runtime(is_zh(language) ? "预期 {} 条轨迹，探索了 {} 条" : "expected {} traces, explored {}"),
                     *exploration.expected_traces, exploration.counts.traces);
}

std::string surprise_text(const ExploredStory& story, const ExploredProperty& property, Language language) {
  if (!property.expected) {
    const bool is_violated = property.verdict == Verdict::violated;
    if (property.verdict == Verdict::not_judged)
      return is_zh(language) ? "尚未确定：算法承诺了这一性质，但没有可供判定的内容"
                             : "still open: the algorithm promises it, and there was nothing to judge it by";
    if (is_zh(language)) return is_violated ? "与算法的承诺不符" : "尚未确定：算法承诺了这一性质";
    return is_violated ? "NOT as claimed: the algorithm promises it" : "still open: the algorithm promises it";
  }
  const std::string expected = expectation_text(*property.expected, language);
  const bool is_open = scenarios::agreement(story.exploration, property, story.parameter) == Agreement::open;
  if (is_zh(language))
    return fmt::format(fmt::runtime(is_open ? "尚未确定：预期 {}" : "不符合预期：预期 {}"), expected);
  return fmt::format(fmt::runtime(is_open ? "still open: {} is expected" : "NOT as expected: {} was expected"),
                     expected);
}

Agreement agreement(const ExploredStory& story) { return scenarios::agreement(story.exploration, story.parameter); }

std::size_t count_as_expected(std::span<const ExploredStory> stories) {
  return static_cast<std::size_t>(
      std::count_if(stories.begin(), stories.end(), [](const auto& s) { return s.exploration.as_expected; }));
}

std::size_t count_complete(std::span<const ExploredStory> stories) {
  return static_cast<std::size_t>(
      std::count_if(stories.begin(), stories.end(), [](const auto& s) { return s.exploration.counts.complete; }));
}

}  // namespace lockstep::reports
