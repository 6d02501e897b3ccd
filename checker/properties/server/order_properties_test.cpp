// Reports, re-entries and renewals: by hand, a violation beside the nearest innocent history; and at random against a definition that
// looks back from each operation instead of following the servers.

#include "checker/properties/server/order_properties.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "checker/testing/forged_history.hpp"
#include "checker/testing/symbolic_history.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::checker::order_properties_test {
namespace {

using namespace sim::literals;
using sim::Effect;
using sim::Operation;

Verdict truthful(const ForgedHistory& h) { return truthful_reports(h.history(), forged_names()).verdict; }
Verdict reentrant(const ForgedHistory& h) { return reentrancy(h.history(), forged_names()).verdict; }

// --- The definition, backwards.

/// What an effect did to one place of its object: nothing, or it came ('w'), went ('r'), or changed without a name ('n').
char done_to(const sim::History& h, const Effect& e, const std::string& member) {
  if (e.kind == Did::expire || e.kind == Did::lose) return 'r';
  if (e.kind != Did::write && e.kind != Did::remove) return 0;
  bool is_nameless = false;
  bool is_named = false;
  char done = 0;
  for (std::size_t i = e.first_member; i < e.first_member + e.members; ++i) {
    const sim::MemberChange& change = h.members[i];
    if (change.kind == sim::MemberChange::Kind::nameless) {
      is_nameless = true;
      continue;
    }
    is_named = true;
    if (change.member == member) done = change.kind == sim::MemberChange::Kind::removed ? 'r' : 'w';
  }
  if (e.kind == Did::remove && !is_nameless) return 'r';
  if (is_named && !is_nameless) return done;
  const Operation* o = e.operation == 0 ? nullptr : &h.operations[e.operation - 1];
  if (o != nullptr && !o->place.empty()) return o->place != member ? done : o->function == "release" ? 'r' : 'w';
  if (!member.empty()) return done;
  return is_nameless ? 'n' : 'w';
}

const std::vector<std::string> kMembers{"", "m0", "m1"};

bool is_take(const sim::History& h, const Effect& e) {
  if (e.kind != Did::write || e.operation == 0) return false;
  const Operation& o = h.operations[e.operation - 1];
  return (o.function == "acquire" || o.function == "reenter") && o.phase != Phase::fail;
}

/// Which holds have this place just before the effect at `position`.
std::set<sim::OperationId> holds_before(const sim::History& h, std::size_t position, const std::string& member) {
  const Effect& here = h.effects[position];
  std::size_t last = position;
  while (last-- > 0 && (h.effects[last].server != here.server || h.effects[last].object != here.object)) continue;
  if (last >= position) return {};
  const Effect& e = h.effects[last];
  std::set<sim::OperationId> holds = holds_before(h, last, member);
  const char done = done_to(h, e, member);
  if (done == 'r') return {};
  const Operation* o = e.operation == 0 ? nullptr : &h.operations[e.operation - 1];
  const auto thread = [&](sim::OperationId hold) { return h.operations[hold - 1].process; };
  if (done != 0 && is_take(h, e)) {
    const sim::OperationId own = o->function == "acquire" ? o->id : o->of;
    const bool is_alone = !o->is_shared && done == 'w' && o->phase == Phase::ok;
    const bool meets_others =
        std::any_of(holds.begin(), holds.end(), [&](auto hold) { return thread(hold) != o->process; });
    bool writes_again = false;
    for (std::size_t i = last + 1; i < h.effects.size(); ++i) {
      const Effect& later = h.effects[i];
      const bool is_same = later.operation == e.operation && later.server == e.server && later.object == e.object;
      writes_again = writes_again || (is_same && done_to(h, later, member) != 0 && later.kind != Did::expire &&
                                      later.kind != Did::lose);
    }
    if (!holds.contains(own) && !(is_alone && meets_others && writes_again)) {
      if (is_alone) std::erase_if(holds, [&](auto hold) { return thread(hold) != o->process; });
      holds.insert(own);
    }
  }
  // A release ends what its hold shared.
  if (o != nullptr && o->function == "release" && holds.contains(o->of) && e.kind != Did::read &&
      e.kind != Did::touch) {
    for (std::size_t i = 0; i <= last; ++i) {
      const Effect& first = h.effects[i];
      if (first.server != e.server || first.object != e.object || !is_take(h, first)) continue;
      const Operation& taker = h.operations[first.operation - 1];
      const sim::OperationId own = taker.function == "acquire" ? taker.id : taker.of;
      const char how = done_to(h, first, member);
      if (own != o->of || how == 0 || how == 'r' || holds_before(h, i, member).contains(own)) continue;
      bool is_later_gone = false;  // the take that counts is the last one that found it without
      for (std::size_t j = i + 1; j <= last; ++j) {
        const Effect& again = h.effects[j];
        if (again.server != e.server || again.object != e.object || !is_take(h, again)) continue;
        const Operation& other = h.operations[again.operation - 1];
        const sim::OperationId same = other.function == "acquire" ? other.id : other.of;
        const char what = done_to(h, again, member);
        if (same == own && what != 0 && what != 'r' && !holds_before(h, j, member).contains(own)) is_later_gone = true;
      }
      if (!is_later_gone && (taker.is_shared || how == 'n')) holds.erase(o->of);
    }
  }
  return holds;
}

bool has_place(const sim::History& h, std::size_t position, const std::string& member, sim::ProcessId thread) {
  const auto holds = holds_before(h, position, member);
  return std::any_of(holds.begin(), holds.end(), [&](auto hold) { return h.operations[hold - 1].process == thread; });
}

bool concerns(const sim::History& h, const Effect& e, const std::string& member) {
  return e.kind == Did::touch || done_to(h, e, member) != 0;
}

/// Whether it did something to a place that its thread had. Nothing: nobody knows.
std::optional<bool> is_rightly_reported(const sim::History& h, const Operation& o) {
  const sim::ProcessId thread = o.of == 0 ? o.process : h.operations[o.of - 1].process;
  bool did_something = false;
  bool is_granted = o.of == 0;
  bool is_mixed = false;
  for (std::size_t i = 0; i < h.effects.size(); ++i) {
    const Effect& e = h.effects[i];
    for (const std::string& member : kMembers) {
      const char done = done_to(h, e, member);
      if (is_take(h, e) && done != 0 && done != 'r') {
        const Operation& taker = h.operations[e.operation - 1];
        const sim::OperationId own = taker.function == "acquire" ? taker.id : taker.of;
        is_granted = is_granted || (own == o.of && taker.phase == Phase::ok);
        auto holds = holds_before(h, i, member);
        if (done == 'n' && !holds.contains(own)) {
          holds.insert(own);
          is_mixed = is_mixed || (holds.size() > 1 && holds.contains(o.of));
        }
      }
      if (e.operation != o.id || (e.kind != Did::write && e.kind != Did::touch && e.kind != Did::remove)) continue;
      did_something = true;
      if (!concerns(h, e, member)) continue;
      if (has_place(h, i, member, thread)) return true;
      // Had it been among several since somebody last removed it?
      for (std::size_t j = i; j-- > 0;) {
        const Effect& before = h.effects[j];
        if (before.server != e.server || before.object != e.object) continue;
        const char what = done_to(h, before, member);
        if (what == 'r') break;
        if (what != 'n' || !is_take(h, before)) continue;
        const Operation& taker = h.operations[before.operation - 1];
        auto holds = holds_before(h, j, member);
        const bool is_new = holds.insert(taker.function == "acquire" ? taker.id : taker.of).second;
        if (is_new && holds.size() > 1 && o.of != 0) is_mixed = true;
      }
    }
  }
  if (o.function == "leave" && !did_something) return true;
  if (!is_granted || is_mixed) return std::nullopt;
  return false;
}

bool has_false_report(const sim::History& h) {
  return std::any_of(h.operations.begin(), h.operations.end(), [&](const Operation& o) {
    const bool reports = o.function == "release" || o.function == "leave" || o.function == "renew";
    return reports && o.phase == sim::Phase::ok && is_rightly_reported(h, o) == false;
  });
}

/// Whether the hold's acquire, not a further one, had written to this place before the effect.
bool is_outer(const sim::History& h, std::size_t position, const std::string& member, sim::OperationId hold) {
  for (std::size_t j = position; j-- > 0;) {
    const Effect& e = h.effects[j];
    if (e.server != h.effects[position].server || e.object != h.effects[position].object || !is_take(h, e)) continue;
    const Operation& taker = h.operations[e.operation - 1];
    const char how = done_to(h, e, member);
    if (taker.function == "acquire" && taker.id == hold && how != 0 && how != 'r') return true;
  }
  return false;
}

/// Whether the thread has some place there after the last that the operation did there.
bool is_something_left(const sim::History& h, std::size_t position, sim::ProcessId thread) {
  std::size_t last = position;
  for (std::size_t i = position; i < h.effects.size(); ++i) {
    const Effect& e = h.effects[i];
    const bool is_change = e.kind != Did::read && e.kind != Did::reject;
    const Effect& first = h.effects[position];
    if (is_change && e.operation == first.operation && e.server == first.server && e.object == first.object) last = i;
  }
  sim::History after = h;
  Effect look = h.effects[last];
  look.kind = Did::read;
  after.effects.insert(after.effects.begin() + static_cast<std::ptrdiff_t>(last) + 1, look);
  return std::any_of(kMembers.begin(), kMembers.end(),
                     [&](const std::string& member) { return has_place(after, last + 1, member, thread); });
}

bool has_inner_removal(const sim::History& h) {
  for (std::size_t i = 0; i < h.effects.size(); ++i) {
    const Effect& e = h.effects[i];
    if (e.operation == 0 || h.operations[e.operation - 1].function != "leave") continue;
    const sim::ProcessId thread = h.operations[e.operation - 1].process;
    for (const std::string& member : kMembers) {
      if (done_to(h, e, member) != 'r') continue;
      for (const sim::OperationId hold : holds_before(h, i, member)) {
        const bool is_own = h.operations[hold - 1].process == thread && is_outer(h, i, member, hold);
        if (is_own && !is_something_left(h, i, thread)) return true;
      }
    }
  }
  return false;
}

/// Another order of the same: each server's own stays.
std::vector<Effect> interleaved_anew(const std::vector<Effect>& effects, sim::Random& random) {
  std::map<sim::ProcessId, std::deque<Effect>> of_server;
  for (const Effect& effect : effects) of_server[effect.server].push_back(effect);
  std::vector<Effect> order;
  while (order.size() < effects.size()) {
    auto& [server, left] = *std::next(of_server.begin(), random.between(0, std::ssize(of_server) - 1));
    if (left.empty()) continue;
    order.push_back(left.front());
    left.pop_front();
  }
  return order;
}

}  // namespace

