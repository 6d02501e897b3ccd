#include "cli/commands/load_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/commands/output_files.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {

std::optional<std::vector<scenarios::Scenario>> load_all(Call& call, const std::vector<std::string>& files,
                                                         const models::locks::Catalogue& catalogue, std::ostream& err,
                                                         std::vector<scenarios::Diagnostic>* refused) {
  std::vector<scenarios::Diagnostic> bad;
  auto found = scenarios::find_scenarios(files);
  if (std::holds_alternative<scenarios::Diagnostic>(found)) {
    // One message for each argument that is bad, not only for the first.
    std::vector<std::string> good;
    for (const std::string& file : files) {
      const auto alone = scenarios::find_scenarios(std::span(&file, 1));
      if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&alone))
        bad.push_back(*trouble);
      else
        good.push_back(file);
    }
    if (refused != nullptr) found = scenarios::find_scenarios(good);
  }
  // What was there at the first look may be gone at the second.
  if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&found); trouble != nullptr && bad.empty())
    bad.push_back(*trouble);
  std::vector<scenarios::Scenario> loaded;
  const std::string cannot = fmt::format("{} cannot take; `lockstep run` and `lockstep fuzz` can", call.manual().name);
  if (const auto* paths = std::get_if<std::vector<std::filesystem::path>>(&found)) {
    for (const std::filesystem::path& path : *paths) {
      auto result = scenarios::load(path, catalogue, scenarios::Programs::taken);
      if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&result)) {
        bad.push_back(*trouble);
        call.inputs.push_back(path.string());
      } else {
        loaded.push_back(std::get<scenarios::Scenario>(std::move(result)));
        loaded.back().programs.maker = call.programs;
        call.inputs.push_back(loaded.back().file);
        if (loaded.back().lock.own.entry) call.inputs.push_back(loaded.back().lock.own.path);
        const auto refusal = scenarios::refusal_of_programs(loaded.back(), cannot);
        if (!refusal || call.takes_programs()) continue;
        bad.push_back(*refusal);
        loaded.pop_back();
      }
    }
  }
  for (const scenarios::Diagnostic& trouble : bad) err << trouble.to_string() << '\n';
  const bool goes_on = bad.empty() || (refused != nullptr && !loaded.empty());
  if (!goes_on) return std::nullopt;
  if (const auto trouble = refuse_outputs(call.outputs, call.inputs)) {
    err << "lockstep: " << *trouble << '\n';
    return std::nullopt;
  }
  if (refused != nullptr) *refused = std::move(bad);
  return loaded;
}

void warn_of_scripts(const scenarios::Scenario& scenario, const std::vector<std::string>& mistakes, std::ostream& err) {
  constexpr std::size_t kShown = 8;
  const std::string file = scenarios::one_line(scenario.file);
  for (std::size_t i = 0; i < std::min(mistakes.size(), kShown); ++i)
    err << fmt::format("lockstep: warning: {}: a script stops with an error of its own: {}\n", file, mistakes[i]);
  if (mistakes.size() > kShown)
    err << fmt::format("lockstep: warning: {}: {} more errors of scripts\n", file, mistakes.size() - kShown);
}

}  // namespace lockstep::cli
