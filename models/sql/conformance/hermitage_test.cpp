// The engine answers as PostgreSQL's documentation and Hermitage say; postgres_test.cpp asks PostgreSQL itself.

#include <catch2/catch.hpp>

#include "models/sql/conformance/stories.hpp"

namespace lockstep::models::sql::conformance {
namespace {

void tell(const std::vector<Story>& stories) {
  for (const Story& story : stories) {
    TestEngine test;
    for (std::size_t i = 0; i < story.said.size(); ++i) {
      const Said& said = story.said[i];
      INFO(story.name << ", step " << i + 1 << ", session " << said.session << ": " << said.statement.describe());
      CHECK(test.say(said.session, said.statement) == said.told);
    }
  }
}

}  // namespace

TEST_CASE("sql: Hermitage's scenarios come out as in PostgreSQL") { tell(hermitage()); }

TEST_CASE("sql: locks, queues, keys of open transactions, advisory locks, deadlocks") { tell(locks()); }

TEST_CASE("sql: a wait that lasts too long is an error, and the queue goes on without it") {
  TestEngine test;
  test.say(1, begin());
  test.say(1, for_update(1));
  CHECK(test.say(2, update(1, 12)) == "waits for 1");
  CHECK(test.say(3, update(1, 13)) == "waits for 2");
  CHECK(test.time_out(2) == "ERROR: could not obtain lock");
  CHECK(test.say(1, commit()) == "0; 3: 1");
  CHECK(test.say(1, select_id(1)) == "1: 1, 13, 100");
}

TEST_CASE("sql: a lost connection is rolled back; one that waits finishes its statement first") {
  TestEngine test;
  test.say(1, begin());
  test.say(1, update(1, 11));
  CHECK(test.say(2, update(1, 12)) == "waits for 1");
  test.engine.close(2, test.clock());
  test.engine.close(1, test.clock());
  CHECK(test.told(2) == "1");
  CHECK(test.say(3, select_id(1)) == "1: 1, 12, 100");
}

TEST_CASE("sql: after a crash there is what was committed, and nobody's locks") {
  TestEngine test;
  test.say(1, advisory(Statement::Kind::lock_advisory, 5));
  test.say(1, begin());
  test.say(1, update(1, 11));
  test.say(1, insert(3, 30, 300));
  test.say(2, update(2, 22));
  CHECK(test.say(2, update(1, 12)) == "waits for 1");
  test.engine.crash();
  CHECK(test.say(3, select_all()) == "2: 1, 10, 100: 2, 22, 200");
  CHECK(test.say(3, advisory(Statement::Kind::lock_advisory, 5)) == "1");
}

}  // namespace lockstep::models::sql::conformance
