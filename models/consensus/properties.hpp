#pragma once

// What a replicated log promises (Raft, figure 3), judged from outside: by what nodes put out and by what is on their
// disks. It shares no code with `Replica` and does not look into one, so it can judge any protocol with these outputs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/consensus/types.hpp"

namespace lockstep::models::consensus {

enum class Promise : std::uint8_t {
  election_safety,       ///< one leader per term
  log_matching,          ///< entries of the same term and index: all before them are the same, too
  leader_completeness,   ///< who is elected has all that was committed in earlier terms
  committed_is_kept,     ///< what is committed is on the disks of a quorum
  state_machine_safety,  ///< all nodes apply the same entries in the same order
  reads_are_current      ///< a linearizable read sees all that was committed when it began
};

constexpr std::string_view to_string(Promise promise) {
  switch (promise) {
    case Promise::election_safety: return "election safety";
    case Promise::log_matching: return "log matching";
    case Promise::leader_completeness: return "leader completeness";
    case Promise::committed_is_kept: return "committed entries are kept";
    case Promise::state_machine_safety: return "state machine safety";
    case Promise::reads_are_current: return "reads are current";
  }
  return "?";
}

template <class Command>
using Log = std::vector<Entry<Command>>;

template <class Command>
bool begins_with(const Log<Command>& log, const Log<Command>& prefix) {
  return log.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), log.begin());
}

template <class Command>
bool logs_match(const Log<Command>& a, const Log<Command>& b) {
  std::size_t same_until = std::min(a.size(), b.size());
  while (same_until > 0 && a[same_until - 1].term != b[same_until - 1].term) --same_until;
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(same_until), b.begin());
}

/// Keeps what was promised so far, and says what was not kept. Tell it each output in the order in which they happen.
template <class Command>
class Judge {
 public:
  struct Breach {
    Promise promise = Promise::election_safety;
    std::string what = {};
    bool operator==(const Breach&) const = default;
  };
  struct OpenRead {
    ReadId id = 0;
    Index committed = 0;  ///< by anyone, when it began
    bool operator==(const OpenRead&) const = default;
  };

  explicit Judge(std::size_t nodes) : applied_(nodes, 0) {}

  /// `log`: what is on its disk, without what it writes as leader or with it.
  void elected(NodeId node, Term term, const Log<Command>& log) {
    const auto [leader, is_first] = leaders_.try_emplace(term, node);
    if (!is_first && leader->second != node)
      broken(Promise::election_safety, "term " + std::to_string(term) + " has leaders " +
                                           std::to_string(leader->second) + " and " + std::to_string(node));
    // Votes may come late: somebody is elected in term 1 when term 2 has committed entries. He will commit none.
    for (std::size_t i = 0; i < committed_.size(); ++i) {
      if (committed_in_[i] >= term || (i < log.size() && log[i] == committed_[i])) continue;
      broken(Promise::leader_completeness, "node " + std::to_string(node) + ", elected in term " +
                                               std::to_string(term) + ", lacks entry " + std::to_string(i + 1) +
                                               ", committed in term " + std::to_string(committed_in_[i]));
    }
  }

  /// `term`: of the node, when it found the entry committed.
  void committed(NodeId node, Term term, Index index, const Entry<Command>& entry) {
    const std::string name = "node " + std::to_string(node) + ": entry " + std::to_string(index);
    if (index != applied_[node] + 1) broken(Promise::state_machine_safety, name + " out of turn");
    applied_[node] = index;
    if (index == committed_.size() + 1) {
      committed_.push_back(entry);
      committed_in_.push_back(term);
    }
    if (index > committed_.size() || committed_[index - 1] != entry)
      broken(Promise::state_machine_safety, name + " is another one elsewhere");
  }

  /// Its state machine begins anew.
  void restarted(NodeId node) { applied_[node] = 0; }

  void read_began(ReadId id) { reads_.push_back({id, committed_.size()}); }
  void read_ended(const ReadAnswer& answer) {
    const auto read = std::find_if(reads_.begin(), reads_.end(), [&](const OpenRead& r) { return r.id == answer.id; });
    if (read == reads_.end()) return;
    if (answer.index && *answer.index < read->committed)
      broken(Promise::reads_are_current, "read " + std::to_string(answer.id) + " sees up to " +
                                             std::to_string(*answer.index) + ", though " +
                                             std::to_string(read->committed) + " was committed when it began");
    reads_.erase(read);
  }

  /// Of all nodes, as they are between two steps.
  void disks(std::span<const Log<Command>* const> logs) {
    for (std::size_t a = 0; a < logs.size(); ++a) {
      for (std::size_t b = a + 1; b < logs.size(); ++b) {
        if (!logs_match(*logs[a], *logs[b]))
          broken(Promise::log_matching, "nodes " + std::to_string(a) + " and " + std::to_string(b));
      }
    }
    const auto have =
        std::count_if(logs.begin(), logs.end(), [&](const auto* log) { return begins_with(*log, committed_); });
    if (static_cast<std::size_t>(have) * 2 <= logs.size())
      broken(Promise::committed_is_kept, "what is committed up to " + std::to_string(committed_.size()) + " is on " +
                                             std::to_string(have) + " of " + std::to_string(logs.size()) + " disks");
  }

  /// The first promise that was not kept. From then on nothing that it says means much.
  const std::optional<Breach>& breach() const { return breach_; }

  const std::map<Term, NodeId>& leaders() const { return leaders_; }
  const Log<Command>& committed() const { return committed_; }
  const std::vector<Term>& committed_in() const { return committed_in_; }
  const std::vector<Index>& applied() const { return applied_; }
  const std::vector<OpenRead>& open_reads() const { return reads_; }

 private:
  void broken(Promise promise, std::string what) {
    if (!breach_) breach_ = Breach{promise, std::move(what)};
  }

  std::map<Term, NodeId> leaders_;
  Log<Command> committed_;          ///< by whom ever it was first
  std::vector<Term> committed_in_;  ///< by index: the term of who was first
  std::vector<Index> applied_;      ///< by node
  std::vector<OpenRead> reads_;
  std::optional<Breach> breach_;
};

}  // namespace lockstep::models::consensus
