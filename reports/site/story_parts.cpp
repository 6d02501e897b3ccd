#include "reports/site/story_parts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checker/properties/properties.hpp"
#include "reports/picture/drawing.hpp"
#include "reports/picture/shape.hpp"
#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports::site {
namespace {

using checker::Verdict;
using nlohmann::ordered_json;
using picture::Diagram;
using picture::escaped_markup;

std::string_view sign_of(Verdict verdict) {
  return verdict == Verdict::violated ? "✗" : verdict == Verdict::holds ? "✓" : "?";
}

std::string_view ink_of(Verdict verdict) {
  return verdict == Verdict::violated ? "bad" : verdict == Verdict::holds ? "good" : "warning";
}

std::string code_of_property(std::string_view name) { return fmt::format("<code>{}</code>", escaped_markup(name)); }

/// The name with what it means beside the pointer.
std::string property_name(std::string_view name) {
  const checker::Property* property = checker::find_property(name);
  if (property == nullptr) return fmt::format("<code>{}</code>", escaped_markup(name));
  return fmt::format("<code title=\"{}&#10;{}\">{}</code>", escaped_markup(property->meaning),
                     escaped_markup(property->meaning_zh), escaped_markup(name));
}

std::string reason(const std::string& why) { return both(why, reason_in(Language::zh, why)); }

std::string link_to_step(std::size_t row) { return fmt::format("<a href=\"#s{0}\">{0}</a>", row + 1); }

/// "s1" is the first row's own place.
std::string row_text(const picture::DiagramRow& row) { return both(row.event.text, row.text_zh); }

std::string name_of_actor(const Diagram& diagram, const picture::DiagramRow& row) {
  const auto lane = row.event.who.is_valid() ? diagram.lane_of(row.event.who) : std::nullopt;
  return lane ? escaped_markup(diagram.lanes[*lane].name) : both("network", "网络");
}

std::string change_text(const KeyChange& change) {
  const std::string place =
      fmt::format("{} <code>{}</code>: ", escaped_markup(change.server), escaped_markup(change.key));
  const std::string nothing = both("nothing", "无");
  const auto value = [&](const std::optional<KeyContent>& content) {
    if (!content) return nothing;
    const std::string text = fmt::format("<code>{}</code>", escaped_markup(content->text));
    return content->until.empty() ? text : text + both(" until " + content->until, " 至 " + content->until);
  };
  return place + value(change.before) + " → " + value(change.after);
}

}  // namespace

std::string verdict_banner(const Story& story, const Diagram& diagram) {
  std::string html;
  std::vector<std::string> held;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    const checker::Finding& finding = judgement.finding;
    if (finding.verdict == Verdict::holds) held.push_back(code_of_property(finding.property));
    if (finding.verdict != Verdict::violated) continue;
    html += fmt::format(
        "<div class=\"verdict bad\"><p><strong>✗ {} {}</strong></p><p>{}</p></div>\n", property_name(finding.property),
        both(observed_text(story.outcome, finding), observed_text(story.outcome, finding, Language::zh)),
        reason(finding.why));
  }
  if (html.empty()) {
    html = fmt::format("<div class=\"verdict good\"><p><strong>✓ {}</strong></p></div>\n",
                       both("Nothing that was judged broke in this run.", "在这次运行中，所判定的性质都没有被破坏。"));
  }
  if (!held.empty())
    html += fmt::format("<p class=\"good\">✓ {}: {}</p>\n", both("holds in this run", "这次运行中成立"), joined(held));
  if (diagram.folded > 0) {
    html +=
        fmt::format("<p class=\"faint\">{}</p>\n", both(fmt::format("{} that repeat others are folded into one.",
                                                                    counted(diagram.folded, "more row", "more rows")),
                                                        fmt::format("另有 {} 行重复的内容已合并。", diagram.folded)));
  }
  if (diagram.rows_left_out > 0) {
    html += fmt::format("<p class=\"warning\">{}</p>\n",
                        both(fmt::format("{} after these are left out.", counted(diagram.rows_left_out, "row", "rows")),
                             fmt::format("此后的 {} 行未显示。", diagram.rows_left_out)));
  }
  return html;
}

