// Of what a campaign is: the stories of files, and locks for which worlds are made up.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/fuzzing/campaign.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

void add_name(std::vector<std::string>& names, std::string_view name) {
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() || *at != name) names.emplace(at, name);
}

}  // namespace

FuzzTarget target_of(const Scenario& file, const models::locks::Catalogue& catalogue) {
  FuzzTarget target{.story = file, .is_made_up = false, .properties = {}};
  for (const std::string_view claim : find_entry(file.lock, catalogue)->claims) add_name(target.properties, claim);
  for (const auto* expectations : {&file.expect_run, &file.expect_check}) {
    for (const Expectation& expectation : *expectations) add_name(target.properties, expectation.property);
  }
  return target;
}

FuzzTarget target_of(const models::locks::Entry& entry) {
  FuzzTarget target{.story = {}, .is_made_up = true, .properties = {}};
  target.story.lock.algorithm = entry.id;
  target.story.lock.own = own_lock_of(entry);
  target.story.id = entry.id;
  target.story.file = entry.id;
  for (const std::string_view claim : entry.claims) add_name(target.properties, claim);
  return target;
}

}  // namespace lockstep::scenarios
