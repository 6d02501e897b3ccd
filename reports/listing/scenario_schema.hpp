#pragma once

// The scenario format as a JSON schema, for editors that check TOML and complete it (`lockstep schema`).

#include <optional>
#include <string>
#include <string_view>

#include "models/locks/catalogue.hpp"

namespace lockstep::reports {

/// A schema of draft 07, which Taplo and Even Better TOML understand. Made of the tables from which the loader reads:
/// their keys, types, defaults and meanings, and the parameters of these algorithms. What is wrong in a file in itself
/// it refuses; what takes a look at two places of a file (names of nobody, an order of times) only the loader knows.
std::string scenario_schema(const models::locks::Catalogue& catalogue);

/// Whether the schema knows a type as the reference prints it, such as "duration or range": with one that it does not
/// know, a key may have any value. For the test.
bool knows_type(std::string_view type);

}  // namespace lockstep::reports
