// Stories at real servers, and that what is not the same there is told. Without an installed redis-server it says SKIPPED.

#include "confirm/confirm.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>

#include "confirm/real_server.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::confirm::confirm_test {
namespace {

using scenarios::testing::catalogue;

using models::redis::Command;
using models::redis::Reply;
using models::redis::Request;
using scenarios::Scenario;

bool has_redis() {
  if (!installed_redis_version().empty()) return true;
  std::cout << "SKIPPED: no redis-server is installed; nothing was confirmed\n";
  return false;
}

Scenario story(std::string_view file) {
  auto loaded = scenarios::load(in_tree(std::string("scenarios/stories/") + std::string(file) + ".toml"), catalogue());
  REQUIRE(std::holds_alternative<Scenario>(loaded));
  return std::get<Scenario>(std::move(loaded));
}

Confirmation played(std::string_view file, const ConfirmOptions& options = {}) {
  Confirmation result = confirm(story(file), catalogue(), options);
  INFO(result.id << ": " << to_string(result.standing) << " " << result.reason);
  for (const std::string& difference : result.differences) UNSCOPED_INFO(difference);
  return result;
}

/// What a wrong model would have answered.
ConfirmOptions with_model(std::function<void(const Request&, std::optional<Reply>&)> wrong) {
  ConfirmOptions options;
  options.tampering = Tampering{.with_model = std::move(wrong), .with_real = {}};
  return options;
}

/// What a real server would do that is another one than the model's.
ConfirmOptions with_real(std::function<Command(const Command&)> other) {
  ConfirmOptions options;
  options.tampering = Tampering{.with_model = {}, .with_real = std::move(other)};
  return options;
}

const Compared& verdict_on(const Confirmation& confirmation, std::string_view property) {
  const auto found = std::find_if(confirmation.properties.begin(), confirmation.properties.end(),
                                  [&](const Compared& compared) { return compared.property == property; });
  REQUIRE(found != confirmation.properties.end());
  return *found;
}

bool tells(const Confirmation& confirmation, std::string_view text) {
  return std::any_of(confirmation.differences.begin(), confirmation.differences.end(),
                     [&](const std::string& difference) { return difference.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("confirm: two clients really get the lock that both deleted") {
  if (!has_redis()) return;
  const Confirmation result = played("redis-lock-java/f000-2-both-delete-expired");
  CHECK(result.standing == Standing::confirmed);
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::violated);
  CHECK(verdict_on(result, "mutual-exclusion").by == std::vector<std::string>{"B", "C"});
  CHECK(result.exchanges.size() == 12);
  CHECK(result.exchanges.front().real == "(integer) 1");
}

TEST_CASE("confirm: a lease ends by the real server's clock, and not by the model's") {
  if (!has_redis()) return;
  // B's SET comes when A's lease of the model is over; the real server was told nothing of a lease.
  const Confirmation result = played("lock-summary/f001-7-no-renewal", with_real([](const Command& command) {
                                       if (!command[0].is_word("SET")) return command;
                                       return Command{command[0], command[1], command[2], "NX"};
                                     }));
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "has a lease in the model, and it has none in reality"));
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::holds);
  CHECK(verdict_on(result, "mutual-exclusion").model == checker::Verdict::violated);
}

TEST_CASE("confirm: a violation that the real server does not allow is not confirmed") {
  if (!has_redis()) return;
  // Whoever deletes is told that there was something to delete, and it stays: nobody loses a lock so.
  const Confirmation result =
      played("lock-summary/f001-5-deletes-successors-lock", with_real([](const Command& command) {
               return command[0].is_word("DEL") ? Command{"EXISTS", command[1]} : command;
             }));
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "is there in reality, and not in the model"));
}

TEST_CASE("confirm: a model whose SET NX knows no end of a lease is told") {
  if (!has_redis()) return;
  int sets = 0;
  const Confirmation result =
      played("lock-summary/f001-7-no-renewal", with_model([&](const Request& request, auto& answer) {
               if (request.command[0].is_word("SET") && ++sets > 1) answer = Reply::nil();
             }));
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "the model answers (nil), the real server OK"));
}

TEST_CASE("confirm: a model whose GET is stale is told") {
  if (!has_redis()) return;
  std::optional<Reply> first;
  const Confirmation result =
      played("redis-lock-java/f000-3b-loser-overwrites", with_model([&](const Request& request, auto& answer) {
               if (!request.command[0].is_word("GET")) return;
               if (!first) first = answer;
               answer = first;
             }));
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "GET lock to redis: the model answers"));
}

TEST_CASE("confirm: a model whose script deletes without looking is told") {
  if (!has_redis()) return;
  const Confirmation result =
      played("lock-summary/f001-5-deletes-successors-lock-fixed", with_model([](const Request& request, auto& answer) {
               if (request.command[0].is_word("EVAL")) answer = Reply::integer(1);
             }));
  CHECK(result.standing == Standing::differs);
}

