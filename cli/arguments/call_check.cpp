// The options of `lockstep check`.

#include <algorithm>
#include <array>
#include <utility>

#include "checker/graphs/state_graph_format.hpp"
#include "cli/arguments/typed.hpp"

namespace lockstep::cli {
namespace {

using scenarios::suggestion;

constexpr std::array<std::string_view, 4> kParameters{"pause", "jump", "skew", "restart_after"};

std::optional<Answer> take_given(const Typed& typed, Call::Check& check) {
  for (const std::string& word : typed.given) {
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(0, sign);
    const auto complain = [&](std::string_view what) {
      return wrong(fmt::format("--given {}: {}", scenarios::in_quotes(word), what), "check");
    };
    if (sign == std::string::npos) return complain("expected a parameter and its value, as in skew=20ms");
    if (std::find(kParameters.begin(), kParameters.end(), name) == kParameters.end())
      return complain(suggestion(name, kParameters));
    const std::optional<sim::Duration> value = sim::parse_duration(word.substr(sign + 1));
    if (!value) return complain(fmt::format("expected a length of time after {}=, such as 20ms", name));
    if (name == check.parameter) return complain("the margin of what is given cannot be looked for");
    const auto is_it = [&](const auto& other) { return other.first == name; };
    if (std::any_of(check.given.begin(), check.given.end(), is_it)) return complain("it is given twice");
    check.given.emplace_back(name, *value);
  }
  return std::nullopt;
}

std::optional<Answer> take_bounds(const Typed& typed, Call::Check& check) {
  if (typed.max_seconds) {
    const std::optional<double> seconds = seconds_of(*typed.max_seconds);
    if (!seconds) {
      return wrong(fmt::format("--max-seconds {}: expected a number of seconds such as 60 or 0.5",
                               scenarios::in_quotes(*typed.max_seconds)),
                   "check");
    }
    check.max_seconds = *seconds;
  }
  if (auto answer = take_bound("--max-traces", typed.max_traces, "check", check.max_traces)) return answer;
  if (auto answer = take_bound("--max-events", typed.max_events, "check", check.max_events)) return answer;
  if (typed.ticks) {
    check.tick = sim::parse_duration(*typed.ticks);
    if (!check.tick || *check.tick <= sim::Duration::zero()) {
      return wrong(
          fmt::format("--ticks {}: expected a duration such as 1ms or 500us", scenarios::in_quotes(*typed.ticks)),
          "check");
    }
  }
  return std::nullopt;
}

/// Options that say something about another search than the one that was asked for.
std::optional<Answer> exclude(const Typed& typed) {
  if (typed.resume && !typed.checkpoint) return wrong("--resume needs --checkpoint FILE: where to go on from", "check");
  if (typed.no_reduction && typed.thorough)
    return wrong("--no-reduction leaves nothing out, so --thorough has no meaning with it", "check");
  if (!typed.ticks) return std::nullopt;
  if (typed.thorough) return wrong("--ticks leaves nothing out, so --thorough has no meaning with it", "check");
  if (typed.no_reduction) return wrong("--ticks reduces nothing, so --no-reduction has no meaning with it", "check");
  if (typed.checkpoint)
    return wrong("--ticks and --checkpoint exclude each other: the grid keeps no checkpoints", "check");
  if (typed.witness)
    return wrong("--ticks and --witness exclude each other: leave --ticks out to get a witness", "check");
  if (typed.margins)
    return wrong("--ticks and --margins-json exclude each other: leave --ticks out to get the margins", "check");
  if (typed.wait_for)
    return wrong("--ticks and --wait-for exclude each other: leave --ticks out to get a deadlock's graph", "check");
  return std::nullopt;
}

}  // namespace

std::variant<Call, Answer> check_call(const Typed& typed, Call call) {
  call.command = Call::Command::check;
  call.files = typed.files;
  call.only_failures = typed.only_failures;
  call.junit = typed.junit;
  Call::Check& check = call.check;
  check.witness = typed.witness;
  check.graph = typed.graph;
  check.margins = typed.margins;
  check.wait_for = typed.wait_for;
  check.checkpoint = typed.checkpoint;
  check.reduction = !typed.no_reduction;
  check.thorough = typed.thorough;
  check.second_opinion = !typed.no_second_opinion;
  check.all = typed.all;
  check.resume = typed.resume;
  check.times = !typed.no_times;
  for (const auto& [option, file] :
       {std::pair("--junit", call.junit), std::pair("--witness", check.witness),
        std::pair("--checkpoint", check.checkpoint), std::pair("--wait-for", check.wait_for),
        std::pair("--margins-json", check.margins)}) {
    if (file && file->empty()) return wrong(fmt::format("{} needs the name of a file", option), "check");
  }
  if (check.graph) {
    const auto format = checker::graph_format_of(*check.graph);
    if (const auto* trouble = std::get_if<std::string>(&format)) return wrong("--graph: " + *trouble, "check");
  }
  if (typed.parameter) {
    check.parameter = *typed.parameter;
    if (std::find(kParameters.begin(), kParameters.end(), check.parameter) == kParameters.end()) {
      return wrong(fmt::format("--parameter {}: {}", scenarios::in_quotes(check.parameter),
                               suggestion(check.parameter, kParameters)),
                   "check");
    }
  }
  if (std::optional<Answer> answer = take_given(typed, check)) return *answer;
  if (std::optional<Answer> answer = take_bounds(typed, check)) return *answer;
  if (std::optional<Answer> answer = exclude(typed)) return *answer;
  if (call.files.empty())
    return wrong("check needs scenario files or directories, e.g. lockstep check scenarios", "check");
  return call;
}

void declare_check(CLI::App& check, Typed& typed) {
  check.set_help_flag();
  check.add_option("files", typed.files);
  check.add_option("--witness", typed.witness)->take_last();
  check.add_option("--graph", typed.graph)->take_last();
  check.add_option("--wait-for", typed.wait_for)->take_last();
  check.add_option("--margins-json", typed.margins)->take_last();
  check.add_option("--parameter", typed.parameter)->take_last();
  check.add_option("--given", typed.given)->allow_extra_args(false);
  check.add_flag("--no-reduction", typed.no_reduction);
  check.add_flag("--thorough", typed.thorough);
  check.add_flag("--no-second-opinion", typed.no_second_opinion);
  check.add_option("--ticks", typed.ticks)->take_last();
  check.add_option("--max-seconds", typed.max_seconds)->take_last();
  check.add_option("--max-traces", typed.max_traces)->take_last();
  check.add_option("--max-events", typed.max_events)->take_last();
  check.add_flag("--all", typed.all);
  check.add_option("--checkpoint", typed.checkpoint)->take_last();
  check.add_flag("--resume", typed.resume);
  check.add_option("--junit", typed.junit)->take_last();
  check.add_flag("--no-times", typed.no_times);
  check.add_flag("--only-failures", typed.only_failures);
}

}  // namespace lockstep::cli
