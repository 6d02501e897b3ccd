#pragma once

// A client's connections to Consul: `client.to<consul::Endpoint>()`.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/consul/engine/request.hpp"
#include "models/consul/server/consul_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::consul {

class Endpoint;

/// What was told, or nothing: no answer came, and whether it was carried out nobody knows.
class [[nodiscard]] RequestCall final : public sim::Call<Reply> {
 public:
  RequestCall(Endpoint& endpoint, std::size_t server, sim::MessagePtrOf<Request> request,
              std::optional<sim::Duration> timeout, bool changes);
  std::optional<Told> await_resume();

 private:
  Endpoint& endpoint_;
  std::size_t server_;
  bool changes_;
};

/// Requests go to the servers of the datacentre that is asked for (?dc=). Where there is none, the first server says
/// so. Of several servers of a datacentre a process uses one for all that it asks, and the next one when that does not
/// answer, or says that it cannot.
class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::string_view datacentre, std::optional<sim::Duration> timeout) {
    servers_.push_back({connection, std::string(datacentre)});
    timeout_ = timeout;
  }

  /// Which of several servers of a datacentre each life of its process begins with.
  void begin_with(std::size_t server) { first_ = server; }

  RequestCall write(const std::string& datacentre, Write write);
  RequestCall remove(const std::string& datacentre, Delete asked);
  /// A blocking query waits as long as the server says. `is_repeated`: it would be asked again for ever.
  RequestCall query(const std::string& datacentre, Query query, bool is_repeated = false);
  RequestCall create(const std::string& datacentre, Session session);
  RequestCall destroy(const std::string& datacentre, SessionId session);
  /// Waits no longer than `patience`, if there is one, for the answer.
  RequestCall renew(const std::string& datacentre, SessionId session, std::optional<sim::Duration> patience = {});

  /// Whether a query or a renewal that had this answer is to be sent once more: there was none, and there is another
  /// server that was not asked. (An agent does so for its clients; what changes something it does not send twice.)
  /// `failures`: of this query so far, at first 0. Each query counts its own: those of a thread and of its background
  /// tasks come between each other.
  bool asks_again(const std::optional<Told>& told, std::size_t& failures) const;

  /// What is to be done when its program has come to its end: a session would be renewed for ever.
  void when_ended(std::function<void()> closes) { closes_.push_back(std::move(closes)); }

  void ended() override {
    for (const std::function<void()>& close : std::exchange(closes_, {})) close();
  }
  void forget() override { closes_.clear(); }

 private:
  friend class RequestCall;
  /// What all threads of a process share. Gone when it crashes.
  struct Choice final : ProcessObject {
    std::optional<std::size_t> server;
  };
  struct Known {
    sim::ConnectionId connection;
    std::string datacentre;
  };
  template <class Content>
  RequestCall ask(const std::string& datacentre, Content content, bool changes);
  template <class Content>
  RequestCall ask(const std::string& datacentre, Content content, bool changes, std::optional<sim::Duration> timeout,
                  bool is_blocking, bool is_repeated);

  std::size_t chosen(const std::string& datacentre);
  void has_failed(std::size_t server);
  bool is_cluster() const { return servers_.size() > 1 && servers_[0].datacentre == servers_[1].datacentre; }

  Client& client_;
  std::vector<Known> servers_;
  std::size_t first_ = 0;
  std::optional<sim::Duration> timeout_;
  std::vector<std::function<void()>> closes_;
};

}  // namespace lockstep::models::consul
