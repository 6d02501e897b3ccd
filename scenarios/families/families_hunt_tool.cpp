// Families of stories: how many pieces, how many of them confirmed by runs, and what they say of margins beside what check says.
//
//   families_hunt FILE|DIR...

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "scenarios/checking/check.hpp"
#include "scenarios/families/closest_witness.hpp"
#include "scenarios/families/families.hpp"
#include "scenarios/families/family_story.hpp"
#include "scenarios/families/no_return.hpp"
#include "scenarios/format/loader.hpp"

using namespace lockstep;

int main(int argc, char** argv) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  for (int i = 1; i < argc; ++i) {
    const auto loaded = scenarios::load(argv[i], catalogue);
    if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&loaded)) {
      fmt::print("{}\n", trouble->to_string());
      continue;
    }
    const auto& story = std::get<scenarios::Scenario>(loaded);
    scenarios::CheckOptions how;
    how.second_opinion = false;
    how.exploration.max_events = 3'000'000;
    const auto checked = scenarios::check(story, catalogue, how);
    const auto* exploration = std::get_if<scenarios::Exploration>(&checked);
    const scenarios::StoryFamilies all = scenarios::families_of(story, catalogue, exploration);
    for (const scenarios::Family& family : all.families) {
      std::size_t confirmed = 0;
      int shown_left = 5;
      for (const scenarios::FamilyPiece& piece : family.pieces) confirmed += piece.is_confirmed ? 1 : 0;
      fmt::print("{} {} {}: {} pieces, {} confirmed{}\n", story.id, family.property.empty() ? "run" : family.property,
                 scenarios::name_of(family.parameter), family.pieces.size(), confirmed,
                 family.is_complete ? "" : ", stopped: " + family.stopped);
      for (const scenarios::FamilyPiece& piece : family.pieces)
        if (!piece.is_confirmed && --shown_left > 0)
          fmt::print("    not confirmed: {} to {} {}\n", sim::to_string(piece.from), sim::to_string(piece.to),
                     piece.impossible);
      for (const scenarios::FamilyMargin& margin : family.margins)
        fmt::print("    {} {} {}{}\n", margin.property, margin.is_upward ? "from" : "down from",
                   sim::to_string(margin.broken_from),
                   margin.kept_up_to ? ", kept up to " + sim::to_string(*margin.kept_up_to) : "");
    }
    for (const scenarios::FamilyPlane& plane : all.planes) {
      std::size_t confirmed = 0;
      for (const scenarios::FamilyRegion& region : plane.regions) confirmed += region.is_confirmed ? 1 : 0;
      fmt::print("{} {} {} x {}: {} regions, {} confirmed{}\n", story.id,
                 plane.property.empty() ? "run" : plane.property, scenarios::name_of(plane.x),
                 scenarios::name_of(plane.y), plane.regions.size(), confirmed,
                 plane.is_complete ? "" : ", stopped: " + plane.stopped);
    }
    for (const auto& property :
         exploration == nullptr ? std::vector<scenarios::ExploredProperty>{} : exploration->properties) {
      if (property.verdict != checker::Verdict::violated) continue;
      const auto point = scenarios::no_return(story, catalogue, property.name);
      if (!point) continue;
      using Answer = scenarios::NoReturn::Answer;
      fmt::print("{} no return {}: {}{} step {} of {} at {} ({} {} {}), broken at {}, {} traces {}\n", story.id,
                 property.name,
                 point->answer == Answer::beginning  ? "BEGINNING"
                 : point->answer == Answer::at_event ? "EVENT"
                 : point->answer == Answer::at_end   ? "END"
                                                     : "UNKNOWN",
                 point->is_exact ? "" : " (inexact)", point->step, point->events.size(),
                 sim::to_string(point->events[point->step].at), point->events[point->step].process.index,
                 static_cast<int>(point->events[point->step].kind), point->events[point->step].name,
                 sim::to_string(point->violated_at), point->traces, point->why);
    }
    if (exploration == nullptr) continue;
    for (const auto& property : exploration->properties) {
      for (const auto& t : property.thresholds) {
        const auto is_it = [&](const scenarios::Family& f) {
          return f.property == property.name && kind_of(f.parameter) == t.parameter;
        };
        const auto agrees = [&](const scenarios::Family& f) {
          return is_it(f) && scenarios::agrees(f, property.name, t);
        };
        const bool has = std::any_of(all.families.begin(), all.families.end(), is_it);
        const bool same = std::any_of(all.families.begin(), all.families.end(), agrees);
        fmt::print("    {}\n", !has ? "no family of it" : same ? "AGREES" : "DIFFERS");
        fmt::print("    check: {} {} {}{}\n", property.name, t.parameter, sim::to_string(t.infimum.value),
                   t.infimum.attained ? " attained" : "");
      }
    }
  }
}
