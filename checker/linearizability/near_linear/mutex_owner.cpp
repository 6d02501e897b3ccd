// The mutex that only its owner may release.
//
// The operations of one process decide who belongs to whom: its certain operations, one after the other, must
// alternate; a missing release between two acquires (or after the last) is filled with an unknown release, a
// missing acquire before a release with an unknown acquire, always the one that was invoked earliest. (Earliest first
// is optimal: an unknown operation that may fill an earlier gap has no disadvantage there, and one that was invoked by
// then can fill the later gap as well as any other.) Each pair is a *hold*.
//
// A hold whose acquire completed before its release was invoked has a core, the open interval between the two, in
// which nobody else can have the lock. Any other hold can be over in no time, at any one moment of a stretch
// [later invocation, earlier deadline]; it is called a *flash* here. The holds fit exactly if no two cores overlap and
// each flash finds a moment that is not inside a core: then the order of these moments is a linearization.

#include <algorithm>
#include <limits>
#include <tuple>

#include "checker/linearizability/near_linear/mutex_paths.hpp"

namespace lockstep::checker {
namespace {

using Position = std::uint32_t;
constexpr Position none = 0xffffffff;
constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max();

struct MutexHold {
  std::int64_t from;  ///< of the core, or of the stretch of a flash
  std::int64_t to;
  Position acquire;
  Position release;  ///< none: never released
  bool is_flash;
  bool is_rigid;  ///< the pairing of its process has no alternative, neither now nor in any earlier part of the history
  std::int64_t moment = 0;
};

struct Failure {
  std::int64_t at = forever;
  std::vector<Position> conflict;
  bool is_rigid = true;

  void offer(std::int64_t when, std::vector<Position> operations, bool rigid) {
    if (!conflict.empty() && when >= at) return;
    *this = {when, std::move(operations), rigid};
  }
};

/// An operation with what it is sorted by: process, then time.
struct Key {
  std::uint32_t process;
  bool is_unknown;
  std::int64_t invoked;
  std::int64_t deadline;
  Position position;
  auto operator<=>(const Key&) const = default;
};

MutexHold make_hold(std::span<const MutexOperation> operations, Position acquire, Position release, bool is_rigid) {
  const MutexOperation& a = operations[acquire];
  if (release == none) return {a.deadline().count_ns(), forever, acquire, release, false, is_rigid};
  const MutexOperation& r = operations[release];
  if (a.deadline() < r.invoked) {
    return {a.deadline().count_ns(), r.invoked.count_ns(), acquire, release, false, is_rigid};
  }
  return {std::max(a.invoked, r.invoked).count_ns(),
          std::min(a.deadline(), r.deadline()).count_ns(),
          acquire,
          release,
          true,
          is_rigid};
}

/// Splits the operations of one process into holds.
class Pairing {
 public:
  Pairing(std::span<const MutexOperation> operations, std::vector<MutexHold>& holds, Failure& failure)
      : operations_(operations), holds_(holds), failure_(failure) {}

  /// Requires: all of one process, sorted.
  void add(std::span<const Key> process) {
    acquires_.clear();
    releases_.clear();
    next_acquire_ = next_release_ = 0;
    std::size_t certain = 0;
    while (certain < process.size() && !process[certain].is_unknown) ++certain;
    for (const Key& key : process.subspan(certain)) {
      (operations_[key.position].function == MutexFunction::acquire ? acquires_ : releases_).push_back(key);
    }
    bool is_rigid = acquires_.empty() || releases_.empty();
    for (std::size_t i = 1; i < certain; ++i) is_rigid = is_rigid && process[i - 1].deadline < process[i].invoked;

    Position held = none;
    for (const Key& key : process.first(certain)) {
      const bool is_acquire = operations_[key.position].function == MutexFunction::acquire;
      if (is_acquire) {
        if (held != none) close(held, take(releases_, next_release_, key.deadline), is_rigid);
        held = key.position;
      } else if (held != none) {
        // Until this release completes, an unknown one may have ended the hold: then the history up to a conflict with
        // this hold is still fine, and only the search finds the moment at which it no longer is.
        const bool may_end_before =
            next_release_ < releases_.size() && releases_[next_release_].invoked <= key.deadline;
        close(held, key.position, is_rigid && !may_end_before);
        held = none;
      } else if (const Position acquire = take(acquires_, next_acquire_, key.deadline); acquire != none) {
        close(acquire, key.position, is_rigid);
      } else {
        failure_.offer(key.deadline, {key.position}, is_rigid);
      }
    }
    if (held != none) close(held, take(releases_, next_release_, forever), is_rigid);
  }

