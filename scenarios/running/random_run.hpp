#pragma once

// Concrete runs of a story by chance: delays within its ranges and the faults of its [[may]], where things break rather
// than anywhere.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checker/properties/verdict.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/allowed_faults.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/running/run_recorder.hpp"
#include "scenarios/running/strategy.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {

/// Lengths that a story speaks of: leases, works, latencies, timeouts, margins. Where they end, something changes.
struct TellingLengths {
  std::vector<sim::Duration> lengths;
  std::vector<sim::Duration> small;  ///< by which something may be a little earlier or later
  std::vector<sim::Duration> leases;
};
TellingLengths telling_lengths(const Scenario& scenario, const models::locks::Entry& entry);

/// From this question on the answers come from another seed: the run is the same up to there, and another one beyond.
struct Reseed {
  std::uint32_t question = 0;
  std::uint64_t seed = 0;
  bool operator==(const Reseed&) const = default;
};

/// The faults of one parameter are no smaller and no larger than this.
struct FaultLimit {
  std::string parameter;
  sim::DurationRange range;
};

/// All that a run depends on, besides its story.
struct RunDraw {
  std::uint64_t seed = 0;
  /// Of the faults; nothing: they are drawn from `seed` as well, in between.
  std::optional<std::uint64_t> fault_seed = std::nullopt;
  Strategy strategy = Strategy::boundary;
  std::uint32_t depth = 3;           ///< priority: how many of its processes change their speed, less one
  std::uint64_t typical = 0;         ///< events: within so many faults are placed
  std::vector<Reseed> reseeds = {};  ///< by question
  std::optional<FaultLimit> limit = std::nullopt;
  /// When it is over, the probe comes, and nothing is left to chance any more.
  bool asks_whether_it_recovers = false;
  std::span<const std::string> properties = {};  ///< those that are judged, ascending; none: all
};

/// Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarajaiah 2010) for messages: their order is
/// what the delays make it, so all that a slow process sends or gets takes as long as it can, and all else is as fast
/// as it can be. At `depth` - 1 moments, which are drawn in advance, one process becomes slow that was fast, or fast
/// that was slow.
class PriorityDecisions final : public sim::Decisions {
 public:
  /// Requires: both outlive it. `processes`: those that can be slow.
  PriorityDecisions(const sim::World& world, const RunRecorder& recorder) : world_(world), recorder_(recorder) {}
  void begin(sim::Random& random, std::uint32_t depth, std::uint64_t typical);
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;

 private:
  const sim::World& world_;
  const RunRecorder& recorder_;
  sim::Random* random_ = nullptr;
  std::vector<char> is_slow_;           ///< by process
  std::vector<std::uint64_t> changes_;  ///< questions, ascending
  std::size_t next_change_ = 0;
  std::uint64_t questions_ = 0;
};

/// Chance with a mood, which changes from run to run: some runs have only extreme delays, some any, some telling ones.
/// In many, whatever can come at any time comes at once or a certain time later, so that those who start anywhere
/// within a second meet where a lease ends.
class MoodyDecisions final : public sim::Decisions {
 public:
  explicit MoodyDecisions(const TellingLengths& telling) : telling_(telling) {}
  /// `margin`: the largest fault of this run, or zero.
  void begin(sim::Random& random, sim::Duration margin);
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;

 private:
  std::uint64_t delay(std::uint64_t options);

  const TellingLengths& telling_;
  sim::Random* random_ = nullptr;
  std::uint64_t weights_[4] = {};  ///< of the shortest, the longest, a telling one, any
  std::optional<sim::Duration> meeting_;
};

/// The faults of `[[may]]`, each at the first event from some event on at which it can strike, or before that; several
/// of them often close together.
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
    std::uint64_t from = 0;  ///< ordinal of the event
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
  std::vector<sim::EventId> delayed_;  ///< messages
  std::uint64_t looked_ = 0;
  std::uint64_t focus_ = 0;  ///< the event around which faults come close together
  sim::ProcessId last_;      ///< whom a fault struck last
};

/// Answers by the strategy of the present run.
class DrawnDecisions final : public sim::Decisions {
 public:
  DrawnDecisions(const TellingLengths& telling, const sim::World& world, const RunRecorder& recorder)
      : moody_(telling), priority_(world, recorder) {}
  /// Requires: both live until the run is over.
  void begin(const RunDraw& draw, sim::Random& random);
  void calm_down() { draw_ = nullptr; }
  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override;
  /// How many questions were asked since the beginning.
  std::uint32_t questions() const { return questions_; }

 private:
  MoodyDecisions moody_;
  PriorityDecisions priority_;
  const RunDraw* draw_ = nullptr;  ///< null: calm
  sim::Random* random_ = nullptr;
  std::size_t next_reseed_ = 0;
  std::uint32_t questions_ = 0;
};

class RandomRuns {
 public:
  /// Requires: all outlive it.
  RandomRuns(const Scenario& scenario, const models::locks::Catalogue& catalogue);

  /// One run. The same draw gives the same run. Nothing: it cannot be judged, because `why_not_judged`.
  std::optional<std::vector<checker::Finding>> run(const RunDraw& draw);
  /// The same with the boundary strategy; `typical` is the longest run so far. Of the properties that `ask` named, if
  /// it named any.
  std::optional<std::vector<checker::Finding>> run(std::uint64_t seed, const std::optional<FaultLimit>& limit,
                                                   bool asks_whether_it_recovers = false);
  void ask(std::string_view property);
  /// The last run as a story with exact times.
  Scenario story();
  /// Of that story. Requires: it was asked for last.
  std::vector<NamedDelay> delays() const { return recorder_.delays(); }

  /// Of the last run: it did not end, a script did not, or ran into an error. The same text for all of which it is so.
  const std::string& why_not_judged() const { return why_not_judged_; }
  const AllowedFaults& faults() const { return faults_.allowed(); }
  std::uint64_t events() const { return deployment_.world().events_executed(); }
  std::uint32_t questions() const { return decisions_.questions(); }
  /// How many events there were at which a fault could have struck.
  std::uint64_t looked() const { return faults_.looked(); }
  /// Whether nothing was left to chance, so that all runs are this one.
  bool is_only_one() const { return decisions_.questions() == 0 && scenario_.may.empty(); }
  const Deployment& deployment() const { return deployment_; }

 private:
  /// `visit`: no further than to that moment; the story goes on to the other one.
  bool play(const RunDraw& draw, bool writes, std::optional<std::pair<sim::Instant, sim::Instant>> visit = {});
  bool take(const std::optional<Diagnostic>& problem);

  const Scenario& scenario_;
  TellingLengths telling_;
  struct Door final : sim::Decisions {
    sim::Decisions* to = nullptr;
    std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId event) override {
      return to->choose(choice, options, event);
    }
  };
  Door door_;  ///< the world wants decisions before those have a world to look at
  Deployment deployment_;
  RunRecorder recorder_;
  DrawnDecisions decisions_;
  RandomFaults faults_;
  std::optional<Execution> execution_;
  std::vector<std::string> asked_;  ///< ascending
  std::uint64_t typical_ = 0;       ///< events of the longest run so far
  RunDraw last_;
  std::string why_not_judged_;
};

}  // namespace lockstep::scenarios
