#pragma once

// Replicas with one rule broken, each as somebody once got it wrong. What the tests of consensus must find.

#include <algorithm>
#include <cstddef>
#include <optional>

#include "models/consensus/rules.hpp"
#include "models/consensus/types.hpp"

namespace lockstep::models::consensus::testing {

struct VotesTwice : RaftRules {
  static constexpr bool has_vote_left(std::optional<NodeId>, NodeId) { return true; }
};
struct VotesForWhoIsBehind : RaftRules {
  static constexpr bool is_up_to_date(Position, Position) { return true; }
};
/// Compares lengths only, not the terms of the last entries.
struct VotesForTheLongerLog : RaftRules {
  static constexpr bool is_up_to_date(Position candidate, Position own) { return candidate.index >= own.index; }
};
struct ElectedByTooFew : RaftRules {
  static constexpr bool is_elected(std::size_t votes, std::size_t nodes) { return votes >= nodes / 2; }
};
struct CommitsWithTooFew : RaftRules {
  static constexpr bool is_replicated(std::size_t have, std::size_t nodes) { return have >= nodes / 2; }
};
struct CountsOldAnswers : RaftRules {
  static constexpr bool is_answer_of(Term, Term) { return true; }
};
struct DoesNotMatchLogs : RaftRules {
  static constexpr bool matches(Term, Term) { return true; }
};
struct TruncatesWhatMatches : RaftRules {
  static constexpr bool conflicts(Term, Term) { return true; }
};
struct KeepsWhatConflicts : RaftRules {
  static constexpr bool conflicts(Term, Term) { return false; }
};
/// Figure 8 of the paper.
struct CommitsOldTerms : RaftRules {
  static constexpr bool may_count(Term, Term) { return true; }
};
/// Figure 2 has "index of last new entry"; many took the last index of the log.
struct CommitsWhatWasNotShown : RaftRules {
  static constexpr Index follower_commit(Index leaders, Index, Index length) { return std::min(leaders, length); }
};
struct ForgetsVote : RaftRules {
  static constexpr bool kSavesVote = false;
};
struct ForgetsTerm : RaftRules {
  static constexpr bool kSavesTerm = false;
  static constexpr bool kSavesVote = false;
};
struct ForgetsLog : RaftRules {
  static constexpr bool kSavesLog = false;
};
struct ReadsWithoutQuorum : RaftRules {
  static constexpr bool kReadsAskQuorum = false;
};
struct ReadsBeforeOwnTerm : RaftRules {
  static constexpr bool kReadsWaitForOwnTerm = false;
};

}  // namespace lockstep::models::consensus::testing
