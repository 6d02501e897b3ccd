#include "scenarios/exploring/trace_marks.hpp"

#include <algorithm>

namespace lockstep::scenarios {
namespace {

using checker::ExploredEvent;
using checker::ExploredFault;
using Kind = ExploredFault::Kind;

enum Name : std::size_t {
  taken,
  ran_out,
  taken_over,
  paused_holder,
  paused_other,
  crashed_holder,
  crashed_server,
  lost,
  delayed,
  cut_off,
  gave_up,
  jumped,
  skewed,
  got
};

constexpr std::array<std::pair<std::string_view, std::string_view>, TraceMarks::kCount> kNames{{
    {"somebody found the lock taken", "有客户端发现锁已被占用"},
    {"a lease ran out before its holder gave the lock back", "租约在持有者归还锁之前到期"},
    {"somebody else got the lock after a lease ran out", "租约到期后，另一个客户端拿到锁"},
    {"a holder was paused", "持有者被暂停"},
    {"a client or server that held no lock was paused", "没有持锁的客户端或服务器被暂停"},
    {"a holder crashed", "持有者崩溃"},
    {"a server crashed", "服务器崩溃"},
    {"a request or a reply was lost", "请求或回复丢失"},
    {"a request or a reply was delayed", "请求或回复延迟到达"},
    {"a partition held a message up", "网络分区挡住了消息"},
    {"a client gave up waiting for a reply", "客户端等不到回复而放弃"},
    {"a clock jumped", "时钟跳变"},
    {"a clock was off from the start", "时钟从一开始就不准"},
    {"a client got the lock", "有客户端拿到锁"},
}};

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

RanOut leases_that_ran_out(const sim::History& story) {
  RanOut result;
  for (std::size_t i = 0; i < story.effects.size(); ++i) {
    const sim::Effect& expiry = story.effects[i];
    if (expiry.kind != sim::Effect::Kind::expire) continue;
    for (std::size_t j = i; j-- > 0;) {
      const sim::Effect& write = story.effects[j];
      if (write.kind != sim::Effect::Kind::write || write.server != expiry.server || write.object != expiry.object)
        continue;
      const sim::Operation* grant = grant_of(story, write);
      if (grant == nullptr) break;
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
  is_reached[got] = std::any_of(story.operations.begin(), story.operations.end(), [&](const sim::Operation& operation) {
    const bool is_client = story.host_of(operation.process).index < clients_;
    return is_client && operation.function == "acquire" && operation.phase == sim::Phase::ok;
  });
  const RanOut leases = leases_that_ran_out(story);
  is_reached[ran_out] = leases.has_run_out;
  is_reached[taken_over] = leases.is_taken_over;
  for (const ExploredFault& fault : explorer.faults()) {
    switch (fault.kind) {
      case Kind::pause:
        is_reached[is_holder(story, fault.process, fault.event) ? paused_holder : paused_other] = true;
        break;
      case Kind::crash:
        if (fault.process.index >= clients_) is_reached[crashed_server] = true;
        if (is_holder(story, fault.process, fault.event)) is_reached[crashed_holder] = true;
        break;
      case Kind::lose: is_reached[lost] = true; break;
      case Kind::delay: is_reached[delayed] = true; break;
      case Kind::partition: is_reached[cut_off] = true; break;
      case Kind::jump: is_reached[jumped] = true; break;
      case Kind::skew: is_reached[skewed] = true; break;
    }
  }
  for (std::uint32_t i = 0; i < explorer.story_length() && !is_reached[gave_up]; ++i) {
    const ExploredEvent& event = explorer.event_at(i);
    is_reached[gave_up] = event.kind == sim::EventKind::timer &&
                          (event.timer_kind == sim::TimerKind::timeout || event.timer_kind == sim::TimerKind::deadline);
  }
  for (std::size_t i = 0; i < kCount; ++i) counts_[i] += is_reached[i] ? 1 : 0;
}

bool TraceMarks::somebody_got_the_lock() const { return counts_[got] > 0; }

void TraceMarks::merge(const TraceMarks& other) {
  for (std::size_t i = 0; i < kCount; ++i) counts_[i] += other.counts_[i];
}

std::vector<Mark> TraceMarks::marks(std::span<const checker::FaultBudget> budgets) const {
  const auto may = [&](Kind kind, bool of_clients, bool of_servers) {
    return std::any_of(budgets.begin(), budgets.end(), [&](const checker::FaultBudget& budget) {
      return budget.kind == kind && std::any_of(budget.who.begin(), budget.who.end(), [&](sim::ProcessId victim) {
               return victim.index < clients_ ? of_clients : of_servers;
             });
    });
  };
  const auto may_cut_off = std::any_of(budgets.begin(), budgets.end(), [](const checker::FaultBudget& budget) {
    return budget.kind == Kind::partition;
  });
  const std::array<bool, kCount> is_possible{true,
                                             true,
                                             true,
                                             may(Kind::pause, true, false),
                                             counts_[paused_other] > 0,
                                             may(Kind::crash, true, false),
                                             may(Kind::crash, false, true),
                                             may(Kind::lose, true, true),
                                             may(Kind::delay, true, true),
                                             may_cut_off,
                                             counts_[gave_up] > 0,
                                             may(Kind::jump, true, true),
                                             may(Kind::skew, true, true),
                                             !somebody_got_the_lock()};
  std::vector<Mark> marks;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (is_possible[i]) marks.push_back({kNames[i].first, counts_[i], kNames[i].second});
  }
  return marks;
}

}  // namespace lockstep::scenarios
