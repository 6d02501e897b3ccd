// The record in the tree, and that it claims nothing that was not played.

#include "confirm/record.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "models/servers/server_kind.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::confirm::record_test {
namespace {

using scenarios::testing::catalogue;

scenarios::Scenario story(const std::string& file) {
  auto loaded = scenarios::load(file, catalogue());
  REQUIRE(std::holds_alternative<scenarios::Scenario>(loaded));
  return std::get<scenarios::Scenario>(std::move(loaded));
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("confirm: the record knows every story on Redis servers, as it is now") {
  const auto read = read_record(content_of(in_tree("scenarios/confirmed.json")));
  REQUIRE(std::holds_alternative<Record>(read));
  const Record& record = std::get<Record>(read);
  std::string stale;
  std::size_t stories = 0;
  for (const std::filesystem::path file : repository_stories()) {
    const scenarios::Scenario told = story(file.string());
    // Of other kinds there are no real servers here.
    if (!told.servers.front().kind->is_redis()) continue;
    ++stories;
    const auto entry = record.find(key_of(file.string(), in_tree("scenarios")));
    const bool is_known = entry != record.end() && digest_of(told, catalogue()).value_or(0) == entry->second.digest;
    if (!is_known) stale += "\n  " + file.string();
  }
  INFO(
      "changed since it was confirmed, or never was: lockstep confirm FILES --redis --record scenarios/confirmed.json "
      "--table docs/evidence/confirmed.md"
      << stale);
  CHECK(stale.empty());
  CHECK(record.size() == stories);
  CHECK(content_of(in_tree("docs/evidence/confirmed.md")) == table_of(record));
}

TEST_CASE("confirm: a story that changes in anything that was played is another one") {
  const scenarios::Scenario told = story(in_tree("scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml"));
  const auto digest = digest_of(told, catalogue());
  REQUIRE(digest);
  CHECK(digest_of(told, catalogue()) == digest);
  scenarios::Scenario other = told;
  other.title.en = "Another title";
  CHECK(digest_of(other, catalogue()) == digest);
  other.clients[1].hold.lo += sim::Duration::milliseconds(1);
  other.clients[1].hold.hi = other.clients[1].hold.lo;
  CHECK(digest_of(other, catalogue()) != digest);
  other = told;
  other.lock.algorithm = "getset-java";
  CHECK(digest_of(other, catalogue()) != digest);
}

TEST_CASE("confirm: a record reads what it wrote, and keeps what was not played again") {
  Confirmation one{.file = "stories/one.toml", .id = "one", .algorithm = "set-nx-px-lua"};
  one.standing = Standing::confirmed;
  one.version = "7.0.15";
  one.digest = 0xfedcba9876543210;
  one.scale = {10, 1};
  one.properties.push_back({.property = "mutual-exclusion", .real = checker::Verdict::violated});
  Confirmation two{.file = "stories/below/two.toml", .id = "two", .algorithm = "redlock-seq"};
  two.reason = "the clock of a | b jumps";
  Record record;
  add(record, std::vector{one, two}, "stories", "2026-11-23");
  const auto read = read_record(text_of(record));
  REQUIRE(std::holds_alternative<Record>(read));
  Record again = std::get<Record>(read);
  CHECK(text_of(again) == text_of(record));
  CHECK(again.at("one.toml").digest == one.digest);
  CHECK(again.at("one.toml").observed == "violated: mutual-exclusion");
  CHECK(again.at("below/two.toml").standing == "cannot be played");
  add(again, std::vector{one}, "stories", "2026-12-24");
  CHECK(again.at("one.toml").date == "2026-12-24");
  CHECK(again.at("below/two.toml").date == "2026-11-23");
  CHECK(table_of(again).find("a \\| b") != std::string::npos);
  CHECK(table_of(again).find("10 times slower than told") != std::string::npos);

  for (const char* text : {"", "[]", "{}", "{\"stories\": {\"a.toml\": {}}}", "{\"stories\": {\"a.toml\": 3}}"})
    CHECK(std::holds_alternative<std::string>(read_record(text)));
}

}  // namespace lockstep::confirm::record_test
