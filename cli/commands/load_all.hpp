#pragma once

// The stories that a call names.

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments/call.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::cli {

/// The scenarios of these files and directories, or nothing after one message on `err` for each that is bad, or for an
/// output of the call that would overwrite one of them, or a script of theirs. All of these are its inputs from now on.
/// `refused`: then what is bad does not keep the others from being loaded, if there are any; it is in there.
std::optional<std::vector<scenarios::Scenario>> load_all(Call& call, const std::vector<std::string>& files,
                                                         const models::locks::Catalogue& catalogue, std::ostream& err,
                                                         std::vector<scenarios::Diagnostic>* refused = nullptr);

/// A line on `err` for each script of the story's that has a mistake in it: its verdicts are those of the mistake.
void warn_of_scripts(const scenarios::Scenario& scenario, const std::vector<std::string>& mistakes, std::ostream& err);

}  // namespace lockstep::cli
