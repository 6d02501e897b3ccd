#pragma once

// Servers of registers as a kind of server, for tests: not in the table of kinds.

#include "models/servers/server_kind.hpp"

namespace lockstep::models {

const ServerKind& register_kind();

}  // namespace lockstep::models
