#pragma once

// A story's world: its processes, connections, faults and pins, made from the plain data of a `Scenario`.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/property.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "models/client/client.hpp"
#include "models/locks/catalogue.hpp"
#include "models/resources/resource.hpp"
#include "models/servers/server_kind.hpp"
#include "models/workloads/lock_user.hpp"
#include "models/workloads/market.hpp"
#include "scenarios/deployment/outcome.hpp"
#include "scenarios/deployment/program_process.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::scenarios {

/// The algorithm's parameters with what the file sets of them.
models::locks::Parameters parameters_of(const models::locks::Entry& entry, const LockSpec& spec);
/// The same as this client has them.
models::locks::Parameters parameters_of(const models::locks::Entry& entry, const LockSpec& spec,
                                        const ClientSpec& client);

/// Everything that one world consists of. Processes are numbered in this order: clients, servers, sentinels, the
/// resource, the probe, then the parts of clients (threads, background tasks) and of the probe; so a scenario always
/// gives the same world.
class Deployment {
 public:
  /// What the file says of faults and order: what does happen belongs to `run`; what might, to an explorer.
  enum class Faults : std::uint8_t { as_planned, none };

  /// Requires: `scenario` came out of the loader, or is as consistent, and has a maker of its programs, if it has some;
  /// it, `catalogue` and `decisions` outlive the deployment.
  Deployment(const Scenario& scenario, const models::locks::Catalogue& catalogue, sim::Decisions& decisions,
             Faults faults = Faults::as_planned);

  sim::World& world() { return world_; }
  const sim::World& world() const { return world_; }
  sim::Simulation& simulation() { return simulation_; }

  /// Emits what happens by itself: clients' starts and faults at given times.
  void begin();
  /// The same without the clients: servers and sentinels.
  void begin_servers();
  models::Servers& servers() { return *servers_; }
  const models::Servers& servers() const { return *servers_; }
  /// When the probe asks for the lock: every `poll`, but every `often` from one true time to another, until it got it
  /// or gives up.
  struct Probing {
    sim::Instant first;  ///< not before
    sim::Duration poll;
    sim::Duration often;
    sim::Instant often_from;
    sim::Instant often_until;
    sim::Instant give_up;
  };
  /// Lets the probe start to compete for the lock.
  void begin_probing(const Probing& probing);
  /// How much longer than the leases the bound of `recoverable` is, if the file says nothing: some round trips.
  sim::Duration probe_slack() const;
  /// What an attempt of the probe takes where messages are as fast as they can be: `Entry::round_trips`.
  sim::Duration quick_attempt() const;
  /// What an attempt of the probe may wait in vain for servers.
  sim::Duration patience() const;
  /// The longest that a reply can take to come, from the sending of its request on.
  sim::Duration slowest_round_trip() const;

  /// Lets the probe start at any time, as an explorer says, and attempt one time after the other until it has the lock,
  /// or has failed in an attempt that began after so long.
  void begin_probing_for(sim::Duration time);
  /// Of `begin_probing_for`: after so many the probe takes its time between attempts, but goes on until its time is
  /// over. Had it stopped, the search would have called kept what nobody had looked at.
  static constexpr int kQuickProbeAttempts = 64;
  /// Whether `begin_probing_for` or `begin_visit` was called since `begin`.
  bool probes_for() const { return probes_for_.has_value() || visit_ != Visit::none; }

  /// Whether the probe does as its program does, from early on: docs/decisions/recoverable-is-tried.md. A lock that is
  /// a script may remember, and leave behind, what it likes.
  bool is_visited() const { return scenario_.lock.own.entry != nullptr; }
  /// Instead of probing, where the probe is a visitor: it comes at that moment, or, without one, at any time as an
  /// explorer says, and tries in the rhythm of its program until it has the lock, or fails in an attempt that began
  /// when its time was over, or has waited four times as long. `sessions`: how long after that, at most, servers wait
  /// for the ends of those that others had.
  void begin_visit(std::optional<sim::Instant> first, sim::Duration sessions);
  /// `recoverable`: how long it may take a visitor. Requires: `begin_visit`.
  sim::Duration visit_bound() const { return visit_bound_; }
  bool is_visit_over() const { return visit_ == Visit::over; }
  const models::locks::Catalogue& catalogue() const { return catalogue_; }
  const Scenario& scenario() const { return scenario_; }

