#include "checker/properties/damage/no_lost_update.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::no_lost_update_test {
namespace {

using namespace sim::literals;

constexpr std::array resources{resource};

Finding judge(const ForgedHistory& h) { return no_lost_update(h.history(), forged_names(), resources); }

void read(ForgedHistory& h, sim::ProcessId who, Duration at, sim::ProcessId where = resource) {
  h.effect(Did::read, where, who, h.operation(who, "read", at, at), at, "counter");
}
void write(ForgedHistory& h, sim::ProcessId who, Duration at, Phase phase = Phase::ok, Did did = Did::write,
           std::string object = "counter", sim::ProcessId where = resource) {
  h.effect(did, where, who, h.operation(who, "write", at, at, phase), at, std::move(object));
}

TEST_CASE("no lost update: overwriting an unseen update is caught; having read after it is innocent") {
  for (const bool reads_again : {false, true}) {
    ForgedHistory h;
    read(h, A, 10_ms);
    read(h, B, 11_ms);
    write(h, B, 20_ms);
    if (reads_again) read(h, A, 25_ms);
    write(h, A, 30_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == !reads_again);
    if (reads_again) {
      CHECK(finding.why == "2 updates after a read, none lost");
    } else {
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.at->offset() == 30_ms);
      CHECK(finding.evidence == std::vector<sim::Step>{3, 9, 12});
      CHECK(finding.why ==
            "B's update at 20ms is lost: A had read counter at 10ms, before it, and overwrote it at 30ms");
    }
  }
}

TEST_CASE("no lost update: a write whose reply was lost counts, a rejected one does not") {
  for (const bool rejected : {false, true}) {
    ForgedHistory h;
    read(h, A, 10_ms);
    read(h, B, 11_ms);
    write(h, B, 20_ms, Phase::info, rejected ? Did::reject : Did::write);
    write(h, A, 30_ms);
    CHECK((judge(h).verdict == Verdict::holds) == rejected);
  }
}

TEST_CASE("no lost update: who overwrites with a rejected write has overwritten nothing") {
  ForgedHistory h;
  read(h, A, 10_ms);
  read(h, B, 11_ms);
  write(h, B, 20_ms);
  write(h, A, 30_ms, Phase::fail, Did::reject);
  CHECK(judge(h).verdict == Verdict::holds);
}

TEST_CASE("no lost update: own writes since the read are known, a blind write and another object are not judged") {
  ForgedHistory h;
  read(h, A, 10_ms);
  write(h, A, 20_ms);
  write(h, A, 30_ms);
  write(h, B, 40_ms);
  write(h, C, 50_ms, Phase::ok, Did::write, "other");
  read(h, A, 60_ms);
  write(h, C, 70_ms, Phase::ok, Did::write, "other");
  write(h, A, 80_ms);
  CHECK(judge(h).verdict == Verdict::holds);
}

TEST_CASE("no lost update: an own write between does not make the other's update seen") {
  ForgedHistory h;
  read(h, A, 10_ms);
  write(h, A, 20_ms);
  write(h, B, 25_ms);
  write(h, A, 30_ms);
  CHECK(judge(h).verdict == Verdict::violated);
}

TEST_CASE("no lost update: the lock server is no resource, and without a resource nothing is known") {
  ForgedHistory h;
  read(h, A, 10_ms, server);
  write(h, B, 20_ms, Phase::ok, Did::write, "counter", server);
  write(h, A, 30_ms, Phase::ok, Did::write, "counter", server);
  CHECK(judge(h).verdict == Verdict::not_judged);
  const Finding finding = no_lost_update(h.history(), forged_names(), {});
  CHECK(finding.verdict == Verdict::not_judged);
  CHECK(finding.why == "no resource in this story");
}

TEST_CASE("no lost update: the checker agrees with counters that remember whose updates they contain") {
  // Each value of the object is the set of writes that it includes: what its writer had read, and its own. A write
  // loses an update exactly if its value does not include all that the value before it did.
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    std::set<int> value;
    std::array<std::set<int>, 3> known;
    std::array<bool, 3> has_read{};
    std::optional<Duration> lost;
    for (int n = 0; n < 9; ++n) {
      const auto who = random.below(3);
      const sim::ProcessId process{static_cast<std::uint16_t>(who)};
      const Duration at = Duration::milliseconds(n);
      if (random.below(5) < 3) {
        read(h, process, at);
        known[who] = value;
        has_read[who] = true;
      } else if (has_read[who]) {
        write(h, process, at);
        if (!lost && !std::includes(known[who].begin(), known[who].end(), value.begin(), value.end())) lost = at;
        known[who].insert(n);
        value = known[who];
      }
    }
    const Finding finding = judge(h);
    INFO("seed " << seed << ": " << finding.why);
    REQUIRE((finding.verdict == Verdict::violated) == lost.has_value());
    if (lost) REQUIRE(finding.at->offset() == *lost);
    violated += lost ? 1 : 0;
  }
  CHECK(violated > 3'000);
  CHECK(violated < 17'000);
}

}  // namespace
}  // namespace lockstep::checker::no_lost_update_test
