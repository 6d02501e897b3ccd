#include "checker/histories/recorder.hpp"

#include <catch2/catch.hpp>

#include "checker/histories/events_test.hpp"

namespace lockstep::recorder_test {

using namespace lockstep::checker;
using namespace lockstep::checker::history_formats;

namespace {

struct Recorded {
  std::string trouble;  ///< "line:column: message", or empty
  RecordedHistory history;
};

Recorded record(std::string_view text, std::string_view model_name, RecorderOptions options = {}) {
  const Model* model = find_model(model_name);
  REQUIRE(model != nullptr);
  Recorder recorder(*model, std::move(options));
  const ReadResult read =
      read_history(text_source(text), Format::automatic, [&](const Event& event) { return recorder.take(event); });
  std::optional<Trouble> trouble = read.trouble;
  if (!trouble) trouble = recorder.trouble();
  Recorded recorded;
  if (trouble) {
    recorded.trouble =
        std::to_string(trouble->at.line) + ":" + std::to_string(trouble->at.column) + ": " + trouble->message;
  } else {
    recorded.history = recorder.finish();
  }
  return recorded;
}

/// "0 write 3 [0,4] ok; 1 read -> 3 [2,3] ok": process, operation, position of both ends, how it ended.
std::string shown(std::string_view text, std::string_view model_name, RecorderOptions options = {}) {
  const Recorded recorded = record(text, model_name, std::move(options));
  if (!recorded.trouble.empty()) return recorded.trouble;
  const OperationHistory& history = recorded.history.operations;
  std::string out;
  for (const HistoryOperation& o : history.operations) {
    const std::string end = o.phase == lockstep::sim::Phase::invoke ? "open" : std::to_string(o.returned);
    constexpr std::string_view phases[] = {"invoke", "ok", "fail", "info"};
    out += (out.empty() ? "" : "; ") + process_text(history, o.process) + " " +
           find_model(model_name)->describe(history, o) + " [" + std::to_string(o.invoked) + "," + end + "] " +
           std::string(phases[static_cast<std::size_t>(o.phase)]);
    if (!history.key_names.empty()) out += " @" + history.key_names[o.key];
  }
  return out;
}

Verdict verdict(std::string_view text, std::string_view model_name, RecorderOptions options = {}) {
  const Recorded recorded = record(text, model_name, std::move(options));
  INFO(recorded.trouble);
  REQUIRE(recorded.trouble.empty());
  LinearizabilityOptions checking;
  checking.initial = recorded.history.initial.value_or(nil);
  return check_linearizable(recorded.history.operations, *find_model(model_name), checking).verdict;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("recorder: invocations and ends are paired by process, in the order of the file") {
  CHECK(shown("0\t:invoke\t:write\t3\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\tnil\n0\t:ok\t:write\t3\n", "register") ==
        "0 write 3 [0,3] ok; 1 read -> nil [1,2] ok");
}

namespace {

/// The logs of two clients, one after the other: B held the lock in the midst of A's hold.
constexpr std::string_view kConcatenated = R"({"process":"A","type":"invoke","f":"lock","time":1000}
{"process":"A","type":"ok","f":"lock","time":1100}
{"process":"A","type":"invoke","f":"unlock","time":9000}
{"process":"A","type":"ok","f":"unlock","time":9100}
{"process":"B","type":"invoke","f":"lock","time":2000}
{"process":"B","type":"ok","f":"lock","time":2100}
{"process":"B","type":"invoke","f":"unlock","time":3000}
{"process":"B","type":"ok","f":"unlock","time":3100}
)";

}  // namespace

TEST_CASE("recorder: times that contradict the order of the file are refused, or one of both counts") {
  CHECK(record(kConcatenated, "owner-mutex").trouble.starts_with("5:1: time 2000 after time 9100: either"));
  CHECK(verdict(kConcatenated, "owner-mutex", {.order = EventOrder::only_lines}) == Verdict::holds);
  CHECK(verdict(kConcatenated, "owner-mutex", {.order = EventOrder::times}) == Verdict::violated);
  CHECK(shown(kConcatenated, "owner-mutex", {.order = EventOrder::times}) ==
        "A acquire [0,1] ok; B acquire [2,3] ok; B release [4,5] ok; A release [6,7] ok");
}

TEST_CASE("recorder: by times, what happens at one moment is concurrent, whatever the file's order") {
  const std::string_view touching = R"({"process":0,"type":"invoke","f":"lock","time":5}
{"process":0,"type":"ok","f":"lock","time":7}
{"process":1,"type":"invoke","f":"lock","time":1}
{"process":1,"type":"ok","f":"lock","time":2}
{"process":1,"type":"invoke","f":"unlock","time":7}
{"process":1,"type":"ok","f":"unlock","time":8}
)";
  CHECK(verdict(touching, "owner-mutex", {.order = EventOrder::times}) == Verdict::holds);
  std::string apart(touching);
  apart.replace(apart.rfind("\"time\":7"), 8, "\"time\":8");
  CHECK(verdict(apart, "owner-mutex", {.order = EventOrder::times}) == Verdict::violated);
}

TEST_CASE("recorder: by times, each event needs one, and those of one process must not go back") {
  CHECK(record("{:process 0 :type :invoke :f :lock :time 1}\n{:process 0 :type :ok :f :lock}", "mutex",
               {.order = EventOrder::times})
            .trouble == "2:1: an event without a time, and times are to count; leave out --order times");
  CHECK(record("{:process 0 :type :invoke :f :lock :time 9}\n{:process 0 :type :ok :f :lock :time 8}", "mutex",
               {.order = EventOrder::times})
            .trouble.starts_with("2:1: time 8 of process 0 after its time 9"));
}

TEST_CASE("recorder: by times, notes of the nemesis stand among the operations") {
  const Recorded recorded = record(
      "{:process 0 :type :invoke :f :lock :time 1}\n{:process 0 :type :ok :f :lock :time 9}\n"
      "{:process :nemesis :type :info :f :kill :time 5}\n{:process :nemesis :type :info :f :start :time 3}",
      "mutex", {.order = EventOrder::times});
  REQUIRE(recorded.history.notes.size() == 2);
  CHECK(recorded.history.notes[0].text == "start");
  CHECK(recorded.history.notes[0].event == 1);
  CHECK(recorded.history.notes[1].event == 2);
  CHECK(recorded.history.operations.operations.at(0).returned == 3);
}

TEST_CASE("recorder: a lock that answers false was not got, and an unlock that does freed nothing") {
  const std::string_view tries = R"({"process":0,"type":"invoke","f":"tryLock"}
{"process":0,"type":"ok","f":"tryLock","value":true}
{"process":1,"type":"invoke","f":"tryLock"}
{"process":1,"type":"ok","f":"tryLock","value":false}
{"process":1,"type":"invoke","f":"unlock"}
{"process":1,"type":"ok","f":"unlock","value":false}
)";
  for (const std::string_view model : {"mutex", "owner-mutex", "reentrant-mutex", "semaphore"}) {
    INFO(model);
    CHECK(verdict(tries, model) == Verdict::holds);
    std::string both(tries);
    both.replace(both.find("false"), 5, "true ");
    CHECK(verdict(both, model) == Verdict::violated);
  }
}

