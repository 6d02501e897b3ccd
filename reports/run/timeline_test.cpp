#include "reports/run/timeline.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "reports/run/events.hpp"
#include "reports/run/forged_story.hpp"
#include "reports/text/chart.hpp"
#include "reports/text/text.hpp"

namespace lockstep::timeline_test {

using namespace lockstep;
using namespace lockstep::reports;

namespace {

std::string shown(const Story& story, std::size_t width, Language language = Language::en, bool colour = false) {
  return to_string(timeline(story, {.width = width, .language = language}), colour);
}

std::size_t widest(const std::string& text) {
  std::istringstream in(text);
  std::size_t width = 0;
  for (std::string line; std::getline(in, line);) width = std::max(width, display_width(line));
  return width;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("timeline: at 80 columns a story is this text") {
  REQUIRE(shown(ForgedStory().story(), 80) == R"(A pause outlives the lease
pause · set-nx-px-lua · reproduces F003-2

A stops for 150ms. Its lease runs out, and B gets the lock.

       true time B's clock  A  B  redis
             1ms     201ms  ├──┼─▶┃A    A  SET lock A-1 NX PX 100 → OK
             2ms     202ms  █◀─┼──┃A    A  has the lock
                            ▒  │  ┃A    A  is paused for 150ms
               ⋮            ▒  │  ┃A
               ⋮            ▒  │  ┃A
           121ms     321ms  ▒  ├─▶┃B    B  SET lock B-1 NX PX 100 → OK: the key
                            ▒  │  ┃B       had expired
!! A+B     122ms     322ms  ▒  █◀─┃B    B  has the lock, and so has A
!! A+B         ⋮            ▒  █  ┃B
           140ms     340ms  ▒  │  ┃B    B  releases the lock
           141ms     341ms  ▒  ├─▶│     B  EVAL <script> 1 lock B-1 → (integer)
                            ▒  │  │        1
               ⋮            ▒  │  │
           152ms     352ms  █  │  │     A  runs again
                            │  │  │     A  releases the lock
           153ms     353ms  ├──┼─▶│     A  EVAL <script> 1 lock A-1 → (integer)
                            │  │  │        0
           154ms     354ms  │◀─┼──┤     A  was not the owner any more
█ believes it holds  ▒ and is paused  ┃A key set by A  !! two holders

✗ mutual-exclusion violated by A, B at 122ms, as expected
  B got the lock at 122ms while A, who got it at 2ms, still believed to hold it
  (until 152ms)
✓ holds (this run): own-release

A paused client cannot notice that it is late.
)");
}

TEST_CASE("timeline: at 120 columns long texts stay on one line") {
  REQUIRE(to_string(chart(ForgedStory().story(), 120), false) ==
          R"(       true time B's clock  A          B          redis
             1ms     201ms  ├──────────┼─────────▶┃A           A  SET lock A-1 NX PX 100 → OK
             2ms     202ms  █◀─────────┼──────────┃A           A  has the lock
                            ▒          │          ┃A           A  is paused for 150ms
               ⋮            ▒          │          ┃A
               ⋮            ▒          │          ┃A
           121ms     321ms  ▒          ├─────────▶┃B           B  SET lock B-1 NX PX 100 → OK: the key had expired
!! A+B     122ms     322ms  ▒          █◀─────────┃B           B  has the lock, and so has A
!! A+B         ⋮            ▒          █          ┃B
           140ms     340ms  ▒          │          ┃B           B  releases the lock
           141ms     341ms  ▒          ├─────────▶│            B  EVAL <script> 1 lock B-1 → (integer) 1
               ⋮            ▒          │          │
           152ms     352ms  █          │          │            A  runs again
                            │          │          │            A  releases the lock
           153ms     353ms  ├──────────┼─────────▶│            A  EVAL <script> 1 lock A-1 → (integer) 0
           154ms     354ms  │◀─────────┼──────────┤            A  was not the owner any more
█ believes it holds  ▒ and is paused  ┃A key set by A  !! two holders
)");
}

TEST_CASE("timeline: in Chinese the picture has no words of ours in English") {
  const std::string text = to_string(chart(ForgedStory().story(), 100, Language::zh), false);
  INFO(text);
  CHECK(contains(text, "认为自己持有"));
  CHECK(contains(text, "时钟"));
  for (const char* english : {"time", "clock", "believes", "paused", "holders", "key set", "has the lock", "releases"})
    CHECK(!contains(text, english));
}

TEST_CASE("timeline: no line is wider than the terminal, in both languages") {
  for (const std::size_t width : {60, 80, 100, 140}) {
    for (const Language language : {Language::en, Language::zh}) {
      INFO(width);
      CHECK(widest(shown(ForgedStory().story(), width, language)) <= width);
    }
  }
}

TEST_CASE("timeline: a narrow terminal has fewer lanes and more lines, and nothing runs over") {
  for (std::size_t width = 40; width < 60; ++width) {
    INFO(width);
    const std::string text = shown(ForgedStory().story(), width);
    CHECK(widest(text) <= width);
    CHECK(contains(text, "(integer)"));  // what the release was told
    CHECK(contains(text, "!! A+B"));
  }
}

TEST_CASE("timeline: those who share a lock raise no alarm, and a writer among them does") {
  ForgedStory forged;
  std::vector<sim::Operation>& operations = forged.story().outcome.history.operations;
  const auto share = [&](sim::ProcessId process) {
    for (sim::Operation& operation : operations) {
      if (operation.process == process && operation.function == "acquire") operation.is_shared = true;
    }
  };
  share(ForgedStory::A);
  CHECK(contains(to_string(chart(forged.story(), 100), false), "!! A+B"));
  share(ForgedStory::B);
  const std::string text = to_string(chart(forged.story(), 100), false);
  CHECK(!contains(text, "!!"));
  CHECK(!contains(text, "and so has"));
}

TEST_CASE("timeline: a semaphore raises an alarm when it has more holders than places") {
  ForgedStory forged;
  forged.story().outcome.places = 2;
  CHECK(!contains(to_string(chart(forged.story(), 100), false), "!!"));
  forged.story().outcome.places = 1;
  CHECK(contains(to_string(chart(forged.story(), 100), false), "!! A+B"));
}

TEST_CASE("timeline: an announcement of sentinels says who is primary, and leaves no quote open") {
  ForgedStory forged;
  forged.story().outcome.lanes[2].role = scenarios::Lane::Role::sentinel;
  forged.story().outcome.trace.records[0].name = "MESSAGE";
  forged.story().outcome.trace.records[0].text =
      "1) \"message\" 2) \"+switch-master\" 3) \"mymaster redis1 6379 redis2 6379\"";
  CHECK(contains(to_string(chart(forged.story(), 140), false), ": +switch-master mymaster redis1 6379 redis2 6379\n"));
}

TEST_CASE("timeline: colour only adds escapes") {
  std::string coloured = shown(ForgedStory().story(), 80, Language::en, true);
  REQUIRE(contains(coloured, "\x1b["));
  for (std::size_t at = coloured.find('\x1b'); at != std::string::npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  // Blanks inside a coloured segment at the end of a line are the only difference.
  REQUIRE(coloured == shown(ForgedStory().story(), 80));
}

TEST_CASE("timeline: an unexpected verdict says what was expected") {
  const std::string text = shown(ForgedStory::unexpected(), 100);
  CHECK(contains(text, "✗ mutual-exclusion violated by A, B at 122ms\n"));
  CHECK(contains(text, "NOT as expected: holds was expected"));
}

TEST_CASE("timeline: two holds at once are marked on every row on which they last, and on no other") {
  std::istringstream in(to_string(chart(ForgedStory().story(), 100), false));
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(line);
  std::vector<std::string> marked;
  std::copy_if(rows.begin(), rows.end() - 1, std::back_inserter(marked),
               [](const std::string& r) { return r.starts_with("!!"); });
  REQUIRE(marked.size() == 2);
  CHECK(contains(marked[0], "!! A+B"));
  CHECK(contains(marked[0], "B  has the lock, and so has A"));
  CHECK(contains(marked[1], "⋮"));
}

TEST_CASE("timeline: who crashes in the step in which it got the lock had it for one row") {
  ForgedStory forged;
  scenarios::Outcome& outcome = forged.story().outcome;
  outcome.history.interruptions = {
      {sim::Interruption::Kind::crash, ForgedStory::A, ForgedStory::ms(2), 2, std::nullopt}};
  const std::string text = to_string(chart(forged.story(), 100), false);
  CHECK(contains(text, "█◀"));
  CHECK(contains(text, "✖"));
  CHECK(contains(text, "A  crashes"));
  CHECK(!contains(text, "!!"));
}

TEST_CASE("timeline: lost and late messages are shown where they left") {
  ForgedStory forged;
  auto& records = forged.story().outcome.trace.records;
  records[2].sent = ForgedStory::ms(60);
  records[6].lost = true;
  const std::string text = to_string(chart(forged.story(), 120), false);
  CHECK(contains(text, "SET lock B-1 NX PX 100 leaves, arrives only at 121ms"));
  CHECK(contains(text, "the answer to EVAL is lost: (integer) 1"));
  CHECK(contains(text, "✗┄"));
}

TEST_CASE("timeline: a client that polls is shown once, with how often it tried") {
  ForgedStory forged;
  for (int i = 0; i < 50; ++i) {
    const std::int64_t at = 200 + 10 * i;
    sim::Operation& operation = forged.invoke(ForgedStory::B, "acquire", at);
    forged.exchange(ForgedStory::B, at, operation.invoked_in, "SET lock B-2 NX PX 100", i < 49 ? "(nil)" : "OK");
    forged.complete(operation, i < 49 ? sim::Phase::fail : sim::Phase::ok, at + 2);
  }
  const std::string text = to_string(chart(forged.story(), 120), false);
  CHECK(contains(text, "tries 48 more times until 681ms, always the same"));
  CHECK(contains(text, "SET lock B-2 NX PX 100 → OK"));
  CHECK(std::count(text.begin(), text.end(), '\n') < 40);
}

TEST_CASE("timeline: the same command with the same answer is shown once, but what proves a violation is shown") {
  ForgedStory forged;
  sim::Step proof = 0;
  for (int i = 0; i < 500; ++i) {
    auto& records = forged.story().outcome.trace.records;
    forged.exchange(ForgedStory::A, 300 + 10 * i, records.back().step, "PEXPIRE lock 100", "(integer) 1");
    if (i == 250) proof = records[records.size() - 2].step;
  }
  const std::string folded = to_string(chart(forged.story(), 120), false);
  CHECK(contains(folded, "the same 499 more times until 5291ms"));
  CHECK(std::count(folded.begin(), folded.end(), '\n') < 30);

  checker::Finding finding{
      .property = "faithful-renewal", .view = checker::View::server, .verdict = checker::Verdict::violated};
  finding.evidence = {proof};
  forged.story().outcome.properties.push_back({.finding = finding, .expected = std::nullopt});
  const std::string proven = to_string(chart(forged.story(), 120), false);
  CHECK(contains(proven, "the same 249 more times until 2791ms"));
  CHECK(contains(proven, " 2801ms"));
  CHECK(contains(proven, "the same 248 more times until 5291ms"));
}

TEST_CASE("timeline: the probe appears only if the lock was not recovered") {
  ForgedStory forged;
  CHECK(!contains(shown(forged.story(), 100), "probe"));
  checker::Finding finding{
      .property = "recoverable", .view = checker::View::server, .verdict = checker::Verdict::violated};
  forged.story().outcome.properties.push_back({.finding = finding, .expected = std::nullopt});
  CHECK(contains(shown(forged.story(), 100), "probe"));
}

TEST_CASE("timeline: many clients still fit, and the ones to blame are among those shown") {
  ForgedStory forged;
  auto& lanes = forged.story().outcome.lanes;
  for (int i = 0; i < 60; ++i) lanes.push_back({"client" + std::to_string(i), scenarios::Lane::Role::client, {}});
  const std::string text = to_string(chart(forged.story(), 80), false);
  CHECK(widest(text) <= 80);
  CHECK(contains(text, "without a lane here"));
  CHECK(contains(text, "has the lock, and so has A"));
}

TEST_CASE("timeline: a run without any event is still a page") {
  Story story;
  story.scenario.title = {"Nothing", "无"};
  CHECK(contains(shown(story, 80), "Nothing"));
}

TEST_CASE("timeline: texts of a server cannot reach the terminal as control characters") {
  ForgedStory forged;
  forged.story().outcome.trace.records[0].text = "SET lock \x1b[31m\x07";
  forged.story().scenario.title.en = "a\x1b[2Jb";
  CHECK(!contains(shown(forged.story(), 100), "\x1b"));
}

}  // namespace lockstep::timeline_test
