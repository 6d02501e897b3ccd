#pragma once

// A client's connections to Consul: `client.to<consul::Endpoint>()`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/client/client.hpp"
#include "models/consul/engine/request.hpp"
#include "models/consul/server/consul_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::consul {

/// What was told, or nothing: no answer came, and whether it was carried out nobody knows.
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

/// Requests go to the servers of the datacentre that is asked for (?dc=). Where there is none, the first server says
/// so.
class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::string_view datacentre, std::optional<sim::Duration> timeout) {
    servers_.push_back({connection, std::string(datacentre)});
    timeout_ = timeout;
  }

  RequestCall write(const std::string& datacentre, Write write);
  RequestCall remove(const std::string& datacentre, Delete asked);
  /// A blocking query waits as long as the server says. `is_repeated`: it would be asked again for ever.
  RequestCall query(const std::string& datacentre, Query query, bool is_repeated = false);
  RequestCall create(const std::string& datacentre, Session session);
  RequestCall destroy(const std::string& datacentre, SessionId session);
  /// Waits no longer than `patience`, if there is one, for the answer.
  RequestCall renew(const std::string& datacentre, SessionId session, std::optional<sim::Duration> patience = {});

 private:
  struct Known {
    sim::ConnectionId connection;
    std::string datacentre;
  };
  template <class Content>
  RequestCall ask(const std::string& datacentre, Content content, bool changes);
  template <class Content>
  RequestCall ask(const std::string& datacentre, Content content, bool changes, std::optional<sim::Duration> timeout,
                  bool is_blocking, bool is_repeated);

  Client& client_;
  std::vector<Known> servers_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::consul
