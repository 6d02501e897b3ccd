#include "scenarios/running/run_recorder.hpp"

#include <algorithm>
#include <cassert>

#include "scenarios/deployment/fault_step.hpp"
#include "scenarios/story/empty_witness.hpp"
#include "scenarios/story/step_name.hpp"
#include "sim/schedules/schedule.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::Instant;
using sim::ProcessId;
using What = sim::EventName::What;

}  // namespace

RunRecorder::RunRecorder(const Scenario& scenario, Deployment& deployment)
    : scenario_(scenario), deployment_(deployment), world_(deployment.world()), names_(deployment.names()) {
  world_.set_scheduler(*this);
}

RunRecorder::~RunRecorder() { world_.set_scheduler(deployment_.simulation()); }

void RunRecorder::begin(bool writes) {
  writes_ = writes;
  works_.clear();
  if (!writes) return;
  namer_.restart();
  named_.clear();
  sent_.clear();
  reached_.clear();
  struck_.clear();
  present_.reset();
  listed_.reset();
  with_next_.clear();
  faults_.clear();
  schedule_.clear();
  called_off_.clear();
  offsets_.clear();
  delays_.clear();
}

std::optional<Instant> RunRecorder::at_work_since(ProcessId process) const {
  for (const std::uint32_t slot : works_) {
    if (world_.event(slot).process == process) return world_.event(slot).base;
  }
  return std::nullopt;
}

// --- What the fate says.

void RunRecorder::happens(std::uint32_t slot, Instant moment) {
  const sim::Event& event = world_.event(slot);
  if (event.is_work()) std::erase(works_, slot);
  // What concerns no process, such as a planned partition, is no step of anybody.
  if (!writes_ || !event.process.is_valid()) return;
  finish_present();
  present_ = Present{.process = event.process,
                     .at = moment.offset(),
                     .step = fault_step(world_, event),
                     .is_start = event.kind == sim::EventKind::start,
                     .was_alive = world_.state(event.process).alive,
                     .pauses = std::move(with_next_)};
  with_next_.clear();
  // What the process of an earlier life had set does nothing, whenever it comes. Not so who crashed before he started:
  // in a file he could start sooner.
  const bool is_of_earlier_life =
      event.kind == sim::EventKind::timer && event.incarnation != world_.state(event.process).incarnation;
  const std::optional<sim::EventName>& name = named_[slot].name;
  listed_.reset();
  if (!name || is_of_earlier_life) return;
  listed_ = schedule_.size();
  schedule_.push_back(entry_of(*name, moment.offset()));
}

void RunRecorder::is_off(ProcessId process, Duration by) {
  if (writes_) offsets_.emplace_back(process, by);
}

void RunRecorder::struck(const sim::PlannedFault& fault, Duration length, Instant moment) {
  if (!writes_) return;
  finish_present();
  FaultSpec& spec = faults_.emplace_back();
  spec.who = names_[fault.process.index];
  spec.trigger.time = moment.offset();
  spec.kind = fault.kind;
  spec.keep = fault.keep;
  spec.restart_after = fault.restart_after;
  if (sim::DurationRange* own = length_of(spec)) *own = sim::DurationRange::exactly(length);
  listed_ = schedule_.size();
  add_own_event(sim::EventName::of(fault.kind), fault.process, moment.offset());
}

void RunRecorder::struck_with_next(const sim::PlannedFault& fault) {
  if (!writes_) return;
  FaultSpec& spec = faults_.emplace_back();
  spec.kind = fault.kind;
  spec.who = names_[fault.process.index];
  spec.length = sim::DurationRange::exactly(fault.length);
  with_next_.push_back(faults_.size() - 1);
}

void RunRecorder::loses_message(std::uint32_t slot) { strikes_message(FaultSpec::Kind::lose, slot, {}); }

void RunRecorder::delays_last(Duration length) { strikes_message(FaultSpec::Kind::delay, last_emitted_, length); }

void RunRecorder::separates(const sim::Sides& sides, Instant moment, Duration length) {
  if (!writes_) return;
  FaultSpec& spec = faults_.emplace_back();
  spec.kind = FaultSpec::Kind::partition;
  spec.trigger.time = moment.offset();
  spec.length = sim::DurationRange::exactly(length);
  for (const std::vector<ProcessId>* side : {&sides.left, &sides.right}) {
    std::vector<std::string>& names = spec.between.emplace_back();
    for (const ProcessId process : *side) names.push_back(names_[process.index]);
  }
}

void RunRecorder::strikes_message(FaultSpec::Kind kind, std::uint32_t slot, Duration length) {
  if (!writes_ || !named_[slot].name) return;
  const Named& message = named_[slot];
  FaultSpec& spec = faults_.emplace_back();
  spec.kind = kind;
  spec.length = sim::DurationRange::exactly(length);
  spec.who = names_[message.name->process.index];
  spec.trigger = {.kind = Trigger::Kind::sent,
                  .time = {},
                  .step = step_in_file(message.name->step),
                  .occurrence = message.occurrence};
  const bool is_reply = message.name->what == What::reply;
  spec.direction = is_reply ? FaultSpec::Direction::reply : FaultSpec::Direction::request;
}

/// A pause that began with an event strikes `after` its step, so that what it sends is kept back. If it is none, it
/// sends nothing, and any moment after it will do.
void RunRecorder::finish_present() {
  if (!present_) return;
  const Present present = *std::move(present_);
  present_.reset();
  const bool did_happen =
      present.is_start ? world_.state(present.process).alive : present.was_alive && !present.was_bounced;
  const bool is_step = !present.step.empty() && did_happen;
  const std::int64_t occurrence = is_step ? ++reached_[{present.process, present.step}] : 0;
  for (const std::size_t pause : present.pauses) {
    Trigger& trigger = faults_[pause].trigger;
    trigger.time = present.at;
    if (is_step) {
      trigger = {
          .kind = Trigger::Kind::after, .time = {}, .step = step_in_file(present.step), .occurrence = occurrence};
    } else {
      add_own_event(sim::EventName::of(faults_[pause].kind), present.process, present.at);
    }
  }
}

