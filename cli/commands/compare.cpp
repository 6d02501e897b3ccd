#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cli/commands/load_all.hpp"
#include "cli/formats/format.hpp"
#include "cli/guard.hpp"
#include "cli/interrupt.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/compare/market.hpp"
#include "scenarios/comparing/comparison.hpp"

namespace lockstep::cli {
namespace {

using scenarios::Scenario;

class Compare final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "compare",
        .summary = "what locks cost under the same workload: messages, waiting, handover, fairness, recovery",
        .example = "compare scenarios/stories/compare --algorithms set-nx-px-lua,redlock-par --clients 2,8,32",
        .head =
            R"(Runs the clients of each file again and again, under one lock algorithm after the other, and tells what each lock
costs in virtual time: messages, waiting, handover, fairness, recovery from a crashed holder. Whether it holds is not
asked here; that is what check and matrix are for.

usage: lockstep compare FILE|DIR... [OPTIONS]

)",
        .options = {list({"--algorithms", "NAME,NAME...", "these algorithms (without it: the file's own)"},
                         Option::Takes::words, options_.algorithms),
                    clients(),
                    length({"--seconds", "N", "how long, in virtual time (60)"}, "seconds of virtual time",
                           options_.length),
                    memory_bound(max_memory_)},
        .tail = R"(
example: lockstep compare scenarios/stories/compare/short-work.toml --algorithms set-nx-px-lua,redlock-seq --clients 2,8,32
)",
        .seed = "of the random delays (1)",
        .jobs = "N runs at a time; the results are the same for any N",
        .language = "language of the report"};
  }

  std::string mistake() override {
    if (!files.empty()) return "";
    return "compare needs scenario files or directories, e.g. lockstep compare "
           "scenarios/stories/compare/short-work.toml";
  }

  std::vector<std::string>* lock_names() override { return &options_.algorithms; }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override {
    const Interrupt interrupt;  // from here on: reading many files takes its time, too
    const Guard guard(max_memory_, &interrupt);
    std::optional<std::vector<Scenario>> loaded = load_all(*this, files, catalogue, output.err);
    if (!loaded) return Exit::bad_input;
    if (const std::string trouble = objection(*loaded, catalogue); !trouble.empty()) return refuse(output, trouble);
    options_.seed = seed.value_or(1);
    options_.jobs = static_cast<unsigned>(jobs);
    options_.interrupted = [&interrupt] { return interrupt.is_requested(); };
    if (!loaded->front().market) {
      return compare_each<reports::ComparedStory>(*loaded, catalogue, options_, output, scenarios::compare_costs,
                                                  reports::comparison, reports::compare_json);
    }
    const scenarios::MarketOptions options{options_.length, options_.seed, options_.jobs, options_.interrupted};
    return compare_each<reports::ComparedMarket>(*loaded, catalogue, options, output, scenarios::compare_markets,
                                                 reports::market_comparison, reports::market_json);
  }

 private:
  Option clients() {
    Option option =
        word({"--clients", "N,N...", "so many clients: the file's are repeated (without it: as many as the file has)"},
             [this](const std::string& value) {
               const auto clients = whole_number(value, 1, 256);
               if (!clients) return expected("--clients", value, "whole numbers from 1 to 256, such as 2,8,64");
               options_.clients.push_back(static_cast<std::size_t>(*clients));
               return std::string();
             });
    option.takes = Option::Takes::words;
    option.in_commas = true;
    return option;
  }

  /// What is wrong with the call once the stories are known; empty if it can be done.
  std::string objection(const std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue) const {
    for (const std::string& name : options_.algorithms) {
      if (catalogue.find(name) == nullptr) return not_one_of("--algorithms", name, catalogue.ids());
    }
    if (stories.empty()) return "there is no scenario file to compare";
    const auto markets =
        std::count_if(stories.begin(), stories.end(), [](const Scenario& story) { return story.market.has_value(); });
    if (markets != 0 && markets != static_cast<std::ptrdiff_t>(stories.size()))
      return "some of these files are markets and some are not; compare those with [market] in a call of their own";
    if (markets != 0 && (!options_.algorithms.empty() || !options_.clients.empty()))
      return "markets are compared by their guards and with 1 + 1, 5 + 1 and 5 + 5 traders; leave out --algorithms and "
             "--clients";
    for (const Scenario& story : stories) {
      const bool only_users =
          std::all_of(story.clients.begin(), story.clients.end(), [](const auto& c) { return c.commands.empty(); });
      if (!only_users) {
        return fmt::format("{} has a client that sends commands of its own; compare needs clients that use the lock",
                           story.file);
      }
    }
    return "";
  }

  template <class Compared>
  Exit compare_each(std::vector<Scenario>& stories, const models::locks::Catalogue& catalogue, const auto& options,
                    Output& output, auto run_all, auto lines, auto json) {
    std::vector<Compared> compared;
    for (Scenario& scenario : stories) {
      auto result = run_all(scenario, catalogue, options);
      if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&result)) {
        output.err << trouble->to_string() << '\n';
        return Exit::bad_input;
      }
      compared.push_back({std::move(scenario), std::get<0>(std::move(result))});
    }
    const reports::ComparisonReportOptions how{.width = output.width, .language = language};
    if (!report(
            *this,
            {.lines = [&] { return lines(compared, options, how); }, .json = [&] { return json(compared, options); }},
            output))
      return Exit::bad_input;
    return options.interrupted() ? Exit::incomplete : Exit::as_expected;
  }

  scenarios::CompareOptions options_;
  std::uint64_t max_memory_ = half_of_memory();
};

}  // namespace

std::unique_ptr<Call> compare_call() { return std::make_unique<Compare>(); }

}  // namespace lockstep::cli
