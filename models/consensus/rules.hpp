#pragma once

// The rules on which safety rests, one by one. A replica asks them and nothing else where it could go wrong, so that
// tests can break each alone and see what it is good for (testing/mutants.hpp).

#include <algorithm>
#include <cstddef>
#include <optional>

#include "models/consensus/types.hpp"

namespace lockstep::models::consensus {

/// The least number of nodes of which any two sets share one.
constexpr std::size_t quorum(std::size_t nodes) { return nodes / 2 + 1; }

struct RaftRules {
  /// One vote per term (section 5.2).
  static constexpr bool has_vote_left(std::optional<NodeId> voted_for, NodeId candidate) {
    return !voted_for || *voted_for == candidate;
  }

  /// Who lacks what may be committed does not lead (5.4.1).
  static constexpr bool is_up_to_date(Position candidate, Position own) { return candidate >= own; }

  /// A leader has a quorum of votes (5.2).
  static constexpr bool is_elected(std::size_t votes, std::size_t nodes) { return votes >= quorum(nodes); }

  /// What a quorum has is committed (5.3).
  static constexpr bool is_replicated(std::size_t have, std::size_t nodes) { return have >= quorum(nodes); }

  /// Answers count in the term in which they were asked for.
  static constexpr bool is_answer_of(Term asked, Term answered) { return asked == answered; }

  /// Whether the entry before the new ones is the leader's (5.3). `own`: the term of the follower's entry there.
  static constexpr bool matches(Term own, Term leaders) { return own == leaders; }

  /// Whether an entry gives way to the leader's, with all that follows. Not if it is the same one: the message may be
  /// an old one, and what follows may be committed (figure 2, receiver's rule 3).
  static constexpr bool conflicts(Term own, Term leaders) { return own != leaders; }

  /// Whether a leader may call an entry committed because a quorum has it. One of an earlier term is committed only
  /// along with one of its own: figure 8.
  static constexpr bool may_count(Term of_entry, Term current) { return of_entry == current; }

  /// How much of what the leader has committed a follower knows to have. `known`: up to where this message has shown
  /// the logs to match; what its own log has beyond (`length`) may be somebody else's (figure 2, receiver's rule 5).
  static constexpr Index follower_commit(Index leaders, Index known, Index length) {
    static_cast<void>(length);
    return std::min(leaders, known);
  }

  /// What is written before anything is sent (figure 2, persistent state).
  static constexpr bool kSavesTerm = true;
  static constexpr bool kSavesVote = true;
  static constexpr bool kSavesLog = true;

  /// Before a leader answers a read, a quorum has heard of it since the read came (dissertation section 6.4, step 3).
  static constexpr bool kReadsAskQuorum = true;
  /// … and it has committed an entry of its own term: before that it does not know what its predecessors have
  /// committed (6.4, step 1).
  static constexpr bool kReadsWaitForOwnTerm = true;
};

}  // namespace lockstep::models::consensus
