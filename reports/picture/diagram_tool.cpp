// diagram STORY.toml [zh]: the story's space-time diagram as an SVG file on standard output. docs/diagram.svg is made so.

#include <iostream>
#include <string_view>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "reports/picture/drawing.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"

int main(int argc, char** argv) {
  using namespace lockstep;
  if (argc < 2) {
    std::cerr << "usage: diagram STORY.toml [zh]\n";
    return 2;
  }
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  auto loaded = scenarios::load(argv[1], catalogue);
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&loaded)) {
    std::cerr << problem->to_string() << "\n";
    return 2;
  }
  reports::Story story{std::move(std::get<scenarios::Scenario>(loaded)), {}};
  auto outcome = scenarios::run(story.scenario, catalogue, {.trace = true, .key_states = true});
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&outcome)) {
    std::cerr << problem->to_string() << "\n";
    return 2;
  }
  story.outcome = std::move(std::get<scenarios::Outcome>(outcome));
  const auto language = argc > 2 && std::string_view(argv[2]) == "zh" ? reports::Language::zh : reports::Language::en;
  const scenarios::Text& title = story.scenario.title;
  std::cout << reports::picture::file_svg(reports::picture::diagram_of(story),
                                          {.title_en = title.en, .title_zh = title.zh}, language);
}
