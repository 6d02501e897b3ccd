// What `progress` asks of a story: how long is too long, and which attempts are one try.

#include <algorithm>

#include "scenarios/deployment/deployment.hpp"

namespace lockstep::scenarios {

namespace {

template <class Look>
void for_each_user(const Scenario& scenario, const Look& look) {
  for (const ClientSpec& client : scenario.clients) {
    if (client.threads.empty()) look(client);
    for (const ClientSpec& thread : client.threads) look(thread);
  }
}

}  // namespace

/// Whoever tries must at the worst wait for the work of a holder, or for the lease of a dead one, and knows that at its
/// next attempt; and each of several locks may have to be waited for. Round trips: as many as an attempt can take at
/// all servers, and that twice. A command whose answer is missing costs its timeout.
sim::Duration Deployment::default_progress() const {
  sim::Duration work, retry;
  std::size_t locks = 1;
  for_each_user(scenario_, [&](const ClientSpec& client) {
    const bool tries_again = client.attempts.value_or(parameters_.number("attempts")) > 1;
    work = std::max(work, client.hold.hi + client.inner_hold.hi);
    if (tries_again) retry = std::max(retry, client.retry.value_or(parameters_.range("retry")).hi);
    locks = std::max(locks, client.locks.size());
  });
  // Some attempts wait or try again inside.
  using models::locks::ParameterRole;
  retry += longest(ParameterRole::longest_delay);
  const auto servers = static_cast<std::int64_t>(scenario_.servers.size());
  sim::Duration trips = scenario_.network.latency.hi * 16 * servers;
  for (const ParameterRole patience : {ParameterRole::server_patience, ParameterRole::replica_patience})
    trips += longest(patience) * servers;
  trips += scenario_.network.timeout.value_or(sim::Duration::zero()) * 2;
  return lease().value_or(sim::Duration::zero()) + (work + retry + trips) * static_cast<std::int64_t>(locks);
}

/// Rounds that follow each other as fast as attempts do are one try.
void Deployment::count_attempts() {
  attempts_.assign(world_.process_count(), 0);
  const auto count = [&](sim::ProcessId process, const ClientSpec& client) {
    const sim::Duration retry = client.retry.value_or(parameters_.range("retry")).hi;
    if (client.rounds > 1 && client.between.hi > retry)
      attempts_[process.index] = client.attempts.value_or(parameters_.number("attempts"));
  };
  for (std::size_t i = 0; i < client_ids_.size(); ++i) {
    const ClientSpec& client = scenario_.clients[i];
    count(client_ids_[i], client);
    const std::vector<std::string> names = thread_names(client);
    for (std::size_t t = 0; t < names.size(); ++t) count(process_named(names[t]), client.threads[t]);
  }
}

checker::ProgressQuestion Deployment::progress_question() const {
  return {.within = progress_within_, .attempts = attempts_};
}

}  // namespace lockstep::scenarios
