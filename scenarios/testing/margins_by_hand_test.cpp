// Margins that were worked out on paper. The argument stands above each: an explorer, its grid and its reduction can be wrong together.

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "scenarios/checking/check.hpp"
#include "scenarios/checking/parameters.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/broken_search.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::margins_by_hand_test {
namespace {

using testing::catalogue;

using namespace sim::literals;
using checker::Extent;
using checker::Verdict;
using sim::Duration;

Scenario story_of(const std::string& text) {
  const std::string head =
      "title = { en = \"t\", zh = \"t\" }\nstory = { en = \"s\", zh = \"s\" }\nlesson = { en = \"l\", zh = \"l\" }\n";
  auto loaded = parse(head + text, "by-hand.toml", catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

Exploration explored(const Scenario& story, checker::JudgingMutant mutant = checker::JudgingMutant::none) {
  ExplorationOptions options;
  options.alter_search = testing::broken(mutant);
  auto result = explore(story, catalogue(), options);
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  Exploration exploration = std::get<Exploration>(std::move(result));
  CHECK(exploration.counts.complete);
  return exploration;
}

Exploration explored(const std::string& text, checker::JudgingMutant mutant = checker::JudgingMutant::none) {
  return explored(story_of(text), mutant);
}

/// Of mutual exclusion, and its only one. Nothing: it holds.
std::optional<Extent> margin(const std::string& text) {
  const Exploration exploration = explored(text);
  const ExploredProperty& property = exploration.property("mutual-exclusion");
  INFO(property.why);
  if (property.verdict == Verdict::holds) return std::nullopt;
  REQUIRE(property.verdict == Verdict::violated);
  REQUIRE(property.witness);
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().is_exact);
  return property.thresholds.front().infimum;
}

constexpr std::string_view kLeased =
    "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"80ms\"\n[network]\nlatency = [\"2ms\", \"8ms\"]\n[[client]]\nname "
    "= [\"A\", "
    "\"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"15ms\"\nattempts = 1\n";

std::string pauses(std::string_view more, int times, std::string_view longest = "1s") {
  return fmt::format("[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"{}\"]\ntimes = {}\n{}", longest, times, more);
}

/// One after the other at most a majority of three: A holds if all answer. Its validity ends at ttl - 1 % - 2ms after it began.
std::string redlock(std::string_view ttl, std::string_view hold) {
  return fmt::format(
      "[lock]\nalgorithm = \"redlock-seq\"\nttl = \"{}\"\n[network]\nlatency = \"1ms\"\n[servers]\ncount = "
      "3\n[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"{}\"\nattempts = 1\n",
      ttl, hold);
}

}  // namespace

TEST_CASE("by hand: a server's clock jumps to the end of a lease that was to be renewed") {
  // Granted at 1 for 21, renewed when 7 have gone by since A knows: the renewal comes at 10. A jump of J just before it ends the
  // lease there if 10 + J >= 22; later J has to be larger. A believes from 2 on.
  const std::string world =
      "[lock]\nalgorithm = \"redisson-lock\"\nwatchdog_timeout = \"21ms\"\n[[client]]\nname = \"A\"\nhold = "
      "\"10ms\"\nattempts = 1\n[[may]]\nkind = \"jump\"\nby = ";
  const auto verdict = [&](std::string_view range) {
    return explored(fmt::format("{}{}\n", world, range)).property("faithful-renewal");
  };
  for (const std::string_view range : {"[\"0ms\", \"30ms\"]", "[\"-5ms\", \"12ms\"]", "[\"12ms\", \"13ms\"]"}) {
    const ExploredProperty found = verdict(range);
    INFO(range << " " << found.why);
    REQUIRE(found.verdict == Verdict::violated);
    REQUIRE(found.thresholds.size() == 1);
    CHECK(found.thresholds.front().is_exact);
    CHECK(found.thresholds.front().infimum == Extent{12_ms, true});
  }
  CHECK(verdict("[\"0ms\", \"11999999ns\"]").verdict == Verdict::holds);
  CHECK(verdict("\"12ms\"").verdict == Verdict::violated);
  CHECK(verdict("\"11999999ns\"").verdict == Verdict::holds);
}

TEST_CASE("by hand: a lease against one pause, two and three, of the work or of anything") {
  // A's reply takes 8, it works 15 and is paused for P in all: it believes until 23 + P after the server granted it. The key is gone 80 after that, and B
  // knows 2 later. 23 + P > 82; all of P may be in one place, and of n pauses each must be a little longer than a share.
  const std::string base(kLeased);
  for (const char* during : {"during = \"work\"\n", ""}) {
    CHECK(margin(base + pauses(during, 1)) == Extent{59_ms, false});
    CHECK(margin(base + pauses(during, 2)) == Extent{29'500_us, false});
  }
  CHECK(margin(base + pauses("during = \"work\"\n", 3)) == Extent{19'666'666_ns, false});
  // In one table or in two; and with a short one allowed besides, the other may be that much shorter.
  CHECK(margin(base + pauses("during = \"work\"\n", 1) + pauses("during = \"work\"\n", 1)) == Extent{29'500_us, false});
  CHECK(margin(base + pauses("during = \"work\"\n", 1) + pauses("during = \"work\"\n", 1, "10ms")) ==
        Extent{49_ms, false});
  // Up to the margin itself nothing breaks.
  CHECK_FALSE(margin(base + pauses("during = \"work\"\n", 2, "29500us")));
  CHECK_FALSE(margin(base + pauses("", 2, "29500us")));
  CHECK(margin(base + pauses("", 2, "29501us")));
}

TEST_CASE("by hand: a validity that ends inside a work that is paused") {
  // A's SETs are handled at 1, 3, 5; it begins at 0 and is valid until 100 - 1 - 2 = 97. The third key ends at 105, so B knows at 106 at the earliest.
  // The pause must begin by 97, or it is noticed at once, and end after 106.
  CHECK(margin(redlock("100ms", "120ms") + pauses("", 1)) == Extent{9_ms, false});
  CHECK(margin(redlock("100ms", "120ms") + pauses("during = \"work\"\n", 1)) == Extent{9_ms, false});
  // Two that adjoin.
  if (!sim::takes_few_cases()) CHECK(margin(redlock("100ms", "120ms") + pauses("", 2)) == Extent{4'500_us, false});
  CHECK(margin(redlock("100ms", "120ms") + pauses("during = \"work\"\n", 2)) == Extent{4'500_us, false});
  // The work would end at 6 + 90 = 96, before the deadline: so a pause begins there at the latest.
  CHECK(margin(redlock("100ms", "90ms") + pauses("", 1)) == Extent{10_ms, false});
  if (!sim::takes_few_cases()) CHECK_FALSE(margin(redlock("100ms", "120ms") + pauses("", 2, "4500us")));
}

namespace {

std::string timestamps(std::string_view may) {
  return "[lock]\nalgorithm = \"getset-java\"\nttl = \"200ms\"\n[network]\nlatency = [\"2ms\", "
         "\"7ms\"]\n[[client]]\nname = [\"A\", "
         "\"B\"]\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"30ms\"\nattempts = 1\n" +
         std::string(may);
}

std::string skews(std::string_view from, std::string_view to, int times) {
  return fmt::format("[[may]]\nkind = \"skew\"\nby = [\"{}\", \"{}\"]\ntimes = {}\n", from, to, times);
}

}  // namespace

TEST_CASE("by hand: clocks that are off, one and two, to one side and to both") {
  // A writes its clock + 201 (the code adds a millisecond), believes for 7 + 7 + 30 = 44 at most from then. B reads that, finds its own clock beyond it, and
  // knows 2 + 2 later that it has the lock: its clock must be ahead of A's by more than 201 - (44 - 4) = 161.
  CHECK(margin(timestamps(skews("0s", "1s", 1))) == Extent{161_ms, false});
  // Two of which one is ahead and one behind: half each. To one side alone two are no worse than one.
  CHECK(margin(timestamps(skews("-1s", "1s", 2))) == Extent{80'500_us, false});
  CHECK(margin(timestamps(skews("0s", "1s", 2))) == Extent{161_ms, false});
  // To both sides, one clock: B ahead, or A behind.
  const Exploration both = explored(timestamps(skews("-1s", "1s", 1)));
  const std::vector<Threshold>& sides = both.property("mutual-exclusion").thresholds;
  REQUIRE(sides.size() == 2);
  CHECK(sides[0].infimum == Extent{161_ms, false});
  CHECK(sides[1].infimum == Extent{-161_ms, false});
  CHECK_FALSE(sides[0].is_downward);
  CHECK(sides[1].is_downward);
}

TEST_CASE("by hand: judges that are broken on purpose give other margins") {
  using Mutant = checker::JudgingMutant;
  const auto first_margin = [](const std::string& text, Mutant mutant) -> std::optional<Extent> {
    const Exploration exploration = explored(text, mutant);
    const std::vector<Threshold>& thresholds = exploration.property("mutual-exclusion").thresholds;
    if (thresholds.empty()) return std::nullopt;
    return thresholds.front().infimum;
  };
  const std::string deadline = redlock("100ms", "120ms") + pauses("", 1);
  CHECK(first_margin(deadline, Mutant::none) == Extent{9_ms, false});
  CHECK(first_margin(deadline, Mutant::deadlines_in_pauses) != Extent{9_ms, false});
  CHECK(first_margin(deadline, Mutant::pauses_begin_late) != Extent{9_ms, false});
  const std::string clocks = timestamps(skews("-1s", "1s", 2));
  CHECK(first_margin(clocks, Mutant::one_clock_is_right) != Extent{80'500_us, false});
}

TEST_CASE("by hand: a pause and a skew together") {
  // A pause of A's work prolongs it: 44 + P - 4 > 201 - S. Each alone is not needed where the other is large enough.
  const Exploration one = explored(timestamps(skews("0s", "1s", 1) + pauses("", 1)));
  CHECK(one.property("mutual-exclusion").frontier == "skew + pause > 161ms");
  // So neither margin stands alone: without the other each is 161ms.
  for (const Threshold& threshold : one.property("mutual-exclusion").thresholds) {
    CHECK(threshold.infimum == Extent{0_ms, true});
    CHECK(threshold.together_with.size() == 1);
    CHECK(threshold.alone == Extent{161_ms, false});
  }
  // The same to both sides: B's clock ahead, or A's behind.
  const Exploration sides = explored(timestamps(skews("-1s", "1s", 1) + pauses("", 1)));
  CHECK(sides.property("mutual-exclusion").frontier == "pause - skew > 161ms or skew + pause > 161ms");
  REQUIRE(sides.property("mutual-exclusion").thresholds.size() == 2);
  for (const Threshold& threshold : sides.property("mutual-exclusion").thresholds) {
    CHECK(threshold.infimum == Extent{0_ms, true});
    CHECK(threshold.together_with.size() == 1);
    CHECK(threshold.alone == Extent{161_ms, false});
  }
  // None alone, where both ranges end before it: S + P > 161 with 100 of each wants 61 at least.
  const Exploration none = explored(timestamps(skews("0s", "100ms", 1) + pauses("", 1, "100ms")));
  for (const Threshold& threshold : none.property("mutual-exclusion").thresholds) {
    CHECK(threshold.infimum == Extent{61_ms, false});
    CHECK(threshold.together_with.size() == 1);
    CHECK_FALSE(threshold.alone);
  }
  // Of two pauses each is at most P.
  const Exploration two = explored(timestamps(skews("0s", "1s", 1) + pauses("during = \"work\"\n", 2)));
  CHECK(two.property("mutual-exclusion").frontier == "skew + 2 pause > 161ms");
  // Two clocks, one ahead and one behind.
  const Exploration clocks = explored(timestamps(skews("-1s", "1s", 2) + pauses("during = \"work\"\n", 1)));
  CHECK(clocks.property("mutual-exclusion").frontier == "2 skew + pause > 161ms");
  // Where no skew matters, there is no frontier: the margin of the pause says it all.
  const Exploration lease = explored(std::string(kLeased) + skews("0s", "1s", 1) + pauses("", 1));
  CHECK(lease.property("mutual-exclusion").frontier.empty());
  for (const Threshold& threshold : lease.property("mutual-exclusion").thresholds) {
    const bool is_pause = threshold.parameter == "pause";
    CHECK(threshold.together_with.empty() == is_pause);
    CHECK(threshold.alone.has_value() == is_pause);
  }
}

TEST_CASE("by hand: three ranges together, in any order of their tables") {
  // A reads B's timestamp, or B reads A's: 44 + P + D - 4 > 201 - S, where a reply that is late by D is known so much later.
  const std::string delays = "[[may]]\nkind = \"delay\"\nclient = \"A\"\nlength = [\"0ms\", \"100ms\"]\n";
  const std::string pause = pauses("client = \"A\"\n", 1, "100ms");
  const std::string skew = "[[may]]\nkind = \"skew\"\nclient = \"B\"\nby = [\"0ms\", \"100ms\"]\n";
  CHECK(explored(timestamps(delays + pause + skew)).property("mutual-exclusion").frontier ==
        "delay + pause + skew > 161ms");
  CHECK(explored(timestamps(skew + delays + pause)).property("mutual-exclusion").frontier ==
        "skew + delay + pause > 161ms");
}

TEST_CASE("by hand: one parameter, given the other") {
  Scenario story = story_of(timestamps(skews("0s", "1s", 1) + pauses("", 1)));
  CHECK_FALSE(give(story, "skew", 20_ms));
  const Exploration exploration = explored(story);
  // Pause and skew together are more than 161ms: the skew at most 20 of them.
  for (const Threshold& threshold : exploration.property("mutual-exclusion").thresholds) {
    INFO(threshold.parameter);
    if (threshold.parameter == "pause") CHECK(threshold.infimum == Extent{141_ms, false});
  }
  CHECK(give(story, "pause", -1_ms));
  CHECK(give(story, "skew", -1_ms));  // its range is from 0 on
  Scenario sides = story_of(timestamps(skews("-1s", "1s", 1)));
  CHECK_FALSE(give(sides, "skew", -170_ms));
  const Exploration behind = explored(sides);  // to that side alone
  REQUIRE(behind.property("mutual-exclusion").thresholds.size() == 1);
  CHECK(behind.property("mutual-exclusion").thresholds.front().infimum == Extent{-161_ms, false});
  CHECK(give(story, "pause", 2'000_ms) == std::nullopt);  // all of its range
}

TEST_CASE("by hand: DELEX and DELIFEQ give nobody else's lock back, a plain DEL does; none lengthens the lease") {
  // A knows 8 after its SET at the latest and works 15; B's SET comes 80 after A's at the earliest and is known 2 later:
  // 8 + 15 + P > 80 + 2. A plain DEL travels 8 more, and removes what B's SET has made from 8 + 15 + P + 8 = 80 on.
  for (const std::string algorithm : {"set-nx-px-delex", "set-nx-px-delifeq", "set-nx-px-lua", "set-nx-px-plain-del"}) {
    std::string text(kLeased);
    text.replace(text.find("set-nx-px-lua"), 13, algorithm);
    const Exploration found = explored(text + pauses("", 1));
    const ExploredProperty& exclusion = found.property("mutual-exclusion");
    INFO(algorithm << ": " << exclusion.why);
    REQUIRE(exclusion.thresholds.size() == 1);
    CHECK(exclusion.thresholds.front().infimum == Extent{59_ms, false});
    const ExploredProperty& own = found.property("own-release");
    const bool deletes_any = algorithm == "set-nx-px-plain-del";
    CHECK(own.verdict == (deletes_any ? Verdict::violated : Verdict::holds));
    if (deletes_any) CHECK(own.thresholds.front().infimum == Extent{49_ms, true});
  }
}

TEST_CASE("by hand: a server that forgets does harm if it comes back soon") {
  // A's SET is handled at 1, and A believes from 2 to 62. The server dies just after the SET, and is back 1 + R; B has the lock at 2 + R at the earliest.
  const Exploration soon = explored(std::string(
      "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n[network]\nlatency = \"1ms\"\n[[client]]\nname = "
      "[\"A\", \"B\"]\nacquire_at = [\"0ms\", \"300ms\"]\nhold = \"60ms\"\nattempts = 1\n[[may]]\nkind = \"crash\"\n"
      "server = \"redis\"\nrestart_after = [\"5ms\", \"400ms\"]\n"));
  const ExploredProperty& property = soon.property("mutual-exclusion");
  REQUIRE(property.verdict == Verdict::violated);
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().is_exact);
  CHECK(property.thresholds.front().values ==
        std::vector<checker::ValueInterval>{{Extent{5_ms, true}, Extent{60_ms, false}}});
}

TEST_CASE("by hand: a deadline that comes only after the work is no reason to believe for longer") {
  // A is valid until 97 at the latest, and its work would end at 6 + 20 = 26: paused for P at its end, it gives back at 26 + P. B knows at 106 at the earliest.
  // linearizable asks the same of the moments at which operations are known: none of it is reported without a run that shows it.
  const Exploration late = explored(redlock("100ms", "20ms") + pauses("during = \"work\"\n", 2));
  for (const char* name : {"mutual-exclusion", "linearizable"}) {
    const ExploredProperty& property = late.property(name);
    INFO(name << ": " << property.why);
    REQUIRE(property.verdict == Verdict::violated);
    // One that begins at 26 covers the deadline only if it lasts until then: 26 + 2P > 106.
    CHECK(property.thresholds.front().infimum == Extent{40_ms, false});
  }
  CHECK(late.unconfirmed == 0);
}

TEST_CASE("by hand: a margin of restart_after is that of the key, whatever the server adds to it") {
  // A's SET is handled at 1 and A works from 2 to 52. The server forgets it at 1 at the earliest, and is back after r and its own delay d: B is
  // told at 2 + r + d, which is before 52 for each r below 50 - d.
  for (const int delay : {0, 10, 49}) {
    const Exploration forgets = explored(fmt::format(
        "[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n[network]\nlatency = \"1ms\"\ntimeout = \"20ms\"\n"
        "[[server]]\nrestart_delay = \"{}ms\"\n"
        "[[client]]\nname = \"A\"\nhold = \"50ms\"\n"
        "[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"100ms\"]\nattempts = 1\nhold = \"5ms\"\n"
        "[[may]]\nkind = \"crash\"\nserver = \"redis\"\nrestart_after = [\"0ms\", \"100ms\"]\n",
        delay));
    INFO("restart_delay = " << delay << "ms");
    CHECK(forgets.unconfirmed == 0);
    CHECK(forgets.disagreements == 0);
    const ExploredProperty& property = forgets.property("mutual-exclusion");
    INFO(property.why);
    REQUIRE(property.verdict == Verdict::violated);
    CHECK(property.thresholds.front().range == sim::DurationRange{0_ms, 100_ms});
    CHECK(property.thresholds.front().greatest() == Extent{Duration::milliseconds(50 - delay), false});
    // The witness is a file in which the server has its delay, too.
    REQUIRE(property.witness);
    CHECK(property.witness->servers.front().restart_delay == Duration::milliseconds(delay));
  }
}

TEST_CASE("by hand: an answer that is kept back by a pause never comes if its server crashes in it") {
  const std::string base =
      "[lock]\nalgorithm = \"set-nx-px-plain-del\"\nttl = \"4ms\"\n[[client]]\nname = \"A\"\nacquire_at = "
      "[\"1ms\", \"2ms\"]\nattempts = 1\n[[client]]\nname = \"B\"\nacquire_at = \"2ms\"\nattempts = 1\n";
  const std::string crash = "[[may]]\nkind = \"crash\"\nserver = \"redis\"\nrestart_after = \"2ms\"\n";
  const auto pause = [](std::string_view length) {
    return fmt::format("[[may]]\nkind = \"pause\"\nserver = \"redis\"\nlength = {}\n", length);
  };
  const auto progress = [](const std::string& text) {
    const Exploration exploration = explored(text);
    CHECK(exploration.unconfirmed == 0);
    CHECK(exploration.disagreements == 0);
    return exploration.property("progress");
  };
  // B's SET is handled at 3, and a pause begins before it is answered. A crash within that pause, however short it is,
  // leaves B without an answer and, since it had reached its server, without a reset: it waits for ever.
  for (const std::string& faults : {pause("[\"0ms\", \"2ms\"]") + crash, crash + pause("[\"0ms\", \"2ms\"]")}) {
    const ExploredProperty& broken = progress(base + faults);
    INFO(broken.why);
    REQUIRE(broken.verdict == Verdict::violated);
    REQUIRE(broken.witness);
    REQUIRE(broken.thresholds.size() == 1);
    CHECK(broken.thresholds.front().is_exact);
    CHECK(broken.thresholds.front().infimum == Extent{0_ms, false});
  }
  // A crash at a moment is no crash within it.
  CHECK(progress(base + pause("\"0ms\"") + crash).verdict == Verdict::holds);
  // Either alone: what is kept back leaves when the pause is over, and what is answered at once has left.
  CHECK(progress(base + pause("[\"0ms\", \"2ms\"]")).verdict == Verdict::holds);
  CHECK(progress(base + crash).verdict == Verdict::holds);
  // Of a server that nobody waits for without end.
  CHECK(progress("[network]\ntimeout = \"5ms\"\n" + base + pause("[\"0ms\", \"2ms\"]") + crash).verdict ==
        Verdict::holds);
  // The client dies in its own pause: whom it had told, has nothing to wait for.
  CHECK(progress(base + "[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"2ms\"]\n" +
                 "[[may]]\nkind = \"crash\"\nclient = \"A\"\n")
            .verdict == Verdict::holds);
}

TEST_CASE("by hand: who waits as long as an answer said waits from when it came, however late that was") {
  // Redisson, latency 1ms, lease 100ms. A has the lock from 1ms on at the server, B learns there at 10ms that 91ms are
  // left, and hears it at 11ms + d: it asks again at the server at 103ms + d, and has the lock for 3ms. C asks there at
  // 111ms, works for 200ms, and its lease ends at 211ms. If B came before it, that is all; else B gets the lock at 213ms
  // while C still works. At d = 8ms either may be first.
  const std::string story =
      "[lock]\nalgorithm = \"redisson-lock\"\nlease = \"100ms\"\nwait = \"1s\"\n[network]\nlatency = \"1ms\"\ntimeout "
      "= "
      "\"400ms\"\n[[client]]\nname = \"A\"\nhold = \"30ms\"\nrelease = false\n[[client]]\nname = \"B\"\nacquire_at = "
      "\"5ms\"\nhold = \"3ms\"\nattempts = 1\n[[client]]\nname = \"C\"\nacquire_at = \"110ms\"\nhold = \"200ms\"\n"
      "attempts = 1\n[[may]]\n";
  const std::string late_answer = "kind = \"delay\"\nclient = \"B\"\nmessage = \"EVAL\"\ndirection = \"reply\"\n";
  // The answer leaves late, or is heard late; a cut connection delays the question or the answer.
  for (const std::string& fault :
       {late_answer, std::string("kind = \"pause\"\nclient = \"B\"\n"),
        std::string("kind = \"pause\"\nserver = \"redis\"\n"), std::string("kind = \"partition\"\nclient = \"B\"\n")}) {
    INFO(fault);
    CHECK(margin(story + fault + "length = \"7ms\"\n") == std::nullopt);
    const Exploration at_once = explored(story + fault + "length = \"8ms\"\n");
    CHECK(at_once.property("mutual-exclusion").verdict == Verdict::violated);
    CHECK(at_once.unconfirmed == 0);
    // Of a range the wait is the sum of two differences: only a run tells which times are possible.
    auto result = check(story_of(story + fault + "length = [\"0ms\", \"60ms\"]\n"), catalogue());
    REQUIRE(std::holds_alternative<Exploration>(result));
    const Exploration& ranged = std::get<Exploration>(result);
    const ExploredProperty& broken = ranged.property("mutual-exclusion");
    CHECK(ranged.disagreements == 0);
    REQUIRE(broken.verdict == Verdict::violated);
    REQUIRE(broken.thresholds.size() == 1);
    CHECK_FALSE(broken.thresholds.front().is_exact);
    CHECK(broken.thresholds.front().infimum.value >= 8_ms);
    CHECK(explored(story + fault + "length = [\"0ms\", \"7ms\"]\n").property("mutual-exclusion").verdict !=
          Verdict::violated);
  }
  // Nobody holds up B's answers here: it does not wait till the end of its patience, and `progress` holds.
  const Exploration another = explored(
      "[lock]\nalgorithm = \"redisson-lock\"\nwatchdog_timeout = \"100ms\"\n[network]\nlatency = \"1ms\"\ntimeout = "
      "\"50ms\"\n[[client]]\nname = \"A\"\nhold = \"30ms\"\n[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", "
      "\"200ms\"]\nhold = \"30ms\"\n[[may]]\nkind = \"pause\"\nclient = \"A\"\nlength = [\"0ms\", \"500ms\"]\n");
  CHECK(another.property("progress").verdict == Verdict::holds);
  CHECK(another.unconfirmed == 0);
}

TEST_CASE("by hand: whether a lock comes back where servers died") {
  const auto recoverable = [](std::string_view quorum) {
    return explored(
               fmt::format("[lock]\nalgorithm = \"redlock-seq\"\nttl = \"200ms\"\nquorum = {}\n[network]\nlatency = "
                           "\"1ms\"\ntimeout = \"20ms\"\n[servers]\ncount = 3\n[[client]]\nname = \"A\"\nhold = "
                           "\"20ms\"\nattempts = 1\n[[may]]\nkind = \"crash\"\nserver = \"redis2\"\n",
                           quorum))
        .property("recoverable")
        .verdict;
  };
  // No key is left, but of three servers that all have to say yes one is dead.
  CHECK(recoverable("3") == Verdict::violated);
  CHECK(recoverable("2") == Verdict::holds);
}

TEST_CASE("by hand: a lease against messages that are late") {
  // A's answer takes 8 + D, and A works 15: it believes until 23 + D after the server granted it, and B knows 82 after that. No other message matters, and one
  // message is struck once.
  const std::string base(kLeased);
  const auto delay = [](std::string_view more, int times = 1) {
    return fmt::format("[[may]]\nkind = \"delay\"\nlength = [\"0ms\", \"1s\"]\ntimes = {}\n{}", times, more);
  };
  CHECK(margin(base + delay("")) == Extent{59_ms, false});
  CHECK(margin(base + delay("", 2)) == Extent{59_ms, false});
  CHECK(margin(base + delay("direction = \"reply\"\nmessage = \"SET\"\n")) == Extent{59_ms, false});
  CHECK(margin(base + delay("during = \"acquire\"\n")) == Extent{59_ms, false});
  CHECK(margin(base + delay("direction = \"request\"\n")) == std::nullopt);
  CHECK(margin(base + delay("message = \"EVAL\"\n")) == std::nullopt);
  CHECK(margin(base + delay("during = \"release\"\n")) == std::nullopt);
}

TEST_CASE("by hand: a lease against partitions") {
  // The answer waits for the end of a partition that began when it was about to leave. If another begins just then it waits for that, too.
  const std::string base(kLeased);
  const auto partition = [](std::string_view who, int times = 1) {
    return fmt::format("[[may]]\nkind = \"partition\"\nlength = [\"0ms\", \"1s\"]\ntimes = {}\n{}", times, who);
  };
  CHECK(margin(base + partition("")) == Extent{59_ms, false});
  CHECK(margin(base + partition("server = \"redis\"\n")) == Extent{59_ms, false});
  CHECK(margin(base + partition("between = [[\"redis\"], [\"A\", \"B\"]]\n")) == Extent{59_ms, false});
  CHECK(margin(base + partition("between = [[\"A\"], [\"redis\"]]\n", 2)) == Extent{29'500_us, false});
}

TEST_CASE("by hand: pauses while somebody acquires or releases") {
  const std::string base(kLeased);
  // A handles the answer P late.
  CHECK(margin(base + pauses("during = \"acquire\"\n", 1)) == Extent{59_ms, false});
  CHECK(margin(base + pauses("during = \"acquire\"\n", 2)) == Extent{29'500_us, false});
  // Who releases believes in nothing any more. Its GET, sent 23 after the grant, is there by 31 and still finds its own value; the answer takes 8, then the DEL waits for P and takes
  // 8, and deletes what B has set 80 after the grant or later: 47 + P >= 80.
  CHECK(margin(base + pauses("during = \"release\"\n", 1)) == std::nullopt);
  std::string deletes = base;
  deletes.replace(deletes.find("set-nx-px-lua"), 13, "set-nx-px-get-del");
  const Exploration exploration = explored(deletes + pauses("during = \"release\"\n", 1));
  const ExploredProperty& property = exploration.property("own-release");
  REQUIRE(property.thresholds.size() == 1);
  CHECK(property.thresholds.front().infimum == Extent{33_ms, true});
  CHECK(property.thresholds.front().is_exact);
}

TEST_CASE(
    "by hand: a second pause may begin just when the first ends, and what came in the first waits for its end, too") {
  // A's key is set at 1ms at the earliest, and lives until 24ms. B's SET reaches the server by 7ms, so only pauses that
  // follow each other without a gap keep it waiting until then: they begin when A's SET is done, else A would have its
  // answer at 2ms and be done at 23ms. Together they take 23ms or more, so the longer one takes 11.5ms or more; and
  // 11.5ms twice is enough, if what came in the first waits for the end of the second.
  const std::string text =
      "[lock]\nalgorithm = \"set-nx-px-get-del\"\nttl = \"23ms\"\n[network]\nlatency = \"1ms\"\n[[client]]\nname = "
      "\"A\"\nhold = \"21ms\"\nattempts = 1\n[[client]]\nname = \"B\"\nacquire_at = [\"0ms\", \"6ms\"]\nhold = "
      "\"12ms\"\nattempts = 1\n[[may]]\nkind = \"pause\"\nserver = \"redis\"\nlength = [\"0ms\", \"12ms\"]\ntimes = "
      "2\n";
  CHECK(margin(text) == Extent{11'500_us, true});
  ExplorationOptions options;
  options.alter_search = testing::broken(checker::JudgingMutant::none, checker::SearchMutant::pauses_part);
  const auto broken = explore(story_of(text), catalogue(), options);
  const ExploredProperty& exclusion = std::get<Exploration>(broken).property("mutual-exclusion");
  REQUIRE(exclusion.thresholds.size() == 1);
  CHECK(exclusion.thresholds.front().infimum == Extent{11'500_us, false});
}

TEST_CASE("by hand: two times within one millisecond are the same text") {
  // Both store when they began plus 7ms, as whole milliseconds. B, whom the pause keeps for 3ms, reads A's time 7ms after
  // it began, and takes the lock over if that is later: if it began later than A. A's release, 12ms after it began, finds
  // B's time, and takes it for its own if it is the same millisecond. So it removes B's lock if B began later than A, by
  // less than a millisecond.
  const auto releases = [](std::string_view begin) {
    const Exploration exploration = explored(
        "[lock]\nalgorithm = \"getset-java\"\nttl = \"6ms\"\n[network]\nlatency = \"1ms\"\n[resource]\nkind = "
        "\"counter\"\nlatency = \"1ms\"\n[[client]]\nname = \"A\"\nhold = \"5ms\"\nattempts = 1\n[[client]]\nname = "
        "\"B\"\nhold = \"4ms\"\nattempts = 1\nacquire_at = " +
        std::string(begin) + "\n[[may]]\nkind = \"pause\"\nclient = \"B\"\nlength = \"3ms\"\n");
    CHECK(exploration.unconfirmed == 0);
    return exploration.property("own-release").verdict;
  };
  CHECK(releases("[\"0ms\", \"3ms\"]") == Verdict::violated);
  CHECK(releases("\"900us\"") == Verdict::violated);
  CHECK(releases("\"0ms\"") == Verdict::holds);
  CHECK(releases("\"1ms\"") == Verdict::holds);
}

TEST_CASE("by hand: a semaphore whose holders are paused until somebody clears their places away") {
  // C comes at 150 and clears away what is older than 100. Whoever gives back later than that is told no, and as nobody
  // ever gave back its place, it has one for ever, as far as the answers go. Belief ends when the release is asked for.
  const auto client = [](std::string_view name, std::string_view from) {
    return fmt::format("[[client]]\nname = \"{}\"\nacquire_at = \"{}\"\nhold = \"50ms\"\nattempts = 1\n", name, from);
  };
  const auto semaphore = [](int limit, std::string_view latency, const std::string& clients, const std::string& may) {
    const std::string head =
        fmt::format("[lock]\nalgorithm = \"ria-sem-unfair\"\nlimit = {}\nttl = \"100ms\"\n[network]\nlatency = {}\n",
                    limit, latency);
    return explored(head + clients + may);
  };
  const auto infimum = [](const Exploration& exploration, std::string_view property) {
    INFO(property << ": " << exploration.property(property).why);
    REQUIRE(exploration.property(property).thresholds.size() == 1);
    CHECK(exploration.property(property).thresholds.front().is_exact);
    return exploration.property(property).thresholds.front().infimum;
  };
  // A has the only place from 10 on at the latest, and asks to give it back at 60 + P. That arrives by 65 + P, and C's
  // command at 151: 65 + P >= 151. C knows at 152 at the earliest: 60 + P > 152.
  const Exploration one = semaphore(1, "[\"1ms\", \"5ms\"]", client("A", "0ms") + client("C", "150ms"), pauses("", 1));
  CHECK(infimum(one, "linearizable") == Extent{86_ms, true});
  CHECK(infimum(one, "capacity") == Extent{92_ms, false});
  // Of two places A's is given back at 53 + P, B's at 63 + P. Both must be late: 53 + P >= 151, and 52 + P > 152.
  const std::string three = client("A", "0ms") + client("B", "10ms") + client("C", "150ms");
  const Exploration at_work = semaphore(2, "\"1ms\"", three, pauses("during = \"work\"\n", 2));
  CHECK(infimum(at_work, "linearizable") == Extent{98_ms, true});
  CHECK(infimum(at_work, "capacity") == Extent{100_ms, false});
  // B, paused before it begins at 10 + P, has a place until 62 + P > 152, and clears A's away itself, from 10 + P >= 100
  // on: A need not be late by much. For capacity A has to believe until C knows.
  const Exploration anywhere = semaphore(2, "\"1ms\"", three, pauses("", 2));
  CHECK(infimum(anywhere, "linearizable") == Extent{90_ms, false});
  CHECK(infimum(anywhere, "capacity") == Extent{100_ms, false});
  CHECK(semaphore(2, "\"1ms\"", three, pauses("", 1)).property("linearizable").verdict == Verdict::holds);
}

TEST_CASE("by hand: a lock without a lease against crashes and losses while somebody acquires, works or releases") {
  const std::string base =
      "[lock]\nalgorithm = \"setnx-del\"\n[network]\nlatency = \"1ms\"\ntimeout = \"10ms\"\n[[client]]\nname = "
      "\"A\"\nhold = \"5ms\"\nattempts = 1\n";
  const auto is_recoverable = [&](const std::string& fault) {
    const Verdict verdict = explored(base + "[[may]]\n" + fault).property("recoverable").verdict;
    CHECK(verdict != Verdict::unknown);
    return verdict == Verdict::holds;
  };
  // Whoever dies before he has sent his DEL leaves the key behind; and that leaves in the moment in which the release begins.
  CHECK_FALSE(is_recoverable("kind = \"crash\"\nduring = \"acquire\"\n"));
  CHECK_FALSE(is_recoverable("kind = \"crash\"\nduring = \"work\"\n"));
  CHECK(is_recoverable("kind = \"crash\"\nduring = \"release\"\n"));
  // A SETNX that was lost did nothing, and one whose answer was lost did.
  CHECK(is_recoverable("kind = \"lose\"\nmessage = \"SETNX\"\ndirection = \"request\"\n"));
  CHECK_FALSE(is_recoverable("kind = \"lose\"\nmessage = \"SETNX\"\ndirection = \"reply\"\n"));
  CHECK_FALSE(is_recoverable("kind = \"lose\"\nduring = \"acquire\"\n"));
  CHECK_FALSE(is_recoverable("kind = \"lose\"\nduring = \"release\"\ndirection = \"request\"\n"));
  CHECK(is_recoverable("kind = \"lose\"\nduring = \"release\"\ndirection = \"reply\"\n"));
}

}  // namespace lockstep::scenarios::margins_by_hand_test
