#include "scenarios/deployment/deployment.hpp"

#include <algorithm>
#include <cassert>
#include <set>

#include <fmt/format.h>

#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {

using models::Client;
using models::workloads::LockUser;
using models::workloads::Use;

namespace {

const models::locks::Entry& entry_of(const models::locks::Catalogue& catalogue, const LockSpec& lock) {
  const models::locks::Entry* entry = find_entry(lock, catalogue);
  assert(entry != nullptr && "the loader has checked it");
  return *entry;
}

Use use_of(const std::optional<ResourceSpec>& resource) {
  if (!resource) return Use::none;
  switch (resource->kind) {
    case ResourceSpec::Kind::counter: return Use::increment;
    case ResourceSpec::Kind::reg: return Use::overwrite;
    case ResourceSpec::Kind::row: break;
  }
  return Use::row;
}

}  // namespace

models::locks::Parameters parameters_of(const models::locks::Entry& entry, const LockSpec& spec) {
  models::locks::Parameters parameters(entry.parameters);
  for (const auto& [name, value] : spec.parameters) parameters.set(name, value);
  return parameters;
}

models::locks::Parameters parameters_of(const models::locks::Entry& entry, const LockSpec& spec,
                                        const ClientSpec& client) {
  models::locks::Parameters parameters = parameters_of(entry, spec);
  for (const auto& [name, value] : client.parameters) parameters.set(name, value);
  return parameters;
}

Deployment::Deployment(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Decisions& decisions,
                       Faults faults)
    : scenario_(scenario),
      catalogue_(catalogue),
      entry_(entry_of(catalogue, scenario.lock)),
      parameters_(parameters_of(entry_, scenario.lock)),
      lease_(longest_lease()),
      deadlock_bound_(least_deadlock()),
      world_(decisions),
      simulation_(world_) {
  for (const std::string& key : lock_keys(scenario)) {
    locks_.push_back(entry_.make(parameters_));
    locks_.back()->set_key(key);
    locks_.back()->share(*locks_.front());
  }
  claims_fairness_ = std::find(entry_.claims.begin(), entry_.claims.end(), "fair") != entry_.claims.end();
  add_clients();
  add_servers();
  Client& probe = clients_.emplace_back([this](Client& client) { return probe_program(client); });
  probe.set_process_name("probe");
  probe_ = world_.add(probe, "probe", {});
  for (std::size_t i = 0; i < members_.size(); ++i) connect_client(i);
  connect(probe, nullptr);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].client != nullptr) add_threads(*members_[i].client, scenario.clients[i]);
  }
  add_company(probe);
  count_attempts();
  progress_within_ = scenario.progress_within.value_or(default_progress());
  if (faults == Faults::none) {
    servers_->expect_exploration();
    return;
  }
  missing_process_ = look_for_missing_process();
  if (missing_process_) return;
  plan_faults();
  plan_pins();
  plan_schedule();
}

Client::Program Deployment::program_of(const ClientSpec& spec, const LockUser& settings) {
  const models::workloads::Trader* trader = scenario_.market ? &traders_.emplace_back(trader_of(spec)) : nullptr;
  return [this, &spec, &settings, trader](Client& client) {
    if (!spec.commands.empty()) return command_program(client, spec);
    if (trader != nullptr) return models::workloads::trade(client, *trader);
    return models::workloads::run(client, settings);
  };
}

void Deployment::add_clients() {
  for (const ClientSpec& spec : scenario_.clients) {
    const LockUser& settings = settings_.emplace_back(settings_of(spec));
    if (spec.is_program()) {
      sim::invariant(scenario_.programs.maker != nullptr, "a story with programs is deployed only where they can run");
      programs_.push_back(scenario_.programs.maker->make(scenario_, spec, members_.size()));
      members_.push_back({.program = programs_.back().get()});
      client_ids_.push_back(world_.add(*programs_.back(), spec.name, models::clock_settings(spec.clock)));
      continue;
    }
    // A process with threads leaves everything to them.
    Client& client = clients_.emplace_back(spec.threads.empty() ? program_of(spec, settings) : Client::Program());
    const bool is_configured = !spec.process_name.empty();
    client.set_process_name(is_configured ? spec.process_name : spec.name, is_configured);
    client.set_thread_id(spec.thread_id);
    client.set_mode(spec.mode.value_or(entry_.mode));
    members_.push_back({.client = &client});
    client_ids_.push_back(world_.add(client, spec.name, models::clock_settings(spec.clock)));
  }
}

