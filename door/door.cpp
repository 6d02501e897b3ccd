#include "door/door.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

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

Door::~Door() = default;

VisitId Door::open(sim::ProcessId server) {
  for (std::size_t i = 0; i < visits_.size(); ++i) {
    Visit& visit = visits_[i];
    if (visit.state != Visit::State::free || world().server_of(visit.connection) != server) continue;
    visit.begin(limits_, world().state(server));
    return static_cast<VisitId>(i);
  }
  const auto id = static_cast<VisitId>(visits_.size());
  const sim::ConnectionId connection = world().connect(this->id(), server, {});
  Visit& visit = visits_.emplace_back(*this, connection);
  visit.begin(limits_, world().state(server));
  if (visit_of_.size() <= connection.index) visit_of_.resize(connection.index + 1);
  visit_of_[connection.index] = id;
  return id;
}

void Door::feed(VisitId id, std::string_view bytes) {
  Visit& visit = visits_[id];
  if (visit.is_over) return;
  visit.parser.feed(bytes);
  // Also one that waits for a reply: if it has it when its turn comes, it takes it.
  make_ready(visit);
}

void Door::hang_up(VisitId id) {
  Visit& visit = visits_[id];
  if (visit.is_stepping) forget_step(visit);
  visit.state = Visit::State::hung_up;
  visit.output.clear();
  make_ready(visit);
}

void Door::notice_crashes() {
  for (Visit& visit : visits_) {
    if (visit.state != Visit::State::open || visit.is_over) continue;
    visit.is_over = world().state(world().server_of(visit.connection)).incarnation != visit.life;
  }
}

bool Door::wants_input(VisitId id) const {
  const Visit& visit = visits_[id];
  return !visit.is_over && (!is_waiting(visit) || visit.parser.waiting() < limits_.read_ahead_bytes);
}

void Door::make_ready(Visit& visit) {
  if (visit.is_ready) return;
  visit.is_ready = true;
  ready_.push_back(id_of(visit));
}

void Door::start() {
  if (!is_present_) {
    is_present_ = true;
    world().set_timer(id(), sim::DurationRange::exactly(sim::Duration::forever()), sim::TimerKind::sleep, presence_);
  }
  if (!has_work()) return;
  const bool has_bytes = !ready_.empty();
  std::deque<VisitId>& row = has_bytes ? ready_ : released_;
  Visit& visit = visits_[row.front()];
  row.pop_front();
  (has_bytes ? visit.is_ready : visit.is_released) = false;
  served_ = &visit;
  send_next(visit);
}

/// One request at a time: what a client has sent behind a BLPOP must wait for its reply.
void Door::send_next(Visit& visit) {
  if (visit.state == Visit::State::hung_up) {
    // Whatever its session held is dropped by this: a transaction, subscriptions, a blocked command.
    give_up_waiting(visit);
    visit.state = Visit::State::leaving;
    return send(visit, Command{"QUIT"});
  }
  while (visit.state == Visit::State::open && !is_waiting(visit) && !visit.is_over) {
    auto next = visit.parser.next();
    if (std::holds_alternative<models::redis::Incomplete>(next)) return;
    if (const auto* error = std::get_if<models::redis::ProtocolError>(&next)) {
      Reply::error("ERR " + error->message).append_resp(visit.output);
      visit.is_over = true;
      return;
    }
    Command& command = std::get<Command>(next);
    if (command[0].is_word("POST") || command[0].is_word("HOST:")) {
      // A browser that was lured here. The real server hangs up, and what was to be said is not.
      visit.output.clear();
      visit.is_over = true;
    } else if (is_debug(command, "STEP")) {
      if (visit.in_transaction) {
        refuse_step_in_transaction(visit);
      } else {
        take_step(visit, command);
      }
    } else {
      if (const auto length = is_debug(command, "SLEEP") ? seconds_of(command[2]) : std::nullopt) {
        // The server sleeps; stepped time must run until it wakes.
        const sim::Instant end = world().now() + *length;
        if (world().is_at_or_after(end, sleeps_until_)) sleeps_until_ = end;
        step_to(end);
      }
      send(visit, std::move(command));
    }
  }
}

