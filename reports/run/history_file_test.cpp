#include "reports/run/history_file.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

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
  std::vector<Run> runs;
  for (const std::filesystem::path path : repository_stories()) {
    const auto scenario = std::get<scenarios::Scenario>(scenarios::load(path, catalogue));
    if (scenario.market) continue;  // its operations are not those of a lock
    runs.push_back({path.string(), std::get<scenarios::Outcome>(scenarios::run(scenario, catalogue, {}))});
  }
  return runs;
}

/// What a history says of the lock in it.
struct Own {
  std::string model;
  checker::LinearizabilityOptions options;
};

Own own_of(const std::string& text) {
  Own own;
  formats::read_history(formats::text_source(text), formats::Format::automatic, [&](const formats::Event& event) {
    if (event.model.is_word()) own.model = event.model.text;
    if (event.permits.is(formats::Value::Kind::integer)) own.options.permits = event.permits.number;
    return std::optional<formats::Complaint>();
  });
  return own;
}

checker::Verdict judged(const std::string& text, const Own& own) {
  const checker::Model& model = *checker::find_model(own.model);
  formats::Recorder recorder(model, {});
  const formats::ReadResult read =
      formats::read_history(formats::text_source(text), formats::Format::automatic,
                            [&](const formats::Event& event) { return recorder.take(event); });
  INFO((read.trouble ? read.trouble->message : ""));
  REQUIRE(!read.trouble);
  REQUIRE(!recorder.trouble());
  return checker::check_linearizable(recorder.finish().operations, model, own.options).verdict;
}

struct RoundTrip {
  std::string model;  ///< empty: nobody ever asked for the lock
  checker::Verdict expected = checker::Verdict::unknown;
};

/// What run says of itself, linearize has to say of what it wrote, by the model that the file names.
RoundTrip round_trip(const scenarios::Outcome& outcome) {
  const std::string edn = history_text(outcome, reports::HistoryFormat::edn);
  const std::string json = history_text(outcome, reports::HistoryFormat::json_lines);
  const Own own = own_of(edn);
  CHECK(own_of(json).model == own.model);
  CHECK(own_of(json).options.permits == own.options.permits);
  RoundTrip trip{.model = own.model};
  if (own.model.empty()) return trip;
  for (const scenarios::Judgement& judgement : outcome.properties) {
    const checker::Verdict verdict = judgement.finding.verdict;
    const bool is_judged = verdict != checker::Verdict::not_judged;
    if (judgement.finding.property == "linearizable" && is_judged) trip.expected = verdict;
  }
  const checker::Verdict verdict = judged(edn, own);
  CHECK(judged(json, own) == verdict);
  // Where nobody ever got the lock, and of locks that some share, a run does not judge; a checker of histories has nothing against that.
  if (trip.expected != checker::Verdict::unknown) CHECK(verdict == trip.expected);
  return trip;
}

}  // namespace

TEST_CASE("history: what run writes, linearize judges as run did, by the model that the file names, for every story") {
  std::size_t violated = 0;
  std::size_t holding = 0;
  std::map<std::string, std::size_t> models;
  for (const Run& run : all_runs()) {
    INFO(run.file);
    const RoundTrip trip = round_trip(run.outcome);
    ++models[trip.model];
    if (trip.expected == checker::Verdict::unknown) continue;
    violated += trip.expected == checker::Verdict::violated ? 1 : 0;
    holding += trip.expected == checker::Verdict::holds ? 1 : 0;
  }
  CHECK(violated > 5);
  CHECK(holding > 5);
  CHECK(models["reentrant-mutex"] > 3);
  CHECK(models["read-write-lock"] > 0);
  CHECK(models["semaphore"] > 3);
}

TEST_CASE("history: of each algorithm a run's history is judged as the run, by the model that it names") {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  std::size_t judged_by_run = 0;
  for (const models::locks::Entry& entry : catalogue.entries()) {
    const auto loaded = scenarios::parse(scenarios::new_story(entry, "mine", "mine.toml"), "mine.toml", catalogue);
    const auto& scenario = std::get<scenarios::Scenario>(loaded);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      INFO(entry.id << ", seed " << seed);
      const auto result = scenarios::run(scenario, catalogue, {.seed = seed});
      const auto* outcome = std::get_if<scenarios::Outcome>(&result);
      REQUIRE(outcome != nullptr);
      const RoundTrip trip = round_trip(*outcome);
      CHECK(!trip.model.empty());
      judged_by_run += trip.expected != checker::Verdict::unknown ? 1 : 0;
    }
  }
  CHECK(judged_by_run > 4 * catalogue.entries().size());
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
    CHECK(own_of(text).model == "reentrant-mutex");
    CHECK(judged(text, own_of(text)) == checker::Verdict::holds);
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
