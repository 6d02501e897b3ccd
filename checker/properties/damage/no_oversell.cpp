#include "checker/properties/damage/no_oversell.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"

namespace lockstep::checker {

Finding no_oversell(const sim::History& history, const Names& names) {
  Finding finding{.property = "no-oversell", .view = View::damage, .verdict = Verdict::unknown};
  std::vector<const sim::Operation*> sales;
  bool is_tried = false;
  for (const sim::Operation& operation : history.operations) {
    is_tried = is_tried || operation.function == "buy";
    if (is_successful(operation, "buy")) sales.push_back(&operation);
  }
  if (!is_tried) {
    finding.why = "no market in this story";
    return finding;
  }
  std::sort(sales.begin(), sales.end(),
            [](const sim::Operation* a, const sim::Operation* b) { return a->completed_in < b->completed_in; });

  std::map<std::string_view, const sim::Operation*> sold;
  for (const sim::Operation* sale : sales) {
    const auto [earlier, is_first] = sold.try_emplace(sale->object, sale);
    const bool is_overdrawn = sale->value && *sale->value < 0;
    if (is_first && !is_overdrawn) continue;
    finding.verdict = Verdict::violated;
    finding.at = sale->completed;
    finding.evidence = {sale->completed_in};
    if (!is_first) {
      finding.by = {earlier->second->process};
      finding.evidence.insert(finding.evidence.begin(), earlier->second->completed_in);
      finding.why = fmt::format("{} was sold to {}, and at {} once more to {}", sale->object,
                                name_of(names, earlier->second->process), time_text(sale->completed),
                                name_of(names, sale->process));
    } else {
      finding.why =
          fmt::format("{} bought {} and was left with {}", name_of(names, sale->process), sale->object, *sale->value);
    }
    if (finding.by.empty() || finding.by.front() != sale->process) finding.by.push_back(sale->process);
    return finding;
  }
  finding.verdict = Verdict::holds;
  finding.why = sales.empty()
                    ? "nothing was sold"
                    : fmt::format("{}, each of another item and paid for", counted(sales.size(), "sale", "sales"));
  return finding;
}

Property entries::no_oversell() {
  return {.name = "no-oversell",
          .view = View::damage,
          .meaning = "No item of the market is sold twice, and nobody pays more than he has.",
          .meaning_zh = "市场上的任何商品都不会卖出两次，也没有人付出超过自己所有的钱。",
          .question = "Was an item of the market sold twice, or more paid than somebody had?",
          .needs_a_holder = false,
          .why_not_explored = [](const Circumstances& story) -> std::string_view {
            return !story.has_market ? "no market in this story" : "";
          },
          .judge = [](const JudgedRun& run) { return checker::no_oversell(run.story, run.names); }};
}

}  // namespace lockstep::checker
