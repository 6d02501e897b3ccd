// Reasons in Chinese: every reason that a story of the repository gives has its sentence, with the same names and times in it.

#include "reports/words/reasons.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>

#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::reasons_test {
namespace {

/// Numbers and times, sorted: whatever the order of the words is, none may be lost or made up.
std::vector<std::string> figures(const std::string& text) {
  std::vector<std::string> all;
  std::string word;
  for (const char c : text + " ") {
    if ((c >= '0' && c <= '9') || (c == '.' && !word.empty())) {
      word += c;
    } else if (!std::exchange(word, "").empty()) {
      all.push_back(word);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("reasons: each that a run of the repository's stories gives is known in Chinese") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t known = 0;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = scenarios::load(file, catalogue);
    if (!std::holds_alternative<scenarios::Scenario>(loaded)) continue;
    const auto outcome = scenarios::run(std::get<scenarios::Scenario>(loaded), catalogue);
    if (!std::holds_alternative<scenarios::Outcome>(outcome)) continue;
    for (const scenarios::Judgement& judgement : std::get<scenarios::Outcome>(outcome).properties) {
      INFO(file << ": " << judgement.finding.why);
      const std::optional<std::string> chinese = in_chinese(judgement.finding.why);
      REQUIRE(chinese);
      // "1 grant, none removed" has a word for a number: only what is a figure in English is one in Chinese.
      for (const std::string& figure : figures(*chinese)) {
        CAPTURE(*chinese, figure);
        CHECK(judgement.finding.why.find(figure) != std::string::npos);
      }
      ++known;
    }
  }
  CHECK(known > 2000);
}

TEST_CASE("reasons: names and times go to their places, and unknown sentences stay") {
  CHECK(*in_chinese("B got the lock at 53ms while A, who got it at 2ms, still believed to hold it (until 82ms)") ==
        "B 在 53ms 得到锁，而 A 在 2ms 得到它之后仍认为自己持有（直到 82ms）");
  CHECK(
      *in_chinese("probe got the lock only at 2012ms, 1.57s after everything had come to rest at 442ms (50ms allowed); "
                  "the last to hold it and not give it back was B, from 156ms on") ==
      "probe 直到 2012ms 才得到锁，距一切在 442ms 平静已过 1.57s（允许 50ms）；最后一个持有而没有归还的是 B，从 156ms "
      "起");
  CHECK(*in_chinese("all 94 executions, each with all its delays, keep it") ==
        "全部 94 种执行，连同各自的所有延迟，都满足");
  CHECK_FALSE(in_chinese("something else"));
  CHECK_FALSE(in_chinese(""));
  CHECK(reason_in(Language::zh, "something else") == "something else");
  CHECK(reason_in(Language::en, "nobody waited") == "nobody waited");
}

}  // namespace lockstep::reports::reasons_test
