#include "checker/properties/lock_objects.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory_resource>
#include <set>
#include <tuple>

#include "checker/properties/evidence.hpp"
#include "checker/properties/places.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using sim::Effect;
using sim::Operation;
using sim::OperationId;
/// A lock, and an object.
using LockAndObject = std::pair<std::string_view, std::string_view>;

/// How sure it is that an attempt got the lock: what is left by a surer one counts alone.
enum class Outcome : std::uint8_t { got, open, refused };

Outcome outcome_of(const Operation& attempt) {
  if (attempt.phase == sim::Phase::ok) return Outcome::got;
  return attempt.phase == sim::Phase::fail ? Outcome::refused : Outcome::open;
}

/// What the attempts at one lock wrote, and whether it ends with a hold.
class Survey {
 public:
  Survey(std::span<const Operation> operations, std::span<const Effect> effects, const sim::History& history)
      : operations_(operations), history_(history) {
    const bool is_one = is_one_object(effects);
    for (const Effect& effect : effects) {
      follow(effect);
      // It is the lock's, whatever else happens to it.
      if (is_one && !left_.empty()) return;
    }
  }

  std::vector<LockAndObject> objects() {
    for (const auto& [hold, object] : came_back_) {
      const auto left = left_.lower_bound({hold, {sim::ProcessId{0}, "", ""}});
      for (auto it = left; it != left_.end() && it->first.first == hold; ++it) {
        if (it->first.second.object == object) given_back_.insert({operations_[hold - 1].object, object});
      }
    }
    collect();
    for (const Hold& hold : holds_) leave_out_notes(hold);
    std::vector<LockAndObject> kept = only_released_;
    for (const Hold& hold : holds_) keep(hold, kept);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
  }

 private:
  /// An object that an attempt left something in.
  struct Left {
    std::string_view object;
    bool was_free = false;  ///< nothing of anybody else was there
  };
  struct Written {
    bool was_free = false;
    bool is_taken_back = false;  ///< by the attempt itself
  };
  struct Hold {
    const Operation* attempt;
    std::vector<Left> left;
  };

  static bool takes(const Operation& o) { return o.function == "acquire" || o.function == "reenter"; }
  static OperationId hold_of(const Operation& o) { return o.function == "acquire" ? o.id : o.of; }

  static bool is_of(const Place& place, const Effect& effect) {
    return place.server == effect.server && place.object == effect.object;
  }

  /// Whether there is one lock, and whatever changes is one object (of several servers, perhaps).
  bool is_one_object(std::span<const Effect> effects) const {
    std::string_view object;
    for (const Effect& effect : effects) {
      if (effect.kind == Effect::Kind::read || effect.kind == Effect::Kind::reject) continue;
      if (object.empty()) object = effect.object;
      if (effect.object != object) return false;
    }
    return std::all_of(operations_.begin(), operations_.end(),
                       [&](const Operation& o) { return o.object == operations_.front().object; });
  }

  void follow(const Effect& effect) {
    if (effect.kind == Effect::Kind::read || effect.kind == Effect::Kind::reject) return;
    if (effect.kind == Effect::Kind::expire || effect.lives_until) has_lease_.insert(effect.object);
    const Operation* const operation = find_operation(operations_, effect.operation);
    const bool is_attempt = operation != nullptr && takes(*operation);
    const bool gives = operation != nullptr && (operation->function == "release" || operation->function == "leave");
    if (effect.kind == Effect::Kind::touch) return;
    if (gives && operation->of != 0) came_back_.insert({operation->of, effect.object});
    if (gives) released_.insert({operation->object, effect.object});
    // A list that is empty is gone as well.
    if (effect.kind != Effect::Kind::write) {
      const bool is_gone = is_whole(effect, history_) || effect.kind == Effect::Kind::remove;
      if (gives && is_gone) given_back_.insert({operation->object, effect.object});
      if (is_gone) {
        const Place first{effect.server, effect.object, ""};
        auto there = there_.lower_bound(first);
        while (there != there_.end() && is_of(there->first, effect)) there = there_.erase(there);
        if (!is_attempt) return;
        const OperationId hold = hold_of(*operation);
        auto left = left_.lower_bound({hold, first});
        for (; left != left_.end() && left->first.first == hold && is_of(left->first.second, effect); ++left)
          left->second.is_taken_back = true;
        return;
      }
    }
    changes_.clear();
    place_changes(effect, operation, history_, changes_);
    for (const PlaceChange& change : changes_) {
      const Place place{effect.server, effect.object, change.member};
      if (change.kind == PlaceChange::Kind::removed) {
        there_.erase(place);
        const auto left = is_attempt ? left_.find({hold_of(*operation), place}) : left_.end();
        if (left != left_.end()) left->second.is_taken_back = true;
        continue;
      }
      const auto [known, is_new] = there_.try_emplace(place, effect.by);
      const bool is_free = is_new || known->second == effect.by;
      known->second = effect.by;
      if (!is_attempt || hold_of(*operation) == 0) continue;
      Written& written = left_[{hold_of(*operation), place}];
      written.was_free = written.was_free || is_free;
      written.is_taken_back = false;
    }
  }

  /// How little it says that an attempt wrote there.
  static int doubt_of(const Operation& attempt, const Written& written) {
    return 2 * static_cast<int>(outcome_of(attempt)) + (written.is_taken_back ? 1 : 0);
  }

