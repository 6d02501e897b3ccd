#include "door/serve.hpp"

#include <algorithm>

#include "scenarios/deployment/deployment.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::door {
namespace {

using scenarios::FaultSpec;
using scenarios::Lane;
using scenarios::Scenario;
using scenarios::Trigger;

/// What servers are free to choose is random. What comes first is whatever came first: real clients bring their own
/// chance.
class ServersChance final : public sim::Decisions {
 public:
  explicit ServersChance(std::uint64_t seed) : random_(seed) {}
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId) override {
    return choice == sim::Choice::model || choice == sim::Choice::delay ? random_.below(options) : 0;
  }
  bool always_first() const override { return true; }

 private:
  sim::Random random_;
};

bool is_server_or_sentinel(const Scenario& scenario, const std::string& name) {
  const auto is_named = [&](const auto& each) { return each.name == name; };
  if (std::any_of(scenario.servers.begin(), scenario.servers.end(), is_named)) return true;
  return scenario.sentinels && std::any_of(scenario.sentinels->each.begin(), scenario.sentinels->each.end(), is_named);
}

void leave_out_clients(Scenario& scenario) {
  scenario.pin.clear();
  scenario.schedule.clear();
  std::erase_if(scenario.faults, [&](const FaultSpec& fault) {
    return !cuts_off(fault.kind) &&
           (fault.trigger.kind != Trigger::Kind::at || !is_server_or_sentinel(scenario, fault.who));
  });
}

}  // namespace

std::variant<std::monostate, Trouble> serve(Scenario scenario, const models::locks::Catalogue& catalogue,
                                            const DoorKind& kind, const ServeOptions& options,
                                            const std::function<void(const std::vector<OpenPort>&)>& opened,
                                            const std::function<bool()>& is_stopped) {
  leave_out_clients(scenario);
  for (scenarios::ServerSpec& server : scenario.servers) server.clock.offset += options.epoch;
  ServersChance chance(options.seed);
  // Before the world: a process outlives the world that refers to it.
  const std::unique_ptr<Door> door = kind.make(options.elapsed ? Door::Time::runs : Door::Time::is_stepped);
  scenarios::Deployment deployment(scenario, catalogue, chance);
  deployment.world().add(*door, "door", {});

  std::vector<Listener> listeners;
  std::vector<OpenPort> ports;
  const std::vector<Lane> lanes = deployment.lanes();
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].role != Lane::Role::server) continue;
    const std::size_t wanted = options.port == 0 ? 0 : options.port + listeners.size();
    if (wanted > UINT16_MAX) return Trouble{"there is no port " + std::to_string(wanted)};
    auto listener =
        listen_on_loopback(static_cast<std::uint16_t>(wanted), sim::ProcessId{static_cast<std::uint16_t>(i)});
    if (Trouble* trouble = std::get_if<Trouble>(&listener)) return std::move(*trouble);
    ports.push_back({lanes[i].name, std::get<Listener>(listener).port});
    listeners.push_back(std::get<Listener>(std::move(listener)));
  }
  deployment.world().arm_faults();
  kind.prepare(deployment.servers());
  deployment.begin_servers();
  deployment.world().start(door->id(), {});
  opened(ports);
  PollLoop loop(deployment.world(), deployment.simulation(), *door, std::move(listeners), options.elapsed);
  loop.run(is_stopped);
  return std::monostate{};
}

}  // namespace lockstep::door
