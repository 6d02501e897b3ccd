#pragma once

// A session of etcd's concurrency package: a lease that its client keeps alive; what is attached to it goes with it.
// Source: etcd 3.4, clientv3/concurrency/session.go and clientv3/lease.go.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/etcd/engine/request.hpp"

namespace lockstep::models::locks {

/// The process's sessions that are open. In `Client::shared`.
class EtcdSessions final : public ProcessObject {
 public:
  /// NewSession: asks for a lease, and keeps it alive from then on, every third of its time to live, until it is closed
  /// or found to be over. Nothing: no lease was granted, or nobody knows.
  sim::Task<std::optional<etcd::LeaseId>> open(Client& client, sim::Duration ttl);
  /// Close: keeps it alive no longer, and revokes its lease. Nobody waits for the answer.
  void close(Client& client, etcd::LeaseId lease);

 private:
  struct Session {
    etcd::LeaseId lease;
    sim::Duration ttl;
    Latch is_closed;
  };
  sim::Task<void> keep_alive(Client& background, std::shared_ptr<Session> session);
  sim::Task<void> revoke(Client& client, etcd::LeaseId lease);
  void forget(etcd::LeaseId lease);

  std::vector<std::shared_ptr<Session>> sessions_;
};

}  // namespace lockstep::models::locks
