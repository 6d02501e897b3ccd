#include "scenarios/exploring/trace_marks.hpp"

#include <algorithm>
#include <istream>
#include <ostream>

namespace lockstep::scenarios {
namespace {

using checker::ExploredEvent;
using checker::ExploredFault;
using sim::FaultMark;

/// What is no fault's; the faults' own stand among them, by what they strike.
enum Name : std::size_t { taken, ran_out, taken_over };

struct NamedMark {
  sim::Words words;
  FaultMark::Of of = FaultMark::Of::nobody;  ///< of the faults of this kind
  sim::FaultKind kind = {};
};

constexpr auto kMarks = [] {
  std::array<NamedMark, TraceMarks::kCount> marks{};
  std::size_t next = 0;
  const auto add = [&](sim::Words words) { marks[next++].words = words; };
  const auto add_faults = [&](sim::Victim victim) {
    for (const sim::FaultKind kind : sim::kFaultKinds) {
      if (sim::entry_of(kind).victim != victim) continue;
      for (const FaultMark& mark : sim::words_of(kind).marks) {
        if (mark.of != FaultMark::Of::nobody) marks[next++] = {mark.words, mark.of, kind};
      }
    }
  };
  add({"somebody found the lock taken", "有客户端发现锁已被占用"});
  add({"a lease ran out before its holder gave the lock back", "租约在持有者归还锁之前到期"});
  add({"somebody else got the lock after a lease ran out", "租约到期后，另一个客户端拿到锁"});
  for (const sim::Victim victim : {sim::Victim::process, sim::Victim::message, sim::Victim::connections})
    add_faults(victim);
  add({"a client gave up waiting for a reply", "客户端等不到回复而放弃"});
  add_faults(sim::Victim::clock);
  add({"a client got the lock", "有客户端拿到锁"});
  return marks;
}();

constexpr std::size_t kGaveUp = [] {
  std::size_t i = taken_over + 1;
  while (kMarks[i].of != FaultMark::Of::nobody) ++i;
  return i;
}();
constexpr std::size_t kGot = TraceMarks::kCount - 1;

constexpr auto kNames = [] {
  std::array<std::pair<std::string_view, std::string_view>, TraceMarks::kCount> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kMarks[i].words.en, kMarks[i].words.zh};
  return names;
}();

/// Whether this process holds something when the event at this position has been handled.
bool is_holder(const sim::History& story, sim::ProcessId process, std::uint32_t position) {
  const sim::Step step = position + 1;
  return std::any_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& acquire) {
    if (story.host_of(acquire.process) != process || acquire.function != "acquire" || acquire.phase != sim::Phase::ok ||
        acquire.completed_in > step)
      return false;
    return std::none_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& end) {
      return end.of == acquire.id && (end.function == "release" || end.function == "lost") && end.invoked_in <= step;
    });
  });
}

/// The acquire that this effect belongs to, if it got the lock.
const sim::Operation* grant_of(const sim::History& story, const sim::Effect& write) {
  if (write.kind != sim::Effect::Kind::write || write.operation == 0) return nullptr;
  const sim::Operation& operation = story.operations[write.operation - 1];
  return operation.function == "acquire" && operation.phase == sim::Phase::ok ? &operation : nullptr;
}

struct RanOut {
  bool has_run_out = false;    ///< an expiry took a lock from whoever had not given it back yet, as its server sees it
  bool is_taken_over = false;  ///< and then somebody else got it there
};

/// Of the story's clients, not of the probe that asks whether the lock comes back.
RanOut leases_that_ran_out(const sim::History& story, std::size_t clients) {
  RanOut result;
  for (std::size_t i = 0; i < story.effects.size(); ++i) {
    const sim::Effect& expiry = story.effects[i];
    if (expiry.kind != sim::Effect::Kind::expire) continue;
    for (std::size_t j = i; j-- > 0;) {
      const sim::Effect& write = story.effects[j];
      if (write.kind != sim::Effect::Kind::write || write.server != expiry.server || write.object != expiry.object)
        continue;
      const sim::Operation* grant = grant_of(story, write);
      if (grant == nullptr || story.host_of(grant->process).index >= clients) break;
      result.has_run_out = true;
      result.is_taken_over =
          result.is_taken_over || std::any_of(story.effects.begin() + static_cast<std::ptrdiff_t>(i),
                                              story.effects.end(), [&](const sim::Effect& later) {
                                                if (later.server != expiry.server || later.object != expiry.object)
                                                  return false;
                                                const sim::Operation* next = grant_of(story, later);
                                                return next != nullptr && next->process != grant->process;
                                              });
      break;
    }
  }
  return result;
}

