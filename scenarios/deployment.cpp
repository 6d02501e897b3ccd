#include "scenarios/deployment.hpp"
#include "scenarios/step_name.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace lockstep::scenarios {

using models::Client;
using models::workloads::LockUser;
using models::workloads::Use;

namespace {

const models::locks::Entry& entry_of(const models::locks::Catalogue& catalogue, const std::string& id) {
  const models::locks::Entry* entry = catalogue.find(id);
  assert(entry != nullptr && "the loader has checked it");
  return *entry;
}

models::locks::Parameters parameters_of(const models::locks::Entry& entry, const LockSpec& spec) {
  models::locks::Parameters parameters(entry.parameters);
  for (const auto& [name, value] : spec.parameters) parameters.set(name, value);
  return parameters;
}

/// The name in the world of a step at which a fault strikes: before its write and after its read a client's program says that it is there.
std::string step_named(const Trigger& trigger) {
  const bool is_of_program = (trigger.step == "write" && trigger.kind == Trigger::Kind::before) ||
                             (trigger.step == "read" && trigger.kind == Trigger::Kind::after);
  return is_of_program ? trigger.step : message_named(trigger.step);
}

Use use_of(const std::optional<ResourceSpec>& resource) {
  if (!resource) return Use::none;
  return resource->kind == ResourceSpec::Kind::counter ? Use::increment : Use::overwrite;
}

/// Quoted where it could be taken for something else.
std::string plain_or_quoted(const std::string& bytes) {
  const bool is_plain = !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
           c == ':' || c == '.';
  });
  if (is_plain) return bytes;
  std::string quoted;
  models::redis::append_quoted(quoted, bytes);
  return quoted;
}

/// As many as an attempt can take at all servers, and that twice.
sim::Duration some_round_trips(const Scenario& scenario) {
  return scenario.network.latency.hi * 2 * 8 * static_cast<std::int64_t>(scenario.servers.size());
}

}  // namespace

Deployment::Deployment(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Decisions& decisions,
                       Faults faults)
    : scenario_(scenario),
      parameters_(parameters_of(entry_of(catalogue, scenario.lock.algorithm), scenario.lock)),
      deadlock_bound_(least_deadlock()),
      world_(decisions),
      simulation_(world_) {
  const auto& claims = entry_of(catalogue, scenario.lock.algorithm).claims;
  claims_fairness_ = std::find(claims.begin(), claims.end(), "fair") != claims.end();
  for (const std::string& key : lock_keys(scenario)) {
    locks_.push_back(entry_of(catalogue, scenario.lock.algorithm).make(parameters_));
    locks_.back()->set_key(key);
  }
  add_clients();
  add_servers();
  probe_ = world_.add(clients_.emplace_back([this](Client& client) { return probe_program(client); }), "probe", {});
  for (std::size_t i = 0; i < client_ids_.size(); ++i) connect(clients_[i], client_ids_[i]);
  connect(clients_.back(), probe_);
  if (faults == Faults::none) {
    for (models::redis::Node& server : servers_) server.set_script_memory(&*script_memory_);
    return;
  }
  plan_faults();
  plan_pins();
  plan_schedule();
}

sim::World::ClockSettings Deployment::clock_settings(const ClockSpec& spec) const {
  return {.offset = spec.offset, .drift_ppb = spec.drift_ppm * 1000, .uptime = spec.uptime};
}

void Deployment::add_clients() {
  for (std::size_t i = 0; i < scenario_.clients.size(); ++i) {
    const ClientSpec& spec = scenario_.clients[i];
    settings_.push_back(settings_of(spec));
    const LockUser& settings = settings_.back();
    const auto program = [this, &spec, &settings](Client& client) {
      if (!spec.commands.empty()) return command_program(client, spec);
      return models::workloads::run(client, settings);
    };
    client_ids_.push_back(world_.add(clients_.emplace_back(program), spec.name, clock_settings(spec.clock)));
  }
}

void Deployment::add_servers() {
  for (const ServerSpec& spec : scenario_.servers) {
    server_ids_.push_back(world_.add(servers_.emplace_back(*scripts_), spec.name, clock_settings(spec.clock)));
  }
  if (!scenario_.resource) return;
  resource_.emplace("resource", scenario_.resource->fenced);
  resource_id_ = world_.add(*resource_, "resource", {});
}

