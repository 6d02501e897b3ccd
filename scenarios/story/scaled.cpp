#include "scenarios/story/scaled.hpp"

#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "models/servers/server_kind.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

class Scaler {
 public:
  explicit Scaler(TimeScale scale) : scale_(scale) {}

  void all(Scenario& story) const {
    parameters(story.lock.parameters);
    some(story.network.latency);
    some(story.network.timeout);
    some(story.network.replication);
    for (ServerSpec& server : story.servers) of_server(server);
    if (!story.servers.empty()) some(story.shared_settings, story.servers.front().kind->shared_settings());
    if (story.sentinels) of_sentinels(*story.sentinels);
    if (story.resource) some(story.resource->latency);
    for (ClientSpec& client : story.clients) of_client(client);
    for (FaultSpec& fault : story.faults) of_fault(fault);
    for (ScheduleEntry& entry : story.schedule) some(entry.time);
    for (std::optional<sim::Duration>* bound :
         {&story.recover_within, &story.deadlock_lasting, &story.wake_within, &story.progress_within})
      some(*bound);
    for (Expectation& expectation : story.expect_run) some(expectation.at);
  }

  void parameters(LockParameters& values) const {
    for (auto& [name, value] : values) of_value(value);
  }

  void of_value(models::locks::ParameterValue& value) const {
    if (auto* duration = std::get_if<sim::Duration>(&value)) some(*duration);
    if (auto* range = std::get_if<sim::DurationRange>(&value)) some(*range);
  }

 private:
  /// What is for ever stays so, and `never` does.
  void some(sim::Duration& d) const {
    if (d < sim::Duration::forever() && d > -sim::Duration::forever()) d = d * scale_.numerator / scale_.denominator;
  }
  void some(sim::DurationRange& range) const {
    some(range.lo);
    some(range.hi);
  }
  template <class Length>
  void some(std::optional<Length>& length) const {
    if (length) some(*length);
  }
  void some(ClockSpec& clock) const {
    some(clock.offset);
    some(clock.uptime);
  }
  void of_server(ServerSpec& server) const {
    some(server.clock);
    some(server.latency);
    some(server.restart_delay);
    some(server.settings, server.kind->settings());
  }
  void some(models::Settings& settings, std::span<const models::SettingSpec> specs) const {
    for (const models::SettingSpec& spec : specs) {
      if (spec.is_constant) continue;
      const models::SettingValue* set = settings.find(spec.name);
      models::SettingValue value = set != nullptr ? *set : spec.fallback;
      if (auto* duration = std::get_if<sim::Duration>(&value)) some(*duration);
      if (auto* range = std::get_if<sim::DurationRange>(&value)) some(*range);
      if (value != spec.fallback) settings.set(spec.name, std::move(value));
    }
  }
  void of_sentinels(SentinelsSpec& sentinels) const {
    some(sentinels.down_after);
    some(sentinels.failover_timeout);
    for (SentinelSpec& each : sentinels.each) {
      some(each.clock);
      some(each.latency);
    }
  }
  void of_client(ClientSpec& client) const {
    some(client.acquire_at);
    some(client.hold);
    some(client.between);
    some(client.retry);
    some(client.inner_hold);
    some(client.clock);
    parameters(client.parameters);
    for (ClientSpec& thread : client.threads) of_client(thread);
  }
  void of_fault(FaultSpec& fault) const {
    some(fault.trigger.time);
    some(fault.length);
    some(fault.restart_after);
    some(fault.by);
  }

  TimeScale scale_;
};

}  // namespace

Scenario scaled(Scenario scenario, const models::locks::Catalogue& catalogue, TimeScale scale) {
  if (scale.numerator == scale.denominator) return scenario;
  const Scaler scaler(scale);
  // What the file does not say is a default, and takes as long as the rest.
  LockParameters complete;
  if (const models::locks::Entry* entry = find_entry(scenario.lock, catalogue)) {
    for (const models::locks::ParameterSpec& spec : entry->parameters) complete.emplace(spec.name, spec.fallback);
  }
  for (auto& [name, value] : scenario.lock.parameters) complete.insert_or_assign(name, std::move(value));
  scenario.lock.parameters = std::move(complete);
  scaler.all(scenario);
  return scenario;
}

}  // namespace lockstep::scenarios
