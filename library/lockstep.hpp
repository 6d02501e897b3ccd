#pragma once

// Lockstep in the tests of other programs: `fuzz` and `check` as functions. Start here if you have a lock of your own
// in C++; installed as <lockstep/lockstep.hpp>, with find_package(lockstep) and the target lockstep::lockstep.
// docs/manual/testing-with-lockstep.md has a whole example.
//
//   const auto result = lockstep::fuzz({.algorithm = "my-lock", .catalogue = catalogue, .runs = 10'000});
//   INFO(result);
//   CHECK(result.findings.empty());
//
// Both throw `Error` where they cannot do what they are asked: a test of a story that cannot be read fails and says
// why. They may be called from several threads at a time.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep {

using checker::Verdict;
using models::locks::Catalogue;

/// Bad input, with the place in the file and the remedy; or nothing could be judged.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where to find a scenario: a file, a text or a value. docs/manual/scenario-format.md describes the format.
class Story {
 public:
  /// None.
  Story() = default;
  /// A value. Texts for people may be left out, and a single server.
  Story(scenarios::Scenario scenario) : source_(std::move(scenario)) {}
  /// Read when `fuzz` or `check` is called, relative to the working directory then.
  static Story file(std::filesystem::path path) { return Story(Source(std::move(path))); }
  /// The content of such a file. `name` is the name of the story, also in messages.
  static Story text(std::string toml, std::string name = "story.toml") {
    return Story(Source(Text{std::move(toml), std::move(name)}));
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(source_); }
  /// Throws `Error`: there is none, or it is bad.
  scenarios::Scenario load(const Catalogue& catalogue) const;

 private:
  struct Text {
    std::string toml;
    std::string name;
  };
  using Source = std::variant<std::monostate, std::filesystem::path, Text, scenarios::Scenario>;
  explicit Story(Source source) : source_(std::move(source)) {}

  Source source_;
};

// --- fuzz -----------------------------------------------------------------------------------------------------------

/// What to fuzz: the story with its own algorithm or with another one, or an algorithm alone, in worlds that are made
/// up for it.
struct FuzzRequest {
  Story story = {};
  std::string algorithm = {};  ///< an id of the catalogue; empty: the story's
  Catalogue catalogue = Catalogue::built_in();
  /// It ends after the batch of up to 2048 runs in which it reaches the first of these bounds; 0: none. One must be
  /// set. With a bound of `runs` alone the result is the same each time, whatever the machine and `jobs`.
  std::uint64_t runs = 10'000;
  double seconds = 0;
  std::uint64_t seed = 1;
  std::size_t jobs = 1;  ///< threads
  /// Properties to judge ("own-release", …; `lockstep list properties`). Empty: those that the algorithm claims, and
  /// those of which the story expects something.
  std::vector<std::string> properties = {};
  bool as_written = false;  ///< only the faults that the story allows
};

/// One violation, made as small as could be.
struct FuzzFinding {
  std::string name;  ///< "my-lock-own-release-pause": of the file, without its ending; no two of a result have the same
  std::string property;
  std::string algorithm;
  std::string title;  ///< one sentence: what happens
  std::string why;
  std::string story;                ///< the scenario file: `lockstep run` replays it, `lockstep check` tells its margin
  std::vector<std::string> faults;  ///< kinds: "pause", "crash", …
  std::uint64_t run = 0;            ///< the first one that showed it, from 1 on; 0: unknown
  bool is_minimal = false;          ///< without any one of its faults or clients it passes
  /// False: a run broke the property, and `story`, which was to be this run, does not. Still a finding; `why` has the
  /// reason.
  bool is_confirmed = true;
};

struct FuzzResult {
  std::uint64_t seed = 0;
  std::uint64_t runs = 0;
  /// Runs that are not judged, by reason: they did not end, a script ran into an error, …
  std::map<std::string, std::uint64_t> not_judged = {};
  /// Why it does not count that nothing was found, a sentence each: `not_judged`, and properties that no run could be
  /// judged by. Empty: all was judged.
  std::vector<std::string> open = {};
  std::uint64_t events = 0;
  sim::Duration virtual_time;
  std::vector<std::string> properties;  ///< those that were judged
  std::vector<FuzzFinding> findings;    ///< in the order in which they were found; each of another cause

