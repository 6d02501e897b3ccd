#pragma once

// Small random worlds for the tests of the explorer: clients that send, wait, give up, sleep and look at their clocks, and
// servers that keep one number with a lease. What the clients saw, and in which order the servers were asked, is the outcome.

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/testing/explorer_mutants.hpp"
#include "sim/coroutines/await.hpp"
#include "sim/schedules/random.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::checker::toy {

using sim::Duration;
using sim::DurationRange;

struct Put final : sim::Message {
  std::int64_t value = 0;
  std::size_t place = 0;
  bool clears = false;  ///< instead: leaves the place without a value
  Duration lease;
  std::string_view name() const override { return "PUT"; }
  std::string describe() const override { return "PUT " + std::to_string(value); }
  std::uint64_t digest() const override { return static_cast<std::uint64_t>(value); }
};

struct Got final : sim::Message {
  std::int64_t content = 0;
  std::string_view name() const override { return "PUT"; }
  std::string describe() const override { return std::to_string(content); }
  std::uint64_t digest() const override { return static_cast<std::uint64_t>(content); }
};

/// What tickers put is from here on.
constexpr std::int64_t kFirstTick = 1000;

/// A server's log without the ticks at its end, of which there might be any number.
inline std::string without_last_ticks(std::string log) {
  while (!log.empty()) {
    const std::size_t from = log.size() < 2 ? 0 : log.rfind(' ', log.size() - 2) + 1;
    const std::string last = log.substr(from);
    const bool is_tick = last.find_first_not_of("0123456789 ") == std::string::npos && std::stoll(last) >= kFirstTick;
    if (!is_tick) break;
    log.resize(from);
  }
  return log;
}

/// At each of two places: takes a value if it has none, or the lease of the one that it has is over; answers with what it has then.
class Server final : public sim::Process {
 public:
  /// `describes`: it says what it reads and changes. Then its log shows only what can be told apart: who was taken, by place.
  explicit Server(bool describes) : describes_(describes) {}

  void receive(sim::Message& message, sim::ConnectionId connection) override {
    const auto& put = static_cast<Put&>(message);
    Place& place = places_[put.place];
    if (!describes_) places_[0].log += std::to_string(put.value) + ' ';
    world().access(put.place, put.clears);
    if (put.clears) {
      place.value = 0;
    } else if (place.value == 0 || clock().has_reached(place.until)) {
      world().access(put.place, true);
      place.value = put.value;
      place.until = clock().now() + put.lease;
      if (describes_) place.log += std::to_string(put.value) + ' ';
    }
    auto reply = world().make<Got>();
    reply->content = place.value;
    world().send_reply(connection, message, std::move(reply));
  }
  void crashed(bool keep) override {
    if (!keep) forget();
    for (Place& place : places_) place.log += "crash ";
  }
  void reset() override {
    forget();
    for (Place& place : places_) place.log.clear();
  }
  bool describes_accesses() const override { return describes_; }
  bool answers_at_once(const sim::Message&) const override { return true; }
  /// Who came, in which order: so an outcome tells nearly every two traces apart.
  std::string log() const {
    const std::string first = without_last_ticks(places_[0].log);
    return describes_ ? first + "/ " + without_last_ticks(places_[1].log) : first;
  }

 private:
  struct Place {
    std::int64_t value = 0;
    sim::Instant until;
    std::string log;
  };
  void forget() {
    for (Place& place : places_) place.value = 0;
  }

  bool describes_;
  std::array<Place, 2> places_;
};

struct Step {
  enum class Kind : std::uint8_t { put, sleep, work, look, gather } kind = Kind::put;
  std::size_t server = 0;
  std::size_t place = 0;
  bool clears = false;
  Duration lease;
  std::optional<Duration> timeout;
  DurationRange length;
};

/// What a gather says of the answers that it counts: the truth, or, as mutants, something that would lose outcomes.
enum class Says : std::uint8_t {
  everything,    ///< nothing: each answer depends on all others
  its_own,       ///< the truth: only the last one depends on all, and the last but one says who is the last
  not_the_last,  ///< the last but one does not say it
  no_last        ///< the last one does not depend on the others
};

