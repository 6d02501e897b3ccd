#pragma once

// For tests: files with one mistake, and what the loader says about it. The schema for editors must refuse them, too.

#include <vector>

#include "scenarios/format/loader_samples.hpp"

namespace lockstep::scenarios::samples {

/// Keys that there are not.
inline std::vector<BadInput> unknown_keys() {
  return {
      {kAppended, "nonsense = 3\n",
       R"(115:1: there is no property "nonsense": expected one of mutual-exclusion, linearizable, no-deadlock, )"
       R"(progress, own-release, recoverable, reentrancy, truthful-reports, faithful-renewal, no-lost-wakeup, )"
       R"(capacity, fair, no-lost-update, no-oversell, fencing, traces)"},
      {R"(cost = "slow")", R"(costs = "slow")", R"(6:1: unknown key "costs" in a scenario: did you mean "cost"?)"},
      {R"(cost = "slow")", R"(colour = "slow")",
       R"(6:1: unknown key "colour" in a scenario: expected one of title, story, lesson, source, reproduces, cost, )"
       R"(lock, network, servers, server, sentinels, sentinel, resource, market, client, fault, may, pin, schedule, )"
       R"(properties, expect)"},
      {R"(ttl = "100ms")", R"(tll = "100ms")", R"(11:1: unknown key "tll" in [lock] of sample: did you mean "ttl"?)"},
      {"title  = { en", "title  = { de", R"(1:12: unknown key "de" in title: expected one of en, zh)"},
      {R"(timeout = "50ms")", R"(timeouts = "50ms")",
       R"(19:1: unknown key "timeouts" in [network]: did you mean "timeout"?)"},
      {"drift_ppm = 100", "drift = 100",
       R"(23:28: unknown key "drift" in clock: expected one of offset, drift_ppm, uptime)"},
      {"rounds = 2", "round = 2", R"(36:1: unknown key "round" in a [[client]]: did you mean "rounds"?)"},
      {"times = 2", "time = 2", R"(93:1: unknown key "time" in a [[may]]: did you mean "times"?)"},
      {"order = [", "sequence = [", R"(101:1: unknown key "sequence" in [pin]: expected order)"},
      {R"(within = "200ms")", R"(in = "200ms")", R"(104:17: unknown key "in" in recoverable: expected within)"},
      {"[expect.run]", "[expect.runs]", R"(106:9: unknown key "runs" in [expect]: did you mean "run"?)"},
      {R"(at = "163ms")", R"(when = "163ms")",
       R"(107:48: unknown key "when" in an expectation: expected one of holds, violated, violated_by, at)"},
  };
}

/// What has to be there, and is not.
inline std::vector<BadInput> missing_keys() {
  return {
      {"title  =", "# title  =", R"(a scenario needs "title": one line, in English or in both languages)"},
      {R"(, zh = "A 很慢。")", R"(, zh = "")", R"(2:36: zh: expected a text in Chinese, not an empty string)"},
      {R"(algorithm = "sample")", "# no algorithm",
       R"(8:1: [lock] needs "algorithm": the id of a lock algorithm; `lockstep list algorithms` shows them; or )"
       R"("script": a lock of your own in Lua)"},
      {"kind = \"counter\"\n", "\n",
       R"(28:1: [resource] needs "kind": a counter is read and then written one higher; a register is only written; )"
       R"(a row is a counter that the lock's server keeps, in its holder's transaction)"},
      {"name = \"operator\"\n", "\n",
       R"(47:1: a client with commands needs "name": one client, or several with the same settings)"},
      {"kind = \"pause\"\nclient = \"A\"\nafter", "client = \"A\"\nafter",
       R"(52:1: a [[fault]] needs "kind": what happens)"},
      {"kind = \"pause\"\nclient = \"A\"\nlength", "client = \"A\"\nlength",
       R"(89:1: a [[may]] needs "kind": what might happen)"},
      {R"(length = "400ms")", "# no length",
       R"(52:1: kind = "pause" needs "length": how long it lasts; delay: on top of the latency)"},
      {R"(by = "-2min")", "# by", R"(65:1: kind = "jump" needs "by": how far the wall clock jumps)"},
      {R"(message = "read")", "# message",
       R"(77:1: kind = "delay" needs "message": which message of the client is lost or delayed)"},
      {R"(between = [["A", "B"], ["redis1", "resource"]])", "# between",
       R"(83:1: kind = "partition" needs "between": who cannot reach whom; "resource" is the resource)"},
      {"from = \"10ms\"\n", "\n", R"(83:1: kind = "partition" needs "from": when the partition begins, in true time)"},
      {"client = \"A\"\nafter = \"SETNX\"", R"(after = "SETNX")",
       R"(52:1: kind = "pause" needs "client" or "server": the name of the process that it strikes)"},
      {R"(after = "SETNX")", "# no moment",
       R"(52:1: kind = "pause" needs a moment: one of "at", "before", "sent", "after")"},
      {R"(timeout = "50ms")", "# no timeout",
       R"(71:1: a lost message, and a client that waits for ever: add timeout = "50ms" to [network])"},
      {kHeadAnd, "", R"(a scenario needs "client": at least one table [[client]])"},
      {kHeadAnd, "client = []\n", "5:10: client: expected at least one [[client]]"},
  };
}

/// Values of another type, or outside of what is allowed.
inline std::vector<BadInput> wrong_kinds() {
  return {
      {R"(title  = { en = "Two holders", zh = "两个持有者" })", "title = 7",
       R"(1:9: title: expected a text, or { en = "...", zh = "..." }, not 7)"},
      {R"(title  = { en = "Two holders", zh = "两个持有者" })", R"(title = "")",
       R"(1:9: title: expected a text in English, or { en = "...", zh = "..." }, not an empty string)"},
      {R"(en = "Two holders")", R"(en = " ")", "1:17: en: expected a text in English, not an empty string"},
      {R"(en = "Two holders")", "en = 7", "1:17: en: expected a text in English, not 7"},
      {R"(cost = "slow")", R"(cost = "slwo")", R"(6:8: cost: there is no "slwo": did you mean "slow"?)"},
      {R"(cost = "slow")", "cost = 1", R"(6:8: cost: expected one of "fast", "slow", "rare", not 1)"},
      {R"("F000-2i"])", R"("F00-2"])",
       R"(5:25: reproduces: expected the id of a documented failure such as "F000-2", not "F00-2")"},
      {R"("F000-2i"])", R"("F000-99"])",
       R"(5:25: reproduces: there is no documented failure "F000-99": did you mean "F000-1"?)"},
      {R"("F000-2i"])", R"("F000-2"])", R"(5:25: reproduces: "F000-2" stands here twice)"},
      {R"(ttl = "100ms")", R"(ttl = "5 parsecs")",
       R"(11:7: ttl: expected a duration such as "5ms" (units: ns, us, ms, s, min), not "5 parsecs")"},
      {R"(ttl = "100ms")", "ttl = 100",
       R"(11:7: ttl: expected a duration such as "5ms" (units: ns, us, ms, s, min), not 100)"},
      {R"(ttl = "100ms")", R"(ttl = "0ms")", R"(11:7: ttl: expected a lease of 1ms or more, not "0ms")"},
      {R"(ttl = "100ms")", R"(ttl = "-1ms")", R"(11:7: ttl: expected a duration of 0ms or more, not "-1ms")"},
      {R"(ttl = "100ms")", R"(ttl = "10000000min")",
       R"(11:7: ttl: expected a duration of at most ten years, not "10000000min")"},
      {R"(ttl = "100ms")", R"(ttl = ["1ms", "2ms"])",
       R"(11:7: ttl: expected a duration such as "5ms" (units: ns, us, ms, s, min), not an array)"},
      {R"(ttl = "100ms")", "ttl = 1.5",
       R"(11:7: ttl: expected a duration such as "5ms" (units: ns, us, ms, s, min), not a number with a point)"},
      {R"(ttl = "100ms")", "ttl = 2020-01-01",
       R"(11:7: ttl: expected a duration such as "5ms" (units: ns, us, ms, s, min), not a date or time)"},
      {R"(retry = ["5ms", "10ms"])", R"(retry = ["5ms"])",
       R"(12:9: retry: expected a range of two durations such as ["1ms", "5ms"], not an array of 1)"},
      {R"(retry = ["5ms", "10ms"])", R"(retry = ["10ms", "5ms"])",
       "12:9: retry: a range from 10ms down to 5ms; expected the smaller one first"},
      {R"(retry = ["5ms", "10ms"])", R"(retry = ["-5ms", "10ms"])",
       R"(12:10: retry: expected a duration of 0ms or more, not "-5ms")"},
      {R"(retry = ["5ms", "10ms"])", "retry = true",
       R"(12:9: retry: expected a duration such as "5ms", or a range such as ["1ms", "5ms"], not true)"},
      {"attempts = 3", "attempts = 0", "13:12: attempts: expected a whole number of 1 or more, not 0"},
      {"attempts = 3", R"(attempts = "3")", R"(13:12: attempts: expected a whole number of 1 or more, not "3")"},
      {"unlock_all = true", R"(unlock_all = "true")",
       R"(14:14: unlock_all: expected true or false, without quotes, not "true")"},
      {R"(mode = "lenient")", R"(mode = "lenent")", R"(15:8: mode: there is no "lenent": did you mean "lenient"?)"},
      {R"(mode = "lenient")", "mode = 4", "15:8: mode: expected one of strict, lenient, not 4"},
      {R"(key = "stock")", R"(key = "")", R"(10:7: key: expected a key such as "lock", not an empty string)"},
      {R"(algorithm = "sample")", R"(algorithm = "no-such-lock")",
       R"(9:13: algorithm: there is no algorithm "no-such-lock": expected one of sample, plain)"},
      {R"(algorithm = "sample")", R"(algorithm = "smaple")",
       R"(9:13: algorithm: there is no algorithm "smaple": did you mean "sample"?)"},
      {R"(algorithm = "sample")", R"(algorithm = "sample ")",
       R"(9:13: algorithm: there is no algorithm "sample ": did you mean "sample"?)"},
      {"rounds = 2", "rounds = 0", "36:10: rounds: expected a whole number from 1 to 1000000, not 0"},
      {"release = false", "release = 0", "45:11: release: expected true or false, without quotes, not 0"},
      {"drift_ppm = 100", "drift_ppm = 1000000",
       "23:40: drift_ppm: expected a whole number from -500000 to 500000, not 1000000"},
      {R"(hold = "20ms")", R"(hold = "-20ms")", R"(35:8: hold: expected a duration of 0ms or more, not "-20ms")"},
      {R"(clock = { offset = "200ms" })", R"(clock = "200ms")",
       R"(38:9: clock: expected a table with offset, drift_ppm, uptime, not "200ms")"},
      {R"(by = "-2min")", R"(by = ["1ms", "2ms"])",
       "69:6: by: expected one duration, not a range: a [[fault]] does happen; ranges are for [[may]]"},
      {R"(length = "400ms")", R"(length = ["0ms", "400ms"])",
       "56:10: length: expected one duration, not a range: a [[fault]] does happen; ranges are for [[may]]"},
      {"[lock]\nalgorithm = \"sample\"\nkey = \"stock\"\nttl = \"100ms\"\nretry = [\"5ms\", \"10ms\"]\nattempts = "
       "3\nunlock_all = true\nmode = \"lenient\"",
       R"(lock = "sample")", R"(8:8: lock: expected the table [lock], not "sample")"},
      {kHeadAnd, "[client]\nname = \"A\"\n",
       "5:1: client: expected [[client]] with two brackets (there may be several), not a table"},
      {"times = 2", "times = 0", "93:9: times: expected a whole number from 1 to 1000, not 0"},
  };
}

}  // namespace lockstep::scenarios::samples