  /// Of each lock what those left that certainly got it; if there is none, what says less.
  void collect() {
    std::map<std::string_view, int> best;
    for (const auto& [key, written] : left_) {
      const Operation& attempt = operations_[key.first - 1];
      const auto [known, is_new] = best.try_emplace(attempt.object, doubt_of(attempt, written));
      known->second = std::min(known->second, doubt_of(attempt, written));
    }
    for (const auto& [key, written] : left_) {
      const Operation& attempt = operations_[key.first - 1];
      if (doubt_of(attempt, written) != best.at(attempt.object)) continue;
      if (holds_.empty() || holds_.back().attempt != &attempt) holds_.push_back({&attempt, {}});
      std::vector<Left>& left = holds_.back().left;
      const std::string_view object = key.second.object;
      const auto known = std::find_if(left.begin(), left.end(), [&](const Left& l) { return l.object == object; });
      if (known == left.end())
        left.push_back({object, written.was_free});
      else
        known->was_free = known->was_free || written.was_free;
    }
    // Nobody wrote anything: what releases change then is all there is.
    for (const LockAndObject& changed : released_) {
      if (!best.contains(changed.first)) only_released_.push_back(changed);
    }
  }

  bool is_given_back(const Hold& hold, const Left& left) const {
    return given_back_.contains({hold.attempt->object, left.object});
  }
  bool is_note(const Hold& hold, const Left& left) const {
    return notes_.contains({hold.attempt->object, left.object});
  }

  /// What it found taken, and wrote over, while it found something else free, is none of the lock's places: unless
  /// holds give it back.
  void leave_out_notes(const Hold& hold) {
    const bool found_free =
        std::any_of(hold.left.begin(), hold.left.end(), [](const Left& left) { return left.was_free; });
    for (const Left& left : hold.left) {
      if (found_free && !left.was_free && !is_given_back(hold, left))
        notes_.insert({hold.attempt->object, left.object});
    }
  }

  /// What is given back, if there is such; else what ends by itself; else all.
  void keep(const Hold& hold, std::vector<LockAndObject>& kept) const {
    const auto rank = [&](const Left& left) {
      if (is_note(hold, left)) return 3;
      return is_given_back(hold, left) ? 0 : has_lease_.contains(left.object) ? 1 : 2;
    };
    int best = 2;
    for (const Left& left : hold.left) best = std::min(best, rank(left));
    for (const Left& left : hold.left) {
      if (rank(left) == best) kept.emplace_back(hold.attempt->object, left.object);
    }
  }

  std::span<const Operation> operations_;
  const sim::History& history_;
  // The search asks at the end of every trace: no allocations of its own.
  std::array<std::byte, 8 * 1024> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::vector<PlaceChange> changes_;
  std::pmr::map<Place, sim::ProcessId> there_{&memory_};                         ///< who wrote last what is there
  std::pmr::map<std::pair<OperationId, Place>, Written> left_{&memory_};         ///< by hold: whether it found it free
  std::pmr::set<std::pair<OperationId, std::string_view>> came_back_{&memory_};  ///< what a hold's releases changed
  std::pmr::set<LockAndObject> given_back_{&memory_};
  std::pmr::set<std::string_view> has_lease_{&memory_};
  std::pmr::set<LockAndObject> notes_{&memory_};
  std::pmr::set<LockAndObject> released_{&memory_};  ///< what any releases changed
  std::vector<LockAndObject> only_released_;
  std::vector<Hold> holds_;
};

}  // namespace

LockObjects::LockObjects(std::span<const sim::Operation> operations, std::span<const sim::Effect> effects,
                         const sim::History& history)
    : objects_(Survey(operations, effects, history).objects()) {
  sim::costly_invariant(
      [&] { return std::adjacent_find(objects_.begin(), objects_.end(), std::greater_equal<>()) == objects_.end(); },
      "each object of a lock is listed once, in ascending order");
  sim::costly_invariant(
      [&] {
        return std::all_of(objects_.begin(), objects_.end(), [&](const LockAndObject& known) {
          return std::any_of(operations.begin(), operations.end(),
                             [&](const auto& o) { return o.object == known.first; }) &&
                 std::any_of(effects.begin(), effects.end(), [&](const auto& e) { return e.object == known.second; });
        });
      },
      "what is a lock's has been seen: an operation on the one, and an effect on the other");
}

bool LockObjects::contains(std::string_view lock, std::string_view object) const {
  // Most histories have one.
  if (objects_.size() == 1) return objects_.front() == std::pair(lock, object);
  return std::binary_search(objects_.begin(), objects_.end(), std::pair(lock, object));
}

std::span<const std::pair<std::string_view, std::string_view>> LockObjects::of(std::string_view lock) const {
  const auto first =
      std::partition_point(objects_.begin(), objects_.end(), [&](const auto& known) { return known.first < lock; });
  const auto end = std::partition_point(first, objects_.end(), [&](const auto& known) { return known.first == lock; });
  return {first, end};
}

bool LockObjects::contains(std::string_view object) const {
  return std::any_of(objects_.begin(), objects_.end(), [&](const auto& known) { return known.second == object; });
}

}  // namespace lockstep::checker
