// Looks for a random story on which the explorer and concrete runs disagree, in as many as one likes, and prints each with its seed.
//
//   opinion_hunt [STORIES [FIRST]]       1,000 from story 0 if not said otherwise; exit 1 if there was a disagreement, or a violation that no file shows
//   opinion_hunt fuzz [STORIES [FIRST]]  the same with campaigns of `fuzz` of 2,000 runs, as far as the search is complete: what it calls kept, none may break
//   opinion_hunt locks …, opinion_hunt fuzz locks …   the same with random own locks, and with services
//   opinion_hunt story SEED              the story as a file
//   opinion_hunt lock SEED FOLDER        the same of a story of `locks`, and its script as a file in the folder
//   opinion_hunt recall FILE...          how well it looks: what the explorer finds broken is called kept, and the second opinion has to find it again

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/oracles/hunted_lock.hpp"
#include "scenarios/exploring/oracles/hunted_story.hpp"
#include "scenarios/exploring/oracles/second_opinion.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/fuzzing/fuzzed_opinion.hpp"

namespace {

using namespace lockstep;
using checker::Verdict;
using scenarios::Exploration;
using scenarios::Scenario;

const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue built_in = models::locks::Catalogue::built_in();
  return built_in;
}

scenarios::CheckOptions bounds() {
  scenarios::CheckOptions options;
  options.exploration.max_traces = 1'000;
  options.exploration.max_events = 60'000;
  return options;
}

using MakeStory = Scenario (*)(std::uint64_t seed);

Scenario story_with_lock(std::uint64_t seed) {
  const auto folder = std::filesystem::temp_directory_path() / ("lockstep-hunt-" + std::to_string(::getpid()));
  Scenario story = scenarios::hunted_lock_story(seed, catalogue(), folder);
  std::filesystem::remove_all(folder);
  return story;
}

int hunt(MakeStory make_story, std::uint64_t stories, std::uint64_t first) {
  std::map<std::string, std::uint64_t> refused;
  std::uint64_t explored = 0;
  std::uint64_t complete = 0;
  std::uint64_t found = 0;
  std::uint64_t not_shown = 0;
  for (std::uint64_t seed = first; seed < first + stories; ++seed) {
    const Scenario story = make_story(seed);
    const auto result = scenarios::check(story, catalogue(), bounds());
    if (const auto* problem = std::get_if<scenarios::Diagnostic>(&result)) {
      ++refused[problem->message.substr(0, 60)];
      continue;
    }
    const Exploration& exploration = std::get<Exploration>(result);
    ++explored;
    complete += exploration.counts.complete ? 1 : 0;
    found += exploration.disagreements > 0 ? 1 : 0;
    for (const scenarios::ExploredProperty& property : exploration.properties) {
      const bool is_odd = property.why.find("error of lockstep") != std::string::npos ||
                          property.why.find("as a file") != std::string::npos;
      const bool is_perhaps = property.why.find("an error of lockstep or none") != std::string::npos;
      not_shown += is_odd && !is_perhaps ? 1 : 0;
      if (exploration.disagreements > 0 || is_odd) {
        const bool is_it = property.why.find("disagreement") != std::string::npos || is_odd;
        if (is_it) fmt::print("{} {} {}: {}\n", seed, story.lock.algorithm, property.name, property.why);
        if (is_odd && stories == 1) fmt::print("{}\n", property.unconfirmed);
      }
    }
    std::fflush(stdout);
  }
  for (const auto& [why, times] : refused) fmt::print("{} refused: {}\n", times, why);
  fmt::print("stories {} to {}: {} explored, {} of them completely, {} with a disagreement, {} violations not shown\n",
             first, first + stories - 1, explored, complete, found, not_shown);
  return found + not_shown > 0 ? 1 : 0;
}

/// How much of what the search breaks is broken by runs, by property.
using Recalled = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;

void tell(const Recalled& of_property) {
  for (const auto& [name, counts] : of_property) fmt::print("{}: {} of {}\n", name, counts.first, counts.second);
}

