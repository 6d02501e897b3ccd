#include "models/locks/etcd/session.hpp"

#include "models/etcd/client/etcd_endpoint.hpp"

namespace lockstep::models::locks {

sim::Task<std::optional<etcd::LeaseId>> EtcdSessions::open(Client& client, sim::Duration ttl) {
  const std::optional<etcd::Told> granted = co_await client.to<etcd::Endpoint>().grant(ttl);
  if (!granted) co_return std::nullopt;
  const auto session = std::make_shared<Session>(Session{granted->lease, ttl, {}});
  sessions_.push_back(session);
  client.run_in_background(keep_alive(client.background(), session));
  co_return session->lease;
}

void EtcdSessions::close(Client& client, etcd::LeaseId lease) {
  for (const std::shared_ptr<Session>& session : sessions_) {
    if (session->lease == lease) session->is_closed.release();
  }
  forget(lease);
  client.spawn(revoke(client, lease));
}

sim::Task<void> EtcdSessions::revoke(Client& client, etcd::LeaseId lease) {
  static_cast<void>(co_await client.to<etcd::Endpoint>().revoke(lease));
}

void EtcdSessions::forget(etcd::LeaseId lease) {
  std::erase_if(sessions_, [&](const std::shared_ptr<Session>& session) { return session->lease == lease; });
}

sim::Task<void> EtcdSessions::keep_alive(Client& background, std::shared_ptr<Session> session) {
  const sim::Duration period = session->ttl / 3;
  // What is heard last counts: a client that hears nothing for the time to live takes the session for lost.
  for (int unanswered = 0; unanswered < 3;) {
    const PermitLimits limits{.timeout = period, .kind = sim::TimerKind::tick};
    if (co_await session->is_closed.acquire(background, limits)) co_return;
    co_await background.step("keep-alive", sim::Moment::before);
    const std::optional<etcd::Told> told = co_await background.to<etcd::Endpoint>().keep_alive(session->lease, period);
    if (told && !told->lease_lives) break;
    unanswered = told ? 0 : unanswered + 1;
  }
  forget(session->lease);
}

}  // namespace lockstep::models::locks
