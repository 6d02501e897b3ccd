#include "scenarios/fuzzing/lock_mutants.hpp"

#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "models/scripts.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios {
namespace {

using models::locks::Catalogue;
using models::locks::Entry;
using models::locks::Parameters;
using models::locks::RLockRules;

// --- Stories: which trouble a mistake needs to show.

constexpr std::string_view kContention = R"(
[network]
latency = ["1ms", "2ms"]
timeout = "10ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "8ms"
hold = "5ms"
)";

constexpr std::string_view kWaiting = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = ["8ms", "24ms"]
hold = "5ms"
[properties]
no-lost-wakeup = { within = "20ms" }
)";

constexpr std::string_view kLateRelease = R"(
[network]
latency = ["1ms", "10ms"]
[[client]]
name = "A"
hold = "30ms"
[[client]]
name = "B"
acquire_at = "45ms"
hold = "30ms"
)";

constexpr std::string_view kCrashOrTakeOver = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "5ms"
[[client]]
name = "B"
acquire_at = "20ms"
hold = "5ms"
[[may]]
kind = "crash"
client = "A"
[properties]
recoverable = { within = "300ms" }
)";

constexpr std::string_view kThreePlaces = R"(
[network]
latency = ["1ms", "2ms"]
[[client]]
name = ["A", "B", "C"]
hold = "20ms"
)";

constexpr std::string_view kThreeInTurn = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "5ms"
hold = "20ms"
[[client]]
name = "C"
acquire_at = "10ms"
hold = "20ms"
)";

constexpr std::string_view kSlowServers = R"(
[servers]
count = 3
[network]
latency = ["1ms", "11ms"]
[[client]]
name = "A"
hold = "40ms"
[[client]]
name = "B"
acquire_at = "65ms"
hold = "10ms"
)";

constexpr std::string_view kNested = R"(
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "5ms"
reenter = 1
inner_hold = "10ms"
[[client]]
name = "B"
acquire_at = "15ms"
hold = "5ms"
)";

constexpr std::string_view kCrash = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[may]]
kind = "crash"
client = "A"
[properties]
recoverable = { within = "300ms" }
)";

constexpr std::string_view kLossy = R"(
[network]
latency = ["1ms", "2ms"]
timeout = "8ms"
[[client]]
name = "A"
hold = "70ms"
[[client]]
name = "B"
acquire_at = "65ms"
hold = "5ms"
[[may]]
kind = "lose"
client = "A"
)";

constexpr std::string_view kLossyNested = R"(
[network]
latency = "1ms"
timeout = "8ms"
[[client]]
name = "A"
hold = "5ms"
reenter = 1
[[may]]
kind = "lose"
client = "A"
)";

constexpr std::string_view kPause = R"(
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "75ms"
hold = "40ms"
[[may]]
kind = "pause"
client = "A"
length = ["0ms", "120ms"]
)";

constexpr std::string_view kOverrun = R"(
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "70ms"
[[client]]
name = "B"
acquire_at = "55ms"
hold = "25ms"
)";

constexpr std::string_view kForgotten = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "25ms"
[[client]]
name = "B"
acquire_at = "60ms"
hold = "5ms"
)";

constexpr std::string_view kThreeServers = R"(
[servers]
count = 3
[network]
latency = ["1ms", "2ms"]
[[client]]
name = "A"
hold = "5ms"
[[client]]
name = "B"
hold = "5ms"
)";

// --- Mistakes.

/// A script with one passage replaced. It lives as long as somebody has it.
std::shared_ptr<const std::string> replaced(std::string_view script, std::string_view passage, std::string_view by) {
  const std::size_t at = script.find(passage);
  if (at == std::string_view::npos) std::abort();  // the script has changed: the mutant is none any more
  return std::make_shared<const std::string>(std::string(script.substr(0, at)) + std::string(by) +
                                             std::string(script.substr(at + passage.size())));
}

using Change = std::function<void(RLockRules&)>;

using models::scripts::redisson_lock_lua;
using models::scripts::redisson_renew_lua;
using models::scripts::redisson_unlock_lua;

