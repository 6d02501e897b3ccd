// Commands on the server as a whole, and the errors that many commands share.

#include "models/redis/handlers.hpp"

namespace lockstep::models::redis {

Reply wrong_type() { return Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value"); }
Reply not_an_integer() { return Reply::error("ERR value is not an integer or out of range"); }
Reply syntax_error() { return Reply::error("ERR syntax error"); }
Reply invalid_expire_time(const Call& call) {
  return Reply::error("ERR invalid expire time in '" + error_name(call.command) + "' command");
}

Reply ping_command(Call& call) {
  if (call.arguments.size() > 2) return Reply::error("ERR wrong number of arguments for 'ping' command");
  return call.arguments.size() == 1 ? Reply::status("PONG") : Reply::bulk(call.arguments[1]);
}

Reply echo_command(Call& call) { return Reply::bulk(call.arguments[1]); }

Reply time_command(Call& call) {
  const sim::Instant now = call.clock.now();
  constexpr std::int64_t kPerSecond = 1'000'000;
  const Value microseconds = Timestamp{now, sim::Duration::microseconds(1)};
  // Seconds as a timestamp would stay symbolic; the part below a second has no such form, so both are printed.
  const std::int64_t total = *microseconds.integer();
  const std::int64_t below = (total % kPerSecond + kPerSecond) % kPerSecond;
  return Reply::array({Reply::bulk(Value((total - below) / kPerSecond).text()), Reply::bulk(Value(below).text())});
}

Reply flushall_command(Call& call) {
  const auto options = call.arguments.subspan(1);
  if (options.size() > 1 || (options.size() == 1 && !options[0].is_word("SYNC") && !options[0].is_word("ASYNC"))) {
    return syntax_error();
  }
  call.keys.remove_all();
  return Reply::ok();
}

}  // namespace lockstep::models::redis
