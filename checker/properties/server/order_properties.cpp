#include "checker/properties/server/order_properties.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/interruptions.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/places.hpp"

namespace lockstep::checker {
namespace {

using sim::Effect;
using sim::Operation;
using sim::OperationId;
/// One server's object.
using ServersObject = std::pair<sim::ProcessId, std::string_view>;

/// What one operation did at one object.
struct Deed {
  bool was_own = false;        ///< it did something to a place that was its thread's, alone or together with others
  bool removed = false;        ///< and that was to remove it
  bool removed_outer = false;  ///< and an outer acquire had been granted it
  bool is_left = false;        ///< after its last effect its thread had some place there
  bool nameless = false;       ///< several had something there that has no names
  sim::Instant at;
  sim::Step step = sim::no_step;
};

/// One operation did something at one object.
struct Visit {
  sim::ProcessId server;
  std::string_view object;
  std::uint32_t before = 0;  ///< the same operation's visit before this one
  bool returned = false;     ///< it removed something there, or looked again

  bool is_at(sim::ProcessId at_server, std::string_view at_object) const {
    return server == at_server && object == at_object;
  }
};
constexpr std::uint32_t kNoVisit = 0xffffffff;

struct Owner {
  sim::ProcessId thread;
  OperationId hold = 0;
  bool shares = false;  ///< its own release ends it, whatever is left
};

struct OwnedPlace {
  boost::container::small_vector<Owner, 2> owners;
  OperationId overwritten_by = 0;  ///< a refused acquire of somebody else, whose text lies there
  bool had_several = false;        ///< of nameless parts, since it was last removed

  bool is_of(sim::ProcessId thread) const {
    return std::any_of(owners.begin(), owners.end(), [&](const Owner& owner) { return owner.thread == thread; });
  }
};

template <class Predicate>
void remove_owners(OwnedPlace& owned, const Predicate& is_removed) {
  owned.owners.erase(std::remove_if(owned.owners.begin(), owned.owners.end(), is_removed), owned.owners.end());
}

class Order {
 public:
  Order(const OrderedHistory& history, const LockObjects& locks)
      : operations_(history.operations), effects_(history.effects), history_(history.history), locks_(locks) {
    last_visit_.resize(operations_.size() + 1, kNoVisit);
    for (const Effect& effect : effects_) follow(effect);
  }

  std::vector<Breach> breaches() {
    reports();
    refusals();
    nesting();
    renewals();
    return std::move(found_);
  }

 private:
  const Operation* find(OperationId id) const { return find_operation(operations_, id); }
  std::span<const PlaceChange> changes_of(const Effect& effect, const Operation* operation) {
    changes_.clear();
    place_changes(effect, operation, history_, changes_);
    return changes_;
  }
  static bool takes(const Operation& o) { return o.function == "acquire" || o.function == "reenter"; }
  static bool gives(const Operation& o) { return o.function == "release" || o.function == "leave"; }
  static OperationId hold_of(const Operation& o) { return o.function == "acquire" ? o.id : o.of; }

  /// All places of an object that have ever had an owner.
  template <class Do>
  void each_place(const Effect& effect, const Do& action) {
    const sim::ProcessId server = effect.server;
    const std::string_view object = effect.object;
    for (auto it = places_.lower_bound({server, object, ""}); it != places_.end(); ++it) {
      if (it->first.server != server || it->first.object != object) break;
      action(it->first, it->second);
    }
  }

  /// Notes that the effect's operation did something there. Who comes back to it tries to take back what he made.
  void visit(const Effect& effect) {
    std::uint32_t& last = last_visit_[effect.operation];
    std::uint32_t here = last;
    while (here != kNoVisit && !visits_[here].is_at(effect.server, effect.object)) here = visits_[here].before;
    const bool is_known_here = here != kNoVisit;
    if (!is_known_here) {
      visits_.push_back({.server = effect.server, .object = effect.object, .before = last});
      here = last = static_cast<std::uint32_t>(visits_.size() - 1);
    }
    if (effect.kind == Effect::Kind::remove || (effect.kind == Effect::Kind::read && is_known_here))
      visits_[here].returned = true;
  }

