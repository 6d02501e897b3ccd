#pragma once

// A run in the formats of other tools: which there are, and the text of each. Start here. docs/manual/exports.md shows
// where each is opened.

#include <span>
#include <string>
#include <string_view>

#include "reports/run/verdicts.hpp"
#include "scenarios/story/diagnostic.hpp"

namespace lockstep::reports {

struct ExportInput {
  std::span<const Story> stories;
  std::span<const scenarios::Diagnostic> not_run;  ///< of stories that could not be run
  Language language = Language::en;                ///< of what people read: markdown
  std::string_view version;                        ///< of the program
};

/// A row of the table in export.cpp: a format is a file that writes it, and a row.
struct ExportFormat {
  std::string_view name;     ///< as on the command line
  std::string_view mark;     ///< what each of its files contains, and hardly another file
  bool takes_many = false;   ///< any number of stories; else exactly one
  bool needs_trace = false;  ///< `Outcome::trace`
  bool needs_key_states = false;
  /// The text of the file `path`. The same input gives the same bytes. Requires: what the format needs; one story,
  /// unless it takes many.
  std::string (*write)(const ExportInput& input, std::string_view path);
  /// A picture that belongs to it: the file, and what is in it. Null: there is none.
  std::string (*picture_path)(std::string_view path) = nullptr;
  std::string (*write_picture)(const ExportInput& input) = nullptr;
  std::string_view picture_mark = "";  ///< as `mark`
};

std::span<const ExportFormat> export_formats();
/// Null if there is none of this name.
const ExportFormat* find_export_format(std::string_view name);

}  // namespace lockstep::reports
