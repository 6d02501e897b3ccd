#include "checker/graphs/state_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "checker/properties/evidence.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::checker {
namespace {

using Way = std::vector<Constraint>;  ///< a conjunction

/// The ways in which a belief is alive at `moment`; one of them must hold. A deadline that falls into a pause is
/// noticed at its end. That a pause of work began before its `from` is left out: then the answer may be too few, never
/// too many.
std::vector<Way> alive_at(const Belief& belief, sim::Instant moment, std::span<const ExploredFault> faults) {
  Way always{Constraint::at_most(belief.from, moment)};
  for (const auto* ending : {&belief.released, &belief.lost, &belief.crashed}) {
    if (*ending) always.push_back(Constraint::less_than(moment, (*ending)->at));
  }
  if (!belief.deadline) return {always};
  const sim::Instant deadline = belief.deadline->at;
  std::vector<Way> ways{always};
  ways.back().push_back(Constraint::less_than(moment, deadline));
  for (const ExploredFault& fault : faults) {
    if (!freezes(fault.kind) || fault.process != belief.process) continue;
    Way& noticed_late = ways.emplace_back(always);
    noticed_late.push_back(Constraint::at_most(fault.from, deadline));
    noticed_late.push_back(Constraint::less_than(deadline, fault.until));
    noticed_late.push_back(Constraint::less_than(moment, fault.until));
  }
  return ways;
}

bool are_rivals(const Belief& a, const Belief& b) { return a.process != b.process && a.object == b.object; }

/// Whether both can be alive at one moment, besides what the constraints say already of `moment`.
bool can_both_believe(Explorer& explorer, const Belief& a, const Belief& b, sim::Instant moment) {
  DifferenceConstraints& constraints = explorer.constraints();
  for (const Way& one : alive_at(a, moment, explorer.faults())) {
    for (const Way& other : alive_at(b, moment, explorer.faults())) {
      const DifferenceConstraints::Mark mark = constraints.mark();
      const bool feasible = constraints.add_all(one) && constraints.add_all(other);
      constraints.undo(mark);
      if (feasible) return true;
    }
  }
  return false;
}

/// Events up to `position` have been executed when `belief` is alive: in the order of the trace, whatever the times
/// are.
bool is_open_after(const Belief& belief, std::uint32_t position) {
  const sim::Step step = position + 1;
  const auto ended = [&](const std::optional<Ending>& ending) { return ending && ending->step <= step; };
  return belief.from_step <= step && !ended(belief.released) && !ended(belief.lost) && !ended(belief.crashed);
}

/// The trace's own order, as times: each event not before the one in front of it.
bool can_be_in_this_order(DifferenceConstraints& constraints, const std::vector<ExploredEvent>& trace) {
  const DifferenceConstraints::Mark mark = constraints.mark();
  bool feasible = true;
  for (std::size_t i = 1; feasible && i < trace.size(); ++i) {
    feasible = constraints.add_at_most(trace[i - 1].at, trace[i].at);
  }
  constraints.undo(mark);
  return feasible;
}

/// A moment at which the events up to `position` have happened and the others have not. Leaves its constraints behind.
bool add_moment_after(DifferenceConstraints& constraints, const std::vector<ExploredEvent>& trace,
                      std::uint32_t position, sim::Instant moment) {
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    const bool feasible =
        i <= position ? constraints.add_at_most(trace[i].at, moment) : constraints.add_at_most(moment, trace[i].at);
    if (!feasible) return false;
  }
  return true;
}

std::string fault_text(const ExploredFault& fault, const std::string& who) {
  using Place = ExploredFault::Place;
  const sim::FaultWords words = sim::words_of(fault.kind);
  const std::string_view text = fault.place == Place::before   ? words.graph_before
                                : fault.place == Place::within ? words.graph_within
                                                               : words.graph;
  return fmt::format(fmt::runtime(text), fmt::arg("who", who));
}

std::string event_text(const ExploredEvent& event, const Names& names) {
  const std::string who = name_of(names, event.process);
  switch (event.kind) {
    case sim::EventKind::start: return who + " starts";
    case sim::EventKind::message:
      if (event.bounced) return fmt::format("{}.{} gets no answer", who, event.name);
      return event.is_reply ? fmt::format("{}.{} ← {}", who, event.name, name_of(names, event.from))
                            : fmt::format("{}.{} → {}", name_of(names, event.from), event.name, who);
    case sim::EventKind::timer:
      switch (event.timer_kind) {
        case sim::TimerKind::sleep: return who + " sleep over";
        case sim::TimerKind::work: return who + " work done";
        case sim::TimerKind::timeout:
        case sim::TimerKind::deadline: return who + " timeout";
        case sim::TimerKind::tick: return who + " tick";
      }
      break;
    case sim::EventKind::fault: break;  // its name is the fault's
  }
  return "";
}

