// How fast a campaign is, and how soon it finds what is known to be there.
//
//   fuzz_bench [ALGORITHM...]       worlds, runs and events per second, with all checkers on, on one thread, on two, and of two programs side by side
//   fuzz_bench against PROGRAM [ALGORITHM...]  the same of one thread, in turn with another build's fuzz_bench, by processor time: how many times as fast this one is
//   fuzz_bench find [SEEDS [FILE...]]  each mutant of docs/evidence/lock-mutants.md and each violating story (those of FILE, files or folders, else of scenarios/):
//                                   after how many runs it is found, by the portfolio, and by what is left of it without one of its parts
//   fuzz_bench made-up [SEEDS [RUNS]]  every algorithm in made-up worlds: which properties, of all that can be judged, so many runs break, and how soon

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/fuzzing/lock_mutants.hpp"

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

std::vector<std::string> speed_ids() {
  return {"set-nx-px-lua", "setnx-ts-del-setnx", "redlock-seq", "redisson-lock", "ria-sem-fair"};
}

/// In made-up worlds for this algorithm; it only plays and judges.
Campaign campaign_of(const std::string& id, std::size_t jobs) {
  FuzzOptions options;
  options.jobs = jobs;
  options.shrinks = false;
  return Campaign({target_of(*built_in().find(id))}, built_in(), options);
}

/// What a campaign does in so many seconds.
struct Rate {
  double events = 0;  ///< per second
  double seconds = 0;
  FuzzStatistics statistics;
};

Rate rate_of(const std::string& id, std::size_t jobs, double patience) {
  Campaign campaign = campaign_of(id, jobs);
  const double begin = now();
  while (now() - begin < patience) campaign.step();
  Rate rate;
  rate.seconds = now() - begin;
  rate.statistics = campaign.state().statistics;
  rate.events = static_cast<double>(rate.statistics.events) / rate.seconds;
  return rate;
}

