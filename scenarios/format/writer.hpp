#pragma once

// A story as a scenario file: the loader's way back.

#include <filesystem>
#include <string>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// The file that says just this, laid out as the stories of this project are: what has its default value is left out.
/// Reading it gives the same story (see `without_positions`).
/// Requires: the scenario came out of the loader, or is as consistent: texts are not blank, and what a kind of fault
/// does not know (the length of a crash) has its default value.
/// `folder`: where the file will lie; a script of the story's own is found from there. Empty: it is named from the
/// root.
std::string to_toml(const Scenario& scenario, const std::filesystem::path& folder = {});

/// What tells the story from others, wherever its files lie: the same with the text of its script. For digests.
std::string identity_of(const Scenario& scenario);

/// The same story, said nowhere: two scenarios tell the same if these are equal.
Scenario without_positions(Scenario scenario);

/// A parameter's value as a file has it.
std::string toml_value(const models::locks::ParameterValue& value);

}  // namespace lockstep::scenarios
