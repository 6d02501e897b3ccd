// Random clients and faults, judged by what clients were told alone: the oracle knows no log, no member and no store. A
// put writes a value that nobody else writes, so whoever has read it says at which revision that was.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/etcd/cluster/cluster_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::etcd::cluster_oracle_test {
namespace {

using namespace sim::literals;

struct Asked {
  enum class What : std::uint8_t { put, get, serializable } what = What::put;
  std::string key;
  std::string value;  ///< of a put; of a read what it has found, empty: nothing
  sim::Duration begin;
  sim::Duration end;
  Revision revision = 0;      ///< of the answer
  Revision mod_revision = 0;  ///< of what a read has found
};

/// Answers, and what follows from them.
class Oracle {
 public:
  void told(Asked asked) { all_.push_back(std::move(asked)); }

  /// The first contradiction; empty: there is none.
  std::string contradiction() {
    for (const Asked& each : all_) {
      if (std::string wrong = note(each); !wrong.empty()) return wrong;
    }
    for (const Asked& each : all_) {
      if (each.what != Asked::What::put && !is_prefix(each)) return "a read misses a write: " + text_of(each);
      if (each.what != Asked::What::serializable && !is_current(each)) return "out of order: " + text_of(each);
      if (each.what == Asked::What::serializable && !is_current(each)) ++old_;
    }
    return "";
  }
  std::size_t answers() const { return all_.size(); }
  std::size_t old_reads() const { return old_; }
  std::size_t writes() const { return written_.size(); }

 private:
  struct Write {
    std::string key;
    std::string value;
    bool operator==(const Write&) const = default;
  };

  static std::string text_of(const Asked& asked) {
    return asked.key + " = " + asked.value + " at " + std::to_string(asked.revision) + ", " +
           sim::to_string(asked.begin) + " to " + sim::to_string(asked.end);
  }

  /// A revision is that of one write, and a value that of one revision.
  std::string note(const Asked& asked) {
    const bool is_put = asked.what == Asked::What::put;
    if (!is_put && asked.value.empty()) return "";
    const Revision revision = is_put ? asked.revision : asked.mod_revision;
    const auto [known, is_new] = written_.try_emplace(revision, Write{asked.key, asked.value});
    if (!is_new && known->second != Write{asked.key, asked.value})
      return "two writes at one revision: " + text_of(asked);
    const auto [when, is_first] = revision_of_.try_emplace(asked.value, revision);
    return is_first || when->second == revision ? "" : "written twice: " + text_of(asked);
  }

  /// What it has found is the latest write of the key up to its revision.
  bool is_prefix(const Asked& read) const {
    if (read.mod_revision > read.revision) return false;
    return std::none_of(written_.begin(), written_.end(), [&](const auto& write) {
      return write.second.key == read.key && write.first > read.mod_revision && write.first <= read.revision;
    });
  }

  /// It sees all that had been answered before it was asked.
  bool is_current(const Asked& asked) const {
    return std::none_of(all_.begin(), all_.end(), [&](const Asked& before) {
      if (before.what == Asked::What::serializable || before.end >= asked.begin) return false;
      return asked.what == Asked::What::put ? asked.revision <= before.revision : asked.revision < before.revision;
    });
  }

