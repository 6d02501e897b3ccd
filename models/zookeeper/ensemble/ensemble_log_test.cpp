// An ensemble under crashes, partitions, pauses and clocks that drift, judged by its log alone: what a server answers
// has to follow from the transactions up to the zxid that it names, in their order. The oracle keeps no node and runs
// no engine; who is to hear what of watches, and what a session may see, follows from the same log.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/zookeeper/engine/change_log_testing.hpp"
#include "models/zookeeper/ensemble/ensemble_bench_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::zookeeper::ensemble_log_test {
namespace {

using namespace sim::literals;
using testing::ask;
using testing::connect;
using testing::EnsembleBench;
using testing::Log;
using testing::Logged;
using testing::parent;
using testing::replay;

/// Something that a client has seen, in the order in which it saw it.
struct Seen {
  enum class Kind : std::uint8_t { connected, asked, answered, event };
  Kind kind;
  SessionId session = 0;
  Operation operation = {};
  Answer answer = {};
  std::string event = {};
  sim::Duration sent = {};
  sim::Duration at = {};
};

/// What the log says.
class Oracle {
 public:
  explicit Oracle(const std::vector<consensus::Entry<Transaction>>& entries) {
    for (const auto& entry : entries) {
      zxid_ = entry.command ? zxid_ + 1 : static_cast<Zxid>(entry.term) << 32;
      if (entry.command) carry_out(*entry.command);
    }
  }

  struct Write {
    SessionId session;
    std::string asked;
    Result result;
  };
  const std::map<Zxid, Write>& writes() const { return writes_; }
  Zxid last() const { return zxid_; }
  bool has_expired(SessionId session) const { return expired_.contains(session); }

  /// What a read says that has seen the log up to a transaction.
  Result read(const Operation& operation, Zxid upto) const {
    if (const auto* get = std::get_if<GetData>(&operation)) {
      const auto node = at(get->path, upto);
      if (!node) return {.error = Error::no_node};
      return {.data = node->data, .stat = node->stat};
    }
    if (const auto* exists = std::get_if<Exists>(&operation)) {
      const auto node = at(exists->path, upto);
      if (!node) return {.error = Error::no_node};
      return {.stat = node->stat};
    }
    if (const auto* list = std::get_if<GetChildren>(&operation)) {
      const auto node = at(list->path, upto);
      if (!node) return {.error = Error::no_node};
      return {.children = {node->children.begin(), node->children.end()}};
    }
    return {.path = std::get<Sync>(operation).path};
  }

  /// The first change that sets off a watch of the data of a path after `from`, if it is not after `upto`.
  std::optional<std::string> set_off(const std::string& path, Zxid from, Zxid upto) const {
    for (const Logged& each : log_) {
      if (each.zxid <= from || each.zxid > upto || each.path != path) continue;
      static constexpr std::array<const char*, 3> kNames{"NodeCreated ", "NodeDataChanged ", "NodeDeleted "};
      return kNames[static_cast<std::size_t>(each.kind)] + path;
    }
    return std::nullopt;
  }

 private:
  std::optional<testing::Replayed> at(const std::string& path, Zxid upto) const {
    Log before;
    for (const Logged& each : log_) {
      if (each.zxid <= upto) before.push_back(each);
    }
    return replay(before, path);
  }

