// Files with one mistake in whom and what they refer to, with the exact answer.

#include <catch2/catch.hpp>

#include "scenarios/loader.hpp"
#include "scenarios/loader_samples.hpp"

namespace {

using namespace lockstep::scenarios;
using namespace lockstep::scenarios::samples;

void expect_refused(const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    CAPTURE(input.from, input.to);
    CHECK(refusal(text_of(input)) == input.message);
  }
}

}  // namespace

TEST_CASE("loader: bad input: who there is, and who is meant") {
  expect_refused({
      {R"(name = "operator")", R"(name = "A")",
       R"(48:8: name: "A" is already the name of another process (line 34); every client and server needs its own)"},
      {R"(name = ["B", "C"])", R"(name = ["B", "B"])",
       R"(41:14: name: "B" is already the name of another process (line 41); every client and server needs its own)"},
      {R"(name = "operator")", R"(name = "redis1")",
       R"(48:8: name: "redis1" is already the name of another process (line 22); every client and server needs its own)"},
      {R"(name = "operator")", R"(name = "redis2")", R"(48:8: name: "redis2" is the name of a server; choose another)"},
      {R"(name = "operator")", R"(name = "probe")", R"(48:8: name: "probe" is a name that Lockstep itself uses)"},
      {R"(name = "operator")", R"(name = "2nd")",
       R"(48:8: name: "2nd" is no name; expected a letter, then up to 30 letters, digits, - or _)"},
      {R"(name = "operator")", R"(name = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn")",
       R"(48:8: name: "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" is no name; expected a letter, then up to 30 letters, digits, - or _)"},
      {R"(name = ["B", "C"])", "name = []",
       R"(41:8: name: expected a name such as "A", or names such as ["B", "C"], not an empty array)"},
      {R"(name = ["B", "C"])", R"(name = ["B", 3])",
       R"(41:14: name: expected a name such as "A", or names such as ["B", "C"], not 3)"},
      {R"(name = "redis1")", R"(name = "redis2")",
       R"(25:1: two servers are called "redis2"; every server needs its own name)"},
      {kAppended, "[servers]\ncount = 5\n",
       "115:1: the servers are given twice; keep [servers] if they are all alike, [[server]] if not"},
      {kLeastAnd, "[servers]\ncount = 0\n", "8:9: count: expected a whole number from 1 to 64, not 0"},
      {kLeastAnd, "[servers]\ncount = 65\n", "8:9: count: expected a whole number from 1 to 64, not 65"},
      {kLeastAnd, "[[client]]\nname = \"redis\"\n", R"(8:8: name: "redis" is the name of a server; choose another)"},
      {"client = \"B\"\nsent", "client = \"Bob\"\nsent",
       R"(67:10: client: no client is called "Bob": expected one of A, B, C, operator)"},
      {"client = \"B\"\nsent", "client = \"redis1\"\nsent",
       R"(67:10: client: "redis1" is a server; expected the name of a client)"},
      {"server = \"redis2\"\nat", "server = \"A\"\nat",
       R"(60:10: server: "A" is a client; expected the name of a server)"},
      {"server = \"redis2\"\nat", "server = \"redsi2\"\nat",
       R"(60:10: server: no server is called "redsi2": did you mean "redis2"?)"},
      {"server = \"redis2\"\nat", "server = \"redis2\"\nclient = \"A\"\nat",
       R"(61:10: both "client" and "server": a [[fault]] strikes one process; write one for each)"},
      {R"(["redis1", "resource"]])", R"(["redis1", "A"]])",
       R"(85:35: between: "A" is in the partition twice; expected it on one side)"},
      {R"(["redis1", "resource"]])", R"(["redis3"]])",
       R"(85:25: between: nobody is called "redis3": did you mean "redis1"?)"},
      {R"(["redis1", "resource"]])", "[]]", R"(85:24: between: expected a name such as "A", not an empty array)"},
      {R"([["A", "B"], ["redis1", "resource"]])", R"([["A", "B"]])",
       R"(85:11: between: expected two arrays of names such as [["A"], ["redis"]], not 1)"},
      {R"(server = ["redis1", "redis2"])", R"(server = ["redis1", "redis9"])",
       R"(97:21: server: no server is called "redis9": did you mean "redis1"?)"},
      {R"("B.GET", )", R"("X.GET", )", R"(101:11: order: no client is called "X": expected one of A, B, C, operator)"},
      {R"("A.SET@redis2")", R"("A.SET@redis7")",
       R"(101:39: order: no server is called "redis7": did you mean "redis1"?)"},
      {R"(violated_by = ["B", "C"])", R"(violated_by = ["B", "D"])",
       R"(107:42: violated_by: no client is called "D": expected one of A, B, C, operator)"},
      {kLeastAnd, "[pin]\norder = [\"A.read\"]\n",
       R"(8:13: order: a step "read" needs something to access: add [resource])"},
      {kLeastAnd, "[[client]]\nname = \"B\"\nretry = \"1ms\"\n",
       R"(8:8: "B" sets "retry", which plain does not have; leave it out)"},
  });
}

