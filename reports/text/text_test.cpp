#include "reports/text/text.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

namespace lockstep::text_test {

using namespace lockstep::reports;

TEST_CASE("text: a Chinese character takes two columns, a combining mark none") {
  CHECK(display_width("lock") == 4);
  CHECK(display_width("分布式锁") == 8);
  CHECK(display_width("，。") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("│█▶✖") == 4);
  CHECK(display_width("") == 0);
}

TEST_CASE("text: a wide character is never cut in half") {
  CHECK(clip("分布式锁", 8) == "分布式锁");
  CHECK(clip("分布式锁", 7) == "分布式…");
  CHECK(clip("分布式锁", 6) == "分布…");
  CHECK(clip("分布式锁", 1) == "…");
  CHECK(clip("分布式锁", 0).empty());
  CHECK(pad("锁", 4) == "锁  ");
  CHECK(pad_left("锁", 4) == "  锁");
}

TEST_CASE("text: lines break at blanks and between Chinese characters, but not before punctuation") {
  CHECK(wrap("the lock is lost", 8) == std::vector<std::string>{"the lock", "is lost"});
  CHECK(wrap("持有锁，超时。", 6) == std::vector<std::string>{"持有", "锁，超", "时。"});
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("  two   words  ", 20) == std::vector<std::string>{"two words"});
}

TEST_CASE("text: a word that is too long breaks after a hyphen if it has one") {
  CHECK(wrap("mutual-exclusion", 10) == std::vector<std::string>{"mutual-", "exclusion"});
  CHECK(wrap("abcdefghij", 4) == std::vector<std::string>{"abcd", "efgh", "ij"});
}

TEST_CASE("text: control characters and broken UTF-8 become a sign of it") {
  CHECK(printable("a\x1b[2J") == "a\uFFFD[2J");
  CHECK(printable("a\nb\tc") == "a b c");
  CHECK(printable("\xff\xfe") == "\uFFFD\uFFFD");
  CHECK(printable("\xe9\x94") == "\uFFFD\uFFFD");
  CHECK(printable("\xc0\x80") == "\uFFFD\uFFFD");
  CHECK(printable("a\u202Eb") == "a\uFFFDb");
  CHECK(printable("锁") == "锁");
}

TEST_CASE("text: whatever the bytes, clipped and wrapped text fits") {
  rc::prop("clip and wrap keep within the width", [](const std::string& bytes) {
    const auto width = static_cast<std::size_t>(*rc::gen::inRange(2, 40));
    RC_ASSERT(display_width(clip(bytes, width)) <= width);
    for (const std::string& line : wrap(bytes, width)) RC_ASSERT(display_width(line) <= width);
    RC_ASSERT(display_width(pad(bytes, width)) == width);
  });
}

}  // namespace lockstep::text_test
