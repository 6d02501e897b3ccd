#include "models/scripted/scripted_lock.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/run.hpp"

namespace lockstep::models::scripted {
namespace {

bool flag_in(lua_State* lua, int table, const char* field) {
  push_field(lua, table, field);
  const bool flag = lua_toboolean(lua, -1) != 0;
  lua_pop(lua, 1);
  return flag;
}

/// What the script returned as a hold. Takes it from the stack.
locks::Hold hold_of(Run& run) {
  lua_State* const lua = run.lua();
  Machine& machine = run.machine();
  const auto moment = [&](const char* field) {
    return moment_in(
        lua, 1, field, [&](const std::string& mistake) { run.note_mistake(mistake); }, machine.program().file);
  };
  lua_settop(lua, 1);
  if (!lua_istable(lua, 1)) {
    lua_newtable(lua);
    lua_insert(lua, 1);
    lua_setfield(lua, 1, "token");
  }
  locks::Hold hold;
  push_field(lua, 1, "token");
  if (lua_type(lua, -1) == LUA_TSTRING) hold.token = Value(std::string_view(lua_tostring(lua, -1)));
  lua_pop(lua, 1);
  hold.valid_until = moment("valid_until");
  hold.lease_until = moment("lease_until");
  hold.on_monotonic_clock = flag_in(lua, 1, "monotonic");
  hold.is_renewed = flag_in(lua, 1, "renewed");
  push_field(lua, 1, "fencing_token");
  if (lua_isnumber(lua, -1) != 0) hold.fencing_token = static_cast<std::int64_t>(lua_tonumber(lua, -1));
  lua_pop(lua, 1);
  hold.number = object_number(lua, 1, Kind::hold);
  if (machine.hold_at(hold.number) == nullptr)
    hold.number = machine.keep_hold(lua, machine.context_at(run.context())->operation, run.context());
  return hold;
}

}  // namespace

void ScriptedLock::share(const locks::LockAlgorithm& other) {
  const auto* twin = dynamic_cast<const ScriptedLock*>(&other);
  if (twin != nullptr && &twin->program_ == &program_) interpreter_ = twin->interpreter_;
}

std::shared_ptr<Machine> ScriptedLock::machine_of(Client& client) const {
  MachineOfProcess& own = client.shared<MachineOfProcess>(program_.file);
  if (own.machine == nullptr) {
    // An interpreter outlives a world that begins again, and what stopped it does not.
    if (client.world().given_up() == nullptr) interpreter_->session().forget_stop();
    auto globals = interpreter_->execute_main(&client.world());
    // It has been executed before, when it was read, and does the same again: unless there is no memory left.
    if (const auto* problem = std::get_if<std::string>(&globals)) {
      client.world().give_up(log_->keep(*problem));
      return nullptr;
    }
    own.machine = std::make_shared<Machine>(interpreter_, std::get<int>(globals));
  }
  return own.machine;
}

sim::Task<std::optional<locks::Hold>> ScriptedLock::take(Client& client, const char* function) const {
  std::shared_ptr<Machine> machine = machine_of(client);
  if (machine == nullptr) co_return std::nullopt;
  Run run(std::move(machine), client, object(), function);
  run.begin(function);
  co_await drive(client, run, 1);
  // `return c.redis:set(…)` gives whatever the server said.
  lua_State* const lua = run.lua();
  const bool has_hold = run.returned() && lua_gettop(lua) > 0 && lua_toboolean(lua, 1) != 0 &&
                        !run.machine().interpreter().is_unknown(lua, 1) && !is_error(lua, 1);
  if (!has_hold) co_return std::nullopt;
  co_return hold_of(run);
}

sim::Task<std::optional<locks::Hold>> ScriptedLock::acquire(Client& client) const {
  co_return co_await take(client, "acquire");
}

sim::Task<std::optional<locks::Hold>> ScriptedLock::try_acquire(Client& client) const {
  co_return co_await take(client, program_.has_try_acquire ? "try_acquire" : "acquire");
}

sim::Task<bool> ScriptedLock::release(Client& client, locks::Hold hold) const {
  std::shared_ptr<Machine> machine = machine_of(client);
  if (machine == nullptr) co_return false;
  Run run(std::move(machine), client, object(), "release");
  run.begin("release");
  if (const Machine::Holding* known = run.machine().hold_at(hold.number)) {
    lua_rawgeti(run.lua(), LUA_REGISTRYINDEX, known->table);
  } else {
    // A finally block that does not ask whether the lock was got.
    lua_newtable(run.lua());
    lua_pushliteral(run.lua(), "");
    lua_setfield(run.lua(), -2, "token");
  }
  co_await drive(client, run, 2);
  run.machine().drop_hold(hold.number);
  co_return run.returned() && lua_gettop(run.lua()) > 0 && lua_toboolean(run.lua(), 1) != 0 &&
      !run.machine().interpreter().is_unknown(run.lua(), 1) && !is_error(run.lua(), 1);
}

sim::Task<locks::Answer> ScriptedLock::call(Client& client, locks::Call what) const {
  std::shared_ptr<Machine> machine = machine_of(client);
  if (machine == nullptr) co_return locks::Answer::unknown;
  Run run(std::move(machine), client, object(), "call");
  run.begin("call");
  for (const auto& [name, known] : locks::call_names) {
    if (known == what) lua_pushlstring(run.lua(), name.data(), name.size());
  }
  co_await drive(client, run, 2);
  if (!run.returned() || lua_gettop(run.lua()) == 0 || !lua_isboolean(run.lua(), 1)) co_return locks::Answer::unknown;
  co_return lua_toboolean(run.lua(), 1) != 0 ? locks::Answer::yes : locks::Answer::no;
}

}  // namespace lockstep::models::scripted
