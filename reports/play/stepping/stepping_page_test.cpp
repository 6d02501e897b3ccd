// "Event by event" as the page gets it: words, times, who holds the lock, and what can be kept.

#include "reports/play/stepping/stepping_page.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "reports/play/rendered.hpp"

namespace lockstep::reports::play::stepping_page_test {
namespace {

const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue all = models::locks::Catalogue::built_in();
  return all;
}

constexpr std::uint64_t kEventsMax = 10'000;

const std::string kStory = R"(title = "Two of them"

[lock]
algorithm = "set-nx-px-lua"
ttl = "20ms"
attempts = 1

[network]
latency = ["1ms", "3ms"]

[[client]]
name = "A"
hold = "10ms"

[[client]]
name = "B"
acquire_at = ["25ms", "30ms"]
hold = "10ms"

[[may]]
kind = "pause"
client = "A"
length = ["0ms", "1s"]
)";

SteppingPage page_at(const std::string& text, const scenarios::StepPlace& place) {
  auto answer = stepping_page(text, "story.toml", catalogue(), place, kEventsMax);
  if (const auto* problem = std::get_if<scenarios::Diagnostic>(&answer)) FAIL(problem->to_string());
  return std::get<SteppingPage>(std::move(answer));
}

/// Goes on to what begins with these words.
SteppingPage chosen(const SteppingPage& page, const std::string& words) {
  std::string all;
  for (const SteppingPage::Option& option : page.options) {
    if (option.what.en.starts_with(words)) return page_at(kStory, option.place);
    all += option.what.en + "\n";
  }
  FAIL(words << " is not among\n" << all);
  return {};
}

}  // namespace

TEST_CASE("stepping: by hand to where two hold the lock; it says so, and what is kept runs to the same") {
  SteppingPage page = page_at(kStory, {});
  CHECK(page.events == 0);
  CHECK(page.rows == 0);
  CHECK(page.holders.empty());
  CHECK(page.options.front().what.en.starts_with("A begins"));
  CHECK(page.options.front().what.zh.starts_with("A 开始"));
  CHECK(page.options.front().when.en == "at 0ms");
  page = chosen(page, "A begins");
  page = chosen(page, "A's SET reaches redis: SET lock");
  CHECK(page.at == "1ms");
  page = chosen(page, "the answer of redis to SET reaches A, then A is paused");
  CHECK(page.holders == std::vector<std::string>{"A"});
  CHECK_FALSE(page.is_overlap);
  page = chosen(page, "B begins");
  page = chosen(page, "B's SET reaches redis: SET lock");
  page = chosen(page, "the answer of redis to SET reaches B");
  CHECK(page.holders == std::vector<std::string>{"A", "B"});
  CHECK(page.is_overlap);
  CHECK(page.is_all);
  CHECK(page.rows > 0);
  CHECK(page.text.find("[schedule]") != std::string::npos);
  CHECK(page.text.find("Two of them") != std::string::npos);
  const auto kept = run_of(page.text, "story.toml", catalogue(), kEventsMax);
  REQUIRE(std::holds_alternative<Story>(kept));
  const auto& judged = std::get<Story>(kept).outcome.properties;
  CHECK(std::any_of(judged.begin(), judged.end(), [](const scenarios::Judgement& judgement) {
    return judgement.finding.property == "mutual-exclusion" && judgement.finding.verdict == checker::Verdict::violated;
  }));
}

TEST_CASE("stepping: no two lines of a list are alike, and each leads on until all is over") {
  scenarios::StepPlace place;
  for (std::size_t i = 0;; ++i) {
    REQUIRE(i < 60);
    SteppingPage page = page_at(kStory, place);
    std::vector<std::string> lines;
    for (const SteppingPage::Option& option : page.options) {
      CHECK_FALSE(option.what.zh.empty());
      CHECK_FALSE(option.when.en.empty());
      lines.push_back(option.what.en);
    }
    std::sort(lines.begin(), lines.end());
    CHECK(std::adjacent_find(lines.begin(), lines.end()) == lines.end());
    if (page.options.empty()) {
      CHECK(page.is_over);
      break;
    }
    place = page.options[i * 7 % page.options.size()].place;
  }
}

TEST_CASE("stepping: places are kept by number, each for its text") {
  KeptPlaces places;
  CHECK(places.find("x", 0)->events == 0);
  CHECK_FALSE(places.find("x", 1));
  const std::size_t first = places.keep("x", {.events = 7});
  CHECK(places.find("x", first)->events == 7);
  CHECK_FALSE(places.find("y", first));
  for (std::size_t i = 0; i < KeptPlaces::kMost; ++i) places.keep("x", {.events = static_cast<std::uint32_t>(i)});
  CHECK_FALSE(places.find("x", first));
  const std::size_t last = places.keep("y", {.events = 9});
  CHECK(places.find("y", last)->events == 9);
  CHECK(places.find("x", last - 1)->events == KeptPlaces::kMost - 1);
  CHECK_FALSE(places.find("y", last + 1));
}

TEST_CASE("stepping: a story that cannot be explored says why") {
  std::string text = kStory + "\n[sentinels]\ncount = 3\n";
  const auto answer = stepping_page(text, "story.toml", catalogue(), {}, kEventsMax);
  CHECK(std::holds_alternative<scenarios::Diagnostic>(answer));
  CHECK(
      std::holds_alternative<scenarios::Diagnostic>(stepping_page("[lock", "story.toml", catalogue(), {}, kEventsMax)));
}

}  // namespace lockstep::reports::play::stepping_page_test
