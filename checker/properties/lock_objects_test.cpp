// Which objects are a lock: those where its grants lie, whatever they are called. Beside each, what an acquire writes
// besides and is no place of it.

#include "checker/properties/lock_objects.hpp"

#include <catch2/catch.hpp>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/properties/server/own_release.hpp"
#include "checker/testing/forged_history.hpp"

namespace lockstep::checker::lock_objects_test {
namespace {

using namespace sim::literals;

/// A takes and gives back, B after it, each 10ms later; `Acquires` is told of each acquire and each release.
struct TwoHolds : ForgedHistory {
  template <class Acquires, class Releases>
  TwoHolds(const Acquires& acquires, const Releases& releases) {
    for (const sim::ProcessId who : {A, B}) {
      const Duration at = who == A ? 10_ms : 30_ms;
      const auto hold = operation(who, "acquire", at, at + 4_ms);
      acquires(*this, who, hold, at + 1_ms);
      const auto release = operation(who, "release", at + 8_ms, at + 10_ms, Phase::ok, hold);
      releases(*this, who, release, at + 9_ms);
    }
  }
};

LockObjects locks_of(const ForgedHistory& h) { return {h.history().operations, h.history().effects, h.history()}; }

}  // namespace

TEST_CASE("lock objects: what acquires write and releases give back is the lock, whatever it is called") {
  for (const std::string name : {"lock", "app:lock", "{x}/owner", "lease-7"}) {
    for (const std::string note : {"lock/fence", "lock", "stat"}) {
      if (note == name) continue;
      const TwoHolds h(
          [&](ForgedHistory& f, sim::ProcessId who, sim::OperationId hold, Duration at) {
            f.effect(Did::write, server, who, hold, at, note);
            f.effect(Did::write, server, who, hold, at, name);
          },
          [&](ForgedHistory& f, sim::ProcessId who, sim::OperationId release, Duration at) {
            f.effect(Did::remove, server, who, release, at, name);
          });
      const LockObjects locks = locks_of(h);
      CHECK(locks.contains("lock", name));
      CHECK_FALSE(locks.contains("lock", note));
      CHECK_FALSE(locks.contains("other", name));
    }
  }
}

TEST_CASE("lock objects: a counter, a queue that is left, and a note that lives on are no places of it") {
  const TwoHolds h(
      [](ForgedHistory& f, sim::ProcessId who, sim::OperationId hold, Duration at) {
        f.effect(Did::write, server, who, hold, at, "queue");
        f.member(who == A ? "A" : "B");
        f.effect(Did::write, server, who, hold, at, "fence");
        f.member("", sim::MemberChange::Kind::nameless);
        f.effect(Did::write, server, who, hold, at, "mine").lives_until = sim::Instant::at(at + 50_ms);
        f.effect(Did::write, server, who, hold, at, "last").lives_until = sim::Instant::at(at + 5_s);
        f.effect(Did::remove, server, who, hold, at + 1_ms, "queue");
      },
      [](ForgedHistory& f, sim::ProcessId who, sim::OperationId release, Duration at) {
        f.effect(Did::remove, server, who, release, at, "mine");
      });
  const LockObjects locks = locks_of(h);
  CHECK(locks.of("lock").size() == 1);
  CHECK(locks.contains("mine"));
  CHECK(own_release(h.history(), forged_names()).verdict == Verdict::holds);
}

TEST_CASE("lock objects: a node of each hold's own, of one that never gave it back as well") {
  ForgedHistory h;
  const auto a = h.operation(A, "acquire", 1_ms, 3_ms);
  h.effect(Did::write, server, A, a, 2_ms, "/app/l-0001");
  const auto b = h.operation(B, "acquire", 1_ms, 30_ms);
  h.effect(Did::write, server, B, b, 4_ms, "/app/l-0002");
  // B clears A's away while A has it.
  h.effect(Did::remove, server, B, b, 20_ms, "/app/l-0001");
  h.effect(Did::remove, server, B, h.operation(B, "release", 40_ms, 42_ms, Phase::ok, b), 41_ms, "/app/l-0002");
  CHECK(locks_of(h).of("lock").size() == 2);
  CHECK(own_release(h.history(), forged_names()).verdict == Verdict::violated);
}

TEST_CASE("lock objects: a refused acquire's are asked for only where nobody got it") {
  for (const bool got : {false, true}) {
    ForgedHistory h;
    const auto a = h.operation(A, "acquire", 1_ms, 3_ms, Phase::fail);
    h.effect(Did::write, server, A, a, 2_ms, "tries");
    const auto b = h.operation(B, "acquire", 4_ms, 6_ms, got ? Phase::ok : Phase::fail);
    h.effect(Did::write, server, B, b, 5_ms, "lock:x");
    CHECK(locks_of(h).contains("lock", "tries") == !got);
    CHECK(locks_of(h).contains("lock", "lock:x"));
  }
}

TEST_CASE("lock objects: where there is one object, another one that nobody asked for changes nothing of the answer") {
  // Every history of three operations, each with one effect on the same object.
  struct Doing {
    const char* function;
    Phase phase;
  };
  constexpr Doing doings[] = {{"acquire", Phase::ok}, {"acquire", Phase::fail}, {"acquire", Phase::invoke},
                              {"release", Phase::ok}, {"leave", Phase::ok},     {"reenter", Phase::ok}};
  constexpr Did kinds[] = {Did::write, Did::remove, Did::touch, Did::read, Did::expire};
  constexpr int ways = std::size(doings) * std::size(kinds);
  int with_a_lock = 0;
  for (int number = 0; number < ways * ways * ways; ++number) {
    std::vector<std::pair<std::string, std::string>> found[2];
    for (const bool has_another : {false, true}) {
      ForgedHistory h;
      if (has_another) h.effect(Did::expire, server, C, 0, 0_ms, "elsewhere");
      sim::OperationId hold = 0;
      for (int i = 0, rest = number; i < 3; ++i) {
        const Doing& doing = doings[rest % std::size(doings)];
        rest /= std::size(doings);
        const Did kind = kinds[rest % std::size(kinds)];
        rest /= std::size(kinds);
        const Duration at = Duration::milliseconds(1 + 4 * i);
        const bool begins = std::string_view(doing.function) == "acquire";
        const sim::OperationId id =
            h.operation(i == 1 ? B : A, doing.function, at, at + 2_ms, doing.phase, begins ? 0 : hold);
        if (begins) hold = id;
        h.effect(kind, server, i == 1 ? B : A, id, at + 1_ms);
      }
      const LockObjects locks = locks_of(h);
      for (const auto& [lock, object] : locks.of("lock")) found[has_another].emplace_back(lock, object);
    }
    INFO("history " << number);
    REQUIRE(found[0] == found[1]);
    with_a_lock += !found[0].empty();
  }
  CHECK(with_a_lock > 1'000);
}

}  // namespace lockstep::checker::lock_objects_test
