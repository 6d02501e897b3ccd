#pragma once

// What a command has found out, and the formats that show it. A command gives its result in a few forms, each format
// makes its text of one of them, and neither knows which others there are. Start here to add a format: a file with a
// function that gives it, and a line in formats.cpp. One that goes to stdout is made of lines or of the document, which
// every command has.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/call.hpp"
#include "reports/run/junit.hpp"
#include "reports/text/line.hpp"

namespace lockstep::cli {

/// A form is made if a format asks for it.
struct Result {
  std::function<reports::Lines()> lines;                             ///< for people
  std::function<std::string()> json;                                 ///< one document, with a line break at its end
  std::function<std::vector<reports::JUnitCase>()> cases = nullptr;  ///< if `Manual::has_cases`
  std::function<std::string()> page = nullptr;                       ///< HTML, if `Manual::has_page`
};

struct Format {
  enum class From : std::uint8_t { lines, json, cases, page };
  std::string_view option;    ///< "--junit"; empty: what is shown if nobody asks for anything else
  std::string_view argument;  ///< "FILE"; empty: it goes to stdout
  std::string_view help;      ///< empty: commands say it themselves
  From from = From::lines;
  std::string (*write)(const Result& result, std::string_view command, const Output& output);
  std::string_view mark = "";  ///< of `OutputFile::marks`, if it goes to a file
};

std::span<const Format> formats();
/// Those that a command with this manual can be asked for, each with an option.
std::vector<const Format*> formats_for(const Manual& manual);

/// To stdout what the call asks for, then its files. False after a message on `err`.
bool report(Call& call, const Result& result, Output& output);

}  // namespace lockstep::cli
