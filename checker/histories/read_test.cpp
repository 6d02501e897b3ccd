#include "checker/histories/read.hpp"

#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "checker/histories/events_test.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::read_test {

using namespace lockstep::checker::history_formats;
using Lines = std::vector<std::string>;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Whatever pieces the text comes in, the events are the same.
void check_events(std::string_view text, Format format, const Lines& expected) {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}, std::size_t{4096}}) {
    INFO("chunks of " << chunk);
    const Events events = events_of(text, chunk);
    INFO((events.result.trouble ? events.result.trouble->message : "no trouble"));
    CHECK(!events.result.trouble);
    CHECK(events.result.format == format);
    CHECK(events.all == expected);
  }
}

}  // namespace

TEST_CASE("edn: a map on each line") {
  check_events(
      "{:process 0, :type :invoke, :f :read, :value nil, :time 12, :index 0}\n"
      "{:process 0, :type :ok, :f :read, :value 3, :time -1, :index 1, :error nil}\n"
      "{:type :info :f :start :process :nemesis}\n",
      Format::edn,
      {"1: 0 invoke read nil time=12 index=0", "2: 0 ok read 3 time=-1 index=1 error=nil", "3: :nemesis info start"});
}

TEST_CASE("edn: one vector or one list of maps, printed over several lines, with comments") {
  const std::string maps =
      "{:type :invoke,\n :f :write,\n :value [1 2],\n :process 3}\n ; Nonlinearizable! {\n"
      " {:type :ok :f :write :value [1 2] :process 3}#_{:type :bogus}";
  const Lines expected{"2: 3 invoke write [1 2]", "7: 3 ok write [1 2]"};
  check_events("; a history\n[" + maps + "]\n", Format::edn, expected);
  check_events("\n(" + maps + "\n)", Format::edn, expected);
  check_events("\xEF\xBB\xBF[\n" + maps + "\n] ; the end", Format::edn, expected);
}

TEST_CASE("edn: tags, metadata, discarded forms and objects are passed over, what they tag is read") {
  check_events(
      "#jepsen.history.Op{:index 0, :process 1, :type :invoke, :f :cas, :value #jepsen.independent.Tuple [:x [0 1]]}\n"
      "#knossos.op.Op {:process 1 :type #_ :ok :info :f ^{:doc \"x\"} :cas :value #_ #_ 1 2 :x, \"odd\" {:f 1}\n"
      " :error #object[java.net.SocketException 0x5f \"closed\"] :exception #<Timeout <x> 3>\n"
      " :extra {:via [{:type java.lang.Throwable, :at [a.b$c invoke \"f.clj\" 3]}] :chars [\\a \\newline \\( ##NaN 1/2 "
      "1e9 0x1F 3M]}}",
      Format::edn,
      {"1: 1 invoke cas [:x [0 1]] index=0",
       "2: 1 info cas :x error=#object[java.net.SocketException 0x5f \"closed\"]"});
}

TEST_CASE("edn: what is discarded may stand before a key, before a value, and behind metadata") {
  check_events(
      "{#_ gone :process 1 #_[a {b c}] :type :ok ; f follows\n #_ #_ 1 \"2\" :f :x :value ^:meta #_ 9 ; five\n ^{:a 1} "
      "5"
      " #_ :gone}\n{:process 1 :type :ok :f :x #_ :value #_ 3}",
      Format::edn, {"1: 1 ok x 5", "4: 1 ok x"});
}

TEST_CASE("edn: values of every kind") {
  const auto value_of = [](const std::string& value) {
    const Events events = events_of("{:process 0 :type :ok :f :x :value " + value + "}", 3);
    return events.all.size() == 1 ? events.all[0].substr(9) : events.result.trouble->message;
  };
  CHECK(value_of("nil") == " nil");
  CHECK(value_of("true") == " true");
  CHECK(value_of("-9223372036854775808") == " -9223372036854775808");
  CHECK(value_of("+5") == " 5");
  CHECK(value_of("7N") == " 7");
  CHECK(value_of("1.5") == " 1.5");
  CHECK(value_of("3M") == " 3M");
  CHECK(value_of("\"\\t\\r\\b\\f.\"") == " \"\t\r\b\f.\"");
  CHECK(value_of(":key/word") == " :key/word");
  CHECK(value_of("\"a \\\"b\\\" \\\\ \\u4e2d\\101\"") == " \"a \"b\" \\ 中A\"");
  CHECK(value_of("\"\\u00ff\\u00FF\"") == " \"ÿÿ\"");
  CHECK(value_of("\"\\060\\176\\1234\\7\"") == " \"0~S4\a\"");  // octal: three digits at most
  CHECK(value_of("#{1 2}") == " #{1 2}");
  CHECK(value_of("(1 (2 [3]) {})") == " [1 [2 [3]] {}]");
  CHECK(value_of("{:a 1, :b nil}") == " {:a 1 :b nil}");
}

