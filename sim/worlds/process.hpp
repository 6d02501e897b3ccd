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
  /// The client of a connection has died, so its requests need no replies. Called only where `Message::opens_session`
  /// or `may_keep_waiting` says that this matters. What arrives on the connection afterwards comes from the client's
  /// next incarnation.
  virtual void closed(ConnectionId connection);
  /// An unsolicited message of a server: of a channel that this process has subscribed to.
  virtual void notified(Message& message, ConnectionId connection);
  /// A message that it sent, and for which it awaits no reply, came back: the receiver is dead, or died on the way.
  virtual void returned(Message& message, ConnectionId connection);
  /// It died: forget everything that is not durable (`keep`: nothing is lost). Its tasks are gone already.
  virtual void crashed(bool keep) { static_cast<void>(keep); }
  /// The world starts over: forget everything.
  virtual void reset() {}
  /// Does it report to `World::access` everything that a request reads or changes of its state? Then an explorer need
  /// not order independent requests.
  virtual bool describes_accesses() const { return false; }
  /// Is this request always answered when it is handled, in whatever state, as long as this process lives? Then an
  /// explorer has a bound for the reply. Asked of requests that are on their way.
  virtual bool answers_at_once(const Message& request) const {
    static_cast<void>(request);
    return false;
  }
  /// May it delay the reply to any request, so that it must learn when a client dies (`closed`)?
  virtual bool may_keep_waiting() const { return false; }
  /// May it receive unsolicited messages (`notified`, `returned`)? Then an explorer cannot know what comes next.
  virtual bool hears_unasked() const { return true; }
  /// Is it a service, without a program of its own? See `World::set_background_timer`.
  virtual bool is_service() const { return false; }

  World& world() const { return *world_; }
  /// Where its events happen.
  ProcessId id() const { return id_; }
  /// Its identity in histories: `id()`, or for a part of a process (`World::add_part`) the part's own.
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
  /// Destroys its tasks. For destructors: tasks may refer to members of a derived process.
  void drop_tasks() { tasks_.clear(); }

 private:
  friend class World;
  World* world_ = nullptr;
  ProcessId id_;
  ProcessId self_;
  std::vector<Task<void>> tasks_;
};

/// The world's record of a process.
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
  bool died_paused = false;  ///< its latest crash struck in a pause, or at its end
  Instant crashed_at;        ///< true time of its latest crash; means something if `incarnation` is not 0
  Instant frozen_until;      ///< end of its latest pause
  Step paused_in = 0;        ///< in which its latest pause began; those that overlap are one
  Duration paused_total;     ///< length of all its pauses so far, including the one that is going on
  const PlannedFault* doom = nullptr;
};

}  // namespace lockstep::sim
