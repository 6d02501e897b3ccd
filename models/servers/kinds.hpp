#pragma once

// The table of kinds of servers. Start here to add one: docs/adding-a-server.md.

#include <span>

namespace lockstep::models {

class ServerKind;

/// In the order of the reference. Whoever adds a kind adds its line here; the first is what servers are where nobody
/// says anything. Line x says that there is a function `const ServerKind& x_kind()`.
#define LOCKSTEP_SERVER_KINDS(X) X(redis) X(sql) X(etcd) X(zookeeper) X(consul)

#define LOCKSTEP_DECLARE(kind) const ServerKind& kind##_kind();
LOCKSTEP_SERVER_KINDS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

std::span<const ServerKind* const> server_kinds();
const ServerKind& standard_server_kind();

}  // namespace lockstep::models
