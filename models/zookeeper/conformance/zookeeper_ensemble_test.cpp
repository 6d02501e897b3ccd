// What the simulated ensemble says, three real ZooKeepers 3.8 say as well. Without them it says SKIPPED.

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "models/zookeeper/conformance/real_zookeeper.hpp"
#include "models/zookeeper/conformance/steps.hpp"
#include "models/zookeeper/ensemble/ensemble_bench_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::zookeeper::conformance {
namespace {

using namespace sim::literals;

constexpr std::size_t kServers = 3;

std::unique_ptr<RealZooKeeper> started(int tick_milliseconds) {
  std::string why;
  auto real = RealZooKeeper::start_ensemble(why, kServers, tick_milliseconds);
  if (real == nullptr) {
    WARN("SKIPPED: " << why << "; nothing was compared");
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
  }
  return real;
}

/// A step at one of the servers, numbered from the leader's on: which one leads is another one each time.
struct Placed {
  Step step;
  std::size_t server = 0;
  bool kills_leader = false;
};

/// What a session is told: what it hears, and its answer where that is to be compared.
struct Said {
  std::vector<std::string> events = {};
  std::string answer = {};
  bool operator==(const Said&) const = default;
};

/// Epochs by their order, so that failed elections make no difference.
class Epochs {
 public:
  void rename(Answer& answer) {
    rename(answer.zxid);
    rename(answer.result);
    for (Result& each : answer.results) rename(each);
  }

 private:
  void rename(Result& result) {
    if (!result.stat) return;
    for (Zxid* zxid : {&result.stat->czxid, &result.stat->mzxid, &result.stat->pzxid}) rename(*zxid);
  }
  void rename(Zxid& zxid) {
    const Zxid epoch = zxid >> kEpochShift;
    if (epoch == 0) return;
    const auto known = known_.try_emplace(epoch, static_cast<Zxid>(known_.size()) + 1).first;
    zxid += (known->second - epoch) << kEpochShift;
  }
  std::map<Zxid, Zxid> known_;
};

/// Random steps of several sessions. An engine alone draws them: what it answers nobody looks at.
std::vector<Placed> draw(std::uint64_t seed, int count) {
  sim::Random random(seed);
  Engine engine;
  SessionId last_session = 1;
  std::vector<Placed> steps;
  std::map<SessionId, std::size_t> at;
  std::size_t lowest = 0;  // of the servers that live
  const auto add = [&](Step step) {
    const bool moves = step.kind == Step::Kind::open || step.kind == Step::Kind::reconnect;
    if (moves) at[step.session] = lowest + random.below(kServers - lowest);
    static_cast<void>(carry_out(engine, step));
    static_cast<void>(engine.take_notices());
    steps.push_back({step, at[step.session]});
  };
  add({.kind = Step::Kind::open, .session = 1});
  add({.session = 1, .operation = Create{std::string(kTop)}});
  while (static_cast<int>(steps.size()) < count) {
    if (lowest == 0 && static_cast<int>(steps.size()) > count / 2) {
      steps.push_back({.kills_leader = true});
      lowest = 1;
      for (const SessionId session : engine.sessions()) add({.kind = Step::Kind::reconnect, .session = session});
      // A follower goes on with the zxid that it had, until there is one of the new epoch.
      add({.session = engine.sessions().front(), .operation = SetData{std::string(kTop)}});
    }
    const Step step = random_step(random, engine, last_session);
    // What is asked for since a zxid of this engine would be of no use; whether anybody watches hangs on how soon a
    // server notices that a connection has gone.
    if (std::holds_alternative<SetWatches>(step.operation)) continue;
    if (std::holds_alternative<RemoveWatches>(step.operation)) continue;
    if (step.kind == Step::Kind::open) last_session = step.session;
    add(step);
  }
  return steps;
}

/// The nodes of a session go in no order.
std::vector<std::string> sorted(std::vector<std::string> events) {
  std::sort(events.begin(), events.end());
  return events;
}

bool is_compared(const Step& step) { return step.kind == Step::Kind::operation || step.kind == Step::Kind::close; }

/// Plays the steps in a world, one after the other, each in the client that has its session at that time.
class Played {
 public:
  explicit Played(const std::vector<Placed>& steps)
      : steps_(steps), bench_({.times = {.tick = 2_s}, .servers = kServers, .nodes = {}}) {
    for (std::size_t slot = 0; slot < kSessionsMax; ++slot) {
      clients_.push_back(
          &bench_.client([this, slot](Client& client) { return play(client, slot); },
                         [this, slot](const std::string& what, ConnectionNumber on) { hear(slot, what, on); }));
    }
    bench_.crash(0, kDeath);
    bench_.run(kDeath * 2);
    REQUIRE(next_ == steps_.size());
  }
  const std::vector<Said>& said() const { return said_; }

