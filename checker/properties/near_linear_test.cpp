// What judges a run in near-linear time gives the findings of the definitions, which look at every pair.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checker/properties/belief/capacity.hpp"
#include "checker/properties/belief/mutual_exclusion.hpp"
#include "checker/properties/belief/no_deadlock.hpp"
#include "checker/properties/belief/progress.hpp"
#include "checker/properties/server/fair.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/time_spans.hpp"
#include "checker/testing/pairwise_beliefs.hpp"
#include "checker/testing/pairwise_servers.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::near_linear_test {
namespace {

using sim::Duration;
using sim::Phase;
using sim::ProcessId;
using EffectKind = sim::Effect::Kind;

constexpr ProcessId lock_server{6};

/// A run of some clients who take, hold, lose and give back one or two locks, crash and pause: all in the order of its
/// times.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : random_(sim::combine64(0x6e656172, seed)) {
    clients_.resize(2 + random_.below(4));
    locks_ = 1 + random_.below(2);
    shares_ = random_.one_in(2);
    const std::uint64_t length = 10 + random_.below(60);
    for (std::uint64_t i = 0; i < length; ++i) {
      ++step_;
      now_ += static_cast<std::int64_t>(random_.below(3));
      act(static_cast<std::uint16_t>(random_.below(clients_.size())));
    }
  }
  const sim::History& history() const { return history_; }
  std::int64_t now() const { return now_; }

 private:
  struct Client {
    sim::OperationId open = 0;
    std::vector<sim::OperationId> holds;
  };

  sim::Instant at(std::int64_t time) const { return sim::Instant::at(Duration::milliseconds(time)); }
  std::int64_t soon() { return now_ + static_cast<std::int64_t>(random_.below(10)); }

  sim::Operation& invoke(std::uint16_t who, std::string_view function, std::string object) {
    sim::Operation& o = history_.operations.emplace_back();
    o.id = static_cast<sim::OperationId>(history_.operations.size());
    o.process = ProcessId{who};
    o.function = function;
    o.object = std::move(object);
    o.invoked = at(now_);
    o.invoked_in = step_;
    clients_[who].open = o.id;
    return o;
  }

  void effect(EffectKind kind, std::uint16_t who, sim::OperationId operation, const std::string& object) {
    sim::Effect& e = history_.effects.emplace_back();
    e.kind = kind;
    e.server = lock_server;
    e.object = object;
    e.by = ProcessId{who};
    e.operation = operation;
    e.at = at(now_);
    e.step = step_;
  }

  void act(std::uint16_t who) {
    Client& client = clients_[who];
    if (random_.one_in(25)) {
      history_.interruptions.push_back({sim::FaultKind::crash, ProcessId{who}, at(now_), step_, {}});
      client = {};
    } else if (random_.one_in(12)) {
      sim::Interruption pause{sim::FaultKind::pause, ProcessId{who}, at(now_), step_, at(soon())};
      if (random_.one_in(10)) pause.until.reset();
      history_.interruptions.push_back(pause);
    } else if (client.open != 0) {
      go_on(who, history_.operations[client.open - 1]);
    } else if (!client.holds.empty() && random_.one_in(2)) {
      const sim::OperationId hold = client.holds.back();
      client.holds.pop_back();
      const std::string object = history_.operations[hold - 1].object;
      invoke(who, random_.one_in(4) ? "lost" : "release", object).of = hold;
    } else {
      sim::Operation& o = invoke(who, "acquire", std::string(1, static_cast<char>('x' + random_.below(locks_))));
      o.is_shared = shares_ && random_.one_in(2);
    }
  }

  void go_on(std::uint16_t who, sim::Operation& o) {
    if (random_.one_in(2)) {
      const bool gives = o.function != "acquire";
      effect(random_.one_in(8) ? EffectKind::read
             : gives           ? EffectKind::remove
                               : EffectKind::write,
             who, o.id, o.object);
      return;
    }
    o.phase = random_.one_in(8) ? Phase::info : random_.one_in(3) ? Phase::fail : Phase::ok;
    o.completed = at(now_);
    o.completed_in = step_;
    clients_[who].open = 0;
    if (o.function != "acquire" || o.phase != Phase::ok) return;
    if (random_.one_in(2)) o.valid_until = at(soon());
    if (random_.one_in(3)) o.lease_until = at(soon());
    clients_[who].holds.push_back(o.id);
  }

  sim::Random random_;
  sim::History history_;
  std::vector<Client> clients_;
  std::uint64_t locks_ = 1;
  bool shares_ = false;
  std::int64_t now_ = 0;
  sim::Step step_ = 0;
};