TEST_CASE("truthful-reports: a release that says ok found its own lock") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, r, 21_ms);
  CHECK(truthful(h) == Verdict::holds);
}

TEST_CASE("truthful-reports: a release that says ok though the lease had run out") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  const Finding finding = truthful_reports(h.history(), forged_names());
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.by == std::vector{A});
  CHECK(finding.at->offset() == 22_ms);

  ForgedHistory honest;
  const auto b = grant(honest, A, 10_ms);
  honest.effect(Did::expire, server, {}, 0, 15_ms);
  honest.operation(A, "release", 20_ms, 22_ms, Phase::fail, b);
  CHECK(truthful(honest) == Verdict::holds);
}

TEST_CASE("truthful-reports: a release that removed the successor's lock is no success") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.effect(Did::expire, server, {}, 0, 15_ms);
  grant(h, B, 18_ms);
  const auto r = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, r, 21_ms);
  CHECK(truthful(h) == Verdict::violated);
}

TEST_CASE("truthful-reports: what was never got cannot be given back; a renewal is a report, too") {
  ForgedHistory h;
  h.operation(A, "release", 20_ms, 22_ms, Phase::ok);
  CHECK(truthful(h) == Verdict::violated);

  ForgedHistory renewed;
  const auto a = grant(renewed, A, 10_ms);
  const auto first = renewed.operation(D, "renew", 12_ms, 14_ms, Phase::ok, a);
  renewed.effect(Did::touch, server, D, first, 13_ms);
  CHECK(truthful(renewed) == Verdict::holds);
  renewed.operation(D, "renew", 16_ms, 18_ms, Phase::ok, a);
  CHECK(truthful(renewed) == Verdict::violated);
}

