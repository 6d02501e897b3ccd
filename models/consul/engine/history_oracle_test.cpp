// Random requests, judged by the plain log of all that was asked: for each answer every key is told anew from the first
// entry on. The oracle keeps no key, no table's index, and no list of what changed.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/consul/engine/engine.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::consul {
namespace {

using namespace sim::literals;

constexpr std::array<const char*, 8> kKeys{"a", "a/b", "a/b/c", "a/c", "ab", "b", "b/", "c"};
constexpr std::array<const char*, 7> kPrefixes{"", "a", "a/", "a/b", "a/b/c/d", "b", "x"};

struct Step {
  enum class Kind : std::uint8_t { write, remove, create, destroy, check, end_delay };
  Kind kind = Kind::write;
  Write write = {};
  Delete remove = {};
  Session session = {};  ///< of create; its id of destroy
  CheckUpdate check = {};
  std::string key = {};  ///< of end_delay
};

std::string describe(const Step& step) {
  switch (step.kind) {
    case Step::Kind::write: return describe(step.write);
    case Step::Kind::remove: return describe(step.remove);
    case Step::Kind::create: return "create " + describe(step.session);
    case Step::Kind::destroy: return fmt::format("destroy {}", step.session.id);
    case Step::Kind::check: return describe(step.check);
    case Step::Kind::end_delay: break;
  }
  return "the lock-delay of " + step.key + " is over";
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  Step step(const Engine& engine) {
    Step step;
    const std::uint64_t drawn = random_.below(100);
    if (drawn < 58) {
      step.write = {.key = random_.one_in(60) ? "" : key(), .value = std::string(random_.below(2), 'x')};
      step.write.flags = random_.below(2);
      step.write.how = random_.one_in(3) ? Write::How::acquire : static_cast<Write::How>(random_.below(4));
      step.write.index = index(engine, step.write.key);
      step.write.session = session();
    } else if (drawn < 70) {
      step.kind = Step::Kind::remove;
      step.remove = {.key = random_.one_in(60) ? "" : key(), .how = static_cast<Delete::How>(random_.below(3))};
      if (step.remove.how == Delete::How::recurse) step.remove.key = prefix();
      step.remove.index = index(engine, step.remove.key);
    } else if (drawn < 80) {
      step.kind = Step::Kind::create;
      step.session = {.id = ++created_, .lock_delay = 30_s * static_cast<std::int64_t>(random_.below(4))};
      step.session.behavior = random_.one_in(2) ? Behavior::deletes : Behavior::releases;
      if (random_.one_in(3)) step.session.checks.push_back(check());
      if (random_.one_in(9)) step.session.checks.push_back(check());
    } else if (drawn < 87) {
      step.kind = Step::Kind::destroy;
      step.session.id = session();
    } else if (drawn < 94) {
      step.kind = Step::Kind::check;
      step.check = {check(), static_cast<CheckUpdate::Status>(random_.below(3))};
    } else {
      step.kind = Step::Kind::end_delay;
      step.key = key();
    }
    return step;
  }

  Query query(const Engine& engine) {
    Query query{.what = static_cast<Query::What>(random_.below(5))};
    query.key = query.what == Query::What::key ? key() : prefix();
    if (random_.one_in(2)) query.separator = "/";
    query.session = session();
    // Mostly what the last answer said, as clients do; sometimes the past or the future.
    query.index = engine.read(query).index + (random_.one_in(3) ? random_.between(-3, 4) : 0);
    query.index = std::max<Index>(query.index, 0);
    return query;
  }

 private:
  std::string key() { return kKeys[random_.below(kKeys.size())]; }
  std::string prefix() { return kPrefixes[random_.below(kPrefixes.size())]; }
  std::string check() { return random_.one_in(2) ? "disk" : "web"; }
  /// One of the latest, or none, or one that never was.
  SessionId session() {
    if (random_.one_in(12)) return random_.one_in(2) ? 0 : 10'000;
    return std::max<SessionId>(1, created_ - static_cast<SessionId>(random_.below(4)));
  }
  Index index(const Engine& engine, const std::string& key) {
    const KeyValue* kv = engine.find(key);
    if (kv == nullptr || random_.one_in(4)) return random_.one_in(2) ? 0 : engine.last_index();
    return kv->modify_index;
  }

  sim::Random random_;
  SessionId created_ = 0;
};

class Oracle {
 public:
  /// Judges the answer, and writes the request into the log.
  void judge(const Step& step, const Answer& answer) {
    const auto [expected, goes_through_log] = expected_of(step);
    CHECK(answer.error == expected.error);
    CHECK(answer.ok == expected.ok);
    if (step.kind == Step::Kind::end_delay) return append({0, step});
    if (!goes_through_log) return;
    ++last_;
    if (expected.ok && expected.error == Error::none) append({last_, step});
  }