TEST_CASE("json: an object on each line, or an array of them") {
  const Lines expected{"1: 0 invoke write 3 key=\"x\" time=5", "2: \"A\" ok read null",
                       "3: \"nemesis\" info kill [\"n1\"]"};
  const std::string one = R"({"process": 0, "type": "invoke", "f": "write", "value": 3, "key": "x", "time": 5})";
  const std::string two =
      R"({"f": ":read", "type": ":ok", "process": "A", "value": null, "more": {"f": [1.5e3, true, {}]}})";
  const std::string three = R"({"process":"nemesis","type":"info","f":"kill","value":["n1"]})";
  Lines nil_for_null = expected;
  nil_for_null[1] = "2: \"A\" ok read nil";
  check_events(one + "\n" + two + "\n" + three, Format::json, nil_for_null);
  check_events("[" + one + ",\n" + two + ",\n" + three + "]\n", Format::json, nil_for_null);
}

TEST_CASE("json: strings with escapes") {
  const std::string text = R"({"process": 0, "type": "ok", "f": "x", "value": "\u4e2d \"q\" \\ \/ \ud83d\ude00 \t"})";
  check_events(text, Format::json, {"1: 0 ok x \"中 \"q\" \\ / 😀 \t\""});
}

TEST_CASE("log: the lines of every version of Jepsen, and nothing else of its log") {
  check_events(
      "INFO  jepsen.core - Run starts\n"
      "INFO  jepsen.util - 0\t:invoke\t:write\t3\n"
      "INFO  jepsen.util - 6 \t:invoke :write \t38 \t:hint 0\n"
      "INFO  jepsen.util - 0\t:info\t:write\t:timed-out\n"
      "INFO [2019-11-04 16:33:04,523] jepsen worker 1 - jepsen.util 1\t:invoke\t:read\tnil\n"
      "\n"
      "2021-02-26 23:39:01,303{GMT}\tINFO\t[jepsen worker 1] jepsen.util: 1\t:ok\t:read\t[0 2]\r\n"
      "java.net.SocketTimeoutException: Read timed out\n"
      "\tat java.net.SocketInputStream.socketRead0(Native Method)\n"
      "INFO  jepsen.util - :nemesis\t:info\t:start\t\"Cut off {:n1 #{:n2}}\"\n"
      "5\t:invoke\t:cas\t[1 \"a b\"]\n"
      "5\t:fail\t:cas\t[1 \"a b\"]\t[:precondition #object[X]]",
      Format::log,
      {"2: 0 invoke write 3", "3: 6 invoke write 38 error=:hint 0", "4: 0 info write error=:timed-out",
       "5: 1 invoke read nil", "7: 1 ok read [0 2]", "10: :nemesis info start \"Cut off {:n1 #{:n2}}\"",
       "11: 5 invoke cas [1 \"a b\"]", "12: 5 fail cas [1 \"a b\"] error=[:precondition #object[X]]"});
  CHECK(events_of("INFO  jepsen.core - Run starts\n0\t:ok\t:read\tnil\n").result.lines_skipped == 1);
}

// What a test of Jepsen 0.2 and later prints before its first operation and after its last.
TEST_CASE("log: a printed test map and printed results are passed over, whatever their lines begin with") {
  check_events(
      "2023-05-02 10:11:12,001{GMT}\tINFO\t[jepsen test runner] jepsen.core: Command line:\n"
      "lein run test --nodes n1,n2 --nemesis partition\n"
      "2023-05-02 10:11:12,014{GMT}\tINFO\t[jepsen test runner] jepsen.core: Running test:\n"
      "{:concurrency 2,\n"
      " :db\n"
      " #object[tutorial.core$db$reify__9 0x7e \"tutorial.core$db$reify__9@7e\"],\n"
      " :name \"registers\",\n"
      " :nemesis\n"
      " #object[jepsen.nemesis.Partitioner 0x11 \"jepsen.nemesis.Partitioner@11\"],\n"
      " :nemesis {:faults #{:partition}, :interval 5},\n"
      " 0 [:n1 :n2],\n"
      " :nodes [\"n1\" \"n2\"]}\n"
      "\n"
      "2023-05-02 10:11:13,200{GMT}\tINFO\t[jepsen nemesis] jepsen.util: :nemesis\t:info\t:start\t:majority\n"
      "2023-05-02 10:11:13,201{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:invoke\t:read\tnil\n"
      "2023-05-02 10:11:13,205{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:ok\t:read\t3\n"
      "2023-05-02 10:11:20,000{GMT}\tINFO\t[jepsen test runner] jepsen.core: {:linear\n"
      " {:valid? false,\n"
      "  :op {:process 0, :type :ok, :f :read, :value 3}},\n"
      "{:valid? false, :op {:process 0, :type :ok}}\n",
      Format::log, {"14: :nemesis info start error=:majority", "15: 0 invoke read nil", "16: 0 ok read 3"});
}

