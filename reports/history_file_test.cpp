#include "reports/history_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "checker/history_formats/read.hpp"
#include "checker/history_formats/recorder.hpp"
#include "scenarios/loader.hpp"
#include "scenarios/runner.hpp"
#include "sim/in_tree.hpp"

namespace lockstep::history_file_test {

using namespace lockstep;
namespace formats = checker::history_formats;

namespace {

struct Run {
  std::string file;
  scenarios::Outcome outcome;
};

/// Every story of the repository, run once.
std::vector<Run> all_runs() {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  const std::vector<std::string> where{in_tree("scenarios")};
  const auto found = scenarios::find_scenarios(where);
  std::vector<Run> runs;
  for (const std::filesystem::path& path : std::get<std::vector<std::filesystem::path>>(found)) {
    const auto scenario = std::get<scenarios::Scenario>(scenarios::load(path, catalogue));
    if (scenario.market) continue;  // its operations are not those of a lock
    const models::Mode mode = catalogue.find(scenario.lock.algorithm)->mode;
    const bool is_shared = std::any_of(scenario.clients.begin(), scenario.clients.end(), [&](const auto& client) {
      return client.mode.value_or(mode) == models::Mode::shared;
    });
    if (is_shared) continue;  // nor are those of readers, or of a semaphore, those of a mutex
    Run run{path.string(), std::get<scenarios::Outcome>(scenarios::run(scenario, catalogue, {}))};
    if (run.outcome.places.value_or(1) == 1) runs.push_back(std::move(run));
  }
  return runs;
}

checker::Verdict judged(const std::string& text, std::string_view model_name) {
  const checker::Model& model = *checker::find_model(model_name);
  formats::Recorder recorder(model, {});
  const formats::ReadResult read =
      formats::read_history(formats::text_source(text), formats::Format::automatic,
                            [&](const formats::Event& event) { return recorder.take(event); });
  INFO((read.trouble ? read.trouble->message : ""));
  REQUIRE(!read.trouble);
  REQUIRE(!recorder.trouble());
  return checker::check_linearizable(recorder.finish().operations, model).verdict;
}

}  // namespace

TEST_CASE("history: what run writes, linearize judges as run did, for every story and in both formats") {
  std::size_t violated = 0;
  std::size_t holding = 0;
  std::size_t nested = 0;
  for (const Run& run : all_runs()) {
    INFO(run.file);
    checker::Verdict expected = checker::Verdict::unknown;
    for (const scenarios::Judgement& judgement : run.outcome.properties) {
      if (judgement.finding.property == "linearizable") expected = judgement.finding.verdict;
    }
    // Where nobody ever got the lock a run does not judge; a checker of histories has nothing against that.
    if (expected == checker::Verdict::unknown) continue;
    violated += expected == checker::Verdict::violated ? 1 : 0;
    holding += expected == checker::Verdict::holds ? 1 : 0;
    const auto& operations = run.outcome.history.operations;
    const bool is_nested =
        std::any_of(operations.begin(), operations.end(), [](const auto& o) { return o.function == "reenter"; });
    nested += is_nested ? 1 : 0;
    const std::string_view model = is_nested ? "reentrant-mutex" : "owner-mutex";
    CHECK(judged(history_text(run.outcome, reports::HistoryFormat::edn), model) == expected);
    CHECK(judged(history_text(run.outcome, reports::HistoryFormat::json_lines), model) == expected);
  }
  CHECK(violated > 5);
  CHECK(holding > 5);
  CHECK(nested > 3);
}

TEST_CASE(
    "history: what is taken again within a hold is written, and a lost inner acquire explains an unlock too many") {
  for (const Run& run : all_runs()) {
    if (!run.file.ends_with("f002-6-unlock-in-finally.toml")) continue;
    const std::string text = history_text(run.outcome, reports::HistoryFormat::edn);
    const auto times = [&](const std::string& what) {
      std::size_t found = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
      return found;
    };
    CHECK(times(":process \"A\", :type :invoke, :f :acquire") == 2);
    CHECK(times(":process \"A\", :type :invoke, :f :release") == 2);
    CHECK(judged(text, "reentrant-mutex") == checker::Verdict::holds);
    return;
  }
  FAIL("the story is gone");
}

TEST_CASE("history: both formats say the same, and each line of JSON is a document") {
  for (const Run& run : all_runs()) {
    std::vector<std::vector<std::string>> both;
    for (const auto format : {reports::HistoryFormat::edn, reports::HistoryFormat::json_lines}) {
      std::vector<std::string>& events = both.emplace_back();
      const std::string text = history_text(run.outcome, format);
      formats::read_history(formats::text_source(text), formats::Format::automatic, [&](const formats::Event& event) {
        std::string process = to_string(event.process);
        if (event.is_nemesis()) process = "nemesis";
        events.push_back(std::to_string(event.line) + process + std::string(event.function) + to_string(event.value) +
                         to_string(event.object) + to_string(event.error) + std::to_string(*event.time) +
                         std::to_string(*event.index) + std::to_string(static_cast<int>(event.phase)));
        return std::optional<formats::Complaint>();
      });
    }
    CHECK(!both[0].empty());
    CHECK(both[0] == both[1]);
    const std::string json = history_text(run.outcome, reports::HistoryFormat::json_lines);
    CHECK(nlohmann::json::parse(json.substr(0, json.find('\n'))).contains("process"));
  }
}

TEST_CASE("history: the end of the name says the format") {
  CHECK(reports::history_format_of("a.edn") == reports::HistoryFormat::edn);
  CHECK(reports::history_format_of("a.jsonl") == reports::HistoryFormat::json_lines);
  CHECK(!reports::history_format_of("edn"));
  CHECK(!reports::history_format_of("a.json"));
}

}  // namespace lockstep::history_file_test
