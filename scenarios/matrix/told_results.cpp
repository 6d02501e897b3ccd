#include "scenarios/matrix/told_results.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

#include "checker/properties/properties.hpp"
#include "scenarios/exploring/trace_marks.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::scenarios {
namespace {

using checker::Extent;
using sim::Duration;

void add_number(Writing& out, std::int64_t number) { out.add(static_cast<std::uint64_t>(number)); }
std::int64_t number(Reading& in) { return static_cast<std::int64_t>(in.number()); }

void add(Writing& out, Duration duration) { add_number(out, duration.count_ns()); }
Duration duration(Reading& in) { return Duration::nanoseconds(number(in)); }

void add(Writing& out, const Extent& extent) {
  add(out, extent.value);
  out.add(std::uint64_t{extent.attained});
}
Extent extent(Reading& in) {
  const Duration value = duration(in);
  return {value, in.number() != 0};
}

void add(Writing& out, const std::vector<std::string>& texts) {
  out.add(texts.size());
  for (const std::string& text : texts) out.add(text);
}
std::vector<std::string> texts(Reading& in) {
  std::vector<std::string> all;
  for (std::uint64_t n = in.count(); n > 0; --n) all.push_back(in.text());
  return all;
}

void add(Writing& out, const std::optional<Scenario>& story) {
  out.add(std::uint64_t{story.has_value()});
  if (!story) return;
  out.add(story->file);
  out.add(story->id);
  out.add(to_toml(*story));
}
std::optional<Scenario> story(Reading& in, const models::locks::Catalogue& catalogue) {
  if (in.number() == 0) return std::nullopt;
  const std::string file = in.text();
  std::string id = in.text();
  auto read = parse(in.text(), file, catalogue);
  if (!std::holds_alternative<Scenario>(read)) return std::nullopt;
  Scenario& told = std::get<Scenario>(read);
  told.id = std::move(id);
  return std::move(told);
}

void add(Writing& out, const std::optional<WorstCase>& worst) {
  out.add(std::uint64_t{worst.has_value()});
  if (!worst) return;
  add(out, worst->longest);
  out.add(std::uint64_t{worst->is_exact});
  add(out, worst->shown);
  add(out, worst->run);
}
std::optional<WorstCase> worst_case(Reading& in, const models::locks::Catalogue& catalogue) {
  if (in.number() == 0) return std::nullopt;
  WorstCase worst;
  worst.longest = duration(in);
  worst.is_exact = in.number() != 0;
  worst.shown = duration(in);
  worst.run = story(in, catalogue);
  return worst;
}

void add(Writing& out, const std::vector<Threshold>& thresholds) {
  out.add(thresholds.size());
  for (const Threshold& threshold : thresholds) {
    out.add(threshold.parameter);
    add(out, threshold.infimum);
    out.add(std::uint64_t{threshold.is_exact});
    out.add(threshold.values.size());
    for (const checker::ValueInterval& interval : threshold.values) {
      add(out, interval.least);
      add(out, interval.greatest);
    }
    add(out, threshold.range.lo);
    add(out, threshold.range.hi);
    out.add(std::uint64_t{threshold.is_downward});
    out.add(threshold.together_with.size());
    for (const std::string& other : threshold.together_with) out.add(other);
    out.add(std::uint64_t{threshold.alone.has_value()});
    if (threshold.alone) add(out, *threshold.alone);
  }
}
std::vector<Threshold> thresholds(Reading& in) {
  std::vector<Threshold> all;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    Threshold& threshold = all.emplace_back(Threshold{in.text(), extent(in)});
    threshold.is_exact = in.number() != 0;
    for (std::uint64_t m = in.count(); m > 0; --m) {
      const Extent least = extent(in);
      threshold.values.push_back({least, extent(in)});
    }
    threshold.range.lo = duration(in);
    threshold.range.hi = duration(in);
    threshold.is_downward = in.number() != 0;
    for (std::uint64_t m = in.count(); m > 0; --m) threshold.together_with.push_back(in.text());
    if (in.number() != 0) threshold.alone = extent(in);
  }
  return all;
}

