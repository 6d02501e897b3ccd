#pragma once

// A program, unmodified, as a client of a simulated world. Start here; what makes it run in virtual time is in
// tracer/program.hpp.
//
// After every event that concerns it the program runs until it waits, at the present moment: what it sent becomes
// requests, what it said of its locks becomes history, and when it wants to be woken becomes a timer. So the world's
// scheduler stays the only one.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/wire/resp.hpp"
#include "programs/belief.hpp"
#include "programs/tracer/program.hpp"
#include "scenarios/deployment/program_process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::programs {

class ProgramClient final : public scenarios::ProgramProcess, private tracer::Outside, private sim::TimerOwner {
 public:
  /// How many connections to one server a program can have at once. The world makes them all before it begins.
  static constexpr int kConnections = 8;
  /// Its server's port is this, and the next ones are those of the others.
  static constexpr std::uint16_t kFirstPort = 6379;

  /// `seed`: of all that it draws at random; after a crash it draws other things.
  ProgramClient(tracer::Command command, std::uint64_t seed) : command_(std::move(command)), seed_(seed) {}
  ~ProgramClient() override;

  /// Servers have ports in the order of these calls.
  void connect_to(sim::ProcessId server, sim::DurationRange latency) override;

  void start() override;
  void notified(sim::Message& message, sim::ConnectionId connection) override;
  void crashed(bool keep) override;
  void reset() override;

  std::optional<std::string> trouble() const override;
  std::vector<std::string> notes() const override;
  const std::vector<scenarios::ProgramCall>& calls() const override { return calls_; }
  /// What of it was not deterministic.
  std::vector<std::string> escapes() const;
  bool is_over() const { return program_ == nullptr || program_->is_over(); }
  std::optional<int> status() const { return program_ == nullptr ? std::nullopt : program_->status(); }
  /// The last of what it wrote, but for what it said of its locks.
  const std::string& output() const { return output_; }

 private:
  struct Line;
  /// A request that has no reply yet, or whose turn to be handed on has not come.
  struct Call final : sim::ReplyOwner {
    enum class Kind : std::uint8_t { command, connect };
    Call(ProgramClient& c, Line& l, Kind k) : client(c), line(l), kind(k) {}
    void reply_arrived(sim::Message& reply) override;
    void connection_lost() override;
    ProgramClient& client;
    Line& line;
    Kind kind;
    sim::CallRef reference;
    std::optional<std::string> bytes;  ///< of the reply
    bool closes = false;
  };
  /// One of the connections that the world has made.
  struct Line {
    enum class State : std::uint8_t { free, connecting, open };
    sim::ConnectionId connection;
    std::uint16_t port = 0;
    State state = State::free;
    tracer::SocketId socket = 0;
    models::redis::RequestParser parser;
    std::deque<std::unique_ptr<Call>> calls;
  };

  void connects(tracer::SocketId socket, std::uint16_t port) override;
  void sent(tracer::SocketId socket, std::string_view bytes) override;
  void hung_up(tracer::SocketId socket) override;
  void wrote(int descriptor, std::string_view bytes) override;
  void timer_fired() override;

  void keep_output(std::string_view bytes);
  tracer::Readings readings() const;
  void go_on();
  void note_calls();
  void set_alarm();
  void request(Line& line, Call::Kind kind, models::redis::Command command);
  void say_goodbye(Line& line);
  void replied(Line& line);
  void hand_on(Line& line, const Call& call);
  void lost(Line& line);
  void free(Line& line);
  std::string how_it_ended(int status) const;
  void stop_program();
  Line* line_of(tracer::SocketId socket);

  tracer::Command command_;
  std::uint64_t seed_;
  std::uint64_t lives_ = 0;
  std::unique_ptr<tracer::Program> program_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::uint16_t servers_ = 0;
  std::vector<tracer::SocketId> refused_;  ///< to be told so when the program rests
  Beliefs beliefs_;
  std::string unfinished_;  ///< of the line that it writes
  std::string output_;
  std::vector<scenarios::ProgramCall> calls_;  ///< of all of its lives
  std::size_t noted_ = 0;                      ///< of those of this one
  bool has_acted_ = false;                     ///< sent something, or said something of a lock
  sim::TimerRef alarm_;
  std::optional<std::string> trouble_;
};

}  // namespace lockstep::programs