LockUser Deployment::settings_of(const ClientSpec& client) const {
  std::vector<models::workloads::UsedLock> locks;
  for (const std::string& key : client.locks) locks.push_back({&lock_named(key), key});
  if (locks.empty() && client.commands.empty()) locks.push_back({&lock_named(scenario_.lock.key), scenario_.lock.key});
  return {.locks = std::move(locks),
          .rounds = client.rounds,
          .between = client.between,
          .attempts = client.attempts.value_or(parameters_.number("attempts")),
          .retry = client.retry.value_or(parameters_.range("retry")),
          .hold = client.hold,
          .release = client.release,
          .use = use_of(scenario_.resource),
          .resource = {},
          .timeout = scenario_.network.timeout};
}

void Deployment::connect(Client& client, sim::ProcessId id) {
  for (std::size_t i = 0; i < server_ids_.size(); ++i) {
    const sim::DurationRange latency = scenario_.servers[i].latency.value_or(scenario_.network.latency);
    client.connect_redis(world_.connect(id, server_ids_[i], latency), scenario_.network.timeout);
  }
  if (!resource_ || id == probe_) return;
  const sim::DurationRange latency = scenario_.resource->latency.value_or(scenario_.network.latency);
  settings_[id.index].resource = world_.connect(id, resource_id_, latency);
}

sim::Task<void> Deployment::command_program(Client& client, const ClientSpec& spec) {
  for (const ClientSpec::Line& line : spec.commands) {
    co_await client.redis().call(line.command);
    if (trouble_) continue;
    if (std::optional<std::string> message = servers_.front().database().limit_hit()) {
      trouble_ = ScriptTrouble{std::move(*message), line.at};
    }
  }
}

/// Of several locks it takes all, and keeps those that it has.
sim::Task<void> Deployment::probe_program(Client& client) {
  const sim::Duration least = sim::Duration::microseconds(1);
  std::size_t taken = 0;
  for (int attempts = 1; probes_once_ || !world_.is_at_or_after(world_.now(), probe_until_); ++attempts) {
    const sim::OperationId id = world_.invoke(client.id(), "acquire", locks_[taken]->key().text());
    client.session() = {id, false};
    while (taken < locks_.size() && co_await locks_[taken]->acquire(client)) ++taken;
    const bool has_all = taken == locks_.size();
    world_.complete(id, has_all ? sim::Phase::ok : sim::Phase::fail);
    if (has_all || (probes_once_ && attempts == kProbeAttempts)) co_return;
    if (probes_once_) continue;
    co_await client.sleep(std::max(probe_poll_, least));
  }
}

void Deployment::begin() {
  probes_once_ = false;
  for (std::size_t i = 0; i < client_ids_.size(); ++i) world_.start(client_ids_[i], scenario_.clients[i].acquire_at);
  world_.arm_faults();
}

void Deployment::begin_probing(sim::Duration poll, sim::Instant give_up) {
  probes_once_ = false;
  probe_poll_ = poll;
  probe_until_ = give_up;
  world_.start_now(probe_);
}

void Deployment::begin_probing_once() {
  probes_once_ = true;
  world_.start(probe_, {sim::Duration::zero(), sim::Duration::forever()});
}

bool Deployment::holds_nothing() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const models::redis::Node& server) { return server.database().keys().size() == 0; });
}

sim::Duration Deployment::recovery_bound() const {
  const auto locks = static_cast<std::int64_t>(locks_.size());
  return scenario_.recover_within.value_or(lease().value_or(sim::Duration::seconds(1)) +
                                           some_round_trips(scenario_) * locks);
}

/// After a lease ran out, a client that waited for it knows at its next attempt but one: the next may have come just before.
std::optional<sim::Duration> Deployment::least_deadlock() const {
  const auto takes_several = [](const ClientSpec& client) { return client.locks.size() > 1; };
  if (places() || std::none_of(scenario_.clients.begin(), scenario_.clients.end(), takes_several)) return std::nullopt;
  if (scenario_.deadlock_lasting) return scenario_.deadlock_lasting;
  const std::optional<sim::Duration> longest_lease = lease();
  if (!longest_lease) return sim::Duration::zero();
  sim::Duration retry;
  for (const ClientSpec& client : scenario_.clients) {
    retry = std::max(retry, client.retry.value_or(parameters_.range("retry")).hi);
  }
  return *longest_lease + retry + some_round_trips(scenario_);
}