void require_same(const Finding& found, const Finding& defined) {
  CHECK(found.why == defined.why);
  CHECK(found.property == defined.property);
  CHECK(found.by == defined.by);
  CHECK(found.evidence == defined.evidence);
  CHECK(found.waits == defined.waits);
  CHECK(found.at.has_value() == defined.at.has_value());
  if (found.at && defined.at) CHECK(found.at->offset() == defined.at->offset());
  REQUIRE(found.verdict == defined.verdict);
}

}  // namespace

TEST_CASE(
    "each of a row that is longer than a length: none of an empty row, all of one whose length is less than none") {
  const RowOfLengths row({sim::Duration::zero(), sim::Duration::seconds(2), sim::Duration::seconds(1)}, {});
  const auto longer = [&](std::size_t first, std::size_t end, std::int64_t ns) {
    std::vector<std::size_t> found;
    row.each_longer(first, end, sim::Duration::nanoseconds(ns), [&](std::size_t i) { found.push_back(i); });
    return found;
  };
  CHECK(longer(1, 1, -1).empty());
  CHECK(longer(0, 3, -1) == std::vector<std::size_t>{0, 1, 2});
  CHECK(longer(0, 3, 0) == std::vector<std::size_t>{1, 2});
  CHECK(longer(0, 3, 1'000'000'000) == std::vector<std::size_t>{1});
}

TEST_CASE("near-linear: findings are those of the definitions") {
  const Names names{"A", "B", "C", "D", "E", "F", "S"};
  std::map<std::string_view, std::map<Verdict, std::size_t>> seen;
  const auto compare_findings = [&](const Finding& found, const Finding& defined) {
    require_same(found, defined);
    ++seen[found.property][found.verdict];
  };
  const std::uint64_t histories = sim::cases<std::uint64_t>(60'000, 4'000);
  for (std::uint64_t seed = 0; seed < histories; ++seed) {
    INFO("seed " << seed);
    const RandomRun run(seed);
    const sim::History& history = run.history();
    for (const Belief& belief : collect_beliefs(history)) {
      const Pauses pauses(history);
      const auto noticed = noticed_deadline(belief, pauses.of(belief.process));
      const auto defined = pairwise::noticed_deadline(belief, pairwise::pauses_of(history, belief.process));
      REQUIRE(noticed.has_value() == defined.has_value());
      if (noticed)
        REQUIRE(std::pair(noticed->at.offset(), noticed->step) == std::pair(defined->at.offset(), defined->step));
    }
    compare_findings(mutual_exclusion(history, names), pairwise::overlaps::mutual_exclusion(history, names));
    for (const std::int64_t bound : {0, 1, 3}) {
      compare_findings(capacity(history, names, bound), pairwise::places::capacity(history, names, bound));
      compare_findings(fair(history, names, bound), pairwise::turns::fair(history, names, bound));
      compare_findings(no_deadlock(history, names, Duration::milliseconds(bound)),
                       pairwise::waits::no_deadlock(history, names, Duration::milliseconds(bound)));
    }
    for (const std::int64_t within : {0, 4, 20}) {
      const bool ends = seed % 2 == 0;
      const auto end = ends ? std::optional(sim::Instant::at(Duration::milliseconds(run.now() - 5))) : std::nullopt;
      const ProgressQuestion tried{.within = Duration::milliseconds(within), .end = end};
      compare_findings(progress(history, names, tried), pairwise::tries::progress(history, names, tried));
      const WakeupQuestion waited{
          .server = lock_server, .object = "x", .within = Duration::milliseconds(within), .end = end};
      compare_findings(no_lost_wakeup(history, names, waited),
                       pairwise::wakeups::no_lost_wakeup(history, names, waited));
    }
  }
  for (const auto& [property, verdicts] : seen) {
    INFO(property);
    CHECK(verdicts.at(Verdict::holds) > histories / 100);
    CHECK(verdicts.at(Verdict::violated) > histories / 100);
  }
}

}  // namespace lockstep::checker::near_linear_test
