#include "scenarios/witness/witness.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "scenarios/deployment/partition_sides.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/story/empty_witness.hpp"
#include "scenarios/story/step_name.hpp"
#include "scenarios/witness/witness_replay.hpp"
#include "scenarios/witness/witness_story.hpp"
#include "scenarios/witness/witness_times.hpp"
#include "sim/schedules/schedule.hpp"

namespace lockstep::scenarios {
namespace {

using checker::ExploredEvent;
using checker::ExploredFault;
using sim::Duration;
using Place = ExploredFault::Place;
using What = sim::EventName::What;

/// Where a pause within work begins: any moment of the work will do for the work, but not for a deadline that is to
/// fall into it.
enum class Within : std::uint8_t { where_asked, as_late_as_possible, as_early_as_possible };

std::string& name_in(Scenario& scenario, sim::ProcessId process) {
  const std::size_t clients = scenario.clients.size();
  const std::size_t others = clients + scenario.servers.size();
  if (process.index >= others) return scenario.sentinels->each[process.index - others].name;
  return process.index < clients ? scenario.clients[process.index].name
                                 : scenario.servers[process.index - clients].name;
}

ClockSpec& clock_in(Scenario& scenario, sim::ProcessId process) {
  const std::size_t clients = scenario.clients.size();
  const std::size_t others = clients + scenario.servers.size();
  if (process.index >= others) return scenario.sentinels->each[process.index - others].clock;
  return process.index < clients ? scenario.clients[process.index].clock
                                 : scenario.servers[process.index - clients].clock;
}

/// Builds the story of one trace at given times.
class Builder {
 public:
  Builder(const Scenario& original, const ExploredTrace& trace, const WitnessTimes& times,
          std::span<const checker::WorkPauses> work_pauses, Within within)
      : trace_(trace), times_(times), work_pauses_(work_pauses), within_(within), witness_(empty_witness(original)) {
    for (const ExploredFault& fault : trace.faults) {
      if (is_from_the_start(fault.kind)) clock_in(witness_, fault.process).offset += amount(fault);
    }
  }

  /// The world in which the trace can be replayed: [[may]] still says what its faults keep.
  const Scenario& world() const { return witness_; }

  Scenario operator()(const Replay& replayed) {
    for (std::size_t i = 0; i < trace_.faults.size(); ++i) add_fault(i, replayed);
    add_schedule(replayed);
    witness_.may.clear();
    return std::move(witness_);
  }

 private:
  /// A fault that is an event of its own, and after which event of its process.
  struct OwnEvent {
    Duration at;
    std::uint32_t after;  ///< position; `no_cause`: before all of them
    What what;
    sim::ProcessId process;
  };

  Duration amount(const ExploredFault& fault) const {
    return fault.parameter ? times_.parameters[*fault.parameter] : fault.by;
  }

  /// When it comes back: a start that was planned before the crash, and finds its process dead, is none.
  Duration restart_of(const ExploredFault& fault) const {
    for (const ExploredEvent& event : trace_.events) {
      if (event.kind == sim::EventKind::start && event.cause == fault.event) return times_.of(event.at);
    }
    return times_.of(fault.until);
  }

  /// What a run adds to `restart_after` of this process.
  Duration delay_of_restart(sim::ProcessId process) const {
    const std::size_t first_server = witness_.clients.size();
    const bool is_server = process.index >= first_server && process.index - first_server < witness_.servers.size();
    return is_server ? witness_.servers[process.index - first_server].restart_delay : Duration::zero();
  }

  std::uint32_t before_at_process(std::uint32_t position) const {
    for (std::uint32_t i = position; i-- > 0;) {
      if (trace_.events[i].process == trace_.events[position].process) return i;
    }
    return ExploredEvent::no_cause;
  }

