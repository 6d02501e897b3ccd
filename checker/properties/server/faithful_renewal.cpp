#include "checker/properties/server/faithful_renewal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "checker/properties/entries.hpp"
#include "checker/properties/evidence.hpp"
#include "checker/properties/lock_objects.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "sim/invariant.hpp"

namespace lockstep::checker {
namespace {

constexpr std::string_view kFaithfulRenewal = "faithful-renewal";

struct RanOut {
  const sim::Effect* told = nullptr;
  const sim::Effect* after = nullptr;
  const OwnershipInterval* hold = nullptr;
  sim::Instant at;
};

/// The first end of a renewed lease whose holder believes.
std::optional<RanOut> first_that_ran_out(const sim::History& history, const std::vector<OwnershipInterval>& intervals,
                                         const LockObjects& locks) {
  std::optional<RanOut> first;
  for (const LeaseEnd& end : ends_of_renewed_leases(history.operations, history.effects, locks)) {
    if (end.after != nullptr && compare(end.at, end.after->at) > 0) continue;
    const auto hold =
        std::lower_bound(intervals.begin(), intervals.end(), end.acquire->id,
                         [](const OwnershipInterval& i, sim::OperationId acquire) { return i.acquire < acquire; });
    if (hold == intervals.end() || hold->acquire != end.acquire->id || !hold->contains(end.at)) continue;
    if (end.after == nullptr && !hold->to) continue;
    if (!first || compare(end.at, first->at) < 0) first = {end.told, end.after, &*hold, end.at};
  }
  return first;
}

}  // namespace

std::vector<LeaseEnd> ends_of_renewed_leases(std::span<const sim::Operation> operations,
                                             std::span<const sim::Effect> effects, const LockObjects& locks) {
  struct Lease {
    const sim::Operation* acquire = nullptr;
    const sim::Effect* told = nullptr;  ///< if the server knows when it is over
  };
  std::vector<LeaseEnd> ends;
  const bool is_any = std::any_of(operations.begin(), operations.end(), [](const sim::Operation& operation) {
    return operation.is_renewed && is_successful(operation, "acquire");
  });
  if (!is_any) return ends;
  std::map<std::pair<sim::ProcessId, std::string_view>, Lease> leases;
  const auto end = [&](const Lease& lease, const sim::Effect* after) {
    if (lease.acquire == nullptr || !lease.acquire->is_renewed || !is_successful(*lease.acquire, "acquire")) return;
    if (lease.told != nullptr)
      ends.push_back({lease.acquire, lease.told, after, *lease.told->lives_until});
    else if (after != nullptr && after->kind == sim::Effect::Kind::expire)
      ends.push_back({lease.acquire, after, after, after->at});
  };
  for (const sim::Effect& effect : effects) {
    if (effect.kind == sim::Effect::Kind::read || effect.kind == sim::Effect::Kind::reject) continue;
    const auto here = leases.find({effect.server, effect.object});
    if (here != leases.end() && effect.kind != sim::Effect::Kind::lose) end(here->second, &effect);
    if (effect.kind != sim::Effect::Kind::write && effect.kind != sim::Effect::Kind::touch) {
      if (here != leases.end()) leases.erase(here);
      continue;
    }
    const sim::Operation* operation = find_operation(operations, effect.operation);
    const bool is_grant = effect.kind == sim::Effect::Kind::write && operation != nullptr &&
                          operation->function == "acquire" && locks.contains(operation->object, effect.object);
    if (!is_grant && here == leases.end()) continue;
    Lease& lease = leases[{effect.server, effect.object}];
    if (is_grant) lease.acquire = operation;
    lease.told = effect.lives_until ? &effect : nullptr;
  }
  for (const auto& [object, lease] : leases) end(lease, nullptr);
  return ends;
}

Finding faithful_renewal(const sim::History& history, const Names& names) {
  const LockObjects locks(history.operations, history.effects, history);
  return faithful_renewal(history, names, order_breaches(history), locks);
}

Finding faithful_renewal(const sim::History& history, const Names& names, std::span<const Breach> breaches,
                         const LockObjects& locks) {
  const std::vector<OwnershipInterval> intervals = ownership_intervals(history);
  const std::optional<RanOut> ran_out = first_that_ran_out(history, intervals, locks);
  const Breach* zombie = nullptr;
  for (const Breach& breach : breaches) {
    if (breach.property == kFaithfulRenewal && (zombie == nullptr || compare(breach.at, zombie->at) < 0))
      zombie = &breach;
  }
  Finding finding{.property = kFaithfulRenewal, .view = View::server, .verdict = Verdict::violated};
  if (ran_out && (zombie == nullptr || compare(ran_out->at, zombie->at) <= 0)) {
    sim::invariant(ran_out->hold->contains(ran_out->at), "a lease runs out while its holder believes");
    finding.by = {ran_out->hold->process};
    finding.at = ran_out->at;
    const bool is_noticed = ran_out->after != nullptr && ran_out->after->kind == sim::Effect::Kind::expire;
    finding.evidence =
        sorted_evidence({ran_out->hold->from_step, is_noticed ? ran_out->after->step : ran_out->told->step});
    finding.why =
        fmt::format("{}'s lease, which was to be renewed, ran out at {}, and it still believed to hold the lock",
                    name_of(names, ran_out->hold->process), time_text(ran_out->at));
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
  return {.name = "faithful-renewal",
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
          .judge =
              [](const JudgedRun& run) {
                return checker::faithful_renewal(run.story, run.names, run.breaches(), run.locks());
              }};
}

}  // namespace lockstep::checker
