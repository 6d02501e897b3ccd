#include "models/locks/consul/session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "models/consul/client/consul_endpoint.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

void ConsulSession::lose(Client& background) {
  if (std::exchange(is_given_back, true)) return;
  background.process().tell_lost(acquire);
}

sim::Task<std::shared_ptr<ConsulSession>> ConsulSessions::open(Client& client, std::string datacentre,
                                                               consul::Session wanted) {
  const sim::Duration ttl = wanted.ttl;
  const std::optional<consul::Told> created =
      co_await client.to<consul::Endpoint>().create(datacentre, std::move(wanted));
  if (!created || created->answer.error != consul::Error::none) co_return nullptr;
  auto session = std::make_shared<ConsulSession>();
  session->id = created->session;
  session->datacentre = std::move(datacentre);
  session->ttl = ttl;
  sessions_.push_back(session);
  client.run_in_background(renew(client.background(), session));
  co_return session;
}

std::shared_ptr<ConsulSession> ConsulSessions::find(consul::SessionId id) const {
  for (const std::shared_ptr<ConsulSession>& session : sessions_) {
    if (session->id == id) return session;
  }
  return nullptr;
}

void ConsulSessions::close(consul::SessionId id) {
  const std::shared_ptr<ConsulSession> session = find(id);
  if (session == nullptr) return;
  std::erase(sessions_, session);
  if (kept_ == session) kept_.reset();
  session->is_closed.release();
}

sim::Task<std::shared_ptr<ConsulSession>> ConsulSessions::keep(Client& client, std::string datacentre,
                                                               consul::Session wanted) {
  if (std::find(users_.begin(), users_.end(), &client) == users_.end()) {
    users_.push_back(&client);
    client.to<consul::Endpoint>().when_ended([this, thread = &client] { leave(*thread); });
  }
  while (is_opening_) co_await opened_.acquire(client);
  if (kept_ == nullptr) {
    is_opening_ = true;
    kept_ = co_await open(client, std::move(datacentre), std::move(wanted));
    is_opening_ = false;
  }
  if (opened_.waiting() > 0) opened_.release();
  co_return kept_;
}

void ConsulSessions::leave(const Client& thread) {
  std::erase(users_, &thread);
  if (users_.empty() && kept_ != nullptr) close(kept_->id);
}

void ConsulSessions::ended(const std::shared_ptr<ConsulSession>& session) {
  if (kept_ == session) kept_.reset();
}

sim::Task<void> ConsulSessions::renew(Client& background, std::shared_ptr<ConsulSession> session) {
  co_await renew_while_it_lives(background, session);
  ended(session);
}

/// RenewPeriodic. It alone destroys the session, so what it asks last comes after what it has asked before.
sim::Task<void> ConsulSessions::renew_while_it_lives(Client& background, std::shared_ptr<ConsulSession> session) {
  auto& server = background.to<consul::Endpoint>();
  sim::Duration pause = session->ttl / 2;
  sim::Instant renewed = background.monotonic().now();
  while (true) {
    // After an error again each second (a TTL that Consul accepts is longer than 8s), until the TTL is over.
    if (pause != session->ttl / 2 && background.monotonic().has_passed(renewed + session->ttl)) {
      if (session->ends_with_renewal) session->lose(background);
      co_return;
    }
    const PermitLimits limits{.timeout = pause, .kind = sim::TimerKind::tick};
    if (co_await session->is_closed.acquire(background, limits)) break;
    co_await background.step("renew", sim::Moment::before);
    const std::optional<sim::Duration> patience =
        session->ends_with_renewal ? std::optional(session->ttl / 4) : std::nullopt;
    std::optional<consul::Told> told;
    std::size_t failures = 0;
    do {
      told = co_await server.renew(session->datacentre, session->id, patience);
    } while (server.asks_again(told, failures));
    if (told && told->answer.error == consul::Error::unknown_session) co_return;
    const bool is_renewed = told && told->answer.error == consul::Error::none;
    if (!is_renewed && !session->survives_errors) co_return;
    pause = is_renewed ? session->ttl / 2 : std::min(1_s, session->ttl / 8);
    if (is_renewed) renewed = background.monotonic().now();
  }
  static_cast<void>(co_await server.destroy(session->datacentre, session->id));
}

ConsulWaits consul_waits_of(const Parameters& p) {
  ConsulWaits waits{.whole = std::nullopt, .query = p.duration("wait_time"), .retry = p.duration("retry_time")};
  if (const sim::Duration wait = p.duration("wait"); wait > sim::Duration::zero()) waits.whole = wait;
  return waits;
}

std::vector<ParameterSpec> consul_parameters() {
  static constexpr std::array<std::string_view, 3> kDatacentres{"dc1", "dc2", "dc3"};
  return {
      session_ttl_parameter("ttl", 15_s, "TTL of the session, renewed every half of it; it ends after twice as long"),
      {"datacentre", std::string(kDatacentres.front()), "whose servers are asked (?dc=)", kDatacentres},
      {"wait", 10_s, "how long one attempt waits until the lock is free; 0ms: for ever"},
      {"wait_time", 15_s, "how long one blocking query waits, and up to a sixteenth longer"},
      {"retry_time",
       5_s,
       "pause after a refusal without anybody who has the lock: the lock-delay",
       {},
       0,
       ParameterRole::longest_delay},
      attempts_parameter(1),
      retry_parameter({100_ms, 100_ms})};
}

}  // namespace lockstep::models::locks