  void follow(const Effect& effect) {
    const Operation* operation = find(effect.operation);
    if (operation != nullptr) visit(effect);
    if (operation != nullptr && operation->function == "release" && operation->phase == sim::Phase::fail)
      look_for_overwriters(effect, *operation);
    const ServersObject here{effect.server, effect.object};
    if (!kept_.empty() && (effect.kind == Effect::Kind::read || effect.kind == Effect::Kind::remove)) {
      take_back(effect.operation, here);
    }
    if (effect.kind == Effect::Kind::read || effect.kind == Effect::Kind::reject) return;
    const bool is_of_its_lock = operation != nullptr && locks_.contains(operation->object, effect.object);
    Deed* const deed = is_of_its_lock && is_judged(*operation) ? &deed_of(effect, *operation) : nullptr;
    if (is_whole(effect, history_)) {
      if (deed != nullptr) {
        each_place(effect, [&](const Place& place, OwnedPlace& owned) {
          note(*deed, *operation, place, owned, effect.kind == Effect::Kind::remove);
        });
      }
      if (deed != nullptr) deed->is_left = false;
      if (deed != nullptr && effect.kind == Effect::Kind::touch) see_what_is_left(*deed, effect, *operation);
      if (effect.kind == Effect::Kind::touch) return;
      each_place(effect, [&](const Place&, const OwnedPlace& owned) { end(effect, operation, owned); });
      erase_of_object(places_, here, [](const auto& owned) -> const Place& { return owned.first; });
      erase_of_object(there_, here, [](const Place& place) -> const Place& { return place; });
      if (!kept_.empty()) end_kept(effect, here);
      return;
    }
    for (const PlaceChange& change : changes_of(effect, operation)) {
      const Place place{effect.server, effect.object, change.member};
      OwnedPlace& owned = places_[place];
      const bool is_removed = change.kind == PlaceChange::Kind::removed;
      const bool is_nameless = change.kind == PlaceChange::Kind::nameless;
      if (deed != nullptr) note(*deed, *operation, place, owned, is_removed);
      if (change.kind == PlaceChange::Kind::written) owned.overwritten_by = 0;
      if (is_of_its_lock && takes(*operation) && !is_removed && effect.kind == Effect::Kind::write)
        take(effect, *operation, place, owned, is_nameless);
      if (is_removed) {
        end(effect, operation, owned);
        places_.erase(place);
        there_.erase(place);
        kept_.erase({effect.operation, place});
      } else {
        there_.insert(place);
      }
    }
    if (deed != nullptr) see_what_is_left(*deed, effect, *operation);
    if (!is_of_its_lock || operation->function != "release") return;
    const auto shared = shared_.find(operation->of);
    if (shared == shared_.end()) return;
    for (const Place& place : shared->second) {
      const auto owned = places_.find(place);
      if (owned == places_.end() || place.server != effect.server || place.object != effect.object) continue;
      remove_owners(owned->second, [&](const Owner& owner) { return owner.shares && owner.hold == operation->of; });
    }
  }

  void see_what_is_left(Deed& deed, const Effect& effect, const Operation& operation) {
    deed.is_left = false;
    each_place(effect, [&](const Place&, const OwnedPlace& owned) {
      deed.is_left = deed.is_left || owned.is_of(thread_of(operation));
    });
  }

  /// All that a set or a map has of one object; `place_of`: of an element.
  template <class Sorted, class PlaceOf>
  static void erase_of_object(Sorted& all, const ServersObject& here, const PlaceOf& place_of) {
    auto element = all.lower_bound({here.first, here.second, ""});
    while (element != all.end() && ServersObject{place_of(*element).server, place_of(*element).object} == here)
      element = all.erase(element);
  }

  /// What a failed acquire made there is kept no more.
  void take_back(OperationId operation, const ServersObject& here) {
    auto kept = kept_.lower_bound({operation, {here.first, here.second, ""}});
    while (kept != kept_.end() && kept->first == operation &&
           ServersObject{kept->second.server, kept->second.object} == here)
      kept = kept_.erase(kept);
  }

  /// The object is gone. What has run out by the time its maker comes back to it is not kept.
  void end_kept(const Effect& effect, const ServersObject& here) {
    take_back(effect.operation, here);
    if (effect.kind == Effect::Kind::lose) {
      std::erase_if(kept_,
                    [&](const auto& kept) { return ServersObject{kept.second.server, kept.second.object} == here; });
    }
    if (effect.kind != Effect::Kind::expire) return;
    if (in_step_.empty()) {
      for (const Effect& each : effects_) in_step_.emplace_back(each.step, each.operation);
      std::sort(in_step_.begin(), in_step_.end());
    }
    auto back = std::lower_bound(in_step_.begin(), in_step_.end(), std::pair(effect.step, OperationId{0}));
    for (; back != in_step_.end() && back->first == effect.step; ++back) take_back(back->second, here);
  }

