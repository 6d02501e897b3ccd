#include "scenarios/fuzzing/campaign.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "checker/properties/properties.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/fuzzing/fuzzed_world.hpp"
#include "scenarios/fuzzing/shrink.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/stop.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Random;

// Short ones, and many: at the end of a batch every thread waits for the one that plays the last.
constexpr std::size_t kUnitsOfBatch = 64;
/// Of stories with programs, of which two thousand runs take minutes: findings are told at the end of a batch.
constexpr std::size_t kUnitsOfBatchOfPrograms = 1;
constexpr std::uint64_t kShrinkTries = 2'000;
constexpr std::uint64_t kShrinkTriesOfPrograms = 100;
constexpr std::uint64_t kRunsOfUnit = 32;
constexpr std::uint64_t kEventsOfUnit = 20'000;  // a unit ends there, however few runs it had
constexpr std::size_t kCorpusMax = 512;
/// Runs that break the same property of the same target with the same kinds of faults mostly do so for the same reason.
constexpr std::uint32_t kShrinksOfKind = 2;
constexpr double kPatience = 1;  // seconds: a run that goes on for longer when the time is over is not waited for
/// When all is over, the probe takes longer than the run itself.
constexpr std::uint64_t kAsksRecoveryEvery = 4;

std::uint32_t kinds_of(const AllowedFaults& faults) {
  std::uint32_t kinds = 0;
  for (const AllowedFaults::Budget& budget : faults.budgets()) {
    if (budget.left < budget.may->times) kinds |= 1U << static_cast<std::uint32_t>(budget.may->kind);
  }
  return kinds;
}

/// Of how many times as many runs: boundary 5, priority 2, uniform 1.
Strategy some_strategy(Random& random) {
  const std::uint64_t ticket = random.below(8);
  return ticket < 5 ? Strategy::boundary : ticket < 7 ? Strategy::priority : Strategy::uniform;
}

}  // namespace

/// A world, deployed: what a file's only world is is made once for each thread.
struct Campaign::World {
  World(std::uint32_t of_target, bool only, Scenario world, const models::locks::Catalogue& catalogue)
      : target(of_target), is_only(only), story(std::move(world)), runs(story, catalogue) {}
  std::uint32_t target;
  bool is_only;
  Scenario story;
  RandomRuns runs;
};

/// The runs of one unit.
class Campaign::Player {
 public:
  /// `unit`: in its batch; `from`: a run to go on from.
  Player(const Campaign& campaign, std::size_t unit, std::uint64_t number, World& world, std::uint64_t world_seed,
         const std::optional<RunDraw>& from)
      : campaign_(campaign),
        options_(campaign.options_),
        target_(campaign.targets_[world.target]),
        place_in_batch_(unit),
        world_(world),
        world_seed_(world_seed),
        random_(sim::combine64(sim::combine64(options_.seed, 0x756e6974), number)),
        evidence_(target_.properties.size()),
        is_from_corpus_(from.has_value()) {
    const std::vector<std::string>& wanted = target_.properties;
    asks_recovery_ = std::binary_search(wanted.begin(), wanted.end(), "recoverable");
    if (!from) return;
    pool_.push_back(*from);
    typical_ = from->typical;
  }

  std::size_t place_in_batch() const { return place_in_batch_; }
  bool is_over() const {
    return runs_ == kRunsOfUnit || unit_.statistics.events >= kEventsOfUnit || (runs_ > 0 && world_.runs.is_only_one());
  }
  /// Requires: it is not over.
  void play_run() {
    RunDraw draw = next();
    if (draw.typical == 0) draw.typical = typical_;
    draw.asks_whether_it_recovers = asks_recovery_ && runs_ % kAsksRecoveryEvery == 0;
    draw.properties = target_.properties;
    run(draw);
    typical_ = std::max(typical_, world_.runs.looked());
    ++runs_;
  }
  /// What it took for new.
  const std::vector<Feature>& seen() const { return seen_; }
  /// Plays what is left of it.
  Unit finished() && {
    while (!is_over() && !campaign_.is_out_of_time()) play_run();
    std::sort(seen_.begin(), seen_.end());
    unit_.features = std::move(seen_);
    for (std::size_t i = 0; i < evidence_.size(); ++i) {
      if (evidence_[i].judged + evidence_[i].not_judged == 0) continue;
      unit_.evidence[fmt::format("{} of {}", target_.properties[i], target_.story.id)] = std::move(evidence_[i]);
    }
    return std::move(unit_);
  }

