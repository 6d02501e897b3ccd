// The matrix as people and programs see it.

#include "reports/matrix.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace lockstep::matrix_test {

using namespace lockstep;
using namespace lockstep::reports;
using namespace lockstep::sim::literals;
using Ground = scenarios::MatrixAnswer::Ground;

namespace {

scenarios::Matrix forged() {
  scenarios::MatrixCell cell{.algorithm = "some-lock", .fault = &scenarios::matrix_faults()[3], .answers = {}};
  const auto questions = scenarios::matrix_questions();
  for (const scenarios::MatrixQuestion& question : questions) cell.answers.emplace_back().question = &question;
  cell.answers[0].ground = Ground::broken;
  cell.answers[0].thresholds = {{"pause", {.value = 71_ms, .attained = false}}};
  cell.answers[0].witness.emplace().lock.algorithm = "set-nx-px-lua";
  cell.answers[1].ground = Ground::proved;
  cell.answers[1].traces = 12;
  cell.answers[1].clients = 3;
  cell.answers[2].why = "no tokens";
  cell.answers[3].ground = Ground::fuzzed;
  cell.answers[3].runs = 300;
  scenarios::Matrix matrix;
  matrix.cells.push_back(std::move(cell));
  return matrix;
}

}  // namespace

TEST_CASE("matrix: the four grounds, the margin, and the bounds") {
  const std::string text = to_string(matrix(forged(), {}, {.width = 100}), false);
  for (const char* part :
       {"some-lock", "✗ >71ms", "✓ 2, 3 clients", "~ fuzzed", "50000 traces", "5000000", "300 random runs (seed 1)"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(text.find("Interrupted") == std::string::npos);
  scenarios::Matrix interrupted = forged();
  interrupted.is_complete = false;
  interrupted.cells.front().answers.clear();
  const std::string half = to_string(matrix(interrupted, {}, {.width = 100}), false);
  CHECK(half.find("Interrupted") != std::string::npos);
  CHECK(half.find("clients  ") == std::string::npos);
  CHECK(to_string(matrix(forged(), {}, {.width = 100, .language = Language::zh}), false).find("2, 3 个客户端") !=
        std::string::npos);
}

TEST_CASE("matrix: json") {
  const auto document = nlohmann::json::parse(matrix_json(forged(), {}));
  CHECK(document["command"] == "matrix");
  CHECK(document["bounds"]["max_traces"] == 50'000);
  CHECK(document["bounds"]["max_events"] == 5'000'000);
  const auto& answers = document["cells"][0]["answers"];
  REQUIRE(answers.size() == 4);
  CHECK(answers[0]["ground"] == "broken");
  CHECK(answers[0]["thresholds"][0] ==
        nlohmann::json({{"parameter", "pause"}, {"infimum", "71ms"}, {"attained", false}}));
  CHECK(answers[0]["witness"].is_string());
  CHECK(answers[1]["ground"] == "proved");
  CHECK(answers[1]["witness"].is_null());
  CHECK(answers[2]["ground"] == "inapplicable");
  CHECK(answers[3]["runs"] == 300);
}

}  // namespace lockstep::matrix_test
