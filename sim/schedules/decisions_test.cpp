// Records of decisions: they answer as they were made, and notice the first question that differs.

#include "sim/schedules/decisions.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::sim::decisions_test {
namespace {

constexpr EventId kEvent{5};

std::vector<Decision> three_decisions() {
  return {{Choice::delay, 10, 7, EventId{1}}, {Choice::order, 3, 2, EventId{2}}, {Choice::fault, 2, 1, EventId{3}}};
}

TEST_CASE("decisions: the default is always the first option, and says so") {
  DefaultDecisions decisions;
  CHECK(decisions.choose(Choice::order, 5, kEvent) == 0);
  CHECK(decisions.always_first());
  CHECK_FALSE(RandomDecisions(1).always_first());
}

TEST_CASE("decisions: random ones follow from the seed alone") {
  RandomDecisions a(11);
  RandomDecisions b(11);
  RandomDecisions c(12);
  int differences = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t answer = a.choose(Choice::delay, 1'000, EventId{i});
    CHECK(answer < 1'000);
    CHECK(answer == b.choose(Choice::order, 1'000, EventId{i + 1}));
    differences += answer != c.choose(Choice::delay, 1'000, EventId{i}) ? 1 : 0;
  }
  CHECK(differences > 90);
}

TEST_CASE("decisions: what was recorded is answered again") {
  rc::prop("any sequence of questions", [](std::uint64_t seed) {
    RandomDecisions source(seed);
    RecordingDecisions recording(source);
    Random questions(seed + 1);
    const int count = *rc::gen::inRange(0, 50);
    std::vector<std::uint64_t> answers;
    const auto ask = [&](Decisions& decisions) {
      return decisions.choose(static_cast<Choice>(questions.below(5)), questions.below(100) + 2,
                              EventId{questions.next()});
    };
    for (int i = 0; i < count; ++i) answers.push_back(ask(recording));
    RecordedDecisions recorded(recording.record());
    questions = Random(seed + 1);
    for (int i = 0; i < count; ++i) RC_ASSERT(ask(recorded) == answers[static_cast<std::size_t>(i)]);
    RC_ASSERT(!recorded.diverged());
    RC_ASSERT(recorded.is_used_up());
  });
}

TEST_CASE("decisions: another kind, other options or another event is a divergence, at the first that differs") {
  struct Question {
    Choice choice;
    std::uint64_t options;
    EventId event;
  };
  for (const Question& wrong : {Question{Choice::delay, 3, EventId{2}}, Question{Choice::order, 4, EventId{2}},
                                Question{Choice::order, 3, EventId{9}}}) {
    RecordedDecisions recorded(three_decisions());
    CHECK(recorded.choose(Choice::delay, 10, EventId{1}) == 7);
    CHECK_FALSE(recorded.diverged());
    CHECK(recorded.choose(wrong.choice, wrong.options, wrong.event) == 0);
    CHECK(recorded.diverged());
    CHECK(recorded.divergence().find("decision 1") != std::string::npos);
    const std::string first = recorded.divergence();
    // The run is worthless from here on: what follows neither helps nor changes the finding.
    CHECK(recorded.choose(Choice::fault, 2, EventId{3}) == 0);
    CHECK(recorded.divergence() == first);
  }
}

TEST_CASE("decisions: a question after the end of the record is a divergence") {
  RecordedDecisions recorded({});
  CHECK(recorded.is_used_up());
  CHECK(recorded.choose(Choice::delay, 2, EventId{0xabc}) == 0);
  CHECK(recorded.diverged());
  CHECK(recorded.divergence().find("0000000000000abc") != std::string::npos);
}

TEST_CASE("decisions: a record that was not used up is seen") {
  RecordedDecisions recorded(three_decisions());
  recorded.choose(Choice::delay, 10, EventId{1});
  CHECK_FALSE(recorded.diverged());
  CHECK_FALSE(recorded.is_used_up());
}

TEST_CASE("decisions: an answer that the question does not have is a divergence") {
  RecordedDecisions recorded({{Choice::order, 3, 3, EventId{1}}});
  CHECK(recorded.choose(Choice::order, 3, EventId{1}) == 0);
  CHECK(recorded.diverged());
}

}  // namespace
}  // namespace lockstep::sim::decisions_test
