// Lines of logs by a pattern: what matches, what is passed over, what is refused; and the times that people write.

#include "checker/histories/formats/pattern.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "checker/histories/events_test.hpp"

namespace lockstep::checker::history_formats::pattern_test {
namespace {

std::vector<Pattern> patterns_of(const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    auto parsed = Pattern::parse(text);
    INFO(text);
    REQUIRE(std::holds_alternative<Pattern>(parsed));
    patterns.push_back(std::get<Pattern>(std::move(parsed)));
  }
  return patterns;
}

Events events_by(const std::vector<std::string>& texts, std::string_view log) {
  const std::vector<Pattern> patterns = patterns_of(texts);
  Events events;
  events.result = read_history(
      text_source(log), Format::pattern,
      [&](const Event& event) {
        events.all.push_back(shown(event));
        return std::optional<Complaint>();
      },
      1 << 20, Format::log, patterns);
  return events;
}

std::string trouble_by(const std::vector<std::string>& texts, std::string_view log) {
  const std::optional<Trouble> trouble = events_by(texts, log).result.trouble;
  if (!trouble) return "";
  return std::to_string(trouble->at.line) + ":" + std::to_string(trouble->at.column) + ": " + trouble->message;
}

std::string mistake_in(std::string_view text) {
  auto parsed = Pattern::parse(text);
  const auto* mistake = std::get_if<Pattern::Mistake>(&parsed);
  return mistake == nullptr ? "" : mistake->message;
}

using Shown = std::vector<std::string>;

}  // namespace

TEST_CASE("patterns: each line is an event, and lines of another shape are passed over and counted") {
  const Events events = events_by({"{time} [{client}] {event} {op} {value}", "{time} [{client}] {event} {op}"},
                                  "12:00:00.001 [a b] starting\n"
                                  "12:00:00.002 [pod-1] invoke write 5\n"
                                  "\n"
                                  "12:00:00.003   [pod-1] ok write \t\r\n"
                                  "12:00:00.004 [pod-2] call read\n"
                                  "12:00:00.005 [pod-2] timeout read\n");
  CHECK(events.all == Shown{"2: \"pod-1\" invoke write 5 time=43200002000000",
                            "4: \"pod-1\" ok write time=43200003000000", "5: \"pod-2\" invoke read time=43200004000000",
                            "6: \"pod-2\" info read time=43200005000000"});
  CHECK(events.result.lines_skipped == 1);
  REQUIRE(events.result.first_skipped);
  CHECK(events.result.first_skipped->at.line == 1);
  CHECK(events.result.first_skipped->at.column == 15);
}

TEST_CASE("patterns: one that says the event itself tells calls from returns, which need not say what they end") {
  const Events events =
      events_by({"{time} {client} asks for {key}{op=lock}{event=invoke}", "{time} {client} done, {result}{event=end}"},
                "1 a asks for stock\n2 a done, true\n3 b asks for stock\n4 b done, false\n");
  CHECK(events.all == Shown{"1: \"a\" invoke lock key=\"stock\" time=1", "2: \"a\" ok lock key=\"stock\" time=2",
                            "3: \"b\" invoke lock key=\"stock\" time=3", "4: \"b\" fail lock key=\"stock\" time=4"});
}

TEST_CASE("patterns: one line may have both ends") {
  const Events events =
      events_by({"{client}: {op}({value}) = {result} [{call} - {return}]"},
                "b: read() = 5 [20ms - 30ms]\na: write(5) = ok [1.5ms - 25ms]\nc: cas([5 6]) = ok [40ms - 41ms]\n");
  CHECK(events.all == Shown{"2: \"a\" invoke write 5 time=1500000", "1: \"b\" invoke read time=20000000",
                            "2: \"a\" ok write 5 time=25000000", "1: \"b\" ok read 5 time=30000000",
                            "3: \"c\" invoke cas [5 6] time=40000000", "3: \"c\" ok cas [5 6] time=41000000"});
}

