#pragma once

// Sentinels that watch the real primary of a story, and replace it.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "confirm/real_server.hpp"
#include "confirm/wire.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::confirm {

class RealSentinels {
 public:
  /// Whether real ones can watch: none of them dies, pauses or is cut off, which only the model's can do.
  static bool can_watch(const scenarios::Scenario& scenario);

  /// As many as the story has, with its settings; they know each other and the replicas when this returns.
  /// Throws ServerTrouble.
  RealSentinels(const scenarios::Scenario& scenario, const std::string& folder, std::uint16_t primary,
                std::size_t replicas);

  /// The port of whom they call the primary. Throws ServerTrouble.
  std::int64_t primary();

 private:
  std::string field(Wire& wire, std::string_view name) const;

  std::deque<std::unique_ptr<RealServer>> processes_;
  std::deque<Wire> wires_;
};

}  // namespace lockstep::confirm