  /// `recoverable`: a fresh client must have the lock this long after everybody is done or dead. If the file says
  /// nothing: when the longest lease has run out, and it has had time for a few attempts.
  sim::Duration recovery_bound() const;
  /// `no-deadlock`: a circle of clients that wait for each other is one when it lasts so long. Nothing: no client takes
  /// several locks, so there is nothing to judge.
  std::optional<sim::Duration> deadlock_bound() const { return deadlock_bound_; }

  /// `no-lost-wakeup`: whoever waits must have a free lock within this time. If the file says nothing: a few round
  /// trips.
  checker::WakeupQuestion wakeup_question() const;

  /// `progress`: nobody tries longer than this while nobody holds. If the file says nothing: `default_progress`.
  checker::ProgressQuestion progress_question() const;

  /// Of a semaphore: how many may hold it at once.
  std::optional<std::int64_t> places() const;
  /// `fair`: how often somebody may be overtaken. Nothing: neither the file nor the algorithm promises anybody a turn.
  std::optional<std::int64_t> overtakings() const;
  checker::Circumstances circumstances() const;
  /// Why there is nothing to judge of this property, in one sentence; empty: it is judged.
  std::string_view why_not_judged(std::string_view property) const;
  /// Whether the story has what it is about: nobody claims of a lock what it is not asked for.
  bool can_be_claimed(std::string_view property) const;
  /// Whether somebody takes the lock as one of several, as readers do.
  bool shares_lock() const;

  sim::ProcessId probe() const { return probe_; }
  std::vector<sim::ProcessId> resources() const;
  std::vector<Lane> lanes() const;
  /// Requires: there is one of this name.
  sim::ProcessId process_named(const std::string& name) const;
  /// A name in the story's faults, pins or schedule that no process has. A story of the loader has none; an edited one
  /// may have. Then nothing is planned, and `Execution::play` refuses it.
  const std::optional<std::string>& missing_process() const { return missing_process_; }
  sim::Sides sides_named(const std::vector<std::string>& left, const std::vector<std::string>& right) const;
  std::vector<std::string> names() const;
  /// What the servers and the resource hold now, a line each, for people: "redis: lock = A-1, with a lease". Says
  /// nothing of instants, so states that differ only in those read the same.
  std::string holdings() const;
  /// A script ran away: the message, and the line of the file whose command it was (0:0: an algorithm's own).
  struct ScriptTrouble {
    std::string message;
    Position at;
  };
  std::optional<ScriptTrouble> script_trouble() const;
  std::string place_of_script(std::string_view sha1) const;
  /// The same with the place where the script stands, in one text: for an exploration.
  std::optional<std::string> trouble_of_scripts() const;
  /// Why nothing is known of this execution: a script of the story ran into an error that nobody handled. Nothing: none
  /// did.
  std::optional<std::string> mistake() const;
  /// One sentence for each script with a mistake in it that has been run so far, with where it is and what it says
  /// there. Handled ones, too.
  std::vector<std::string> script_mistakes() const;
  /// Why nothing is known of this execution: a program could not be followed. Nothing: all could.
  struct ProgramTrouble {
    std::string message;
    Position at;  ///< of the client
  };
  std::optional<ProgramTrouble> program_trouble() const;
  /// What is to be known of the programs besides, in sentences.
  std::vector<std::string> notes_of_programs() const;
  std::vector<ProgramCall> program_calls() const;
  /// One sentence for each fault of the story whose moment never came.
  std::vector<std::string> missed_faults() const;
  /// The longest lease of all clients that use the lock; nothing if none of them has one.
  std::optional<sim::Duration> lease() const { return lease_; }

