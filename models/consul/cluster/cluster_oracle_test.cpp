// Random clients and faults, judged by what clients were told alone: the oracle knows no log, no server and no store. A
// PUT writes a value that nobody else writes, so whoever has read it says at which index that was.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/consul/cluster/cluster_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::consul::cluster_oracle_test {
namespace {

using namespace sim::literals;

struct Asked {
  std::optional<Consistency> reads;  ///< nothing: it writes
  std::string key;                   ///< of a query: the prefix of all of them
  std::string value;                 ///< of a write
  sim::Duration begin;
  sim::Duration end;
  std::vector<KeyValue> found;  ///< of a query
  Index index = 0;              ///< of a query: the greatest of what it has found
};

/// Answers, and what follows from them.
class Oracle {
 public:
  void told(Asked asked) { all_.push_back(std::move(asked)); }

  /// The first contradiction; empty: there is none.
  std::string contradiction() {
    for (const Asked& each : all_) {
      for (const KeyValue& kv : each.found) {
        if (std::string wrong = note(kv); !wrong.empty()) return wrong;
      }
    }
    for (const Asked& each : all_) {
      if (each.reads && !is_prefix(each)) return "a query misses a write: " + text_of(each);
      const bool is_sure = !each.reads || *each.reads == Consistency::consistent;
      if (is_sure && !is_current(each)) return "out of order: " + text_of(each);
      if (!is_sure && !is_current(each)) ++old_[static_cast<std::size_t>(*each.reads)];
    }
    return "";
  }
  std::size_t answers() const { return all_.size(); }
  std::size_t old_reads(Consistency how) const { return old_[static_cast<std::size_t>(how)]; }

 private:
  struct Write {
    std::string key;
    std::string value;
    bool operator==(const Write&) const = default;
  };

  static std::string text_of(const Asked& asked) {
    return asked.key + " = " + asked.value + " at " + std::to_string(asked.index) + ", " + sim::to_string(asked.begin) +
           " to " + sim::to_string(asked.end);
  }

  /// An index is that of one write, and a value that of one index.
  std::string note(const KeyValue& kv) {
    const Write write{kv.key, kv.value};
    const auto [known, is_new] = written_.try_emplace(kv.modify_index, write);
    if (!is_new && known->second != write) return "two writes at one index: " + describe(kv);
    const auto [when, is_first] = index_of_.try_emplace(kv.value, kv.modify_index);
    return is_first || when->second == kv.modify_index ? "" : "written twice: " + describe(kv);
  }

  /// What it has found is all that was written up to its index, and nothing else.
  bool is_prefix(const Asked& query) const {
    std::map<std::string, Index> latest;
    for (const auto& [index, write] : written_) {
      if (index <= query.index) latest[write.key] = index;
    }
    if (latest.size() != query.found.size()) return false;
    return std::all_of(query.found.begin(), query.found.end(),
                       [&](const KeyValue& kv) { return latest[kv.key] == kv.modify_index; });
  }

  /// Nothing: nobody has read what was written.
  std::optional<Index> index_of(const Asked& asked) const {
    if (asked.reads) return asked.index;
    const auto found = index_of_.find(asked.value);
    return found == index_of_.end() ? std::nullopt : std::optional(found->second);
  }

  /// It sees all that had been answered before it was asked.
  bool is_current(const Asked& asked) const {
    const std::optional<Index> own = index_of(asked);
    if (!own) return true;
    return std::none_of(all_.begin(), all_.end(), [&](const Asked& before) {
      if (before.reads && *before.reads != Consistency::consistent) return false;
      const std::optional<Index> index = index_of(before);
      if (!index || before.end >= asked.begin) return false;
      return asked.reads ? *own < *index : *own <= *index;
    });
  }

