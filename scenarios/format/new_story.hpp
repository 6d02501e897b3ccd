#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "sim/time/time.hpp"

namespace lockstep::scenarios {

/// A scenario file to begin with, with comments that say what to try: two clients who compete, one of whom may be
/// stopped while it has the lock. `run` shows all it claims to hold; `check` asks about the pause. `file`: how the
/// comments call it.
std::string new_story(const models::locks::Entry& entry, std::string_view title, std::string_view file);

/// What a team knows of its deployment.
struct KnownDeployment {
  std::int64_t clients = 2;
  sim::DurationRange work = {sim::Duration::seconds(2), sim::Duration::seconds(2)};
  std::optional<sim::Duration> pause;  ///< the longest that it reckons with; nothing: of none
  bool failover = false;               ///< a replica takes over when the primary dies
  std::vector<std::pair<std::string, sim::Duration>> parameters = {};  ///< of the lock, as its code has them
};

/// A file about that, with comments that say what each line means for it. Requires: the algorithm has the parameters.
std::string new_story(const models::locks::Entry& entry, std::string_view title, std::string_view file,
                      const KnownDeployment& known);

/// A call in code: "tryLock(5s, 10s)", "tryLock(5, 10, TimeUnit.SECONDS)", "lock(10s)", "lock()".
struct RedissonCall {
  std::vector<std::pair<std::string, sim::Duration>> parameters;  ///< of redisson-lock
};
/// Otherwise what is wrong with it, in one sentence.
std::variant<RedissonCall, std::string> redisson_call(std::string_view code);

/// A lock of one's own to begin with: a script with comments that say what can be changed.
std::string new_lock();

}  // namespace lockstep::scenarios
