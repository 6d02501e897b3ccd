#pragma once

// A client's connection to an etcd server: `client.to<etcd::Endpoint>()`.

#include <optional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/etcd/engine/request.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::etcd {

/// What was told, or nothing: no answer came, and whether it was carried out nobody knows.
class [[nodiscard]] RequestCall final : public sim::Call<Reply> {
 public:
  RequestCall(Client& client, sim::ConnectionId connection, sim::MessagePtrOf<Request> request,
              std::optional<sim::Duration> timeout, bool changes)
      : Call(client, connection, std::move(request), timeout), session_(client.session()), changes_(changes) {}
  std::optional<Told> await_resume();

 private:
  Session& session_;
  bool changes_;
};

class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
    if (server_) return;  // of several servers a lock uses the first
    server_ = connection;
    timeout_ = timeout;
  }

  RequestCall range(Range range);
  RequestCall delete_range(Span span);
  RequestCall txn(Txn txn);
  RequestCall grant(sim::Duration ttl);
  RequestCall revoke(LeaseId lease);
  /// Waits no longer than this for the answer.
  RequestCall keep_alive(LeaseId lease, sim::Duration patience);
  /// The first events from this revision on. Waits for them as long as the connection lives.
  RequestCall watch(Span span, Revision start_revision);

 private:
  template <class Content>
  RequestCall ask(Content content, std::optional<sim::Duration> timeout, bool changes);

  Client& client_;
  std::optional<sim::ConnectionId> server_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::etcd
