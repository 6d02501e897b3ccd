// Random requests, judged by a log of changes from which every answer is computed anew: the oracle keeps no node, no
// statistics of one, and no watch that has been used up.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/zookeeper/conformance/steps.hpp"
#include "models/zookeeper/engine/change_log_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::zookeeper::history_oracle_test {
namespace {

using conformance::Step;
using testing::Log;
using testing::Logged;
using testing::parent;
using testing::replay;
using testing::Replayed;

/// A watch that was set when the log was so long, or asked for afterwards though it had been set off before.
struct Registered {
  SessionId watcher;
  bool is_of_children;
  std::string path;
  std::size_t from;  ///< the first entry that can set it off
};

std::optional<EventType> event_of(const Logged& each, const Registered& watch) {
  using Kind = Logged::Kind;
  if (each.path == watch.path) {
    if (each.kind == Kind::deleted) return EventType::node_deleted;
    if (watch.is_of_children) return std::nullopt;
    return each.kind == Kind::created ? EventType::node_created : EventType::node_data_changed;
  }
  const bool is_child = watch.is_of_children && parent(each.path) == watch.path && each.kind != Kind::set;
  if (!is_child) return std::nullopt;
  return EventType::node_children_changed;
}

class Oracle {
 public:
  /// Learns from an answer what was written: what a request does to the log follows from the request alone.
  void judge(const Step& step, const Answer& answer) {
    switch (step.kind) {
      case Step::Kind::open:
        ++zxid_;
        CHECK(answer.zxid == zxid_);
        return;
      case Step::Kind::close: {
        ++zxid_;
        CHECK(answer.zxid == zxid_);
        std::set<std::string> paths;
        for (const std::string& path : all_paths()) {
          if (replay(log_, path)->stat.ephemeral_owner == step.session) paths.insert(path);
        }
        for (const std::string& path : paths) log_.push_back({zxid_, Logged::Kind::deleted, path});
        listen();
        forget(step.session);
        return;
      }
      case Step::Kind::reconnect: forget(step.session); return;
      case Step::Kind::operation: break;
    }
    if (const auto* multi = std::get_if<Multi>(&step.operation)) {
      ++zxid_;
      judge_multi(*multi, step.session, answer.results);
    } else if (const auto* create = std::get_if<Create>(&step.operation)) {
      ++zxid_;
      judge_one(*create, step.session, answer.result, create->asks_for_stat);
    } else if (const auto* removal = std::get_if<Delete>(&step.operation)) {
      ++zxid_;
      judge_one(*removal, step.session, answer.result, false);
    } else if (const auto* set = std::get_if<SetData>(&step.operation)) {
      ++zxid_;
      judge_one(*set, step.session, answer.result, true);
    } else {
      judge_read(step.operation, step.session, answer.result);
    }
    CHECK(answer.zxid == zxid_);
    listen();
  }

  /// What each has heard so far, in its order.
  std::map<SessionId, std::vector<std::string>> heard;
  std::size_t reads = 0, failures = 0, multis_failed = 0, missed = 0, removed = 0;

 private:
  std::set<std::string> all_paths() const {
    std::set<std::string> paths;
    for (const Logged& each : log_) {
      if (replay(log_, each.path)) paths.insert(each.path);
    }
    return paths;
  }

  static bool is_well_formed(const std::string& path) {
    if (path == "/") return true;
    return path.starts_with("/") && !path.ends_with("/") && path.find("//") == std::string::npos;
  }

  /// All that can be wrong, in no order.
  std::set<Error> wrong(const Create& create, std::string& path) const {
    if (create.path.find('/') == std::string::npos) return {Error::bad_arguments};
    std::set<Error> errors;
    const auto above = replay(log_, parent(create.path));
    if (!above) return {Error::no_node};
    path = create.path;
    if (is_sequential(create.mode)) {
      const std::string digits = std::to_string(above->created);
      path += std::string(10 - digits.size(), '0') + digits;
    }
    if (!is_well_formed(path)) return {Error::bad_arguments};
    if (replay(log_, path)) return {Error::node_exists};
    if (above->stat.ephemeral_owner != 0) return {Error::no_children_for_ephemerals};
    return {};
  }
  static bool differs(const Replayed& node, std::int32_t version) {
    return version != -1 && version != node.stat.version;
  }
  std::set<Error> wrong(const Delete& asked) const {
    if (asked.path == "/" || asked.path.find('/') == std::string::npos) return {Error::bad_arguments};
    const auto node = replay(log_, asked.path);
    if (!node) return {Error::no_node};
    if (differs(*node, asked.version)) return {Error::bad_version};
    if (!node->children.empty()) return {Error::not_empty};
    return {};
  }
  std::set<Error> wrong(const std::string& path, std::int32_t version) const {
    if (!is_well_formed(path)) return {Error::bad_arguments};
    const auto node = replay(log_, path);
    if (!node) return {Error::no_node};
    if (differs(*node, version)) return {Error::bad_version};
    return {};
  }

