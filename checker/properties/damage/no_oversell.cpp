#include "checker/properties/damage/no_oversell.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {
namespace {

using sim::Operation;

struct BadSale {
  const Operation* earlier = nullptr;  ///< of the same item; null: this one left less than nothing
  const Operation* sale = nullptr;
};

/// In the order in which they completed.
std::vector<const Operation*> sales_of(const OrderedHistory& history) {
  std::vector<const Operation*> sales;
  for (const Operation& operation : history.operations) {
    if (is_successful(operation, "buy")) sales.push_back(&operation);
  }
  std::sort(sales.begin(), sales.end(),
            [](const Operation* a, const Operation* b) { return a->completed_in < b->completed_in; });
  return sales;
}

std::vector<BadSale> bad_sales(const std::vector<const Operation*>& sales) {
  std::vector<BadSale> bad;
  std::map<std::string_view, const Operation*> sold;
  for (const Operation* sale : sales) {
    const auto [earlier, is_first] = sold.try_emplace(sale->object, sale);
    const bool is_overdrawn = sale->value && *sale->value < 0;
    if (!is_first || is_overdrawn) bad.push_back({is_first ? nullptr : earlier->second, sale});
  }
  return bad;
}

std::vector<sim::ProcessId> to_blame(const BadSale& bad) {
  if (bad.earlier == nullptr || bad.earlier->process == bad.sale->process) return {bad.sale->process};
  return {bad.earlier->process, bad.sale->process};
}

}  // namespace

Finding no_oversell(const sim::History& history, const Names& names) {
  Finding finding{.property = "no-oversell", .view = View::damage, .verdict = Verdict::not_judged};
  const bool is_tried = std::any_of(history.operations.begin(), history.operations.end(),
                                    [](const Operation& operation) { return operation.function == "buy"; });
  if (!is_tried) {
    finding.why = "no market in this story";
    return finding;
  }
  const std::vector<const Operation*> sales = sales_of(OrderedHistory::all_of(history));
  const std::vector<BadSale> bad = bad_sales(sales);
  if (!bad.empty()) {
    const auto& [earlier, sale] = bad.front();
    finding.verdict = Verdict::violated;
    finding.by = to_blame(bad.front());
    finding.at = sale->completed;
    finding.evidence = {sale->completed_in};
    if (earlier != nullptr) {
      finding.evidence.insert(finding.evidence.begin(), earlier->completed_in);
      finding.why =
          fmt::format("{} was sold to {}, and at {} once more to {}", sale->object, name_of(names, earlier->process),
                      time_text(sale->completed), name_of(names, sale->process));
    } else {
      finding.why =
          fmt::format("{} bought {} and was left with {}", name_of(names, sale->process), sale->object, *sale->value);
    }
    return finding;
  }
  finding.verdict = Verdict::holds;
  finding.why = sales.empty()
                    ? "nothing was sold"
                    : fmt::format("{}, each of another item and paid for", counted(sales.size(), "sale", "sales"));
  return finding;
}

std::vector<Breach> oversales(const OrderedHistory& history) {
  std::vector<Breach> breaches;
  for (const BadSale& bad : bad_sales(sales_of(history))) {
    breaches.push_back({.property = "no-oversell",
                        .by = to_blame(bad),
                        .operation = bad.sale->id,
                        .at = bad.sale->completed,
                        .step = bad.sale->completed_in});
  }
  return breaches;
}

Property entries::no_oversell() {
  return {.name = "no-oversell",
          .view = View::damage,
          .meaning = "No item of the market is sold twice, and nobody pays more than he has.",
          .meaning_zh = "市场上的任何商品都不会卖出两次，也没有人付出超过自己所有的钱。",
          .question = "Was an item of the market sold twice, or more paid than somebody had?",
          .is_seen = [](const OrderedHistory& history) { return has_operation(history, "buy"); },
          .unseen = "nobody bought anything",
          .why_not_judged = [](const Circumstances& story) -> std::string_view {
            return !story.has_market ? "no market in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::no_oversell(run.story, run.names); },
          .breaches = oversales};
}

}  // namespace lockstep::checker