int hunt_by_fuzzing(MakeStory make_story, std::uint64_t stories, std::uint64_t first) {
  constexpr std::uint64_t kRuns = 2'000;
  Recalled of_property;
  std::uint64_t complete = 0;
  std::uint64_t runs = 0;
  std::uint64_t disagreements = 0;
  for (std::uint64_t seed = first; seed < first + stories; ++seed) {
    const Scenario story = make_story(seed);
    const auto result = scenarios::check(story, catalogue(), bounds());
    const auto* exploration = std::get_if<Exploration>(&result);
    if (exploration == nullptr || !exploration->counts.complete) continue;
    ++complete;
    const scenarios::FuzzedOpinion opinion = scenarios::fuzzed_opinion(story, catalogue(), *exploration, kRuns);
    runs += opinion.runs;
    for (const std::string& property : opinion.broken_too) {
      ++of_property[property].first;
      ++of_property[property].second;
    }
    for (const std::string& property : opinion.not_broken) ++of_property[property].second;
    for (const auto& disagreement : opinion.disagreements) {
      ++disagreements;
      fmt::print("{} {} {}: kept, and broken by run {}: {}\n", seed, story.lock.algorithm, disagreement.property,
                 disagreement.run, disagreement.why);
      if (stories == 1) fmt::print("{}\n", disagreement.file);
    }
    std::fflush(stdout);
  }
  fmt::print("stories {} to {}: {} explored completely, {} runs; {} times what is kept was broken\n", first,
             first + stories - 1, complete, runs, disagreements);
  fmt::print("what the search calls violated, and runs broke, too:\n");
  tell(of_property);
  return disagreements > 0 ? 1 : 0;
}

int recall(int count, char** files) {
  Recalled of_property;
  for (int i = 0; i < count; ++i) {
    const auto loaded = scenarios::load(files[i], catalogue());
    const auto* story = std::get_if<Scenario>(&loaded);
    if (story == nullptr || !scenarios::can_be_explored(*story, catalogue())) continue;
    scenarios::CheckOptions options = bounds();
    options.second_opinion = false;
    auto result = scenarios::check(*story, catalogue(), options);
    auto* exploration = std::get_if<Exploration>(&result);
    if (exploration == nullptr) continue;
    Exploration pretended = *exploration;
    for (scenarios::ExploredProperty& property : pretended.properties) {
      if (property.verdict != Verdict::violated) continue;
      property.verdict = Verdict::holds;
      property.thresholds.clear();
      property.witness.reset();
    }
    scenarios::second_opinion(*story, catalogue(), {}, pretended);
    for (std::size_t p = 0; p < pretended.properties.size(); ++p) {
      if (exploration->properties[p].verdict != Verdict::violated) continue;
      const scenarios::ExploredProperty& again = pretended.properties[p];
      auto& [found, all] = of_property[std::string(again.name)];
      ++all;
      if (again.verdict == Verdict::violated) {
        ++found;
        continue;
      }
      fmt::print("{} {}: {}\n", story->id, again.name, again.verdict == Verdict::unknown ? again.why : "not found");
      if (again.verdict == Verdict::unknown) fmt::print("{}\n", again.unconfirmed);
    }
  }
  tell(of_property);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "recall") return recall(argc - 2, argv + 2);
  if (argc > 2 && std::string(argv[1]) == "story") {
    fmt::print("{}", scenarios::to_toml(scenarios::hunted_story(std::strtoull(argv[2], nullptr, 10))));
    return 0;
  }
  if (argc > 3 && std::string(argv[1]) == "lock") {
    const std::filesystem::path folder = argv[3];
    const Scenario story = scenarios::hunted_lock_story(std::strtoull(argv[2], nullptr, 10), catalogue(), folder);
    fmt::print("{}", scenarios::to_toml(story, folder));
    return 0;
  }
  int at = 1;
  const bool fuzzes = argc > at && std::string(argv[at]) == "fuzz" && ++at;
  const bool has_locks = argc > at && std::string(argv[at]) == "locks" && ++at;
  const MakeStory make_story = has_locks ? story_with_lock : scenarios::hunted_story;
  const std::uint64_t stories = argc > at ? std::strtoull(argv[at], nullptr, 10) : 1000;
  const std::uint64_t first = argc > at + 1 ? std::strtoull(argv[at + 1], nullptr, 10) : 0;
  return fuzzes ? hunt_by_fuzzing(make_story, stories, first) : hunt(make_story, stories, first);
}
