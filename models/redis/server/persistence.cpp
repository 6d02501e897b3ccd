#include "models/redis/server/persistence.hpp"

namespace lockstep::models::redis {
namespace {

using AppendOnly = PersistenceSettings::AppendOnly;

/// Linux writes pages to the disk when they are as old as that (dirty_expire_centisecs).
constexpr sim::Duration kKernelFlush = sim::Duration::seconds(30);
constexpr sim::Duration kEverySecond = sim::Duration::seconds(1);

}  // namespace

void Persistence::look_at_save_points(const sim::World& world, const Keyspace& keys, const Replication& replication) {
  for (const PersistenceSettings::SavePoint& point : settings_.save) {
    if (dirty_ < point.changes) continue;
    const sim::Instant due = saved_at_ + point.after;
    if (!world.is_at_or_after(world.now(), due)) continue;
    // It was due when both had come: the time and the last of the changes.
    save(world.is_at_or_after(changed_at_, due) ? changed_at_ : due, keys, replication);
    return;
  }
}

void Persistence::save(sim::Instant now, const Keyspace& keys, const Replication& replication) {
  snapshot_.load(keys);
  has_snapshot_ = true;
  history_ = replication.is_recording() ? replication.id() : "";
  offset_ = replication.offset();
  saved_at_ = now;
  dirty_ = 0;
}

void Persistence::append(sim::Instant now, std::span<const Effect> effects) {
  const std::size_t before = log_.size();
  for (const Effect& effect : effects) {
    // Messages are for replicas alone.
    if (effect.command.name() != "PUBLISH") log_.push_back(effect);
  }
  if (log_.size() > before) entries_.push_back({now, log_.size()});
}

void Persistence::rewrite(sim::Instant now, const Keyspace& keys, const Replication& replication) {
  if (has_log()) log_base_.load(keys);
  log_.clear();
  entries_.clear();
  durable_ = 0;
  if (!settings_.save.empty()) save(now, keys, replication);
}

std::span<const Effect> Persistence::surviving_effects(sim::World& world) {
  const sim::Duration age = settings_.append_only == AppendOnly::everysec ? kEverySecond : kKernelFlush;
  while (durable_ < entries_.size() && world.is_at_or_after(world.now(), entries_[durable_].at + age)) ++durable_;
  const std::size_t open = entries_.size() - durable_;
  durable_ += static_cast<std::size_t>(world.choose(sim::Choice::model, open + 1));
  entries_.resize(durable_);
  log_.resize(durable_ == 0 ? 0 : entries_.back().end);
  return log_;
}

void Persistence::reset() {
  log_base_.reset();
  log_.clear();
  entries_.clear();
  durable_ = 0;
  snapshot_.reset();
  has_snapshot_ = false;
  history_.clear();
  offset_ = dirty_ = 0;
  saved_at_ = changed_at_ = sim::Instant::origin();
}

void Persistence::restart(sim::Instant now) {
  dirty_ = 0;
  saved_at_ = changed_at_ = now;
}

}  // namespace lockstep::models::redis
