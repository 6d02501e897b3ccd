#include "checker/properties/server/own_release.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>

#include "checker/properties/ownership.hpp"
#include "checker/testing/forged_history.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::checker::own_release_test {
namespace {

using namespace sim::literals;

Finding judge(const ForgedHistory& h) { return own_release(h.history(), forged_names()); }

/// A granted acquire: its write at the server, and a lease.
sim::OperationId granted(ForgedHistory& h, sim::ProcessId who, Duration at, std::optional<Duration> lease = {}) {
  const auto id = h.operation(who, "acquire", at, at + 1_ms);
  h.effect(Did::write, server, who, id, at);
  if (lease) h.of(id).lease_until = sim::Instant::at(*lease);
  return id;
}

TEST_CASE("own release: a late release that removes the next owner's grant is caught, one that finds nothing is not") {
  for (const bool taken_over : {true, false}) {
    ForgedHistory h;
    const auto a = granted(h, A, 20_ms);
    h.effect(Did::expire, server, {}, 0, 120_ms);
    if (taken_over) granted(h, B, 120_ms);
    const auto release = h.operation(A, "release", 150_ms, 160_ms, Phase::ok, a);
    if (taken_over) h.effect(Did::remove, server, A, release, 155_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == taken_over);
    if (taken_over) {
      CHECK(finding.by == std::vector{A, B});
      CHECK(finding.at->offset() == 155_ms);
      CHECK(finding.why == "A's release removed at 155ms the lock that B had been granted at 120ms");
      CHECK(finding.evidence.size() == 3);
    }
  }
}

TEST_CASE(
    "own release: an owner's release that finds what a refused acquire wrote over it has been robbed of its lock") {
  enum class Then { refused, unknown, says_yes, wrote_again, expired };
  for (const Then then : {Then::refused, Then::unknown, Then::says_yes, Then::wrote_again, Then::expired}) {
    ForgedHistory h;
    const auto b = granted(h, B, 20_ms);
    const auto c = h.operation(C, "acquire", 24_ms, 30_ms, then == Then::unknown ? Phase::info : Phase::fail);
    h.effect(Did::write, server, C, c, 25_ms);
    const auto renewal = h.operation(B, "renew", 31_ms, 33_ms, Phase::ok, b);
    if (then == Then::wrote_again) h.effect(Did::write, server, B, renewal, 32_ms);
    if (then == Then::expired) h.effect(Did::expire, server, {}, 0, 34_ms);
    const auto release = h.operation(B, "release", 40_ms, 42_ms, then == Then::says_yes ? Phase::ok : Phase::fail, b);
    h.effect(then == Then::says_yes ? Did::remove : Did::read, server, B, release, 41_ms);
    INFO(static_cast<int>(then));
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == (then == Then::refused));
    if (then != Then::refused) continue;
    CHECK(finding.by == std::vector{B, C});
    CHECK(finding.at->offset() == 41_ms);
  }
}

TEST_CASE("own release: what is over by the server's clock is nobody's, and each renewal announces anew") {
  enum class Told { nothing, by_acquire, by_renewal };
  for (const Told told : {Told::nothing, Told::by_acquire, Told::by_renewal}) {
    for (const Duration lives : {300_ms, 600_ms}) {
      ForgedHistory h;
      const auto b = granted(h, B, 0_ms, told == Told::nothing ? std::nullopt : std::optional(300_ms));
      const auto renewal = h.operation(D, "renew", 99_ms, 101_ms, Phase::ok, b);
      h.effect(Did::write, server, D, renewal, 100_ms).lives_until = sim::Instant::at(lives);
      if (told == Told::by_renewal) h.of(renewal).lease_until = sim::Instant::at(340_ms);
      h.effect(Did::remove, server, C, h.operation(C, "acquire", 340_ms, 360_ms), 350_ms);
      CHECK((judge(h).verdict == Verdict::violated) == (lives == 600_ms && told != Told::by_renewal));
    }
  }
}

TEST_CASE("own release: an owner may remove its own grant, an expired grant is removed by nobody") {
  ForgedHistory h;
  const auto a = granted(h, A, 20_ms);
  h.effect(Did::remove, server, A, h.operation(A, "release", 30_ms, 32_ms, Phase::ok, a), 31_ms);
  granted(h, B, 40_ms);
  h.effect(Did::expire, server, {}, 0, 140_ms);
  const Finding finding = judge(h);
  CHECK(finding.verdict == Verdict::holds);
  CHECK(finding.why == "2 grants, 1 removed, none by a stranger");
}

