#pragma once

// Plays a story at real servers, and says whether what the model shows happens there too. Start here.
//
// The clients, their lock code, the network and all faults are those of the story; servers are real, and what clients
// hear is what those answer. The one part of Lockstep whose outcome depends on the world outside.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "confirm/conversation.hpp"
#include "confirm/real_side.hpp"
#include "confirm/wire.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/story/scaled.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/time/time.hpp"

namespace lockstep::confirm {

enum class Standing : std::uint8_t {
  confirmed,  ///< every answer was that of the model, and every verdict
  differs,    ///< some were not
  disturbed,  ///< this machine was too slow for the leases of the story, again and again: nothing is known
  cannot_be_played
};

/// "confirmed", "differs", "disturbed", "cannot be played".
std::string_view to_string(Standing standing);

/// A property as it stands in the model, and in what was observed.
struct Compared {
  std::string property;
  checker::Verdict model = checker::Verdict::unknown;
  checker::Verdict real = checker::Verdict::unknown;
  std::vector<std::string> by;  ///< violated in reality: by whom
  std::string why;              ///< of what was observed
  bool is_same = false;
};

struct Confirmation {
  std::string file;
  std::string id;
  std::string algorithm;
  Standing standing = Standing::cannot_be_played;
  std::string reason;                    ///< cannot be played, disturbed: why, and what to do
  std::vector<std::string> differences;  ///< sentences, the earliest first
  std::vector<std::string> notes;        ///< what of the story was not real
  std::vector<Compared> properties;      ///< those that were judged
  std::vector<Exchange> exchanges;
  std::string version;                  ///< of the real server
  std::uint64_t digest = 0;             ///< of the story: `digest_of`
  scenarios::TimeScale scale;           ///< how much slower it was played than it is told
  sim::Duration length;                 ///< of the playing
  std::optional<sim::Duration> margin;  ///< how near anything comes to the end of a lease, as it was played
  sim::Duration lateness;               ///< how late a command came at most
};

struct ConfirmOptions {
  std::optional<Endpoint> server;  ///< nothing: our own
  /// Of somebody else's server that holds keys: delete them all.
  bool flush = false;
  /// A story that takes longer, however fast it is played, is not played.
  sim::Duration longest = sim::Duration::seconds(120);
  std::function<bool()> interrupted;
  std::optional<Tampering> tampering;
};

/// Throws ServerTrouble where no server can be had, and Interrupted.
Confirmation confirm(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue,
                     const ConfirmOptions& options);

/// By what a story is known: all that its clients and the simulated servers say to each other, when, and every verdict.
/// A story or a model that has changed in anything that a confirmation is about has another one. Nothing: the story
/// does not end, or cannot happen, or its servers are of a kind of which no real ones are played.
std::optional<std::uint64_t> digest_of(const scenarios::Scenario& scenario, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::confirm
