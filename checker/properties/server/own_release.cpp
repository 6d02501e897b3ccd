#include "checker/properties/server/own_release.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/places.hpp"
#include "checker/properties/server/order_properties.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kOwnRelease = "own-release";

struct Grant {
  const sim::Operation* acquire;
  const sim::Effect* write;
  bool shares = false;  ///< with readers, or with others who count
};

/// The acquire that an effect can be a grant of; null if it is none.
const sim::Operation* granted_by(const sim::History& history, const LockObjects& locks, const sim::Effect& effect) {
  if (effect.kind != sim::Effect::Kind::write) return nullptr;
  const sim::Operation* operation = find_operation(history, effect.operation);
  // What else a lock keeps at the server (a queue, a counter) is no grant.
  const bool is_grant =
      operation != nullptr && is_successful(*operation, "acquire") && locks.contains(operation->object, effect.object);
  return is_grant ? operation : nullptr;
}

/// Whether the acquire whose grant this effect can be writes to the place no more.
bool is_last_write(const sim::History& history, const LockObjects& locks, const EffectsByOperation& effects,
                   const sim::Effect& effect, const Place& place) {
  const auto writes_there = [&](std::size_t position) {
    const sim::Effect& later = history.effects[position];
    if (later.server != place.server || later.object != place.object) return false;
    const sim::Operation* acquire = granted_by(history, locks, later);
    if (acquire == nullptr) return false;
    const std::vector<PlaceChange> changes = place_changes(later, acquire, history);
    return std::any_of(changes.begin(), changes.end(),
                       [&](const PlaceChange& change) { return change.member == place.member; });
  };
  const auto after = effects.after(effect.operation, static_cast<std::size_t>(&effect - history.effects.data()));
  return std::none_of(after.begin(), after.end(), writes_there);
}

/// What servers and renewals say of the ends of leases.
class LeaseEnds {
 public:
  void follow(const sim::Effect& effect, const sim::Operation* operation) {
    if (effect.kind != sim::Effect::Kind::write && effect.kind != sim::Effect::Kind::touch) return;
    const ServersObject here{effect.server, effect.object};
    if (effect.lives_until || !ends_.empty()) ends_[here] = effect.lives_until;
    if (operation != nullptr && operation->function == "renew") renewals_[{operation->of, here}] = operation;
  }
  /// When the server takes what is there to be over.
  std::optional<sim::Instant> at_server(const sim::Effect& removal) const {
    const auto known = ends_.find({removal.server, removal.object});
    return known == ends_.end() ? std::nullopt : known->second;
  }
  /// What the owner has announced by then. Each renewal announces anew, or nothing.
  std::optional<sim::Instant> announced(const sim::Operation& acquire, const sim::Effect& removal) const {
    const auto renewal = renewals_.find({acquire.id, {removal.server, removal.object}});
    return renewal == renewals_.end() ? acquire.lease_until : renewal->second->lease_until;
  }

 private:
  using ServersObject = std::pair<sim::ProcessId, std::string_view>;
  std::map<ServersObject, std::optional<sim::Instant>> ends_;
  std::map<std::pair<sim::OperationId, ServersObject>, const sim::Operation*> renewals_;  ///< the last
};

/// May a contender still not touch it at this moment?
bool is_alive(const Belief& belief, const OwnershipInterval& interval, const std::optional<sim::Instant>& announced,
              sim::Instant moment) {
  if (!announced) return !interval.to || compare(moment, *interval.to) < 0;
  if (belief.released && compare(belief.released->at, moment) <= 0) return false;
  if (belief.crashed && compare(belief.crashed->at, moment) <= 0) return false;
  return compare(moment, *announced) < 0;
}

Finding violated(const sim::History& history, const Grant& grant, const sim::Effect& removal,
                 const sim::Operation& operation, const std::optional<sim::Instant>& announced, const Names& names) {
  const sim::ProcessId owner = grant.acquire->process;
  const bool by_release = operation.function == "release";
  const sim::Operation* own = by_release ? find_operation(history, operation.of) : nullptr;
  const bool remover_first = own != nullptr && compare(own->completed, grant.acquire->completed) < 0;

  Finding finding{.property = kOwnRelease, .view = View::server, .verdict = Verdict::violated};
  finding.by = remover_first ? std::vector{removal.by, owner} : std::vector{owner, removal.by};
  finding.at = removal.at;
  finding.evidence = sorted_evidence({grant.write->step, operation.invoked_in, removal.step});
  finding.why =
      fmt::format("{}'s {} removed at {} the lock that {} had been granted at {}", name_of(names, removal.by),
                  operation.function, time_text(removal.at), name_of(names, owner), time_text(grant.write->at));
  if (!by_release) {
    finding.why +=
        announced ? fmt::format(" with a lease until {}", time_text(*announced)) : " and still believed to hold";
  }
  return finding;
}

