// Where an instant can flow through a server, and where one client's command ends another's waiting: explored with and without
// reduction, and on a grid of ticks. All three must reach the same outcomes.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/server/node.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::redis_exploration_test {
namespace {

using models::Client;
using models::Value;
using models::redis::Command;
using models::redis::Reply;
using models::redis::server_of;
using sim::Duration;
using sim::DurationRange;
using namespace sim::literals;
using Outcomes = std::set<std::string>;

const std::uint64_t kRooms = sim::cases<std::uint64_t>(400, 32);
constexpr DurationRange kStart{0_ms, 4_ms};
constexpr DurationRange kLatency{1_ms, 2_ms};

/// What became of each client, by name.
using Notes = std::map<std::string, std::string>;
/// A client's program: it says in the end what it saw.
using Story = std::function<sim::Task<std::string>(Client&)>;

/// Whether one of the clients may crash at any time, and whether it then comes back.
enum class Crash { none, for_good, restart };
constexpr DurationRange kRestart = DurationRange::exactly(1_ms);
/// All is over by then.
constexpr Duration kLastCrash = 12_ms;

/// One server, and clients that start at any time within a few milliseconds.
class Room final : public checker::Explorable {
 public:
  Room(sim::Decisions& decisions, const std::vector<Story>& stories) : world_(decisions) {
    for (std::size_t i = 0; i < stories.size(); ++i) {
      const std::string name(1, static_cast<char>('A' + i));
      clients_.emplace_back([this, name, &story = stories[i]](Client& client) { return tell(client, name, story); });
      ids_.push_back(world_.add(clients_.back(), name, {}));
    }
    const sim::ProcessId server = world_.add(node_, "redis", {});
    node_.set_script_memory(&memory_);
    for (std::size_t i = 0; i < ids_.size(); ++i)
      clients_[i].connect<models::redis::Endpoint>().add_server(world_.connect(ids_[i], server, kLatency), {});
  }
  ~Room() override { world_.restart(); }
  sim::World& world() override { return world_; }
  void begin() override {
    notes_.clear();
    for (const sim::ProcessId id : ids_) world_.start(id, kStart);
  }
  /// Whom the crash strikes, if anybody, and when, is decided here and not by an explorer. Call after `begin`.
  void begin_crash(Crash crash) {
    const std::uint64_t victim = world_.choose(sim::Choice::fault, 1 + ids_.size());
    if (victim == 0) return;
    crash_.kind = sim::PlannedFault::Kind::crash;
    crash_.process = ids_[victim - 1];
    crash_.at = 0_ms;
    if (crash == Crash::restart) crash_.restart_after = kRestart;
    world_.arm(crash_, {0_ms, kLastCrash});
  }
  std::string outcome() const {
    std::string all;
    for (const auto& [name, seen] : notes_) all += name + ": " + seen + "  ";
    if (const auto& limit = node_.database().limit_hit()) all += *limit;
    return all;
  }
  /// Who read and changed each key in which order; reads in between two changes in that of names.
  std::string effects() const {
    std::map<std::string, std::vector<std::string>> by_key;
    for (const sim::Effect& effect : world_.history().effects) {
      std::vector<std::string>& all = by_key[effect.object];
      const bool is_read = effect.kind == sim::Effect::Kind::read;
      all.push_back((effect.by.is_valid() ? world_.name(effect.by) : "-") + (is_read ? "?" : "!"));
      for (std::size_t i = all.size() - 1; i > 0 && is_read && all[i - 1].back() == '?' && all[i] < all[i - 1]; --i) {
        std::swap(all[i], all[i - 1]);
      }
    }
    std::string text;
    for (const auto& [key, all] : by_key) text += fmt::format("{}: {}  ", key, fmt::join(all, " "));
    return text;
  }

