#include "scenarios/running/sample.hpp"

#include "scenarios/running/random_faults.hpp"

namespace lockstep::scenarios {
namespace {

/// What check expects to be broken by something need not be broken here.
void forgive(Outcome& outcome, bool expects_claims) {
  outcome.as_expected = true;
  for (Judgement& judgement : outcome.properties) {
    const bool is_untried = judgement.expected && judgement.finding.verdict != checker::Verdict::violated &&
                            judgement.finding.verdict != checker::Verdict::holds;
    const bool is_claim = !judgement.expected && judgement.claim == Claim::expected && !expects_claims;
    judgement.as_expected = judgement.as_expected || is_untried || is_claim;
    if (is_claim) judgement.claim = Claim::stated;
    outcome.as_expected = outcome.as_expected && judgement.as_expected;
  }
}

}  // namespace

std::variant<Outcome, Diagnostic> run_sample(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                             std::uint64_t seed, const RunOptions& options) {
  auto result = run(draw_checked(scenario, catalogue, seed), catalogue, options);
  if (auto* outcome = std::get_if<Outcome>(&result)) forgive(*outcome, scenario.expect_check.empty());
  return result;
}

}  // namespace lockstep::scenarios
