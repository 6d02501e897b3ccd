// An algorithm that does what none may do ends the program with words that say what to change; each in a process of its own.

#include <catch2/catch.hpp>
#include <memory>
#include <stdexcept>
#include <string>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/last_words.hpp"

namespace lockstep::scenarios::bad_algorithm_test {
namespace {

using models::Client;
using models::locks::Hold;
using models::redis::Command;
using models::redis::Reply;

enum class Mistake : std::uint8_t { misreads, throws, remembers, unknown_command, bad_script };

class Bad final : public models::locks::LockAlgorithm {
 public:
  explicit Bad(Mistake mistake) : mistake_(mistake) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    const auto token = client.unique_token();
    if (mistake_ == Mistake::unknown_command) co_await client.redis().call(Command{"LOCKME", "lock"});
    if (mistake_ == Mistake::bad_script)
      co_await client.redis().eval("-- mine\nlocal t = redis.call('TIME')\n  return t.seconds.x\n", {key()}, {});
    // Every other attempt of any execution asks no server.
    static int calls = 0;
    if (mistake_ == Mistake::remembers && ++calls % 2 == 0) co_return std::nullopt;
    const Reply created = co_await client.redis().set(key(), token, {.nx = true});
    if (mistake_ == Mistake::misreads && created.integer() == 1) co_return std::nullopt;
    if (mistake_ == Mistake::throws) throw std::runtime_error("no luck today");
    if (!created.is_ok()) co_return std::nullopt;
    co_return Hold{token};
  }
  sim::Task<bool> release(Client& client, Hold) const override {
    const Reply deleted = co_await client.redis().del(key());
    co_return deleted.is_integer(1);
  }

 private:
  Mistake mistake_;
};

models::locks::Catalogue with(Mistake mistake) {
  models::locks::Catalogue catalogue;
  catalogue.add({.id = "bad",
                 .summary = "does what none may do",
                 .parameters = {models::locks::attempts_parameter(1),
                                models::locks::retry_parameter({sim::Duration(), sim::Duration()})},
                 .make = [mistake](const auto&) { return std::make_unique<Bad>(mistake); }});
  return catalogue;
}

Scenario story(const models::locks::Catalogue& catalogue,
               const std::string& text = "[[client]]\nname = [\"A\", \"B\"]\n") {
  auto loaded = parse("title = \"t\"\nlock.algorithm = \"bad\"\n" + text, "t.toml", catalogue);
  return std::get<Scenario>(std::move(loaded));
}

/// Where little can happen nothing is done again, and nobody could notice that it went otherwise.
constexpr const char* kLarger =
    "network.latency = [\"1ms\", \"4ms\"]\n[[client]]\nname = [\"A\", \"B\", \"C\"]\nacquire_at = [\"0ms\", \"9ms\"]\n"
    "attempts = 2\nretry = [\"1ms\", \"2ms\"]\nhold = \"5ms\"\n";

std::string when_run(Mistake mistake) {
  return sim::last_words([&] {
    const auto catalogue = with(mistake);
    run(story(catalogue), catalogue);
  });
}

std::string when_explored(Mistake mistake) {
  return sim::last_words([&] {
    const auto catalogue = with(mistake);
    explore(story(catalogue, kLarger), catalogue);
  });
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bad algorithm: one that misreads a reply is told which, and what to ask first") {
  for (const std::string& said : {when_run(Mistake::misreads), when_explored(Mistake::misreads)}) {
    INFO(said);
    CHECK(contains(said, "the reply OK was read as a number"));
    CHECK(contains(said, "Ask reply.is_integer() first"));
  }
}

TEST_CASE("bad algorithm: one that throws is told what was thrown, and how failure is told") {
  const std::string said = when_run(Mistake::throws);
  INFO(said);
  CHECK(contains(said, "no luck today"));
  CHECK(contains(said, "std::nullopt"));
}

TEST_CASE("bad algorithm: one that remembers something between executions is told so") {
  const std::string said = when_explored(Mistake::remembers);
  INFO(said);
  CHECK(contains(said, "did not go again as it went before"));
  CHECK(contains(said, "no state"));
}

TEST_CASE("bad algorithm: a command that no server knows is no error of lockstep") {
  const auto catalogue = with(Mistake::unknown_command);
  const auto result = explore(story(catalogue), catalogue);
  for (const ExploredProperty& property : std::get<Exploration>(result).properties) {
    INFO(property.name << ": " << property.why);
    CHECK_FALSE(contains(property.why, "error of lockstep"));
  }
  CHECK(std::get<Exploration>(result).counts.complete);
}

TEST_CASE("bad algorithm: a mistake in its script is told by run and check, with the line") {
  const auto catalogue = with(Mistake::bad_script);
  const std::vector<std::string> expected{
      "a script of bad: line 3: attempt to index field 'seconds' (a nil value): \"return t.seconds.x\""};
  const auto outcome = run(story(catalogue), catalogue);
  CHECK(std::get<Outcome>(outcome).script_mistakes == expected);
  for (const unsigned jobs : {1U, 3U}) {
    ExplorationOptions options;
    options.jobs = jobs;
    CHECK(std::get<Exploration>(explore(story(catalogue), catalogue, options)).script_mistakes == expected);
  }
}

TEST_CASE("script mistakes: what Lua and redis.call refuse is one, what a script hands on or returns is none") {
  const auto catalogue = models::locks::Catalogue::built_in();
  const auto mistakes = [&](const std::string& script) {
    auto loaded = parse(
        "title = \"t\"\nlock.algorithm = \"set-nx-px-lua\"\n[[client]]\nname = \"op\"\ncommands = [\"SET s x\", "
        "'''EVAL \"" +
            script + "\" 0''']\n",
        "t.toml", catalogue);
    if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
    return std::get<Outcome>(run(std::get<Scenario>(loaded), catalogue)).script_mistakes;
  };
  CHECK(mistakes("retrun 1") == std::vector<std::string>{"t.toml:5:24: line 1: '=' expected near '1': \"retrun 1\""});
  CHECK(mistakes("return nosuch").size() == 1);
  CHECK(mistakes("return redis.call('NOSUCH')").size() == 1);
  CHECK(mistakes("return redis.call('GET')").size() == 1);
  CHECK(mistakes("return 1").empty());
  CHECK(mistakes("return redis.call('HGET', 's', 'f')").empty());
  CHECK(mistakes("return redis.error_reply('NOT yours')").empty());
  CHECK(mistakes("return {err = 'NOT yours'}").empty());
  CHECK(mistakes("local ok = pcall(function() return nosuch end) return 1").empty());
}

}  // namespace lockstep::scenarios::bad_algorithm_test
