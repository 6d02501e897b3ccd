// The ways to break own-release. The grants are those of own_release.hpp, in the servers' order.

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "checker/properties/evidence.hpp"
#include "checker/properties/places.hpp"
#include "checker/violations/violations.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {

void ViolationFinder::own_release() {
  place_changes_.clear();
  changes_of_.clear();
  bool is_counted = false;
  for (const sim::Effect& effect : effects_) {
    const std::size_t begin = place_changes_.size();
    place_changes(effect, operation_of(effect), *history_, place_changes_);
    changes_of_.push_back({begin, place_changes_.size()});
    for (const PlaceChange& change : changes_at(changes_of_.size() - 1)) {
      is_counted = is_counted || change.kind == PlaceChange::Kind::nameless;
    }
  }
  sim::invariant(changes_of_.size() == effects_.size(), "each effect has its changes of places, or none");
  for (std::size_t i = 0; i < effects_.size(); ++i) {
    const sim::Effect& removal = effects_[i];
    const sim::Operation* operation = operation_of(removal);
    if (operation == nullptr || (operation->function != "release" && operation->function != "acquire")) continue;
    members_.clear();
    const auto add_member = [&](std::string_view member) {
      if (std::find(members_.begin(), members_.end(), member) == members_.end()) members_.push_back(member);
    };
    for (const PlaceChange& change : changes_at(i)) {
      if (change.kind == PlaceChange::Kind::removed) add_member(change.member);
    }
    // Of what is removed as a whole, all members that there ever were.
    if (removal.kind == sim::Effect::Kind::remove && is_whole(removal, *history_)) {
      for (std::size_t j = 0; j < i; ++j) {
        if (effects_[j].server != removal.server || effects_[j].object != removal.object) continue;
        for (const PlaceChange& change : changes_at(j)) add_member(change.member);
      }
    }
    for (const std::string_view member : members_) {
      for (const sim::Operation* owner : owners_before(i, member)) removes_grant(i, *operation, *owner);
    }
  }
  if (is_counted) counted_places();
}

std::span<const PlaceChange> ViolationFinder::changes_at(std::size_t effect) const {
  return std::span(place_changes_)
      .subspan(changes_of_[effect].begin, changes_of_[effect].end - changes_of_[effect].begin);
}

/// The acquires whose grants lie at a place just before an effect, or before what it does to this member.
std::vector<const sim::Operation*> ViolationFinder::owners_before(std::size_t position, std::string_view member) {
  const sim::Effect& last = effects_[position];
  struct Owner {
    const sim::Operation* acquire;
    bool shares;
  };
  std::vector<Owner> owners;
  for (std::size_t j = 0; j <= position; ++j) {
    const sim::Effect& effect = effects_[j];
    if (effect.server != last.server || effect.object != last.object) continue;
    const sim::Operation* operation = operation_of(effect);
    const bool is_change = effect.kind != sim::Effect::Kind::read && effect.kind != sim::Effect::Kind::reject;
    if (is_change && operation != nullptr && operation->function == "release") {
      std::erase_if(owners, [&](const Owner& owner) { return owner.shares && owner.acquire->id == operation->of; });
    }
    if (j == position) break;
    if (is_whole(effect, *history_) && effect.kind != sim::Effect::Kind::touch) owners.clear();
    for (const PlaceChange& change : changes_at(j)) {
      if (change.member != member) continue;
      if (change.kind == PlaceChange::Kind::removed) owners.clear();
      const bool is_grant = change.kind != PlaceChange::Kind::removed && effect.kind == sim::Effect::Kind::write &&
                            operation != nullptr && is_successful(*operation, "acquire") &&
                            locks_.contains(operation->object, effect.object);
      if (!is_grant) continue;
      const bool shares = operation->is_shared || change.kind == PlaceChange::Kind::nameless;
      if (owners.empty() || (owners.front().shares && shares)) {
        const bool is_known =
            std::any_of(owners.begin(), owners.end(), [&](const Owner& owner) { return owner.acquire == operation; });
        if (!is_known) owners.push_back({operation, shares});
        continue;
      }
      if (owners.front().acquire == operation) continue;
      bool is_last = true;
      for (std::size_t later = j + 1; later < effects_.size() && is_last; ++later) {
        const sim::Effect& other = effects_[later];
        if (other.operation != effect.operation || other.server != effect.server || other.object != effect.object ||
            other.kind != sim::Effect::Kind::write) {
          continue;
        }
        const auto changes = changes_at(later);
        is_last =
            std::none_of(changes.begin(), changes.end(), [&](const PlaceChange& c) { return c.member == member; });
      }
      if (owners.front().acquire->process == operation->process || is_last) owners.assign(1, {operation, shares});
    }
  }
  std::vector<const sim::Operation*> acquires;
  for (const Owner& owner : owners) acquires.push_back(owner.acquire);
  return acquires;
}

