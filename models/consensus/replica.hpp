#pragma once

// One node of a replicated log. Start here.
//
// A deterministic state machine: in goes a message, a timer that ran out, a proposal, a read, a restart; out comes an
// `Output`: what to save, send, apply, answer, and which timers to set. It knows no clock, no network and no disk, so
// that the same code is explored exhaustively by a small model checker (testing/exploration.hpp) and driven in virtual
// time (member.hpp).
//
// Raft: terms, votes, log matching, commit by quorum (paper, figure 2); the no-op at the beginning of a term and the
// read index (dissertation, section 6.4); a leader that steps down when no quorum answers (6.2: etcd's CheckQuorum,
// Consul's LeaderLeaseTimeout). pre-vote (9.6). Left out: snapshots, membership changes,
// leadership transfer.
//
// ZooKeeper's Zab (Junqueira, Reed, Serafini 2011) is another protocol with the same guarantee; what differs and can be
// seen from outside:
//   - A zxid is the epoch and a counter that begins anew with each epoch. Here an index goes on; the counter is the
//     index minus that of the no-op of the entry's term.
//   - A new leader has its history accepted by a quorum (NEWLEADER, its ACK) before it serves. Here: the no-op is
//     committed. Both commit with it whatever the leader found of earlier terms.
//   - Fast leader election prefers the longest history among those who speak, then the greatest id; here the first
//     candidate that is up to date. Which of several able nodes leads can differ, never what is lost.
//   - A server applies at its start all that its log holds, and serves once it has followed a leader; here it applies
//     what it knows to be committed.
//   - A leader that is not heard by a quorum for syncLimit ticks gives up: its host counts, and says `Member::resign`.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/consensus/rules.hpp"
#include "models/consensus/types.hpp"

namespace lockstep::models::consensus {

struct ReplicaSettings {
  std::size_t nodes = 3;
  /// How many entries a message holds at most. Not 0.
  std::size_t entries_per_message_max = 64;
  /// A leader tells what is committed at once, as etcd and ZooKeeper do, and not with the next append_entries.
  bool announces_commit = true;
  /// The disk also knows what is committed, as etcd's HardState does: a node that comes back applies that at once.
  bool saves_commit = false;
  /// Before it begins a term, a node asks whether it would be elected, and who hears a leader says no (dissertation
  /// 9.6; etcd since 3.5). Then one that comes back from behind a partition does not end the leader's term.
  bool pre_vote = false;
};

/// `Command` is copied and compared, never looked into. `Rules`: for tests.
template <class Command, class Rules = RaftRules>
class Replica {
 public:
  using Out = Output<Command>;
  using Mail = Message<Command>;
  using Disk = Durable<Command>;

  /// What a leader knows of a node.
  struct Progress {
    Index next = 1;           ///< what to send next
    Index match = 0;          ///< its log is known to be the leader's up to here
    std::uint64_t round = 0;  ///< the last one that it has answered
    bool was_heard = false;   ///< since the last `Timer::quorum`
    bool operator==(const Progress&) const = default;
  };
  struct PendingRead {
    ReadId id = 0;
    std::uint64_t round = 0;       ///< a quorum has to answer this one, or a later one
    std::optional<Index> index{};  ///< nothing: no entry of this term is committed yet
    bool operator==(const PendingRead&) const = default;
  };

  /// Requires: `self < settings.nodes <= kNodesMax`.
  Replica(NodeId self, const ReplicaSettings& settings) : settings_(settings), self_(self) {
    assert(self < settings.nodes && settings.nodes <= kNodesMax && settings.entries_per_message_max > 0);
  }

  // --- Steps. Each adds to `out`, which comes in cleared.

