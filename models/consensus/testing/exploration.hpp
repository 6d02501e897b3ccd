#pragma once

// All that a few replicas can do within bounds: breadth first, each state once.
//
// A step of a replica depends on the replica and on what happens to it, nothing else. So each state of a node, each
// message and each state of the judge has a number, a state of the ensemble is a few of these numbers (all of them:
// two states that differ are never taken for one), and a step that was computed once is looked up afterwards.
//
// A message that is under way may never arrive: all promises are about what has happened, so a run in which a message
// is lost is a run in which it is still on its way at the end. Bounds::losses counts losses as steps nevertheless, to
// show that.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>  // tidy: lookup only
#include <utility>
#include <vector>

#include "models/consensus/testing/lab.hpp"
#include "models/consensus/testing/numbers.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::consensus::testing {

/// As often as it likes, and not counted: then two states that differ in nothing else are one.
inline constexpr std::uint32_t kAny = 15;

/// How much of each may happen after the start. Messages arrive in any order.
struct Bounds {
  ReplicaSettings replica = {.nodes = 3, .entries_per_message_max = 64, .announces_commit = false};
  Term term_max = 2;         ///< nobody stands for election in a later one
  std::size_t log_max = 15;  ///< nothing is proposed to a leader whose log is so long
  /// More are not under way at once: where there are, some are lost, any of them. Then losses need not be counted.
  /// 0: no bound.
  std::size_t under_way_max = 0;
  std::uint32_t elections = kAny;
  std::uint32_t proposals = 0;  ///< less than `kAny`, since each is another command
  std::uint32_t heartbeats = 0;
  std::uint32_t quorum_checks = 0;
  /// Each with a restart. In between nothing happens to the node, which is what happens to one that is slow.
  std::uint32_t crashes = 0;
  std::uint32_t duplicates = 0;  ///< a message that arrives and stays under way
  std::uint32_t losses = 0;
  std::uint32_t reads = 0;  ///< less than `kAny`
  bool alike = true;        ///< states that are the same but for who is who are one
  std::size_t states_max = 50'000'000;
};

struct Explored {
  std::size_t states = 0;
  std::size_t steps = 0;  ///< from a state to another, or back to one that is known
  std::size_t depth = 0;  ///< the longest of the shortest ways to a state
  bool complete = false;  ///< within the bounds there is nothing else
  std::size_t node_states = 0;
  std::size_t messages = 0;
  // What was reached, so that nothing holds only because nothing happened.
  std::size_t with_leader = 0, with_two_leaders = 0, with_committed = 0, with_conflict = 0;
  std::size_t reads_answered = 0;
  Index committed_max = 0;
  std::optional<Judge<Command>::Breach> breach = {};
  std::vector<std::string> steps_to_breach = {};
};

template <class Rules = RaftRules>
class Exploration {
 public:
  explicit Exploration(const Bounds& bounds)
      : bounds_(bounds), nodes_(bounds.replica.nodes), numbers_(bounds.replica.nodes) {}

