#pragma once

// What the servers hold after each step of a run, for people: histories say what happened to a key, not what is in it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/servers/server_kind.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// Looks at the servers after each event, and notes which keys are not as they were.
class KeyStateRecorder {
 public:
  /// Requires: `world` and `servers` outlive this.
  KeyStateRecorder(const sim::World& world, const models::Servers& servers)
      : world_(world), servers_(servers), digests_(servers.ids().size(), 0) {}

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
  Keys keys_of(std::size_t server) const;
  void note(sim::ProcessId server, const std::string& key, const Seen* seen);

  const sim::World& world_;
  const models::Servers& servers_;
  std::vector<std::uint64_t> digests_;
  std::map<std::size_t, Keys> known_;
  std::vector<KeyState> states_;
};

}  // namespace lockstep::scenarios