/// Where several have had something at a place that has no names for each, whose it was is not known: a run says
/// unknown.
void ViolationFinder::counted_places() {
  for (std::size_t i = 1; i < effects_.size(); ++i) {
    const sim::Operation* operation = operation_of(effects_[i]);
    if (operation == nullptr || !is_successful(*operation, "acquire") ||
        !locks_.contains(operation->object, effects_[i].object) || effects_[i].kind != sim::Effect::Kind::write) {
      continue;
    }
    for (const PlaceChange& change : changes_at(i)) {
      if (change.kind != PlaceChange::Kind::nameless) continue;
      const auto owners = owners_before(i, change.member);
      if (owners.empty() || (owners.size() == 1 && owners.front() == operation)) continue;
      begin("own-release", true, operation->process, {});
      finish();
      return;
    }
  }
}

ViolationFinder::KnownEnd ViolationFinder::lease_before(std::size_t position, const sim::Operation& owner) const {
  KnownEnd end{.at_server = {}, .announced = owner.lease_until};
  for (std::size_t j = 0; j < position; ++j) {
    const sim::Effect& effect = effects_[j];
    if (effect.server != effects_[position].server || effect.object != effects_[position].object) continue;
    if (effect.kind != sim::Effect::Kind::write && effect.kind != sim::Effect::Kind::touch) continue;
    end.at_server = effect.lives_until;
    const sim::Operation* operation = operation_of(effect);
    if (operation != nullptr && operation->function == "renew" && operation->of == owner.id)
      end.announced = operation->lease_until;
  }
  return end;
}

/// The ways in which a removal takes this grant away wrongly.
void ViolationFinder::removes_grant(std::size_t position, const sim::Operation& remover, const sim::Operation& owner) {
  const sim::Effect& removal = effects_[position];
  if (owner.process == removal.by || mutant_ == JudgingMutant::own_by_all) return;
  if (remover.function == "release" && !owner.is_shared) {
    begin("own-release", false, owner.process, removal.by);
    finish();
    return;
  }
  const std::size_t belief = belief_of_[owner.id];
  const KnownEnd end = lease_before(position, owner);
  const auto begin_alive = [&](bool is_widened) {
    begin("own-release", is_widened, owner.process, removal.by);
    if (end.at_server) require(removal.at, *end.at_server, true);
  };
  if (end.announced) {
    begin_alive(false);
    require(removal.at, *end.announced, true);
    if (beliefs_[belief].released) require(removal.at, beliefs_[belief].released->at, true);
    if (beliefs_[belief].crashed) require(removal.at, beliefs_[belief].crashed->at, true);
    finish();
    return;
  }
  const BeliefWays ways = alive_ways(belief);
  for (std::size_t w = ways.begin; w < ways.end; ++w) {
    begin_alive(ways_[w].is_widened);
    add_alive(ways_[w], removal.at);
    add_sides(ways_[w].sides);
    finish();
  }
}

}  // namespace lockstep::checker
