// How fast a campaign is, and how soon it finds what is known to be there.
//
//   fuzz_bench [ALGORITHM...]       worlds, runs and events per second, with all checkers on, on one thread and on two
//   fuzz_bench find [SEEDS [FILE...]]  each mutant of docs/lock-mutants.md and each violating story (those of FILE, files or folders, else of scenarios/):
//                                   after how many runs it is found, by the portfolio, and by what is left of it without one of its parts

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/fuzzing/lock_mutants.hpp"
#include "scenarios/loader.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;
using models::locks::Catalogue;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const Catalogue& built_in() {
  static const Catalogue catalogue = Catalogue::built_in();
  return catalogue;
}

// --- Speed.

void measure_speed(std::vector<std::string> ids) {
  if (ids.empty()) ids = {"set-nx-px-lua", "setnx-ts-del-setnx", "redlock-seq", "redisson-lock", "ria-sem-fair"};
  fmt::print("{:<28} {:>9} {:>9} {:>10} {:>10} {:>9} {:>8}\n", "worlds made up for", "units/s", "runs/s", "events/s",
             "2 threads", "ratio", "virt h/s");
  for (const std::string& id : ids) {
    double rate[2] = {};
    FuzzStatistics statistics;
    double seconds = 0;
    for (const std::size_t jobs : {1U, 2U}) {
      constexpr int kRounds = 3;
      for (int round = 0; round < kRounds; ++round) {
        FuzzOptions options;
        options.jobs = jobs;
        options.shrinks = false;
        Campaign campaign({target_of(*built_in().find(id))}, built_in(), options);
        const double begin = now();
        while (now() - begin < 2) campaign.step();
        const double took = now() - begin;
        const double events = static_cast<double>(campaign.state().statistics.events) / took;
        rate[jobs - 1] = std::max(rate[jobs - 1], events);
        if (jobs == 1) {
          statistics = campaign.state().statistics;
          seconds = took;
        }
      }
    }
    fmt::print("{:<28} {:>9.0f} {:>9.0f} {:>9.2f}M {:>9.2f}M {:>9.2f} {:>8.1f}\n", id,
               static_cast<double>(statistics.batches) * 32 / seconds, static_cast<double>(statistics.runs) / seconds,
               rate[0] / 1e6, rate[1] / 1e6, rate[1] / rate[0],
               static_cast<double>(statistics.virtual_time.count_ns()) / 3.6e12 / seconds);
    std::fflush(stdout);
  }
}

// --- What is found.

struct Known {
  std::string name;
  Catalogue catalogue;
  Scenario story;
  std::string property;
};

std::vector<Known> known(const std::vector<std::string>& files) {
  std::vector<Known> all;
  if (files.empty()) {
    for (const LockMutant& mutant : lock_mutants()) {
      Catalogue catalogue = catalogue_with(mutant);
      Scenario story = story_of(mutant, catalogue);
      all.push_back({fmt::format("mutant: {}", mutant.name), std::move(catalogue), std::move(story),
                     std::string(mutant.property)});
    }
  }
  std::vector<std::string> paths;
  for (const std::string& file : files.empty() ? std::vector<std::string>{"scenarios"} : files) {
    if (!std::filesystem::is_directory(file)) {
      paths.push_back(file);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(file)) {
      if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    auto loaded = load(path, built_in());
    auto* story = std::get_if<Scenario>(&loaded);
    if (story == nullptr) continue;
    std::vector<std::string> properties;
    for (const auto* expectations : {&story->expect_run, &story->expect_check}) {
      for (const Expectation& expectation : *expectations) {
        const bool is_known = std::find(properties.begin(), properties.end(), expectation.property) != properties.end();
        if (expectation.verdict == checker::Verdict::violated && !is_known) properties.push_back(expectation.property);
      }
    }
    for (const std::string& property : properties)
      all.push_back({fmt::format("{}: {}", story->id, property), built_in(), *story, property});
  }
  return all;
}

struct Way {
  const char* name;
  std::optional<Strategy> strategy;
  bool swarm = true;
  bool coverage = true;
};

constexpr Way kWays[] = {{"portfolio", std::nullopt},
                         {"uniform", Strategy::uniform, false, false},
                         {"boundary", Strategy::boundary},
                         {"priority", Strategy::priority},
                         {"no swarm", std::nullopt, false, true},
                         {"no coverage", std::nullopt, true, false}};

struct Search {
  std::optional<std::uint64_t> runs;
  double seconds = 0;
};

Search search(const Known& what, const Way& way, std::uint64_t seed, double patience) {
  FuzzOptions options;
  options.seed = seed;
  options.strategy = way.strategy;
  options.swarm = way.swarm;
  options.coverage = way.coverage;
  options.shrinks = false;
  // The lock with the mistake need not claim what it breaks.
  FuzzTarget target = target_of(what.story, what.catalogue);
  std::vector<std::string>& properties = target.properties;
  if (std::find(properties.begin(), properties.end(), what.property) == properties.end())
    properties.insert(std::upper_bound(properties.begin(), properties.end(), what.property), what.property);
  Campaign campaign({std::move(target)}, what.catalogue, options);
  const double begin = now();
  while (now() - begin < patience && campaign.step()) {
    if (const auto run = campaign.first_violation(0, what.property)) return {run, now() - begin};
  }
  return {std::nullopt, now() - begin};
}

void measure_finding(int seeds, const std::vector<std::string>& files) {
  const std::vector<Known> all = known(files);
  const char* patience_text = std::getenv("LOCKSTEP_FUZZ_PATIENCE");
  const double patience = patience_text == nullptr ? 5 : std::atof(patience_text);
  fmt::print("{} to find, {} seeds each, {} s on one thread for each; runs until found: median (worst)\n", all.size(),
             seeds, patience);
  std::map<std::string_view, std::vector<double>> of_way;
  std::map<std::string_view, int> missed;
  for (const Known& what : all) {
    std::string row = fmt::format("{:<75.75}", what.name);
    for (const Way& way : kWays) {
      std::vector<double> runs;
      for (int seed = 1; seed <= seeds; ++seed) {
        const Search found = search(what, way, static_cast<std::uint64_t>(seed), patience);
        runs.push_back(found.runs ? static_cast<double>(*found.runs) : 1e18);
        if (!found.runs) ++missed[way.name];
      }
      std::sort(runs.begin(), runs.end());
      of_way[way.name].push_back(runs[runs.size() / 2]);
      const auto text = [](double n) { return n > 1e17 ? std::string("-") : fmt::format("{}", n); };
      row += fmt::format(" {:>14}", fmt::format("{} ({})", text(runs[runs.size() / 2]), text(runs.back())));
    }
    fmt::print("{}\n", row);
    std::fflush(stdout);
  }
  for (const Way& way : kWays) {
    std::vector<double>& medians = of_way[way.name];
    std::sort(medians.begin(), medians.end());
    const auto quantile = [&](double q) {
      return medians[static_cast<std::size_t>(q * static_cast<double>(medians.size() - 1))];
    };
    fmt::print("{:<12} median of medians {}, nine in ten below {}, missed {} of {} searches\n", way.name, quantile(0.5),
               quantile(0.9), missed[way.name], all.size() * static_cast<std::size_t>(seeds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "find") {
    std::vector<std::string> files(argv + std::min(argc, 3), argv + argc);
    measure_finding(argc > 2 ? std::atoi(argv[2]) : 3, files);
    return 0;
  }
  measure_speed({argv + 1, argv + argc});
  return 0;
}
