#include "reports/compare/comparison.hpp"

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/text/figures.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using scenarios::ComparedRun;
using sim::Duration;

Table table_of(const ComparedStory& story, bool zh) {
  Table table(zh ? std::vector<Column>{{"算法", 12},
                                       {"客户端", 6},
                                       {"得到", 6},
                                       {"消息/次", 7},
                                       {"白问/次", 7},
                                       {"等待", 7},
                                       {"99%", 7},
                                       {"交接", 7},
                                       {"公平", 5},
                                       {"被超", 5},
                                       {"恢复", 7}}
                 : std::vector<Column>{{"algorithm", 12},
                                       {"clients", 4},
                                       {"grants", 6},
                                       {"msgs", 6},
                                       {"vain", 6},
                                       {"waiting", 7},
                                       {"99%", 7},
                                       {"handover", 8},
                                       {"fair", 5},
                                       {"passed", 6},
                                       {"recovery", 8}});
  for (const ComparedRun& run : story.runs) {
    const scenarios::LockCost& cost = run.cost;
    table.add({{run.algorithm, Ink::strong},
               {fmt::format("{}", run.clients)},
               {fmt::format("{}", cost.acquisitions)},
               {per(run.messages, cost.acquisitions)},
               {per(cost.requests_in_vain, cost.acquisitions)},
               {text_of(cost.waiting_median)},
               {text_of(cost.waiting_p99)},
               {text_of(cost.handover_median)},
               {per(cost.fairness, 1000)},
               {fmt::format("{}", cost.most_overtaken)},
               run.recovery ? Cell{text_of(run.recovery)} : Cell{zh ? "没有" : "never", Ink::bad}});
  }
  return table;
}

Json json_of(std::optional<Duration> d) { return d ? Json(sim::to_string(*d)) : Json(); }

Json json_of(const ComparedRun& run) {
  const scenarios::LockCost& cost = run.cost;
  return {{"algorithm", run.algorithm},
          {"clients", run.clients},
          {"acquisitions", cost.acquisitions},
          {"messages", run.messages},
          {"attempts_in_vain", cost.attempts_in_vain},
          {"requests_in_vain", cost.requests_in_vain},
          {"waiting_median", json_of(cost.waiting_median)},
          {"waiting_p99", json_of(cost.waiting_p99)},
          {"handover_median", json_of(cost.handover_median)},
          {"fairness_permille", cost.fairness},
          {"most_overtaken", cost.most_overtaken},
          {"recovery", json_of(run.recovery)}};
}

std::string meaning(const scenarios::CompareOptions& how, bool zh) {
  return fmt::format(
      fmt::runtime(
          zh ? "虚拟时间 {}，随机时延（种子 "
               "{}）。消息、白问：每次得到锁所用的消息数、没有改变任何东西的请求数。等待：从一轮的第一次"
               "尝试到得到锁（中位数与第 99 百分位）。交接：有人等待时，从开始释放到下一个得到（中位数）。公平：Jain "
               "指数，1 为平均。被超：一个等待者最多被多少个后来者抢先。恢复：持有者崩溃后多久有别人得到锁。"
             : "{} of virtual time, random delays (seed {}). msgs, vain: for each grant, those that arrived, "
               "and "
               "requests that changed nothing. waiting: from the first attempt of a round to the lock, median and "
               "99th percentile. handover: while somebody waits, from the beginning of a release to the next grant, "
               "median. fair: Jain's index, 1 is equal shares. passed: by how many later ones a waiting client was "
               "overtaken at most. recovery: from the crash of a holder to the next grant."),
      sim::to_string(how.length), how.seed);
}

}  // namespace

Lines comparison(std::span<const ComparedStory> stories, const scenarios::CompareOptions& how,
                 const ComparisonReportOptions& options) {
  const bool zh = options.language == Language::zh;
  Lines lines;
  for (const ComparedStory& story : stories) {
    add_wrapped(lines, in(options.language, story.scenario.title), options.width, Ink::strong);
    lines.emplace_back(printable(story.scenario.file), Ink::faint);
    lines.emplace_back();
    for (Line& line : table_of(story, zh).lines(options.width)) lines.push_back(std::move(line));
    lines.emplace_back();
  }
  add_wrapped(lines, meaning(how, zh), options.width, Ink::faint);
  return lines;
}

std::string compare_json(std::span<const ComparedStory> stories, const scenarios::CompareOptions& how) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "compare";
  json["length"] = sim::to_string(how.length);
  json["seed"] = how.seed;
  json["results"] = Json::array();
  for (const ComparedStory& story : stories) {
    Json one;
    one["file"] = story.scenario.file;
    one["id"] = story.scenario.id;
    one["runs"] = Json::array();
    for (const ComparedRun& run : story.runs) one["runs"].push_back(json_of(run));
    json["results"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

}  // namespace lockstep::reports
