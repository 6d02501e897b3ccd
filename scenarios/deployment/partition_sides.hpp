#pragma once

// Between whom a partition of [[may]] may be.

#include <string>
#include <vector>

#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

struct PartitionSides {
  std::vector<std::string> left;
  std::vector<std::string> right;
};

/// All that a story's world has, in the order in which the deployment adds it: clients, servers, sentinels, the
/// resource.
std::vector<std::string> process_names(const Scenario& scenario);

/// The ways in which this partition can be: between the sides of the file, or each whom it may strike on one side and
/// all whom he talks to on the other. Empty if `may` is something else.
std::vector<PartitionSides> partition_sides(const Scenario& scenario, const MaySpec& may);

}  // namespace lockstep::scenarios