 private:
  static constexpr sim::Duration kDeath = sim::Duration::seconds(100);

  struct Its {
    std::size_t slot;
    ConnectionNumber on = {};
    Zxid seen = 0;
  };

  /// What an earlier connection had still to say a client's library does not pass on.
  void hear(std::size_t slot, const std::string& what, ConnectionNumber on) {
    for (const auto& [session, its] : sessions_) {
      if (its.slot == slot && its.on == on && what != "closed") heard_[slot].push_back(what);
    }
  }

  sim::Task<void> play(Client& client, std::size_t slot) {
    co_await client.sleep(1_s);
    while (next_ < steps_.size()) {
      const Placed& placed = steps_[next_];
      if (placed.kills_leader) {
        if (slot == 0) {
          co_await client.sleep(kDeath + 10_s - bench_.world.now().offset());
          for (auto& heard : heard_) heard.clear();
          said_.emplace_back();
          ++next_;
        } else {
          co_await client.sleep(1_ms);
        }
        continue;
      }
      if (slot_of(placed.step) != slot) {
        co_await client.sleep(1_ms);
        continue;
      }
      Its& its = sessions_.at(placed.step.session);
      Said said;
      if (placed.step.kind == Step::Kind::operation || placed.step.kind == Step::Kind::close) {
        static_cast<void>(co_await testing::ask(client, placed.server, its.on, Sync{std::string(kTop)}));
      }
      Answer answer;
      if (placed.step.kind == Step::Kind::operation) {
        const std::optional<Answer> told = co_await testing::ask(client, placed.server, its.on, placed.step.operation);
        REQUIRE(told);
        answer = *told;
        its.seen = std::max(its.seen, answer.zxid);
      } else if (placed.step.kind == Step::Kind::close) {
        const std::optional<Told> told = co_await client.to<Endpoint>().send(its.on, CloseSession{}, {}, placed.server);
        REQUIRE(told);
        answer.zxid = told->answer.zxid;
      } else {
        const SessionId session = placed.step.kind == Step::Kind::open ? 0 : its.on.session;
        its.on = co_await testing::connect(client, placed.server, kDeath * 10, session, its.seen);
        REQUIRE(its.on.session > 0);
        ours_[its.on.session] = placed.step.session;
        heard_[slot].clear();
      }
      said.events = std::exchange(heard_[slot], {});
      if (is_compared(placed.step)) said.answer = described(answer);
      said_.push_back(std::move(said));
      if (placed.step.kind == Step::Kind::close) sessions_.erase(placed.step.session);
      ++next_;
    }
  }

  std::size_t slot_of(const Step& step) {
    const auto known = sessions_.find(step.session);
    if (known != sessions_.end()) return known->second.slot;
    std::set<std::size_t> taken;
    for (const auto& [session, its] : sessions_) taken.insert(its.slot);
    std::size_t slot = 0;
    while (taken.contains(slot)) ++slot;
    sessions_.emplace(step.session, Its{slot});
    return slot;
  }

  std::string described(Answer answer) {
    const auto rename_owner = [&](Result& result) {
      if (result.stat && result.stat->ephemeral_owner != 0)
        result.stat->ephemeral_owner = ours_.at(result.stat->ephemeral_owner);
    };
    rename_owner(answer.result);
    for (Result& each : answer.results) rename_owner(each);
    epochs_.rename(answer);
    return describe(answer);
  }

  const std::vector<Placed>& steps_;
  testing::EnsembleBench bench_;
  std::vector<Client*> clients_;
  std::array<std::vector<std::string>, kSessionsMax> heard_;
  std::map<SessionId, Its> sessions_;
  std::map<SessionId, SessionId> ours_;
  std::vector<Said> said_;
  std::size_t next_ = 0;
  Epochs epochs_;
};

}  // namespace

