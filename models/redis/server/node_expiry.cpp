// Keys whose end is told when it comes. A real server looks for keys whose time is over ten times a second, at some of
// them at random; only who subscribes to `expired` events can tell that from finding them when a command comes upon
// them. So only then they end here by themselves, and exactly when their time is over.

#include <algorithm>

#include "models/redis/server/node.hpp"

namespace lockstep::models::redis {

/// After each request. Those that were there when it was asked for count as well.
void Node::await_key_ends() {
  if (!database_.tells_of_expiry()) {
    for (const auto& end : key_ends_) world().cancel_timer(end->timer);
    key_ends_.clear();
    awaits_key_ends_ = false;
    return;
  }
  if (!std::exchange(awaits_key_ends_, true)) {
    for (DatabaseId database = 0; database < kDatabases; ++database) {
      for (const Entry& entry : database_.keys().entries(database)) await_key_end(entry, database);
    }
    return;
  }
  for (const KeyChange& change : database_.changes()) {
    if (change.kind != sim::Effect::Kind::write && change.kind != sim::Effect::Kind::touch) continue;
    if (const Entry* entry = database_.keys().peek(change.key, change.database)) await_key_end(*entry, change.database);
  }
}

void Node::await_key_end(const Entry& entry, DatabaseId database) {
  const auto known = std::find_if(key_ends_.begin(), key_ends_.end(),
                                  [&](const auto& end) { return end->database == database && end->key == entry.key; });
  if (known != key_ends_.end()) {
    if (entry.expires && (*known)->at.identical(entry.at)) return;
    world().cancel_timer((*known)->timer);
    key_ends_.erase(known);
  }
  if (!entry.expires || entry.far_ms() != 0) return;
  const sim::Instant now = clock().now();
  sim::Duration left = entry.lifetime;
  if (entry.at.anchor() == now.anchor()) {
    left = std::max(entry.at.offset() - now.offset(), sim::Duration::zero());
  } else if (!entry.at.identical(now + entry.lifetime)) {
    // The difference of two symbolic instants is no length: it ends when a command comes upon it.
    return;
  }
  KeyEnd& end = *key_ends_.emplace_back(std::make_unique<KeyEnd>(*this, database, entry.key, entry.at));
  end.timer =
      world().set_timer(id(), sim::DurationRange::exactly(clock().true_length(left)), sim::TimerKind::sleep, end);
}

void Node::end_key(const KeyEnd& end) {
  const std::string key = end.key;
  const DatabaseId database = end.database;
  std::erase_if(key_ends_, [&](const auto& other) { return other.get() == &end; });
  world().access_all();
  database_.set_watcher(world().is_explored() ? this : nullptr);
  Replication& replication = database_.replication();
  const bool is_streaming = replication.is_recording() && !replication.is_replica();
  database_.record_effects(persistence_.has_log() || is_streaming);
  if (is_persistent_) look_at_save_points();
  database_.look_at(key, database, clock());
  record_effects(0);
  if (is_streaming && !database_.effects().empty()) {
    send_part(replication.append({database_.effects().begin(), database_.effects().end()}));
  }
  if (is_persistent_) note_on_disk();
  if (!database_.deliveries().empty()) send_deliveries();
  // The clock jumped backwards: its time is still to come.
  if (const Entry* entry = database_.keys().peek(key, database)) await_key_end(*entry, database);
}

}  // namespace lockstep::models::redis