TEST_CASE("truthful-reports: readers have the lock together") {
  ForgedHistory again;
  for (const sim::ProcessId who : {A, B}) {
    const auto id = again.operation(who, "acquire", 8_ms, 10_ms);
    again.of(id).is_shared = true;
    again.effect(Did::write, server, who, id, 9_ms);
  }
  const auto r = again.operation(A, "release", 20_ms, 22_ms, Phase::ok, 1);
  again.effect(Did::write, server, A, r, 21_ms);
  CHECK(truthful(again) == Verdict::holds);
}

/// A and B have a member each; then A gives `freed` back, and is told `phase`.
ForgedHistory two_members(const std::string& freed, Phase phase) {
  ForgedHistory h;
  const auto a = h.operation(A, "acquire", 8_ms, 10_ms);
  h.effect(Did::write, server, A, a, 9_ms);
  h.member("a");
  const auto b = h.operation(B, "acquire", 11_ms, 13_ms);
  h.effect(Did::write, server, B, b, 12_ms);
  h.member("b");
  const auto release = h.operation(A, "release", 20_ms, 22_ms, phase, a);
  h.effect(Did::write, server, A, release, 21_ms);
  h.member(freed, sim::MemberChange::Kind::removed);
  return h;
}

TEST_CASE("truthful-reports: whose a member is does not change when another one is written") {
  CHECK(truthful(two_members("a", Phase::ok)) == Verdict::holds);
  CHECK(reentrant(two_members("a", Phase::ok)) == Verdict::holds);
  CHECK(truthful(two_members("b", Phase::ok)) == Verdict::violated);
  CHECK(truthful(two_members("b", Phase::fail)) == Verdict::holds);
}