void Door::send(Visit& visit, Command command) {
  const models::redis::CommandSpec* spec = command.spec();
  visit.awaited = spec != nullptr ? spec->name : "";
  auto request = world().make<models::redis::Request>(std::move(command));
  visit.call = request->call = world().open_call(visit, id());
  world().send_request(visit.connection, std::move(request));
}

/// A transaction is one moment. The server is told of a command that cannot even queue, so that EXEC fails as with any
/// other.
void Door::refuse_step_in_transaction(Visit& visit) {
  visit.refuses_step = true;
  send(visit, Command{"DEBUG"});
}

void Door::take_step(Visit& visit, const Command& command) {
  const std::optional<sim::Duration> length = seconds_of(command[2]);
  if (!is_stepped_) {
    Reply::error("ERR DEBUG STEP needs lockstep serve --step: here time follows the real clock")
        .append_resp(visit.output);
  } else if (!length) {
    Reply::error("ERR DEBUG STEP needs seconds from 0 to 31536000, such as 1.5").append_resp(visit.output);
  } else {
    visit.is_stepping = true;
    visit.step = world().set_timer(id(), sim::DurationRange::exactly(*length), sim::TimerKind::sleep, visit);
    visit.step_end = world().now() + *length;
    step_to(visit.step_end);
  }
}

/// Two clients may step at once: time goes where the longer step leads.
void Door::step_to(sim::Instant moment) {
  if (is_stepped_ && world().is_at_or_after(moment, stepped_to_)) stepped_to_ = moment;
}

/// Whoever takes a step and goes has waited long enough: time stays where it is, unless others wait for more of it.
void Door::forget_step(Visit& visit) {
  visit.is_stepping = false;
  if (!is_stepped_) return;
  stepped_to_ = world().now();
  step_to(sleeps_until_);
  for (const Visit& other : visits_) {
    if (other.is_stepping) step_to(other.step_end);
  }
}

void Door::give_up_waiting(Visit& visit) {
  if (visit.call.generation != 0) world().close_call(visit.call);
  world().cancel_timer(visit.step);
  visit.call = {};
  visit.step = {};
  visit.is_stepping = false;
}

void Door::notified(sim::Message& message, sim::ConnectionId connection) {
  Visit& visit = visits_[visit_of_[connection.index]];
  if (visit.state != Visit::State::open || visit.is_over) return;
  const auto& response = static_cast<Response&>(message);
  if (response.content.is_unknown()) {
    visit.is_over = true;
  } else {
    response.content.append_resp(visit.output);
  }
}

/// A server that is down lets nobody in.
void Door::Visit::begin(const DoorLimits& limits, const sim::ProcessState& server) {
  parser = models::redis::RequestParser(limits.resp);
  output.clear();
  in_transaction = refuses_step = false;
  is_over = !server.alive;
  life = server.incarnation;
  state = State::open;
}

void Door::Visit::reply_arrived(sim::Message& message) {
  call = {};
  if (state == State::leaving) state = State::free;
  if (state != State::open) return;
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
  go_on();
}

/// What came behind a command that was blocked has its turn when all have had theirs whose bytes are there, in the
/// order in which they were let go first: who is let go twice meanwhile keeps its place.
void Door::Visit::go_on() {
  if (door.served_ == this) {
    door.send_next(*this);
  } else if (!std::exchange(is_released, true)) {
    door.released_.push_back(door.id_of(*this));
  }
}

void Door::Visit::note_transaction(const Reply& reply) {
  if (awaited == "MULTI") in_transaction = in_transaction || reply.is_ok();
  if (awaited == "EXEC" || (awaited == "DISCARD" && reply.is_ok()) || awaited == "RESET") in_transaction = false;
}

/// The server has crashed: its machine resets the connection.
void Door::Visit::connection_lost() {
  call = {};
  if (state == State::leaving) state = State::free;
  is_over = true;
}

void Door::Visit::timer_fired() {
  is_stepping = false;
  step = {};
  if (state != State::open) return;
  Reply::ok().append_resp(output);
  go_on();
}

}  // namespace lockstep::door
