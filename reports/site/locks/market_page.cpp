#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/site/locks/figure.hpp"
#include "reports/site/locks/history_page.hpp"
#include "reports/text/figures.hpp"

namespace lockstep::reports::site {
namespace {

using models::workloads::Guard;
using scenarios::MarketRun;

Text guard_text(Guard guard) {
  switch (guard) {
    case Guard::watch: return {"WATCH", "WATCH"};
    case Guard::market_lock: return {"one lock", "一把锁"};
    case Guard::item_lock: return {"a lock for the item", "每件商品一把锁"};
    case Guard::item_and_funds: return {"a lock for the item, one for the funds", "商品一把锁，资金一把锁"};
  }
  return {};
}

std::string size_text(const MarketRun& run) { return fmt::format("{} + {}", run.sellers, run.buyers); }

/// As the book has them: one below the other, from the coarsest.
std::vector<const ComparedMarket*> by_guard(const Findings& findings) {
  std::vector<const ComparedMarket*> markets;
  for (const Guard guard : {Guard::watch, Guard::market_lock, Guard::item_lock, Guard::item_and_funds}) {
    for (const ComparedMarket& market : findings.markets) {
      if (market.scenario.market->guard == guard) markets.push_back(&market);
    }
  }
  return markets;
}

std::vector<Values> runs_of(const Findings& findings) {
  std::vector<Values> rows;
  const std::size_t sizes = findings.markets.front().runs.size();
  for (std::size_t size = 0; size < sizes; ++size) {
    for (const ComparedMarket* market : by_guard(findings)) {
      if (size >= market->runs.size()) continue;
      const MarketRun& run = market->runs[size];
      const ListedStory* story = find_story(findings, market->scenario.id);
      rows.push_back({{"size", size_text(run)},
                      {"guard", guard_text(market->scenario.market->guard)},
                      {"story", story == nullptr ? picture::escaped_markup(market->scenario.id)
                                                 : story_link("market.html", *story)},
                      {"listed", run.listed},
                      {"bought", run.bought},
                      {"retries", run.retries},
                      {"median", text_of(run.waiting_median)},
                      {"p99", text_of(run.waiting_p99)},
                      {"messages", per(run.messages, run.bought)},
                      {"is_sound", run.is_sound}});
    }
  }
  return rows;
}

using MarketValue = std::optional<std::uint64_t> (*)(const MarketRun&);

/// The book's three guards, a market of each.
std::string market_figure(const Findings& findings, std::string id, Text title, MarketValue value,
                          std::function<std::string(std::uint64_t)> format) {
  Figure figure{.id = std::move(id),
                .title = std::move(title),
                .sizes_name = {"sellers + buyers", "卖家 + 买家"},
                .sizes = {},
                .curves = {},
                .format = std::move(format)};
  for (const MarketRun& run : findings.markets.front().runs) figure.sizes.push_back(size_text(run));
  for (const Guard guard : {Guard::watch, Guard::market_lock, Guard::item_and_funds}) {
    const auto found =
        std::find_if(findings.markets.begin(), findings.markets.end(), [&](const ComparedMarket& market) {
          return market.scenario.market->guard == guard && market.runs.size() == figure.sizes.size();
        });
    if (found == findings.markets.end()) continue;
    Curve& curve = figure.curves.emplace_back();
    curve.name = guard_text(guard);
    for (const MarketRun& run : found->runs) curve.values.push_back(value(run));
  }
  return figure_html(figure);
}

}  // namespace

Page market_page(const Findings& findings) {
  Page page{.path = "market.html", .title = {"The market experiment", "市场实验"}};
  page.above = {{"index.html", {"Overview", "总览"}}};
  Values values{{"has_markets", !findings.markets.empty()}};
  if (!findings.markets.empty()) {
    const auto as_number = [](std::uint64_t n) { return std::to_string(n); };
    values.set("runs", runs_of(findings));
    values.set("bought_figure", market_figure(
                                    findings, "bought", {"Items bought", "买到的商品"},
                                    [](const MarketRun& run) { return std::optional(run.bought); }, as_number));
    values.set("retries_figure", market_figure(
                                     findings, "retries", {"Retries", "重试次数"},
                                     [](const MarketRun& run) { return std::optional(run.retries); }, as_number));
    values.set(
        "waiting_figure",
        market_figure(
            findings, "waiting", {"Waiting for a purchase, median", "购买的等待（中位数）"},
            [](const MarketRun& run) {
              return run.waiting_median
                         ? std::optional(static_cast<std::uint64_t>(run.waiting_median->count_ns() / 1000))
                         : std::nullopt;
            },
            [](std::uint64_t us) { return text_of(sim::Duration::microseconds(static_cast<std::int64_t>(us))); }));
    values.set("length", sim::to_string(findings.how_traded.length));
    values.set("seed", findings.how_traded.seed);
  }
  page.body = filled("reports/site/locks/market.mustache", values);
  return page;
}

}  // namespace lockstep::reports::site
