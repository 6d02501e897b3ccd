// Formulas that were derived on paper, before a program computed them. l and L are the least and the greatest latency,
// T the lease, H the work, P a pause. A has the lock, B takes it while A still believes to hold it.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenarios/checking/check.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::formula_by_hand_test {
namespace {

using namespace sim::literals;
using testing::catalogue;
using testing::parsed;

const std::string kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

const std::string kThreeServers = "[[server]]\nname = \"r1\"\n[[server]]\nname = \"r2\"\n[[server]]\nname = \"r3\"\n";

/// Two clients that try once, and may start at any moment of a second.
std::string two_clients(const std::string& lock, const std::string& latency, const std::string& rest,
                        const std::string& hold = "20ms") {
  return "[lock]\nalgorithm = " + lock + "\n[network]\nlatency = " + latency +
         "\n[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"" + hold +
         "\"\nattempts = 1\n" + rest;
}

/// A takes it at once, B some time later.
std::string one_that_works(const std::string& lock, const std::string& hold, const std::string& starts,
                           const std::string& rest) {
  return "[lock]\nalgorithm = " + lock +
         "\n[network]\nlatency = [\"1ms\", \"4ms\"]\n[[client]]\nname = \"A\"\nhold = \"" + hold +
         "\"\nattempts = 1\n[[client]]\nname = \"B\"\nacquire_at = " + starts + "\nhold = \"20ms\"\nattempts = 1\n" +
         rest;
}

void check_margin(const std::string& story, checker::Extent expected, const std::string& kept = "mutual-exclusion") {
  CheckOptions options;
  options.second_opinion = false;
  options.exploration.asks = [&](std::string_view property) { return property == kept; };
  auto found = check(parsed(story), catalogue(), options);
  if (const auto* problem = std::get_if<Diagnostic>(&found)) FAIL(problem->to_string());
  const ExploredProperty& property = std::get<Exploration>(found).property(kept);
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().is_exact);
  CHECK(property.thresholds.front().infimum == expected);
}

const bool kAll = sim::cases<int>(1, 0) == 1;

void check_formula(const std::string& story, const std::string& expected,
                   const std::string& kept = "mutual-exclusion") {
  const Formulas found = formulas_of(parsed(story), catalogue(), kept, {.max_events = 40'000'000});
  INFO(story << "no formula: " << found.why);
  REQUIRE(found.all.size() == 1);
  CHECK(to_string(found.all.front()) == expected);
}

}  // namespace

// The SET of A is carried out at e, and A knows of it at e + L. B's is at e + T at the earliest; B knows at e + T + l.
// A works until e + L + H + P.
TEST_CASE("formula by hand: a key with a time to live") {
  const std::string expected = "safe while ttl + least latency ≥ pause + greatest latency + hold";
  for (const char* lock : {"set-nx-px-plain-del", "set-nx-px-get-del"}) {
    INFO(lock);
    check_formula(two_clients("\"" + std::string(lock) + "\"\nttl = \"100ms\"", "[\"1ms\", \"10ms\"]", kPause),
                  expected);
  }
  check_formula(two_clients("\"redisson-spin\"\nlease = \"100ms\"\nwait = \"0s\"", "[\"1ms\", \"10ms\"]", kPause),
                "safe while lease + least latency ≥ pause + greatest latency + hold");
}

// A's EXPIRE is carried out at e. B's SETNX is at e + T at the earliest, and it knows after its own EXPIRE: three messages
// later.
TEST_CASE("formula by hand: a key whose time to live is set by a second command") {
  check_formula(two_clients("\"setnx-expire-two-step\"\nttl = \"100ms\"", "[\"1ms\", \"10ms\"]", kPause),
                "safe while ttl + 3 least latency ≥ pause + greatest latency + hold");
}

// A's answer is late by D: it believes from e + L + D on. What is late of B's helps nobody.
TEST_CASE("formula by hand: a late message") {
  check_formula(two_clients("\"set-nx-px-lua\"\nttl = \"100ms\"", "[\"1ms\", \"10ms\"]",
                            "[[may]]\nkind = \"delay\"\nlength = [\"0ms\", \"10s\"]\n"),
                "safe while ttl + least latency ≥ delay + greatest latency + hold");
}

// The value is A's clock before it asks, at s, and T: s + T. A knows at s + 2L. B reads it when that has passed, then
// deletes (2l), and sets its own (2l).
TEST_CASE("formula by hand: a timestamp by the holder's clock, deleted and set again") {
  check_formula(two_clients("\"setnx-ts-del-setnx\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]", kPause),
                "safe while ttl + 4 least latency ≥ pause + 2 greatest latency + hold");
}

