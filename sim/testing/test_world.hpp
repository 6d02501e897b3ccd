#pragma once

// Small processes and a world to put them in, for the tests of the engine.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/coroutines/await.hpp"
#include "sim/schedules/random.hpp"
#include "sim/schedules/simulation.hpp"

namespace lockstep::sim::testing {

using namespace lockstep::sim::literals;

/// What happened, as "5ms S SET 1": true time, process, what.
class Journal {
 public:
  void note(const Process& process, const std::string& what) {
    lines_.push_back(to_string(process.world().now().offset()) + " " + process.name() + " " + what);
  }
  const std::vector<std::string>& lines() const { return lines_; }
  void clear() { lines_.clear(); }

 private:
  std::vector<std::string> lines_;
};

/// A request or a reply: a name and a number.
class Note final : public Message {
 public:
  Note(std::string_view name, std::int64_t number) : content(number), name_(name) { opens_session = name == "LISTEN"; }
  std::string_view name() const override { return name_; }
  std::string describe() const override { return name_ + " " + std::to_string(content); }
  std::uint64_t digest() const override {
    std::uint64_t hash = static_cast<std::uint64_t>(content);
    for (const char c : name_) hash = combine64(hash, static_cast<std::uint64_t>(c));
    return hash;
  }

  std::int64_t content;

 private:
  std::string name_;
};

/// Writes down what it is asked, and answers with the number of the request. What somebody says, whoever listens hears, too.
class Server final : public Process {
 public:
  explicit Server(Journal& journal) : journal_(journal) {}

  void start() override { journal_.note(*this, "starts"); }
  void receive(Message& request, ConnectionId connection) override {
    auto& note = static_cast<Note&>(request);
    journal_.note(*this, note.describe());
    if (note.name() == "LISTEN") listener_ = connection;
    if (note.name() == "SAY" && listener_) world().send_push(*listener_, world().make<Note>("said", note.content));
    if (is_silent) return;
    world().send_reply(connection, request, world().make<Note>(note.name(), note.content));
  }
  void closed(ConnectionId) override {
    journal_.note(*this, "is left");
    listener_.reset();
  }
  void crashed(bool keep) override { journal_.note(*this, keep ? "crashes, data kept" : "crashes"); }

  bool is_silent = false;

 private:
  Journal& journal_;
  std::optional<ConnectionId> listener_;
};

/// Runs its program at every start. Requires: the program's captures outlive the world.
class Client final : public Process {
 public:
  using Program = std::function<Task<void>(Client&)>;

  Client(Journal& journal, Program program) : journal_(journal), program_(std::move(program)) {}

  void start() override { spawn(program_(*this)); }
  void notified(Message& message, ConnectionId) override { note("hears " + static_cast<Note&>(message).describe()); }
  void note(const std::string& what) { journal_.note(*this, what); }

  Call<Note> call(ConnectionId connection, std::string_view name, std::int64_t number,
                  std::optional<Duration> timeout = std::nullopt) {
    return Call<Note>(*this, connection, world().make<Note>(name, number), timeout);
  }
  Wait sleep(Duration length) { return Wait(*this, DurationRange::exactly(length), TimerKind::sleep); }
  Wait work(Duration length) { return Wait(*this, DurationRange::exactly(length), TimerKind::work); }

 private:
  Journal& journal_;
  Program program_;
};

inline std::string outcome(const std::optional<std::int64_t>& answer) {
  return answer ? std::to_string(*answer) : "unknown";
}

class TestWorld {
 public:
  TestWorld() : TestWorld(defaults_) {}
  explicit TestWorld(Decisions& decisions) : world(decisions), simulation(world) {}

  Server& add_server(std::string name, World::ClockSettings clock = {}) {
    Server& server = servers.emplace_back(journal);
    world.add(server, std::move(name), clock);
    return server;
  }
  Client& add_client(std::string name, Client::Program program, World::ClockSettings clock = {}) {
    Client& client = clients.emplace_back(journal, std::move(program));
    world.add(client, std::move(name), clock);
    return client;
  }
  ConnectionId connect(const Process& client, const Process& server, DurationRange latency) {
    return world.connect(client.id(), server.id(), latency);
  }
  /// Starts all clients at the origin, in the order in which they were added.
  void start() {
    for (const Client& client : clients) world.start(client.id(), DurationRange::exactly(0_ms));
    world.arm_faults();
  }
  Simulation::End run(Duration until = Duration::seconds(3'600)) {
    return simulation.run(Instant::at(until), 1'000'000);
  }
  /// Lines of one process, without the times.
  std::vector<std::string> of(const std::string& process) const {
    std::vector<std::string> found;
    for (const std::string& line : journal.lines()) {
      const std::size_t name = line.find(' ') + 1;
      if (line.compare(name, process.size() + 1, process + " ") == 0)
        found.push_back(line.substr(name + process.size() + 1));
    }
    return found;
  }

 private:
  DefaultDecisions defaults_;

 public:
  World world;
  Simulation simulation;
  Journal journal;
  std::deque<Server> servers;
  std::deque<Client> clients;
};

using Lines = std::vector<std::string>;

inline PlannedFault pause_at(const Process& process, Duration at, Duration length) {
  PlannedFault fault;
  fault.kind = PlannedFault::Kind::pause;
  fault.process = process.id();
  fault.length = length;
  fault.at = at;
  return fault;
}

inline PlannedFault pause_in_step(const Process& process, Moment moment, std::string step, Duration length) {
  PlannedFault fault;
  fault.kind = PlannedFault::Kind::pause;
  fault.process = process.id();
  fault.length = length;
  fault.step = std::move(step);
  fault.moment = moment;
  return fault;
}

inline PlannedFault crash_at(const Process& process, Duration at,
                             std::optional<Duration> restart_after = std::nullopt) {
  PlannedFault fault;
  fault.kind = PlannedFault::Kind::crash;
  fault.process = process.id();
  if (restart_after) fault.restart_after = DurationRange::exactly(*restart_after);
  fault.at = at;
  return fault;
}

}  // namespace lockstep::sim::testing
