#pragma once

// What each command does with a call: one function per command, one file per function.

#include <iosfwd>

#include "cli/arguments/call.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/workers/ranks.hpp"

namespace lockstep::cli {

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

/// What somebody has to say against the call, in the same words on all ranks; empty: nobody has anything. `own` is what
/// this one has.
std::string objection_of_any(const std::string& own, const Output& output);

Exit list(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit linearize(const Call& call, Output& output);
Exit run_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit compare(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit matrix(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit fuzz(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit check_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit new_story(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit schema(const models::locks::Catalogue& catalogue, Output& output);
Exit confirm_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit report(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit play(const Call& call, const models::locks::Catalogue& catalogue, Output& output);
Exit serve(const Call& call, const models::locks::Catalogue& catalogue, Output& output);

/// A line on `err` for each script of the story's that has a mistake in it: its verdicts are those of the mistake.
void warn_of_scripts(const scenarios::Scenario& scenario, const std::vector<std::string>& mistakes, std::ostream& err);

/// The scenarios of these files and directories, or nothing after one message on `err` for each that is bad.
std::optional<std::vector<scenarios::Scenario>> load_all(const std::vector<std::string>& files,
                                                         const models::locks::Catalogue& catalogue, std::ostream& err);

}  // namespace lockstep::cli