/// Faults that strike at a given time are numbered in the order of the file, which is that in which they struck.
void RunRecorder::add_own_event(What what, ProcessId process, Duration at) {
  ScheduleEntry& entry = schedule_.emplace_back();
  entry.time = at;
  entry.what = what;
  entry.process = names_[process.index];
  entry.occurrence = ++struck_[{process, what}];
}

ScheduleEntry RunRecorder::entry_of(const sim::EventName& name, Duration at) const {
  ScheduleEntry entry;
  entry.time = at;
  entry.what = name.what;
  entry.process = names_[name.process.index];
  entry.occurrence = name.occurrence;
  if (!sim::EventName::is_of_request(name.what)) return entry;
  entry.step = step_in_file(name.step);
  const std::size_t first_server = scenario_.clients.size();
  const bool is_at_server =
      name.server.index >= first_server && name.server.index < first_server + scenario_.servers.size();
  if (is_at_server && scenario_.servers.size() > 1) {
    entry.server = names_[name.server.index];
    entry.occurrence = name.occurrence_at_server;
  }
  return entry;
}

Scenario RunRecorder::story() {
  finish_present();
  Scenario story = empty_witness(scenario_);
  story.may.clear();
  story.faults = faults_;
  story.schedule = schedule_;
  story.schedule.insert(story.schedule.end(), called_off_.begin(), called_off_.end());
  const std::size_t clients = story.clients.size();
  const std::size_t others = clients + story.servers.size();
  for (const auto& [process, by] : offsets_) {
    const std::size_t index = process.index;
    ClockSpec& clock = index < clients  ? story.clients[index].clock
                       : index < others ? story.servers[index - clients].clock
                                        : story.sentinels->each[index - others].clock;
    clock.offset += by;
  }
  return story;
}

// --- sim::Scheduler.

void RunRecorder::emitted(std::uint32_t slot) {
  const sim::Event& event = world_.event(slot);
  last_emitted_ = slot;
  if (event.is_work()) works_.push_back(slot);
  if (writes_) {
    if (slot >= named_.size()) named_.resize(slot + 1);
    named_[slot] = {};
    if (event.process.is_valid()) named_[slot] = {namer_.name(event), count_message(event)};
    if (present_) present_->was_bounced = present_->was_bounced || event.bounced;
  }
  deployment_.simulation().emitted(slot);
  if (!writes_) return;
  const sim::Event& due = world_.event(slot);
  const Duration delay = due.at - due.base.offset();
  if (delay <= due.delay.lo) return;
  if (std::optional<EventKey> key = key_of_last()) delays_.push_back({*std::move(key), delay});
}

std::optional<EventKey> RunRecorder::key_of_last() const {
  assert(writes_);
  const std::optional<sim::EventName>& name = named_[last_emitted_].name;
  if (!name) return std::nullopt;
  EventKey key{.what = name->what, .process = names_[name->process.index], .occurrence = name->occurrence};
  if (!sim::EventName::is_of_request(name->what)) return key;
  key.step = name->step;
  if (name->server.is_valid()) {
    key.server = names_[name->server.index];
    key.occurrence = name->occurrence_at_server;
  }
  return key;
}

std::vector<NamedDelay> RunRecorder::delays() const {
  std::vector<NamedDelay> sorted = delays_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void RunRecorder::lost(const sim::Event& message) {
  if (writes_) {
    namer_.name(message);
    count_message(message);
  }
  deployment_.simulation().lost(message);
}

void RunRecorder::cancelled(std::uint32_t slot) {
  const sim::Event& event = world_.event(slot);
  if (event.is_work()) std::erase(works_, slot);
  if (writes_ && slot < named_.size()) {
    // A timer whose time is not exact must not be over before; nor one that is due, and was put off by pauses that
    // adjoin.
    const bool may_come_before = !event.delay.is_exact() || event.at <= world_.now().offset();
    const std::optional<sim::EventName>& name = named_[slot].name;
    if (event.kind == sim::EventKind::timer && may_come_before && name)
      called_off_.push_back(entry_of(*name, sim::ScheduledEvent::never));
  }
  deployment_.simulation().cancelled(slot);
}

void RunRecorder::crashed(ProcessId process) { deployment_.simulation().crashed(process); }

std::uint64_t RunRecorder::choose(sim::Decisions& decisions, std::uint64_t options, sim::EventId event) {
  const std::uint64_t index = deployment_.simulation().choose(decisions, options, event);
  if (writes_ && listed_) schedule_[*listed_].choices.push_back({.index = index, .options = options});
  return index;
}

void RunRecorder::postponed(std::uint32_t slot, Duration by) { deployment_.simulation().postponed(slot, by); }

bool RunRecorder::is_at_or_after(Instant a, Instant b) { return deployment_.simulation().is_at_or_after(a, b); }

Instant RunRecorder::later_of(Instant a, Instant b) { return deployment_.simulation().later_of(a, b); }

/// As losses count: what bounces is no message of anybody.
std::int64_t RunRecorder::count_message(const sim::Event& event) {
  if (event.kind != sim::EventKind::message || event.bounced) return 0;
  const bool is_reply = event.message->is_reply;
  return ++sent_[{is_reply ? event.process : event.from, std::string(event.message->name()), is_reply}];
}

}  // namespace lockstep::scenarios