void add(Writing& out, const checker::Frontier& frontier) {
  out.add(frontier.axes().size());
  for (const checker::FrontierAxis& axis : frontier.axes()) {
    out.add(axis.name);
    add(out, axis.range.lo);
    add(out, axis.range.hi);
    out.add(std::uint64_t{axis.is_upward});
    out.add(std::uint64_t{axis.is_below});
  }
  std::ostringstream pieces;
  frontier.write(pieces);
  out.add(pieces.str());
}
checker::Frontier frontier(Reading& in) {
  std::vector<checker::FrontierAxis> axes;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    checker::FrontierAxis& axis = axes.emplace_back();
    axis.name = in.text();
    axis.range.lo = duration(in);
    axis.range.hi = duration(in);
    axis.is_upward = in.number() != 0;
    axis.is_below = in.number() != 0;
  }
  checker::Frontier told(std::move(axes));
  std::istringstream pieces(in.text());
  if (!told.read(pieces)) in.refuse();
  return told;
}

void add(Writing& out, const ExploredProperty& property) {
  out.add(std::string(property.name));
  out.add(static_cast<std::uint64_t>(property.verdict));
  out.add(property.why);
  out.add(property.violating_traces);
  add(out, property.by);
  out.add(property.waits.size());
  for (const checker::WaitFor& wait : property.waits) {
    out.add(std::uint64_t{wait.waiter.index});
    out.add(std::uint64_t{wait.holder.index});
    out.add(wait.object);
  }
  add(out, property.thresholds);
  out.add(property.frontier);
  add(out, property.region);
  out.add(std::uint64_t{property.is_region_exact});
  add(out, property.witness);
  add(out, property.worst);
  out.add(property.unconfirmed);
  out.add(std::uint64_t{property.applies});
  out.add(std::uint64_t{property.is_disputed});
}
ExploredProperty read_property(Reading& in, const models::locks::Catalogue& catalogue) {
  ExploredProperty property;
  const checker::Property* known = checker::find_property(in.text());
  if (known != nullptr) property.name = known->name;
  property.verdict = static_cast<checker::Verdict>(in.number());
  property.why = in.text();
  property.violating_traces = in.number();
  property.by = texts(in);
  for (std::uint64_t n = in.count(); n > 0; --n) {
    checker::WaitFor& wait = property.waits.emplace_back();
    wait.waiter.index = static_cast<std::uint16_t>(in.small());
    wait.holder.index = static_cast<std::uint16_t>(in.small());
    wait.object = in.text();
  }
  property.thresholds = thresholds(in);
  property.frontier = in.text();
  property.region = frontier(in);
  property.is_region_exact = in.number() != 0;
  property.witness = story(in, catalogue);
  property.worst = worst_case(in, catalogue);
  property.unconfirmed = in.text();
  property.applies = in.number() != 0;
  property.is_disputed = in.number() != 0;
  return property;
}

}  // namespace

void add(Writing& out, const Diagnostic& diagnostic) {
  out.add(diagnostic.file);
  out.add(diagnostic.at.line);
  out.add(diagnostic.at.column);
  out.add(diagnostic.message);
  out.add(static_cast<std::uint64_t>(diagnostic.kind));
  out.add(diagnostic.others.size());
  for (const Diagnostic& other : diagnostic.others) add(out, other);
}
Diagnostic read_diagnostic(Reading& in) {
  Diagnostic diagnostic;
  diagnostic.file = in.text();
  diagnostic.at.line = in.small();
  diagnostic.at.column = in.small();
  diagnostic.message = in.text();
  diagnostic.kind = static_cast<Diagnostic::Kind>(in.number());
  for (std::uint64_t n = in.count(); n > 0; --n) diagnostic.others.push_back(read_diagnostic(in));
  return diagnostic;
}

