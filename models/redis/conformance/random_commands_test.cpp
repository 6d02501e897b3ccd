#include "models/redis/conformance/random_commands.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "models/redis/database/commands.hpp"

namespace lockstep::models::redis::random_commands_test {

TEST_CASE("random commands meet every command of the table") {
  // What needs a conversation of its own, the tests that use these bring along.
  std::set<std::string_view> missing = {};
  for (const CommandSpec& spec : command_table()) {
    if ((spec.flags & (kSinceRedis84 | kSinceValkey90)) == 0) missing.insert(spec.name);
  }
  for (const std::string_view name :
       {"BRPOPLPUSH",   "BLMPOP",  "BZPOPMIN", "BZPOPMAX", "BZMPOP",  "BLMOVE",        "BLPOP",      "BRPOP",
        "EXEC",         "DISCARD", "MULTI",    "WATCH",    "UNWATCH", "SUBSCRIBE",     "PSUBSCRIBE", "UNSUBSCRIBE",
        "PUNSUBSCRIBE", "QUIT",    "RESET",    "SPOP",     "PUBSUB",  "CLIENT",        "CONFIG",     "SCRIPT",
        "REPLICAOF",    "SLAVEOF", "FAILOVER", "SAVE",     "BGSAVE",  "CONFIG REWRITE"}) {
    missing.erase(name);
  }
  RandomCommands commands(1, {.now_seconds = 1'700'000'000});
  for (int i = 0; i < 20'000; ++i) {
    const Command command = commands.next();
    if (command.spec() != nullptr) missing.erase(command.spec()->name);
  }
  for (const std::string_view name : missing) CHECK(name == "");
}

}  // namespace lockstep::models::redis::random_commands_test