const models::locks::LockAlgorithm& Deployment::lock_named(const std::string& key) const {
  return **std::find_if(locks_.begin(), locks_.end(), [&](const auto& lock) { return lock->key().text() == key; });
}

std::vector<sim::ProcessId> Deployment::resources() const {
  if (!resource_) return {};
  return {resource_id_};
}

std::vector<Lane> Deployment::lanes() const {
  std::vector<Lane> lanes;
  for (const ClientSpec& client : scenario_.clients) lanes.push_back({client.name, Lane::Role::client, client.clock});
  for (const ServerSpec& server : scenario_.servers) lanes.push_back({server.name, Lane::Role::server, server.clock});
  if (resource_) lanes.push_back({"resource", Lane::Role::resource, {}});
  lanes.push_back({"probe", Lane::Role::probe, {}});
  return lanes;
}

std::vector<std::string> Deployment::names() const {
  std::vector<std::string> names;
  for (const Lane& lane : lanes()) names.push_back(lane.name);
  return names;
}

std::string Deployment::holdings() const {
  std::string lines;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    std::vector<std::string> keys;
    for (const models::redis::Entry& entry : servers_[i].database().keys().entries()) {
      std::string text = plain_or_quoted(entry.key) + " = ";
      if (const auto* value = std::get_if<models::redis::Value>(&entry.object)) {
        text += value->timestamp() != nullptr ? "a time" : plain_or_quoted(value->text());
      } else {
        text += "a collection";
      }
      if (entry.expires) text += ", with a lease";
      keys.push_back(std::move(text));
    }
    // Their order in the server depends on which was removed last.
    std::sort(keys.begin(), keys.end());
    lines += fmt::format("{}: {}\n", scenario_.servers[i].name,
                         keys.empty() ? "empty" : fmt::format("{}", fmt::join(keys, "; ")));
  }
  if (resource_) lines += fmt::format("resource: {}\n", resource_->value());
  return lines;
}

std::optional<Deployment::ScriptTrouble> Deployment::script_trouble() const {
  if (trouble_) return trouble_;
  for (const models::redis::Node& server : servers_) {
    if (std::optional<std::string> message = server.database().limit_hit())
      return ScriptTrouble{std::move(*message), {}};
  }
  return std::nullopt;
}

std::optional<std::int64_t> Deployment::places() const {
  if (parameters_.find("limit") == nullptr) return std::nullopt;
  return parameters_.number("limit");
}

/// Whoever is one of several holders breaks no mutual exclusion, and frees nobody's place but his own.
std::string_view Deployment::why_not_judged(std::string_view property) const {
  const bool is_semaphore = places().has_value();
  if (property == "capacity" && !is_semaphore) return "no semaphore in this story";
  if (property == "no-deadlock" && !deadlock_bound_) {
    return is_semaphore ? "who waits for a semaphore waits for several" : "no client of this story takes several locks";
  }
  if (property == "fair" && !overtakings()) return "nobody is promised a turn in this story";
  if (is_semaphore && (property == "mutual-exclusion" || property == "own-release"))
    return "a semaphore lets several in: see capacity";
  return "";
}

std::string_view Deployment::why_not_explored(std::string_view property) const {
  if (property == "linearizable" && places()) return "the operations of a semaphore are put in order by run alone";
  return why_not_judged(property);
}

std::optional<std::int64_t> Deployment::overtakings() const {
  const auto asks = [](const Expectation& expectation) { return expectation.property == "fair"; };
  const bool is_asked = std::any_of(scenario_.expect_run.begin(), scenario_.expect_run.end(), asks) ||
                        std::any_of(scenario_.expect_check.begin(), scenario_.expect_check.end(), asks);
  if (is_asked || claims_fairness_) return 0;
  return std::nullopt;
}

std::optional<sim::Duration> Deployment::lease() const {
  if (parameters_.find("ttl") == nullptr) return std::nullopt;
  return parameters_.duration("ttl");
}

// --- Faults and pins.

