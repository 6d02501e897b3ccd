// The table of faults against what the engine does: its columns are claims.

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "sim/schedules/event_name.hpp"
#include "sim/testing/test_world.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::sim::fault_kinds_test {
namespace {

using namespace testing;

/// A asks S each 10ms, one millisecond each way, and gives up after eight; the fault strikes S, or the second request.
struct Struck {
  explicit Struck(FaultKind kind) {
    test.add_client("A", [this](Client& self) -> Task<void> {
      for (int i = 1; i <= 4; ++i) {
        const std::string answer = outcome(co_await self.call(connection, "SET", i, 8_ms));
        answers.push_back(answer + " at " + to_string(self.world().now().offset()));
        readings.push_back(self.world().state(test.servers[0].id()).wall.now().offset() - self.world().now().offset());
        co_await self.sleep(10_ms * i - self.world().now().offset());
      }
    });
    connection = test.connect(test.clients[0], test.add_server("S"), DurationRange::exactly(1_ms));
    PlannedFault fault;
    fault.kind = kind;
    fault.length = 3_ms;
    fault.step = "SET";
    fault.occurrence = 2;
    fault.process = strikes_message(kind) ? test.clients[0].id() : test.servers[0].id();
    if (!strikes_message(kind)) fault.at = 9_ms;
    if (cuts_off(kind)) {
      test.world.plan(
          Partition{{{test.clients[0].id()}, {test.servers[0].id()}}, Instant::at(9_ms), Instant::at(14_ms)});
    } else {
      test.world.plan(fault);
    }
    test.start();
    CHECK(test.run() == Simulation::End::quiet);
  }
  TestWorld test;
  ConnectionId connection;
  std::vector<std::string> answers;
  std::vector<Duration> readings;
};

TEST_CASE("fault kinds: who is stopped, for how long, and what its clock shows is as the table says") {
  for (const FaultKind kind : kFaultKinds) {
    const FaultKindEntry& entry = entry_of(kind);
    if (!entry.can_be_planned) continue;
    INFO(entry.name);
    const Struck struck(kind);
    const auto& all = struck.test.world.history().interruptions;
    CHECK(all.size() == (entry.stops == HowLong::never ? 0 : 1));
    if (!all.empty()) CHECK(all.front().until.has_value() == (entry.stops == HowLong::meanwhile));
    if (!all.empty()) CHECK(all.front().kind == kind);
    REQUIRE(struck.readings.size() == 4);
    CHECK((struck.readings.back() != Duration::zero()) == (entry.victim == Victim::clock));
    // Without it the second answer comes at 12ms.
    const std::string& second = struck.answers[1];
    CHECK((second == "2 at 12ms") == (entry.silence == HowLong::never));
    CHECK((second > "2 at 12ms" && second < "3") == (entry.silence == HowLong::meanwhile));
    CHECK(second.starts_with("unknown") == (entry.silence == HowLong::for_good));
    CHECK(struck.answers[0] == "1 at 2ms");
  }
}

TEST_CASE("fault kinds: a message that is struck is lost or late, as the table says") {
  CHECK(Struck(FaultKind::lose).answers == Lines{"1 at 2ms", "unknown at 18ms", "3 at 22ms", "4 at 32ms"});
  CHECK(Struck(FaultKind::delay).answers == Lines{"1 at 2ms", "2 at 15ms", "3 at 22ms", "4 at 32ms"});
}

TEST_CASE("fault kinds: each has an event of its own name, and no other event has") {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(EventName::What::fault); ++i) {
    const auto what = static_cast<EventName::What>(i);
    CHECK_FALSE(EventName::is_fault(what));
    names.emplace_back(to_string(what));
  }
  for (const FaultKind kind : kFaultKinds) {
    CHECK(EventName::is_fault(EventName::of(kind)));
    CHECK(EventName::fault_of(EventName::of(kind)) == kind);
    CHECK(to_string(EventName::of(kind)) == name_of(kind));
    names.emplace_back(name_of(kind));
  }
  std::sort(names.begin(), names.end());
  CHECK(std::unique(names.begin(), names.end()) == names.end());
}

