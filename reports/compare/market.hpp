#pragma once

// What the guards of a market cost, one below the other.

#include <span>
#include <string>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "scenarios/comparing/market_comparison.hpp"

namespace lockstep::reports {

struct ComparedMarket {
  scenarios::Scenario scenario;
  std::vector<scenarios::MarketRun> runs;
};

/// A table of all markets and sizes, and what its columns mean.
Lines market_comparison(std::span<const ComparedMarket> markets, const scenarios::MarketOptions& how,
                        const ComparisonReportOptions& options);

/// One document: `markets[]` with `file`, `id`, `guard`, `runs[]`.
std::string market_json(std::span<const ComparedMarket> markets, const scenarios::MarketOptions& how);

}  // namespace lockstep::reports