/// The threads of a client that has several, and what all clients have besides their threads.
void Deployment::add_threads(Client& process, const ClientSpec& spec) {
  const std::vector<std::string> names = thread_names(spec);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ClientSpec& own = spec.threads[i];
    LockUser& settings = settings_.emplace_back(settings_of(own));
    settings.after = own.acquire_at;
    Client& thread = parts_.emplace_back(program_of(own, settings));
    part_ids_.push_back(world_.add_part(thread, process.id(), names[i]));
    thread.become_thread_of(process, spec.thread_id + static_cast<std::int64_t>(i));
    thread.set_mode(own.mode.value_or(entry_.mode));
    connect(thread, &settings);
  }
  if (spec.commands.empty()) add_company(process);
}

/// What the algorithm needs in each process besides its threads.
void Deployment::add_company(Client& process) {
  if (entry_.has_background) {
    Client& background = parts_.emplace_back();
    part_ids_.push_back(world_.add_part(background, process.id(), process.name() + "/watchdog"));
    background.become_background_of(process);
    connect(background, nullptr);
  }
  if (entry_.subscribes) servers_->connect_subscriber(process, {.follows_primary = goes_via_sentinels(process)});
}

void Deployment::add_servers() {
  const bool sends_commands =
      std::any_of(scenario_.clients.begin(), scenario_.clients.end(),
                  [](const ClientSpec& client) { return !client.commands.empty() || client.is_program(); });
  servers_ =
      models::locks::server_kind_of(entry_).make({.world = world_,
                                                  .servers = scenario_.servers,
                                                  .latency = scenario_.network.latency,
                                                  .replication = scenario_.network.replication,
                                                  .timeout = scenario_.network.timeout,
                                                  .shared = scenario_.shared_settings,
                                                  .company = scenario_.sentinels ? &*scenario_.sentinels : nullptr,
                                                  .expects_anything = sends_commands,
                                                  .version = entry_.server_version});
  const std::size_t sentinels = scenario_.sentinels ? scenario_.sentinels->each.size() : 0;
  assert(servers_->ids().size() == scenario_.servers.size());
  assert(world_.process_count() == members_.size() + servers_->ids().size() + sentinels &&
         "a process that the file does not list has no lane");
  if (!scenario_.resource) return;
  resource_.emplace("resource", scenario_.resource->fenced);
  resource_id_ = world_.add(*resource_, "resource", {});
  if (keeps_row()) servers_->keep_resource(resource_id_);
}

LockUser Deployment::settings_of(const ClientSpec& client) {
  std::vector<models::workloads::UsedLock> locks;
  for (const std::string& key : client.locks) locks.push_back({&lock_of(client, key), key});
  if (locks.empty() && client.commands.empty())
    locks.push_back({&lock_of(client, scenario_.lock.key), scenario_.lock.key});
  return {.locks = std::move(locks),
          .rounds = client.rounds,
          .between = client.between,
          .attempts = client.attempts.value_or(parameters_.number("attempts")),
          .retry = client.retry.value_or(parameters_.range("retry")),
          .hold = client.hold,
          .reenter = client.reenter,
          .inner_hold = client.inner_hold,
          .release = client.release,
          .in_finally = client.in_finally,
          .finally = client.finally,
          .after = {},
          .use = use_of(scenario_.resource),
          .resource = {},
          .timeout = scenario_.network.timeout};
}

