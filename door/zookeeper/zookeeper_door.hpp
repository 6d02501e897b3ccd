#pragma once

// ZooKeeper's protocol before a simulated ZooKeeper server, which may be one of an ensemble.
// Source: ZooKeeper 3.8, NIOServerCnxn.java and ZooKeeperServer.java (packets, sessions), FinalRequestProcessor.java
//         (answers).

#include <optional>

#include "door/door.hpp"
#include "models/zookeeper/ensemble/ensemble_server.hpp"
#include "models/zookeeper/server/zookeeper_server.hpp"
#include "models/zookeeper/wire/records.hpp"

namespace lockstep::door {

/// Time moves by itself: ZooKeeper has no request that could move it.
class ZooKeeperDoor final : public Door {
 public:
  explicit ZooKeeperDoor(DoorLimits limits = {}) : Door(limits) {}

 private:
  using OpCode = models::zookeeper::wire::OpCode;

  struct ZooKeeperVisit final : Visit {
    using Visit::Visit;
    void begin() override;
    void take(std::string_view bytes) override { received.append(bytes); }
    std::size_t bytes_ahead() const override { return received.size() - used; }
    void forget_input() override;
    void serve() override;
    /// Its session lives on, until it is heard of no more.
    void leave() override { state = State::free; }
    void hear(sim::Message& message) override;
    void answer(sim::Message& reply) override;
    bool has_ended() const override;

    /// The next packet, without its length. Nothing: it is not there yet, or breaks the protocol.
    std::optional<std::string_view> next_packet();
    void answer_word(std::string_view word);
    void greet(std::string_view packet);
    void handle(std::string_view packet);
    void authenticate(models::zookeeper::wire::Reader& in);
    void offer_no_sasl();
    void ask(models::zookeeper::Content content);
    void refuse(models::zookeeper::wire::Refusal why);
    void answer_greeting(const models::zookeeper::Told& told);
    void put_reply(std::int32_t xid, std::int64_t zxid, std::int32_t error, std::string_view content);

    // Of the server that it visits.

    const sim::Process& server() const;
    /// Null: it is one by itself.
    const models::zookeeper::EnsembleServer* ensemble_server() const;
    bool serves() const;
    const models::zookeeper::Engine& engine() const;

    std::string received;
    std::size_t used = 0;      ///< bytes of it that have been looked at
    bool has_greeted = false;  ///< its first packet has come
    bool is_of_before_34 = false;
    models::zookeeper::ConnectionNumber on;

    // --- What the reply is for that is awaited.

    models::zookeeper::wire::RequestHeader header;
    models::zookeeper::Operation asked;
    models::zookeeper::wire::Refusal refusal = {};  ///< if not none: what it is to be answered with
    bool closes = false;                            ///< and that ends the connection
  };

  std::unique_ptr<Visit> make_visit(sim::ConnectionId connection) override {
    return std::make_unique<ZooKeeperVisit>(*this, connection);
  }
};

}  // namespace lockstep::door
