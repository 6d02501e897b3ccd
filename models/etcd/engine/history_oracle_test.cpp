// Random requests, judged by a log of changes from which every answer is computed anew: the oracle keeps no state of a
// key and no revision of the past.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/etcd/conformance/steps.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::etcd {
namespace {

using conformance::Outcome;
using conformance::Step;

/// One write of a key, in the order of writing.
struct Logged {
  Revision revision;
  std::string key;
  bool is_put = false;
  std::string value = {};
  LeaseId lease = 0;
};

/// A key as the log has it up to an entry: from its last deletion on.
std::optional<KeyValue> replay(const std::vector<Logged>& log, const std::string& key, Revision until) {
  std::optional<KeyValue> kv;
  for (const Logged& each : log) {
    if (each.key != key || each.revision > until) continue;
    if (!each.is_put) {
      kv.reset();
      continue;
    }
    if (!kv) kv = KeyValue{.key = key, .create_revision = each.revision};
    kv->mod_revision = each.revision;
    ++kv->version;
    kv->value = each.value;
    kv->lease = each.lease;
  }
  return kv;
}

bool is_in(const Span& span, char key) {
  if (span.range_end.empty()) return span.key == std::string(1, key);
  if (key < span.key[0]) return false;
  return span.range_end[0] == '\0' || key < span.range_end[0];
}

class Oracle {
 public:
  /// Learns from an answer what was written: what a put or a deletion does to the log follows from the request.
  void judge(const Step& step, const Outcome& outcome) {
    const Answer& answer = outcome.answer;
    switch (step.kind) {
      case Step::Kind::operation: judge({step.operation}, answer, step.operation.index() != 0); break;
      case Step::Kind::txn: judge_txn(step.txn, answer); break;
      case Step::Kind::compact:
        CHECK(answer.error == (step.revision <= compacted_ ? Error::compacted
                               : step.revision > revision_ ? Error::future_revision
                                                           : Error::none));
        if (answer.error == Error::none) compacted_ = step.revision;
        break;
      case Step::Kind::grant:
        CHECK(answer.error == (leases_[step.lease] ? Error::lease_exists : Error::none));
        leases_[step.lease] = true;
        break;
      case Step::Kind::revoke: judge_revoke(step.lease, answer); break;
      case Step::Kind::keep_alive: CHECK(outcome.lease_lives == leases_[step.lease]); break;
      case Step::Kind::time_to_live:
        CHECK(outcome.lease_lives == leases_[step.lease]);
        CHECK(outcome.lease_keys == attached(step.lease));
        break;
    }
  }

