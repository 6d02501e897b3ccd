#include "models/redis/server/node.hpp"

#include <algorithm>

#include "sim/schedules/random.hpp"

namespace lockstep::models::redis {
namespace {

/// A constant, since an argument that was written just before it is copied costs five nanoseconds.
constexpr std::optional<std::int64_t> kNoToken;

std::string_view name_of(const Request& request) {
  // A name from the command table outlives the request; an unknown command's own text would not.
  return request.command.spec() != nullptr ? request.name() : "UNKNOWN";
}

/// Whether it leaves nothing with its connection, and is answered when it is executed.
bool is_over_at_once(const Command& command) {
  const CommandSpec* spec = command.spec();
  if (spec == nullptr) return false;
  const bool never_blocks = !spec->is(kNoScript) && (spec->is(kReadOnly) || spec->is(kWrite));
  return never_blocks || spec->is(kRunsCommands);
}

}  // namespace

Request::Request(const Command& c) : command(c) { opens_session = !is_over_at_once(command); }
Request::Request(Command&& c) : command(std::move(c)) { opens_session = !is_over_at_once(command); }

std::string Request::describe() const {
  if (in_front.empty()) return command.describe();
  std::string text(command.name());
  for (const Command& each : in_front) {
    if (each.name() == "MULTI") continue;
    text += (text.size() == command.name().size() ? ": " : "; ") + each.describe();
  }
  return text;
}

std::uint64_t Request::digest() const {
  std::uint64_t digest = command.digest();
  for (const Command& each : in_front) digest = sim::combine64(digest, each.digest());
  return digest;
}

void Node::receive(sim::Message& message, sim::ConnectionId connection) {
  if (!peers_.empty()) {
    if (const Peer* peer = peer_served_on(connection)) {
      receive_from_replica(static_cast<LinkMessage&>(message), *peer);
      return;
    }
  }
  const auto& request = static_cast<Request&>(message);
  database_.set_watcher(world().is_explored() ? this : nullptr);
  // It gave up waiting and sends something else: a client library closes such a connection and opens another.
  if (database_.is_blocked(connection.index)) end_session(connection);
  if (database_.is_paused()) [[unlikely]] {
    world().access_all();
    if (is_held_back(request)) {
      held_.push_back(std::make_unique<Pending>(*this, connection, request));
      database_.set_held_clients(held_.size());
      return;
    }
  }
  handle(request, connection);
}

bool Node::answers_at_once(const sim::Message& message) const {
  return !expects_anything_ && peers_.empty() && is_over_at_once(static_cast<const Request&>(message).command);
}

void Node::closed(sim::ConnectionId connection) {
  database_.set_watcher(world().is_explored() ? this : nullptr);
  std::erase_if(held_, [&](const auto& waiting) { return waiting->connection.index == connection.index; });
  database_.set_held_clients(held_.size());
  end_session(connection);
}

/// Somebody else's push may have been for it, and somebody else's message.
void Node::end_session(sim::ConnectionId connection) {
  world().access_all();
  database_.close(connection.index);
  take_blocked(connection);
  if (relay_ != nullptr) [[unlikely]]
    relay_->closed(*this, connection);
}

bool Node::is_held_back(const Request& request) {
  return database_.is_held_back(request.command, clock()) ||
         std::any_of(request.in_front.begin(), request.in_front.end(),
                     [&](const Command& command) { return database_.is_held_back(command, clock()); });
}

void Node::handle(const Request& request, sim::ConnectionId connection) {
  const Replication& replication = database_.replication();
  const sim::Clock& server_clock = clock();
  database_.record_effects(persistence_.has_log() || (replication.is_recording() && !replication.is_replica()));
  if (is_persistent_) look_at_save_points();
  for (const Command& command : request.in_front) {
    database_.execute(connection.index, command, server_clock);
    if (database_.touched_every_key()) world().access_all();
    record_effects(request.operation);
    propagate(request, connection);
    if (is_persistent_) note_on_disk();
  }
  std::optional<Reply> answer = database_.execute(connection.index, request.command, server_clock);
  const bool asked_for_more = database_.asked_for_more();
  if (asked_for_more && database_.touched_every_key()) world().access_all();
  record_effects(request.operation);
  propagate(request, connection);
  if (const auto length = asked_for_more ? database_.stall() : std::nullopt) {
    sim::PlannedFault pause;
    pause.process = id();
    pause.length = clock().true_length(*length);
    world().strike_now(pause, world().now());
  }
  if (is_persistent_) note_on_disk();
  if (database_.has_given_up() && answer && world().is_explored()) [[unlikely]] {
    // What it would really say nobody knows: the client learns no more than that, and whoever judges this execution,
    // too.
    answer = Reply::unknown();
    world().note_approximation();
  }
  if (relay_ != nullptr) [[unlikely]]
    answer = relayed(request, connection, std::move(answer));
  if (answer) {
    reply(request, connection, std::move(*answer));
  } else {
    block(request, connection);
  }
  if (asked_for_more) [[unlikely]] {
    give_what_was_asked();
  } else if (!held_.empty() && !database_.is_paused()) {
    release_held();
  }
}

/// All that the last request made of the database besides changes and a reply.
void Node::give_what_was_asked() {
  if (awaits_key_ends_ || database_.tells_of_expiry()) await_key_ends();
  // What carries one out may give the database something to do: the list is no longer its own then.
  const std::vector<Database::Intent> intents(database_.intents().begin(), database_.intents().end());
  for (const Database::Intent intent : intents) carry_out(intent);
  if (!database_.deliveries().empty()) send_deliveries();
  if (const auto length = database_.new_pause()) {
    world().set_timer(id(), sim::DurationRange::exactly(clock().true_length(*length)), sim::TimerKind::sleep,
                      pause_end_);
  } else if (!held_.empty() && !database_.is_paused()) {
    release_held();
  }
}

/// A change that one client's push made for another's BLPOP is the other's.
void Node::record_effects(sim::OperationId operation) {
  auto part = database_.parts().begin();
  std::size_t position = 0;
  for (const KeyChange& change : database_.changes()) {
    const std::size_t own = position++;
    if (change.kind == sim::Effect::Kind::expire) {
      world().record_effect(change.kind, id(), name_in_history(change.key, change.database), sim::ProcessId{}, 0);
      continue;
    }
    sim::OperationId whose = operation;
    for (const auto& waiting : blocked_) {
      if (waiting->connection.index == change.by) [[unlikely]]
        whose = waiting->request.operation;
    }
    if (change.database == 0) [[likely]] {
      world().record_effect(change.kind, id(), change.key, world().client_of({change.by}), whose, kNoToken);
    } else {
      world().record_effect(change.kind, id(), name_in_history(change.key, change.database),
                            world().client_of({change.by}), whose, kNoToken);
    }
    for (; part != database_.parts().end() && part->change <= own; ++part) {
      world().record_member(part->member, part->kind);
    }
    if (change.kind != sim::Effect::Kind::write && change.kind != sim::Effect::Kind::touch) continue;
    const Entry* entry = database_.keys().peek(change.key, change.database);
    // An end that another server's clock has told is no time of this one.
    const bool is_own = entry != nullptr && entry->expires && entry->at.scale() == clock().now().scale();
    if (is_own) world().record_end(clock().true_time_of(entry->at));
  }
}

void Node::reply(const Request& request, sim::ConnectionId connection, Reply&& content) {
  auto response = world().make<Response>(name_of(request), std::move(content));
  response->closes = database_.closed_its_connection();
  world().send_reply(connection, request, std::move(response));
}

void Node::send_deliveries() {
  for (const Delivery& delivery : database_.deliveries()) {
    const sim::ConnectionId connection{delivery.to};
    Reply content = delivery.reply;
    if (relay_ != nullptr) [[unlikely]] {
      std::optional<Reply> relayed = relay_->delivered(*this, delivery);
      if (!relayed) continue;
      content = std::move(*relayed);
    }
    if (delivery.kind == Delivery::Kind::message) {
      world().send_push(connection, world().make<Response>("MESSAGE", std::move(content)));
      continue;
    }
    const std::unique_ptr<Pending> waiting = take_blocked(connection);
    if (delivery.kind == Delivery::Kind::close) {
      // Whoever waits there, for a reply or for a message, learns that nothing will come.
      if (waiting) reply(waiting->request, connection, Reply::unknown());
      world().send_push(connection, world().make<Response>("CLOSE", Reply::unknown()));
    } else if (waiting) {
      reply(waiting->request, connection, std::move(content));
    }
  }
}

/// A session that waits here and has its answer there waits no longer, and the other way round.
std::optional<Reply> Node::relayed(const Request& request, sim::ConnectionId connection, std::optional<Reply> answer) {
  std::optional<Reply> real = relay_->answered(*this, connection, request, std::move(answer));
  if (real && database_.is_blocked(connection.index)) database_.close(connection.index);
  return real;
}

void Node::pass_on(sim::ConnectionId connection, Reply content) {
  const std::unique_ptr<Pending> waiting = take_blocked(connection);
  if (!waiting) {
    world().send_push(connection, world().make<Response>("MESSAGE", std::move(content)));
    return;
  }
  if (database_.is_blocked(connection.index)) database_.close(connection.index);
  reply(waiting->request, connection, std::move(content));
}

// --- Blocked requests.

void Node::block(const Request& request, sim::ConnectionId connection) {
  Pending& waiting = *blocked_.emplace_back(std::make_unique<Pending>(*this, connection, request));
  if (!database_.is_blocked(connection.index)) return;  // it waits for the relay
  if (const auto patience = database_.patience(connection.index)) {
    waiting.timer = world().set_timer(id(), sim::DurationRange::exactly(clock().true_length(*patience)),
                                      sim::TimerKind::deadline, waiting);
  }
}

void Node::time_out(const Pending& blocked) {
  database_.time_out(blocked.connection.index);
  send_deliveries();
}

std::unique_ptr<Node::Pending> Node::take_blocked(sim::ConnectionId connection) {
  const auto found = std::find_if(blocked_.begin(), blocked_.end(),
                                  [&](const auto& waiting) { return waiting->connection.index == connection.index; });
  if (found == blocked_.end()) return nullptr;
  std::unique_ptr<Pending> waiting = std::move(*found);
  blocked_.erase(found);
  world().cancel_timer(waiting->timer);
  return waiting;
}

// --- CLIENT PAUSE.

void Node::release_held() {
  world().access_all();
  std::vector<std::unique_ptr<Pending>> waiting;
  waiting.swap(held_);
  database_.set_held_clients(0);
  for (std::unique_ptr<Pending>& request : waiting) {
    if (is_held_back(request->request)) {
      held_.push_back(std::move(request));
      database_.set_held_clients(held_.size());
    } else {
      handle(request->request, request->connection);
    }
  }
}

// --- Restarts. Timers die with the process.

void Node::crashed(bool keep) {
  take_leave();
  forget_connections();
  if (!keep) keys_before_.load(database_.keys());
  restart(keep);
  if (!keep) record_losses();
  if (relay_ != nullptr) [[unlikely]]
    relay_->crashed(*this, keep);
}

/// Who had something there has it no longer. Requires: `keys_before_` are those that were there.
void Node::record_losses() {
  for (DatabaseId database = 0; database < kDatabases; ++database) {
    for (const Entry& entry : keys_before_.entries(database)) {
      const Entry* present = database_.keys().peek(entry.key, database);
      if (present != nullptr && digest_of(present->object) == digest_of(entry.object)) continue;
      world().record_effect(sim::Effect::Kind::lose, id(), name_in_history(entry.key, database), sim::ProcessId{}, 0);
    }
  }
}

void Node::restart(bool keep) {
  const Replication& replication = database_.replication();
  if (!keep && is_persistent_) {
    restart_from_disk();
    return;
  }
  const bool had_history = keep && replication.is_recording();
  const std::string history = replication.id();
  const std::int64_t offset = replication.offset();
  if (keep) {
    database_.restart_with_keys();
  } else {
    database_.restart_empty();
  }
  database_.replication().restart(configured_primary_, ++lives_);
  if (had_history) database_.replication().continue_after_restart(history, offset);
}

void Node::reset() {
  forget_connections();
  database_.reset();
  persistence_.reset();
  is_persistent_ = !persistence_.settings().keeps_nothing();
  if (!peers_.empty()) settle();
}

void Node::forget_connections() {
  blocked_.clear();
  held_.clear();
  database_.set_held_clients(0);
  snapshots_.clear();
  lagging_.clear();
  key_ends_.clear();
  awaits_key_ends_ = false;
  ack_timer_.timer = {};
  failover_end_.timer = {};
  has_refused_ = false;
}

}  // namespace lockstep::models::redis
