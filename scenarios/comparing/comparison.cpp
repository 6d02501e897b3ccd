#include "scenarios/comparing/comparison.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scenarios/comparing/compared_run.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/format/other_algorithm.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;

Scenario workload(const Scenario& file, const models::locks::Entry& entry, std::size_t clients) {
  Scenario scenario = replace_algorithm(file, entry);
  scenario.faults.clear();
  scenario.may.clear();
  scenario.pin.clear();
  scenario.schedule.clear();
  const std::vector<ClientSpec> users = scenario.clients;
  scenario.clients.clear();
  for (std::size_t i = 0; i < clients; ++i) {
    ClientSpec client = users[i % users.size()];
    if (clients != users.size()) client.name = client_name(i);
    client.rounds = kForEver;
    client.attempts = kForEver;
    scenario.clients.push_back(std::move(client));
  }
  return scenario;
}

class ComparisonRuns {
 public:
  ComparisonRuns(const Scenario& file, const models::locks::Catalogue& catalogue, const CompareOptions& options)
      : file_(file), catalogue_(catalogue), options_(options) {}

  std::variant<ComparedRun, Diagnostic> run(const models::locks::Entry& entry, std::size_t clients) const {
    if (std::string why = why_not_under(file_, entry); !why.empty())
      return Diagnostic{.file = file_.file, .at = {}, .message = std::move(why)};
    ComparedRun compared{
        .algorithm = std::string(entry.id), .clients = clients, .messages = 0, .cost = {}, .recovery = {}};
    const Scenario scenario = workload(file_, entry, clients);
    sim::RandomDecisions decisions(options_.seed);
    Deployment deployment(scenario, catalogue_, decisions);
    MessageCount messages(deployment.world());
    deployment.simulation().set_fate(&messages);
    deployment.begin();
    if (auto trouble = play(deployment)) return *std::move(trouble);
    compared.messages = messages.count();
    compared.cost = cost_of(deployment.world().history(), clients);
    auto recovery = recovery_time(scenario);
    if (auto* trouble = std::get_if<Diagnostic>(&recovery)) return std::move(*trouble);
    compared.recovery = std::get<std::optional<Duration>>(recovery);
    return compared;
  }

 private:
  std::optional<Diagnostic> play(Deployment& deployment) const {
    const auto end = deployment.simulation().run(Instant::at(options_.length), kMaxEvents);
    if (const auto script = deployment.script_trouble())
      return Diagnostic{.file = file_.file, .at = script->at, .message = script->message};
    if (end == sim::Simulation::End::too_many_events) {
      return Diagnostic{.file = file_.file,
                        .at = {},
                        .message = fmt::format("{} events were not enough for {}; compare for a shorter time, with "
                                               "--seconds, or with fewer clients",
                                               kMaxEvents, sim::to_string(options_.length))};
    }
    return std::nullopt;
  }

  /// The first client gets the lock before anybody else comes, and crashes.
  std::variant<std::optional<Duration>, Diagnostic> recovery_time(Scenario scenario) const {
    if (scenario.clients.size() < 2) return std::optional<Duration>();
    for (std::size_t i = 0; i < scenario.clients.size(); ++i) {
      scenario.clients[i].acquire_at =
          sim::DurationRange::exactly(i == 0 ? Duration::zero() : scenario.network.latency.hi * 40);
    }
    FaultSpec crash;
    crash.kind = FaultSpec::Kind::crash;
    crash.who = scenario.clients.front().name;
    crash.trigger = {.kind = Trigger::Kind::after, .time = {}, .step = "acquire", .occurrence = 1};
    scenario.faults.push_back(std::move(crash));
    sim::RandomDecisions decisions(options_.seed);
    Deployment deployment(scenario, catalogue_, decisions);
    deployment.begin();
    if (auto trouble = play(deployment)) return *std::move(trouble);
    const sim::History& history = deployment.world().history();
    if (history.interruptions.empty()) return std::optional<Duration>();
    const Instant crashed = history.interruptions.front().from;
    for (const sim::Operation& operation : history.operations) {
      if (operation.process.index == 0 || operation.function != "acquire" || operation.phase != sim::Phase::ok)
        continue;
      return std::optional(operation.completed.offset() - crashed.offset());
    }
    return std::optional<Duration>();
  }

  const Scenario& file_;
  const models::locks::Catalogue& catalogue_;
  const CompareOptions& options_;
};

}  // namespace

std::variant<std::vector<ComparedRun>, Diagnostic> compare_costs(const Scenario& scenario,
                                                                 const models::locks::Catalogue& catalogue,
                                                                 const CompareOptions& options) {
  struct Task {
    const models::locks::Entry* entry;
    std::size_t clients;
  };
  std::vector<Task> tasks;
  std::vector<std::string> algorithms = options.algorithms;
  if (algorithms.empty()) algorithms.push_back(scenario.lock.algorithm);
  std::vector<std::size_t> counts = options.clients;
  if (counts.empty()) counts.push_back(scenario.clients.size());
  for (const std::size_t clients : counts) {
    for (const std::string& algorithm : algorithms) {
      const bool is_own = algorithm == scenario.lock.algorithm;
      tasks.push_back({is_own ? find_entry(scenario.lock, catalogue) : catalogue.find(algorithm), clients});
    }
  }

  std::vector<std::optional<ComparedRun>> runs(tasks.size());
  std::vector<std::optional<Diagnostic>> troubles(tasks.size());
  const sim::Stop::Question is_interrupted = [&] { return options.interrupted && options.interrupted(); };
  const sim::Stop::Scope scope(is_interrupted);
  in_parallel(tasks.size(), options.jobs, [&](std::size_t i) {
    if (is_interrupted()) return;
    try {
      auto result = ComparisonRuns(scenario, catalogue, options).run(*tasks[i].entry, tasks[i].clients);
      if (auto* trouble = std::get_if<Diagnostic>(&result))
        troubles[i] = std::move(*trouble);
      else
        runs[i] = std::move(std::get<ComparedRun>(result));
    } catch (const sim::Stopped&) {
      // Then there is no such run.
    }
  });
  for (std::optional<Diagnostic>& trouble : troubles) {
    if (trouble) return *std::move(trouble);
  }
  std::vector<ComparedRun> done;
  for (std::optional<ComparedRun>& run : runs) {
    if (run) done.push_back(*std::move(run));
  }
  return done;
}

}  // namespace lockstep::scenarios
