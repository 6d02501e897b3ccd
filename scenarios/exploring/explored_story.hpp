#pragma once

// A story as the explorer sees it: its world, the faults that its [[may]] allows, and the probe that comes when all is
// over.

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/properties/server/recoverable.hpp"
#include "models/locks/catalogue.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "scenarios/story/diagnostic.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/coroutines/region.hpp"

namespace lockstep::scenarios {

/// Then it has no last event.
bool sentinels_look_for_ever(const Scenario& scenario);

/// In a sentence: its servers or its lock do what no exploration can follow. Empty: it can.
std::string_view why_not_explored(const Scenario& scenario, const models::locks::Catalogue& catalogue);

/// Whether an exploration knows a fault with one length, and not with a range of them: a client's clock that jumps.
bool has_one_length(const Scenario& scenario, const MaySpec& may);

/// What `[[may]]` allows, one budget for each, in the order of the file. A diagnostic for what an exploration does not
/// know.
std::variant<std::vector<checker::FaultBudget>, Diagnostic> fault_budgets(const Scenario& scenario);

/// Clients that differ in their names alone: `ExplorerOptions::alike`.
std::vector<std::vector<sim::ProcessId>> alike_processes(const Scenario& scenario,
                                                         const models::locks::Catalogue& catalogue);

class ExploredStory final : public checker::Explorable {
 public:
  enum class Probe : std::uint8_t {
    none,
    when_all_is_over,
    when_clients_are_done  ///< a visitor: although servers still wait for the ends of sessions
  };
  /// Requires: `scenario`, `catalogue` and `explorer` outlive it.
  ExploredStory(const Scenario& scenario, const models::locks::Catalogue& catalogue, checker::Explorer& explorer,
                Probe probe);

  sim::World& world() override { return deployment_->world(); }
  sim::Region* region() override { return deployment_.region(); }
  void begin() override;
  /// Lets the probe try to get the lock, once, when every lease has run out. Where everything is as it was at first
  /// nobody has to try, but in the first trace of all.
  std::optional<checker::Coda> begin_coda(bool is_due) override;
  bool is_over_early() const override;

  /// `is_first`: with it the search begins.
  void begin_branch(bool is_first) { has_probed_ = probe_ == Probe::none || !is_first; }
  /// Somebody who comes first of all does not get the lock, so that nobody's failure is excused by everything being as
  /// it was then.
  void nobody_gets_it() { is_excusable_ = false; }
  /// `RecoverableQuestion::visitor_attempt`.
  void allow_attempt(sim::Duration longest) { visitor_attempt_ = longest; }
  /// The present trace is one. (Most come to their end; those that the search gives up, after the probe has come, have
  /// told nothing.)
  void end_trace() { has_probed_ = has_probed_ || has_probed(); }
  const Deployment& deployment() const { return *deployment_; }
  /// Whether the probe had to try in the present trace.
  bool has_probed() const { return deployment_->probes_for(); }
  /// Then: what `recoverable` asks. "At rest" is as long before the probe came as it has to wait for the leases.
  checker::RecoverableQuestion question(const checker::Explorer& explorer) const;

 private:
  bool is_visitor_on_the_way() const;
  bool stands_as_at_first() const;
  sim::Duration settle() const;

  sim::Restorable<Deployment> deployment_;
  const checker::Explorer& explorer_;
  std::size_t clients_;
  bool sends_commands_;
  Probe probe_;
  bool is_excusable_ = true;
  sim::Duration visitor_attempt_;
  bool has_probed_ = false;  ///< in a trace that came to its end
};

}  // namespace lockstep::scenarios
