#include "scenarios/running/expectation.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/story/alike.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Verdict;

bool blames_the_same(const Expectation& expected, std::vector<std::string> observed) {
  return expected.violated_by.empty() || are_same_but_for_names(expected.violated_by, std::move(observed), {});
}

}  // namespace

const Expectation* expectation_of(std::span<const Expectation> expectations, std::string_view property) {
  const auto found = std::find_if(expectations.begin(), expectations.end(),
                                  [&](const Expectation& expectation) { return expectation.property == property; });
  return found == expectations.end() ? nullptr : &*found;
}

bool is_as_expected(Verdict expected, Verdict found) {
  return expected == found || (expected == Verdict::unknown && found == Verdict::not_judged);
}

Claim claim_of(std::span<const std::string_view> claims, std::string_view property,
               std::span<const Expectation> expectations) {
  if (std::find(claims.begin(), claims.end(), property) == claims.end()) return Claim::none;
  return expectations.empty() ? Claim::expected : Claim::stated;
}

Judgement judge(checker::Finding finding, const Scenario& scenario, const checker::Names& names,
                std::span<const std::string_view> claims) {
  Judgement judgement;
  judgement.claim = claim_of(claims, finding.property, scenario.expect_run);
  judgement.as_expected = judgement.claim != Claim::expected || finding.verdict != Verdict::violated;
  if (const Expectation* expected = expectation_of(scenario.expect_run, finding.property)) {
    judgement.expected = *expected;
    std::vector<std::string> observed;
    for (const sim::ProcessId process : finding.by) observed.push_back(names[process.index]);
    const bool same_moment = !expected->at || (finding.at && finding.at->offset() == *expected->at);
    judgement.as_expected = is_as_expected(expected->verdict, finding.verdict) &&
                            blames_the_same(*expected, std::move(observed)) && same_moment;
  }
  judgement.finding = std::move(finding);
  return judgement;
}

}  // namespace lockstep::scenarios