TEST_CASE(
    "truthful-reports: a release that fails and frees all of its own is no more truthful; an unknown outcome is no "
    "report") {
  CHECK(truthful(two_members("a", Phase::fail)) == Verdict::violated);
  CHECK(truthful(two_members("a", Phase::info)) == Verdict::holds);
  // Of two servers it frees one: it may say so or not.
  for (const bool frees_both : {false, true}) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    h.effect(Did::write, second_server, A, a, 9_ms);
    const auto release = h.operation(A, "release", 20_ms, 25_ms, Phase::fail, a);
    h.effect(Did::remove, server, A, release, 21_ms);
    if (!frees_both) h.effect(Did::expire, second_server, {}, 0, 22_ms);
    if (frees_both) h.effect(Did::remove, second_server, A, release, 22_ms);
    CHECK((truthful(h) == Verdict::violated) == frees_both);
  }
}

TEST_CASE(
    "truthful-reports: an acquire that fails must take back what it made, and takes nothing by writing over "
    "another's") {
  for (const bool takes_back : {false, true}) {
    for (const Phase phase : {Phase::fail, Phase::info}) {
      ForgedHistory h;
      const auto a = h.operation(A, "acquire", 8_ms, 12_ms, phase);
      h.effect(Did::write, server, A, a, 9_ms);
      if (takes_back) h.effect(Did::remove, server, A, a, 11_ms);
      CHECK((truthful(h) == Verdict::violated) == (!takes_back && phase == Phase::fail));
    }
  }
  // A counts 1 and has it, B counts 2 and has not; A deletes the key.
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  h.member("", sim::MemberChange::Kind::nameless);
  const auto b = h.operation(B, "acquire", 11_ms, 13_ms, Phase::fail);
  h.effect(Did::write, server, B, b, 12_ms);
  h.member("", sim::MemberChange::Kind::nameless);
  const auto release = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, release, 21_ms);
  CHECK(truthful(h) == Verdict::holds);
  CHECK(reentrant(h) == Verdict::holds);
}

TEST_CASE("truthful-reports: what an acquire that fails left at a server to which nothing came back") {
  // Written at two servers; the undo reaches the first, or none; or it reaches the second before the write does.
  enum class Undo { none, first, second_too_early, both };
  for (const Undo undo : {Undo::none, Undo::first, Undo::second_too_early, Undo::both}) {
    for (const bool copy_comes_late : {false, true}) {
      ForgedHistory h;
      const auto a = h.operation(A, "acquire", 8_ms, 20_ms, Phase::fail);
      h.effect(Did::write, server, A, a, 9_ms);
      if (undo == Undo::second_too_early) h.effect(Did::read, second_server, A, a, 9_ms);
      if (undo == Undo::second_too_early) h.effect(Did::read, second_server, A, a, 10_ms);
      if (!copy_comes_late) h.effect(Did::write, second_server, A, a, 11_ms);
      if (undo != Undo::none) h.effect(Did::remove, server, A, a, 12_ms);
      if (copy_comes_late) h.effect(Did::write, second_server, A, a, 13_ms);
      if (undo == Undo::both) h.effect(Did::remove, second_server, A, a, 14_ms);
      CHECK((truthful(h) == Verdict::violated) == (undo == Undo::none || undo == Undo::second_too_early));
    }
  }
  // That the second server refused it is no attempt to take it back.
  ForgedHistory h;
  const auto a = h.operation(A, "acquire", 8_ms, 20_ms, Phase::fail);
  h.effect(Did::write, server, A, a, 9_ms);
  h.effect(Did::read, second_server, A, a, 11_ms);
  CHECK(truthful(h) == Verdict::violated);
}

