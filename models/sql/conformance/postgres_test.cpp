// What the engine says, a real PostgreSQL 15 says as well. Without one it says SKIPPED.

#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

#include "models/sql/conformance/real_postgres.hpp"
#include "models/sql/conformance/stories.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::sql::conformance {
namespace {

std::unique_ptr<RealPostgres> started() {
  std::string why;
  auto postgres = RealPostgres::start(why);
  if (postgres == nullptr) {
    WARN("SKIPPED: " << why << "; nothing was compared");
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
  }
  return postgres;
}

/// Those who wait for it, and those who wait for them.
std::set<SessionId> waiting_for(const Engine& engine, SessionId session, std::size_t sessions) {
  std::set<SessionId> found;
  for (bool is_over = false; !std::exchange(is_over, true);) {
    for (SessionId other = 1; other <= sessions; ++other) {
      const std::vector<SessionId> others = engine.waits_for(other);
      const bool waits = std::any_of(others.begin(), others.end(),
                                     [&](SessionId each) { return each == session || found.contains(each); });
      if (waits && found.insert(other).second) is_over = false;
    }
  }
  return found;
}

bool closes_circle(std::string_view told) { return told.starts_with("ERROR: deadlock"); }

/// None that locks several rows: in which order a table is scanned PostgreSQL leaves open.
Statement random_statement(sim::Random& random, bool is_in_transaction) {
  using Kind = Statement::Kind;
  const auto one_of = [&](std::uint64_t count) { return static_cast<std::int64_t>(1 + random.below(count)); };
  const std::int64_t id = one_of(3);
  const std::int64_t value = 10 * one_of(3);
  if (!is_in_transaction && random.below(10) < 7)
    return begin(random.below(2) == 0 ? Isolation::read_committed : Isolation::repeatable_read);
  if (is_in_transaction && random.below(5) == 0) return random.below(4) == 0 ? rollback() : commit();
  switch (random.below(20)) {
    case 0: return select_all();
    case 1: return select_value(value);
    case 2: return select_id(id);
    case 3:
    case 4:
    case 5:
    case 6: return for_update(id);
    case 7: return for_update(id, random.below(3) == 0 ? Locking::nowait : Locking::skip_locked);
    case 8:
    case 9:
    case 10: return update(id, value);
    case 11:
    case 12:
    case 13: return compare_and_set(id, 10 * one_of(3), value);
    case 14:
    case 15: return insert(one_of(4), value, 100 * one_of(4));
    case 16:
    case 17: return remove_id(id);
    case 18: return advisory(random.below(3) == 0 ? Kind::try_advisory : Kind::lock_advisory, one_of(2));
    default: return advisory(Kind::unlock_advisory, one_of(2));
  }
}

}  // namespace

TEST_CASE("sql: PostgreSQL answers Hermitage's scenarios, and those of locks, as the engine does") {
  const auto postgres = started();
  if (postgres == nullptr) return;
  RealSessions real(*postgres);
  for (const auto& stories : {hermitage(), locks()}) {
    for (const Story& story : stories) {
      real.begin_again();
      for (std::size_t i = 0; i < story.said.size(); ++i) {
        const Said& said = story.said[i];
        INFO(story.name << ", step " << i + 1 << ", session " << said.session << ": " << to_sql(said.statement));
        CHECK(real.say(said.session, said.statement, closes_circle(said.told)) == said.told);
      }
    }
  }
}

TEST_CASE("sql: PostgreSQL and the engine agree on random interleaved transactions") {
  const auto postgres = started();
  if (postgres == nullptr) return;
  RealSessions real(*postgres);
  std::size_t transactions = 0;
  std::size_t statements = 0;
  std::size_t waits = 0;
  std::size_t deadlocks = 0;
  std::size_t worlds = 0;
  std::size_t races = 0;
  for (std::uint64_t seed = 1; transactions < (sim::takes_few_cases() ? 50u : 2'000u); ++seed) {
    sim::Random random(seed);
    real.begin_again();
    TestEngine model;
    ++worlds;
    const std::size_t sessions = 2 + random.below(3);
    std::string said;
    for (int i = 0; i < 60; ++i) {
      const auto session = static_cast<SessionId>(1 + random.below(sessions));
      if (model.engine.waits(session)) continue;
      const bool is_in_transaction = model.engine.is_in_transaction(session);
      const Statement statement = random_statement(random, is_in_transaction);
      ++statements;
      transactions += statement.kind == Statement::Kind::begin;
      const std::size_t waiting = waiting_for(model.engine, session, sessions).size();
      const std::string told = model.say(session, statement);
      // Two who are woken at once race, and so do two in a queue if the row has changed: which of them comes first
      // PostgreSQL leaves open.
      if (waiting > 1 && waiting_for(model.engine, session, sessions).empty()) {
        ++races;
        break;
      }
      waits += told.starts_with("waits");
      deadlocks += closes_circle(told);
      said += std::to_string(session) + ": " + to_sql(statement) + " -> " + told + "\n";
      INFO("seed " << seed << "\n" << said);
      REQUIRE(real.say(session, statement, closes_circle(told)) == told);
    }
  }
  std::cout << worlds << " databases, " << transactions << " transactions, " << statements << " statements, " << waits
            << " waits, " << deadlocks << " deadlocks: all alike; " << races << " databases left at a race\n";
}

}  // namespace lockstep::models::sql::conformance
