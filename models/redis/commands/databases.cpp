// Commands on databases as a whole, and between them.

#include <cstdint>
#include <string>
#include <vector>

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

bool is_int(std::int64_t number) { return number >= INT32_MIN && number <= INT32_MAX; }

Reply no_such_database() { return Reply::error("ERR DB index is out of range"); }

std::optional<Reply> wrong_flush_option(const Call& call) {
  const auto options = call.arguments.subspan(1);
  if (options.size() > 1 || (options.size() == 1 && !options[0].is_word("SYNC") && !options[0].is_word("ASYNC"))) {
    return syntax_error();
  }
  return std::nullopt;
}

/// Of the selected database, in an order that does not depend on which were found expired before.
std::vector<std::string> keys_alive(Call& call) {
  std::vector<std::string> names;
  for (std::size_t i = call.keys.size(); i > 0; --i) {
    const std::string name = call.keys.entries()[i - 1].key;
    if (call.keys.find(name, call.clock) != nullptr) names.push_back(name);
  }
  return names;
}

}  // namespace

std::variant<DatabaseId, Reply> read_database(const Value& argument) {
  const std::optional<std::int64_t> index = argument.integer();
  if (!index) return not_an_integer();
  if (!is_int(*index)) {
    return Reply::error("ERR value is out of range, value must between -2147483648 and 2147483647");
  }
  if (*index < 0 || *index >= static_cast<std::int64_t>(kDatabases)) return no_such_database();
  return static_cast<DatabaseId>(*index);
}

Reply select_command(Call& call) {
  const auto database = read_database(call.arguments[1]);
  if (const Reply* error = std::get_if<Reply>(&database)) return *error;
  call.session.database = std::get<DatabaseId>(database);
  return Reply::ok();
}

Reply move_command(Call& call) {
  const auto database = read_database(call.arguments[2]);
  if (const Reply* error = std::get_if<Reply>(&database)) return *error;
  const DatabaseId from = call.keys.selected(), to = std::get<DatabaseId>(database);
  if (from == to) return Reply::error("ERR source and destination objects are the same");
  const std::string key(call.key());
  Entry* source = call.keys.find(key, call.clock);
  if (source == nullptr) return Reply::integer(0);
  call.keys.select(to);
  const bool is_taken = call.keys.find(key, call.clock) != nullptr;
  if (!is_taken) {
    Entry& target = call.keys.overwrite(key);
    target.object = std::move(source->object);
    target.expires = source->expires;
    static_cast<Deadline&>(target) = *source;
  }
  call.keys.select(from);
  if (!is_taken) call.keys.remove(*source);
  return Reply::integer(is_taken ? 0 : 1);
}

Reply swapdb_command(Call& call) {
  const std::optional<std::int64_t> one = call.arguments[1].integer(), other = call.arguments[2].integer();
  if (!one || !is_int(*one)) return Reply::error("ERR invalid first DB index");
  if (!other || !is_int(*other)) return Reply::error("ERR invalid second DB index");
  const auto most = static_cast<std::int64_t>(kDatabases);
  if (*one < 0 || *one >= most || *other < 0 || *other >= most) return no_such_database();
  if (*one != *other) call.keys.swap(static_cast<DatabaseId>(*one), static_cast<DatabaseId>(*other));
  // Also what changed nothing goes to the replicas.
  call.database.replicate_as(Command{"SWAPDB", call.arguments[1], call.arguments[2]});
  return Reply::ok();
}

Reply flushdb_command(Call& call) {
  if (auto error = wrong_flush_option(call)) return *std::move(error);
  call.keys.remove_all();
  return Reply::ok();
}

Reply flushall_command(Call& call) {
  if (auto error = wrong_flush_option(call)) return *std::move(error);
  const DatabaseId present = call.keys.selected();
  for (DatabaseId database = 0; database < kDatabases; ++database) {
    if (call.keys.entries(database).empty()) continue;
    call.keys.select(database);
    call.keys.remove_all();
  }
  call.keys.select(present);
  return Reply::ok();
}

Reply randomkey_command(Call& call) {
  const std::vector<std::string> names = keys_alive(call);
  if (names.empty()) return Reply::nil();
  return Reply::bulk(names[static_cast<std::size_t>(call.world().choose(sim::Choice::model, names.size()))]);
}

void append_keyspace_info(std::string& out, Call& call) {
  const DatabaseId present = call.keys.selected();
  for (DatabaseId database = 0; database < kDatabases; ++database) {
    if (call.keys.entries(database).empty()) continue;
    call.keys.select(database);
    std::int64_t alive = 0, mortal = 0;
    for (const std::string& name : keys_alive(call)) {
      ++alive;
      if (call.keys.peek(name)->expires) ++mortal;
    }
    if (alive == 0) continue;
    out += "db" + std::to_string(database) + ":keys=" + std::to_string(alive) + ",expires=" + std::to_string(mortal) +
           ",avg_ttl=0\r\n";
  }
  call.keys.select(present);
}

}  // namespace lockstep::models::redis
