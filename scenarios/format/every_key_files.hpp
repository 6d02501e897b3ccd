#pragma once

// What every_key_test.cpp reads and writes.

#include <string_view>

namespace lockstep::scenarios::every_key_test {

/// Files as the writer lays them out, by hand and not by the writer. Together they have every key at another value than
/// its default, and keys that only some kinds of a table have in each of these kinds.
inline constexpr std::string_view kFiles[] = {
    R"(title  = { en = "Threads", zh = "线程" }
source = "a document, scenario 2"
reproduces = ["F000-2", "F000-2i"]
cost = "slow"

[story]
en = "A is slow."
zh = "A 很慢。"

[lesson]
en = "Use tokens."
zh = "使用令牌。"

[lock]
algorithm = "redisson-lock"
key = "stock"
lease = "40ms"

[servers]
count = 2

[network]
latency = ["1ms", "5ms"]
timeout = "50ms"
replication = "7ms"

[resource]
kind = "register"
fenced = true
latency = "3ms"

[[client]]
name = "A"
acquire_at = ["10ms", "12ms"]
hold = "20ms"
locks = ["stock", "account"]
rounds = 2
between = "7ms"
attempts = 3
retry = "4ms"
reenter = 1
inner_hold = "2ms"
in_finally = true
mode = "read"
lock = { lease = "50ms" }
process_name = "host-1"
thread_id = 7
clock = { offset = "-5ms", drift_ppm = 100, uptime = "7s" }
threads = [
  {},
  { acquire_at = "1ms", hold = "21ms", rounds = 3, between = "8ms", attempts = 4, retry = "5ms", reenter = 2, inner_hold = "3ms", in_finally = false, mode = "write" },
  { release = false, in_finally = false },
]

[[client]]
name = ["B", "C"]
release = false

[[client]]
name = "D"
finally = ["isHeldByCurrentThread", "unlock"]
threads = [{ finally = ["forceUnlock"] }]

[[client]]
name = "operator"
acquire_at = "9ms"
clock = { offset = "1ms" }
commands = ["DEL lock", 'SET lock "x y"']
server = "redis2"

[[fault]]
kind = "pause"
client = "B"
at = "0ms"
length = "400ms"

[[fault]]
kind = "pause"
server = "redis1"
after = "A.EVALSHA"
length = "400ms"

[[fault]]
kind = "pause"
client = "B"
before = "EVALSHA"
length = "1ms"

[[fault]]
kind = "pause"
client = "B"
sent = "EVALSHA#2"
length = "1ms"

[[fault]]
kind = "crash"
server = "redis2"
at = "150ms"
restart_after = "1s"
keep = true

[[fault]]
kind = "crash"
client = "B"
before = "EVALSHA"

[[fault]]
kind = "crash"
client = "B"
sent = "EVALSHA"

[[fault]]
kind = "crash"
client = "B"
after = "start"

[[fault]]
kind = "jump"
client = "B"
sent = "EVALSHA"
by = "-120s"

[[fault]]
kind = "jump"
client = "B"
before = "EVALSHA"
by = "120s"

[[fault]]
kind = "jump"
client = "B"
after = "EVALSHA"
by = "120s"

[[fault]]
kind = "jump"
server = "redis1"
at = "1ms"
by = "120s"

[[fault]]
kind = "lose"
client = "C"
message = "EVALSHA#2"
direction = "reply"

[[fault]]
kind = "delay"
client = "C"
message = "read"
direction = "reply"
length = "9ms"

[[fault]]
kind = "partition"
between = [["A", "B"], ["redis1", "resource"]]
from = "10ms"
length = "30ms"

[[may]]
kind = "pause"
client = "A"
length = ["0ms", "10s"]
during = "acquire"
times = 2

[[may]]
kind = "pause"
server = "redis1"
length = "10s"

[[may]]
kind = "crash"
server = ["redis1", "redis2"]
restart_after = ["0ms", "1s"]
keep = true

[[may]]
kind = "crash"
client = "A"
during = "work"

[[may]]
kind = "lose"
client = ["A", "B"]
during = "release"
message = "EVALSHA"
direction = "request"

[[may]]
kind = "delay"
client = "A"
length = "1ms"
during = "renewal"
message = "write"
direction = "reply"

[[may]]
kind = "jump"
client = "A"
by = ["-1s", "1s"]

[[may]]
kind = "jump"
server = "redis1"
by = "1s"

[[may]]
kind = "skew"
server = "redis1"
by = ["-1s", "1s"]

[[may]]
kind = "skew"
client = "A"
by = "1s"

[[may]]
kind = "partition"
client = "A"
length = "1s"

[[may]]
kind = "partition"
server = "redis1"
length = "1s"

[[may]]
kind = "partition"
between = [["A"], ["redis1"]]
length = "1s"

[pin]
order = ["B.EVALSHA", "C.EVALSHA#2", "A.EVALSHA@redis2", "C.write"]

[properties]
fair = { overtakings = 0 }
recoverable = { within = "200ms" }
no-deadlock = { lasting = "201ms" }
no-lost-wakeup = { within = "202ms" }
progress = { within = "203ms" }

[expect.run]
mutual-exclusion = { violated_by = ["B", "A/1"], at = "163ms" }
own-release = "holds"
fencing = "unknown"
recoverable = { violated = true, at = "1ms" }

[expect.check]
mutual-exclusion = { violated_by = "B", from = { jump = "92ms", pause = "91ms" }, up_to = { restart_after = "1ms" } }
own-release = "violated"
recoverable = { violated = true, frontier = "pause + skew > 63ms" }
traces = 123
)",
    R"(title  = "A market"
cost = "rare"

[lock]
algorithm = "set-nx-px-lua"

[[server]]
replica_of = "second"

[[server]]
name = "second"
clock = { uptime = "1s" }
latency = "2ms"
restart_delay = "3ms"
append_only = "always"
save = { after = "300s", changes = 100 }
loading = "4ms"
snapshot_delay = "5ms"
min_replicas = 1
min_replicas_max_lag = "2s"
priority = 7
version = "8.4"

[sentinels]
primary = "second"
quorum = 1
down_after = "300ms"
failover_timeout = "3s"
parallel_syncs = 2
rounds = 40

[[sentinel]]
name = "guard"
clock = { drift_ppm = -3 }
latency = ["1ms", "2ms"]

[[sentinel]]

[network]
timeout = "200ms"

[resource]
kind = "counter"

[market]
guard = "item-and-funds"
price = 10
funds = 15

[[client]]
name = "S"
role = "seller"

[[client]]
name = ["A", "B"]
role = "buyer"
account = "U"
via = "sentinel"

[[client]]
name = "operator"
via = "sentinel"
commands = ["DEL lock"]

[schedule]
events = [
  "10ms A.SET#1@second",
  "12ms A.SET#1 reply",
  "32ms A work#2",
  "never B start",
]
)",
    R"(title  = "One for all sentinels"