  Answer read(const Query& query) const {
    Answer answer;
    if (query.what == Query::What::session_info || query.what == Query::What::session_list) {
      for (const Entry& entry : log_) {
        if (!changes_sessions(entry)) continue;
        answer.index = entry.index;
      }
      for (const Session& session : sessions(log_.size())) {
        if (query.what == Query::What::session_list || session.id == query.session) answer.sessions.push_back(session);
      }
    } else {
      Index below = 0;
      Index any = 0;
      for (const std::string& key : written_keys()) {
        const auto kv = told(key, log_.size());
        any = std::max(any, kv ? kv->modify_index : 0);
        const bool is_in = query.what == Query::What::key ? key == query.key : key.starts_with(query.key);
        if (!kv || !is_in) continue;
        below = std::max(below, kv->modify_index);
        answer.kvs.push_back(*kv);
      }
      for (std::size_t i = 0; i < log_.size(); ++i) {
        for (const std::string& stone : log_[i].tombstones) {
          any = std::max(any, log_[i].index);
          if (query.what != Query::What::key && stone.starts_with(query.key) && !stone.empty())
            below = std::max(below, log_[i].index);
        }
      }
      const bool is_of_all = query.what != Query::What::key && query.key.empty();
      answer.index = below == 0 || is_of_all ? any : below;
      if (query.what == Query::What::keys) {
        std::vector<std::string> known;
        for (const KeyValue& kv : std::exchange(answer.kvs, {})) {
          std::string name = kv.key;
          const std::size_t cut = query.separator.empty() ? std::string::npos : name.find('/', query.key.size());
          if (cut != std::string::npos) name.resize(cut + 1);
          const bool is_known =
              cut != std::string::npos && std::count(answer.keys.begin(), answer.keys.end(), name) > 0;
          if (!is_known) answer.keys.push_back(name);
        }
      }
    }
    answer.index = std::max<Index>(answer.index, 1);
    return answer;
  }

  /// All of it that a query of this kind can see, apart from indices of other keys.
  std::string sight_of(const Query& query) const {
    Answer answer = read({.what = query.what == Query::What::keys ? Query::What::recurse : query.what,
                          .key = query.key,
                          .session = query.session});
    answer.index = 1;
    return describe(answer);
  }

  std::size_t delayed = 0;

 private:
  /// The last two follow from the entries before it: told once, since each answer asks for them.
  struct Entry {
    Index index;
    Step step;
    std::vector<Session> sessions = {};
    std::vector<std::string> tombstones = {};
  };

  void append(Entry entry) {
    entry.sessions = sessions(log_.size());
    log_.push_back(std::move(entry));
    log_.back().tombstones = tombstones(log_.size() - 1);
  }

  std::vector<std::string> written_keys() const {
    std::set<std::string> keys;
    for (const Entry& entry : log_) {
      if (entry.step.kind == Step::Kind::write) keys.insert(entry.step.write.key);
    }
    return {keys.begin(), keys.end()};
  }

  std::vector<Session> sessions(std::size_t until) const {
    std::vector<Session> alive;
    for (std::size_t i = 0; i < until; ++i) {
      const Step& step = log_[i].step;
      std::erase_if(alive, [&](const Session& session) { return ends(step, session); });
      if (step.kind != Step::Kind::create) continue;
      alive.push_back(step.session);
      alive.back().create_index = log_[i].index;
    }
    return alive;
  }
  static bool ends(const Step& step, const Session& session) {
    if (step.kind == Step::Kind::destroy) return step.session.id == session.id;
    if (step.kind != Step::Kind::check || step.check.status == CheckUpdate::Status::passing) return false;
    return std::count(session.checks.begin(), session.checks.end(), step.check.check) > 0;
  }
  bool changes_sessions(const Entry& entry) const {
    return entry.step.kind == Step::Kind::create ||
           std::any_of(entry.sessions.begin(), entry.sessions.end(),
                       [&](const Session& session) { return ends(entry.step, session); });
  }
  std::optional<Session> ended_by(std::size_t i, SessionId id) const {
    for (const Session& session : log_[i].sessions) {
      if (session.id == id && ends(log_[i].step, session)) return session;
    }
    return std::nullopt;
  }

