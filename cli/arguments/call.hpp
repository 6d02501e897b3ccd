#pragma once

// A call of the program: what every command is told, and what each of them is.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments/option.hpp"
#include "models/locks/catalogue.hpp"
#include "reports/run/verdicts.hpp"
#include "scenarios/workers/ranks.hpp"

namespace lockstep::scenarios {
class ProgramMaker;
}

namespace lockstep::cli {

struct Format;

inline constexpr std::string_view kVersion = "0.1.0";

enum class Exit : std::uint8_t { as_expected = 0, not_as_expected = 1, bad_input = 2, incomplete = 3 };
enum class Colour : std::uint8_t { automatic, always, never };

/// Where a command writes, and how it may look there.
struct Output {
  std::ostream& out;
  std::ostream& err;
  std::size_t width = 100;
  bool colour = false;
  bool progress = false;              ///< `err` is a terminal, where a line may come and go
  scenarios::Ranks* ranks = nullptr;  ///< those that do the same call; null: this process is alone

  /// Whether this process is the one that writes files.
  bool is_first() const { return ranks == nullptr || ranks->rank() == 0; }
};

/// The end of a command whose input or call was wrong, with a message on `err`.
Exit refuse(const Output& output, std::string_view why);

/// What may be said to every command, before its name, too.
struct Settings {
  std::optional<std::uint64_t> seed;
  std::size_t jobs = 1;  ///< threads: as many as there are cores, unless the call says otherwise
  Colour colour = Colour::automatic;
  reports::Language language = reports::Language::en;
  std::optional<std::size_t> width;
  const Format* shown = nullptr;  ///< on stdout; null: text for people
};

/// A command with what one call says to it. Each command is a class of its own in a file of its own, whose options read
/// into its members.
class Call : public Settings {
 public:
  Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  virtual ~Call() = default;

  /// Its options take what was typed into this very object.
  virtual Manual manual() = 0;
  /// What is wrong with options that are right by themselves, or with what there is none of; empty: nothing.
  virtual std::string mistake() { return ""; }
  /// Words that name lock algorithms, or the files of scripts; null: there are none.
  virtual std::vector<std::string>* lock_names() { return nullptr; }
  /// Whether it takes stories with clients that are programs.
  virtual bool takes_programs() const { return false; }
  virtual Exit perform(const models::locks::Catalogue& catalogue, Output& output) = 0;

  bool shows_text() const { return shown == nullptr; }

  const scenarios::ProgramMaker* programs = nullptr;           ///< null: there is none in this build
  std::vector<std::string> files;                              ///< the words that are no options, as given
  std::vector<std::string> inputs;                             ///< all files that it has read, or will
  std::vector<OutputFile> outputs;                             ///< all files that it shall write
  std::vector<std::pair<const Format*, std::string>> written;  ///< formats that have a file
};

}  // namespace lockstep::cli
