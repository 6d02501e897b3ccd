#include <catch2/catch.hpp>

#include "models/redis/conformance/test_server.hpp"
#include "models/redis/database/database.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::redis::script_memory_test {
namespace {

constexpr std::string_view kScripts[] = {
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
    "local n = redis.call('INCR', KEYS[1]) if n > 3 then redis.call('SET', KEYS[1], ARGV[1]) return {n, ARGV[1]} end "
    "return n",
    "local ok = redis.pcall('INCR', KEYS[1]) if type(ok) == 'table' then return ok['err'] end return redis.call('GET', "
    "'other')",
    "return redis.call('INCR', KEYS[1])",
    "error('no')",
    "return {KEYS[1], ARGV[1], #ARGV}",
};

}  // namespace

TEST_CASE("script memory: a remembered run does to the keys, and replies, what the interpreter does") {
  ScriptMemory memory;
  TestServer plain;
  TestServer remembering;
  remembering.database.set_script_memory(&memory);
  sim::Random random(7);
  std::uint64_t runs = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key(1, static_cast<char>('a' + random.below(3)));
    const std::string argument = random.one_in(3) ? std::string("x") : std::to_string(random.below(5));
    Command command{"SET", key, argument};
    if (!random.one_in(4)) {
      command = Command{"EVAL", kScripts[random.below(std::size(kScripts))], 1, key, argument};
      ++runs;
    }
    INFO(i << ": " << command.describe());
    REQUIRE(remembering.send(command) == plain.send(command));
    REQUIRE(remembering.changes() == plain.changes());
    REQUIRE(remembering.database.digest() == plain.database.digest());
  }
  CHECK(memory.runs_of_interpreter() < runs / 3);
}

}  // namespace lockstep::models::redis::script_memory_test