TEST_CASE("own release: a contender that deletes a live lock is caught; at the very end of the lease it is innocent") {
  for (const Duration at : {119_ms, 120_ms}) {
    ForgedHistory h;
    granted(h, B, 20_ms, 120_ms);
    h.effect(Did::remove, server, C, h.operation(C, "acquire", 100_ms, 130_ms), at);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::violated) == (at == 119_ms));
    if (at == 119_ms) {
      CHECK(finding.by == std::vector{B, C});
      CHECK(finding.why ==
            "C's acquire removed at 119ms the lock that B had been granted at 20ms with a lease until 120ms");
    }
  }
}

TEST_CASE(
    "own release: a contender may clear away the grant of a dead owner, or of one that has asked to give it back") {
  for (const int innocent : {0, 1, 2}) {
    ForgedHistory h;
    const auto b = granted(h, B, 20_ms, 120_ms);
    if (innocent == 1) h.crash(B, 50_ms);
    if (innocent == 2) h.operation(B, "release", 50_ms, 50_ms, Phase::info, b);
    h.effect(Did::remove, server, C, h.operation(C, "acquire", 40_ms, 70_ms), 50_ms);
    CHECK((judge(h).verdict == Verdict::holds) == (innocent != 0));
  }
}

TEST_CASE("own release: without an announced lease the owner's belief decides, from the grant on") {
  for (const int variant : {0, 1, 2}) {
    ForgedHistory h;
    const auto b = h.operation(B, "acquire", 20_ms, 60_ms);
    h.effect(Did::write, server, B, b, 30_ms);
    if (variant == 1) h.of(b).valid_until = sim::Instant::at(80_ms);
    // Variant 2: the reply is still travelling when the contender deletes the grant.
    const Duration at = variant == 2 ? 40_ms : 90_ms;
    h.effect(Did::remove, server, C, h.operation(C, "acquire", 30_ms, 100_ms), at);
    CHECK((judge(h).verdict == Verdict::holds) == (variant == 1));
  }
}

TEST_CASE("own release: a release is no excuse when the other's lease has run out, an operator's command is one") {
  for (const bool by_operator : {false, true}) {
    ForgedHistory h;
    granted(h, B, 20_ms, 120_ms);
    const auto release = h.operation(A, "release", 200_ms, 210_ms);
    h.effect(Did::remove, server, A, by_operator ? 0 : release, 205_ms);
    const Finding finding = judge(h);
    CHECK((finding.verdict == Verdict::holds) == by_operator);
    if (!by_operator) CHECK(finding.by == std::vector{B, A});
  }
}

TEST_CASE("own release: a losing GETSET overwrites the text and takes no grant, a winning one does") {
  for (const bool c_wins : {false, true}) {
    ForgedHistory h;
    const auto b = granted(h, B, 20_ms);
    const auto c = h.operation(C, "acquire", 19_ms, 30_ms, c_wins ? Phase::ok : Phase::fail);
    h.effect(Did::write, server, C, c, 21_ms);
    h.effect(Did::remove, server, B, h.operation(B, "release", 40_ms, 42_ms, Phase::ok, b), 41_ms);
    CHECK((judge(h).verdict == Verdict::violated) == c_wins);
  }
}

TEST_CASE("own release: a losing GETSET of an acquire that wins later takes no grant before it wins") {
  for (const bool after_the_win : {false, true}) {
    ForgedHistory h;
    const auto b = granted(h, B, 20_ms);
    const auto c = h.operation(C, "acquire", 19_ms, 60_ms);
    h.effect(Did::write, server, C, c, 21_ms);
    if (after_the_win) h.effect(Did::write, server, C, c, 35_ms);
    const auto release = h.operation(B, "release", 40_ms, 42_ms, Phase::ok, b);
    h.effect(Did::remove, server, B, release, 41_ms);
    if (!after_the_win) h.effect(Did::write, server, C, c, 50_ms);
    CHECK((judge(h).verdict == Verdict::violated) == after_the_win);
  }
}

TEST_CASE("own release: a grant exists from the SETNX on, before the EXPIRE of the same acquire") {
  ForgedHistory h;
  const auto old = h.acquire(A, 1_ms);
  const auto b = h.operation(B, "acquire", 20_ms, 30_ms);
  h.effect(Did::write, server, B, b, 21_ms);
  h.effect(Did::remove, server, A, h.operation(A, "release", 20_ms, 24_ms, Phase::ok, old), 23_ms);
  h.effect(Did::write, server, B, b, 25_ms);
  CHECK(judge(h).verdict == Verdict::violated);
}

