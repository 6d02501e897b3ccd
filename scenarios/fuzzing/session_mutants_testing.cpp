#include "scenarios/fuzzing/lock_mutants.hpp"

#include <utility>

#include <fmt/format.h>

// All of them, with more about each: docs/evidence/recipe-bugs.md. More are stories, since an exploration does not come
// to an end where a session is renewed for ever, or cut off: consul-partition (Consul issue 18271),
// consul-lost-but-renewed (issue 2371, pull request 4935), and, since no exploration follows a cluster,
// etcd-old-leader-revokes (etcd issue 15247).

namespace lockstep::scenarios {
namespace {

const std::string kConsulWaits = "ttl = \"1s\"\nwait = \"10s\"\n";

const std::string kConsulDies = "ttl = \"4s\"\nlock_delay = \"0ms\"\nwait = \"0ms\"\n";

constexpr std::string_view kConsulRace = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "3ms"
hold = "20ms"
[[client]]
name = "C"
acquire_at = "6ms"
hold = "20ms"
)";

constexpr std::string_view kConsulShortWork = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "3ms"
[[client]]
name = "C"
acquire_at = "6ms"
)";

/// A's session is to be renewed at 2s, 4s, ...; without that it ends after 8s.
constexpr std::string_view kConsulRenewal = R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "12s"
[[client]]
name = "B"
acquire_at = "1s"
hold = "5s"
[[may]]
kind = "lose"
client = "A"
message = "SESSION_RENEW"
)";

constexpr std::string_view kEtcdWaiter = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "2200ms"
[[client]]
name = "B"
acquire_at = "100ms"
hold = "200ms"
[[client]]
name = "C"
acquire_at = "4200ms"
hold = "300ms"
[[may]]
kind = "pause"
client = "B"
during = "acquire"
length = ["0ms", "2500ms"]
)";

/// The answer that nobody is before B comes at 108ms, and its patience ends between 101ms and 120ms.
constexpr std::string_view kEtcdLateTurn = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "100ms"
[[client]]
name = "B"
acquire_at = ["1ms", "20ms"]
hold = "200ms"
[[client]]
name = "C"
acquire_at = "30ms"
hold = "50ms"
)";

/// B may miss who is before it, and then fail to delete its key.
constexpr std::string_view kEtcdFailedWait = R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "500ms"
[[client]]
name = "B"
acquire_at = "100ms"
hold = "100ms"
[[may]]
kind = "lose"
client = "B"
message = "RANGE"
[[may]]
kind = "lose"
client = "B"
message = "DELETE_RANGE"
)";

/// A's node is deleted at 27ms: B has looked, and watches it next, if it comes between 20ms and 22ms.
constexpr std::string_view kZooKeeperHandOver = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = ["8ms", "30ms"]
hold = "5ms"
[properties]
progress = { within = "100ms" }
)";

/// B's connection may be lost while it waits: its ping of 1102ms has an answer by 2102ms, or it connects again.
constexpr std::string_view kZooKeeperReconnect = R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "2500ms"
[[client]]
name = "B"
acquire_at = "100ms"
hold = "100ms"
[[may]]
kind = "lose"
client = "B"
message = "PING"
[properties]
progress = { within = "3s" }
)";

/// A comes again after its release, one of whose messages may be lost. B has it meanwhile.
constexpr std::string_view kZooKeeperRelease = R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "100ms"
rounds = 2
between = "100ms"
[[client]]
name = "B"
acquire_at = "50ms"
hold = "500ms"
[[may]]
kind = "lose"
client = "A"
message = "DELETE"
)";

/// A's deletion may fail for good: it is tried three times. A goes on, and so does its session.
constexpr std::string_view kZooKeeperFailedDelete = R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "100ms"
rounds = 2
between = "8s"
[[client]]
name = "B"
acquire_at = "50ms"
hold = "100ms"
[[may]]
kind = "lose"
client = "A"
message = "DELETE"
times = 3
[properties]
progress = { within = "2s" }
)";

/// B pauses while it waits for A's lease: long enough for its session to end, and for it to see that. Its last look
/// before its first ping arrives at 109ms, and the ping is due at 1102ms: 1102 + P + 1 >= 109 + 3000, from 2006ms on
/// (after a ping 1998ms would do, but then A is done before the session is). It is too short for a session to end under
/// a lease that B has: an answer to what arrives at r, a pause, a request, r + 1 + P + 1 >= r + 3000, from 2998ms on.
constexpr std::string_view kZooKeeperWaiterPauses = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "3500ms"
[[client]]
name = "B"
acquire_at = "100ms"
hold = "100ms"
[[may]]
kind = "pause"
client = "B"
during = "acquire"
length = "2500ms"
)";

constexpr std::string_view kZooKeeperDowngrade = R"(
[network]
latency = "1ms"
[[client]]
name = "A"
mode = "read"
hold = "20ms"
[[client]]
name = "B"
mode = "write"
acquire_at = "3ms"
hold = "10ms"
)";

const std::string kCurator = "session_timeout = \"9s\"\nwait = \"3s\"\n";
const std::string kSessionOfThreeSeconds = "session_timeout = \"3s\"\nwait = \"6s\"\n";
const std::string kKazoo = "session_timeout = \"3s\"\nwait = \"7s\"\n";
const std::string kDowngrades = "session_timeout = \"3s\"\nwait = \"1s\"\nwrites_first = true\n";
const std::string kTtlOfThreeSeconds = "ttl = \"3s\"\nwait = \"100ms\"\n";
const std::string kWaitsLong = "ttl = \"3s\"\nwait = \"5s\"\n";

