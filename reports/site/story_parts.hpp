#pragma once

// What a story's page consists of, each as HTML in both languages.

#include <string>
#include <vector>

#include "reports/site/code_part.hpp"
#include "reports/site/steps.hpp"
#include "reports/site/told_story.hpp"

namespace lockstep::reports::site {

/// What broke and why, or what held.
std::string verdict_banner(const Story& story, const picture::Diagram& diagram);
/// The picture with what moves it.
std::string stage(const picture::Diagram& diagram, const scenarios::Text& title);
/// One row for each step, with a place of its own: "s1".
std::string steps_table(const picture::Diagram& diagram, const std::vector<StepOfRun>& steps, const CodeOfRun& code);
/// Of the run that `check` found: from which event on the violation could not be avoided any more.
std::string point_of_no_return(const scenarios::NoReturn& point, const Story& story);
/// For each property that broke: the steps that prove it.
std::string chain_of_causes(const Story& story, const picture::Diagram& diagram);
/// Each property: in this run, in all of them, promised, expected.
std::string promises(const StoryToTell& told);
/// What was explored, and what it says besides.
std::string all_executions(const ExploredStory& explored, const std::string& version);
std::string repaired_twin(const StoryToTell& told, const picture::Diagram& diagram);
/// Questions with answers that are hidden.
std::string questions(const StoryToTell& told, const picture::Diagram& diagram, const std::vector<StepOfRun>& steps);
std::string commands(const StoryToTell& told);

/// JSON for the script that steps through.
/// `sliders`: JSON of `data_for_sliders`, or empty.
std::string data_for_steps(const picture::Diagram& diagram, const std::vector<StepOfRun>& steps,
                           const std::string& sliders);

}  // namespace lockstep::reports::site
