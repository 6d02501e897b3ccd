#pragma once

// A client's connections to ZooKeeper's servers: `client.to<zookeeper::Endpoint>()`. Locks use its process's `Handle`,
// which listens to it.

#include <cstddef>
#include <optional>
#include <vector>

#include "models/client/client.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::zookeeper {

/// What was told, or nothing: the connection is lost, and whether it was carried out nobody knows.
class [[nodiscard]] RequestCall final : public sim::Call<Reply> {
 public:
  RequestCall(Client& client, sim::ConnectionId connection, sim::MessagePtrOf<Request> request,
              std::optional<sim::Duration> timeout, bool changes)
      : Call(client, connection, std::move(request), timeout), session_(client.session()), changes_(changes) {}
  std::optional<Told> await_resume();

 private:
  models::Session& session_;
  bool changes_;
};

/// Who uses the connections of a process.
class Listener {
 public:
  virtual void notified(const Notification& notification) = 0;
  virtual void closed(ConnectionNumber on) { static_cast<void>(on); }
  /// The client's program has ended.
  virtual void left_by(Client& client) = 0;

 protected:
  ~Listener() = default;
};

class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout);

  /// Requires: it lives as long as the client's process.
  void set_listener(Listener& listener) { listener_ = &listener; }
  /// One, or those of an ensemble.
  std::size_t servers() const { return servers_.size(); }
  /// Waits no longer than `patience` for the answer, if it says so. Requires: `server < servers()`.
  RequestCall send(ConnectionNumber on, Content content, std::optional<sim::Duration> patience = std::nullopt,
                   std::size_t server = 0);

  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void ended() override;
  void forget() override { listener_ = nullptr; }

 private:
  Client& client_;
  Listener* listener_ = nullptr;
  std::vector<sim::ConnectionId> servers_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::zookeeper
