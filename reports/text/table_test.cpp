#include "reports/text/table.hpp"

#include <catch2/catch.hpp>

#include "reports/run/forged_story.hpp"
#include "reports/run/summary.hpp"

namespace lockstep::table_test {

using namespace lockstep::reports;

TEST_CASE("table: columns are as wide as their contents when they fit") {
  Table table({{"name", 4}, {"what", 4}});
  table.add({{"a"}, {"short"}});
  table.add({{"锁"}, {"lock"}});
  CHECK(to_string(table.lines(80), false) == "name  what\na     short\n锁    lock\n");
}

TEST_CASE("table: what does not fit breaks into lines, and a note runs below several columns") {
  Table table({{"a", 4}, {"b", 4}, {"c", 6}});
  table.add({{"x"}, {"y"}, {"one two three"}}, {.text = "a note", .first = 0, .last = 1});
  CHECK(to_string(table.lines(16), false) == "a  b  c\nx  y  one two\na     three\nnote\n");
}

TEST_CASE("summary: the table says what was expected and observed, and the totals count") {
  const std::vector<Story> stories{ForgedStory().story(), ForgedStory::unexpected()};
  const std::string text = to_string(summary(stories, {.width = 100}), false);
  INFO(text);
  CHECK(text.find("ok   pause") != std::string::npos);
  CHECK(text.find("NOT  pause") != std::string::npos);
  CHECK(text.find("A pause outlives the lease") != std::string::npos);
  CHECK(text.find("mutual-exclusion: expected: holds; observed: violated by A, B at 122ms") != std::string::npos);
  CHECK(text.ends_with("2 stories: 1 as expected, 1 NOT\n"));
  CHECK(totals_text(std::span(stories).first(1)) == "1 story, as expected");
  CHECK(to_string(summary(stories, {.width = 100, .language = Language::zh}), false).find("停顿超过了租约") !=
        std::string::npos);
}

TEST_CASE("summary: what breaks although the file says nothing of it is told apart") {
  ForgedStory forged;
  forged.story().outcome.properties.front().expected.reset();
  const std::vector<Story> stories{forged.story()};
  const std::string text = to_string(summary(stories, {.width = 100}), false);
  INFO(text);
  CHECK(text.find("besides: mutual-exclusion") != std::string::npos);
}

}  // namespace lockstep::table_test