  /// Whether it came back to the lock at other servers, and never to this one: what was sent here got lost, or the
  /// server that told this one of it does no longer. In which order that was is no question: no two servers have one.
  bool tried_elsewhere(OperationId operation, const Place& place) const {
    bool came = false;
    for (std::uint32_t i = last_visit_[operation]; i != kNoVisit; i = visits_[i].before) {
      const Visit& visit = visits_[i];
      if (!visit.returned || visit.object != place.object) continue;
      if (visit.server == place.server) return false;
      came = true;
    }
    return came;
  }

  /// Whether a later command of the same operation changes this place, too.
  bool comes_back_to(const Place& place, const Effect& effect, const Operation& operation) {
    if (!by_operation_) by_operation_.emplace(effects_);
    const auto changes_it = [&](std::size_t position) {
      const Effect& later = effects_[position];
      if (later.server != place.server || later.object != place.object) return false;
      const std::vector<PlaceChange> changes = place_changes(later, &operation, history_);
      return std::any_of(changes.begin(), changes.end(),
                         [&](const PlaceChange& change) { return change.member == place.member; });
    };
    const auto after = by_operation_->after(operation.id, static_cast<std::size_t>(&effect - effects_.data()));
    return std::any_of(after.begin(), after.end(), changes_it);
  }

  /// The effect is the last of it.
  Deed& deed_of(const Effect& effect, const Operation& operation) {
    Deed& deed = deeds_[{operation.id, {effect.server, effect.object}}];
    deed.at = effect.at;
    deed.step = effect.step;
    return deed;
  }
  static bool is_judged(const Operation& o) { return gives(o) || o.function == "renew"; }
  sim::ProcessId thread_of(const Operation& o) const {
    const Operation* hold = find(o.of);
    return hold == nullptr ? o.process : hold->process;
  }

  void note(Deed& deed, const Operation& operation, const Place& place, const OwnedPlace& owned, bool is_removal) {
    deed.nameless = deed.nameless || owned.had_several;
    if (!owned.is_of(thread_of(operation))) return;
    deed.was_own = true;
    if (!is_removal) return;
    deed.removed = true;
    for (const Owner& owner : owned.owners) {
      const bool is_own = owner.thread == thread_of(operation);
      deed.removed_outer = deed.removed_outer || (is_own && outer_.contains({owner.hold, place}));
    }
    given_[operation.id].insert(place);
  }

  /// A release that says it failed finds at a place of its hold what a refused acquire has left there.
  void look_for_overwriters(const Effect& effect, const Operation& release) {
    each_place(effect, [&](const Place&, OwnedPlace& owned) {
      if (owned.overwritten_by == 0 || owned.owners.size() != 1 || owned.owners.front().hold != release.of) return;
      const sim::ProcessId other = find(owned.overwritten_by)->process;
      owned.overwritten_by = 0;
      add("own-release", {release.process, other}, release, effect.at, effect.step);
    });
  }

  /// An acquire, or a further one, writes to a place.
  void take(const Effect& effect, const Operation& operation, const Place& place, OwnedPlace& owned, bool is_nameless) {
    if (operation.phase == sim::Phase::fail) {
      if (!there_.contains(place) && operation.function == "acquire") kept_.insert({operation.id, place});
      const bool is_others = !owned.owners.empty() && owned.owners.front().thread != operation.process;
      if (is_others && !is_nameless && operation.function == "acquire") owned.overwritten_by = operation.id;
      return;
    }
    const OperationId hold = hold_of(operation);
    const bool is_certain = operation.phase == sim::Phase::ok;
    if (is_certain) granted_[hold].insert(place);
    if (operation.function == "acquire") outer_.insert({hold, place});
    const auto is_it = [&](const Owner& owner) { return owner.hold == hold; };
    const auto is_others = [&](const Owner& owner) { return owner.thread != operation.process; };
    if (std::any_of(owned.owners.begin(), owned.owners.end(), is_it)) return;
    const bool shares = operation.is_shared || is_nameless;
    if (is_certain && !shares && std::any_of(owned.owners.begin(), owned.owners.end(), is_others)) {
      // What it writes before it has won is nobody's.
      if (comes_back_to(place, effect, operation)) return;
      remove_owners(owned, is_others);
    }
    owned.owners.push_back({operation.process, hold, shares});
    if (shares) shared_[hold].insert(place);
    if (!is_nameless || owned.owners.size() == 1) return;
    owned.had_several = true;
    for (const Owner& owner : owned.owners) unknowable_.insert(owner.hold);
  }

