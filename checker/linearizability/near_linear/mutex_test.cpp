#include "checker/linearizability/near_linear/mutex.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>

#include "checker/linearizability/near_linear/mutex_search.hpp"
#include "checker/testing/mutex_oracle.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::mutex_test {
namespace {

using Operations = std::vector<MutexOperation>;
constexpr auto acquire = MutexFunction::acquire;
constexpr auto release = MutexFunction::release;
constexpr auto ok = sim::Phase::ok;
constexpr auto info = sim::Phase::info;
constexpr auto anonymous = MutexSpecification::mutex;
constexpr auto owned = MutexSpecification::owner_mutex;

sim::Duration ns(std::int64_t n) { return sim::Duration::nanoseconds(n); }

MutexOperation op(std::uint32_t process, MutexFunction function, std::int64_t invoked, std::int64_t completed,
                  sim::Phase phase = ok) {
  return {process, function, phase, ns(invoked), ns(completed)};
}

std::string show(const Operations& operations) {
  std::string text;
  for (const MutexOperation& o : operations) {
    text += "p" + std::to_string(o.process) + (o.function == acquire ? " A " : " R ") +
            std::to_string(o.invoked.count_ns()) + ".." + std::to_string(o.completed.count_ns()) +
            (o.phase == ok                 ? " ok\n"
             : o.phase == sim::Phase::fail ? " fail\n"
                                           : " info\n");
  }
  return text;
}

void require_holds(const Operations& h, MutexSpecification specification) {
  const MutexResult result = check_mutex(h, specification);
  INFO(show(h));
  REQUIRE(result.verdict == Verdict::holds);
  CHECK(is_linearization(h, specification, result.order));
}

void require_conflict(const Operations& h, MutexSpecification specification,
                      const std::vector<std::uint32_t>& conflict) {
  const MutexResult result = check_mutex(h, specification);
  INFO(show(h));
  REQUIRE(result.verdict == Verdict::violated);
  CHECK(result.conflict == conflict);
}

TEST_CASE("mutex: two holds that overlap cannot be ordered, two that touch can") {
  for (const auto specification : {anonymous, owned}) {
    require_conflict({op(0, acquire, 0, 10), op(1, acquire, 12, 20), op(0, release, 21, 25), op(1, release, 30, 40)},
                     specification, {0, 1});
    require_holds({op(0, acquire, 0, 10), op(1, acquire, 12, 20), op(0, release, 20, 25), op(1, release, 30, 40)},
                  specification);
  }
}

TEST_CASE("mutex: operations that touch are concurrent") {
  require_holds({op(0, acquire, 0, 1), op(1, acquire, 1, 1), op(0, release, 1, 2)}, anonymous);
  require_holds({op(0, release, 1, 2), op(0, acquire, 2, 3)}, owned);
  require_conflict({op(0, release, 1, 2), op(0, acquire, 3, 4)}, owned, {0});
}

TEST_CASE("mutex: a release that succeeded without a held lock cannot be ordered, a failed one says nothing") {
  for (const auto specification : {anonymous, owned}) {
    require_conflict({op(0, release, 0, 1)}, specification, {0});
    require_holds({op(0, release, 0, 1, sim::Phase::fail)}, specification);
    require_conflict({op(0, acquire, 0, 1), op(0, release, 2, 3), op(0, release, 4, 5)}, specification,
                     specification == anonymous ? std::vector<std::uint32_t>{1, 2} : std::vector<std::uint32_t>{2});
  }
}

TEST_CASE("mutex: anybody may release a mutex, only the owner an owner mutex") {
  const Operations h = {op(0, acquire, 0, 1), op(1, release, 2, 3), op(2, acquire, 4, 5)};
  require_holds(h, anonymous);
  require_conflict(h, owned, {1});
}

TEST_CASE("mutex: an unknown acquire may be dropped only if no release needs it") {
  for (const auto specification : {anonymous, owned}) {
    require_holds({op(0, acquire, 0, 1, info), op(1, acquire, 2, 3)}, specification);
    require_holds({op(0, acquire, 0, 1, info), op(0, release, 5, 6)}, specification);
    require_conflict({op(0, acquire, 7, 8, info), op(0, release, 5, 6)}, specification, {1});
  }
  require_conflict({op(0, acquire, 0, 1, info), op(1, acquire, 2, 3), op(0, release, 5, 6), op(1, release, 7, 8)},
                   owned, {1, 2});
}

TEST_CASE("mutex: an unknown release may take effect long after its client has given up on it, or never") {
  for (const auto specification : {anonymous, owned}) {
    require_holds({op(0, acquire, 0, 1), op(0, release, 2, 3, info), op(1, acquire, 50, 51)}, specification);
    require_holds({op(0, acquire, 0, 1), op(0, release, 2, 3, info), op(0, release, 4, 5), op(0, acquire, 6, 7),
                   op(1, acquire, 8, 9)},
                  specification);
    require_conflict({op(0, acquire, 0, 1), op(0, release, 5, 6, info), op(1, acquire, 3, 4)}, specification, {0, 2});
  }
}

TEST_CASE("mutex: a hold may be split by an unknown release and an unknown acquire; only the search finds it") {
  const Operations h = {op(0, acquire, 0, 1), op(0, release, 2, 2, info), op(0, acquire, 3, 3, info),
                        op(1, acquire, 4, 5), op(1, release, 6, 7),       op(0, release, 10, 11)};
  require_holds(h, owned);
  CHECK(check_mutex(h, owned).searched);
  Operations unsplit = h;
  unsplit[1].invoked = ns(6);  // after the other's acquire had completed
  require_conflict(unsplit, owned, {0, 3});
}

TEST_CASE("mutex: a wide acquire must not be ordered early just because it could be") {
  require_holds({op(0, acquire, 0, 100), op(1, acquire, 10, 11), op(2, release, 20, 30), op(3, release, 40, 50)},
                anonymous);
}

TEST_CASE("mutex: three acquires with one release among them are the conflict, and nothing else is") {
  require_conflict({op(9, acquire, 0, 1), op(9, release, 2, 3), op(0, acquire, 10, 11), op(1, acquire, 10, 12),
                    op(3, release, 10, 13), op(2, acquire, 10, 14)},
                   anonymous, {2, 3, 5});
}

TEST_CASE("mutex: a search that is not allowed enough configurations says that it does not know") {
  const Operations h = {op(0, acquire, 0, 9), op(1, acquire, 0, 9), op(0, release, 0, 9), op(1, release, 0, 9)};
  CHECK(search_mutex(h, owned).verdict == Verdict::holds);
  CHECK(search_mutex(h, owned, 1).verdict == Verdict::unknown);
}

TEST_CASE("mutex: many unknown operations do not make the search explode, because using fewer is never worse") {
  Operations h;
  for (std::uint32_t p = 0; p < 40; ++p) {
    h.push_back(op(p, acquire, 0, 1, info));
    h.push_back(op(p, release, 2, 3, info));
  }
  h.push_back(op(50, acquire, 10, 11));
  h.push_back(op(51, acquire, 12, 13));
  h.push_back(op(51, release, 20, 21, info));
  const MutexResult result = search_mutex(h, owned);
  CHECK(result.verdict == Verdict::violated);
  CHECK(result.conflict == std::vector<std::uint32_t>{80, 81});
}

/// Random operations. `sequential`: one process begins its next operation when its last one has ended.
Operations random_history(sim::Random& random) {
  const auto processes = static_cast<std::uint32_t>(1 + random.below(4));
  const std::int64_t span = random.between(2, 24);
  const std::uint64_t unknown_one_in = 2 + random.below(6);
  const bool is_sequential = !random.one_in(4);
  const bool alternates = !random.one_in(3);
  std::vector<std::int64_t> now(processes, 0);
  std::vector<char> holds(processes, 0);
  Operations h;
  const std::uint64_t count = 1 + random.below(8);
  while (h.size() < count) {
    const auto process = static_cast<std::uint32_t>(random.below(processes));
    const std::int64_t invoked = is_sequential ? now[process] + random.between(0, span / 4) : random.between(0, span);
    const std::int64_t completed = invoked + random.between(0, span / 3);
    const bool is_release = alternates ? holds[process] != 0 : random.one_in(2);
    const sim::Phase phase = random.one_in(unknown_one_in) ? info : random.one_in(16) ? sim::Phase::fail : ok;
    h.push_back(op(process, is_release ? release : acquire, invoked, completed, phase));
    now[process] = completed;
    if (phase != sim::Phase::fail) holds[process] = !is_release;
  }
  return h;
}

/// A history that a real mutex did: operations take effect one after the other, and their ends lie around that.
Operations true_history(sim::Random& random) {
  Operations h;
  std::int64_t holder = -1;
  std::vector<std::int64_t> ended(4, 0);
  std::int64_t now = 0;
  const std::uint64_t count = 1 + random.below(8);
  while (h.size() < count) {
    now += random.between(0, 6);
    const auto process = static_cast<std::uint32_t>(holder >= 0 ? holder : random.between(0, 3));
    const std::int64_t invoked = std::max(ended[process], now - random.between(0, 8));
    if (invoked > now) continue;
    const std::int64_t completed = now + random.between(0, 8);
    h.push_back(op(process, holder >= 0 ? release : acquire, invoked, completed, random.one_in(6) ? info : ok));
    ended[process] = completed;
    holder = holder >= 0 ? std::int64_t{-1} : process;
  }
  return h;
}

void mutate(sim::Random& random, Operations& h) {
  MutexOperation& o = h[random.below(h.size())];
  switch (random.below(4)) {
    case 0: o.completed += ns(random.between(1, 6)); break;
    case 1: o.invoked = o.completed; break;
    case 2: o.process = static_cast<std::uint32_t>(random.below(4)); break;
    default: o.function = o.function == acquire ? release : acquire; break;
  }
}

/// What every answer has to be, whichever path gave it.
void require_agreement(const Operations& h, MutexSpecification specification, const MutexResult& result) {
  const bool expected = is_linearizable(h, specification);
  INFO(show(h) << (specification == owned ? "owner mutex" : "mutex")
               << (result.at ? ", at " + std::to_string(result.at->count_ns()) : "")
               << (result.searched ? ", searched" : ""));
  REQUIRE(result.verdict == (expected ? Verdict::holds : Verdict::violated));
  if (expected) {
    REQUIRE(is_linearization(h, specification, result.order));
    return;
  }
  REQUIRE(result.at);
  REQUIRE_FALSE(is_linearizable(until(h, *result.at), specification));
  REQUIRE(is_linearizable(until(h, *result.at - ns(1)), specification));
  REQUIRE_FALSE(result.conflict.empty());
  for (const std::uint32_t i : result.conflict) REQUIRE(h[i].invoked <= *result.at);
}

TEST_CASE("mutex: the near-linear path, the search and the brute force agree on 60,000 small histories") {
  int linearizable[2] = {0, 0};
  int searched = 0;
  for (std::uint64_t seed = 0; seed < sim::cases(60'000U, 6'000U); ++seed) {
    sim::Random random(seed);
    Operations h = seed % 2 == 0 ? random_history(random) : true_history(random);
    if (seed % 4 == 3) mutate(random, h);
    INFO("seed " << seed);
    for (const auto specification : {anonymous, owned}) {
      const MutexResult fast = check_mutex(h, specification);
      require_agreement(h, specification, fast);
      require_agreement(h, specification, search_mutex(h, specification));
      linearizable[specification == owned] += fast.verdict == Verdict::holds ? 1 : 0;
      searched += fast.searched ? 1 : 0;
    }
  }
  // Neither answer is rare, and the fallback is used, though not often.
  CHECK(linearizable[0] > sim::cases(20'000, 2'000));
  CHECK(linearizable[0] < sim::cases(50'000, 5'000));
  CHECK(linearizable[1] > sim::cases(20'000, 2'000));
  CHECK(linearizable[1] < sim::cases(50'000, 5'000));
  CHECK(searched > sim::cases(1'000, 100));
  CHECK(searched < 20'000);
}

TEST_CASE("mutex: what a real mutex did is linearizable, with every unknown outcome") {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    sim::Random random(seed);
    const Operations h = true_history(random);
    require_holds(h, anonymous);
    require_holds(h, owned);
  }
}

TEST_CASE("mutex: RapidCheck finds no disagreement either") {
  const auto operation = rc::gen::apply(
      [](int process, bool is_acquire, int invoked, int length, int phase) {
        return op(static_cast<std::uint32_t>(process), is_acquire ? acquire : release, invoked, invoked + length,
                  phase == 0 ? info : ok);
      },
      rc::gen::inRange(0, 3), rc::gen::arbitrary<bool>(), rc::gen::inRange(0, 16), rc::gen::inRange(0, 8),
      rc::gen::inRange(0, 4));
  const bool agrees = rc::check("the near-linear path agrees with the brute force", [&operation] {
    Operations h = *rc::gen::container<Operations>(operation).as("history");
    if (h.size() > 8) h.resize(8);
    for (const auto specification : {anonymous, owned}) {
      const MutexResult result = check_mutex(h, specification);
      RC_ASSERT((result.verdict == Verdict::holds) == is_linearizable(h, specification));
      if (result.verdict == Verdict::holds) RC_ASSERT(is_linearization(h, specification, result.order));
    }
  });
  CHECK(agrees);
}

TEST_CASE("mutex: a conflict of two acquires is one of two holds without a release between them") {
  int pairs = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    const Operations h = random_history(random);
    const MutexResult result = check_mutex(h, anonymous);
    if (result.conflict.size() != 2) continue;
    const MutexOperation& a = h[result.conflict[0]];
    const MutexOperation& b = h[result.conflict[1]];
    if (a.function != acquire || b.function != acquire) continue;
    ++pairs;
    INFO(show(h));
    for (const MutexOperation& o : h) {
      if (o.function != release || o.phase == sim::Phase::fail) continue;
      REQUIRE((o.deadline() < std::min(a.invoked, b.invoked) || o.invoked > std::max(a.completed, b.completed)));
    }
  }
  CHECK(pairs > 1'000);
}

// Mutants: wrong ways to judge that come to mind first. Each must disagree with the brute force somewhere.

bool without_unknown(const Operations& h, MutexSpecification specification) {
  Operations certain;
  for (const MutexOperation& o : h) {
    if (o.phase == ok) certain.push_back(o);
  }
  return is_linearizable(certain, specification);
}
bool with_unknown_as_certain(const Operations& h, MutexSpecification specification) {
  Operations certain = h;
  for (MutexOperation& o : certain) o.phase = o.phase == info ? ok : o.phase;
  return is_linearizable(certain, specification);
}
bool in_order_of_completion(const Operations& h, MutexSpecification specification) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < h.size(); ++i) {
    if (h[i].phase == ok) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&h](auto a, auto b) { return h[a].completed < h[b].completed; });
  return is_linearization(h, specification, order);
}
bool with_failures_as_effects(const Operations& h, MutexSpecification specification) {
  Operations effective = h;
  for (MutexOperation& o : effective) o.phase = o.phase == sim::Phase::fail ? ok : o.phase;
  return is_linearizable(effective, specification);
}

