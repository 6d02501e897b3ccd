#pragma once

// A client's connection to a server of registers: `client.to<registers::Endpoint>()`.

#include <optional>
#include <string>
#include <utility>

#include "models/client/client.hpp"
#include "models/testing/registers/register_server.hpp"
#include "sim/coroutines/await.hpp"

namespace lockstep::models::registers {

/// Nothing: no answer came, and whether it was carried out nobody knows.
class [[nodiscard]] AskCall final : public sim::Call<Told> {
 public:
  AskCall(Session& session, sim::Process& client, sim::ConnectionId connection, sim::MessagePtrOf<Ask> request,
          std::optional<sim::Duration> timeout)
      : Call(client, connection, std::move(request), timeout), session_(session) {}
  std::optional<Answer> await_resume() {
    std::optional<Answer> answer = Call::await_resume();
    if (!answer) session_.missed_reply = true;
    return answer;
  }

 private:
  Session& session_;
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

  /// `const std::optional<Answer> answer = co_await endpoint.cas(…)`.
  AskCall cas(std::string name, std::string expected, std::string desired,
              std::optional<sim::Duration> lease = std::nullopt);
  AskCall fetch(std::string name);

 private:
  AskCall ask(sim::MessagePtrOf<Ask> request);

  Client& client_;
  std::optional<sim::ConnectionId> server_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::registers
