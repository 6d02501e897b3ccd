#include <fmt/format.h>

#include "library/lockstep.hpp"
#include "models/servers/server_kind.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep {
namespace {

using scenarios::Diagnostic;
using scenarios::Scenario;

Scenario loaded(std::variant<Scenario, Diagnostic> result) {
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) throw Error(trouble->to_string());
  return std::get<Scenario>(std::move(result));
}

/// A value is read as the file that says the same, so that it is checked as one is.
Scenario checked(Scenario story, const Catalogue& catalogue) {
  if (scenarios::find_entry(story.lock, catalogue) == nullptr) {
    throw Error(fmt::format("the scenario's algorithm {}: {}", scenarios::in_quotes(story.lock.algorithm),
                            scenarios::suggestion(story.lock.algorithm, catalogue.ids())));
  }
  if (story.file.empty()) story.file = "scenario.toml";
  for (auto [text, otherwise] : {std::pair(&story.title, "A story of a test"), std::pair(&story.story, "Of a test."),
                                 std::pair(&story.lesson, "None.")}) {
    if (text->en.empty()) text->en = otherwise;
    if (text->zh.empty()) text->zh = text->en;
  }
  if (story.source.empty()) story.source = "a test";
  if (story.servers.empty()) {
    const models::ServerKind& kind = server_kind_of(*scenarios::find_entry(story.lock, catalogue));
    story.servers.push_back({.name = server_name(kind, 0, 1), .kind = &kind});
  }
  return loaded(scenarios::parse(scenarios::to_toml(story), story.file, catalogue));
}

}  // namespace

Scenario Story::load(const Catalogue& catalogue) const {
  if (const auto* path = std::get_if<std::filesystem::path>(&source_)) return loaded(scenarios::load(*path, catalogue));
  if (const auto* text = std::get_if<Text>(&source_))
    return loaded(scenarios::parse(text->toml, text->name, catalogue));
  if (const auto* value = std::get_if<Scenario>(&source_)) return checked(*value, catalogue);
  throw Error("there is no story: set .story to lockstep::Story::file(\"…\"), Story::text(\"…\"), or a Scenario");
}

}  // namespace lockstep
