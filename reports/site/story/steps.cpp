#include "reports/site/story/steps.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "reports/run/lane_state.hpp"
#include "reports/text/local_time.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports::site {
namespace {

KeyContent content_of_state(const scenarios::KeyState& state) {
  return {printable(state.text), state.expires ? time_text(*state.expires) : ""};
}

bool is_not_after(const scenarios::KeyState& state, const Event& event) {
  return std::pair(state.at.offset(), state.step) <= std::pair(event.at.offset(), event.step);
}

}  // namespace

std::vector<StepOfRun> steps_of(const Story& story, const picture::Diagram& diagram) {
  const LaneStates states(story);
  const LocalTimes local(story.outcome);
  const std::vector<scenarios::KeyState>& keys = story.outcome.key_states;
  std::map<std::pair<std::string, std::string>, KeyContent> known;
  std::vector<StepOfRun> steps;
  std::size_t next = 0;
  for (std::size_t i = 0; i < diagram.rows.size(); ++i) {
    const Event& event = diagram.rows[i].event;
    StepOfRun& step = steps.emplace_back();
    step.row = i;
    for (const picture::DiagramLane& lane : diagram.lanes) {
      if (states.holds(lane.process, {event.at, event.step, !event.is_fault})) step.holders.push_back(lane.name);
      if (lane.has_own_time && (event.who == lane.process || (event.arrow && event.arrow->to == lane.process)))
        step.clocks.emplace_back(lane.name, time_text(local.reading(lane.process, event.at)));
    }
    // What rows left out did between the row before and this one is told here.
    std::map<std::pair<std::string, std::string>, KeyChange> changes;
    for (; next < keys.size() && is_not_after(keys[next], event); ++next) {
      const std::pair place(printable(name_of(story.outcome, keys[next].server)), printable(keys[next].key));
      const auto before = known.find(place);
      KeyChange& change =
          changes.try_emplace(place, KeyChange{.server = place.first, .key = place.second}).first->second;
      if (!change.before && !change.after && before != known.end()) change.before = before->second;
      if (keys[next].type.empty()) {
        change.after.reset();
        known.erase(place);
      } else {
        change.after = known[place] = content_of_state(keys[next]);
      }
    }
    for (auto& [place, change] : changes) {
      if (change.before != change.after) step.changes.push_back(std::move(change));
    }
  }
  return steps;
}

}  // namespace lockstep::reports::site
