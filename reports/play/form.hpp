#pragma once

// The commonest figures of a story as fields of a form. `edits.hpp` puts them back into its text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::play {

struct Field {
  enum class Kind : std::uint8_t { duration, range, number, flag, choice };
  std::string id;  ///< "lock.ttl", "network.latency", "client.0.hold", "fault.1.length", "may.0.by"
  scenarios::Text label;
  std::string value;     ///< "100ms", "0ms..10s", "3", "true"; empty: the file does not say it
  std::string fallback;  ///< what it is then; empty: there is none
  Kind kind = Kind::duration;
  std::vector<std::string> choices;
};

/// The entry of the story's lock; null if it is neither in the catalogue nor a script.
const models::locks::Entry* entry_of(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue);

/// Whether one table of the file speaks of both.
bool share_table(const scenarios::ClientSpec& a, const scenarios::ClientSpec& b);

/// In the order of the file's tables. Clients that share a table share its fields.
std::vector<Field> form_of(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue);

/// What somebody typed into the field, as TOML has it; empty: nothing was typed.
std::string toml_of(const Field& field, std::string_view typed);

std::string_view name_of(Field::Kind kind);

}  // namespace lockstep::reports::play
