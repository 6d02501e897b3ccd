#include "reports/site/findings/measured.hpp"

#include <cassert>
#include <variant>

#include "reports/site/index_page.hpp"
#include "reports/site/locks/algorithm_page.hpp"
#include "reports/site/locks/history_page.hpp"
#include "scenarios/comparing/comparison.hpp"
#include "scenarios/comparing/market_comparison.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::reports::site {
namespace {

using namespace sim::literals;

/// The lock, the times and the clients of scenarios/stories/compare/short-work.toml.
constexpr std::string_view kWorkload = R"(title = { en = "Short work, many hands", zh = "活很短，抢的人很多" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "1s"
[network]
latency = ["1ms", "2ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "5ms"]
hold = "10ms"
rounds = 2
between = "5ms"
attempts = 10
retry = ["5ms", "20ms"]
)";

}  // namespace

std::vector<std::function<void()>> measuring(const models::locks::Catalogue& catalogue,
                                             std::span<const scenarios::Scenario> stories,
                                             const std::function<bool()>& interrupted, Measured& into) {
  into.how_compared.clients = {1, 2, 4, 8, 16};
  into.how_compared.length = 5_s;
  into.how_compared.interrupted = interrupted;
  for (const std::string_view id : catalogue.ids()) into.how_compared.algorithms.emplace_back(id);
  into.how_traded.interrupted = interrupted;

  std::vector<std::function<void()>> tasks;
  tasks.emplace_back([&] {
    auto parsed = scenarios::parse(kWorkload, "short-work.toml", catalogue);
    const auto* workload = std::get_if<scenarios::Scenario>(&parsed);
    assert(workload != nullptr && "the workload of reports is a story");
    auto costs = scenarios::compare_costs(*workload, catalogue, into.how_compared);
    if (auto* runs = std::get_if<std::vector<scenarios::ComparedRun>>(&costs)) into.costs = std::move(*runs);
  });
  tasks.emplace_back([&catalogue, &into, stories] {
    for (const scenarios::Scenario& story : stories) {
      if (!story.market) continue;
      auto market = scenarios::compare_markets(story, catalogue, into.how_traded);
      if (auto* runs = std::get_if<std::vector<scenarios::MarketRun>>(&market))
        into.markets.push_back({story, std::move(*runs)});
    }
  });
  into.graphs.resize(count_of_graphs(catalogue));
  for (std::size_t i = 0; i < into.graphs.size(); ++i) {
    tasks.emplace_back([&, i] {
      if (!interrupted || !interrupted()) into.graphs[i] = graph_at(catalogue, i);
    });
  }
  return tasks;
}

std::vector<Page> pages_about_locks(
    const Findings& findings,
    const std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>& for_each) {
  const std::span<const models::locks::Entry> entries = findings.catalogue->entries();
  std::vector<Page> pages(entries.size() + 4);
  for_each(pages.size(), [&](std::size_t i) {
    if (i < entries.size())
      pages[i] = algorithm_page(findings, entries[i]);
    else if (i == entries.size())
      pages[i] = index_page(findings);
    else if (i == entries.size() + 1)
      pages[i] = algorithms_page(findings);
    else if (i == entries.size() + 2)
      pages[i] = history_page(findings);
    else
      pages[i] = market_page(findings);
  });
  return pages;
}

}  // namespace lockstep::reports::site
