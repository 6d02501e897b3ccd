// c.zookeeper: what a script of a lock asks of ZooKeeper, through the client library's own session and watches.
// Source: ZooKeeper 3.8, ZooKeeper.java; options by kazoo's names (kazoo/client.py, makepath), and Curator's for
//         protected creations (CreateBuilderImpl).

#include <lua.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/locks/zookeeper/curator.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/server_library.hpp"
#include "models/servers/kinds.hpp"
#include "models/zookeeper/client/handle.hpp"
#include "models/zookeeper/client/zookeeper_endpoint.hpp"
#include "models/zookeeper/engine/request.hpp"

namespace lockstep::models::zookeeper {
namespace {

using scripted::Options;
using scripted::Run;

/// Whether a script of this process has opened the session: requests need one, or one that has expired.
class Opened final : public ProcessObject {
 public:
  bool is_open = false;
};
Opened& opened(Client& client) { return client.shared<Opened>("zookeeper"); }
Handle& handle_of(Client& client) { return client.shared<Handle>(""); }

Run& run_of(lua_State* lua, const char* example) {
  Run& run = scripted::server_run(lua, example);
  Client& client = run.client();
  if (!opened(client).is_open) scripted::fail(lua, "there is no session: c.zookeeper:open(timeout) comes first");
  // Another thread of the process may have opened it.
  client.to<Endpoint>().set_listener(handle_of(client));
  return run;
}

// --- What a script gets.

void push_stat(lua_State* lua, const Stat& stat) {
  lua_createtable(lua, 0, 8);
  scripted::set_integer(lua, "czxid", stat.czxid);
  scripted::set_integer(lua, "mzxid", stat.mzxid);
  scripted::set_integer(lua, "pzxid", stat.pzxid);
  scripted::set_integer(lua, "version", stat.version);
  scripted::set_integer(lua, "cversion", stat.cversion);
  scripted::set_integer(lua, "ephemeralOwner", stat.ephemeral_owner);
  scripted::set_integer(lua, "dataLength", stat.data_length);
  scripted::set_integer(lua, "numChildren", stat.num_children);
}

struct PushResult {
  lua_State* lua;
  const Result& result;

  int operator()(const Create&) const {
    scripted::push_text(lua, result.path);
    push_stat(lua, *result.stat);
    return 2;
  }
  int operator()(const SetData&) const {
    push_stat(lua, *result.stat);
    return 1;
  }
  int operator()(const Exists&) const {
    push_stat(lua, *result.stat);
    return 1;
  }
  int operator()(const GetData&) const {
    scripted::push_text(lua, result.data);
    push_stat(lua, *result.stat);
    return 2;
  }
  int operator()(const GetChildren&) const {
    lua_createtable(lua, static_cast<int>(result.children.size()), 1);
    for (std::size_t i = 0; i < result.children.size(); ++i) {
      scripted::push_text(lua, result.children[i]);
      lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
    scripted::set_integer(lua, "n", static_cast<std::int64_t>(result.children.size()));
    return 1;
  }
  template <class Other>
  int operator()(const Other&) const {
    lua_pushboolean(lua, 1);
    return 1;
  }
};

/// The watch that a request has set, if it has.
struct SetWatch {
  Handle& handle;
  const Result& result;

