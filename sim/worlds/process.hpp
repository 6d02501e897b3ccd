#pragma once

// Anything sequential that can be slow, stop or die: a client, a server, a resource.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/coroutines/task.hpp"
#include "sim/time/clock.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::sim {

class World;
struct ConnectionId;
struct PlannedFault;

/// Base of all processes. Its state changes only in these calls, each of which is one event.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Its tasks die with it. It may go before its world or after it.
  virtual ~Process();

  /// Its first event, and its first one after a restart.
  virtual void start() {}
  /// A request arrived. Answer with `World::send_reply`, now or later.
  virtual void receive(Message& request, ConnectionId connection);
  /// The client of a connection has died: nobody waits for what it asked. Only where `Message::opens_session` or
  /// `may_keep_waiting` says that this matters. What comes on the connection afterwards is of the client's next life.
  virtual void closed(ConnectionId connection);
  /// A server sent something that is no reply: a message of a channel that it has subscribed to.
  virtual void notified(Message& message, ConnectionId connection);
  /// What it sent came back, and it waits for no answer to it: the other side is dead, or has died since it was sent.
  virtual void returned(Message& message, ConnectionId connection);
  /// It died: forget everything that is not durable (`keep`: nothing is lost). Its tasks are gone already.
  virtual void crashed(bool keep) { static_cast<void>(keep); }
  /// The world starts over: forget everything.
  virtual void reset() {}
  /// Whether all that a request reads or changes of its state is told to `World::access`. Then an explorer need not
  /// order requests that leave each other alone.
  virtual bool describes_accesses() const { return false; }
  /// Whether a reply to this request leaves when it is handled, whatever happens before, as long as this process lives.
  /// Then an explorer knows how late it can come. Asked of requests that are on their way.
  virtual bool answers_at_once(const Message& request) const {
    static_cast<void>(request);
    return false;
  }
  /// Whether it may put off whatever it is asked, so that it has to know when a client dies: see `closed`.
  virtual bool may_keep_waiting() const { return false; }
  /// Whether something may reach it that it has not asked for and that no fault is: `notified`, `returned`. Then an
  /// explorer cannot know what comes next.
  virtual bool hears_unasked() const { return true; }
  /// Whether it serves others rather than having a program of its own: see `World::set_background_timer`.
  virtual bool is_service() const { return false; }

  World& world() const { return *world_; }
  /// Where its events happen.
  ProcessId id() const { return id_; }
  /// Who it is in histories: `id()`, or of a part of a process (`World::add_part`) the part's own.
  ProcessId self() const { return self_; }
  const std::string& name() const;
  /// Its wall clock: may be off, drift and jump.
  const Clock& clock() const;
  /// Its monotonic clock: drifts as the wall clock does, but never jumps. Only differences mean anything.
  const Clock& monotonic() const;
  Executor& executor() const;

  /// Runs a task as part of this process; it dies with the process.
  void spawn(Task<void> task);

 protected:
  /// Its tasks end here. For destructors: tasks may refer to what a derived process is made of.
  void drop_tasks() { tasks_.clear(); }

 private:
  friend class World;
  World* world_ = nullptr;
  ProcessId id_;
  ProcessId self_;
  std::vector<Task<void>> tasks_;
};

/// What the world knows of a process.
struct ProcessState {
  Process* process = nullptr;
  ProcessId host;  ///< of a part: the process that it is a part of; else invalid
  std::string name;
  Clock wall;
  Clock monotonic;
  Duration initial_offset;  ///< of the wall clock
  Duration initial_uptime;  ///< of the monotonic clock
  std::int64_t drift_ppb = 0;
  bool alive = true;
  bool doomed = false;              ///< dies at the end of the event that is being handled
  bool has_step_faults = false;     ///< some planned fault waits for a step of it
  bool was_paused = false;          ///< `frozen_until` means something
  bool describes_accesses = false;  ///< see `Process::describes_accesses`
  bool is_service = false;          ///< see `Process::is_service`
  std::uint32_t incarnation = 0;
  Instant crashed_at;     ///< true time of its latest crash; means something if `incarnation` is not 0
  Instant frozen_until;   ///< end of its latest pause
  Duration paused_total;  ///< length of all its pauses so far, including the one that is going on
  const PlannedFault* doom = nullptr;
};

}  // namespace lockstep::sim
