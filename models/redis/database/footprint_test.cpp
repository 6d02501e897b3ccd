// What a command says that it did, against what it did: the explorer's reduction and replication rest on it.

#include <catch2/catch.hpp>

#include <map>
#include <string>

#include "models/redis/conformance/random_commands.hpp"
#include "models/redis/conformance/test_server.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::redis::footprint_test {
namespace {

using sim::Duration;
using Kind = sim::Effect::Kind;

const int kCommands = sim::cases<int>(40'000, 4'000);

struct Content {
  std::uint64_t object = 0;
  bool expires = false;
  sim::Instant deadline;
  bool same_deadline(const Content& other) const {
    return expires == other.expires && (!expires || deadline.identical(other.deadline));
  }
};

std::map<std::string, Content> contents(const Database& database) {
  std::map<std::string, Content> all;
  for (DatabaseId number = 0; number < kDatabases; ++number) {
    for (const Entry& entry : database.keys().entries(number)) {
      all[name_in_history(entry.key, number)] = {digest_of(entry.object), entry.expires, entry.at};
    }
  }
  return all;
}

/// The strongest that was said of each key.
std::map<std::string, Kind> said(const Database& database) {
  const auto strength = [](Kind kind) { return kind == Kind::read ? 0 : kind == Kind::touch ? 1 : 2; };
  std::map<std::string, Kind> kinds;
  for (const KeyChange& change : database.changes()) {
    const auto [at, is_new] = kinds.try_emplace(name_in_history(change.key, change.database), change.kind);
    if (!is_new && strength(change.kind) >= strength(at->second)) at->second = change.kind;
  }
  return kinds;
}

/// Blocking, transactions and the like come with other commands in between.
Command any_command(RandomCommands& commands) {
  switch (commands.below(12)) {
    case 0: return commands.from("SPOP {t} [ {count} ]");
    case 1: return commands.scripted(commands.next());
    case 2:
      return commands.from(
          std::array<std::string_view, 5>{"MULTI", "EXEC", "EXEC", "WATCH {k}", "DISCARD"}[commands.below(5)]);
    case 3:
      return commands.from(std::array<std::string_view, 7>{
          "BLPOP {l} {l} 0", "BRPOP {k} 0", "BLMOVE {l} {l} LEFT RIGHT 0", "BLMOVE {l} {k} RIGHT LEFT 0",
          "BRPOPLPUSH {l} {k} 0", "BZPOPMIN {z} {k} 0", "BZMPOP 0 1 {z} MAX COUNT 2"}[commands.below(7)]);
    default: return commands.next();
  }
}

/// A long random story, told to `check` before and after each command.
template <class Before, class After>
void for_each_command(TestServer& server, std::uint64_t seed, Before before, After after) {
  RandomCommands commands(seed, {.now_seconds = 1000});
  for (int i = 0; i < kCommands; ++i) {
    const auto session = static_cast<SessionId>(commands.below(3));
    // Nearly all deadlines are within two weeks.
    if (commands.below(40) == 0) server.advance(Duration::seconds(static_cast<std::int64_t>(commands.below(600'000))));
    if (server.database.is_blocked(session)) {
      server.database.time_out(session);
      continue;
    }
    const Command command = any_command(commands);
    const bool is_apart = command[0] == Value("CLIENT") || command[0] == Value("FLUSHALL");
    if (is_apart || command[0] == Value("FUNCTION")) continue;  // libraries are no keys
    before();
    const std::optional<Reply> reply = server.database.execute(session, command, server.clock);
    INFO(command.describe() << " => " << (reply ? reply->describe() : "blocks") << "; says: " << server.changes());
    after(command, reply);
  }
}

}  // namespace

TEST_CASE("whoever changes a key says so, and who says that it only read has changed nothing") {
  TestServer server;
  std::map<std::string, Content> then;
  std::uint64_t digest = 0;
  int changed = 0, only_read = 0;
  for_each_command(
      server, 20261121,
      [&] {
        then = contents(server.database);
        digest = server.database.digest();
      },
      [&](const Command& command, const std::optional<Reply>& reply) {
        const auto now = contents(server.database);
        const auto kinds = said(server.database);
        const auto kind_of = [&](const std::string& key) {
          const auto at = kinds.find(key);
          return at != kinds.end() ? at->second : Kind::reject;
        };
        for (const auto& [key, content] : then) {
          const auto at = now.find(key);
          const Kind kind = kind_of(key);
          if (at == now.end()) {
            if (kind != Kind::remove && kind != Kind::expire) FAIL("removed " << key);
          } else if (at->second.object != content.object) {
            if (kind != Kind::write) FAIL("changed " << key);
          } else if (!at->second.same_deadline(content)) {
            if (kind != Kind::write && kind != Kind::touch) FAIL("touched " << key);
          }
        }
        for (const auto& [key, content] : now) {
          if (!then.contains(key) && kind_of(key) != Kind::write) FAIL("created " << key);
        }
        bool reads_only = true;
        for (const auto& [key, kind] : kinds) reads_only = reads_only && kind == Kind::read;
        if (reads_only && server.database.digest() != digest) FAIL("changed without a word");
        ++(reads_only ? only_read : changed);

        const CommandSpec* spec = command.spec();
        if (spec != nullptr && spec->is(kReadOnly)) {
          for (const auto& [key, kind] : kinds) {
            if (kind != Kind::read && kind != Kind::expire) FAIL("a reader wrote " << key);
          }
        }
        // A refusal changes nothing; ZADD alone may have added some when it fails, and scripts do as they like.
        const bool may_fail_late = spec != nullptr && (spec->is(kRunsCommands) || spec->name.starts_with("Z"));
        if (reply && reply->is_error() && !may_fail_late) {
          for (const auto& [key, kind] : kinds) {
            if (kind != Kind::read && kind != Kind::expire) FAIL("a refused command wrote " << key);
          }
        }
      });
  CHECK(changed > kCommands / 12);
  CHECK(only_read > kCommands / 10);
}

TEST_CASE("a command that finds nothing to do only reads") {
  TestServer server;
  for (const std::string_view line : {"SADD t a", "ZADD z 1 a", "RPUSH l a b", "HSET h f v", "SET s v"}) {
    server.send(line);
  }
  for (const std::string_view line : {"SADD t a",
                                      "SREM t b",
                                      "SMOVE t x b",
                                      "ZADD z 1 a",
                                      "ZADD z NX 2 a",
                                      "ZADD z GT 0 a",
                                      "ZREM z b",
                                      "ZADD none XX 1 a",
                                      "ZREMRANGEBYSCORE z 5 6",
                                      "LREM l 0 c",
                                      "LPUSHX none a",
                                      "LINSERT l BEFORE c d",
                                      "HSETNX h f w",
                                      "HDEL h g",
                                      "PERSIST s",
                                      "SETNX s w",
                                      "SET s w NX",
                                      "MSETNX s w u w",
                                      "DEL none",
                                      "RENAMENX s l",
                                      "SPOP none",
                                      "LPOP none",
                                      "LPOP l 0",
                                      "BLPOP none 0",
                                      "EXPIRE none 5",
                                      "GETEX s",
                                      "GETDEL none",
                                      "LMOVE none l LEFT LEFT",
                                      "SPOP t 0",
                                      "RPOPLPUSH none l"}) {
    INFO(line);
    const std::uint64_t digest = server.database.digest();
    server.send(line);
    CHECK(server.database.digest() == digest);
    for (const KeyChange& change : server.database.changes()) CHECK(change.kind == Kind::read);
  }
}

TEST_CASE("effects make the same keys of the same keys") {
  TestServer primary;
  TestServer replica;
  primary.database.record_effects(true);
  sim::Instant last = primary.clock.now();
  int replicated = 0;
  for_each_command(
      primary, 7, [] {},
      [&](const Command&, const std::optional<Reply>&) {
        const sim::Instant now = primary.clock.now();
        replica.advance(now.offset() - last.offset());
        last = now;
        std::string effects;
        for (const auto& [effect, database, is_expiry, by, operation] : primary.database.effects()) {
          effects += effect.describe() + " in " + std::to_string(database) + "; ";
          const CommandSpec* spec = effect.spec();
          if (spec != nullptr && spec->name == "PUBLISH") continue;  // for a replica's subscribers: no keys
          if (spec == nullptr || !spec->is(kWrite) || spec->is(kRunsCommands)) FAIL("no effect: " << effects);
          if (spec->name == "SPOP" || spec->name.starts_with("B")) FAIL("an effect with chance in it: " << effects);
          replica.send(Command{"SELECT", database});
          const Reply reply = replica.send(effect);
          if (reply.is_error()) FAIL("the replica refuses " << effects << reply.describe());
          ++replicated;
        }
        if (replica.database.digest() != primary.database.digest()) FAIL("other keys after " << effects);
      });
  CHECK(replicated > kCommands / 12);
}

TEST_CASE("effects know neither lengths of time nor chance nor scripts") {
  TestServer server;
  server.database.record_effects(true);
  const auto after = [&](std::string_view line) {
    server.send(line);
    std::string effects;
    for (const Effect& effect : server.database.effects()) effects += effect.command.describe() + ";";
    return effects;
  };
  CHECK(after("SET k v PX 500 NX") == "SET k v PXAT 1000500;");
  CHECK(after("SET k w NX") == "");
  CHECK(after("SETEX k 5 v") == "SET k v PXAT 1005000;");
  CHECK(after("EXPIRE k 7") == "PEXPIREAT k 1007000;");
  CHECK(after("GETEX k EX 9") == "PEXPIREAT k 1009000;");
  CHECK(after("GETEX k PERSIST") == "PERSIST k;");
  CHECK(after("EXPIRE k 0") == "DEL k;");
  CHECK(after("SADD s a") == "SADD s a;");
  CHECK(after("SPOP s") == "SREM s a;");
  CHECK(after("ZADD z 1 a") == "ZADD z 1 a;");
  CHECK(after("ZPOPMIN z") == "ZREM z a;");
  CHECK(after("RPUSH l a") == "RPUSH l a;");
  CHECK(after("BLPOP l 0") == "LPOP l;");
  CHECK(after("GET k") == "");
  CHECK(after("EVAL \"redis.call('set', 'k', 1, 'px', 5) return redis.call('incr', 'n')\" 0") ==
        "SET k 1 PXAT 1000005;INCR n;");
  server.advance(Duration::milliseconds(5));
  CHECK(after("GET k") == "DEL k;");
  server.send("SET k v PX 5");
  server.advance(Duration::milliseconds(5));
  CHECK(after("SETNX k w") == "DEL k;SETNX k w;");
}

}  // namespace lockstep::models::redis::footprint_test