/// Whether a client's attempt failed, or came upon another's place at a server, whose end it had to wait for: where
/// attempts wait for their turn none fails. Of a semaphore, which has several places, only the former.
bool is_found_taken(const sim::History& story, std::size_t clients, bool is_semaphore) {
  const auto is_attempt = [&](const sim::Operation& operation) {
    return operation.function == "acquire" && story.host_of(operation.process).index < clients;
  };
  if (std::any_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& operation) {
        return is_attempt(operation) && operation.phase == sim::Phase::fail;
      }))
    return true;
  if (is_semaphore) return false;
  for (std::size_t i = 0; i < story.effects.size(); ++i) {
    const sim::Effect& write = story.effects[i];
    const sim::Operation* holder = grant_of(story, write);
    if (holder == nullptr || holder->is_shared) continue;
    for (std::size_t j = i + 1; j < story.effects.size(); ++j) {
      const sim::Effect& later = story.effects[j];
      if (later.server != write.server) continue;
      const bool is_over = later.object == write.object &&
                           (later.kind == sim::Effect::Kind::remove || later.kind == sim::Effect::Kind::expire ||
                            later.kind == sim::Effect::Kind::lose);
      if (is_over) break;
      if (later.operation == 0 || later.operation == holder->id) continue;
      const sim::Operation& other = story.operations[later.operation - 1];
      if (is_attempt(other) && other.process != holder->process && other.object == holder->object) return true;
    }
  }
  return false;
}

constexpr std::size_t kBits = 64;

void set(std::uint64_t& bits, std::size_t number) {
  if (number < kBits) bits |= std::uint64_t{1} << number;
}

bool has(std::uint64_t bits, std::size_t number) { return number >= kBits || (bits >> number & 1) != 0; }

bool separates(const checker::FaultBudget& budget, sim::ProcessId a, sim::ProcessId b) {
  const auto is_in = [](const std::vector<sim::ProcessId>& side, sim::ProcessId process) {
    return std::find(side.begin(), side.end(), process) != side.end();
  };
  return std::any_of(budget.sides.begin(), budget.sides.end(), [&](const sim::Sides& sides) {
    return (is_in(sides.left, a) && is_in(sides.right, b)) || (is_in(sides.left, b) && is_in(sides.right, a));
  });
}

}  // namespace

const std::array<std::pair<std::string_view, std::string_view>, TraceMarks::kCount>& TraceMarks::names() {
  return kNames;
}

void TraceMarks::look(const checker::Explorer& explorer, const sim::World& world) {
  const sim::History& story = world.history();
  notice(explorer, world);
  std::array<bool, kCount> is_reached{};
  is_reached[taken] = is_found_taken(story, scenario_->clients.size(), is_semaphore_);
  is_reached[kGot] =
      std::any_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& operation) {
        return is_client(story.host_of(operation.process)) && operation.function == "acquire" &&
               operation.phase == sim::Phase::ok;
      });
  const RanOut leases = leases_that_ran_out(story, scenario_->clients.size());
  is_reached[ran_out] = leases.has_run_out;
  is_reached[taken_over] = leases.is_taken_over;
  for (const ExploredFault& fault : explorer.faults()) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (kMarks[i].of == FaultMark::Of::nobody || kMarks[i].kind != fault.kind) continue;
      is_reached[i] = is_reached[i] || is_of(kMarks[i].of, story, fault);
    }
  }
  for (std::uint32_t i = 0; i < explorer.story_length() && !is_reached[kGaveUp]; ++i) {
    const ExploredEvent& event = explorer.event_at(i);
    is_reached[kGaveUp] = event.kind == sim::EventKind::timer &&
                          (event.timer_kind == sim::TimerKind::timeout || event.timer_kind == sim::TimerKind::deadline);
  }
  for (std::size_t i = 0; i < kCount; ++i) counts_[i] += is_reached[i] ? 1 : 0;
}

bool TraceMarks::is_of(FaultMark::Of of, const sim::History& story, const ExploredFault& fault) const {
  switch (of) {
    case FaultMark::Of::nobody: return false;
    case FaultMark::Of::holder: return is_holder(story, fault.process, fault.event);
    case FaultMark::Of::no_holder: return !is_holder(story, fault.process, fault.event);
    case FaultMark::Of::server: return !is_client(fault.process);
    case FaultMark::Of::anybody: return true;
  }
  return false;
}

bool TraceMarks::somebody_got_the_lock() const { return counts_[kGot] > 0; }

void TraceMarks::merge(const TraceMarks& other) {
  for (std::size_t i = 0; i < kCount; ++i) counts_[i] += other.counts_[i];
  noticed_.struck |= other.noticed_.struck;
  noticed_.crossed |= other.noticed_.crossed;
  noticed_.met |= other.noticed_.met;
  noticed_.read |= other.noticed_.read;
}

