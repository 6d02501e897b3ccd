#include "scenarios/exploring/explored_story.hpp"

#include <algorithm>
#include <string>

#include "scenarios/deployment/partition_sides.hpp"
#include "scenarios/story/alike.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/step_name.hpp"

namespace lockstep::scenarios {
namespace {

using checker::FaultBudget;
using sim::Duration;

/// Processes are numbered as the deployment adds them: clients, then servers, then sentinels.
std::vector<sim::ProcessId> victims_of(const Scenario& scenario, const MaySpec& may) {
  const std::size_t clients = scenario.clients.size();
  std::vector<sim::ProcessId> victims;
  const auto add = [&](std::size_t index, const std::string& name, bool by_default) {
    const bool is_named = std::find(may.who.begin(), may.who.end(), name) != may.who.end();
    if (may.who.empty() ? by_default : is_named) victims.push_back(sim::ProcessId{static_cast<std::uint16_t>(index)});
  };
  const bool strikes_servers = entry_of(may.kind).unless_named == sim::Whose::servers;
  for (std::size_t i = 0; i < clients; ++i) add(i, scenario.clients[i].name, !strikes_servers);
  for (std::size_t i = 0; i < scenario.servers.size(); ++i) add(clients + i, scenario.servers[i].name, strikes_servers);
  if (!scenario.sentinels) return victims;
  const std::size_t first = clients + scenario.servers.size();
  const std::vector<SentinelSpec>& sentinels = scenario.sentinels->each;
  for (std::size_t i = 0; i < sentinels.size(); ++i) add(first + i, sentinels[i].name, false);
  return victims;
}

std::vector<sim::ProcessId> numbered(const std::vector<std::string>& names, const std::vector<std::string>& some) {
  std::vector<sim::ProcessId> numbers;
  for (const std::string& name : some) {
    const auto at = std::find(names.begin(), names.end(), name);
    numbers.push_back(sim::ProcessId{static_cast<std::uint16_t>(at - names.begin())});
  }
  return numbers;
}

const ClockSpec& clock_of(const Scenario& scenario, sim::ProcessId process) {
  std::size_t index = process.index;
  if (index < scenario.clients.size()) return scenario.clients[index].clock;
  index -= scenario.clients.size();
  if (index < scenario.servers.size()) return scenario.servers[index].clock;
  return scenario.sentinels->each[index - scenario.servers.size()].clock;
}

/// Whether the last budget lets a clock be off by the sum of two lengths that are not known.
bool is_off_twice(const std::vector<FaultBudget>& budgets) {
  const auto may_strike = [](const FaultBudget& budget, sim::ProcessId victim) -> std::uint32_t {
    const bool is_meant = std::find(budget.who.begin(), budget.who.end(), victim) != budget.who.end();
    if (!is_meant || !moves_clock(budget.kind) || budget.range.is_exact()) return 0;
    return is_from_the_start(budget.kind) ? 1 : budget.times;
  };
  return std::any_of(budgets.back().who.begin(), budgets.back().who.end(), [&](sim::ProcessId victim) {
    std::uint32_t times = 0;
    for (const FaultBudget& budget : budgets) times += may_strike(budget, victim);
    return times > 1;
  });
}

/// What `restart_delay` of the victims adds.
std::optional<Diagnostic> put_off_restarts(const Scenario& scenario, const MaySpec& may, FaultBudget& budget) {
  if (!budget.restart_after) return std::nullopt;
  std::optional<Duration> delay;
  for (const sim::ProcessId victim : budget.who) {
    const std::size_t clients = scenario.clients.size();
    const bool is_server = victim.index >= clients && victim.index - clients < scenario.servers.size();
    const Duration own = is_server ? scenario.servers[victim.index - clients].restart_delay : Duration::zero();
    if (delay && *delay != own) {
      return Diagnostic{scenario.file, may.at,
                        "these servers have different values of restart_delay; give each a [[may]] of its own"};
    }
    delay = own;
  }
  if (delay) {
    budget.restart_after = sim::DurationRange{budget.restart_after->lo + *delay, budget.restart_after->hi + *delay};
    budget.restart_delay = *delay;
  }
  return std::nullopt;
}

}  // namespace

bool sentinels_look_for_ever(const Scenario& scenario) {
  return scenario.sentinels && !scenario.sentinels->rounds && !scenario.sentinels->is_abstract;
}

std::string_view why_not_explored(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  const models::locks::Entry* entry = find_entry(scenario.lock, catalogue);
  std::string_view why = server_kind_of(*entry).not_explored(scenario.servers, scenario.shared_settings);
  if (!why.empty() || entry->not_explored == nullptr) return why;
  why = entry->not_explored(parameters_of(*entry, scenario.lock));
  for (const ClientSpec& client : scenario.clients) {
    if (why.empty()) why = entry->not_explored(parameters_of(*entry, scenario.lock, client));
  }
  return why;
}

bool has_one_length(const Scenario& scenario, const MaySpec& may) {
  return is_own_event(may.kind) && victims_of(scenario, may).front().index < scenario.clients.size();
}

std::variant<std::vector<FaultBudget>, Diagnostic> fault_budgets(const Scenario& scenario) {
  std::vector<FaultBudget> budgets;
  for (const MaySpec& may : scenario.may) {
    FaultBudget& budget = budgets.emplace_back();
    budget.kind = may.kind;
    budget.who = victims_of(scenario, may);
    budget.range = may.length;
    budget.restart_after = may.restart_after;
    if (std::optional<Diagnostic> problem = put_off_restarts(scenario, may, budget)) return *std::move(problem);
    budget.keep = may.keep;
    budget.during = may.during;
    if (!may.message.empty()) budget.message = message_named(may.message);
    if (may.direction) {
      budget.direction = *may.direction == FaultSpec::Direction::reply ? FaultBudget::Direction::reply
                                                                       : FaultBudget::Direction::request;
    }
    if (cuts_off(budget.kind)) {
      const std::vector<std::string> names = process_names(scenario);
      for (const PartitionSides& sides : partition_sides(scenario, may)) {
        budget.sides.push_back({numbered(names, sides.left), numbered(names, sides.right)});
      }
    }
    budget.times = static_cast<std::uint32_t>(may.times);
    if (is_nothing(may.kind, length_of(may))) {
      // It strikes nobody: explored, it would be one more pause to tell apart from all others.
      budget.times = 0;
      budget.who.clear();
      budget.sides.clear();
      continue;
    }
    if (!moves_clock(budget.kind)) continue;
    const auto is_adrift = [&](sim::ProcessId victim) { return clock_of(scenario, victim).drift_ppm != 0; };
    if (std::any_of(budget.who.begin(), budget.who.end(), is_adrift)) {
      return Diagnostic{
          scenario.file, may.at,
          "an exploration knows clocks that drift and clocks that jump or are skewed, not clocks that do both; "
          "leave drift_ppm out, or name others here"};
    }
    if (has_one_length(scenario, may) && !budget.range.is_exact()) {
      return Diagnostic{
          scenario.file, may.at,
          "an exploration knows a client's clock to jump by one length, not by a range; write by = \"50ms\""};
    }
    if (!budget.range.is_exact() && is_off_twice(budgets)) {
      return Diagnostic{scenario.file, may.at,
                        "an exploration knows each clock to be off by one length of a range, not by several; write "
                        "times = 1, an exact length such as by = \"50ms\", or name others here"};
    }
  }
  return budgets;
}

std::vector<std::vector<sim::ProcessId>> alike_processes(const Scenario& scenario,
                                                         const models::locks::Catalogue& catalogue) {
  std::vector<std::vector<sim::ProcessId>> groups;
  for (const std::vector<std::size_t>& list : alike_clients(scenario, catalogue)) {
    std::vector<sim::ProcessId>& group = groups.emplace_back();
    for (const std::size_t client : list) group.push_back(sim::ProcessId{static_cast<std::uint16_t>(client)});
  }
  return groups;
}

ExploredStory::ExploredStory(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                             checker::Explorer& explorer, Probe probe)
    : deployment_(scenario, catalogue, explorer, Deployment::Faults::none),
      explorer_(explorer),
      clients_(scenario.clients.size()),
      sends_commands_(std::any_of(scenario.clients.begin(), scenario.clients.end(),
                                  [](const ClientSpec& client) { return !client.commands.empty(); })),
      probe_(probe) {}

void ExploredStory::begin() { deployment_->begin(); }

std::optional<checker::Coda> ExploredStory::begin_coda(bool is_due) {
  const bool is_idle = !is_due && is_excusable_ && has_probed_ && stands_as_at_first();
  if (probe_ == Probe::none || is_idle) return std::nullopt;
  if (deployment_->is_visited()) {
    Duration sessions;
    for (const std::uint32_t slot : explorer_.pending()) {
      const sim::Event& event = deployment_->world().event(slot);
      if (!event.is_tick()) sessions = std::max(sessions, event.delay.hi);
    }
    deployment_->begin_visit(std::nullopt, sessions);
    return checker::Coda{.after = Duration::zero(), .has_ticks = true};
  }
  const Duration rest = settle();
  deployment_->begin_probing_for(deployment_->recovery_bound() - rest);
  return checker::Coda{.after = rest};
}

/// Whether something that the visitor sent, or an answer to it, has not arrived: only when it does is it known that the
/// visitor could have given it up before.
bool ExploredStory::is_visitor_on_the_way() const {
  const std::span<const std::uint32_t> pending = explorer_.pending();
  return std::any_of(pending.begin(), pending.end(), [&](std::uint32_t slot) {
    const sim::Event& event = deployment_->world().event(slot);
    const bool is_of_visitor = event.from == deployment_->probe() || event.process == deployment_->probe();
    return event.kind == sim::EventKind::message && is_of_visitor;
  });
}

/// When the visitor is done; and, if it is to come early, when all clients are, and nothing is pending but ticks and
/// what servers wait for by themselves.
bool ExploredStory::is_over_early() const {
  if (has_probed()) return deployment_->is_visit_over() && !is_visitor_on_the_way();
  if (probe_ != Probe::when_clients_are_done) return false;
  bool has_waiting_server = false;
  const std::span<const sim::ProcessId> servers = deployment_->servers().ids();
  for (const std::uint32_t slot : explorer_.pending()) {
    const sim::Event& event = deployment_->world().event(slot);
    if (event.is_tick()) continue;
    const bool is_deadline = event.kind == sim::EventKind::timer && event.timer_kind == sim::TimerKind::deadline;
    if (!is_deadline || std::find(servers.begin(), servers.end(), event.process) == servers.end()) return false;
    has_waiting_server = true;
  }
  const sim::History& history = deployment_->world().history();
  return has_waiting_server &&
         std::none_of(history.operations.begin(), history.operations.end(), [&](const sim::Operation& operation) {
           const sim::ProcessId host = history.host_of(operation.process);
           return operation.phase == sim::Phase::invoke && deployment_->world().state(host).alive;
         });
}

/// How long the probe waits when everything is at rest: so that it has just the time for three attempts of four round
/// trips to each server; then attempts of one, two, three, four or six all end at the bound, and one that ended before
/// it would say nothing of a lock that comes back in between. But not before the longest lease is over, if that leaves
/// time for one. Who may have to wait in vain for a server begins so much earlier.
Duration ExploredStory::settle() const {
  const std::span<const checker::ExploredFault> faults = explorer_.faults();
  const bool may_wait_in_vain = std::any_of(faults.begin(), faults.end(), [&](const checker::ExploredFault& fault) {
    const bool is_of_story = fault.event == checker::ExploredEvent::no_cause || fault.event < explorer_.story_length();
    return is_of_story && (loses_message(fault.kind) || fault.process.index >= clients_);
  });
  const Duration attempt = deployment_->quick_attempt();
  const Duration patience = may_wait_in_vain ? deployment_->patience() : Duration::zero();
  const Duration bound = deployment_->recovery_bound();
  const Duration lease_is_over = std::min(deployment_->lease().value_or(Duration::zero()), bound - attempt - patience);
  return std::max({Duration::zero(), bound - attempt * 3 - patience, lease_is_over});
}

/// Whether a fresh client finds what the first one found: no key anywhere, all servers up and their clocks as they
/// were. That clients were paused or died is nothing that a server without keys knows of.
bool ExploredStory::stands_as_at_first() const {
  if (sends_commands_ || !deployment_->servers().is_as_at_first()) return false;
  // A task that goes on may come back to the lock.
  if (deployment_->is_visited() && !explorer_.pending().empty()) return false;
  const std::span<const checker::ExploredFault> faults = explorer_.faults();
  return std::all_of(faults.begin(), faults.end(), [&](const checker::ExploredFault& fault) {
    return entry_of(fault.kind).stops != sim::HowLong::never && fault.process.index < clients_;
  });
}

checker::RecoverableQuestion ExploredStory::question(const checker::Explorer& explorer) const {
  if (deployment_->is_visited()) {
    const sim::Instant came = explorer.time_at(explorer.story_length());
    const Duration within = deployment_->visit_bound();
    const std::vector<sim::Operation>& operations = explorer.world().history().operations;
    return {.probe = deployment_->probe(),
            .quiescent = came,
            .within = within,
            .probed_until = checker::probed_until(operations, deployment_->probe(), came + within),
            .visitor_attempt = visitor_attempt_};
  }
  const sim::Instant quiescent = explorer.time_at(explorer.story_length()) - settle();
  const Duration within = deployment_->recovery_bound();
  // What is still pending of others than the probe are ticks.
  const bool is_renewed = std::any_of(explorer.pending().begin(), explorer.pending().end(), [&](std::uint32_t slot) {
    return explorer.world().event(slot).process != deployment_->probe();
  });
  // Who fails when it begins at the bound or later would have failed whenever it began; who succeeds too late might
  // have been lucky. Who waits for an answer for ever waits longer than that.
  sim::Instant probed_until = quiescent + within;
  for (const sim::Operation& operation : explorer.world().history().operations) {
    if (operation.process == deployment_->probe() && operation.phase != sim::Phase::invoke)
      probed_until = operation.invoked;
  }
  return {.probe = deployment_->probe(),
          .quiescent = quiescent,
          .within = within,
          .probed_until = probed_until,
          .is_renewed = is_renewed};
}

}  // namespace lockstep::scenarios
