#include "checker/properties/server/fair.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "checker/testing/forged_history.hpp"
#include "checker/violations/violations.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::fair_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h, std::int64_t overtakings = 0) {
  return fair(h.history(), forged_names(), overtakings);
}

/// An attempt whose writes come at these times; the history's effects must be made in the order of time.
sim::OperationId attempt(ForgedHistory& h, sim::ProcessId who, Phase phase) {
  return h.operation(who, "acquire", 0_ms, 100_ms, phase);
}

TEST_CASE("fair: whoever comes first and gets it second was overtaken; who comes and gets it first was not") {
  for (const bool turned_round : {true, false}) {
    ForgedHistory h;
    const auto a = attempt(h, A, Phase::ok);
    const auto b = attempt(h, B, Phase::ok);
    h.effect(Did::write, server, A, a, 1_ms);
    h.effect(Did::write, server, B, b, 2_ms);
    h.effect(Did::write, server, turned_round ? B : A, turned_round ? b : a, 3_ms);
    h.effect(Did::write, server, turned_round ? A : B, turned_round ? a : b, 4_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == turned_round);
    CHECK(judge(h, 1).verdict == Verdict::holds);
    if (!turned_round) continue;
    CHECK(finding.by == std::vector{A, B});
    CHECK(finding.at->offset() == 3_ms);
    CHECK(finding.why == "A came at 1ms, B at 2ms; B got it at 3ms, A only at 4ms");
  }
}

TEST_CASE("fair: being turned away is an overtaking only while nothing becomes free") {
  for (const bool released : {true, false}) {
    ForgedHistory h;
    const auto holder = attempt(h, C, Phase::ok);
    const auto refused = attempt(h, A, Phase::fail);
    const auto later = attempt(h, B, Phase::ok);
    const auto back = h.operation(C, "release", 4_ms, 6_ms, Phase::ok, holder);
    h.effect(Did::write, server, C, holder, 1_ms);
    h.effect(Did::write, server, A, refused, 2_ms);
    if (released) h.effect(Did::write, server, C, back, 3_ms);
    h.effect(Did::write, server, B, later, 4_ms);
    CHECK((judge(h).verdict == Verdict::holds) == released);
  }
}

TEST_CASE("fair: a lease that is over is a place that became free, one that was over before is none") {
  for (const auto& [ends, is_fair] : {std::pair{4_ms, true}, std::pair{4_ms + 1_ns, false}, std::pair{2_ms, false}}) {
    ForgedHistory h;
    const auto holder = attempt(h, C, Phase::ok);
    const auto refused = attempt(h, A, Phase::fail);
    const auto later = attempt(h, B, Phase::ok);
    h.of(holder).lease_until = sim::Instant::at(ends);
    h.effect(Did::write, server, C, holder, 1_ms);
    h.effect(Did::write, server, A, refused, 2_ms);
    h.effect(Did::write, server, B, later, 4_ms);
    INFO(sim::to_string(ends));
    CHECK((judge(h).verdict == Verdict::holds) == is_fair);
  }
}

TEST_CASE("fair: what only reads never stood in line, and one's own attempts overtake nobody") {
  ForgedHistory h;
  const auto looked = attempt(h, A, Phase::fail);
  const auto mine = attempt(h, A, Phase::fail);
  const auto mine_too = attempt(h, A, Phase::ok);
  const auto elsewhere = attempt(h, B, Phase::ok);
  h.of(elsewhere).object = "another";
  h.effect(Did::read, server, A, looked, 1_ms);
  h.effect(Did::write, server, A, mine, 2_ms);
  h.effect(Did::write, server, A, mine_too, 3_ms);
  h.effect(Did::write, server, B, elsewhere, 4_ms, "another");
  CHECK(judge(h).verdict == Verdict::holds);
}

/// The definition once more, told from the side of the servers' record: walk through it and keep what stands there.
class Record {
 public:
  explicit Record(const sim::History& history) : history_(history) {
    for (std::size_t i = 0; i < history.effects.size(); ++i) {
      const sim::Effect& effect = history.effects[i];
      if (effect.kind == Did::read || effect.operation == 0) continue;
      const sim::Operation& operation = history.operations[effect.operation - 1];
      if (operation.function == "release") freed_.try_emplace(operation.of, i);
      if (operation.function != "acquire" || effect.kind != Did::write) continue;
      first_.try_emplace(operation.id, i);
      last_[operation.id] = i;
    }
  }