TEST_CASE("bad input: the place, and what was expected there") {
  struct Case {
    std::string_view text;
    std::string_view at;
    std::string_view message;
  };
  const std::vector<Case> cases{
      // Nothing to read.
      {"", "0:0", "no operations"},
      {" \n\n; only a comment\n", "0:0", "no operations"},
      {"[]", "0:0", "no operations"},
      {"hello\nworld\n", "0:0", "no operations in 2 lines"},
      // EDN.
      {"{:process 0 :type :invoke :f :read}\n{:process 0 :type", "2:18", "the text ends inside an operation"},
      {"{:process 0 :type :invoke :f :read}\n{:process 0 :typ", "2:17", "ends inside"},
      {"{:process 0 :type :invoke :f \"re", "1:33", "the text ends inside a string"},
      {"{:process 0 :type :invoke :f :read", "1:35", "The operation began in line 1, column 1"},
      {"[{:process 0 :type :invoke :f :read}\n", "2:1", "the \"[\" in line 1, column 1 is still open; expected \"]\""},
      {"[{:process 0 :type :invoke :f :read}\n)", "2:1", "\")\" closes what nothing has opened"},
      {"{:process 0 :type :invoke :f :read :value [1 2)}", "1:47", "\")\" closes what nothing has opened"},
      {"[{:process 0 :type :invoke :f :read}] [", "1:39", "more text after the history's closing bracket"},
      {"{:process 0 :type :invoke :f :read}\n42", "2:1", "\"4\": expected an operation"},
      {"{:process 0 :type :invoke :f :read}\nINFO  jepsen.util - 0\t:ok\t:read\tnil", "2:1",
       "\"I\": expected an operation"},
      {"{:process 0 :type :invoke :f :read}\n{\"process\": 0}", "2:2", "as in JSON: one file, one format"},
      {"{:process 0 :type :invokes :f :read}", "1:19", "type :invokes: expected one of invoke, ok, fail, info"},
      {"{:process 0 :type :invoke}", "1:1", "an operation without f"},
      {"{:process 0 :process 1 :type :ok :f :x}", "1:13", "a second process"},
      {"{:process -1 :type :ok :f :x}", "1:11", "process -1: expected a whole number from 0 on, below 2^63, or a name"},
      {"{:process nil :type :ok :f :x}", "1:11", "process nil"},
      {"{:process 0 :type :ok :f 3}", "1:26", "f 3: expected the name of a function"},
      {"{:process 0 :type :ok :f :x :index -2}", "1:36", "index -2: expected a number from 0 on"},
      {"{:process 0 :type :ok :f :x :time \"9\"}", "1:35", "time \"9\": expected a whole number of nanoseconds"},
      {"{:process 0.5 :type :ok :f :x}", "1:11", "process 0.5: expected a whole number from 0 on"},
      {"{:process 1e2 :type :ok :f :x}", "1:11", "process 1e2: expected a whole number"},
      {"{:process 9223372036854775808 :type :ok :f :x}", "1:11",
       "process 9223372036854775808: expected a whole number"},
      {"{:process 0 :type :ok :f :x :value {:a}}", "1:36", "a map whose last key has no value"},
      {"{:process 0 :type :ok :f :x :value}", "1:29", "a key without a value"},
      {"{:process 0 :type :ok :f :x :value \"\\q\"}", "1:37", "\\ followed by \"q\""},
      {"{:process 0 :type :ok :f :x :value 12ab}\n", "0:0", ""},
      {"{:process 0 :type :ok :f :x :value 12gh}\n", "1:36", "12gh is no number"},
      {"{:f :\xE4\xB8\xAD :process 0 :type :bad}", "1:25", "type :bad"},
      {"{:process 0 :type :ok :f :x}\n{:process 0 :f \xFF}", "2:16", "a byte that is not UTF-8"},
      {"{:process 0 :type :ok :f :x} ; \xE4\xB8", "1:32", "a byte that is not UTF-8"},
      {"#jepsen.history.Op", "1:19", "ends inside a tag"},
      {"{\"process\": 0, \xEC\xEC\"type\": 1}", "1:16", "a byte that is not UTF-8"},
      {"\xC5\xE1{:process 0}", "1:1", "a byte that is not UTF-8"},
      {"\xEF\xBB\xBF{:process \xFF}", "1:11", "a byte that is not UTF-8"},
      {"\xEF\xBB\xBF{:process 0 :type :bad}", "1:19", "type :bad"},
      // JSON.
      {"{\"process\": 0, \"type\": \"invoke\", \"f\": \"x\"}\n{\"process\": 0,", "2:15",
       "the text ends inside an object"},
      {"{\"process\": 0, \"type\": \"invoke\", \"f\": \"x\"}\n{:process 0}", "2:2", "as in EDN: one file, one format"},
      {"[\xEF\xBB\xBF{\"process\": 0}", "1:2", "expected an operation"},
      {"[{\"process\": 0, \"type\": \"invoke\", \"f\": \"x\"}", "1:44", "still open; expected \"]\""},
      {"[{\"process\": 0, \"type\": \"invoke\", \"f\": \"x\"},]", "1:45", "\"]\": expected an operation"},
      {"[{\"process\": 0, \"type\": \"invoke\", \"f\": \"x\"} {", "1:45", "\"{\": expected \",\" or \"]\""},
      {"{\"process\" 0}", "1:12", "expected \":\" after a key"},
      {"{\"process\": 0,}", "1:15", "expected a key in quotes"},
      {"{\"process\": 0 \"f\": 1}", "1:15", "expected \",\" or \"}\""},
      {"{\"process\": 01}", "1:13", "a leading zero"},
      {"{\"process\": nul}", "1:13", "expected a JSON value"},
      {"{\"f\": \"\\ud800\"}", "1:13", "half of a surrogate pair"},
      {"{\"process\": 1.5, \"f\": \"x\", \"type\": \"ok\"}", "1:13", "process 1.5: expected a whole number"},
      {"{'process': 0, 'f': 'x'}", "1:2", "single quotes, as Python prints"},
      {"[{'process': 0, 'f': 'x'}]", "1:3", "single quotes, as Python prints"},
      {"{\"index\": -1, \"process\": 1, \"f\": \"x\", \"type\": \"ok\"}", "1:11", "index -1"},
      {"{\"process\": 99999999999999999999}", "1:13", "expected a whole number"},
      {"1.0\t:invoke\t:read\tnil", "1:1", "process 1.0: expected a whole number"},
      // Logs.
      {"INFO  jepsen.util - 0\t:invoke\t:read\tnil\nINFO  jepsen.util - 0\t:ok", "2:26", "the line ends too early"},
      {"INFO  jepsen.util - 0\t:invok\t:read\tnil", "1:23", ":invok: expected one of :invoke, :ok, :fail, :info"},
      {"INFO  jepsen.util - -3\t:invoke\t:read\tnil", "1:21", "process -3"},
      {"0\t:invoke\t:read\t[1", "1:19", "the text ends inside what \"[\" opened"},
      {"0\t:invoke\t:read\tnil\n{:process 0 :type :ok :f :read}", "2:1", "a map in a log"},
      {"0\t:invoke\t:read\tnil\n0\t:ok\t:re\xC3", "2:10", "not UTF-8"},
  };
  for (const Case& c : cases) {
    for (const std::size_t chunk : {std::size_t{1 << 20}, std::size_t{1}, std::size_t{5}}) {
      const std::string found = trouble_in(c.text, Format::automatic, chunk);
      INFO(c.text << "\nin chunks of " << chunk << ": " << found);
      if (c.message.empty()) {
        CHECK(found.empty());
        continue;
      }
      CHECK(contains(found, c.message));
      CHECK(found.substr(0, found.find(": ")) == c.at);
    }
  }
}

