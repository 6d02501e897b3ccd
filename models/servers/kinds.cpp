#include "models/servers/kinds.hpp"

#include <array>

namespace lockstep::models {

std::span<const ServerKind* const> server_kinds() {
#define LOCKSTEP_LIST(kind) &kind##_kind(),
  static const std::array kAll{LOCKSTEP_SERVER_KINDS(LOCKSTEP_LIST)};
#undef LOCKSTEP_LIST
  return kAll;
}

const ServerKind& standard_server_kind() { return *server_kinds().front(); }

}  // namespace lockstep::models