[lock]
algorithm = "set-nx-px-lua"

[sentinels]
count = 1
played = "one"

[network]
timeout = "3s"
replication = ["0ms", "1s"]

[[client]]
name = "A"
via = "sentinel"
)",
    R"(title  = "The other product"

[lock]
algorithm = "lock-outside-transaction"

[[server]]
product = "mariadb"
innodb_lock_wait_timeout = "5s"

[resource]
kind = "row"

[[client]]
name = "A"
)",
    R"(title  = "Another kind of servers"

[lock]
algorithm = "sql-advisory"

[[server]]
rows = "stock account"
deadlock_timeout = "2s"
lock_timeout = "3s"
idle_in_transaction_session_timeout = "4s"

[[client]]
name = "A"
)",
    R"(title  = "A kind with leases"

[lock]
algorithm = "etcd-mutex"

[servers]
election_timeout = "2s"
heartbeat_interval = "200ms"
pre_vote = true
ensure_leadership = false

[[server]]
min_lease_ttl = "2s"
lease_check_interval = "500ms"
disk_stall_at = "1s"
disk_stall = "3s"

[[server]]
name = "other"

[[client]]
name = "A"
)",
    R"(title  = "A kind with sessions"

[lock]
algorithm = "zk-sequential"

[[server]]
tick_time = "2s"
min_session_timeout = "5s"
max_session_timeout = "50s"
nodes = "/locks/lock /locks/other"
sync_limit = 3

[[client]]
name = "A"
)",
    R"(title  = "A kind with datacentres"

[lock]
algorithm = "consul-lock"

[servers]
heartbeat_timeout = "5s"
leader_lease_timeout = "2.5s"
commit_timeout = "20ms"
rpc_hold_timeout = "2s"

[[server]]
datacentre = "dc2"
session_ttl_min = "10s"

[[client]]
name = "A"
)",
    R"(title  = "Programs of others"

[lock]
key = "stock"

[[client]]
name = ["A", "B"]
command = ["python3", "app.py", "{redis}"]
cwd = "/usr"
env = { NAME = "{client}", TTL = "100" }
acquire_at = "5ms"
clock = { drift_ppm = 100 }
)",
};

}  // namespace lockstep::scenarios::every_key_test
