#pragma once

// How locks that store a number of their own as value are released: GET, compare, DEL, as the Java code does.

#include "models/locks/lock.hpp"

namespace lockstep::models::locks {

/// The hold of a lock whose value is the end of its lease.
Hold timestamp_hold(sim::Instant until);

/// Two commands: the value may change in between.
sim::Task<bool> release_if_unchanged(Client& client, const Value& key, Hold hold);

}  // namespace lockstep::models::locks
