// Commands that wait until a list has an element. Inside a script or a transaction they reply at once, as if their time
// were out.

#include <cmath>
#include <cstdint>

#include "models/redis/database.hpp"
#include "models/redis/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// Seconds, with a part below; 0: for ever.
std::variant<std::optional<sim::Duration>, Reply> read_timeout(const Value& argument) {
  std::string scratch;
  const std::optional<Real> seconds = parse_real(argument.view(scratch));
  if (!seconds) return Reply::error("ERR timeout is not a float or out of range");
  constexpr Real kMost = 9223372036854775807.0;
  if (*seconds * 1000 > kMost) return Reply::error("ERR timeout is out of range");
  if (*seconds < 0) return Reply::error("ERR timeout is negative");
  if (*seconds == 0) return std::optional<sim::Duration>();
  constexpr Real kForever = 10.0 * 365 * 86'400 * 1000;
  const Real milliseconds = std::fmin(std::ceil(*seconds * 1000), kForever);
  return std::optional(sim::Duration::milliseconds(static_cast<std::int64_t>(milliseconds)));
}

Reply blocking_pop(Call& call, Waiting::Kind kind) {
  const auto timeout = read_timeout(call.arguments.back());
  if (const Reply* error = std::get_if<Reply>(&timeout)) return *error;
  const bool left = kind == Waiting::Kind::pop_left;
  Waiting waiting{.kind = kind, .timeout = std::get<0>(timeout)};
  for (std::size_t i = 1; i + 1 < call.size(); ++i) {
    auto found = find_object<List>(call, i);
    if (found.is_wrong()) return wrong_type();
    waiting.keys.emplace_back(call.key(i));
    if (!found) continue;
    Value value = left ? found->pop_front() : found->pop_back();
    found.shrunk(call);
    call.database.replicate_as(Command{left ? "LPOP" : "RPOP", waiting.keys.back()});
    return Reply::array({Reply::bulk(std::move(waiting.keys.back())), Reply::bulk(std::move(value))});
  }
  if (call.may_block) call.database.block(call.session, std::move(waiting));
  return Reply::null_array();
}

}  // namespace

Reply blpop_command(Call& call) { return blocking_pop(call, Waiting::Kind::pop_left); }
Reply brpop_command(Call& call) { return blocking_pop(call, Waiting::Kind::pop_right); }

Reply blmove_command(Call& call) {
  const bool from_left = call.arguments[3].is_word("LEFT");
  const bool to_left = call.arguments[4].is_word("LEFT");
  if ((!from_left && !call.arguments[3].is_word("RIGHT")) || (!to_left && !call.arguments[4].is_word("RIGHT"))) {
    return syntax_error();
  }
  const auto timeout = read_timeout(call.arguments[5]);
  if (const Reply* error = std::get_if<Reply>(&timeout)) return *error;
  const auto source = find_object<List>(call);
  if (source.is_wrong()) return wrong_type();
  if (source) {
    Reply moved = lmove_command(call);
    if (moved.is_error()) return moved;
    call.database.replicate_as(
        Command{"LMOVE", call.arguments[1], call.arguments[2], call.arguments[3], call.arguments[4]});
    return moved;
  }
  if (!call.may_block) return Reply::nil();
  call.database.block(call.session, {.kind = Waiting::Kind::move,
                                     .keys = {std::string(call.key(1))},
                                     .destination = std::string(call.key(2)),
                                     .from_left = from_left,
                                     .to_left = to_left,
                                     .timeout = std::get<0>(timeout)});
  return Reply::null_array();
}

}  // namespace lockstep::models::redis