/// Puts to every server at once, and waits for all answers, or until its patience is over.
class Gather final : private sim::TimerOwner {
 public:
  using Puts = std::vector<sim::MessagePtrOf<Put>>;
  Gather(sim::Process& client, const std::vector<sim::ConnectionId>& servers, Puts puts,
         std::optional<Duration> timeout, Says says)
      : client_(client), servers_(servers), puts_(std::move(puts)), timeout_(timeout), says_(says) {}
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;
  ~Gather() { withdraw(); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> program) {
    sim::World& world = client_.world();
    program_ = program;
    places_.resize(servers_.size());
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      places_[i].gather = this;
      places_[i].call = world.open_call(places_[i], client_.id());
      puts_[i]->call = places_[i].call;
      world.send_request(servers_[i], std::move(puts_[i]));
    }
    if (timeout_)
      timer_ = world.set_timer(client_.id(), DurationRange::exactly(*timeout_), sim::TimerKind::timeout, *this);
  }
  /// The answers in the order of the servers: 0 where none came.
  std::vector<std::int64_t> await_resume() {
    std::vector<std::int64_t> answers;
    for (const Place& place : places_) answers.push_back(place.content);
    return answers;
  }

 private:
  struct Place final : sim::ReplyOwner {
    void reply_arrived(sim::Message& reply) override {
      gather->describe(*this);
      content = static_cast<Got&>(reply).content;
      gather->settle(*this);
    }
    void connection_lost() override {
      gather->describe(*this);
      gather->settle(*this);
    }
    std::uint64_t part() const { return std::uint64_t{call.slot} << 32 | call.generation; }
    Gather* gather = nullptr;
    sim::CallRef call;
    bool is_open = true;
    std::int64_t content = 0;
  };

  void describe(const Place& arrived) const {
    sim::World& world = client_.world();
    std::vector<const Place*> others;
    for (const Place& place : places_) {
      if (place.is_open && &place != &arrived) others.push_back(&place);
    }
    if (says_ != Says::everything) world.count_answer(places_.front().part());
    if (says_ == Says::everything || (others.empty() && says_ != Says::no_last)) {
      world.access_all();
      return;
    }
    world.access(arrived.part(), true);
    if (others.size() == 1 && says_ == Says::its_own) world.access(others.front()->part(), true);
  }
  void settle(Place& place) {
    place.is_open = false;
    if (std::any_of(places_.begin(), places_.end(), [](const Place& p) { return p.is_open; })) return;
    client_.world().cancel_timer(timer_);
    timer_ = {};
    client_.executor().make_ready(program_);
  }
  void timer_fired() override {
    timer_ = {};
    withdraw();
    client_.executor().make_ready(program_);
  }
  void withdraw() {
    for (Place& place : places_) {
      if (place.is_open) client_.world().close_call(place.call);
      place.is_open = false;
    }
    client_.world().cancel_timer(timer_);
    timer_ = {};
  }

  sim::Process& client_;
  const std::vector<sim::ConnectionId>& servers_;
  Puts puts_;
  std::optional<Duration> timeout_;
  Says says_;
  sim::TimerRef timer_;
  std::coroutine_handle<> program_;
  std::deque<Place> places_;
};

class Client final : public sim::Process {
 public:
  std::vector<Step> program;
  std::vector<sim::ConnectionId> connections;
  Says says = Says::everything;
  std::string saw;
  bool works = false;

  void start() override {
    if (!saw.empty()) saw += "again ";
    spawn(run(*this));
  }
  void crashed(bool) override {
    saw += "crash ";
    works = false;
  }
  bool hears_unasked() const override { return false; }
  void reset() override {
    saw.clear();
    works = false;
  }

 private:
  static sim::Task<void> run(Client& self) {
    const sim::Instant began = self.clock().now();
    std::int64_t mine = (self.id().index + 1) * 10;
    for (const Step& step : self.program) {
      switch (step.kind) {
        case Step::Kind::put: {
          auto put = self.world().make<Put>();
          put->value = ++mine;
          put->place = step.place;
          put->clears = step.clears;
          put->lease = step.lease;
          const auto got = co_await sim::Call<Got>(self, self.connections[step.server], std::move(put), step.timeout);
          self.saw += got ? std::to_string(*got) + ' ' : "none ";
          break;
        }
        case Step::Kind::gather: {
          Gather::Puts puts;
          for (std::size_t i = 0; i < self.connections.size(); ++i) {
            auto put = self.world().make<Put>();
            put->value = ++mine;
            put->place = step.place;
            put->lease = step.lease;
            puts.push_back(std::move(put));
          }
          Gather gather(self, self.connections, std::move(puts), step.timeout, self.says);
          for (const std::int64_t answer : co_await gather) self.saw += std::to_string(answer) + '+';
          self.saw += ' ';
          break;
        }
        case Step::Kind::sleep: co_await sim::Wait(self, step.length, sim::TimerKind::sleep); break;
        case Step::Kind::work:
          self.works = true;
          co_await sim::Wait(self, step.length, sim::TimerKind::work);
          self.works = false;
          break;
        case Step::Kind::look: self.saw += self.clock().has_reached(began + step.lease) ? "late " : "early "; break;
      }
    }
    self.saw += "done ";
  }
};

/// Puts again and again, as a watchdog renews, for ever.
class Ticker final : public sim::Process {
 public:
  DurationRange period;
  Step put;
  std::vector<sim::ConnectionId> connections;

