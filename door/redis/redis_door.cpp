#include "door/redis/redis_door.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "models/redis/data/sorted_set.hpp"

namespace lockstep::door {
namespace {

using models::redis::Command;
using models::redis::Reply;
using models::redis::Response;

bool is_debug(const Command& command, std::string_view subcommand) {
  return command.size() == 3 && command[0].is_word("DEBUG") && command[1].is_word(subcommand);
}

/// Seconds with a decimal point, up to a year; nothing if it is no such number.
std::optional<sim::Duration> seconds_of(const models::Value& argument) {
  constexpr models::redis::Real kMost = 365.0 * 86'400;
  std::string scratch;
  const std::optional<models::redis::Real> seconds = models::redis::parse_real(argument.view(scratch));
  if (!seconds || !(*seconds >= 0 && *seconds <= kMost)) return std::nullopt;
  return sim::Duration::nanoseconds(static_cast<std::int64_t>(std::llround(*seconds * 1e9)));
}

}  // namespace

void RedisDoor::RedisVisit::begin() {
  forget_input();
  in_transaction = refuses_step = false;
}

/// One request at a time: what a client has sent behind a BLPOP must wait for its reply.
void RedisDoor::RedisVisit::serve() {
  sim::World& world = door.world();
  while (state == State::open && !is_waiting() && !is_over) {
    auto next = parser.next();
    if (std::holds_alternative<models::redis::Incomplete>(next)) return;
    if (const auto* error = std::get_if<models::redis::ProtocolError>(&next)) {
      Reply::error("ERR " + error->message).append_resp(output);
      is_over = true;
      return;
    }
    Command& command = std::get<Command>(next);
    if (command[0].is_word("POST") || command[0].is_word("HOST:")) {
      // A browser that was lured here. The real server hangs up, and what was to be said is not.
      output.clear();
      is_over = true;
    } else if (is_debug(command, "STEP")) {
      if (in_transaction) {
        refuse_step_in_transaction();
      } else {
        take_step(command);
      }
    } else {
      if (const auto length = is_debug(command, "SLEEP") ? seconds_of(command[2]) : std::nullopt) {
        // The server sleeps; stepped time must run until it wakes.
        const sim::Instant end = world.now() + *length;
        if (world.is_at_or_after(end, redis_door.sleeps_until_)) redis_door.sleeps_until_ = end;
        redis_door.step_to(end);
      }
      send_command(std::move(command));
    }
  }
}

/// Whatever its session held is dropped by this: a transaction, subscriptions, a blocked command.
void RedisDoor::RedisVisit::leave() {
  door.world().cancel_timer(std::exchange(step, {}));
  is_stepping = false;
  state = State::leaving;
  send_command(Command{"QUIT"});
}

void RedisDoor::RedisVisit::send_command(Command command) {
  const models::redis::CommandSpec* spec = command.spec();
  awaited = spec != nullptr ? spec->name : "";
  send(door.world().make<models::redis::Request>(std::move(command)));
}

/// A transaction is one moment. The server is told of a command that cannot even queue, so that EXEC fails as with any
/// other.
void RedisDoor::RedisVisit::refuse_step_in_transaction() {
  refuses_step = true;
  send_command(Command{"DEBUG"});
}

void RedisDoor::RedisVisit::take_step(const Command& command) {
  const std::optional<sim::Duration> length = seconds_of(command[2]);
  sim::World& world = door.world();
  if (!redis_door.is_stepped_) {
    Reply::error("ERR DEBUG STEP needs lockstep serve --step: here time follows the real clock").append_resp(output);
  } else if (!length) {
    Reply::error("ERR DEBUG STEP needs seconds from 0 to 31536000, such as 1.5").append_resp(output);
  } else {
    is_stepping = true;
    step = world.set_timer(door.id(), sim::DurationRange::exactly(*length), sim::TimerKind::sleep, *this);
    step_end = world.now() + *length;
    redis_door.step_to(step_end);
  }
}

/// Two clients may step at once: time goes where the longer step leads.
void RedisDoor::step_to(sim::Instant moment) {
  if (is_stepped_ && world().is_at_or_after(moment, stepped_to_)) stepped_to_ = moment;
}

void RedisDoor::RedisVisit::abandon() {
  if (std::exchange(is_stepping, false)) redis_door.forget_step();
}

/// Whoever takes a step and goes has waited long enough: time stays where it is, unless others wait for more of it.
void RedisDoor::forget_step() {
  if (!is_stepped_) return;
  stepped_to_ = world().now();
  step_to(sleeps_until_);
  for (const auto& each : visits()) {
    const auto& other = static_cast<const RedisVisit&>(*each);
    if (other.is_stepping) step_to(other.step_end);
  }
}

void RedisDoor::RedisVisit::hear(sim::Message& message) {
  const auto& response = static_cast<Response&>(message);
  if (response.content.is_unknown()) {
    is_over = true;
  } else {
    response.content.append_resp(output);
  }
}

void RedisDoor::RedisVisit::answer(sim::Message& message) {
  const auto& response = static_cast<Response&>(message);
  if (refuses_step) {
    Reply::error("ERR DEBUG STEP inside MULTI is not allowed: a transaction is one moment; EXEC it first")
        .append_resp(output);
  } else if (!response.content.is_unknown()) {
    response.content.append_resp(output);
  }
  refuses_step = false;
  note_transaction(response.content);
  is_over = is_over || response.content.is_unknown() || response.closes;
}

void RedisDoor::RedisVisit::note_transaction(const Reply& reply) {
  if (awaited == "MULTI") in_transaction = in_transaction || reply.is_ok();
  if (awaited == "EXEC" || (awaited == "DISCARD" && reply.is_ok()) || awaited == "RESET") in_transaction = false;
}

void RedisDoor::RedisVisit::timer_fired() {
  is_stepping = false;
  step = {};
  if (state != State::open) return;
  Reply::ok().append_resp(output);
  go_on();
}

}  // namespace lockstep::door