Finding no_stranger_removes(const sim::History& history, const Names& names, const LockObjects& locks);

}  // namespace

Finding own_release(const sim::History& history, const Names& names) {
  const LockObjects locks(history.operations, history.effects, history);
  return own_release(history, names, order_breaches(history), locks);
}

Finding own_release(const sim::History& history, const Names& names, std::span<const Breach> breaches,
                    const LockObjects& locks) {
  const Finding removal = no_stranger_removes(history, names, locks);
  const Breach* overwritten = nullptr;
  for (const Breach& breach : breaches) {
    if (breach.property == kOwnRelease && (overwritten == nullptr || compare(breach.at, overwritten->at) < 0))
      overwritten = &breach;
  }
  const bool is_first = overwritten != nullptr && (!removal.at || compare(overwritten->at, *removal.at) < 0);
  if (!is_first) return removal;
  Finding finding{.property = kOwnRelease, .view = View::server, .verdict = Verdict::violated};
  finding.by = overwritten->by;
  finding.at = overwritten->at;
  finding.evidence = sorted_evidence({overwritten->step});
  finding.why =
      fmt::format("{}'s release found at {} what {}, who was refused, had written over its lock, and could not free it",
                  name_of(names, finding.by[0]), time_text(*finding.at), name_of(names, finding.by[1]));
  return finding;
}

