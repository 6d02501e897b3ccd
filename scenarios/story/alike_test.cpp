// Clients that differ in their names alone: who they are, and that an exploration loses nothing by letting them start in order.

#include "scenarios/story/alike.hpp"

#include <catch2/catch.hpp>

#include <sstream>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/exploring/oracles/explored_verdicts.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::alike_test {
namespace {

using testing::catalogue;

using models::locks::Catalogue;
using Groups = std::vector<std::vector<std::size_t>>;
using Kind = MaySpec::Kind;
using namespace sim::literals;

const std::uint64_t kStories = sim::cases<std::uint64_t>(4, 1);  // of each algorithm

Scenario story(const std::string& lock, const std::string& rest) {
  const std::string text =
      "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"t\", zh = \"t\" }\nlesson = { en = \"t\", zh = \"t\" }\n"
      "[lock]\nalgorithm = \"" +
      lock + "\"\n[network]\nlatency = [\"1ms\", \"3ms\"]\ntimeout = \"50ms\"\n" + rest;
  auto scenario = parse(text, "story.toml", catalogue());
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) FAIL(problem->to_string());
  return std::get<Scenario>(std::move(scenario));
}

std::string client(const std::string& name, const std::string& settings = "hold = \"5ms\"") {
  return "[[client]]\nname = " + name + "\nacquire_at = [\"0ms\", \"100ms\"]\n" + settings + "\n";
}

/// Verdicts, margins, and which states were reached: what must not depend on which traces stand for all.
std::string essence_of(const Exploration& exploration) {
  std::ostringstream out;
  out << verdicts_of(exploration);
  for (const Mark& mark : exploration.marks) out << mark.name << ' ' << (mark.traces > 0) << '\n';
  return std::move(out).str();
}

struct Pair {
  Exploration ordered;
  Exploration any;
};

/// Nothing if it has too many traces.
std::optional<Pair> both_ways(const Scenario& scenario, const Catalogue& algorithms = catalogue()) {
  ExplorationOptions options;
  options.max_traces = 2'000;
  const auto explored = [&](bool exchanges_names) -> std::optional<Exploration> {
    options.exchanges_names = exchanges_names;
    auto result = explore(scenario, algorithms, options);
    auto* exploration = std::get_if<Exploration>(&result);
    if (exploration == nullptr || !exploration->counts.complete) return std::nullopt;
    return std::move(*exploration);
  };
  std::optional<Exploration> ordered = explored(true);
  std::optional<Exploration> any = ordered ? explored(false) : std::nullopt;
  if (!any) return std::nullopt;
  return Pair{std::move(*ordered), std::move(*any)};
}

/// Two or three clients that are alike, and perhaps something that may befall any of them.
Scenario random_story(const models::locks::Entry& entry, std::uint64_t seed) {
  sim::Random random(sim::combine64(0x616c696b, seed));
  Scenario scenario =
      story(std::string(entry.id), client(random.one_in(3) ? "[\"A\", \"B\", \"C\"]" : "[\"A\", \"B\"]"));
  const auto ms = [&](std::int64_t lo, std::int64_t hi) { return sim::Duration::milliseconds(random.between(lo, hi)); };
  scenario.network.latency = {1_ms, ms(1, 4)};
  if (entry.many_nodes) {
    scenario.servers.resize(3);
    for (std::size_t i = 0; i < 3; ++i) scenario.servers[i].name = "redis" + std::to_string(i + 1);
  }
  const sim::Duration start = ms(0, 80);
  const sim::Duration hold = ms(0, 20);
  for (ClientSpec& client : scenario.clients) {
    client.acquire_at = {0_ms, start};
    client.hold = {hold, hold + ms(0, 0)};
    const auto has = [&](std::string_view name) {
      return std::any_of(entry.parameters.begin(), entry.parameters.end(),
                         [&](const auto& p) { return p.name == name; });
    };
    if (has("attempts")) client.attempts = 1;
  }
  for (const models::locks::ParameterSpec& parameter : entry.parameters) {
    if (parameter.name == "ttl" || parameter.name == "lease")
      scenario.lock.parameters.insert_or_assign(std::string(parameter.name), sim::Duration::milliseconds(20));
    if (parameter.name == "wait" && std::holds_alternative<sim::Duration>(parameter.fallback))
      scenario.lock.parameters.insert_or_assign("wait", sim::Duration::zero());
    if (parameter.name == "acquire_timeout")
      scenario.lock.parameters.insert_or_assign("acquire_timeout", sim::Duration::milliseconds(5));
  }
  if (random.one_in(2)) return scenario;
  MaySpec& may = scenario.may.emplace_back();
  constexpr Kind kinds[] = {Kind::pause, Kind::crash, Kind::lose};
  may.kind = kinds[random.below(3)];
  if (may.kind == Kind::pause) may.length = {0_ms, 200_ms};
  if (may.kind == Kind::pause && !entry.has_background && random.one_in(2)) may.during = sim::Activity::work;
  return scenario;
}

