// Random interleavings, judged from outside by what the isolation levels mean. Every write writes a value of its own,
// so that a value says who wrote it; of the engine the oracle knows the answers alone.

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "models/sql/conformance/stories.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::sql {
namespace {

using conformance::TestEngine;
using Kind = Statement::Kind;
using Rows = std::map<std::int64_t, std::int64_t>;

/// What a client knows of its own transaction.
struct Own {
  bool is_open = false;
  bool has_failed = false;
  Isolation isolation = Isolation::read_committed;
  std::optional<std::size_t> snapshot;  ///< how many commits there were at its first statement
  Rows written;
  std::set<std::int64_t> locked;
  Statement asked;
  std::size_t asked_at = 0;  ///< commits
};

class Oracle {
 public:
  explicit Oracle(std::uint64_t seed, Product product)
      : is_mariadb_(product == Product::mariadb), test_(product), random_(seed) {}

  void run() {
    for (int i = 0; i < 80; ++i) {
      const auto session = static_cast<SessionId>(1 + random_.below(4));
      if (test_.engine.waits(session)) continue;
      Own& own = own_[session];
      own.asked = next(own);
      own.asked_at = history_.size();
      if (own.asked.kind == Kind::begin) {
        own = Own{.is_open = true, .isolation = own.asked.isolation, .asked = own.asked};
      } else if (takes_snapshot(own.asked) && !own.snapshot) {
        own.snapshot = history_.size();
      }
      if (own.asked.kind == Kind::commit && own.is_open && !own.has_failed) publish(own);
      test_.engine.execute(session, own.asked, test_.clock());
      hear();
      if (!is_mariadb_) test_.engine.check_deadlock(session, test_.clock());
      while (is_mariadb_ && test_.engine.break_circle(test_.clock())) {
      }
      hear();
      // Whoever waits, waits for somebody who does not wait for him.
      CHECK_FALSE(test_.engine.is_in_circle(session));
    }
  }

  std::size_t reads = 0, updates = 0, refusals = 0;

 private:
  /// In PostgreSQL every statement within the transaction, in MariaDB plain reads alone.
  bool takes_snapshot(const Statement& asked) const {
    if (asked.kind == Kind::commit || asked.kind == Kind::rollback) return false;
    return !is_mariadb_ || (asked.kind == Kind::select && asked.locking == Locking::none);
  }

  Statement next(const Own& own) {
    const auto id = static_cast<std::int64_t>(1 + random_.below(2));
    if (!own.is_open)
      return conformance::begin(random_.below(2) == 0 ? Isolation::read_committed : Isolation::repeatable_read);
    switch (random_.below(6)) {
      case 0: return conformance::select_id(id);
      case 1: return conformance::for_update(id);
      case 2:
      case 3: return conformance::update(id, ++last_value_);
      case 4: return conformance::rollback();
      default: return conformance::commit();
    }
  }

  /// A commit with nothing to fail on: what it wrote is there from now on.
  void publish(Own& own) {
    Rows rows = history_.empty() ? Rows{{1, 10}, {2, 20}} : history_.back();
    for (const auto& [id, value] : own.written) {
      rows[id] = value;
      writes_[id].push_back(history_.size() + 1);
    }
    history_.push_back(std::move(rows));
    own.locked.clear();  // before others hear that they have got them
  }

  const Rows& after(std::size_t commits) {
    static const Rows first{{1, 10}, {2, 20}};
    return commits == 0 ? first : history_[commits - 1];
  }

  void hear() {
    for (const Engine::Answer& answer : test_.engine.take_answers()) judge(own_[answer.session], answer.result);
  }

  void judge(Own& own, const Result& result) {
    const Kind kind = own.asked.kind;
    if (kind == Kind::commit || kind == Kind::rollback) {
      own = Own{};
      return;
    }
    if (kind == Kind::begin) return;
    if (!result.ok()) {
      ++refusals;
      if (is_mariadb_) {
        // Nobody is refused because of what others have committed; and then there is no transaction.
        CHECK(result.error == Error::deadlock_detected);
        own = Own{};
        return;
      }
      own.has_failed = true;
      own.locked.clear();
      // READ COMMITTED never fails because somebody else has committed.
      if (result.error == Error::serialization_failure) CHECK(own.isolation == Isolation::repeatable_read);
      return;
    }
    const std::int64_t id = own.asked.where.front().term.value.integer().value();
    CHECK(result.affected == 1);
    const bool locks = kind == Kind::update || own.asked.locking != Locking::none;
    if (locks) {
      // Nobody else has it, ...
      for (const auto& [other, theirs] : own_) CHECK((&theirs == &own || theirs.locked.count(id) == 0));
      own.locked.insert(id);
      // ... and in PostgreSQL under REPEATABLE READ nobody else has written it since the snapshot: no update is lost.
      if (!is_mariadb_ && own.isolation == Isolation::repeatable_read && own.written.count(id) == 0) {
        for (const std::size_t commit : writes_[id]) CHECK(commit <= own.snapshot.value());
      }
    }
    if (kind == Kind::update) {
      ++updates;
      own.written[id] = own.asked.set.front().term.value.integer().value();
      return;
    }
    ++reads;
    const std::int64_t value = result.rows.front()[1].integer().value();
    if (own.written.count(id) != 0) {
      CHECK(value == own.written.at(id));
    } else if (own.isolation == Isolation::repeatable_read && !(is_mariadb_ && locks)) {
      CHECK(value == after(own.snapshot.value()).at(id));
    } else {
      // What was committed when it asked; with a lock, when it got it. Never what is not committed.
      CHECK(value == after(locks ? history_.size() : own.asked_at).at(id));
    }
  }

  bool is_mariadb_;
  TestEngine test_;
  sim::Random random_;
  std::map<SessionId, Own> own_;
  std::vector<Rows> history_;  ///< after each commit
  std::map<std::int64_t, std::vector<std::size_t>> writes_;
  std::int64_t last_value_ = 1000;
};

void check_interleavings(Product product) {
  std::size_t reads = 0;
  std::size_t updates = 0;
  std::size_t refusals = 0;
  for (std::uint64_t seed = 1; seed <= sim::cases(3'000u, 100u); ++seed) {
    INFO("seed " << seed);
    Oracle oracle(seed, product);
    oracle.run();
    reads += oracle.reads;
    updates += oracle.updates;
    refusals += oracle.refusals;
  }
  CHECK(reads > 500);
  CHECK(updates > 500);
  CHECK(refusals > 50);
}

}  // namespace

TEST_CASE("sql: no dirty read, no changing snapshot, no lost update under repeatable read, in random interleavings") {
  check_interleavings(Product::postgresql);
}

TEST_CASE("sql: MariaDB's locks see the newest rows, plain reads their snapshot, in random interleavings") {
  check_interleavings(Product::mariadb);
}

}  // namespace lockstep::models::sql
