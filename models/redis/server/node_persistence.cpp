// What a server writes to its disk, and how it begins anew with what it finds there.

#include "models/redis/server/node.hpp"

namespace lockstep::models::redis {

namespace {

/// Among the keys that an exploration hears of: what survives a crash is a prefix of what was written, so that has an
/// order.
constexpr std::uint64_t kDisk = 0x6469736b21212121;

std::string name_of(PersistenceSettings::AppendOnly policy) {
  switch (policy) {
    case PersistenceSettings::AppendOnly::always: return "always";
    case PersistenceSettings::AppendOnly::no: return "no";
    case PersistenceSettings::AppendOnly::off:
    case PersistenceSettings::AppendOnly::everysec: break;
  }
  return "everysec";
}

}  // namespace

void Node::set_persistence(PersistenceSettings settings) {
  is_persistent_ = !settings.keeps_nothing();
  Configuration file = database_.configuration();
  file.set("appendonly", settings.append_only == PersistenceSettings::AppendOnly::off ? "no" : "yes");
  file.set("appendfsync", name_of(settings.append_only));
  std::string points;
  for (const PersistenceSettings::SavePoint& point : settings.save) {
    points += (points.empty() ? "" : " ") + std::to_string(point.after.floor_ms() / 1000) + " " +
              std::to_string(point.changes);
  }
  file.set("save", points);
  database_.set_configuration(std::move(file));
  persistence_.set(std::move(settings));
}

/// Before each request. A snapshot is of all keys, so whatever may make one has its place among the others.
void Node::look_at_save_points() {
  if (persistence_.settings().save.empty()) return;
  world().access(kDisk, true);
  persistence_.look_at_save_points(world(), database_.keys(), database_.replication());
}

/// After each request.
void Node::note_on_disk() {
  std::int64_t changes = 0;
  for (const KeyChange& change : database_.changes()) changes += change.kind == sim::Effect::Kind::read ? 0 : 1;
  persistence_.changed(world().now(), changes);
  if (!persistence_.has_log()) return;
  if (changes > 0) world().access(kDisk, true);
  persistence_.append(world().now(), database_.effects());
}

void Node::restart_from_disk() {
  persistence_.look_at_save_points(world(), database_.keys(), database_.replication());
  const PersistenceSettings::AppendOnly policy = persistence_.settings().append_only;
  const bool has_history = policy == PersistenceSettings::AppendOnly::off && persistence_.snapshot() != nullptr &&
                           !persistence_.history().empty();
  if (policy == PersistenceSettings::AppendOnly::always) {
    database_.restart_with_keys();
  } else {
    database_.restart_empty();
  }
  database_.replication().restart(configured_primary_, ++lives_);
  if (persistence_.has_log()) {
    database_.load(persistence_.log_base());
    database_.record_effects(false);
    for (const Effect& effect : persistence_.surviving_effects(world())) {
      database_.apply(0, effect, clock());
    }
  } else if (policy == PersistenceSettings::AppendOnly::off && persistence_.snapshot() != nullptr) {
    database_.load(*persistence_.snapshot());
  }
  if (has_history) {
    database_.replication().continue_after_restart(persistence_.history(), persistence_.offset());
  }
  persistence_.restart(world().now());
}

}  // namespace lockstep::models::redis
