#pragma once

#include "models/value.hpp"
#include "sim/coroutines/task.hpp"

namespace lockstep::models {
class Client;
}

namespace lockstep::models::locks {

/// WATCH, GET, compare, and then MULTI, DEL, EXEC: the deletion happens only if nobody has changed the key since WATCH.
/// If somebody has, it looks again. Without `in_transaction` DEL is sent for itself, as one client library did by
/// mistake: the WATCH then watches over nothing.
sim::Task<bool> release_watched(Client& client, Value key, Value token, bool in_transaction = true);

}  // namespace lockstep::models::locks
