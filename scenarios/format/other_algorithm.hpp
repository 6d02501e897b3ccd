#pragma once

// The same story with another lock.

#include <string>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Why the story means nothing under this algorithm, whose servers are of another kind; empty: it does.
std::string why_not_under(const Scenario& story, const models::locks::Entry& entry);

/// Parameters that the other algorithm does not have, or that its clients cannot have of their own, are left out. Where
/// the file has one server and the algorithm or its kind of server wants several, there are as many. Servers are of the
/// kind that the algorithm runs on; what only the other kind has is left out: settings, sentinels, clients that send
/// commands. Faults, orders and expectations stay as they are. Requires: `why_not_under` says nothing.
Scenario replace_algorithm(const Scenario& story, const models::locks::Entry& entry);

/// As a file that says just this would be read, without what it expects: or why it cannot say it.
std::variant<Scenario, std::string> with_algorithm(const Scenario& story, const models::locks::Entry& entry,
                                                   const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