TEST_CASE("own release: a server that forgets ends the grant, and what another does there afterwards robs nobody") {
  for (const bool forgets : {false, true}) {
    ForgedHistory h;
    const auto a = h.operation(A, "acquire", 8_ms, 12_ms);
    h.effect(Did::write, server, A, a, 10_ms);
    if (forgets) h.effect(Did::lose, server, {}, 0, 15_ms);
    // B finds it free, does not get it elsewhere, and takes back what it wrote.
    const auto b = h.operation(B, "acquire", 18_ms, 30_ms, Phase::fail);
    h.effect(Did::write, server, B, b, 20_ms);
    h.effect(Did::remove, server, B, b, 28_ms);
    CHECK((own_release(h.history(), forged_names()).verdict == Verdict::holds) == forgets);
  }
}

TEST_CASE("own release: each server and each object has its own grant") {
  ForgedHistory h;
  granted(h, B, 20_ms);
  const auto a = h.operation(A, "acquire", 20_ms, 22_ms);
  h.effect(Did::write, second_server, A, a, 21_ms);
  h.effect(Did::write, server, A, a, 21_ms, "other");
  const auto release = h.operation(A, "release", 30_ms, 33_ms, Phase::ok, a);
  h.effect(Did::remove, second_server, A, release, 31_ms);
  h.effect(Did::remove, server, A, release, 32_ms, "other");
  CHECK(judge(h).verdict == Verdict::holds);
}

// The definition once more, backwards and quadratic: which effect is the grant that effect `i` finds?
class Oracle {
 public:
  explicit Oracle(const sim::History& history) : h_(history), intervals_(ownership_intervals(history)) {}

  std::optional<std::size_t> first_violation() const {
    for (std::size_t i = 0; i < h_.effects.size(); ++i) {
      const sim::Effect& e = h_.effects[i];
      if (e.kind == Did::expire || e.operation == 0) continue;
      const sim::Operation& mine = h_.operations[e.operation - 1];
      for (const std::string member : {"", "m0", "m1"}) {
        if (done_to(e, member) != 'r') continue;
        for (const std::size_t grant : found_by(i, member)) {
          const sim::Operation& owner = h_.operations[h_.effects[grant].operation - 1];
          if (h_.effects[grant].by == e.by ||
              (mine.function == "release" && shares(grant, member) && mine.of == owner.id))
            continue;
          if (mine.function == "release" && !owner.is_shared) return i;
          if (lives(grant, e.at.offset())) return i;
        }
      }
    }
    return {};
  }

 private:
  /// 'w': written, 'r': removed, 'n': something nameless came or went, 0: nothing.
  char done_to(const sim::Effect& e, const std::string& member) const {
    if (e.kind == Did::expire) return 'r';
    char named = 0;
    bool any_named = false;
    for (std::size_t i = e.first_member; i < e.first_member + e.members; ++i) {
      const sim::MemberChange& change = h_.members[i];
      if (change.kind == sim::MemberChange::Kind::nameless) return member.empty() ? 'n' : 0;
      any_named = true;
      if (change.member == member) named = change.kind == sim::MemberChange::Kind::removed ? 'r' : 'w';
    }
    if (e.kind == Did::remove) return 'r';
    if (any_named) return named;
    return member.empty() ? 'w' : 0;
  }
  bool shares(std::size_t grant, const std::string& member) const {
    return h_.operations[h_.effects[grant].operation - 1].is_shared || done_to(h_.effects[grant], member) == 'n';
  }
  /// The writes that are the grants at a member just before effect `i`.
  std::vector<std::size_t> found_by(std::size_t i, const std::string& member) const {
    std::size_t j = i;
    do {
      if (j-- == 0) return {};
    } while (h_.effects[j].server != h_.effects[i].server || h_.effects[j].object != h_.effects[i].object);
    const sim::Effect& e = h_.effects[j];
    const char done = done_to(e, member);
    std::vector<std::size_t> grants = found_by(j, member);
    const auto operation_of = [&](std::size_t grant) { return h_.effects[grant].operation; };
    if (e.operation != 0 && h_.operations[e.operation - 1].function == "release") {
      std::erase_if(grants, [&](std::size_t grant) {
        return shares(grant, member) && operation_of(grant) == h_.operations[e.operation - 1].of;
      });
    }
    if (done == 'r') return {};
    if (done == 0 || !is_winning(e)) return grants;
    const bool is_there = std::any_of(grants.begin(), grants.end(),
                                      [&](std::size_t grant) { return operation_of(grant) == e.operation; });
    if (grants.empty() || (shares(grants.front(), member) && shares(j, member))) {
      if (!is_there) grants.push_back(j);
    } else if (operation_of(grants.front()) != e.operation &&
               (h_.effects[grants.front()].by == e.by || !written_again(j, member))) {
      grants.assign(1, j);
    }
    return grants;
  }
  bool is_winning(const sim::Effect& e) const {
    if (e.kind != Did::write || e.operation == 0) return false;
    const sim::Operation& o = h_.operations[e.operation - 1];
    return o.function == "acquire" && o.phase == Phase::ok;
  }
  bool written_again(std::size_t j, const std::string& member) const {
    for (std::size_t k = j + 1; k < h_.effects.size(); ++k) {
      const sim::Effect& e = h_.effects[k];
      const sim::Effect& f = h_.effects[j];
      const bool is_same = e.operation == f.operation && e.server == f.server && e.object == f.object;
      if (is_same && e.kind == Did::write && done_to(e, member) != 0) return true;
    }
    return false;
  }
  bool lives(std::size_t grant, Duration now) const {
    const sim::Operation& owner = h_.operations[h_.effects[grant].operation - 1];
    if (!owner.lease_until) {
      for (const auto& i : intervals_) {
        if (i.acquire == owner.id) return !i.to || now < i.to->offset();
      }
      return false;
    }
    for (const sim::Operation& o : h_.operations) {
      if (o.function == "release" && o.of == owner.id && o.invoked.offset() <= now) return false;
    }
    for (const auto& crash : h_.interruptions) {
      if (crash.process == owner.process && crash.step > owner.completed_in && crash.from.offset() <= now) return false;
    }
    return now < owner.lease_until->offset();
  }

