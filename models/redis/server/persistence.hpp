#pragma once

// What a server has on its disk, and what of it a crash leaves.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/database/replication.hpp"
#include "models/redis/server/persistence_settings.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

/// The disk of one server. A crash is that of the machine: what the kernel had not written is lost. (A process that is
/// killed alone loses nothing of its append-only file: that is a crash that keeps everything.)
///
/// An append-only file with fsync `always` loses nothing that was answered. With `everysec` it was last written to the
/// disk at some moment of the second before the crash, and with `no` of the half minute before: which of the latest
/// changes survive is `World::choose`, where 0 is none of them. A snapshot is made as soon as a save point says so, and
/// takes no time; it also has the identity and the offset of the replication history. When both are on, the append-only
/// file is what counts.
class Persistence {
 public:
  void set(PersistenceSettings settings) { settings_ = std::move(settings); }
  const PersistenceSettings& settings() const { return settings_; }
  bool has_log() const {
    return settings_.append_only == PersistenceSettings::AppendOnly::everysec ||
           settings_.append_only == PersistenceSettings::AppendOnly::no;
  }

  /// Before a request is carried out, and before a crash: whether a snapshot has become due since.
  void look_at_save_points(const sim::World& world, const Keyspace& keys, const Replication& replication);
  /// After one has been.
  void changed(sim::Instant now, std::int64_t changes) {
    dirty_ += changes;
    if (changes > 0) changed_at_ = now;
  }
  void append(sim::Instant now, std::span<const Effect> effects);
  /// All keys have been replaced by those of a primary: the file is written anew, and a snapshot made.
  void rewrite(sim::Instant now, const Keyspace& keys, const Replication& replication);
  /// SAVE and BGSAVE.
  void save(sim::Instant now, const Keyspace& keys, const Replication& replication);

  /// Nothing has happened yet, and the disk is empty.
  void reset();
  /// A server that loads `keys`, its disk being as it was: from now on that is what there is.
  void restart(sim::Instant now);

  /// Of a crash at this moment: which of the logged effects are on the disk, oldest first; they come after the keys of
  /// `log_base`.
  std::span<const Effect> surviving_effects(sim::World& world);
  const Keyspace& log_base() const { return log_base_; }
  /// The latest snapshot; null: there is none.
  const Keyspace* snapshot() const { return has_snapshot_ ? &snapshot_ : nullptr; }
  const std::string& history() const { return history_; }
  std::int64_t offset() const { return offset_; }

 private:
  struct Entry {
    sim::Instant at;
    std::size_t end;  ///< of its effects in `log_`
  };

  PersistenceSettings settings_;
  Keyspace log_base_;
  std::vector<Effect> log_;
  std::vector<Entry> entries_;
  std::size_t durable_ = 0;  ///< so many entries have survived a crash already

  Keyspace snapshot_;
  bool has_snapshot_ = false;
  std::string history_;  ///< whose snapshot it is; empty: of none
  std::int64_t offset_ = 0;
  std::int64_t dirty_ = 0;
  sim::Instant saved_at_;
  sim::Instant changed_at_;
};

}  // namespace lockstep::models::redis
