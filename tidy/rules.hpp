#pragma once

// What the repository demands of itself, beyond what a compiler checks. Start here.
//
// A rule looks at one file, or at all of them, and returns findings; "tidy/rules_test.cpp" shows for each rule
// a text that breaks it and one that does not, and "tidy/tidy_test.cpp" applies all of them to what git tracks.
// Where a rule can be wrong, a comment on the same line or the line above says why it does not apply:
//
//   // tidy: lookup only     an unordered container that nothing iterates over, a hash that decides nothing
//   // tidy: not deciding    floating point that only people see
//   // tidy: progress only   a real clock behind a progress display, in cli/

#include <cstddef>
#include <string>
#include <vector>

#include "tidy/source.hpp"

namespace lockstep::tidy {

struct Finding {
  std::string path;
  std::size_t line = 0;  ///< from 1; 0: the file as a whole
  std::string message;   ///< what is wrong, and what to do instead
};

/// "sim/time/time.hpp:12: ...".
std::string to_string(const Finding& finding);

using Findings = std::vector<Finding>;

// One file at a time.

/// A folder includes only folders below it (a table in tidy/rules.cpp), always by their path from the root.
Findings include_direction(const File& file);
/// Sources of chance and time other than sim's: they would make a run unrepeatable.
Findings real_chance_and_time(const File& file);
/// Hash order differs between standard libraries.
Findings unordered_containers(const File& file);
/// Addresses differ between runs.
Findings pointer_keys(const File& file);
/// What decides is an integer: floating point rounds differently between machines and optimisation levels.
Findings floating_point(const File& file);
/// Two worlds in two threads would see each other.
Findings mutable_globals(const File& file);
/// `for (x : json::parse(text)["key"])` goes over an element of what is gone by then: only a member lives on.
Findings loops_over_temporaries(const File& file);
Findings unfinished_marks(const File& file);
/// Tests that do not run by themselves, or may fail, and code that is switched off.
Findings disabled_code(const File& file);
Findings file_length(const File& file);
/// Tabs, blanks at line ends, CRLF, no newline at the end.
Findings whitespace(const File& file);
Findings header_guard(const File& file);
/// Folders are rooms with a name.
Findings folder_names(const File& file);
/// What people read side by side fits 120 columns: comments, too, which clang-format leaves alone. Texts in raw strings
/// say what they say, and tests may be wider.
Findings line_length(const File& file);

// All files at once.

/// Iteration over an unordered container, also one that is declared in the header of the same name.
Findings unordered_iteration(const std::vector<File>& files);
/// A type of ours, or of the standard library, none of whose headers is reached by this file's own includes.
Findings missing_includes(const std::vector<File>& files);
/// A module is a .cpp with its .hpp. None includes itself by way of others.
Findings module_cycles(const std::vector<File>& files);
/// Inside of checker/, models/ and scenarios/ a room includes only rooms below it, which a table names (tidy/arrows.cpp).
Findings room_arrows(const std::vector<File>& files);
/// No more than 25 files in a folder, not counting those below it.
Findings folder_sizes(const std::vector<File>& files);
Findings dead_headers(const std::vector<File>& files);
Findings dead_scripts(const std::vector<File>& files);
/// In a document, `<!-- from PATH -->` above a block of code says that the block stands in that file, word for word;
/// indented as it likes.
Findings quotations(const std::vector<File>& files);
/// A relative link of a document leads to a file, a folder, or a heading.
Findings dead_links(const std::vector<File>& files);
/// A path of docs/ exists wherever it is named; another path of the repository where a document or a comment names it.
Findings dead_paths(const std::vector<File>& files);
/// In a document, "`Name` (`path.hpp`)": the name stands in that file.
Findings missing_types(const std::vector<File>& files);
/// docs/README.md has a link to each page of docs/.
Findings unlisted_documents(const std::vector<File>& files);

/// Outside of the engine no `case` and no comparison names a kind of fault: who needs to know asks for a column of
/// sim/worlds/fault_kinds.hpp.
Findings fault_kinds(const std::vector<File>& files);

/// Every rule above, over all files.
Findings all_findings(const std::vector<File>& files);

}  // namespace lockstep::tidy