  /// For a test's message: what was played, what each finding is, and the file of the shortest.
  std::string text() const;
  /// Writes each finding's file into the folder, which is made if there is none. Throws `Error`: that cannot be done.
  void save(const std::filesystem::path& folder) const;
};

/// Random worlds and random runs of them, as `lockstep fuzz`. Throws `Error` for bad input, and if no run could be
/// judged. That nothing was found proves nothing: `check` does, within its bounds.
FuzzResult fuzz(const FuzzRequest& request);

// --- check ----------------------------------------------------------------------------------------------------------

struct CheckRequest {
  Story story = {};            ///< must be given
  std::string algorithm = {};  ///< instead of the story's
  Catalogue catalogue = Catalogue::built_in();
  /// Faults of this parameter ("pause", "restart_after", …) are no larger than this.
  std::vector<std::pair<std::string, sim::Duration>> given = {};
  /// Bounds, 0: none. What one of them leaves open is `Verdict::unknown`.
  double seconds = 60;
  std::uint64_t max_traces = 0;
  std::size_t jobs = 1;  ///< threads
};

/// The least fault of a parameter that breaks a property.
struct Margin {
  std::string parameter;  ///< "pause", "restart_after", …
  sim::Duration from;
  bool is_included = false;  ///< true: `from` itself breaks it; false: everything above it does
  bool is_exact = true;      ///< false: less may break it, too
  bool is_downward = false;  ///< `from` is 0 or negative, and what is below it breaks it
  /// Other ranges of the story whose faults it needs; empty: it needs none.
  std::vector<std::string> together_with = {};
  bool operator==(const Margin&) const = default;
};

struct CheckedProperty {
  std::string property;
  /// holds: in every order and with every delay, and the search was complete. violated: `witness` shows it. unknown:
  /// `why` says why.
  Verdict verdict = Verdict::unknown;
  std::string why;
  std::vector<std::string> by;  ///< violated: the clients to blame
  std::vector<Margin> margins;  ///< violated: one for each parameter of which the story gives a range
  std::string witness;          ///< violated: a scenario file with exact times, which `lockstep run` replays
  bool is_claimed = false;      ///< by the algorithm
  /// False: the story's `[expect.check]` says otherwise, or the algorithm claims it, the story expects nothing, and it
  /// does not hold.
  bool as_expected = true;

  /// Null: it is not violated, or there is no such range.
  const Margin* margin(std::string_view parameter) const;
};

struct CheckResult {
  std::uint64_t traces = 0;
  bool is_complete = false;                 ///< no bound was hit
  bool as_expected = false;                 ///< of all properties
  std::vector<CheckedProperty> properties;  ///< all that there are, in the order of `lockstep list properties`

  /// Throws `Error`: there is no property of this name.
  const CheckedProperty& operator[](std::string_view property) const;
  bool holds(std::string_view property) const { return (*this)[property].verdict == Verdict::holds; }
  bool is_violated(std::string_view property) const { return (*this)[property].verdict == Verdict::violated; }
  /// For a test's message: `lockstep check`'s report without real times, and the file of the witness that it draws.
  const std::string& text() const { return report_; }

 private:
  friend CheckResult check(const CheckRequest& request);
  std::string report_;
};

/// Every order and every delay that the story allows, as `lockstep check`. Throws `Error` for bad input.
CheckResult check(const CheckRequest& request);

// --- text -----------------------------------------------------------------------------------------------------------

/// What breaks and why, and the whole file.
std::ostream& operator<<(std::ostream& out, const FuzzFinding& finding);
std::ostream& operator<<(std::ostream& out, const FuzzResult& result);
/// "pause above 71ms", "pause from 71ms on".
std::ostream& operator<<(std::ostream& out, const Margin& margin);
/// "own-release violated by A, B, pause above 71ms: …".
std::ostream& operator<<(std::ostream& out, const CheckedProperty& property);
std::ostream& operator<<(std::ostream& out, const CheckResult& result);

// Test frameworks look for these beside the types.
namespace checker {
std::ostream& operator<<(std::ostream& out, Verdict verdict);
}
namespace sim {
std::ostream& operator<<(std::ostream& out, Duration duration);
}

}  // namespace lockstep
