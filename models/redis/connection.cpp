#include "models/redis/connection.hpp"

namespace lockstep::models::redis {

CommandCall Connection::call(Command command) {
  auto request = client_->world().make<Request>(std::move(command));
  request->operation = session_->operation;
  return CommandCall(*client_, id_, std::move(request), timeout_, session_->missed_reply);
}

CommandCall Connection::set(const Value& key, const Value& value, SetOptions options) {
  if (options.nx && options.px) return call(Command{"SET", key, value, "NX", "PX", options.px->floor_ms()});
  if (options.px) return call(Command{"SET", key, value, "PX", options.px->floor_ms()});
  if (options.nx) return call(Command{"SET", key, value, "NX"});
  return call(Command{"SET", key, value});
}

CommandCall Connection::expire(const Value& key, sim::Duration ttl) {
  const std::int64_t ms = ttl.floor_ms();
  if (ms % 1000 == 0) return call(Command{"EXPIRE", key, ms / 1000});
  return call(Command{"PEXPIRE", key, ms});
}

CommandCall Connection::eval(std::string_view script, std::initializer_list<Value> keys,
                             std::initializer_list<Value> arguments) {
  Command command{"EVAL", Value::lasting(script), static_cast<std::int64_t>(keys.size())};
  for (const Value& key : keys) command.push_back(key);
  for (const Value& argument : arguments) command.push_back(argument);
  return call(std::move(command));
}

}  // namespace lockstep::models::redis