  std::vector<Asked> all_;
  std::map<Index, Write> written_;
  std::map<std::string, Index> index_of_;
  std::array<std::size_t, 3> old_{};
};

ClusterBench::Setup random_setup(std::uint64_t seed, sim::Random& random) {
  ClusterBench::Setup setup;
  setup.seed = seed;
  setup.settings.nodes = random.one_in(3) ? 5 : 3;
  setup.latency = {1_ms, 20_ms};
  setup.timeout = 700_ms;
  for (std::size_t i = 0; i < setup.settings.nodes; ++i)
    setup.drifts_ppb.push_back(random.between(-100'000'000, 100'000'000));
  return setup;
}

sim::Task<void> ask(ClusterBench& bench, Client& self, Oracle& oracle, Asked asked) {
  auto& server = self.to<Endpoint>();
  asked.begin = bench.world().now().offset();
  if (!asked.reads) {
    const std::optional<Told> told = co_await server.write("dc1", {.key = asked.key, .value = asked.value});
    if (!told || !told->answer.ok) co_return;
  } else {
    const std::optional<Told> told =
        co_await server.query("dc1", {.what = Query::What::recurse, .key = asked.key, .consistency = *asked.reads});
    if (!told || told->answer.error != Error::none) co_return;
    asked.found = told->answer.kvs;
    for (const KeyValue& kv : asked.found) asked.index = std::max(asked.index, kv.modify_index);
  }
  asked.end = bench.world().now().offset();
  oracle.told(std::move(asked));
}

sim::Task<void> ask_on(ClusterBench& bench, Client& self, Oracle& oracle, std::uint64_t seed) {
  sim::Random random(seed);
  for (int i = 0; i < 120; ++i) {
    co_await self.sleep(sim::Duration::milliseconds(random.between(1, 250)));
    Asked asked;
    if (const std::uint64_t what = random.below(4); what > 0) asked.reads = static_cast<Consistency>(what - 1);
    asked.key = "k";
    if (!asked.reads) {
      asked.key += static_cast<char>('a' + random.below(3));
      asked.value = self.name() + "-" + std::to_string(i);
    }
    co_await ask(bench, self, oracle, std::move(asked));
  }
}

}  // namespace

TEST_CASE("consul cluster: writes and consistent queries are those of one order, any query is a prefix of it") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(60, 3);
  std::size_t answers = 0;
  std::array<std::size_t, 3> old{};
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
    for (std::size_t how = 0; how < 3; ++how) old[how] += oracle.old_reads(static_cast<Consistency>(how));
    terms += bench[0].member().replica().term();
    // When all are back they are equal.
    for (std::size_t i = 0; i < bench.size(); ++i) {
      REQUIRE(bench[i].engine().kvs() == bench[0].engine().kvs());
      REQUIRE(bench[i].engine().last_index() == bench[0].engine().last_index());
    }
  }
  CHECK(answers > 200 * seeds);
  CHECK(old[static_cast<std::size_t>(Consistency::stale)] > seeds);
  CHECK(old[static_cast<std::size_t>(Consistency::consistent)] == 0);
  CHECK(terms > 2 * seeds);
}