  std::size_t overtakings_of(const sim::Operation& y) const {
    std::size_t count = 0;
    for (const auto& [id, arrived] : first_) {
      const sim::Operation& x = history_.operations[id - 1];
      if (x.phase != Phase::ok || x.process == y.process || arrived < first_.at(y.id)) continue;
      const std::size_t got = last_.at(id);
      const bool later = y.phase == Phase::ok && got < last_.at(y.id);
      const bool in_vain = y.phase == Phase::fail && lost_between(first_.at(y.id), got, id).empty();
      count += later || in_vain ? 1 : 0;
    }
    return count;
  }

 private:
  /// Who had a place at one moment and had it no more at a later one.
  std::set<sim::OperationId> lost_between(std::size_t earlier, std::size_t later, sim::OperationId except) const {
    std::set<sim::OperationId> lost = holders(earlier);
    for (const sim::OperationId still : holders(later)) lost.erase(still);
    lost.erase(except);
    return lost;
  }
  std::set<sim::OperationId> holders(std::size_t effect) const {
    std::set<sim::OperationId> holders;
    for (const auto& [id, got] : last_) {
      const sim::Operation& operation = history_.operations[id - 1];
      if (operation.phase != Phase::ok || got >= effect) continue;
      if (freed_.contains(id) && freed_.at(id) < effect) continue;
      const bool is_over =
          operation.lease_until && operation.lease_until->offset() <= history_.effects[effect].at.offset();
      if (!is_over) holders.insert(id);
    }
    return holders;
  }

  const sim::History& history_;
  std::map<sim::OperationId, std::size_t> first_;
  std::map<sim::OperationId, std::size_t> last_;
  std::map<sim::OperationId, std::size_t> freed_;
};

TEST_CASE("fair: agrees with the record of the servers on 20,000 random histories") {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    std::vector<std::pair<sim::ProcessId, sim::OperationId>> writers;
    for (std::uint64_t n = 2 + random.below(4); n > 0; --n) {
      const sim::ProcessId who{static_cast<std::uint16_t>(random.below(4))};
      const auto id = attempt(h, who, random.one_in(2) ? Phase::ok : Phase::fail);
      if (random.one_in(3)) h.of(id).lease_until = sim::Instant::at(Duration::nanoseconds(random.between(0, 12)));
      writers.emplace_back(who, id);
      if (random.one_in(3)) writers.emplace_back(who, h.operation(who, "release", 0_ms, 1_ms, Phase::ok, id));
    }
    for (std::int64_t at = 0; at < 12; ++at) {
      const auto& [who, id] = writers[random.below(writers.size())];
      h.effect(random.one_in(8) ? Did::read : Did::write, server, who, id, Duration::nanoseconds(at));
    }
    std::size_t most = 0;
    const Record record(h.history());
    for (const sim::Operation& operation : h.history().operations) {
      const bool wrote = std::any_of(h.history().effects.begin(), h.history().effects.end(), [&](const sim::Effect& e) {
        return e.operation == operation.id && e.kind == Did::write;
      });
      if (operation.function == "acquire" && wrote) most = std::max(most, record.overtakings_of(operation));
    }
    INFO("seed " << seed);
    for (const std::int64_t bound : {0, 1, 2}) {
      REQUIRE((judge(h, bound).verdict == Verdict::violated) == (most > static_cast<std::size_t>(bound)));
    }
    // The ways of an exploration, where every time is known: then what is left of them is the definition.
    ViolationFinder finder;
    for (const std::int64_t bound : {0, 1}) {
      finder.ask({.places = {}, .overtakings = bound});
      const auto ways = finder.find(h.history(), {}, {});
      const bool has_way =
          std::any_of(ways.begin(), ways.end(), [](const Violation& way) { return way.property == "fair"; });
      REQUIRE(has_way == (most > static_cast<std::size_t>(bound)));
    }
    violated += most > 1 ? 1 : 0;
  }
  CHECK(violated > 500);
  CHECK(violated < 18'000);
}

}  // namespace
}  // namespace lockstep::checker::fair_test
