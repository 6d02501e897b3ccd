#pragma once

// Any history: finds out which format it is in, and reads it.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "checker/histories/formats/event.hpp"
#include "checker/histories/formats/pattern.hpp"
#include "checker/histories/formats/window.hpp"

namespace lockstep::checker::history_formats {

enum class Format : std::uint8_t { automatic, edn, json, log, intervals, table, pattern };

/// Their names on the command line, in the order of the enumerators: "auto", "edn", "json", "log",
/// "intervals", "csv"; and "pattern", which only has a name in what is reported.
std::span<const std::string_view> format_names();

struct ReadResult {
  Format format = Format::automatic;  ///< in which it was read
  std::size_t events = 0;
  std::size_t lines_skipped = 0;         ///< lines of a log that are no events
  std::optional<Trouble> first_skipped;  ///< of a pattern: as EventReader has it
  std::optional<Trouble> trouble;
};

/// Gives each event to `sink`, until there are no more, or one of them is not what it should be. A text without any
/// event is no history. `otherwise`: what a text is taken for that begins like none of EDN and JSON. `patterns`: of the
/// format that is named so; they outlive the call.
ReadResult read_history(Source source, Format format, const Sink& sink, std::size_t chunk = std::size_t{1} << 20U,
                        Format otherwise = Format::log, std::span<const Pattern> patterns = {});

/// What the end of a file's name promises; a log if it says nothing.
Format format_of_name(std::string_view file_name);

}  // namespace lockstep::checker::history_formats