TEST_CASE("confirm: messages of channels are the real server's, and one that it does not send is told") {
  if (!has_redis()) return;
  const Confirmation honest = played("redisson-source/f003-lost-wakeup-fixed");
  CHECK(honest.standing == Standing::confirmed);
  const auto is_message = [](const Exchange& exchange) { return exchange.said == "(message)"; };
  CHECK(std::any_of(honest.exchanges.begin(), honest.exchanges.end(), is_message));

  const Confirmation deaf = played("redisson-source/f003-lost-wakeup-fixed", with_real([](const Command& command) {
                                     return command[0].is_word("SUBSCRIBE") ? Command{"SUBSCRIBE", "another"} : command;
                                   }));
  CHECK(deaf.standing == Standing::differs);
  CHECK(tells(deaf, "the real server (waits)"));
}

TEST_CASE("confirm: a message that the model does not know comes into the story all the same") {
  if (!has_redis()) return;
  const TemporaryFolder folder;
  const RealServer server(folder.path() + "/theirs", {});
  server.await_ready();
  Wire somebody({"127.0.0.1", server.port()});
  // B has subscribed and asks once more; then somebody whom the story does not have says that the lock is free.
  std::string channel;
  bool is_said = false;
  ConfirmOptions options = with_real([&](const Command& command) {
    if (command[0].is_word("SUBSCRIBE")) {
      channel = command[1].text();
    } else if (!channel.empty() && !is_said) {
      is_said = true;
      somebody.ask(Command{"PUBLISH", channel, "0"});
    }
    return command;
  });
  options.server = Endpoint{"127.0.0.1", server.port()};
  const Confirmation result = played("redisson-source/f003-lost-wakeup-fixed", options);
  CHECK(is_said);
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "(message)"));
  CHECK(tells(result, "the model answers (waits)"));
  // It was woken up by that, and has asked in vain.
  const auto asked = [](const Confirmation& confirmation) {
    return std::count_if(confirmation.exchanges.begin(), confirmation.exchanges.end(), [](const Exchange& exchange) {
      return exchange.client.starts_with("B") && exchange.said.starts_with("EVAL");
    });
  };
  CHECK(asked(result) > asked(played("redisson-source/f003-lost-wakeup-fixed")));
}

TEST_CASE("confirm: a primary that dies has told its replica nothing, over a network as slow as the story's") {
  if (!has_redis()) return;
  const Confirmation result = played("lock-summary/f001-10-failover-forgets-lock");
  CHECK(result.standing == Standing::confirmed);
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::violated);
}

TEST_CASE("confirm: a replica that nobody promotes lets nobody in") {
  if (!has_redis()) return;
  Scenario scenario = story("lock-summary/f001-10-failover-forgets-lock");
  scenario.lock.parameters.insert_or_assign("ttl", sim::Duration::milliseconds(700));
  const Confirmation result = confirm(scenario, catalogue(), with_real([](const Command& command) {
                                        return command[0].is_word("REPLICAOF") ? Command{"PING"} : command;
                                      }));
  CHECK(result.standing == Standing::differs);
  CHECK(tells(result, "READONLY"));
  CHECK(tells(result, "in the end redis2 is a primary in the model, and a replica in reality"));
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::holds);
}

TEST_CASE("confirm: a command at the very end of a lease, as check finds them, comes after that end in reality, too") {
  if (!has_redis()) return;
  const std::string text = R"(
title = "A's pause ends as late as it takes"
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
[[client]]
name = ["A", "B"]
acquire_at = ["0ms", "1s"]
hold = "20ms"
attempts = 1
[[fault]]
kind = "pause"
client = "A"
at = "31ms"
length = "72ms"
[schedule]
events = ["0ms A start", "1ms A.SET#1", "11ms A.SET#1 reply", "31ms A pause", "91ms B start", "101ms B.SET#1",
  "102ms B.SET#1 reply", "103ms A work", "104ms A.EVAL#1", "105ms A.EVAL#1 reply", "122ms B work"]
)";
  auto loaded = scenarios::parse(text, "end.toml", catalogue());
  REQUIRE(std::holds_alternative<Scenario>(loaded));
  const Confirmation result = confirm(std::get<Scenario>(loaded), catalogue(), {});
  CHECK(result.standing == Standing::confirmed);
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::violated);
}