 private:
  RunDraw next() {
    const bool changes =
        options_.coverage && !pool_.empty() && (is_from_corpus_ ? !random_.one_in(8) : random_.one_in(3));
    return changes ? changed(pool_[random_.below(pool_.size())]) : fresh();
  }

  RunDraw fresh() {
    RunDraw draw;
    draw.seed = random_.next();
    draw.fault_seed = random_.next();
    draw.strategy = options_.strategy ? *options_.strategy : some_strategy(random_);
    draw.depth = options_.depth;
    return draw;
  }

  /// Nearly the same run: another end, other faults, or the same faults at another pace.
  RunDraw changed(const RunDraw& from) {
    RunDraw draw = from;
    const std::uint64_t ticket = random_.below(7);
    if (ticket < 4) {
      const auto question = static_cast<std::uint32_t>(random_.below(questions_ + 1));
      std::erase_if(draw.reseeds, [&](const Reseed& reseed) { return reseed.question >= question; });
      draw.reseeds.push_back({question, random_.next()});
    } else if (ticket < 6) {
      draw.fault_seed = random_.next();
    } else {
      draw.seed = random_.next();
      draw.reseeds.clear();
    }
    return draw;
  }

  void run(const RunDraw& draw) {
    RandomRuns& runs = world_.runs;
    const std::optional<std::vector<checker::Finding>> findings = runs.run(draw);
    FuzzStatistics& statistics = unit_.statistics;
    ++statistics.runs;
    statistics.events += runs.events();
    statistics.virtual_time += runs.deployment().world().now().offset();
    questions_ = std::max(questions_, runs.questions());
    if (!findings) {
      add_not_judged(statistics, runs.why_not_judged());
      return;
    }
    if (options_.coverage) look_at_features(draw);
    look_at(*findings, draw);
  }

  void look_at_features(const RunDraw& draw) {
    features_of(world_.runs.deployment().world().history(), world_.target, campaign_.coverage_, features_);
    bool is_new = false;
    for (const Feature feature : features_) {
      if (std::find(seen_.begin(), seen_.end(), feature) != seen_.end()) continue;
      seen_.push_back(feature);
      is_new = true;
    }
    if (!is_new) return;
    constexpr std::size_t pool_max = 32;
    if (pool_.size() < pool_max) pool_.push_back(draw);
    constexpr std::size_t seeds_max = 8;
    if (unit_.seeds.size() < seeds_max) unit_.seeds.push_back({world_.target, world_seed_, draw});
  }

  void note_evidence(const checker::Finding& finding, FuzzEvidence& evidence) {
    const bool is_known = finding.verdict == checker::Verdict::holds || finding.verdict == checker::Verdict::violated;
    if (!is_known && !world_.runs.deployment().can_be_claimed(finding.property)) return;
    ++(is_known ? evidence.judged : evidence.not_judged);
    if (!is_known && evidence.why.empty()) evidence.why = finding.why;
  }

  void look_at(const std::vector<checker::Finding>& findings, const RunDraw& draw) {
    bool is_any = false;
    for (const checker::Finding& finding : findings) {
      const auto wanted =
          std::lower_bound(target_.properties.begin(), target_.properties.end(), std::string_view(finding.property));
      if (wanted == target_.properties.end() || *wanted != finding.property) continue;
      // Only a probe can tell.
      if (finding.property == "recoverable" && !draw.asks_whether_it_recovers) continue;
      const auto property = static_cast<std::uint32_t>(wanted - target_.properties.begin());
      note_evidence(finding, evidence_[property]);
      if (finding.verdict != checker::Verdict::violated) continue;
      is_any = true;
      const std::uint32_t kinds = kinds_of(world_.runs.faults());
      const auto is_it = [&](const Candidate& c) { return c.property == property && c.kinds == kinds; };
      const auto known = std::find_if(unit_.candidates.begin(), unit_.candidates.end(), is_it);
      const std::uint64_t events = world_.runs.events();
      if (known == unit_.candidates.end()) {
        unit_.candidates.push_back(
            {{world_.target, world_seed_, draw}, property, kinds, unit_.statistics.runs, events});
      } else if (events < known->events) {
        known->seed.draw = draw;
        known->events = events;
      }
    }
    unit_.statistics.violating += is_any ? 1 : 0;
  }

