#include "scenarios/fuzzing/lock_mutants.hpp"

// More are stories, since an exploration does not come to an end where a session is renewed for ever, or cut off:
// consul-partition (Consul issue 18271), consul-lost-but-renewed (issue 2371, pull request 4935), and, since no
// exploration follows a cluster, etcd-old-leader-revokes (etcd issue 15247).

namespace lockstep::scenarios {
namespace {

const std::string kConsulWaits = "ttl = \"1s\"\nwait = \"10s\"\n";

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

}  // namespace

std::vector<LockMutant> mutants_of_sessions() {
  return {
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
       "etcd until b14c7cd44 (2019)",
       "etcd-mutex-pre34",
       {},
       "ttl = \"3s\"\nwait = \"0ms\"\n",
       kEtcdWaiter,
       "mutual-exclusion",
       "ttl = \"3s\"\nwait = \"0ms\"\n",
       "etcd-mutex"},
  };
}

}  // namespace lockstep::scenarios