  void start() override { spawn(run(*this)); }
  void reset() override {}

 private:
  static sim::Task<void> run(Ticker& self) {
    for (std::int64_t mine = kFirstTick * (self.id().index + 1);; ++mine) {
      co_await sim::Wait(self, self.period, sim::TimerKind::tick);
      auto put = self.world().make<Put>();
      put->value = mine;
      put->place = self.put.place;
      put->clears = self.put.clears;
      put->lease = self.put.lease;
      co_await sim::Call<Got>(self, self.connections[self.put.server], std::move(put), std::nullopt);
    }
  }
};

/// Bounds of a random world.
struct Size {
  std::uint64_t servers = 2;
  std::uint64_t processes = 4;  ///< clients and servers
  std::size_t puts = 3;         ///< requests in all
  std::uint64_t steps = 3;      ///< of each client
  std::int64_t latency_us = 2;
  bool describes = false;  ///< see `Server`
  bool parts = false;      ///< requests of two places, some of which clear them; so it is if `describes`
  bool gathers = false;    ///< some steps ask all servers at once
  Says says = Says::everything;
  std::uint64_t tickers = 0;  ///< so many put for ever
  bool alike = false;         ///< every client is as the first one: clock, start, connections, program
  bool odd = false;           ///< but the last one sleeps first
};

class World final : public Explorable {
 public:
  World(std::uint64_t seed, sim::Decisions& decisions, Size size = {}) : world_(decisions) {
    sim::Random random(sim::combine64(0x746f79, seed));
    const auto us = [&](std::int64_t lo, std::int64_t hi) { return Duration::microseconds(random.between(lo, hi)); };
    const auto range = [&](std::int64_t lo, std::int64_t hi, std::int64_t width) {
      const Duration from = us(lo, hi);
      return DurationRange{from, from + us(0, width)};
    };
    const std::uint64_t servers = 1 + random.below(size.servers);
    const std::uint64_t clients = 1 + random.below(size.processes - servers);
    for (std::uint64_t i = 0; i < clients; ++i) clients_.emplace_back();
    for (std::uint64_t i = 0; i < servers; ++i) servers_.emplace_back(size.describes);
    Duration offset;
    for (Client& client : clients_) {
      if (client_ids_.empty() || !size.alike) offset = us(0, 2);
      client_ids_.push_back(world_.add(client, "client", {.offset = offset, .drift_ppb = 0, .uptime = {}}));
    }
    std::vector<sim::ProcessId> server_ids;
    for (Server& server : servers_) server_ids.push_back(world_.add(server, "server", {}));
    server_ids_ = server_ids;
    std::size_t budget = size.puts;
    std::vector<DurationRange> latencies;
    for (std::size_t i = 0; i < clients; ++i) {
      const bool is_copy = size.alike && i > 0;
      starts_.push_back(is_copy ? starts_.front() : range(0, 2, 1));
      for (std::size_t s = 0; s < servers; ++s) {
        if (!is_copy) latencies.push_back(range(1, size.latency_us, size.latency_us - 1));
        clients_[i].connections.push_back(
            world_.connect(client_ids_[i], server_ids[s], latencies[is_copy ? s : i * servers + s]));
      }
      if (is_copy) {
        clients_[i].says = size.says;
        clients_[i].program = clients_.front().program;
        continue;
      }
      clients_[i].says = size.says;
      const std::uint64_t steps = 1 + random.below(size.steps);
      for (std::uint64_t s = 0; s < steps && budget > 0; ++s) {
        Step step;
        step.kind = static_cast<Step::Kind>(random.below(4));
        if (size.gathers && random.one_in(2)) step.kind = Step::Kind::gather;
        step.server = random.below(servers);
        if (size.describes || size.parts) {
          step.place = random.below(2);
          step.clears = random.one_in(3);
        }
        step.lease = us(2, 6);
        if (random.one_in(2)) step.timeout = us(2, 6);
        step.length = range(1, 3, 1);
        if (step.kind == Step::Kind::put) --budget;
        if (step.kind == Step::Kind::gather) budget -= std::min<std::size_t>(budget, servers);
        clients_[i].program.push_back(step);
      }
    }
    for (std::uint64_t i = 0; i < size.tickers; ++i) {
      Ticker& ticker = tickers_.emplace_back();
      const sim::ProcessId id = world_.add(ticker, "ticker", {});
      ticker_ids_.push_back(id);
      ticker.period = range(2, 5, 1);
      ticker.put.server = random.below(servers);
      if (size.describes || size.parts) ticker.put.place = random.below(2);
      ticker.put.clears = random.one_in(3);
      ticker.put.lease = us(2, 6);
      for (const sim::ProcessId server : server_ids) {
        ticker.connections.push_back(world_.connect(id, server, range(1, size.latency_us, size.latency_us - 1)));
      }
    }
    if (size.odd) {
      Step sleep;
      sleep.kind = Step::Kind::sleep;
      sleep.length = DurationRange::exactly(us(7, 7));
      clients_.back().program.insert(clients_.back().program.begin(), sleep);
    }
  }

