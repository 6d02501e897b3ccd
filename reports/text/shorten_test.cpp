#include "reports/text/shorten.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "reports/text/text.hpp"

namespace lockstep::shorten_test {

using namespace lockstep::reports;

TEST_CASE("shorten: what has room stays whole") {
  CHECK(wrap_command("SET lock A-1 NX PX 100", " → OK", 40, 2) ==
        std::vector<std::string>{"SET lock A-1 NX PX 100 → OK"});
  CHECK(wrap_command("", "has the lock", 40, 2) == std::vector<std::string>{"has the lock"});
}

TEST_CASE("shorten: the longest arguments give way, and the answer stays") {
  const std::string command = "EVAL <script> 2 lock redisson_lock__channel:{lock} 0 60 B:1";
  CHECK(wrap_command(command, " → (integer) 1", 30, 2) ==
        std::vector<std::string>{"EVAL <script> 2 lock … 0 60", "B:1 → (integer) 1"});
  CHECK(wrap_command(command, " → (integer) 1", 40, 1) ==
        std::vector<std::string>{"EVAL … 2 lock … 0 60 B:1 → (integer) 1"});
  // Who asks goes last, the command's name never.
  CHECK(wrap_command(command, " → (integer) 1", 24, 1) == std::vector<std::string>{"EVAL … B:1 → (integer) 1"});
  CHECK(wrap_command(command, " → (integer) 1", 22, 1) == std::vector<std::string>{"EVAL … → (integer) 1"});
}

TEST_CASE("shorten: within a transaction the names of its commands stay") {
  const std::string command =
      "EXEC: ZREMRANGEBYSCORE lock -inf -300; ZINTERSTORE lock:owner 2 lock:owner lock; INCR lock:counter";
  CHECK(wrap_command(command, " → 1) (integer) 0", 46, 2) ==
        std::vector<std::string>{"EXEC: ZREMRANGEBYSCORE lock …; ZINTERSTORE … 2",
                                 "…; INCR lock:counter → 1) (integer) 0"});
}

TEST_CASE("shorten: no line is too wide, the name stays, and quotes are closed, whatever the room") {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"SUBSCRIBE redisson_lock__channel:{lock}",
       " → 1) \"subscribe\" 2) \"redisson_lock__channel:{lock}\" 3) (integer) 1"},
      {"EVAL <script> 3 lock channel \"with two\" 0 A:1", " → \"a \\\" b\""},
      {"SET \"two words\" 1", " → OK"}};
  for (const auto& [command, rest] : texts) {
    for (std::size_t width = 2; width < 90; ++width) {
      for (std::size_t lines_max = 1; lines_max < 5; ++lines_max) {
        INFO(command << " in " << width << " columns, " << lines_max << " lines");
        const std::vector<std::string> lines = wrap_command(command, rest, width, lines_max);
        CHECK(lines.size() <= lines_max);
        std::string all = joined(lines, "");
        CHECK(std::all_of(lines.begin(), lines.end(), [&](const std::string& l) { return display_width(l) <= width; }));
        for (std::size_t at = all.find("\\\""); at != std::string::npos; at = all.find("\\\"")) all.erase(at, 2);
        if (width > 3) CHECK(std::count(all.begin(), all.end(), '"') % 2 == 0);
        if (width > command.find(' ')) CHECK(all.starts_with(command.substr(0, command.find(' '))));
      }
    }
  }
}

TEST_CASE("shorten: names that differ stay different") {
  CHECK(short_names({"sentinel1", "sentinel2", "redis"}, 6) == std::vector<std::string>{"sent…1", "sent…2", "redis"});
  CHECK(short_names({"sentinel1", "sentinel2"}, 9) == std::vector<std::string>{"sentinel1", "sentinel2"});
  CHECK(short_names({"order-service", "redis"}, 6) == std::vector<std::string>{"order…", "redis"});
  CHECK(short_names({"client11", "client12", "client21"}, 5) == std::vector<std::string>{"cl…11", "cli…2", "cl…21"});
  for (std::size_t width = 1; width < 12; ++width) {
    for (const std::string& name : short_names({"sentinel1", "sentinel2", "A/watchdog", "B/watchdog"}, width)) {
      CHECK(display_width(name) <= width);
    }
  }
}

}  // namespace lockstep::shorten_test
