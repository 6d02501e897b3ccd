#include "sim/schedules/schedule.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace lockstep::sim {
namespace {

bool is_entry_of(const ScheduledEvent& entry, const EventName& name) {
  if (entry.what != name.what || entry.process != name.process) return false;
  if (!EventName::is_of_request(entry.what)) return entry.occurrence == name.occurrence;
  if (entry.step != name.step) return false;
  if (!entry.server.is_valid()) return entry.occurrence == name.occurrence;
  return entry.server == name.server && entry.occurrence == name.occurrence_at_server;
}

/// What is compared with numbers alone; the place makes it an order of all of them.
auto key_of(const ScheduledEvent& entry) { return std::tuple(entry.process, entry.what, entry.occurrence); }

}  // namespace

Schedule::Schedule(const World& world, std::vector<ScheduledEvent> events) : world_(world), events_(std::move(events)) {
  assert(std::is_sorted(events_.begin(), events_.end(),
                        [](const ScheduledEvent& a, const ScheduledEvent& b) { return a.at < b.at; }));
  by_key_.resize(events_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0u);
  std::sort(by_key_.begin(), by_key_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(key_of(events_[a]), a) < std::tuple(key_of(events_[b]), b);
  });
  restart();
}

const std::vector<std::uint32_t>& Schedule::entries_of(const EventName& name) {
  found_.clear();
  const auto find = [&](std::int64_t occurrence) {
    const std::tuple key(name.process, name.what, occurrence);
    const auto comes_before = [&](std::uint32_t place, const auto& wanted) { return key_of(events_[place]) < wanted; };
    for (auto at = std::lower_bound(by_key_.begin(), by_key_.end(), key, comes_before);
         at != by_key_.end() && key_of(events_[*at]) == key; ++at) {
      if (is_entry_of(events_[*at], name)) found_.push_back(*at);
    }
  };
  find(name.occurrence);
  if (name.occurrence_at_server != name.occurrence) find(name.occurrence_at_server);
  std::sort(found_.begin(), found_.end());
  return found_;
}

void Schedule::restart() {
  states_.assign(events_.size(), State::expected);
  namer_.restart();
  entry_of_.clear();
  floor_.clear();
  next_ = 0;
  present_.reset();
  awakenings_.assign(world_.process_count(), {-Duration::forever(), -Duration::forever()});
  failure_.reset();
}

// --- What the simulation tells.

bool Schedule::emitted(std::uint32_t slot, DurationRange floor) {
  if (slot >= entry_of_.size()) {
    entry_of_.resize(slot + 1, kNone);
    floor_.resize(slot + 1);
  }
  entry_of_[slot] = kNone;
  floor_[slot] = floor;
  const std::optional<EventName> name = namer_.name(world_.event(slot));
  if (!name) return false;
  for (const std::uint32_t place : entries_of(*name)) {
    if (entry_of_[slot] != kNone) {
      fail(place, fmt::format("{} is the same event as {}, which stands in the list before; keep one of the two",
                              describe(place), describe(entry_of_[slot])));
      return true;
    }
    entry_of_[slot] = place;
  }
  if (entry_of_[slot] == kNone) return false;
  states_[entry_of_[slot]] = State::pending;
  if (time_of(slot) < earliest(slot)) {
    fail(entry_of_[slot],
         fmt::format("{} comes at {} at the earliest; give it a time from {} to {}, or change what leads to it",
                     describe(entry_of_[slot]), to_string(earliest(slot)), to_string(earliest(slot)),
                     to_string(latest(slot))));
  }
  return true;
}

void Schedule::cancelled(std::uint32_t slot) {
  if (!is_listed(slot)) return;
  states_[entry_of_[slot]] = State::called_off;
  entry_of_[slot] = kNone;
}

void Schedule::postponed(std::uint32_t slot, DurationRange floor) { floor_[slot] = floor; }

void Schedule::note_arrival(ProcessId process, Duration at, Duration arrived) {
  if (!wakes(process, at)) return;
  Awakening& awakening = awakenings_[process.index];
  if (awakening.at != at) awakening = {at, -Duration::forever()};
  awakening.arrived = std::max(awakening.arrived, arrived);
}

bool Schedule::admit(std::uint32_t slot) {
  const Event& event = world_.event(slot);
  const std::size_t entry = entry_of_[slot];
  const Duration at = time_of(slot);
  assert(entry == next_);
  if (const auto until = frozen_until(event, at)) {
    fail(entry, fmt::format("{} is paused until {}, and handles nothing before; give {} that time or a later one, or "
                            "shorten the pause",
                            world_.name(event.process), to_string(*until), describe(entry)));
    return false;
  }
  if (at < earliest(slot)) {
    fail(entry,
         fmt::format("{} comes at {} at the earliest; give it a time from {} to {}, or change what leads to it",
                     describe(entry), to_string(earliest(slot)), to_string(earliest(slot)), to_string(latest(slot))));
    return false;
  }
  if (event.kind != EventKind::fault) {
    const Duration arrival = arrival_of(slot);
    if (arrival > std::min(at, std::max(latest(slot), earliest(slot)))) {
      fail(entry, fmt::format("{} is there before what stands in the list before it, and a process that wakes from a "
                              "pause handles first what came first; put it earlier in the list",
                              describe(entry)));
      return false;
    }
    note_arrival(event.process, at, arrival);
  }
  states_[entry] = State::happened;
  entry_of_[slot] = kNone;
  ++next_;
  present_ = entry;
  chosen_ = 0;
  return true;
}