  /// The first start, or one after a crash: with what was saved, and nothing else.
  void start(Disk saved, Out& out) {
    disk_ = std::move(saved);
    role_ = Role::follower;
    is_asking_ = false;
    leader_.reset();
    votes_ = {};
    progress_ = {};
    reads_.clear();
    round_ = 0;
    commit_ = 0;
    commit_up_to(std::min<Index>(disk_.commit, disk_.log.size()), out);
    out.timer(Timer::election) = TimerChange::set;
    out.timer(Timer::heartbeat) = out.timer(Timer::quorum) = TimerChange::stop;
  }

  /// The first start in a world that has long been going on: all have elected this leader in term 1, and know its no-op
  /// to be committed. Elections lead there, too (a test compares).
  void start_elected(NodeId leader, Out& out) {
    start({.term = 1, .voted_for = leader, .log = {{1, std::nullopt}}}, out);
    out.saves_state = true;
    out.saves_log_from = 1;
    leader_ = leader;
    if (leader == self_) {
      role_ = Role::leader;
      out.elected = true;
      out.timer(Timer::election) = TimerChange::stop;
      out.timer(Timer::heartbeat) = out.timer(Timer::quorum) = TimerChange::set;
      for_each_other([&](NodeId node) { progress_[node] = {.next = 2, .match = 1, .was_heard = true}; });
    }
    commit_up_to(1, out);
  }

  void receive(const Mail& message, Out& out) {
    const bool is_of_no_term = message.preliminary && (message.kind == MessageKind::request_vote || message.accepted);
    if (message.term > disk_.term && !is_of_no_term) enter_term(message.term, out);
    switch (message.kind) {
      case MessageKind::request_vote: answer_candidate(message, out); break;
      case MessageKind::vote: count_vote(message, out); break;
      case MessageKind::append_entries: append(message, out); break;
      case MessageKind::appended: learn(message, out); break;
    }
  }

  /// A timer that it had set ran out. One that it did not set, or has stopped, does nothing.
  void timed_out(Timer timer, Out& out) {
    if ((timer == Timer::election) == (role_ == Role::leader)) return;
    switch (timer) {
      case Timer::election:
        if (settings_.pre_vote) {
          ask_before_election(out);
        } else {
          stand_for_election(out);
        }
        break;
      case Timer::heartbeat:
        broadcast(out);
        out.timer(Timer::heartbeat) = TimerChange::set;
        break;
      case Timer::quorum: ask_whether_heard(out); break;
    }
  }

  /// The position of the entry that is to be. It may be lost yet: whoever asked hears of it when it is committed, or
  /// when another entry is committed at its index; and if the node crashes before that, never. Nothing: it does not
  /// lead; `leader()` may know who does.
  std::optional<Position> propose(Command command, Out& out) {
    if (role_ != Role::leader) return std::nullopt;
    append_own({disk_.term, std::move(command)}, out);
    broadcast(out);
    commit_what_quorum_has(out);
    return disk_.last();
  }

  /// A linearizable read (dissertation 6.4): answered, in this step or a later one, when a quorum has answered what was
  /// sent afterwards, so that nobody else led when it came. A host that may answer with old values reads its state
  /// machine and asks nobody; so does an old leader behind a partition.
  void read(ReadId id, Out& out) {
    if (role_ != Role::leader) {
      out.reads.push_back({id, std::nullopt});
      return;
    }
    PendingRead& pending = reads_.emplace_back(PendingRead{id, ++round_, std::nullopt});
    if (!Rules::kReadsWaitForOwnTerm || has_committed_in_own_term()) pending.index = commit_;
    answer_reads(out);
    if (!reads_.empty()) broadcast(out);
  }

  /// The host knows that the leader has gone: its connection was closed.
  void forget_leader(Out& out) {
    if (role_ == Role::leader) return;
    leader_.reset();
    out.timer(Timer::election) = TimerChange::set;
  }

  // --- What it is.