  void add_fault(std::size_t index, const Replay& replayed) {
    const ExploredFault& fault = trace_.faults[index];
    FaultSpec spec;
    // A message may also be lost by the resource, which has no name here.
    spec.kind = fault.kind;
    if (strikes_process(fault.kind)) spec.who = name_in(witness_, fault.process);
    switch (sim::entry_of(fault.kind).explored) {
      case sim::Explored::from_the_start: return;
      case sim::Explored::at_events: add_pause(fault, std::move(spec), replayed); return;
      case sim::Explored::own_event:
        spec.trigger.time = times_.of(fault.from);
        spec.keep = fault.budget < witness_.may.size() && witness_.may[fault.budget].keep;
        if (fault.restarts) {
          spec.restart_after =
              sim::DurationRange::exactly(restart_of(fault) - times_.of(fault.from) - delay_of_restart(fault.process));
        }
        if (moves_clock(fault.kind)) spec.by = sim::DurationRange::exactly(amount(fault));
        break;
      case sim::Explored::between_sides: {
        spec.trigger.time = times_.of(fault.from);
        spec.length = sim::DurationRange::exactly(times_.of(fault.until) - times_.of(fault.from));
        const PartitionSides sides = partition_sides(witness_, witness_.may[fault.budget])[fault.side];
        spec.between = {sides.left, sides.right};
        break;
      }
      case sim::Explored::on_messages: {
        const std::optional<LostMessage>& lost = replayed.lost[index];
        if (!lost) return;
        if (delays_message(fault.kind)) {
          spec.length = sim::DurationRange::exactly(times_.of(fault.until) - times_.of(fault.from));
          if (spec.length.lo == Duration::zero()) return;
        }
        spec.who = name_in(witness_, lost->name.process);
        spec.trigger = {.kind = Trigger::Kind::sent,
                        .time = {},
                        .step = step_in_file(lost->name.step),
                        .occurrence = lost->occurrence};
        const bool is_reply = lost->name.what == What::reply;
        spec.direction = is_reply ? FaultSpec::Direction::reply : FaultSpec::Direction::request;
        break;
      }
    }
    witness_.faults.push_back(std::move(spec));
  }

  void add_pause(const ExploredFault& fault, FaultSpec spec, const Replay& replayed) {
    spec.length = sim::DurationRange::exactly(times_.of(fault.until) - times_.of(fault.from));
    if (spec.length.lo == Duration::zero()) return;
    const ReplayedEvent& event = replayed.events[fault.event];
    if (fault.place == Place::after && !fault.is_further && !event.step.empty()) {
      spec.trigger = {
          .kind = Trigger::Kind::after, .time = {}, .step = step_in_file(event.step), .occurrence = event.occurrence};
      witness_.faults.push_back(std::move(spec));
      return;
    }
    // Nothing that was sent before is held back, so a moment says it all.
    const std::uint32_t after = fault.place == Place::after ? fault.event : before_at_process(fault.event);
    spec.trigger.time = times_.of(fault.from);
    if (fault.place == Place::within) spec.trigger.time = begin_within_work(fault, after);
    own_.push_back({spec.trigger.time, after, sim::EventName::of(fault.kind), fault.process});
    witness_.faults.push_back(std::move(spec));
  }

  /// When a pause within work begins: at the end of the work without it; where its violation asks for it; or as early
  /// as it can. Several follow each other.
  Duration begin_within_work(const ExploredFault& fault, std::uint32_t after) const {
    Duration begin = times_.of(trace_.events[fault.event].arrived);
    if (within_ == Within::as_early_as_possible) {
      begin = times_.of(trace_.events[fault.event].base);
      if (after != ExploredEvent::no_cause) begin = std::max(begin, times_.of(trace_.events[after].at));
    }
    for (const checker::WorkPauses& asked : work_pauses_) {
      if (asked.event == fault.event && within_ == Within::where_asked) begin = times_.of(asked.begin);
    }
    // `arrived` is when the first of them would begin if all came last.
    return begin + (times_.of(fault.from) - times_.of(trace_.events[fault.event].arrived));
  }

