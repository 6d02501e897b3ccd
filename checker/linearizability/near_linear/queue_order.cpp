#include "checker/linearizability/near_linear/queue_order.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
constexpr Position no_position = 0xffffffff;
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

struct Interval {
  std::int64_t from = no_end;
  std::int64_t to = no_end;
};

/// A value that was in the queue.
struct Item {
  Interval enqueue;
  Interval dequeue;  ///< no_end, no_end: it stays
  Position enqueued = no_position;
  Position dequeued = no_position;
  bool is_repeated = false;  ///< dequeues of it were invoked more than once
};

/// What is known of a value in the whole history.
struct Value {
  Position enqueue = no_position;
  std::vector<Position> dequeues;
};

/// A dequeue that found nothing, and when.
struct Empty {
  Position operation;
  std::int64_t moment;
};

class Queue {
 public:
  Queue(const OperationHistory& history, std::span<const Position> positions, const LinearizabilityOptions& options)
      : operations_(history.operations), positions_(positions), options_(options) {}

  QueueOrderResult run() {
    if (!prepare()) return {};
    if (decide(no_end)) return {.verdict = Verdict::holds, .order = std::move(order_)};
    // The earliest return up to which there is no order. If a guess fails early and works later, then this finds a
    // moment before which one works, which is all that is needed.
    std::vector<std::int64_t> returns;
    for (const Position i : positions_) {
      if (!operations_[i].is_unknown()) returns.push_back(operations_[i].returned);
    }
    std::sort(returns.begin(), returns.end());
    returns.erase(std::unique(returns.begin(), returns.end()), returns.end());
    std::size_t first = 0;
    for (std::size_t count = returns.size(); count > 0;) {
      const std::size_t half = count / 2;
      if (decide(returns[first + half])) {
        first += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    if (first == returns.size()) return {};
    QueueOrderResult result{.at = returns[first]};
    if (decide(result.at)) return {};
    if (!is_certain_) return {};
    result.conflict = std::move(conflict_);
    result.is_minimal = is_minimal_;
    result.culprit = *std::max_element(result.conflict.begin(), result.conflict.end(), [&](Position a, Position b) {
      return operations_[a].returned < operations_[b].returned;
    });
    std::sort(result.conflict.begin(), result.conflict.end());
    if (!decide(result.at - 1)) return {};
    result.order = std::move(order_);
    result.verdict = Verdict::violated;
    return result;
  }

 private:
  /// False: the path does not apply.
  bool prepare() {
    std::vector<std::pair<std::int64_t, Position>> by_value;
    for (const Position i : positions_) {
      const HistoryOperation& o = operations_[i];
      const bool is_enqueue = o.function == 0;
      if (o.phase == sim::Phase::fail) {
        if (!is_enqueue && options_.check_failed) empties_.push_back(i);
      } else if (is_enqueue) {
        by_value.emplace_back(o.a, i);
      } else if (o.is_unknown()) {
        if (o.out_known) return false;
        unseen_.push_back(i);
      } else if (!o.out_known) {
        return false;
      } else if (o.out == nil) {
        empties_.push_back(i);
      } else {
        by_value.emplace_back(o.out, i);
      }
    }
    std::sort(by_value.begin(), by_value.end());
    for (std::size_t begin = 0, end = 0; begin < by_value.size(); begin = end) {
      Value& value = values_.emplace_back();
      for (; end < by_value.size() && by_value[end].first == by_value[begin].first; ++end) {
        const Position i = by_value[end].second;
        if (operations_[i].function != 0) {
          value.dequeues.push_back(i);
        } else if (value.enqueue != no_position) {
          return false;
        } else {
          value.enqueue = i;
        }
      }
      if (value.enqueue != no_position && operations_[value.enqueue].a == nil) return false;
    }
    const auto invoked_before = [this](Position a, Position b) {
      return std::pair(operations_[a].invoked, a) < std::pair(operations_[b].invoked, b);
    };
    std::sort(unseen_.begin(), unseen_.end(), invoked_before);
    std::sort(empties_.begin(), empties_.end(), invoked_before);
    return true;
  }

  /// When the operation returns, as far as is known at this moment.
  std::int64_t returned(Position i, std::int64_t moment) const {
    const HistoryOperation& o = operations_[i];
    return o.is_unknown() || o.returned > moment ? no_end : o.returned;
  }

  bool refuse(std::vector<Position> conflict, bool is_certain, bool is_minimal) {
    conflict_ = std::move(conflict);
    is_certain_ = is_certain;
    is_minimal_ = is_minimal;
    return false;
  }

  /// Is there an order of what is known at this moment? Sets order_, or conflict_ and what is known of it.
  bool decide(std::int64_t moment) {
    items_.clear();
    order_.clear();
    std::size_t unseen = 0;
    while (unseen < unseen_.size() && operations_[unseen_[unseen]].invoked <= moment) ++unseen;
    for (const Value& value : values_) {
      if (!add_item(value, moment)) return false;
    }
    if (unseen != 0) guess(unseen);
    if (const auto pair = find_overtaking()) {
      const auto [x, y] = *pair;
      std::vector<Position> conflict = {items_[x].enqueued, items_[y].dequeued};
      if (items_[x].is_repeated && items_[x].dequeued != no_position) conflict.push_back(items_[x].dequeued);
      return refuse(std::move(conflict), unseen == 0, !items_[x].is_repeated);
    }
    if (!find_empty_moments(moment, unseen == 0)) return false;
    return put_in_order();
  }

  bool add_item(const Value& value, std::int64_t moment) {
    Item item{.enqueued = value.enqueue};
    std::size_t invoked = 0;
    for (const Position i : value.dequeues) {
      if (operations_[i].invoked > moment) continue;
      ++invoked;
      const std::int64_t end = returned(i, moment);
      if (end != no_end && item.dequeue.to != no_end) {
        const bool is_minimal =
            value.enqueue != no_position && operations_[value.enqueue].invoked <= std::min(end, item.dequeue.to);
        return refuse({i, item.dequeued}, true, is_minimal);
      }
      // The one that has returned took it, otherwise it is best to be the one that was invoked first.
      if (item.dequeued != no_position && end == no_end &&
          (item.dequeue.to != no_end || item.dequeue.from <= operations_[i].invoked)) {
        continue;
      }
      item.dequeued = i;
      item.dequeue = {operations_[i].invoked, end};
    }
    item.is_repeated = invoked > 1;
    const bool is_gone = item.dequeue.to != no_end;
    if (value.enqueue == no_position || operations_[value.enqueue].invoked > std::min(moment, item.dequeue.to)) {
      return !is_gone || refuse({item.dequeued}, true, true);
    }
    item.enqueue = {operations_[value.enqueue].invoked, returned(value.enqueue, moment)};
    if (!is_gone && item.enqueue.to == no_end) return true;
    item.enqueue.to = std::min(item.enqueue.to, item.dequeue.to);
    if (item.dequeued != no_position) item.dequeue.from = std::max(item.dequeue.from, item.enqueue.from);
    items_.push_back(item);
    return true;
  }

  std::vector<std::size_t> items_by(const std::function<std::int64_t(const Item&)>& time) const {
    std::vector<std::pair<std::int64_t, std::size_t>> keys;
    keys.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) keys.emplace_back(time(items_[i]), i);
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> sorted;
    sorted.reserve(keys.size());
    for (const auto& key : keys) sorted.push_back(key.second);
    return sorted;
  }

  /// Values that nobody dequeued, though one that was enqueued later is gone: of these, the one that has to be gone
  /// first is given the unseen dequeue that was invoked first, and so on.
  void guess(std::size_t unseen) {
    const std::vector<std::size_t> by_enqueue = items_by([](const Item& item) { return item.enqueue.from; });
    std::vector<std::int64_t> gone_after(by_enqueue.size() + 1,
                                         no_end);  // the earliest return of a dequeue from here on
    for (std::size_t k = by_enqueue.size(); k > 0; --k) {
      gone_after[k - 1] = std::min(gone_after[k], items_[by_enqueue[k - 1]].dequeue.to);
    }
    std::vector<std::tuple<std::int64_t, std::int64_t, std::size_t>> lost;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].dequeued != no_position) continue;
      const auto after =
          std::upper_bound(by_enqueue.begin(), by_enqueue.end(), items_[i].enqueue.to,
                           [this](std::int64_t end, std::size_t other) { return end < items_[other].enqueue.from; });
      lost.emplace_back(gone_after[after - by_enqueue.begin()], items_[i].enqueue.to, i);
    }
    std::sort(lost.begin(), lost.end());
    for (std::size_t k = 0; k < std::min(lost.size(), unseen); ++k) {
      Item& item = items_[std::get<2>(lost[k])];
      if (std::get<0>(lost[k]) == no_end && empties_.empty()) break;
      item.dequeued = unseen_[k];
      item.dequeue = {std::max(operations_[unseen_[k]].invoked, item.enqueue.from), no_end};
    }
  }

  /// (2): x and y such that x was enqueued before y, and y dequeued before x.
  std::optional<std::pair<std::size_t, std::size_t>> find_overtaking() const {
    const std::vector<std::size_t> by_end = items_by([](const Item& item) { return item.enqueue.to; });
    const std::vector<std::size_t> by_begin = items_by([](const Item& item) { return item.enqueue.from; });
    std::size_t next = 0;
    std::optional<std::size_t> last;  // of those enqueued before: the one that is dequeued last
    for (const std::size_t y : by_begin) {
      for (; next < by_end.size() && items_[by_end[next]].enqueue.to < items_[y].enqueue.from; ++next) {
        if (!last || items_[*last].dequeue.from < items_[by_end[next]].dequeue.from) last = by_end[next];
      }
      if (last && items_[y].dequeue.to < items_[*last].dequeue.from) return std::pair(*last, y);
    }
    return std::nullopt;
  }

  /// (3): sets moments_.
  bool find_empty_moments(std::int64_t moment, bool is_certain) {
    moments_.clear();
    std::vector<std::size_t> by_end = items_by([](const Item& item) { return item.enqueue.to; });
    std::erase_if(by_end, [this](std::size_t i) { return items_[i].dequeue.from <= items_[i].enqueue.to; });
    std::size_t next = 0;
    std::vector<std::size_t> chain;  // each begins before the one before it ends, and lasts longer
    for (const Position e : empties_) {
      if (returned(e, moment) == no_end) continue;
      std::int64_t at = operations_[e].invoked;
      // What was there for sure, from before `at` on, as long as possible.
      for (; next < by_end.size() && items_[by_end[next]].enqueue.to < at; ++next) extend(chain, by_end[next]);
      std::size_t link = 0;
      const auto ends_by = [this, &chain](std::size_t k, std::int64_t time) {
        return items_[chain[k]].dequeue.from <= time;
      };
      // Links that end by now are of no use to later ones, which are invoked later.
      while (link < chain.size() && ends_by(link, at)) ++link;
      chain.erase(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(link));
      std::vector<Position> conflict = {e};
      while (true) {
        // The one that lasts longest of those that are there at `at`.
        for (; next < by_end.size() && items_[by_end[next]].enqueue.to < at; ++next) extend(chain, by_end[next]);
        std::size_t best = chain.size();
        for (std::size_t c = chain.size(); c > 0 && best == chain.size(); --c) {
          if (items_[chain[c - 1]].enqueue.to < at && !ends_by(c - 1, at)) best = c - 1;
        }
        if (best == chain.size()) break;
        const Item& item = items_[chain[best]];
        conflict.push_back(item.enqueued);
        if (item.is_repeated) conflict.push_back(item.dequeued);
        at = item.dequeue.from;
        if (at > returned(e, moment)) {
          const bool is_minimal =
              std::none_of(items_.begin(), items_.end(), [](const Item& i) { return i.is_repeated; });
          return refuse(std::move(conflict), is_certain, is_minimal);
        }
      }
      moments_.push_back({e, at});
    }
    std::sort(moments_.begin(), moments_.end(), [](const Empty& a, const Empty& b) {
      return std::tuple(a.moment, a.operation) < std::tuple(b.moment, b.operation);
    });
    return true;
  }

  void extend(std::vector<std::size_t>& chain, std::size_t item) const {
    if (!chain.empty() && items_[item].dequeue.from <= items_[chain.back()].dequeue.from) return;
    chain.push_back(item);
  }

  /// Sets order_: the stretches between the moments of (3), one after the other.
  bool put_in_order() {
    std::vector<std::int64_t> cuts;
    for (const Empty& empty : moments_) {
      if (cuts.empty() || cuts.back() != empty.moment) cuts.push_back(empty.moment);
    }
    std::vector<std::vector<std::size_t>> stretches(cuts.size() + 1);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      // Either both operations can happen at this moment, or it is when the value begins to be there for sure.
      const std::int64_t moment = std::min(items_[i].enqueue.to, items_[i].dequeue.from);
      const bool is_stay = items_[i].enqueue.to < items_[i].dequeue.from;
      const auto cut = is_stay ? std::upper_bound(cuts.begin(), cuts.end(), moment)
                               : std::lower_bound(cuts.begin(), cuts.end(), moment);
      stretches[cut - cuts.begin()].push_back(i);
    }
    std::size_t next = 0;
    for (std::size_t s = 0; s < stretches.size(); ++s) {
      order_stretch(stretches[s], s == 0 ? std::numeric_limits<std::int64_t>::min() : cuts[s - 1]);
      for (; s < cuts.size() && next < moments_.size() && moments_[next].moment == cuts[s]; ++next) {
        order_.push_back(moments_[next].operation);
      }
    }
    return true;
  }

  void order_stretch(std::span<const std::size_t> members, std::int64_t begin) {
    // What has nothing before it that is left, among the enqueues and among the dequeues, goes next.
    struct Side {
      std::vector<std::size_t> by_begin;
      std::vector<std::size_t> by_end;
      std::size_t next = 0;
      std::size_t first_left = 0;
    };
    std::vector<char> is_done(members.size(), 0);
    std::vector<char> sides_ready(members.size(), 0);
    Side sides[2];
    const auto interval = [&](std::size_t side, std::size_t m) -> const Interval& {
      return side == 0 ? items_[members[m]].enqueue : items_[members[m]].dequeue;
    };
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t m = 0; m < members.size(); ++m) sides[side].by_begin.push_back(m);
      sides[side].by_end = sides[side].by_begin;
      std::sort(sides[side].by_begin.begin(), sides[side].by_begin.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(interval(side, a).from, a) < std::pair(interval(side, b).from, b);
      });
      std::sort(sides[side].by_end.begin(), sides[side].by_end.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(interval(side, a).to, a) < std::pair(interval(side, b).to, b);
      });
    }
    std::vector<std::size_t> ready;
    std::int64_t enqueue_at = begin;
    std::int64_t dequeue_at = begin;
    std::vector<std::tuple<std::int64_t, int, std::size_t, Position>> points;
    for (std::size_t done = 0; done < members.size(); ++done) {
      for (std::size_t s = 0; s < 2; ++s) {
        Side& side = sides[s];
        while (is_done[side.by_end[side.first_left]] != 0) ++side.first_left;
        const std::int64_t until = interval(s, side.by_end[side.first_left]).to;
        for (; side.next < members.size() && interval(s, side.by_begin[side.next]).from <= until; ++side.next) {
          if (++sides_ready[side.by_begin[side.next]] == 2) ready.push_back(side.by_begin[side.next]);
        }
      }
      const std::size_t m = ready.back();
      ready.pop_back();
      is_done[m] = 1;
      const Item& item = items_[members[m]];
      enqueue_at = std::max(enqueue_at, item.enqueue.from);
      points.emplace_back(enqueue_at, 0, done, item.enqueued);
      // What stays in the queue stays in front of what comes after it; of that, no dequeue has returned.
      if (item.dequeued == no_position) dequeue_at = no_end;
      if (dequeue_at == no_end) continue;
      dequeue_at = std::max({dequeue_at, item.dequeue.from, enqueue_at});
      points.emplace_back(dequeue_at, 1, done, item.dequeued);
    }
    std::sort(points.begin(), points.end());
    for (const auto& point : points) order_.push_back(std::get<3>(point));
  }

  const std::vector<HistoryOperation>& operations_;
  std::span<const Position> positions_;
  const LinearizabilityOptions& options_;
  std::vector<Value> values_;
  std::vector<Position> empties_;  ///< by invocation
  std::vector<Position> unseen_;   ///< dequeues of unknown outcome, by invocation

  std::vector<Item> items_;
  std::vector<Empty> moments_;
  std::vector<Position> order_;
  std::vector<Position> conflict_;
  bool is_certain_ = false;
  bool is_minimal_ = false;
};

}  // namespace

QueueOrderResult order_queue(const OperationHistory& history, std::span<const std::uint32_t> positions,
                             const LinearizabilityOptions& options) {
  return Queue(history, positions, options).run();
}

}  // namespace lockstep::checker
