// One story of each kind at real servers. All of them: docs/manual/confirm.md. Without an installed redis-server it says SKIPPED.

#include <catch2/catch.hpp>

#include <array>
#include <iostream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "confirm/confirm.hpp"
#include "confirm/real_server.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::confirm::selection_test {

TEST_CASE("confirm: of each kind of lock and of fault one story shows the same at real servers") {
  if (installed_redis_version().empty()) {
    std::cout << "SKIPPED: no redis-server is installed; nothing was confirmed\n";
    return;
  }
  constexpr std::array kStories{
      "redisson-source/f003-4-noscript-after-failover-fixed",  // real sentinels; it takes longest
      "redisson-source/f003-fair-dead-waiter",                 // a fair queue, scripts that reckon times
      "redisson-source/f003-rw-ghost-reader",                  // readers and writers
      "redisson-source/f003-2-watchdog-pause",                 // renewals
      "redisson-source/f003-semaphore-crash",                  // a semaphore, and a client that dies
      "redis-in-action-notes/account-five-places-slow-clock",  // a semaphore by clients' clocks, one of them slow
      "redis-in-action-notes/f004-1-watch-without-multi",      // WATCH
      "redis-in-action-notes/f004-7-counter-before-place",     // transactions
      "lock-summary/redlock-crash-restart",                    // three servers, one of which restarts; a lost request
      "lock-summary/f001-1-crash-between",                     // a crash between two commands
      "lock-summary/f001-10-failover-forgets-lock-fixed",      // a server that does not come back
      "redisson-source/f003-5-slow-servers",                   // time-outs
      "market/items-without-funds",                            // no critical section
      "several-locks/opposite-orders",                         // a deadlock
  };
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::array<std::string, kStories.size()> trouble;
  std::array<Confirmation, kStories.size()> results;
  scenarios::in_parallel(kStories.size(), 8, [&](std::size_t i) {
    auto loaded = scenarios::load(in_tree(std::string("scenarios/stories/") + kStories[i] + ".toml"), catalogue);
    if (const auto* problem = std::get_if<scenarios::Diagnostic>(&loaded)) {
      trouble[i] = problem->to_string();
      return;
    }
    try {
      results[i] = confirm(std::get<scenarios::Scenario>(loaded), catalogue, {});
    } catch (const ServerTrouble& problem) {
      trouble[i] = problem.what();
    }
  });
  for (std::size_t i = 0; i < kStories.size(); ++i) {
    INFO(kStories[i] << ": " << trouble[i] << results[i].reason);
    for (const std::string& difference : results[i].differences) UNSCOPED_INFO(difference);
    // A machine that is busy with other things has nothing to say, and nothing against it.
    const bool is_disturbed = results[i].standing == Standing::disturbed;
    if (is_disturbed) WARN(kStories[i] << " was disturbed: " << results[i].reason);
    CHECK((results[i].standing == Standing::confirmed || is_disturbed));
  }
}

}  // namespace lockstep::confirm::selection_test
