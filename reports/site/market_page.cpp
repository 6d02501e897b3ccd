#include <algorithm>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/site/figure.hpp"
#include "reports/site/history_page.hpp"
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

std::string market_table(const Findings& findings) {
  std::vector<std::vector<std::string>> rows;
  const std::size_t sizes = findings.markets.front().runs.size();
  for (std::size_t size = 0; size < sizes; ++size) {
    for (const ComparedMarket* market : by_guard(findings)) {
      if (size >= market->runs.size()) continue;
      const MarketRun& run = market->runs[size];
      const ListedStory* story = find_story(findings, market->scenario.id);
      rows.push_back(
          {size_text(run), both(guard_text(market->scenario.market->guard)),
           story == nullptr ? picture::escaped_markup(market->scenario.id) : story_link("market.html", *story),
           std::to_string(run.listed), std::to_string(run.bought), std::to_string(run.retries),
           text_of(run.waiting_median), text_of(run.waiting_p99), per(run.messages, run.bought),
           run.is_sound ? fmt::format("<span class=\"good\">✓ {}</span>", both("never", "没有"))
                        : fmt::format("<span class=\"bad\">✗ {}</span>", both("yes", "有"))});
    }
  }
  return table_of({"The market experiment", "市场实验"},
                  {both("Sellers + buyers", "卖家 + 买家"), both("Guard", "方式"), both("Story", "故事"),
                   both("Listed", "上架"), both("Bought", "买到"), both("Retries", "重试"),
                   both("Waiting, median", "等待（中位数）"), both("Waiting, 99%", "等待（99%）"),
                   both("Messages for each purchase", "每次购买的消息数"), both("Oversold", "超卖")},
                  rows);
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
  page.body =
      paragraph({"Sellers list items, buyers buy them; funds and items must both be right. The book compares three "
                 "guards: WATCH, "
                 "which notices that something has changed and tries again; one lock for the whole market; and a lock "
                 "for what is really shared.",
                 "卖家上架商品，买家购买；资金与商品都必须正确。书中比较三种方式：WATCH（发现有变化就重试）、整个市场一"
                 "把锁，以及只锁真正共享的东西。"});
  if (findings.markets.empty()) {
    page.body += paragraph({"This report has no market: its stories have none.", "本报告没有市场：其故事中没有市场。"});
    return page;
  }
  page.body += section_of("table", {"The table", "表"}, market_table(findings));
  std::string figures = "<div class=\"two\">\n";
  figures += market_figure(
      findings, "bought", {"Items bought", "买到的商品"},
      [](const MarketRun& run) { return std::optional(run.bought); },
      [](std::uint64_t n) { return std::to_string(n); });
  figures += market_figure(
      findings, "retries", {"Retries", "重试次数"}, [](const MarketRun& run) { return std::optional(run.retries); },
      [](std::uint64_t n) { return std::to_string(n); });
  figures += market_figure(
      findings, "waiting", {"Waiting for a purchase, median", "购买的等待（中位数）"},
      [](const MarketRun& run) {
        return run.waiting_median ? std::optional(static_cast<std::uint64_t>(run.waiting_median->count_ns() / 1000))
                                  : std::nullopt;
      },
      [](std::uint64_t us) { return text_of(sim::Duration::microseconds(static_cast<std::int64_t>(us))); });
  figures += "</div>\n";
  page.body += section_of("figures", {"The figures", "图"}, figures);
  page.body += section_of(
      "reading", {"How to read it", "如何解读"},
      paragraph(
          {"Under WATCH sellers list as fast as they can and starve the buyers, who watch a market that changes all "
           "the time. "
           "With one lock everybody waits for everybody. With locks for what is really shared, both sides get on.",
           "用 WATCH "
           "时，卖家尽快上架，买家监视的市场不断变化而饿死。只有一把锁时，人人互等。只锁真正共享的东西，双方都能推进"
           "。"}) +
          fmt::format("<p class=\"faint\">{}</p>\n",
                      both(fmt::format("{} of virtual time, random delays, seed {}. Absolute figures are not "
                                       "comparable with the book's: its network is a thousand times as fast.",
                                       sim::to_string(findings.how_traded.length), findings.how_traded.seed),
                           fmt::format("虚拟时间 {}，随机时延，种子 {}。绝对数值不能与书中的比较：书中的网络快一千倍。",
                                       sim::to_string(findings.how_traded.length), findings.how_traded.seed))));
  return page;
}

}  // namespace lockstep::reports::site
