#pragma once

// What `run --export` writes.

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/arguments/call.hpp"

namespace lockstep::cli {

/// A file of an export, as `refuse_outputs` wants it.
struct ExportFile {
  std::string option;  ///< "--export shiviz"
  std::optional<std::string> file;
};

/// All files that the call's exports write, pictures beside pages included.
std::vector<ExportFile> files_of_exports(const Call& call);

/// An export of one story, but there are several: why not. Nothing if all is well.
std::optional<std::string> refuse_exports(const Call& call, std::size_t stories);

/// Whether any export needs it of the runs.
bool exports_need_trace(const Call& call);
bool exports_need_key_states(const Call& call);

/// Each file as a whole. False after a message on `err`. Requires: `stories` is not empty.
bool write_exports(const Call& call, std::span<const reports::Story> stories,
                   std::span<const scenarios::Diagnostic> not_run, std::ostream& err);

}  // namespace lockstep::cli
