#include "confirm/confirm.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "models/redis/kind/redis_servers.hpp"
#include "models/redis/kind/server_settings.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::confirm {
namespace {

using checker::Finding;
using checker::Verdict;
using models::locks::Catalogue;
using models::redis::Command;
using scenarios::FaultSpec;
using scenarios::Scenario;
using scenarios::TimeScale;
using sim::Duration;

constexpr std::uint64_t kMostEvents = 5'000'000;
/// Redis counts milliseconds: what is nearer to the end of a lease than this may come out either way.
constexpr Duration kRounding = Duration::milliseconds(2);
/// What a machine that is not idle is late by, with room.
constexpr Duration kComfortable = Duration::milliseconds(20);
/// A machine that is nearly idle does that.
constexpr Duration kLeastMargin = Duration::milliseconds(5);
/// Slower than this nobody waits for.
constexpr std::array<std::int64_t, 8> kSlower{1, 2, 5, 10, 20, 50, 100, 200};
constexpr std::array<std::int64_t, 6> kFaster{100, 50, 20, 10, 5, 2};

/// A run, with whatever answers behind its servers.
struct Played {
  std::vector<Finding> findings;
  checker::Names names;
  Duration end;  ///< true time
  std::string trouble;
};

Played play(const Scenario& scenario, const Catalogue& catalogue, models::redis::Relay& relay, RealSide* real,
            bool probes) {
  Played played;
  sim::DefaultDecisions decisions;
  scenarios::Deployment deployment(scenario, catalogue, decisions);
  auto& servers = dynamic_cast<models::redis::RedisServers&>(deployment.servers());
  servers.relay_through(relay);
  if (real != nullptr) {
    deployment.world().add(real->process(), "real servers", {});
    deployment.simulation().set_pace(real);
  }
  scenarios::Execution execution(scenario, deployment, kMostEvents);
  std::optional<scenarios::Diagnostic> problem = execution.play();
  if (!problem && probes) problem = execution.probe(scenarios::Execution::Patience::just_beyond_the_bound);
  played.end = deployment.world().now().offset();
  if (real != nullptr && !problem) real->finish();
  if (problem)
    played.trouble = problem->message;
  else
    played.findings = execution.findings();
  if (!probes) std::erase_if(played.findings, [](const Finding& finding) { return finding.property == "recoverable"; });
  played.names = deployment.names();
  return played;
}

std::vector<std::string> names_of(const Finding& finding, const checker::Names& names) {
  std::vector<std::string> by;
  for (const sim::ProcessId process : finding.by) by.push_back(names[process.index]);
  return by;
}

bool is_same(const Finding& a, const checker::Names& names_a, const Finding& b, const checker::Names& names_b) {
  std::vector<std::string> by_a = names_of(a, names_a);
  std::vector<std::string> by_b = names_of(b, names_b);
  std::sort(by_a.begin(), by_a.end());
  std::sort(by_b.begin(), by_b.end());
  return a.property == b.property && a.verdict == b.verdict && by_a == by_b;
}

bool have_same_verdicts(const Played& a, const Played& b) {
  if (!a.trouble.empty() || !b.trouble.empty() || a.findings.size() != b.findings.size()) return false;
  for (std::size_t i = 0; i < a.findings.size(); ++i) {
    if (!is_same(a.findings[i], a.names, b.findings[i], b.names)) return false;
  }
  return true;
}

bool is_server(const Scenario& scenario, const std::string& name) {
  return std::any_of(scenario.servers.begin(), scenario.servers.end(),
                     [&](const auto& server) { return server.name == name; });
}

/// Whether servers talk to each other, or sentinels to them: then more goes on than the commands of clients.
bool has_servers_among_themselves(const Scenario& scenario) {
  return scenario.sentinels || std::any_of(scenario.servers.begin(), scenario.servers.end(), [](const auto& server) {
           return !models::redis::replica_of(server.settings).empty();
         });
}

/// All servers of a story are of one kind.
const models::ServerKind& kind_of(const Scenario& scenario) { return *scenario.servers.front().kind; }

/// What of the story no real server can do. Empty: nothing.
std::string why_not(const Scenario& scenario, const Catalogue& catalogue, const ConfirmOptions& options) {
  const models::ServerKind& kind = kind_of(scenario);
  if (!kind.is_redis())
    return fmt::format("its servers are of kind {}, and only Redis servers are confirmed so far", kind.name());
  for (const scenarios::ServerSpec& server : scenario.servers) {
    if (!has_clock_of_its_own(scenario, server) || (!options.server && can_shift_clocks())) continue;
    return fmt::format(
        "the clock of {} is off or jumps, and that of a real server is its machine's: {}", server.name,
        options.server ? "leave the address out" : "liblockstep_shifted_clock.so is not beside the program");
  }
  const models::locks::Entry& entry = *scenarios::find_entry(scenario.lock, catalogue);
  for (const scenarios::ServerSpec& server : scenario.servers) {
    const models::redis::Version version = models::redis::version_of(server.settings, entry.server_version);
    // Of one that is there already nobody knows what it is but whoever named it.
    if (options.server || version == models::redis::Version::redis_7_0) continue;
    return fmt::format("{} is {} {}, and the installed one is Redis 7.0: name a server that is one", server.name,
                       models::redis::is_valkey(version) ? "Valkey" : "Redis", models::redis::printed(version));
  }
  for (const FaultSpec& fault : scenario.faults) {
    // Processes can be stopped, killed and kept apart, and clocks shifted.
    if (entry_of(fault.kind).victim != sim::Victim::process || entry_of(fault.kind).stops != sim::HowLong::never)
      continue;
    return fmt::format("it has a {}, which is not done to real servers so far", name_of(fault.kind));
  }
  if (!options.server) return {};
  if (scenario.servers.size() > 1) return "it has several servers, and there is one address: leave the address out";
  if (std::any_of(scenario.faults.begin(), scenario.faults.end(),
                  [&](const FaultSpec& fault) { return kills(fault.kind) && is_server(scenario, fault.who); }))
    return "its server crashes, and one that is not ours is left alone: leave the address out";
  return {};
}

/// The story in a time in which no command comes near the end of a lease, and nobody waits for longer than he must.
struct Plan {
  Scenario scenario;
  TimeScale scale;
  Played model;
  std::optional<Duration> margin;
  bool asks_for_time = false;
  bool probes = true;
};

std::optional<Plan> plan_at(const Scenario& scenario, const Catalogue& catalogue, TimeScale scale, bool probes,
                            const Plan* original) {
  Plan plan{.scenario = scaled(scenario, catalogue, scale), .scale = scale, .probes = probes};
  Listener listener;
  plan.model = play(plan.scenario, catalogue, listener, nullptr, probes);
  plan.margin = listener.margin();
  plan.asks_for_time = listener.asks_for_time();
  if (original != nullptr && !have_same_verdicts(original->model, plan.model)) return std::nullopt;
  return plan;
}

bool is_comfortable(const Plan& plan, Duration wanted) { return !plan.margin || *plan.margin >= wanted; }

/// As fast as leaves room between commands and the ends of leases, or else as slow as it takes.
Plan best_plan(const Scenario& scenario, const Catalogue& catalogue, const Plan& told, Duration wanted) {
  constexpr Duration kShort = Duration::seconds(2);
  // Replicas hear of a write as late as told, or a little later: their network is real. Sentinels do not hurry either.
  if (!has_servers_among_themselves(scenario) && is_comfortable(told, wanted) && told.model.end > kShort) {
    for (const std::int64_t factor : kFaster) {
      auto plan = plan_at(scenario, catalogue, {1, factor}, told.probes, &told);
      if (plan && is_comfortable(*plan, wanted) && plan->model.end >= kShort / 4) return std::move(*plan);
    }
  }
  if (is_comfortable(told, wanted)) return told;
  const std::int64_t needed = wanted.count_ns() / told.margin->count_ns() + 1;
  for (const std::int64_t factor : kSlower) {
    if (factor < needed) continue;
    auto plan = plan_at(scenario, catalogue, {factor, 1}, told.probes, &told);
    return plan ? std::move(*plan) : told;
  }
  return told;
}

Duration since_epoch() {
  // tidy: real processes — a server that is asked for the time tells that of its machine.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Duration::nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

Scenario with_epoch(Scenario scenario, Duration epoch) {
  for (scenarios::ClientSpec& client : scenario.clients) client.clock.offset += epoch;
  for (scenarios::ServerSpec& server : scenario.servers) server.clock.offset += epoch;
  return scenario;
}

std::string sentence_of(const Exchange& exchange) {
  return fmt::format("at {}: {}, {} to {}: the model answers {}, the real server {}", sim::to_string(exchange.at),
                     exchange.client, exchange.said, exchange.server, exchange.model, exchange.real);
}

std::string verdict_of(const Finding& finding, const checker::Names& names) {
  const std::vector<std::string> by = names_of(finding, names);
  return by.empty() ? std::string(to_string(finding.verdict))
                    : fmt::format("{} by {}", to_string(finding.verdict), fmt::join(by, ", "));
}

void judge(Confirmation& result, const Plan& plan, const Played& real, const RealSide& side) {
  result.exchanges = side.exchanges();
  for (const Exchange& exchange : result.exchanges) {
    if (exchange.sameness == Exchange::Sameness::differs) result.differences.push_back(sentence_of(exchange));
  }
  for (const std::string& remark : side.remarks()) result.differences.push_back(remark);
  if (!real.trouble.empty()) result.differences.push_back("the story does not end as in the model: " + real.trouble);
  for (std::size_t i = 0; i < std::min(plan.model.findings.size(), real.findings.size()); ++i) {
    const Finding& expected = plan.model.findings[i];
    const Finding& found = real.findings[i];
    Compared compared{.property = std::string(found.property), .model = expected.verdict, .real = found.verdict};
    if (found.verdict == Verdict::violated) compared.by = names_of(found, real.names);
    compared.why = found.why;
    compared.is_same = is_same(expected, plan.model.names, found, real.names);
    if (!compared.is_same) {
      result.differences.push_back(fmt::format("{} is {} in the model, and {} in reality", found.property,
                                               verdict_of(expected, plan.model.names), verdict_of(found, real.names)));
    }
    result.properties.push_back(std::move(compared));
  }
  result.standing = result.differences.empty() ? Standing::confirmed : Standing::differs;
}

/// Somebody else's server: what is on it is not ours to touch.
void look_at_server(const ConfirmOptions& options) {
  if (!options.server) return;
  Wire wire(*options.server);
  std::int64_t keys = 0;
  const std::string info = [&] {
    const models::redis::Reply reply = wire.ask(Command{"INFO", "keyspace"});
    if (!reply.is_bulk())
      throw ServerTrouble("the server at " + options.server->host + " refuses: " + reply.describe());
    return reply.value().text();
  }();
  keys = static_cast<std::int64_t>(std::count(info.begin(), info.end(), '='));
  if (keys == 0) return;
  if (!options.flush) {
    throw ServerTrouble(
        fmt::format("the server at {}:{} holds keys, and a story needs an empty one: take another, or say "
                    "--flush to have everything on it deleted",
                    options.server->host, options.server->port));
  }
  wire.ask(Command{"FLUSHALL"});
}

void note_what_was_not_real(Confirmation& result, const Plan& plan, const RealSide& side) {
  if (side.has_sentinels())
    result.notes.emplace_back("real sentinels watched the servers; clients asked the model's who is primary");
  else if (plan.scenario.sentinels)
    result.notes.emplace_back("the sentinels are the model's; what they order is carried out by the real servers");
  if (plan.scenario.resource) result.notes.emplace_back("the resource that the lock protects is the model's");
  if (std::any_of(plan.scenario.servers.begin(), plan.scenario.servers.end(),
                  [&](const auto& server) { return has_clock_of_its_own(plan.scenario, server); }))
    result.notes.emplace_back("the clock of a server is off by a library that is loaded into it");
  if (!plan.probes)
    result.notes.emplace_back("whether the lock comes back (recoverable) was not asked: it takes too long");
}

/// Why this plan is none. Empty: it is one.
std::string why_not_so(const Plan& plan, const ConfirmOptions& options) {
  if (plan.margin && *plan.margin < kLeastMargin) {
    return fmt::format("a command comes {} before the end of a lease, which no machine can be relied on to do",
                       sim::to_string(*plan.margin));
  }
  if (plan.model.end <= options.longest) return {};
  return fmt::format("it takes {} to play, which is more than {}: give it more by --max-seconds",
                     sim::to_string(plan.model.end), sim::to_string(options.longest));
}

enum class Attempt : std::uint8_t {
  counts,
  was_late,     ///< this machine
  elected_late  ///< the real sentinels, it may be
};

/// Plays it, and writes down what came of it.
Attempt play_once(Plan& plan, const Catalogue& catalogue, const ConfirmOptions& options, Confirmation& result) {
  look_at_server(options);
  const Duration epoch = plan.asks_for_time ? since_epoch() : Duration::zero();
  RealSide side(plan.scenario, {options.server, options.interrupted, options.tampering, epoch});
  if (plan.asks_for_time) plan.scenario = with_epoch(std::move(plan.scenario), epoch);
  const Played real = play(plan.scenario, catalogue, side, &side, plan.probes);
  result.scale = plan.scale;
  result.margin = plan.margin;
  result.length = side.elapsed();
  result.lateness = side.lateness();
  result.version = side.version();
  // What else depends on time (how far a write has come, how long somebody waits) is told in more than this.
  const Duration most = has_servers_among_themselves(plan.scenario) ? kLeastMargin : kComfortable;
  const Duration lateness = side.lateness_at_difference().value_or(side.lateness());
  const bool is_late_for_lease = plan.margin && lateness + kRounding > *plan.margin;
  if (is_late_for_lease || side.lateness_at_difference().value_or(Duration::zero()) > most) {
    result.standing = Standing::disturbed;
    result.reason =
        fmt::format("a command came {} late, which is too much for this story: try again when the machine is idle",
                    sim::to_string(lateness));
    return Attempt::was_late;
  }
  result.reason.clear();
  result.differences.clear();
  result.properties.clear();
  result.notes.clear();
  judge(result, plan, real, side);
  note_what_was_not_real(result, plan, side);
  const bool differs = result.standing == Standing::differs;
  return differs && side.has_sentinels() ? Attempt::elected_late : Attempt::counts;
}

}  // namespace

std::string_view to_string(Standing standing) {
  switch (standing) {
    case Standing::confirmed: return "confirmed";
    case Standing::differs: return "differs";
    case Standing::disturbed: return "disturbed";
    case Standing::cannot_be_played: return "cannot be played";
  }
  return "";
}

std::optional<std::uint64_t> digest_of(const Scenario& scenario, const Catalogue& catalogue) {
  if (!kind_of(scenario).is_redis()) return std::nullopt;
  Listener listener;
  const Played model = play(scenario, catalogue, listener, nullptr, true);
  if (!model.trouble.empty()) return std::nullopt;
  std::uint64_t digest = listener.digest();
  for (const Finding& finding : model.findings) {
    digest = models::digest_bytes(finding.property, digest);
    digest = models::digest_bytes(verdict_of(finding, model.names), digest);
  }
  return digest;
}

Confirmation confirm(const Scenario& scenario, const Catalogue& catalogue, const ConfirmOptions& options) {
  Confirmation result{.file = scenario.file, .id = scenario.id, .algorithm = scenario.lock.algorithm};
  result.digest = digest_of(scenario, catalogue).value_or(0);
  result.reason = why_not(scenario, catalogue, options);
  if (!result.reason.empty()) return result;

  Plan told = *plan_at(scenario, catalogue, {}, true, nullptr);
  result.reason = told.model.trouble;
  if (!result.reason.empty()) return result;
  constexpr int kAttempts = 4;
  int slow_elections = 0;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    const Duration wanted = kComfortable * (1 << (attempt - 1));
    Plan plan = best_plan(scenario, catalogue, told, wanted);
    if (plan.model.end > options.longest && told.probes) {
      told = *plan_at(scenario, catalogue, {}, false, nullptr);
      plan = best_plan(scenario, catalogue, told, wanted);
    }
    if (std::string reason = why_not_so(plan, options); !reason.empty()) {
      result.standing = attempt == 1 ? Standing::cannot_be_played : Standing::disturbed;
      result.reason = std::move(reason);
      return result;
    }
    const bool is_last = attempt == kAttempts;
    switch (play_once(plan, catalogue, options, result)) {
      case Attempt::was_late: break;
      case Attempt::elected_late:
        ++slow_elections;
        if (!is_last) break;
        [[fallthrough]];
      case Attempt::counts:
        if (slow_elections > 0 && attempt > 1) {
          result.notes.push_back(fmt::format(
              "played {} times: real sentinels draw lots whom to elect, and may have to vote again", attempt));
        }
        return result;
    }
  }
  return result;
}

}  // namespace lockstep::confirm
