#pragma once

// Redis' protocol before a simulated Redis server.

#include "door/door.hpp"
#include "models/redis/server/node.hpp"
#include "models/redis/wire/resp.hpp"

namespace lockstep::door {

/// Clients may move time by DEBUG STEP, if it is stepped.
class RedisDoor final : public Door {
 public:
  static constexpr models::redis::RespLimits kLimits = {
      .arguments = 1024 * 1024, .bulk_bytes = 64 << 20, .request_bytes = 64 << 20};

  explicit RedisDoor(Time time, DoorLimits limits = {}, models::redis::RespLimits resp = kLimits)
      : Door(limits), resp_(resp), is_stepped_(time == Time::is_stepped) {}

  sim::Instant stepped_to() const override { return stepped_to_; }
  std::string_view refusal() const override { return "-ERR max number of clients reached\r\n"; }

 private:
  struct RedisVisit final : Visit, sim::TimerOwner {
    RedisVisit(RedisDoor& d, sim::ConnectionId c) : Visit(d, c), redis_door(d) {}
    void begin() override;
    void take(std::string_view bytes) override { parser.feed(bytes); }
    std::size_t bytes_ahead() const override { return parser.waiting(); }
    std::size_t bytes_unfinished() const override { return parser.unfinished(); }
    void forget_input() override { parser = models::redis::RequestParser(redis_door.resp_); }
    void serve() override;
    bool is_waiting() const override { return Visit::is_waiting() || is_stepping; }
    /// If its server crashes while it takes a step, the step is the door's.
    bool must_stay() const override { return is_stepping; }
    void abandon() override;
    void leave() override;
    void hear(sim::Message& message) override;
    void answer(sim::Message& reply) override;
    void timer_fired() override;

    void send_command(models::redis::Command command);
    void refuse_step_in_transaction();
    void take_step(const models::redis::Command& command);
    void note_transaction(const models::redis::Reply& reply);

    RedisDoor& redis_door;
    models::redis::RequestParser parser;
    sim::TimerRef step;
    bool is_stepping = false;  ///< DEBUG STEP has not been answered yet
    sim::Instant step_end;     ///< where it leads
    bool in_transaction = false;
    bool refuses_step = false;  ///< the reply that is awaited is to be replaced by an error
    std::string_view awaited;   ///< the name of the command whose reply that is, as the table spells it
  };

  std::unique_ptr<Visit> make_visit(sim::ConnectionId connection) override {
    return std::make_unique<RedisVisit>(*this, connection);
  }
  void step_to(sim::Instant moment);
  void forget_step();

  models::redis::RespLimits resp_;
  bool is_stepped_;
  sim::Instant stepped_to_;
  sim::Instant sleeps_until_;  ///< the last of the DEBUG SLEEPs
};

}  // namespace lockstep::door