TEST_CASE("mutex: four plausible but wrong judges are told from the right one") {
  for (const auto mutant :
       {without_unknown, with_unknown_as_certain, in_order_of_completion, with_failures_as_effects}) {
    int caught = 0;
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
      sim::Random random(seed);
      const Operations h = seed % 2 == 0 ? random_history(random) : true_history(random);
      const bool right = check_mutex(h, owned).verdict == Verdict::holds;
      if (mutant(h, owned) != right) ++caught;
    }
    CHECK(caught > 20);
  }
}

TEST_CASE("mutex: proofs that are wrong are refused by the validator") {
  const Operations h = {op(0, acquire, 0, 1), op(0, release, 2, 3), op(1, acquire, 4, 5)};
  const auto is_proof = [&h](std::vector<std::uint32_t> order) { return is_linearization(h, owned, order); };
  CHECK(is_proof({0, 1, 2}));
  CHECK_FALSE(is_proof({2, 0, 1}));
  CHECK_FALSE(is_proof({0, 1}));
  CHECK_FALSE(is_proof({0, 2, 1}));
  CHECK_FALSE(is_proof({0, 1, 2, 2}));
  CHECK_FALSE(is_linearization(Operations{h[2], h[0], h[1]}, owned, std::vector<std::uint32_t>{0}));
  // Free in between, but against real time.
  const Operations late = {op(0, acquire, 10, 11), op(0, release, 12, 13), op(1, acquire, 0, 1), op(1, release, 2, 3)};
  CHECK_FALSE(is_linearization(late, owned, std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST_CASE("mutex: long histories of a real mutex are proved, and one stolen lock in them is found") {
  for (const auto specification : {anonymous, owned}) {
    Operations h;
    constexpr std::int64_t rounds = 20'000;
    for (std::int64_t i = 0; i < rounds; ++i) {
      const auto process = static_cast<std::uint32_t>(i % 50);
      // If anybody may release, long waits leave so much freedom that the smallest conflict is all of them.
      h.push_back(op(process, acquire, 100 * i - (specification == owned ? 300 : 5), 100 * i + 20));
      h.push_back(op(process, release, 100 * i + 60, 100 * i + (specification == owned ? 190 : 90)));
    }
    require_holds(h, specification);
    const auto stolen = static_cast<std::uint32_t>(h.size());
    h.push_back(op(77, acquire, 100 * 15'000 + 25, 100 * 15'000 + 55));
    require_conflict(h, specification, {30'000, stolen});
    CHECK(check_mutex(h, specification).at == ns(100 * 15'000 + 55));
  }
}

}  // namespace
}  // namespace lockstep::checker::mutex_test
