// Random requests against one database: whatever they are, there is a reply, it can be written, and what was written is a
// reply. Clients see each other's keys, transactions and messages.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "models/redis/database/commands.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/resp.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::models::redis;

/// Arguments that mean something to some command; the fuzzer strings them together, or brings its own.
constexpr std::string_view kWords[] = {"k",
                                       "l",
                                       "m",
                                       "a",
                                       "b",
                                       "0",
                                       "1",
                                       "-1",
                                       "2",
                                       "3.5",
                                       "-inf",
                                       "+inf",
                                       "(1",
                                       "nan",
                                       "",
                                       "100",
                                       "NX",
                                       "XX",
                                       "GT",
                                       "LT",
                                       "CH",
                                       "INCR",
                                       "PX",
                                       "EX",
                                       "GET",
                                       "KEEPTTL",
                                       "PXAT",
                                       "BYSCORE",
                                       "REV",
                                       "LIMIT",
                                       "MATCH",
                                       "COUNT",
                                       "*",
                                       "[a-c]?",
                                       "LEFT",
                                       "RIGHT",
                                       "BEFORE",
                                       "WITHSCORES",
                                       "WEIGHTS",
                                       "AGGREGATE",
                                       "SUM",
                                       "MIN",
                                       "MAX",
                                       "YES",
                                       "NO",
                                       "ID",
                                       "ADDR",
                                       "ASYNC",
                                       "PERSIST",
                                       "9223372036854775807",
                                       "return redis.call(unpack(ARGV))",
                                       "return {KEYS, ARGV}",
                                       "return cjson.encode(cjson.decode(ARGV[1]))",
                                       "return cmsgpack.unpack(ARGV[1])",
                                       "[1,{\"a\":null}]",
                                       "return redis.pcall('set', 'k', ARGV[1])"};

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Reply& reply) {
  std::string bytes;
  reply.append_resp(bytes);
  ReplyParser parser({.line_bytes = 64 << 20});
  parser.feed(bytes);
  while (true) {
    const auto read = parser.next();
    require(!std::holds_alternative<ProtocolError>(read));
    if (std::holds_alternative<Incomplete>(read)) break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ScriptEngine scripts({.instructions = 20'000, .memory_bytes = 1 << 20});
  sim::RandomDecisions decisions(1);
  sim::World world(decisions);
  sim::Simulation simulation(world);
  sim::Clock clock(world, sim::Duration::seconds(1000), 0);
  Database database(scripts);
  database.set_version(Version::redis_8_4);
  const auto table = command_table();
  const std::uint8_t* const end = data + size;
  const auto next = [&]() -> std::uint8_t { return data < end ? *data++ : 0; };
  while (data < end) {
    Command command;
    const std::string_view name = table[next() % table.size()].name;
    const std::size_t blank = name.find(' ');
    command.push_back(name.substr(0, blank));
    if (blank != std::string_view::npos) command.push_back(name.substr(blank + 1));
    const std::uint8_t shape = next();
    for (int i = shape % 9; i > 0; --i) {
      const std::uint8_t word = next();
      if (word < 240) {
        command.push_back(kWords[word % std::size(kWords)]);
      } else {
        std::string own;
        for (int length = next() % 16; length > 0; --length) own += static_cast<char>(next());
        command.push_back(std::move(own));
      }
    }
    if (shape & 0x80) clock.jump(sim::Duration::milliseconds(next()));
    const SessionId session = 1 + (shape >> 4) % 3;
    if (database.is_blocked(session)) continue;
    if (const auto reply = database.execute(session, command, clock)) check(*reply);
    for (const Delivery& delivery : database.deliveries()) check(delivery.reply);
  }
  return 0;
}