  const Campaign& campaign_;
  const FuzzOptions& options_;
  const FuzzTarget& target_;
  std::size_t place_in_batch_;
  Unit unit_;
  World& world_;
  std::uint64_t world_seed_;
  Random random_;
  std::vector<FuzzEvidence> evidence_;  ///< by property of the target
  bool is_from_corpus_;
  bool asks_recovery_ = false;
  std::uint64_t runs_ = 0;
  std::uint64_t typical_ = 0;    ///< how long its longest run was
  std::uint32_t questions_ = 0;  ///< of the run with most
  std::vector<RunDraw> pool_;
  std::vector<Feature> seen_;
  std::vector<Feature> features_;
};

bool has_programs(const std::vector<FuzzTarget>& targets) {
  return std::any_of(targets.begin(), targets.end(),
                     [](const FuzzTarget& target) { return first_program(target.story) != nullptr; });
}

/// A program is traced by the thread that began it, and by a signal to the whole process: so all of them by one thread.
Campaign::Campaign(std::vector<FuzzTarget> targets, const models::locks::Catalogue& catalogue, FuzzOptions options)
    : targets_(std::move(targets)),
      catalogue_(catalogue),
      options_(std::move(options)),
      threads_(has_programs(targets_) ? 1 : std::max<std::size_t>(options_.jobs, 1)),
      places_(threads_.size()),
      units_of_batch_(has_programs(targets_) ? kUnitsOfBatchOfPrograms : kUnitsOfBatch),
      ahead_(units_of_batch_) {
  state_.fingerprint = fingerprint();
  if (options_.stopwatch) begin_ = options_.stopwatch();
}

Campaign::~Campaign() = default;

std::uint64_t Campaign::spent_ms() const {
  if (!options_.stopwatch) return spent_before_ms_;
  return spent_before_ms_ + static_cast<std::uint64_t>((options_.stopwatch() - begin_) * 1000);
}

const CampaignState& Campaign::state() {
  state_.spent_ms = spent_ms();
  return state_;
}

/// Of everything that decides what is found.
std::uint64_t Campaign::fingerprint() const {
  std::uint64_t sum = options_.seed;
  const auto add = [&](std::uint64_t number) { sum = sim::combine64(sum, number); };
  const auto add_text = [&](std::string_view text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  };
  for (const std::uint64_t number :
       {options_.shard, options_.shards, options_.strategy ? 1 + static_cast<std::uint64_t>(*options_.strategy) : 0,
        std::uint64_t{options_.depth}, std::uint64_t{options_.coverage}, std::uint64_t{options_.as_written},
        std::uint64_t{options_.shrinks}}) {
    add(number);
  }
  for (const FuzzTarget& target : targets_) {
    add_text(target.is_made_up ? target.story.lock.algorithm + target.story.lock.own.text : identity_of(target.story));
    for (const std::string& property : target.properties) add_text(property);
  }
  return sum;
}

std::optional<std::string> Campaign::restore(CampaignState state) {
  if (state.fingerprint != fingerprint())
    return "it is of a campaign with other stories, or with another seed or other options";
  const auto is_known = [&](std::uint32_t target) { return target < targets_.size(); };
  for (const FuzzSeed& seed : state.corpus) {
    if (!is_known(seed.target)) return "it speaks of a story that there is not";
  }
  for (const FuzzFinding& finding : state.findings) {
    if (!is_known(finding.target)) return "it speaks of a story that there is not";
  }
  state_ = std::move(state);
  spent_before_ms_ = state_.spent_ms;
  for (const Feature feature : state_.features) coverage_.add(feature);
  return std::nullopt;
}

bool Campaign::is_over() const {
  if (options_.max_runs > 0 && state_.statistics.runs >= options_.max_runs) return true;
  return is_out_of_time();
}