  std::shared_ptr<Watch> operator()(const Exists& asked) const {
    if (!asked.watches) return nullptr;
    const bool is_there = result.error == Error::none;
    return handle.watch(is_there ? Watch::Kind::data : Watch::Kind::exist, asked.path);
  }
  std::shared_ptr<Watch> operator()(const GetData& asked) const {
    if (!asked.watches || result.error != Error::none) return nullptr;
    return handle.watch(Watch::Kind::data, asked.path);
  }
  std::shared_ptr<Watch> operator()(const GetChildren& asked) const {
    if (!asked.watches || result.error != Error::none) return nullptr;
    return handle.watch(Watch::Kind::child, asked.path);
  }
  template <class Other>
  std::shared_ptr<Watch> operator()(const Other&) const {
    return nullptr;
  }
};

int push_answer(Run& run, const Operation& operation, const std::optional<Answer>& answer) {
  lua_State* const lua = run.lua();
  const scripted::Interpreter& interpreter = run.machine().interpreter();
  if (!answer) {
    interpreter.push_unknown(lua);
    return 1;
  }
  const Result& result = answer->result;
  const std::shared_ptr<Watch> watch = std::visit(SetWatch{handle_of(run.client()), result}, operation);
  int values = 1;
  if (result.error == Error::none) {
    values = std::visit(PushResult{lua, result}, operation);
  } else if (result.error == Error::no_node && std::holds_alternative<Exists>(operation)) {
    lua_pushnil(lua);  // as exists() of every client has it: no Stat
  } else {
    scripted::push_error(lua, interpreter, to_string(result.error));
  }
  if (watch == nullptr) return values;
  scripted::push_object_of_run(run, watch);
  return values + 1;
}

// --- Tasks. (A `Run*`, since the task that drives the run tells its lines already.)

sim::Task<int> open_session(Client& client, Run* run, sim::Duration timeout) {
  opened(client).is_open = true;
  const bool is_open = co_await handle_of(client).open(client, timeout);
  lua_pushboolean(run->lua(), is_open);
  co_return 1;
}

/// `in`: only in this session.
sim::Task<int> ask(Client& client, Run* run, Operation operation, std::optional<SessionId> in) {
  Handle& handle = handle_of(client);
  std::optional<Answer> answer;
  if (in) {
    answer = co_await handle.ask_in(client, *in, operation);
  } else {
    answer = co_await handle.ask(client, operation);
  }
  co_return push_answer(*run, operation, answer);
}

/// kazoo's makepath: where the nodes above are not there they are made, and then it is tried again.
sim::Task<int> create_with_parents(Client& client, Run* run, Create wanted) {
  Handle& handle = handle_of(client);
  std::optional<Answer> answer = co_await handle.ask(client, wanted);
  const std::string folder(parent_of(wanted.path));
  if (answer && answer->result.error == Error::no_node && folder.size() > 1) {
    for (std::size_t slash = folder.find('/', 1);; slash = folder.find('/', slash + 1)) {
      static_cast<void>(co_await handle.ask(client, Create{.path = folder.substr(0, slash)}));
      if (slash == std::string::npos) break;
    }
    answer = co_await handle.ask(client, wanted);
  }
  co_return push_answer(*run, wanted, answer);
}

sim::Task<int> create_protected(Client& client, Run* run, std::string path, CreateMode mode) {
  const std::optional<std::string> created = co_await locks::zk::create_for_curator(
      client, std::string(parent_of(path)), std::string(name_in_parent(path)), true, mode);
  if (created) {
    scripted::push_text(run->lua(), *created);
  } else {
    run->machine().interpreter().push_unknown(run->lua());
  }
  co_return 1;
}

sim::Task<int> wait_for_watch(Client& client, Run* run, std::shared_ptr<Watch> watch, scripted::HowLong how) {
  Patience own(client, how.length);
  co_await handle_of(client).wait_for(client, watch, how.patience != nullptr ? *how.patience : own);
  lua_State* const lua = run->lua();
  if (!watch->event()) {
    lua_pushnil(lua);
  } else {
    switch (*watch->event()) {
      case EventType::node_created: lua_pushliteral(lua, "NodeCreated"); break;
      case EventType::node_deleted: lua_pushliteral(lua, "NodeDeleted"); break;
      case EventType::node_data_changed: lua_pushliteral(lua, "NodeDataChanged"); break;
      case EventType::node_children_changed: lua_pushliteral(lua, "NodeChildrenChanged"); break;
    }
  }
  co_return 1;
}

// --- Calls.

std::string path_at(lua_State* lua, int index) {
  std::string path = scripted::text_at(lua, index, "the path");
  const bool is_path =
      path.starts_with('/') && (path.size() == 1 || !path.ends_with('/')) && path.find("//") == std::string::npos;
  if (!is_path)
    scripted::fail(lua, fmt::format("the path is \"{:.60}\"; one begins with / and does not end with it, such as "
                                    "\"/locks/\" .. c.key",
                                    path));
  return path;
}

int send(lua_State* lua, Run& run, Operation operation, std::optional<SessionId> in = std::nullopt) {
  return scripted::wait_for_server(lua, run, ask(run.client(), &run, std::move(operation), in));
}

std::int32_t version_of(Options& options) {
  return static_cast<std::int32_t>(options.integer("version").value_or(kAnyVersion));
}

/// c.zookeeper:open(timeout)
int open(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.zookeeper:open(c.parameters.session_timeout)");
  const sim::Duration timeout = scripted::length_at(lua, 2, "the session's timeout");
  if (timeout < sim::Duration::milliseconds(1)) scripted::fail(lua, "a session's timeout is to be 1ms or more");
  return scripted::wait_for_server(lua, run, open_session(run.client(), &run, timeout));
}

/// Returns at once, as the library's own close does for whoever does not wait for it.
int close(lua_State* lua) {
  Run& run = run_of(lua, "c.zookeeper:close()");
  opened(run.client()).is_open = false;
  handle_of(run.client()).left_by(run.client());
  return 0;
}

int state(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.zookeeper:state()");
  switch (handle_of(run.client()).state()) {
    case State::closed: lua_pushliteral(lua, "closed"); break;
    case State::connecting: lua_pushliteral(lua, "connecting"); break;
    case State::connected: lua_pushliteral(lua, "connected"); break;
    case State::suspended: lua_pushliteral(lua, "suspended"); break;
    case State::lost: lua_pushliteral(lua, "lost"); break;
  }
  return 1;
}

int session(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.zookeeper:session()");
  scripted::push_integer(lua, handle_of(run.client()).session());
  return 1;
}

int create(lua_State* lua) {
  Run& run = run_of(lua, "c.zookeeper:create(path, { ephemeral = true })");
  // The number of a sequential node may be all of its name.
  std::string path = scripted::text_at(lua, 2, "the path");
  Options options(lua, 3, "create");
  const bool is_ephemeral = options.flag("ephemeral"), is_sequential = options.flag("sequential");
  const bool is_protected = options.flag("protected"), makes_path = options.flag("makepath");
  std::optional<std::string> data = options.text("data");
  const std::optional<SessionId> in = options.integer("session");
  options.end();
  if (!is_sequential || !path.ends_with('/')) path = path_at(lua, 2);
  const CreateMode mode = is_ephemeral ? (is_sequential ? CreateMode::ephemeral_sequential : CreateMode::ephemeral)
                                       : (is_sequential ? CreateMode::persistent_sequential : CreateMode::persistent);
  if (in && (is_protected || makes_path)) scripted::fail(lua, "create has a session, or protected or makepath");
  if (is_protected) {
    if (data) scripted::fail(lua, "a protected create has no data yet; c.zookeeper:set(path, data) sets them");
    return scripted::wait_for_server(lua, run, create_protected(run.client(), &run, std::move(path), mode));
  }
  Create wanted{.path = std::move(path), .data = std::move(data).value_or(""), .mode = mode, .asks_for_stat = true};
  if (makes_path)
    return scripted::wait_for_server(lua, run, create_with_parents(run.client(), &run, std::move(wanted)));
  return send(lua, run, std::move(wanted), in);
}

int remove(lua_State* lua) {
  Run& run = run_of(lua, "c.zookeeper:delete(path)");
  Delete asked{.path = path_at(lua, 2)};
  Options options(lua, 3, "delete");
  asked.version = version_of(options);
  const std::optional<SessionId> in = options.integer("session");
  options.end();
  return send(lua, run, std::move(asked), in);
}

int set(lua_State* lua) {
  Run& run = run_of(lua, "c.zookeeper:set(path, data)");
  SetData asked{.path = path_at(lua, 2), .data = scripted::text_at(lua, 3, "the data")};
  Options options(lua, 4, "set");
  asked.version = version_of(options);
  const std::optional<SessionId> in = options.integer("session");
  options.end();
  return send(lua, run, std::move(asked), in);
}

template <class Reading>
int read(lua_State* lua, const char* call, const char* example) {
  Run& run = run_of(lua, example);
  Reading asked{.path = path_at(lua, 2)};
  Options options(lua, 3, call);
  asked.watches = options.flag("watch");
  options.end();
  return send(lua, run, std::move(asked));
}
int exists(lua_State* lua) { return read<Exists>(lua, "exists", "c.zookeeper:exists(path, { watch = true })"); }
int get(lua_State* lua) { return read<GetData>(lua, "get", "c.zookeeper:get(path, { watch = true })"); }
int children(lua_State* lua) {
  return read<GetChildren>(lua, "children", "c.zookeeper:children(path, { watch = true })");
}

int sync(lua_State* lua) {
  Run& run = run_of(lua, "c.zookeeper:sync(path)");
  return send(lua, run, Sync{.path = path_at(lua, 2)});
}

/// watch:wait({ patience = p }): the event's name; nil: not in time, or its session is over.
int wait(lua_State* lua) {
  const auto watch = std::static_pointer_cast<Watch>(scripted::object_of_run(lua, "watch:wait({ patience = p })"));
  Run& run = scripted::running(lua);
  const scripted::HowLong how = scripted::how_long_at(lua, 2, "wait");
  return scripted::wait_for_server(lua, run, wait_for_watch(run.client(), &run, watch, how));
}

constexpr luaL_Reg kCalls[] = {{"open", open},     {"close", close},       {"state", state}, {"session", session},
                               {"create", create}, {"delete", remove},     {"set", set},     {"exists", exists},
                               {"get", get},       {"children", children}, {"sync", sync},   {nullptr, nullptr}};
constexpr luaL_Reg kWatchCalls[] = {{"wait", wait}, {nullptr, nullptr}};

}  // namespace
}  // namespace lockstep::models::zookeeper

namespace lockstep::models::scripted {

const ServerLibrary& zookeeper_for_scripts() {
  static constexpr ServerLibrary library{.kind = zookeeper_kind,
                                         .has_background = true,
                                         .calls = zookeeper::kCalls,
                                         .object_calls = zookeeper::kWatchCalls};
  return library;
}

}  // namespace lockstep::models::scripted