std::string stage(const Diagram& diagram, const scenarios::Text& title) {
  const auto button = [](std::string_view id, std::string_view sign, std::string_view en, std::string_view zh) {
    return fmt::format(
        "<button type=\"button\" id=\"{}\" title=\"{} / {}\"><span aria-hidden=\"true\">{}</span>"
        "<span class=\"hidden\">{}</span></button>\n",
        id, en, zh, sign, both(en, zh));
  };
  std::string html = "<div class=\"controls\" id=\"controls\" hidden=\"hidden\">\n";
  html += button("first", "|◀", "to the beginning", "到开头");
  html += button("back", "◀", "one step back (k)", "后退一步（k）");
  html += button("next", "▶", "one step on (j)", "前进一步（j）");
  html += button("last", "▶|", "all of it", "全部");
  html += fmt::format("<label>{} <input type=\"range\" id=\"at\" min=\"0\" max=\"{}\" value=\"{}\"/></label>\n",
                      both("step", "步"), diagram.rows.size(), diagram.rows.size());
  html += fmt::format("<output id=\"step\" for=\"at\">{0} / {0}</output>\n", diagram.rows.size());
  html += fmt::format("<button type=\"button\" id=\"scale\" aria-pressed=\"false\">{}</button>\n",
                      both("time to scale", "时间按比例"));
  html += fmt::format("<span class=\"faint keys\">{}</span>\n</div>\n",
                      both("Keys: j and k step, Home and End, s to scale", "按键：j 和 k 逐步，Home 和 End，s 按比例"));
  html += fmt::format("<div class=\"stage\" id=\"stage\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">\n{}</div>\n",
                      "Diagram / 时空图", picture::page_svg(diagram, {.title_en = title.en, .title_zh = title.zh}));
  html += "<div class=\"panel\" id=\"panel\" aria-live=\"polite\" hidden=\"hidden\"></div>\n";
  const auto sign = [](std::string_view style, std::string_view en, std::string_view zh) {
    return fmt::format(
        "<li><svg class=\"diagram\" width=\"22\" height=\"14\" aria-hidden=\"true\"><rect class=\"{}\" x=\"4\" "
        "y=\"1\" width=\"14\" height=\"12\"/></svg> {}</li>\n",
        style, both(en, zh));
  };
  html += "<ul class=\"legend\">\n";
  html += sign("belief", "believes that it holds the lock", "认为自己持有锁");
  html += sign("lease", "the server has the key", "服务器上有这个键");
  html += sign("overdue", "its lease is over, and nobody has looked", "租约已过，还没有人去看");
  html += sign("pause", "paused", "停顿");
  html += sign("overlap", "more hold it at once than may", "同时持有者过多");
  return html + "</ul>\n";
}