/// `patience`: for so many seconds already.
bool Campaign::is_out_of_time(double patience) const {
  return options_.max_seconds > 0 && static_cast<double>(spent_ms()) >= (options_.max_seconds + patience) * 1000;
}

std::optional<std::uint64_t> Campaign::first_violation(std::size_t target, std::string_view property) const {
  const std::vector<std::string>& properties = targets_[target].properties;
  const auto at = std::lower_bound(properties.begin(), properties.end(), property);
  if (at == properties.end() || *at != property) return std::nullopt;
  const auto found =
      state_.first.find({static_cast<std::uint32_t>(target), static_cast<std::uint32_t>(at - properties.begin())});
  return found == state_.first.end() ? std::nullopt : std::optional(found->second);
}

bool Campaign::step() {
  Ranks* ranks = options_.ranks;
  if (ranks != nullptr ? ranks->from_first(is_over()) : is_over()) return false;
  std::vector<Unit> units(units_of_batch_);
  const std::uint64_t batch = state_.statistics.batches;
  const std::vector<std::size_t> open = begin_batch(units);
  const auto begun = std::count_if(places_.begin(), places_.end(), [](const Place& p) { return p.begun != nullptr; });
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> left{open.size() + static_cast<std::size_t>(begun)};
  std::atomic<bool> is_stopped{false};
  // A run that does not end.
  const sim::Stop::Question is_late = [this] { return is_out_of_time(kPatience); };
  const sim::Stop::Scope scope(is_late);
  threads_.run([&](std::size_t thread) {
    Place& place = places_[thread];
    const auto finish = [&](std::unique_ptr<Player> player) {
      units[player->place_in_batch()] = std::move(*player).finished();
      --left;
    };
    try {
      if (place.begun) finish(std::move(place.begun));
      for (std::size_t i = next++; i < open.size() && !is_out_of_time() && !is_stopped; i = next++) {
        if (options_.interrupted && options_.interrupted()) is_stopped = true;
        finish(begin(batch, open[i], place));
      }
      play_ahead(place, [&] { return left > 0 && !is_stopped; });
    } catch (const sim::Stopped&) {
      if (!is_out_of_time()) is_stopped = true;
      place.begun.reset();
      place.worlds.clear();
    }
  });
  if (ranks != nullptr) {
    for (const std::string& stopped : ranks->exchange(is_stopped ? "stopped" : "")) {
      if (!stopped.empty()) is_stopped = true;
    }
  }
  if (is_stopped) {
    forget_ahead();
    return false;
  }
  exchange(units);
  merge(units);
  return true;
}

/// Takes what of the next batch was played ahead. Returns what nobody has begun.
std::vector<std::size_t> Campaign::begin_batch(std::vector<Unit>& units) {
  std::vector<bool> is_begun(units_of_batch_, false);
  for (const Place& place : places_) {
    if (place.begun) is_begun[place.begun->place_in_batch()] = true;
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < units_of_batch_; ++i) {
    if (std::optional<Unit> played = std::exchange(ahead_[i], std::nullopt)) {
      units[i] = *std::move(played);
    } else if (!is_begun[i] && is_mine(options_.ranks, i)) {
      open.push_back(i);
    }
  }
  next_batch_ = state_.statistics.batches + 1;
  next_ahead_ = 0;
  return open;
}

/// Units of the next batch, for as long as `goes_on`, which is asked between two runs.
void Campaign::play_ahead(Place& place, const std::function<bool()>& goes_on) try {
  while (goes_on() && !is_out_of_time()) {
    if (!place.begun) {
      std::size_t unit = next_ahead_++;
      while (unit < units_of_batch_ && !may_go_ahead(unit)) unit = next_ahead_++;
      if (unit >= units_of_batch_) return;
      place.begun = begin(next_batch_, unit, place);
    }
    if (!place.begun->is_over()) {
      place.begun->play_run();
      continue;
    }
    const std::unique_ptr<Player> over = std::move(place.begun);
    ahead_[over->place_in_batch()] = std::move(*over).finished();
  }
} catch (const sim::Stopped&) {
  place.begun.reset();
  place.worlds.clear();
}

