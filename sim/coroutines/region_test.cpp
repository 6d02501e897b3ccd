// Memory that is put back, with everything that lies in it.

#include "sim/coroutines/region.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sim/schedules/random.hpp"

namespace lockstep::sim::region_test {
namespace {

/// Things of all sizes that hang together by pointers.
struct Things {
  std::vector<std::string> strings;
  std::deque<std::vector<std::uint64_t>> lists;
  std::map<std::uint64_t, std::string> names;
  std::uint64_t steps = 0;

  bool operator==(const Things&) const = default;

  void change(Random& random) {
    ++steps;
    switch (random.below(7)) {
      case 0: strings.push_back(std::string(random.below(80), static_cast<char>('a' + random.below(26)))); return;
      case 1: lists.emplace_back(random.below(random.one_in(10) ? 20'000 : 40), steps); return;
      case 2: names[random.below(50)] += "name " + std::to_string(steps); return;
      case 3:
        if (!strings.empty())
          strings.erase(strings.begin() + static_cast<std::ptrdiff_t>(random.below(strings.size())));
        return;
      case 4:
        if (!lists.empty()) lists.pop_front();
        return;
      case 5: names.erase(random.below(50)); return;
      default:
        for (std::vector<std::uint64_t>& list : lists) list.push_back(steps);
        if (!strings.empty()) strings.back() += strings.front();
        if (strings.size() > 40 || lists.size() > 40) *this = Things();
        return;
    }
  }
};

void change(const Restorable<Things>& things, Random& random, int times) {
  const Region::Inside inside(things.region());
  for (int i = 0; i < times; ++i) things->change(random);
}

/// Whether this build has regions at all.
bool has_regions() {
  const Restorable<int> probe(0);
  if (probe.region() != nullptr) return true;
  WARN("no regions in this build");
  return false;
}

}  // namespace

TEST_CASE("what lies in a region comes back as it was, however often and from wherever") {
  if (!has_regions()) return;
  const Restorable<Things> things;
  Random random(1);
  struct Saved {
    Region::Copy copy;
    Things things;
  };
  std::vector<Saved> saved(6);
  for (Saved& s : saved) {
    change(things, random, 10);
    things.region()->save(s.copy);
    s.things = *things;
  }
  for (int round = 0; round < 2'000; ++round) {
    Saved& s = saved[random.below(saved.size())];
    if (random.one_in(4)) {
      // Later moments take the place of earlier ones, and their copies the memory.
      things.region()->save(s.copy);
      s.things = *things;
    } else {
      things.region()->restore(s.copy);
      REQUIRE(*things == s.things);
    }
    change(things, random, static_cast<int>(random.below(30)));
  }
}

TEST_CASE("an object goes on in the same way after it went back") {
  if (!has_regions()) return;
  const Restorable<Things> things;
  Random random(2);
  change(things, random, 50);
  Region::Copy copy;
  things.region()->save(copy);
  Random one_way = random;
  Random same_way = random;
  change(things, one_way, 200);
  const Things later = *things;
  const std::size_t used = things.region()->used_bytes();
  things.region()->restore(copy);
  change(things, same_way, 200);
  CHECK(*things == later);
  CHECK(things.region()->used_bytes() == used);
}

TEST_CASE("memory of every size is aligned, and blocks do not overlap") {
  if (!has_regions()) return;
  const Restorable<int> owner(0);
  const Region::Inside inside(owner.region());
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (std::size_t size = 0; size < 300'000; size = size < 3'000 ? size + 1 : size + size / 7) {
    auto* p = static_cast<unsigned char*>(operator new(size));
    REQUIRE(reinterpret_cast<std::uintptr_t>(p) % alignof(std::max_align_t) == 0);
    std::fill(p, p + size, static_cast<unsigned char>(size % 251));
    blocks.emplace_back(p, size);
  }
  for (const auto& [p, size] : blocks) {
    REQUIRE(std::all_of(p, p + size, [s = size](unsigned char c) { return c == s % 251; }));
    operator delete(p);
  }
}

TEST_CASE("what is freed is used again") {
  if (!has_regions()) return;
  const Restorable<int> owner(0);
  const Region::Inside inside(owner.region());
  std::size_t used = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> strings;
    for (std::size_t i = 0; i < 200; ++i) strings.emplace_back(i * 7, 'x');
    if (round == 1) used = owner.region()->used_bytes();
  }
  CHECK(owner.region()->used_bytes() == used);
}

TEST_CASE("a region that is full cannot go back, but its object goes on") {
  if (!has_regions()) return;
  Things expected;
  {
    Random random(3);
    for (int i = 0; i < 500; ++i) expected.change(random);
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5'000}, std::size_t{60'000}}) {
    const Restorable<Things> things;
    things.region()->limit(bytes);
    CHECK(things.region()->is_whole());
    Random random(3);
    change(things, random, 500);
    CHECK(!things.region()->is_whole());
    CHECK(*things == expected);
  }
  // More than any region holds.
  const Restorable<std::vector<char>> large;
  {
    const Region::Inside inside(large.region());
    large->resize(std::size_t{40} << 20, 'x');
  }
  CHECK(!large.region()->is_whole());
  CHECK(large->back() == 'x');
}

TEST_CASE("what outlasts a region stays as it is when that goes back") {
  if (!has_regions()) return;
  struct Both {
    Outlasting<std::vector<std::string>> kept;
    std::vector<std::string> forgotten;
    void add(const std::string& text) {
      forgotten.push_back(text);
      const Region::Outside outside;
      kept->push_back(text);
    }
  };
  const Restorable<Both> both;
  Region::Copy copy;
  both.region()->save(copy);
  for (int i = 0; i < 3; ++i) {
    const Region::Inside inside(both.region());
    both->add("so long that it does not fit a string's own buffer " + std::to_string(i));
  }
  both.region()->restore(copy);
  CHECK(both->forgotten.empty());
  CHECK(both->kept->size() == 3);
  CHECK(both->kept->back().ends_with(" 2"));
}

TEST_CASE("a region knows who claimed it last, and a new one in its place nobody") {
  if (!has_regions()) return;
  const int one = 1;
  const int other = 2;
  for (int round = 0; round < 2; ++round) {
    const Restorable<int> number(0);
    CHECK_FALSE(number.region()->claim(&one));
    CHECK(number.region()->claim(&one));
    CHECK_FALSE(number.region()->claim(&other));
    CHECK_FALSE(number.region()->claim(&one));
  }
}

TEST_CASE("regions of several threads do not know of each other, and their memory is given back") {
  if (!has_regions()) return;
  const auto work = [](std::uint64_t seed) {
    for (int round = 0; round < 300; ++round) {
      Random random(seed);
      const Restorable<Things> things;
      if (things.region() == nullptr) return std::uint64_t{0};
      change(things, random, 20);
      Region::Copy copy;
      things.region()->save(copy);
      const Things before = *things;
      change(things, random, 20);
      things.region()->restore(copy);
      if (*things != before) return std::uint64_t{1};
    }
    return std::uint64_t{2};
  };
  std::array<std::uint64_t, 4> results{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) threads.emplace_back([&, i] { results[i] = work(10 + i); });
  }
  for (const std::uint64_t result : results) CHECK(result == 2);
}

}  // namespace lockstep::sim::region_test
