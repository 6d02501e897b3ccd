#pragma once

// For the tests of this folder: random requests that mean something often enough.

#include <string>
#include <string_view>

#include "models/redis/wire/command.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::redis {

/// What may be generated.
struct RandomCommandsSettings {
  std::uint64_t now_seconds = 0;  ///< since the epoch, for deadlines that are told as moments
  bool wrong_arity = true;
  bool resp3 = false;  ///< HELLO mostly asks for it; else never
  bool server = true;  ///< FLUSHALL, CONFIG, CLIENT, scripts and the like
};

/// Every modelled command with every option, right and wrong: a few keys, so that types collide; a few members, so that they
/// meet again.
class RandomCommands {
 public:
  explicit RandomCommands(std::uint64_t seed, RandomCommandsSettings settings = {})
      : random_(seed), settings_(settings) {}
  Command next();
  /// A script that consists of this command.
  Command scripted(const Command& inner);
  /// From one line of the grammar: see random_commands_testing.cpp.
  Command from(std::string_view form);
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }

 private:
  std::string word(std::string_view kind);
  std::string key(std::string_view family);
  void append(std::string_view alternative, Command& command);

  sim::Random random_;
  RandomCommandsSettings settings_;
  std::uint64_t times_ = 0;
};

}  // namespace lockstep::models::redis
