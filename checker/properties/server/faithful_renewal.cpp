#include "checker/properties/server/faithful_renewal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/places.hpp"
#include "checker/properties/server/order_properties.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kFaithfulRenewal = "faithful-renewal";

struct RanOut {
  const sim::Effect* expiry = nullptr;
  const OwnershipInterval* hold = nullptr;
};

/// The first expiry of a renewed lease whose holder believes.
RanOut first_that_ran_out(const sim::History& history, const std::vector<OwnershipInterval>& intervals) {
  std::map<std::pair<sim::ProcessId, std::string_view>, sim::OperationId> grants;
  RanOut first;
  for (const sim::Effect& effect : history.effects) {
    const bool changes_grants = effect.kind == sim::Effect::Kind::write || effect.kind == sim::Effect::Kind::remove ||
                                effect.kind == sim::Effect::Kind::lose || effect.kind == sim::Effect::Kind::expire;
    if (!changes_grants) continue;
    sim::OperationId& grant = grants[{effect.server, effect.object}];
    if (effect.kind == sim::Effect::Kind::write) {
      const sim::Operation* operation = find_operation(history, effect.operation);
      if (operation != nullptr && operation->function == "acquire" && is_of_lock(effect.object, operation->object)) {
        grant = operation->id;
      }
    }
    if (effect.kind == sim::Effect::Kind::remove || effect.kind == sim::Effect::Kind::lose) grant = 0;
    if (effect.kind != sim::Effect::Kind::expire) continue;
    const sim::OperationId lost = std::exchange(grant, 0);
    if (lost == 0 || !history.operations[lost - 1].is_renewed) continue;
    const auto hold =
        std::lower_bound(intervals.begin(), intervals.end(), lost,
                         [](const OwnershipInterval& i, sim::OperationId acquire) { return i.acquire < acquire; });
    if (hold == intervals.end() || hold->acquire != lost || !hold->contains(effect.at)) continue;
    if (first.expiry == nullptr || compare(effect.at, first.expiry->at) < 0) first = {&effect, &*hold};
  }
  return first;
}

}  // namespace

Finding faithful_renewal(const sim::History& history, const Names& names) {
  return faithful_renewal(history, names, order_breaches(history));
}

Finding faithful_renewal(const sim::History& history, const Names& names, std::span<const Breach> breaches) {
  const std::vector<OwnershipInterval> intervals = ownership_intervals(history);
  const RanOut ran_out = first_that_ran_out(history, intervals);
  const Breach* zombie = nullptr;
  for (const Breach& breach : breaches) {
    if (breach.property == kFaithfulRenewal && (zombie == nullptr || compare(breach.at, zombie->at) < 0))
      zombie = &breach;
  }
  Finding finding{.property = kFaithfulRenewal, .view = View::server, .verdict = Verdict::violated};
  if (ran_out.expiry != nullptr && (zombie == nullptr || compare(ran_out.expiry->at, zombie->at) <= 0)) {
    finding.by = {ran_out.hold->process};
    finding.at = ran_out.expiry->at;
    finding.evidence = sorted_evidence({ran_out.hold->from_step, ran_out.expiry->step});
    finding.why =
        fmt::format("{}'s lease, which was to be renewed, had run out by {}, and it still believed to hold the lock",
                    name_of(names, ran_out.hold->process), time_text(ran_out.expiry->at));
    return finding;
  }
  if (zombie != nullptr) {
    finding.by = zombie->by;
    finding.at = zombie->at;
    finding.evidence = sorted_evidence({zombie->step});
    // The server may well have the lock still: whoever forgets to give it back has left it there.
    const sim::ProcessId whose = zombie->by.front();
    const auto last = std::find_if(history.operations.rbegin(), history.operations.rend(), [&](const auto& o) {
      const bool ends = o.function == "lost" || o.function == "release" || is_successful(o, "acquire");
      return ends && o.process == whose && compare(o.invoked, zombie->at) <= 0;
    });
    const bool forgot = last != history.operations.rend() && last->function == "lost";
    finding.why =
        fmt::format("at {} a renewal was sent for {}, which ", time_text(zombie->at), name_of(names, whose)) +
        (forgot ? fmt::format("was done with the lock from {} on and never gave it back", time_text(last->invoked))
                : "did not hold the lock any more");
    return finding;
  }
  finding.verdict = Verdict::holds;
  const auto renewals = static_cast<std::size_t>(
      std::count_if(history.operations.begin(), history.operations.end(),
                    [](const sim::Operation& operation) { return operation.function == "renew"; }));
  finding.why = renewals == 0 ? "no lease was renewed, and none that should have been ran out"
                              : counted(renewals, "renewal", "renewals") + ", all while the lock was held";
  return finding;
}

Property entries::faithful_renewal() {
  return {
      .name = "faithful-renewal",
      .view = View::server,
      .meaning = "Renewals go out for as long as the lock is held, and no longer.",
      .meaning_zh = "锁被持有期间续期一直进行，此后不再续期。",
      .question =
          "Did a renewal go out after the hold had ended, or did a lease that was to be renewed run out under its "
          "holder?",
      .is_seen =
          [](const OrderedHistory& history) {
            return std::any_of(history.operations.begin(), history.operations.end(), [](const sim::Operation& o) {
              return o.function == "renew" || (o.is_renewed && is_successful(o, "acquire"));
            });
          },
      .unseen = "no lease was renewed, and none was to be",
      .judge = [](const JudgedRun& run) { return checker::faithful_renewal(run.story, run.names, run.breaches()); }};
}

}  // namespace lockstep::checker
