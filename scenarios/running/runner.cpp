#include "scenarios/running/runner.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/deployment/key_states.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/running/expectation.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

/// A story is expected to end, whatever else its file says.
void expect_an_end(Judgement& judgement) {
  if (judgement.finding.verdict != checker::Verdict::violated || judgement.expected) return;
  judgement.expected =
      Expectation{.property = std::string(judgement.finding.property), .verdict = checker::Verdict::holds};
  judgement.as_expected = false;
}

/// The first call of `./lockstep run` waits for no more than it needs.
constexpr std::string_view kNoProgramsHere =
    "needs Linux on x86-64 and the optimised build; `./lockstep check --help` makes that, once";

bool asks(const RunOptions& options, std::string_view property) { return !options.asks || options.asks(property); }

Outcome outcome_of(const Scenario& scenario, const models::locks::Catalogue& catalogue, const RunOptions& options,
                   Deployment& deployment, Execution& execution) {
  const models::locks::Entry* entry = find_entry(scenario.lock, catalogue);
  sim::World& world = deployment.world();
  Outcome outcome;
  const auto is_asked = [&](std::string_view property) { return asks(options, property); };
  for (checker::Finding& finding : execution.endless() ? execution.endless_findings() : execution.findings(is_asked)) {
    const bool is_claimed = deployment.can_be_claimed(finding.property);
    outcome.properties.push_back(judge(std::move(finding), scenario, deployment.names(),
                                       is_claimed ? entry->claims : std::vector<std::string_view>()));
    if (execution.endless()) expect_an_end(outcome.properties.back());
    outcome.as_expected = outcome.as_expected && outcome.properties.back().as_expected;
  }
  outcome.digest = world.digest();
  outcome.events = world.events_executed();
  outcome.quiescent = execution.quiescent();
  outcome.lanes = deployment.lanes();
  outcome.notes = deployment.missed_faults();
  for (std::string& note : deployment.notes_of_programs()) outcome.notes.push_back(std::move(note));
  outcome.program_calls = deployment.program_calls();
  outcome.script_mistakes = deployment.script_mistakes();
  outcome.mistake = deployment.mistake().value_or("");
  outcome.as_expected = outcome.as_expected && outcome.mistake.empty();
  outcome.history = world.take_history();
  outcome.places = deployment.places();
  outcome.trace = world.take_trace();
  return outcome;
}

}  // namespace

namespace {

/// When the probe comes; and, when it has come, when it must come in other runs that are the same.
struct ProbeMoments {
  std::optional<sim::Instant> first;
  bool ends_story = false;               ///< with `first`, whatever servers still wait for
  std::optional<sim::Instant> decisive;  ///< to decide what is left open, if anything is
  std::vector<sim::Instant> visits;      ///< a visitor: `Execution::other_visits`
  sim::Instant quiescent;
};

std::variant<Outcome, Diagnostic> run_once(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                           const RunOptions& options, ProbeMoments& moments) {
  sim::DefaultDecisions defaults;
  sim::RandomDecisions random(options.seed.value_or(0));
  sim::Decisions& own = options.seed ? static_cast<sim::Decisions&>(random) : defaults;
  Deployment deployment(scenario, catalogue, options.decisions != nullptr ? *options.decisions : own);
  if (options.trace && options.brief) deployment.world().enable_brief_trace(deployment.probe());
  if (options.trace && !options.brief) deployment.world().enable_trace(options.places_in_programs);
  if (!options.texts) deployment.world().trace_without_texts();
  if (options.tick) deployment.simulation().set_tick(*options.tick);
  Execution execution(scenario, deployment, options.max_events);
  KeyStateRecorder key_states(deployment.world(), deployment.servers());
  if (options.key_states) execution.watch([&] { key_states.look(); });
  if (moments.ends_story) {
    execution.play_until(*moments.first, moments.quiescent);
  } else if (std::optional<Diagnostic> problem = execution.play()) {
    if (!execution.endless()) return std::move(*problem);
    Outcome outcome = outcome_of(scenario, catalogue, options, deployment, execution);
    outcome.notes.push_back(std::move(problem->message));
    outcome.key_states = key_states.take();
    return outcome;
  }
  if (asks(options, "recoverable") && deployment.why_not_judged("recoverable").empty()) {
    const auto patience =
        options.brief ? Execution::Patience::just_beyond_the_bound : Execution::Patience::as_good_as_for_ever;
    if (deployment.is_visited()) moments.visits = execution.other_visits();
    moments.quiescent = execution.quiescent();
    if (std::optional<Diagnostic> problem = execution.probe(patience, moments.first.value_or(sim::Instant())))
      return std::move(*problem);
    moments.decisive = execution.decisive_probe();
  }
  Outcome outcome = outcome_of(scenario, catalogue, options, deployment, execution);
  outcome.key_states = key_states.take();
  return outcome;
}

}  // namespace

