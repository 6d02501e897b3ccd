#pragma once

// For the tests of this folder: what several sessions say in turn, and what each is told, of the engine and of a real
// server.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/sql/engine/engine.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::sql::conformance {

/// A table "test" with id and value, and another column, which is unique unless it is MariaDB's.
TableSpec test_table(Product product);

// --- Statements, short.

Statement begin(Isolation isolation = Isolation::standard);
Statement commit();
Statement rollback();
Statement select_all();
Statement select_id(std::int64_t id);
Statement select_value(std::int64_t value);
Statement for_update(std::int64_t id, Locking locking = Locking::wait);
Statement update(std::int64_t id, std::int64_t value);
Statement add_to_all(std::int64_t plus);
Statement compare_and_set(std::int64_t id, std::int64_t old, std::int64_t value);
Statement insert(std::int64_t id, std::int64_t value, std::int64_t other);
Statement remove_id(std::int64_t id);
Statement remove_value(std::int64_t value);
Statement advisory(Statement::Kind kind, std::int64_t key);

struct Said {
  SessionId session;
  Statement statement;
  /// "1", "2: 1, 10: 2, 20", "waits", "waits for 1", "ERROR: …"; then what others were told because of it: "1; 2: 1"
  /// means that session 2 got its answer.
  std::string_view told;
};

struct Story {
  std::string_view name;
  std::vector<Said> said;
};

/// M. Kleppmann, Hermitage, https://github.com/ept/hermitage, postgres.md: what is modelled of it.
std::vector<Story> hermitage();
/// Locks: missing rows, queues, NOWAIT and SKIP LOCKED, keys of open transactions, advisory locks, deadlocks.
std::vector<Story> locks();
/// The same of MariaDB. Source of Hermitage's: mysql.md.
std::vector<Story> hermitage_of_mariadb();
std::vector<Story> locks_of_mariadb();

class TestEngine {
 public:
  explicit TestEngine(Product product = Product::postgresql) : engine({test_table(product)}, product) {}
  /// As in `Said`. A deadlock is found at once.
  std::string say(SessionId session, const Statement& statement);
  /// Without looking for deadlocks.
  std::string say_only(SessionId session, const Statement& statement);
  std::string told(SessionId first);
  std::string told_or_waits(SessionId session);
  std::string time_out(SessionId session);

 private:
  sim::DefaultDecisions decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  sim::Clock clock_{world_, sim::Duration::seconds(1000), 0};

 public:
  Engine engine;
  const sim::Clock& clock() const { return clock_; }
};

}  // namespace lockstep::models::sql::conformance