  NodeId self() const { return self_; }
  Role role() const { return role_; }
  /// Whether it thinks so. Another one may lead by now, in a later term.
  bool believes_to_lead() const { return role_ == Role::leader; }
  Term term() const { return disk_.term; }
  /// Whom it takes for the leader of `term()`: where to send clients.
  std::optional<NodeId> leader() const { return leader_; }
  /// Up to where it knows entries to be committed.
  Index commit() const { return commit_; }
  /// What is to be on its disk when all that was put out is saved.
  const Disk& durable() const { return disk_; }
  const Entry<Command>& entry(Index index) const { return disk_.log[index - 1]; }
  /// Whether its term has an entry that is committed: from then on it knows all that its predecessors committed.
  /// ZooKeeper's leader serves from here on.
  bool has_committed_in_own_term() const { return commit_ > 0 && entry(commit_).term == disk_.term; }

  // --- For who tells states apart.

  bool is_asking_before_election() const { return is_asking_; }
  bool has_vote_of(NodeId node) const { return votes_[node]; }
  const Progress& progress(NodeId node) const { return progress_[node]; }
  const std::vector<PendingRead>& pending_reads() const { return reads_; }
  std::uint64_t round() const { return round_; }

 private:
  // --- Elections.

  void ask_before_election(Out& out) {
    role_ = Role::candidate;
    is_asking_ = true;
    leader_.reset();
    votes_ = {};
    votes_[self_] = true;
    out.timer(Timer::election) = TimerChange::set;
    for_each_other([&](NodeId node) {
      Mail& message = send(MessageKind::request_vote, node, out);
      message.preliminary = true;
      ++message.term;
      message.last = disk_.last();
    });
    if (has_enough_votes()) stand_for_election(out);
  }

  void stand_for_election(Out& out) {
    is_asking_ = false;
    begin_term(disk_.term + 1, out);
    role_ = Role::candidate;
    disk_.voted_for = self_;
    votes_[self_] = true;
    out.timer(Timer::election) = TimerChange::set;
    for_each_other([&](NodeId node) {
      Mail& message = send(MessageKind::request_vote, node, out);
      message.last = disk_.last();
    });
    lead_if_elected(out);
  }

  void answer_candidate(const Mail& request, Out& out) {
    if (request.preliminary) {
      // Who leads, or has heard who does since its timer was set, sees no need.
      const bool grants = request.term > disk_.term && !leader_ && Rules::is_up_to_date(request.last, disk_.last());
      Mail& answer = send(MessageKind::vote, request.from, out);
      answer.preliminary = true;
      answer.accepted = grants;
      if (grants) answer.term = request.term;
      return;
    }
    const bool grants = request.term == disk_.term && Rules::has_vote_left(disk_.voted_for, request.from) &&
                        Rules::is_up_to_date(request.last, disk_.last());
    if (grants) {
      if (disk_.voted_for != request.from) out.saves_state = true;
      disk_.voted_for = request.from;
      if (role_ != Role::leader) out.timer(Timer::election) = TimerChange::set;
    }
    send(MessageKind::vote, request.from, out).accepted = grants;
  }

  void count_vote(const Mail& vote, Out& out) {
    if (role_ != Role::candidate || !vote.accepted || vote.preliminary != is_asking_) return;
    if (!Rules::is_answer_of(disk_.term + (is_asking_ ? 1 : 0), vote.term)) return;
    votes_[vote.from] = true;
    if (!is_asking_) {
      lead_if_elected(out);
    } else if (has_enough_votes()) {
      stand_for_election(out);
    }
  }

  bool has_enough_votes() const {
    const auto votes = static_cast<std::size_t>(std::count(votes_.begin(), votes_.end(), true));
    return Rules::is_elected(votes, settings_.nodes);
  }

  void lead_if_elected(Out& out) {
    if (!has_enough_votes()) return;
    role_ = Role::leader;
    leader_ = self_;
    votes_ = {};
    progress_ = {};
    for (Progress& each : progress_) each.next = disk_.log.size() + 1;
    round_ = 0;
    out.elected = true;
    out.timer(Timer::election) = TimerChange::stop;
    out.timer(Timer::heartbeat) = out.timer(Timer::quorum) = TimerChange::set;
    append_own({disk_.term, std::nullopt}, out);
    broadcast(out);
    commit_what_quorum_has(out);
  }

