#pragma once

// One execution of a deployed story, to its end and judged: what `run` shows once, and brute force does again and
// again.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/properties/server/recoverable.hpp"
#include "checker/properties/verdict.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

class Execution {
 public:
  /// Requires: `scenario` and `deployment` outlive the execution; nothing of the deployment has happened yet.
  Execution(const Scenario& scenario, Deployment& deployment, std::uint64_t max_events)
      : scenario_(scenario), deployment_(deployment), max_events_(max_events) {}

  /// Called after each event from now on.
  void watch(std::function<void()> after_event) { after_event_ = std::move(after_event); }
  /// The story, until every client is done or dead. A diagnostic when it cannot happen as the file has it, or does not
  /// end.
  std::optional<Diagnostic> play();
  /// If the story does not end: `progress`, where that is the reason. Somebody tries in vain, or never waits, so that
  /// no time goes on.
  const std::optional<checker::Finding>& endless() const { return endless_; }
  enum class Patience : std::uint8_t { as_good_as_for_ever, just_beyond_the_bound };
  /// The same no further than to this moment: a visitor comes then (`Deployment::is_visited`). `end`: of the whole
  /// story.
  void play_until(sim::Instant moment, sim::Instant end);
  /// Of a visitor: at which other moments it is to come in other executions that are the same, besides the end of the
  /// story; those before it for `play_until`. When everybody was done or dead, while a server may still wait for the
  /// ends of sessions; and while leases run out, since not every moment meets the same of an attempt.
  std::vector<sim::Instant> other_visits() const;
  /// Then the probe, which competes for the lock until it has it, or for so long that it never will, or has it too
  /// late. `first`: it comes then, if that is later than the end of the story.
  std::optional<Diagnostic> probe(Patience patience = Patience::as_good_as_for_ever, sim::Instant first = {});
  /// When it must come in another execution that is the same, to decide what this one leaves open:
  /// `checker::decisive_attempt`.
  std::optional<sim::Instant> decisive_probe() const;
  /// Then the verdicts, in the order of `checker/properties/properties.hpp`.
  std::vector<checker::Finding> findings() {
    return findings([](std::string_view) { return true; });
  }
  /// Of these properties alone; the others are unknown.
  std::vector<checker::Finding> findings(const std::function<bool(std::string_view)>& is_wanted);
  /// Instead, if there is no end: nothing else is known. Requires: `endless`.
  std::vector<checker::Finding> endless_findings() const;

  /// True time at which the story was over.
  sim::Instant quiescent() const { return quiescent_; }

 private:
  std::optional<Diagnostic> execute();
  sim::Simulation::End run_slice(std::uint64_t events);
  sim::Simulation::End run_in_slices();
  void look_for_endless();
  checker::RecoverableQuestion recoverable_question() const;
  std::string line_of(sim::ProcessId process) const;
  Position busiest_client() const;

  const Scenario& scenario_;
  Deployment& deployment_;
  std::uint64_t max_events_;
  std::function<void()> after_event_;
  sim::Instant quiescent_;
  sim::Instant visit_from_;
  sim::Duration sessions_;  ///< after the visitor came they end by themselves
  sim::Step rest_ = 0;      ///< in which everything came to rest: the story's last
  sim::Duration within_;    ///< of `recoverable`
  bool has_ended_ = true;
  /// How many operations there were when time last went on, if it does not any more.
  std::optional<std::size_t> stuck_since_;
  std::optional<checker::Finding> endless_;
};

/// Whether somebody who comes before all others gets the lock, in time: in a run of the shortest delays, without any
/// fault.
bool first_comer_gets_lock(const Scenario& scenario, const models::locks::Catalogue& catalogue);
/// `RecoverableQuestion::visitor_attempt`: as long as it takes that one, and some round trips; what it would wait for
/// servers in vain is among them.
sim::Duration visitor_attempt(const Scenario& scenario, const models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
