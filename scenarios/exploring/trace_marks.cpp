#include "scenarios/exploring/trace_marks.hpp"

#include <algorithm>

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

}  // namespace

const std::array<std::pair<std::string_view, std::string_view>, TraceMarks::kCount>& TraceMarks::names() {
  return kNames;
}

void TraceMarks::look(const checker::Explorer& explorer, const sim::History& story) {
  std::array<bool, kCount> is_reached{};
  is_reached[taken] =
      std::any_of(story.operations.begin(), story.operations.end(), [](const sim::Operation& operation) {
        return operation.function == "acquire" && operation.phase == sim::Phase::fail;
      });
  is_reached[kGot] =
      std::any_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& operation) {
        const bool is_client = story.host_of(operation.process).index < clients_;
        return is_client && operation.function == "acquire" && operation.phase == sim::Phase::ok;
      });
  const RanOut leases = leases_that_ran_out(story, clients_);
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
    case FaultMark::Of::server: return fault.process.index >= clients_;
    case FaultMark::Of::anybody: return true;
  }
  return false;
}

bool TraceMarks::somebody_got_the_lock() const { return counts_[kGot] > 0; }

void TraceMarks::merge(const TraceMarks& other) {
  for (std::size_t i = 0; i < kCount; ++i) counts_[i] += other.counts_[i];
}

std::vector<Mark> TraceMarks::marks(std::span<const checker::FaultBudget> budgets) const {
  const auto may_strike = [&](const NamedMark& mark) {
    return std::any_of(budgets.begin(), budgets.end(), [&](const checker::FaultBudget& budget) {
      if (budget.kind != mark.kind || budget.times == 0) return false;
      return mark.of == FaultMark::Of::anybody ||
             std::any_of(budget.who.begin(), budget.who.end(), [&](sim::ProcessId victim) {
               return (victim.index >= clients_) == (mark.of == FaultMark::Of::server);
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

}  // namespace lockstep::scenarios