  /// Every event of the trace in the order of the replay, and the pauses that are events where they belong.
  void add_schedule(const Replay& replayed) {
    std::vector<ScheduleEntry>& schedule = witness_.schedule;
    std::vector<bool> is_placed(own_.size(), false);
    // Faults that strike at a given time are numbered in the order of the file.
    std::vector<std::int64_t> numbers(own_.size(), 0);
    for (std::size_t i = 0; i < own_.size(); ++i) {
      numbers[i] = 1 + std::count_if(own_.begin(), own_.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const OwnEvent& o) { return o.process == own_[i].process; });
    }
    const auto place = [&](std::size_t i) {
      is_placed[i] = true;
      ScheduleEntry& entry = schedule.emplace_back();
      entry.time = own_[i].at;
      entry.what = own_[i].what;
      entry.process = name_in(witness_, own_[i].process);
      entry.occurrence = numbers[i];
    };
    std::vector<bool> is_done(trace_.events.size(), false);
    // Those whose time has come: before everything later, and before whatever their process does next.
    const auto place_until = [&](Duration now, sim::ProcessId next) {
      while (true) {
        std::optional<std::size_t> first;
        for (std::size_t i = 0; i < own_.size(); ++i) {
          const bool is_free = own_[i].after == ExploredEvent::no_cause || is_done[own_[i].after];
          const bool is_due = own_[i].at < now || (own_[i].at == now && own_[i].process == next);
          if (!is_placed[i] && is_free && is_due && (!first || own_[i].at < own_[*first].at)) first = i;
        }
        if (!first) return;
        place(*first);
      }
    };
    for (const std::uint32_t position : replayed.order) {
      const ExploredEvent& event = trace_.events[position];
      const Duration at = times_.of(event.at);
      place_until(at, event.process);
      is_done[position] = true;
      if (const std::optional<sim::EventName>& name = replayed.events[position].name) {
        if (strikes_nobody(position)) continue;
        schedule.push_back(entry_of(*name, at));
        schedule.back().choices = replayed.events[position].choices;
      }
    }
    place_until(Duration::forever(), {});
    for (const sim::EventName& name : replayed.called_off)
      schedule.push_back(entry_of(name, sim::ScheduledEvent::never));
  }

  /// A crash of a process that is dead already: a fault of the trace, but none of the story.
  bool strikes_nobody(std::uint32_t position) const {
    return trace_.events[position].kind == sim::EventKind::fault &&
           std::none_of(trace_.faults.begin(), trace_.faults.end(), [&](const ExploredFault& fault) {
             return fault.event == position && is_own_event(fault.kind);
           });
  }

  ScheduleEntry entry_of(const sim::EventName& name, Duration at) {
    ScheduleEntry entry;
    entry.time = at;
    entry.what = name.what;
    entry.process = name_in(witness_, name.process);
    entry.occurrence = name.occurrence;
    if (!sim::EventName::is_of_request(name.what)) {
      // The numbers of faults at given times: by order of the file, which is that of the trace's faults.
      if (sim::EventName::is_fault(name.what)) entry.occurrence = ++struck_[{name.process, name.what}];
      return entry;
    }
    entry.step = step_in_file(name.step);
    const std::size_t first_server = witness_.clients.size();
    const bool is_at_server = name.server.index < first_server + witness_.servers.size();
    if (is_at_server && witness_.servers.size() > 1) {
      entry.server = name_in(witness_, name.server);
      entry.occurrence = name.occurrence_at_server;
    }
    return entry;
  }

  const ExploredTrace& trace_;
  const WitnessTimes& times_;
  std::span<const checker::WorkPauses> work_pauses_;
  Within within_;
  Scenario witness_;
  std::vector<OwnEvent> own_;
  std::map<std::pair<sim::ProcessId, What>, std::int64_t> struck_;
};

const Judgement* find_judgement(const Outcome& outcome, std::string_view property) {
  for (const Judgement& judgement : outcome.properties) {
    if (judgement.finding.property == property) return &judgement;
  }
  return nullptr;
}

bool is_known(checker::Verdict verdict) {
  return verdict == checker::Verdict::holds || verdict == checker::Verdict::violated;
}

/// Whether the run shows the violation; else why not.
std::optional<std::string> objection(const Outcome& outcome, std::string_view property, std::vector<std::string> wanted,
                                     std::vector<std::string>& by) {
  const Judgement* judgement = find_judgement(outcome, property);
  if (judgement == nullptr || judgement->finding.verdict != checker::Verdict::violated) {
    return fmt::format("run says that {} {}: {}", property,
                       judgement == nullptr ? "is not judged" : checker::to_string(judgement->finding.verdict),
                       judgement == nullptr ? "" : judgement->finding.why);
  }
  if (!outcome.notes.empty()) return outcome.notes.front();
  by.clear();
  for (const sim::ProcessId process : judgement->finding.by) by.push_back(outcome.lanes[process.index].name);
  std::vector<std::string> observed = by;
  std::sort(observed.begin(), observed.end());
  std::sort(wanted.begin(), wanted.end());
  if (wanted.empty() || observed == wanted) return std::nullopt;
  return "run blames others: " + judgement->finding.why;
}

}  // namespace