  std::vector<Asked> all_;
  std::map<Revision, Write> written_;
  std::map<std::string, Revision> revision_of_;
  std::size_t old_ = 0;
};

ClusterBench::Setup random_setup(std::uint64_t seed, sim::Random& random) {
  ClusterBench::Setup setup;
  setup.seed = seed;
  setup.settings.nodes = random.one_in(3) ? 5 : 3;
  setup.settings.pre_vote = random.one_in(2);
  setup.settings.ensures_leadership = !random.one_in(3);
  setup.latency = {1_ms, 20_ms};
  setup.timeout = 700_ms;
  for (std::size_t i = 0; i < setup.settings.nodes; ++i)
    setup.drifts_ppb.push_back(random.between(-100'000'000, 100'000'000));
  if (random.one_in(2)) {
    setup.own.stall_of_first = {.at = sim::Duration::milliseconds(random.between(100, 6'000)),
                                .length = sim::Duration::milliseconds(random.between(100, 6'000))};
  }
  return setup;
}

sim::Task<void> ask(ClusterBench& bench, Client& self, Oracle& oracle, Asked asked) {
  auto& server = self.to<Endpoint>();
  asked.begin = bench.world().now().offset();
  std::optional<Told> told;
  if (asked.what == Asked::What::put) {
    Txn txn;
    txn.success = {Put{.key = asked.key, .value = asked.value}};
    told = co_await server.txn(std::move(txn));
  } else {
    told = co_await server.range({.span = {asked.key}, .serializable = asked.what == Asked::What::serializable});
  }
  if (!told) co_return;
  asked.end = bench.world().now().offset();
  asked.revision = told->answer.revision;
  if (asked.what != Asked::What::put && !told->answer.responses.front().kvs.empty()) {
    asked.value = told->answer.responses.front().kvs.front().value;
    asked.mod_revision = told->answer.responses.front().kvs.front().mod_revision;
  }
  oracle.told(std::move(asked));
}

sim::Task<void> ask_on(ClusterBench& bench, Client& self, Oracle& oracle, std::uint64_t seed) {
  sim::Random random(seed);
  for (int i = 0; i < 120; ++i) {
    co_await self.sleep(sim::Duration::milliseconds(random.between(1, 250)));
    Asked asked;
    asked.what = static_cast<Asked::What>(random.below(3));
    asked.key = std::string(1, static_cast<char>('a' + random.below(3)));
    if (asked.what == Asked::What::put) asked.value = self.name() + "-" + std::to_string(i);
    co_await ask(bench, self, oracle, std::move(asked));
  }
}

}  // namespace

TEST_CASE("etcd cluster: answers of linearizable requests are those of one order, serializable reads of a prefix") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(60, 3);
  std::size_t answers = 0;
  std::size_t old = 0;
  std::size_t terms = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::Random random(seed);
    ClusterBench bench(random_setup(seed, random));
    Oracle oracle;
    for (std::uint64_t i = 0; i < 4; ++i) {
      bench.client(random.below(bench.size()), [&, i](ClusterBench& b, Client& self) -> sim::Task<void> {
        return ask_on(b, self, oracle, seed * 10 + i);
      });
    }
    bench.plan_faults(random);
    bench.run_until(60_s);
    INFO(seed);
    REQUIRE(oracle.contradiction() == "");
    answers += oracle.answers();
    old += oracle.old_reads();
    terms += bench[0].member().replica().term();
    // When all are back they are equal, and histories have told of each write once.
    for (std::size_t i = 0; i < bench.size(); ++i) {
      REQUIRE(bench[i].engine().present() == bench[0].engine().present());
      REQUIRE(bench[i].engine().revision() == bench[0].engine().revision());
      REQUIRE(bench[i].engine().revision() > static_cast<Revision>(oracle.writes()));
    }
    const auto& effects = bench.world().history().effects;
    const auto told = std::count_if(effects.begin(), effects.end(),
                                    [](const sim::Effect& effect) { return effect.kind == sim::Effect::Kind::write; });
    REQUIRE(told + 1 == bench[0].engine().revision());
  }
  CHECK(answers > 200 * seeds);
  CHECK(old > seeds);
  CHECK(terms > 2 * seeds);
}

namespace {

/// What somebody knows of its lease: the last keep-alive, or the grant, that was answered in time.
struct Kept {
  std::string key;
  sim::Duration ttl;
  sim::Duration asked;  ///< when that was sent
};

sim::Task<void> keep_on(ClusterBench& bench, Client& self, std::vector<Kept>& kept, std::uint64_t seed) {
  sim::Random random(seed);
  auto& server = self.to<Endpoint>();
  for (int i = 0; i < 3; ++i) {
    const auto ttl = sim::Duration::milliseconds(random.between(2'000, 4'000));
    sim::Duration asked = bench.world().now().offset();
    const std::optional<Told> granted = co_await server.grant(ttl);
    if (!granted) continue;
    const std::string key = self.name() + "-" + std::to_string(i);
    Txn txn;
    txn.success = {Put{.key = key, .lease = granted->lease}};
    if (!co_await server.txn(std::move(txn))) continue;
    for (std::int64_t renewals = random.between(0, 12); renewals > 0; --renewals) {
      co_await self.sleep(ttl / 4);
      const sim::Duration now = bench.world().now().offset();
      const std::optional<Told> told = co_await server.keep_alive(granted->lease, 500_ms);
      if (told && !told->lease_lives) break;
      if (told) asked = now;
    }
    kept.push_back({key, ttl, asked});
  }
}

struct LeaseCount {
  std::size_t leases = 0;
  std::size_t too_early = 0;
};

LeaseCount count_leases(std::uint64_t seeds, bool ensures) {
  LeaseCount count;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::Random random(seed);
    ClusterBench::Setup setup = random_setup(seed, random);
    setup.drifts_ppb.clear();
    setup.settings.ensures_leadership = ensures;
    ClusterBench bench(setup);
    std::vector<Kept> kept;
    for (std::uint64_t i = 0; i < 4; ++i) {
      bench.client(random.below(bench.size()), [&, i](ClusterBench& b, Client& self) -> sim::Task<void> {
        return keep_on(b, self, kept, seed * 10 + i);
      });
    }
    bench.plan_faults(random);
    bench.run_until(90_s);
    for (const Kept& each : kept) {
      ++count.leases;
      for (const sim::Effect& effect : bench.world().history().effects) {
        if (effect.kind != sim::Effect::Kind::expire || effect.object != each.key) continue;
        count.too_early += effect.at.offset() < each.asked + each.ttl ? 1 : 0;
      }
    }
    INFO(seed);
    for (std::size_t i = 0; i < bench.size(); ++i) {
      REQUIRE(bench[i].engine().present().empty());
      REQUIRE(bench[i].engine().leases().empty());
    }
  }
  return count;
}

}  // namespace

TEST_CASE("etcd cluster: no lease ends within its time to live after a keep-alive that was answered") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(150, 4);
  const LeaseCount sure = count_leases(seeds, true);
  CHECK(sure.leases > 5 * seeds);
  CHECK(sure.too_early == 0);
}

TEST_CASE("etcd cluster: where the leader does not ask whether it leads, some do") {
  if (sim::takes_few_cases()) return;
  CHECK(count_leases(150, false).too_early > 0);
}

}  // namespace lockstep::models::etcd::cluster_oracle_test
