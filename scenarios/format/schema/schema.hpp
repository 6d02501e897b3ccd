#pragma once

// The scenario format: which tables and keys there are, and how they become a Scenario and a file again. Start here.
//
//   schema_screen     what a text must be before TOML is read       schema_lock      [lock]
//   schema_tree       TOML as a tree with positions                 schema_world     [network], [resource], [market]
//   schema_value      durations, ranges, numbers, choices           schema_clients   [[client]]
//   schema_table      tables of keys                                schema_faults    [[fault]], [[may]]
//   toml_text         strings, values and tables as written        schema_servers   [servers], [[server]]
//   schema_names      who is mentioned, and whether he exists       schema_expect    [pin], [properties], [expect]
//   schema_step       commands and steps, "SET#2"                   schema_schedule  [schedule]
//                                                                   schema           the top of a file

#include <filesystem>
#include <span>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/schema/table.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios::schema {

/// Everything but `file` and `id`. `known`: a script that need not be read again; null: none is. Throws `Bad`.
Scenario read_scenario(const Node& root, const models::locks::Catalogue& catalogue, const std::filesystem::path& folder,
                       const OwnLock* known);

/// The file that says it, in `folder`. Requires: as `to_toml`.
std::string write_scenario(const Scenario& scenario, const std::filesystem::path& folder);

/// Every table of the format with its keys, in the order of the reference. The parameters of the algorithms, which are
/// keys of [lock] as well, are in the catalogue.
std::vector<TableRow> tables();

}  // namespace lockstep::scenarios::schema