models::workloads::Trader Deployment::trader_of(const ClientSpec& client) const {
  models::workloads::Trader trader;
  trader.sells = client.role == ClientSpec::Role::seller;
  trader.guard = scenario_.market->guard;
  trader.account = client.account.empty() ? client.name : client.account;
  trader.price = scenario_.market->price;
  trader.funds = scenario_.market->funds;
  trader.rounds = client.rounds;
  trader.between = client.between;
  trader.attempts = client.attempts.value_or(parameters_.number("attempts"));
  trader.retry = client.retry.value_or(parameters_.range("retry"));
  trader.lock = [this, &client](const std::string& key) {
    auto lock = entry_.make(parameters_of(entry_, scenario_.lock, client));
    lock->set_key(key);
    lock->share(*locks_.front());
    return lock;
  };
  return trader;
}

sim::DurationRange Deployment::latency_to(std::size_t server) const {
  return scenario_.servers[server].latency.value_or(scenario_.network.latency);
}

/// `settings`: of its program, if that is one of the lock's users.
void Deployment::connect(Client& client, LockUser* settings) {
  std::optional<sim::Duration> patience = scenario_.network.timeout;
  // Whoever gives up before an answer can have come knows nothing of the lock.
  if (patience && client.id() == probe_)
    patience = std::max(*patience, slowest_round_trip() + sim::Duration::microseconds(1));
  servers_->connect(client, {.timeout = patience, .follows_primary = goes_via_sentinels(client)});
  connect_resource(client, settings);
}

void Deployment::connect_client(std::size_t number) {
  if (models::Client* client = members_[number].client) return connect(*client, &settings_[number]);
  for (std::size_t i = 0; i < servers_->ids().size(); ++i)
    members_[number].program->connect_to(servers_->ids()[i], latency_to(i));
}

/// The probe does as the story's clients do.
bool Deployment::goes_via_sentinels(const Client& client) const {
  if (client.id() != probe_) return scenario_.clients[client.id().index].via_sentinel;
  return std::any_of(scenario_.clients.begin(), scenario_.clients.end(),
                     [](const ClientSpec& other) { return other.via_sentinel; });
}

void Deployment::connect_resource(Client& client, LockUser* settings) {
  if (!resource_ || keeps_row() || settings == nullptr) return;
  settings->resource =
      models::link(client, resource_id_, scenario_.resource->latency.value_or(scenario_.network.latency));
}

sim::Duration Deployment::until_next_probe() const {
  const sim::Duration now = world_.now().offset();
  const sim::Duration from = probing_.often_from.offset();
  if (now < from) return std::min(probing_.poll, from - now);
  const sim::Duration until = probing_.often_until.offset();
  if (now < until) return probing_.often;
  // It comes too late, and how late is told to an eighth: who waits for ever does not ask hundreds of times.
  return std::max(probing_.poll, (now - until) / 8);
}

/// Of several locks it takes all, and keeps those that it has.
sim::Task<bool> Deployment::attempt(Client& client, std::size_t& taken) {
  const sim::OperationId id = world_.invoke(client.id(), "acquire", locks_[taken]->key().text());
  client.session().operation = id;
  client.session().missed_reply = false;
  while (taken < locks_.size() && co_await locks_[taken]->try_acquire(client)) ++taken;
  const bool has_all = taken == locks_.size();
  world_.complete(id, has_all ? sim::Phase::ok : sim::Phase::fail);
  client.session().operation = 0;
  co_return has_all;
}

sim::Task<void> Deployment::probe_program(Client& client) {
  if (visit_ != Visit::none) {
    co_await visit_program(client);
    co_return;
  }
  const sim::Duration least = sim::Duration::microseconds(1);
  std::size_t taken = 0;
  const sim::Instant give_up = probes_for_ ? world_.now() + *probes_for_ : probing_.give_up;
  if (!probes_for_ && world_.now().offset() < probing_.first.offset())
    co_await client.sleep(probing_.first.offset() - world_.now().offset());
  for (int attempts = 1;; ++attempts) {
    const bool is_over = world_.is_at_or_after(world_.now(), give_up);
    if (is_over && !probes_for_) co_return;
    const sim::Instant began = world_.now();
    const bool has_all = co_await attempt(client, taken);
    if (has_all || is_over) co_return;
    if (probes_for_) {
      // A script may give up without asking anybody, which takes no time: the last attempt has to come after the bound
      // all the same.
      if (world_.now().identical(began)) co_await client.sleep(std::max(*probes_for_ / 4, least));
      if (attempts >= kQuickProbeAttempts) co_await client.sleep(std::max(*probes_for_ / 8, least));
      continue;
    }
    co_await client.sleep(std::max(until_next_probe(), least));
  }
}

