#include "models/locks/redis/renewal.hpp"

#include <algorithm>

#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

std::vector<ParameterSpec> renewal_parameters() {
  return {
      {"renewal_survives_errors", false, "a renewal without an answer is tried again instead of being the last one"},
      {"renewal_tells_loss", false, "the owner hears that its lock is gone when a renewal finds it so"}};
}

RenewalPolicy renewal_policy(const Parameters& parameters, sim::Duration lease, std::string_view script) {
  return {.lease = lease,
          .script = script,
          .survives_errors = parameters.flag("renewal_survives_errors"),
          .tells_loss = parameters.flag("renewal_tells_loss")};
}

std::shared_ptr<Renewals::Lease> Renewals::find(std::size_t server, const Value& lock) const {
  const auto found = std::find_if(leases_.begin(), leases_.end(),
                                  [&](const auto& lease) { return lease->server == server && lease->lock == lock; });
  return found == leases_.end() ? nullptr : *found;
}

void Renewals::forget(const Lease& lease) {
  std::erase_if(leases_, [&](const auto& known) { return known.get() == &lease; });
}

void Renewals::start(Client& holder, std::size_t server, const Value& lock, const Value& owner,
                     const RenewalPolicy& policy) {
  std::shared_ptr<Lease> lease = find(server, lock);
  if (lease == nullptr) {
    lease = leases_.emplace_back(std::make_shared<Lease>(Lease{server, lock, {}, {}}));
    holder.run_in_background(renew(holder.background(), lease, policy));
  }
  for (Holder& known : lease->holders) {
    if (known.thread_id == holder.thread_id()) {
      ++known.holds;
      return;
    }
  }
  lease->holders.push_back({holder.thread_id(), owner, holder.session().operation, 1});
}

void Renewals::stop(Client& holder, std::size_t server, const Value& lock, const RenewalPolicy& policy) {
  const std::shared_ptr<Lease> lease = find(server, lock);
  if (lease == nullptr || policy.forgets_to_stop) return;
  std::erase_if(lease->holders,
                [&](Holder& known) { return known.thread_id == holder.thread_id() && --known.holds == 0; });
  if (!lease->holders.empty()) return;
  forget(*lease);
  lease->is_over.release();
}

void Renewals::stop_all(std::size_t server, const Value& lock) {
  const std::shared_ptr<Lease> lease = find(server, lock);
  if (lease == nullptr) return;
  lease->holders.clear();
  forget(*lease);
  lease->is_over.release();
}

sim::Task<void> Renewals::renew(Client& background, std::shared_ptr<Lease> lease, RenewalPolicy policy) {
  const sim::Duration period = policy.lease / policy.per_lease;
  while (true) {
    // T: a third of the lease later, unless the lock was given back meanwhile.
    const PermitLimits limits{.timeout = period, .kind = sim::TimerKind::tick};
    if (co_await lease->is_over.acquire(background, limits)) co_return;
    co_await background.step("renew", sim::Moment::before);
    // 1: for the first thread of the table.
    if (lease->holders.empty()) co_return;
    const Holder holder = lease->holders.front();

    // 2: one command; the lease counts from its execution.
    sim::World& world = background.world();
    const sim::OperationId id = world.invoke(background.self(), "renew", world.operation(holder.acquire).object);
    world.operation(id).of = holder.acquire;
    background.session().operation = id;
    redis::Connection& server = redis::servers_of(background)[lease->server];
    const redis::Reply reply =
        co_await server.eval(policy.script, {lease->lock}, {policy.lease.floor_ms(), holder.owner});
    const bool is_known = reply.is_integer();
    world.complete(id, !is_known ? sim::Phase::info : reply.is_integer(1) ? sim::Phase::ok : sim::Phase::fail);

    // 3: renewed, so go on; no answer: give up, or not; not the owner's: nothing is left to renew.
    if (reply.is_integer(1) || (!is_known && policy.survives_errors)) continue;
    forget(*lease);
    if (!is_known || !policy.tells_loss) co_return;
    for (const Holder& loser : lease->holders) background.process().tell_lost(loser.acquire);
    co_return;
  }
}

}  // namespace lockstep::models::locks
