#include "reports/check/fuzzing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/json/json.hpp"
#include "reports/run/verdicts.hpp"
#include "reports/text/text.hpp"
#include "reports/words/reasons.hpp"

namespace lockstep::reports {
namespace {

using scenarios::CampaignState;
using scenarios::count_not_judged;
using scenarios::FuzzFinding;
using scenarios::FuzzMystery;
using scenarios::what_is_open;

/// "1,234,567".
std::string grouped(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

double seconds_of(std::uint64_t ms) { return static_cast<double>(ms) / 1000; }

double hours_of(sim::Duration time) { return static_cast<double>(time.count_ns()) / 3.6e12; }

double rate(double amount, std::uint64_t ms) { return ms == 0 ? 0 : amount / seconds_of(ms); }

std::string file_of(const FuzzFinding& finding, const FuzzReportOptions& options) {
  return fmt::format("{}/{}.toml", options.folder, finding.name);
}

void add_finding(Lines& lines, const FuzzFinding& finding, const FuzzReportOptions& options) {
  lines.emplace_back();
  Line head;
  head.append("✗ ", Ink::bad).append(printable(finding.title), Ink::strong);
  head.wrap_into(lines, options.width, 2);
  add_prose(lines,
            fmt::format("{} of {}: {}", finding.property, finding.algorithm, reason_in(Language::en, finding.why)),
            options.width, 2);
  add_prose(lines,
            fmt::format("first in run {}, after {:.1f} s; {} stories tried to make it small{}", grouped(finding.run),
                        seconds_of(finding.after_ms), grouped(finding.tried),
                        finding.is_minimal ? "; without any one of its faults or clients it passes"
                                           : "; it may not be the smallest"),
            options.width, 2, Ink::faint);
  Line(fmt::format("  lockstep run {}", printable(file_of(finding, options)))).wrap_into(lines, options.width, 4);
}

}  // namespace

Lines fuzz_report(const CampaignState& state, const FuzzReportOptions& options) {
  Lines lines;
  const scenarios::FuzzStatistics& s = state.statistics;
  add_prose(
      lines,
      fmt::format("{} runs, {} events, {:.1f} hours of virtual time in {:.1f} s; {} runs/s, {:.2f} million events/s",
                  grouped(s.runs), grouped(s.events), hours_of(s.virtual_time), seconds_of(state.spent_ms),
                  grouped(static_cast<std::uint64_t>(rate(static_cast<double>(s.runs), state.spent_ms))),
                  rate(static_cast<double>(s.events), state.spent_ms) / 1e6),
      options.width, 0);
  add_prose(lines,
            fmt::format("{} runs judged, {} not; {} different things seen; {} runs broke something",
                        grouped(s.runs - count_not_judged(s)), grouped(count_not_judged(s)), grouped(s.features),
                        grouped(s.violating)),
            options.width, 0);
  for (const auto& [reason, runs] : s.not_judged)
    add_prose(lines, fmt::format("– {} not judged: {}", counted(runs, "run", "runs"), reason_in(Language::en, reason)),
              options.width, 2, Ink::warning);
  for (const FuzzFinding& finding : state.findings) add_finding(lines, finding, options);
  for (const FuzzMystery& mystery : state.mysteries) {
    lines.emplace_back();
    add_prose(lines,
              fmt::format("? a run broke {}, and as a file it does not: {}", mystery.property,
                          reason_in(Language::en, mystery.reason)),
              options.width, 2, Ink::warning);
  }
  lines.emplace_back();
  const bool is_nothing_found = state.findings.empty() && state.mysteries.empty();
  if (const auto open = what_is_open(state); is_nothing_found && !open.empty()) {
    add_prose(lines, fmt::format("? nothing was found, and not all was judged: {}", joined(open, "; ")), options.width,
              2, Ink::warning);
  } else if (is_nothing_found) {
    lines.emplace_back(fmt::format("✓ nothing was found, which proves nothing{}",
                                   options.can_be_checked ? ": check does, within its bounds" : ""),
                       Ink::good);
  } else {
    add_prose(
        lines,
        fmt::format("{}; each file in {} is replayed by run{}", counted(state.findings.size(), "finding", "findings"),
                    printable(options.folder), options.can_be_checked ? ", and check tells its margin" : ""),
        options.width, 0);
  }
  return lines;
}

std::string fuzz_json(const CampaignState& state, const FuzzReportOptions& options) {
  Json document;
  document["lockstep"] = 1;
  document["command"] = "fuzz";
  const scenarios::FuzzStatistics& s = state.statistics;
  document["runs"] = s.runs;
  document["events"] = s.events;
  document["judged"] = s.runs - count_not_judged(s);
  document["not_judged"] = Json::array();
  for (const auto& [reason, runs] : s.not_judged)
    document["not_judged"].push_back({{"reason", reason}, {"runs", runs}});
  document["properties"] = Json::array();
  for (const auto& [name, evidence] : state.evidence) {
    document["properties"].push_back(
        {{"property", name}, {"judged", evidence.judged}, {"not_judged", evidence.not_judged}, {"why", evidence.why}});
  }
  document["violating_runs"] = s.violating;
  document["virtual_time"] = sim::to_string(s.virtual_time);
  document["features"] = s.features;
  document["spent_ms"] = state.spent_ms;
  document["findings"] = Json::array();
  for (const FuzzFinding& finding : state.findings) {
    Json one;
    one["name"] = finding.name;
    one["file"] = file_of(finding, options);
    one["title"] = finding.title;
    one["property"] = finding.property;
    one["algorithm"] = finding.algorithm;
    one["why"] = finding.why;
    one["cause"] = finding.cause;
    one["run"] = finding.run;
    one["after_ms"] = finding.after_ms;
    one["times"] = finding.times;
    one["tried"] = finding.tried;
    one["is_minimal"] = finding.is_minimal;
    document["findings"].push_back(std::move(one));
  }
  document["unconfirmed"] = Json::array();
  for (const FuzzMystery& mystery : state.mysteries)
    document["unconfirmed"].push_back(
        {{"property", mystery.property}, {"reason", mystery.reason}, {"story", mystery.text}});
  return document.dump(2) + "\n";
}

std::string fuzz_progress(const CampaignState& state, std::size_t width) {
  const scenarios::FuzzStatistics& s = state.statistics;
  std::string text =
      fmt::format("{:.0f} s  {} runs  {:.0f} runs/s  {:.1f} virtual hours  {} things seen  {} findings",
                  seconds_of(state.spent_ms), grouped(s.runs), rate(static_cast<double>(s.runs), state.spent_ms),
                  hours_of(s.virtual_time), grouped(s.features), state.findings.size());
  if (!state.findings.empty())
    text += fmt::format(", the last after {:.1f} s", seconds_of(state.findings.back().after_ms));
  return clip(text, width);
}

}  // namespace lockstep::reports
