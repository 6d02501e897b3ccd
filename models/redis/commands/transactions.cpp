// MULTI, EXEC, DISCARD, WATCH and UNWATCH.

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {

Reply multi_command(Call& call) {
  if (call.session.in_transaction) return Reply::error("ERR MULTI calls can not be nested");
  call.session.in_transaction = true;
  return Reply::ok();
}

Reply exec_command(Call& call) {
  Session& client = call.session;
  if (!client.in_transaction) return Reply::error("ERR EXEC without MULTI");
  if (client.is_broken) {
    call.database.forget_transaction(client);
    return Reply::error("EXECABORT Transaction discarded because of previous errors.");
  }
  // A watched key whose time is up has changed, though nobody has touched it.
  for (const WatchedKey& watched : client.watched) {
    call.keys.select(watched.database);
    call.keys.watch(call.keys.identity(watched.key), false);
    if (client.is_dirty) continue;
    const bool was_there = call.keys.peek(watched.key) != nullptr;
    if (call.keys.find(watched.key, call.clock) == nullptr && was_there) client.is_dirty = true;
  }
  call.keys.select(client.database);
  call.database.replicate_expiries();
  if (call.database.configuration().notified_events().any()) [[unlikely]]
    call.database.announce_expiries(call);
  if (client.is_dirty) {
    call.database.forget_transaction(client);
    return Reply::null_array();
  }
  return call.database.run_queue(client);
}

Reply discard_command(Call& call) {
  if (!call.session.in_transaction) return Reply::error("ERR DISCARD without MULTI");
  call.database.forget_transaction(call.session);
  return Reply::ok();
}

Reply watch_command(Call& call) {
  Session& client = call.session;
  if (client.in_transaction) return Reply::error("ERR WATCH inside MULTI is not allowed");
  for (std::size_t i = 1; i < call.size(); ++i) {
    const std::string key(call.key(i));
    const bool was_there = call.keys.peek(key) != nullptr;
    const bool is_there = call.keys.find(key, call.clock) != nullptr;
    if (!client.watched.contains({key, client.database})) {
      call.database.watch(client, key);
    } else if (was_there && !is_there) {
      client.is_dirty = true;
    }
  }
  return Reply::ok();
}

Reply unwatch_command(Call& call) {
  call.database.unwatch(call.session);
  return Reply::ok();
}

}  // namespace lockstep::models::redis