  /// What a watch from this revision must have heard by now.
  std::vector<Event> events(const Span& span, Revision from) const {
    std::vector<Event> events;
    for (std::size_t i = 0; i < log_.size(); ++i) {
      const Logged& each = log_[i];
      if (each.revision < from || !is_in(span, each.key[0])) continue;
      Event event;
      event.is_delete = !each.is_put;
      event.kv.key = each.key;
      event.kv.mod_revision = each.revision;
      if (each.is_put) {
        const std::vector<Logged> before(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        event.kv = *replay(before, each.key, each.revision);
      }
      events.push_back(event);
    }
    return events;
  }

  std::size_t reads = 0, failures = 0;
  Revision compacted() const { return compacted_; }

 private:
  std::vector<std::string> attached(LeaseId lease) const {
    std::vector<std::string> keys;
    for (char c = 'a'; c <= 'f'; ++c) {
      const auto kv = replay(log_, std::string(1, c), revision_ + 1);
      if (kv && lease != 0 && kv->lease == lease) keys.push_back(kv->key);
    }
    return keys;
  }

  bool may_fail(const std::vector<Operation>& operations, Error error) {
    for (const Operation& each : operations) {
      const auto* put = std::get_if<Put>(&each);
      const auto* range = std::get_if<Range>(&each);
      if (error == Error::empty_key && put != nullptr && put->key.empty()) return true;
      if (error == Error::lease_not_found && put != nullptr && put->lease != 0 && !leases_[put->lease]) return true;
      if (error == Error::future_revision && range != nullptr && range->revision > revision_) return true;
      if (error == Error::compacted && range != nullptr && range->revision != 0 && range->revision < compacted_)
        return true;
    }
    return false;
  }

  void judge_txn(const Txn& txn, const Answer& answer) {
    bool holds = true;
    for (const Compare& compare : txn.compare) holds = holds && is_true(compare);
    const std::vector<Operation>& branch = holds ? txn.success : txn.failure;
    if (answer.error == Error::empty_key) {
      ++failures;
      CHECK((may_fail(txn.success, answer.error) || may_fail(txn.failure, answer.error)));
      return;
    }
    if (answer.error == Error::duplicate_key) {
      ++failures;
      CHECK((writes_twice(txn.success) || writes_twice(txn.failure)));
      return;
    }
    CHECK_FALSE(writes_twice(txn.success));
    CHECK_FALSE(writes_twice(txn.failure));
    if (answer.error == Error::none) CHECK(answer.succeeded == holds);
    judge(branch, answer, true);
  }

  static bool writes_twice(const std::vector<Operation>& operations) {
    for (char c = 'a'; c <= 'f'; ++c) {
      int puts = 0;
      int deletes = 0;
      for (const Operation& each : operations) {
        const auto* put = std::get_if<Put>(&each);
        const auto* removed = std::get_if<DeleteRange>(&each);
        puts += put != nullptr && put->key == std::string(1, c);
        // A range up to the end of all keys is not looked at.
        deletes += removed != nullptr && removed->span.range_end != std::string(1, '\0') && is_in(removed->span, c);
      }
      if (puts > 1 || (puts == 1 && deletes > 0)) return true;
    }
    return false;
  }

  bool is_true(const Compare& compare) const {
    int found = 0;
    for (char c = 'a'; c <= 'f'; ++c) {
      const auto kv = is_in(compare.span, c) ? replay(log_, std::string(1, c), revision_) : std::nullopt;
      if (!kv) continue;
      ++found;
      if (!is_true_of(compare, *kv)) return false;
    }
    return found > 0 || (compare.target != Compare::Target::value && is_true_of(compare, KeyValue{}));
  }

  static bool is_true_of(const Compare& compare, const KeyValue& kv) {
    int sign = 0;
    const auto place = [&](std::int64_t found) { sign = found < compare.number ? -1 : found > compare.number ? 1 : 0; };
    if (compare.target == Compare::Target::version) place(kv.version);
    if (compare.target == Compare::Target::create) place(kv.create_revision);
    if (compare.target == Compare::Target::mod) place(kv.mod_revision);
    if (compare.target == Compare::Target::value) sign = kv.value.compare(compare.value);
    if (compare.is == Compare::Is::equal) return sign == 0;
    if (compare.is == Compare::Is::not_equal) return sign != 0;
    return compare.is == Compare::Is::less ? sign < 0 : sign > 0;
  }

  void judge(const std::vector<Operation>& operations, const Answer& answer, bool may_write) {
    if (answer.error != Error::none) {
      ++failures;
      CHECK(may_fail(operations, answer.error));
      return;
    }
    for (const Error error : {Error::empty_key, Error::lease_not_found, Error::future_revision, Error::compacted})
      CHECK_FALSE(may_fail(operations, error));
    REQUIRE(answer.responses.size() == operations.size());
    const Revision next = revision_ + 1;
    bool is_changed = false;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const OperationAnswer& response = answer.responses[i];
      if (const auto* put = std::get_if<Put>(&operations[i])) {
        log_.push_back({next, put->key, true, put->value, put->lease});
        is_changed = true;
      } else if (const auto* removed = std::get_if<DeleteRange>(&operations[i])) {
        std::int64_t deleted = 0;
        for (char c = 'a'; c <= 'f'; ++c) {
          if (!is_in(removed->span, c) || !replay(log_, std::string(1, c), next)) continue;
          log_.push_back({next, std::string(1, c)});
          ++deleted;
        }
        is_changed = is_changed || deleted > 0;
        CHECK(response.deleted == deleted);
      } else {
        judge_range(std::get<Range>(operations[i]), response, is_changed ? next : revision_);
      }
      CHECK(response.revision == (is_changed ? next : revision_));
    }
    if (is_changed) revision_ = next;
    CHECK(may_write >= is_changed);
    CHECK(answer.revision == revision_);
  }

  /// Everything is right that the request asks for, whatever of several equals is told first.
  void judge_range(const Range& range, const OperationAnswer& answer, Revision present) {
    ++reads;
    const Revision at = range.revision == 0 ? present : range.revision;
    std::int64_t count = 0;
    std::size_t fitting = 0;
    for (char c = 'a'; c <= 'f'; ++c) {
      const auto kv = is_in(range.span, c) ? replay(log_, std::string(1, c), at) : std::nullopt;
      if (!kv) continue;
      ++count;
      fitting += range.max_create_revision == 0 || kv->create_revision <= range.max_create_revision;
    }
    CHECK(answer.count == count);
    const std::size_t told =
        range.limit == 0 ? fitting : std::min<std::size_t>(fitting, static_cast<std::size_t>(range.limit));
    CHECK(answer.kvs.size() == told);
    CHECK(answer.more == (told < fitting));
    for (std::size_t i = 0; i < answer.kvs.size(); ++i) {
      const KeyValue& kv = answer.kvs[i];
      CHECK(replay(log_, kv.key, at) == kv);
      CHECK(is_in(range.span, kv.key[0]));
      if (range.max_create_revision != 0) CHECK(kv.create_revision <= range.max_create_revision);
      if (i > 0) CHECK(is_in_order(answer.kvs[i - 1], kv, range));
      if (i > 0) CHECK(answer.kvs[i - 1].key != kv.key);
    }
    // Of the first in an order nobody who was left out comes before.
    if (range.order == Order::none || !answer.more) return;
    for (char c = 'a'; c <= 'f'; ++c) {
      const auto kv = is_in(range.span, c) ? replay(log_, std::string(1, c), at) : std::nullopt;
      if (!kv || (range.max_create_revision != 0 && kv->create_revision > range.max_create_revision)) continue;
      const bool is_told = std::find(answer.kvs.begin(), answer.kvs.end(), *kv) != answer.kvs.end();
      if (!is_told) CHECK(is_in_order(answer.kvs.back(), *kv, range));
    }
  }

