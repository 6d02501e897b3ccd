// The session that a process keeps for all attempts of all its threads.

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/locks/consul/session.hpp"
#include "models/servers/kinds.hpp"
#include "models/servers/server_kind.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::locks::session_test {
namespace {

using namespace sim::literals;
using Lines = std::vector<std::string>;

/// A process with these threads at one server, 1ms away.
class Bench {
 public:
  using Program = std::function<sim::Task<void>(Bench&, Client&)>;

  explicit Bench(std::vector<Program> programs)
      : programs_(std::move(programs)), world_(decisions_), simulation_(world_) {
    specs_.emplace_back().name = consul_kind().name();
    servers_ = consul_kind().make(
        {.world = world_, .servers = specs_, .latency = sim::DurationRange::exactly(1_ms), .shared = shared_});
    world_.enable_trace();
    Client& process = clients_.emplace_back();
    process_ = world_.add(process, "A", {});
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      Client& thread = clients_.emplace_back([this, i](Client& c) { return run_thread(*this, i, c); });
      world_.add_part(thread, process_, "A/" + std::to_string(i + 1));
      thread.become_thread_of(process, static_cast<std::int64_t>(i) + 1);
      servers_->connect(thread, {});
    }
    Client& background = clients_.emplace_back();
    world_.add_part(background, process_, "A/session");
    background.become_background_of(process);
    servers_->connect(background, {});
  }
  /// Programs may be waiting for objects of their processes, so they go first.
  ~Bench() { world_.restart(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run() {
    world_.start(process_, sim::DurationRange::exactly({}));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), 100'000) == sim::Simulation::End::quiet);
  }
  void note(Client& client, const std::string& text) {
    told.push_back(sim::to_string(world_.now().offset()) + " " + client.name() + ": " + text);
  }
  /// When such a request was sent.
  Lines sent(std::string_view name) const {
    Lines lines;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind == sim::EventKind::message && !record.is_reply && record.name == name)
        lines.push_back(std::string(record.name));
    }
    return lines;
  }
  sim::World& world() { return world_; }
  sim::ProcessId process() const { return process_; }
  Lines told;

 private:
  static sim::Task<void> run_thread(Bench& bench, std::size_t which, Client& client) {
    co_await bench.programs_[which](bench, client);
    client.end_program();
  }

  std::vector<Program> programs_;
  sim::DefaultDecisions decisions_;
  sim::World world_;
  sim::Simulation simulation_;
  std::vector<ServerSpec> specs_;
  Settings shared_;
  std::unique_ptr<Servers> servers_;
  std::deque<Client> clients_;
  sim::ProcessId process_;
};

sim::Task<consul::SessionId> keep(Client& client) {
  const auto session = co_await client.shared<ConsulSessions>("").keep(client, "dc1", {.ttl = 4_s});
  co_return session == nullptr ? 0 : session->id;
}

/// Has it from `from` on for so long, and then says whether it is open.
sim::Task<void> use(Bench& bench, Client& client, sim::Duration from, sim::Duration length) {
  co_await client.sleep(from);
  const consul::SessionId id = co_await keep(client);
  bench.note(client, "has " + std::to_string(id));
  co_await client.sleep(length);
  const bool is_open = client.shared<ConsulSessions>("").find(id) != nullptr;
  bench.note(client, is_open ? "still has it" : "has it no longer");
}

}  // namespace

TEST_CASE("consul session: one that is kept lasts as long as any thread that uses it") {
  Bench bench({[](Bench& b, Client& c) { return use(b, c, 0_ms, 100_ms); },
               [](Bench& b, Client& c) { return use(b, c, 50_ms, 10_s); }});
  bench.run();
  CHECK(bench.told ==
        Lines{"2ms A/1: has 1", "50ms A/2: has 1", "102ms A/1: still has it", "10.05s A/2: still has it"});
  CHECK(bench.sent("SESSION_DESTROY").size() == 1);
}

TEST_CASE("consul session: threads that begin together keep one") {
  Bench bench({[](Bench& b, Client& c) { return use(b, c, 0_ms, 100_ms); },
               [](Bench& b, Client& c) { return use(b, c, 0_ms, 100_ms); },
               [](Bench& b, Client& c) { return use(b, c, 1_ms, 100_ms); }});
  bench.run();
  CHECK(bench.sent("SESSION_CREATE").size() == 1);
  CHECK(bench.sent("SESSION_DESTROY").size() == 1);
  REQUIRE(bench.told.size() == 6);
  for (int i = 0; i < 3; ++i) CHECK(bench.told[static_cast<std::size_t>(i)].ends_with("has 1"));
}

TEST_CASE("consul session: when the one that is kept is over the next attempt has another") {
  // It ends 8s after its latest renewal, while the process is paused, and its renewal is told so.
  Bench bench({[](Bench& b, Client& c) -> sim::Task<void> {
    b.note(c, "has " + std::to_string(co_await keep(c)));
    co_await c.sleep(20_s);
    b.note(c, std::to_string(co_await keep(c)) == "1" ? "has 1 again" : "has another");
  }});
  bench.world().plan({.kind = sim::FaultKind::pause, .process = bench.process(), .length = 12_s, .at = 500_ms});
  bench.run();
  CHECK(bench.told == Lines{"2ms A/1: has 1", "20004ms A/1: has another"});
  CHECK(bench.sent("SESSION_DESTROY").size() == 1);
}

}  // namespace lockstep::models::locks::session_test
