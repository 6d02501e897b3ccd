#include <algorithm>

#include "models/sql/conformance/stories.hpp"

namespace lockstep::models::sql::conformance {
namespace {

using Kind = Statement::Kind;

Condition is(std::string column, std::int64_t value) { return {.column = std::move(column), .term = Term::of(value)}; }

Statement on_test(Kind kind, std::vector<Condition> where = {}) {
  return {.kind = kind, .table = "test", .where = std::move(where)};
}

}  // namespace

TableSpec test_table(Product product) {
  return {.name = "test",
          .columns = {"id", "value", "other"},
          .keys = product == Product::mariadb ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 2},
          .rows = {{Value(1), Value(10), Value(100)}, {Value(2), Value(20), Value(200)}}};
}

Statement begin(Isolation isolation) { return {.kind = Kind::begin, .isolation = isolation}; }
Statement commit() { return {.kind = Kind::commit}; }
Statement rollback() { return {.kind = Kind::rollback}; }
Statement select_all() { return on_test(Kind::select); }
Statement select_id(std::int64_t id) { return on_test(Kind::select, {is("id", id)}); }
Statement select_value(std::int64_t value) { return on_test(Kind::select, {is("value", value)}); }
Statement for_update(std::int64_t id, Locking locking) {
  Statement statement = select_id(id);
  statement.locking = locking;
  return statement;
}
Statement update(std::int64_t id, std::int64_t value) {
  Statement statement = on_test(Kind::update, {is("id", id)});
  statement.set = {{"value", Term::of(value)}};
  return statement;
}
Statement add_to_all(std::int64_t plus) {
  Statement statement = on_test(Kind::update);
  statement.set = {{"value", Term::column_plus("value", plus)}};
  return statement;
}
Statement compare_and_set(std::int64_t id, std::int64_t old, std::int64_t value) {
  Statement statement = update(id, value);
  statement.where.push_back(is("value", old));
  return statement;
}
Statement insert(std::int64_t id, std::int64_t value, std::int64_t other) {
  Statement statement = on_test(Kind::insert);
  statement.row = {Term::of(id), Term::of(value), Term::of(other)};
  return statement;
}
Statement remove_id(std::int64_t id) { return on_test(Kind::remove, {is("id", id)}); }
Statement remove_value(std::int64_t value) { return on_test(Kind::remove, {is("value", value)}); }
Statement advisory(Kind kind, std::int64_t key) { return {.kind = kind, .key = Value(key)}; }

std::string TestEngine::told(SessionId first) {
  std::string told;
  std::vector<Engine::Answer> answers = engine.take_answers();
  std::sort(answers.begin(), answers.end(), [&](const auto& a, const auto& b) {
    return std::pair(a.session != first, a.session) < std::pair(b.session != first, b.session);
  });
  for (const Engine::Answer& answer : answers) {
    if (!told.empty()) told += "; ";
    if (answer.session != first) told += std::to_string(answer.session) + ": ";
    Result result = answer.result;
    // Under REPEATABLE READ a transaction may see two rows with one key: one that was deleted after its snapshot, and
    // its own.
    std::sort(result.rows.begin(), result.rows.end(), [](const Row& a, const Row& b) {
      return std::pair(a[0].integer(), a[2].integer()) < std::pair(b[0].integer(), b[2].integer());
    });
    told += result.describe();
  }
  return told;
}

std::string TestEngine::say_only(SessionId session, const Statement& statement) {
  engine.execute(session, statement, clock_);
  return told_or_waits(session);
}

std::string TestEngine::told_or_waits(SessionId session) {
  if (!engine.waits(session)) return told(session);
  std::vector<SessionId> others = engine.waits_for(session);
  std::sort(others.begin(), others.end());
  std::string text = "waits for";
  for (const SessionId other : others) text += " " + std::to_string(other);
  const std::string answers = told(session);
  return answers.empty() ? text : text + "; " + answers;
}

