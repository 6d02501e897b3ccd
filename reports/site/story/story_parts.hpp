#pragma once

// What a story's page says, as values of its template: reports/site/story/story.mustache.

#include <optional>
#include <string>
#include <vector>

#include "reports/json/json.hpp"
#include "reports/site/findings/told_story.hpp"
#include "reports/site/frame/template.hpp"
#include "reports/site/story/code_part.hpp"
#include "reports/site/story/steps.hpp"

namespace lockstep::reports::site {

/// What `check` says, before anything that one run shows; and a run that breaks it, if the story's own does not.
void add_answer(const ExploredStory& explored, Values& page);
/// What broke, why, and the steps that prove it; what held; what the diagram leaves out.
void add_verdicts(const Story& story, const picture::Diagram& diagram, Values& page);
/// One row for each step, with a place of its own: "s1".
void add_steps(const picture::Diagram& diagram, const std::vector<StepOfRun>& steps, const CodeOfRun& code,
               Values& page);
/// Of the run that `check` found: from which event on the violation could not be avoided any more; nothing: it
/// is not known.
std::optional<Values> point_of_no_return(const scenarios::NoReturn& point, const Story& story);
/// Each property: in this run, in all of them, promised.
std::vector<Values> promises(const StoryToTell& told);
/// What was explored, and what it says besides.
Values all_executions(const ExploredStory& explored, const std::string& version);
Values repaired_twin(const StoryToTell& told, const picture::Diagram& diagram);
/// Questions with answers that are hidden.
std::vector<Values> questions(const StoryToTell& told, const picture::Diagram& diagram,
                              const std::vector<StepOfRun>& steps);

/// JSON for the script that steps through.
/// `sliders`: those of `data_for_sliders`, or null.
std::string data_for_steps(const picture::Diagram& diagram, const std::vector<StepOfRun>& steps, const Json& sliders);

}  // namespace lockstep::reports::site