TEST_CASE("recorder: what was read is known only if the file says it") {
  const Recorded silent = record("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read}", "register");
  CHECK(!silent.history.operations.operations.at(0).out_known);
  CHECK(shown("{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f :read :value nil}", "register") ==
        "0 read -> nil [0,1] ok");
}

TEST_CASE("recorder: an operation without an end, or with info, is of unknown outcome, and its process may go on") {
  CHECK(shown("0\t:invoke\t:write\t3\n0\t:info\t:write\t:timed-out\n0\t:invoke\t:write\t4\n", "register") ==
        "0 write 3 [0,1] info; 0 write 4 [2,open] invoke");
}

TEST_CASE("recorder: operations of the nemesis are notes") {
  const Recorded recorded = record(
      "{:process :nemesis :type :info :f :kill :value [:n1]}\n{:process 0 :type :invoke :f :acquire}\n"
      "{:process 0 :type :ok :f :acquire}\n{:process :nemesis :type :info :f :kill :error \"no\"}",
      "mutex");
  REQUIRE(recorded.trouble.empty());
  CHECK(recorded.history.operations.operations.size() == 1);
  REQUIRE(recorded.history.notes.size() == 2);
  CHECK(recorded.history.notes[0].text == "kill [:n1]");
  CHECK(recorded.history.notes[1].text == "kill \"no\"");
  CHECK(recorded.history.notes[1].line == 4);
}

