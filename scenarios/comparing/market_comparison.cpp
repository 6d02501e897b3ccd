#include "scenarios/comparing/market_comparison.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "checker/properties/damage/no_oversell.hpp"
#include "scenarios/comparing/compared_run.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;

constexpr std::array<std::pair<std::size_t, std::size_t>, 3> kSizes{{{1, 1}, {5, 1}, {5, 5}}};
constexpr std::int64_t kMoreThanEnough = 1'000'000'000;

void add_traders(Scenario& market, const std::vector<ClientSpec>& clients, ClientSpec::Role role, std::size_t count) {
  const auto model =
      std::find_if(clients.begin(), clients.end(), [&](const ClientSpec& client) { return client.role == role; });
  if (model == clients.end()) return;
  for (std::size_t i = 0; i < count; ++i) {
    ClientSpec& trader = market.clients.emplace_back(*model);
    trader.name = fmt::format("{}{}", role == ClientSpec::Role::seller ? "S" : "B", i + 1);
    trader.account.clear();
    trader.rounds = kForEver;
    trader.attempts = kForEver;
  }
}

Scenario market_of(const Scenario& file, std::size_t sellers, std::size_t buyers) {
  Scenario market = file;
  market.faults.clear();
  market.may.clear();
  market.pin.clear();
  market.schedule.clear();
  market.clients.clear();
  market.market->funds = kMoreThanEnough;
  add_traders(market, file.clients, ClientSpec::Role::seller, sellers);
  add_traders(market, file.clients, ClientSpec::Role::buyer, buyers);
  return market;
}

/// The value below which `share` percent lie: the nearest rank.
std::optional<Duration> percentile_if_any(std::vector<Duration>& values, std::size_t share) {
  if (values.empty()) return std::nullopt;
  const std::size_t rank = std::max<std::size_t>((values.size() * share + 99) / 100, 1);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank - 1), values.end());
  return values[rank - 1];
}

void read_history(const sim::History& history, const checker::Names& names, MarketRun& run) {
  std::vector<Duration> waits;
  std::vector<std::optional<sim::Instant>> since(names.size());
  for (const sim::Operation& operation : history.operations) {
    if (operation.phase == sim::Phase::fail) ++run.retries;
    if (operation.function == "list" && operation.phase == sim::Phase::ok) ++run.listed;
    if (operation.function != "buy") continue;
    std::optional<sim::Instant>& first = since[operation.process.index];
    if (!first) first = operation.invoked;
    if (operation.phase != sim::Phase::ok) continue;
    ++run.bought;
    waits.push_back(operation.completed.offset() - first->offset());
    first.reset();
  }
  run.waiting_median = percentile_if_any(waits, 50);
  run.waiting_p99 = percentile_if_any(waits, 99);
  run.is_sound = checker::no_oversell(history, names).verdict != checker::Verdict::violated;
}

std::variant<MarketRun, Diagnostic> run_market(const Scenario& market, const models::locks::Catalogue& catalogue,
                                               const MarketOptions& options) {
  sim::RandomDecisions decisions(options.seed);
  Deployment deployment(market, catalogue, decisions);
  MessageCount messages(deployment.world());
  deployment.simulation().set_fate(&messages);
  deployment.begin();
  const auto end = deployment.simulation().run(sim::Instant::at(options.length), kMaxEvents);
  if (end == sim::Simulation::End::too_many_events) {
    return Diagnostic{.file = market.file,
                      .at = {},
                      .message = fmt::format("{} events were not enough for {}; compare for a shorter time, with "
                                             "--seconds",
                                             kMaxEvents, sim::to_string(options.length))};
  }
  MarketRun run;
  run.messages = messages.count();
  read_history(deployment.world().history(), deployment.names(), run);
  return run;
}

}  // namespace

std::variant<std::vector<MarketRun>, Diagnostic> compare_markets(const Scenario& scenario,
                                                                 const models::locks::Catalogue& catalogue,
                                                                 const MarketOptions& options) {
  std::array<std::optional<std::variant<MarketRun, Diagnostic>>, kSizes.size()> results;
  const sim::Stop::Question is_interrupted = [&] { return options.interrupted && options.interrupted(); };
  const sim::Stop::Scope scope(is_interrupted);
  in_parallel(kSizes.size(), options.jobs, [&](std::size_t i) {
    if (is_interrupted()) return;
    try {
      results[i] = run_market(market_of(scenario, kSizes[i].first, kSizes[i].second), catalogue, options);
    } catch (const sim::Stopped&) {
      // Then there is no such run.
    }
  });
  std::vector<MarketRun> runs;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    if (!results[i]) break;
    if (auto* trouble = std::get_if<Diagnostic>(&*results[i])) return std::move(*trouble);
    MarketRun& run = runs.emplace_back(std::get<MarketRun>(*std::move(results[i])));
    run.sellers = kSizes[i].first;
    run.buyers = kSizes[i].second;
  }
  return runs;
}

}  // namespace lockstep::scenarios
