// What the engine says of MariaDB, a real MariaDB 10.11 says as well. Without one it says SKIPPED.

#include <catch2/catch.hpp>

#include <algorithm>
#include <iostream>

#include "models/sql/conformance/real_mariadb.hpp"
#include "models/sql/conformance/stories.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::sql::conformance {
namespace {

/// One for all: it takes longer to install than to ask.
const RealMariadb* real_server() {
  static std::string why;
  static const std::unique_ptr<RealMariadb> mariadb = RealMariadb::start(why);
  if (mariadb == nullptr) {
    WARN("SKIPPED: " << why << "; nothing was compared");
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
  }
  return mariadb.get();
}

std::size_t answers_to_others(std::string_view told) {
  return static_cast<std::size_t>(std::count(told.begin(), told.end(), ';'));
}

/// "2: 1; 3: ERROR: deadlock detected": who is told of a deadlock.
std::vector<SessionId> victims_in(SessionId session, std::string_view told) {
  constexpr std::string_view kDeadlock = "ERROR: deadlock detected";
  std::vector<SessionId> victims;
  if (told.starts_with(kDeadlock)) victims.push_back(session);
  const std::string of_other = ": " + std::string(kDeadlock);
  for (std::size_t at = told.find(of_other); at != std::string_view::npos; at = told.find(of_other, at + 1))
    victims.push_back(static_cast<SessionId>(told[at - 1] - '0'));
  return victims;
}

/// By primary key; no circle of user locks, since it calls GET_LOCK with a timeout of zero alone.
Statement random_of_mariadb(sim::Random& random, bool is_in_transaction) {
  using Kind = Statement::Kind;
  const auto one_of = [&](std::uint64_t count) { return static_cast<std::int64_t>(1 + random.below(count)); };
  const std::int64_t id = one_of(4);
  const std::int64_t value = 10 * one_of(3);
  if (!is_in_transaction && random.below(10) < 7)
    return begin(random.below(3) == 0 ? Isolation::read_committed : Isolation::repeatable_read);
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
    case 12: return compare_and_set(id, 10 * one_of(3), value);
    case 13:
    case 14:
    case 15: return insert(id, value, 100 * one_of(4));
    case 16:
    case 17: return remove_id(id);
    case 18: return advisory(Kind::try_advisory, one_of(2));
    default: return advisory(Kind::unlock_advisory, one_of(2));
  }
}

/// The engine among sessions, of whose circles a real server says how they end.
class Interleaving {
 public:
  explicit Interleaving(std::uint64_t seed) : random_(seed), sessions_(2 + random_.below(3)) {}

  /// A session that can speak, and what it says.
  std::pair<SessionId, Statement> next() {
    while (true) {
      const auto session = static_cast<SessionId>(1 + random_.below(sessions_));
      if (model_.engine.waits(session)) continue;
      return {session, random_of_mariadb(random_, model_.engine.is_in_transaction(session))};
    }
  }

  void execute(SessionId session, const Statement& statement) {
    waits_.clear();
    for (SessionId id = 1; id <= sessions_; ++id) {
      if (model_.engine.waits(id)) waits_.emplace_back(id, model_.engine.waits_so_far(id));
    }
    model_.engine.execute(session, statement, model_.clock());
  }
  bool waits(SessionId session) const { return model_.engine.waits(session); }
  std::optional<SessionId> victim() const { return model_.engine.victim(); }
  void break_circle(SessionId victim) { model_.engine.break_circle(model_.clock(), victim); }
  std::string told(SessionId session) { return model_.told_or_waits(session); }
  /// How many of those who have waited are answered now.
  std::size_t answers() const {
    return static_cast<std::size_t>(std::count_if(waits_.begin(), waits_.end(),
                                                  [&](const auto& each) { return !model_.engine.waits(each.first); }));
  }

  /// Several that go on at once race with each other.
  bool has_race(const std::vector<SessionId>& victims) const {
    return std::count_if(waits_.begin(), waits_.end(), [&](const auto& each) {
             const bool goes_on =
                 !model_.engine.waits(each.first) || model_.engine.waits_so_far(each.first) != each.second;
             return goes_on && std::find(victims.begin(), victims.end(), each.first) == victims.end();
           }) > 1;
  }

 private:
  sim::Random random_;
  std::size_t sessions_;
  TestEngine model_{Product::mariadb};
  std::vector<std::pair<SessionId, std::uint64_t>> waits_;
};

}  // namespace

