#include "models/redis/client/connection.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::models::redis {

void Inbox::put(Reply message) {
  messages_.push_back(std::move(message));
  if (waiter_ != nullptr) waiter_->wake();
}

Inbox& Inboxes::at(sim::ConnectionId connection) {
  for (Inbox& inbox : inboxes_) {
    if (inbox.connection() == connection.index) return inbox;
  }
  return inboxes_.emplace_back(connection.index);
}

bool Inboxes::end(sim::ConnectionId connection) {
  const auto found = std::find_if(inboxes_.begin(), inboxes_.end(),
                                  [&](const Inbox& inbox) { return inbox.connection() == connection.index; });
  if (found == inboxes_.end()) return false;
  found->clear();
  if (!found->is_waited_at()) return true;
  found->put(Reply::unknown());
  return false;
}

// --- Requests to whoever is primary.

void CommandCall::Detour::begin(std::coroutine_handle<> waiting) {
  program = waiting;
  if (route->is_known()) return go(route->connection());
  if (const auto patience = route->patience()) {
    sim::Process& client = route->client();
    timer =
        client.world().set_timer(client.id(), sim::DurationRange::exactly(*patience), sim::TimerKind::deadline, *this);
  }
  route->join(call);
}

void CommandCall::Detour::go(sim::ConnectionId connection) {
  stop();
  sent_to = connection;
  call.redirect(connection);
  call.begin(program);
}

/// A primary that has become a replica takes no writes any more: a library looks for the primary, and tells the error.
void CommandCall::Detour::end(const std::optional<Reply>& answer) const {
  if (!answer || answer->is_unknown() || (answer->is_error() && answer->text().starts_with("READONLY"))) {
    route->lost(sent_to);
  }
}

void CommandCall::Detour::stop() {
  route->leave(call);
  route->client().world().cancel_timer(timer);
  timer = {};
}

void CommandCall::Detour::timer_fired() {
  timer = {};
  route->leave(call);
  route->client().executor().make_ready(program);
}

NextMessage::~NextMessage() {
  if (inbox_.waiter_ == this) inbox_.waiter_ = nullptr;
  client_.world().cancel_timer(timer_);
}

void NextMessage::await_suspend(std::coroutine_handle<> program) {
  assert(inbox_.waiter_ == nullptr && "one waits for the messages of a connection, not two");
  program_ = program;
  inbox_.waiter_ = this;
  if (!timeout_) return;
  const sim::Duration length = client_.clock().true_length(*timeout_);
  timer_ =
      client_.world().set_timer(client_.id(), sim::DurationRange::exactly(length), sim::TimerKind::deadline, *this);
}

std::optional<Reply> NextMessage::await_resume() {
  if (inbox_.messages_.empty()) return std::nullopt;
  Reply message = std::move(inbox_.messages_.front());
  inbox_.messages_.pop_front();
  return message;
}

void NextMessage::timer_fired() {
  timer_ = {};
  wake();
}

/// Once: a second message finds nobody waiting any more.
void NextMessage::wake() {
  inbox_.waiter_ = nullptr;
  client_.world().cancel_timer(timer_);
  timer_ = {};
  client_.executor().make_ready(program_);
}

CommandCall Connection::call(Command&& command) { return send(client_->world().make<Request>(std::move(command))); }

CommandCall Connection::call(const Command& command) { return send(client_->world().make<Request>(command)); }

CommandCall Connection::send(sim::MessagePtrOf<Request> request) {
  request->operation = session_->operation;
  return CommandCall(*client_, id_, std::move(request), timeout_, session_->missed_reply, route_);
}

CommandCall Connection::transaction(std::vector<Command> commands) {
  auto request = client_->world().make<Request>(Command{"EXEC"});
  request->operation = session_->operation;
  commands.insert(commands.begin(), Command{"MULTI"});
  request->in_front = std::move(commands);
  return CommandCall(*client_, id_, std::move(request), timeout_, session_->missed_reply, route_);
}

sim::ConnectionId Connection::id() const { return route_ != nullptr ? route_->connection() : id_; }

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
