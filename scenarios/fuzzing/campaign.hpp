#pragma once

// A fuzzing campaign: random worlds, random runs of them, and what they break. Start here to read how `lockstep fuzz`
// works.
//
// Work comes in batches of units. A unit is one world and some runs of it; it depends on its number, and on what
// earlier batches have shown, and on nothing else: so units can be played on any number of threads, or machines, and a
// campaign finds the same whoever plays them. At the end of a batch its results are put together in the order of the
// units, and what is new among the violations is made small (`shrink`).
//
// A thread that finds nothing left to begin does not wait for those that are still at it: it begins units of the next
// batch, and leaves them where they are, between two runs, when this one is over. That is what would have been played
// anyway, unless this batch has shown something that such a unit took for new: then it is begun anew.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "scenarios/fuzzing/campaign_state.hpp"
#include "scenarios/fuzzing/coverage.hpp"
#include "scenarios/running/random_run.hpp"
#include "scenarios/story/scenario.hpp"
#include "scenarios/workers/ranks.hpp"
#include "scenarios/workers/threads.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::scenarios {

/// What is fuzzed: the story of a file, or an algorithm in worlds that are made up.
struct FuzzTarget {
  Scenario story;  ///< of a made-up one: its algorithm, and no more
  bool is_made_up = false;
  std::vector<std::string> properties;  ///< that must hold, ascending
};

/// What must hold: what the algorithm claims, and what the file expects anything of.
FuzzTarget target_of(const Scenario& file, const models::locks::Catalogue& catalogue);
FuzzTarget target_of(const models::locks::Entry& entry);

/// Whether clients of one of them are programs.
bool has_programs(const std::vector<FuzzTarget>& targets);

struct FuzzOptions {
  std::uint64_t seed = 1;
  std::uint64_t max_runs = 0;         ///< 0: no bound; asked between batches
  double max_seconds = 0;             ///< 0: no bound; asked between runs. Requires: `stopwatch`  // tidy: not deciding
  std::function<double()> stopwatch;  // tidy: not deciding
  std::size_t jobs = 1;
  /// Only the units with a number of which `shard` is the remainder by `shards`.
  std::uint64_t shard = 0, shards = 1;
  std::optional<Strategy> strategy;  ///< nothing: a portfolio of all
  std::uint32_t depth = 3;           ///< of the priority strategy
  bool coverage = true;              ///< runs that showed something new are changed and played again
  bool as_written = false;           ///< see `fuzzed_world`
  bool shrinks = true;               ///< false: findings stay as they were found (for figures alone)
  std::function<bool()> interrupted;
  /// Processes that play this campaign together, with the same options but `jobs`; each has all of the result. When it
  /// is over is what the first one says. Null: there is only this one.
  Ranks* ranks = nullptr;
};

class Campaign {
 public:
  /// Requires: the catalogue outlives it; there is a target.
  Campaign(std::vector<FuzzTarget> targets, const models::locks::Catalogue& catalogue, FuzzOptions options);
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Plays one batch; of one in which the time is over what has been played by then. False: the campaign was over
  /// before it, or was interrupted in it (in any of the ranks), and then nothing of it counts.
  bool step();
  bool is_over() const;

  const std::vector<FuzzTarget>& targets() const { return targets_; }
  /// All of it. `spent_ms` is up to date.
  const CampaignState& state();
  /// Goes on where a campaign stopped: batches that are played now are those that would have come. Returns what is
  /// wrong with the state, if anything is; then the campaign is as it was. Requires: nothing has been played.
  std::optional<std::string> restore(CampaignState state);
  /// Ordinal of the first run that broke this property of this target.
  std::optional<std::uint64_t> first_violation(std::size_t target, std::string_view property) const;

 private:
  struct Candidate {
    FuzzSeed seed;
    std::uint32_t property = 0;  ///< of its target
    std::uint32_t kinds = 0;     ///< bit by kind of fault: which ones struck
    std::uint64_t run = 0;       ///< of its unit: the first such one
    std::uint64_t events = 0;    ///< of the shortest such one, which `seed` is
  };
  struct Unit {
    FuzzStatistics statistics;
    std::map<std::string, FuzzEvidence> evidence;
    std::vector<Feature> features;  ///< that are new
    std::vector<FuzzSeed> seeds;
    std::vector<Candidate> candidates;
  };
  /// A candidate that was made small; a mystery, if it has no cause.
  struct Small {
    std::string cause;
    std::vector<std::string> faults;
    std::string why;  ///< of a mystery: the reason
    std::string title;
    std::string text;
    std::uint64_t tried = 0;
    bool is_minimal = false;
  };
  struct World;
  class Player;
  /// What a thread has for itself.
  struct Place {
    std::vector<std::unique_ptr<World>> worlds;
    std::unique_ptr<Player>
        begun;  ///< a unit of the next batch, in one of these worlds: so it goes on before another one is begun here
  };

  /// The unit with this number in a batch. Requires: nothing is begun at this place.
  std::unique_ptr<Player> begin(std::uint64_t batch, std::size_t unit, Place& place) const;
  std::uint64_t number_of(std::uint64_t batch, std::size_t unit) const;
  sim::Random beginning_of(std::uint64_t number) const;
  bool may_go_ahead(std::size_t unit) const;
  void play_ahead(Place& place, const std::function<bool()>& goes_on);
  std::vector<std::size_t> begin_batch(std::vector<Unit>& units);
  void forget_outdated();
  void forget_ahead();
  Scenario world_of(const FuzzTarget& target, std::uint64_t seed) const;
  void exchange(std::vector<Unit>& units) const;
  void exchange(std::vector<Small>& smalls) const;
  Small made_small(const Candidate& candidate) const;
  void merge(std::vector<Unit>& units);
  void make_small(const std::vector<Candidate>& candidates);
  bool is_out_of_time(double patience = 0) const;  // tidy: not deciding
  std::uint64_t fingerprint() const;
  std::uint64_t spent_ms() const;

  std::vector<FuzzTarget> targets_;
  const models::locks::Catalogue& catalogue_;
  FuzzOptions options_;
  Threads threads_;
  std::vector<Place> places_;  ///< by thread
  std::size_t units_of_batch_;
  double begin_ = 0;  // tidy: not deciding
  std::uint64_t spent_before_ms_ = 0;
  Coverage coverage_;  ///< of `state_.features`
  std::uint64_t next_batch_ = 0;
  std::atomic<std::size_t> next_ahead_{0};  ///< the first unit of the next batch that nobody has looked at
  std::vector<std::optional<Unit>> ahead_;  ///< by number in the next batch: those that are played already
  CampaignState state_;
};

}  // namespace lockstep::scenarios