TEST_CASE("fault kinds: of several ranges the length is the one that its kind has") {
  const DurationRange lasting{1_ms, 2_ms}, moving{3_ms, 4_ms};
  const std::optional<DurationRange> back = DurationRange{5_ms, 6_ms}, never;
  CHECK(length_among(FaultKind::pause, lasting, moving, back) == &lasting);
  CHECK(length_among(FaultKind::delay, lasting, moving, back) == &lasting);
  CHECK(length_among(FaultKind::partition, lasting, moving, back) == &lasting);
  CHECK(length_among(FaultKind::jump, lasting, moving, back) == &moving);
  CHECK(length_among(FaultKind::skew, lasting, moving, back) == &moving);
  CHECK(length_among(FaultKind::crash, lasting, moving, back) == &*back);
  CHECK(length_among(FaultKind::crash, lasting, moving, never) == nullptr);
  CHECK(length_among(FaultKind::lose, lasting, moving, back) == nullptr);
  const DurationRange exact = DurationRange::exactly(1_ms);
  CHECK(ranged_parameter(FaultKind::crash, &*back) == "restart_after");
  CHECK(ranged_parameter(FaultKind::pause, &exact).empty());
  CHECK(ranged_parameter(FaultKind::lose, nullptr).empty());
}

/// Each sentence with what its column may be about, as fault_words.hpp lists it: another name is an exception.
TEST_CASE("fault words: a sentence is about what its column says, and nothing is left in braces") {
  const auto say = [](std::string_view text, auto... about) { return fmt::format(fmt::runtime(text), about...); };
  const auto who = fmt::arg("who", "W"), length = fmt::arg("length", "L"), back = fmt::arg("back", "B");
  for (const FaultKind kind : kFaultKinds) {
    const FaultWords words = words_of(kind);
    INFO(name_of(kind));
    for (const bool zh : {false, true}) {
      const auto in = [&](Words both) { return zh ? both.zh : both.en; };
      const std::string allowed = say(in(words.allowed), fmt::arg("times", "N"), fmt::arg("s", "s"),
                                      fmt::arg("es", "es"), fmt::arg("whom", "W"), length, fmt::arg("during", "D"),
                                      back, fmt::arg("messages", "M"), fmt::arg("sides", "S"));
      const std::string happened = say(in(words.happened), who, length, fmt::arg("time", "T"), fmt::arg("when", "T"),
                                       back, fmt::arg("message", "M"), fmt::arg("left", "W"), fmt::arg("right", "R"));
      const std::string cause = say(in(words.cause), who, length);
      CHECK(allowed.find('N') != std::string::npos);
      // Who is struck, or what.
      CHECK(allowed.find(cuts_off(kind) ? 'S' : 'W') != std::string::npos);
      CHECK(happened.find(strikes_message(kind) ? 'M' : 'W') != std::string::npos);
      const bool has_length = lasts(kind) || moves_clock(kind);
      CHECK((allowed.find('L') != std::string::npos) == has_length);
      CHECK((happened.find('L') != std::string::npos) == has_length);
      CHECK((allowed.find('B') != std::string::npos) == may_come_back(kind));
      CHECK((allowed.find('D') != std::string::npos) == (entry_of(kind).limited == Limited::to_activities));
      for (const std::string& text : {allowed, happened, cause}) CHECK(text.find_first_of("{}") == std::string::npos);
    }
    CHECK_NOTHROW(say(words.strikes, length, fmt::arg("data", "")));
    for (const std::string_view graph : {words.graph, words.graph_before, words.graph_within})
      CHECK_NOTHROW(say(graph, who));
  }
}

}  // namespace
}  // namespace lockstep::sim::fault_kinds_test
