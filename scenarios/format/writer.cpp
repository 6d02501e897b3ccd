#include "scenarios/format/writer.hpp"

#include "scenarios/format/schema/schema.hpp"
#include "scenarios/format/schema/value.hpp"

namespace lockstep::scenarios {

std::string identity_of(const Scenario& scenario) {
  const OwnLock& own = scenario.lock.own;
  if (own.entry == nullptr) return to_toml(scenario);
  Scenario story = scenario;
  story.lock.own.path = std::filesystem::path(own.path).filename().string();
  return to_toml(story) + own.text;
}

std::string to_toml(const Scenario& scenario, const std::filesystem::path& folder) {
  return schema::write_scenario(scenario, folder);
}

Scenario without_positions(Scenario scenario) {
  scenario.lock.algorithm_at = {};
  scenario.sentinels_at = scenario.quorum_at = {};
  for (ClientSpec& client : scenario.clients) {
    client.at = {};
    for (ClientSpec& thread : client.threads) thread.at = {};
    for (ClientSpec::Line& line : client.commands) line.at = {};
  }
  for (FaultSpec& fault : scenario.faults) fault.at = {};
  for (MaySpec& may : scenario.may) may.at = {};
  for (PinEntry& entry : scenario.pin) entry.at = {};
  for (ScheduleEntry& entry : scenario.schedule) entry.at = {};
  for (std::vector<Expectation>* list : {&scenario.expect_run, &scenario.expect_check}) {
    for (Expectation& expectation : *list) expectation.position = {};
  }
  return scenario;
}

std::string toml_value(const models::locks::ParameterValue& value) { return schema::as_toml(value).line; }

}  // namespace lockstep::scenarios
