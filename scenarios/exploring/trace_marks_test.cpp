// Each mark in the smallest story that reaches it, and beside it the nearest one that does not.

#include "scenarios/exploring/trace_marks.hpp"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::trace_marks_test {
namespace {

using testing::catalogue;

/// One lock of 20ms, one millisecond each way. Clients A (from 0ms) and perhaps B.
struct Story {
  std::string ttl = "20ms";
  std::string timeout = "";  ///< a line of [network]
  std::string hold = "5ms";
  std::string b = "";     ///< when B comes; empty: never
  std::string more = "";  ///< tables
  std::string lock = "algorithm = \"set-nx-px-lua\"";
};

Exploration explored(const Story& story) {
  std::string text =
      "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"s\", zh = \"s\" }\nlesson = { en = \"l\", zh = \"l\" }\n"
      "[lock]\n" +
      story.lock + "\n" + (story.ttl.empty() ? "" : "ttl = \"" + story.ttl + "\"\n") +
      "[network]\nlatency = \"1ms\"\n" + story.timeout + "[[client]]\nname = \"A\"\nhold = \"" + story.hold + "\"\n";
  if (!story.b.empty()) text += "[[client]]\nname = \"B\"\nacquire_at = \"" + story.b + "\"\nhold = \"0ms\"\n";
  const auto scenario = parse(text + story.more, "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  auto result = explore(std::get<Scenario>(scenario), catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
  CHECK(std::get<Exploration>(result).counts.complete);
  return std::get<Exploration>(std::move(result));
}

enum class Reached : std::uint8_t { in_some_trace, in_none, not_possible };

Reached reached(std::string_view name, const Story& story) {
  const Exploration exploration = explored(story);
  for (const Mark& mark : exploration.marks) {
    CHECK(!mark.name_zh.empty());
    CHECK(mark.traces <= exploration.counts.traces);
    if (mark.name == name) return mark.traces > 0 ? Reached::in_some_trace : Reached::in_none;
  }
  return Reached::not_possible;
}

std::string may(const std::string& kind, const std::string& more) {
  return "[[may]]\nkind = \"" + kind + "\"\n" + more;
}

const std::string kOfA = "client = \"A\"\n";
const std::string kOfServer = "server = \"redis\"\n";

}  // namespace

TEST_CASE("mark: somebody found the lock taken") {
  const std::string name = "somebody found the lock taken";
  CHECK(reached(name, {.b = "3ms"}) == Reached::in_some_trace);
  CHECK(reached(name, {.b = "30ms"}) == Reached::in_none);
  CHECK(reached(name, {}) == Reached::in_none);
  // Nobody fails where attempts wait for their turn.
  for (const char* lock : {"etcd-mutex", "zk-sequential", "consul-lock"}) {
    INFO(lock);
    const std::string waiting = "algorithm = \"" + std::string(lock) + "\"";
    CHECK(reached(name, {.ttl = "", .hold = "50ms", .b = "3ms", .lock = waiting}) == Reached::in_some_trace);
    CHECK(reached(name, {.ttl = "", .hold = "50ms", .b = "400ms", .lock = waiting}) == Reached::in_none);
    CHECK(reached(name, {.ttl = "", .lock = waiting}) == Reached::in_none);
  }
}

TEST_CASE("mark: a lease ran out before its holder gave the lock back") {
  const std::string name = "a lease ran out before its holder gave the lock back";
  CHECK(reached(name, {.hold = "30ms", .b = "25ms"}) == Reached::in_some_trace);
  CHECK(reached(name, {.hold = "30ms", .b = "15ms"}) == Reached::in_some_trace);  // A's own release notices it
  CHECK(reached(name, {.hold = "15ms", .b = "10ms"}) == Reached::in_none);
  // The probe, which asks whether the lock comes back, leaves it to its lease: that is nobody's of the story.
  const std::string etcd = "algorithm = \"etcd-mutex\"";
  CHECK(reached(name, {.ttl = "2s", .lock = etcd}) == Reached::in_none);
  CHECK(reached(name, {.ttl = "2s", .more = may("crash", kOfA), .lock = etcd}) == Reached::in_some_trace);
}

TEST_CASE("mark: a holder was paused, or somebody who held nothing") {
  const std::string holder = "a holder was paused";
  const std::string other = "a client or server that held no lock was paused";
  const std::string length = "length = [\"1ms\", \"3ms\"]\n";
  CHECK(reached(holder, {.more = may("pause", kOfA + length)}) == Reached::in_some_trace);
  CHECK(reached(other, {.more = may("pause", kOfA + length)}) == Reached::in_some_trace);
  CHECK(reached(holder, {.more = may("pause", kOfServer + length)}) == Reached::not_possible);
  CHECK(reached(other, {.more = may("pause", kOfServer + length)}) == Reached::in_some_trace);
  CHECK(reached(holder, {}) == Reached::not_possible);
  CHECK(reached(other, {}) == Reached::not_possible);
  // B finds the lock taken and never holds anything.
  CHECK(reached(holder, {.b = "3ms", .more = may("pause", "client = \"B\"\nlength = \"1ms\"\n")}) == Reached::in_none);
}

TEST_CASE("mark: a holder crashed, or a server") {
  const std::string holder = "a holder crashed";
  const std::string server = "a server crashed";
  CHECK(reached(holder, {.more = may("crash", kOfA)}) == Reached::in_some_trace);
  CHECK(reached(server, {.more = may("crash", kOfA)}) == Reached::not_possible);
  CHECK(reached(holder, {.more = may("crash", kOfServer + "restart_after = \"1ms\"\n")}) == Reached::not_possible);
  CHECK(reached(server, {.more = may("crash", kOfServer + "restart_after = \"1ms\"\n")}) == Reached::in_some_trace);
  CHECK(reached(holder, {.b = "3ms", .more = may("crash", "client = \"B\"\n")}) == Reached::in_none);
}

TEST_CASE("mark: a request or a reply was lost, and a client gave up waiting for it") {
  const std::string lost = "a request or a reply was lost";
  const std::string gave_up = "a client gave up waiting for a reply";
  const Story losing{.timeout = "timeout = \"10ms\"\n", .more = may("lose", kOfA)};
  CHECK(reached(lost, losing) == Reached::in_some_trace);
  CHECK(reached(gave_up, losing) == Reached::in_some_trace);
  CHECK(reached(lost, {.timeout = "timeout = \"10ms\"\n"}) == Reached::not_possible);
  CHECK(reached(gave_up, {.timeout = "timeout = \"10ms\"\n"}) == Reached::not_possible);
  // An answer takes 2ms, and its patience is shorter.
  CHECK(reached(gave_up, {.timeout = "timeout = \"1.5ms\"\n"}) == Reached::in_some_trace);
}

TEST_CASE("mark: a clock jumped, or was off from the start") {
  const std::string jumped = "a clock jumped";
  const std::string skewed = "a clock was off from the start";
  const std::string by = "by = \"5ms\"\n";
  CHECK(reached(jumped, {.more = may("jump", kOfServer + by)}) == Reached::in_some_trace);
  CHECK(reached(skewed, {.more = may("jump", kOfServer + by)}) == Reached::not_possible);
  CHECK(reached(skewed, {.more = may("skew", kOfServer + by)}) == Reached::in_some_trace);
  CHECK(reached(jumped, {.more = may("skew", kOfServer + by)}) == Reached::not_possible);
}

namespace {

constexpr auto kUnread = Idle::Why::unread_clock;
constexpr auto kNobody = Idle::Why::meets_nobody;
constexpr auto kNoMoment = Idle::Why::no_moment;

/// What made no difference: of the only [[may]], and of the servers.
struct Unnoticed {
  std::optional<Idle::Why> may;
  std::vector<std::size_t> servers;
  bool operator==(const Unnoticed&) const = default;
};

Unnoticed unnoticed(const Story& story) {
  Unnoticed result;
  for (const Idle& idle : explored(story).idle) {
    if (idle.is_server) result.servers.push_back(idle.number);
    if (!idle.is_server) result.may = idle.why;
  }
  return result;
}

std::string lock_of(const std::string& algorithm) { return "algorithm = \"" + algorithm + "\""; }

constexpr const char* kReplica = "[[server]]\nname = \"redis\"\n[[server]]\nname = \"R\"\nreplica_of = \"redis\"\n";

}  // namespace

TEST_CASE("idle: a clock that nothing depends on") {
  const std::string by = "by = \"5ms\"\n";
  for (const char* kind : {"jump", "skew"}) {
    INFO(kind);
    const auto of_server = [&](const char* algorithm, const char* server) {
      return unnoticed({.ttl = "",
                        .more = may(kind, "server = \"" + std::string(server) + "\"\n" + by),
                        .lock = lock_of(algorithm)});
    };
    CHECK(of_server("etcd-mutex", "etcd").may == kUnread);
    CHECK(of_server("zk-sequential", "zookeeper").may == kUnread);
    CHECK(of_server("consul-lock", "consul").may == kUnread);
    CHECK(of_server("set-nx-px-lua", "redis").may == std::nullopt);
    CHECK(of_server("sql-lease-row", "sql").may == std::nullopt);
    const auto of_client = [&](const char* algorithm) {
      return unnoticed({.ttl = "", .b = "3ms", .more = may(kind, kOfA + by), .lock = lock_of(algorithm)});
    };
    CHECK(of_client("set-nx-px-lua").may == kUnread);
    CHECK(of_client("getset-java").may == std::nullopt);
  }
}

TEST_CASE("idle: a server that no client has to do with, and what happens to it alone") {
  const std::string crash = may("crash", "server = \"R\"\nrestart_after = \"5ms\"\n");
  CHECK(unnoticed({.more = kReplica + crash}) == Unnoticed{kNobody, {1}});
  CHECK(unnoticed({.timeout = "timeout = \"10ms\"\n",
                   .more = kReplica + may("partition", "between = [[\"A\"], [\"R\"]]\nlength = \"5ms\"\n")}) ==
        Unnoticed{kNobody, {1}});
  CHECK(unnoticed({.timeout = "timeout = \"10ms\"\n",
                   .more = kReplica + may("partition", "between = [[\"A\"], [\"redis\"]]\nlength = \"5ms\"\n")}) ==
        Unnoticed{std::nullopt, {1}});
  // An operator asks it; a client asks its primary how many replicas have something.
  const std::string operator_asks = "[[client]]\nname = \"operator\"\ncommands = [\"GET lock\"]\nserver = \"R\"\n";
  CHECK(unnoticed({.more = kReplica + operator_asks + crash}) == Unnoticed{std::nullopt, {}});
  const std::string waits = "[[client]]\nname = \"operator\"\ncommands = [\"WAIT 1 5\"]\n";
  CHECK(unnoticed({.more = kReplica + waits + crash}) == Unnoticed{std::nullopt, {}});
}

TEST_CASE("idle: a fault for which there is no moment") {
  const auto during = [](const char* activity, const char* algorithm) {
    return unnoticed({.ttl = "",
                      .hold = "30ms",
                      .more = may("pause", kOfA + "length = \"5ms\"\nduring = \"" + activity + "\"\n"),
                      .lock = lock_of(algorithm)});
  };
  CHECK(during("renewal", "set-nx-px-lua").may == kNoMoment);
  CHECK(during("renewal", "redisson-lock\"\nwatchdog_timeout = \"30ms").may == std::nullopt);
  CHECK(during("acquire", "set-nx-px-lua").may == std::nullopt);
}

}  // namespace lockstep::scenarios::trace_marks_test
