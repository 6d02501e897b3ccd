#include "scenarios/matrix/matrix.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "models/redis/kind/server_settings.hpp"
#include "models/servers/server_kind.hpp"
#include "scenarios/checking/check.hpp"
#include "scenarios/matrix/told_results.hpp"
#include "scenarios/running/random_faults.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/empty_witness.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/workers/in_parallel.hpp"
#include "sim/schedules/random.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using namespace sim::literals;
using checker::Verdict;
using models::locks::Entry;
using sim::Duration;
using sim::DurationRange;
using Ground = MatrixAnswer::Ground;

// One lease for all: whole seconds, since EXPIRE knows no others.
constexpr Duration kLease = 1_s;
constexpr DurationRange kLatency{1_ms, 10_ms};
constexpr DurationRange kStart{0_ms, 3_s};
constexpr Duration kWork = 20_ms;
constexpr Duration kPatience = 50_ms;

// A failover takes seconds: what it forgets matters only to a lease, and to work, that last as long.
constexpr Duration kLeaseOverFailover = 10_s;
constexpr Duration kWorkOverFailover = 5_s;
constexpr DurationRange kReplication{1_ms, 1_s};
constexpr Duration kPatienceOverFailover = 200_ms;

/// Whether clients have one server, which is the primary of another, and follow it via sentinels.
bool has_primary(const Entry& entry, const MatrixFault& fault) {
  return fault.name == "primary-lost" && !entry.many_nodes && server_kind_of(entry).is_redis();
}

bool may_not_be_explored(const Entry& entry, const MatrixFault& fault) {
  return fault.name == "partition" || has_primary(entry, fault);
}

/// What the lock protects in the world of a question.
std::optional<ResourceSpec> resource_of(const Entry& entry, const MatrixQuestion& question) {
  if (question.property != "no-lost-update") return std::nullopt;
  if (entry.reaches_row) return ResourceSpec{.kind = ResourceSpec::Kind::row, .latency = std::nullopt};
  return ResourceSpec{
      .kind = ResourceSpec::Kind::counter, .fenced = question.name == "damage-fenced", .latency = std::nullopt};
}

/// Whether both are asked of one world: then it is explored, and run, once for both.
bool ask_one_world(const Entry& entry, const MatrixQuestion& a, const MatrixQuestion& b) {
  const std::optional<ResourceSpec> of_a = resource_of(entry, a);
  const std::optional<ResourceSpec> of_b = resource_of(entry, b);
  return of_a.has_value() == of_b.has_value() && (!of_a || of_a->fenced == of_b->fenced);
}

std::string id_of(const Entry& entry, const MatrixFault& fault, const MatrixQuestion& question) {
  return fmt::format("{}-{}-{}", entry.id, fault.name, question.name);
}

/// Calls the world after the question, and says what is asked.
void put_question(const Entry& entry, const MatrixFault& fault, const MatrixQuestion& question, Scenario& scenario) {
  scenario.id = id_of(entry, fault, question);
  scenario.file = scenario.id + ".toml";
  scenario.lesson = {fmt::format("What is asked: {}.", question.meaning),
                     fmt::format("要问的是：{}。", question.meaning_zh)};
}

void add_processes(const Entry& entry, const MatrixQuestion& question, MatrixWorld world, Scenario& scenario) {
  const std::size_t servers = usual_servers(entry);
  for (std::size_t i = 0; i < servers; ++i) {
    const models::ServerKind& kind = server_kind_of(entry);
    scenario.servers.push_back(
        {.name = server_name(kind, i, servers), .clock = {}, .latency = std::nullopt, .kind = &kind});
  }
  const bool small = world != MatrixWorld::large;
  const std::size_t clients = world == MatrixWorld::two ? 2 : 3;
  for (std::size_t i = 0; i < clients; ++i) {
    ClientSpec client;
    client.name = client_name(i);
    client.acquire_at = kStart;
    client.hold = DurationRange::exactly(kWork);
    client.rounds = small ? 1 : 2;
    client.between = DurationRange::exactly(5_ms);
    client.attempts = small ? 1 : 3;
    client.retry = DurationRange{5_ms, 500_ms};
    scenario.clients.push_back(std::move(client));
  }
  scenario.resource = resource_of(entry, question);
}

