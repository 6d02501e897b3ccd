#include "checker/properties/places.hpp"

#include <algorithm>
#include <numeric>

#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

using EffectKind = sim::Effect::Kind;

bool is_nameless(const sim::Effect& effect, const sim::History& history) {
  const auto members = history.members_of(effect);
  return std::any_of(members.begin(), members.end(),
                     [](const sim::MemberChange& change) { return change.kind == sim::MemberChange::Kind::nameless; });
}

}  // namespace

bool is_whole(const sim::Effect& effect, const sim::History& history) {
  if (effect.kind == EffectKind::expire || effect.kind == EffectKind::lose || effect.kind == EffectKind::touch)
    return true;
  // A list that is empty is no more, and so is a set; of the list no part has a name.
  return effect.kind == EffectKind::remove && !is_nameless(effect, history);
}

std::vector<PlaceChange> place_changes(const sim::Effect& effect, const sim::Operation* operation,
                                       const sim::History& history) {
  std::vector<PlaceChange> changes;
  place_changes(effect, operation, history, changes);
  return changes;
}

void place_changes(const sim::Effect& effect, const sim::Operation* operation, const sim::History& history,
                   std::vector<PlaceChange>& changes) {
  if (is_whole(effect, history) || (effect.kind != EffectKind::write && effect.kind != EffectKind::remove)) return;
  const std::size_t before = changes.size();
  bool has_nameless = false;
  for (const sim::MemberChange& change : history.members_of(effect)) {
    if (change.kind == sim::MemberChange::Kind::nameless) {
      has_nameless = true;
    } else {
      const bool is_removed = change.kind == sim::MemberChange::Kind::removed;
      changes.push_back({change.member, is_removed ? PlaceChange::Kind::removed : PlaceChange::Kind::written});
    }
  }
  if (!has_nameless && changes.size() > before) return;
  if (operation != nullptr && !operation->place.empty()) {
    const bool is_release = operation->function == "release";
    changes.push_back({operation->place, is_release ? PlaceChange::Kind::removed : PlaceChange::Kind::written});
  } else {
    changes.push_back({"", has_nameless ? PlaceChange::Kind::nameless : PlaceChange::Kind::written});
  }
}

EffectsByOperation::EffectsByOperation(std::span<const sim::Effect> effects) : positions_(effects.size()) {
  for (const sim::Effect& effect : effects) {
    if (effect.operation + 2 > begin_.size()) begin_.resize(effect.operation + 2, 0);
    ++begin_[effect.operation + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::size_t> next = begin_;
  for (std::size_t i = 0; i < effects.size(); ++i) positions_[next[effects[i].operation]++] = i;
}

std::span<const std::size_t> EffectsByOperation::after(sim::OperationId operation, std::size_t position) const {
  if (operation + 1 >= begin_.size()) return {};
  const auto all = std::span(positions_).subspan(begin_[operation], begin_[operation + 1] - begin_[operation]);
  sim::costly_invariant([&] { return std::is_sorted(all.begin(), all.end()); },
                        "the effects of an operation stand in their order");
  return all.subspan(static_cast<std::size_t>(std::upper_bound(all.begin(), all.end(), position) - all.begin()));
}

}  // namespace lockstep::checker