// The same, with one GETSET (2l) after B's look; the code adds a millisecond to the timestamp.
TEST_CASE("formula by hand: a timestamp by the holder's clock, taken over by GETSET") {
  check_formula(two_clients("\"getset-java\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]", kPause),
                "safe while ttl + 2 least latency + 1ms ≥ pause + 2 greatest latency + hold");
}

// By the application's clocks: A reads s, and its row says s + T; it knows at s + 2L. B reads its own clock at s + T at
// the earliest; its INSERT is refused (2l), its UPDATE is not (2l).
TEST_CASE("formula by hand: a row with a lease, by the application's clocks") {
  check_formula(two_clients("\"sql-lease-row\"\nlease = \"100ms\"", "[\"1ms\", \"4ms\"]", kPause),
                "safe while lease + 4 least latency ≥ pause + 2 greatest latency + hold");
}

// By the database's clock it is as with a key: e + T, and both know of what was done at e and e + T an answer later.
TEST_CASE("formula by hand: a row with a lease, by the database's clock") {
  check_formula(two_clients("\"sql-lease-row\"\nlease = \"100ms\"\nclock = \"database\"", "[\"1ms\", \"4ms\"]", kPause),
                "safe while lease + least latency ≥ pause + greatest latency + hold");
}

// Three servers, one after the other. B needs two of them, and takes the first two: its SET on the second comes at e2 +
// T at the earliest, and it knows three messages later, since it asks the third as well. A's was there at e2, and A
// knew at most three messages later.
TEST_CASE("formula by hand: Redlock, one server after the other") {
  const std::string story =
      two_clients("\"redlock-seq\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]", kThreeServers + kPause);
  check_margin(story, {100_ms + 3_ms - 12_ms - 20_ms, false});
  if (kAll) check_formula(story, "safe while ttl + 3 least latency ≥ pause + 3 greatest latency + hold");
}

// All at once: A's SETs on two servers are there at s + l, and the answer of the third, for which it waits, at s + 2L. B
// begins at s + T, so that its SETs find these two free, and knows at s + T + 2l. Of two servers both are needed: what
// makes A's answer late, a SET that is there at s + L, makes B wait for T from then on, so T + l and L count instead.
TEST_CASE("formula by hand: Redlock, all servers at once") {
  const std::string servers = kAll ? kThreeServers : "[[server]]\nname = \"r1\"\n[[server]]\nname = \"r2\"\n";
  check_margin(one_that_works("\"redlock-par\"\nttl = \"100ms\"", "20ms", "[\"90ms\", \"120ms\"]",
                              servers + "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"10s\"]\n"),
               {kAll ? 100_ms + 2_ms - 8_ms - 20_ms : 100_ms + 1_ms - 4_ms - 20_ms, false});
}

// The watchdog asks a third of the lease after it has heard of the renewal before, which was carried out at e: at e + L
// + T/3. With a pause before it the renewal is there at e + L + T/3 + P + L at the latest, and has to be there before
// e + T; else A goes on without a lock, for it is not told.
TEST_CASE("formula by hand: Redisson's watchdog") {
  const std::string story = one_that_works("\"redisson-lock\"\nwait = \"0s\"\nwatchdog_timeout = \"300ms\"", "250ms",
                                           "[\"0ms\", \"2s\"]", kPause);
  check_margin(story, {300_ms - 100_ms - 8_ms, true});
  if (kAll) check_formula(story, "safe while 2 watchdog_timeout > 3 pause + 6 greatest latency");
}

// The same of a lease of etcd, which the session keeps alive three times in its time to live: of 3s, from 1992ms on.
TEST_CASE("formula by hand: a lease of etcd, at the figures of one file") {
  check_margin(one_that_works("\"etcd-mutex\"\nttl = \"3s\"\nwait = \"10ms\"", "2s", "[\"2990ms\", \"3100ms\"]",
                              "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"10s\"]\n"),
               {1992_ms, true});
}

// Consul ends a session twice its TTL after the last renewal was carried out, at e, and keeps the key for the lock-delay
// D. The next renewal would be sent at e + L + T/2: a pause that begins just before is over at e + L + T/2 + P, and then
// A hears that it has lost the key. B's is carried out at e + 2T + D, and it knows an answer later: safe while 3/2 T + D
// + l is no less than P + L.
TEST_CASE("formula by hand: a session of Consul, at the figures of one file") {
  check_margin(one_that_works("\"consul-lock\"\nttl = \"10s\"\nwait = \"10ms\"\nlock_delay = \"2s\"", "6s",
                              "[\"21900ms\", \"22100ms\"]",
                              "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"60s\"]\n"),
               {15'000_ms + 2'000_ms + 1_ms - 4_ms, false});
}