 private:
  sim::Task<void> tell(Client& client, std::string name, const Story& story) {
    std::string& note = notes_[name];
    note += note.empty() ? "waits" : ", comes back";
    std::string seen = co_await story(client);
    notes_[name] = std::move(seen);
  }

  sim::World world_;
  models::redis::ScriptEngine scripts_;
  models::redis::ScriptMemory memory_;
  models::redis::Node node_{scripts_};
  std::deque<Client> clients_;
  std::vector<sim::ProcessId> ids_;
  Notes notes_;
  sim::PlannedFault crash_;
};

Outcomes explored(const std::vector<Story>& stories, bool reduction, std::uint64_t* traces = nullptr,
                  Crash crash = Crash::none) {
  Outcomes outcomes;
  checker::ExplorerOptions options{.reduction = reduction};
  if (crash != Crash::none) {
    checker::FaultBudget& budget = options.faults.emplace_back();
    budget.kind = checker::ExploredFault::Kind::crash;
    for (std::uint16_t i = 0; i < stories.size(); ++i) budget.who.push_back(sim::ProcessId{i});
    if (crash == Crash::restart) budget.restart_after = kRestart;
  }
  checker::Explorer explorer(std::move(options));
  Room room(explorer, stories);
  const checker::ExplorerCounts counts = explorer.explore(room, [&](checker::Explorer&) {
    outcomes.insert(room.outcome() + (crash == Crash::none ? "" : room.effects()));
    return true;
  });
  CHECK(counts.complete);
  if (traces != nullptr) *traces = counts.traces;
  return outcomes;
}

/// All answers to all questions, one run each: an odometer.
class Odometer final : public sim::Decisions {
 public:
  std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override {
    if (next_ == digits_.size()) digits_.emplace_back(options, 0);
    return digits_[next_++].second;
  }
  bool advance() {
    digits_.resize(next_);
    next_ = 0;
    while (!digits_.empty() && digits_.back().second + 1 == digits_.back().first) digits_.pop_back();
    if (!digits_.empty()) ++digits_.back().second;
    return !digits_.empty();
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> digits_;  ///< options, index
  std::size_t next_ = 0;
};

/// Every run in which all times are whole milliseconds.
Outcomes on_a_grid(const std::vector<Story>& stories, Crash crash = Crash::none) {
  Outcomes outcomes;
  Odometer decisions;
  Room room(decisions, stories);
  sim::Simulation simulation(room.world());
  simulation.set_tick(1_ms);
  do {
    simulation.restart();
    room.begin();
    if (crash != Crash::none) room.begin_crash(crash);
    // An assertion takes longer than the run.
    if (simulation.run(sim::Instant::at(10_s), 1000) != sim::Simulation::End::quiet) FAIL("it does not end");
    outcomes.insert(room.outcome() + (crash == Crash::none ? "" : room.effects()));
  } while (decisions.advance());
  room.world().restart();
  return outcomes;
}

/// The outcomes, on which all three searches agree.
Outcomes outcomes_of(const std::vector<Story>& stories, Crash crash = Crash::none) {
  const Outcomes outcomes = explored(stories, true, nullptr, crash);
  CHECK(outcomes == explored(stories, false, nullptr, crash));
  CHECK(outcomes == on_a_grid(stories, crash));
  return outcomes;
}

/// A client that runs one script, with the key "k" and its clock's reading as ARGV[1], and tells what it replied.
Story runs(std::string_view script) {
  return [script](Client& client) -> sim::Task<std::string> {
    const Value now = Value::milliseconds(client.clock().now());
    const Reply reply = co_await server_of(client).eval(script, {"k"}, {now});
    if (reply.is_integer()) co_return reply.is_time_left() || reply.integer() >= 0 ? "a number" : "none";
    co_return reply.describe();
  };
}

/// One that sends commands, and tells all replies.
Story tells_all(std::vector<Command> commands) {
  return [commands](Client& client) -> sim::Task<std::string> {
    std::string all;
    for (const Command& command : commands) all += (co_await server_of(client).call(command)).describe() + ", ";
    co_return all;
  };
}

/// One that sends commands, and tells the last reply.
Story sends(std::vector<Command> commands) {
  return [commands](Client& client) -> sim::Task<std::string> {
    Reply reply;
    for (const Command& command : commands) reply = co_await server_of(client).call(command);
    co_return reply.describe();
  };
}

/// Commands on the key "k" of every kind, and some on another that can become it.
constexpr std::array<std::string_view, 21> kOnOneKey{"SET k a",
                                                     "SET k b",
                                                     "SET k a PX 3",
                                                     "SET k b NX PX 3",
                                                     "DEL k",
                                                     "APPEND k b",
                                                     "PEXPIRE k 2",
                                                     "PERSIST k",
                                                     "GETSET k ab",
                                                     "GETDEL k",
                                                     "RENAME other k",
                                                     "COPY other k REPLACE",
                                                     "RPUSH k a",
                                                     "LPOP k",
                                                     "SETNX k a",
                                                     "INCR k",
                                                     "MSET k a other b",
                                                     "SET other a",
                                                     "GET k",
                                                     "FLUSHALL",
                                                     "GETEX k PX 1"};
constexpr std::string_view kQuestion = "if redis.call('GET', KEYS[1]) == ARGV[1] then return 'yes' end return 'no'";

Command command_of(std::string_view line) { return std::get<Command>(models::redis::parse_command_line(line)); }

}  // namespace

TEST_CASE("a script compares a stored timestamp with its argument, and stores one") {
  const Story steals = runs(
      "local v = redis.call('GET', KEYS[1])\n"
      "if not v then redis.call('SET', KEYS[1], ARGV[1]) return 'new' end\n"
      "if tonumber(v) + 3 <= tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) return 'stolen' end\n"
      "return 'held'");
  CHECK(outcomes_of({steals, steals}) == Outcomes{"A: \"new\"  B: \"held\"  ", "A: \"new\"  B: \"stolen\"  ",
                                                  "A: \"held\"  B: \"new\"  ", "A: \"stolen\"  B: \"new\"  "});
}

TEST_CASE("a script compares a stored timestamp with TIME") {
  const Story steals = runs(
      "local t = redis.call('TIME') local now = t[1] * 1000 + t[2] / 1000\n"
      "local v = tonumber(redis.call('GET', KEYS[1]))\n"
      "if v and now < v then return 'held' end\n"
      "redis.call('SET', KEYS[1], now + 2) return v and 'taken over' or 'new'");
  CHECK(outcomes_of({steals, steals}).size() == 4);
}

TEST_CASE("strings of timestamps are equal when their instants are") {
  const Story first = runs("redis.call('SET', KEYS[1], ARGV[1]) return 'set'");
  const Story second = runs("return redis.call('GET', KEYS[1]) == ARGV[1] and 'same' or 'other'");
  CHECK(outcomes_of({first, second}) == Outcomes{"A: \"set\"  B: \"same\"  ", "A: \"set\"  B: \"other\"  "});
  // One's own comes back as what it was, without a question.
  const Story own = runs(
      "redis.call('SET', KEYS[1], ARGV[1]) local v = redis.call('GET', KEYS[1])\n"
      "return {v == ARGV[1] and 1 or 0, type(v), tonumber(v) == v and 1 or 0, ({[v] = 'x'})[ARGV[1]]}");
  CHECK(outcomes_of({own}) == Outcomes{"A: 1) (integer) 1 2) \"string\" 3) (integer) 0 4) \"x\"  "});
}

TEST_CASE("a script tells a missing deadline from one whose length has no number, and hands it on") {
  const Story asks = runs("local t = redis.call('PTTL', KEYS[1]) if t == -2 then return -1 end return t");
  CHECK(outcomes_of({sends({Command{"SET", "k", "v", "PX", 3}}), asks}) ==
        Outcomes{"A: OK  B: a number  ", "A: OK  B: none  "});
}

TEST_CASE("a script sets a deadline from a timestamp that it was given") {
  const Story locks = runs("return redis.call('SET', KEYS[1], 'A', 'NX', 'PXAT', ARGV[1] + 3) and 'got' or 'no'");
  const Story looks = runs("return redis.call('EXISTS', KEYS[1]) == 1 and 'there' or 'gone'");
  const Outcomes outcomes = outcomes_of({locks, looks});
  CHECK(outcomes == Outcomes{"A: \"got\"  B: \"there\"  ", "A: \"got\"  B: \"gone\"  "});
}

TEST_CASE("a script keeps timestamps as scores") {
  const Story enters = runs(
      "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - 2)\n"
      "if redis.call('ZCARD', KEYS[1]) == 1 then return 'full' end\n"
      "redis.call('ZADD', KEYS[1], ARGV[1], 'somebody') return 'in'");
  const Outcomes outcomes = outcomes_of({enters, enters});
  CHECK(outcomes == Outcomes{"A: \"in\"  B: \"in\"  ", "A: \"in\"  B: \"full\"  ", "A: \"full\"  B: \"in\"  "});
}

// Whether a key holds a text depends on fewer commands than what it holds. Take one of these away from `Keyspace`'s accesses, and outcomes are
// missing in one of the next two tests.

TEST_CASE("who asks whether a key holds its text is ordered with all that may change the answer") {
  // The grid, on which nobody watches the keys, asks in the plain way.
  const Story asks = sends({Command{"EVAL", kQuestion, 1, "k", "a"}});
  for (std::size_t i = 0; i < kOnOneKey.size(); ++i) {
    INFO(kOnOneKey[i]);
    const Story one = sends({command_of(kOnOneKey[i])});
    outcomes_of({one, asks});
    for (std::size_t j = i; j < kOnOneKey.size(); j += sim::cases<std::size_t>(1, 4)) {
      INFO(kOnOneKey[j]);
      const std::vector<Story> stories{one, sends({command_of(kOnOneKey[j])}), asks};
      CHECK(explored(stories, true) == explored(stories, false));
    }
  }
}

TEST_CASE("scripts that ask whether a key holds a text, among random commands, have the outcomes of all orders") {
  const std::vector<std::string_view> scripts{
      kQuestion, "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 'no'",
      "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'no' end return redis.call('PEXPIRE', KEYS[1], 2)",
      "local a = redis.call('GET', KEYS[1]) == ARGV[1] redis.call('SET', KEYS[1], a and 'b' or 'a') return 'set'"};
  std::uint64_t fewer = 0;
  for (std::uint64_t seed = 0; seed < kRooms; ++seed) {
    sim::Random random(seed);
    std::vector<Story> stories;
    std::string text;
    const std::uint64_t clients = 2 + random.below(2);
    for (std::uint64_t c = 0; c < clients; ++c) {
      std::vector<Command> commands(clients == 2 ? 1 + random.below(3) : 1);
      for (Command& command : commands) {
        command = random.below(5) < 2
                      ? Command{"EVAL", scripts[random.below(scripts.size())], 1, "k", random.below(2) == 0 ? "a" : "b"}
                      : command_of(kOnOneKey[random.below(kOnOneKey.size())]);
        text += command.describe() + "; ";
      }
      text += "| ";
      stories.push_back(tells_all(std::move(commands)));
    }
    INFO("room " << seed << ": " << text);
    std::uint64_t reduced = 0;
    std::uint64_t all = 0;
    const Outcomes outcomes = explored(stories, true, &reduced);
    CHECK(outcomes == explored(stories, false, &all));
    fewer += reduced < all ? 1 : 0;
  }
  CHECK(fewer > kRooms / 2);
}

TEST_CASE("keys of two databases, some moved or swapped between them, have the outcomes of all orders") {
  constexpr std::array<std::string_view, 9> kLines{"SELECT 1", "SET k a",    "SET k b PX 3", "GET k",  "MOVE k 1",
                                                   "GET k",    "SWAPDB 0 1", "APPEND k c",   "FLUSHDB"};
  for (std::uint64_t seed = 0; seed < kRooms; ++seed) {
    sim::Random random(seed);
    std::vector<std::vector<Command>> told(2, std::vector<Command>(3));
    for (Command& command : told[0]) command = command_of(kLines[random.below(kLines.size())]);
    for (Command& command : told[1]) command = command_of(kLines[random.below(kLines.size())]);
    const std::vector<Story> stories{tells_all(told[0]), tells_all(told[1])};
    CHECK(explored(stories, true) == explored(stories, false));
  }
}
TEST_CASE("what has an answer only with digits stops the script, which cannot catch it") {
  const auto trouble = [](std::string_view script) {
    INFO(script);
    const Outcomes outcomes = explored({runs(script)}, true);
    REQUIRE(outcomes.size() == 1);
    return *outcomes.begin();
  };
  for (const std::string_view script :
       {"return ARGV[1] .. 'x'",
        "return #ARGV[1]",
        "return ARGV[1]:sub(1, 2)",
        "return string.len(ARGV[1])",
        "return pcall(string.rep, ARGV[1], 2)",
        "return tonumber(ARGV[1], 16)",
        "return -ARGV[1]",
        "return ARGV[1] % 10",
        "return redis.sha1hex(ARGV[1])",
        "return redis.status_reply(ARGV[1])",
        "return cjson.encode({ARGV[1]})",
        "return cjson.decode(ARGV[1])",
        "return cmsgpack.pack({{ARGV[1]}})",
        "return cmsgpack.unpack(ARGV[1])",
        "return bit.band(tonumber(ARGV[1]), 1)",
        "return string.format('%s', ARGV[1])",
        "return table.concat({ARGV[1]})",
        "return tonumber(ARGV[1]) * 7",
        "return 1000 - tonumber(ARGV[1])",
        "return ARGV[1].x",
        "error(ARGV[1])",
        "for i = 1, ARGV[1] do end",
        "return ({})[tonumber(ARGV[1]) - redis.call('TIME')[1] * 1000]",
        "local t = redis.call('TIME') return t[2] + 0",
        "return redis.call('INCRBY', 'n', ARGV[1])",
        "return redis.call('PEXPIRE', 'n', ARGV[1])",
        "return redis.call('EXPIREAT', 'n', redis.call('TIME')[1] + 1)",
        "return {pcall(function() return ARGV[1] .. 'x' end)}",
        "return xpcall(function() return ARGV[1] .. 'x' end, function(e) return 1 end)"}) {
    const std::string seen = trouble(script);
    INFO(script << " gives " << seen);
    CHECK(seen.find("digits of a time") != std::string::npos);
    CHECK(seen.starts_with("A: (no answer)  "));
  }
  CHECK(trouble("redis.call('SET', KEYS[1], 1, 'PX', 100) return redis.call('PTTL', KEYS[1]) + 1") == "A: a number  ");
  CHECK(trouble("return {tonumber('5') < 6 and 1 or 0, type(5), math.floor(2.5), tostring(7)}") ==
        "A: 1) (integer) 1 2) \"number\" 3) (integer) 2 4) \"7\"  ");
}

TEST_CASE("a script compares how much of a lease is left with numbers, and gives it away") {
  // B's script comes between the SET of A and 5ms later: it finds 1, 2 or 3 of its 3ms, or nothing, and on a grid no fractions of them.
  const Story sets = sends({Command{"SET", "k", "v", "PX", 3}});
  const auto outcomes = [&](std::string_view condition) {
    const std::string script = "local p = redis.call('PTTL', KEYS[1]) if p < 0 then return 'none' end return " +
                               std::string(condition) + " and 'yes' or 'no'";
    return outcomes_of({sets, runs(script)});
  };
  const Outcomes both{"A: OK  B: \"none\"  ", "A: OK  B: \"yes\"  ", "A: OK  B: \"no\"  "};
  const Outcomes yes{"A: OK  B: \"none\"  ", "A: OK  B: \"yes\"  "};
  const Outcomes no{"A: OK  B: \"none\"  ", "A: OK  B: \"no\"  "};
  for (const std::string_view condition :
       {"p < 3", "p <= 2", "p == 2", "p ~= 2", "2 < p", "not (p >= 2)", "p + 1 > 3", "5 - p > 3", "math.max(p, 2) == 2",
        "math.min(2, p) > 1", "math.floor(p / 2) == 1", "p * 1000 <= 2000", "p / 2 == 1", "-p < -2",
        "tonumber(p) > redis.call('PTTL', KEYS[1]) - 1 and p > 2", "math.ceil(p / 3) == 1 and p < 2",
        "pcall(function() return p < 2 end) and p < 2", "rawequal(p, 2)", "loadstring('return ... > 2')(p)"}) {
    INFO(condition);
    CHECK(outcomes(condition) == both);
  }
  for (const std::string_view condition :
       {"p <= 3", "p < 4", "p ~= 4", "p > -1", "p == p", "p >= redis.call('PTTL', KEYS[1])"}) {
    INFO(condition);
    CHECK(outcomes(condition) == yes);
  }
  for (const std::string_view condition : {"p > 3", "p == 2.5", "p == '2'", "p == 1/0", "p < p", "p ~= p", "p == {}"}) {
    INFO(condition);
    CHECK(outcomes(condition) == no);
  }
}

TEST_CASE("an error in a comparison is Lua's own, with its line, whatever else is compared") {
  const Story sets = sends({Command{"SET", "k", "v", "PX", 30}});
  for (const std::string_view with : {"nil", "'x'", "{}", "true"}) {
    INFO(with);
    const std::string script =
        "local p, x = redis.call('PTTL', KEYS[1]), " + std::string(with) + "\nif p\n <\n x then return 1 end return 0";
    outcomes_of({sets, runs(script)});
  }
}

TEST_CASE("a client asks how much of a lease is left") {
  const Story asks = [](Client& client) -> sim::Task<std::string> {
    const Reply left = co_await server_of(client).call(Command{"PTTL", "k"});
    if (left.is_less_than(0)) co_return "none";
    co_return left.is_less_than(2) ? "less" : left.is_at_most(2) ? "two" : left.is_integer(3) ? "three" : "more";
  };
  CHECK(outcomes_of({sends({Command{"SET", "k", "v", "PX", 3}}), asks}) ==
        Outcomes{"A: OK  B: none  ", "A: OK  B: less  ", "A: OK  B: two  ", "A: OK  B: three  "});
}

TEST_CASE("a push wakes one of those who wait, in every order") {
  const Story pops = sends({Command{"BLPOP", "list", 0}});
  const Outcomes outcomes = outcomes_of({pops, pops, sends({Command{"RPUSH", "list", "x"}})});
  CHECK(outcomes == Outcomes{"A: 1) \"list\" 2) \"x\"  B: waits  C: (integer) 1  ",
                             "A: waits  B: 1) \"list\" 2) \"x\"  C: (integer) 1  "});
}

TEST_CASE("a push comes in time for who waits, or too late") {
  const Outcomes outcomes =
      outcomes_of({sends({Command{"BLPOP", "list", "0.002"}}), sends({Command{"RPUSH", "list", "x"}})});
  CHECK(outcomes == Outcomes{"A: 1) \"list\" 2) \"x\"  B: (integer) 1  ", "A: (nil)  B: (integer) 1  "});
}

TEST_CASE("who waits moves an element on to where another waits") {
  const Outcomes outcomes = outcomes_of({sends({Command{"BLMOVE", "a", "b", "LEFT", "LEFT", 0}}),
                                         sends({Command{"BLPOP", "b", 0}}), sends({Command{"RPUSH", "a", "x"}})});
  CHECK(outcomes == Outcomes{"A: \"x\"  B: 1) \"b\" 2) \"x\"  C: (integer) 1  "});
}

TEST_CASE("a message reaches who has subscribed before, and nobody else") {
  const Story listens = [](Client& client) -> sim::Task<std::string> {
    co_await server_of(client).subscribe("news");
    const std::optional<Reply> message = co_await server_of(client).next_message(20_ms);
    co_return message ? "heard" : "nothing";
  };
  const Outcomes outcomes = outcomes_of({listens, sends({Command{"PUBLISH", "news", "x"}})});
  CHECK(outcomes == Outcomes{"A: heard  B: (integer) 1  ", "A: nothing  B: (integer) 0  "});
}

TEST_CASE("a dead client's pop takes an element with it until its server hears of the death") {
  const Story pops = sends({Command{"BLPOP", "list", 0}});
  const Story pushes = sends({Command{"RPUSH", "list", "x"}});
  // That it waited before the push came, the first of the effects tells; and whether its server had heard of its death, that the third is its own.
  const Outcomes for_good = outcomes_of({pops, pushes}, Crash::for_good);
  CHECK(for_good.contains("A: waits  B: (integer) 1  list: A? B! A!  "));
  CHECK(for_good.contains("A: waits  B: (integer) 1  list: A? B!  "));
  const Outcomes restart = outcomes_of({pops, pushes}, Crash::restart);
  CHECK(restart.contains("A: waits, comes back  B: (integer) 1  list: A? B! A! A?  "));
  CHECK(restart.contains("A: 1) \"list\" 2) \"x\"  B: (integer) 1  list: A? B! A!  "));
  CHECK(!restart.contains("A: waits, comes back  B: (integer) 1  list: A? B! A!  "));
}

TEST_CASE("of a message to an earlier life the next one hears nothing") {
  if (sim::takes_few_cases()) return;  // a minute of the same
  const Story listens = [](Client& client) -> sim::Task<std::string> {
    const std::optional<Reply> early = co_await server_of(client).next_message(3_ms);
    if (early) co_return "heard before it asked";
    co_await server_of(client).subscribe("news");
    co_return "asked";
  };
  const Outcomes outcomes = outcomes_of({listens, sends({Command{"PUBLISH", "news", "x"}})}, Crash::restart);
  for (const std::string& outcome : outcomes) CHECK(outcome.find("heard") == std::string::npos);
}

TEST_CASE("rooms of clients that wait, listen and watch, of whom one may crash, have the outcomes of all orders") {
  constexpr std::array<std::string_view, 12> lines{"BLPOP l 0", "BLPOP l 0.002", "RPUSH l a",   "RPUSH l b c",
                                                   "LLEN l",    "LPOP l",        "PUBLISH n x", "SUBSCRIBE n",
                                                   "WATCH l",   "MULTI",         "EXEC",        "SET l x"};
  std::uint64_t fewer = 0;
  for (std::uint64_t seed = 0; seed < kRooms / 16; ++seed) {
    sim::Random random(seed);
    std::vector<Story> stories;
    std::string text;
    const std::uint64_t clients = seed % 50 == 0 ? 3 : 2;
    for (std::uint64_t c = 0; c < clients; ++c) {
      std::vector<Command> commands(clients == 2 ? 1 + random.below(2) : 1);
      for (Command& command : commands) {
        command = command_of(lines[random.below(lines.size())]);
        text += command.describe() + "; ";
      }
      text += "| ";
      stories.push_back(tells_all(std::move(commands)));
    }
    const Crash crash = random.below(2) == 0 ? Crash::for_good : Crash::restart;
    INFO("room " << seed << ": " << text << (crash == Crash::restart ? "restart" : ""));
    std::uint64_t reduced = 0;
    std::uint64_t all = 0;
    const Outcomes outcomes = explored(stories, true, &reduced, crash);
    CHECK(outcomes == explored(stories, false, &all, crash));
    fewer += reduced < all ? 1 : 0;
  }
  CHECK(fewer > kRooms / 32);
}

TEST_CASE("a watched key that somebody pops from ends the transaction") {
  const Story watches = sends({Command{"WATCH", "list"}, Command{"MULTI"}, Command{"LLEN", "list"}, Command{"EXEC"}});
  // Its one push comes before all four of A's requests, among them, or after them: it may wait for as long as they take.
  const Story pushes = [](Client& client) -> sim::Task<std::string> {
    co_await client.sleep({0_ms, 16_ms});
    co_return (co_await server_of(client).call(Command{"RPUSH", "list", "x"})).describe();
  };
  const Outcomes outcomes = explored({watches, pushes}, true);
  CHECK(outcomes == explored({watches, pushes}, false));
  CHECK(outcomes == Outcomes{"A: (nil)  B: (integer) 1  ", "A: 1) (integer) 0  B: (integer) 1  ",
                             "A: 1) (integer) 1  B: (integer) 1  "});
}

TEST_CASE("timestamps pass through hashes, lists, sets and scores as what they are") {
  // Two clients of which each puts its time where the other's may stand, and says whose stands there.
  const auto keeps = [](std::string put, std::string get) {
    return [put, get](Client& client) -> sim::Task<std::string> {
      const Value now = Value::milliseconds(client.clock().now());
      const auto filled = [&](const std::string& line) {
        Command command;
        const Command words = std::get<Command>(models::redis::parse_command_line(line));
        for (const Value& word : words.values()) {
          command.push_back(word == Value("NOW") ? now : word);
        }
        return command;
      };
      co_await server_of(client).call(filled(put));
      const Reply reply = co_await server_of(client).call(filled(get));
      if (reply.is_integer()) co_return std::to_string(reply.integer());
      if (!reply.is_bulk()) co_return reply.is_nil() ? "nothing" : "refused";
      const auto* time = reply.value().timestamp();
      if (time == nullptr) co_return "no time";
      const bool is_mine = time->instant.identical(now.timestamp()->instant);
      co_return is_mine ? "mine" : "another's";
    };
  };
  const Outcomes both{"A: mine  B: another's  ", "A: another's  B: mine  ", "A: mine  B: mine  "};
  for (const auto& [put, get] :
       {std::pair("HSET h f NOW", "HGET h f"), std::pair("SET k NOW", "GET k"), std::pair("LPUSH l NOW", "LINDEX l 0"),
        std::pair("ZADD z NOW m", "ZSCORE z m"), std::pair("GETSET k NOW", "GETEX k")}) {
    INFO(put);
    const Outcomes outcomes = explored({keeps(put, get), keeps(put, get)}, true);
    CHECK(outcomes == explored({keeps(put, get), keeps(put, get)}, false));
    CHECK(outcomes == both);
  }
}

TEST_CASE("a random field or member is chosen by the exploration") {
  const Story takes = [](Client& client) -> sim::Task<std::string> {
    co_await server_of(client).call(Command{"HSET", "h", "a", 1, "b", 2});
    co_await server_of(client).call(Command{"ZADD", "z", 1, "x", 2, "y"});
    const Reply field = co_await server_of(client).call(Command{"HRANDFIELD", "h"});
    const Reply members = co_await server_of(client).call(Command{"ZRANDMEMBER", "z", 2});
    co_return field.value().text() + " " + members.items()[0].value().text() + members.items()[1].value().text();
  };
  CHECK(outcomes_of({takes}) == Outcomes{"A: a xy  ", "A: a yx  ", "A: b xy  ", "A: b yx  "});
}

}  // namespace lockstep::scenarios::redis_exploration_test