/// What has taken for new what is known by now would have gone on otherwise.
void Campaign::forget_outdated() {
  const auto is_outdated = [&](const std::vector<Feature>& features) {
    return std::any_of(features.begin(), features.end(), [&](Feature feature) { return coverage_.has(feature); });
  };
  for (std::optional<Unit>& unit : ahead_) {
    if (unit && is_outdated(unit->features)) unit.reset();
  }
  for (Place& place : places_) {
    if (place.begun && is_outdated(place.begun->seen())) place.begun.reset();
  }
}

void Campaign::forget_ahead() {
  for (std::optional<Unit>& unit : ahead_) unit.reset();
  for (Place& place : places_) place.begun.reset();
}

Scenario Campaign::world_of(const FuzzTarget& target, std::uint64_t seed) const {
  if (!target.is_made_up) return fuzzed_world(target.story, seed, options_.as_written);
  return generated_world(*find_entry(target.story.lock, catalogue_), seed);
}

std::uint64_t Campaign::number_of(std::uint64_t batch, std::size_t unit) const {
  return (batch * units_of_batch_ + unit) * options_.shards + options_.shard;
}

/// What decides where a unit begins: first in which world, then whether it goes on from the corpus instead, then from
/// where.
Random Campaign::beginning_of(std::uint64_t number) const {
  return Random(sim::combine64(sim::combine64(options_.seed, 0x776f726c64), number));
}

/// Whether it is the same wherever the present batch takes the corpus.
bool Campaign::may_go_ahead(std::size_t unit) const {
  Random random = beginning_of(number_of(next_batch_, unit));
  random.next();
  return is_mine(options_.ranks, unit) && !random.one_in(2);
}

std::unique_ptr<Campaign::Player> Campaign::begin(std::uint64_t batch, std::size_t unit, Place& place) const {
  const std::uint64_t number = number_of(batch, unit);
  Random random = beginning_of(number);
  auto target = static_cast<std::uint32_t>(number / options_.shards % targets_.size());
  std::uint64_t seed = random.next();
  std::optional<RunDraw> from;
  const std::vector<FuzzSeed>& corpus = state_.corpus;
  if (!corpus.empty() && random.one_in(2)) {
    // What was found late is more often what few have shown.
    const FuzzSeed& chosen = corpus[std::max(random.below(corpus.size()), random.below(corpus.size()))];
    target = chosen.target;
    seed = chosen.world;
    from = chosen.draw;
  }
  const FuzzTarget& what = targets_[target];
  const bool is_only = !what.is_made_up && is_only_world(what.story, options_.as_written);
  if (is_only) seed = 0;
  std::vector<std::unique_ptr<World>>& worlds = place.worlds;
  const auto is_it = [&](const std::unique_ptr<World>& world) { return world->is_only && world->target == target; };
  auto world = std::find_if(worlds.begin(), worlds.end(), is_it);
  if (world == worlds.end() || !is_only) {
    // Of many files each thread keeps a few.
    constexpr std::size_t worlds_max = 64;
    std::erase_if(worlds, [](const std::unique_ptr<World>& w) { return !w->is_only; });
    if (worlds.size() >= worlds_max) worlds.erase(worlds.begin());
    world = worlds.insert(worlds.end(), std::make_unique<World>(target, is_only, world_of(what, seed), catalogue_));
  }
  return std::make_unique<Player>(*this, unit, number, **world, seed, from);
}

