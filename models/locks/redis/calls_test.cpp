// What a lock object can be asked and told, one call at a time: the commands that are sent, what is answered, and what is left at the server; and the
// Java lock object that all threads of a process share.

#include <catch2/catch.hpp>

#include <deque>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "models/workloads/lock_user.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::models::locks::calls_test {
namespace {

using namespace sim::literals;
using Names = std::vector<std::string>;

/// Processes A, B, … that run what they are given; every message takes a millisecond.
class Bench {
 public:
  using Program = std::function<sim::Task<void>(Client&, const LockAlgorithm&)>;

  explicit Bench(std::string_view algorithm, std::vector<std::pair<std::string_view, ParameterValue>> set = {})
      : world_(decisions_), simulation_(world_) {
    static const Catalogue catalogue = Catalogue::built_in();
    const Entry* entry = catalogue.find(algorithm);
    REQUIRE(entry != nullptr);
    Parameters parameters(entry->parameters);
    for (auto& [name, value] : set) parameters.set(name, std::move(value));
    lock_ = entry->make(parameters);
    draws_tokens_ = algorithm == "redisson-fenced";
    server_ = world_.add(node_, "redis", {});
    world_.enable_trace();
  }
  ~Bench() { world_.restart(); }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// A process whose threads run these programs.
  void process(std::vector<Program> programs) {
    Client& process = clients_.emplace_back();
    const std::string name(1, static_cast<char>('A' + starts_.size()));
    process.set_process_name(name);
    const sim::ProcessId id = world_.add(process, name, {});
    starts_.push_back(id);
    for (std::size_t i = 0; i < programs.size(); ++i) {
      Program& program = programs_.emplace_back(std::move(programs[i]));
      Client& thread = clients_.emplace_back([&program, this](Client& c) { return program(c, *lock_); });
      world_.add_part(thread, id, name + "/" + std::to_string(i + 1));
      thread.become_thread_of(process, static_cast<std::int64_t>(i) + 1);
      connect(thread);
    }
    Client& watchdog = clients_.emplace_back();
    world_.add_part(watchdog, id, name + "/watchdog");
    watchdog.become_background_of(process);
    connect(watchdog);
    process.connect<redis::Endpoint>().add_subscriber(world_.connect(id, server_, sim::DurationRange::exactly(1_ms)),
                                                      std::nullopt);
  }

  /// A process that uses the lock as a scenario's client does, and perhaps a second thread of it.
  void user(workloads::LockUser settings, Program beside = {}) {
    workloads::LockUser& kept = settings_.emplace_back(std::move(settings));
    kept.locks.push_back({.algorithm = lock_.get()});
    std::vector<Program> programs{[&kept](Client& c, const LockAlgorithm&) { return workloads::run(c, kept); }};
    if (beside) programs.push_back(std::move(beside));
    process(std::move(programs));
  }