std::string TestEngine::say(SessionId session, const Statement& statement) {
  engine.execute(session, statement, clock_);
  if (engine.product() == Product::mariadb) {
    while (engine.break_circle(clock_)) {
    }
  } else if (engine.waits(session)) {
    engine.check_deadlock(session, clock_);
  }
  return told_or_waits(session);
}

std::string TestEngine::time_out(SessionId session) {
  engine.give_up_waiting(session, clock_);
  return told(session);
}

std::vector<Story> hermitage() {
  constexpr auto rr = Isolation::repeatable_read;
  constexpr std::string_view kSerialize = "ERROR: could not serialize access due to concurrent update";
  std::vector<Story> all{
      {"G0, read committed: write cycles are prevented",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 11), "1"},
        {2, update(1, 12), "waits for 1"},
        {1, update(2, 21), "1"},
        {1, commit(), "0; 2: 1"},
        {1, select_all(), "2: 1, 11, 100: 2, 21, 200"},
        {2, update(2, 22), "1"},
        {2, commit(), "0"},
        {1, select_all(), "2: 1, 12, 100: 2, 22, 200"}}},
      {"G1a, read committed: no aborted reads",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 101), "1"},
        {2, select_all(), "2: 1, 10, 100: 2, 20, 200"},
        {1, rollback(), "ROLLBACK"},
        {2, select_all(), "2: 1, 10, 100: 2, 20, 200"},
        {2, commit(), "0"}}},
      {"G1b, read committed: no intermediate reads",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 101), "1"},
        {2, select_id(1), "1: 1, 10, 100"},
        {1, update(1, 11), "1"},
        {1, commit(), "0"},
        {2, select_id(1), "1: 1, 11, 100"},
        {2, commit(), "0"}}},
      {"G1c, read committed: no circular information flow",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 11), "1"},
        {2, update(2, 22), "1"},
        {1, select_id(2), "1: 2, 20, 200"},
        {2, select_id(1), "1: 1, 10, 100"},
        {1, commit(), "0"},
        {2, commit(), "0"}}},
      {"OTV, read committed: observed transactions do not vanish",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {3, begin(), "0"},
        {1, update(1, 11), "1"},
        {1, update(2, 19), "1"},
        {2, update(1, 12), "waits for 1"},
        {1, commit(), "0; 2: 1"},
        {3, select_id(1), "1: 1, 11, 100"},
        {2, update(2, 18), "1"},
        {3, select_id(2), "1: 2, 19, 200"},
        {2, commit(), "0"},
        {3, select_id(2), "1: 2, 18, 200"},
        {3, select_id(1), "1: 1, 12, 100"},
        {3, commit(), "0"}}},
      {"PMP, read committed: a predicate finds more later",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, select_value(30), "0"},
        {2, insert(3, 30, 300), "1"},
        {2, commit(), "0"},
        {1, select_value(30), "1: 3, 30, 300"},
        {1, commit(), "0"}}},
      {"PMP for writes, read committed: the delete misses a row that matches before and after",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, add_to_all(10), "2"},
        {2, remove_value(20), "waits for 1"},
        {1, commit(), "0; 2: 0"},
        {2, select_value(20), "1: 1, 20, 100"},
        {2, commit(), "0"}}},
      {"P4, read committed: an update is lost",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, select_id(1), "1: 1, 10, 100"},
        {2, select_id(1), "1: 1, 10, 100"},
        {1, update(1, 11), "1"},
        {2, update(1, 11), "waits for 1"},
        {1, commit(), "0; 2: 1"},
        {2, commit(), "0"}}},
      {"G-single, read committed: read skew",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, select_id(1), "1: 1, 10, 100"},
        {2, update(1, 12), "1"},
        {2, update(2, 18), "1"},
        {2, commit(), "0"},
        {1, select_id(2), "1: 2, 18, 200"},
        {1, commit(), "0"}}},
      {"PMP, repeatable read: prevented",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, select_value(30), "0"},
        {2, insert(3, 30, 300), "1"},
        {2, commit(), "0"},
        {1, select_value(30), "0"},
        {1, commit(), "0"}}},
      {"PMP for writes, repeatable read: the second is told",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, add_to_all(10), "2"},
        {2, remove_value(20), "waits for 1"},
        {1, commit(), "0; 2: ERROR: could not serialize access due to concurrent update"},
        {2, rollback(), "ROLLBACK"}}},
      {"P4, repeatable read: a lost update is prevented",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, select_id(1), "1: 1, 10, 100"},
        {2, select_id(1), "1: 1, 10, 100"},
        {1, update(1, 11), "1"},
        {2, update(1, 11), "waits for 1"},
        {1, commit(), "0; 2: ERROR: could not serialize access due to concurrent update"},
        {2, commit(), "ROLLBACK"}}},
      {"G-single, repeatable read: no read skew",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, select_id(1), "1: 1, 10, 100"},
        {2, update(1, 12), "1"},
        {2, update(2, 18), "1"},
        {2, commit(), "0"},
        {1, select_id(2), "1: 2, 20, 200"},
        {1, commit(), "0"}}},
      {"G-single with a write predicate, repeatable read: the writer is told",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, select_id(1), "1: 1, 10, 100"},
        {2, select_all(), "2: 1, 10, 100: 2, 20, 200"},
        {2, update(1, 12), "1"},
        {2, update(2, 18), "1"},
        {2, commit(), "0"},
        {1, remove_value(20), kSerialize},
        {1, rollback(), "ROLLBACK"}}},
      {"G2-item, repeatable read: write skew happens",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {1, select_all(), "2: 1, 10, 100: 2, 20, 200"},
        {2, select_all(), "2: 1, 10, 100: 2, 20, 200"},
        {1, update(1, 11), "1"},
        {2, update(2, 21), "1"},
        {1, commit(), "0"},
        {2, commit(), "0"},
        {1, select_all(), "2: 1, 11, 100: 2, 21, 200"}}},
  };
  return all;
}