void add(Writing& out, const Exploration& exploration) {
  const checker::ExplorerCounts& counts = exploration.counts;
  for (const std::uint64_t n : {counts.traces, counts.blocked, counts.infeasible, counts.events,
                                std::uint64_t{counts.complete}, std::bit_cast<std::uint64_t>(exploration.seconds),
                                exploration.unconfirmed, exploration.disagreements, exploration.random_runs}) {
    out.add(n);
  }
  out.add(exploration.bound);
  out.add(exploration.properties.size());
  for (const ExploredProperty& property : exploration.properties) add(out, property);
  out.add(exploration.marks.size());
  for (const Mark& mark : exploration.marks) {
    out.add(std::string(mark.name));
    out.add(mark.traces);
  }
  out.add(exploration.idle.size());
  for (const Idle& idle : exploration.idle) {
    for (const std::uint64_t n :
         {static_cast<std::uint64_t>(idle.why), std::uint64_t{idle.number}, std::uint64_t{idle.is_server}})
      out.add(n);
  }
  out.add(exploration.alike.size());
  for (const std::vector<std::string>& names : exploration.alike) add(out, names);
  add(out, exploration.script_mistakes);
  out.add(exploration.mistake);
}
Exploration read_exploration(Reading& in, const models::locks::Catalogue& catalogue) {
  Exploration exploration;
  checker::ExplorerCounts& counts = exploration.counts;
  counts.traces = in.number();
  counts.blocked = in.number();
  counts.infeasible = in.number();
  counts.events = in.number();
  counts.complete = in.number() != 0;
  exploration.seconds = std::bit_cast<double>(in.number());
  exploration.unconfirmed = in.number();
  exploration.disagreements = in.number();
  exploration.random_runs = in.number();
  exploration.bound = in.text();
  for (std::uint64_t n = in.count(); n > 0; --n) exploration.properties.push_back(read_property(in, catalogue));
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const std::string name = in.text();
    const auto& names = TraceMarks::names();
    const auto known = std::find_if(names.begin(), names.end(), [&](const auto& both) { return both.first == name; });
    const std::uint64_t traces = in.number();
    if (known != names.end()) exploration.marks.push_back({known->first, traces, known->second});
  }
  for (std::uint64_t n = in.count(); n > 0; --n) {
    const auto why = static_cast<Idle::Why>(in.number());
    const std::uint64_t number = in.number();
    exploration.idle.push_back({why, number, in.number() != 0});
  }
  for (std::uint64_t n = in.count(); n > 0; --n) exploration.alike.push_back(texts(in));
  exploration.script_mistakes = texts(in);
  exploration.mistake = in.text();
  return exploration;
}

void add(Writing& out, const std::vector<MatrixAnswer>& answers) {
  out.add(answers.size());
  for (const MatrixAnswer& answer : answers) {
    out.add(static_cast<std::uint64_t>(answer.question - matrix_questions().data()));
    for (const std::uint64_t n : {static_cast<std::uint64_t>(answer.ground), std::uint64_t{answer.clients},
                                  answer.traces, answer.traces_of_three, answer.runs}) {
      out.add(n);
    }
    add(out, answer.thresholds);
    out.add(answer.why);
    add(out, answer.witness);
  }
}
std::vector<MatrixAnswer> read_answers(Reading& in, const models::locks::Catalogue& catalogue) {
  std::vector<MatrixAnswer> answers;
  for (std::uint64_t n = in.count(); n > 0; --n) {
    MatrixAnswer& answer = answers.emplace_back();
    answer.question = &matrix_questions()[in.number() % matrix_questions().size()];
    answer.ground = static_cast<MatrixAnswer::Ground>(in.number());
    answer.clients = in.number();
    answer.traces = in.number();
    answer.traces_of_three = in.number();
    answer.runs = in.number();
    answer.thresholds = thresholds(in);
    answer.why = in.text();
    answer.witness = story(in, catalogue);
  }
  return answers;
}

}  // namespace lockstep::scenarios
