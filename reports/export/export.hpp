#pragma once

// A run in the formats of other tools: which there are, and the text of each. Start here. docs/exports.md shows where
// each is opened.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports {

enum class ExportKind : std::uint8_t { shiviz, chrome_trace, itf, edn, dot, graphml, sarif, junit, markdown };

struct ExportFormat {
  ExportKind kind;
  std::string_view name;     ///< as on the command line
  bool takes_many = false;   ///< any number of stories; else exactly one
  bool needs_trace = false;  ///< `Outcome::trace`
  bool needs_key_states = false;
};

/// In the order of their kinds.
std::span<const ExportFormat> export_formats();
const ExportFormat& format_of(ExportKind kind);
/// Null if there is none of this name.
const ExportFormat* find_export_format(std::string_view name);

struct ExportInput {
  std::span<const Story> stories;
  std::span<const scenarios::Diagnostic> not_run;  ///< of stories that could not be run
  Language language = Language::en;                ///< of what people read: markdown
  std::string_view version;                        ///< of the program
};

/// The text of the file `path`, which names the picture beside it (markdown). The same input gives the same bytes.
/// Requires: what the format needs; one story, unless it takes many.
std::string exported(ExportKind kind, const ExportInput& input, std::string_view path);

}  // namespace lockstep::reports