// B's clock is ahead by S: it takes A's time for over S earlier, and does the rest as above.
TEST_CASE("formula by hand: a timestamp by the holder's clock, and a clock that is ahead") {
  const std::string skew = "[[may]]\nkind = \"skew\"\nclient = \"B\"\nby = [\"0ms\", \"1s\"]\n";
  check_formula(two_clients("\"setnx-ts-del-setnx\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]", skew),
                "safe while ttl + 4 least latency ≥ skew + 2 greatest latency + hold");
  check_formula(two_clients("\"sql-lease-row\"\nlease = \"100ms\"", "[\"1ms\", \"4ms\"]", skew),
                "safe while lease + 4 least latency ≥ skew + 2 greatest latency + hold");
}

// It need not be ahead from the start: a clock that jumps by J after A has looked at its own is the same to A.
TEST_CASE("formula by hand: a timestamp by the holder's clock, and a clock that jumps") {
  const std::string jump = "[[may]]\nkind = \"jump\"\nclient = \"B\"\nby = \"50ms\"\n";
  check_formula(two_clients("\"getset-java\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]", jump),
                "safe while ttl + 2 least latency + 1ms ≥ jump + 2 greatest latency + hold");
}

// A file that has one length of a fault has all shorter ones as well: the formula is that of the range.
TEST_CASE("formula by hand: a fault of one length") {
  for (const char* kind : {"pause", "delay"}) {
    check_formula(two_clients("\"set-nx-px-lua\"\nttl = \"100ms\"", "[\"1ms\", \"4ms\"]",
                              "[[may]]\nkind = \"" + std::string(kind) + "\"\nlength = \"60ms\"\n", "46ms"),
                  "safe while ttl + least latency ≥ " + std::string(kind) + " + greatest latency + hold");
  }
}

// B works for longer than A, but only B's clock jumps, and so only A suffers from it: of a little jump, or none, B's work
// decides, and the formula without the jump says so; from 17ms on A's does.
TEST_CASE("formula by hand: a fault that does not matter near none, and does beyond") {
  const std::string story =
      "[lock]\nalgorithm = \"getset-java\"\nttl = \"146ms\"\n[network]\nlatency = [\"4ms\", \"7ms\"]\n"
      "[[client]]\nname = \"A\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"36ms\"\nattempts = 1\n"
      "[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"53ms\"\nattempts = 1\n" +
      kPause + "[[may]]\nkind = \"jump\"\nclient = \"B\"\nby = \"52ms\"\n";
  const Formulas found = formulas_of(parsed(story), catalogue(), "mutual-exclusion", {.max_events = 40'000'000});
  REQUIRE(found.all.size() == 2);
  CHECK(to_string(found.all[0]) == "safe while ttl + 2 least latency + 1ms ≥ pause + 2 greatest latency + hold of B");
  CHECK(found.all[0].without == std::vector<std::string>{"jump"});
  CHECK(to_string(found.all[1]) ==
        "safe while ttl + 2 least latency + 1ms ≥ jump + 2 greatest latency + hold of A + pause");
  CHECK(found.all[1].without.empty());
}

// A semaphore of one place, behind a lock without end. Under the lock (SETNX: 2 messages) A reads its clock, at s, draws
// a number (2) and joins (2), and gives the lock back (WATCH, GET, EXEC: 6), so that it knows at s + 10L: a pause before
// that keeps B away from the lock. A works until s + 10L + P + H. B reads its own clock at s + T, which drops A's entry,
// and knows ten messages later.
TEST_CASE("formula by hand: a semaphore of places that are over by the clock of those who come") {
  check_formula(two_clients("\"ria-sem-fair-locked\"\nlimit = 1\nttl = \"200ms\"", "[\"1ms\", \"4ms\"]", kPause),
                "safe while ttl + 10 least latency ≥ pause + 10 greatest latency + hold", "capacity");
}

// A session of ZooKeeper ends T after the server has heard of it last, at e, when it created the node. The work is
// shorter than a third of T, so that no ping is due before the pause. A works until e + L + H + P; B's node is created
// at e + T at the earliest, and it knows an answer later.
TEST_CASE("formula by hand: a session of ZooKeeper, at the figures of one file") {
  check_margin(one_that_works("\"zk-ephemeral-create\"\nsession_timeout = \"3s\"\nwait = \"10ms\"", "20ms",
                              "[\"2900ms\", \"3100ms\"]",
                              "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"10s\"]\n"),
               {3'000_ms + 1_ms - 4_ms - 20_ms, false});
}

}  // namespace lockstep::scenarios::formula_by_hand_test
