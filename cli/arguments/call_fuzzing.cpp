#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/arguments/typed.hpp"

namespace lockstep::cli {
namespace {

/// "2/8": part 2 of 8, from 0 on.
bool take_shard(const std::string& text, Call::Fuzz& fuzz) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  constexpr std::uint64_t most = 1'000'000;
  const auto shards = whole_number(text.substr(slash + 1), 1, most);
  const auto shard = whole_number(text.substr(0, slash), 0, most);
  if (!shards || !shard || *shard >= *shards) return false;
  fuzz.shard = *shard;
  fuzz.shards = *shards;
  return true;
}

std::optional<Answer> take_strategy(const Typed& typed, Call::Fuzz& fuzz) {
  if (typed.strategy && *typed.strategy != "portfolio") {
    std::vector<std::string_view> names{"portfolio"};
    for (const auto& [name, strategy] : scenarios::strategy_names) {
      names.push_back(name);
      if (name == *typed.strategy) fuzz.strategy = strategy;
    }
    if (!fuzz.strategy) {
      return wrong(fmt::format("--strategy {}: {}", scenarios::in_quotes(*typed.strategy),
                               scenarios::suggestion(*typed.strategy, names)),
                   "fuzz");
    }
  }
  if (!typed.depth) return std::nullopt;
  const auto depth = whole_number(*typed.depth, 1, 100);
  if (!depth) {
    return wrong(fmt::format("--depth {}: expected a whole number from 1 to 100", scenarios::in_quotes(*typed.depth)),
                 "fuzz");
  }
  fuzz.depth = static_cast<std::uint32_t>(*depth);
  return std::nullopt;
}

}  // namespace

std::variant<Call, Answer> fuzz_call(const Typed& typed, Call call) {
  call.command = Call::Command::fuzz;
  call.files = typed.files;
  Call::Fuzz& fuzz = call.fuzz;
  fuzz.algorithms = typed.algorithms;
  fuzz.merge = typed.merge;
  if (typed.found) fuzz.found = *typed.found;
  if (fuzz.found.empty()) return wrong("--found needs the name of a folder", "fuzz");
  if (!fuzz.merge.empty()) {
    if (!call.files.empty() || !fuzz.algorithms.empty() || typed.resume)
      return wrong(
          "--merge joins the folders of campaigns, and fuzzes nothing: leave out files, --algorithm and --resume",
          "fuzz");
    return call;
  }
  if (std::optional<Answer> answer = take_bound("--runs", typed.runs, "fuzz", fuzz.max_runs)) return *answer;
  // Who says how many runs means all of them.
  if (typed.runs) fuzz.max_seconds = 0;
  if (typed.max_seconds) {
    const std::optional<double> seconds = seconds_of(*typed.max_seconds);
    if (!seconds) {
      return wrong(fmt::format("--max-seconds {}: expected a number of seconds such as 60 or 0.5",
                               scenarios::in_quotes(*typed.max_seconds)),
                   "fuzz");
    }
    fuzz.max_seconds = *seconds;
  }
  if (typed.shard && !take_shard(*typed.shard, fuzz)) {
    return wrong(
        fmt::format("--shard {}: expected I/N, part I of N from 0 on, such as 0/4", scenarios::in_quotes(*typed.shard)),
        "fuzz");
  }
  if (std::optional<Answer> answer = take_strategy(typed, fuzz)) return *answer;
  fuzz.resume = typed.resume;
  fuzz.coverage = !typed.no_coverage;
  fuzz.as_written = typed.as_written;
  if (call.files.empty() && fuzz.algorithms.empty()) {
    return wrong("fuzz needs scenario files or directories, or algorithms, e.g. lockstep fuzz --algorithm redlock-seq",
                 "fuzz");
  }
  return call;
}

void declare_fuzz(CLI::App& fuzz, Typed& typed) {
  fuzz.set_help_flag();
  fuzz.add_option("files", typed.files);
  fuzz.add_option("--algorithm", typed.algorithms)->delimiter(',')->allow_extra_args(false);
  fuzz.add_option("--max-seconds", typed.max_seconds)->take_last();
  fuzz.add_option("--runs", typed.runs)->take_last();
  fuzz.add_option("--found", typed.found)->take_last();
  fuzz.add_flag("--resume", typed.resume);
  fuzz.add_option("--shard", typed.shard)->take_last();
  fuzz.add_option("--merge", typed.merge);
  fuzz.add_option("--strategy", typed.strategy)->take_last();
  fuzz.add_option("--depth", typed.depth)->take_last();
  fuzz.add_flag("--no-coverage", typed.no_coverage);
  fuzz.add_flag("--as-written", typed.as_written);
}

}  // namespace lockstep::cli