  const sim::History& h_;
  std::vector<OwnershipInterval> intervals_;
};

TEST_CASE("own release: the walk agrees with the backward definition on 20,000 random histories") {
  int violated = 0;
  int unknown = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    sim::Random random(seed);
    ForgedHistory h;
    std::vector<sim::OperationId> ids;
    std::set<sim::OperationId> released;
    const auto process = [&] { return sim::ProcessId{static_cast<std::uint16_t>(random.below(3))}; };
    for (std::uint64_t n = 0; n < 6; ++n) {
      const Duration at = Duration::nanoseconds(random.between(0, 30));
      const Duration later = at + Duration::nanoseconds(random.between(0, 10));
      const sim::OperationId of = ids.empty() ? 0 : ids[random.below(ids.size())];
      if (of != 0 && random.one_in(3) && released.insert(of).second) {
        ids.push_back(h.operation(h.of(of).process, "release", at, later, Phase::ok, of));
      } else {
        const auto id = h.operation(process(), "acquire", at, later, random.one_in(4) ? Phase::fail : Phase::ok);
        h.of(id).is_shared = seed % 2 == 1 && random.one_in(4);
        if (random.one_in(2))
          h.of(id).lease_until = sim::Instant::at(later + Duration::nanoseconds(random.between(0, 20)));
        if (random.one_in(2))
          h.of(id).valid_until = sim::Instant::at(later + Duration::nanoseconds(random.between(0, 20)));
        ids.push_back(id);
      }
    }
    if (random.one_in(3)) h.crash(process(), Duration::nanoseconds(random.between(0, 60)));
    Duration now = Duration::zero();
    for (std::uint64_t n = 0; n < 12; ++n) {
      now += Duration::nanoseconds(random.between(0, 5));
      const sim::OperationId id = ids[random.below(ids.size())];
      const bool outside = random.one_in(12);
      const bool writes = h.of(id).function == "acquire" && !random.one_in(4);
      const Did kind = random.one_in(10) ? Did::expire : writes ? Did::write : Did::remove;
      const sim::ProcessId where = random.one_in(5) ? second_server : server;
      h.effect(kind, where, kind == Did::expire ? sim::ProcessId{} : h.of(id).process,
               kind == Did::expire || outside ? 0 : id, now);
      if (seed % 2 == 0 || kind == Did::expire || random.one_in(4)) continue;
      if (random.one_in(4)) {
        h.member("", sim::MemberChange::Kind::nameless);
      } else if (kind == Did::write) {
        h.member("m" + std::to_string(random.below(2)),
                 random.one_in(3) ? sim::MemberChange::Kind::removed : sim::MemberChange::Kind::written);
      }
    }
    const auto expected = Oracle(h.history()).first_violation();
    const Finding finding = judge(h);
    INFO("seed " << seed << ": " << finding.why);
    REQUIRE((finding.verdict == Verdict::violated) == expected.has_value());
    unknown += finding.verdict == Verdict::unknown ? 1 : 0;
    if (!expected) continue;
    ++violated;
    const sim::Step step = h.history().effects[*expected].step;
    REQUIRE(std::count(finding.evidence.begin(), finding.evidence.end(), step) == 1);
  }
  CHECK(violated > 3'000);
  CHECK(unknown > 100);
  CHECK(violated < 17'000);
}

}  // namespace
TEST_CASE("own-release: readers have a grant each, and the last of them to give back removes the lock") {
  for (const bool all_gave_back : {true, false}) {
    ForgedHistory h;
    sim::OperationId holds[2];
    for (const sim::ProcessId who : {A, B}) {
      const auto id = h.operation(who, "acquire", 8_ms, 10_ms);
      h.of(id).is_shared = true;
      h.effect(Did::write, server, who, id, 9_ms);
      holds[who == B ? 1 : 0] = id;
    }
    if (all_gave_back) {
      const auto first = h.operation(B, "release", 12_ms, 14_ms, Phase::ok, holds[1]);
      h.effect(Did::write, server, B, first, 13_ms);
    }
    const auto last = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, holds[0]);
    h.effect(Did::remove, server, A, last, 21_ms);
    const Finding finding = own_release(h.history(), forged_names());
    CHECK(finding.verdict == (all_gave_back ? Verdict::holds : Verdict::violated));
    if (!all_gave_back) CHECK(finding.by == std::vector{B, A});
  }
}