  void carry_out(const Transaction& transaction) {
    const SessionId session = transaction.session;
    if (transaction.kind == Transaction::Kind::open_session) open_.insert(session);
    if (!open_.contains(session) || transaction.kind == Transaction::Kind::refused) return;
    if (transaction.kind == Transaction::Kind::close_session) {
      open_.erase(session);
      if (transaction.expires) expired_.insert(session);
      std::set<std::string> known;
      for (const Logged& each : log_) known.insert(each.path);
      for (const std::string& path : known) {
        const auto node = replay(log_, path);
        if (node && node->stat.ephemeral_owner == session) log_.push_back({zxid_, Logged::Kind::deleted, path});
      }
    }
    if (transaction.kind != Transaction::Kind::operation) return;
    Write& write = writes_[zxid_];
    write = {session, describe(transaction.operation), {}};
    if (const auto* create = std::get_if<Create>(&transaction.operation)) {
      const auto above = replay(log_, parent(create->path));
      std::string path = create->path;
      if (above && is_sequential(create->mode)) path += fmt::format("{:010}", above->created);
      if (!above) {
        write.result.error = Error::no_node;
      } else if (replay(log_, path)) {
        write.result.error = Error::node_exists;
      } else if (above->stat.ephemeral_owner != 0) {
        write.result.error = Error::no_children_for_ephemerals;
      } else {
        write.result.path = path;
        log_.push_back({zxid_, Logged::Kind::created, path, create->data, is_ephemeral(create->mode) ? session : 0});
      }
    } else if (const auto* removal = std::get_if<Delete>(&transaction.operation)) {
      const auto node = replay(log_, removal->path);
      if (!node) {
        write.result.error = Error::no_node;
      } else if (!node->children.empty()) {
        write.result.error = Error::not_empty;
      } else {
        log_.push_back({zxid_, Logged::Kind::deleted, removal->path});
      }
    } else if (const auto* set = std::get_if<SetData>(&transaction.operation)) {
      if (!replay(log_, set->path)) {
        write.result.error = Error::no_node;
      } else {
        log_.push_back({zxid_, Logged::Kind::set, set->path, set->data});
        write.result.stat = replay(log_, set->path)->stat;
      }
    }
  }

  Log log_;
  Zxid zxid_ = 0;
  std::set<SessionId> open_, expired_;
  std::map<Zxid, Write> writes_;
};

struct Tally {
  std::size_t answers = 0, reads = 0, old_reads = 0, lost = 0, reconnected = 0, expired = 0, events = 0, epochs = 0;
};

/// Goes from server to server, and asks for this and that. What it writes bears its name and a number.
class Walker {
 public:
  Walker(EnsembleBench& bench, std::uint64_t seed, char name, Tally& tally)
      : bench_(bench), random_(seed), name_(name), tally_(tally) {}

  sim::Task<void> walk(Client& client) {
    for (int i = 0; i < 70; ++i) {
      const std::int64_t longest = random_.one_in(25) ? 9'000 : 300;
      co_await client.sleep(sim::Duration::milliseconds(random_.between(0, longest)));
      if (on_.session <= 0 || random_.one_in(15)) co_await connect_somewhere(client);
      if (on_.session <= 0) continue;
      const int together = random_.one_in(3) ? 3 : 1;
      for (int k = 1; k < together; ++k) client.spawn(request(client, server_, on_));
      co_await request(client, server_, on_);
    }
  }
  /// What an earlier connection had still to say a client's library does not pass on.
  void hear(const std::string& what, ConnectionNumber on) {
    if (on == on_ && what != "closed")
      seen.push_back({.kind = Seen::Kind::event, .session = on_.session, .event = what});
  }
  std::vector<Seen> seen;

 private:
  sim::Task<void> connect_somewhere(Client& client) {
    server_ = random_.below(bench_.servers.size());
    on_ = {};
    const SessionId before = session_;
    const ConnectionNumber on = co_await connect(client, server_, 3_s, before, last_zxid_);
    if (on.session < 0) co_return;
    if (on.session == 0) {
      ++tally_.expired;
      session_ = 0;
      last_zxid_ = 0;
      co_return;
    }
    tally_.reconnected += before != 0 ? 1 : 0;
    on_ = on;
    session_ = on.session;
    seen.push_back({.kind = Seen::Kind::connected, .session = on.session});
  }

  sim::Task<void> request(Client& client, std::size_t server, ConnectionNumber on) {
    Operation operation = random_operation();
    const sim::Duration sent = bench_.world.now().offset();
    seen.push_back({.kind = Seen::Kind::asked, .session = on.session, .operation = operation, .sent = sent});
    const std::optional<Answer> answer = co_await ask(client, server, on, operation);
    if (!answer) {
      ++tally_.lost;
      if (on_ == on) on_ = {};
      co_return;
    }
    // What an earlier connection had still to say its client does not hear.
    if (!(on_ == on)) co_return;
    last_zxid_ = std::max(last_zxid_, answer->zxid);
    seen.push_back({.kind = Seen::Kind::answered,
                    .session = on.session,
                    .operation = operation,
                    .answer = *answer,
                    .sent = sent,
                    .at = bench_.world.now().offset()});
  }

