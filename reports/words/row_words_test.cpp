// The rows of every story in Chinese, and the sentences behind them.

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "reports/words/row_words.hpp"
#include "reports/words/sentences.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::reports::row_words_test {
namespace {

TEST_CASE("the parts of a sentence are as short as can be") {
  const auto parts = parts_of("A waits for lock, which B holds", "{} waits for {}, which {} holds");
  REQUIRE(parts);
  CHECK(*parts == std::vector<std::string_view>{"A", "lock", "B"});
  CHECK_FALSE(parts_of("A waits", "{} waits for {}"));
  CHECK_FALSE(parts_of("A waits for", "A waits"));
  CHECK_FALSE(parts_of("A", "AB"));
  CHECK(parts_of("plain", "plain")->empty());
}

TEST_CASE("a sentence within a sentence") {
  constexpr Sentence sentences[] = {{"sees {}", "看见 {0~}"}, {"sees {}", "看见了 {0}"}, {"it", "它"}};
  const auto within = [](std::string_view part) -> std::optional<std::string> {
    return part == "it" ? std::optional<std::string>("它") : std::nullopt;
  };
  CHECK(said_in_chinese("sees it", sentences, within) == "看见 它");
  CHECK(said_in_chinese("sees B", sentences, within) == "看见了 B");
  CHECK_FALSE(said_in_chinese("hears B", sentences, within));
}

TEST_CASE("a command and its answer stay as they are") {
  Event event;
  event.text = "DEL lock → (integer) 1: removes B's key";
  event.command_size = 8;
  CHECK(row_in(Language::zh, event) == "DEL lock → (integer) 1：删除了 B 的键");
  CHECK(row_in(Language::en, event) == event.text);
}

TEST_CASE("every row of every story has Chinese") {
  std::size_t rows = 0;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = scenarios::load(file, scenarios::testing::catalogue());
    Story story{std::move(std::get<scenarios::Scenario>(loaded)), {}};
    auto outcome = scenarios::run(story.scenario, scenarios::testing::catalogue(), {.trace = true});
    story.outcome = std::move(std::get<scenarios::Outcome>(outcome));
    std::vector<Event> events = events_of(story);
    fold_repetitions(events, story);
    for (const Event& event : events) {
      // What servers say to each other is their protocol.
      const auto is_server = [&](sim::ProcessId process) {
        return process.is_valid() && story.outcome.lanes[process.index].role == scenarios::Lane::Role::server;
      };
      if (event.arrow && is_server(event.arrow->from) && is_server(event.arrow->to)) continue;
      if (event.text.starts_with("REPLICAOF")) continue;
      ++rows;
      INFO(file.string() << ": " << event.text);
      CHECK(has_chinese(event));
    }
  }
  CHECK(rows > 2000);
}

}  // namespace
}  // namespace lockstep::reports::row_words_test