TEST_CASE("sql: Hermitage's scenarios and those of locks come out as in MariaDB") {
  for (const auto& stories : {hermitage_of_mariadb(), locks_of_mariadb()}) {
    for (const Story& story : stories) {
      TestEngine test(Product::mariadb);
      for (std::size_t i = 0; i < story.said.size(); ++i) {
        const Said& said = story.said[i];
        INFO(story.name << ", step " << i + 1 << ", session " << said.session << ": " << said.statement.describe());
        CHECK(test.say(said.session, said.statement) == said.told);
      }
    }
  }
}

TEST_CASE("sql: a wait of MariaDB that lasts too long ends its statement alone") {
  TestEngine test(Product::mariadb);
  test.say(1, begin());
  test.say(1, update(1, 11));
  test.say(2, begin());
  test.say(2, update(2, 22));
  CHECK(test.say(2, update(1, 12)) == "waits for 1");
  CHECK(test.say(3, update(1, 13)) == "waits for 1 2");
  CHECK(test.time_out(2) == "ERROR: could not obtain lock");
  CHECK(test.say(2, commit()) == "0");
  CHECK(test.say(1, commit()) == "0; 3: 1");
  CHECK(test.say(1, select_all()) == "2: 1, 13, 100: 2, 22, 200");
}

TEST_CASE("sql: GET_LOCK that waits too long says no, and is no error") {
  TestEngine test(Product::mariadb);
  test.say(1, advisory(Statement::Kind::lock_advisory, 5));
  CHECK(test.say(2, advisory(Statement::Kind::lock_advisory, 5)) == "waits for 1");
  CHECK(test.time_out(2) == "0");
  CHECK(test.say(1, advisory(Statement::Kind::unlock_advisory, 5)) == "1");
}

TEST_CASE("sql: MariaDB answers Hermitage's scenarios, and those of locks, as the engine does") {
  const RealMariadb* mariadb = real_server();
  if (mariadb == nullptr) return;
  RealMariadbSessions real(*mariadb);
  for (const auto& stories : {hermitage_of_mariadb(), locks_of_mariadb()}) {
    for (const Story& story : stories) {
      real.begin_again();
      for (std::size_t i = 0; i < story.said.size(); ++i) {
        const Said& said = story.said[i];
        INFO(story.name << ", step " << i + 1 << ", session " << said.session << ": " << said.statement.describe());
        CHECK(real.say(said.session, said.statement, answers_to_others(said.told)) == said.told);
      }
    }
  }
}

TEST_CASE("sql: MariaDB and the engine agree on random interleaved transactions") {
  const RealMariadb* mariadb = real_server();
  if (mariadb == nullptr) return;
  RealMariadbSessions real(*mariadb);
  std::size_t transactions = 0;
  std::size_t statements = 0;
  std::size_t waits = 0;
  std::size_t deadlocks = 0;
  std::size_t same_victims = 0;
  std::size_t worlds = 0;
  std::size_t races = 0;
  for (std::uint64_t seed = 1; transactions < (sim::takes_few_cases() ? 50u : 2'000u); ++seed) {
    real.begin_again();
    Interleaving world(seed);
    ++worlds;
    std::string said;
    for (int i = 0; i < 60; ++i) {
      const auto [session, statement] = world.next();
      ++statements;
      transactions += statement.kind == Statement::Kind::begin;
      world.execute(session, statement);
      const std::optional<SessionId> victim = world.victim();
      if (world.has_race({})) {
        ++races;
        break;
      }
      const std::string heard = real.say(session, statement, world.answers() + (victim ? 1 : 0));
      const std::vector<SessionId> victims = victims_in(session, heard);
      if (victim && victims.size() == 1) {
        INFO("seed " << seed << "\n" << said << session << ": " << statement.describe() << " -> " << heard);
        REQUIRE(world.waits(victims.front()));
        ++deadlocks;
        same_victims += victims.front() == *victim;
        world.break_circle(victims.front());
      }
      // One deadlock after the other: the sessions between them raced, too.
      if (victims.size() > 1 || world.victim() || world.has_race(victims)) {
        ++races;
        break;
      }
      const std::string told = world.told(session);
      said += std::to_string(session) + ": " + statement.describe() + " -> " + told + "\n";
      INFO("seed " << seed << "\n" << said);
      waits += told.starts_with("waits");
      REQUIRE(heard == told);
    }
  }
  std::cout << worlds << " databases, " << transactions << " transactions, " << statements << " statements, " << waits
            << " waits, " << deadlocks << " deadlocks (" << same_victims << " victims as predicted): all alike; "
            << races << " databases left at a race\n";
}

}  // namespace lockstep::models::sql::conformance