  Operation random_operation() {
    static constexpr std::array kPaths{"/a", "/b", "/c", "/c/x"};
    const std::string path = kPaths[random_.below(kPaths.size())];
    const std::string data = fmt::format("{}{}", name_, ++count_);
    switch (random_.below(8)) {
      case 0: return Create{path, data, CreateMode::ephemeral};
      case 1: return Create{path, data, CreateMode::persistent};
      case 2: return Create{random_.one_in(2) ? "/c/s" : "/s", data, CreateMode::ephemeral_sequential};
      case 3: return Delete{path};
      case 4: return SetData{path, data};
      case 5: return random_.one_in(2) ? Operation(Sync{path}) : Operation(GetChildren{path});
      case 6: return Exists{path, random_.one_in(2)};
      default: return GetData{path, random_.one_in(2)};
    }
  }

  EnsembleBench& bench_;
  sim::Random random_;
  char name_;
  Tally& tally_;
  std::size_t server_ = 0;
  ConnectionNumber on_;
  SessionId session_ = 0;
  Zxid last_zxid_ = 0;
  int count_ = 0;
};

/// The number in the name of what a session writes. Nothing: it has none.
std::optional<int> number_of(const std::string& asked) {
  const std::size_t begin = asked.find('"');
  if (begin == std::string::npos) return std::nullopt;
  return std::stoi(asked.substr(begin + 2));
}

void judge(const Oracle& oracle, const std::vector<Walker>& walkers, bool knows_leaders, Tally& tally) {
  // What was written is what was asked for, in the order in which it was asked for, and once.
  std::map<SessionId, int> last_number;
  for (const auto& [zxid, write] : oracle.writes()) {
    const auto number = number_of(write.asked);
    if (!number) continue;
    int& last = last_number[write.session];
    REQUIRE(*number > last);
    last = *number;
  }

  std::set<Zxid> answered;
  std::vector<std::pair<sim::Duration, Zxid>> written;  // when somebody knew of it
  for (const Walker& walker : walkers) {
    for (const Seen& seen : walker.seen) {
      if (seen.kind == Seen::Kind::answered && is_write(seen.operation))
        written.emplace_back(seen.at, seen.answer.zxid);
    }
  }
  for (const Walker& walker : walkers) {
    struct Watched {
      std::string path;
      Zxid from;
    };
    std::vector<Watched> watches;
    std::multiset<std::string> heard;
    std::map<SessionId, Zxid> last;
    for (const Seen& seen : walker.seen) {
      if (seen.kind == Seen::Kind::connected) {
        watches.clear();
        heard.clear();
      }
      if (seen.kind == Seen::Kind::event) {
        heard.insert(seen.event);
        ++tally.events;
      }
      if (seen.kind != Seen::Kind::answered) continue;
      const Answer& answer = seen.answer;
      INFO("session " << seen.session << " " << describe(seen.operation) << " " << describe(answer));
      ++tally.answers;
      REQUIRE(answer.zxid >= last[seen.session]);
      last[seen.session] = answer.zxid;
      if (is_write(seen.operation)) {
        const auto write = oracle.writes().find(answer.zxid);
        REQUIRE(write != oracle.writes().end());
        REQUIRE(write->second.session == seen.session);
        REQUIRE(write->second.asked == describe(seen.operation));
        REQUIRE(describe(write->second.result) == describe(answer.result));
        REQUIRE(answered.insert(answer.zxid).second);
      } else {
        ++tally.reads;
        tally.old_reads += answer.zxid < oracle.last() ? 1 : 0;
        REQUIRE(answer.zxid <= oracle.last());
        REQUIRE(describe(oracle.read(seen.operation, answer.zxid)) == describe(answer.result));
      }
      if (std::holds_alternative<Sync>(seen.operation) && knows_leaders) {
        for (const auto& [at, zxid] : written) {
          if (at <= seen.sent) REQUIRE(zxid <= answer.zxid);
        }
      }
      // It has heard of whatever this answer may show.
      std::erase_if(watches, [&](const Watched& watch) {
        const auto event = oracle.set_off(watch.path, watch.from, answer.zxid);
        if (!event) return false;
        INFO("has to hear " << *event);
        REQUIRE(heard.contains(*event));
        return true;
      });
      const auto* get = std::get_if<GetData>(&seen.operation);
      if (get != nullptr && get->watches && answer.result.error == Error::none)
        watches.push_back({get->path, answer.zxid});
      const auto* exists = std::get_if<Exists>(&seen.operation);
      if (exists != nullptr && exists->watches) watches.push_back({exists->path, answer.zxid});
    }
  }
}

enum class Faults : std::uint8_t { crashes, all };

void play(std::uint64_t seed, Faults faults, Tally& tally) {
  sim::Random random(seed);
  EnsembleSettings settings{.times = {.tick = 500_ms, .least = 1_s, .most = 10_s}, .sync_limit = 4};
  settings.servers = random.one_in(4) ? 5 : 3;
  std::vector<std::int64_t> drifts;
  for (std::size_t i = 0; i < settings.servers; ++i) drifts.push_back(random.between(-100'000'000, 100'000'000));
  EnsembleBench bench(settings, seed, {1_ms, 30_ms}, drifts);
  std::vector<Walker> walkers;
  for (char name = 'A'; name < 'E'; ++name) walkers.emplace_back(bench, random.below(1'000'000), name, tally);
  for (Walker& walker : walkers) {
    bench.client([&walker](Client& client) { return walker.walk(client); },
                 [&walker](const std::string& what, ConnectionNumber on) { walker.hear(what, on); });
  }
  for (int i = 0; i < 4; ++i) {
    const std::size_t node = random.below(settings.servers);
    const auto at = sim::Duration::milliseconds(random.between(500, 15'000));
    const auto length = sim::Duration::milliseconds(random.between(50, 5'000));
    switch (faults == Faults::crashes ? 0 : random.below(3)) {
      case 0: bench.crash(node, at, length); break;
      case 1: bench.cut_off(node, at, at + length); break;
      default: bench.pause(node, at, length);
    }
  }
  bench.run(200_s);

  INFO("seed " << seed);
  // Faults are over for long.
  for (const EnsembleServer& server : bench.servers) REQUIRE(server.serves());
  const EnsembleServer* longest = &bench.servers.front();
  for (const EnsembleServer& server : bench.servers) {
    if (server.member().applied() > longest->member().applied()) longest = &server;
  }
  const auto& log = longest->member().disk().log;
  const auto end = log.begin() + static_cast<std::ptrdiff_t>(longest->member().applied());
  const Oracle oracle({log.begin(), end});
  tally.epochs += static_cast<std::size_t>(oracle.last() >> 32);
  judge(oracle, walkers, faults == Faults::crashes, tally);
}

}  // namespace

TEST_CASE("ZooKeeper ensemble: every answer follows from the log, in the order of zxids, whatever crashes") {
  Tally tally;
  const auto seeds = sim::cases<std::uint64_t>(30, 3);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) play(seed, Faults::crashes, tally);
  CHECK(tally.answers > 100 * seeds);
  CHECK(tally.epochs > seeds);
  CHECK(tally.reconnected > seeds);
  CHECK(tally.lost > 0);
  CHECK(tally.expired > 0);
  CHECK(tally.events > 0);
}

TEST_CASE("ZooKeeper ensemble: every answer follows from the log, behind partitions and after pauses as well") {
  Tally tally;
  const auto seeds = sim::cases<std::uint64_t>(30, 3);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) play(seed, Faults::all, tally);
  CHECK(tally.answers > 100 * seeds);
  CHECK(tally.epochs > seeds);
  CHECK(tally.reconnected > seeds);
}

}  // namespace lockstep::models::zookeeper::ensemble_log_test
