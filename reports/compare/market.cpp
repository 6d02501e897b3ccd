#include "reports/compare/market.hpp"

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/text/figures.hpp"
#include "reports/text/table.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

using models::workloads::Guard;
using scenarios::MarketRun;
using sim::Duration;

std::string_view guard_name(Guard guard) {
  switch (guard) {
    case Guard::watch: return "watch";
    case Guard::market_lock: return "market-lock";
    case Guard::item_lock: return "item-lock";
    case Guard::item_and_funds: return "item-and-funds";
  }
  return "";
}

std::string_view verdict(const MarketRun& run, bool zh) {
  if (zh) return run.is_sound ? "没有" : "有";
  return run.is_sound ? "never" : "yes";
}

Json json_if_any(std::optional<Duration> d) { return d ? Json(sim::to_string(*d)) : Json(); }

}  // namespace

Lines market_comparison(std::span<const ComparedMarket> markets, const scenarios::MarketOptions& how,
                        const ComparisonReportOptions& options) {
  const bool zh = options.language == Language::zh;
  Table table(zh ? std::vector<Column>{{"卖家+买家", 9},
                                       {"故事", 8},
                                       {"方式", 12},
                                       {"上架", 6},
                                       {"买到", 6},
                                       {"重试", 6},
                                       {"等待", 7},
                                       {"99%", 7},
                                       {"消息/次", 7},
                                       {"超卖", 5}}
                 : std::vector<Column>{{"market", 6},
                                       {"story", 8},
                                       {"guard", 12},
                                       {"listed", 6},
                                       {"bought", 6},
                                       {"retries", 7},
                                       {"waiting", 7},
                                       {"99%", 7},
                                       {"msgs", 6},
                                       {"oversold", 8}});
  const std::size_t sizes = markets.empty() ? 0 : markets.front().runs.size();
  for (std::size_t size = 0; size < sizes; ++size) {
    for (const ComparedMarket& market : markets) {
      if (size >= market.runs.size()) continue;
      const MarketRun& run = market.runs[size];
      table.add({{fmt::format("{} + {}", run.sellers, run.buyers)},
                 {market.scenario.id},
                 {std::string(guard_name(market.scenario.market->guard)), Ink::strong},
                 {fmt::format("{}", run.listed)},
                 {fmt::format("{}", run.bought)},
                 {fmt::format("{}", run.retries)},
                 {text_of(run.waiting_median)},
                 {text_of(run.waiting_p99)},
                 {per(run.messages, run.bought)},
                 {std::string(verdict(run, zh)), run.is_sound ? Ink::plain : Ink::bad}});
    }
  }
  Lines lines = table.lines(options.width);
  lines.emplace_back();
  const std::string meaning = fmt::format(
      fmt::runtime(
          zh ? "虚拟时间 {}，随机时延（种子 "
               "{}）。重试：因别人捷足先登而失败的上架或购买。等待：一次购买从第一次尝试到买到"
               "（中位数与第 99 百分位）。消息：全部消息除以买到的次数。超卖：是否有商品卖出两次，或有人透支。"
             : "{} of virtual time, random delays (seed {}). retries: listings and purchases that failed because "
               "somebody else was there, and were tried again. waiting: of a purchase, from the choice of an item to "
               "its end, "
               "median and 99th percentile. msgs: all messages for each purchase. oversold: whether an item was sold "
               "twice, or funds were overdrawn."),
      sim::to_string(how.length), how.seed);
  for (const std::string& part : wrap(meaning, options.width)) lines.emplace_back(part, Ink::faint);
  return lines;
}

std::string market_json(std::span<const ComparedMarket> markets, const scenarios::MarketOptions& how) {
  Json json;
  json["lockstep"] = 1;
  json["command"] = "compare";
  json["length"] = sim::to_string(how.length);
  json["seed"] = how.seed;
  json["results"] = Json::array();
  for (const ComparedMarket& market : markets) {
    Json one;
    one["file"] = market.scenario.file;
    one["id"] = market.scenario.id;
    one["guard"] = guard_name(market.scenario.market->guard);
    one["runs"] = Json::array();
    for (const MarketRun& run : market.runs) {
      one["runs"].push_back({{"sellers", run.sellers},
                             {"buyers", run.buyers},
                             {"listed", run.listed},
                             {"bought", run.bought},
                             {"retries", run.retries},
                             {"messages", run.messages},
                             {"waiting_median", json_if_any(run.waiting_median)},
                             {"waiting_p99", json_if_any(run.waiting_p99)},
                             {"oversold", !run.is_sound}});
    }
    json["results"].push_back(std::move(one));
  }
  return json.dump(2) + "\n";
}

}  // namespace lockstep::reports
