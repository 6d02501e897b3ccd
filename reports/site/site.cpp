#include "reports/site/site.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/site/index_page.hpp"
#include "reports/site/story/story_page.hpp"
#include "reports/text/text.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::reports::site {
namespace {

using picture::escaped_markup;

const Link kHome{"index.html", {"Overview", "总览"}};

/// "x-fixed" beside "x" is the same story, repaired.
constexpr std::string_view kFixed = "-fixed";

class Builder {
 public:
  Builder(const SiteInput& input, const models::locks::Catalogue& catalogue) : input_(input), catalogue_(catalogue) {
    for (const ToldStory& told : input.stories) by_source_.emplace(told.source, &told);
  }

  Page page_of(const ToldStory& told) const {
    StoryToTell to_tell{.path = told.path, .story = &told.story, .version = input_.version};
    to_tell.above = {kHome};
    to_tell.source = told.source;
    if (told.explored) to_tell.explored = &*told.explored;
    to_tell.not_explored = told.not_explored;
    to_tell.margins = &told.margins;
    if (told.no_return) to_tell.no_return = &*told.no_return;
    if (catalogue_.find(told.story.scenario.lock.algorithm) != nullptr)
      to_tell.algorithm_page = fmt::format("algorithms/{}.html", told.story.scenario.lock.algorithm);
    if (const ToldStory* broken = broken_twin_of(told)) to_tell.broken_twin = Link{broken->path, title_of(*broken)};
    const std::optional<RepairedTwin> repaired = repaired_twin_of(told, catalogue_, fixed_twin_of(told));
    if (repaired) to_tell.repaired = &*repaired;
    return story_page(to_tell);
  }

  static Text title_of(const ToldStory& told) { return told.story.scenario.title; }

  static std::optional<RepairedTwin> repaired_twin_of(const ToldStory& told, const models::locks::Catalogue& catalogue,
                                                      const ToldStory* fixed) {
    if (fixed != nullptr) return RepairedTwin{fixed->story, Link{fixed->path, title_of(*fixed)}};
    const auto is_broken = [](const scenarios::Judgement& j) {
      return j.finding.verdict == checker::Verdict::violated;
    };
    const auto& properties = told.story.outcome.properties;
    const models::locks::Entry* entry = catalogue.find(told.story.scenario.lock.algorithm);
    if (entry == nullptr || entry->repaired_by.empty()) return std::nullopt;
    if (std::none_of(properties.begin(), properties.end(), is_broken)) return std::nullopt;
    const models::locks::Entry* better = catalogue.find(entry->repaired_by);
    if (better == nullptr) return std::nullopt;
    auto other = scenarios::with_algorithm(told.story.scenario, *better, catalogue);
    auto* scenario = std::get_if<scenarios::Scenario>(&other);
    if (scenario == nullptr) return std::nullopt;
    auto story = run_for_page(*scenario, catalogue);
    // What the other lock does may not fit the order that the file pins.
    if (std::holds_alternative<scenarios::Diagnostic>(story)) return std::nullopt;
    return RepairedTwin{std::get<Story>(std::move(story)), std::nullopt};
  }

 private:
  const ToldStory* at(const std::string& source) const {
    const auto found = by_source_.find(source);
    return found == by_source_.end() ? nullptr : found->second;
  }
  static std::string stem_of(const ToldStory& told) { return told.source.substr(0, told.source.rfind('.')); }
  const ToldStory* fixed_twin_of(const ToldStory& told) const {
    return at(fmt::format("{}{}.toml", stem_of(told), kFixed));
  }
  const ToldStory* broken_twin_of(const ToldStory& told) const {
    const std::string stem = stem_of(told);
    return stem.ends_with(kFixed) ? at(stem.substr(0, stem.size() - kFixed.size()) + ".toml") : nullptr;
  }

  const SiteInput& input_;
  const models::locks::Catalogue& catalogue_;
  std::map<std::string, const ToldStory*> by_source_;
};

}  // namespace

std::vector<std::string> paths_of(const std::vector<std::string>& sources) {
  const auto name_in = [](const std::string& source) {
    return anchor_of(std::filesystem::path(source).stem().string());
  };
  std::map<std::string, std::size_t> count;
  for (const std::string& source : sources) ++count[name_in(source)];
  std::set<std::string> taken;
  std::vector<std::string> paths;
  for (const std::string& source : sources) {
    std::string name = name_in(source);
    if (count[name] > 1) name = anchor_of(std::filesystem::path(source).parent_path().filename().string()) + "-" + name;
    std::string path = name;
    for (std::size_t i = 2; !taken.insert(path).second; ++i) path = fmt::format("{}-{}", name, i);
    paths.push_back(fmt::format("stories/{}.html", path));
  }
  return paths;
}

std::variant<Story, scenarios::Diagnostic> run_for_page(const scenarios::Scenario& scenario,
                                                        const models::locks::Catalogue& catalogue) {
  const auto run = scenarios::first_program(scenario) != nullptr ? scenarios::run_twice : scenarios::run;
  auto outcome = run(scenario, catalogue, {.trace = true, .key_states = true});
  if (auto* problem = std::get_if<scenarios::Diagnostic>(&outcome)) return std::move(*problem);
  return Story{scenario, std::get<scenarios::Outcome>(std::move(outcome))};
}

Findings findings_of(const SiteInput& input, const models::locks::Catalogue& catalogue) {
  Findings findings;
  findings.catalogue = &catalogue;
  for (const ToldStory& told : input.stories)
    findings.stories.push_back({told.source, told.path, &told.story, told.explored ? &*told.explored : nullptr});
  findings.matrix = &input.matrix;
  findings.matrix_bounds = input.matrix_bounds;
  findings.costs = input.measured.costs;
  findings.how_compared = input.measured.how_compared;
  findings.markets = input.measured.markets;
  findings.how_traded = input.measured.how_traded;
  findings.graphs = input.measured.graphs;
  return findings;
}

std::vector<SiteFile> site_of(const SiteInput& input, const models::locks::Catalogue& catalogue,
                              const ForEach& for_each) {
  const Builder builder(input, catalogue);
  std::vector<SiteFile> files(input.stories.size());
  for_each(files.size(), [&](std::size_t i) {
    const Page page = builder.page_of(input.stories[i]);
    files[i] = {page.path, html_of(page)};
  });
  const Findings findings = findings_of(input, catalogue);
  for (const Page& page : pages_about_locks(findings, for_each)) files.push_back({page.path, html_of(page)});
  std::sort(files.begin(), files.end(), [](const SiteFile& a, const SiteFile& b) { return a.path < b.path; });
  return files;
}

std::string single_page(const ToldStory& told, const models::locks::Catalogue& catalogue, const std::string& version) {
  StoryToTell to_tell{.path = "story.html", .story = &told.story, .version = version};
  to_tell.is_single = true;
  to_tell.source = told.source;
  if (told.explored) to_tell.explored = &*told.explored;
  to_tell.not_explored = told.not_explored;
  to_tell.margins = &told.margins;
  if (told.no_return) to_tell.no_return = &*told.no_return;
  const std::optional<RepairedTwin> repaired = Builder::repaired_twin_of(told, catalogue, nullptr);
  if (repaired) to_tell.repaired = &*repaired;
  return html_of(story_page(to_tell));
}

}  // namespace lockstep::reports::site
