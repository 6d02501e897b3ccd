#pragma once

// Random own locks, and stories of services, in which the judgement of a search is hard: for hunts that compare it with
// concrete runs.

#include <cstdint>
#include <filesystem>
#include <string>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// A lock as a script of some ten lines for one Redis. Drawn are how it takes the lock (SET NX, two steps, GET before
/// SET, scripts that compare times, ends of leases by clients' clocks, waits as long as leases), where it lies, how it
/// is given back, what is renewed, and what the client knows of its end. The same seed gives the same text.
std::string hunted_lock(std::uint64_t seed);

/// The clients and faults of `hunted_story(seed)`, up to three kinds of fault at once, with a lock of one of the kinds
/// of server: `hunted_lock(seed)`, which is written to a file in `folder`, or one of the catalogue for ZooKeeper, etcd,
/// Consul or SQL. Read from its text, as a user's file is.
Scenario hunted_lock_story(std::uint64_t seed, const models::locks::Catalogue& catalogue,
                           const std::filesystem::path& folder);

}  // namespace lockstep::scenarios
