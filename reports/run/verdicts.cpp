#include "reports/run/verdicts.hpp"

#include <fmt/format.h>

#include <array>

#include "reports/text/figures.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

std::string violated_text(const std::vector<std::string>& by, const std::optional<std::string>& at, Language language) {
  if (language == Language::zh) {
    std::string text = at ? fmt::format("在 {} ", *at) : "";
    return text + (by.empty() ? "被破坏" : fmt::format("被 {} 破坏", joined(by, "、")));
  }
  std::string text = "violated";
  if (!by.empty()) text += " by " + joined(by);
  if (at) text += " at " + *at;
  return text;
}

}  // namespace

const VerdictWords& words_of(checker::Verdict verdict) {
  using checker::Verdict;
  static constexpr std::array<VerdictWords, 4> table{{{Verdict::holds, "✓", "holds", "成立", "good"},
                                                      {Verdict::violated, "✗", "violated", "被破坏", "bad"},
                                                      {Verdict::unknown, "?", "unknown", "未知", "warning"},
                                                      {Verdict::not_judged, "–", "not judged", "未判定", "faint"}}};
  return table[static_cast<std::size_t>(verdict)];
}

std::string_view word_of(checker::Verdict verdict, Language language) {
  return language == Language::zh ? words_of(verdict).zh : words_of(verdict).en;
}

std::string holds_text(Scope scope, Language language) {
  const bool zh = language == Language::zh;
  const std::string_view of = scope == Scope::this_run         ? (zh ? "本次运行" : "this run")
                              : scope == Scope::all_executions ? (zh ? "所有执行" : "all executions")
                                                               : (zh ? "此网格" : "this grid");
  return fmt::format(fmt::runtime(zh ? "{}（{}）" : "{} ({})"), word_of(checker::Verdict::holds, language), of);
}

std::string assumed_claims_text(const scenarios::Scenario& scenario, Language language) {
  const auto& entry = scenario.lock.own.entry;
  if (!entry || !entry->claims_nothing_itself) return "";
  const std::string claims = joined(std::vector<std::string>(entry->claims.begin(), entry->claims.end()));
  return fmt::format(fmt::runtime(language == Language::zh ? "{} 没有写 claims，按必须满足 {} 来判定"
                                                           : "{} says no claims, so it is held to {}"),
                     scenario.lock.algorithm, claims);
}

const std::string& in(Language language, const scenarios::Text& text) {
  return language == Language::zh && !text.zh.empty() ? text.zh : text.en;
}

std::string name_of(const scenarios::Outcome& outcome, sim::ProcessId process) {
  if (!process.is_valid()) return "nobody";
  return process.index < outcome.lanes.size() ? outcome.lanes[process.index].name
                                              : fmt::format("process {}", process.index);
}

checker::Names client_names(const scenarios::Scenario& scenario) {
  checker::Names names;
  for (const scenarios::ClientSpec& client : scenario.clients) names.push_back(client.name);
  return names;
}

std::vector<std::string> blamed(const scenarios::Outcome& outcome, const checker::Finding& finding) {
  std::vector<std::string> names;
  for (const sim::ProcessId process : finding.by) names.push_back(name_of(outcome, process));
  return names;
}

std::string observed_text(const scenarios::Outcome& outcome, const checker::Finding& finding, Language language) {
  if (finding.verdict != checker::Verdict::violated) return std::string(word_of(finding.verdict, language));
  return violated_text(blamed(outcome, finding), finding.at ? std::optional(time_text(*finding.at)) : std::nullopt,
                       language);
}

std::string expected_text(const scenarios::Expectation& expectation, Language language) {
  if (expectation.verdict != checker::Verdict::violated) return std::string(word_of(expectation.verdict, language));
  return violated_text(expectation.violated_by,
                       expectation.at ? std::optional(sim::to_string(*expectation.at)) : std::nullopt, language);
}

std::string surprise_text(const scenarios::Outcome& outcome, const scenarios::Judgement& judgement, Language language) {
  if (language == Language::zh)
    return fmt::format("预期：{}；观察到：{}",
                       judgement.expected ? expected_text(*judgement.expected, language) : "算法所承诺的",
                       observed_text(outcome, judgement.finding, language));
  if (!judgement.expected) return "claimed by the algorithm; observed: " + observed_text(outcome, judgement.finding);
  return fmt::format("expected: {}; observed: {}", expected_text(*judgement.expected),
                     observed_text(outcome, judgement.finding));
}

std::string time_text(sim::Instant at) { return sim::to_string(rounded_for_reading(at.offset())); }

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace lockstep::reports