  bool is_refused(const std::set<Error>& errors, const Result& result) {
    if (errors.empty()) {
      CHECK(result.error == Error::none);
      return result.error != Error::none;
    }
    ++failures;
    CHECK(errors.contains(result.error));
    CHECK(result.path.empty());
    CHECK_FALSE(result.stat);
    return true;
  }

  void check_stat(const Result& result, const std::string& path, bool is_told) const {
    CHECK(result.stat.has_value() == is_told);
    if (is_told && result.stat) CHECK(*result.stat == replay(log_, path)->stat);
  }

  void judge_one(const Create& create, SessionId session, const Result& result, bool is_told) {
    std::string path;
    if (is_refused(wrong(create, path), result)) return;
    CHECK(result.path == path);
    log_.push_back(
        {zxid_, Logged::Kind::created, path, create.data, is_ephemeral(create.mode) ? session : SessionId{0}});
    check_stat(result, path, is_told);
  }
  void judge_one(const Delete& asked, SessionId, const Result& result, bool) {
    if (is_refused(wrong(asked), result)) return;
    log_.push_back({zxid_, Logged::Kind::deleted, asked.path});
  }
  void judge_one(const SetData& set, SessionId, const Result& result, bool) {
    if (is_refused(wrong(set.path, set.version), result)) return;
    log_.push_back({zxid_, Logged::Kind::set, set.path, set.data});
    check_stat(result, set.path, true);
  }
  void judge_one(const Check& check, SessionId, const Result& result, bool) {
    is_refused(wrong(check.path, check.version), result);
  }

  void judge_multi(const Multi& multi, SessionId session, const std::vector<Result>& results) {
    REQUIRE(results.size() == multi.operations.size());
    const auto failed =
        std::find_if(results.begin(), results.end(), [](const Result& result) { return result.error != Error::none; });
    const Log before = log_;
    const auto until = static_cast<std::size_t>(failed - results.begin());
    // Each is right in the world that those before it have made; if one is not, none of them has made any.
    for (std::size_t i = 0; i < results.size() && i <= until; ++i) {
      Result result = results[i];
      if (failed != results.end() && i < until) {
        CHECK(result == Result{});
        std::visit([&](const auto& each) { assume(each, session); }, multi.operations[i]);
        continue;
      }
      std::visit([&](const auto& each) { judge_one(each, session, result, false); }, multi.operations[i]);
    }
    if (failed == results.end()) return;
    ++multis_failed;
    for (std::size_t i = until + 1; i < results.size(); ++i) CHECK(results[i].error == Error::runtime_inconsistency);
    log_ = before;
  }

  void assume(const Create& create, SessionId session) {
    std::string path;
    CHECK(wrong(create, path).empty());
    log_.push_back(
        {zxid_, Logged::Kind::created, path, create.data, is_ephemeral(create.mode) ? session : SessionId{0}});
  }
  void assume(const Delete& asked, SessionId) {
    CHECK(wrong(asked).empty());
    log_.push_back({zxid_, Logged::Kind::deleted, asked.path});
  }
  void assume(const SetData& set, SessionId) {
    CHECK(wrong(set.path, set.version).empty());
    log_.push_back({zxid_, Logged::Kind::set, set.path, set.data});
  }
  void assume(const Check& check, SessionId) { CHECK(wrong(check.path, check.version).empty()); }

  void judge_read(const Operation& operation, SessionId session, const Result& result) {
    ++reads;
    const auto watch = [&](bool is_of_children, const std::string& path) {
      watches_.push_back({session, is_of_children, path, log_.size()});
    };
    if (const auto* asked = std::get_if<SetWatches>(&operation)) return judge_watches(*asked, session);
    if (const auto* asked = std::get_if<RemoveWatches>(&operation)) return judge_removal(*asked, session, result);
    const auto* exists = std::get_if<Exists>(&operation);
    const auto* get = std::get_if<GetData>(&operation);
    const auto* list = std::get_if<GetChildren>(&operation);
    const std::string& path = exists != nullptr ? exists->path : get != nullptr ? get->path : list->path;
    const auto node = replay(log_, path);
    if (exists != nullptr && exists->watches) watch(false, path);
    if (!node) {
      ++failures;
      CHECK(result == Result{.error = Error::no_node});
      return;
    }
    CHECK(result.error == Error::none);
    CHECK(result.data == (get != nullptr ? node->data : ""));
    const std::vector<std::string> children(node->children.begin(), node->children.end());
    CHECK(result.children == (list != nullptr ? children : std::vector<std::string>()));
    check_stat(result, path, list == nullptr || list->asks_for_stat);
    if (get != nullptr && get->watches) watch(false, path);
    if (list != nullptr && list->watches) watch(true, path);
  }

  /// Whether there is such a watch that has not been set off: the asker's, or anybody's if it only checks.
  void judge_removal(const RemoveWatches& asked, SessionId session, const Result& result) {
    const auto is_meant = [&](const Registered& watch) {
      const bool is_other = asked.kind == (watch.is_of_children ? WatcherKind::data : WatcherKind::children);
      return (asked.only_checks || watch.watcher == session) && watch.path == asked.path && !is_other;
    };
    const bool is_there = std::any_of(watches_.begin(), watches_.end(), is_meant);
    CHECK(result == Result{.error = is_there ? Error::none : Error::no_watcher});
    removed += is_there && !asked.only_checks;
    if (!asked.only_checks) std::erase_if(watches_, is_meant);
  }

