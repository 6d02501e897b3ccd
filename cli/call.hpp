#pragma once

// A call of the program, as its arguments say it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reports/verdicts.hpp"

namespace lockstep::cli {

inline constexpr std::string_view kVersion = "0.1.0";

enum class Exit : std::uint8_t { as_expected = 0, not_as_expected = 1, bad_input = 2, incomplete = 3 };

struct Call {
  enum class Command : std::uint8_t { list, run };
  enum class Colour : std::uint8_t { automatic, always, never };
  Command command = Command::run;
  std::string what = "algorithms";  ///< list: of what
  std::vector<std::string> files;   ///< as given
  bool json = false;
  std::optional<std::uint64_t> seed;
  std::size_t jobs = 0;  ///< 0: as many as there are cores
  Colour colour = Colour::automatic;
  reports::Language language = reports::Language::en;
  std::optional<std::size_t> width;
  std::optional<bool> timeline;  ///< nothing: for a single story
  std::optional<std::string> junit;
};

/// The call needs no work: help, the version, or a message about what is wrong with it.
struct Answer {
  std::string text;
  Exit exit = Exit::as_expected;
};

std::variant<Call, Answer> read_arguments(std::span<const std::string> args);

/// Commands, in the order in which help shows them.
std::span<const std::string_view> command_names();
/// Help of one command; of the whole program if there is no such command.
std::string_view help_of(std::string_view command);

}  // namespace lockstep::cli
