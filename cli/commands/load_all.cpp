#include "cli/commands/load_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "cli/commands/output_files.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {

std::optional<std::vector<scenarios::Scenario>> load_all(Call& call, const std::vector<std::string>& files,
                                                         const models::locks::Catalogue& catalogue, std::ostream& err) {
  const auto found = scenarios::find_scenarios(files);
  if (std::holds_alternative<scenarios::Diagnostic>(found)) {
    // One message for each argument that is bad, not only for the first.
    for (const std::string& file : files) {
      const auto alone = scenarios::find_scenarios(std::span(&file, 1));
      if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&alone)) err << trouble->to_string() << '\n';
    }
    return std::nullopt;
  }
  std::vector<scenarios::Scenario> loaded;
  bool is_good = true;
  for (const std::filesystem::path& path : std::get<std::vector<std::filesystem::path>>(found)) {
    auto result = scenarios::load(path, catalogue);
    if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&result)) {
      err << trouble->to_string() << '\n';
      is_good = false;
    } else {
      loaded.push_back(std::get<scenarios::Scenario>(std::move(result)));
      call.inputs.push_back(loaded.back().file);
      if (loaded.back().lock.own.entry) call.inputs.push_back(loaded.back().lock.own.path);
    }
  }
  if (!is_good) return std::nullopt;
  if (const auto trouble = refuse_outputs(call.outputs, call.inputs)) {
    err << "lockstep: " << *trouble << '\n';
    return std::nullopt;
  }
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
