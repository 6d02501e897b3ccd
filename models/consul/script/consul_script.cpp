// c.consul: what a script of a lock asks of Consul, with sessions that are renewed as its Go client renews them.
// Source: Consul 1.18, HTTP API (/v1/kv, /v1/session), api/session.go (RenewPeriodic).

#include <lua.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/consul/engine/request.hpp"
#include "models/locks/consul/session.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/server_library.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::consul {
namespace {

using scripted::Options;
using scripted::Run;

// --- What a script gets.

/// Flags are a text: a number of Lua has no room for 64 bits.
void push_kv(lua_State* lua, const KeyValue& kv) {
  lua_createtable(lua, 0, 7);
  scripted::push_text(lua, kv.key);
  lua_setfield(lua, -2, "key");
  scripted::push_text(lua, kv.value);
  lua_setfield(lua, -2, "value");
  scripted::push_text(lua, std::to_string(kv.flags));
  lua_setfield(lua, -2, "flags");
  scripted::set_integer(lua, "create_index", kv.create_index);
  scripted::set_integer(lua, "modify_index", kv.modify_index);
  scripted::set_integer(lua, "lock_index", kv.lock_index);
  if (kv.session != 0) scripted::set_integer(lua, "session", kv.session);
}

/// Pushes what is no success. False: it is one.
bool push_failure(Run& run, const std::optional<Told>& told) {
  const scripted::Interpreter& interpreter = run.machine().interpreter();
  if (!told) {
    interpreter.push_unknown(run.lua());
  } else if (told->answer.error != Error::none) {
    scripted::push_error(run.lua(), interpreter, to_string(told->answer.error));
  } else {
    return false;
  }
  return true;
}

int push_ok(Run& run, const std::optional<Told>& told) {
  if (!push_failure(run, told)) lua_pushboolean(run.lua(), told->answer.ok);
  return 1;
}

// --- Tasks.

sim::Task<int> ask_write(Client& client, Run* run, std::string dc, Write write) {
  const std::optional<Told> told = co_await client.to<Endpoint>().write(dc, std::move(write));
  co_return push_ok(*run, told);
}

sim::Task<int> ask_delete(Client& client, Run* run, std::string dc, Delete asked) {
  const std::optional<Told> told = co_await client.to<Endpoint>().remove(dc, std::move(asked));
  co_return push_ok(*run, told);
}

/// The key, or nil; and X-Consul-Index.
sim::Task<int> ask_query(Client& client, Run* run, std::string dc, Query query, bool is_repeated) {
  const std::optional<Told> told = co_await client.to<Endpoint>().query(dc, std::move(query), is_repeated);
  if (push_failure(*run, told)) co_return 1;
  lua_State* const lua = run->lua();
  if (told->answer.kvs.empty()) {
    lua_pushnil(lua);
  } else {
    push_kv(lua, told->answer.kvs.front());
  }
  scripted::push_integer(lua, told->answer.index);
  co_return 2;
}

struct Renewal {
  bool survives_errors = true;
  bool ends_with_renewal = false;
};

sim::Task<int> open_session(Client& client, Run* run, std::string dc, Session wanted, Renewal renewal) {
  const std::shared_ptr<locks::ConsulSession> session =
      co_await client.shared<locks::ConsulSessions>("").open(client, std::move(dc), std::move(wanted));
  if (session == nullptr) {
    run->machine().interpreter().push_unknown(run->lua());
    co_return 1;
  }
  session->survives_errors = renewal.survives_errors;
  session->ends_with_renewal = renewal.ends_with_renewal;
  session->acquire = client.session().operation;
  scripted::push_integer(run->lua(), session->id);
  co_return 1;
}

sim::Task<int> ask_create(Client& client, Run* run, std::string dc, Session wanted) {
  const std::optional<Told> told = co_await client.to<Endpoint>().create(dc, std::move(wanted));
  if (!push_failure(*run, told)) scripted::push_integer(run->lua(), told->session);
  co_return 1;
}

sim::Task<int> ask_renew(Client& client, Run* run, std::string dc, SessionId session,
                         std::optional<sim::Duration> within) {
  const std::optional<Told> told = co_await client.to<Endpoint>().renew(dc, session, within);
  co_return push_ok(*run, told);
}

sim::Task<int> ask_destroy(Client& client, Run* run, std::string dc, SessionId session) {
  const std::optional<Told> told = co_await client.to<Endpoint>().destroy(dc, session);
  if (!push_failure(*run, told)) lua_pushboolean(run->lua(), 1);
  co_return 1;
}

// --- Calls.

constexpr const char* kFirstDatacentre = "dc1";

std::string dc_of(Options& options) { return options.text("dc").value_or(kFirstDatacentre); }

std::uint64_t flags_of(lua_State* lua, Options& options) {
  const std::string text = options.text("flags").value_or("0");
  std::uint64_t flags = 0;
  for (const char c : text) {
    const std::uint64_t digit = static_cast<std::uint64_t>(c) - '0';
    if (c < '0' || c > '9' || flags > (UINT64_MAX - digit) / 10)
      scripted::fail(lua,
                     fmt::format("flags of put is \"{:.40}\"; expected a whole number, as text if it is large", text));
    flags = flags * 10 + digit;
  }
  return flags;
}

/// c.consul:put(key, value, { acquire = session }): true or false, as Consul says
int put(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:put(key, value, { acquire = session })");
  Write write{.key = scripted::text_at(lua, 2, "the key"), .value = scripted::text_at(lua, 3, "the value")};
  Options options(lua, 4, "put");
  write.flags = flags_of(lua, options);
  const auto cas = options.integer("cas"), acquire = options.integer("acquire"), release = options.integer("release");
  std::string dc = dc_of(options);
  options.end();
  if (int{cas.has_value()} + int{acquire.has_value()} + int{release.has_value()} > 1)
    scripted::fail(lua, "put has one of cas, acquire and release");
  if (cas) {
    write.how = Write::How::cas;
    write.index = *cas;
  } else if (acquire) {
    write.how = Write::How::acquire;
    write.session = *acquire;
  } else if (release) {
    write.how = Write::How::release;
    write.session = *release;
    // What becomes of the key is no loss from now on.
    if (const auto session = run.client().shared<locks::ConsulSessions>("").find(*release))
      session->is_given_back = true;
  }
  return scripted::wait_for_server(lua, run, ask_write(run.client(), &run, std::move(dc), std::move(write)));
}

int remove(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:delete(key)");
  Delete asked{.key = scripted::text_at(lua, 2, "the key")};
  Options options(lua, 3, "delete");
  const auto cas = options.integer("cas");
  if (options.flag("recurse")) asked.how = Delete::How::recurse;
  std::string dc = dc_of(options);
  options.end();
  if (cas && asked.how == Delete::How::recurse) scripted::fail(lua, "delete has one of cas and recurse");
  if (cas) asked.how = Delete::How::cas;
  asked.index = cas.value_or(0);
  return scripted::wait_for_server(lua, run, ask_delete(run.client(), &run, std::move(dc), std::move(asked)));
}

/// c.consul:get(key, { index = index, wait = "10s" }): a blocking query if there is an index
int get(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:get(key, { index = index, wait = \"10s\" })");
  Query query{.key = scripted::text_at(lua, 2, "the key")};
  Options options(lua, 3, "get");
  query.index = options.integer("index").value_or(0);
  query.wait = options.length("wait").value_or(sim::Duration::zero());
  const std::string consistency = options.text("consistency").value_or("default");
  const bool is_repeated = options.flag("repeated");
  std::string dc = dc_of(options);
  options.end();
  if (query.index < 0 || query.wait < sim::Duration::zero())
    scripted::fail(lua, "index and wait of get are not negative");
  if (consistency == "consistent") {
    query.consistency = Consistency::consistent;
  } else if (consistency == "stale") {
    query.consistency = Consistency::stale;
  } else if (consistency != "default") {
    scripted::fail(lua,
                   fmt::format("consistency is \"{:.40}\"; expected one of default, consistent, stale", consistency));
  }
  return scripted::wait_for_server(lua, run,
                                   ask_query(run.client(), &run, std::move(dc), std::move(query), is_repeated));
}

Session session_of(lua_State* lua, Options& options) {
  Session wanted;
  wanted.ttl = options.length("ttl").value_or(sim::Duration::zero());
  wanted.lock_delay = options.length("lock_delay").value_or(wanted.lock_delay);
  const std::string behavior = options.text("behavior").value_or("release");
  if (behavior == "delete") {
    wanted.behavior = Behavior::deletes;
  } else if (behavior != "release") {
    scripted::fail(lua, fmt::format("behavior is \"{:.40}\"; expected one of release, delete", behavior));
  }
  return wanted;
}

/// Created, and renewed in the background from then on.
int session(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:session({ ttl = c.parameters.ttl })");
  Options options(lua, 2, "session");
  Session wanted = session_of(lua, options);
  std::string dc = dc_of(options);
  Renewal renewal;
  renewal.survives_errors = !options.flag("ends_with_error");
  renewal.ends_with_renewal = options.flag("ends_with_renewal");
  options.end();
  if (wanted.ttl < sim::Duration::milliseconds(1))
    scripted::fail(lua, "a session that is renewed needs a ttl: c.consul:session({ ttl = c.parameters.ttl })");
  return scripted::wait_for_server(lua, run,
                                   open_session(run.client(), &run, std::move(dc), std::move(wanted), renewal));
}

/// Renewed no longer, and destroyed. Returns at once.
int close(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:close(session)");
  run.client().shared<locks::ConsulSessions>("").close(scripted::integer_at(lua, 2, "the session"));
  return 0;
}

/// Its key was given back, or its owner has been told that it is lost: what becomes of the key is no loss.
int is_given_back(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:is_given_back(session)");
  const auto session = run.client().shared<locks::ConsulSessions>("").find(scripted::integer_at(lua, 2, "the session"));
  lua_pushboolean(lua, session == nullptr || session->is_given_back);
  return 1;
}

int session_create(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:session_create({ ttl = \"15s\" })");
  Options options(lua, 2, "session_create");
  Session wanted = session_of(lua, options);
  std::string dc = dc_of(options);
  options.end();
  return scripted::wait_for_server(lua, run, ask_create(run.client(), &run, std::move(dc), std::move(wanted)));
}

int session_renew(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:session_renew(session)");
  const SessionId id = scripted::integer_at(lua, 2, "the session");
  Options options(lua, 3, "session_renew");
  const std::optional<sim::Duration> within = options.length("within");
  std::string dc = dc_of(options);
  options.end();
  return scripted::wait_for_server(lua, run, ask_renew(run.client(), &run, std::move(dc), id, within));
}

int session_destroy(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.consul:session_destroy(session)");
  const SessionId id = scripted::integer_at(lua, 2, "the session");
  Options options(lua, 3, "session_destroy");
  std::string dc = dc_of(options);
  options.end();
  return scripted::wait_for_server(lua, run, ask_destroy(run.client(), &run, std::move(dc), id));
}

constexpr luaL_Reg kCalls[] = {{"put", put},
                               {"delete", remove},
                               {"get", get},
                               {"session", session},
                               {"close", close},
                               {"is_given_back", is_given_back},
                               {"session_create", session_create},
                               {"session_renew", session_renew},
                               {"session_destroy", session_destroy},
                               {nullptr, nullptr}};

}  // namespace
}  // namespace lockstep::models::consul

namespace lockstep::models::scripted {

const ServerLibrary& consul_for_scripts() {
  static constexpr ServerLibrary library{.kind = consul_kind, .has_background = true, .calls = consul::kCalls};
  return library;
}

}  // namespace lockstep::models::scripted