std::vector<std::string> event_texts(const Explorer& explorer, const std::vector<ExploredEvent>& trace,
                                     const Names& names) {
  std::vector<std::string> texts;
  for (const ExploredEvent& event : trace) texts.push_back(event_text(event, names));
  for (const ExploredFault& fault : explorer.faults()) {
    if (fault.event < texts.size()) texts[fault.event] += fault_text(fault, name_of(names, fault.process));
  }
  return texts;
}

/// What a pending event means for the client: it is its timer, its request, or its answer. Nothing: not for people.
std::string on_its_way(const sim::Event& event, sim::ProcessId client, const Names& names) {
  switch (event.kind) {
    case sim::EventKind::start: return event.process == client ? "not started" : "";
    case sim::EventKind::timer:
      if (event.process != client || event.timer_kind == sim::TimerKind::timeout ||
          event.timer_kind == sim::TimerKind::deadline)
        return "";
      return event.timer_kind == sim::TimerKind::work ? "works" : "sleeps";
    case sim::EventKind::message: {
      if (event.process != client && event.from != client) return "";
      const std::string_view step = event.message->name();
      if (event.bounced) return fmt::format("{} unanswered", step);
      if (event.process == client) return fmt::format("{} ← {}", step, name_of(names, event.from));
      // In a pause: it has not left yet.
      return fmt::format("{} → {}{}", step, name_of(names, event.process), event.frozen ? " (paused)" : "");
    }
    case sim::EventKind::fault: break;
  }
  return "";
}

}  // namespace

StateGraphCollector::StateGraphCollector(StateGraphOptions options) : options_(std::move(options)) {
  graph_.reduced = options_.reduced;
}

void StateGraphCollector::began(const Explorer& explorer) {
  if (path_.empty()) path_.push_back(state_now(explorer));
}

void StateGraphCollector::executed(const Explorer& explorer, std::uint32_t position, bool is_replay) {
  if (is_replay) return;
  assert(path_.size() > position && "every event before this one was seen");
  path_.resize(position + 1);
  path_.push_back(state_now(explorer));
}

std::uint32_t StateGraphCollector::state_now(const Explorer& explorer) {
  const std::vector<Belief> beliefs = collect_beliefs(explorer.world().history());
  std::string label;
  for (const sim::ProcessId client : options_.clients) label += client_line(explorer, client, beliefs) + '\n';
  if (options_.servers) label += options_.servers();
  while (label.ends_with('\n')) label.pop_back();
  const auto [found, is_new] = label_ids_.emplace(std::move(label), static_cast<std::uint32_t>(labels_.size()));
  if (is_new) {
    labels_.push_back(&found->first);
    vertices_.emplace_back();
  }
  return found->second;
}

std::string StateGraphCollector::client_line(const Explorer& explorer, sim::ProcessId client,
                                             const std::vector<Belief>& beliefs) const {
  const sim::World& world = explorer.world();
  std::vector<std::string> parts;
  if (!world.state(client).alive) parts.emplace_back("crashed");
  for (const Belief& belief : beliefs) {
    if (belief.process != client || belief.released || belief.lost || belief.crashed) continue;
    parts.push_back(fmt::format("holds {}{}", belief.object, belief.deadline ? " until its deadline" : ""));
  }
  for (const sim::Operation& operation : world.history().operations) {
    if (operation.process != client || operation.phase != sim::Phase::invoke) continue;
    const bool died = std::any_of(world.history().interruptions.begin(), world.history().interruptions.end(),
                                  [&](const sim::Interruption& i) {
                                    return kills(i.kind) && i.process == client && i.step >= operation.invoked_in;
                                  });
    if (!died) parts.push_back(fmt::format("{} {}", operation.function, operation.object));
  }
  // Sorted: in which order things set out depends on the order of independent events.
  std::vector<std::string> coming;
  for (const std::uint32_t slot : explorer.pending()) {
    std::string text = on_its_way(world.event(slot), client, options_.names);
    if (!text.empty()) coming.push_back(std::move(text));
  }
  std::sort(coming.begin(), coming.end());
  parts.insert(parts.end(), coming.begin(), coming.end());
  if (parts.empty()) parts.emplace_back("done");
  return fmt::format("{}: {}", name_of(options_.names, client), fmt::join(parts, ", "));
}

