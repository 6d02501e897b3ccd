#pragma once

// Concrete runs of a story by chance: delays within its ranges and the faults of its [[may]], where things break rather than anywhere.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/verdict.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/allowed_faults.hpp"
#include "scenarios/deployment.hpp"
#include "scenarios/execution.hpp"
#include "scenarios/run_recorder.hpp"
#include "scenarios/scenario.hpp"
#include "sim/decisions.hpp"
#include "sim/random.hpp"

namespace lockstep::scenarios {

/// Lengths that a story speaks of: leases, works, latencies, timeouts, margins. Where they end, something changes.
struct TellingLengths {
  std::vector<sim::Duration> lengths;
  std::vector<sim::Duration> small;  ///< by which something may be a little earlier or later
  std::vector<sim::Duration> leases;
};
TellingLengths telling_lengths(const Scenario& scenario, const models::locks::Entry& entry);

/// Chance with a mood, which changes from run to run: some runs have only extreme delays, some any, some telling ones. In many, whatever can come at any
/// time comes at once or a certain time later, so that those who start anywhere within a second meet where a lease ends.
class MoodyDecisions final : public sim::Decisions {
 public:
  explicit MoodyDecisions(const TellingLengths& telling) : telling_(telling) {}
  /// `margin`: the largest fault of this run, or zero.
  void begin(sim::Random& random, sim::Duration margin);
  /// From here on nothing is left to chance: all that can comes at once.
  void calm_down() { random_ = nullptr; }
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;
  /// Whether anything was asked since the beginning.
  bool is_asked() const { return is_asked_; }

 private:
  std::uint64_t delay(std::uint64_t options);

  const TellingLengths& telling_;
  sim::Random* random_ = nullptr;  ///< null: calm
  std::uint64_t weights_[4] = {};  ///< of the shortest, the longest, a telling one, any
  std::optional<sim::Duration> meeting_;
  bool is_asked_ = false;
};

/// The faults of one parameter are no smaller and no larger than this.
struct FaultLimit {
  std::string parameter;
  sim::DurationRange range;
};

/// The faults of `[[may]]`, each at the first event from some event on at which it can strike, or before that; several of them often close together.
class RandomFaults final : public sim::Fate {
 public:
  RandomFaults(const Scenario& scenario, Deployment& deployment, RunRecorder& recorder, const TellingLengths& telling);
  /// Requires: the simulation was restarted, and nothing has happened. `typical`: how many events a run has.
  void begin(sim::Random& random, const std::optional<FaultLimit>& limit, std::uint64_t typical);
  Answer of(std::uint32_t slot, sim::Instant moment) override;
  sim::Duration late_by(const sim::Event& message) override;

  const AllowedFaults& allowed() const { return allowed_; }
  std::uint64_t looked() const { return looked_; }

 private:
  using Budget = AllowedFaults::Budget;
  struct Planned {
    std::size_t budget = 0;
    std::uint64_t from = 0;  ///< the how many-th event
    sim::Duration length;
    bool at_work = false;  ///< where it does most harm
    bool is_done = false;
  };

  void plan(std::size_t budget, const std::optional<FaultLimit>& limit, std::uint64_t typical);
  sim::Duration length_within(sim::DurationRange range);
  std::optional<Answer> attempt(Planned& planned, std::uint32_t slot, sim::Instant moment);
  sim::ProcessId some_victim(const Budget& budget, bool at_work, sim::ProcessId present, sim::Instant moment);
  sim::Instant some_moment(sim::ProcessId victim, sim::Instant from, sim::Instant until);

  sim::World& world_;
  RunRecorder& recorder_;
  const TellingLengths& telling_;
  AllowedFaults allowed_;
  sim::Random* random_ = nullptr;
  std::vector<Planned> planned_;
  std::uint64_t looked_ = 0;
  std::uint64_t focus_ = 0;  ///< the event around which faults come close together
  sim::ProcessId last_;      ///< whom a fault struck last
};

class RandomRuns {
 public:
  /// Requires: all outlive it.
  RandomRuns(const Scenario& scenario, const models::locks::Catalogue& catalogue);

  /// One run. The same seed and limit give the same run. Nothing: it does not end, or its scripts do not. `asks_whether_it_recovers`: when it is
  /// over, the probe comes, and nothing is left to chance any more.
  std::optional<std::vector<checker::Finding>> run(std::uint64_t seed, const std::optional<FaultLimit>& limit,
                                                   bool asks_whether_it_recovers = false);
  /// The last run as a story with exact times.
  Scenario story();

  /// Of the last run.
  const AllowedFaults& faults() const { return faults_.allowed(); }
  std::uint64_t events() const { return deployment_.world().events_executed(); }
  /// Whether nothing was left to chance, so that all runs are this one.
  bool is_only_one() const { return !decisions_.is_asked() && scenario_.may.empty(); }
  const Deployment& deployment() const { return deployment_; }

 private:
  bool play(std::uint64_t seed, const std::optional<FaultLimit>& limit, bool writes);

  const Scenario& scenario_;
  TellingLengths telling_;
  MoodyDecisions decisions_;
  Deployment deployment_;
  RunRecorder recorder_;
  RandomFaults faults_;
  std::optional<Execution> execution_;
  std::uint64_t typical_ = 0;  ///< events of the longest run so far
  // Of the last run.
  std::uint64_t seed_ = 0;
  std::optional<FaultLimit> limit_;
  std::uint64_t typical_before_ = 0;
};

}  // namespace lockstep::scenarios
