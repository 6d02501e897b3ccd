// Every key of every table is written, where it belongs and as it is laid out, and read back as what it was.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/schema/schema.hpp"
#include "scenarios/format/toml/tree.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::scenarios::every_key_test {
namespace {

using schema::Array;
using schema::Node;
using schema::Table;
using schema::TableRow;
using testing::catalogue;

/// Files as the writer lays them out, by hand and not by the writer. Together they have every key at another value than
/// its default, and keys that only some kinds of a table have in each of these kinds.
constexpr std::string_view kFiles[] = {
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
};

/// What is never written, and why.
using Place = std::pair<std::string, std::string>;
const std::set<Place> kNeverWritten = {
    {"[[server]]", "kind"},       // the algorithm says it
    {"[servers]", "replicas"},    // short for [[server]] with replica_of
    {"[servers]", "failover"},    // short for [sentinels] with played, and via
    {"an expectation", "holds"},  // "holds" is shorter
};

Scenario parsed(const std::string& text) {
  auto result = parse(text, "x.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string() << "\n" << text);
  return std::get<Scenario>(std::move(result));
}

/// A story whose lock is a script on the disk.
Scenario own_lock() {
  auto result = load(in_tree("scenarios/stories/own-lock/node-redis-lock.toml"), catalogue());
  return std::get<Scenario>(std::move(result));
}

/// A key, in a table of some kind; no kind where it does not matter.
using Where = std::tuple<std::string, std::string, std::string>;

class Walk {
 public:
  explicit Walk(const Scenario& scenario) : server_kind_(scenario.servers.front().kind->name()) {}

  std::set<Where> operator()(const std::string& text) {
    visit(schema::parse_tree(text), "");
    return std::move(seen_);
  }

 private:
  static const TableRow* find_row(std::string_view heading) {
    static const std::vector<TableRow> tables = schema::tables();
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const TableRow& t) { return t.heading == heading; });
    return found == tables.end() ? nullptr : &*found;
  }

  /// The table that a key of this one holds.
  static std::string heading_of(const std::string& above, const std::string& key) {
    if (above == "[expect]") return key;
    if (above == "run" || above == "check") return "an expectation";
    if (above.empty() && (key == "story" || key == "lesson")) return "text";  // a title is written in its own way
    for (const std::string& heading : {"[" + key + "]", "[[" + key + "]]"}) {
      if (above.empty() && find_row(heading) != nullptr) return heading;
    }
    return key;
  }

  std::string kind_of(const Node& node, const std::string& heading) const {
    if (heading == "[[client]]") return schema::find(node, "commands") != nullptr ? "with commands" : "users";
    if (heading == "an expectation") return mode_;
    if (heading == "[servers]" || heading == "[[server]]") return server_kind_;
    const Node* kind = heading == "[[fault]]" || heading == "[[may]]" ? schema::find(node, "kind") : nullptr;
    return kind == nullptr ? "" : std::get<std::string>(kind->value);
  }

  void visit(const Node& node, const std::string& heading) {
    if (const auto* array = std::get_if<Array>(&node.value)) {
      for (const Node& element : *array) visit(element, heading);
    }
    const auto* table = std::get_if<Table>(&node.value);
    if (table == nullptr) return;
    if (heading == "run" || heading == "check") mode_ = heading;
    for (const schema::Entry& entry : *table) {
      seen_.emplace(heading, entry.node.key, kind_of(node, heading));
      visit(entry.node, heading_of(heading, entry.node.key));
    }
  }

  std::string server_kind_;
  std::string mode_;
  std::set<Where> seen_;
};

}  // namespace

TEST_CASE("every key of every table is written, in every kind of table that has it") {
  std::set<Where> written;
  for (const std::string_view text : kFiles) {
    const Scenario scenario = parsed(std::string(text));
    written.merge(Walk(scenario)(to_toml(scenario)));
  }
  const Scenario own = own_lock();
  written.merge(Walk(own)(to_toml(own)));
  std::set<Place> missing;
  for (const TableRow& table : schema::tables()) {
    for (const schema::KeyRow& row : table.keys) {
      const Place place{std::string(table.heading), std::string(row.name)};
      for (std::size_t i = 0; i < std::max(table.kinds.size(), std::size_t{1}); ++i) {
        const bool is_of_all = row.kinds == schema::kEveryKind || table.kinds.empty();
        if (!is_of_all && (row.kinds >> i & 1) == 0) continue;
        const auto is_there = [&](const Where& where) {
          return std::get<0>(where) == place.first && std::get<1>(where) == place.second &&
                 (is_of_all || std::get<2>(where) == table.kinds[i]);
        };
        if (std::any_of(written.begin(), written.end(), is_there)) continue;
        missing.insert(place);
        if (kNeverWritten.count(place) == 0)
          FAIL_CHECK(place.second << " of " << place.first << (is_of_all ? "" : ", ")
                                  << (is_of_all ? std::string_view() : table.kinds[i]) << " is not written");
      }
    }
  }
  CHECK(missing == kNeverWritten);
}

TEST_CASE("a file is written as it is laid out by hand, and read back as the same story") {
  for (const std::string_view text : kFiles) {
    const Scenario scenario = parsed(std::string(text));
    CHECK(to_toml(scenario) == text);
    CHECK(without_positions(parsed(to_toml(scenario))) == without_positions(scenario));
  }
}

TEST_CASE("what says the same as another key is read, and written as that") {
  const std::string head = "title  = \"t\"\n\n[lock]\nalgorithm = \"set-nx-px-lua\"\n";
  const std::string tail = "\n[[client]]\nname = \"A\"\n";
  CHECK(to_toml(parsed(head + "[[server]]\nkind = \"redis\"\n" + tail)) == head + tail);
  CHECK(to_toml(parsed(head + tail + "[expect.run]\nown-release = { holds = true }\n")) ==
        head + tail + "\n[expect.run]\nown-release = \"holds\"\n");
}

TEST_CASE("a key with a value of another type is refused, or read; nothing is thrown") {
  std::size_t refused = 0;
  for (const std::string_view file : kFiles) {
    const std::string text(file);
    for (std::size_t at = text.find(" = "); at != std::string::npos; at = text.find(" = ", at + 1)) {
      const std::size_t begin = text.rfind('\n', at) + 1, end = text.find('\n', at);
      if (text[begin] == ' ' || text[end - 1] == '[' || text.find(" = ", begin) != at) continue;
      for (const std::string_view other : {"5", "true", "[]", "[7]", "{}"}) {
        const auto result = parse(std::string(text).replace(at + 3, end - at - 3, other), "x.toml", catalogue());
        refused += std::holds_alternative<Diagnostic>(result) ? 1 : 0;
      }
    }
  }
  CHECK(refused > 500);
}

}  // namespace lockstep::scenarios::every_key_test
