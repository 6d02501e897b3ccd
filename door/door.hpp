#pragma once

// Real clients in a simulated world, as bytes: what they send becomes requests to a server, and its replies and
// messages become bytes again. No sockets here and no clock; those are in poll_loop.hpp. Start here; which protocol is
// spoken is a derived class's business, one for each kind of server (doors.hpp).

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::door {

/// What a stranger may make this program hold, whatever the protocol.
struct DoorLimits {
  std::size_t unread_bytes = 64 << 20;     ///< of replies that a client does not read: then it is hung up on
  std::size_t read_ahead_bytes = 1 << 20;  ///< of requests behind one that has no reply yet: then nothing more is read
  /// Of requests that are not whole or have not had their turn, of all clients: above, the one with most is hung up on.
  std::size_t unfinished_bytes = 256 << 20;
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
class Door : public sim::Process {
 public:
  /// Whether clients may move time; otherwise it moves by itself.
  enum class Time : std::uint8_t { runs, is_stepped };

  explicit Door(DoorLimits limits) : limits_(limits) {}
  ~Door() override;

  // --- For whoever has the bytes.

  VisitId open(sim::ProcessId server);
  /// Requires: the visit is open.
  void feed(VisitId visit, std::string_view bytes);
  /// The client is gone. Its server hears of it with the next `start`.
  void hang_up(VisitId visit);
  /// What is to be sent, and has not been; the caller takes away what it has sent.
  std::string& output(VisitId visit) { return visits_[visit]->output; }
  /// Nothing follows after the output: the server has ended the connection, or the client broke the protocol.
  bool is_over(VisitId visit) const { return visits_[visit]->is_over && !visits_[visit]->must_stay(); }
  /// The client does not read: nothing is worth sending any more.
  bool is_flooded(VisitId visit) const { return visits_[visit]->output.size() > limits_.unread_bytes; }
  /// To be called after the world has run: a server that crashes resets all its connections, not only those that wait
  /// for it, and one whose session ends is closed.
  void notice_ends();
  /// Whether to read from the client; if not, it must wait for replies first.
  bool wants_input(VisitId visit) const;
  /// Whether `start` has anything to do.
  bool has_work() const { return !ready_.empty() || !released_.empty(); }
  /// Where the steps lead to that clients have taken so far (true time).
  virtual sim::Instant stepped_to() const { return {}; }
  /// What one client too many is told before it is hung up on.
  virtual std::string_view refusal() const { return ""; }

  // --- For the world.

  void start() override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;

 protected:
  /// One connection of a client. Protocols derive theirs.
  struct Visit : sim::ReplyOwner {
    Visit(Door& d, sim::ConnectionId c) : door(d), connection(c) {}
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    virtual ~Visit() = default;

    /// A new client comes on this connection.
    virtual void begin() = 0;
    virtual void take(std::string_view bytes) = 0;
    /// Bytes that came and have not been looked at.
    virtual std::size_t bytes_ahead() const = 0;
    /// And those that are part of a request which is not whole yet.
    virtual std::size_t bytes_unfinished() const { return bytes_ahead(); }
    /// Gives their memory back: nothing more is looked at.
    virtual void forget_input() = 0;
    /// Carries out what has come, until something has to be waited for.
    virtual void serve() = 0;
    virtual bool is_waiting() const { return call.generation != 0; }
    /// Over or not, it has to be kept.
    virtual bool must_stay() const { return false; }
    /// The client has gone, just now.
    virtual void abandon() {}
    /// And now its server is to hear of it. The visit is `free` afterwards, or `leaving`, and free with the reply.
    virtual void leave() = 0;
    /// An unsolicited message of the server's. It is open.
    virtual void hear(sim::Message& message) = 0;
    /// Its server has ended it by itself. It is open.
    virtual bool has_ended() const { return false; }
    /// An answer to `call`. Where it leaves the visit is open.
    virtual void answer(sim::Message& reply) = 0;

    /// Goes on with what came behind what was waited for.
    void go_on();
    void send(sim::MessagePtr request);
    void reply_arrived(sim::Message& reply) final;
    void connection_lost() override;

    Door& door;
    sim::ConnectionId connection;
    std::string output;
    enum class State : std::uint8_t { free, open, hung_up, leaving };
    State state = State::free;  ///< hung_up: the client has gone; leaving: and its server is being told
    bool is_over = false;
    std::size_t unfinished = 0;  ///< `bytes_unfinished`, when they were counted last
    std::uint32_t life = 0;      ///< which one of its server's lives it belongs to
    bool is_ready = false;       ///< stands in `ready_`
    bool is_released = false;    ///< stands in `released_`
    sim::CallRef call;           ///< generation 0: no reply is awaited
  };

  virtual std::unique_ptr<Visit> make_visit(sim::ConnectionId connection) = 0;
  const std::vector<std::unique_ptr<Visit>>& visits() const { return visits_; }

 private:
  /// Somebody outside may come at any time: a world that has nothing else to do must not count as ended.
  struct Presence final : sim::TimerOwner {
    void timer_fired() override {}
  };

  void make_ready(Visit& visit);
  void serve(Visit& visit);
  void count_unfinished(Visit& visit);
  VisitId id_of(const Visit& visit) const { return visit_of_[visit.connection.index]; }

  DoorLimits limits_;
  std::vector<std::unique_ptr<Visit>> visits_;
  std::vector<VisitId> visit_of_;  ///< by connection
  std::size_t unfinished_ = 0;     ///< of all of them
  std::deque<VisitId> ready_;      ///< those whose bytes have come, first come first
  std::deque<VisitId> released_;   ///< those whose request was answered later: after the others
  const Visit* served_ = nullptr;  ///< whose turn it is
  Presence presence_;
  bool is_present_ = false;
};

}  // namespace lockstep::door
