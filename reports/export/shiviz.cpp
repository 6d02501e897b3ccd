#include "reports/export/shiviz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "reports/export/causality.hpp"
#include "reports/text/text.hpp"

namespace lockstep::reports {
namespace {

/// How many events of each process an event knows of, by process; the missing ones: none.
using VectorClock = std::map<sim::ProcessId, std::uint64_t>;

void merge(VectorClock& into, const VectorClock& other) {
  for (const auto& [process, count] : other) {
    std::uint64_t& own = into[process];
    own = std::max(own, count);
  }
}

/// Of each event. Fidge and Mattern's rules: an event knows what its causes know, and itself.
std::vector<VectorClock> vector_clocks(const Causality& causality) {
  std::vector<std::vector<std::size_t>> causes(causality.events.size());
  for (const CausalEdge& edge : causality.edges) causes[edge.to].push_back(edge.from);
  std::vector<VectorClock> clocks(causality.events.size());
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    for (const std::size_t cause : causes[i]) merge(clocks[i], clocks[cause]);
    ++clocks[i][causality.events[i].process];
  }
  return clocks;
}

/// ShiViz keeps hosts as the keys of JavaScript objects, which have these already.
bool is_taken_in_javascript(std::string_view name) {
  constexpr std::string_view kTaken[] = {"constructor",    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
                                         "toLocaleString", "toString",       "valueOf",       "__proto__"};
  return std::find(std::begin(kTaken), std::end(kTaken), name) != std::end(kTaken);
}

/// Without blanks, quotes and backslashes, and each different from all others: "A", "A.2".
std::vector<std::string> host_names(const scenarios::Outcome& outcome) {
  std::vector<std::string> names;
  for (const scenarios::Lane& lane : outcome.lanes) {
    std::string name = printable(lane.name);
    for (char& c : name) {
      if (c == ' ' || c == '"' || c == '\\') c = '_';
    }
    if (name.empty() || is_taken_in_javascript(name)) name += '_';
    std::string unique = name;
    for (int n = 2; std::find(names.begin(), names.end(), unique) != names.end(); ++n)
      unique = fmt::format("{}.{}", name, n);
    names.push_back(std::move(unique));
  }
  return names;
}

}  // namespace

std::string shiviz_log(const Story& story) {
  const Causality causality = causality_of(story);
  const std::vector<VectorClock> clocks = vector_clocks(causality);
  const std::vector<std::string> hosts = host_names(story.outcome);
  std::string log = "(?<host>\\S*) (?<clock>{.*})\\n(?<event>.*)\n\n";
  for (std::size_t i = 0; i < clocks.size(); ++i) {
    const CausalEvent& event = causality.events[i];
    std::string clock;
    for (const auto& [process, count] : clocks[i])
      clock += fmt::format("{}\"{}\":{}", clock.empty() ? "" : ", ", hosts.at(process.index), count);
    log += fmt::format("{} {{{}}}\n{} {}\n", hosts.at(event.process.index), clock, time_text(event.at), event.text);
  }
  return log;
}

}  // namespace lockstep::reports