std::optional<std::uint64_t> Schedule::planned_choice(std::uint64_t options) {
  if (!present_ || chosen_ == events_[*present_].choices.size()) return std::nullopt;
  return events_[*present_].choices[chosen_++].among(options);
}

void Schedule::handled() {
  if (!present_) return;
  const std::size_t entry = *std::exchange(present_, std::nullopt);
  const std::vector<PlannedChoice>& choices = events_[entry].choices;
  if (chosen_ == choices.size()) return;
  fail(entry, fmt::format("{} makes {}; leave out \"{} of {}\"", describe(entry),
                          chosen_ == 0 ? "no choice" : fmt::format("only {} choices", chosen_),
                          choices[chosen_].index + 1, choices[chosen_].options));
}

// --- What it asks.

/// Whether a pause of this process is over at this moment: at its end, or since the process crashes.
bool Schedule::wakes(ProcessId process, Duration at) const {
  const ProcessState& state = world_.state(process);
  if (state.was_paused) return state.frozen_until.offset() == at;
  return state.died_paused && state.crashed_at.offset() == at;
}

Duration Schedule::arrival_of(std::uint32_t slot) const {
  const Event& event = world_.event(slot);
  const Duration at = time_of(slot);
  if (event.kind == EventKind::fault || !wakes(event.process, at)) return at;
  // Of all arrivals that lead to this order the earliest are the best for what comes after.
  const Awakening& awakening = awakenings_[event.process.index];
  return awakening.at == at ? std::max(earliest(slot), awakening.arrived) : earliest(slot);
}

Duration Schedule::pauses_in(const Event& event) const {
  return event.is_work() ? world_.state(event.process).paused_total - event.paused_before : Duration::zero();
}

Duration Schedule::earliest(std::uint32_t slot) const {
  const Event& event = world_.event(slot);
  return std::max(event.base.offset() + event.delay.lo + pauses_in(event), floor_[slot].lo);
}

Duration Schedule::latest(std::uint32_t slot) const {
  const Event& event = world_.event(slot);
  return std::max(event.base.offset() + event.delay.hi + pauses_in(event), floor_[slot].hi);
}

std::optional<Duration> Schedule::frozen_until(const Event& event, Duration now) const {
  const ProcessState& state = world_.state(event.process);
  if (event.kind == EventKind::fault || !state.was_paused || !state.alive) return std::nullopt;
  if (state.frozen_until.offset() <= now) return std::nullopt;
  return state.frozen_until.offset();
}

std::optional<Duration> Schedule::next_look(std::uint32_t slot, Duration now) {
  const Duration wanted = time_of(slot);
  const Duration look = std::min(wanted, latest(slot));
  if (look > now || wanted <= now) return std::max(look, now);
  // All else of this moment is done, and it has arrived.
  if (const auto until = frozen_until(world_.event(slot), now)) return std::min(wanted, *until);
  if (wanted == ScheduledEvent::never) {
    fail(entry_of_[slot],
         fmt::format("{} comes at {} at the latest, and nothing calls it off before; give it that time or "
                     "an earlier one",
                     describe(entry_of_[slot]), to_string(now)));
    return std::nullopt;
  }
  fail(entry_of_[slot], fmt::format("{} comes at {} at the latest; give it a time from {} to {}, or change what leads "
                                    "to it",
                                    describe(entry_of_[slot]), to_string(now), to_string(earliest(slot)),
                                    to_string(std::max(now, earliest(slot)))));
  return std::nullopt;
}

bool Schedule::is_overdue(Duration now) {
  if (next_ == events_.size() || events_[next_].at >= now) return false;
  fail_next();
  return true;
}

void Schedule::fail_next() { fail(next_, why_absent(next_)); }

std::optional<Schedule::Failure> Schedule::failure_at_end() const {
  if (failure_) return failure_;
  if (next_ == events_.size() || events_[next_].at == ScheduledEvent::never) return std::nullopt;
  return Failure{next_, why_absent(next_)};
}

std::string Schedule::why_absent(std::size_t entry) const {
  const std::string name = describe(entry);
  const std::string by = to_string(events_[entry].at);
  switch (states_[entry]) {
    case State::pending: return fmt::format("{} cannot come at {}; change what stands before it", name, by);
    case State::called_off:
      return fmt::format(
          "{} was called off before {}: what it was for is over; remove this entry, or change what "
          "stands before it",
          name, by);
    default:
      return fmt::format("{} has not come about by {}; remove this entry, or change what stands before it", name, by);
  }
}

std::string Schedule::describe(std::size_t entry) const {
  const ScheduledEvent& event = events_[entry];
  const std::string& who = world_.name(event.process);
  if (!EventName::is_of_request(event.what)) {
    return fmt::format("{} {}#{}", who, to_string(event.what), event.occurrence);
  }
  std::string text = fmt::format("{}.{}#{}", who, event.step, event.occurrence);
  if (event.server.is_valid()) text += "@" + world_.name(event.server);
  if (event.what != EventName::What::request) text += " " + std::string(to_string(event.what));
  return text;
}

void Schedule::fail(std::size_t entry, std::string reason) {
  if (!failure_) failure_ = Failure{entry, std::move(reason)};
}

}  // namespace lockstep::sim