  void ask_whether_heard(Out& out) {
    std::size_t heard = 1;
    for_each_other([&](NodeId node) { heard += std::exchange(progress_[node].was_heard, false) ? 1 : 0; });
    if (heard < quorum(settings_.nodes)) {
      follow(std::nullopt, out);
    } else {
      out.timer(Timer::quorum) = TimerChange::set;
    }
  }

  /// Somebody has a later term than this node.
  void enter_term(Term term, Out& out) {
    begin_term(term, out);
    if (role_ != Role::follower) follow(std::nullopt, out);
  }

  void begin_term(Term term, Out& out) {
    disk_.term = term;
    disk_.voted_for.reset();
    out.saves_state = true;
    leader_.reset();
    votes_ = {};
  }

  void follow(std::optional<NodeId> leader, Out& out) {
    if (role_ == Role::leader) {
      out.deposed = true;
      out.timer(Timer::heartbeat) = out.timer(Timer::quorum) = TimerChange::stop;
    }
    for (const PendingRead& pending : reads_) out.reads.push_back({pending.id, std::nullopt});
    reads_.clear();
    round_ = 0;
    role_ = Role::follower;
    is_asking_ = false;
    votes_ = {};
    progress_ = {};
    leader_ = leader;
    out.timer(Timer::election) = TimerChange::set;
  }

  // --- The follower's log.

  void append(const Mail& request, Out& out) {
    if (request.term < disk_.term) {
      // Its sender led once. The answer's term tells it.
      send(MessageKind::appended, request.from, out);
      return;
    }
    follow(request.from, out);
    const Index before = request.last.index;
    const bool reaches = before <= disk_.log.size();
    if (!reaches || (before > 0 && !Rules::matches(entry(before).term, request.last.term))) {
      Mail& answer = send(MessageKind::appended, request.from, out);
      answer.match = std::min<Index>(before - 1, disk_.log.size());
      answer.round = request.round;
      return;
    }
    Index index = before;
    for (const Entry<Command>& sent : request.entries) {
      ++index;
      if (index <= disk_.log.size() && !Rules::conflicts(entry(index).term, sent.term)) continue;
      if (index <= disk_.log.size()) disk_.log.resize(index - 1);
      disk_.log.push_back(sent);
      out.saves_log_from = std::min(out.saves_log_from.value_or(index), index);
    }
    commit_up_to(Rules::follower_commit(request.commit, index, disk_.log.size()), out);
    Mail& answer = send(MessageKind::appended, request.from, out);
    answer.accepted = true;
    answer.match = index;
    answer.round = request.round;
  }

  // --- The leader's view of the others.

  void learn(const Mail& answer, Out& out) {
    if (role_ != Role::leader || !Rules::is_answer_of(disk_.term, answer.term)) return;
    Progress& known = progress_[answer.from];
    known.was_heard = true;
    known.round = std::max(known.round, answer.round);
    if (answer.accepted) {
      known.match = std::max(known.match, std::min<Index>(answer.match, disk_.log.size()));
      known.next = std::max(known.next, known.match + 1);
      commit_what_quorum_has(out);
    } else {
      // An old answer may come after a newer one: what is known to match is not sent again.
      known.next = std::max(known.match + 1, std::min(known.next, answer.match + 1));
    }
    answer_reads(out);
    if (known.next <= disk_.log.size()) send_entries(answer.from, out);
  }

  void commit_what_quorum_has(Out& out) {
    const Index before = commit_;
    for (Index index = disk_.log.size(); index > commit_; --index) {
      if (!Rules::may_count(entry(index).term, disk_.term)) continue;
      std::size_t have = 1;
      for_each_other([&](NodeId node) { have += progress_[node].match >= index ? 1 : 0; });
      if (!Rules::is_replicated(have, settings_.nodes)) continue;
      commit_up_to(index, out);
      break;
    }
    if (commit_ == before) return;
    if (has_committed_in_own_term()) {
      for (PendingRead& pending : reads_) pending.index = pending.index.value_or(commit_);
      answer_reads(out);
    }
    if (settings_.announces_commit) broadcast(out);
  }