  void run() {
    for (const sim::ProcessId id : starts_) world_.start(id, sim::DurationRange::exactly(0_ms));
    world_.arm_faults();
    simulation_.run(sim::Instant::at(10'000_ms), 100'000);
  }

  Names sent_by(std::string_view name) const {
    Names sent;
    for (const sim::TraceRecord& record : world_.trace().records) {
      if (record.kind != sim::EventKind::message || record.is_reply || world_.name(record.from) != name) continue;
      sent.push_back(record.text);
    }
    return sent;
  }

  /// "release ok", in order of invocation; inner ones are "leave", an end without an unlock is "lost".
  Names ends(std::string_view name) const {
    constexpr std::string_view kPhases[] = {"open", "ok", "fail", "info"};
    Names ends;
    for (const sim::Operation& o : world_.history().operations) {
      if (world_.name(o.process) != name) continue;
      ends.push_back(std::string(o.function) + " " + std::string(kPhases[static_cast<std::size_t>(o.phase)]));
    }
    return ends;
  }

  /// Apart from the counter of tokens.
  bool is_locked() const { return node_.database().keys().size() > (draws_tokens_ ? 1U : 0U); }

 private:
  void connect(Client& client) {
    const sim::ConnectionId connection = world_.connect(client.id(), server_, sim::DurationRange::exactly(1_ms));
    world_.assign(connection, client.self());
    client.connect<redis::Endpoint>().add_server(connection, std::nullopt);
  }

  sim::DefaultDecisions decisions_;
  sim::World world_;
  sim::Simulation simulation_;
  redis::ScriptEngine scripts_;
  redis::Node node_{scripts_};
  std::unique_ptr<LockAlgorithm> lock_;
  bool draws_tokens_ = false;
  sim::ProcessId server_;
  std::deque<workloads::LockUser> settings_;
  std::deque<Program> programs_;
  std::deque<Client> clients_;
  std::vector<sim::ProcessId> starts_;
};

/// What each of the questions says, asked by a thread at this time.
Bench::Program asks(std::vector<Answer>& answers, sim::Duration when) {
  return [&answers, when](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
    if (when > sim::Duration::zero()) co_await c.sleep(when);
    for (const Call call : {Call::is_held_by_current_thread, Call::get_hold_count, Call::remain_time_to_live}) {
      answers.push_back(co_await lock.call(c, call));
    }
  };
}

workloads::LockUser user_of(sim::Duration hold, std::vector<Call> finally, std::int64_t reenter = 0) {
  workloads::LockUser user;
  user.hold = sim::DurationRange::exactly(hold);
  user.reenter = reenter;
  user.finally = std::move(finally);
  return user;
}

const std::vector<std::string_view> kWithCalls{"redisson-lock", "redisson-fenced", "redisson-spin",
                                               "redisson-hash-owner"};

}  // namespace

TEST_CASE("calls: the catalogue says which locks have them") {
  Names with;
  const Catalogue catalogue = Catalogue::built_in();
  for (const Entry& entry : catalogue.entries()) {
    if (entry.answers_calls) with.emplace_back(entry.id);
  }
  CHECK(with == Names{"redisson-hash-owner", "redisson-lock", "redisson-spin", "redisson-fenced"});
}

TEST_CASE(
    "calls: the owner is told yes to all, another thread that the lock exists, and nobody anything of a free lock") {
  for (const std::string_view algorithm : kWithCalls) {
    INFO(algorithm);
    std::vector<Answer> owner;
    std::vector<Answer> other;
    std::vector<Answer> later;
    Bench bench(algorithm);
    bench.process({[&](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
                     std::optional<Hold> hold = co_await lock.acquire(c);
                     co_await asks(owner, 0_ms)(c, lock);
                     co_await c.sleep(50_ms);
                     co_await lock.release(c, std::move(*hold));
                     co_await asks(later, 0_ms)(c, lock);
                   },
                   asks(other, 20_ms)});
    bench.run();
    CHECK(owner == std::vector<Answer>{Answer::yes, Answer::yes, Answer::yes});
    CHECK(other == std::vector<Answer>{Answer::no, Answer::no, Answer::yes});
    CHECK(later == std::vector<Answer>{Answer::no, Answer::no, Answer::no});
  }
}

TEST_CASE(
    "calls: questions of Redisson's lock are the commands HEXISTS, HGET and PTTL, and forceUnlock is one script") {
  Bench bench("redisson-lock");
  bench.user(user_of(
      5_ms, {Call::is_held_by_current_thread, Call::get_hold_count, Call::remain_time_to_live, Call::force_unlock}));
  bench.run();
  CHECK(bench.sent_by("A/1") == Names{"EVAL <script> 1 lock 30000 A:1", "HEXISTS lock A:1", "HGET lock A:1",
                                      "PTTL lock", "EVAL <script> 2 lock redisson_lock__channel:{lock} 0"});
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release ok"});
  CHECK(!bench.is_locked());
}

TEST_CASE(
    "calls: forceUnlock frees another's lock and wakes who waits; the owner's unlock finds nothing, and its watchdog "
    "stops") {
  for (const std::string_view algorithm : kWithCalls) {
    INFO(algorithm);
    Answer freed = Answer::unknown;
    Answer again = Answer::unknown;
    Bench bench(algorithm);
    bench.user(user_of(60_ms, {}));
    bench.process({[&](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
      co_await c.sleep(20_ms);
      freed = co_await lock.call(c, Call::force_unlock);
      again = co_await lock.call(c, Call::force_unlock);
    }});
    bench.run();
    CHECK(freed == Answer::yes);
    CHECK(again == Answer::no);
    CHECK(bench.ends("A/1") == Names{"acquire ok", "release fail"});
    CHECK(!bench.is_locked());
  }
  Bench bench("redisson-lock");
  sim::Instant woken;
  bench.user(user_of(500_ms, {}));
  bench.process({[&](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
                   co_await c.sleep(5_ms);
                   if (co_await lock.acquire(c)) woken = c.world().now();
                 },
                 [](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
                   co_await c.sleep(20_ms);
                   co_await lock.call(c, Call::force_unlock);
                 }});
  bench.run();
  // The script is executed at 21ms, its message arrives at 22ms, and the next try takes two more.
  CHECK(woken.offset() == 24_ms);
}

TEST_CASE("calls: forceUnlock by a thread of the owner's process ends the renewals of all its threads") {
  Bench bench("redisson-lock", {{"watchdog_timeout", 30_ms}});
  bench.user(user_of(200_ms, {}), [](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
    co_await c.sleep(15_ms);
    co_await lock.call(c, Call::force_unlock);
  });
  bench.run();
  // One renewal, 10ms after the grant at 2ms.
  CHECK(bench.sent_by("A/watchdog").size() == 1);
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release fail"});
}

TEST_CASE("finally: unlocks give back from the inside out, and one too many is told so and ends the block") {
  Bench bench("redisson-lock");
  bench.user(user_of(5_ms, {Call::unlock, Call::unlock, Call::unlock, Call::force_unlock}, 1));
  bench.run();
  CHECK(bench.ends("A/1") == Names{"acquire ok", "reenter ok", "leave ok", "release ok", "release fail"});
  CHECK(!bench.is_locked());
}

TEST_CASE(
    "finally: a question that is answered with no ends the block, and its client does not think of the lock again") {
  Bench bench("redisson-lock", {{"lease", 20_ms}, {"wait", 0_ms}});
  bench.user(user_of(50_ms, {Call::is_held_by_current_thread, Call::unlock, Call::unlock}, 1));
  bench.run();
  // Taken again at 54ms, when the first lease was over long since: held then, and given back once; the second unlock is one too many.
  CHECK(bench.ends("A/1") == Names{"acquire ok", "reenter ok", "leave ok", "release fail"});

  Bench late("redisson-lock", {{"lease", 20_ms}, {"wait", 0_ms}});
  late.user(user_of(50_ms, {Call::get_hold_count, Call::unlock}));
  late.run();
  CHECK(late.ends("A/1") == Names{"acquire ok", "lost ok"});
  CHECK(late.sent_by("A/1") == Names{"EVAL <script> 1 lock 20 A:1", "HGET lock A:1"});
}

TEST_CASE("finally: it runs where the lock was not got, too") {
  Bench bench("redisson-lock", {{"wait", 0_ms}});
  bench.user(user_of(50_ms, {Call::unlock}));
  workloads::LockUser second = user_of(5_ms, {Call::unlock, Call::unlock});
  second.after = sim::DurationRange::exactly(10_ms);
  bench.user(std::move(second));
  bench.run();
  CHECK(bench.ends("B/1") == Names{"acquire fail", "release fail"});
  CHECK(bench.ends("A/1") == Names{"acquire ok", "release ok"});
}

TEST_CASE("getset-java-object: an attempt keeps the monitor while it sleeps, and the owner's unlock waits for it") {
  for (const bool is_synchronized : {true, false}) {
    INFO(is_synchronized);
    Bench bench("getset-java-object",
                {{"budget", 30_ms}, {"sleep", 10_ms}, {"ttl", 500_ms}, {"synchronized", is_synchronized}});
    sim::Instant unlocked;
    bool was_owner = true;
    bench.process({[&](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
                     std::optional<Hold> hold = co_await lock.acquire(c);
                     co_await c.sleep(10_ms);
                     was_owner = co_await lock.release(c, std::move(*hold));
                     unlocked = c.world().now();
                   },
                   [](Client& c, const LockAlgorithm& lock) -> sim::Task<void> {
                     co_await c.sleep(5_ms);
                     co_await lock.acquire(c);
                   }});
    bench.run();
    // Three rounds of two commands and 10ms of sleep: the monitor is free at 5 + 3 * 14 = 47ms. Without it the unlock begins at 12ms.
    CHECK(unlocked.offset() == (is_synchronized ? 49_ms : 14_ms));
    // The field has the other thread's value by then.
    CHECK(!was_owner);
    CHECK(bench.is_locked());
  }
}

TEST_CASE("getset-java-object: alone in its process it is getset-java") {
  Bench object("getset-java-object", {{"ttl", 100_ms}});
  Bench plain("getset-java", {{"ttl", 100_ms}});
  for (Bench* bench : {&object, &plain}) {
    bench->user(user_of(5_ms, {}));
    bench->run();
    CHECK(bench->ends("A/1") == Names{"acquire ok", "release ok"});
  }
  CHECK(object.sent_by("A/1") == plain.sent_by("A/1"));
}

}  // namespace lockstep::models::locks::calls_test