  /// What it has missed it hears now: of a node that was there that it is gone or was written since, of one that was
  /// not that it is there.
  void judge_watches(const SetWatches& asked, SessionId session) {
    const auto tell = [&](EventType type, const std::string& path) {
      ++missed;
      heard[session].push_back(describe(WatchedEvent{type, path}));
    };
    for (const std::string& path : asked.data) {
      const auto node = replay(log_, path);
      if (!node) {
        tell(EventType::node_deleted, path);
      } else if (node->stat.mzxid > asked.relative_zxid) {
        tell(EventType::node_data_changed, path);
      } else {
        watches_.push_back({session, false, path, log_.size()});
      }
    }
    for (const std::string& path : asked.exist) {
      if (replay(log_, path)) {
        tell(EventType::node_created, path);
      } else {
        watches_.push_back({session, false, path, log_.size()});
      }
    }
    for (const std::string& path : asked.child) {
      const auto node = replay(log_, path);
      if (!node) {
        tell(EventType::node_deleted, path);
      } else if (node->stat.pzxid > asked.relative_zxid) {
        tell(EventType::node_children_changed, path);
      } else {
        watches_.push_back({session, true, path, log_.size()});
      }
    }
  }

  /// Goes through what is new in the log: who has a watch that nothing before has set off hears of it, once.
  void listen() {
    for (; listened_ < log_.size(); ++listened_) {
      const Logged& each = log_[listened_];
      std::map<SessionId, std::set<std::string>> told;
      for (auto watch = watches_.begin(); watch != watches_.end();) {
        const auto type = watch->from <= listened_ ? event_of(each, *watch) : std::nullopt;
        if (type) {
          // First those of the node itself, then those of its parent: the key has them in this order.
          told[watch->watcher].insert((*type == EventType::node_children_changed ? "2" : "1") +
                                      describe(WatchedEvent{*type, watch->path}));
        }
        watch = type ? watches_.erase(watch) : std::next(watch);
      }
      for (const auto& [watcher, events] : told) {
        for (const std::string& event : events) heard[watcher].push_back(event.substr(1));
      }
    }
  }

  void forget(SessionId watcher) {
    std::erase_if(watches_, [&](const Registered& watch) { return watch.watcher == watcher; });
  }

  Log log_;
  std::vector<Registered> watches_;
  std::size_t listened_ = 0;
  Zxid zxid_ = 0;
};

}  // namespace

TEST_CASE("ZooKeeper: every answer, and all that watches hear, follows from a log of the changes") {
  std::size_t requests = 0;
  std::size_t reads = 0;
  std::size_t failures = 0;
  std::size_t multis_failed = 0;
  std::size_t events = 0;
  std::size_t missed = 0;
  std::size_t removed = 0;
  for (std::uint64_t seed = 1; seed <= sim::cases<std::uint64_t>(500, 10); ++seed) {
    sim::Random random(seed);
    Engine engine;
    Oracle oracle;
    SessionId last_session = 1;
    std::map<SessionId, std::vector<std::string>> heard;
    for (int i = 0; i < 120; ++i) {
      Step step;
      if (i == 0) step = {.kind = Step::Kind::open, .session = 1};
      if (i == 1) step = {.session = 1, .operation = Create{std::string(conformance::kTop)}};
      if (i > 1) step = conformance::random_step(random, engine, last_session);
      if (step.kind == Step::Kind::open) last_session = step.session;
      INFO("seed " << seed << ", step " << i << ": " << conformance::describe(step));
      oracle.judge(step, conformance::carry_out(engine, step));
      for (const Engine::Notice& notice : engine.take_notices())
        heard[notice.watcher].push_back(describe(notice.event));
      REQUIRE(heard == oracle.heard);
      ++requests;
    }
    for (const auto& [session, told] : heard) events += told.size();
    reads += oracle.reads;
    failures += oracle.failures;
    multis_failed += oracle.multis_failed;
    missed += oracle.missed;
    removed += oracle.removed;
  }
  if (!sim::takes_few_cases()) CHECK(requests >= 50'000);
  CHECK(reads > 0);
  CHECK(failures > 0);
  CHECK(multis_failed > 0);
  CHECK(events > missed);
  CHECK(missed > 0);
  CHECK(removed > 0);
}

TEST_CASE("ZooKeeper: who has no session is told so, and nothing is done") {
  Engine engine;
  engine.open(1);
  CHECK(engine.execute(2, 2, Create{"/a"}).result.error == Error::session_expired);
  CHECK(engine.execute(1, 1, Exists{"/a"}).result.error == Error::no_node);
  CHECK(engine.zxid() == 1);
}

}  // namespace lockstep::models::zookeeper::history_oracle_test