TEST_CASE("bad input: memory is bounded, whatever stands in one line, and a pipe is read like a file") {
  const std::string head = "{:process 0 :type :invoke :f :read}\n";
  for (const Format format : {Format::edn, Format::automatic}) {
    if (sim::takes_few_cases() && format == Format::automatic) continue;  // six seconds of the same
    std::string one = head + "{:process 0 :type :ok :f :read :value [";
    while (one.size() < (std::size_t{17} << 20U)) one += "1 ";
    const ReadResult result = read_history(text_source(one + "]}"), format, [](const Event&) { return std::nullopt; });
    REQUIRE(result.trouble);
    CHECK(result.trouble->at.line == 2);
    CHECK(result.trouble->at.column == 1);
    CHECK(result.trouble->message.find("more than 8 MB") != std::string::npos);
  }
  // A pipe that gives little at a time: what is parsed again each time would take minutes.
  std::string large = head + "{:process 0 :type :ok :f :read :value [";
  while (large.size() < (std::size_t{4} << 20U)) large += "1 ";
  large += "]}\n";
  std::size_t given = 0;
  std::size_t events = 0;
  const Source drops = [&](std::span<char> space) -> std::optional<std::size_t> {
    const std::size_t n = std::min({space.size(), std::size_t{100}, large.size() - given});
    std::copy_n(large.begin() + static_cast<std::ptrdiff_t>(given), n, space.begin());
    given += n;
    return n;
  };
  const ReadResult result = read_history(drops, Format::edn, [&](const Event&) {
    ++events;
    return std::nullopt;
  });
  CHECK(!result.trouble);
  CHECK(events == 2);
}

