#pragma once

// The search itself, behind `Explorer`: trace after trace, each as far as it goes, and back to where something is left
// to be tried. It owns all that an exploration knows, in parts that own their data:
//
//   trace/      rules (what holds during the whole search), the trace, when its events can happen, where the world
//               stands, saved moments to go back to, the order of processes that are alike
//   reduction/  what need not be tried, and what has to be: the tree of what was tried, what is known of arrivals,
//               conflicts with time, races
//   execution/  one step: questions and their answers, faults, readings of clocks, the constraints of an event, the
//               event
//   search/     which event comes next, and this
//
// Each part knows those before it in this list alone.
//
// Stateless search: the world runs under a list of decisions, the search backs up, the world runs again; or, if it lies
// in a region of its own (`Explorable::region`), goes back to a saved moment and runs what is new. Both give the same,
// trace by trace. docs/argument/exploring.md says why nothing is lost.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "checker/explorer/branch.hpp"
#include "checker/explorer/counts.hpp"
#include "checker/explorer/execution/execution.hpp"
#include "checker/explorer/explorer.hpp"
#include "checker/explorer/reduction/arrivals.hpp"
#include "checker/explorer/reduction/conflicts.hpp"
#include "checker/explorer/reduction/races.hpp"
#include "checker/explorer/reduction/search_tree.hpp"
#include "checker/explorer/search/picker.hpp"
#include "checker/explorer/trace/alike_order.hpp"
#include "checker/explorer/trace/moment.hpp"
#include "checker/explorer/trace/saved_moments.hpp"
#include "checker/explorer/trace/search_mutant.hpp"
#include "checker/explorer/trace/search_rules.hpp"
#include "checker/explorer/trace/timing.hpp"
#include "checker/explorer/trace/trace.hpp"

namespace lockstep::checker::explorer {

class Search {
 public:
  /// `explorer`: whom visitors and observers are shown.
  Search(Explorer& explorer, ExplorerOptions options) : explorer_(explorer), rules_(std::move(options)) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// For tests: checker/testing/explorer_mutants.hpp.
  void break_on_purpose(SearchMutant mutant) { rules_.mutant = mutant; }

  BranchOutcome explore(Explorable& subject, const Branch& branch, BranchLimits limits, const Explorer::Visitor& visit);

  void keep(OrderInTime order) { rules_.order = order; }
  void have_enough() { has_enough_ = true; }

  const ExplorerOptions& options() const { return rules_.options; }
  const Trace& trace() const { return trace_; }
  const Moment& moment() const { return moment_; }
  Timing& timing() { return timing_; }
  const SearchTree& tree() const { return tree_; }
  const FaultChoices& faults() const { return execution_.faults(); }
  const Readings& readings() const { return execution_.readings(); }
  std::uint64_t answer(sim::Choice choice, std::uint64_t options) { return execution_.answer(choice, options); }

 private:
  void start(Explorable& subject, const Branch& branch);
  void forget_from(std::uint32_t position);
  std::uint32_t go_back();
  void begin_again();
  void save_if_worthwhile(std::uint32_t position);
  bool run_way();
  bool go_on();
  bool advance(BranchOutcome& outcome, const Explorer::Visitor& visit);
  bool begin_coda(std::uint32_t position, bool is_due);
  bool is_at_rest() const;
  void execute(std::uint32_t position, bool is_replay);
  bool leads_nowhere(std::uint32_t position);
  bool has_failed(std::uint32_t position);
  void choose_all_others(std::uint32_t chosen);
  bool back_up();
  std::vector<std::shared_ptr<Branch>> rest_of(const Branch& branch);

  Explorer& explorer_;
  SearchRules rules_;
  Trace trace_{rules_.faults};
  Moment moment_;
  Timing timing_{trace_};
  SavedMoments saved_;
  AlikeOrder alike_{rules_, trace_, moment_};
  SearchTree tree_{rules_, trace_};
  Arrivals arrivals_{rules_, trace_, moment_, timing_, alike_};
  Conflicts conflicts_{rules_, trace_, moment_, timing_, arrivals_, tree_};
  Races races_{rules_, trace_, moment_, timing_, conflicts_, tree_};
  Execution execution_{rules_, trace_, moment_, timing_, alike_, arrivals_, conflicts_, races_};
  Picker picker_{rules_, trace_, moment_, timing_, arrivals_, tree_};

  Explorable* subject_ = nullptr;
  ExplorationObserver* observer_ = nullptr;
  ExplorerCounts counts_;
  bool has_enough_ = false;   ///< what the branch's first event leads to is tried no further, with these answers
  bool picks_again_ = false;  ///< what comes after the trace was picked before, and is to be another event
};

}  // namespace lockstep::checker::explorer
