#pragma once

// A command line as it was typed, before it is a `Call`: what reading.cpp and the files beside it share.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/arguments/call.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {

/// Option values as they were typed: this file's own messages are better than a library's.
struct Typed {
  bool lock = false;
  bool help = false, version = false, json = false, timeline = false, no_timeline = false;
  bool no_reduction = false, all = false, resume = false, no_times = false, independent = false, check_failed = false,
       nil_reads_unknown = false;
  bool only_failures = false, flush = false;
  bool no_coverage = false, as_written = false;
  bool step = false, thorough = false, no_second_opinion = false;
  std::optional<std::string> seed, may_seed, jobs, colour, language, width, junit, history;
  std::optional<std::string> witness, parameter, ticks, max_seconds, max_traces, max_events, checkpoint, graph, margins,
      wait_for;
  std::optional<std::string> model, format, permits, initial, max_memory, html, port;
  std::optional<std::string> runs, witnesses, seconds, algorithm, found, shard, strategy, depth, redis, record, table;
  std::vector<std::string> list_words, files, faults, algorithms, clients, given, merge, exports, stories;
  std::optional<std::string> single;
};

/// A message about the call; every one of them says how to go on.
Answer wrong(std::string message, std::string_view command = "");

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max);
/// Seconds with a decimal point, as people type them.
std::optional<double> seconds_of(const std::string& text);

/// A bound, if one was given: a whole number, 1 or more.
template <class Bound>
std::optional<Answer> take_bound(const char* option, const std::optional<std::string>& text, std::string_view command,
                                 Bound& bound) {
  if (!text) return std::nullopt;
  const auto number = whole_number(*text, 1, UINT64_MAX);
  if (!number)
    return wrong(fmt::format("{} {}: expected a whole number, 1 or more", option, scenarios::in_quotes(*text)),
                 command);
  bound = *number;
  return std::nullopt;
}

/// Of `run`: each is KIND=FILE.
std::optional<Answer> take_exports(const Typed& typed, Call& call);
void declare_check(CLI::App& check, Typed& typed);
std::variant<Call, Answer> check_call(const Typed& typed, Call call);
void declare_report(CLI::App& report, Typed& typed);
std::variant<Call, Answer> report_call(const Typed& typed, Call call);
void declare_fuzz(CLI::App& fuzz, Typed& typed);
std::variant<Call, Answer> fuzz_call(const Typed& typed, Call call);

}  // namespace lockstep::cli