Change in_lock(std::string_view passage, std::string_view by) {
  return [text = replaced(redisson_lock_lua, passage, by)](RLockRules& rules) { rules.scripts.lock = *text; };
}
Change in_unlock(std::string_view passage, std::string_view by) {
  return [text = replaced(redisson_unlock_lua, passage, by)](RLockRules& rules) { rules.scripts.unlock = *text; };
}
Change in_renew(std::string_view passage, std::string_view by) {
  return [text = replaced(redisson_renew_lua, passage, by)](RLockRules& rules) { rules.renewal.script = *text; };
}

const std::string kWatched = "watchdog_timeout = \"60ms\"\nwait = \"0ms\"\n";
const std::string kWaits = "watchdog_timeout = \"300ms\"\nwait = \"60ms\"\n";
const std::string kLeased = "watchdog_timeout = \"40ms\"\nlease = \"40ms\"\nwait = \"0ms\"\n";

}  // namespace

std::vector<LockMutant> lock_mutants() {
  const std::string_view lock = "redisson-lock";
  std::vector<LockMutant> all{
      // The release.
      {"release: the owner is not compared", "set-nx-px with a plain DEL; Redis in Action, danger 1", lock,
       in_unlock("redis.call('HEXISTS', KEYS[1], ARGV[3]) == 0", "redis.call('EXISTS', KEYS[1]) == 0"), kLeased,
       kOverrun, "truthful-reports", kLeased},
      {"release: nobody is told", "a publish that was forgotten, as Redisson's downgrade of a write lock", lock,
       [](RLockRules& rules) { rules.publishes = false; }, kWaits, kWaiting, "no-lost-wakeup", kWaits},
      {"release: the first one frees, whatever the count", "python-redis-lock style locks used as reentrant ones", lock,
       in_unlock(", -1) > 0", ", -1) > 9"), kWatched, kNested, "reentrancy", kWatched},
      {"release: the last one does not free (>= for >)", "off by one in a count", lock,
       in_unlock(", -1) > 0", ", -1) >= 0"), kWatched, kContention, "reentrancy", kWatched},
      {"release: the count is compared, but never counted down",
       "a count that only grows (lua-reentrant-hash in thread pools)", lock, in_unlock(", -1) > 0", ", 0) > 0"),
       kWatched, kContention, "reentrancy", kWatched},
      {"release: says 1 also when it was not the owner's", "redisson-fair: unlock after expiry reports success", lock,
       in_unlock("return false", "return 1"), kLeased, kOverrun, "truthful-reports", kLeased},
      {"release: an inner one deletes the field", "Redisson issue 891: a read release deleted the write lock", lock,
       in_unlock("redis.call('PEXPIRE', KEYS[1], ARGV[2])", "redis.call('DEL', KEYS[1])"), kWatched, kNested,
       "reentrancy", kWatched},
      // The acquire.
      {"acquire: another's hold is taken for a re-entry", "lock-summary's script with bare thread ids", lock,
       in_lock("redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0", "redis.call('HLEN', KEYS[1]) == 0"), kWatched,
       kContention, "mutual-exclusion", kWatched},
      {"acquire: an own hold is taken for another's", "a reentrant lock that is none (lock-summary, pit 9)", lock,
       in_lock("redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0", "redis.call('HLEN', KEYS[1]) == 1"), kWatched, kNested,
       "reentrancy", kWatched},
      {"acquire: no time to live", "setnx-del; lock-summary, pit 3", lock,
       in_lock("redis.call('PEXPIRE', KEYS[1], ARGV[1])", ""), kLeased, kCrash, "recoverable", kLeased},
      {"acquire: seconds for milliseconds", "unit errors of EXPIRE and PEXPIRE", lock, in_lock("'PEXPIRE'", "'EXPIRE'"),
       kLeased, kCrash, "recoverable", kLeased},
      {"acquire: the count of a re-entry is 1 again", "HSET for HINCRBY", lock,
       in_lock("redis.call('HINCRBY', KEYS[1], ARGV[2], 1)", "redis.call('HSET', KEYS[1], ARGV[2], 1)"), kWatched,
       kNested, "reentrancy", kWatched},
      {"acquire: the lease is a quarter of what was asked", "Redisson issues 1110, 2144: leases cut short", lock,
       in_lock("redis.call('PEXPIRE', KEYS[1], ARGV[1])", "redis.call('PEXPIRE', KEYS[1], ARGV[1] / 4)"), kWatched,
       kForgotten, "faithful-renewal", kWatched},
      {"acquire: it does not try again after it subscribed", "Redisson before 3.28 (issue 5762)", lock,
       [](RLockRules& rules) { rules.tries_after_subscribing = false; }, kWaits, kWaiting, "no-lost-wakeup", kWaits},
      // The renewal.
      {"renewal: one error ends it (before Redisson 3.44)",
       "Redisson before 3.44",
       lock,
       {},
       kWatched,
       kLossy,
       "faithful-renewal",
       kWatched + "renewal_survives_errors = true\n"},
      {"renewal: it goes on after the release", "Redisson issues 2714, 4368, 7272", lock,
       [](RLockRules& rules) { rules.renewal.forgets_to_stop = true; }, kWatched, kForgotten, "faithful-renewal",
       kWatched},
      {"renewal: rarer than the lease", "a period taken from another setting (Redisson issues 4818, 5623)", lock,
       [](RLockRules& rules) { rules.renewal.per_lease = 1; }, kWatched, kOverrun, "faithful-renewal", kWatched},
      {"renewal: says 1 and renews nothing", "a report that nobody checked", lock,
       in_renew("redis.call('PEXPIRE', KEYS[1], ARGV[1])\n", ""), kWatched, kOverrun, "truthful-reports", kWatched},
      {"renewal: the owner is not compared", "PEXPIRE without a check, as Redisson's multilock does", lock,
       in_renew("redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0", "false"), kWatched, kPause, "truthful-reports",
       kWatched},
      {"renewal: a lost lock is created anew", "ria-sem-fair's refresh, which re-adds what was purged", lock,
       in_renew("return 0", "redis.call('HSET', KEYS[1], ARGV[2], 1)"), kWatched, kPause, "truthful-reports", kWatched},
      // The client library.
      {"retry: a command whose answer was lost counts twice",
       "Redisson's command retries (issue 4871)",
       lock,
       {},
       kWatched + "command_retries = 1\n",
       kLossyNested,
       "reentrancy",
       kWatched},
      // Identity.
      {"identity: the thread alone",
       "lock-summary's script",
       "lua-reentrant-hash",
       {},
       "ttl = \"200ms\"\n",
       kContention,
       "mutual-exclusion",
       "ttl = \"200ms\"\nidentity = \"process-and-thread\"\n"},
      {"release: three outcomes, one answer",
       "lock-summary's script",
       "lua-reentrant-hash",
       {},
       "ttl = \"40ms\"\nidentity = \"process-and-thread\"\n",
       kOverrun,
       "truthful-reports",
       "ttl = \"40ms\"\nidentity = \"process-and-thread\"\nrelease_says = true\n"},
      // Redlock.
      {"redlock: less than a majority will do",
       "a quorum over the reachable servers",
       "redlock-seq",
       {},
       "ttl = \"100ms\"\nquorum = 1\n",
       kThreeServers,
       "mutual-exclusion",
       "ttl = \"100ms\"\nquorum = 2\n"},
      {"redisson-redlock: errors of a release are ignored",
       "RedissonRedLock",
       "redisson-redlock",
       {},
       kLeased,
       R"(
[servers]
count = 3
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "70ms"
)",
       "truthful-reports",
       "lease = \"200ms\"\nwait = \"0ms\"\n"},
      {"redlock: nobody looks whether anything is left of the lease",
       "Redlock libraries that skip step 3",
       "redlock-seq",
       {},
       "ttl = \"50ms\"\nattempts = 1\ncheck_validity = false\n",
       kSlowServers,
       "mutual-exclusion",
       "ttl = \"50ms\"\nattempts = 1\n"},
      // Home-made locks.
      {"release: check and delete apart",
       "lock-summary, pit 6; redis-py pull request 1031",
       "set-nx-px-get-del",
       {},
       "ttl = \"50ms\"\n",
       kLateRelease,
       "own-release",
       "ttl = \"50ms\"\n",
       "set-nx-px-lua"},
      {"release: a plain DEL",
       "lock-summary, pit 5",
       "set-nx-px-plain-del",
       {},
       "ttl = \"40ms\"\n",
       kOverrun,
       "own-release",
       "ttl = \"40ms\"\n",
       "set-nx-px-lua"},
      {"release: DEL in place of DELEX",
       "ShedLock issue 2583, until pull request 2593 (2025)",
       "set-nx-px-plain-del",
       {},
       "ttl = \"40ms\"\n",
       kOverrun,
       "own-release",
       "ttl = \"40ms\"\n",
       "set-nx-px-delex"},
      {"acquire: the timestamps are compared the wrong way round",
       "redis-lock-java, prose",
       "setnx-ts-inverted",
       {},
       "ttl = \"200ms\"\n",
       kContention,
       "mutual-exclusion",
       "ttl = \"200ms\"\n",
       "setnx-ts-del-setnx"},
      {"acquire: SETNX and EXPIRE apart",
       "lock-summary, pit 1",
       "setnx-expire-two-step",
       {},
       "ttl = \"50ms\"\n",
       kCrash,
       "recoverable",
       "ttl = \"50ms\"\n",
       "set-nx-px-lua"},
      {"acquire: a key without a time to live is never repaired",
       "Redis in Action before b305aa6: TTL's -1 is true",
       "ria-lock-v3-timeout",
       {},
       "ttl = \"1s\"\nacquire_timeout = \"40ms\"\npoll = \"10ms\"\nrepair = \"never\"\n",
       kCrashOrTakeOver,
       "recoverable",
       "ttl = \"100ms\"\nacquire_timeout = \"40ms\"\npoll = \"10ms\"\n"},
      {"semaphore: ZRANK counts from 0, the limit from 1",
       "redis-in-action-notes, version 4.0",
       "ria-sem-unfair",
       {},
       "limit = 2\nttl = \"1s\"\nadmits = \"up-to-limit\"\n",
       kThreeInTurn,
       "capacity",
       "limit = 2\nttl = \"1s\"\n"},
      {"semaphore: the number is drawn before the place is taken",
       "Redis in Action, before the lock around it",
       "ria-sem-fair",
       {},
       "limit = 2\nttl = \"1s\"\n",
       kThreePlaces,
       "capacity",
       "limit = 2\nttl = \"1s\"\n",
       "ria-sem-fair-locked"},
      {"set-nx-px: a lost answer leaves the lock to nobody",
       "SET without an undo after a timeout",
       "set-nx-px-lua",
       {},
       "ttl = \"500ms\"\n",
       R"(
[network]
latency = "1ms"
timeout = "8ms"
[[client]]
name = "A"
hold = "5ms"
[[may]]
kind = "lose"
client = "A"
[properties]
recoverable = { within = "100ms" }
)",
       "recoverable",
       "ttl = \"90ms\"\n"},
  };
  for (LockMutant& mutant : mutants_of_sessions()) all.push_back(std::move(mutant));
  return all;
}