namespace {

Judgement* recovery_of(std::variant<Outcome, Diagnostic>& result) {
  auto* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return nullptr;
  const auto is_it = [](const Judgement& judgement) { return judgement.finding.property == "recoverable"; };
  const auto found = std::find_if(outcome->properties.begin(), outcome->properties.end(), is_it);
  return found != outcome->properties.end() ? &*found : nullptr;
}

/// The visitor of this run comes at another moment. What it says of all else is known.
std::variant<Outcome, Diagnostic> run_with_visit(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                 const RunOptions& options, ProbeMoments moments,
                                                 const Outcome& known) {
  std::variant<Outcome, Diagnostic> result = run_once(scenario, catalogue, options, moments);
  auto* outcome = std::get_if<Outcome>(&result);
  if (outcome == nullptr) return result;
  outcome->as_expected = true;
  for (std::size_t i = 0; i < outcome->properties.size(); ++i) {
    Judgement& judgement = outcome->properties[i];
    if (judgement.finding.property != "recoverable") judgement = known.properties[i];
    outcome->as_expected = outcome->as_expected && judgement.as_expected;
  }
  return result;
}

/// Once, and once more if it has to be asked whether the lock would have come back in time; of a visitor until one does
/// not get it.
std::variant<Outcome, Diagnostic> run_decided(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                              const RunOptions& options) {
  ProbeMoments moments;
  std::variant<Outcome, Diagnostic> result = run_once(scenario, catalogue, options, moments);
  // Decisions from outside are made once.
  if (options.decisions != nullptr) return result;
  if (moments.decisive) {
    moments.first = moments.decisive;
    return run_once(scenario, catalogue, options, moments);
  }
  const auto is_broken = [](const Judgement* recovery) {
    return recovery != nullptr && recovery->finding.verdict == checker::Verdict::violated;
  };
  if (recovery_of(result) == nullptr || is_broken(recovery_of(result))) return result;
  for (const sim::Instant visit : moments.visits) {
    const bool is_early = visit.offset() < moments.quiescent.offset();
    std::variant<Outcome, Diagnostic> other = run_with_visit(
        scenario, catalogue, options, {.first = visit, .ends_story = is_early, .quiescent = moments.quiescent},
        std::get<Outcome>(result));
    if (is_broken(recovery_of(other))) return other;
  }
  return result;
}

/// When something is to happen says nothing of random delays.
Scenario without_times(Scenario scenario) {
  for (Expectation& expectation : scenario.expect_run) expectation.at.reset();
  return scenario;
}

}  // namespace

std::variant<Outcome, Diagnostic> run(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                      const RunOptions& options) {
  if (scenario.programs.maker == nullptr) {
    if (std::optional<Diagnostic> refusal = refusal_of_programs(scenario, kNoProgramsHere)) return *std::move(refusal);
  }
  if (!options.seed || options.decisions != nullptr) return run_decided(scenario, catalogue, options);
  const Scenario timeless = without_times(scenario);
  // Delays with which a pinned order cannot be kept are drawn anew: what is left are those with which it can.
  constexpr std::uint64_t kDrawsMax = 200;
  RunOptions drawn = options;
  for (std::uint64_t draw = 0;; ++draw) {
    drawn.seed = *options.seed + draw * 0x9E3779B97F4A7C15U;
    auto result = run_decided(timeless, catalogue, drawn);
    const auto* trouble = std::get_if<Diagnostic>(&result);
    if (trouble == nullptr || trouble->kind != Diagnostic::Kind::out_of_order || draw == kDrawsMax) return result;
  }
}

}  // namespace lockstep::scenarios
