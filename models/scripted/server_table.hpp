#pragma once

// What kinds of servers offer to scripts: `c.redis`, `c.zookeeper`. Each kind has its calls in a folder of its own;
// here is the table of all. Start here to add one: docs/adding-a-server.md.

#include <lua.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace lockstep::models {
class ServerKind;
}

namespace lockstep::models::scripted {

class Machine;

struct ServerLibrary {
  const ServerKind& (*kind)();
  /// Its clients keep something alive by themselves: a session.
  bool has_background = false;
  /// What `c.zookeeper` can be asked for. Null: `push` makes it.
  const luaL_Reg* calls = nullptr;
  /// What the objects can be asked for that its calls give. Null: there are none.
  const luaL_Reg* object_calls = nullptr;
  void (*push)(lua_State* lua, Machine& machine, std::size_t context) = nullptr;

  std::string_view name() const;
};

/// Line x says that there is a function `const ServerLibrary& x_for_scripts()`; the first is for scripts that name no
/// kind.
#define LOCKSTEP_SCRIPT_LIBRARIES(X) X(redis) X(zookeeper) X(etcd) X(consul) X(sql)

#define LOCKSTEP_DECLARE(kind) const ServerLibrary& kind##_for_scripts();
LOCKSTEP_SCRIPT_LIBRARIES(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

std::span<const ServerLibrary* const> server_libraries();

/// Fails if the script runs on servers of another kind than the first. `call`: of `c`, which only that one has.
void require_first_library(lua_State* lua, std::string_view call);

}  // namespace lockstep::models::scripted
