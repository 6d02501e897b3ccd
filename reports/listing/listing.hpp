#pragma once

// What `lockstep list` shows to people.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "models/locks/parameters.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/text/line.hpp"

namespace lockstep::reports {

struct ListingOptions {
  std::size_t width = 100;
  Language language = Language::en;
};

/// A line for each.
Lines list_algorithms(const models::locks::Catalogue& catalogue, const ListingOptions& options);
/// Each with its documents, claims and parameters.
Lines describe_algorithms(std::span<const models::locks::Entry> entries, const ListingOptions& options);
Lines list_scenarios(std::span<const scenarios::Scenario> scenarios, const ListingOptions& options);
Lines list_properties(const ListingOptions& options);
Lines list_faults(const ListingOptions& options);
/// Which stories have shown at a real server what they show here: the server's version, by file.
using ConfirmedFiles = std::map<std::string, std::string, std::less<>>;
/// The documented failures, each with the files that reproduce it.
Lines list_failures(std::span<const scenarios::Scenario> scenarios, const ConfirmedFiles& confirmed,
                    const ListingOptions& options);

/// A parameter's value as files have it, without quotes: "30s", "true".
std::string value_text(const models::locks::ParameterValue& value);

/// The files of these stories that name this failure in `reproduces`, in their order.
std::vector<std::string> files_that_reproduce(std::string_view failure, std::span<const scenarios::Scenario> scenarios);

}  // namespace lockstep::reports