MaySpec allowed(MaySpec::Kind kind, DurationRange length = {}) {
  MaySpec may;
  may.kind = kind;
  may.length = length;
  return may;
}

void allow(const MatrixFault& fault, Scenario& scenario) {
  const std::string_view name = fault.name;
  const auto may = [&](MaySpec spec) { scenario.may.push_back(std::move(spec)); };
  if (name == "overrun") {
    for (ClientSpec& client : scenario.clients) client.hold.hi = kLease * 3;
  } else if (name == "crash") {
    may(allowed(MaySpec::Kind::crash));
  } else if (name == "pause") {
    may(allowed(MaySpec::Kind::pause, {0_ms, 10_s}));
  } else if (name == "client-skew") {
    may(allowed(MaySpec::Kind::skew, {-5_s, 5_s}));
  } else if (name == "server-jump") {
    may(allowed(MaySpec::Kind::jump, {-5_s, 5_s}));
  } else if (name == "lost-message") {
    scenario.network.timeout = kPatience;
    may(allowed(MaySpec::Kind::lose));
  } else if (name == "node-restart") {
    scenario.network.timeout = kPatience;
    MaySpec crash = allowed(MaySpec::Kind::crash);
    for (const ServerSpec& server : scenario.servers) crash.who.push_back(server.name);
    crash.restart_after = DurationRange{0_ms, 1_s};
    may(std::move(crash));
  } else if (name == "partition") {
    scenario.network.timeout = kPatience;
  } else if (name == "primary-lost") {
    if (!scenario.network.timeout) scenario.network.timeout = kPatience;
    MaySpec crash = allowed(MaySpec::Kind::crash);
    for (const ServerSpec& server : scenario.servers) {
      if (models::redis::replica_of(server.settings).empty()) crash.who.push_back(server.name);
    }
    may(std::move(crash));
  }
}

void add_replica(Scenario& scenario) {
  scenario.servers.front().name = "redis1";
  scenario.servers.push_back(
      {.name = "redis2", .clock = {}, .latency = std::nullopt, .settings = {{"replica_of", std::string("redis1")}}});
  scenario.network.replication = kReplication;
  scenario.network.timeout = kPatienceOverFailover;
  SentinelsSpec& sentinels = scenario.sentinels.emplace();
  sentinels.primary = "redis1";
  sentinels.quorum = 2;
  sentinels.down_after = 300_ms;
  sentinels.failover_timeout = 3_s;
  for (const char* name : {"sentinel1", "sentinel2", "sentinel3"}) sentinels.each.push_back({name, {}, {}});
  for (ClientSpec& client : scenario.clients) {
    client.via_sentinel = true;
    client.hold.hi = kWorkOverFailover;
    client.attempts = 20;
  }
}

