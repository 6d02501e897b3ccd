#pragma once

// Numbers for states of nodes, for messages and for states of the judge, and what each is called when the nodes change
// their names: with that a search takes two states for one that are the same but for who is who.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>  // tidy: lookup only
#include <utility>
#include <vector>

#include "models/consensus/testing/lab.hpp"

namespace lockstep::models::consensus::testing {

template <class Rules>
struct NodeState {
  Replica<Command, Rules> replica;
  Durable<Command> disk;
};

template <class Rules>
class Numbers {
 public:
  /// Node `i` is called `Renaming[i]`.
  using Renaming = std::array<NodeId, kNodesMax>;

  explicit Numbers(std::size_t nodes) : nodes_(nodes) {
    Renaming each{};
    const auto end = each.begin() + static_cast<std::ptrdiff_t>(nodes);
    std::iota(each.begin(), end, NodeId{0});
    do {
      renamings_.push_back(each);
    } while (std::next_permutation(each.begin(), end));
  }

  std::uint32_t of_node(const NodeState<Rules>& node) {
    return number(node, node_states_, node_names_, [&](const Renaming& renaming) { return told(node, renaming); });
  }
  std::uint32_t of_message(const Mail& message) {
    return number(message, mails_, mail_names_, [&](const Renaming& renaming) { return told(message, renaming); });
  }
  std::uint32_t of_judge(const Judge<Command>& judge) {
    return number(judge, judges_, judge_names_, [&](const Renaming& renaming) { return told(judge, renaming); });
  }

  const NodeState<Rules>& node(std::uint32_t number) const { return node_states_[number]; }
  const Mail& message(std::uint32_t number) const { return mails_[number]; }
  const Judge<Command>& judge(std::uint32_t number) const { return judges_[number]; }
  std::size_t nodes() const { return node_states_.size(); }
  std::size_t messages() const { return mails_.size(); }

  /// The least of the names that a state has: its nodes, its judge, its counters, its messages in order. The same for
  /// all states that are the same but for who is who.
  void rename(std::span<const std::uint32_t> state, std::vector<std::uint32_t>& least) {
    const std::size_t count = renamings_.size();
    for (std::size_t r = 0; r < count; ++r) {
      trial_.resize(state.size());
      for (std::size_t i = 0; i < nodes_; ++i) trial_[renamings_[r][i]] = node_names_[state[i] * count + r];
      trial_[nodes_] = judge_names_[state[nodes_] * count + r];
      trial_[nodes_ + 1] = state[nodes_ + 1];
      const std::size_t header = nodes_ + 2;
      const auto middle = trial_.begin() + static_cast<std::ptrdiff_t>(header);
      // Mostly that decides, and the messages need not be put in order.
      if (r > 0 && std::lexicographical_compare(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(header),
                                                trial_.begin(), middle))
        continue;
      for (std::size_t i = header; i < state.size(); ++i) trial_[i] = mail_names_[state[i] * count + r];
      std::sort(middle, trial_.end());
      if (r == 0 || trial_ < least) least.swap(trial_);
    }
  }

 private:
  template <class Thing, class Tell>
  std::uint32_t number(const Thing& thing, std::vector<Thing>& things, std::vector<std::uint32_t>& names, Tell tell) {
    const auto [found, is_new] =
        numbers_.try_emplace(tell(renamings_.front()), static_cast<std::uint32_t>(things.size()));
    if (!is_new) return found->second;
    const std::uint32_t number = found->second;
    things.push_back(thing);
    for (const Renaming& renaming : renamings_)
      names.push_back(names_.try_emplace(tell(renaming), static_cast<std::uint32_t>(names_.size())).first->second);
    return number;
  }

