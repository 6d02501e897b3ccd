#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "library/asked.hpp"
#include "library/lockstep.hpp"
#include "reports/text/output_file.hpp"
#include "scenarios/fuzzing/campaign.hpp"

namespace lockstep {
namespace {

scenarios::FuzzTarget target_of(const FuzzRequest& request) {
  if (request.story.is_none() && request.algorithm.empty())
    throw Error("there is nothing to fuzz: set .story, or .algorithm for worlds that are made up, or both");
  scenarios::FuzzTarget target =
      request.story.is_none()
          ? scenarios::target_of(entry_of(request.catalogue, request.algorithm))
          : scenarios::target_of(story_of(request.story, request.algorithm, request.catalogue), request.catalogue);
  if (!request.properties.empty()) {
    for (const std::string& property : request.properties) must_be_property(property);
    target.properties = request.properties;
    std::sort(target.properties.begin(), target.properties.end());
    target.properties.erase(std::unique(target.properties.begin(), target.properties.end()), target.properties.end());
  }
  if (target.properties.empty()) {
    throw Error(fmt::format("{} claims nothing that could be broken: set .properties, or the claims of its entry",
                            target.story.lock.algorithm));
  }
  return target;
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string head(const FuzzFinding& finding) {
  const std::string_view how = !finding.is_confirmed ? "a run broke it; the file that was to say how does not"
                               : finding.is_minimal  ? "without any one of its faults or clients it passes"
                                                     : "it may not be the smallest";
  return fmt::format("✗ {}\n  {} of {}: {}\n  {}\n", finding.title, finding.property, finding.algorithm, finding.why,
                     how);
}

}  // namespace

FuzzResult fuzz(const FuzzRequest& request) {
  if (request.runs == 0 && !(request.seconds > 0)) throw Error("a campaign needs a bound: set .runs or .seconds");
  scenarios::FuzzTarget target = target_of(request);
  FuzzResult result;
  result.seed = request.seed;
  result.properties = target.properties;

  scenarios::FuzzOptions options;
  options.seed = request.seed;
  options.max_runs = request.runs;
  options.max_seconds = std::max(request.seconds, 0.0);
  options.stopwatch = seconds_now;
  options.jobs = request.jobs;
  options.as_written = request.as_written;
  scenarios::Campaign campaign({std::move(target)}, request.catalogue, std::move(options));
  while (campaign.step()) continue;

  const scenarios::CampaignState& state = campaign.state();
  const std::string& algorithm = campaign.targets().front().story.lock.algorithm;
  result.runs = state.statistics.runs;
  result.not_judged = state.statistics.not_judged;
  result.open = scenarios::what_is_open(state);
  result.events = state.statistics.events;
  result.virtual_time = state.statistics.virtual_time;
  for (const scenarios::FuzzFinding& found : state.findings) {
    result.findings.push_back({.name = found.name,
                               .property = found.property,
                               .algorithm = found.algorithm,
                               .title = found.title,
                               .why = found.why,
                               .story = found.text,
                               .faults = found.faults,
                               .run = found.run,
                               .is_minimal = found.is_minimal});
  }
  for (const scenarios::FuzzMystery& mystery : state.mysteries) {
    result.findings.push_back({.name = fmt::format("unconfirmed-{}", result.findings.size() + 1),
                               .property = mystery.property,
                               .algorithm = algorithm,
                               .title = "A run that could not be told as a story",
                               .why = mystery.reason,
                               .story = mystery.text,
                               .is_confirmed = false});
  }
  if (result.runs == scenarios::count_not_judged(state.statistics) && result.findings.empty()) {
    throw Error(result.runs == 0 ? "no run was played: the bound of seconds is too short"
                                 : fmt::format("nothing was judged: {}", fmt::join(result.open, "; ")));
  }
  return result;
}

std::string FuzzResult::text() const {
  std::string text =
      fmt::format("lockstep fuzz: {} runs, {} events, seed {}; judged: {}\n", runs, events, seed, joined(properties));
  if (findings.empty() && !open.empty())
    return text + fmt::format("nothing was found, and not all was judged: {}\n", fmt::join(open, "; "));
  if (findings.empty())
    return text + "nothing was found, which proves nothing: lockstep::check does, within its bounds\n";
  for (const FuzzFinding& finding : findings) text += head(finding);
  const auto shortest = std::min_element(findings.begin(), findings.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.is_confirmed, a.story.size()) < std::pair(!b.is_confirmed, b.story.size());
  });
  return text + fmt::format("\n{}.toml, for lockstep run:\n\n{}", shortest->name, shortest->story);
}

void FuzzResult::save(const std::filesystem::path& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("{}: cannot write there: {}", folder.string(), error.message()));
  for (const FuzzFinding& finding : findings) {
    const std::string file = (folder / (finding.name + ".toml")).string();
    if (const auto trouble = reports::write_whole(file, finding.story))
      throw Error(fmt::format("{}: cannot be written: {}", file, *trouble));
  }
}

std::ostream& operator<<(std::ostream& out, const FuzzFinding& finding) {
  return out << head(finding) << fmt::format("\n{}.toml, for lockstep run:\n\n{}", finding.name, finding.story);
}

std::ostream& operator<<(std::ostream& out, const FuzzResult& result) { return out << result.text(); }

}  // namespace lockstep
