// An SQL server among clients: what time, crashes and lost connections do to transactions.

#include <catch2/catch.hpp>

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/sql/client/sql_endpoint.hpp"
#include "models/sql/server/sql_server.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::sql {
namespace {

using namespace sim::literals;

TableSpec rows() {
  return {
      .name = "rows", .columns = {"id", "value"}, .keys = {0}, .rows = {{Value(1), Value(10)}, {Value(2), Value(20)}}};
}

std::vector<Condition> at(std::int64_t id) { return {{.column = "id", .term = Term::of(id)}}; }
std::vector<Assignment> to(std::int64_t value) { return {{.column = "value", .term = Term::of(value)}}; }

/// One server, and clients with programs of their own that write down what they are told, and when.
class Bench {
 public:
  explicit Bench(Timeouts timeouts = {}, Product product = Product::postgresql)
      : simulation_(world_), server_({rows()}, timeouts, product) {
    server_id_ = world_.add(server_, "sql", {});
  }

  using Program = std::function<sim::Task<void>(Bench&, Client&)>;
  sim::ProcessId client(Program program, std::optional<sim::Duration> timeout = std::nullopt) {
    const Program& kept = programs_.emplace_back(std::move(program));
    Client& client = clients_.emplace_back([this, &kept](Client& c) { return kept(*this, c); });
    const sim::ProcessId id = world_.add(client, std::string(1, static_cast<char>('A' + clients_.size() - 1)), {});
    client.connect<Endpoint>().add_server(world_.connect(id, server_id_, sim::DurationRange::exactly(1_ms)), timeout);
    ids_.push_back(id);
    return id;
  }

  void note(Client& client, const std::optional<Result>& result) {
    told.push_back(sim::to_string(world_.now().offset()) + " " + client.name() + ": " +
                   (result ? result->describe() : "no answer"));
  }

  void run() {
    for (const sim::ProcessId id : ids_) world_.start(id, sim::DurationRange::exactly(0_ms));
    world_.arm_faults();
    REQUIRE(simulation_.run(sim::Instant::at(sim::Duration::forever()), 100'000) == sim::Simulation::End::quiet);
  }

  sim::World& world() { return world_; }
  std::vector<std::string> told;

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_;
  Server server_;
  sim::ProcessId server_id_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
  std::vector<sim::ProcessId> ids_;
};

/// Locks one row, waits, and asks for another one.
Bench::Program locks_both(std::int64_t first, std::int64_t second) {
  return [=](Bench& bench, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(first)));
    co_await client.sleep(sim::Duration::milliseconds(10 * first));
    const std::optional<Result> result = co_await server.update("rows", to(2), at(second));
    bench.note(client, result);
    const std::optional<Result> ended = co_await server.commit();
    bench.note(client, ended);
  };
}

/// Waits a little, then writes row 1.
sim::Task<void> writes_late(Bench& bench, Client& client) {
  co_await client.sleep(5_ms);
  const std::optional<Result> result = co_await client.to<Endpoint>().update("rows", to(3), at(1));
  bench.note(client, result);
}

}  // namespace

TEST_CASE("sql server: who closes a circle of waits is its victim, deadlock_timeout later") {
  Bench bench({.deadlock = 100_ms});
  bench.client(locks_both(1, 2));
  bench.client(locks_both(2, 1));
  bench.run();
  // B asks at 24ms, is heard at 25ms, and is told at 126ms.
  CHECK(bench.told ==
        std::vector<std::string>{"126ms B: ERROR: deadlock detected", "126ms A: 1", "128ms B: ROLLBACK", "128ms A: 0"});
}

TEST_CASE("sql server: MariaDB finds a circle of waits at once, and its victim is in no transaction any more") {
  Bench bench({}, Product::mariadb);
  bench.client(locks_both(1, 2));
  bench.client(locks_both(2, 1));
  bench.run();
  CHECK(bench.told ==
        std::vector<std::string>{"26ms B: ERROR: deadlock detected", "26ms A: 1", "28ms B: 0", "28ms A: 0"});
}