std::string steps_table(const Diagram& diagram, const std::vector<StepOfRun>& steps, const CodeOfRun& code) {
  const bool has_clocks =
      std::any_of(steps.begin(), steps.end(), [](const StepOfRun& step) { return !step.clocks.empty(); });
  std::string html = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"All steps / 所有步骤\"><table class=\"steps{}\" "
      "id=\"steps\">\n<thead><tr><th scope=\"col\">#</th><th scope=\"col\">{}</th>{}<th scope=\"col\">{}</th><th "
      "scope=\"col\">{}</th><th scope=\"col\">{}</th><th scope=\"col\">{}</th>{}</tr></thead>\n"
      "<tbody>\n",
      has_clocks ? " clocked" : "", both("true time", "真实时间"),
      has_clocks ? fmt::format("<th scope=\"col\">{}</th>", both("own clock", "自己的时钟")) : "", both("who", "谁"),
      both("what happens", "发生了什么"), both("what changes on servers", "服务器上的变化"),
      both("who believes to hold it then", "之后谁认为自己持有"),
      code.files.empty() ? "" : fmt::format("<th scope=\"col\">{}</th>", both("waits at line", "等待处")));
  for (const StepOfRun& step : steps) {
    const picture::DiagramRow& row = diagram.rows[step.row];
    std::vector<std::string> changes, clocks;
    for (const KeyChange& change : step.changes) changes.push_back(change_text(change));
    for (const auto& [name, time] : step.clocks) clocks.push_back(fmt::format("{}: {}", escaped_markup(name), time));
    std::vector<std::string> holders;
    for (const std::string& name : step.holders) holders.push_back(escaped_markup(name));
    std::string style = row.is_evidence ? " class=\"evidence" : "";
    if (!row.overlap.empty()) style += style.empty() ? " class=\"both" : " both";
    if (!style.empty()) style += "\"";
    html += fmt::format(
        "<tr id=\"s{0}\"{1}><td>{2}</td><td>{3}</td>{4}<td>{5}</td><td>{6}</td><td>{7}</td><td>{8}{9}</td>{10}</tr>\n",
        step.row + 1, style, link_to_step(step.row), time_text(row.event.at),
        has_clocks ? fmt::format("<td>{}</td>", joined(clocks, "<br/>")) : "", name_of_actor(diagram, row),
        row_text(row), joined(changes, "<br/>"), row.overlap.empty() ? "" : "!! ", joined(holders),
        code.files.empty() ? "" : fmt::format("<td>{}</td>", links_to_code(code, step.row)));
  }
  return html + "</tbody></table></div>\n";
}

std::string chain_of_causes(const Story& story, const Diagram& diagram) {
  std::string html;
  for (const scenarios::Judgement& judgement : story.outcome.properties) {
    const checker::Finding& finding = judgement.finding;
    if (finding.verdict != Verdict::violated) continue;
    html += fmt::format("<h3>{}</h3>\n<p>{}</p>\n", code_of_property(finding.property), reason(finding.why));
    std::string links;
    for (std::size_t i = 0; i < diagram.rows.size(); ++i) {
      const picture::DiagramRow& row = diagram.rows[i];
      if (!std::binary_search(finding.evidence.begin(), finding.evidence.end(), row.event.step)) continue;
      links += fmt::format("<li>{} · <span class=\"mono\">{}</span> · <strong>{}</strong> {}</li>\n", link_to_step(i),
                           time_text(row.event.at), name_of_actor(diagram, row), row_text(row));
    }
    if (!links.empty())
      html += fmt::format("<p>{}</p>\n<ol class=\"chain\">\n{}</ol>\n",
                          both("The steps that prove it:", "证明它的步骤："), links);
  }
  return html;
}