std::variant<Witness, Unconfirmed> confirm(Scenario candidate, const Scenario& original,
                                           const models::locks::Catalogue& catalogue, std::string_view property,
                                           const std::vector<std::string>& by) {
  Witness witness{std::move(candidate), "", {}, ""};
  Scenario& story = witness.scenario;

  // How long the lock stays away is told of `recoverable` alone.
  const RunOptions to_tell{.trace = true, .brief = property != "recoverable"};
  auto first = run(story, catalogue, to_tell);
  if (const auto* trouble = std::get_if<Diagnostic>(&first)) return Unconfirmed{trouble->to_string(), to_toml(story)};
  const Judgement* judgement = find_judgement(std::get<Outcome>(first), property);
  if (judgement != nullptr && !is_known(judgement->finding.verdict))
    return Unconfirmed{.reason = judgement->finding.why, .text = {}, .is_left_open = true};
  if (auto reason = objection(std::get<Outcome>(first), property, by, witness.by)) {
    return Unconfirmed{*std::move(reason), to_toml(story)};
  }
  const checker::Finding& finding = judgement->finding;
  witness.why = finding.why;
  witness.waits = finding.waits;
  Expectation& expectation = story.expect_run.emplace_back();
  expectation.property = property;
  expectation.verdict = checker::Verdict::violated;
  expectation.violated_by = witness.by;
  tell(story, original, std::get<Outcome>(first), property);

  // The file as people get it is what has to show it.
  witness.text = to_toml(story);
  auto parsed = parse(witness.text, story.file, catalogue, &story.lock.own, Programs::taken);
  if (const auto* trouble = std::get_if<Diagnostic>(&parsed)) return Unconfirmed{trouble->to_string(), witness.text};
  Scenario& read = std::get<Scenario>(parsed);
  read.programs = story.programs;
  auto second = run(read, catalogue, {.brief = true});
  if (const auto* trouble = std::get_if<Diagnostic>(&second)) return Unconfirmed{trouble->to_string(), witness.text};
  if (!std::get<Outcome>(second).as_expected)
    return Unconfirmed{"run does not show what it showed before", witness.text};
  return witness;
}

std::variant<Scheduled, std::string> scheduled(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                               const ExploredTrace& trace,
                                               const std::vector<checker::Constraint>& constraints) {
  const std::optional<WitnessTimes> times = witness_times(trace, {.property = "", .constraints = constraints});
  if (!times) return "there are no times in whole nanoseconds for it";
  Builder build(scenario, trace, *times, {}, Within::where_asked);
  auto replayed = replay(build.world(), catalogue, trace, *times);
  if (auto* trouble = std::get_if<std::string>(&replayed)) return std::move(*trouble);
  Scheduled result{build(std::get<Replay>(replayed)), {}};
  for (const ExploredEvent& event : trace.events) result.at.push_back(times->of(event.at));
  Scenario& story = result.scenario;
  story.id = scenario.id, story.file = scenario.file, story.source = scenario.source;
  story.title = scenario.title, story.story = scenario.story, story.lesson = scenario.lesson;
  return result;
}

namespace {

std::variant<Witness, Unconfirmed> attempt(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                           const ExploredTrace& trace, const WitnessTimes& times,
                                           const Violation& violation, Within within) {
  Builder build(scenario, trace, times, violation.pauses, within);
  auto replayed = replay(build.world(), catalogue, trace, times);
  if (const auto* trouble = std::get_if<std::string>(&replayed)) return Unconfirmed{*trouble, ""};
  return confirm(build(std::get<Replay>(replayed)), scenario, catalogue, violation.property, violation.by);
}

}  // namespace

std::variant<Witness, Unconfirmed> make_witness(const Scenario& scenario, const models::locks::Catalogue& catalogue,
                                                const ExploredTrace& trace, const Violation& violation) {
  const std::optional<WitnessTimes> times = witness_times(trace, violation);
  if (!times) return Unconfirmed{"there are no times in whole nanoseconds for it", ""};
  auto result = attempt(scenario, catalogue, trace, *times, violation, Within::where_asked);
  const bool has_within = std::any_of(trace.faults.begin(), trace.faults.end(),
                                      [](const ExploredFault& fault) { return fault.place == Place::within; });
  for (const Within other : {Within::as_late_as_possible, Within::as_early_as_possible}) {
    if (std::holds_alternative<Witness>(result) || !has_within) break;
    auto again = attempt(scenario, catalogue, trace, *times, violation, other);
    if (std::holds_alternative<Witness>(again)) result = std::move(again);
  }
  if (auto* unconfirmed = std::get_if<Unconfirmed>(&result)) unconfirmed->has_close_moments = times->has_close_moments;
  return result;
}

}  // namespace lockstep::scenarios