  void answer_reads(Out& out) {
    std::erase_if(reads_, [&](const PendingRead& pending) {
      std::size_t heard = 1;
      for_each_other([&](NodeId node) { heard += progress_[node].round >= pending.round ? 1 : 0; });
      const bool is_sure = !Rules::kReadsAskQuorum || heard >= quorum(settings_.nodes);
      if (!is_sure || !pending.index) return false;
      out.reads.push_back({pending.id, pending.index});
      return true;
    });
  }

  // --- Both.

  void append_own(Entry<Command> entry, Out& out) {
    disk_.log.push_back(std::move(entry));
    out.saves_log_from = std::min<Index>(out.saves_log_from.value_or(disk_.log.size()), disk_.log.size());
  }

  void commit_up_to(Index index, Out& out) {
    if (index <= commit_) return;
    out.committed_from = out.committed_to == 0 ? commit_ + 1 : out.committed_from;
    out.committed_to = commit_ = index;
    if (settings_.saves_commit && disk_.commit < commit_) {
      disk_.commit = commit_;
      out.saves_state = true;
    }
  }

  void broadcast(Out& out) {
    for_each_other([&](NodeId node) { send_entries(node, out); });
  }

  /// What the other one is not known to have. It is not sent a second time before something says that it was lost: the
  /// next append_entries does not match then.
  void send_entries(NodeId to, Out& out) {
    Index& next = progress_[to].next;
    Mail& message = send(MessageKind::append_entries, to, out);
    message.last = next > 1 ? Position{entry(next - 1).term, next - 1} : Position{};
    message.commit = commit_;
    message.round = round_;
    const std::size_t count = std::min<std::size_t>(settings_.entries_per_message_max, disk_.log.size() + 1 - next);
    const auto first = disk_.log.begin() + static_cast<std::ptrdiff_t>(next - 1);
    message.entries.assign(first, first + static_cast<std::ptrdiff_t>(count));
    next += count;
  }

  Mail& send(MessageKind kind, NodeId to, Out& out) {
    Mail& message = out.messages.emplace_back();
    message.kind = kind;
    message.from = self_;
    message.to = to;
    message.term = disk_.term;
    return message;
  }

  template <class Visit>
  void for_each_other(Visit visit) {
    for (std::size_t node = 0; node < settings_.nodes; ++node) {
      if (node != self_) visit(static_cast<NodeId>(node));
    }
  }

  ReplicaSettings settings_;
  NodeId self_;
  Disk disk_;

  // Lost in a crash.
  Role role_ = Role::follower;
  std::optional<NodeId> leader_;
  Index commit_ = 0;
  bool is_asking_ = false;                      ///< a candidate: before it begins a term
  std::array<bool, kNodesMax> votes_{};         ///< of a candidate
  std::array<Progress, kNodesMax> progress_{};  ///< of a leader
  std::vector<PendingRead> reads_;              ///< of a leader
  std::uint64_t round_ = 0;                     ///< of a leader: of the latest read
};

/// What a step's output leaves on a disk. `after`: `Replica::durable()`.
template <class Command, class Rules = RaftRules>
void save(const Output<Command>& out, const Durable<Command>& after, Durable<Command>& disk) {
  if (out.saves_state) {
    if (Rules::kSavesTerm) disk.term = after.term;
    if (Rules::kSavesVote) disk.voted_for = after.voted_for;
    disk.commit = after.commit;
  }
  if (out.saves_log_from && Rules::kSavesLog) {
    disk.log.resize(*out.saves_log_from - 1);
    disk.log.insert(disk.log.end(), after.log.begin() + static_cast<std::ptrdiff_t>(*out.saves_log_from - 1),
                    after.log.end());
  }
}

}  // namespace lockstep::models::consensus
