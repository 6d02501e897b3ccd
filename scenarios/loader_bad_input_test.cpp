// Files with one mistake in what they are, which keys they have, and of what kind the values are; with the exact answer.

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenarios/loader.hpp"
#include "scenarios/loader_samples.hpp"

namespace lockstep::loader_bad_input_test {

namespace {

using namespace lockstep::scenarios;
using namespace lockstep::scenarios::samples;

}  // namespace

TEST_CASE("loader: bad input: the file as a text") {
  expect_refused({
      {kWhole, "", "an empty file; expected a scenario: at least title, [lock] and one [[client]]"},
      {kWhole, " \n\t\n", "an empty file; expected a scenario: at least title, [lock] and one [[client]]"},
      {kWhole, "# nothing but a comment\n",
       "a scenario needs \"title\": one line, in English or in both languages\n"
       "x: a scenario needs \"lock\": the table [lock] with the algorithm\n"
       "x: a scenario needs \"client\": at least one table [[client]]"},
      {kWhole, "[lock\n", R"(1:6: not valid TOML, in table header: expected ']', saw '\n')"},
      {kWhole, "[[client]]\nname=", "2:6: not valid TOML, in key-value pair: encountered end-of-file"},
      {R"(key = "stock")", R"(key = "stock)",
       "10:13: a string that is not closed; expected a quote before the end of the line"},
      {R"(cost = "slow")", "cost = \"slow\"\ncost = \"fast\"",
       "7:8: not valid TOML, in key-value pair: cannot redefine existing string 'cost'"},
      {"[pin]", "[network]", "100:1: not valid TOML, in table header: cannot redefine existing table 'network'"},
      {"rounds = 2", "rounds = 99999999999999999999",
       "36:10: not valid TOML, in decimal integer: '99999999999999999999' is not representable in 64 bits"},
      {kAppended, "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1\n",
       "115:32: a key with more than 16 parts; a scenario needs no more than five, as in "
       "expect.check.mutual-exclusion.from.pause"},
  });
}

TEST_CASE("loader: bad input: unknown keys") {
  expect_refused({
      {kAppended, "nonsense = 3\n",
       R"(115:1: there is no property "nonsense": expected one of mutual-exclusion, linearizable, no-deadlock, progress, own-release, recoverable, reentrancy, truthful-reports, faithful-renewal, no-lost-wakeup, capacity, fair, no-lost-update, no-oversell, fencing, traces)"},
      {R"(cost = "slow")", R"(costs = "slow")", R"(6:1: unknown key "costs" in a scenario: did you mean "cost"?)"},
      {R"(cost = "slow")", R"(colour = "slow")",
       R"(6:1: unknown key "colour" in a scenario: expected one of title, story, lesson, source, reproduces, cost, lock, network, servers, server, sentinels, sentinel, resource, market, client, fault, may, pin, schedule, properties, expect)"},
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
  });
}

TEST_CASE("loader: bad input: all that is wrong is told at once, in the order of the file") {
  constexpr std::string_view several = R"(title = 3
cost = "slwo"
[lock]
algorithm = "plain"
colour = "red"
[[client]]
name = "A"
hold = "5 parsecs"
[[client]]
name = "A"
[[fault]]
kind = "pause"
client = "A"
at = "1ms"
length = "1ms"
lenght = "2ms"
)";
  CHECK(refusal(several) ==
        R"(1:9: title: expected a text, or { en = "...", zh = "..." }, not 3
x:2:8: cost: there is no "slwo": did you mean "slow"?
x:5:1: unknown key "colour" in [lock] of plain: expected one of algorithm, key
x:8:8: hold: expected a duration such as "5ms" (units: ns, us, ms, s, min), not "5 parsecs"
x:16:1: unknown key "lenght" in a [[fault]]: did you mean "length"?)");
  // Names are asked about when all tables could be read, and what fits together when all names are known.
  constexpr std::string_view nobody = R"(title = "t"
lock.algorithm = "plain"
[[client]]
name = "A"
[[fault]]
kind = "crash"
client = "B"
at = "1ms"
[[fault]]
kind = "crash"
client = "C"
at = "1ms"
)";
  CHECK(refusal(nobody) == R"(7:10: client: no client is called "B": expected A
x:11:10: client: no client is called "C": expected A)");
  std::string many(nobody.substr(0, nobody.find("[[fault]]")));
  for (int i = 0; i < 30; ++i) many += "[[fault]]\nkind = \"crash\"\nclient = \"Z\"\nat = \"1ms\"\n";
  const std::string said = refusal(many);
  CHECK(std::count(said.begin(), said.end(), '\n') == 20);
  CHECK(said.ends_with("x: 10 more mistakes"));
}