void Campaign::merge(std::vector<Unit>& units) {
  std::vector<Candidate> chosen;
  FuzzStatistics& sum = state_.statistics;
  for (Unit& unit : units) {
    for (Candidate& candidate : unit.candidates) {
      candidate.run += sum.runs;
      const std::uint32_t target = candidate.seed.target;
      state_.first.try_emplace({target, candidate.property}, candidate.run);
      if (!options_.shrinks) continue;
      const auto is_it = [&](const Candidate& c) {
        return c.seed.target == target && c.property == candidate.property && c.kinds == candidate.kinds;
      };
      const auto same = std::find_if(chosen.begin(), chosen.end(), is_it);
      if (same == chosen.end()) {
        if (state_.shrunk[{target, candidate.property, candidate.kinds}]++ < kShrinksOfKind)
          chosen.push_back(std::move(candidate));
      } else if (candidate.events < same->events) {
        same->seed = std::move(candidate.seed);
        same->events = candidate.events;
      }
    }
    sum.runs += unit.statistics.runs;
    sum.events += unit.statistics.events;
    for (const auto& [reason, runs] : unit.statistics.not_judged) add_not_judged(sum, reason, runs);
    merge_into(state_.evidence, unit.evidence);
    sum.violating += unit.statistics.violating;
    sum.virtual_time += unit.statistics.virtual_time;
    for (const Feature feature : unit.features) {
      if (coverage_.add(feature)) state_.features.push_back(feature);
    }
    for (FuzzSeed& seed : unit.seeds) state_.corpus.push_back(std::move(seed));
  }
  if (state_.corpus.size() > kCorpusMax)
    state_.corpus.erase(state_.corpus.begin(), state_.corpus.end() - static_cast<std::ptrdiff_t>(kCorpusMax));
  sum.features = coverage_.count();
  ++sum.batches;
  forget_outdated();
  make_small(chosen);
}

Campaign::Small Campaign::made_small(const Candidate& candidate) const {
  const FuzzTarget& target = targets_[candidate.seed.target];
  const Scenario world = world_of(target, candidate.seed.world);
  RandomRuns runs(world, catalogue_);
  runs.run(candidate.seed.draw);
  const Scenario found = runs.story();
  auto result = shrink(
      found, runs.delays(), world, catalogue_, target.properties[candidate.property],
      [this] { return is_out_of_time() || (options_.interrupted && options_.interrupted()); },
      first_program(world) != nullptr ? kShrinkTriesOfPrograms : kShrinkTries);
  Small small;
  if (auto* trouble = std::get_if<Unconfirmed>(&result)) {
    small.why = std::move(trouble->reason);
    small.text = std::move(trouble->text);
    return small;
  }
  Shrunk& shrunk = std::get<Shrunk>(result);
  shrunk.story.source = fmt::format("lockstep fuzz {}, seed {}, run {}", target.story.id, options_.seed, candidate.run);
  small.cause = std::move(shrunk.cause);
  small.faults = std::move(shrunk.faults);
  small.why = std::move(shrunk.why);
  small.title = shrunk.story.title.en;
  small.text = to_toml(shrunk.story);
  small.tried = shrunk.tried;
  small.is_minimal = shrunk.is_minimal;
  return small;
}

void Campaign::make_small(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return;
  std::vector<Small> results(candidates.size());
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> left{candidates.size()};
  threads_.run([&](std::size_t thread) {
    for (std::size_t i = next++; i < candidates.size(); i = next++) {
      try {
        if (is_mine(options_.ranks, i)) results[i] = made_small(candidates[i]);
      } catch (const sim::Stopped&) {
        results[i].why = "the time was over before one was made";
      }
      --left;
    }
    play_ahead(places_[thread], [&] { return left > 0; });
  });
  exchange(results);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const FuzzTarget& target = targets_[candidate.seed.target];
    const std::string& property = target.properties[candidate.property];
    Small& small = results[i];
    if (small.cause.empty()) {
      state_.mysteries.push_back({property, candidate.seed.target, std::move(small.why), std::move(small.text)});
      continue;
    }
    const auto known = std::find_if(state_.findings.begin(), state_.findings.end(), [&](const FuzzFinding& finding) {
      return explains(finding, small.cause, small.faults);
    });
    if (known != state_.findings.end()) {
      ++known->times;
      continue;
    }
    FuzzFinding finding{.property = property,
                        .algorithm = target.story.lock.algorithm,
                        .name = {},
                        .target = candidate.seed.target,
                        .cause = std::move(small.cause),
                        .faults = std::move(small.faults),
                        .why = std::move(small.why),
                        .title = std::move(small.title),
                        .text = std::move(small.text),
                        .run = candidate.run,
                        .after_ms = spent_ms(),
                        .tried = small.tried,
                        .is_minimal = small.is_minimal};
    finding.name = free_name(finding, state_.findings);
    state_.findings.push_back(std::move(finding));
  }
}

}  // namespace lockstep::scenarios