  /// A key as the first entries of the log tell it.
  std::optional<KeyValue> told(const std::string& key, std::size_t until) const {
    std::optional<KeyValue> kv;
    for (std::size_t i = 0; i < until; ++i) {
      const Index index = log_[i].index;
      const Step& step = log_[i].step;
      if (step.kind == Step::Kind::write && step.write.key == key) {
        const Write& write = step.write;
        KeyValue next{.key = key, .value = write.value, .flags = write.flags};
        next.create_index = kv ? kv->create_index : index;
        next.session = kv ? kv->session : 0;
        if (write.how == Write::How::acquire) {
          next.lock_index = !kv ? 1 : kv->session == write.session ? kv->lock_index : kv->lock_index + 1;
          next.session = write.session;
        }
        if (write.how == Write::How::release) {
          next.lock_index = kv->lock_index;
          next.session = 0;
        }
        next.modify_index = kv ? kv->modify_index : index;
        if (!kv || next != *kv) next.modify_index = index;
        kv = next;
      }
      if (step.kind == Step::Kind::remove) {
        const bool is_its =
            step.remove.how == Delete::How::recurse ? key.starts_with(step.remove.key) : key == step.remove.key;
        if (is_its) kv.reset();
      }
      const auto ended = kv && kv->session != 0 ? ended_by(i, kv->session) : std::nullopt;
      if (ended && ended->behavior == Behavior::deletes) {
        kv.reset();
      } else if (ended) {
        kv->session = 0;
        kv->modify_index = index;
      }
    }
    return kv;
  }

  /// What the entry has deleted: by key, or by prefix where there is one and something was there.
  std::vector<std::string> tombstones(std::size_t i) const {
    std::vector<std::string> stones;
    const Step& step = log_[i].step;
    if (step.kind == Step::Kind::write || step.kind == Step::Kind::create || step.kind == Step::Kind::end_delay)
      return stones;
    for (const std::string& key : written_keys()) {
      if (told(key, i) && !told(key, i + 1)) stones.push_back(key);
    }
    if (step.kind == Step::Kind::remove && step.remove.how == Delete::How::recurse && !stones.empty())
      stones = {step.remove.key};
    return stones;
  }

  bool is_delayed(const std::string& key) const {
    bool is_delayed = false;
    for (std::size_t i = 0; i < log_.size(); ++i) {
      const auto kv = told(key, i);
      const auto ended = kv && kv->session != 0 ? ended_by(i, kv->session) : std::nullopt;
      if (ended && ended->lock_delay > 0_s) is_delayed = true;
      if (log_[i].step.kind == Step::Kind::end_delay && log_[i].step.key == key) is_delayed = false;
    }
    return is_delayed;
  }

  std::optional<CheckUpdate::Status> status(const std::string& check) const {
    std::optional<CheckUpdate::Status> status;
    for (const Entry& entry : log_) {
      if (entry.step.kind == Step::Kind::check && entry.step.check.check == check) status = entry.step.check.status;
    }
    return status == CheckUpdate::Status::deregistered ? std::nullopt : status;
  }

  struct Expected {
    Answer answer;
    bool goes_through_log;
  };
  Expected expected_of(const Step& step) {
    const Answer no;
    const Answer yes{.ok = true};
    const auto error = [](Error which) { return Answer{.error = which}; };
    switch (step.kind) {
      case Step::Kind::write: {
        const Write& write = step.write;
        if (write.key.empty()) return {error(Error::missing_key), false};
        const auto kv = told(write.key, log_.size());
        if (write.how == Write::How::set) return {yes, true};
        if (write.how == Write::How::cas) return {(kv ? kv->modify_index : 0) == write.index ? yes : no, true};
        if (write.how == Write::How::acquire && is_delayed(write.key)) {
          ++delayed;
          return {no, false};
        }
        if (write.session == 0) return {error(Error::missing_session), true};
        if (write.how == Write::How::release) return {kv && kv->session == write.session ? yes : no, true};
        const std::vector<Session> alive = sessions(log_.size());
        const bool lives = std::any_of(alive.begin(), alive.end(),
                                       [&](const Session& session) { return session.id == write.session; });
        if (!lives) return {error(Error::invalid_session), true};
        return {!kv || kv->session == 0 || kv->session == write.session ? yes : no, true};
      }
      case Step::Kind::remove: {
        const bool is_whole = step.remove.how == Delete::How::recurse;
        if (step.remove.key.empty() && !is_whole) return {error(Error::missing_key), false};
        const auto kv = told(step.remove.key, log_.size());
        const bool fits = step.remove.how != Delete::How::cas || !kv || kv->modify_index == step.remove.index;
        return {fits ? yes : no, true};
      }
      case Step::Kind::create:
        for (const std::string& check : step.session.checks) {
          if (!status(check)) return {error(Error::missing_check), true};
          if (status(check) == CheckUpdate::Status::critical) return {error(Error::critical_check), true};
        }
        return {yes, true};
      case Step::Kind::destroy:
      case Step::Kind::check:
      case Step::Kind::end_delay: break;
    }
    return {yes, true};
  }