std::string point_of_no_return(const scenarios::NoReturn& point, const Story& story) {
  using Answer = scenarios::NoReturn::Answer;
  if (point.answer == Answer::unknown) return "";
  const std::string property = property_name(point.property);
  const std::string broken = sim::to_string(point.violated_at);
  std::string en, zh;
  if (point.answer == Answer::beginning) {
    en = "It breaks whatever happens: no order and no delay keeps it.";
    zh = "无论怎样都会被破坏：没有任何顺序和延迟能使它成立。";
  } else if (point.answer == Answer::at_end) {
    en = fmt::format("Until the very moment at which it breaks, {}, it could still have been avoided.", broken);
    zh = fmt::format("直到它被破坏的那一刻（{}）都还可以避免。", broken);
  } else {
    const scenarios::NoReturnEvent& event = point.events[point.step];
    const std::string who = printable(name_of(story.outcome, event.process));
    const std::string at = sim::to_string(event.at);
    std::string what = "goes on", what_zh = "继续运行";
    if (event.kind == sim::EventKind::message) {
      what = fmt::format("{} {}", event.is_reply ? "gets the answer to" : "gets", printable(event.name));
      what_zh = fmt::format("收到{} {}", event.is_reply ? "答复：" : "", printable(event.name));
    }
    if (event.kind == sim::EventKind::fault) {
      what = "is struck by a fault";
      what_zh = "发生故障";
    }
    en = fmt::format(
        "From {} on, when {} {}, nothing can avoid it any more; it breaks at {}. Up to the event before, some order "
        "and some "
        "delays would still have kept it.",
        at, who, what, broken);
    zh = fmt::format(
        "从 {}（{} {}）起已无法避免；它在 {} 被破坏。在此之前的一个事件为止，还有某种顺序和延迟能使它成立。", at, who,
        what_zh, broken);
  }
  if (!point.is_exact) {
    en += " The point may be later: not everything could be looked at.";
    zh += "这一点也可能更晚：并非所有情况都能检查。";
  }
  return fmt::format("<h3>{}</h3>\n<p>{} {} {}</p>\n", both("The point of no return", "无可挽回的时刻"),
                     both("In the run that check found, and that breaks it:", "在 check 找到的破坏它的运行中："),
                     property, both(en, zh));
}

std::string promises(const StoryToTell& told) {
  std::string html = fmt::format(
      "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Promises / 承诺\"><table>\n<thead><tr><th "
      "scope=\"col\">{}</th><th scope=\"col\">{}</th><th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead>\n"
      "<tbody>\n",
      both("promise", "承诺"), both("this run", "这次运行"), both("every order and every delay", "所有顺序和所有延迟"),
      both("does the algorithm claim it?", "算法承诺了吗？"));
  for (const scenarios::Judgement& judgement : told.story->outcome.properties) {
    const checker::Finding& finding = judgement.finding;
    const scenarios::ExploredProperty* explored =
        told.explored == nullptr ? nullptr : &told.explored->exploration.property(finding.property);
    const bool says_something = explored != nullptr && explored->is_judged;
    if (finding.verdict == Verdict::unknown && !says_something && !judgement.expected) continue;
    std::string all = fmt::format("<span class=\"faint\">{}</span>", both("not explored", "未探索"));
    if (explored != nullptr && !explored->is_judged) all = fmt::format("<span class=\"faint\">–</span>");
    if (says_something) {
      all = fmt::format("<span class=\"{}\">{} {}</span>", ink_of(explored->verdict), sign_of(explored->verdict),
                        both(verdict_text(*explored, Language::en), verdict_text(*explored, Language::zh)));
      for (const scenarios::Threshold& threshold : explored->thresholds) {
        all += fmt::format("<br/>{}", both(threshold_text(*told.explored, threshold, Language::en),
                                           threshold_text(*told.explored, threshold, Language::zh)));
      }
      if (!explored->frontier.empty())
        all += fmt::format("<br/>{}", both(frontier_text(*told.explored, *explored, Language::en),
                                           frontier_text(*told.explored, *explored, Language::zh)));
    }
    const bool is_claimed =
        judgement.claim != scenarios::Claim::none || (explored != nullptr && explored->claim != scenarios::Claim::none);
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"{}\">{} {}</td><td>{}</td><td>{}</td></tr>\n",
        property_name(finding.property), ink_of(finding.verdict), sign_of(finding.verdict),
        both(observed_text(told.story->outcome, finding), observed_text(told.story->outcome, finding, Language::zh)),
        all, is_claimed ? both("yes", "是") : both("no", "否"));
  }
  return html + "</tbody></table></div>\n";
}