/// A lock whose lease is short for everybody but A.
class Nepotism final : public models::locks::LockAlgorithm {
 public:
  sim::Task<std::optional<models::locks::Hold>> acquire(models::Client& client) const override {
    const models::Value token = client.unique_token();
    const sim::Duration ttl = client.name() == "A" ? 30_s : 30_ms;
    const models::redis::Reply created =
        co_await models::redis::server_of(client).set(key(), token, {.nx = true, .px = ttl});
    if (created.is_ok()) co_return models::locks::Hold{token};
    co_return std::nullopt;
  }
  sim::Task<bool> release(models::Client& client, models::locks::Hold) const override {
    const models::redis::Reply deleted =
        co_await models::redis::server_of(client).call(models::redis::Command{"DEL", key()});
    co_return deleted.is_integer(1);
  }
};

}  // namespace

TEST_CASE("alike: clients whose settings differ in the name alone") {
  const std::string lock = "set-nx-px-lua";
  const auto groups = [&](const std::string& rest) { return alike_clients(story(lock, rest), catalogue()); };
  CHECK(groups(client("[\"A\", \"B\", \"C\"]")) == Groups{{0, 1, 2}});
  CHECK(groups(client("\"A\"") + client("\"B\"", "hold = \"6ms\"")).empty());
  CHECK(groups(client("\"A\"") + client("\"B\"", "hold = \"6ms\"") + client("\"C\"")) == Groups{{0, 2}});
  CHECK(groups(client("[\"A\", \"B\"]") + client("[\"C\", \"D\"]", "hold = \"6ms\"")) == Groups{{0, 1}, {2, 3}});
  CHECK(groups(client("[\"A\", \"B\"]", "commands = [\"PING\"]")).empty());
}

TEST_CASE("alike: what may befall one of them alone makes a difference") {
  const std::string three = client("[\"A\", \"B\", \"C\"]");
  const auto groups = [&](const std::string& whom) {
    return alike_clients(story("set-nx-px-lua", three + "[[may]]\nkind = \"crash\"\n" + whom), catalogue());
  };
  CHECK(groups("") == Groups{{0, 1, 2}});
  CHECK(groups("client = [\"A\", \"B\", \"C\"]\n") == Groups{{0, 1, 2}});
  CHECK(groups("client = \"B\"\n") == Groups{{0, 2}});
  CHECK(groups("server = \"redis\"\n") == Groups{{0, 1, 2}});
}

TEST_CASE("alike: where members of a sorted set stand in the order of their names, nobody is like another") {
  for (const char* lock : {"redisson-fair", "ria-sem-fair", "redisson-permit-expirable-semaphore"})
    CHECK(alike_clients(story(lock, client("[\"A\", \"B\"]")), catalogue()).empty());
}

TEST_CASE(
    "alike: with every algorithm that is blind to names, verdicts and margins are those of all orders of starts") {
  std::uint64_t ordered = 0;
  std::uint64_t any = 0;
  std::size_t compared = 0;
  for (const models::locks::Entry& entry : catalogue().entries()) {
    if (!entry.is_blind_to_names || entry.not_explored != nullptr) continue;
    for (std::uint64_t seed = 0; seed < kStories; ++seed) {
      const Scenario scenario = random_story(entry, seed);
      const std::optional<Pair> pair = both_ways(scenario);
      if (!pair) continue;
      INFO(entry.id << ' ' << seed);
      ++compared;
      CHECK(essence_of(pair->ordered) == essence_of(pair->any));
      CHECK(pair->ordered.counts.traces <= pair->any.counts.traces);
      ordered += pair->ordered.counts.traces;
      any += pair->any.counts.traces;
    }
  }
  WARN(compared << " stories: " << any << " traces, started in order " << ordered);
  CHECK(compared > kStories * 10);
  CHECK(ordered < any);
}

TEST_CASE("alike: an algorithm that is not blind to names, and says so, is found out") {
  Catalogue algorithms = Catalogue::built_in();
  algorithms.add({.id = "nepotism",
                  .summary = "t",
                  .documents = {},
                  .parameters = {models::locks::attempts_parameter(1), models::locks::retry_parameter({1_ms, 1_ms})},
                  .claims = {},
                  .is_blind_to_names = true,
                  .make = [](const models::locks::Parameters&) { return std::make_unique<Nepotism>(); }});
  Scenario scenario = story("set-nx-px-lua", client("[\"A\", \"B\"]", "hold = \"50ms\"\nrelease = false"));
  scenario.lock.algorithm = "nepotism";
  for (ClientSpec& client : scenario.clients) client.attempts.reset();
  const std::optional<Pair> pair = both_ways(scenario, algorithms);
  REQUIRE(pair);
  CHECK(pair->any.property("mutual-exclusion").verdict == checker::Verdict::violated);
  CHECK(essence_of(pair->ordered) != essence_of(pair->any));
}

}  // namespace lockstep::scenarios::alike_test
