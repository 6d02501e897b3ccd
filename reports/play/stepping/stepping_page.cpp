#include "reports/play/stepping/stepping_page.hpp"

#include <algorithm>

#include "reports/picture/diagram.hpp"
#include "reports/play/rendered.hpp"
#include "reports/play/stepping/step_words.hpp"
#include "reports/site/story/steps.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::reports::play {
namespace {

using scenarios::Diagnostic;
using scenarios::NextStep;
using scenarios::Scenario;
using scenarios::SteppedRun;
using scenarios::StepsHere;

Diagnostic no_run(const std::filesystem::path& file, const std::string& why) {
  return {.file = file.string(), .message = "no run could be made of what was chosen: " + why};
}

/// What it is called with what comes of it; or without, where it cannot be played.
scenarios::Text what_of(NextStep& step, const Story& here, const models::locks::Catalogue& catalogue,
                        std::uint64_t events_max) {
  if (auto* stepped = std::get_if<SteppedRun>(&step.run)) {
    auto outcome =
        scenarios::run(stepped->scenario, catalogue, {.trace = true, .key_states = true, .max_events = events_max});
    if (auto* happened = std::get_if<scenarios::Outcome>(&outcome)) {
      const Story there{stepped->scenario, std::move(*happened)};
      const picture::Diagram diagram = picture::diagram_of(there);
      return step_words(step, there, &diagram);
    }
  }
  return step_words(step, here, nullptr);
}

}  // namespace

std::size_t KeptPlaces::keep(std::string_view text, scenarios::StepPlace place) {
  const std::lock_guard lock(mutex_);
  const bool is_same = !places_.empty() && *places_.back().first == text;
  places_.emplace_back(is_same ? places_.back().first : std::make_shared<const std::string>(text), std::move(place));
  if (places_.size() > kMost) {
    places_.erase(places_.begin(), places_.begin() + kMost / 2);
    gone_ += kMost / 2;
  }
  return gone_ + places_.size();
}

std::optional<scenarios::StepPlace> KeptPlaces::find(std::string_view text, std::size_t number) const {
  if (number == 0) return scenarios::StepPlace();
  const std::lock_guard lock(mutex_);
  if (number <= gone_ || number > gone_ + places_.size()) return std::nullopt;
  const auto& [of, place] = places_[number - gone_ - 1];
  if (*of != text) return std::nullopt;
  return place;
}

std::variant<SteppingPage, Diagnostic> stepping_page(std::string_view text, const std::filesystem::path& file,
                                                     const models::locks::Catalogue& catalogue,
                                                     const scenarios::StepPlace& place, std::uint64_t events_max) {
  auto loaded = scenarios::parse(text, file.string(), catalogue);
  if (auto* problem = std::get_if<Diagnostic>(&loaded)) return std::move(*problem);
  const Scenario& scenario = std::get<Scenario>(loaded);
  auto found = scenarios::steps_at(scenario, catalogue, place);
  if (auto* problem = std::get_if<Diagnostic>(&found)) return std::move(*problem);
  StepsHere& here = std::get<StepsHere>(found);
  if (const auto* why = std::get_if<std::string>(&here.run)) return no_run(file, *why);
  const SteppedRun& stepped = std::get<SteppedRun>(here.run);

  SteppingPage page;
  page.text = scenarios::to_toml(stepped.scenario, file.parent_path());
  const auto ran = run_of(page.text, file, catalogue, events_max);
  if (const auto* problem = std::get_if<Diagnostic>(&ran)) return no_run(file, problem->message);
  const Story& story = std::get<Story>(ran);
  page.page = rendered(story, file, nullptr);
  page.is_all = here.is_all;
  page.is_over = here.is_over;
  page.events = here.place.events;
  page.at = sim::to_string(stepped.at);
  page.leaves_out = !scenario.faults.empty() || !scenario.pin.empty() || !scenario.schedule.empty();
  const picture::Diagram diagram = picture::diagram_of(story);
  page.rows = static_cast<std::size_t>(std::count_if(
      diagram.rows.begin(), diagram.rows.end(),
      [&](const picture::DiagramRow& row) { return page.events > 0 && row.event.at.offset() <= stepped.at; }));
  if (page.rows > 0) {
    page.holders = site::steps_of(story, diagram)[page.rows - 1].holders;
    page.is_overlap = !diagram.rows[page.rows - 1].overlap.empty();
  }
  // What sounds alike differs in what nobody sees yet: which of it happens may stay open.
  std::vector<NextStep> steps;
  for (NextStep& step : here.next) {
    scenarios::Text what = what_of(step, story, catalogue, events_max);
    const auto known = std::find_if(page.options.begin(), page.options.end(),
                                    [&](const SteppingPage::Option& option) { return option.what.en == what.en; });
    if (known == page.options.end()) {
      page.options.push_back({.place = {}, .what = std::move(what), .when = {}});
      steps.push_back(std::move(step));
    } else {
      scenarios::join(steps[static_cast<std::size_t>(known - page.options.begin())], step);
    }
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    page.options[i].when = step_times(steps[i]);
    page.options[i].place = std::move(steps[i].place);
  }
  return page;
}

}  // namespace lockstep::reports::play