TEST_CASE("own-release: each member of a set is a place of its own, and who takes another's out is caught") {
  using Member = sim::MemberChange::Kind;
  for (const std::string taken : {"a", "b"}) {
    ForgedHistory h;
    sim::OperationId holds[2];
    for (const sim::ProcessId who : {A, B}) {
      const auto id = holds[who == B ? 1 : 0] = h.operation(who, "acquire", 8_ms, who == A ? 10_ms : 11_ms);
      h.effect(Did::write, server, who, id, 9_ms);
      h.member(who == A ? "a" : "b");
    }
    const auto release = h.operation(A, "release", 12_ms, 14_ms, Phase::ok, holds[0]);
    h.effect(Did::write, server, A, release, 13_ms);
    h.member(taken, Member::removed);
    const auto last = h.operation(B, "release", 15_ms, 17_ms, Phase::ok, holds[1]);
    h.effect(Did::remove, server, B, last, 16_ms);
    h.member("b", Member::removed);
    const Finding finding = own_release(h.history(), forged_names());
    CHECK(finding.verdict == (taken == "a" ? Verdict::holds : Verdict::violated));
    if (taken == "b") CHECK(finding.by == std::vector{A, B});
  }
}

TEST_CASE("own-release: a dead reader's share may be cleared away, a living one's may not") {
  for (const Duration died : {19_ms, 21_ms, 22_ms}) {
    ForgedHistory h;
    sim::OperationId holds[2];
    for (const sim::ProcessId who : {A, B}) {
      const auto id = holds[who == B ? 1 : 0] = h.operation(who, "acquire", 8_ms, 10_ms);
      h.of(id).is_shared = true;
      h.effect(Did::write, server, who, id, 9_ms);
      h.member(who == A ? "a" : "b");
    }
    if (died < 21_ms) h.crash(B, died);
    const auto release = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, holds[0]);
    h.effect(Did::remove, server, A, release, 21_ms);
    if (died == 21_ms) h.crash(B, died);
    if (died == 22_ms) h.crash(B, died);
    CHECK(own_release(h.history(), forged_names()).verdict == (died > 21_ms ? Verdict::violated : Verdict::holds));
  }
}

TEST_CASE("own-release: whose unit of a counter somebody took is unknown, unless the algorithm names it") {
  for (const bool is_named : {false, true}) {
    for (const std::string freed : {"a", "b"}) {
      ForgedHistory h;
      sim::OperationId holds[2];
      for (const sim::ProcessId who : {A, B}) {
        const auto id = holds[who == B ? 1 : 0] = h.operation(who, "acquire", 8_ms, 10_ms);
        if (is_named) h.of(id).place = who == A ? "a" : "b";
        h.effect(Did::write, server, who, id, 9_ms);
        h.member("", sim::MemberChange::Kind::nameless);
      }
      const auto release = h.operation(A, "release", 12_ms, 14_ms, Phase::ok, holds[0]);
      if (is_named) h.of(release).place = freed;
      h.effect(Did::write, server, A, release, 13_ms);
      h.member("", sim::MemberChange::Kind::nameless);
      const Verdict verdict = own_release(h.history(), forged_names()).verdict;
      CHECK(verdict == (!is_named ? Verdict::unknown : freed == "a" ? Verdict::holds : Verdict::violated));
    }
  }
}

}  // namespace lockstep::checker::own_release_test