TEST_CASE("ZooKeeper: three real ones and the simulated ensemble agree on random requests of sessions at any server") {
  const auto real = started(2'000);
  if (real == nullptr) return;
  const std::vector<Placed> steps = draw(1, sim::cases(3'000, 200));
  const Played played(steps);
  // No session ends because this machine is slow.
  real->ask_for(600'000);
  std::size_t leader = real->leader();
  Zxid latest = 0;  // that any session has heard of
  Epochs epochs;
  std::size_t events = 0;
  std::size_t errors = 0;
  std::size_t at_followers = 0;
  std::size_t closes = 0;
  std::map<SessionId, std::size_t> closes_heard;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Placed& placed = steps[i];
    if (placed.kills_leader) {
      real->kill(leader);
      static_cast<void>(real->leader());
      continue;
    }
    const Step& step = placed.step;
    INFO("step " << i << ": " << describe(step) << " at server " << placed.server);
    real->turn(step.session, (leader + placed.server) % kServers);
    Said said;
    const auto hear = [&](const std::vector<WatchedEvent>& heard) {
      for (const WatchedEvent& event : heard) said.events.push_back(describe(event));
    };
    // A leader answers a sync, and reads, before it has carried out itself what others have answered already.
    for (int tried = 0; is_compared(step); ++tried) {
      const auto synced = real->carry_out({.session = step.session, .operation = Sync{std::string(kTop)}});
      hear(synced.events);
      if (synced.answer.zxid >= latest) break;
      REQUIRE(tried < 1'000);
      usleep(10'000);
    }
    RealZooKeeper::Outcome outcome = real->carry_out(step);
    latest = std::max(latest, outcome.answer.zxid);
    if (is_compared(step)) {
      hear(outcome.events);
      epochs.rename(outcome.answer);
      said.answer = describe(outcome.answer);
    }
    closes += step.kind == Step::Kind::close;
    const bool hears_of_close = std::exchange(closes_heard[step.session], closes) != closes;
    const Said& simulated = played.said()[i];
    REQUIRE(said.answer == simulated.answer);
    if (hears_of_close) {
      REQUIRE(sorted(said.events) == sorted(simulated.events));
    } else {
      REQUIRE(said.events == simulated.events);
    }
    events += said.events.size();
    errors += outcome.answer.result.error != Error::none;
    at_followers += placed.server != 0;
  }
  CHECK(events > 0);
  CHECK(errors > 0);
  CHECK(at_followers > 0);
  std::cout << "Three ZooKeepers " << real->version() << ": " << steps.size() << " requests, " << at_followers
            << " of them at followers of the first leader, " << errors << " errors; " << events
            << " watch events: all alike\n";
}

TEST_CASE(
    "ZooKeeper: a session that is silent at a follower ends by the leader's clock; a new leader gives it all of its "
    "time") {
  constexpr int kTick = 200;
  constexpr int kTimeout = 10 * kTick;
  const auto real = started(kTick);
  if (real == nullptr) return;
  const std::size_t leader = real->leader();
  const auto since = [begin = std::chrono::steady_clock::now()] {  // tidy: real processes
    const auto passed = std::chrono::steady_clock::now() - begin;  // tidy: real processes
    return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(passed).count());
  };
  const auto at = [&](SessionId session, std::size_t server, Step::Kind kind = Step::Kind::open) {
    real->turn(session, (leader + server) % kServers);
    return real->carry_out({.kind = kind, .session = session});
  };
  real->ask_for(20 * kTick);
  at(1, 1);
  real->ask_for(kTimeout);
  at(2, 2);
  for (const char* path : {"/t", "/t/a"}) {
    const bool is_top = std::string(path) == kTop;
    real->carry_out(
        {.session = is_top ? 1 : 2,
         .operation = Create{.path = path, .mode = is_top ? CreateMode::persistent : CreateMode::ephemeral}});
  }
  const auto is_there = [&] {
    real->carry_out({.session = 1, .operation = Sync{"/t"}});
    return real->carry_out({.session = 1, .operation = Exists{"/t/a"}}).answer.result.error == Error::none;
  };
  const auto wait = [&](int from) {
    while (is_there() && since() - from < 10 * kTimeout) usleep(10'000);
    return since() - from;
  };

  // With a new leader: it has all of its time again, though most of it is over.
  const int first = since();
  while (since() - first < kTimeout * 6 / 10) {
    usleep(20'000);
    REQUIRE(is_there());
  }
  real->kill(leader);
  const int killed = since();
  static_cast<void>(real->leader());
  at(1, 1, Step::Kind::reconnect);
  const int ended = wait(killed);
  INFO("ended " << ended << "ms after the leader");
  CHECK(ended >= kTimeout - 50);
  // Its connection is closed with its server's reign, and the session is over.
  real->turn(2, (leader + 1) % kServers);
  real->hang_up(2);
  CHECK_FALSE(real->reconnect(2));

  // With the same leader all the time: not before its time, and not later than that, half a tick until the follower says
  // of whom it has heard, and a tick.
  at(3, 1);
  at(4, 2);
  for (const SessionId session : {3, 4}) {
    real->hang_up(session);
    REQUIRE(real->reconnect(session));
  }
  real->carry_out({.session = 3, .operation = Create{.path = "/t/a", .mode = CreateMode::ephemeral}});
  const int silent = since();
  const int took = wait(silent);
  INFO("took " << took << "ms");
  CHECK(took >= kTimeout - 50);
  CHECK(took <= kTimeout + 2 * kTick + 400);
  std::cout << "Three ZooKeepers: a session of " << kTimeout << "ms ended " << took << "ms after its last request, and "
            << ended << "ms after the death of the leader\n";
}

}  // namespace lockstep::models::zookeeper::conformance