TEST_CASE("confirm: a command that must come a nanosecond before the end of a lease is not played") {
  const std::string text = R"(
title = "Too near"
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[[client]]
name = "A"
hold = "20ms"
[[client]]
name = "B"
acquire_at = "99999999ns"
attempts = 1
[[fault]]
kind = "crash"
client = "A"
after = "SET"
)";
  auto loaded = scenarios::parse(text, "near.toml", catalogue());
  REQUIRE(std::holds_alternative<Scenario>(loaded));
  const Confirmation result = confirm(std::get<Scenario>(loaded), catalogue(), {});
  CHECK(result.standing == Standing::cannot_be_played);
  CHECK(result.reason.find("before the end of a lease") != std::string::npos);
}

TEST_CASE("confirm: a disk that was not written forgets the lock, and one that was keeps it") {
  if (!has_redis()) return;
  CHECK(played("lock-summary/power-loss-forgets-lock").standing == Standing::confirmed);
  CHECK(played("lock-summary/power-loss-forgets-lock-fixed").standing == Standing::confirmed);
}

TEST_CASE("confirm: a machine that is too slow for a lease plays the story slower, and blames nobody") {
  if (!has_redis()) return;
  const Confirmation result = played("lock-summary/f001-7-no-renewal", with_real([](const Command& command) {
                                       usleep(30'000);
                                       return command;
                                     }));
  CHECK(result.standing == Standing::confirmed);
  CHECK(result.scale.numerator > result.scale.denominator);
  CHECK(result.lateness >= sim::Duration::milliseconds(30));
}

TEST_CASE("confirm: somebody else's server has to be empty, and is empty again") {
  if (!has_redis()) return;
  const TemporaryFolder folder;
  const RealServer server(folder.path() + "/theirs", {});
  server.await_ready();
  Wire wire({"127.0.0.1", server.port()});
  ConfirmOptions options;
  options.server = Endpoint{"127.0.0.1", server.port()};
  CHECK(played("redis-lock-java/f000-2-both-delete-expired", options).standing == Standing::confirmed);
  CHECK(wire.ask(Command{"DBSIZE"}) == Reply::integer(0));
  // Whoever comes meanwhile keeps what is his, though the story differs for it.
  int commands = 0;
  options.tampering = Tampering{.with_model = {}, .with_real = [&](const Command& command) {
                                  if (++commands == 3) wire.ask(Command{"SET", "theirs", "1"});
                                  return command;
                                }};
  const Confirmation met = played("redis-lock-java/f000-2-both-delete-expired", options);
  CHECK(tells(met, "theirs is there in reality, and not in the model"));
  options.tampering.reset();
  CHECK(wire.ask(Command{"KEYS", "*"}) == Reply::array({Reply::bulk("theirs")}));
  wire.ask(Command{"DEL", "theirs"});

  wire.ask(Command{"SET", "precious", "1"});
  CHECK_THROWS_AS(played("redis-lock-java/f000-2-both-delete-expired", options), ServerTrouble);
  CHECK(wire.ask(Command{"GET", "precious"}) == Reply::bulk("1"));
  options.flush = true;
  CHECK(played("redis-lock-java/f000-2-both-delete-expired", options).standing == Standing::confirmed);

  const Confirmation several = played("reference/redlock-par-3x2", options);
  CHECK(several.standing == Standing::cannot_be_played);
  options.server = Endpoint{"127.0.0.1", free_port()};
  CHECK_THROWS_AS(played("redis-lock-java/f000-2-both-delete-expired", options), ServerTrouble);
}

TEST_CASE("confirm: the clock of a real server jumps as that of the story does") {
  if (!has_redis()) return;
  REQUIRE(can_shift_clocks());
  const Confirmation result = played("redisson-source/f003-3-server-clock-jumps");
  CHECK(result.standing == Standing::confirmed);
  CHECK(verdict_on(result, "mutual-exclusion").real == checker::Verdict::violated);

  ConfirmOptions options;
  options.server = Endpoint{"127.0.0.1", free_port()};
  const Confirmation elsewhere = played("redisson-source/f003-3-server-clock-jumps", options);
  CHECK(elsewhere.standing == Standing::cannot_be_played);
  CHECK(elsewhere.reason.find("the clock of redis is off or jumps") != std::string::npos);
  CHECK(elsewhere.exchanges.empty());
}

TEST_CASE("confirm: a story on servers of another kind is refused with the reason") {
  const Confirmation result = played("sql/sql-missing-row");
  CHECK(result.standing == Standing::cannot_be_played);
  CHECK(result.reason == "its servers are of kind sql, and only Redis servers are confirmed so far");
  CHECK(result.exchanges.empty());
}

TEST_CASE("confirm: Ctrl-C ends it, and no server is left") {
  if (!has_redis()) return;
  ConfirmOptions options;
  options.interrupted = [] { return true; };
  CHECK_THROWS_AS(played("redis-lock-java/f000-1-crashed-holder", options), Interrupted);
}

}  // namespace lockstep::confirm::confirm_test