  /// Somebody else's command took it away: the hold was not safe from others.
  void end(const Effect& effect, const Operation* operation, const OwnedPlace& owned) {
    for (const Owner& owner : owned.owners) {
      const bool is_robbed = operation == nullptr || operation->process != owner.thread;
      if (effect.kind != Effect::Kind::expire && is_robbed) robbed_.insert(owner.thread);
    }
  }

  void add(std::string_view property, std::vector<sim::ProcessId> by, const Operation& operation, sim::Instant at,
           sim::Step step, bool is_unknown = false) {
    found_.push_back({property, std::move(by), operation.id, at, step, is_unknown});
  }

  /// Whether the bench knows where the hold of this report was.
  bool is_known(const Operation& report) const {
    if (report.of == 0) return true;
    constexpr sim::ProcessId first{0};
    for (auto deed = deeds_.lower_bound({report.id, {first, ""}});
         deed != deeds_.end() && deed->first.first == report.id; ++deed) {
      if (deed->second.nameless) return false;
    }
    return granted_.contains(report.of) && !unknowable_.contains(report.of);
  }

  void reports() {
    for (const Operation& o : operations_) {
      const bool is_report = o.function == "release" || o.function == "leave" || o.function == "renew";
      if (!is_report || o.phase != sim::Phase::ok) continue;
      bool did_something = false;
      bool was_own = false;
      constexpr sim::ProcessId first{0};
      for (auto deed = deeds_.lower_bound({o.id, {first, ""}}); deed != deeds_.end() && deed->first.first == o.id;
           ++deed) {
        did_something = true;
        was_own = was_own || deed->second.was_own;
      }
      if (was_own || (o.function == "leave" && !did_something)) continue;
      const Operation* hold = find(o.of);
      add("truthful-reports", {hold == nullptr ? o.process : hold->process}, o, o.completed, o.completed_in,
          !is_known(o));
    }
  }

  /// Success that is reported as failure.
  void refusals() {
    for (const Operation& o : operations_) {
      if (o.phase != sim::Phase::fail) continue;
      if (o.function == "release") {
        const auto granted = granted_.find(o.of);
        const auto given = given_.find(o.id);
        if (granted == granted_.end() || given == given_.end()) continue;
        const bool gave_all = std::all_of(granted->second.begin(), granted->second.end(),
                                          [&](const Place& place) { return given->second.contains(place); });
        if (gave_all) add("truthful-reports", {o.process}, o, o.completed, o.completed_in);
      }
      bool keeps = false;
      for (auto kept = kept_.lower_bound({o.id, Place{sim::ProcessId{0}, "", ""}});
           kept != kept_.end() && kept->first == o.id && !keeps; ++kept)
        keeps = !tried_elsewhere(o.id, kept->second);
      if (o.function == "acquire" && keeps) add("truthful-reports", {o.process}, o, o.completed, o.completed_in);
    }
  }

  void nesting() {
    for (const auto& [key, deed] : deeds_) {
      const Operation& o = operations_[key.first - 1];
      if (o.function == "leave" && deed.removed_outer && !deed.is_left) {
        add("reentrancy", {o.process}, o, deed.at, deed.step);
      }
      if (o.function != "release" || o.phase != sim::Phase::ok || !deed.was_own || deed.removed) continue;
      const Operation* hold = find(o.of);
      if (hold == nullptr || hold->is_shared || deed.nameless) continue;
      if (is_still_entered(hold->id)) continue;
      add("reentrancy", {o.process}, o, deed.at, deed.step);
    }
    for (const Operation& o : operations_) {
      if (o.function != "reenter" || o.phase != sim::Phase::fail) continue;
      const Operation* hold = find(o.of);
      if (hold == nullptr || !was_certain(*hold)) continue;
      add("reentrancy", {o.process}, o, o.completed, o.completed_in);
    }
  }

  /// Whether this hold was entered again more often than left.
  bool is_still_entered(OperationId hold) {
    if (entered_.empty()) {
      entered_.assign(operations_.size() + 1, 0);
      for (const Operation& o : operations_) {
        if (o.of >= entered_.size()) continue;
        // An attempt of unknown outcome may have counted.
        if (o.function == "reenter" && (o.phase == sim::Phase::ok || o.phase == sim::Phase::info)) ++entered_[o.of];
        if (o.function == "leave" && o.phase == sim::Phase::ok) --entered_[o.of];
      }
    }
    return entered_[hold] > 0;
  }