TEST_CASE("loader: bad input: a finally block") {
  expect_refused({
      {"rounds = 2", "finally = []",
       "36:11: finally: expected at least one call; release = false is for who never gives back"},
      {"rounds = 2", "finally = \"unlock\"",
       R"(36:11: finally: expected an array of calls such as ["isHeldByCurrentThread", "unlock"], not "unlock")"},
      {"rounds = 2", "finally = [\"unlok\"]", R"(36:12: finally: there is no "unlok": did you mean "unlock"?)"},
      {"rounds = 2", "finally = [\"getHoldCount\"]",
       R"(36:12: finally: sample has no such call; "unlock" is the only one that every lock has)"},
      {"rounds = 2", "in_finally = true\nfinally = [\"unlock\"]",
       R"(37:11: finally: it says all that is given back in the end; leave out "release" and "in_finally")"},
  });
}

TEST_CASE("loader: bad input: what is missing") {
  expect_refused({
      {"title  =", "# title  =", R"(a scenario needs "title": one line, in English or in both languages)"},
      {R"(, zh = "A 很慢。")", R"(, zh = "")", R"(2:36: zh: expected a text in Chinese, not an empty string)"},
      {R"(algorithm = "sample")", "# no algorithm",
       R"(8:1: [lock] needs "algorithm": the id of a lock algorithm; `lockstep list algorithms` shows them)"},
      {"kind = \"counter\"\n", "\n",
       R"(28:1: [resource] needs "kind": a counter is read and then written one higher; a register is only written)"},
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
  });
}

TEST_CASE("loader: bad input: values of the wrong kind") {
  expect_refused({
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
  });
}

TEST_CASE("loader: bad input: what is no text") {
  const std::string good(kGood);
  const std::size_t stock = good.find("stock");
  std::string zero = good, byte = good, utf16 = "\xFF\xFE" + good;
  zero[stock] = '\0';
  byte[stock] = '\xFF';
  CHECK(refusal(zero) == "10:8: a zero byte: this is no text file; expected a scenario in TOML, saved as UTF-8");
  CHECK(refusal(byte) ==
        "10:8: a byte that is not UTF-8: this is no text file; expected a scenario in TOML, saved as UTF-8");
  CHECK(refusal(utf16) ==
        "1:1: a byte that is not UTF-8: this is no text file; expected a scenario in TOML, saved as UTF-8");
  CHECK(refusal("\x7F"
                "ELF") ==
        "1:1: not valid TOML, in root table: expected keys, tables, whitespace or comments, saw '\\u007F'");
  for (const char* overlong : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE4\xB8"}) {
    CHECK(refusal("# " + std::string(overlong)).starts_with("1:3: a byte that is not UTF-8"));
  }
}

TEST_CASE("loader: bad input: too much of something") {
  std::string clients(kHead);
  for (int i = 0; i < 257; ++i) clients += "[[client]]\nname = \"c" + std::to_string(i) + "\"\n";
  CHECK(refusal(clients) == "518:8: name: more than 256 clients");

  std::string servers(kLeast);
  for (int i = 0; i < 65; ++i) servers += "[[server]]\n";
  CHECK(refusal(servers) == "71:1: more than 64 servers");

  const std::string text(70'000, 'x');
  CHECK(refusal(std::string(kLeast) + "key = \"" + text + "\"\n") ==
        "7:7: \"" + text.substr(0, 40) + "...\" is 70000 bytes long; expected a string of at most 65536 bytes");
  CHECK(refusal(std::string(kLeast) + "key = \"" + text.substr(0, 65'536) + "\"\n").starts_with("7:1: unknown key"));
  CHECK(refusal(std::string(std::size_t{1} << 20, '#')) ==
        "a scenario needs \"title\": one line, in English or in both languages\n"
        "x: a scenario needs \"lock\": the table [lock] with the algorithm\n"
        "x: a scenario needs \"client\": at least one table [[client]]");
  CHECK(refusal(std::string((std::size_t{1} << 20) + 1, '#')) ==
        "larger than 1 MiB, which no scenario needs: is this the right file?");
}

TEST_CASE("loader: bad input: nesting that would overflow the stack") {
  const auto repeated = [](std::string_view what) {
    std::string text;
    while (text.size() < 1'000'000) text += what;
    return text;
  };
  CHECK(refusal("x = " + repeated("[")).starts_with("1:261: not valid TOML, in value: exceeded maximum nested"));
  CHECK(refusal("x = " + repeated("{a=")).find("exceeded maximum nested") != std::string::npos);
  CHECK(refusal("x = " + repeated("[\n")).find("exceeded maximum nested") != std::string::npos);
  CHECK(refusal(repeated("a.") + "a = 1").starts_with("1:32: a key with more than 16 parts"));
  CHECK(refusal("[" + repeated("\"a\" . ") + "a]").starts_with("1:"));
  CHECK(refusal("x = {b = \"\"\"a\"\"\"\", " + repeated("a.") + "a = 1}").starts_with("1:51: a key with more than 16"));
  // As deep as both limits together allow.
  std::string deepest;
  for (int i = 0; i < 127; ++i) deepest += "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = [\n{";
  deepest += "a = 1";
  for (int i = 0; i < 127; ++i) deepest += "}\n]";
  CHECK(refusal(deepest).starts_with("1:1: unknown key \"a\""));
  // A text may have as many dots as it likes.
  CHECK(refusal(std::string(kLeast) + "# " + std::string(100, '.') + "\n") == "(a scenario)");
}

}  // namespace lockstep::loader_bad_input_test
