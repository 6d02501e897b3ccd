// Every violation that the explorer finds happens in `run`: the oracle for explorer, schedule and writer together.

#include "scenarios/witness/witness.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "checker/explorer/witness_size.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/time/parameter_space.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/exploring/oracles/random_scenario.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::scenarios::witness_test {
namespace {

using testing::catalogue;
using testing::parsed;

using checker::Belief;
using checker::Constraint;
using checker::ExploredFault;
using checker::Explorer;
using sim::Duration;
using namespace sim::literals;

class Subject final : public checker::Explorable {
 public:
  Subject(const Scenario& scenario, Explorer& explorer)
      : deployment_(scenario, catalogue(), explorer, Deployment::Faults::none) {}
  sim::World& world() override { return deployment_.world(); }
  void begin() override { deployment_.begin(); }

 private:
  Deployment deployment_;
};

/// What must hold so that two beliefs overlap at the moment in which the later one begins, as far as differences say it exactly: no
/// deadline is noticed late.
std::vector<Violation> overlaps(Explorer& explorer) {
  std::vector<Violation> found;
  const std::vector<Belief> beliefs = checker::collect_beliefs(explorer.world().history());
  const auto ends_after = [](const Belief& belief, sim::Instant moment) {
    std::vector<Constraint> constraints;
    for (const auto* ending : {&belief.released, &belief.lost, &belief.crashed, &belief.deadline}) {
      if (*ending) constraints.push_back(Constraint::less_than(moment, (*ending)->at));
    }
    return constraints;
  };
  for (const Belief& one : beliefs) {
    for (const Belief& other : beliefs) {
      if (one.acquire >= other.acquire || one.process == other.process) continue;
      if (one.is_shared && other.is_shared) continue;
      Violation violation;
      violation.property = "mutual-exclusion";
      violation.constraints = ends_after(one, other.from);
      for (const Constraint& c : ends_after(other, one.from)) violation.constraints.push_back(c);
      const bool is_plain =
          std::all_of(violation.constraints.begin(), violation.constraints.end(), [&](const Constraint& c) {
            return c.from < explorer.constraints().variables() && c.to < explorer.constraints().variables();
          });
      if (!is_plain) continue;
      if (!explorer.constraints().is_feasible_with(violation.constraints)) continue;
      found.push_back(std::move(violation));
    }
  }
  return found;
}

/// For some lengths of what jumps and is skewed.
bool is_truly_feasible(const ExploredTrace& trace, const Violation& violation) {
  checker::DifferenceConstraints constraints = trace.constraints;
  if (!constraints.add_all(violation.constraints)) return false;
  if (trace.parameters.empty()) return true;
  std::vector<sim::DurationRange> ranges;
  for (const checker::ExploredParameter& parameter : trace.parameters) ranges.push_back(parameter.range);
  return !checker::ParameterSpace(constraints, trace.parametric, ranges).is_empty();
}

const std::uint64_t kWorlds = sim::cases<std::uint64_t>(200, 40);
/// A longer catalogue draws other worlds: so many more at most, until every kind of fault has broken something.
const std::uint64_t kWorldsMost = sim::cases<std::uint64_t>(1'000, 40);
constexpr std::size_t kKinds = 5;

struct Search {
  std::uint64_t refused = 0;  ///< worlds that an exploration does not know, and says so
  std::uint64_t traces = 0;
  std::uint64_t violations = 0;
  std::uint64_t confirmed = 0;
  std::uint64_t infeasible = 0;  ///< overlaps of which `parametric` says that no length of the faults allows them
  std::map<std::string, std::uint64_t> reasons;
  std::set<ExploredFault::Kind> kinds;
  std::string first_bad;
  std::optional<Witness> best;
  std::optional<checker::WitnessSize> best_size;
};

void search(const Scenario& scenario, std::uint64_t max_traces, Search& result) {
  checker::ExplorerOptions options;
  options.max_traces = max_traces;
  auto budgets = fault_budgets(scenario);
  if (std::holds_alternative<Diagnostic>(budgets)) {
    ++result.refused;
    return;
  }
  options.faults = std::get<std::vector<checker::FaultBudget>>(std::move(budgets));
  Explorer explorer(options);
  Subject subject(scenario, explorer);
  explorer.explore(subject, [&](Explorer& at_end) {
    ++result.traces;
    const std::vector<Violation> violations = overlaps(at_end);
    if (violations.empty()) return true;
    const ExploredTrace trace = trace_of(at_end);
    for (const Violation& violation : violations) {
      ++result.violations;
      auto made = make_witness(scenario, catalogue(), trace, violation);
      if (const auto* unconfirmed = std::get_if<Unconfirmed>(&made)) {
        // With clocks that are off by an unknown length the explorer's constraints are wider than the truth.
        if (!is_truly_feasible(trace, violation)) {
          ++result.infeasible;
          continue;
        }
        ++result.reasons[unconfirmed->reason.substr(0, 60)];
        if (result.first_bad.empty()) {
          result.first_bad =
              scenario.file + ": " + unconfirmed->reason + "\n" + unconfirmed->text + "\n--- of\n" + to_toml(scenario);
        }
        continue;
      }
      ++result.confirmed;
      for (const ExploredFault& fault : trace.faults) result.kinds.insert(fault.kind);
      const checker::WitnessSize size = checker::witness_size(trace.events, trace.faults);
      if (result.best_size && !(size < *result.best_size)) continue;
      result.best_size = size;
      result.best = std::get<Witness>(std::move(made));
    }
    return true;
  });
}

std::string story(const std::string& more) {
  std::string text = R"(
title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
[lock]
algorithm = "set-nx-px-lua"
ttl = "100ms"
[network]
latency = ["1ms", "10ms"]
)" + more;
  for (const char name : {'A', 'B'}) {
    text += std::string("[[client]]\nname = \"") + name +
            "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = \"20ms\"\nattempts = 1\n";
  }
  return text;
}

/// A small story of `random_scenario` in which something may go wrong.
Scenario random_world(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x7769746e657373, seed));
  Scenario scenario = random_scenario(seed, catalogue());
  scenario.file = "random-" + std::to_string(seed) + ".toml";
  scenario.title = scenario.story = scenario.lesson = {"t", "z"};
  scenario.faults.clear();
  if (scenario.clients.size() > 2) scenario.clients.resize(seed % 8 == 0 ? 3 : 2);
  while (scenario.clients.size() < 2) {
    scenario.clients.push_back(scenario.clients.front());
    scenario.clients.back().name = "B";
  }
  if (scenario.servers.size() > 3) scenario.servers.resize(3);
  const bool has_room = scenario.clients.size() == 2 && scenario.servers.size() == 1 && seed % 4 == 1;
  for (ClientSpec& client : scenario.clients) {
    client.rounds = has_room ? random.between(1, 2) : 1;
    client.attempts = has_room ? random.between(1, 2) : 1;
    client.clock.drift_ppm = 0;
  }
  for (ServerSpec& server : scenario.servers) server.clock.drift_ppm = 0;
  for (std::uint64_t i = 1 + random.below(2); i > 0; --i) {
    MaySpec& may = scenario.may.emplace_back();
    constexpr MaySpec::Kind kinds[] = {MaySpec::Kind::pause, MaySpec::Kind::pause, MaySpec::Kind::pause,
                                       MaySpec::Kind::crash, MaySpec::Kind::lose,  MaySpec::Kind::jump,
                                       MaySpec::Kind::skew};
    may.kind = kinds[random.below(std::size(kinds))];
    const auto ms = [&](std::int64_t lo, std::int64_t hi) { return Duration::milliseconds(random.between(lo, hi)); };
    const bool of_server = may.kind != MaySpec::Kind::lose && random.one_in(3);
    if (of_server) may.who = {scenario.servers[random.below(scenario.servers.size())].name};
    if (!of_server && (may.kind == MaySpec::Kind::jump || random.one_in(2))) {
      may.who = {scenario.clients[random.below(scenario.clients.size())].name};
    }
    if (may.kind == MaySpec::Kind::pause) may.length = {ms(0, 50), ms(50, 500)};
    if (may.kind == MaySpec::Kind::jump || may.kind == MaySpec::Kind::skew) {
      may.length =
          random.one_in(2) ? sim::DurationRange::exactly(ms(-200, 200)) : sim::DurationRange{ms(-200, 0), ms(0, 200)};
    }
    if (may.kind == MaySpec::Kind::crash && random.one_in(2)) may.restart_after = {ms(1, 20), ms(20, 50)};
    if (may.kind == MaySpec::Kind::crash) may.keep = of_server && random.one_in(2);
    may.times = random.one_in(4) ? 2 : 1;
  }
  return scenario;
}

}  // namespace

