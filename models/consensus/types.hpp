#pragma once

// The words of the replicated log: terms, positions, entries, messages, and what a step of a replica asks of its host.
// Names are those of Ongaro, Ousterhout 2014, "In Search of an Understandable Consensus Algorithm" (Raft), and of
// Ongaro's dissertation of the same year.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lockstep::models::consensus {

/// Number of an election; ZooKeeper's epoch. 0: before the first.
using Term = std::uint64_t;
/// Of an entry in a log, from 1. 0: before the first.
using Index = std::uint64_t;
/// Of a node of the ensemble: dense from 0.
using NodeId = std::uint8_t;
/// By which the host knows a read again. Its own numbers.
using ReadId = std::uint64_t;

inline constexpr std::size_t kNodesMax = 9;

/// Names an entry: two entries of the same term and index are the same one (log matching). The order is the one by
/// which logs are compared in elections: first the term of the last entry, then the length (Raft section 5.4.1).
struct Position {
  Term term = 0;
  Index index = 0;
  constexpr auto operator<=>(const Position&) const = default;
};

/// Nothing as the command: the no-op with which a leader begins its term. State machines pass over it.
template <class Command>
struct Entry {
  Term term = 0;
  std::optional<Command> command = {};
  bool operator==(const Entry&) const = default;
};

/// What a crash leaves, as long as the disk does. The host writes what an `Output` says before it sends anything.
template <class Command>
struct Durable {
  Term term = 0;
  std::optional<NodeId> voted_for = {};  ///< in `term`
  Index commit = 0;                      ///< a lower bound, so that a restart knows what is safe to apply; may be 0
  std::vector<Entry<Command>> log = {};  ///< entry `i` at `i - 1`

  /// Of the last entry.
  Position last() const { return log.empty() ? Position{} : Position{log.back().term, log.size()}; }
  bool operator==(const Durable&) const = default;
};

enum class MessageKind : std::uint8_t { request_vote, vote, append_entries, appended };

constexpr std::string_view to_string(MessageKind kind) {
  switch (kind) {
    case MessageKind::request_vote: return "REQUESTVOTE";
    case MessageKind::vote: return "VOTE";
    case MessageKind::append_entries: return "APPENDENTRIES";
    case MessageKind::appended: return "APPENDED";
  }
  return "?";
}

/// From one node to another. May be lost, come late, more than once, and in any order. A heartbeat is an
/// append_entries, with or without entries.
template <class Command>
struct Message {
  MessageKind kind = MessageKind::request_vote;
  NodeId from = 0;
  NodeId to = 0;
  /// Of the sender. request_vote and vote, if preliminary and not refused: the one that there may be.
  Term term = 0;
  /// request_vote: the candidate's last entry. append_entries: the one before `entries`.
  Position last = {};
  std::vector<Entry<Command>> entries = {};
  bool preliminary = false;  ///< request_vote, vote: see `ReplicaSettings::pre_vote`
  Index commit = 0;          ///< append_entries: what the leader knows to be committed
  bool accepted = false;     ///< vote: granted. appended: the logs matched
  /// appended: the follower's log is the leader's up to here; if not accepted: what is after here is to be sent again.
  Index match = 0;
  std::uint64_t round = 0;  ///< append_entries, and appended in answer: see `Replica::read`
  bool operator==(const Message&) const = default;
};

enum class Role : std::uint8_t { follower, candidate, leader };

constexpr std::string_view to_string(Role role) {
  switch (role) {
    case Role::follower: return "follower";
    case Role::candidate: return "candidate";
    case Role::leader: return "leader";
  }
  return "?";
}

/// What a replica waits for. Lengths are the host's, by its node's own clock.
enum class Timer : std::uint8_t {
  election,   ///< no leader was heard for so long. Of a length that differs from node to node, anew each time
  heartbeat,  ///< of a leader: time to be heard
  quorum      ///< of a leader: time to ask itself whether it was heard by a quorum since the last time
};
inline constexpr std::size_t kTimers = 3;

enum class TimerChange : std::uint8_t {
  keep,
  set,  ///< from now on, also if it runs already
  stop
};

/// The end of a read. Nothing as its index: this node cannot answer, somebody else may.
struct ReadAnswer {
  ReadId id = 0;
  std::optional<Index> index = {};  ///< the answer is that of the state machine which has applied at least so much
  bool operator==(const ReadAnswer&) const = default;
};

/// What a step asks of the host, in this order: save, then send; apply what is committed; answer reads; set timers. A
/// crash in between is one before the step (nothing was saved: the message is lost) or after it (what was not sent is
/// lost), never a third thing.
template <class Command>
struct Output {
  bool saves_state = false;               ///< `Durable::term`, `voted_for`, `commit` have changed
  std::optional<Index> saves_log_from{};  ///< entries from here on were replaced by those of `Durable::log`
  std::vector<Message<Command>> messages = {};
  /// What has become committed: entries of `Durable::log`, both included. Nothing: `committed_to` is smaller.
  Index committed_from = 1;
  Index committed_to = 0;
  bool elected = false;  ///< it leads from now on
  bool deposed = false;  ///< it led until now
  std::vector<ReadAnswer> reads = {};
  std::array<TimerChange, kTimers> timers = {};

  TimerChange& timer(Timer which) { return timers[static_cast<std::size_t>(which)]; }
  TimerChange timer(Timer which) const { return timers[static_cast<std::size_t>(which)]; }
  /// Keeps its memory.
  void clear() {
    saves_state = elected = deposed = false;
    saves_log_from.reset();
    messages.clear();
    committed_from = 1;
    committed_to = 0;
    reads.clear();
    timers = {};
  }
};

}  // namespace lockstep::models::consensus
