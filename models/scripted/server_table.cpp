#include "models/scripted/server_table.hpp"

#include <array>

#include <fmt/format.h>

#include "models/scripted/lua_values.hpp"
#include "models/scripted/machine.hpp"
#include "models/servers/server_kind.hpp"

namespace lockstep::models::scripted {

std::string_view ServerLibrary::name() const { return kind().name(); }

std::span<const ServerLibrary* const> server_libraries() {
#define LOCKSTEP_LIBRARY(kind) &kind##_for_scripts(),
  static const std::array all{LOCKSTEP_SCRIPT_LIBRARIES(LOCKSTEP_LIBRARY)};
#undef LOCKSTEP_LIBRARY
  return all;
}

void require_first_library(lua_State* lua, std::string_view call) {
  const ServerLibrary& own = *Interpreter::of(lua).program().server;
  const ServerLibrary& first = *server_libraries().front();
  if (&own != &first)
    fail(lua, fmt::format("{} is for servers of kind \"{}\"; this script runs on kind \"{}\": c.{}", call, first.name(),
                          own.name(), own.name()));
}

}  // namespace lockstep::models::scripted