TEST_CASE("every violation that the explorer finds in a random world happens in run") {
  Search result;
  std::uint64_t violated = 0;
  std::uint64_t worlds = 0;
  const auto is_enough = [&] { return worlds >= kWorldsMost || (worlds >= kWorlds && result.kinds.size() == kKinds); };
  for (; !is_enough(); ++worlds) {
    const std::uint64_t before = result.violations;
    const Scenario world = random_world(worlds);
    // Two holders of a semaphore violate nothing.
    const models::locks::Entry& lock = *catalogue().find(world.lock.algorithm);
    if (models::locks::find(lock.parameters, models::locks::ParameterRole::places) != nullptr) continue;
    search(world, 60, result);
    if (result.violations > before) ++violated;
  }
  std::string reasons;
  for (const auto& [reason, count] : result.reasons) reasons += std::to_string(count) + " " + reason + "\n";
  INFO(result.refused << " refused, " << result.infeasible << " infeasible, " << result.violations << " violations in "
                      << result.traces << " traces, " << violated << " worlds\n"
                      << reasons << result.first_bad);
  CHECK(result.violations > worlds);
  CHECK(result.refused * 6 < worlds);
  if (!sim::takes_few_cases()) CHECK(result.kinds.size() == kKinds);
  CHECK(result.confirmed + result.infeasible == result.violations);
  CHECK(result.infeasible * 10 < result.violations);
}

TEST_CASE("the witness of the documented margin is a pause of 72ms") {
  Search result;
  search(parsed(story("[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n")), 0, result);
  INFO(result.first_bad);
  CHECK(result.violations > 0);
  CHECK(result.confirmed == result.violations);
  REQUIRE(result.best);
  INFO(result.best->text);
  CHECK(result.best_size->faults == 1);
  const Scenario& witness = result.best->scenario;
  REQUIRE(witness.faults.size() == 1);
  CHECK(witness.faults[0].length == sim::DurationRange::exactly(72_ms));
  CHECK(witness.may.empty());
}

}  // namespace lockstep::scenarios::witness_test