TEST_CASE("loader: bad input: commands and steps") {
  expect_refused({
      {R"("DEL lock")", R"("DLE lock")", R"(50:14: commands: there is no command "DLE": did you mean "DEL"?)"},
      {R"("DEL lock")", R"("DEL")", "50:14: commands: DEL takes at least 1 argument, not 0"},
      {R"("DEL lock")", R"("GET a b")", "50:14: commands: GET takes 1 argument, not 2"},
      {R"("DEL lock")", R"("  frob 'x")", "50:21: commands: the quote that opens here is never closed"},
      {R"("DEL lock")", R"("\u00e9 \"x")", "50:21: commands: the quote that opens here is never closed"},
      {R"("DEL lock")", R"("SCRIPT EXPLODE")",
       R"(50:14: commands: there is no command "SCRIPT EXPLODE": the nearest is "SCRIPT EXISTS")"},
      {R"("DEL lock")", R"("SCRIPT LOAD")", "50:14: commands: SCRIPT LOAD takes 1 argument, not 0"},
      {R"("DEL lock")", R"("")",
       R"(50:13: commands: expected a Redis command such as "DEL lock", not an empty string)"},
      {R"(["DEL lock", 'SET lock "x y"'])", "[]", "50:12: commands: expected at least one command, not an empty array"},
      {R"(["DEL lock", 'SET lock "x y"'])", R"("DEL lock")",
       R"(50:12: commands: expected an array of commands such as ["DEL lock"], not "DEL lock")"},
      {"commands = [", "hold = \"1ms\"\ncommands = [",
       R"(50:1: "hold" says nothing about a client with commands; its keys are name, acquire_at, clock, commands)"},
      {R"(after = "SETNX")", R"(after = "setnx")", R"(55:10: after: "setnx" is no step: did you mean "SETNX"?)"},
      {R"(after = "SETNX")", R"(after = "SETNX#0")",
       R"(55:16: after: "0" does not count; expected a whole number of 1 or more after #)"},
      {R"(after = "SETNX")", R"(after = "SETNX#two")",
       R"(55:16: after: "two" does not count; expected a whole number of 1 or more after #)"},
      {R"(after = "SETNX")", "after = \"SETNX\"\nat = \"1ms\"",
       R"(56:6: both "after" and "at": a fault strikes at one moment)"},
      {R"(after = "SETNX")", R"(after = "acquired")",
       R"(55:10: after: "acquired" is no step: did you mean "acquire"?)"},
      {"at = \"150ms\"\nrestart", "after = \"SET\"\nrestart",
       R"(61:9: after: a server has no steps of its own; expected at = "150ms", the true time of the fault)"},
      {R"(message = "SET#2")", R"(message = "acquire")",
       R"(74:12: message: "acquire" is a step but no message; expected a Redis command, read or write)"},
      {R"(direction = "reply")", R"(direction = "answer")",
       R"(75:13: direction: there is no "answer": expected one of request, reply)"},
      {R"(by = "-2min")", "by = \"-2min\"\nlength = \"1ms\"",
       R"(70:1: "length" says nothing about kind = "jump"; its keys are kind, client, server, at, before, sent, after, by)"},
      {R"(length = "400ms")", "length = \"400ms\"\nkeep = true",
       R"(57:1: "keep" says nothing about kind = "pause"; its keys are kind, client, server, at, before, sent, after, length)"},
      {"server = \"redis2\"\nat", "client = \"A\"\nat",
       R"(63:8: keep: a client keeps nothing in a crash; "keep" is for servers)"},
      {"kind = \"lose\"\nclient", "kind = \"loose\"\nclient",
       R"(72:8: kind: there is no "loose": did you mean "lose"?)"},
      {R"(kind = "delay")", R"(kind = "skew")",
       R"(78:8: kind: there is no "skew": expected one of pause, crash, jump, lose, delay, partition)"},
      {"times = 2", R"(by = "1ms")",
       R"(93:1: "by" says nothing about kind = "pause"; its keys are kind, client, server, length, times)"},
      {R"(server = ["redis1", "redis2"])", "server = \"redis1\"\nclient = \"A\"",
       R"(98:10: both "client" and "server"; write one [[may]] for the clients and one for the servers)"},
      {R"("B.GET", )", R"("BGET", )",
       R"(101:10: order: "BGET" names no client; expected CLIENT.COMMAND, as in "B.SETNX" or "B.SETNX#2@redis1")"},
      {R"("B.GET", )", R"("B.GTE", )", R"(101:13: order: "GTE" is no step: did you mean "GET"?)"},
      {R"("B.GET", )", R"("B.acquire", )",
       R"(101:13: order: "acquire" is a step but no message; expected a Redis command, read or write)"},
      {R"("A.SET@redis2")", R"("A.read@redis2")",
       R"(101:39: order: "read" goes to the resource, not to a server; leave out the @)"},
      {R"("A.SET@redis2")", R"("A.SETNX#2")",
       R"(101:45: order: "A.SETNX#2@redis1" stands here a second time (first in line 101); it happens only once)"},
      {R"(order = ["B.GET",)", "order = [4,", R"(101:10: order: expected an entry such as "B.SETNX", not 4)"},
  });
}

TEST_CASE("loader: bad input: what is expected") {
  expect_refused({
      {R"(own-release = "holds")", R"(own-release = "hold")",
       R"(108:15: own-release: there is no "hold": did you mean "holds"?)"},
      {R"(own-release = "holds")", R"(own_release = "holds")",
       R"(108:1: there is no property "own_release": did you mean "own-release"?)"},
      {R"(own-release = "holds")", R"(safety = "holds")",
       R"(108:1: there is no property "safety": expected one of mutual-exclusion, linearizable, own-release, recoverable, no-lost-update, fencing)"},
      {R"(own-release = "holds")", "own-release = true",
       R"(108:15: own-release: expected "holds", "violated", "unknown", or a table such as { violated_by = ["B", "C"] }, not true)"},
      {R"(own-release = "holds")", "own-release = {}",
       R"(108:15: own-release: expected a verdict: one of "holds", "violated", "violated_by")"},
      {R"(own-release = "holds")", "own-release = { holds = true, violated = true }",
       R"(108:42: both "holds" and "violated"; expected one verdict)"},
      {R"(own-release = "holds")", "own-release = { violated = false }",
       "108:28: violated: expected true; write the verdict that you expect instead"},
      {"own-release = { holds = true }", R"(own-release = { holds = true, from = { pause = "1ms" } })",
       R"(114:15: own-release: "at" and "from" tell when it is broken, and this expects that it holds)"},
      {R"(own-release = "holds")", R"(own-release = { violated = true, from = { pause = "1ms" } })",
       R"(108:34: "from" says nothing about an expectation of `run`; its keys are holds, violated, violated_by, at)"},
      {"own-release = { holds = true }", R"(own-release = { violated = true, at = "1ms" })",
       R"(114:34: "at" says nothing about an expectation of `check`; its keys are holds, violated, violated_by, from)"},
      {R"(from = { pause = "91ms" })", R"(from = { pauses = "91ms" })",
       R"(113:48: there is no threshold of "pauses": did you mean "pause"?)"},
      {R"(from = { pause = "91ms" })", "from = { pause = 91 }",
       R"(113:56: pause: expected a duration such as "5ms" (units: ns, us, ms, s, min), not 91)"},
      {R"(from = { pause = "91ms" })", "from = {}",
       R"(113:46: from: expected a threshold such as { pause = "91ms" }, not an empty table)"},
      {R"(from = { pause = "91ms" })", R"(from = { jump = "91ms" })",
       R"(113:1: mutual-exclusion: a threshold of "jump" needs a [[may]] with kind = "jump" and a range)"},
      {"traces = 123", "traces = 0", "112:10: traces: expected a whole number of 1 or more, not 0"},
      {"traces = 123", "trace = 123", R"(112:1: there is no property "trace": did you mean "traces"?)"},
      {R"(own-release = "holds")", "traces = 5",
       R"(108:1: there is no property "traces": expected one of mutual-exclusion, linearizable, own-release, recoverable, no-lost-update, fencing)"},
      {R"(recoverable = { within = "200ms" })", R"(recoverable = "200ms")",
       R"(104:15: recoverable: expected a table with within, not "200ms")"},
      {R"(recoverable = { within = "200ms" })", "recoverable = {}",
       R"(104:15: recoverable needs "within": a fresh client must have the lock this long after everybody is done or dead)"},
  });
}