  static void put(std::string& text, std::uint64_t number) {
    do {
      text += static_cast<char>((number & 127) | (number > 127 ? 128 : 0));
      number >>= 7;
    } while (number > 0);
  }
  template <class Number>
  static void put(std::string& text, const std::optional<Number>& number) {
    put(text, number ? static_cast<std::uint64_t>(*number) + 1 : 0);
  }
  static void put(std::string& text, const std::optional<NodeId>& node, const Renaming& renaming) {
    put(text, node ? renaming[*node] + std::uint64_t{1} : 0);
  }
  static void put(std::string& text, const TestLog& log) {
    put(text, log.size());
    for (const Entry<Command>& entry : log) {
      put(text, entry.term);
      put(text, entry.command);
    }
  }
  static void put(std::string& text, const Durable<Command>& disk, const Renaming& renaming) {
    put(text, disk.term);
    put(text, disk.voted_for, renaming);
    put(text, disk.commit);
    put(text, disk.log);
  }
  /// Calls `tell(node)` in the order of the new names.
  template <class Tell>
  void for_each_renamed(const Renaming& renaming, Tell tell) const {
    for (std::size_t name = 0; name < nodes_; ++name) {
      const auto node = std::find(renaming.begin(), renaming.begin() + static_cast<std::ptrdiff_t>(nodes_), name);
      tell(static_cast<NodeId>(node - renaming.begin()));
    }
  }

  // Each begins with another letter: they share a table.
  std::string told(const NodeState<Rules>& node, const Renaming& renaming) const {
    const Replica<Command, Rules>& replica = node.replica;
    std::string text = "n";
    put(text, renaming[replica.self()]);
    put(text, replica.durable(), renaming);
    put(text, node.disk, renaming);
    put(text, static_cast<std::uint64_t>(replica.role()) * 2 + (replica.is_asking_before_election() ? 1 : 0));
    put(text, replica.leader(), renaming);
    put(text, replica.commit());
    put(text, replica.round());
    for_each_renamed(renaming, [&](NodeId other) {
      put(text, (replica.has_vote_of(other) ? 1u : 0u) + (replica.progress(other).was_heard ? 2u : 0u));
      put(text, replica.progress(other).next);
      put(text, replica.progress(other).match);
      put(text, replica.progress(other).round);
    });
    for (const auto& read : replica.pending_reads()) {
      put(text, read.id);
      put(text, read.round);
      put(text, read.index);
    }
    return text;
  }

  static std::string told(const Mail& message, const Renaming& renaming) {
    std::string text = "m";
    put(text,
        static_cast<std::uint64_t>(message.kind) * 4 + (message.accepted ? 1u : 0u) + (message.preliminary ? 2u : 0u));
    put(text, renaming[message.from]);
    put(text, renaming[message.to]);
    put(text, message.term);
    put(text, message.last.term);
    put(text, message.last.index);
    put(text, message.entries);
    put(text, message.commit);
    put(text, message.match);
    put(text, message.round);
    return text;
  }

  std::string told(const Judge<Command>& judge, const Renaming& renaming) const {
    std::string text = judge.breach() ? "b" : "j";
    put(text, judge.leaders().size());
    for (const auto& [term, node] : judge.leaders()) {
      put(text, term);
      put(text, renaming[node]);
    }
    put(text, judge.committed());
    for (const Term term : judge.committed_in()) put(text, term);
    for_each_renamed(renaming, [&](NodeId node) { put(text, judge.applied()[node]); });
    for (const auto& read : judge.open_reads()) {
      put(text, read.id);
      put(text, read.committed);
    }
    return text;
  }

  std::size_t nodes_;
  std::vector<Renaming> renamings_;  ///< the first leaves all as it is
  std::vector<NodeState<Rules>> node_states_;
  std::vector<Mail> mails_;
  std::vector<Judge<Command>> judges_;
  std::unordered_map<std::string, std::uint32_t> numbers_, names_;
  std::vector<std::uint32_t> node_names_, mail_names_, judge_names_;  ///< by number, and then by renaming
  std::vector<std::uint32_t> trial_;
};

}  // namespace lockstep::models::consensus::testing