 private:
  void close(Position acquire, Position release, bool is_rigid) {
    holds_.push_back(make_hold(operations_, acquire, release, is_rigid));
  }

  /// The earliest unused unknown operation, if it was invoked by `latest`.
  static Position take(const std::vector<Key>& unknown, std::size_t& next, std::int64_t latest) {
    if (next == unknown.size() || unknown[next].invoked > latest) return none;
    return unknown[next++].position;
  }

  std::span<const MutexOperation> operations_;
  std::vector<MutexHold>& holds_;
  Failure& failure_;
  std::vector<Key> acquires_;
  std::vector<Key> releases_;
  std::size_t next_acquire_ = 0;
  std::size_t next_release_ = 0;
};

/// Gives every hold its moment. Requires: cores first, sorted by their beginning.
void place(std::span<const MutexOperation> operations, std::span<MutexHold> cores, std::span<MutexHold> flashes,
           Failure& failure) {
  std::size_t fitting = 0;
  for (; fitting < cores.size(); ++fitting) {
    MutexHold& core = cores[fitting];
    core.moment = core.from;
    if (fitting == 0 || cores[fitting - 1].to <= core.from) continue;
    const MutexHold& before = cores[fitting - 1];
    failure.offer(core.from, {before.acquire, core.acquire}, before.is_rigid && core.is_rigid);
    break;
  }
  const std::span<const MutexHold> disjoint = cores.first(fitting);
  for (MutexHold& flash : flashes) {
    flash.moment = flash.from;
    auto core = std::lower_bound(disjoint.begin(), disjoint.end(), flash.from,
                                 [](const MutexHold& hold, std::int64_t moment) { return hold.from < moment; });
    if (core == disjoint.begin()) continue;
    --core;
    if (core->to <= flash.from) continue;
    flash.moment = core->to;
    if (core->to > flash.to) {
      // The operation that could not wait is the one with the deadline.
      const bool by_acquire = operations[flash.acquire].deadline().count_ns() == flash.to;
      failure.offer(flash.to, {core->acquire, by_acquire ? flash.acquire : flash.release},
                    core->is_rigid && flash.is_rigid);
    }
  }
}

}  // namespace

OwnerPath check_owner_mutex(std::span<const MutexOperation> operations) {
  std::vector<Key> keys;
  keys.reserve(operations.size());
  for (Position i = 0; i < operations.size(); ++i) {
    const MutexOperation& o = operations[i];
    if (!o.is_possible()) continue;
    keys.push_back({o.process, !o.is_certain(), o.invoked.count_ns(), o.deadline().count_ns(), i});
  }
  std::sort(keys.begin(), keys.end());

  std::vector<MutexHold> holds;
  holds.reserve(keys.size());
  Failure failure;
  Pairing pairing(operations, holds, failure);
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    while (end < keys.size() && keys[end].process == keys[begin].process) ++end;
    pairing.add(std::span(keys).subspan(begin, end - begin));
  }

  // Cores by their beginning, then flashes.
  std::sort(holds.begin(), holds.end(), [](const MutexHold& a, const MutexHold& b) {
    return std::tuple(a.is_flash, a.from, a.acquire) < std::tuple(b.is_flash, b.from, b.acquire);
  });
  const auto first_flash = std::find_if(holds.begin(), holds.end(), [](const MutexHold& h) { return h.is_flash; });
  const auto cores = static_cast<std::size_t>(first_flash - holds.begin());
  place(operations, std::span(holds).first(cores), std::span(holds).subspan(cores), failure);

  OwnerPath path;
  if (!failure.conflict.empty()) {
    path.is_exact = failure.is_rigid;
    path.result.verdict = Verdict::violated;
    path.result.at = sim::Duration::nanoseconds(failure.at);
    path.result.conflict = std::move(failure.conflict);
    std::sort(path.result.conflict.begin(), path.result.conflict.end());
    return path;
  }
  // At one moment: the core that ends there began earlier; flashes come before the core that begins there.
  std::sort(holds.begin(), holds.end(), [](const MutexHold& a, const MutexHold& b) {
    return std::tuple(a.moment, !a.is_flash, a.acquire) < std::tuple(b.moment, !b.is_flash, b.acquire);
  });
  path.result.verdict = Verdict::holds;
  path.result.order.reserve(operations.size());
  for (const MutexHold& hold : holds) {
    path.result.order.push_back(hold.acquire);
    if (hold.release != none) path.result.order.push_back(hold.release);
  }
  return path;
}

}  // namespace lockstep::checker
