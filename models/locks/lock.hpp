#pragma once

// What a lock algorithm is. Start here to read or to write one; the catalogue lists them all.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/value.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models {
class Client;
}

namespace lockstep::models::locks {

/// What a client knows of its ownership after a successful attempt.
struct Hold {
  Value token = {};  ///< what release compares with, where the algorithm compares
  /// From this reading of the client's own clock on it knows that its hold is over. Absent: it does not look.
  std::optional<sim::Instant> valid_until = std::nullopt;
  /// `valid_until` is a reading of its monotonic clock instead of its wall clock.
  bool on_monotonic_clock = false;
  /// The end of the lease that it wrote for others to read (timestamp locks), on its own clock.
  std::optional<sim::Instant> lease_until = std::nullopt;
  std::optional<std::int64_t> fencing_token = std::nullopt;
  /// Something renews the lease in the background for as long as the lock is held.
  bool is_renewed = false;
  std::size_t number = 0;  ///< of a script: index of what the script keeps of this hold
};

/// Methods of a library's lock object besides taking the lock. Names are Redisson's.
enum class Call : std::uint8_t {
  unlock,                     ///< one hold less: `release`
  is_held_by_current_thread,  ///< as the server says at that moment
  get_hold_count,             ///< of the caller, at the server
  remain_time_to_live,        ///< of the lock, by whichever owner
  force_unlock                ///< frees it, whichever client owns it
};

/// As scenario files have them.
inline constexpr std::array<std::pair<std::string_view, Call>, 5> call_names{
    {{"unlock", Call::unlock},
     {"isHeldByCurrentThread", Call::is_held_by_current_thread},
     {"getHoldCount", Call::get_hold_count},
     {"remainTimeToLive", Call::remain_time_to_live},
     {"forceUnlock", Call::force_unlock}}};

/// What a call says. A question says yes if there is something: a hold, a count above zero, a lock that exists.
enum class Answer : std::uint8_t { yes, no, unknown };

/// A lock algorithm: straight-line coroutine code, written once for every engine. Each `co_await` is a point where
/// others may come in between. An object is shared by all clients of a world and keeps no state of its own; what one
/// lock object of a real library remembers travels in the `Hold`.
class LockAlgorithm {
 public:
  virtual ~LockAlgorithm() = default;

  /// Name of the key that is the lock.
  const Value& key() const { return key_; }
  void set_key(std::string key) { key_ = std::move(key); }

  /// One attempt to get the lock: a hold, or nothing. Waiting and trying again is the workload's business, with the
  /// algorithm's `attempts` and `retry`, so that a client's state between two attempts is small and known.
  /// Algorithms that are woken by a message wait inside, and give up when their own time limit says so.
  virtual sim::Task<std::optional<Hold>> acquire(Client& client) const = 0;

  /// One attempt that waits for no other client.
  virtual sim::Task<std::optional<Hold>> try_acquire(Client& client) const;

  /// Gives the lock back. Returns what the algorithm would tell its caller: true = "I was the owner and released it",
  /// even where the document's code cannot know that.
  virtual sim::Task<bool> release(Client& client, Hold hold) const = 0;

  /// Any call but `unlock`. Requires: the algorithm's entry has `answers_calls`.
  virtual sim::Task<Answer> call(Client& client, Call what) const;

  /// What it protects, where the lock's own server keeps it; nothing, false: not done, as the server says or for all
  /// that the client knows. Requires: the algorithm's entry has `reaches_row`, and the client holds the lock.
  virtual sim::Task<std::optional<std::int64_t>> read_row(Client& client) const;
  virtual sim::Task<bool> write_row(Client& client, std::int64_t value) const;

  /// `other` is a lock of the same world, with another key or parameters. Called before this one is used.
  virtual void share(const LockAlgorithm& other) { static_cast<void>(other); }
  /// Of a script: one sentence for each error that it raised, in all executions of its world, with its file and line.
  virtual std::vector<std::string> mistakes() const { return {}; }

 private:
  Value key_ = "lock";
};

}  // namespace lockstep::models::locks