TEST_CASE("sql server: MariaDB's lock wait timeout ends a statement and leaves its transaction") {
  Bench bench({.lock = 1_s}, Product::mariadb);
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(1)));
    co_await client.sleep(2_s);
    static_cast<void>(co_await server.commit());
  });
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    co_await client.sleep(5_ms);
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(2), at(2)));
    const std::optional<Result> waited = co_await server.update("rows", to(3), at(1));
    bench.note(client, waited);
    const std::optional<Result> read = co_await server.select("rows", at(2));
    bench.note(client, read);
  });
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"1011ms B: ERROR: could not obtain lock", "1013ms B: 1: 2, 2"});
}

TEST_CASE("sql server: GET_LOCK waits for as long as it says") {
  Bench bench({.lock = 1_s}, Product::mariadb);
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    static_cast<void>(co_await client.to<Endpoint>().lock_advisory(Value("lock")));
    co_await client.sleep(10_s);
  });
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    co_await client.sleep(5_ms);
    Statement statement{.kind = Statement::Kind::lock_advisory};
    statement.key = Value("lock");
    statement.timeout = 3_s;
    const std::optional<Result> locked = co_await client.to<Endpoint>().execute(std::move(statement));
    bench.note(client, locked);
  });
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"3007ms B: 0"});
}

TEST_CASE("sql server: lock_timeout ends a wait") {
  Bench bench({.lock = 50_ms});
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(1)));
    co_await client.sleep(1_s);
    static_cast<void>(co_await server.commit());
  });
  bench.client(writes_late);
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"57ms B: ERROR: could not obtain lock"});
}

TEST_CASE("sql server: a session that is idle in a transaction for too long is closed, and its client learns it late") {
  Bench bench({.idle_in_transaction = 100_ms});
  bench.client([](Bench& bench, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(1)));
    co_await client.sleep(1_s);
    const std::optional<Result> ended = co_await server.commit();
    bench.note(client, ended);
    const std::optional<Result> read = co_await server.select("rows", at(1));
    bench.note(client, read);
  });
  bench.client(writes_late);
  bench.run();
  CHECK(bench.told ==
        std::vector<std::string>{"104ms B: 1", "1006ms A: ERROR: server closed the connection", "1008ms A: 1: 1, 3"});
}

TEST_CASE("sql server: a client that dies is rolled back when its end arrives") {
  Bench bench;
  const sim::ProcessId a = bench.client([](Bench&, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(1)));
    co_await client.sleep(10_s);
  });
  bench.client(writes_late);
  bench.world().plan({.kind = sim::FaultKind::crash, .process = a, .at = 20_ms});
  bench.run();
  CHECK(bench.told == std::vector<std::string>{"22ms B: 1"});
}

TEST_CASE("sql server: a client that waits no longer and asks again comes on a new connection; the old one ends") {
  Bench bench;
  bench.client([](Bench&, Client& client) -> sim::Task<void> {
    auto& server = client.to<Endpoint>();
    static_cast<void>(co_await server.begin());
    static_cast<void>(co_await server.update("rows", to(1), at(1)));
    co_await client.sleep(100_ms);
    static_cast<void>(co_await server.commit());
  });
  bench.client(
      [](Bench& bench, Client& client) -> sim::Task<void> {
        auto& server = client.to<Endpoint>();
        co_await client.sleep(5_ms);
        static_cast<void>(co_await server.begin());
        const std::optional<Result> waited = co_await server.update("rows", to(2), at(1));
        bench.note(client, waited);
        const std::optional<Result> ended = co_await server.commit();
        bench.note(client, ended);
        co_await client.sleep(200_ms);
        const std::optional<Result> read = co_await server.select("rows", at(1));
        bench.note(client, read);
      },
      20_ms);
  bench.run();
  // What it had asked for is carried out when the lock is free, and rolled back with its session.
  CHECK(bench.told == std::vector<std::string>{"27ms B: no answer", "29ms B: 0", "231ms B: 1: 1, 1"});
}

}  // namespace lockstep::models::sql