  std::vector<Entry> log_;
  Index last_ = 1;
};

Answer carry_out(Engine& engine, const Step& step) {
  switch (step.kind) {
    case Step::Kind::write: return engine.write(step.write);
    case Step::Kind::remove: return engine.remove(step.remove);
    case Step::Kind::create: return engine.create_session(step.session);
    case Step::Kind::destroy: return engine.destroy_session(step.session.id);
    case Step::Kind::check: return engine.update_check(step.check);
    case Step::Kind::end_delay: break;
  }
  engine.end_lock_delay(step.key);
  return {.ok = true};
}

/// A blocking query, and what the oracle has seen of it so far.
struct Asked {
  Query query;
  Index least;
  std::string sight;
  bool was_missing = false;
};

bool must_answer(Asked& asked, const Answer& answer) {
  if (asked.query.what == Query::What::key && answer.kvs.empty()) {
    if (asked.was_missing) asked.least = answer.index;
    asked.was_missing = true;
  }
  return answer.index > asked.least;
}

}  // namespace

TEST_CASE("consul: every answer follows from the log of all requests, and so does when a blocking query is answered") {
  std::size_t requests = 0, queries = 0, waited = 0, given_up = 0, delayed = 0;
  for (std::uint64_t seed = 1; seed <= sim::cases<std::uint64_t>(500, 25); ++seed) {
    Draw draw(seed);
    Engine engine;
    Oracle oracle;
    std::map<Engine::QueryId, Asked> asked;
    for (int i = 0; i < 64; ++i) {
      const Step step = draw.step(engine);
      INFO("seed " << seed << ", step " << i << ": " << describe(step));
      oracle.judge(step, carry_out(engine, step));
      ++requests;

      std::map<Engine::QueryId, Answer> replies;
      for (Engine::Reply& reply : engine.take_replies()) replies.emplace(reply.query, std::move(reply.answer));
      for (auto each = asked.begin(); each != asked.end();) {
        Asked& waiting = each->second;
        INFO("waiting: " << describe(waiting.query));
        const std::string sight = oracle.sight_of(waiting.query);
        const bool is_answered =
            sight != std::exchange(waiting.sight, sight) && must_answer(waiting, oracle.read(waiting.query));
        CHECK(replies.contains(each->first) == is_answered);
        if (is_answered && replies.contains(each->first)) CHECK(replies.at(each->first) == oracle.read(waiting.query));
        waited += is_answered;
        each = is_answered ? asked.erase(each) : std::next(each);
      }

      const Query query = draw.query(engine);
      INFO("query: " << describe(query));
      const Answer expected = oracle.read(query);
      ++queries;
      CHECK(describe(engine.read(query)) == describe(expected));
      CHECK(engine.read(query) == expected);
      const std::optional<Answer> told = engine.ask(i, query);
      Asked now{query, query.index, oracle.sight_of(query)};
      const bool is_answered = query.index == 0 || must_answer(now, expected);
      CHECK(told.has_value() == is_answered);
      if (told) CHECK(*told == expected);
      if (!is_answered) asked.emplace(i, std::move(now));
      if (asked.size() > 6) {
        const auto oldest = asked.begin();
        CHECK(engine.give_up(oldest->first) == oracle.read(oldest->second.query));
        asked.erase(oldest);
        ++given_up;
      }
    }
    delayed += oracle.delayed;
  }
  INFO(requests << " requests, " << queries << " queries, " << waited << " of them answered later, " << given_up
                << " never, " << delayed << " acquisitions refused by a lock-delay");
  CHECK(waited > 0);
  CHECK(given_up > 0);
  CHECK(delayed > 0);
}

}  // namespace lockstep::models::consul
