// What a process can come to, a fault of a file can strike after.

#include "scenarios/deployment/fault_step.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/failures.hpp"
#include "scenarios/story/step_name.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/decisions.hpp"

namespace lockstep::scenarios::fault_step_test {
namespace {

using testing::catalogue;
using testing::parsed;

/// Of clients, servers and sentinels.
class Steps final : public sim::Fate {
 public:
  Steps(const sim::World& world, std::size_t processes) : world_(world), processes_(processes) {}

  Answer of(std::uint32_t slot, sim::Instant) override {
    const sim::Event& event = world_.event(slot);
    const bool is_alive =
        event.process.is_valid() && (event.kind == sim::EventKind::start || world_.state(event.process).alive);
    if (is_alive && event.process.index < processes_) {
      if (std::string step = fault_step(world_, event); !step.empty())
        seen.insert({world_.name(event.process), std::move(step)});
    }
    return Answer::happens;
  }

  std::set<std::pair<std::string, std::string>> seen;

 private:
  const sim::World& world_;
  std::size_t processes_;
};

std::set<std::pair<std::string, std::string>> steps_of(const Scenario& story) {
  sim::DefaultDecisions defaults;
  Deployment deployment(story, catalogue(), defaults);
  const std::size_t sentinels = story.sentinels ? story.sentinels->each.size() : 0;
  Steps steps(deployment.world(), story.clients.size() + story.servers.size() + sentinels);
  deployment.simulation().set_fate(&steps);
  Execution execution(story, deployment, 200'000);
  static_cast<void>(execution.play());
  deployment.simulation().set_fate(nullptr);
  return steps.seen;
}

}  // namespace

TEST_CASE("fault step: whatever a process of a story comes to, a fault can strike after it") {
  std::set<std::string> of_servers;
  std::size_t tried = 0;
  for (const std::filesystem::path file : repository_stories()) {
    auto loaded = load(file, catalogue());
    auto& story = std::get<Scenario>(loaded);
    const auto steps = steps_of(story);
    Scenario struck = story;
    for (const auto& [who, step] : steps) {
      // A pause without length changes nothing, so all of them come about.
      FaultSpec& fault = struck.faults.emplace_back();
      fault.kind = FaultSpec::Kind::pause;
      fault.who = who;
      fault.length = sim::DurationRange::exactly({});
      fault.trigger = {.kind = Trigger::Kind::after, .time = {}, .step = step_in_file(step), .occurrence = 1};
      const bool is_server = std::none_of(story.clients.begin(), story.clients.end(),
                                          [&](const ClientSpec& client) { return client.name == who; });
      if (is_server) of_servers.insert(step.substr(step.find('.') + 1));
    }
    tried += steps.size();
    struck.faults.push_back(struck.faults.back());
    struck.faults.back().trigger.occurrence = 100'000;  // of which it is said that it never came
    const std::string text = to_toml(struck, file.parent_path());
    const auto read = parse(text, file, catalogue());
    if (const auto* problem = std::get_if<Diagnostic>(&read)) {
      FAIL_CHECK(problem->to_string());
      continue;
    }
    INFO(text);
    const auto result = run(std::get<Scenario>(read), catalogue(), {.max_events = 200'000});
    if (const auto* problem = std::get_if<Diagnostic>(&result)) {
      FAIL_CHECK(problem->to_string());
      continue;
    }
    std::vector<std::string> missed = std::get<Outcome>(result).notes;
    std::erase_if(missed, [](const std::string& note) { return note.find("never struck") == std::string::npos; });
    CHECK(missed.size() == 1);
    CHECK(missed.front().ends_with("#100000"));
  }
  CHECK(tried > 3'000);
  for (const char* own : {"timeout", "sleep"}) CHECK(of_servers.contains(own));
}

TEST_CASE("fault step: a pause that begins as a session ends holds back what the server says of it") {
  // A's session ends at 9ms after its last word, and B watches. The server is paused as it ends: B hears of it 20ms later.
  const auto notified = [](const std::string& fault) {
    const auto result = run(parsed(R"([lock]
algorithm = "zk-ephemeral-create"
session_timeout = "30ms"
[network]
latency = "1ms"
[[client]]
name = "A"
hold = "1s"
[[client]]
name = "B"
acquire_at = "5ms"
hold = "5ms"
[[fault]]
kind = "crash"
client = "A"
at = "20ms"
)" + fault),
                            catalogue(), {.trace = true});
    if (const auto* problem = std::get_if<Diagnostic>(&result)) FAIL(problem->to_string());
    for (const sim::TraceRecord& record : std::get<Outcome>(result).trace.records) {
      if (record.name == "NOTIFICATION") return record.at.offset();
    }
    return sim::Duration::zero();
  };
  const sim::Duration before = notified("");
  CHECK(before > sim::Duration::zero());
  const sim::Duration held_back =
      notified("[[fault]]\nkind = \"pause\"\nserver = \"zookeeper\"\nafter = \"timeout\"\nlength = \"20ms\"\n");
  CHECK(held_back == before + sim::Duration::milliseconds(20));
}

}  // namespace lockstep::scenarios::fault_step_test
