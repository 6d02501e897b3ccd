// Files with one mistake in what they are, which keys they have, and of what kind the values are; with the exact answer.

#include <algorithm>
#include <catch2/catch.hpp>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/loader_bad_inputs.hpp"
#include "scenarios/format/loader_samples.hpp"

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

TEST_CASE(
    "loader: bad input: the position of a number, a date or a word is where it begins, whatever is wrong with it") {
  static const std::string rest = "[lock]\nalgorithm = \"plain\"\n[[client]]\nname = \"A\"\n";
  for (const std::string value : {"99999999999999999999",
                                  "-99999999999999999999",
                                  "+99999999999999999999",
                                  "0xFFFFFFFFFFFFFFFFFF",
                                  "0x1G",
                                  "0x",
                                  "0x1_",
                                  "0b12",
                                  "0b2",
                                  "0o8",
                                  "05",
                                  "1__0",
                                  "1_",
                                  "1.",
                                  "1._5",
                                  "1.5.5",
                                  "1e",
                                  "1e+",
                                  "1e5x",
                                  "1e999",
                                  "-1.5e99999",
                                  "5ms",
                                  "12ab",
                                  "2020-13-01",
                                  "2020-01-32",
                                  "2020-1-1",
                                  "2020-01-01T25:00:00",
                                  "2020-01-01 10:61:00",
                                  "25:00:00",
                                  "10:00",
                                  "tru",
                                  "truee",
                                  "fals",
                                  "infx",
                                  "in",
                                  "nanx",
                                  "-in",
                                  "+5",
                                  "-5",
                                  "0x1F",
                                  "0b1",
                                  "1_000",
                                  "1.5",
                                  "-1e5",
                                  "inf",
                                  "-nan",
                                  "2020-01-01",
                                  "10:00:00",
                                  "true"}) {
    INFO(value);
    const auto line = [](const std::string& text) { return "# é = [1,\n  title =   " + text + " # = [\n" + rest; };
    CHECK(refusal(line(value)).starts_with("2:13: "));
    const auto of_array = [](const std::string& text) { return "title = [\"=é, #\",  " + text + "]\n" + rest; };
    if (refusal(of_array(value)).starts_with("1:9: title: expected a text")) continue;  // the array is what is wrong
    CHECK(refusal(of_array(value)).starts_with("1:20: "));
    CHECK(refusal("title = { \"é\" = \"\"\"\n= 1\"\"\", b = " + value + " }\n").starts_with("2:13: "));
    CHECK(refusal("title = [\n  3,\n  " + value + "\n]\n").starts_with("3:3: "));
  }
  // What follows a value is no part of it.
  CHECK(refusal("title = 3 4\n").starts_with("1:11: "));
  CHECK(refusal("title = [1 2]\n").starts_with("1:12: "));
  CHECK(refusal("title+x = 3\n").starts_with("1:6: "));
}

TEST_CASE("loader: bad input: unknown keys") { expect_refused(unknown_keys()); }

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
x:5:1: unknown key "colour" in [lock] of plain: expected one of algorithm, script, key
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

TEST_CASE("loader: bad input: what is missing") { expect_refused(missing_keys()); }

TEST_CASE("loader: bad input: values of the wrong kind") { expect_refused(wrong_kinds()); }

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