std::string all_executions(const ExploredStory& explored, const std::string& version) {
  const auto list = [](const std::vector<std::string>& en, const std::vector<std::string>& zh) {
    std::string items;
    for (std::size_t i = 0; i < en.size(); ++i) items += fmt::format("<li>{}</li>\n", both(en[i], zh[i]));
    return fmt::format("<ul>\n{}</ul>\n", items);
  };
  const auto faults = [&](Language language) { return faults_in_words(explored.scenario, language); };
  const auto ranges = [&](Language language) { return ranges_in_words(explored.scenario, language); };
  std::string html =
      fmt::format("<p>{}</p>\n", both(fmt::format("Explored by lockstep {}: {}, {}.", version,
                                                  traces_text(explored.exploration.counts.traces, false, Language::en),
                                                  completeness_text(explored, Language::en)),
                                      fmt::format("由 lockstep {} 探索：{}，{}。", version,
                                                  traces_text(explored.exploration.counts.traces, false, Language::zh),
                                                  completeness_text(explored, Language::zh))));
  html += fmt::format("<h3>{}</h3>\n{}", both("What may vary", "什么可以变化"),
                      list(ranges(Language::en), ranges(Language::zh)));
  if (const auto may = faults(Language::en); !may.empty()) {
    html += fmt::format("<h3>{}</h3>\n{}", both("What may go wrong", "什么可能出错"), list(may, faults(Language::zh)));
  } else {
    html += fmt::format("<p>{}</p>\n", both("Nothing goes wrong there.", "其中没有故障。"));
  }
  std::string reached;
  for (const scenarios::Mark& mark : explored.exploration.marks) {
    if (mark.traces == 0) continue;
    const std::string_view zh = mark.name_zh.empty() ? mark.name : mark.name_zh;
    reached += fmt::format("<li>{}</li>\n",
                           both(fmt::format("{}: {}", mark.name, traces_text(mark.traces, false, Language::en)),
                                fmt::format("{}：{}", zh, traces_text(mark.traces, false, Language::zh))));
  }
  if (!reached.empty())
    html += fmt::format(
        "<details><summary>{}</summary><ul>\n{}</ul></details>\n",
        both("Which states were reached, so that no verdict is empty", "达到过哪些状态（判定并非空谈）"), reached);
  return html;
}

std::string commands(const StoryToTell& told) {
  // As somebody would type it who stands at the root of the tree.
  const std::string file = escaped_markup(told.source);
  std::string html;
  const auto add = [&](std::string_view command, std::string_view en, std::string_view zh) {
    html += fmt::format("<p>{}</p>\n<pre><code>{} {}</code></pre>\n", both(en, zh), command, file);
  };
  add("./lockstep run", "See this run in a terminal:", "在终端里看这次运行：");
  if (told.explored != nullptr)
    add("./lockstep check", "Every order and every delay, with the margin:", "所有顺序和所有延迟，以及安全余量：");
  add("./lockstep fuzz", "Larger worlds around it, at random:", "随机生成更大的世界：");
  return html;
}

std::string data_for_steps(const Diagram& diagram, const std::vector<StepOfRun>& steps, const std::string& sliders) {
  ordered_json data;
  std::vector<std::string> servers;
  for (const picture::DiagramLane& lane : diagram.lanes) {
    if (lane.role == scenarios::Lane::Role::server) servers.push_back(lane.name);
  }
  // What else there is to know of a step stands in the table.
  data["changes"] = ordered_json::object();
  for (const StepOfRun& step : steps) {
    ordered_json changes;
    for (const KeyChange& change : step.changes) {
      const auto server = std::find(servers.begin(), servers.end(), change.server);
      ordered_json one = {server - servers.begin(), change.key};
      if (change.after) one.push_back(change.after->text);
      if (change.after && !change.after->until.empty()) one.push_back(change.after->until);
      changes.push_back(std::move(one));
    }
    if (!changes.empty()) data["changes"][fmt::format("{}", step.row + 1)] = std::move(changes);
  }
  data["servers"] = servers;
  data["clocked"] = std::any_of(steps.begin(), steps.end(), [](const StepOfRun& step) { return !step.clocks.empty(); });
  if (!sliders.empty()) data["sliders"] = ordered_json::parse(sliders);
  return data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace lockstep::reports::site