/// A loses one such message, gives up, and comes again 8s later; its session lives. B comes after 1s.
std::string gives_up_after(std::string_view message) {
  return fmt::format(R"(
[network]
latency = "1ms"
timeout = "50ms"
[[client]]
name = "A"
hold = "100ms"
rounds = 2
between = "8s"
[[client]]
name = "B"
acquire_at = "1s"
hold = "100ms"
[[may]]
kind = "lose"
client = "A"
message = "{}"
[properties]
progress = {{ within = "2s" }}
)",
                     message);
}

std::vector<LockMutant> mutants_of_zookeeper() {
  static const std::string loses_create = gives_up_after("CREATE"), loses_look = gives_up_after("GET_CHILDREN");
  return {
      {"go-zookeeper: a client waits for a predecessor that had gone before it could be watched",
       "go-zookeeper's lock.go of May 2013, until f774f13",
       "zk-sequential",
       {},
       "session_timeout = \"3s\"\nwait = \"300ms\"\nwaits_for_gone = true\n",
       kZooKeeperHandOver,
       "progress",
       "session_timeout = \"3s\"\nwait = \"300ms\"\n"},
      {"zookeeper: a node of whose creation its client did not hear blocks everybody",
       "go-zookeeper's lock.go until 4da5b4a (2013); Accumulo issue 637",
       "curator-mutex",
       {},
       kCurator + "protection = false\n",
       loses_create,
       "progress",
       kCurator},
      {"kazoo: nobody wakes a waiter whose watch was lost with its connection",
       "kazoo pull request 170, until 2.0",
       "kazoo-lock",
       {},
       kKazoo + "watches_session = false\n",
       kZooKeeperReconnect,
       "progress",
       kKazoo},
      {"curator: a thread whose release failed takes the lock again without a request",
       "Netflix Curator issue 24, until 1.1.2",
       "curator-mutex",
       {},
       kCurator + "forgets_hold = false\n",
       kZooKeeperRelease,
       "mutual-exclusion",
       kCurator},
      {"curator: a node whose deletion failed blocks everybody",
       "Netflix Curator issue 24, until 1.1.2",
       "curator-mutex",
       {},
       kCurator + "guaranteed = false\n",
       kZooKeeperFailedDelete,
       "progress",
       kCurator},
      {"curator: whoever cannot learn who is before it leaves its node behind",
       "Netflix Curator until 1.1.11, commit a4ee4b58",
       "curator-mutex",
       {},
       kCurator + "cleans_up = false\n",
       loses_look,
       "progress",
       kCurator},
      {"curator semaphore: of two leases the one that has gone is given back, the other never",
       "CURATOR-315, until 2.11 and 3.2",
       "curator-semaphore-v2",
       {},
       kSessionOfThreeSeconds + "forgets_gone = false\n",
       kZooKeeperWaiterPauses,
       "truthful-reports",
       kSessionOfThreeSeconds},
      {"curator semaphore: whoever cannot learn how many leases there are leaves its own behind",
       "CURATOR-335; CURATOR-462, until 4.0.2",
       "curator-semaphore-v2",
       {},
       kCurator + "returns_lease = false\n",
       loses_look,
       "progress",
       kCurator},
      {"curator rwlock: who goes from writing to reading lets in a writer that waits",
       "CURATOR-276 and CURATOR-621, until 5.5",
       "curator-rwlock",
       {},
       kDowngrades,
       kZooKeeperDowngrade,
       "mutual-exclusion",
       kDowngrades + "keeps_number = true\n"},
  };
}

}  // namespace

std::vector<LockMutant> mutants_of_sessions() {
  std::vector<LockMutant> all{
      {"consul: whoever comes too late sleeps, whether somebody has the lock or not",
       "Consul issue 1006, until pull request 1008",
       "consul-lock",
       {},
       kConsulWaits + "asks_why = false\n",
       kConsulRace,
       "no-lost-wakeup",
       kConsulWaits},
      {"consul: a lock that was free again for a moment is taken for a lock-delay",
       "Consul issue 2767, open",
       "consul-lock",
       {},
       kConsulWaits,
       kConsulShortWork,
       "no-lost-wakeup",
       kConsulWaits + "retry_time = \"5ms\"\n"},
      {"etcd: a waiter does not look for its own key",
       "etcd issues 9921 and 11456, until 3.5 (b14c7cd44)",
       "etcd-mutex-pre34",
       {},
       "ttl = \"3s\"\nwait = \"0ms\"\n",
       kEtcdWaiter,
       "mutual-exclusion",
       "ttl = \"3s\"\nwait = \"0ms\"\n",
       "etcd-mutex"},
      {"etcd: a turn that comes as the context ends is a lock without a key",
       "etcd issue 10111, until 3.3.10",
       "etcd-mutex",
       {},
       kTtlOfThreeSeconds + "unlocks_when_late = true\n",
       kEtcdLateTurn,
       "mutual-exclusion",
       kTtlOfThreeSeconds},
      {"etcd: a key that could not be deleted after a failed wait is a lock",
       "etcd pull request 11458, before 3.5",
       "etcd-mutex",
       {},
       kWaitsLong + "ends_with_error = false\n",
       kEtcdFailedWait,
       "mutual-exclusion",
       kWaitsLong},
      {"consul: one renewal without an answer is the last one",
       "Consul pull request 912 (2015)",
       "consul-lock",
       {},
       kConsulDies + "survives_errors = false\n",
       kConsulRenewal,
       "truthful-reports",
       kConsulDies},
  };
  for (LockMutant& mutant : mutants_of_zookeeper()) all.push_back(std::move(mutant));
  return all;
}

}  // namespace lockstep::scenarios
