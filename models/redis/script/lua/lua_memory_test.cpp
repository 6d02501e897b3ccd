// The memory of a Lua state, and interpreters that are used again.

#include "models/redis/script/lua/lua_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "models/redis/conformance/test_server.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::redis::lua_memory_test {

/// Takes and gives back blocks of all sizes, which keep what is written into them as long as they are held.
class User {
 public:
  User(LuaMemory& memory, std::uint64_t seed) : memory_(memory), random_(seed) {}

  /// Where it got its small blocks, in their order.
  std::vector<void*> use(int times) {
    std::vector<void*> places;
    for (int i = 0; i < times; ++i) {
      if (!held_.empty() && random_.below(3) == 0) {
        std::swap(held_[random_.below(held_.size())], held_.back());
        give_back();
      } else {
        const std::size_t size = random_.below(10) == 0 ? 1 + random_.below(30'000) : 1 + random_.below(200);
        void* const block = memory_.allocate(size);
        REQUIRE(reinterpret_cast<std::uintptr_t>(block) % alignof(std::max_align_t) == 0);
        if (size <= 200) places.push_back(block);
        held_.push_back({block, size, static_cast<unsigned char>(random_.next())});
        std::memset(block, held_.back().mark, size);
      }
    }
    return places;
  }

  bool has_all() const {
    for (const Held& held : held_) {
      const auto* const bytes = static_cast<const unsigned char*>(held.block);
      for (std::size_t i = 0; i < held.size; ++i) {
        if (bytes[i] != held.mark) return false;
      }
    }
    return true;
  }
  void give_back_all() {
    while (!held_.empty()) give_back();
  }

 private:
  struct Held {
    void* block;
    std::size_t size;
    unsigned char mark;
  };

  void give_back() {
    memory_.release(held_.back().block, held_.back().size);
    held_.pop_back();
  }

  LuaMemory& memory_;
  sim::Random random_;
  std::vector<Held> held_;
};

TEST_CASE("a Lua state's blocks do not overlap, and are used again") {
  LuaMemory memory;
  User user(memory, 1);
  for (int round = 0; round < 20; ++round) {
    user.use(500);
    REQUIRE(user.has_all());
  }
  user.give_back_all();
}

TEST_CASE("a Lua state's memory goes back with its contents and its addresses") {
  LuaMemory memory;
  std::vector<std::pair<std::string, char*>> at_first;
  for (int i = 0; i < 300; ++i) {
    const std::string text = "this was there at first: " + std::to_string(i);
    auto* const block = static_cast<char*>(memory.allocate(text.size()));
    std::memcpy(block, text.data(), text.size());
    at_first.emplace_back(text, block);
  }
  const auto is_as_at_first = [&] {
    for (const auto& [text, block] : at_first) {
      if (std::memcmp(block, text.data(), text.size()) != 0) return false;
    }
    return true;
  };
  for (int i = 0; i < 50; ++i) {  // so that there are blocks to be used again, too
    memory.release(at_first.back().second, at_first.back().first.size());
    at_first.pop_back();
  }
  memory.mark();

  std::vector<void*> places;
  for (int round = 0; round < 5; ++round) {
    User user(memory, 7);
    const std::vector<void*> now = user.use(3'000);
    CHECK(user.has_all());
    CHECK(is_as_at_first());
    // Blocks of the first chunk lie where they lay; the system gives other chunks, and large blocks.
    if (round > 0) CHECK(std::equal(now.begin(), now.begin() + 100, places.begin()));
    places = now;
    for (const auto& [text, block] : at_first) std::memset(block, '?', text.size());
    memory.go_back();
    CHECK(is_as_at_first());
  }
}

std::vector<std::string> replies(TestServer& server) {
  std::vector<std::string> replies;
  for (const char* script :
       {"return tostring({}) .. tostring(redis.call)", "return {collectgarbage('count'), gcinfo()}",
        "local t = {} for i = 1, 300 do t['key ' .. i] = i end local s = '' "
        "for k in pairs(t) do s = s .. k end return s",
        "return redis.call('SET', 'k', cjson.encode({1, {a = 'b'}}))", "return #(('x'):rep(15 * 1024 * 1024))",
        "return {math.random(1000), redis.sha1hex('lock')}", "return nothing_of_the_kind"})
    replies.push_back(server.eval(script).resp());
  return replies;
}

/// What a script would find if its interpreter was not a new one.
void leave_traces(TestServer& server) {
  server.eval("local t = {} for i = 1, 20000 do t[i] = {'string number ' .. i} end return #t");
  server.eval("local t = {} for i = 1, 300 do t['key ' .. i] = i end string.kept = t redis.kept = t cjson.kept = t");
  server.eval("getmetatable('').__index = nil");
  server.eval("kept = 1");
  server.eval("while true do end");
  server.eval("error({})");
}

TEST_CASE("an interpreter that other worlds had is a new one") {
  std::vector<std::string> first;
  std::size_t bytes = 0;
  {
    // Two at a time, of which at most one can be what the other test cases have left.
    TestServer one;
    TestServer two;
    first = replies(one);
    CHECK(replies(two) == first);
    bytes = one.engine.memory_bytes();
    CHECK(two.engine.memory_bytes() == bytes);
  }
  for (int round = 0; round < 3; ++round) {
    {
      TestServer server;
      leave_traces(server);
      if (round == 1) replies(server);
    }
    TestServer server;
    CHECK(server.engine.mistakes().empty());
    CHECK(replies(server) == first);
    CHECK(server.engine.memory_bytes() == bytes);
  }
}

}  // namespace lockstep::models::redis::lua_memory_test
