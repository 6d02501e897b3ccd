// Each lock in SQL sends the statements of its document, in their order.

#include <catch2/catch.hpp>

#include "models/locks/steps_testing.hpp"

namespace lockstep::models::locks::sql_steps_test {

using namespace sim::literals;
using testing::Bench;
using testing::Steps;

TEST_CASE("sql-for-update: a transaction around the work; who comes second waits at the server") {
  Bench bench("sql-for-update");
  const auto a = bench.client(0_ms, 10_ms);
  const auto b = bench.client(5_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) ==
        Steps{"BEGIN", "-> 0", "SELECT_FOR_UPDATE locks WHERE name = lock", "-> 1: lock", "COMMIT", "-> 0"});
  CHECK(bench.talk_of(b) == bench.talk_of(a));
  CHECK(bench.world().history().operations.back().completed.offset() == 28_ms);
}

TEST_CASE("sql-unique-insert: of two who insert one is told that the key is there") {
  Bench bench("sql-unique-insert");
  const auto a = bench.client(0_ms, 10_ms);
  const auto b = bench.client(5_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) ==
        Steps{"INSERT owners lock, A-1", "-> 1", "DELETE owners WHERE name = lock AND owner = A-1", "-> 1"});
  CHECK(bench.talk_of(b) ==
        Steps{"INSERT owners lock, B-1", "-> ERROR: duplicate key value violates unique constraint"});
}

TEST_CASE("sql-version-cas: read, and raise what was read") {
  Bench bench("sql-version-cas");
  const auto a = bench.client(0_ms, 10_ms);
  const auto b = bench.client(0_ms, 10_ms);
  bench.run();
  const std::string raise = "UPDATE versions SET version = version + 1 WHERE name = lock AND version = 0";
  CHECK(bench.talk_of(a) == Steps{"SELECT versions WHERE name = lock", "-> 1: lock, 0", raise, "-> 1"});
  CHECK(bench.talk_of(b) == Steps{"SELECT versions WHERE name = lock", "-> 1: lock, 0", raise, "-> 0"});
  CHECK(bench.world().history().operations.front().value == 1);
}

TEST_CASE("sql-lease-row: insert, or update what is over; the release ends the lease") {
  Bench bench("sql-lease-row", {{"clock", std::string("database")}, {"lease", 20_ms}});
  const auto a = bench.client(0_ms, 100_ms);
  const auto b = bench.client(5_ms, 10_ms);
  const auto c = bench.client(25_ms, 10_ms);
  bench.run();
  const auto insert = [](const std::string& who) { return "INSERT shedlock lock, now() + 20ms, now(), " + who; };
  const auto update = [](const std::string& who) {
    return "UPDATE shedlock SET lock_until = now() + 20ms, locked_at = now(), locked_by = " + who +
           " WHERE name = lock AND lock_until <= now()";
  };
  const auto end = [](const std::string& who) {
    return "UPDATE shedlock SET lock_until = now() WHERE name = lock AND locked_by = " + who;
  };
  const std::string taken = "-> ERROR: duplicate key value violates unique constraint";
  CHECK(bench.talk_of(a) == Steps{insert("A-1"), "-> 1", end("A-1"), "-> 0"});
  CHECK(bench.talk_of(b) == Steps{insert("B-1"), taken, update("B-1"), "-> 0"});
  CHECK(bench.talk_of(c) == Steps{insert("C-1"), taken, update("C-1"), "-> 1", end("C-1"), "-> 1"});
}

TEST_CASE("sql-advisory: lock and unlock, without a transaction") {
  Bench bench("sql-advisory");
  const auto a = bench.client(0_ms, 10_ms);
  const auto b = bench.client(5_ms, 10_ms);
  bench.run();
  CHECK(bench.talk_of(a) == Steps{"PG_ADVISORY_LOCK lock", "-> 1", "PG_ADVISORY_UNLOCK lock", "-> 1"});
  CHECK(bench.talk_of(b) == bench.talk_of(a));
  CHECK(bench.world().history().operations.back().completed.offset() == 26_ms);
}

TEST_CASE("lock-inside-transaction: BEGIN, lock, …, unlock, COMMIT; lock-outside-transaction the other way round") {
  Bench inside("lock-inside-transaction");
  const auto a = inside.client(0_ms, 10_ms);
  inside.run();
  const std::string lock = "PG_ADVISORY_LOCK lock";
  const std::string unlock = "PG_ADVISORY_UNLOCK lock";
  CHECK(inside.talk_of(a) == Steps{"BEGIN", "-> 0", lock, "-> 1", unlock, "-> 1", "COMMIT", "-> 0"});
  Bench outside("lock-outside-transaction", {{"isolation", std::string("repeatable-read")}});
  const auto b = outside.client(0_ms, 10_ms);
  outside.run();
  CHECK(outside.talk_of(b) ==
        Steps{lock, "-> 1", "BEGIN ISOLATION LEVEL REPEATABLE READ", "-> 0", "COMMIT", "-> 0", unlock, "-> 1"});
}

TEST_CASE("sql-for-update: who is to create the row looks, inserts, and looks again") {
  Bench bench("sql-for-update", {{"creates_row", true}, {"wants_row", true}}, {{"rows", std::string("another-lock")}});
  const auto a = bench.client(0_ms, 10_ms);
  bench.run();
  const std::string look = "SELECT_FOR_UPDATE locks WHERE name = lock";
  CHECK(bench.talk_of(a) ==
        Steps{"BEGIN", "-> 0", look, "-> 0", "INSERT locks lock", "-> 1", look, "-> 1: lock", "COMMIT", "-> 0"});
}

}  // namespace lockstep::models::locks::sql_steps_test
