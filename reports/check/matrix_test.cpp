// The matrix as people and programs see it.

#include "reports/check/matrix.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reports/text/text.hpp"

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

TEST_CASE("matrix: at any width no word is broken, no line is longer, and what means nothing takes one line") {
  scenarios::Matrix wide;
  for (const std::string name : {"redisson-hash-local-count", "set-nx-px-lua"}) {
    for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) {
      scenarios::MatrixCell cell = forged().cells.front();
      cell.algorithm = name;
      cell.fault = &fault;
      wide.cells.push_back(std::move(cell));
    }
  }
  for (const std::size_t width : {60U, 80U, 100U, 300U}) {
    const std::string text = to_string(matrix(wide, {}, {.width = width}), false);
    INFO(text);
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      CHECK(display_width(text.substr(begin, end - begin)) <= width);
    }
    // Each fault heads a column in three tables, and is explained once.
    for (const scenarios::MatrixFault& fault : scenarios::matrix_faults()) {
      std::size_t count = 0;
      const std::string word = std::string(fault.name) + (fault.name == "crash" || fault.name == "none" ? " " : "");
      for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
      CAPTURE(fault.name, width);
      CHECK(count >= 4);
    }
    CHECK(text.find("redisson-hash-local-count  ") != text.npos);
    const std::size_t fenced = text.find("damage-fenced");
    CHECK(text.substr(fenced, text.find("recovery:") - fenced).find("·") == text.npos);
    CHECK(text.find("has no meaning for these algorithms") != text.npos);
  }
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