std::vector<Story> locks() {
  constexpr auto rr = Isolation::repeatable_read;
  return {
      {"FOR UPDATE of a row that is not there locks nothing",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, for_update(7), "0"},
        {2, for_update(7), "0"},
        {2, insert(7, 0, 700), "1"},
        {1, insert(7, 1, 701), "waits for 2"},
        {2, commit(), "0; 1: ERROR: duplicate key value violates unique constraint"},
        {1, rollback(), "ROLLBACK"}}},
      // Had the first changed the row, the second would give back its place in the queue before it locks the new
      // version, and in PostgreSQL the third may come first.
      {"who waits for a row is served in turn",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {3, begin(), "0"},
        {1, for_update(1), "1: 1, 10, 100"},
        {2, for_update(1), "waits for 1"},
        {3, for_update(1), "waits for 2"},
        {1, commit(), "0; 2: 1: 1, 10, 100"},
        {2, rollback(), "ROLLBACK; 3: 1: 1, 10, 100"},
        {3, commit(), "0"}}},
      {"a row that is only locked and given back changes nothing for a snapshot",
       {{1, begin(rr), "0"},
        {2, begin(rr), "0"},
        {2, select_id(1), "1: 1, 10, 100"},
        {1, for_update(1), "1: 1, 10, 100"},
        {2, for_update(1), "waits for 1"},
        {1, commit(), "0; 2: 1: 1, 10, 100"},
        {2, commit(), "0"}}},
      {"NOWAIT is an error, which rolls back",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, for_update(1), "1: 1, 10, 100"},
        {2, update(2, 21), "1"},
        {2, for_update(1, Locking::nowait), "ERROR: could not obtain lock"},
        {1, update(2, 22), "1"},
        {2, select_id(1), "ERROR: current transaction is aborted"},
        {2, commit(), "ROLLBACK"},
        {1, commit(), "0"}}},
      {"SKIP LOCKED finds nothing",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, for_update(1), "1: 1, 10, 100"},
        {2, for_update(1, Locking::skip_locked), "0"},
        {2, for_update(2, Locking::skip_locked), "1: 2, 20, 200"},
        {1, commit(), "0"},
        {2, commit(), "0"}}},
      {"an INSERT waits for the transaction that has inserted the same key: it is rolled back",
       {{1, begin(), "0"},
        {1, insert(3, 30, 300), "1"},
        {2, insert(3, 31, 301), "waits for 1"},
        {1, rollback(), "ROLLBACK; 2: 1"},
        {1, select_id(3), "1: 3, 31, 301"}}},
      {"the same at another unique key, and a third one waits for the second",
       {{1, begin(), "0"},
        {1, insert(3, 30, 300), "1"},
        {2, insert(4, 40, 300), "waits for 1"},
        {3, insert(4, 41, 400), "waits for 2"},
        {1, commit(), "0; 2: ERROR: duplicate key value violates unique constraint; 3: 1"}}},
      {"two who wait for a row that is deleted find nothing, both at once",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {3, begin(), "0"},
        {1, remove_id(1), "1"},
        {2, for_update(1), "waits for 1"},
        {3, update(1, 13), "waits for 2"},
        {1, commit(), "0; 2: 0; 3: 0"},
        {2, commit(), "0"},
        {3, commit(), "0"}}},
      {"compare and set: of two only one changes a row",
       {{1, begin(), "0"},
        {1, compare_and_set(1, 10, 11), "1"},
        {2, compare_and_set(1, 10, 12), "waits for 1"},
        {1, commit(), "0; 2: 0"}}},
      {"an update whose condition does not hold any more keeps its lock",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 11), "1"},
        {2, compare_and_set(1, 10, 12), "waits for 1"},
        {1, commit(), "0; 2: 0"},
        {1, update(1, 13), "waits for 2"},
        {2, commit(), "0; 1: 1"}}},
      {"deadlock: whose wait closes the circle is the victim, and the other goes on",
       {{1, begin(), "0"},
        {2, begin(), "0"},
        {1, update(1, 11), "1"},
        {2, update(2, 22), "1"},
        {1, update(2, 21), "waits for 2"},
        {2, update(1, 12), "ERROR: deadlock detected; 1: 1"},
        {2, rollback(), "ROLLBACK"},
        {1, commit(), "0"}}},
      {"advisory locks are of sessions, count, and outlast transactions",
       {{1, begin(), "0"},
        {1, advisory(Kind::lock_advisory, 5), "1"},
        {1, advisory(Kind::lock_advisory, 5), "1"},
        {1, rollback(), "ROLLBACK"},
        {2, advisory(Kind::try_advisory, 5), "0"},
        {2, advisory(Kind::lock_advisory, 5), "waits for 1"},
        {1, advisory(Kind::unlock_advisory, 5), "1"},
        {1, advisory(Kind::unlock_advisory, 5), "1; 2: 1"},
        {1, advisory(Kind::unlock_advisory, 5), "0"},
        {2, advisory(Kind::unlock_advisory, 5), "1"}}},
      {"under repeatable read the snapshot is older than an advisory lock that was waited for",
       {{1, advisory(Kind::lock_advisory, 5), "1"},
        {2, begin(rr), "0"},
        {2, advisory(Kind::lock_advisory, 5), "waits for 1"},
        {1, update(1, 11), "1"},
        {1, advisory(Kind::unlock_advisory, 5), "1; 2: 1"},
        {2, select_id(1), "1: 1, 10, 100"},
        {2, commit(), "0"},
        {2, advisory(Kind::unlock_advisory, 5), "1"}}},
  };
}

}  // namespace lockstep::models::sql::conformance