Catalogue catalogue_with(const LockMutant& mutant) {
  Catalogue catalogue = Catalogue::built_in();
  if (!mutant.change) return catalogue;
  Entry entry = *catalogue.find(mutant.original);
  entry.id = "mutant";
  entry.make = [change = mutant.change](const Parameters& p) {
    RLockRules rules = models::locks::rlock_rules(p);
    change(rules);
    return models::locks::make_redisson_lock(p, rules);
  };
  catalogue.add(std::move(entry));
  return catalogue;
}

namespace {

Scenario story_with(const LockMutant& mutant, std::string_view algorithm, const std::string& parameters,
                    const Catalogue& catalogue) {
  const std::string text = fmt::format(
      "title = {{ en = \"m\", zh = \"m\" }}\n[story]\nen = \"m\"\nzh = \"m\"\n[lesson]\nen = \"m\"\nzh = "
      "\"m\"\n[lock]\nalgorithm = \"{}\"\n{}{}",
      algorithm, parameters, mutant.story);
  auto parsed = parse(text, "mutant.toml", catalogue);
  if (std::holds_alternative<Diagnostic>(parsed)) std::abort();  // the file is ours
  return std::get<Scenario>(std::move(parsed));
}

}  // namespace

Scenario story_of(const LockMutant& mutant, const Catalogue& catalogue) {
  return story_with(mutant, mutant.change ? "mutant" : mutant.original, mutant.parameters, catalogue);
}

Scenario repaired_story_of(const LockMutant& mutant, const Catalogue& catalogue) {
  return story_with(mutant, mutant.repaired_by.empty() ? mutant.original : mutant.repaired_by, mutant.repaired,
                    catalogue);
}

}  // namespace lockstep::scenarios