TEST_CASE("recorder: names that files use for a function") {
  CHECK(shown("0 :invoke :lock nil\n0 :ok :lock nil\n0 :invoke :unlock nil", "mutex") ==
        "0 acquire [0,1] ok; 0 release [2,open] invoke");
  CHECK(shown("0 :invoke :get nil\n0 :ok :get 3", "register") == "0 read -> 3 [0,1] ok");
  CHECK(shown("0 :invoke :rlock nil\n0 :ok :rlock nil", "read-write-lock") == "0 acquire-read [0,1] ok");
  CHECK(shown("0 :invoke :push 7\n0 :ok :push 7\n1 :invoke :poll nil\n1 :ok :poll 7", "fifo-queue") ==
        "0 enqueue 7 [0,1] ok; 1 dequeue -> 7 [2,3] ok");
  for (const Model* model : models()) {
    for (const Alias& alias : aliases(*model)) CHECK(model->find_function(alias.function).has_value());
  }
}

TEST_CASE("recorder: every model's own arguments and results") {
  CHECK(shown("0 :invoke :cas [1 2]\n0 :fail :cas [1 2]", "cas-register") == "0 cas 1 2 [0,1] fail");
  CHECK(shown("0 :invoke :acquire nil\n0 :ok :acquire 7", "fenced-mutex") == "0 acquire -> 7 [0,1] ok");
  CHECK(shown("0 :invoke :acquire nil\n0 :ok :acquire {:client \"a\" :token 7}", "fenced-mutex") ==
        "0 acquire -> 7 [0,1] ok");
  CHECK(shown("0 :invoke :acquire nil\n0 :ok :acquire {:fence 7 :client \"a\"}", "fenced-mutex") ==
        "0 acquire -> 7 [0,1] ok");
  CHECK(shown("0 :invoke :acquire nil\n0 :ok :acquire {:lease 5}", "mutex") == "0 acquire [0,1] ok");
  CHECK(shown("0 :invoke :acquire 2\n0 :ok :acquire 2\n1 :invoke :release nil", "semaphore") ==
        "0 acquire 2 [0,1] ok; 1 release 1 [2,open] invoke");
  CHECK(shown("0 :invoke :add 3\n0 :ok :add true\n1 :invoke :read nil\n1 :ok :read #{3}", "set") ==
        "0 add 3 -> true [0,1] ok; 1 read -> {3} [2,3] ok");
  CHECK(shown("0 :invoke :txn [[:r :x nil] [:w :y 2]]\n0 :ok :txn [[:r :x 1] [:w :y 2]]", "multi-register") ==
        "0 txn read :x -> 1 write :y 2 [0,1] ok @:x");
  CHECK(shown("0 :invoke :read [:x nil]\n0 :ok :read [:x 5]", "multi-register") == "0 txn read :x -> 5 [0,1] ok @:x");
}

TEST_CASE("recorder: a set's answer is printed as one, also where numbers stand for the texts of the history") {
  CHECK(shown(R"({:process 0, :type :invoke, :f :add, :value "apple"}
{:process 0, :type :ok, :f :add, :value false}
{:process 0, :type :invoke, :f :contains, :value "pear"}
{:process 0, :type :ok, :f :contains, :value true})",
              "set") == "0 add \"apple\" -> false [0,1] ok; 0 contains \"pear\" -> true [2,3] ok");
}

TEST_CASE("recorder: keys from tuples, or beside the value") {
  const std::string expected = "0 put \"1\" [0,1] ok @x; 0 get -> \"1\" [2,3] ok @x";
  CHECK(shown(R"({:process 0 :type :invoke :f :put :key "x" :value 1}
                 {:process 0 :type :ok :f :put :key "x" :value 1}
                 {:process 0 :type :invoke :f :get :key "x" :value nil}
                 {:process 0 :type :ok :f :get :key "x" :value 1})",
              "kv") == expected);
  CHECK(shown("0 :invoke :put [\"x\" 1]\n0 :ok :put [\"x\" 1]\n0 :invoke :get [\"x\" nil]\n0 :ok :get [\"x\" \"1\"]",
              "kv") == expected);
  // Each key is a register of its own; without --independent the tuple is a value.
  const std::string_view text =
      "0 :invoke :write [1 5]\n0 :ok :write [1 5]\n0 :invoke :read [2 nil]\n0 :ok :read [2 nil]\n";
  CHECK(verdict(text, "register", {.independent = true}) == Verdict::holds);
  CHECK(verdict(text, "register") == Verdict::violated);
}