  Explored run(const Lab<Rules>& start) {
    std::vector<std::uint32_t> first;
    for (std::size_t i = 0; i < nodes_; ++i) {
      const auto node = static_cast<NodeId>(i);
      first.push_back(numbers_.of_node({start.node(node), start.disk(node)}));
    }
    first.push_back(numbers_.of_judge(start.judge()));
    first.push_back(0);
    for (const Mail& message : start.mail()) first.push_back(numbers_.of_message(message));
    std::sort(first.begin() + header(), first.end());
    add(first, kNone, 0);
    for (std::uint32_t state = 0; state < offsets_.size() - 1 && !explored_.breach; ++state) {
      if (offsets_.size() > bounds_.states_max) break;
      if (state == level_end_) {
        ++explored_.depth;
        level_end_ = static_cast<std::uint32_t>(offsets_.size() - 1);
      }
      look_at(state);
      expand(state);
    }
    explored_.states = offsets_.size() - 1;
    explored_.complete = !explored_.breach && explored_.states <= bounds_.states_max;
    explored_.node_states = numbers_.nodes();
    explored_.messages = numbers_.messages();
    return explored_;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  enum class Happens : std::uint32_t {
    deliver,
    deliver_and_keep,
    lose,
    election,
    heartbeat,
    quorum,
    propose,
    read,
    restart
  };
  /// Which of them, and to what: a message, or a node.
  static constexpr std::uint32_t event(Happens what, std::uint32_t to) {
    return static_cast<std::uint32_t>(what) << 28 | to;
  }

  using Node = NodeState<Rules>;
  /// What a node's step does.
  struct Transition {
    std::uint32_t node_after = 0;
    std::vector<std::uint32_t> messages;
    Index committed_from = 1, committed_to = 0;
    bool elected = false;
    bool changes_log = false;
    std::vector<ReadAnswer> reads;
  };
  /// How often each has happened: eight of four bits.
  enum Counter : std::uint32_t {
    kElections,
    kProposals,
    kHeartbeats,
    kQuorumChecks,
    kCrashes,
    kDuplicates,
    kLosses,
    kReads
  };

  std::ptrdiff_t header() const { return static_cast<std::ptrdiff_t>(nodes_) + 2; }
  static std::uint32_t used(std::uint32_t counters, Counter which) { return counters >> (4 * which) & 15; }

  // --- States: the nodes, the judge, the counters, and the messages in order.

  std::span<const std::uint32_t> at(std::uint32_t state) const {
    return {words_.data() + offsets_[state], offsets_[state + 1] - offsets_[state]};
  }

  /// By which a state is known again.
  std::span<const std::uint32_t> key_of(std::uint32_t state) const {
    const std::vector<std::uint32_t>& words = bounds_.alike ? keys_ : words_;
    return {words.data() + offsets_[state], offsets_[state + 1] - offsets_[state]};
  }

  static std::uint64_t digest(std::span<const std::uint32_t> words) {
    std::uint64_t sum = words.size();
    for (const std::uint32_t word : words) sum = sim::combine64(sum, word);
    return sum;
  }

  void add(std::span<const std::uint32_t> words, std::uint32_t from, std::uint32_t by) {
    if ((offsets_.size() + 1) * 2 > table_.size()) grow();
    std::span<const std::uint32_t> key = words;
    if (bounds_.alike) {
      numbers_.rename(words, least_);
      key = least_;
    }
    std::size_t place = digest(key) & (table_.size() - 1);
    for (; table_[place] != kNone; place = (place + 1) & (table_.size() - 1)) {
      const std::span<const std::uint32_t> other = key_of(table_[place]);
      if (std::equal(key.begin(), key.end(), other.begin(), other.end())) return;
    }
    table_[place] = static_cast<std::uint32_t>(offsets_.size() - 1);
    words_.insert(words_.end(), words.begin(), words.end());
    if (bounds_.alike) keys_.insert(keys_.end(), key.begin(), key.end());
    offsets_.push_back(words_.size());
    origins_.push_back({from, by});
  }

  void grow() {
    table_.assign(std::max<std::size_t>(1 << 16, table_.size() * 2), kNone);
    for (std::uint32_t state = 0; state + 1 < offsets_.size(); ++state) {
      std::size_t place = digest(key_of(state)) & (table_.size() - 1);
      while (table_[place] != kNone) place = (place + 1) & (table_.size() - 1);
      table_[place] = state;
    }
  }

  /// As `add`. Where more is under way than may be, once for each choice of what is lost.
  void add_what_fits(std::uint32_t from, std::uint32_t by) {
    const std::size_t under_way = next_.size() - static_cast<std::size_t>(header());
    if (bounds_.under_way_max == 0 || under_way <= bounds_.under_way_max) {
      add(next_, from, by);
      return;
    }
    std::vector<bool> stays(under_way, true);
    std::fill(stays.begin(), stays.begin() + static_cast<std::ptrdiff_t>(under_way - bounds_.under_way_max), false);
    do {
      kept_.assign(next_.begin(), next_.begin() + header());
      for (std::size_t i = 0; i < under_way; ++i) {
        if (stays[i]) kept_.push_back(next_[static_cast<std::size_t>(header()) + i]);
      }
      add(kept_, from, by);
    } while (std::next_permutation(stays.begin(), stays.end()));
  }

  void look_at(std::uint32_t state) {
    const std::span<const std::uint32_t> words = at(state);
    std::size_t leaders = 0;
    bool conflict = false;
    for (std::size_t i = 0; i < nodes_; ++i) {
      const TestLog& log = numbers_.node(words[i]).disk.log;
      leaders += numbers_.node(words[i]).replica.believes_to_lead() ? 1 : 0;
      for (std::size_t j = 0; j < i; ++j) {
        const TestLog& other = numbers_.node(words[j]).disk.log;
        conflict = conflict || (!begins_with(log, other) && !begins_with(other, log));
      }
    }
    const Index committed = numbers_.judge(words[nodes_]).committed().size();
    explored_.with_leader += leaders > 0 ? 1 : 0;
    explored_.with_two_leaders += leaders > 1 ? 1 : 0;
    explored_.with_conflict += conflict ? 1 : 0;
    explored_.with_committed += committed > 0 ? 1 : 0;
    explored_.committed_max = std::max(explored_.committed_max, committed);
  }

  // --- Steps.

  void expand(std::uint32_t state) {
    const std::span<const std::uint32_t> words = at(state);
    now_.assign(words.begin(), words.end());
    for (std::size_t i = static_cast<std::size_t>(header()); i < now_.size(); ++i) {
      if (i > static_cast<std::size_t>(header()) && now_[i] == now_[i - 1]) continue;
      const std::uint32_t to = numbers_.message(now_[i]).to;
      take(state, event(Happens::deliver, now_[i]), to, i, kElections, kAny);
      if (may(kDuplicates, bounds_.duplicates))
        take(state, event(Happens::deliver_and_keep, now_[i]), to, kNone, kDuplicates, bounds_.duplicates);
      if (may(kLosses, bounds_.losses) || bounds_.under_way_max > 0) lose(state, i);
    }
    for (std::uint32_t i = 0; i < nodes_; ++i) {
      const Replica<Command, Rules>& replica = numbers_.node(now_[i]).replica;
      const std::size_t length = replica.durable().log.size();
      const bool leads = replica.believes_to_lead();
      const auto try_at = [&](Happens what, Counter counter, std::uint32_t most) {
        if (may(counter, most)) take(state, event(what, i), i, kNone, counter, most);
      };
      if (leads) try_at(Happens::heartbeat, kHeartbeats, bounds_.heartbeats);
      if (leads) try_at(Happens::quorum, kQuorumChecks, bounds_.quorum_checks);
      if (leads && length < bounds_.log_max) try_at(Happens::propose, kProposals, bounds_.proposals);
      if (leads) try_at(Happens::read, kReads, bounds_.reads);
      if (!leads && replica.term() < bounds_.term_max) try_at(Happens::election, kElections, bounds_.elections);
      try_at(Happens::restart, kCrashes, bounds_.crashes);
    }
  }

  bool may(Counter which, std::uint32_t most) const { return most == kAny || used(now_[nodes_ + 1], which) < most; }
  void count(Counter which, std::uint32_t most) {
    if (most != kAny) next_[nodes_ + 1] += 1u << (4 * which);
  }

  void lose(std::uint32_t state, std::size_t which) {
    next_.assign(now_.begin(), now_.end());
    next_.erase(next_.begin() + static_cast<std::ptrdiff_t>(which));
    count(kLosses, bounds_.under_way_max > 0 ? kAny : bounds_.losses);
    ++explored_.steps;
    add(next_, state, event(Happens::lose, now_[which]));
  }

  /// `taken`: the message that is gone then.
  void take(std::uint32_t state, std::uint32_t happens, std::uint32_t node, std::size_t taken, Counter counter,
            std::uint32_t most) {
    if (explored_.breach) return;
    ++explored_.steps;
    const std::uint32_t number = used(now_[nodes_ + 1], counter) + 1;
    const auto what = static_cast<Happens>(happens >> 28);
    // What a proposal or a read is called is part of what happens.
    const std::uint32_t named = what == Happens::propose || what == Happens::read ? happens | number << 8 : happens;
    const std::uint32_t step = transition(now_[node], named);
    const Transition& done = transitions_[step];
    next_.assign(now_.begin(), now_.end());
    if (taken != kNone) next_.erase(next_.begin() + static_cast<std::ptrdiff_t>(taken));
    next_[node] = done.node_after;
    count(counter, most);
    if (!done.messages.empty()) {
      next_.insert(next_.end(), done.messages.begin(), done.messages.end());
      std::sort(next_.begin() + header(), next_.end());
    }
    next_[nodes_] = judged(now_[nodes_], step, node, what, number);
    explored_.reads_answered += static_cast<std::size_t>(std::count_if(
        done.reads.begin(), done.reads.end(), [](const ReadAnswer& answer) { return answer.index.has_value(); }));
    std::optional<Judge<Command>::Breach> breach = numbers_.judge(next_[nodes_]).breach();
    if (!breach && (done.changes_log || next_[nodes_] != now_[nodes_])) {
      Judge<Command> judge = numbers_.judge(next_[nodes_]);
      std::array<const TestLog*, kNodesMax> logs{};
      for (std::size_t i = 0; i < nodes_; ++i) logs[i] = &numbers_.node(next_[i]).disk.log;
      judge.disks(std::span(logs.data(), nodes_));
      breach = judge.breach();
    }
    if (breach) {
      explored_.breach = breach;
      tell_way(state, happens);
      return;
    }
    add_what_fits(state, happens);
  }

  std::uint32_t transition(std::uint32_t node, std::uint32_t happens) {
    const auto [found, is_new] = transition_numbers_.try_emplace(std::uint64_t{node} << 32 | happens,
                                                                 static_cast<std::uint32_t>(transitions_.size()));
    if (!is_new) return found->second;
    Node after = numbers_.node(node);
    Output<Command> out;
    const std::uint32_t to = happens & ((1u << 28) - 1);
    switch (static_cast<Happens>(happens >> 28)) {
      case Happens::deliver:
      case Happens::deliver_and_keep: after.replica.receive(numbers_.message(to), out); break;
      case Happens::election: after.replica.timed_out(Timer::election, out); break;
      case Happens::heartbeat: after.replica.timed_out(Timer::heartbeat, out); break;
      case Happens::quorum: after.replica.timed_out(Timer::quorum, out); break;
      case Happens::propose: after.replica.propose(to >> 8, out); break;
      case Happens::read: after.replica.read(to >> 8, out); break;
      case Happens::restart: after.replica.start(after.disk, out); break;
      case Happens::lose: break;
    }
    save<Command, Rules>(out, after.replica.durable(), after.disk);
    Transition done;
    for (const Mail& message : out.messages) done.messages.push_back(numbers_.of_message(message));
    done.committed_from = out.committed_from;
    done.committed_to = out.committed_to;
    done.elected = out.elected;
    done.changes_log = out.saves_log_from.has_value();
    done.reads = out.reads;
    done.node_after = numbers_.of_node(after);
    transitions_.push_back(std::move(done));
    return found->second;
  }

  std::uint32_t judged(std::uint32_t judge_before, std::uint32_t step, std::uint32_t node, Happens what,
                       std::uint32_t number) {
    const Transition& done = transitions_[step];
    const bool begins_read = what == Happens::read;
    const bool restarts = what == Happens::restart;
    if (!done.elected && done.committed_to == 0 && done.reads.empty() && !begins_read && !restarts) return judge_before;
    const auto [found, is_new] = judged_.try_emplace(std::uint64_t{judge_before} << 32 | step, 0);
    if (!is_new) return found->second;
    Judge<Command> judge = numbers_.judge(judge_before);
    const auto id = static_cast<NodeId>(node);
    const Node& after = numbers_.node(done.node_after);
    if (restarts) judge.restarted(id);
    if (begins_read) judge.read_began(number);
    if (done.elected) judge.elected(id, after.replica.term(), after.disk.log);
    for (Index index = done.committed_from; index <= done.committed_to; ++index)
      judge.committed(id, after.replica.term(), index, after.replica.entry(index));
    for (const ReadAnswer& answer : done.reads) judge.read_ended(answer);
    return found->second = numbers_.of_judge(judge);
  }

  // --- The way to a breach.

  void tell_way(std::uint32_t state, std::uint32_t last) {
    std::vector<std::uint32_t> way{last};
    for (std::uint32_t at_state = state; origins_[at_state].first != kNone; at_state = origins_[at_state].first)
      way.push_back(origins_[at_state].second);
    for (auto step = way.rbegin(); step != way.rend(); ++step) explored_.steps_to_breach.push_back(describe(*step));
  }

  std::string describe(std::uint32_t happens) const {
    constexpr std::array<std::string_view, 9> kNames{"arrives",
                                                     "arrives, and will again",
                                                     "is lost",
                                                     "stands for election",
                                                     "sends heartbeats",
                                                     "asks whether it was heard",
                                                     "proposes",
                                                     "reads",
                                                     "crashes and restarts"};
    const std::string name(kNames[happens >> 28]);
    const std::uint32_t to = happens & ((1u << 28) - 1);
    if (happens >> 28 > 2) return "node " + std::to_string(to) + " " + name;
    const Mail& message = numbers_.message(to);
    std::string text = std::string(to_string(message.kind)) + " of term " + std::to_string(message.term) + " from " +
                       std::to_string(message.from) + " to " + std::to_string(message.to);
    if (message.kind == MessageKind::append_entries)
      text += ", " + std::to_string(message.entries.size()) + " after " + std::to_string(message.last.index);
    return text + " " + name;
  }

  Bounds bounds_;
  std::size_t nodes_;
  Explored explored_;

  Numbers<Rules> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> transition_numbers_, judged_;
  std::vector<Transition> transitions_;

  std::vector<std::uint32_t> words_, keys_;
  std::vector<std::size_t> offsets_{0};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> origins_;
  std::vector<std::uint32_t> table_;
  std::uint32_t level_end_ = 1;
  std::vector<std::uint32_t> now_, next_, kept_, least_;
};

}  // namespace lockstep::models::consensus::testing
