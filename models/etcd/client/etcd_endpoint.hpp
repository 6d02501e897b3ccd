#pragma once

// A client's connection to an etcd server: `client.to<etcd::Endpoint>()`.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "models/client/client.hpp"
#include "models/etcd/engine/request.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::etcd {

class Endpoint;

/// What was told, or nothing: no answer came, or an error after which nobody knows whether it was carried out.
class [[nodiscard]] RequestCall final : public sim::Call<Reply> {
 public:
  RequestCall(Endpoint& endpoint, std::size_t member, sim::MessagePtrOf<Request> request,
              std::optional<sim::Duration> timeout, bool changes);
  std::optional<Told> await_resume();

 private:
  Endpoint& endpoint_;
  std::size_t member_;
  bool changes_;
};

/// Of several members of a cluster a process uses one for all that it asks, and the next one when that does not answer,
/// or says that it cannot tell.
class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
    members_.push_back(connection);
    timeout_ = timeout;
  }
  /// Which member each life of its process begins with.
  void begin_with(std::size_t member) { first_ = member; }

  RequestCall range(Range range);
  RequestCall put(Put put);
  RequestCall delete_range(Span span);
  RequestCall txn(Txn txn);
  RequestCall grant(sim::Duration ttl);
  RequestCall revoke(LeaseId lease);
  /// Waits no longer than this for the answer.
  RequestCall keep_alive(LeaseId lease, sim::Duration patience);
  /// The first events from this revision on. Waits for them as long as the connection lives.
  RequestCall watch(Span span, Revision start_revision);

  /// Whether a read that had this answer is to be sent once more: there was none, and there is another member that was
  /// not asked. (What changes something is not sent twice, as etcd's client has it.)
  bool asks_again(const std::optional<Told>& told);

  void forget() override { failures_ = 0; }

 private:
  friend class RequestCall;
  /// What all threads of a process share. Gone when it crashes.
  struct Choice final : ProcessObject {
    std::optional<std::size_t> member;
  };

  template <class Content>
  RequestCall ask(Content content, std::optional<sim::Duration> timeout, bool changes);
  std::size_t chosen();
  void has_failed(std::size_t member);

  Client& client_;
  std::vector<sim::ConnectionId> members_;
  std::size_t first_ = 0;
  std::size_t failures_ = 0;  ///< of reads, one after the other
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::etcd