// An explored trace stands for all orders of what is independent, and what servers do is: it is told in one of them.
TEST_CASE("order: how the servers' own orders are interleaved makes no difference") {
  sim::Random random(20261123);
  std::size_t broken = 0;
  std::size_t others = 0;
  for (std::uint64_t seed = 0; seed < sim::cases<std::uint64_t>(4'000, 400); ++seed) {
    SymbolicHistory symbolic(seed, {.has_members = seed % 2 == 1, .has_nested = seed % 3 == 1});
    const auto times = symbolic.constraints().solution_ns();
    REQUIRE(times);
    const sim::History h = at_times(symbolic.history(), symbolic.faults(), *times);
    const std::vector<Breach> breaches = order_breaches(OrderedHistory::all_of(h));
    const std::vector<Effect> order = interleaved_anew(h.effects, random);
    const std::vector<Breach> again = order_breaches({h.operations, order, h});
    const auto told = [](const Breach& b) { return std::tuple(b.property, b.by, b.operation, b.is_unknown); };
    INFO("history " << seed);
    REQUIRE(std::equal(breaches.begin(), breaches.end(), again.begin(), again.end(),
                       [&](const Breach& a, const Breach& b) { return told(a) == told(b); }));
    broken += breaches.empty() ? 0 : 1;
    const auto is_same = [](const Effect& a, const Effect& b) { return a.server == b.server && a.step == b.step; };
    others += std::equal(order.begin(), order.end(), h.effects.begin(), h.effects.end(), is_same) ? 0 : 1;
  }
  CHECK(broken > sim::cases<std::size_t>(400, 40));
  CHECK(others > sim::cases<std::size_t>(1'000, 100));
}

TEST_CASE(
    "truthful-reports: where nobody can know whose a part is, nobody is blamed, and where the algorithm says so, who "
    "lies is") {
  for (const bool is_named : {false, true}) {
    ForgedHistory h;
    const auto counts = [&](sim::ProcessId who, std::string_view function, Duration at, sim::OperationId of,
                            const std::string& name) {
      const auto id = h.operation(who, function, at - 2_ms, at, Phase::ok, of);
      if (is_named) h.of(id).place = name;
      h.effect(Did::write, server, who, id, at - 1_ms);
      h.member("", sim::MemberChange::Kind::nameless);
      return id;
    };
    const auto a = counts(A, "acquire", 10_ms, 0, "a");
    const auto b = counts(B, "acquire", 20_ms, 0, "b");
    counts(A, "release", 30_ms, a, "a");
    CHECK(truthful(h) == Verdict::holds);
    counts(A, "release", 40_ms, a, "a");
    CHECK(truthful(h) == (is_named ? Verdict::violated : Verdict::unknown));
    counts(B, "release", 50_ms, b, "b");
  }
  // What leaves nothing behind cannot be found: a list from which it took an element.
  ForgedHistory h;
  const auto a = h.operation(A, "acquire", 8_ms, 10_ms);
  h.effect(Did::remove, server, A, a, 9_ms);
  h.member("", sim::MemberChange::Kind::nameless);
  const auto release = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::write, server, A, release, 21_ms);
  h.member("", sim::MemberChange::Kind::nameless);
  CHECK(truthful(h) == Verdict::unknown);
}

TEST_CASE("reentrancy: the last release frees, and only that") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto again = h.operation(A, "reenter", 12_ms, 14_ms, Phase::ok, a);
  h.effect(Did::write, server, A, again, 13_ms);
  const auto inner = h.operation(A, "leave", 16_ms, 18_ms, Phase::ok, a);
  h.effect(Did::write, server, A, inner, 17_ms);
  const auto outer = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, outer, 21_ms);
  CHECK(reentrant(h) == Verdict::holds);
}

