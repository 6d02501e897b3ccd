// The comparison as people and programs see it.

#include "reports/compare/comparison.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace lockstep::comparison_test {

using namespace lockstep;
using namespace lockstep::reports;
using namespace lockstep::sim::literals;

TEST_CASE("comparison: figures for each grant, and what never happened") {
  std::vector<ComparedStory> stories(1);
  stories[0].scenario.title = {"Two clients", "两个客户端"};
  scenarios::ComparedRun run{.algorithm = "some-lock", .clients = 3, .messages = 25, .cost = {}, .recovery = {}};
  run.cost.acquisitions = 4;
  run.cost.requests_in_vain = 1;
  run.cost.waiting_median = 12'345_us;
  run.cost.waiting_p99 = 123'456_us;
  run.cost.fairness = 987;
  stories[0].runs.push_back(run);
  const std::string text = to_string(comparison(stories, {}, {.width = 100}), false);
  for (const char* part : {"some-lock", "6.25", "0.25", "12.3ms", "123ms", "0.98", "never", "60s of virtual time"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(to_string(comparison(stories, {}, {.width = 100, .language = Language::zh}), false).find("没有") !=
        std::string::npos);
  const auto document = nlohmann::json::parse(compare_json(stories, {}));
  const auto& first = document["results"][0]["runs"][0];
  CHECK(first["messages"] == 25);
  CHECK(first["waiting_median"] == "12.345ms");
  CHECK(first["recovery"].is_null());
}

}  // namespace lockstep::comparison_test
