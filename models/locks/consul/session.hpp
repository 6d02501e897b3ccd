#pragma once

// Sessions as Consul's Go client keeps them for a lock or a semaphore: created before it is acquired, renewed in the
// background, destroyed when it is given back.
// Source: Consul 1.18, api/lock.go and api/semaphore.go (createSession), api/session.go (RenewPeriodic).

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/consul/engine/request.hpp"
#include "models/locks/parameters.hpp"

namespace lockstep::models::locks {

struct ConsulSession {
  consul::SessionId id = 0;
  std::string datacentre;
  sim::Duration ttl;
  Latch is_closed;
  bool is_given_back = false;  ///< its owner has asked for that: what becomes of the key is no loss
  /// Proposed in Consul's issue 18271: who could not renew it for its TTL takes what was acquired with it for lost.
  bool ends_with_renewal = false;
  bool survives_errors = true;   ///< false: a renewal without an answer is the last one, as before #912
  sim::OperationId acquire = 0;  ///< that got the lock; 0: none yet

  /// Tells the owner of the lock, once.
  void lose(Client& background);
};

/// The process's sessions that are open. In `Client::shared`.
class ConsulSessions final : public ProcessObject {
 public:
  /// What to ask for; `id` means nothing. Nothing: none was created, or nobody knows.
  sim::Task<std::shared_ptr<ConsulSession>> open(Client& client, std::string datacentre, consul::Session wanted);
  /// Null: it is not open any more.
  std::shared_ptr<ConsulSession> find(consul::SessionId id) const;
  /// Renews it no longer, and destroys it. Nobody waits for the answer.
  void close(consul::SessionId id);

  /// The one that its process keeps for all attempts of all its threads, until the last thread that has asked for it
  /// ends. Opened if there is none, or none any more. Nothing: as with `open`.
  sim::Task<std::shared_ptr<ConsulSession>> keep(Client& client, std::string datacentre, consul::Session wanted);

 private:
  sim::Task<void> renew(Client& background, std::shared_ptr<ConsulSession> session);
  sim::Task<void> renew_while_it_lives(Client& background, std::shared_ptr<ConsulSession> session);

  /// It is over: nobody is to use it any more, but nobody was told to destroy it.
  void ended(const std::shared_ptr<ConsulSession>& session);
  /// A thread that used the one that is kept has come to its end.
  void leave(const Client& thread);

  std::vector<std::shared_ptr<ConsulSession>> sessions_;
  std::shared_ptr<ConsulSession> kept_;
  std::vector<const Client*> users_;  ///< threads of the one that is kept
  bool is_opening_ = false;           ///< the one that is to be kept
  Latch opened_;                      ///< one thread after the other looks again
};

/// How long an attempt goes on, as both recipes have it.
struct ConsulWaits {
  /// LockTryOnce with this LockWaitTime. Nothing: for ever.
  std::optional<sim::Duration> whole;
  sim::Duration query;  ///< DefaultLockWaitTime: of one blocking query
  sim::Duration retry;  ///< DefaultLockRetryTime: after a refusal

  sim::Duration of_query() const { return whole && *whole < query ? *whole : query; }
  bool is_endless() const { return !whole; }
};

ConsulWaits consul_waits_of(const Parameters& parameters);
/// `ttl`, `datacentre`, and how long it waits.
std::vector<ParameterSpec> consul_parameters();

}  // namespace lockstep::models::locks
