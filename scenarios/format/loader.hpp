#pragma once

// Scenario files from disk. Start here. What a file may hold: schema.hpp; for people: docs/manual/scenario-format.md.
//
// Whatever a file holds, reading it gives a scenario or one message; nothing is thrown.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Whether the caller can do something with clients that are programs. Most cannot: then a story with one is refused.
enum class Programs : std::uint8_t { refused, taken };

/// Reads one file of at most 1 MiB. `file` of the scenario is the path as it was given.
std::variant<Scenario, Diagnostic> load(const std::filesystem::path& file, const models::locks::Catalogue& catalogue,
                                        Programs programs = Programs::refused);

/// The same from text; `file_name` is for messages, and its stem is the scenario's id.
/// `known`: a script that need not be read again if the text names it; null: none is.
std::variant<Scenario, Diagnostic> parse(std::string_view text, std::string file_name,
                                         const models::locks::Catalogue& catalogue, const OwnLock* known = nullptr,
                                         Programs programs = Programs::refused);

/// What `parse` says against a story that a program has edited, as the file that says just it; nothing: it is a story.
/// Not of its schedule, which names what happens in it.
std::optional<Diagnostic> refusal_of(const Scenario& edited, const models::locks::Catalogue& catalogue);

/// The scenario files that a command line names: files as they are, and of directories every *.toml below, sorted
/// bytewise. Each file once, where it is first named, however it is spelled. Links to directories are not followed.
std::variant<std::vector<std::filesystem::path>, Diagnostic> find_scenarios(
    std::span<const std::string> files_or_directories);

}  // namespace lockstep::scenarios
