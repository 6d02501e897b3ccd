// c.etcd: what a script of a lock asks of etcd, with the sessions of its concurrency package.
// Source: etcd 3.4, clientv3 (kv.go, op.go, compare.go, watch.go), clientv3/concurrency/session.go.

#include <lua.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/etcd/client/etcd_endpoint.hpp"
#include "models/etcd/engine/request.hpp"
#include "models/locks/etcd/session.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/server_library.hpp"
#include "models/servers/kinds.hpp"
#include "sim/coroutines/code_place.hpp"

namespace lockstep::models::etcd {
namespace {

using scripted::Options;
using scripted::Run;

constexpr std::size_t kMostParts = 128;  // --max-txn-ops

// --- What a script gets.

void push_kv(lua_State* lua, const KeyValue& kv) {
  lua_createtable(lua, 0, 6);
  scripted::push_text(lua, kv.key);
  lua_setfield(lua, -2, "key");
  scripted::push_text(lua, kv.value);
  lua_setfield(lua, -2, "value");
  scripted::set_integer(lua, "create_revision", kv.create_revision);
  scripted::set_integer(lua, "mod_revision", kv.mod_revision);
  scripted::set_integer(lua, "version", kv.version);
  scripted::set_integer(lua, "lease", kv.lease);
}

/// Of each operation all that any has: `kvs` is empty where it is a put.
void push_response(lua_State* lua, const OperationAnswer& answer) {
  lua_checkstack(lua, 8);
  lua_createtable(lua, 0, 5);
  lua_createtable(lua, static_cast<int>(answer.kvs.size()), 1);
  for (std::size_t i = 0; i < answer.kvs.size(); ++i) {
    push_kv(lua, answer.kvs[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  scripted::set_integer(lua, "n", static_cast<std::int64_t>(answer.kvs.size()));
  lua_setfield(lua, -2, "kvs");
  scripted::set_integer(lua, "count", answer.count);
  scripted::set_integer(lua, "deleted", answer.deleted);
  scripted::set_integer(lua, "revision", answer.revision);
  lua_pushboolean(lua, answer.more);
  lua_setfield(lua, -2, "more");
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

int push_one(Run& run, const std::optional<Told>& told) {
  if (push_failure(run, told)) return 1;
  push_response(run.lua(), told->answer.responses.front());
  scripted::set_integer(run.lua(), "revision", told->answer.revision);
  return 1;
}

// --- Tasks.

sim::Task<int> ask_range(Client& client, Run* run, Range range) {
  auto& server = client.to<Endpoint>();
  std::optional<Told> told;
  do {
    told = co_await server.range(range);
  } while (server.asks_again(told));
  co_return push_one(*run, told);
}

sim::Task<int> ask_put(Client& client, Run* run, Put put) {
  const std::optional<Told> told = co_await client.to<Endpoint>().put(std::move(put));
  co_return push_one(*run, told);
}

sim::Task<int> ask_delete(Client& client, Run* run, Span span) {
  const std::optional<Told> told = co_await client.to<Endpoint>().delete_range(std::move(span));
  co_return push_one(*run, told);
}

sim::Task<int> ask_txn(Client& client, Run* run, Txn txn) {
  const std::optional<Told> told = co_await client.to<Endpoint>().txn(std::move(txn));
  if (push_failure(*run, told)) co_return 1;
  lua_State* const lua = run->lua();
  const std::vector<OperationAnswer>& responses = told->answer.responses;
  lua_createtable(lua, 0, 3);
  lua_pushboolean(lua, told->answer.succeeded);
  lua_setfield(lua, -2, "succeeded");
  scripted::set_integer(lua, "revision", told->answer.revision);
  lua_createtable(lua, static_cast<int>(responses.size()), 0);
  for (std::size_t i = 0; i < responses.size(); ++i) {
    push_response(lua, responses[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(lua, -2, "responses");
  co_return 1;
}

int push_lease(Run& run, std::optional<LeaseId> lease) {
  if (lease) {
    scripted::push_integer(run.lua(), *lease);
  } else {
    run.machine().interpreter().push_unknown(run.lua());
  }
  return 1;
}

sim::Task<int> open_session(Client& client, Run* run, sim::Duration ttl) {
  const std::optional<LeaseId> lease = co_await client.shared<locks::EtcdSessions>("").open(client, ttl);
  co_return push_lease(*run, lease);
}

sim::Task<int> ask_grant(Client& client, Run* run, sim::Duration ttl) {
  const std::optional<Told> told = co_await client.to<Endpoint>().grant(ttl);
  co_return push_lease(*run, told ? std::optional(told->lease) : std::nullopt);
}

sim::Task<int> ask_revoke(Client& client, Run* run, LeaseId lease) {
  const std::optional<Told> told = co_await client.to<Endpoint>().revoke(lease);
  if (!push_failure(*run, told)) lua_pushboolean(run->lua(), 1);
  co_return 1;
}

/// True: it lives on; false: there is none.
sim::Task<int> ask_keep_alive(Client& client, Run* run, LeaseId lease, sim::Duration patience) {
  const std::optional<Told> told = co_await client.to<Endpoint>().keep_alive(lease, patience);
  if (!push_failure(*run, told)) lua_pushboolean(run->lua(), told->lease_lives);
  co_return 1;
}

/// What a watch has heard, also when nobody waits for it any more.
struct Heard {
  Latch something;
  std::optional<Told> told;
};

/// The lines of the script that asked, for a task that outlives its attempt.
class Asked final : public sim::InterpretedText {
 public:
  explicit Asked(const Run& run) { run.add_places(places_); }
  void add_places(std::vector<sim::CodePlace>& places) const override {
    places.insert(places.end(), places_.begin(), places_.end());
  }

 private:
  std::vector<sim::CodePlace> places_;
};

/// `asked`: by value, since the task tells it as long as it lives.
sim::Task<void> listen(Client& client, Asked asked, Span span, Revision from, std::shared_ptr<Heard> heard) {
  static_cast<void>(asked);
  heard->told = co_await client.to<Endpoint>().watch(std::move(span), from);
  heard->something.release();
}

sim::Task<int> wait_for_events(Client& client, Run* run, Span span, Revision from, scripted::HowLong how) {
  const auto heard = std::make_shared<Heard>();
  client.spawn(listen(client, Asked(*run), std::move(span), from, heard));
  const bool is_heard = co_await heard->something.acquire(client, {.timeout = how.length, .patience = how.patience});
  lua_State* const lua = run->lua();
  if (!is_heard) {
    lua_pushnil(lua);
    co_return 1;
  }
  if (push_failure(*run, heard->told)) co_return 1;
  const std::vector<Event>& events = heard->told->events;
  lua_createtable(lua, static_cast<int>(events.size()), 1);
  for (std::size_t i = 0; i < events.size(); ++i) {
    lua_createtable(lua, 0, 2);
    scripted::push_text(lua, events[i].is_delete ? "DELETE" : "PUT");
    lua_setfield(lua, -2, "type");
    push_kv(lua, events[i].kv);
    lua_setfield(lua, -2, "kv");
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  scripted::set_integer(lua, "n", static_cast<std::int64_t>(events.size()));
  co_return 1;
}

// --- Arguments, of calls and of the parts of a transaction.

Span span_at(lua_State* lua, int index, bool is_prefix) {
  std::string key = scripted::text_at(lua, index, "the key");
  if (!is_prefix) return {std::move(key)};
  if (key.empty() || key.back() == '\xff') scripted::fail(lua, "a prefix is not empty, and does not end with \\255");
  return with_prefix(key);
}

template <class T, std::size_t n>
T word(lua_State* lua, std::string_view said, std::string_view what,
       const std::array<std::pair<std::string_view, T>, n>& words) {
  std::string all;
  for (const auto& [name, value] : words) {
    if (name == said) return value;
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  scripted::fail(lua, fmt::format("{} is \"{:.40}\"; expected one of {}", what, said, all));
}

constexpr std::array<std::pair<std::string_view, SortBy>, 5> kSortBy{{{"key", SortBy::key},
                                                                      {"version", SortBy::version},
                                                                      {"create_revision", SortBy::create},
                                                                      {"mod_revision", SortBy::mod},
                                                                      {"value", SortBy::value}}};
constexpr std::array<std::pair<std::string_view, Order>, 2> kOrders{
    {{"ascend", Order::ascend}, {"descend", Order::descend}}};
constexpr std::array<std::pair<std::string_view, Compare::Target>, 4> kTargets{
    {{"version", Compare::Target::version},
     {"create_revision", Compare::Target::create},
     {"mod_revision", Compare::Target::mod},
     {"value", Compare::Target::value}}};
constexpr std::array<std::pair<std::string_view, Compare::Is>, 4> kIs{
    {{"=", Compare::Is::equal}, {">", Compare::Is::greater}, {"<", Compare::Is::less}, {"!=", Compare::Is::not_equal}}};

Range range_at(lua_State* lua, int index) {
  Options options(lua, index + 1, "range");
  Range range{.span = span_at(lua, index, options.flag("prefix"))};
  range.limit = options.integer("limit").value_or(0);
  range.revision = options.integer("revision").value_or(0);
  range.max_create_revision = options.integer("max_create_revision").value_or(0);
  range.serializable = options.flag("serializable");
  if (const auto by = options.text("sort_by")) range.sort_by = word(lua, *by, "sort_by", kSortBy);
  if (const auto order = options.text("order")) range.order = word(lua, *order, "order", kOrders);
  options.end();
  if (range.limit < 0 || range.revision < 0 || range.max_create_revision < 0)
    scripted::fail(lua, "limit, revision and max_create_revision of range are not negative");
  return range;
}

Put put_at(lua_State* lua, int index) {
  Options options(lua, index + 2, "put");
  Put put{.key = scripted::text_at(lua, index, "the key"), .value = scripted::text_at(lua, index + 1, "the value")};
  put.lease = options.integer("lease").value_or(0);
  options.end();
  return put;
}

Span deleted_at(lua_State* lua, int index) {
  Options options(lua, index + 1, "delete");
  Span span = span_at(lua, index, options.flag("prefix"));
  options.end();
  return span;
}

/// The parts of `compare`, `success` or `failure`, each of which is unpacked onto the stack from `first` on.
template <class Part>
void read_parts(lua_State* lua, const char* name, void (*read)(lua_State*, int, std::vector<Part>&),
                std::vector<Part>& parts) {
  lua_pushstring(lua, name);
  lua_rawget(lua, 2);
  if (lua_isnil(lua, -1)) return lua_pop(lua, 1);
  if (!lua_istable(lua, -1)) scripted::fail(lua, fmt::format("{} of txn is a list of tables", name));
  const int list = lua_gettop(lua);
  const std::size_t count = lua_objlen(lua, list);
  if (count > kMostParts) scripted::fail(lua, "too many operations in txn request");
  for (std::size_t i = 1; i <= count; ++i) {
    lua_rawgeti(lua, list, static_cast<int>(i));
    if (!lua_istable(lua, -1)) scripted::fail(lua, fmt::format("{} of txn is a list of tables", name));
    const int part = lua_gettop(lua);
    for (int field = 1; field <= 4; ++field) lua_rawgeti(lua, part, field);
    read(lua, part + 1, parts);
    lua_settop(lua, list);
  }
  lua_pop(lua, 1);
}

/// { "create_revision", key, "=", 0 }
void read_compare(lua_State* lua, int first, std::vector<Compare>& parts) {
  Compare compare{.span = {scripted::text_at(lua, first + 1, "the key of a comparison")},
                  .target = word(lua, scripted::text_at(lua, first, "what is compared"), "what is compared", kTargets),
                  .is = word(lua, scripted::text_at(lua, first + 2, "the comparison"), "the comparison", kIs)};
  if (compare.target == Compare::Target::value) {
    compare.value = scripted::text_at(lua, first + 3, "the value of a comparison");
  } else {
    compare.number = scripted::integer_at(lua, first + 3, "the number of a comparison");
  }
  parts.push_back(std::move(compare));
}

/// { "put", key, value, { lease = lease } }
void read_operation(lua_State* lua, int first, std::vector<Operation>& parts) {
  const std::string name = scripted::text_at(lua, first, "the name of an operation");
  if (name == "put") {
    parts.emplace_back(put_at(lua, first + 1));
  } else if (name == "range") {
    parts.emplace_back(range_at(lua, first + 1));
  } else if (name == "delete") {
    parts.emplace_back(DeleteRange{deleted_at(lua, first + 1)});
  } else {
    scripted::fail(lua, fmt::format("an operation of txn is \"{:.40}\"; expected one of put, range, delete", name));
  }
}

// --- Calls.

sim::Duration ttl_at(lua_State* lua, int index) {
  const sim::Duration ttl = scripted::length_at(lua, index, "the time to live");
  if (ttl < sim::Duration::milliseconds(1)) scripted::fail(lua, "a lease's time to live is to be 1ms or more");
  return ttl;
}

int range(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:range(key, { prefix = true })");
  return scripted::wait_for_server(lua, run, ask_range(run.client(), &run, range_at(lua, 2)));
}

int put(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:put(key, value, { lease = lease })");
  return scripted::wait_for_server(lua, run, ask_put(run.client(), &run, put_at(lua, 2)));
}

int remove(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:delete(key)");
  return scripted::wait_for_server(lua, run, ask_delete(run.client(), &run, deleted_at(lua, 2)));
}

int txn(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:txn({ compare = …, success = …, failure = … })");
  if (!lua_istable(lua, 2)) scripted::fail(lua, "expected c.etcd:txn({ compare = …, success = …, failure = … })");
  lua_settop(lua, 2);
  lua_checkstack(lua, 16);
  Txn txn;
  read_parts(lua, "compare", read_compare, txn.compare);
  read_parts(lua, "success", read_operation, txn.success);
  read_parts(lua, "failure", read_operation, txn.failure);
  for (lua_pushnil(lua); lua_next(lua, 2) != 0; lua_pop(lua, 1)) {
    const std::string_view name = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
    if (name != "compare" && name != "success" && name != "failure")
      scripted::fail(lua, "txn has compare, success and failure");
  }
  return scripted::wait_for_server(lua, run, ask_txn(run.client(), &run, std::move(txn)));
}

int watch(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:watch(key, { revision = revision, patience = p })");
  Options options(lua, 3, "watch");
  Span span = span_at(lua, 2, options.flag("prefix"));
  const Revision from = options.integer("revision").value_or(0);
  scripted::HowLong how{.length = options.length("length"), .patience = options.patience("patience")};
  options.end();
  return scripted::wait_for_server(lua, run, wait_for_events(run.client(), &run, std::move(span), from, how));
}

/// NewSession
int session(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:session(c.parameters.ttl)");
  return scripted::wait_for_server(lua, run, open_session(run.client(), &run, ttl_at(lua, 2)));
}

/// Close of a session. Returns at once.
int close(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:close(lease)");
  const LeaseId lease = scripted::integer_at(lua, 2, "the session's lease");
  run.client().shared<locks::EtcdSessions>("").close(run.client(), lease);
  return 0;
}

int lease_grant(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:lease_grant(c.parameters.ttl)");
  return scripted::wait_for_server(lua, run, ask_grant(run.client(), &run, ttl_at(lua, 2)));
}

int lease_revoke(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:lease_revoke(lease)");
  return scripted::wait_for_server(lua, run, ask_revoke(run.client(), &run, scripted::integer_at(lua, 2, "the lease")));
}

int lease_keep_alive(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.etcd:lease_keep_alive(lease, { within = 1000 })");
  const LeaseId lease = scripted::integer_at(lua, 2, "the lease");
  Options options(lua, 3, "lease_keep_alive");
  const sim::Duration patience = options.length("within").value_or(sim::Duration::seconds(5));
  options.end();
  return scripted::wait_for_server(lua, run, ask_keep_alive(run.client(), &run, lease, patience));
}

constexpr luaL_Reg kCalls[] = {{"range", range},
                               {"put", put},
                               {"delete", remove},
                               {"txn", txn},
                               {"watch", watch},
                               {"session", session},
                               {"close", close},
                               {"lease_grant", lease_grant},
                               {"lease_revoke", lease_revoke},
                               {"lease_keep_alive", lease_keep_alive},
                               {nullptr, nullptr}};

}  // namespace
}  // namespace lockstep::models::etcd

namespace lockstep::models::scripted {

const ServerLibrary& etcd_for_scripts() {
  static constexpr ServerLibrary library{.kind = etcd_kind, .has_background = true, .calls = etcd::kCalls};
  return library;
}

}  // namespace lockstep::models::scripted