namespace {

Finding no_stranger_removes(const sim::History& history, const Names& names, const LockObjects& locks) {
  LeaseEnds ends;
  // Mostly nobody asks for these.
  std::optional<std::vector<Belief>> beliefs;
  std::optional<std::vector<OwnershipInterval>> intervals;
  std::optional<EffectsByOperation> effects;
  const auto is_last = [&](const sim::Effect& effect, const Place& place) {
    if (!effects) effects.emplace(history.effects);
    return is_last_write(history, locks, *effects, effect, place);
  };
  const auto is_grant_alive = [&](const Grant& grant, const sim::Effect& removal) {
    if (const auto end = ends.at_server(removal); end && compare(*end, removal.at) <= 0) return false;
    if (!beliefs) beliefs = collect_beliefs(history);
    if (!intervals) intervals = ownership_intervals(history);
    const auto belief = std::lower_bound(beliefs->begin(), beliefs->end(), grant.acquire->id,
                                         [](const Belief& b, sim::OperationId acquire) { return b.acquire < acquire; });
    return is_alive(*belief, (*intervals)[static_cast<std::size_t>(belief - beliefs->begin())],
                    ends.announced(*grant.acquire, removal), removal.at);
  };

  // Several at one place: of those who share it. Places at which there is none are not kept.
  std::map<Place, std::vector<Grant>> grants;
  std::map<sim::OperationId, std::set<Place>> shared;  // by acquire: where it shares
  std::vector<PlaceChange> changes;
  std::size_t granted = 0;
  std::size_t removed = 0;
  bool is_unknown = false;
  const sim::Effect* before = nullptr;
  for (const sim::Effect& effect : history.effects) {
    const sim::Operation* operation = find_operation(history, effect.operation);
    // A part of the object is removed by a write: what that says of the end is of what it leaves.
    if (before != nullptr) ends.follow(*before, find_operation(history, before->operation));
    before = &effect;
    const bool gives_back = operation != nullptr && operation->function == "release";
    const bool changes_it = effect.kind != sim::Effect::Kind::read && effect.kind != sim::Effect::Kind::reject;
    if (gives_back && changes_it) {
      // Who shares ends his own.
      const auto own = shared.find(operation->of);
      for (const Place& place : own == shared.end() ? std::set<Place>{} : own->second) {
        const auto here = grants.find(place);
        if (here == grants.end() || place.server != effect.server || place.object != effect.object) continue;
        std::erase_if(here->second, [&](const Grant& g) { return g.shares && g.acquire->id == operation->of; });
        if (here->second.empty()) grants.erase(here);
      }
    }

    std::vector<Grant> lost;
    std::set<sim::OperationId> losers;
    const auto lose = [&](std::map<Place, std::vector<Grant>>::iterator here) {
      for (const Grant& grant : here->second) {
        if (losers.insert(grant.acquire->id).second) lost.push_back(grant);
      }
      return grants.erase(here);
    };
    bool is_removal = effect.kind == sim::Effect::Kind::remove && is_whole(effect, history);
    const bool is_over = effect.kind == sim::Effect::Kind::expire || effect.kind == sim::Effect::Kind::lose;
    if (is_removal || is_over) {
      auto here = grants.lower_bound({effect.server, effect.object, ""});
      while (here != grants.end() && here->first.server == effect.server && here->first.object == effect.object)
        here = lose(here);
    }
    if (is_over) continue;
    const sim::Operation* acquire = granted_by(history, locks, effect);
    changes.clear();
    place_changes(effect, operation, history, changes);
    for (const PlaceChange& change : changes) {
      const Place place{effect.server, effect.object, change.member};
      if (change.kind == PlaceChange::Kind::removed) {
        is_removal = true;
        if (const auto here = grants.find(place); here != grants.end()) lose(here);
        continue;
      }
      if (acquire == nullptr) continue;
      std::vector<Grant>& here = grants[place];
      const bool shares = acquire->is_shared || change.kind == PlaceChange::Kind::nameless;
      if (here.empty() || (here.front().shares && shares)) {
        const bool is_known =
            std::any_of(here.begin(), here.end(), [&](const Grant& grant) { return grant.acquire == acquire; });
        if (is_known) continue;
        here.push_back({acquire, &effect, shares});
        if (shares) shared[acquire->id].insert(place);
        is_unknown = is_unknown || (here.size() > 1 && change.kind == PlaceChange::Kind::nameless);
        ++granted;
        continue;
      }
      const Grant& present = here.front();
      if (present.acquire != acquire && (present.acquire->process == acquire->process || is_last(effect, place))) {
        here.assign(1, Grant{acquire, &effect, shares});
        if (shares) shared[acquire->id].insert(place);
        ++granted;
      }
    }
    if (!is_removal || lost.empty()) continue;

    ++removed;
    if (operation == nullptr) continue;
    for (const Grant& grant : lost) {
      if (effect.by == grant.acquire->process) continue;
      const bool is_wrong = (gives_back && !grant.acquire->is_shared) ||
                            ((gives_back || operation->function == "acquire") && is_grant_alive(grant, effect));
      if (is_wrong) return violated(history, grant, effect, *operation, ends.announced(*grant.acquire, effect), names);
    }
  }

  if (is_unknown) {
    return {.property = kOwnRelease,
            .view = View::server,
            .verdict = Verdict::unknown,
            .why =
                "the server counts who has the lock and keeps no place for each; the algorithm may say whose one "
                "is: client.granted, client.freed"};
  }
  Finding finding{.property = kOwnRelease, .view = View::server, .verdict = Verdict::holds};
  finding.why = granted == 0 ? "no lock was ever granted"
                             : fmt::format("{}, {} removed, none by a stranger", counted(granted, "grant", "grants"),
                                           removed == 0 ? "none" : fmt::format("{}", removed));
  if (granted != 0 && removed == 0) finding.why = counted(granted, "grant", "grants") + ", none removed by anybody";
  return finding;
}

}  // namespace

Property entries::own_release() {
  return {
      .name = "own-release",
      .view = View::server,
      .meaning = "Nobody removes a lock that the server granted to somebody else.",
      .meaning_zh = "任何客户端都不会删除服务器授予别人的锁。",
      .question = "Did anybody remove somebody else's lock?",
      .is_seen = has_grant,
      .unseen = "no server granted the lock: no acquire that succeeded wrote anything",
      .why_not_judged = [](const Circumstances& story) -> std::string_view {
        return story.is_semaphore ? "a semaphore lets several in: see capacity" : "";
      },
      .judge =
          [](const JudgedRun& run) { return checker::own_release(run.story, run.names, run.breaches(), run.locks()); },
      .headline = [](const BothLanguages& by, std::size_t) -> BothLanguages {
        return {"A release removes somebody else's lock: " + by.en, "释放删除了别人的锁：" + by.zh};
      }};
}

}  // namespace lockstep::checker
