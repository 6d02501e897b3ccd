// Histories of other checkers' test data and their verdicts there, as facts: short ones, in the form in which they are
// published; longer ones reduced to what was done. Anything with a public verdict has to get that verdict.
//
// Source: the tests and test_data/ of Porcupine (github.com/anishathalye/porcupine); data/ and the tests of Knossos
// (github.com/jepsen-io/knossos).

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <string_view>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "checker/linearizability/linearizability.hpp"

namespace lockstep::public_verdicts_test {

using namespace lockstep::checker;
using namespace lockstep::checker::history_formats;

namespace {

struct Judged {
  LinearizabilityResult result;
  RecordedHistory recorded;
};

Judged judged(std::string_view text, std::string_view model_name, std::string initial = "") {
  const Model& model = *find_model(model_name);
  Recorder recorder(model, {.initial = std::move(initial)});
  const ReadResult read =
      read_history(text_source(text), Format::automatic, [&](const Event& event) { return recorder.take(event); });
  INFO(text << (read.trouble ? read.trouble->message : ""));
  REQUIRE_FALSE(read.trouble);
  Judged judged{.recorded = recorder.finish()};
  LinearizabilityOptions options;
  options.initial = judged.recorded.initial.value_or(nil);
  judged.result = check_linearizable(judged.recorded.operations, model, options);
  return judged;
}

bool is_linearizable(std::string_view text, std::string_view model, std::string initial = "") {
  const Judged all = judged(text, model, std::move(initial));
  REQUIRE(all.result.verdict != Verdict::unknown);
  return all.result.verdict == Verdict::holds;
}

/// The position, among the events of the file, of the return that has no place: what Knossos calls the index of :op.
std::int64_t culprit_index(std::string_view text, std::string_view model, std::string initial = "") {
  const Judged all = judged(text, model, std::move(initial));
  REQUIRE(all.result.verdict == Verdict::violated);
  return all.recorded.operations.operations[*all.result.culprit].returned;
}

// --- Knossos

TEST_CASE("public verdicts: Knossos' short cas-register histories") {
  // data/cas-register/bad/immediate-failure.edn
  CHECK_FALSE(
      is_linearizable("[{:type :invoke, :process 1, :f :read, :value nil}\n"
                      "{:type :invoke, :process 101, :f :write, :value 3}\n"
                      "{:type :fail, :process 101, :f :write, :value 3, :error [:temporarily-unavailable nil]}\n"
                      "{:type :ok, :process 1, :f :read, :value 3}]\n",
                      "cas-register", "0"));
  // data/cas-register/good/cas-register-bug.edn: a read that never ends, and one that names its result at once
  constexpr std::string_view good =
      "; a comment first\n"
      "[{:process 4, :type :invoke, :f :write, :value 2}\n {:process 4, :type :ok, :f :write, :value 2}\n"
      " {:process 6, :type :invoke, :f :read, :value nil}\n"
      " {:process 1, :type :invoke, :f :write, :value 4}\n {:process 1, :type :ok, :f :write, :value 4}\n"
      " {:process 14, :type :invoke, :f :read, :value 4}\n {:process 14, :type :ok, :f :read, :value 4}\n"
      " {:process 9, :type :invoke, :f :write, :value 0}\n {:process 9, :type :ok, :f :write, :value 0}\n";
  constexpr std::string_view good_end =
      " {:process 19, :type :invoke, :f :read, :value 0}\n {:process 19, :type :ok, :f :read, :value 0}]\n";
  CHECK(is_linearizable(std::string(good) + std::string(good_end), "cas-register", "0"));
  // data/cas-register/bad/bad-analysis.edn goes on otherwise: 2 and 3 are read from nowhere. One comma is missing there.
  const std::string bad =
      std::string(good) +
      " ; the value is 0\n {:process 19, :type :invoke, :f :read, :value 0}\n"
      " {:process 20, :type :invoke, :f :write, :value 1}\n"
      " {:process 19, :type :ok, :f :read, :value 0}\n"
      " {:process 22  :type :invoke, :f :read, :value 3}\n"
      " {:process 21, :type :invoke, :f :read, :value 2}\n"
      " {:process 21, :type :ok, :f :read, :value 2}\n {:process 22, :type :ok, :f :read, :value 3}]\n";
  CHECK(culprit_index(bad, "cas-register", "0") == 14);
  // data/cas-register/bad/rethink-fail-minimal.edn: in a list
  constexpr std::string_view rethink =
      "({:type :invoke, :f :write, :value 0, :process 0}\n {:type :ok, :f :write, :value 0, :process 0}\n"
      " {:type :invoke, :f :read, :value nil, :process 1}\n {:type :invoke, :f :write, :value 4, :process 2}\n"
      " ; could have been 0 or 4\n"
      " {:type :ok, :f :read, :value 3, :process 1}\n {:type :ok, :f :write, :value 4, :process 2}\n"
      " {:type :invoke, :f :read, :value nil, :process 3}\n {:type :ok, :f :read, :value 4, :process 3}\n)\n";
  CHECK(culprit_index(rethink, "cas-register") == 4);
}

TEST_CASE("public verdicts: Knossos' tests of its analyses") {
  CHECK(is_linearizable("{:process 0 :type :invoke :f :write :value 1} {:process 0 :type :info :f :write :value 1}",
                        "register", "0"));
  CHECK(is_linearizable("{:process 0 :type :invoke :f :read :value 0} {:process 0 :type :ok :f :read :value 0}",
                        "register", "0"));
  CHECK(culprit_index("{:process 0 :type :invoke :f :read :value 1} {:process 0 :type :ok :f :read :value 1}",
                      "register", "0") == 1);
  // Indices with gaps, as in a part of a history: the last of the four events is the one.
  CHECK(culprit_index("[{:process 0 :type :invoke :f :write :value 1 :index 5}\n"
                      "{:process 0 :type :ok     :f :write :value 1 :index 7}\n"
                      "{:process 0 :type :invoke :f :read :value 2 :index 99}\n"
                      "{:process 0 :type :ok     :f :read :value 2 :index 100}]",
                      "register", "0") == 3);
}

TEST_CASE("public verdicts: the forms of Knossos' longer histories are read as they are") {
  // From the end of data/cas-register/bad/cas-failure.edn and of data/multi-register/good/multi-register.edn.
  const Judged nemesis = judged(
      "[{:process 70, :type :invoke, :f :read, :value nil}\n {:process 70, :type :ok, :f :read, :value nil}\n"
      " {:process 71, :type :invoke, :f :read, :value nil}\n {:process 71, :type :fail, :f :read, :value nil}\n"
      " {:process :nemesis, :type :info, :f :stop, :value \"fully connected\"}\n"
      " {:process :nemesis,\n  :type :info,\n  :f :start,\n  :value\n  \"Cut off [:n3 #[:n4 :n5 :n1], :n2 "
      "#[:n4]]\"}]\n",
      "cas-register");
  CHECK(nemesis.result.verdict == Verdict::holds);
  CHECK(nemesis.recorded.notes.size() == 2);
  constexpr std::string_view transactions =
      "[{:type :invoke,\n :f :txn,\n :value [[:write :x 2] [:read :y nil]],\n :process 3,\n :time 37466112472}\n"
      "{:type :invoke,\n :f :txn,\n :value [[:write :y 2]],\n :process 0,\n :time 37471510274}\n"
      "{:type :ok,\n :f :txn,\n :value [[:write :x 2] [:read :y 0]],\n :process 3,\n :time 37476842513}\n"
      "{:type :fail,\n :f :txn,\n :value [[:write :y 2]],\n :process 0,\n :time 37484132234,\n :error :no-conns}\n"
      "{:type :info, :f :stop, :process :nemesis, :time 55666920869}]\n";
  CHECK(is_linearizable(transactions, "multi-register", "0"));
  CHECK_FALSE(is_linearizable(transactions, "multi-register", "1"));
  // From the end of data/mutex/bad/etcd.edn: events without any value.
  CHECK(is_linearizable(
      "[{:type :invoke, :f :release, :process 3, :time 32273912298, :index 1123}\n"
      "{:type :fail, :f :release, :process 3, :time 32274174935, :error :not-held, :index 1124}\n"
      "{:type :invoke, :f :acquire, :process 1, :index 1128}\n"
      "{:type :ok, :f :acquire, :process 1, :time 34819701448, :index 1133}\n"
      "{:type :invoke, :f :release, :process 0, :index 1134}\n"
      "{:type :fail, :f :release, :process 0, :error [:not-found \"etcdserver: requested lease not found\"], :index "
      "1135}]\n",
      "mutex"));
}

// --- Porcupine

struct KvStep {
  char function;  ///< get, put, append
  char key;
  std::string_view value;  ///< what a get returned
};

/// One client, in the form of Porcupine's key-value logs.
std::string kv_log(std::span<const KvStep> steps) {
  std::string text;
  for (const KvStep& step : steps) {
    const std::string_view f = step.function == 'g' ? "get" : step.function == 'p' ? "put" : "append";
    const std::string argument = f == "get" ? "nil" : fmt::format("\"{}\"", step.value);
    text += fmt::format("{{:process 0, :type :invoke, :f :{}, :key \"{}\", :value {}}}\n", f, step.key, argument);
    text += fmt::format("{{:process 0, :type :ok, :f :{}, :key \"{}\", :value \"{}\"}}\n", f, step.key, step.value);
  }
  return text;
}

/// What the one client of test_data/kv/c01-bad.txt did.
constexpr KvStep kPorcupineC01Bad[] = {
    {'a', '0', "x 0 0 y"},
    {'g', '7', ""},
    {'g', '6', ""},
    {'g', '5', ""},
    {'g', '2', ""},
    {'a', '0', "x 0 1 y"},
    {'g', '2', ""},
    {'a', '0', "x 0 2 y"},
    {'a', '0', "x 0 3 y"},
    {'a', '0', "x 0 4 y"},
    {'a', '5', "x 0 5 y"},
    {'g', '6', ""},
    {'a', '1', "x 0 6 y"},
    {'g', '1', "x 0 6 y"},
    {'g', '3', ""},
    {'a', '2', "x 0 7 y"},
    {'g', '0', "x 0 0 yx 0 1 yx 0 2 yx 0 3 yx 0 4 y"},
    {'a', '1', "x 0 8 y"},
    {'a', '7', "x 0 0 y"},
    {'g', '0', "x 0 0 yx 0 1 yx 0 2 yx 0 3 yx 0 4 y"},
    {'g', '2', "x 0 7 y"},
    {'g', '5', "x 0 5 y"},
    {'g', '2', "x 0 7 y"},
    {'a', '6', "x 0 1 y"},
    {'g', '5', "x 0 5 y"},
    {'p', '1', "x 0 2 y"},
    {'g', '6', "x 0 1 y"},
    {'a', '7', "x 0 3 y"},
    {'a', '3', "x 0 4 y"},
    {'g', '7', "x 0 0 y"},
    {'a', '3', "x 0 5 y"},
    {'a', '6', "x 0 6 y"},
    {'a', '4', "x 0 7 y"},
    {'a', '6', "x 0 8 y"},
    {'a', '3', "x 0 9 y"},
    {'g', '2', "x 0 7 y"},
    {'g', '7', "x 0 0 yx 0 3 y"},
    {'p', '2', "x 0 10 y"},
};

TEST_CASE("public verdicts: Porcupine's key-value log of one client is not linearizable, and the stale get is why") {
  const Judged all = judged(kv_log(kPorcupineC01Bad), "kv");
  REQUIRE(all.result.verdict == Verdict::violated);
  // The append that the get of key 7 does not show, and the get.
  CHECK(all.result.conflict == std::vector<std::uint32_t>{27, 29});
  CHECK(all.recorded.operations.key_names[all.result.key] == "7");
  // With what it should have seen it is.
  std::vector<KvStep> repaired(std::begin(kPorcupineC01Bad), std::end(kPorcupineC01Bad));
  repaired[29].value = "x 0 0 yx 0 3 y";
  CHECK(is_linearizable(kv_log(repaired), "kv"));
}

TEST_CASE("public verdicts: Porcupine's tests of a set that is read whole") {
  const auto history = [](std::string_view read) {
    return fmt::format(
        "0 :invoke :add 100\n1 :invoke :add 110\n2 :invoke :read nil\n2 {}\n1 :ok :add 110\n0 :ok :add 100\n", read);
  };
  CHECK(is_linearizable(history(":ok :read [100]"), "set"));
  CHECK(is_linearizable(history(":ok :read [100 110]"), "set"));
  CHECK(is_linearizable(history(":info :read nil"), "set"));
  CHECK_FALSE(is_linearizable(history(":ok :read [100 100 110]"), "set"));
}

/// A read or a write of a register between two moments, ends included.
HistoryOperation at(std::uint32_t process, std::int64_t from, std::int64_t to, bool is_write, std::int64_t value) {
  return {.invoked = from,
          .returned = to,
          .a = is_write ? value : nil,
          .out = is_write ? nil : value,
          .process = process,
          .function = static_cast<std::uint16_t>(is_write ? 1 : 0),
          .out_known = !is_write};
}

TEST_CASE("public verdicts: Porcupine's tests of a register, and of operations that take no time") {
  const auto holds = [](std::vector<HistoryOperation> operations) {
    OperationHistory history;
    history.operations = std::move(operations);
    LinearizabilityOptions options;
    options.initial = 0;
    const bool found = check_linearizable(history, *find_model("register"), options).verdict == Verdict::holds;
    options.search_only = true;
    CHECK((check_linearizable(history, *find_model("register"), options).verdict == Verdict::holds) == found);
    return found;
  };
  CHECK(holds({at(0, 0, 100, true, 100), at(1, 25, 75, false, 100), at(2, 30, 60, false, 0)}));
  CHECK_FALSE(holds({at(0, 0, 100, true, 200), at(1, 10, 30, false, 200), at(2, 40, 90, false, 0)}));
  CHECK(holds({at(0, 0, 100, true, 100), at(1, 25, 75, false, 100), at(2, 30, 30, false, 0), at(3, 30, 30, false, 0)}));
  CHECK_FALSE(
      holds({at(0, 0, 100, true, 200), at(1, 10, 10, false, 200), at(2, 10, 10, false, 200), at(3, 40, 90, false, 0)}));
}

}  // namespace

}  // namespace lockstep::public_verdicts_test