/// A random story of the larger world. Partitions are no [[may]]: they are drawn here.
Scenario random_story(const Scenario& world, const MatrixFault& fault, const models::locks::Catalogue& catalogue,
                      sim::Random& random) {
  Scenario story = draw(world, catalogue, random);
  if (fault.name == "partition") {
    FaultSpec partition;
    partition.kind = FaultSpec::Kind::partition;
    partition.trigger.time = Duration::milliseconds(random.between(0, kStart.hi.floor_ms()));
    partition.length = DurationRange::exactly(Duration::milliseconds(random.between(1, 3'000)));
    std::vector<std::string> servers;
    for (const ServerSpec& server : story.servers) servers.push_back(server.name);
    partition.between = {{story.clients[random.below(story.clients.size())].name}, std::move(servers)};
    story.faults.push_back(std::move(partition));
  }
  return story;
}

const Judgement& judgement_of(const Outcome& outcome, std::string_view property) {
  const auto found = std::find_if(outcome.properties.begin(), outcome.properties.end(),
                                  [&](const Judgement& j) { return j.finding.property == property; });
  return *found;
}

/// Whether an undisturbed holder gets a fencing token. Nothing: the story cannot be run.
std::variant<bool, Diagnostic> hands_out_tokens(const Entry& entry, const models::locks::Catalogue& catalogue) {
  Scenario world = matrix_world(entry, matrix_faults()[0], matrix_questions()[0], MatrixWorld::two);
  const auto result = run(world, catalogue, {.brief = true, .asks = [](std::string_view) { return false; }});
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) return *trouble;
  const std::vector<sim::Operation>& operations = std::get<Outcome>(result).history.operations;
  return std::any_of(operations.begin(), operations.end(),
                     [](const sim::Operation& o) { return o.function == "acquire" && o.value.has_value(); });
}

class Row {
 public:
  Row(const Entry& entry, const models::locks::Catalogue& catalogue, const MatrixOptions& options)
      : entry_(entry), catalogue_(catalogue), options_(options) {}

  std::variant<MatrixCell, Diagnostic> cell(const MatrixFault& fault) {
    MatrixCell cell{.algorithm = std::string(entry_.id), .fault = &fault, .answers = {}};
    const auto tokens = hands_out_tokens(entry_, catalogue_);
    if (const auto* trouble = std::get_if<Diagnostic>(&tokens)) return *trouble;
    for (const MatrixQuestion& question : matrix_questions()) {
      MatrixAnswer& answer = cell.answers.emplace_back();
      answer.question = &question;
      if (has_primary(entry_, fault) && entry_.subscribes) {
        answer.why = "its waiters listen to one server, and cannot follow sentinels to another here";
      } else if (question.name == "damage-fenced" && !std::get<bool>(tokens)) {
        answer.why = "it hands out no fencing tokens";
      } else {
        answer.ground = Ground::fuzzed;
      }
    }
    Answers open;
    for (MatrixAnswer& answer : cell.answers) {
      if (answer.ground == Ground::fuzzed) open.push_back(&answer);
    }
    while (!open.empty()) {
      const MatrixQuestion& first = *open.front()->question;
      Answers together;
      Answers rest;
      for (MatrixAnswer* each : open) (ask_one_world(entry_, *each->question, first) ? together : rest).push_back(each);
      if (auto trouble = answer(fault, together)) return *std::move(trouble);
      open = std::move(rest);
    }
    return cell;
  }

 private:
  using Answers = std::vector<MatrixAnswer*>;

  static Answers with(Ground ground, const Answers& answers) {
    Answers some;
    std::copy_if(answers.begin(), answers.end(), std::back_inserter(some),
                 [&](const MatrixAnswer* answer) { return answer->ground == ground; });
    return some;
  }

  static bool is_asked(const Answers& answers, std::string_view property) {
    return std::any_of(answers.begin(), answers.end(),
                       [&](const MatrixAnswer* answer) { return answer->question->property == property; });
  }

  /// Requires: at least one answer; all are asked of one world.
  std::optional<Diagnostic> answer(const MatrixFault& fault, const Answers& answers) {
    if (!may_not_be_explored(entry_, fault)) {
      const std::uint64_t events = explore(fault, MatrixWorld::two, answers);
      // What two clients do not break, three may: a dead holder and two who compete for what it left.
      const Answers proved = with(Ground::proved, answers);
      if (!proved.empty() && events * options_.times_for_three <= bound_of(MatrixWorld::three, options_.max_events))
        explore(fault, MatrixWorld::three, proved);
    }
    Answers kept = answers;
    std::erase_if(kept, [](const MatrixAnswer* answer) { return answer->ground == Ground::broken; });
    return run_large(fault, std::move(kept));
  }

  std::uint64_t bound_of(MatrixWorld size, std::uint64_t of_two) const {
    return size == MatrixWorld::three ? of_two / options_.parts_for_three : of_two;
  }

  /// Leaves the ground as it is where this world neither proves nor breaks anything. How many events were executed.
  std::uint64_t explore(const MatrixFault& fault, MatrixWorld size, const Answers& answers) {
    const Scenario world = matrix_world(entry_, fault, *answers.front()->question, size);
    CheckOptions how;
    how.exploration.max_traces = bound_of(size, options_.max_traces);
    how.exploration.max_events = bound_of(size, options_.max_events);
    how.exploration.interrupted = options_.interrupted;
    how.exploration.asks = [&](std::string_view property) { return is_asked(answers, property); };
    how.opinion_effort = options_.opinion_effort;
    auto result = check(world, catalogue_, how);
    for (MatrixAnswer* answer : answers) {
      // What cannot be explored can still be run; that it was only run is what the answer says then.
      if (const auto* trouble = std::get_if<Diagnostic>(&result)) {
        if (size == MatrixWorld::two) answer->why = trouble->message;
      } else {
        take(std::get<Exploration>(result), fault, size, world.clients.size(), *answer);
      }
    }
    const auto* exploration = std::get_if<Exploration>(&result);
    return exploration == nullptr ? 0 : exploration->counts.events;
  }

  void take(const Exploration& exploration, const MatrixFault& fault, MatrixWorld size, std::size_t clients,
            MatrixAnswer& answer) const {
    const ExploredProperty& property = exploration.property(answer.question->property);
    (size == MatrixWorld::two ? answer.traces : answer.traces_of_three) = exploration.counts.traces;
    if (property.verdict == Verdict::unknown && size == MatrixWorld::three) return;
    answer.why = property.why;
    answer.clients = clients;
    if (property.verdict == Verdict::holds) answer.ground = Ground::proved;
    if (property.verdict == Verdict::violated) {
      answer.ground = Ground::broken;
      // Of a search that a bound has ended, the least value that it met need not be the least.
      if (exploration.counts.complete) answer.thresholds = property.thresholds;
      answer.witness = property.witness;
      const std::string asked = id_of(entry_, fault, *answer.question);
      name_witness(*answer.witness, asked);
      answer.witness->lesson = lesson_of_witness(asked, answer.question->property);
    }
  }

  /// The same runs for all of them, each until it is broken.
  std::optional<Diagnostic> run_large(const MatrixFault& fault, Answers answers) {
    if (answers.empty()) return std::nullopt;
    const Scenario world = matrix_world(entry_, fault, *answers.front()->question, MatrixWorld::large);
    const auto is_open = [&](std::string_view property) { return is_asked(answers, property); };
    sim::Random random(options_.seed);
    for (std::uint64_t i = 0; i < options_.runs && !answers.empty(); ++i) {
      if (options_.interrupted && options_.interrupted()) return std::nullopt;
      Scenario story = random_story(world, fault, catalogue_, random);
      const auto result = run(story, catalogue_, {.brief = true, .asks = is_open});
      if (const auto* trouble = std::get_if<Diagnostic>(&result)) return *trouble;
      for (MatrixAnswer* answer : answers) {
        ++answer->runs;
        if (judgement_of(std::get<Outcome>(result), answer->question->property).finding.verdict != Verdict::violated)
          continue;
        if (auto trouble = show(story, fault, *answer)) return trouble;
      }
      std::erase_if(answers, [](const MatrixAnswer* answer) { return answer->ground == Ground::broken; });
    }
    return std::nullopt;
  }

  /// The run that breaks it is its witness.
  std::optional<Diagnostic> show(Scenario story, const MatrixFault& fault, MatrixAnswer& answer) const {
    put_question(entry_, fault, *answer.question, story);
    // Not in brief: people read the reason.
    const auto result = run(story, catalogue_);
    if (const auto* trouble = std::get_if<Diagnostic>(&result)) return *trouble;
    answer.ground = Ground::broken;
    answer.clients = story.clients.size();
    answer.why = judgement_of(std::get<Outcome>(result), answer.question->property).finding.why;
    story.expect_run.push_back({.property = std::string(answer.question->property),
                                .verdict = Verdict::violated,
                                .violated_by = {},
                                .at = std::nullopt,
                                .from = {},
                                .position = {}});
    answer.witness = std::move(story);
    return std::nullopt;
  }

  const Entry& entry_;
  const models::locks::Catalogue& catalogue_;
  const MatrixOptions& options_;
};

}  // namespace

bool has_matrix_row(const Entry& entry) {
  return entry.mode == models::Mode::exclusive &&
         std::find(entry.claims.begin(), entry.claims.end(), "mutual-exclusion") != entry.claims.end();
}

Scenario matrix_world(const Entry& entry, const MatrixFault& fault, const MatrixQuestion& question, MatrixWorld world) {
  Scenario scenario;
  put_question(entry, fault, question, scenario);
  scenario.title = {fmt::format("{} when {}", entry.id, fault.meaning),
                    fmt::format("{}：{}", entry.id, fault.meaning_zh)};
  scenario.story = {fmt::format("A cell of the matrix: {}.", fault.meaning),
                    fmt::format("矩阵中的一格：{}。", fault.meaning_zh)};
  scenario.source = "lockstep matrix";
  scenario.lock.algorithm = entry.id;
  scenario.lock.own = own_lock_of(entry);
  scenario.network.latency = kLatency;
  set_lease_and_patience(entry, has_primary(entry, fault) ? kLeaseOverFailover : kLease, kPatience, scenario.lock);
  add_processes(entry, question, world, scenario);
  if (has_primary(entry, fault)) add_replica(scenario);
  allow(fault, scenario);
  return scenario;
}

std::variant<Matrix, Diagnostic> matrix(const models::locks::Catalogue& catalogue, const MatrixOptions& options) {
  const auto is_named = [](const std::vector<std::string>& names, std::string_view name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  struct Task {
    const Entry* entry;
    const MatrixFault* fault;
  };
  std::vector<Task> tasks;
  for (const Entry& entry : catalogue.entries()) {
    if (!is_named(options.algorithms, entry.id) || (options.algorithms.empty() && !has_matrix_row(entry))) continue;
    for (const MatrixFault& fault : matrix_faults()) {
      if (is_named(options.faults, fault.name)) tasks.push_back({&entry, &fault});
    }
  }

  Matrix result;
  result.cells.resize(tasks.size());
  std::vector<std::optional<Diagnostic>> troubles(tasks.size());
  std::size_t done = 0;
  std::mutex told;
  in_parallel(tasks.size(), options.jobs, [&](std::size_t i) {
    result.cells[i].algorithm = tasks[i].entry->id;
    result.cells[i].fault = tasks[i].fault;
    if (!is_mine(options.ranks, i)) return;
    if (options.interrupted && options.interrupted()) return;
    try {
      auto cell = Row(*tasks[i].entry, catalogue, options).cell(*tasks[i].fault);
      if (auto* trouble = std::get_if<Diagnostic>(&cell))
        troubles[i] = std::move(*trouble);
      else
        result.cells[i] = std::move(std::get<MatrixCell>(cell));
    } catch (const sim::Stopped&) {
      return;  // interrupted
    }
    const std::lock_guard lock(told);
    ++done;
    if (options.progress) options.progress(done, share_of(options.ranks, tasks.size()));
  });
  bool is_interrupted = options.interrupted && options.interrupted();
  const auto write = [&](Writing& out, std::size_t i) {
    out.add(std::uint64_t{is_interrupted});
    add(out, result.cells[i].answers);
    out.add(std::uint64_t{troubles[i].has_value()});
    if (troubles[i]) add(out, *troubles[i]);
  };
  const auto read = [&](Reading& in, std::size_t i) {
    is_interrupted = in.number() != 0 || is_interrupted;
    result.cells[i].answers = read_answers(in, catalogue);
    if (in.number() != 0) troubles[i] = read_diagnostic(in);
  };
  [[maybe_unused]] const bool is_read = share(options.ranks, tasks.size(), write, read);
  assert(is_read && "all ranks run the same program");
  for (std::optional<Diagnostic>& trouble : troubles) {
    if (trouble) return *std::move(trouble);
  }
  result.is_complete = !is_interrupted;
  return result;
}

}  // namespace lockstep::scenarios
