#pragma once

// A client's connection to a server of registers: `client.to<registers::Endpoint>()`.

#include <optional>
#include <string>

#include "models/client/client.hpp"
#include "models/testing/registers/register_server.hpp"
#include "sim/coroutines/task.hpp"

namespace lockstep::models::registers {

class Endpoint final : public models::Endpoint {
 public:
  /// Requires: `client` outlives it.
  explicit Endpoint(Client& client) : client_(client) {}
  void add_server(sim::ConnectionId connection, std::optional<sim::Duration> timeout) {
    if (server_) return;  // of several servers a lock uses the first
    server_ = connection;
    timeout_ = timeout;
  }

  /// Nothing: no answer came, and whether it was carried out nobody knows.
  sim::Task<std::optional<Answer>> cas(std::string name, std::string expected, std::string desired,
                                       std::optional<sim::Duration> lease = std::nullopt);
  sim::Task<std::optional<Answer>> fetch(std::string name);

 private:
  sim::Task<std::optional<Answer>> ask(sim::MessagePtrOf<Ask> request);

  Client& client_;
  std::optional<sim::ConnectionId> server_;
  std::optional<sim::Duration> timeout_;
};

}  // namespace lockstep::models::registers