  static bool is_in_order(const KeyValue& a, const KeyValue& b, const Range& range) {
    const KeyValue& first = range.order == Order::descend ? b : a;
    const KeyValue& second = range.order == Order::descend ? a : b;
    switch (range.sort_by) {
      case SortBy::key: return first.key <= second.key;
      case SortBy::version: return first.version <= second.version;
      case SortBy::create: return first.create_revision <= second.create_revision;
      case SortBy::mod: return first.mod_revision <= second.mod_revision;
      case SortBy::value: break;
    }
    return first.value <= second.value;
  }

  void judge_revoke(LeaseId lease, const Answer& answer) {
    CHECK(answer.error == (leases_[lease] ? Error::none : Error::lease_not_found));
    if (!leases_[lease]) return;
    const std::vector<std::string> keys = attached(lease);
    for (const std::string& key : keys) log_.push_back({revision_ + 1, key});
    if (!keys.empty()) ++revision_;
    leases_[lease] = false;
    CHECK(answer.revision == revision_);
  }

  std::vector<Logged> log_;
  std::map<LeaseId, bool> leases_;
  Revision revision_ = 1;
  Revision compacted_ = 0;
};

std::vector<std::string> described(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events) lines.push_back(describe(event));
  return lines;
}

}  // namespace

TEST_CASE("etcd: every answer follows from a log of the changes") {
  std::size_t reads = 0;
  std::size_t failures = 0;
  std::size_t events = 0;
  std::size_t cancelled = 0;
  for (std::uint64_t seed = 1; seed <= sim::cases<std::uint64_t>(600, 20); ++seed) {
    sim::Random random(seed);
    Engine engine;
    Oracle oracle;
    const Span all{"a", "g"};
    engine.watch(1, all, 0);
    std::vector<Event> heard;
    std::vector<Event> heard_later;
    Revision later = 0;
    for (int i = 0; i < 120; ++i) {
      if (i == 60) {
        later = engine.revision() + random.between(1, 10);
        engine.watch(3, all, later);
      }
      const Step step = conformance::random_step(random, engine.revision(), oracle.compacted());
      INFO("seed " << seed << ", step " << i << ": " << conformance::describe(step));
      oracle.judge(step, conformance::carry_out(engine, step));
      for (const Engine::Notice& notice : engine.take_notices()) {
        std::vector<Event>& whose = notice.watch == 1 ? heard : heard_later;
        whose.insert(whose.end(), notice.events.begin(), notice.events.end());
      }
    }
    INFO("seed " << seed);
    CHECK(described(heard) == described(oracle.events(all, 1)));
    CHECK(described(heard_later) == described(oracle.events(all, later)));
    events += heard.size();
    // One that begins in the past hears the same from there on, or that it is too late.
    for (Revision from = 1; from <= engine.revision(); ++from) {
      const Span span = conformance::random_span(random);
      engine.watch(2, span, from);
      std::vector<Event> told;
      Revision compact_revision = 0;
      for (const Engine::Notice& notice : engine.take_notices()) {
        told.insert(told.end(), notice.events.begin(), notice.events.end());
        compact_revision = notice.compact_revision;
      }
      engine.cancel_watch(2);
      CHECK(compact_revision == (from < oracle.compacted() ? oracle.compacted() : 0));
      cancelled += compact_revision != 0;
      // Of the compacted revision itself deletions, and what was put and deleted in it, are gone.
      if (from > oracle.compacted()) CHECK(described(told) == described(oracle.events(span, from)));
    }
    reads += oracle.reads;
    failures += oracle.failures;
  }
  CHECK(reads > 0);
  CHECK(failures > 0);
  CHECK(events > 0);
  CHECK(cancelled > 0);
}

}  // namespace lockstep::models::etcd
