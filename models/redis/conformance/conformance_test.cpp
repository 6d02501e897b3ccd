// Random conversations of several clients with the simulated server and a real one.

#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <iostream>

#include "models/redis/conformance/comparison.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::redis::conformance_test {
namespace {

const std::size_t kCommands = sim::cases<std::size_t>(30'000, 4'000);

/// LOCKSTEP_RANDOM_COMMANDS and LOCKSTEP_RANDOM_SEED ask for a longer conversation, or for another one.
std::size_t number_from(const char* name, std::size_t otherwise) {
  const char* text = std::getenv(name);
  const std::optional<std::int64_t> number = text != nullptr ? parse_integer(text) : std::nullopt;
  return number && *number > 0 ? static_cast<std::size_t>(*number) : otherwise;
}

/// What one connection says next: data and server commands, and what needs the state of the conversation.
void converse(Comparison& both, RandomCommands& commands) {
  std::size_t who = commands.below(kConnections);
  while (both.is_blocked(who)) who = commands.below(kConnections);
  std::size_t blocked = 0;
  for (std::size_t i = 0; i < kConnections; ++i) blocked += both.is_blocked(i) ? 1 : 0;

  const std::size_t kind = commands.below(20);
  if (both.takes_subscriptions_alone(who)) {
    both.send(who,
              commands.from(std::array<std::string_view, 8>{
                  "SUBSCRIBE {channel}+", "UNSUBSCRIBE {channel}+", "PUNSUBSCRIBE news* c?", "PING [ {v} ]", "GET {k}",
                  "UNSUBSCRIBE c1 c2 news c", "PUNSUBSCRIBE news* c? n?ws", "RESET"}[commands.below(8)]));
    return;
  }
  if (kind == 0 && !both.is_in_transaction(who)) return both.send(who, commands.from("SPOP {t} [ {count} ]"));
  if (kind == 1 && blocked < 2 && !both.is_in_transaction(who)) {
    return both.send(
        who, commands.from(std::array<std::string_view, 8>{
                 "BLPOP {l} {l} 0", "BRPOP {l} 0", "BLMOVE {l} {l} LEFT|RIGHT LEFT|RIGHT 0",
                 "BLPOP {k} x|-1|0|inf|1e17|-1e-9|1e-5000", "BRPOPLPUSH {l} {l} 0", "BZPOPMIN {z} {z} 0",
                 "BZPOPMAX {k} 0", "BLMPOP|BZMPOP 0 2 {k} {k} LEFT|MIN|MAX [ COUNT {count} ]"}[commands.below(8)]));
  }
  if (kind == 2 && who > 1 && !both.is_in_transaction(who)) {
    return both.send(who, commands.from(std::array<std::string_view, 4>{
                              "SUBSCRIBE {channel}+", "PSUBSCRIBE news*|c?|n?ws", "PSUBSCRIBE ??key*|??keyspace@0*",
                              "PSUBSCRIBE ??keyevent@?*"}[commands.below(4)]));
  }
  if (who > 1 && commands.below(100) == 0) {
    return both.send(who, commands.from("UNSUBSCRIBE|PUNSUBSCRIBE c1 c2 news c? n?ws"));
  }
  if (commands.below(200) == 0) {
    both.send(who, "RESET");
    return both.send(who, commands.from("HELLO {protocol} SETNAME {m}"));
  }
  if (kind == 3) {
    return both.send(who, commands.from(std::array<std::string_view, 6>{"MULTI", "EXEC", "DISCARD", "WATCH {k}+",
                                                                        "UNWATCH", "EXEC x"}[commands.below(6)]));
  }
  if (kind == 4) {
    // A whole transaction, mostly with somebody in between.
    if (commands.below(2) == 0) both.send(who, commands.from("WATCH {k}"));
    both.send(who, "MULTI");
    for (std::size_t i = commands.below(5); i > 0; --i) both.send(who, commands.next());
    if (who > 1 && commands.below(4) == 0) {
      both.send(who, commands.from("SUBSCRIBE {channel}+"));
      both.send(who, commands.from("PSUBSCRIBE news*|c?|n?ws"));
      both.send(who, commands.from("PUBLISH {channel} {v}"));
      both.send(who, commands.next());
    }
    std::size_t other = commands.below(kConnections);
    if (!both.is_blocked(other) && !both.takes_subscriptions_alone(other)) both.send(other, commands.next());
    if (commands.below(4) == 0) both.send(who, commands.from("BLPOP {l} 0"));
    return both.send(who, commands.below(5) == 0 ? "DISCARD" : "EXEC");
  }
  std::vector<Command> batch;
  for (std::size_t i = 1 + commands.below(40); i > 0; --i) {
    Command command = commands.next();
    batch.push_back(commands.below(10) == 0 ? commands.scripted(command) : std::move(command));
  }
  both.send(who, batch);
}

}  // namespace

TEST_CASE("random conversations of several clients get the same replies from the real server") {
  const auto server = real_server();
  if (server == nullptr) return;
  const auto [protocol, name] =
      GENERATE(table<Protocol, std::string>({{Protocol::resp2, "RESP2"}, {Protocol::resp3, "RESP3"}}));
  Comparison both(*server, protocol);
  RandomCommands commands(number_from("LOCKSTEP_RANDOM_SEED", 20261121),
                          {.now_seconds = both.now_seconds(), .resp3 = protocol == Protocol::resp3});
  const std::size_t wanted = number_from("LOCKSTEP_RANDOM_COMMANDS", kCommands);
  while (both.sent() < wanted) {
    converse(both, commands);
  }
  both.require_silence();
  // Whatever was generated also meant something.
  CHECK(both.met().size() > 120);
  CHECK(both.messages() > wanted / 200);
  std::cout << "compared " << both.sent() << " commands of " << both.met().size() << " kinds with redis-server in "
            << name << "\n";
}

}  // namespace lockstep::models::redis::conformance_test
