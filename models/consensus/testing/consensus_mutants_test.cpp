// Each rule is needed: without it the exploration finds a broken promise.

#include <cstddef>
#include <string_view>

#include <catch2/catch.hpp>

#include "models/consensus/testing/exploration.hpp"
#include "models/consensus/testing/lab.hpp"
#include "models/consensus/testing/mutants.hpp"
#include "models/consensus/testing/told.hpp"

namespace lockstep::models::consensus::consensus_mutants_test {
namespace {

using namespace testing;

/// Two terms, two messages under way, a proposal, a crash, a duplicate: a few seconds' worth for one that is not found.
Bounds usual() {
  Bounds bounds;
  bounds.under_way_max = 2;
  bounds.proposals = bounds.crashes = bounds.duplicates = 1;
  return bounds;
}

Bounds with_a_read() {
  Bounds bounds;
  bounds.under_way_max = 2;
  bounds.proposals = bounds.reads = 1;
  return bounds;
}

template <class Rules>
void is_found(std::string_view name, const Bounds& bounds, Promise promise, std::size_t steps,
              const Lab<Rules>& start) {
  const Explored result = Exploration<Rules>(bounds).run(start);
  tell(name, result);
  INFO(name);
  REQUIRE(result.breach);
  CHECK(result.breach->promise == promise);
  CHECK(result.steps_to_breach.size() == steps);
}

template <class Rules>
void is_found(std::string_view name, const Bounds& bounds, Promise promise, std::size_t steps) {
  is_found<Rules>(name, bounds, promise, steps, Lab<Rules>(bounds.replica));
}

TEST_CASE("consensus mutants: broken elections are found") {
  is_found<VotesTwice>("votes twice", usual(), Promise::election_safety, 6);
  is_found<ElectedByTooFew>("elected by too few", usual(), Promise::election_safety, 2);
  is_found<CountsOldAnswers>("counts old answers", usual(), Promise::election_safety, 7);
  is_found<VotesForWhoIsBehind>("votes for who is behind", usual(), Promise::leader_completeness, 8);
}

TEST_CASE("consensus mutants: forgetting is found") {
  is_found<ForgetsVote>("forgets its vote", usual(), Promise::election_safety, 7);
  is_found<ForgetsTerm>("forgets its term", usual(), Promise::election_safety, 7);
  is_found<ForgetsLog>("forgets its log", usual(), Promise::committed_is_kept, 5);
}

TEST_CASE("consensus mutants: broken logs are found") {
  is_found<CommitsWithTooFew>("commits with too few", usual(), Promise::committed_is_kept, 3);
  is_found<DoesNotMatchLogs>("does not match logs", usual(), Promise::log_matching, 8);
  is_found<TruncatesWhatMatches>("truncates what matches", usual(), Promise::committed_is_kept, 8);
  is_found<KeepsWhatConflicts>("keeps what conflicts", usual(), Promise::committed_is_kept, 8);
}

TEST_CASE("consensus mutants: reads that are not current are found") {
  is_found<ReadsWithoutQuorum>("reads without a quorum", with_a_read(), Promise::reads_are_current, 12);
  is_found<ReadsBeforeOwnTerm>("reads before its term has committed", with_a_read(), Promise::reads_are_current, 11);
}

/// From the beginning it is found, too, in 18 steps, after 2.5 million states: the hunt does that.
TEST_CASE("consensus mutants: an old term's entry that is committed by counting is found (figure 8)") {
  Bounds bounds;
  bounds.term_max = 4;
  bounds.under_way_max = 2;
  bounds.replica.entries_per_message_max = 1;
  // Figure 8 (b): two leaders, each with an entry that nobody else has.
  Lab<CommitsOldTerms> start(bounds.replica);
  start.elect(0, {1});
  start.lose_all();
  start.elect(2, {1});
  start.lose_all();
  is_found<CommitsOldTerms>("commits old terms' entries", bounds, Promise::leader_completeness, 15, start);
}

TEST_CASE("consensus mutants: a vote for the longer log is found") {
  Bounds bounds;
  bounds.term_max = 3;
  bounds.under_way_max = 2;
  Lab<VotesForTheLongerLog> start(bounds.replica);
  // One leader with two entries that nobody else has.
  start.elect(0, {1});
  start.propose(0, 1);
  start.lose_all();
  is_found<VotesForTheLongerLog>("votes for the longer log", bounds, Promise::leader_completeness, 9, start);
}

/// A leader can take an answer that its follower gave to an old message for one of this term, and begins again with the
/// first entry.
TEST_CASE("consensus mutants: a follower that commits what was not shown to match is found") {
  Bounds bounds;
  bounds.term_max = 3;
  bounds.under_way_max = 3;
  bounds.replica.entries_per_message_max = 1;
  Lab<CommitsWhatWasNotShown> start(bounds.replica);
  start.elect(0, {1});
  start.settle({0, 1, 2});
  start.time_out(0, Timer::heartbeat);
  REQUIRE(start.mail()[0].to == 1);
  // The next leader has an entry of its own, and is yet to hear its predecessor's heartbeat.
  while (start.mail().size() > 1) start.lose(1);
  start.elect(1, {0, 2});
  while (start.mail().size() > 1) start.lose(1);
  is_found<CommitsWhatWasNotShown>("commits what was not shown", bounds, Promise::state_machine_safety, 9, start);
}

}  // namespace
}  // namespace lockstep::models::consensus::consensus_mutants_test