TEST_CASE("bad input: nested without end is refused, not followed") {
  const std::string deep(100000, '[');
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :value " + deep), "nested deeper than"));
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :other " + deep), "nested deeper than"));
  CHECK(contains(trouble_in("{\"value\": " + deep), "nested deeper than"));
  std::string tags;
  for (int i = 0; i < 100000; ++i) tags += "#a ";
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :value " + tags), "nested deeper than"));
  std::string discards;
  for (int i = 0; i < 100000; ++i) discards += "#_ ";
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :value " + discards), "deeper than"));
}

TEST_CASE("json: control characters as escapes, and numbers with exponents") {
  check_events("{\"process\": 0, \"type\": \"ok\", \"f\": \"x\", \"value\": [\"\\t\\r\\b\\f\\/.\", 1e+5, 1E-5, 2.5e3]}",
               Format::json, {"1: 0 ok x [\"\t\r\b\f/.\" 1e+5 1E-5 2.5e3]"});
}

TEST_CASE("bad input: what is wrong in a part that nobody asks for is wrong, too") {
  const std::string event = "{\"process\": 0, \"type\": \"ok\", \"f\": \"x\", ";
  CHECK(contains(trouble_in(event + "\"other\": tru}"), "expected a JSON value"));
  CHECK(contains(trouble_in(event + "\"other\": {\"a\" 3}}"), "\"3\": expected \":\" after a key"));
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :other \"\\8\"}"), "\\ followed by"));
}

TEST_CASE("bad input: escapes of no character") {
  for (const std::string& text : {std::string("{:process 0 :type :ok :f :x :value \"\\u00g0\"}"),
                                  std::string("{:process 0 :type :ok :f :x :value \"\\u00/0\"}"),
                                  std::string("{\"process\": 0, \"value\": \"\\u00g0\"}"),
                                  std::string("{\"process\": 0, \"value\": \"\\u00:0\"}")}) {
    INFO(text);
    CHECK(contains(trouble_in(text), "expected four hexadecimal digits"));
  }
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x :value \"\\8\"}"), "\\ followed by \"8\""));
}

TEST_CASE("bad input: 128 levels of nesting are a history, one more is not") {
  const auto nested = [](std::size_t levels, std::string_view begin, std::string_view end) {
    return std::string(begin) + std::string(levels, '[') + std::string(levels, ']') + std::string(end);
  };
  for (const auto& [begin, end] : {std::pair("{:process 0 :type :ok :f :x :value ", "}"),
                                   std::pair("{\"process\": 0, \"type\": \"ok\", \"f\": \"x\", \"value\": ", "}")}) {
    CHECK(trouble_in(nested(128, begin, end)).empty());
    CHECK(contains(trouble_in(nested(129, begin, end)), "nested deeper than 128 levels"));
  }
}

TEST_CASE("format: what is forced is not guessed") {
  CHECK(trouble_in("{:process 0 :type :ok :f :x}", Format::edn).empty());
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x}", Format::json), "1:2: a keyword, as in EDN"));
  CHECK(contains(trouble_in("{:process 0 :type :ok :f :x}", Format::log), "1:1: a map in a log"));
  CHECK(contains(trouble_in("{\"process\": 0}", Format::edn), "as in JSON"));
}

}  // namespace lockstep::read_test
