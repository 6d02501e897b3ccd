// Histories as people have them: each file of the audit, what is concurrent in them, and what is refused.

#include "checker/histories/formats/intervals.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "checker/linearizability/linearizability.hpp"

namespace lockstep::checker::history_formats::intervals_test {
namespace {

struct Heard {
  ReadResult result;
  std::vector<std::string> events;
};

std::string_view name_of(sim::Phase phase) {
  switch (phase) {
    case sim::Phase::invoke: return "invoke";
    case sim::Phase::ok: return "ok";
    case sim::Phase::fail: return "fail";
    default: return "info";
  }
}

Heard heard(std::string_view text, Format otherwise = Format::log) {
  Heard all;
  all.result = read_history(
      text_source(text), Format::automatic,
      [&](const Event& event) {
        std::string line = to_string(event.process) + " " + std::string(name_of(event.phase)) + " " +
                           std::string(event.function) + " " + to_string(event.value);
        all.events.push_back(line + " @" + std::to_string(event.line));
        return std::optional<Complaint>();
      },
      std::size_t{1} << 20U, otherwise);
  return all;
}

Verdict verdict_of(std::string_view text, std::string_view model) {
  const Model& of = *find_model(model);
  Recorder recorder(of, {});
  const ReadResult result =
      read_history(text_source(text), Format::automatic, [&](const Event& event) { return recorder.take(event); });
  INFO((result.trouble ? result.trouble->message : ""));
  REQUIRE_FALSE(result.trouble);
  REQUIRE_FALSE(recorder.trouble());
  return check_linearizable(recorder.finish().operations, of, {}).verdict;
}

const std::string kIntervals =
    "{\"client\":\"pod-1\",\"op\":\"lock\",\"start\":1000,\"end\":1200,\"result\":\"ok\"}\n"
    "{\"client\":\"pod-2\",\"op\":\"lock\",\"start\":1300,\"end\":1500,\"result\":\"ok\"}\n"
    "{\"client\":\"pod-1\",\"op\":\"unlock\",\"start\":1600,\"end\":1700,\"result\":\"ok\"}\n";
const std::string kPorcupine =
    "[{\"ClientId\":0,\"Input\":{\"op\":1,\"value\":5},\"Call\":0,\"Output\":{\"value\":0},\"Return\":10},\n"
    " {\"ClientId\":1,\"Input\":{\"op\":0,\"value\":0},\"Call\":20,\"Output\":{\"value\":3},\"Return\":30}]\n";
const std::string kTable =
    "time,process,type,f,value\n1,0,invoke,acquire,\n2,0,ok,acquire,\n3,1,invoke,acquire,\n4,1,ok,acquire,\n";

}  // namespace

// pod-2 is told that it got the lock while pod-1 has it. 3 was never written. The second acquire comes before a release.
TEST_CASE("intervals: the audit's files are read, and judged as on paper") {
  CHECK(heard(kIntervals).result.format == Format::intervals);
  CHECK(verdict_of(kIntervals, "mutex") == Verdict::violated);
  CHECK(heard(kPorcupine).result.format == Format::intervals);
  CHECK(verdict_of(kPorcupine, "register") == Verdict::violated);
  CHECK(heard(kTable).result.format == Format::table);
  CHECK(verdict_of(kTable, "mutex") == Verdict::violated);
}

TEST_CASE("intervals: both ends become events in the order of their times, with the lines of the file") {
  const Heard all = heard(
      "{\"client\":\"b\",\"op\":\"lock\",\"start\":5,\"end\":9,\"result\":false}\n"
      "{\"client\":\"a\",\"op\":\"lock\",\"start\":1,\"end\":5,\"result\":true}\n"
      "{\"client\":\"c\",\"op\":\"lock\",\"start\":2}\n");
  REQUIRE_FALSE(all.result.trouble);
  CHECK(all.events == std::vector<std::string>{"\"a\" invoke lock  @2", "\"c\" invoke lock  @3",
                                               "\"b\" invoke lock  @1", "\"a\" ok lock  @2", "\"b\" fail lock  @1"});
}

// What ends when another begins is concurrent with it: then the same answers are possible.
TEST_CASE("intervals: what touches is concurrent") {
  const auto text = [](int start) {
    return "client,op,start,end,result\na,lock,0,10,ok\nb,lock," + std::to_string(start) +
           ",30,ok\na,unlock,15,20,ok\n";
  };
  CHECK(verdict_of(text(12), "mutex") == Verdict::holds);
  CHECK(verdict_of("client,op,start,end,result\na,lock,0,10,ok\nb,lock,12,14,ok\na,unlock,15,20,ok\n", "mutex") ==
        Verdict::violated);
  CHECK(verdict_of("client,op,start,end,result\na,lock,0,10,ok\nb,lock,12,15,ok\na,unlock,15,20,ok\n", "mutex") ==
        Verdict::holds);
}

TEST_CASE("intervals: what is read stands in the result, and an unknown outcome stays open") {
  CHECK(verdict_of("client,op,start,end,value,result\na,write,0,1,5,ok\nb,read,2,3,,5\n", "register") ==
        Verdict::holds);
  CHECK(verdict_of("client,op,start,end,value,result\na,write,0,1,5,ok\nb,read,2,3,,6\n", "register") ==
        Verdict::violated);
  CHECK(verdict_of("client,op,start,end,value,result\na,write,0,1,5,timeout\nb,read,2,3,,5\n", "register") ==
        Verdict::holds);
  CHECK(verdict_of("client,op,start,end,value,result\na,write,0,1,5,fail\nb,read,2,3,,5\n", "register") ==
        Verdict::violated);
}

TEST_CASE("intervals: maps of EDN are records as objects of JSON are, by the same names") {
  const std::string maps =
      "; what the client library logged\n"
      "[{:client \"pod-1\", :op :write, :value 5, :start 0, :end 10, :result :ok}\n"
      " #app.Op{:process 2 :f :read :call 20 :return #inst \"1970-01-01T00:00:01Z\"}]\n";
  CHECK(heard(maps).result.format == Format::intervals);
  CHECK(heard(maps).result.trouble->message.find("time of another kind") != std::string::npos);
  const std::string good =
      "{:client \"pod-1\", :op :write, :value 5, :start 0, :end 10, :result :ok}\n"
      "{:client :pod-2, :op :read, :start 20, :end 30, :result 5}\n"
      "{:client :pod-3, :op :read, :start 40, :end 50, :result nil}\n";
  CHECK(heard(good).events == std::vector<std::string>{"\"pod-1\" invoke write 5 @1", "\"pod-1\" ok write 5 @1",
                                                       ":pod-2 invoke read  @2", ":pod-2 ok read 5 @2",
                                                       ":pod-3 invoke read  @3", ":pod-3 ok read nil @3"});
  CHECK(verdict_of(good, "register") == Verdict::violated);
  CHECK(verdict_of(good.substr(0, good.find("{:client :pod-3")), "register") == Verdict::holds);
  // Jepsen's pairs stay what they are, also beside a time and an end.
  CHECK(heard("{:process 0, :type :invoke, :f :read, :time 1, :end 2}\n").result.format == Format::edn);
  CHECK(heard("#jepsen.history.Op{:process 0, :type :invoke, :f :read}").result.format == Format::edn);
}

TEST_CASE("intervals: events by other names, Porcupine's among them") {
  const std::string porcupine =
      "[{\"ClientId\":0,\"Kind\":false,\"Value\":{\"op\":1,\"value\":5},\"Id\":0},\n"
      " {\"ClientId\":1,\"Kind\":false,\"Value\":{\"op\":0,\"value\":0},\"Id\":1},\n"
      " {\"ClientId\":0,\"Kind\":true,\"Value\":{\"value\":0},\"Id\":0},\n"
      " {\"ClientId\":1,\"Kind\":true,\"Value\":{\"value\":5},\"Id\":1}]\n";
  CHECK(heard(porcupine).events ==
        std::vector<std::string>{"0 invoke write 5 @1", "1 invoke read  @2", "0 ok write 0 @3", "1 ok read 5 @4"});
  CHECK(verdict_of(porcupine, "register") == Verdict::holds);
  const std::string named =
      "{\"client\":\"a\",\"type\":\"call\",\"op\":\"lock\",\"time\":\"2024-05-01T12:00:00Z\"}\n"
      "{\"client\":\"a\",\"type\":\"return\",\"op\":\"lock\",\"result\":false,\"time\":\"2024-05-01T12:00:01Z\"}\n";
  CHECK(heard(named).events == std::vector<std::string>{"\"a\" invoke lock  @1", "\"a\" fail lock  @2"});
}

TEST_CASE("intervals: what is wrong is told with its place, and events stay events") {
  const auto trouble = [](const std::string& text) {
    const Heard all = heard(text);
    return all.result.trouble ? std::to_string(all.result.trouble->at.line) + ": " + all.result.trouble->message : "";
  };
  CHECK(trouble("client,op,start,end\na,lock,9,5\n").starts_with("2: an operation that ends before it begins"));
  CHECK(trouble("client,op,start,end\na,lock,x,5\n").starts_with("2: \"x\": expected a time"));
  CHECK(trouble("client,op,start,end\n,lock,1,5\n").starts_with("2: a record without a process"));
  CHECK(trouble("client,op,start,end\na,lock,1,5,6,7\n").starts_with("2: 6 values below 4 names"));
  CHECK(trouble("time,process,type,f\n1,0,zzz,acquire\n").starts_with("2: an unknown type, \"zzz\""));
  // What is wrong is no event, and what is before it is one.
  CHECK(heard("client,op,start,end\na,lock,1,5\na,lock,9,5\n").events.size() == 2);
  CHECK(trouble("client,op,start,end\n-1,lock,1,5\n").starts_with("2: process -1: expected a whole number"));
  CHECK(trouble("[{:client [1], :op :lock, :start 1, :end 2}]").starts_with("1: process [1]: expected"));
  CHECK(trouble("client,op,start,end\na,lock,1s,5\n").starts_with("2: 5 is a time of another kind"));
  CHECK(trouble("{\"client\":1,\"op\":\"lock\",\"start\":1,\"end\":2}\n{\"client\":").starts_with("2: "));
  CHECK(trouble("[{\"ClientId\":0,\"Input\":{\"op\":2},\"Call\":0,\"Output\":{},\"Return\":1}]").starts_with("1: "));
  CHECK(heard("{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"time\":1,\"end\":2}\n").result.format ==
        Format::json);
  CHECK(heard("0 :invoke :read nil\n").result.format == Format::log);
  // A cell may have its comma in quotes.
  CHECK(heard("client,op,start,end\n\"a, b\",lock,1,5\n").events.front() == "\"a, b\" invoke lock  @2");
  std::string deep = "{\"start\":1,\"end\":2,\"x\":";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  CHECK_FALSE(trouble(deep).empty());
}

}  // namespace lockstep::checker::history_formats::intervals_test