TEST_CASE("reentrancy: an inner release that frees") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto inner = h.operation(A, "leave", 16_ms, 18_ms, Phase::ok, a);
  h.effect(Did::remove, server, A, inner, 17_ms);
  const Finding finding = reentrancy(h.history(), forged_names());
  CHECK(finding.verdict == Verdict::violated);
  CHECK(finding.at->offset() == 17_ms);
}

TEST_CASE("reentrancy: an inner release that gives back a place of its own frees nothing; the last of all does") {
  using enum sim::MemberChange::Kind;
  // The outer acquire writes `writer`, the inner one `reader`; the inner release removes `gone`, and perhaps the other.
  const auto verdict = [](const std::string& gone, bool both) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    h.member("writer");
    const auto again = h.operation(A, "reenter", 12_ms, 14_ms, Phase::ok, a);
    h.effect(Did::write, server, A, again, 13_ms);
    h.member("reader");
    const auto inner = h.operation(A, "leave", 16_ms, 18_ms, Phase::ok, a);
    h.effect(Did::write, server, A, inner, 17_ms);
    h.member(gone, removed);
    if (both) h.member(gone == "reader" ? "writer" : "reader", removed);
    return reentrant(h);
  };
  CHECK(verdict("reader", false) == Verdict::holds);
  CHECK(verdict("writer", false) == Verdict::holds);  // the reader's is left
  CHECK(verdict("reader", true) == Verdict::violated);
}

TEST_CASE("reentrancy: a last release that does not free") {
  ForgedHistory h;
  const auto a = grant(h, A, 10_ms);
  const auto outer = h.operation(A, "release", 20_ms, 22_ms, Phase::ok, a);
  h.effect(Did::write, server, A, outer, 21_ms);
  CHECK(reentrant(h) == Verdict::violated);

  // One more acquire than releases: then it is right that it is not free.
  ForgedHistory balanced;
  const auto b = grant(balanced, A, 10_ms);
  const auto again = balanced.operation(A, "reenter", 12_ms, 14_ms, Phase::ok, b);
  balanced.effect(Did::write, server, A, again, 13_ms);
  const auto only = balanced.operation(A, "release", 20_ms, 22_ms, Phase::ok, b);
  balanced.effect(Did::write, server, A, only, 21_ms);
  CHECK(reentrant(balanced) == Verdict::holds);
}

TEST_CASE("reentrancy: whoever holds it is not refused, unless the hold is not certain") {
  for (const bool expires : {false, true}) {
    ForgedHistory h;
    const auto a = grant(h, A, 10_ms);
    h.operation(A, "reenter", 12_ms, 14_ms, Phase::fail, a);
    if (expires) h.effect(Did::expire, server, {}, 0, 18_ms);
    const auto outer = h.operation(A, "release", 20_ms, 22_ms, expires ? Phase::fail : Phase::ok, a);
    if (!expires) h.effect(Did::remove, server, A, outer, 21_ms);
    CHECK(reentrant(h) == (expires ? Verdict::holds : Verdict::violated));
  }
}

TEST_CASE("reports and inner releases: following the servers gives what looking back from each effect gives") {
  std::size_t false_reports = 0;
  std::size_t removals = 0;
  for (std::uint64_t seed = 0; seed < 6'000; ++seed) {
    SymbolicHistory symbolic(seed, {.has_members = seed % 2 == 1, .has_nested = true});
    const auto times = symbolic.constraints().solution_ns();
    REQUIRE(times);
    const sim::History h = at_times(symbolic.history(), symbolic.faults(), *times);
    const std::vector<Breach> breaches = order_breaches(OrderedHistory::all_of(h));
    const auto has = [&](std::string_view property, std::string_view function) {
      return std::any_of(breaches.begin(), breaches.end(), [&](const Breach& breach) {
        const bool is_report =
            property != "truthful-reports" || h.operations[breach.operation - 1].phase != Phase::fail;
        return breach.property == property && !breach.is_unknown && is_report &&
               (function.empty() || h.operations[breach.operation - 1].function == function);
      });
    };
    INFO("history " << seed);
    REQUIRE(has("truthful-reports", "") == has_false_report(h));
    REQUIRE(has("reentrancy", "leave") == has_inner_removal(h));
    false_reports += has("truthful-reports", "") ? 1 : 0;
    removals += has_inner_removal(h) ? 1 : 0;
  }
  CHECK(false_reports > 300);
  CHECK(removals > 30);
}

}  // namespace lockstep::checker::order_properties_test
