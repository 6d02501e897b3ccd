#pragma once

// The states of a small world and what leads from one to the next, collected while it is explored: for people to look
// at.
//
// A state is what stands between two events: for each client the operation that is open, what it believes to hold, and
// what of it is on its way; for each server what it holds. States that read the same are one state. Instants are not
// part of it: with exact times no two states would be equal.
//
// Two things follow from that the explorer orders only what needs an order.
//
// - A trace is one order of its independent events. With reduction only that order is drawn, so there is one path for
//   each trace; other orders, and the states in the middle of them, are missing. Ends are complete: independent events
//   lead to the same end in every order. Without reduction everything is there.
// - The order in which the search executed independent events may be one that no delays give: B's answer before A's
//   although A's must be there 50ms earlier. So the constraints are asked for each state whether there is a moment at
//   which just the events before it have happened. Without reduction, traces whose order no delays give are left out
//   (another order of the same events is drawn); with it, such states are drawn and say so.
//
// A state is violating if two clients can believe at such a moment that they hold the same thing.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "checker/explorer/explorer.hpp"
#include "checker/properties/ownership.hpp"
#include "checker/properties/verdict.hpp"

namespace lockstep::checker {

struct StateGraph {
  struct State {
    std::string label;  ///< one line for each process
    bool initial = false;
    bool end = false;        ///< some trace ends here
    bool violating = false;  ///< two clients can believe here that they hold the same thing
    bool possible = false;   ///< there is a moment at which this is the state, in some trace that is drawn
    bool operator==(const State&) const = default;
  };
  struct Transition {
    std::size_t from = 0;
    std::size_t to = 0;
    std::string event;         ///< "A.SET → redis", "B work done"
    std::uint64_t traces = 0;  ///< how many of the drawn ones go over it, at least once
    bool operator==(const Transition&) const = default;
  };

  std::vector<State> states;            ///< the initial one first; in the order in which the search met them
  std::vector<Transition> transitions;  ///< likewise; no two are equal in `from`, `to` and `event`
  bool reduced = true;
  std::uint64_t traces = 0;        ///< drawn
  std::uint64_t out_of_order = 0;  ///< drawn in an order that no delays give (with reduction), or left out for that
  std::uint64_t violating_traces =
      0;  ///< of all: two clients can believe to hold the same thing, in some order and with some delays
  /// Nothing, or the bound that was hit: then the graph is a part, and not to be shown as the whole.
  std::string bound;

  /// What a reader must know besides; a sentence each.
  std::vector<std::string> notes() const;
};

struct StateGraphOptions {
  std::vector<sim::ProcessId> clients;
  Names names;  ///< of all processes
  /// What the servers hold in the present state, a line each; equal if to people it is the same. No instants.
  std::function<std::string()> servers;
  bool reduced = true;  ///< as the explorer searches
  std::size_t states_max = 2'000;
  std::uint64_t traces_max = 200'000;  ///< drawn or left out
};

/// To be given to an explorer as observer, and to its `explore` as visitor (`visit`).
class StateGraphCollector final : public ExplorationObserver {
 public:
  /// Requires: every process that the world has is named.
  explicit StateGraphCollector(StateGraphOptions options);

  void began(const Explorer& explorer) override;
  void executed(const Explorer& explorer, std::uint32_t position, bool is_replay) override;
  /// At the end of a complete feasible trace. False: a bound was hit.
  bool visit(Explorer& explorer);

  /// After the exploration.
  const StateGraph& graph() const { return graph_; }

 private:
  std::uint32_t state_now(const Explorer& explorer);
  std::string client_line(const Explorer& explorer, sim::ProcessId client, const std::vector<Belief>& beliefs) const;
  std::optional<std::size_t> vertex_of(std::uint32_t label);
  void mark_beliefs(Explorer& explorer, const std::vector<std::size_t>& path);
  void draw(const std::vector<std::size_t>& path, const std::vector<std::string>& events);

  StateGraphOptions options_;
  StateGraph graph_;
  std::map<std::string, std::uint32_t> label_ids_;  ///< of all states met, drawn or not
  std::vector<const std::string*> labels_;          ///< by id; into the keys
  std::vector<std::uint32_t> path_;  ///< labels of the present trace: before its first event, after its first, …
  std::vector<std::optional<std::size_t>> vertices_;  ///< by label
  std::map<std::tuple<std::size_t, std::size_t, std::string>, std::size_t> transition_of_;
  std::vector<std::uint64_t> last_trace_;  ///< by transition: the number of the last trace that went over it
};

}  // namespace lockstep::checker