  /// Whether nothing but the thread itself ever ended this hold: its release found all of it, and removed it.
  bool was_certain(const Operation& hold) {
    if (releases_.empty()) {
      releases_.assign(operations_.size() + 1, Releases::none);
      for (const auto& [key, deed] : deeds_) {
        const Operation& o = operations_[key.first - 1];
        if (o.function != "release" || o.of >= releases_.size() || releases_[o.of] == Releases::some_left) continue;
        releases_[o.of] = deed.was_own && deed.removed ? Releases::removed : Releases::some_left;
      }
    }
    return releases_[hold.id] == Releases::removed && !robbed_.contains(hold.process);
  }

  void renewals() {
    // By hold: in which step it had been released, or its thread learnt that it had lost it.
    std::pmr::vector<sim::Step> over_in(operations_.size() + 1, sim::no_step, &memory_);
    for (const Operation& end : operations_) {
      if (end.of >= over_in.size() || (end.function != "release" && end.function != "lost")) continue;
      if (end.phase != sim::Phase::invoke) over_in[end.of] = std::min(over_in[end.of], end.completed_in);
    }
    const Crashes crashes(history_.interruptions);
    for (const Operation& renewal : operations_) {
      if (renewal.function != "renew") continue;
      const Operation* hold = find(renewal.of);
      if (hold == nullptr) continue;
      const bool is_over = over_in[hold->id] < renewal.invoked_in;
      const sim::Interruption* crash = crashes.first(hold->process, hold->completed_in);
      if (is_over || (crash != nullptr && crash->step < renewal.invoked_in)) {
        add("faithful-renewal", {hold->process}, renewal, renewal.invoked, renewal.invoked_in);
      }
    }
  }

  std::span<const Operation> operations_;
  std::span<const Effect> effects_;
  const sim::History& history_;
  const LockObjects& locks_;
  // The search asks at the end of every trace: what is remembered of one has no allocations of its own, and goes all at
  // once.
  std::array<std::byte, 16 * 1024> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::vector<PlaceChange> changes_;
  std::pmr::map<Place, OwnedPlace> places_{&memory_};
  std::pmr::map<std::pair<OperationId, ServersObject>, Deed> deeds_{&memory_};
  std::pmr::map<OperationId, std::pmr::set<Place>> granted_{
      &memory_};  ///< by hold: places that were certainly its own at some time
  std::pmr::set<std::pair<OperationId, Place>> outer_{
      &memory_};                                     ///< by hold: what its acquire wrote to, no further one
  std::pmr::set<OperationId> unknowable_{&memory_};  ///< holds that were among several at a nameless place
  std::pmr::map<OperationId, std::pmr::set<Place>> given_{&memory_};  ///< by release: places of its own that it removed
  std::pmr::set<Place> there_{&memory_};                              ///< what exists
  std::pmr::vector<Visit> visits_{&memory_};
  std::pmr::vector<std::uint32_t> last_visit_{&memory_};         ///< by operation: its last place in `visits_`
  std::pmr::set<std::pair<OperationId, Place>> kept_{&memory_};  ///< what failed acquires made, and have not taken back
  std::pmr::map<OperationId, std::pmr::set<Place>> shared_{&memory_};  ///< by hold: places that it has with others
  std::pmr::set<sim::ProcessId> robbed_{&memory_};
  // These are made when somebody asks first.
  enum class Releases : std::uint8_t { none, removed, some_left };
  std::vector<Releases> releases_;  ///< by hold: what its releases found, and left, of it
  std::vector<int> entered_;        ///< by hold: how much more often it was entered again than left
  std::vector<std::pair<sim::Step, OperationId>> in_step_;  ///< by step: who did something
  std::optional<EffectsByOperation> by_operation_;
  std::vector<Breach> found_;
};

}  // namespace

std::vector<Breach> order_breaches(const OrderedHistory& history) {
  const bool has_nothing = std::none_of(history.operations.begin(), history.operations.end(), [](const Operation& o) {
    const bool is_report = o.function == "release" || o.function == "leave" || o.function == "renew";
    return is_report || o.function == "reenter" || (o.function == "acquire" && o.phase == sim::Phase::fail);
  });
  if (has_nothing) return {};
  if (history.locks != nullptr) return Order(history, *history.locks).breaches();
  return Order(history, LockObjects(history.operations, history.effects, history.history)).breaches();
}

std::vector<Breach> order_breaches(const sim::History& history) {
  return order_breaches(OrderedHistory::all_of(history));
}

}  // namespace lockstep::checker