TEST_CASE("recorder: values are equal exactly if they are written so") {
  const auto reads = [](std::string_view written, std::string_view read) {
    const std::string text = "{:process 0 :type :invoke :f :write :value " + std::string(written) +
                             "}\n{:process 0 :type :ok :f :write}\n{:process 1 :type :invoke :f :read}\n"
                             "{:process 1 :type :ok :f :read :value " +
                             std::string(read) + "}\n";
    return verdict(text, "register") == Verdict::holds;
  };
  CHECK(reads("3", "3"));
  CHECK(!reads("3", "4"));
  CHECK(!reads("3", "\"3\""));
  CHECK(!reads("nil", "\"nil\""));
  CHECK(reads(":a", ":a"));
  CHECK(!reads(":a", "\"a\""));
  CHECK(reads("[1 [2 \"x\"]]", "[1, [2 \"x\"]]"));
  CHECK(!reads("[1 2]", "[1 [2]]"));
  CHECK(!reads("[\"1 2\"]", "[1 2]"));
  CHECK(!reads("[\"a\\\" \\\"b\"]", "[\"a\" \"b\"]"));
  CHECK(reads("9223372036854775807", "9223372036854775807"));
  CHECK(reads("-1", "-1"));
  CHECK(!reads("nil", "0"));
}

TEST_CASE("recorder: numbers and texts in one history") {
  CHECK(shown("0 :invoke :write 3\n0 :ok :write 3\n0 :invoke :write \"a\"\n0 :ok :write \"a\"", "register") ==
        "0 write 3 [0,1] ok; 0 write \"a\" [2,3] ok");
}

TEST_CASE("recorder: a register holds at first what the call says") {
  const std::string_view text = "0 :invoke :read nil\n0 :ok :read 5\n";
  CHECK(verdict(text, "register") == Verdict::violated);
  CHECK(verdict(text, "register", {.initial = "5"}) == Verdict::holds);
  CHECK(verdict("0 :invoke :read nil\n0 :ok :read \"a\"\n", "register", {.initial = "a"}) == Verdict::holds);
  CHECK(verdict("0 :invoke :txn [[:r :x nil]]\n0 :ok :txn [[:r :x 5]]\n", "multi-register", {.initial = "5"}) ==
        Verdict::holds);
}

TEST_CASE("recorder: with --nil-reads-unknown a read of nil says nothing, an empty queue does") {
  const RecorderOptions unknown{.nil_reads_unknown = true};
  const std::string_view text = "0 :invoke :write 1\n0 :ok :write 1\n1 :invoke :read nil\n1 :ok :read nil\n";
  CHECK(verdict(text, "register") == Verdict::violated);
  CHECK(verdict(text, "register", unknown) == Verdict::holds);
  const std::string_view txn =
      "0 :invoke :txn [[:w :x 1]]\n0 :ok :txn [[:w :x 1]]\n1 :invoke :txn [[:r :x nil] [:r :y nil]]\n"
      "1 :ok :txn [[:r :x nil] [:r :y nil]]\n";
  CHECK(verdict(txn, "multi-register") == Verdict::violated);
  CHECK(verdict(txn, "multi-register", unknown) == Verdict::holds);
  CHECK(verdict("0 :invoke :write 1\n0 :ok :write 1\n1 :invoke :read nil\n1 :ok :read 2\n", "register", unknown) ==
        Verdict::violated);
  CHECK(verdict("0 :invoke :enqueue 1\n0 :ok :enqueue 1\n1 :invoke :dequeue nil\n1 :ok :dequeue nil\n", "fifo-queue",
                unknown) == Verdict::violated);
}

TEST_CASE("recorder: values that are all pairs look like those of independent objects, others do not") {
  const auto looks_independent = [](std::string_view text, std::string_view model, RecorderOptions options = {}) {
    const Recorded recorded = record(text, model, std::move(options));
    REQUIRE(recorded.trouble.empty());
    return recorded.history.looks_independent;
  };
  const std::string_view pairs =
      "0 :invoke :write [1 5]\n0 :ok :write [1 5]\n0 :invoke :read [2 nil]\n0 :ok :read [2 nil]\n";
  CHECK(looks_independent(pairs, "register"));
  CHECK(!looks_independent(pairs, "register", {.independent = true}));
  CHECK(!looks_independent("0 :invoke :write 1\n0 :ok :write 1", "register"));
  CHECK(!looks_independent("0 :invoke :read nil\n0 :ok :read nil", "register"));
  CHECK(
      !looks_independent("0 :invoke :write [1 5]\n0 :ok :write [1 5]\n0 :invoke :read nil\n0 :ok :read 3", "register"));
  CHECK(!looks_independent("0 :invoke :cas [1 5]\n0 :ok :cas [1 5]", "cas-register"));
  CHECK(looks_independent("0 :invoke :cas [7 [1 5]]\n0 :ok :cas [7 [1 5]]", "cas-register"));
  CHECK(looks_independent("0 :invoke :acquire [7 nil]\n0 :ok :acquire [7 nil]", "mutex"));
}

