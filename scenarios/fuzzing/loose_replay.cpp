#include "scenarios/fuzzing/loose_replay.hpp"

#include <algorithm>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/running/execution.hpp"
#include "scenarios/running/run_recorder.hpp"
#include "sim/schedules/decisions.hpp"

namespace lockstep::scenarios {
namespace {

constexpr sim::Duration kMicrosecond = sim::Duration::microseconds(1);

/// Delays by name; all else is as it is by default.
class DelaysByName final : public sim::Decisions {
 public:
  explicit DelaysByName(const std::vector<NamedDelay>& delays) : delays_(delays) {}
  void listen_to(const RunRecorder& recorder, const sim::World& world) {
    recorder_ = &recorder;
    world_ = &world;
  }

  /// From here on nothing has a name any more, and all is as it is by default.
  void calm_down() { is_calm_ = true; }

  std::uint64_t choose(sim::Choice choice, std::uint64_t options, sim::EventId) override {
    if (choice != sim::Choice::delay || is_calm_) return 0;
    const std::optional<EventKey> key = recorder_->key_of_last();
    if (!key) return 0;
    const auto known = std::lower_bound(delays_.begin(), delays_.end(), *key,
                                        [](const NamedDelay& delay, const EventKey& k) { return delay.key < k; });
    if (known == delays_.end() || known->key != *key) return 0;
    const sim::Duration more = known->delay - world_->event(recorder_->last_emitted()).delay.lo;
    if (more <= sim::Duration::zero()) return 0;
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(more.count_ns() / kMicrosecond.count_ns()), options - 1);
  }

 private:
  const std::vector<NamedDelay>& delays_;
  const RunRecorder* recorder_ = nullptr;
  const sim::World* world_ = nullptr;
  bool is_calm_ = false;
};

/// Lets everything happen, and tells the recorder.
class Witnessing final : public sim::Fate {
 public:
  explicit Witnessing(RunRecorder& recorder) : recorder_(recorder) {}
  Answer of(std::uint32_t slot, sim::Instant moment) override {
    recorder_.happens(slot, moment);
    return Answer::happens;
  }

 private:
  RunRecorder& recorder_;
};

}  // namespace

LooseRun play_loosely(const LooseStory& loose, const models::locks::Catalogue& catalogue, std::string_view property,
                      std::uint64_t max_events) {
  DelaysByName decisions(loose.delays);
  Deployment deployment(loose.story, catalogue, decisions);
  RunRecorder recorder(loose.story, deployment);
  decisions.listen_to(recorder, deployment.world());
  Witnessing witnessing(recorder);
  deployment.simulation().set_fate(&witnessing);
  recorder.begin(true);
  Execution execution(loose.story, deployment, max_events);
  const bool has_ended = !execution.play();
  LooseRun result{.violates = false, .events = deployment.world().events_executed(), .exact = {}};
  deployment.simulation().set_fate(nullptr);
  if (!has_ended) return result;
  Scenario exact = recorder.story();
  exact.faults = loose.story.faults;
  recorder.begin(false);
  decisions.calm_down();
  if (property == "recoverable" && execution.probe()) return result;
  for (const checker::Finding& finding : execution.findings([&](std::string_view name) { return name == property; })) {
    result.violates = result.violates || finding.verdict == checker::Verdict::violated;
  }
  if (!deployment.missed_faults().empty()) result.violates = false;
  result.events = deployment.world().events_executed();
  if (result.violates) result.exact = std::move(exact);
  return result;
}

}  // namespace lockstep::scenarios
