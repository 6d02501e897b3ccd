#pragma once

// What almost every test of stories begins with.

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios::testing {

inline const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue built_in = models::locks::Catalogue::built_in();
  return built_in;
}

/// A story without its texts is given a title. Fails the test where it cannot be read.
inline Scenario parsed(const std::string& text) {
  const bool has_title = text.starts_with("title ") || text.find("\ntitle ") != std::string::npos;
  auto result = parse(has_title ? text : "title = { en = \"t\", zh = \"t\" }\n" + text, "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::move(std::get<Scenario>(result));
}

}  // namespace lockstep::scenarios::testing