sim::Task<void> Deployment::visit_program(Client& client) {
  if (visit_from_ && world_.now().offset() < visit_from_->offset())
    co_await client.sleep(visit_from_->offset() - world_.now().offset());
  const sim::Duration within = visit_bound_;
  const sim::Instant time_is_up = world_.now() + within;
  // A program that rests for longer than that begins its last attempt when it has rested.
  const sim::Duration longest = within * 4 + pause_of_visitor(1);
  const sim::TimerRef end =
      world_.set_timer(probe_, sim::DurationRange::exactly(longest), sim::TimerKind::deadline, visit_end_);
  std::size_t taken = 0;
  for (int attempts = 1;; ++attempts) {
    const bool is_last = world_.is_at_or_after(world_.now(), time_is_up);
    const bool has_all = co_await attempt(client, taken);
    if (has_all || is_last || visit_ == Visit::over) break;
    co_await client.sleep(pause_of_visitor(attempts));
  }
  world_.cancel_timer(end);
  visit_ = Visit::over;
}

/// Twice that of its program, so that what one attempt leaves meets the next; then often enough for whatever lives as
/// long as a lease, and no oftener: each attempt is an event of an exploration.
sim::Duration Deployment::pause_of_visitor(int attempts) const {
  const sim::Duration own = std::max(parameters_.range("retry").lo, sim::Duration::microseconds(1));
  if (attempts <= 2) return own;
  const sim::Duration within = recovery_bound();
  const sim::Duration lasting = std::min(within, lease().value_or(within));
  return std::max({own, lasting / 4, within / 16});
}

void Deployment::begin() {
  probes_for_.reset();
  visit_ = Visit::none;
  servers_->begin_first();
  for (std::size_t i = 0; i < client_ids_.size(); ++i) world_.start(client_ids_[i], scenario_.clients[i].acquire_at);
  world_.arm_faults();
  servers_->begin();
}

void Deployment::begin_servers() {
  visit_ = Visit::none;
  servers_->begin_first();
  servers_->begin();
}

void Deployment::begin_probing(const Probing& probing) {
  probes_for_.reset();
  probing_ = probing;
  world_.start_now(probe_);
}

void Deployment::begin_probing_for(sim::Duration time) {
  probes_for_ = time;
  world_.start(probe_, {sim::Duration::zero(), sim::Duration::forever()});
}

void Deployment::begin_visit(std::optional<sim::Instant> first, sim::Duration sessions) {
  // A server may end a session later than its length, by a tick of its own.
  visit_bound_ = std::max(recovery_bound(), sessions + probe_slack());
  visit_ = Visit::goes_on;
  visit_from_ = first;
  if (first) {
    world_.start_now(probe_);
  } else {
    world_.start(probe_, {sim::Duration::zero(), sim::Duration::forever()});
  }
}

const models::locks::LockAlgorithm& Deployment::lock_named(const std::string& key) const {
  return **std::find_if(locks_.begin(), locks_.end(), [&](const auto& lock) { return lock->key().text() == key; });
}

const models::locks::LockAlgorithm& Deployment::lock_of(const ClientSpec& client, const std::string& key) {
  if (client.parameters.empty()) return lock_named(key);
  const auto& own = own_locks_.emplace_back(entry_.make(parameters_of(entry_, scenario_.lock, client)));
  own->set_key(key);
  own->share(*locks_.front());
  return *own;
}

std::vector<sim::ProcessId> Deployment::resources() const {
  if (!resource_) return {};
  return {resource_id_};
}

