#pragma once

// Real clients in a simulated world, as bytes: what they send becomes requests to a server, and its replies and
// messages become bytes again. No sockets here and no clock; those are in poll_loop.hpp. Start here.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/server/node.hpp"
#include "models/redis/wire/resp.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::door {

/// What a stranger may make this program hold.
struct DoorLimits {
  models::redis::RespLimits resp = {.arguments = 1024 * 1024, .bulk_bytes = 64 << 20, .request_bytes = 64 << 20};
  std::size_t unread_bytes = 64 << 20;  ///< of replies that a client does not read: then it is hung up on, as by Redis
  std::size_t read_ahead_bytes = 1 << 20;  ///< of requests behind one that has no reply yet: then nothing more is read
};

/// Names a visit for as long as it lasts.
using VisitId = std::uint32_t;

/// The process that stands for all clients outside. Each of their connections is a connection of its own to one server,
/// without latency: the real network has some already.
///
/// Who runs the world calls `feed` and `hang_up` between two events, and then, while there is work, lets the door
/// `start` at the present moment and the world run up to it. Each `start` serves one visit, in the order in which their
/// bytes came: all that it has asked is answered before anybody else's turn, as by the real server, which reads one
/// connection after the other.
class Door final : public sim::Process {
 public:
  /// Whether clients may move time by DEBUG STEP; otherwise it moves by itself.
  enum class Time : std::uint8_t { runs, is_stepped };

  explicit Door(Time time, DoorLimits limits = {}) : limits_(limits), is_stepped_(time == Time::is_stepped) {}
  ~Door() override;

  // --- For whoever has the bytes.

  VisitId open(sim::ProcessId server);
  /// Requires: the visit is open.
  void feed(VisitId visit, std::string_view bytes);
  /// The client is gone. Its server hears of it with the next `start`.
  void hang_up(VisitId visit);
  /// What is to be sent, and has not been; the caller takes away what it has sent.
  std::string& output(VisitId visit) { return visits_[visit].output; }
  /// Nothing follows after the output: the server has ended the connection, or the client broke the protocol. Of a
  /// client whose server crashes while it takes a step, only after that: the step is the door's.
  bool is_over(VisitId visit) const { return visits_[visit].is_over && !visits_[visit].is_stepping; }
  /// The client does not read: nothing is worth sending any more.
  bool is_flooded(VisitId visit) const { return visits_[visit].output.size() > limits_.unread_bytes; }
  /// To be called after the world has run: a server that crashes resets all its connections, not only those that wait
  /// for it.
  void notice_crashes();
  /// Whether to read from the client; if not, it must wait for replies first.
  bool wants_input(VisitId visit) const;
  /// Whether `start` has anything to do.
  bool has_work() const { return !ready_.empty() || !released_.empty(); }
  /// Where the steps lead to that clients have taken so far (true time).
  sim::Instant stepped_to() const { return stepped_to_; }

  // --- For the world.

  void start() override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;

 private:
  struct Visit final : sim::ReplyOwner, sim::TimerOwner {
    Visit(Door& d, sim::ConnectionId c) : door(d), connection(c) {}
    void begin(const DoorLimits& limits, const sim::ProcessState& server);
    void go_on();
    void note_transaction(const models::redis::Reply& reply);
    void reply_arrived(sim::Message& reply) override;
    void connection_lost() override;
    void timer_fired() override;

    Door& door;
    sim::ConnectionId connection;
    models::redis::RequestParser parser;
    std::string output;
    enum class State : std::uint8_t { free, open, hung_up, leaving };
    State state = State::free;  ///< hung_up: the client has gone; leaving: and its server is being told
    bool is_over = false;
    std::uint32_t life = 0;    ///< which one of its server's lives it belongs to
    bool is_ready = false;     ///< stands in `ready_`
    bool is_released = false;  ///< stands in `released_`
    sim::CallRef call;         ///< generation 0: no reply is awaited
    sim::TimerRef step;
    bool is_stepping = false;  ///< DEBUG STEP has not been answered yet
    sim::Instant step_end;     ///< where it leads
    bool in_transaction = false;
    bool refuses_step = false;  ///< the reply that is awaited is to be replaced by an error
    std::string_view awaited;   ///< the name of the command whose reply that is, as the table spells it
  };

  /// Somebody outside may come at any time: a world that has nothing else to do must not count as ended.
  struct Presence final : sim::TimerOwner {
    void timer_fired() override {}
  };

  bool is_waiting(const Visit& visit) const { return visit.call.generation != 0 || visit.is_stepping; }
  void make_ready(Visit& visit);
  void send_next(Visit& visit);
  void send(Visit& visit, models::redis::Command command);
  void refuse_step_in_transaction(Visit& visit);
  void take_step(Visit& visit, const models::redis::Command& command);
  void step_to(sim::Instant moment);
  void forget_step(Visit& visit);
  void give_up_waiting(Visit& visit);
  VisitId id_of(const Visit& visit) const { return visit_of_[visit.connection.index]; }

  DoorLimits limits_;
  bool is_stepped_;
  sim::Instant stepped_to_;
  sim::Instant sleeps_until_;      ///< the last of the DEBUG SLEEPs
  std::deque<Visit> visits_;       ///< they must not move: the world refers to them
  std::vector<VisitId> visit_of_;  ///< by connection
  std::deque<VisitId> ready_;      ///< those whose bytes have come, first come first
  std::deque<VisitId> released_;   ///< those whose blocked command has been answered: after the others
  const Visit* served_ = nullptr;  ///< whose turn it is
  Presence presence_;
  bool is_present_ = false;
};

}  // namespace lockstep::door
