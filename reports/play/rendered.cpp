#include "reports/play/rendered.hpp"

#include <utility>

#include <fmt/format.h>

#include "checker/linearizability/linearizability.hpp"
#include "reports/picture/shape.hpp"
#include "reports/site/story/story_page.hpp"
#include "reports/text/embedded_text.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::reports::play {
namespace {

using picture::escaped_markup;
using scenarios::Diagnostic;
using scenarios::Scenario;

/// Lines stay lines, as nowhere else in a page.
std::string within_textarea(std::string_view text) {
  std::string out = "\n";  // the first one is not part of it
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '\0':
      case '\r': break;
      default: out += c;
    }
  }
  return out;
}

std::string algorithm_options(const models::locks::Catalogue& catalogue) {
  std::string options;
  for (const models::locks::Entry& entry : catalogue.entries())
    options += fmt::format("<option value=\"{0}\">{0}</option>\n", escaped_markup(entry.id));
  return options;
}

std::string model_options() {
  std::string options;
  for (const checker::Model* model : checker::models())
    options += fmt::format("<option value=\"{0}\">{0}</option>\n", escaped_markup(model->name()));
  return options;
}

}  // namespace

std::variant<Story, Diagnostic> run_of(std::string_view text, const std::filesystem::path& file,
                                       const models::locks::Catalogue& catalogue, std::uint64_t events_max) {
  auto loaded = scenarios::parse(text, file.string(), catalogue);
  if (auto* problem = std::get_if<Diagnostic>(&loaded)) return std::move(*problem);
  Story story{std::move(std::get<Scenario>(loaded)), {}};
  auto outcome =
      scenarios::run(story.scenario, catalogue, {.trace = true, .key_states = true, .max_events = events_max});
  if (auto* problem = std::get_if<Diagnostic>(&outcome)) return std::move(*problem);
  story.outcome = std::move(std::get<scenarios::Outcome>(outcome));
  return story;
}

site::Page rendered(const Story& story, const std::filesystem::path& file, const ExploredStory* explored) {
  site::StoryToTell told;
  told.path = "index.html";
  told.story = &story;
  told.explored = explored;
  told.source = file.string();
  told.is_single = true;
  return site::story_page(told);
}

std::string play_page(std::string_view text, const std::filesystem::path& file,
                      const models::locks::Catalogue& catalogue, std::uint64_t events_max) {
  site::Page page{.path = "index.html", .title = {"A story to play with", "可以动手试的故事"}, .is_single = true};
  std::string told;
  const auto ran = run_of(text, file, catalogue, events_max);
  if (const auto* story = std::get_if<Story>(&ran)) {
    site::Page shown = rendered(*story, file, nullptr);
    page.title = std::move(shown.title);
    page.data = std::move(shown.data);
    told = std::move(shown.body);
  }
  if (page.data.empty()) page.data = "{}";
  page.body = site::filled("reports/play/play.mustache", {{"text", within_textarea(text)},
                                                          {"file", file.filename().string()},
                                                          {"algorithms", algorithm_options(catalogue)},
                                                          {"models", model_options()},
                                                          {"events_max", events_max},
                                                          {"told", told}});
  page.scripts = {"reports/site/story/stepper.js", "reports/play/editor.js", "reports/play/stepping/stepping.js",
                  "reports/play/play.js"};
  page.styles = {"reports/picture/diagram.css", "reports/site/story/story.css", "reports/play/play.css"};
  page.policy = "connect-src 'self'; frame-src 'self'";
  page.is_single = true;
  return site::html_of(page);
}

}  // namespace lockstep::reports::play
