#pragma once

// A call of the program, as its arguments say it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checker/histories/format.hpp"
#include "reports/export/export.hpp"
#include "reports/run/verdicts.hpp"
#include "scenarios/running/strategy.hpp"
#include "sim/time/time.hpp"

namespace lockstep::cli {

inline constexpr std::string_view kVersion = "0.1.0";

enum class Exit : std::uint8_t { as_expected = 0, not_as_expected = 1, bad_input = 2, incomplete = 3 };

struct Call {
  enum class Command : std::uint8_t {
    list,
    run,
    check,
    linearize,
    matrix,
    compare,
    confirm,
    serve,
    play,
    new_story,
    schema,
    fuzz,
    report
  };
  enum class Colour : std::uint8_t { automatic, always, never };
  Command command = Command::run;
  std::string what = "algorithms";  ///< list: of what
  std::vector<std::string> files;   ///< as given
  bool json = false;
  std::optional<std::uint64_t> seed;
  std::optional<std::uint64_t> may_seed;  ///< run: of the execution of `check` that is run instead
  std::size_t jobs = 1;                   ///< threads: as many as there are cores, unless the call says otherwise
  Colour colour = Colour::automatic;
  reports::Language language = reports::Language::en;
  std::optional<std::size_t> width;
  std::optional<bool> timeline;  ///< nothing: for a single story
  bool only_failures = false;    ///< of several stories: no rows of those that are as expected
  std::optional<std::string> junit;
  std::optional<std::string> history;  ///< run: where the operations of the one story go
  struct Export {
    reports::ExportKind kind = reports::ExportKind::shiviz;
    std::string file;
  };
  std::vector<Export> exports;  ///< run

  /// What only `check` is told.
  struct Check {
    std::optional<std::string> witness;   ///< a file; needs exactly one story, as `checkpoint` and `graph` do
    std::optional<std::string> graph;     ///< a file that ends in .dot or .graphml
    std::optional<std::string> margins;   ///< a file for the families of the one story
    std::optional<std::string> wait_for;  ///< a file: who waits for whom in a deadlock, as DOT
    std::string parameter;                ///< look for this threshold alone; empty: for all
    std::vector<std::pair<std::string, sim::Duration>> given;  ///< faults of this parameter are no larger
    bool reduction = true;
    bool thorough = false;
    bool second_opinion = true;
    std::optional<sim::Duration> tick;  ///< brute force on a grid
    double max_seconds = 0;             ///< 0: no bound
    std::uint64_t max_traces = 0;       ///< 0: no bound
    std::uint64_t max_events = 0;       ///< 0: no bound
    bool all = false;                   ///< of directories also what is slow or rare
    std::optional<std::string> checkpoint;
    bool resume = false;
    bool times = true;
  } check;

  /// What only `linearize` is told.
  struct Linearize {
    std::string model;  ///< empty: the one that the file names
    checker::history_formats::Format format = checker::history_formats::Format::automatic;
    std::optional<std::int64_t> permits;  ///< nothing: as many as the file says, or one
    std::string initial;                  ///< empty: nil
    bool independent = false;
    bool check_failed = false;
    bool nil_reads_unknown = false;
    std::optional<std::uint64_t> max_memory;  ///< bytes
    std::optional<double> max_seconds;        ///< for all histories together
    std::optional<std::string> html;
  } linearize;

  /// What only `compare` is told.
  struct Compare {
    std::vector<std::string> algorithms;
    std::vector<std::size_t> clients;
    std::optional<sim::Duration> length;  ///< of each run, in virtual time
  } compare;

  /// What only `matrix` is told; its algorithms are in `files`.
  struct Matrix {
    std::vector<std::string> faults;
    std::optional<std::uint64_t> max_traces, max_events, runs;
    std::optional<std::string> witnesses;  ///< a folder
  } matrix;
  /// What only `new` is told; the file is in `files`.
  struct NewStory {
    std::string algorithm = "set-nx-px-lua";
    bool lock = false;  ///< a lock of one's own, too: a script
  } new_story;

  /// What only `fuzz` is told.
  struct Fuzz {
    std::vector<std::string> algorithms;  ///< or "all"
    std::string found = "found";          ///< a folder
    std::vector<std::string> merge;       ///< folders: then nothing is fuzzed
    double max_seconds = 60;
    std::uint64_t max_runs = 0;  ///< 0: no bound
    bool resume = false;
    std::uint64_t shard = 0;
    std::uint64_t shards = 1;
    std::optional<scenarios::Strategy> strategy;
    std::uint32_t depth = 3;
    bool coverage = true;
    bool as_written = false;
  } fuzz;

  /// What only `confirm` is told.
  struct Confirm {
    std::optional<std::string> host;  ///< of a server that is not ours; nothing: our own
    std::uint16_t port = 0;
    bool flush = false;
    std::optional<sim::Duration> longest;  ///< of each story
    std::optional<std::string> record;     ///< a file
    std::optional<std::string> table;      ///< a file
  } confirm;

  /// What only `report` is told; the folder is in `files`.
  struct Report {
    std::vector<std::string> stories;   ///< files and folders
    std::optional<std::string> single;  ///< a file: one page instead
  } report;

  /// What only `serve` is told.
  struct Serve {
    std::uint16_t port = 0;  ///< 0: a free one
    bool step = false;
  } serve;

  /// What only `play` is told.
  struct Play {
    std::uint16_t port = 0;  ///< 0: a free one
  } play;
};

/// The call needs no work: help, the version, or a message about what is wrong with it.
struct Answer {
  std::string text;
  Exit exit = Exit::as_expected;
};

/// Commands, in the order in which help shows them.
std::span<const std::string_view> command_names();
/// Help of one command; of the whole program if there is no such command.
std::string_view help_of(std::string_view command);

}  // namespace lockstep::cli