std::vector<Mark> TraceMarks::marks() const {
  const auto may_strike = [&](const NamedMark& mark) {
    return std::any_of(budgets_.begin(), budgets_.end(), [&](const checker::FaultBudget& budget) {
      if (budget.kind != mark.kind || budget.times == 0) return false;
      return mark.of == FaultMark::Of::anybody ||
             std::any_of(budget.who.begin(), budget.who.end(), [&](sim::ProcessId victim) {
               return !is_client(victim) == (mark.of == FaultMark::Of::server);
             });
    });
  };
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < kCount; ++i) {
    const NamedMark& mark = kMarks[i];
    const bool is_of_fault = mark.of != FaultMark::Of::nobody;
    const bool is_rare = i == kGaveUp || mark.of == FaultMark::Of::no_holder;
    const bool is_possible = i == kGot     ? !somebody_got_the_lock()
                             : is_rare     ? counts_[i] > 0
                             : is_of_fault ? may_strike(mark)
                                           : true;
    if (is_possible) marks.push_back({kNames[i].first, counts_[i], kNames[i].second});
  }
  return marks;
}

// --- What made no difference.

bool TraceMarks::is_service(sim::ProcessId process) const {
  const std::size_t sentinels = scenario_->sentinels ? scenario_->sentinels->each.size() : 0;
  const std::size_t first = scenario_->clients.size();
  return process.index >= first && process.index - first < scenario_->servers.size() + sentinels;
}

void TraceMarks::notice(const checker::Explorer& explorer, const sim::World& world) {
  for (const ExploredFault& fault : explorer.faults()) set(noticed_.struck, fault.budget);
  for (std::uint16_t i = 0; i < world.process_count(); ++i) {
    if (world.state(sim::ProcessId{i}).wall.is_read()) set(noticed_.read, i);
  }
  for (std::uint32_t i = 0; i < explorer.trace_length(); ++i) {
    const ExploredEvent& event = explorer.event_at(i);
    if (event.kind != sim::EventKind::message) continue;
    const sim::ProcessId to = explorer.process_at(i);
    if (is_service(to) != is_service(event.from)) {
      set(noticed_.met, is_service(to) ? to.index : event.from.index);
      if (scenario_->servers.front().kind->tells_of_others(event.name)) noticed_.met = ~std::uint64_t{0};
    }
    // A file may have thousands, of which `set` keeps no more.
    for (std::size_t b = 0; b < std::min(budgets_.size(), kBits); ++b) {
      if (separates(budgets_[b], event.from, to)) set(noticed_.crossed, b);
    }
  }
}

/// Sentinels look at servers, and tell clients of what they see. Whoever meets one of servers that depend on each other
/// meets them all.
bool TraceMarks::is_met(sim::ProcessId process) const {
  if (!is_service(process) || scenario_->sentinels || has(noticed_.met, process.index)) return true;
  const std::vector<models::ServerSpec>& servers = scenario_->servers;
  return noticed_.met != 0 && servers.front().kind->depends_on_others(servers);
}

bool TraceMarks::reads_clock(sim::ProcessId process) const {
  const std::size_t server = process.index - scenario_->clients.size();
  // What a server holds is shown with its end by its own clock, so that it is asked even where nothing depends on it.
  if (!is_client(process) && server < scenario_->servers.size())
    return scenario_->servers[server].kind->reads_wall_clock();
  return has(noticed_.read, process.index);
}

std::optional<Idle::Why> TraceMarks::why_idle(std::size_t number) const {
  const checker::FaultBudget& budget = budgets_[number];
  if (budget.times == 0) return std::nullopt;  // a fault of no length, which is none
  if (cuts_off(budget.kind)) {
    if (!has(noticed_.crossed, number)) return Idle::Why::meets_nobody;
  } else if (!strikes_message(budget.kind)) {
    const auto is_any = [&](bool (TraceMarks::*is_so)(sim::ProcessId) const) {
      return std::any_of(budget.who.begin(), budget.who.end(), [&](sim::ProcessId who) { return (this->*is_so)(who); });
    };
    if (!is_any(&TraceMarks::is_met)) return Idle::Why::meets_nobody;
    if (moves_clock(budget.kind) && !is_any(&TraceMarks::reads_clock)) return Idle::Why::unread_clock;
  }
  if (!has(noticed_.struck, number)) return Idle::Why::no_moment;
  return std::nullopt;
}

std::vector<Idle> TraceMarks::idle() const {
  std::vector<Idle> idle;
  for (std::size_t i = 0; i < scenario_->servers.size(); ++i) {
    const sim::ProcessId server{static_cast<std::uint16_t>(scenario_->clients.size() + i)};
    if (!is_met(server)) idle.push_back({Idle::Why::meets_nobody, i, true});
  }
  for (std::size_t i = 0; i < budgets_.size(); ++i) {
    if (const std::optional<Idle::Why> why = why_idle(i)) idle.push_back({*why, i, false});
  }
  return idle;
}

// --- Checkpoints.

void TraceMarks::write(std::ostream& out) const {
  for (const std::uint64_t count : counts_) out << ' ' << count;
  out << ' ' << noticed_.struck << ' ' << noticed_.crossed << ' ' << noticed_.met << ' ' << noticed_.read << '\n';
}

bool TraceMarks::read(std::istream& in) {
  for (std::uint64_t& count : counts_) in >> count;
  return static_cast<bool>(in >> noticed_.struck >> noticed_.crossed >> noticed_.met >> noticed_.read);
}

}  // namespace lockstep::scenarios