bool StateGraphCollector::visit(Explorer& explorer) {
  const std::vector<ExploredEvent> trace = explorer.trace();
  assert(path_.size() == trace.size() + 1);
  if (graph_.traces + (graph_.reduced ? 0 : graph_.out_of_order) == options_.traces_max) {
    graph_.bound = fmt::format("more than {} traces", options_.traces_max);
    return false;
  }
  const bool is_ordered = can_be_in_this_order(explorer.constraints(), trace);
  if (!is_ordered) ++graph_.out_of_order;
  if (!is_ordered && !graph_.reduced) return true;

  ++graph_.traces;
  std::vector<std::size_t> path;
  for (const std::uint32_t label : path_) {
    const std::optional<std::size_t> vertex = vertex_of(label);
    if (!vertex) return false;
    path.push_back(*vertex);
  }
  graph_.states[path.front()].initial = true;
  graph_.states[path.front()].possible = true;
  graph_.states[path.back()].end = true;
  DifferenceConstraints& constraints = explorer.constraints();
  for (std::uint32_t i = 0; i < trace.size(); ++i) {
    StateGraph::State& state = graph_.states[path[i + 1]];
    if (state.possible) continue;
    const DifferenceConstraints::Mark mark = constraints.mark();
    const sim::Instant moment(constraints.add_variable(), sim::Duration::zero());
    state.possible = is_ordered || add_moment_after(constraints, trace, i, moment);
    constraints.undo(mark);
  }
  mark_beliefs(explorer, path);
  draw(path, event_texts(explorer, trace, options_.names));
  return true;
}

/// The vertex of a label, new if need be. Nothing: there are too many.
std::optional<std::size_t> StateGraphCollector::vertex_of(std::uint32_t label) {
  if (!vertices_[label]) {
    if (graph_.states.size() == options_.states_max) {
      graph_.bound = fmt::format("more than {} states", options_.states_max);
      return std::nullopt;
    }
    vertices_[label] = graph_.states.size();
    graph_.states.push_back({.label = *labels_[label]});
  }
  return vertices_[label];
}

void StateGraphCollector::mark_beliefs(Explorer& explorer, const std::vector<std::size_t>& path) {
  const std::vector<Belief> beliefs = collect_beliefs(explorer.world().history());
  DifferenceConstraints& constraints = explorer.constraints();
  const std::vector<ExploredEvent> trace = explorer.trace();
  bool is_violating = false;
  for (std::size_t a = 0; a < beliefs.size(); ++a) {
    for (std::size_t b = a + 1; b < beliefs.size(); ++b) {
      if (!are_rivals(beliefs[a], beliefs[b])) continue;
      const DifferenceConstraints::Mark mark = constraints.mark();
      const sim::Instant moment(constraints.add_variable(), sim::Duration::zero());
      const bool can_be = can_both_believe(explorer, beliefs[a], beliefs[b], moment);
      is_violating |= can_be;
      for (std::uint32_t i = 0; can_be && i < trace.size(); ++i) {
        StateGraph::State& state = graph_.states[path[i + 1]];
        if (state.violating || !is_open_after(beliefs[a], i) || !is_open_after(beliefs[b], i)) continue;
        const DifferenceConstraints::Mark before = constraints.mark();
        state.violating = add_moment_after(constraints, trace, i, moment) &&
                          can_both_believe(explorer, beliefs[a], beliefs[b], moment);
        constraints.undo(before);
      }
      constraints.undo(mark);
    }
  }
  if (is_violating) ++graph_.violating_traces;
}

void StateGraphCollector::draw(const std::vector<std::size_t>& path, const std::vector<std::string>& events) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto [found, is_new] =
        transition_of_.emplace(std::tuple(path[i], path[i + 1], events[i]), graph_.transitions.size());
    if (is_new) {
      graph_.transitions.push_back({.from = path[i], .to = path[i + 1], .event = events[i]});
      last_trace_.push_back(0);
    }
    // A path may come to the same place twice: it is one trace all the same.
    if (std::exchange(last_trace_[found->second], graph_.traces) == graph_.traces) continue;
    ++graph_.transitions[found->second].traces;
  }
}

std::vector<std::string> StateGraph::notes() const {
  std::vector<std::string> notes;
  notes.push_back(fmt::format("{}, {}, {}", counted(traces, "trace", "traces"),
                              counted(states.size(), "state", "states"),
                              counted(transitions.size(), "transition", "transitions")));
  if (reduced) {
    notes.emplace_back(
        "one order of independent events for each trace; --no-reduction draws all orders of a tiny world");
    if (out_of_order > 0) {
      notes.push_back(fmt::format("{} drawn in an order that no delays give; dashed states exist only in such orders",
                                  counted(out_of_order, "trace is", "traces are")));
    }
  } else {
    notes.emplace_back("all orders of all events that some delays give");
  }
  if (violating_traces == 0) {
    notes.emplace_back("in none of them can two clients believe at once to hold the same lock");
  } else {
    notes.push_back(fmt::format("in {} two clients can believe at once to hold the same lock",
                                counted(violating_traces, "trace", "traces")));
    if (std::none_of(states.begin(), states.end(), [](const State& s) { return s.violating; })) {
      notes.emplace_back("no state here shows it: the orders that are drawn put one hold after the other");
    }
  }
  if (!bound.empty()) notes.push_back(fmt::format("not all of it: {}", bound));
  return notes;
}

}  // namespace lockstep::checker