  /// Clients that go round all servers in the same order, as Redlock does.
  struct Round {
    std::uint64_t clients = 2;
    std::uint64_t servers = 3;
    Duration start_within;
    DurationRange latency;
    Duration lease;
  };
  World(const Round& round, sim::Decisions& decisions) : world_(decisions) {
    for (std::uint64_t i = 0; i < round.clients; ++i) clients_.emplace_back();
    for (std::uint64_t i = 0; i < round.servers; ++i) servers_.emplace_back(false);
    for (Client& client : clients_) client_ids_.push_back(world_.add(client, "client", {}));
    std::vector<sim::ProcessId> server_ids;
    for (Server& server : servers_) server_ids.push_back(world_.add(server, "server", {}));
    for (std::size_t i = 0; i < round.clients; ++i) {
      starts_.push_back({Duration::zero(), round.start_within});
      for (std::size_t s = 0; s < round.servers; ++s) {
        clients_[i].connections.push_back(world_.connect(client_ids_[i], server_ids[s], round.latency));
        clients_[i].program.push_back({.kind = Step::Kind::put,
                                       .server = s,
                                       .place = 0,
                                       .clears = false,
                                       .lease = round.lease,
                                       .timeout = {},
                                       .length = {}});
      }
      clients_[i].program.push_back({.kind = Step::Kind::look,
                                     .server = 0,
                                     .place = 0,
                                     .clears = false,
                                     .lease = round.lease,
                                     .timeout = {},
                                     .length = {}});
    }
  }

  /// One client that asks all servers once.
  struct Question {
    std::uint64_t servers = 3;
    Says says = Says::its_own;
  };
  World(const Question& question, sim::Decisions& decisions) : world_(decisions) {
    clients_.emplace_back().says = question.says;
    client_ids_.push_back(world_.add(clients_.front(), "client", {}));
    starts_.push_back(DurationRange::exactly(Duration::zero()));
    for (std::uint64_t i = 0; i < question.servers; ++i) {
      server_ids_.push_back(world_.add(servers_.emplace_back(false), "server", {}));
      clients_.front().connections.push_back(world_.connect(client_ids_.front(), server_ids_.back(),
                                                            {Duration::microseconds(1), Duration::microseconds(2)}));
    }
    Step step;
    step.kind = Step::Kind::gather;
    clients_.front().program.push_back(step);
  }

  sim::World& world() override { return world_; }
  void begin() override {
    for (std::size_t i = 0; i < client_ids_.size(); ++i) world_.start(client_ids_[i], starts_[i]);
    for (const sim::ProcessId ticker : ticker_ids_) world_.start(ticker, {});
  }
  std::string outcome() const {
    std::string all;
    for (const Client& client : clients_) all += client.saw + "| ";
    for (const Server& server : servers_) all += server.log() + "| ";
    return all;
  }
  bool is_working(sim::ProcessId process) const {
    const auto client = std::find(client_ids_.begin(), client_ids_.end(), process);
    return client != client_ids_.end() && clients_[static_cast<std::size_t>(client - client_ids_.begin())].works;
  }
  const std::vector<sim::ProcessId>& clients() const { return client_ids_; }
  const std::vector<sim::ProcessId>& servers() const { return server_ids_; }

 private:
  sim::World world_;
  std::deque<Client> clients_;
  std::deque<Server> servers_;
  std::deque<Ticker> tickers_;
  std::vector<sim::ProcessId> ticker_ids_;
  std::vector<sim::ProcessId> client_ids_;
  std::vector<sim::ProcessId> server_ids_;
  std::vector<DurationRange> starts_;
};

/// What an exploration of a world finds.
struct Found {
  std::set<std::string> outcomes;
  ExplorerCounts counts;
};

inline Found explored_whole(std::uint64_t seed, const Size& size, const ExplorerOptions& options,
                            SearchMutant mutant = SearchMutant::none) {
  Explorer explorer(options);
  ExplorerForTests::break_search(explorer, mutant);
  World world(seed, explorer, size);
  Found found;
  found.counts = explorer.explore(world, [&](Explorer&) {
    found.outcomes.insert(world.outcome());
    return true;
  });
  return found;
}

/// Each client, or each server, on one side, and all that it talks to on the other.
inline std::vector<sim::Sides> sides(const World& world, bool of_servers) {
  std::vector<sim::Sides> all;
  for (const sim::ProcessId one : of_servers ? world.servers() : world.clients()) {
    all.push_back({{one}, of_servers ? world.clients() : world.servers()});
  }
  return all;
}

}  // namespace lockstep::checker::toy