sim::ProcessId Deployment::process_named(const std::string& name) const {
  for (std::size_t i = 0; i < world_.process_count(); ++i) {
    const sim::ProcessId id{static_cast<std::uint16_t>(i)};
    if (world_.name(id) == name) return id;
  }
  return {};
}

void Deployment::plan_faults() {
  for (const FaultSpec& spec : scenario_.faults) {
    if (spec.kind == FaultSpec::Kind::partition) {
      plan_partition(spec);
    } else {
      world_.plan(planned(spec));
      planned_faults_.push_back(&spec);
    }
  }
}

void Deployment::plan_partition(const FaultSpec& spec) {
  sim::Partition partition{
      .left = {}, .right = {}, .from = spec.trigger.time, .until = spec.trigger.time + spec.length.lo};
  for (const std::string& name : spec.between[0]) partition.left.push_back(process_named(name));
  for (const std::string& name : spec.between[1]) partition.right.push_back(process_named(name));
  world_.plan(std::move(partition));
}

sim::PlannedFault Deployment::planned(const FaultSpec& spec) const {
  sim::PlannedFault fault;
  switch (spec.kind) {
    case FaultSpec::Kind::pause: fault.kind = sim::PlannedFault::Kind::pause; break;
    case FaultSpec::Kind::crash: fault.kind = sim::PlannedFault::Kind::crash; break;
    case FaultSpec::Kind::jump: fault.kind = sim::PlannedFault::Kind::jump; break;
    case FaultSpec::Kind::lose: fault.kind = sim::PlannedFault::Kind::lose; break;
    case FaultSpec::Kind::delay: fault.kind = sim::PlannedFault::Kind::delay; break;
    case FaultSpec::Kind::partition: assert(false && "a partition is no fault of one process"); break;
  }
  fault.process = process_named(spec.who);
  fault.length = spec.kind == FaultSpec::Kind::jump ? spec.by.lo : spec.length.lo;
  fault.restart_after = spec.restart_after;
  fault.keep = spec.keep;
  const bool of_messages = spec.kind == FaultSpec::Kind::lose || spec.kind == FaultSpec::Kind::delay;
  fault.step = of_messages ? message_named(spec.trigger.step) : step_named(spec.trigger);
  fault.occurrence = spec.trigger.occurrence;
  fault.of_reply = spec.direction == FaultSpec::Direction::reply;
  switch (spec.trigger.kind) {
    case Trigger::Kind::at: fault.at = spec.trigger.time; break;
    case Trigger::Kind::before: fault.moment = sim::Moment::before; break;
    case Trigger::Kind::sent: fault.moment = sim::Moment::sent; break;
    case Trigger::Kind::after: fault.moment = sim::Moment::after; break;
  }
  return fault;
}

std::vector<std::string> Deployment::missed_faults() const {
  std::vector<std::string> sentences;
  for (const std::size_t index : world_.faults_that_never_struck()) {
    const FaultSpec& spec = *planned_faults_[index];
    sentences.push_back(fmt::format("the fault in line {} never struck: {} did not come to {}{}", spec.at.line,
                                    spec.who, spec.trigger.step,
                                    spec.trigger.occurrence > 1 ? fmt::format(" #{}", spec.trigger.occurrence) : ""));
  }
  return sentences;
}

void Deployment::plan_pins() {
  std::vector<sim::Pin> order;
  for (const PinEntry& entry : scenario_.pin) {
    order.push_back({.client = process_named(entry.client),
                     .step = message_named(entry.command),
                     .occurrence = entry.occurrence,
                     .server = entry.server.empty() ? sim::ProcessId{} : process_named(entry.server)});
  }
  if (!order.empty()) simulation_.pin(std::move(order));
}

void Deployment::plan_schedule() {
  std::vector<sim::ScheduledEvent> events;
  for (const ScheduleEntry& entry : scenario_.schedule) {
    events.push_back({.at = entry.time,
                      .what = entry.what,
                      .process = process_named(entry.process),
                      .step = message_named(entry.step),
                      .server = entry.server.empty() ? sim::ProcessId{} : process_named(entry.server),
                      .occurrence = entry.occurrence});
  }
  if (!events.empty()) simulation_.schedule(std::move(events));
}

}  // namespace lockstep::scenarios
