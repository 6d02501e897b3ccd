#pragma once

// What the servers hold after each step of a run, for people: histories say what happened to a key, not what is in it.

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/redis/database/database.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// Quoted where it could be taken for something else.
std::string plain_or_quoted(const std::string& bytes);

/// Looks at the servers after each event, and notes which keys are not as they were.
class KeyStateRecorder {
 public:
  struct Server {
    sim::ProcessId process;
    const models::redis::Database* database = nullptr;
    const sim::Clock* clock = nullptr;
  };
  /// Requires: `world` and what `servers` points to outlive this.
  KeyStateRecorder(const sim::World& world, std::vector<Server> servers)
      : world_(world), servers_(std::move(servers)), digests_(servers_.size(), 0) {}

  /// Call after each event.
  void look();
  std::vector<KeyState> take() { return std::move(states_); }

 private:
  struct Seen {
    std::string type;
    std::string text;
    std::optional<sim::Instant> expires;  ///< by the server's clock
    bool operator==(const Seen& other) const {
      const auto offset = [](const Seen& seen) {
        return seen.expires ? seen.expires->offset() : sim::Duration::zero();
      };
      return type == other.type && text == other.text && expires.has_value() == other.expires.has_value() &&
             offset(*this) == offset(other);
    }
  };
  using Keys = std::map<std::string, Seen>;  ///< by the name that histories have
  Keys keys_of(const models::redis::Database& database) const;
  void note(const Server& server, const std::string& key, const Seen* seen);

  const sim::World& world_;
  std::vector<Server> servers_;
  std::vector<std::uint64_t> digests_;
  std::map<std::size_t, Keys> known_;
  std::vector<KeyState> states_;
};

}  // namespace lockstep::scenarios
