#pragma once

// The algorithm's own text with the lines at which a run waits: which line sent each step's command, and who called it.
// Noted by the run itself (`sim::TraceRecord::code`).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reports/picture/diagram.hpp"
#include "reports/site/frame/page.hpp"

namespace lockstep::reports::site {

/// A file of an algorithm, where a run came by.
struct CodeFile {
  std::string name;  ///< from the root of the tree; of a script beside its story: the script's name
  std::string_view text;
};

/// A line of `CodeOfRun::files`.
struct CodeLine {
  std::size_t file = 0;
  std::uint32_t line = 0;
  bool operator==(const CodeLine&) const = default;
};

struct CodeOfRun {
  std::vector<CodeFile> files;  ///< in the order in which the run came by
  std::vector<std::vector<CodeLine>>
      lines;  ///< for each row of the diagram, from the outermost call to the one that waits; empty: none
};

/// Requires: the story outlives the result.
CodeOfRun code_of(const Story& story, const picture::Diagram& diagram);

/// HTML; empty if the run came by no line. `rest`: where all of the files are; null: nowhere.
std::string code_part(const CodeOfRun& code, const std::string* rest);

/// Links to the lines of a row: "rlock.cpp:52". Empty if there are none.
std::string links_to_code(const CodeOfRun& code, std::size_t row);

}  // namespace lockstep::reports::site