namespace {

/// What somebody knows of its session: the last renewal, or the acquiring, that was answered in time.
struct Kept {
  std::string key;
  sim::Duration ttl;
  sim::Duration asked;  ///< when that was sent
};

constexpr sim::Duration kLockDelay = 3_s;

sim::Task<void> keep_on(ClusterBench& bench, Client& self, std::vector<Kept>& kept, std::uint64_t seed) {
  sim::Random random(seed);
  auto& server = self.to<Endpoint>();
  for (int i = 0; i < 3; ++i) {
    const auto ttl = sim::Duration::milliseconds(random.between(1'000, 2'000));
    sim::Duration asked = bench.world().now().offset();
    const std::optional<Told> created = co_await server.create("dc1", {.ttl = ttl, .lock_delay = kLockDelay});
    if (!created || created->session == 0) continue;
    const std::string key = self.name() + "-" + std::to_string(i);
    const std::optional<Told> has =
        co_await server.write("dc1", {.key = key, .how = Write::How::acquire, .session = created->session});
    if (!has || !has->answer.ok) continue;
    for (std::int64_t renewals = random.between(0, 12); renewals > 0; --renewals) {
      co_await self.sleep(ttl / 2);
      const sim::Duration now = bench.world().now().offset();
      const std::optional<Told> told = co_await server.renew("dc1", created->session, 500_ms);
      if (told && told->answer.error == Error::unknown_session) break;
      if (told && told->answer.ok) asked = now;
    }
    kept.push_back({key, ttl, asked});
  }
}

/// When requests to acquire a key were sent, but for those that were told no: one of them has got it.
using Sent = std::map<std::string, std::vector<sim::Duration>>;

/// Asks for the key again and again, until it has it.
sim::Task<void> take_on(ClusterBench& bench, Client& self, std::string key, Sent& sent) {
  auto& server = self.to<Endpoint>();
  std::optional<Told> created;
  while (!created || created->session == 0) {
    co_await self.sleep(300_ms);
    created = co_await server.create("dc1", {.lock_delay = 0_ms});
  }
  // Not before somebody had it.
  co_await self.sleep(8_s);
  for (bool has_it = false; !has_it && bench.world().now().offset() < 80_s;) {
    co_await self.sleep(150_ms);
    sent[key].push_back(bench.world().now().offset());
    const std::optional<Told> told =
        co_await server.write("dc1", {.key = key, .how = Write::How::acquire, .session = created->session});
    has_it = told && told->answer.ok;
    if (told && !told->answer.ok) sent[key].pop_back();
  }
}

}  // namespace

TEST_CASE("consul cluster: no session ends within its TTL after a renewal that was answered, and no lock-delay early") {
  const std::uint64_t seeds = sim::cases<std::uint64_t>(100, 4);
  std::size_t sessions = 0;
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    sim::Random random(seed);
    ClusterBench::Setup setup = random_setup(seed, random);
    setup.drifts_ppb.clear();  // else a TTL by a fast clock is shorter than a client takes it for
    ClusterBench bench(setup);
    std::vector<Kept> kept;
    Sent sent;
    for (std::uint64_t i = 0; i < 3; ++i) {
      bench.client(random.below(bench.size()), [&, i](ClusterBench& b, Client& self) -> sim::Task<void> {
        return keep_on(b, self, kept, seed * 10 + i);
      });
      const std::string key = std::string(1, static_cast<char>('A' + i * 2)) + "-0";
      bench.client(random.below(bench.size()),
                   [&, key](ClusterBench& b, Client& self) -> sim::Task<void> { return take_on(b, self, key, sent); });
    }
    bench.plan_faults(random);
    bench.run_until(90_s);
    INFO(seed);
    std::map<std::string, sim::Duration> ended;
    for (const sim::Effect& effect : bench.world().history().effects) {
      if (effect.kind == sim::Effect::Kind::expire) ended[effect.object] = effect.at.offset();
      if (effect.kind != sim::Effect::Kind::write || !ended.contains(effect.object)) continue;
      const sim::Duration gap = effect.at.offset() - ended[effect.object];
      // Who asked while the end of the session was on its way to a quorum comes next in the log.
      const auto asked_before = [&](sim::Duration when) { return when <= ended[effect.object]; };
      const bool is_early = gap < kLockDelay;
      early += is_early ? 1 : 0;
      late += is_early ? 0 : 1;
      INFO(effect.object << " ended at " << sim::to_string(ended[effect.object]) << ", acquired " << sim::to_string(gap)
                         << " later");
      const std::vector<sim::Duration>& when = sent[effect.object];
      REQUIRE((!is_early || std::any_of(when.begin(), when.end(), asked_before)));
    }
    for (const Kept& each : kept) {
      ++sessions;
      INFO(each.key);
      REQUIRE(ended.contains(each.key));
      REQUIRE(ended[each.key] >= each.asked + each.ttl);
    }
    for (std::size_t i = 0; i < bench.size(); ++i) REQUIRE(bench[i].engine().kvs() == bench[0].engine().kvs());
  }
  CHECK(sessions > 3 * seeds);
  CHECK(late > seeds);
  CHECK((early > 0 || sim::takes_few_cases()));
}

}  // namespace lockstep::models::consul::cluster_oracle_test
