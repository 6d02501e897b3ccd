#pragma once

// A run of a simulation as a story with exact times: what happened when, and where its faults struck, so that `run`
// plays it again.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/event_name.hpp"
#include "sim/schedules/event_namer.hpp"
#include "sim/schedules/scheduler.hpp"

namespace lockstep::scenarios {

/// An event by what it is and its ordinal, with names that stay when other processes are left out.
struct EventKey {
  sim::EventName::What what = sim::EventName::What::request;
  std::string process;
  std::string step;
  std::string server;
  std::int64_t occurrence = 1;
  auto operator<=>(const EventKey&) const = default;
};

struct NamedDelay {
  EventKey key;
  sim::Duration delay;  ///< longer than the shortest
  auto operator<=>(const NamedDelay&) const = default;
};

/// Stands between a world and its simulation, and sees what is emitted; what happens, and which faults strike, it is
/// told by the `sim::Fate` of the run. It always knows who is at work; names cost more, and are kept of the runs that
/// are to be written.
class RunRecorder final : public sim::Scheduler {
 public:
  /// Requires: `scenario` and `deployment` outlive it.
  RunRecorder(const Scenario& scenario, Deployment& deployment);
  ~RunRecorder();
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  /// A run begins. Requires: the simulation was restarted.
  void begin(bool writes);

  /// The slot of the event that was emitted last.
  std::uint32_t last_emitted() const { return last_emitted_; }

  /// When the work began that the process is doing or, paused, will be doing; nothing if it is not at work.
  std::optional<sim::Instant> at_work_since(sim::ProcessId process) const;

  // --- What the fate of the run says.

  /// The event in this slot happens at this moment, next.
  void happens(std::uint32_t slot, sim::Instant moment);
  /// A clock is off from the beginning.
  void is_off(sim::ProcessId process, sim::Duration by);
  /// A pause, a crash or a jump between two events. `length`: as the file has it.
  void struck(const sim::PlannedFault& fault, sim::Duration length, sim::Instant moment);
  /// A pause that begins as the event happens that happens next: what its process does then leaves when the pause is
  /// over.
  void struck_with_next(const sim::PlannedFault& fault);
  /// The message in this slot does not arrive.
  void loses_message(std::uint32_t slot);
  /// The message that was emitted last takes so much longer.
  void delays_last(sim::Duration length);
  /// From this moment on, nothing passes between these sides for so long.
  void separates(const sim::Sides& sides, sim::Instant moment, sim::Duration length);

  /// Requires: it wrote, and the run is over.
  Scenario story();
  /// Of the same run: what took longer than it had to, ascending.
  std::vector<NamedDelay> delays() const;
  /// Of the event that was emitted last; nothing if it has no name. Requires: it writes.
  std::optional<EventKey> key_of_last() const;

  // --- sim::Scheduler.

  void emitted(std::uint32_t slot) override;
  void lost(const sim::Event& message) override;
  void cancelled(std::uint32_t slot) override;
  void postponed(std::uint32_t slot, sim::Duration by) override;
  void crashed(sim::ProcessId process) override;
  std::uint64_t choose(sim::Decisions& decisions, std::uint64_t options, sim::EventId event) override;
  bool is_at_or_after(sim::Instant a, sim::Instant b) override;
  sim::Instant later_of(sim::Instant a, sim::Instant b) override;

 private:
  /// The event that happens, until the next one: only then is it known whether it did anything.
  struct Present {
    sim::ProcessId process;
    sim::Duration at;
    std::string step;
    bool is_start = false;
    bool was_alive = false;
    bool was_bounced = false;
    std::vector<std::size_t> pauses;  ///< that began with it: their places in `faults_`
  };
  struct Named {
    std::optional<sim::EventName> name;
    std::int64_t occurrence = 0;  ///< of a message, as losses count: by client, step and direction
  };

  void strikes_message(FaultSpec::Kind kind, std::uint32_t slot, sim::Duration length);
  void finish_present();
  void add_own_event(sim::EventName::What what, sim::ProcessId process, sim::Duration at);
  ScheduleEntry entry_of(const sim::EventName& name, sim::Duration at) const;
  std::int64_t count_message(const sim::Event& event);

  const Scenario& scenario_;
  Deployment& deployment_;
  sim::World& world_;
  std::vector<std::string> names_;
  bool writes_ = false;
  std::vector<std::uint32_t> works_;  ///< slots of pending work

  sim::EventNamer namer_;
  std::vector<Named> named_;  ///< by slot
  std::uint32_t last_emitted_ = 0;
  std::map<std::tuple<sim::ProcessId, std::string, bool>, std::int64_t> sent_;
  std::map<std::pair<sim::ProcessId, std::string>, std::int64_t> reached_;
  std::map<std::pair<sim::ProcessId, sim::EventName::What>, std::int64_t> struck_;
  std::optional<Present> present_;
  std::optional<std::size_t> listed_;   ///< its place in `schedule_`, or that of the fault that strikes
  std::vector<std::size_t> with_next_;  ///< pauses that begin with the event that happens next
  std::vector<FaultSpec> faults_;
  std::vector<ScheduleEntry> schedule_;
  std::vector<ScheduleEntry> called_off_;
  std::vector<std::pair<sim::ProcessId, sim::Duration>> offsets_;
  std::vector<NamedDelay> delays_;
};

}  // namespace lockstep::scenarios