/// Two programs of one thread side by side, which share nothing but the machine: no program can do more with two.
double rate_of_two_programs(const std::string& self, const std::string& id, double patience) {
  const std::string command = fmt::format("'{}' rate {} {}", self, id, patience);
  FILE* programs[2] = {popen(command.c_str(), "r"), popen(command.c_str(), "r")};
  double sum = 0;
  for (FILE* program : programs) {
    double rate = 0;
    if (program == nullptr || std::fscanf(program, "%lf", &rate) != 1) {
      fmt::print(stderr, "fuzz_bench: {} does not do its work\n", command);
      std::exit(2);
    }
    pclose(program);
    sum += rate;
  }
  return sum;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// In turn, since what a machine gives changes from second to second: ratios are those of one turn.
void measure_speed(const std::string& self, std::vector<std::string> ids) {
  constexpr int kRounds = 9;
  constexpr double kPatience = 1;
  if (ids.empty()) ids = speed_ids();
  fmt::print("one thread: the best of {} turns. two threads, and two programs of one thread, against it: the median\n",
             kRounds);
  fmt::print("{:<28} {:>9} {:>9} {:>8} {:>10} {:>9} {:>12}\n", "worlds made up for", "units/s", "runs/s", "virt h/s",
             "events/s", "2 threads", "2 programs");
  for (const std::string& id : ids) {
    Rate best;
    std::vector<double> threads;
    std::vector<double> programs;
    for (int round = 0; round < kRounds; ++round) {
      const Rate one = rate_of(id, 1, kPatience);
      threads.push_back(rate_of(id, 2, kPatience).events / one.events);
      programs.push_back(rate_of_two_programs(self, id, kPatience) / one.events);
      if (one.events > best.events) best = one;
    }
    const FuzzStatistics& statistics = best.statistics;
    fmt::print("{:<28} {:>9.0f} {:>9.0f} {:>8.1f} {:>9.2f}M {:>9.2f} {:>12.2f}\n", id,
               static_cast<double>(statistics.batches) * 64 / best.seconds,
               static_cast<double>(statistics.runs) / best.seconds,
               static_cast<double>(statistics.virtual_time.count_ns()) / 3.6e12 / best.seconds, best.events / 1e6,
               median(threads), median(programs));
    std::fflush(stdout);
  }
}

// --- Against another build.

/// Events and seconds of processor time of so many batches on one thread.
struct Work {
  double events = 0;
  double seconds = 0;
};

Work work(const std::string& id, int batches) {
  Campaign campaign = campaign_of(id, 1);
  const std::clock_t begin = std::clock();
  for (int i = 0; i < batches; ++i) campaign.step();
  return {static_cast<double>(campaign.state().statistics.events),
          static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
}

Work work_of(const std::string& program, const std::string& id, int batches) {
  Work done;
  const std::string command = fmt::format("'{}' work {} {}", program, id, batches);
  FILE* out = popen(command.c_str(), "r");
  if (out == nullptr || std::fscanf(out, "%lf %lf", &done.events, &done.seconds) != 2) {
    fmt::print(stderr, "fuzz_bench: {} does not do its work\n", command);
    std::exit(2);
  }
  pclose(out);
  return done;
}

void measure_against(const std::string& self, const std::string& other, std::vector<std::string> ids) {
  if (ids.empty()) ids = speed_ids();
  fmt::print("{:<28} {:>10} {:>10} {:>8}   least of processor time of 7 in turn\n", "worlds made up for", "this",
             "other", "ratio");
  for (const std::string& id : ids) {
    double best[2] = {};
    for (int round = 0; round < 7; ++round) {
      for (const std::size_t which : {0U, 1U}) {
        const Work done = work_of(which == 0 ? self : other, id, 6);
        best[which] = std::max(best[which], done.events / done.seconds);
      }
    }
    fmt::print("{:<28} {:>9.2f}M {:>9.2f}M {:>8.3f}\n", id, best[0] / 1e6, best[1] / 1e6, best[0] / best[1]);
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
  bool coverage = true;
};

constexpr Way kWays[] = {{"portfolio", std::nullopt},
                         {"uniform", Strategy::uniform, false},
                         {"boundary", Strategy::boundary},
                         {"priority", Strategy::priority},
                         {"no coverage", std::nullopt, false}};

struct Search {
  std::optional<std::uint64_t> runs;
  double seconds = 0;
};

/// Runs, not seconds: whether a mistake is found must not depend on the machine. The hardest one known needs 60,000.
constexpr std::uint64_t kPatience = 100'000;

Search search(const Known& what, const Way& way, std::uint64_t seed) {
  FuzzOptions options;
  options.max_runs = kPatience;
  options.seed = seed;
  options.strategy = way.strategy;
  options.coverage = way.coverage;
  options.shrinks = false;
  // The lock with the mistake need not claim what it breaks.
  FuzzTarget target = target_of(what.story, what.catalogue);
  std::vector<std::string>& properties = target.properties;
  if (std::find(properties.begin(), properties.end(), what.property) == properties.end())
    properties.insert(std::upper_bound(properties.begin(), properties.end(), what.property), what.property);
  Campaign campaign({std::move(target)}, what.catalogue, options);
  const double begin = now();
  while (campaign.step()) {
    if (const auto run = campaign.first_violation(0, what.property)) return {run, now() - begin};
  }
  return {std::nullopt, now() - begin};
}

/// Whether fuzzing as it is by default, the first of the ways, missed none.
bool measure_finding(int seeds, const std::vector<std::string>& files) {
  const std::vector<Known> all = known(files);
  fmt::print("{} to find, {} seeds each, {} runs on one thread for each; runs until found: median (worst)\n",
             all.size(), seeds, kPatience);
  std::map<std::string_view, std::vector<double>> of_way;
  std::map<std::string_view, int> missed;
  for (const Known& what : all) {
    std::string row = fmt::format("{:<75.75}", what.name);
    for (const Way& way : kWays) {
      std::vector<double> runs;
      for (int seed = 1; seed <= seeds; ++seed) {
        const Search found = search(what, way, static_cast<std::uint64_t>(seed));
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
  return missed[kWays[0].name] == 0;
}

/// What runs in made-up worlds break, claimed or not, and when: by algorithm, property and seed.
using Broken = std::map<std::string, std::uint64_t>;

Broken broken_in_made_up_worlds(const Way& way, int seeds, std::uint64_t runs) {
  Broken broken;
  for (const models::locks::Entry& entry : built_in().entries()) {
    for (int seed = 1; seed <= seeds; ++seed) {
      FuzzOptions options;
      options.seed = static_cast<std::uint64_t>(seed);
      options.max_runs = runs;
      options.strategy = way.strategy;
      options.coverage = way.coverage;
      options.shrinks = false;
      options.jobs = 1;
      FuzzTarget target = target_of(entry);
      target.properties.clear();
      for (const checker::Property& property : checker::properties()) target.properties.emplace_back(property.name);
      std::sort(target.properties.begin(), target.properties.end());
      Campaign campaign({target}, built_in(), options);
      while (campaign.step()) {
      }
      for (const std::string& property : target.properties) {
        if (const auto run = campaign.first_violation(0, property))
          broken.emplace(fmt::format("{} {} {}", entry.id, property, seed), *run);
      }
    }
  }
  return broken;
}

void measure_made_up(int seeds, std::uint64_t runs) {
  fmt::print("every algorithm in made-up worlds, {} seeds, {} runs each\n", seeds, runs);
  std::map<std::string_view, Broken> all;
  Broken any;
  for (const Way& way : kWays) {
    all[way.name] = broken_in_made_up_worlds(way, seeds, runs);
    any.insert(all[way.name].begin(), all[way.name].end());
  }
  const Broken& portfolio = all[kWays[0].name];
  for (const Way& way : kWays) {
    const Broken& broken = all[way.name];
    std::vector<std::uint64_t> until;
    int sooner = 0;
    int later = 0;
    for (const auto& [what, ignored] : any) {
      const auto own = broken.find(what);
      const auto other = portfolio.find(what);
      const std::uint64_t own_run = own == broken.end() ? ~std::uint64_t{0} : own->second;
      const std::uint64_t other_run = other == portfolio.end() ? ~std::uint64_t{0} : other->second;
      until.push_back(own_run);
      sooner += own_run < other_run ? 1 : 0;
      later += own_run > other_run ? 1 : 0;
    }
    std::sort(until.begin(), until.end());
    fmt::print("{:<12} {} of {} found; median {}, three in four below {}; sooner than the {} {}, later {}\n", way.name,
               broken.size(), any.size(), until[until.size() / 2], until[until.size() * 3 / 4], kWays[0].name, sooner,
               later);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "find") {
    std::vector<std::string> files(argv + std::min(argc, 3), argv + argc);
    return measure_finding(argc > 2 ? std::atoi(argv[2]) : 3, files) ? 0 : 1;
  }
  if (argc > 3 && std::string_view(argv[1]) == "work") {
    const Work done = work(argv[2], std::atoi(argv[3]));
    fmt::print("{} {}\n", done.events, done.seconds);
    return 0;
  }
  if (argc > 2 && std::string_view(argv[1]) == "against") {
    measure_against(argv[0], argv[2], {argv + 3, argv + argc});
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "made-up") {
    measure_made_up(argc > 2 ? std::atoi(argv[2]) : 2, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20'000);
    return 0;
  }
  if (argc > 3 && std::string_view(argv[1]) == "rate") {
    fmt::print("{}\n", rate_of(argv[2], 1, std::atof(argv[3])).events);
    return 0;
  }
  measure_speed(argv[0], {argv + 1, argv + argc});
  return 0;
}