 private:
  void add_servers();
  bool keeps_one_state() const;
  void add_clients();
  models::Client::Program program_of(const ClientSpec& spec, const models::workloads::LockUser& settings);
  void add_threads(models::Client& process, const ClientSpec& spec);
  void add_company(models::Client& process);
  sim::DurationRange latency_to(std::size_t server) const;
  void connect(models::Client& client, models::workloads::LockUser* settings);
  void connect_client(std::size_t number);
  bool goes_via_sentinels(const models::Client& client) const;
  /// What the lock protects is a row of its server; a process has its place in histories and pictures.
  bool keeps_row() const { return scenario_.resource && scenario_.resource->kind == ResourceSpec::Kind::row; }
  void connect_resource(models::Client& client, models::workloads::LockUser* settings);
  models::workloads::LockUser settings_of(const ClientSpec& client);
  models::workloads::Trader trader_of(const ClientSpec& client) const;
  sim::Task<void> command_program(models::Client& client, const ClientSpec& spec);
  sim::Task<void> probe_program(models::Client& client);
  sim::Task<void> visit_program(models::Client& client);
  sim::Task<bool> attempt(models::Client& client, std::size_t& taken);
  sim::Duration pause_of_visitor(int attempts) const;
  sim::Duration until_next_probe() const;
  const models::locks::LockAlgorithm& lock_named(const std::string& key) const;
  const models::locks::LockAlgorithm& lock_of(const ClientSpec& client, const std::string& key);
  std::optional<sim::Duration> longest_lease() const;
  sim::Duration longest(models::locks::ParameterRole role) const;
  std::optional<sim::Duration> least_deadlock() const;
  sim::Duration default_progress() const;
  void count_attempts();
  std::optional<sim::ProcessId> find_process(const std::string& name) const;
  std::optional<std::string> look_for_missing_process() const;
  void plan_faults();
  void plan_partition(const FaultSpec& spec);
  sim::PlannedFault planned(const FaultSpec& spec) const;
  void plan_pins();
  void plan_schedule();

  const Scenario& scenario_;
  const models::locks::Catalogue& catalogue_;
  const models::locks::Entry& entry_;
  models::locks::Parameters parameters_;
  std::vector<std::unique_ptr<models::locks::LockAlgorithm>> locks_;      ///< one for each key that is used
  std::vector<std::unique_ptr<models::locks::LockAlgorithm>> own_locks_;  ///< of clients with parameters of their own
  std::optional<sim::Duration> lease_;
  std::optional<sim::Duration> deadlock_bound_;
  bool claims_fairness_ = false;
  sim::Duration progress_within_;
  std::vector<std::int64_t> attempts_;  ///< by process: how many make one try; 0: any number
  sim::World world_;
  sim::Simulation simulation_;
  std::unique_ptr<models::Servers> servers_;
  std::optional<models::resources::Resource> resource_;
  sim::ProcessId resource_id_;
  std::deque<models::workloads::LockUser> settings_;  ///< programs refer to them: they must not move
  std::deque<models::workloads::Trader> traders_;
  std::deque<models::Client> clients_;  ///< those that are no programs, and the probe
  std::vector<std::unique_ptr<ProgramProcess>> programs_;
  /// Of the story: one of the two.
  struct Member {
    models::Client* client = nullptr;
    ProgramProcess* program = nullptr;
  };
  std::vector<Member> members_;
  std::vector<sim::ProcessId> client_ids_;
  std::deque<models::Client> parts_;  ///< threads and background tasks of clients: they must not move
  std::vector<sim::ProcessId> part_ids_;
  std::vector<const FaultSpec*> planned_faults_;  ///< by order of planning
  std::optional<std::string> missing_process_;
  sim::ProcessId probe_;
  Probing probing_;
  std::optional<sim::Duration> probes_for_;
  enum class Visit : std::uint8_t { none, goes_on, over };
  Visit visit_ = Visit::none;
  std::optional<sim::Instant> visit_from_;
  sim::Duration visit_bound_;
  /// When nobody waits for the visitor any more.
  struct VisitEnd final : sim::TimerOwner {
    explicit VisitEnd(Visit& ended) : visit(ended) {}
    void timer_fired() override { visit = Visit::over; }
    Visit& visit;
  };
  VisitEnd visit_end_{visit_};
  std::optional<ScriptTrouble> trouble_;
};

}  // namespace lockstep::scenarios
