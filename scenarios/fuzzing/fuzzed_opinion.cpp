#include "scenarios/fuzzing/fuzzed_opinion.hpp"

#include <algorithm>

#include "scenarios/fuzzing/campaign.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;

std::vector<std::string> names_with(const Exploration& exploration, Verdict verdict) {
  std::vector<std::string> names;
  for (const ExploredProperty& property : exploration.properties) {
    if (property.verdict == verdict) names.emplace_back(property.name);
  }
  return names;
}

/// The same runs again, and what they break is made small: few stories need it.
FuzzedOpinion::Disagreement told(const FuzzTarget& target, const models::locks::Catalogue& catalogue,
                                 FuzzOptions options, const std::string& property, std::uint64_t run) {
  options.shrinks = true;
  Campaign campaign({target}, catalogue, options);
  FuzzedOpinion::Disagreement disagreement{.property = property, .run = run, .why = {}, .file = {}};
  const auto is_it = [&](const auto& found) { return found.property == property; };
  while (disagreement.why.empty() && campaign.step()) {
    const CampaignState& state = campaign.state();
    const auto finding = std::find_if(state.findings.begin(), state.findings.end(), is_it);
    const auto mystery = std::find_if(state.mysteries.begin(), state.mysteries.end(), is_it);
    if (finding != state.findings.end()) {
      disagreement.why = finding->why;
      disagreement.file = finding->text;
    } else if (mystery != state.mysteries.end()) {
      disagreement.why = "as a file it does not: " + mystery->reason;
      disagreement.file = mystery->text;
    }
  }
  return disagreement;
}

}  // namespace

FuzzedOpinion fuzzed_opinion(const Scenario& story, const models::locks::Catalogue& catalogue,
                             const Exploration& exploration, std::uint64_t runs) {
  const std::vector<std::string> kept = names_with(exploration, Verdict::holds);
  const std::vector<std::string> violated = names_with(exploration, Verdict::violated);
  FuzzTarget target{.story = story, .is_made_up = false, .properties = kept};
  target.properties.insert(target.properties.end(), violated.begin(), violated.end());
  std::sort(target.properties.begin(), target.properties.end());
  FuzzedOpinion opinion;
  if (target.properties.empty()) return opinion;
  const FuzzOptions options{.max_runs = runs, .as_written = true, .shrinks = false};
  Campaign campaign({target}, catalogue, options);
  while (campaign.step()) {
  }
  opinion.runs = campaign.state().statistics.runs;
  for (const std::string& property : kept) {
    if (const auto run = campaign.first_violation(0, property))
      opinion.disagreements.push_back(told(target, catalogue, options, property, *run));
  }
  for (const std::string& property : violated) {
    (campaign.first_violation(0, property) ? opinion.broken_too : opinion.not_broken).push_back(property);
  }
  return opinion;
}

}  // namespace lockstep::scenarios