TEST_CASE("recorder: an object that is another kind of thing is left out, and said to be") {
  const Recorded recorded = record(
      "{:process \"A\" :type :invoke :f :acquire :object \"lock\"}\n{:process \"A\" :type :ok :f :acquire :object "
      "\"lock\"}\n"
      "{:process \"A\" :type :invoke :f :read :object \"counter\"}\n{:process \"A\" :type :ok :f :read :object "
      "\"counter\" :value 3}",
      "mutex");
  REQUIRE(recorded.trouble.empty());
  CHECK(recorded.history.operations.operations.size() == 1);
  CHECK(recorded.history.other_objects == std::vector<std::string>{"counter: read"});
}

TEST_CASE("bad input: what is no history of this model") {
  struct Case {
    std::string_view model;
    std::string_view text;
    std::string_view trouble;
  };
  const std::vector<Case> cases{
      {"register", "0 :invoke :read nil\n0 :invoke :read nil",
       "2:1: process 0 invokes read, but its operation from line 1 has not ended"},
      {"register", "0 :ok :read 3", "1:1: read of process 0 ends here, but it was never invoked"},
      {"register", "0 :invoke :read nil\n0 :ok :read 3\n0 :info :read nil", "3:1: read of process 0 ends here"},
      {"register", "0 :invoke :read nil\n0 :ok :write 3",
       "2:7: process 0 ends write, but what it invoked in line 1 is read"},
      {"register", "0 :invoke :reed nil", "1:11: unknown function \"reed\" of the model register"},
      {"register", "0 :invoke :cas [1 2]", "1:11: unknown function \"cas\""},
      {"register", "0 :invoke :txn [[:r :x nil]]", "1:11: a transaction, which a register does not have"},
      {"cas-register", "0 :invoke :cas 3", "1:16: cas 3: expected [old new]"},
      {"cas-register", "0 :invoke :cas [1 2 3]", "1:16: cas [1 2 3]: expected [old new]"},
      {"register", "{:process 0 :type :invoke :f :write}", "1:1: write without a value"},
      {"fifo-queue", "0 :invoke :enqueue nil", "1:20: enqueue without a value"},
      {"kv", "0 :invoke :get 3", "1:16: get of 3: expected [key value], or a key beside the value"},
      {"kv", "0 :invoke :get [1 nil]\n0 :ok :get [2 \"\"]",
       "2:12: process 0 ends get of another key than that of line 1"},
      {"semaphore", "0 :invoke :acquire 0", "1:20: acquire 0: expected one permit or more"},
      {"semaphore", "0 :invoke :acquire :x", "1:20: acquire :x: expected a number of permits"},
      {"fenced-mutex", "0 :invoke :acquire nil\n0 :ok :acquire \"x\"",
       "2:16: acquire \"x\": expected the fencing token"},
      {"set", "0 :invoke :read nil\n0 :ok :read 3", "2:13: read 3: expected the elements"},
      {"multi-register", "0 :invoke :txn [[:append :x 1]]", "\"append\" in a transaction"},
      {"multi-register", "0 :invoke :txn [[:r :x]]", "a part of a transaction"},
      {"multi-register", "0 :invoke :txn [[:w :x 1]]\n0 :ok :txn [[:w :x 2]]",
       "another transaction than it was invoked with"},
      {"mutex", "{:index 5 :process 0 :type :invoke :f :acquire}\n{:index 5 :process 0 :type :ok :f :acquire}",
       "2:9: index 5 after index 5"},
      {"mutex", ":nemesis :info :start nil", "0:0: no operations of clients"},
      {"mutex", "{:process 0 :type :invoke :f :read :object \"x\"}",
       "0:0: no operation that a mutex has; the file has read of x"},
      {"mutex",
       "{:process 0 :type :invoke :f :acquire :object \"x\"}\n{:process 1 :type :invoke :f :aquire :object \"x\"}",
       "2:30: unknown function \"aquire\""},
      {"mutex",
       "{:process 0 :type :invoke :f :aquire :object \"x\"}\n{:process 1 :type :invoke :f :acquire :object \"x\"}",
       "2:30: acquire of x, on which line 1 has aquire"},
  };
  for (const Case& c : cases) {
    const std::string found = record(c.text, c.model).trouble;
    INFO(c.text << "\n" << found);
    CHECK(contains(found, c.trouble));
  }
}

}  // namespace lockstep::recorder_test