TEST_CASE("patterns: braces are doubled, words have no blanks, and what is ignored may have them") {
  const Events events = events_by({"{_} {{{client}}} {event} {op} v={value};"},
                                  "any thing {a} ok write v=x y;\nany {a b} ok write v=1;\nany {a} ok write v=1\n");
  CHECK(events.all == Shown{"1: \"a\" ok write \"x y\""});
  CHECK(events.result.lines_skipped == 2);
}

TEST_CASE("patterns: what is wrong is told with its place") {
  const std::vector<std::string> plain{"{time} {client} {event} {op}"};
  CHECK(trouble_by(plain, "\nhello\n") ==
        "2:1: no line is as --pattern has it; the first that is not empty should have {time} and what follows it here");
  CHECK(trouble_by(plain, "1 a invoke lock\n2 a zzz lock\n").starts_with("2:1: an unknown type, \"zzz\""));
  CHECK(trouble_by(plain, "1 a invoke lock\n2ms a ok lock\n").starts_with("2:1: \"2ms\" is a time of another kind"));
  CHECK(trouble_by(plain, "").starts_with("0:0: no operations"));
  CHECK(trouble_by({"{client}{event=ok}"}, "a\n").starts_with("1:1: a record without an operation"));
  CHECK(trouble_by(plain, "1 a invoke l\xFFock\n").find("not UTF-8") != std::string::npos);
  // A line of blanks is looked at once, whatever its length.
  CHECK(trouble_by({"{client} x {_} y {_}{event=ok}{op=f}"}, "a x q" + std::string(4'000'000, ' ') + "z") != "");
}

TEST_CASE("patterns: a wrong pattern says what it needs") {
  CHECK(mistake_in("{time} {event} {op}").starts_with("a pattern needs {client}"));
  CHECK(mistake_in("{time} {client} {op}").starts_with("a pattern needs {event}"));
  CHECK(mistake_in("{call} {return} {client}").starts_with("a pattern needs {op}"));
  CHECK(mistake_in("{client}{op}").starts_with("nothing stands between {op}"));
  CHECK(mistake_in("{client} {node}").starts_with("{node} is there twice"));
  CHECK(mistake_in("{clint}").starts_with("{clint} is no field"));
  CHECK(mistake_in("{client").starts_with("a { without"));
  CHECK(mistake_in("client}").starts_with("a } without"));
  CHECK(mistake_in(std::string(1001, 'a')).starts_with("it has more than"));
}

TEST_CASE("moments: as loggers write them, and nothing else") {
  const auto time = [](std::string_view text) {
    const std::optional<Moment> moment = moment_at(text);
    return moment && moment->size == text.size() ? moment->time : -1;
  };
  CHECK(time("12") == 12);
  CHECK(time("12ns") == 12);
  CHECK(time("12us") == 12'000);
  CHECK(time("12µs") == 12'000);
  CHECK(time("1.25ms") == 1'250'000);
  CHECK(time("2s") == 2'000'000'000);
  CHECK(time("2.5") == 2'500'000'000);
  CHECK(time("9223372036854775807") == 9223372036854775807);
  CHECK(time("9223372036854775808") == -1);
  CHECK(time("9223372036854775807s") == -1);
  CHECK(time("00:01:00") == 60'000'000'000);
  CHECK(time("00:00:00,5") == 500'000'000);
  CHECK(time("24:00:00") == -1);
  CHECK(time("1970-01-02T00:00:00Z") == 86'400'000'000'000);
  CHECK(time("1970-01-02 00:00:00.000000001") == 86'400'000'000'001);
  CHECK(time("1970/01/01 02:00:00+02:00") == 0);
  CHECK(time("1969-12-31T23:00:00-0100") == -1);
  // As `date -u -d 2024-02-29T12:34:56 +%s` says.
  CHECK(time("2024-02-29T12:34:56Z") == 1'709'210'096'000'000'000);
  CHECK(time("2023-02-29T12:34:56Z") == -1);
  CHECK(time("2024-02-29") == -1);
  CHECK(time("12parsecs") == -1);
  CHECK(time("") == -1);
  CHECK(moment_at("12ms, x")->size == 4);
  CHECK(moment_at("12msx")->size == 2);
}

}  // namespace lockstep::checker::history_formats::pattern_test