std::vector<Lane> Deployment::lanes() const {
  std::vector<Lane> lanes;
  for (const ClientSpec& client : scenario_.clients) lanes.push_back({client.name, Lane::Role::client, client.clock});
  for (const ServerSpec& server : scenario_.servers) lanes.push_back({server.name, Lane::Role::server, server.clock});
  if (scenario_.sentinels) {
    for (const SentinelSpec& sentinel : scenario_.sentinels->each) {
      lanes.push_back({sentinel.name, Lane::Role::sentinel, sentinel.clock});
    }
  }
  if (resource_) lanes.push_back({"resource", Lane::Role::resource, {}});
  lanes.push_back({"probe", Lane::Role::probe, {}});
  for (const sim::ProcessId part : part_ids_) {
    const Lane& host = lanes[world_.state(part).host.index];
    lanes.push_back({world_.name(part), host.role, host.clock, world_.state(part).host});
  }
  return lanes;
}

std::vector<std::string> Deployment::names() const {
  std::vector<std::string> names;
  for (const Lane& lane : lanes()) names.push_back(lane.name);
  return names;
}

std::string Deployment::holdings() const {
  std::string lines;
  for (std::size_t i = 0; i < scenario_.servers.size(); ++i) {
    std::vector<std::string> keys = servers_->holdings(i);
    // Their order in the server depends on which was removed last.
    std::sort(keys.begin(), keys.end());
    lines += fmt::format("{}: {}\n", scenario_.servers[i].name,
                         keys.empty() ? "empty" : fmt::format("{}", fmt::join(keys, "; ")));
  }
  if (resource_ && !keeps_row()) lines += fmt::format("resource: {}\n", resource_->value());
  return lines;
}

std::optional<Deployment::ScriptTrouble> Deployment::script_trouble() const {
  if (trouble_) return trouble_;
  if (world_.given_up() != nullptr) return ScriptTrouble{world_.given_up(), {}};
  if (const auto trouble = servers_->trouble()) return ScriptTrouble{trouble->message, {}};
  return std::nullopt;
}

std::optional<Deployment::ProgramTrouble> Deployment::program_trouble() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].program == nullptr) continue;
    if (std::optional<std::string> trouble = members_[i].program->trouble())
      return ProgramTrouble{fmt::format("client {} {}", scenario_.clients[i].name, *trouble), scenario_.clients[i].at};
  }
  return std::nullopt;
}

std::vector<std::string> Deployment::notes_of_programs() const {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].program == nullptr) continue;
    for (const std::string& note : members_[i].program->notes())
      notes.push_back(fmt::format("{}: {}", scenario_.clients[i].name, note));
  }
  return notes;
}

std::vector<ProgramCall> Deployment::program_calls() const {
  std::vector<ProgramCall> all;
  for (const auto& program : programs_) all.insert(all.end(), program->calls().begin(), program->calls().end());
  return all;
}

std::optional<std::string> Deployment::mistake() const {
  if (world_.mistake() == nullptr) return std::nullopt;
  return fmt::format("a script stops with an error of its own, so nothing is known of what was meant: {}",
                     one_line(world_.mistake()));
}

std::vector<std::string> Deployment::script_mistakes() const {
  std::vector<std::string> sentences;
  for (const models::Servers::Mistake& mistake : servers_->mistakes()) {
    std::string_view said = mistake.code;
    constexpr std::size_t kShown = 80;
    said.remove_prefix(std::min(said.find_first_not_of(" \t"), said.size()));
    sentences.push_back(fmt::format("{}: line {}: {}: {}", place_of_script(mistake.script), mistake.line,
                                    one_line(mistake.message), in_quotes(said.substr(0, kShown))));
  }
  std::set<std::string> of_locks;
  for (const auto* locks : {&locks_, &own_locks_}) {
    for (const auto& lock : *locks) {
      for (const std::string& mistake : lock->mistakes()) of_locks.insert(one_line(mistake));
    }
  }
  sentences.insert(sentences.end(), of_locks.begin(), of_locks.end());
  return sentences;
}

std::optional<std::string> Deployment::trouble_of_scripts() const {
  if (world_.given_up() != nullptr) return world_.given_up();
  const auto trouble = servers_->trouble();
  if (!trouble) return std::nullopt;
  if (trouble->script.empty()) return trouble->message;
  return fmt::format("{} ({})", trouble->message, place_of_script(trouble->script));
}

}  // namespace lockstep::scenarios
