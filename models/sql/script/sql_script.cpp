// c.sql: what a script of a lock asks of an SQL server: statements as data, no text of SQL.
// Source: PostgreSQL 15 and MariaDB 10.11, as models/sql has them; advisory locks by PostgreSQL's names.

#include <lua.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/client/client.hpp"
#include "models/scripted/library.hpp"
#include "models/scripted/lua_values.hpp"
#include "models/scripted/server_library.hpp"
#include "models/servers/kinds.hpp"
#include "models/sql/client/sql_endpoint.hpp"
#include "models/sql/engine/statement.hpp"

namespace lockstep::models::sql {
namespace {

using scripted::Options;
using scripted::Run;

constexpr std::size_t kMostColumns = 100;

// --- Tables. The engine's callers know them; a script may not.

struct KnownTable {
  std::string_view name;
  std::span<const std::string_view> columns;  ///< the first is the primary key
};
constexpr std::string_view kLocks[] = {"name"}, kOwners[] = {"name", "owner"}, kVersions[] = {"name", "version"},
                           kShedlock[] = {"name", "lock_until", "locked_at", "locked_by"};
constexpr std::array<KnownTable, 4> kTables{
    {{"locks", kLocks}, {"owners", kOwners}, {"shedlock", kShedlock}, {"versions", kVersions}}};
constexpr std::string_view kPrimaryKey = "name";
constexpr std::string_view kNumber = "version";  ///< the only column that holds numbers

const KnownTable& table_at(lua_State* lua, int index, Statement& statement) {
  statement.table = scripted::text_at(lua, index, "the table");
  std::string all;
  for (const KnownTable& table : kTables) {
    if (table.name == statement.table) return table;
    all += (all.empty() ? "" : ", ") + std::string(table.name);
  }
  scripted::fail(lua, fmt::format("there is no table \"{:.40}\"; expected one of {}", statement.table, all));
}

/// A time has no digits in `check`: it stands where only times do, so nothing else is ever compared with it.
bool is_time(const std::string& column) { return column == "lock_until" || column == "locked_at"; }
bool is_time(const Term& term) {
  return term.kind == Term::Kind::now || (term.kind == Term::Kind::value && term.value.timestamp() != nullptr);
}

void check_term(lua_State* lua, const std::string& column, const Term& term) {
  const bool is_column = term.kind == Term::Kind::column;
  if (is_time(column) != is_time(term))
    scripted::fail(lua, is_time(column) ? "the columns lock_until and locked_at hold times: c:now() + 50, { now = 50 }"
                                        : "a time is for the columns lock_until and locked_at");
  if (is_column && (column != kNumber || term.column != kNumber))
    scripted::fail(lua, "{ column = … } is for the column version of the table versions, and stands for itself");
  if (column == kNumber && !is_column &&
      (term.kind != Term::Kind::value || term.value.timestamp() != nullptr || !term.value.integer()))
    scripted::fail(lua, "the column version holds whole numbers");
}

void check_column(lua_State* lua, const KnownTable& table, const std::string& column, const Term& term) {
  if (std::find(table.columns.begin(), table.columns.end(), column) == table.columns.end())
    scripted::fail(lua, fmt::format("the table {} has no column \"{:.40}\"; expected one of {}", table.name, column,
                                    fmt::join(table.columns, ", ")));
  check_term(lua, column, term);
}

/// `is_locking`: InnoDB's locks are modelled where the primary key is named.
void check_where(lua_State* lua, const KnownTable& table, const std::vector<Condition>& where, bool is_locking) {
  bool names_key = false;
  for (const Condition& condition : where) {
    check_column(lua, table, condition.column, condition.term);
    names_key = names_key || (condition.column == kPrimaryKey && condition.is == Condition::Is::equal &&
                              condition.term.kind == Term::Kind::value);
  }
  if (is_locking && !names_key) scripted::fail(lua, "what locks rows says which one: { { \"name\", \"=\", c.key } }");
}

// --- What a script gets.

sim::Task<int> send(Client& client, Run* run, Statement statement) {
  const std::optional<Result> result = co_await client.to<Endpoint>().execute(std::move(statement));
  lua_State* const lua = run->lua();
  if (!result) {
    run->machine().interpreter().push_unknown(lua);
    co_return 1;
  }
  if (!result->ok()) {
    scripted::push_error(lua, run->machine().interpreter(), to_string(result->error));
    scripted::push_text(lua, sqlstate(result->error));
    co_return 2;
  }
  if (result->now) {
    scripted::push_moment(lua, *result->now, sim::Duration::milliseconds(1));
    co_return 1;
  }
  lua_checkstack(lua, 8);
  lua_createtable(lua, 0, 3);
  scripted::set_integer(lua, "affected", result->affected);
  lua_pushboolean(lua, result->rolled_back);
  lua_setfield(lua, -2, "rolled_back");
  lua_createtable(lua, static_cast<int>(result->rows.size()), 1);
  for (std::size_t i = 0; i < result->rows.size(); ++i) {
    const Row& row = result->rows[i];
    lua_createtable(lua, static_cast<int>(row.size()), 0);
    for (std::size_t column = 0; column < row.size(); ++column) {
      scripted::push_stored(lua, row[column]);
      lua_rawseti(lua, -2, static_cast<int>(column) + 1);
    }
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  scripted::set_integer(lua, "n", static_cast<std::int64_t>(result->rows.size()));
  lua_setfield(lua, -2, "rows");
  co_return 1;
}

// --- Arguments.

/// A value; or { column = "version", plus = 1 }; or { now = 5000 }, which is now() of the server and 5s.
Term term_at(lua_State* lua, int index) {
  if (!lua_istable(lua, index)) return Term::of(scripted::value_at(lua, index, "a value"));
  Options options(lua, index, "a term");
  std::optional<std::string> column = options.text("column");
  const std::int64_t plus = options.integer("plus").value_or(0);
  const std::optional<sim::Duration> after = options.length("now");
  options.end();
  if (column.has_value() == after.has_value())
    scripted::fail(lua, "a term is a value, { column = \"version\", plus = 1 } or { now = 0 }");
  return column ? Term::column_plus(*std::move(column), plus) : Term::now(*after);
}

/// Calls `read` for each of a list of tables, whose first `fields` values are on the stack then, from its argument on.
template <class Part>
std::vector<Part> parts_at(lua_State* lua, int index, int fields, const char* example,
                           Part (*read)(lua_State*, int first)) {
  std::vector<Part> parts;
  if (!lua_istable(lua, index)) scripted::fail(lua, fmt::format("expected a list such as {}", example));
  const std::size_t count = lua_objlen(lua, index);
  if (count > kMostColumns) scripted::fail(lua, "more than 100 of them");
  for (std::size_t i = 1; i <= count; ++i) {
    lua_rawgeti(lua, index, static_cast<int>(i));
    const int part = lua_gettop(lua);
    if (!lua_istable(lua, part)) scripted::fail(lua, fmt::format("expected a list such as {}", example));
    for (int field = 1; field <= fields; ++field) lua_rawgeti(lua, part, field);
    parts.push_back(read(lua, part + 1));
    lua_settop(lua, part - 1);
  }
  // { name = c.key } would be read as empty.
  int all = 0;
  for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) ++all;
  if (static_cast<std::size_t>(all) != count) scripted::fail(lua, fmt::format("expected a list such as {}", example));
  return parts;
}

Condition condition_at(lua_State* lua, int first) {
  Condition condition{.column = scripted::text_at(lua, first, "a column"), .term = term_at(lua, first + 2)};
  const std::string is = scripted::text_at(lua, first + 1, "a comparison");
  if (is == "<=") {
    condition.is = Condition::Is::at_most;
  } else if (is == ">") {
    condition.is = Condition::Is::above;
  } else if (is != "=") {
    scripted::fail(lua, fmt::format("a comparison is \"{:.40}\"; expected one of =, <=, >", is));
  }
  return condition;
}

std::vector<Condition> where_at(lua_State* lua, int index) {
  return parts_at(lua, index, 3, "{ { \"name\", \"=\", c.key } }", condition_at);
}

Assignment assignment_at(lua_State* lua, int first) {
  return {.column = scripted::text_at(lua, first, "a column"), .term = term_at(lua, first + 1)};
}

// --- Calls.

int execute(lua_State* lua, Run& run, Statement statement) {
  return scripted::wait_for_server(lua, run, send(run.client(), &run, std::move(statement)));
}

/// c.sql:begin({ isolation = "repeatable-read" })
int begin(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:begin()");
  Options options(lua, 2, "begin");
  const std::string isolation = options.text("isolation").value_or("standard");
  options.end();
  Statement statement{.kind = Statement::Kind::begin};
  if (isolation == "read-committed") {
    statement.isolation = Isolation::read_committed;
  } else if (isolation == "repeatable-read") {
    statement.isolation = Isolation::repeatable_read;
  } else if (isolation != "standard") {
    scripted::fail(
        lua,
        fmt::format("isolation is \"{:.40}\"; expected one of standard, read-committed, repeatable-read", isolation));
  }
  return execute(lua, run, std::move(statement));
}

template <Statement::Kind kind>
int plain(lua_State* lua) {
  return execute(lua, scripted::server_run(lua, "c.sql:commit()"), {.kind = kind});
}

/// c.sql:select("locks", { { "name", "=", c.key } }, { lock = "for update" })
int select(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:select(table, where, { lock = \"for update\" })");
  Statement statement{.kind = Statement::Kind::select};
  const KnownTable& table = table_at(lua, 2, statement);
  lua_settop(lua, 4);
  statement.where = where_at(lua, 3);
  Options options(lua, 4, "select");
  const std::string lock = options.text("lock").value_or("");
  options.end();
  if (lock == "for update") {
    statement.locking = Locking::wait;
  } else if (lock == "for update nowait") {
    statement.locking = Locking::nowait;
  } else if (lock == "for update skip locked") {
    statement.locking = Locking::skip_locked;
  } else if (!lock.empty()) {
    scripted::fail(lua,
                   fmt::format("lock is \"{:.40}\"; expected one of for update, for update nowait, for update skip "
                               "locked",
                               lock));
  }
  check_where(lua, table, statement.where, statement.locking != Locking::none);
  return execute(lua, run, std::move(statement));
}

/// c.sql:insert("owners", { c.key, token }): a value for each column
int insert(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:insert(table, { value, … })");
  Statement statement{.kind = Statement::Kind::insert};
  const KnownTable& table = table_at(lua, 2, statement);
  if (!lua_istable(lua, 3)) scripted::fail(lua, "expected the values of a row: { c.key, token }");
  const std::size_t count = lua_objlen(lua, 3);
  if (count != table.columns.size())
    scripted::fail(lua, fmt::format("a row of {} has the columns {}", table.name, fmt::join(table.columns, ", ")));
  for (std::size_t i = 1; i <= count; ++i) {
    lua_rawgeti(lua, 3, static_cast<int>(i));
    statement.row.push_back(term_at(lua, lua_gettop(lua)));
    lua_pop(lua, 1);
    if (statement.row.back().kind == Term::Kind::column)
      scripted::fail(lua, "a row that is inserted has no columns yet");
    check_column(lua, table, std::string(table.columns[i - 1]), statement.row.back());
  }
  return execute(lua, run, std::move(statement));
}

/// c.sql:update(table, { { "version", { column = "version", plus = 1 } } }, where, { frees = true })
int update(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:update(table, set, where)");
  Statement statement{.kind = Statement::Kind::update};
  const KnownTable& table = table_at(lua, 2, statement);
  lua_settop(lua, 5);
  statement.set = parts_at(lua, 3, 2, "{ { \"owner\", token } }", assignment_at);
  statement.where = where_at(lua, 4);
  Options options(lua, 5, "update");
  statement.frees = options.flag("frees");
  options.end();
  for (const Assignment& assignment : statement.set) {
    check_column(lua, table, assignment.column, assignment.term);
    if (assignment.column == kPrimaryKey) scripted::fail(lua, "the primary key of a row does not change");
  }
  check_where(lua, table, statement.where, true);
  return execute(lua, run, std::move(statement));
}

int remove(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:delete(table, where)");
  Statement statement{.kind = Statement::Kind::remove};
  const KnownTable& table = table_at(lua, 2, statement);
  lua_settop(lua, 3);
  statement.where = where_at(lua, 3);
  check_where(lua, table, statement.where, true);
  return execute(lua, run, std::move(statement));
}

template <Statement::Kind kind>
int advisory(lua_State* lua) {
  Run& run = scripted::server_run(lua, "c.sql:advisory_lock(c.key)");
  return execute(lua, run, {.kind = kind, .key = Value(scripted::text_at(lua, 2, "the key"))});
}

constexpr luaL_Reg kCalls[] = {{"begin", begin},
                               {"commit", plain<Statement::Kind::commit>},
                               {"rollback", plain<Statement::Kind::rollback>},
                               {"select", select},
                               {"insert", insert},
                               {"update", update},
                               {"delete", remove},
                               {"advisory_lock", advisory<Statement::Kind::lock_advisory>},
                               {"try_advisory_lock", advisory<Statement::Kind::try_advisory>},
                               {"advisory_unlock", advisory<Statement::Kind::unlock_advisory>},
                               {"now", plain<Statement::Kind::now>},
                               {nullptr, nullptr}};

}  // namespace
}  // namespace lockstep::models::sql

namespace lockstep::models::scripted {

const ServerLibrary& sql_for_scripts() {
  static constexpr ServerLibrary library{.kind = sql_kind, .calls = sql::kCalls};
  return library;
}

}  // namespace lockstep::models::scripted
