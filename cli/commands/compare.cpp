#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/interrupt.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/market.hpp"
#include "scenarios/comparing/comparison.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

/// What is wrong with the call once the stories are known; nothing if it can be done.
std::optional<std::string> objection(const Call& call, const std::vector<scenarios::Scenario>& stories,
                                     const models::locks::Catalogue& catalogue) {
  const std::vector<std::string_view> known = catalogue.ids();
  for (const std::string& name : call.compare.algorithms) {
    if (catalogue.find(name) == nullptr)
      return fmt::format("--algorithms {}: {}", scenarios::in_quotes(name), scenarios::suggestion(name, known));
  }
  if (stories.empty()) return "there is no scenario file to compare";
  const auto markets = std::count_if(stories.begin(), stories.end(),
                                     [](const scenarios::Scenario& story) { return story.market.has_value(); });
  if (markets != 0 && markets != static_cast<std::ptrdiff_t>(stories.size()))
    return "some of these files are markets and some are not; compare those with [market] in a call of their own";
  if (markets != 0 && (!call.compare.algorithms.empty() || !call.compare.clients.empty()))
    return "markets are compared by their guards and with 1 + 1, 5 + 1 and 5 + 5 traders; leave out --algorithms and "
           "--clients";
  for (const scenarios::Scenario& story : stories) {
    const bool only_users =
        std::all_of(story.clients.begin(), story.clients.end(), [](const auto& c) { return c.commands.empty(); });
    if (!only_users) {
      return fmt::format("{} has a client that sends commands of its own; compare needs clients that use the lock",
                         story.file);
    }
  }
  return std::nullopt;
}

Exit compare_guards(const Call& call, const models::locks::Catalogue& catalogue,
                    std::vector<scenarios::Scenario>& stories, Output& output) {
  const Interrupt interrupt;
  scenarios::MarketOptions options;
  if (call.compare.length) options.length = *call.compare.length;
  if (call.seed) options.seed = *call.seed;
  options.jobs = static_cast<unsigned>(call.jobs);
  options.interrupted = [&interrupt] { return interrupt.is_requested(); };
  std::vector<reports::ComparedMarket> markets;
  for (scenarios::Scenario& scenario : stories) {
    auto result = scenarios::compare_markets(scenario, catalogue, options);
    if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&result)) {
      output.err << trouble->to_string() << '\n';
      return Exit::bad_input;
    }
    markets.push_back({std::move(scenario), std::get<std::vector<scenarios::MarketRun>>(std::move(result))});
  }
  if (call.json) {
    output.out << reports::market_json(markets, options);
  } else {
    const reports::ComparisonReportOptions how{.width = output.width, .language = call.language};
    output.out << reports::to_string(reports::market_comparison(markets, options, how), output.colour);
  }
  return interrupt.is_requested() ? Exit::incomplete : Exit::as_expected;
}

}  // namespace

Exit compare(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const Interrupt interrupt;  // from here on: reading many files takes its time, too
  std::optional<std::vector<scenarios::Scenario>> loaded = load_all(call.files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (const auto trouble = objection(call, *loaded, catalogue)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  if (loaded->front().market) return compare_guards(call, catalogue, *loaded, output);
  scenarios::CompareOptions options;
  options.algorithms = call.compare.algorithms;
  options.clients = call.compare.clients;
  if (call.compare.length) options.length = *call.compare.length;
  if (call.seed) options.seed = *call.seed;
  options.jobs = static_cast<unsigned>(call.jobs);
  options.interrupted = [&interrupt] { return interrupt.is_requested(); };

  std::vector<reports::ComparedStory> stories;
  for (scenarios::Scenario& scenario : *loaded) {
    auto result = scenarios::compare_costs(scenario, catalogue, options);
    if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&result)) {
      output.err << trouble->to_string() << '\n';
      return Exit::bad_input;
    }
    stories.push_back({std::move(scenario), std::get<std::vector<scenarios::ComparedRun>>(std::move(result))});
  }
  if (call.json) {
    output.out << reports::compare_json(stories, options);
  } else {
    const reports::ComparisonReportOptions how{.width = output.width, .language = call.language};
    output.out << reports::to_string(reports::comparison(stories, options, how), output.colour);
  }
  return interrupt.is_requested() ? Exit::incomplete : Exit::as_expected;
}

}  // namespace lockstep::cli
