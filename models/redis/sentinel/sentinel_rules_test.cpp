#include "models/redis/sentinel/sentinel_rules.hpp"

#include <catch2/catch.hpp>
#include <rapidcheck/catch.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace lockstep::models::redis::sentinel_rules_test {

TEST_CASE("a sentinel votes once per epoch, for whoever asks first") {
  Ballot ballot;
  CHECK(ballot.vote() == Vote{});
  CHECK(ballot.ask(1, "a"));
  CHECK_FALSE(ballot.ask(1, "b"));
  CHECK(ballot.vote() == Vote{"a", 1});
  CHECK(ballot.ask(2, "b"));
  CHECK(ballot.vote() == Vote{"b", 2});
  CHECK(ballot.epoch() == 2);
}

TEST_CASE("nobody gets a vote in an epoch that is over") {
  Ballot ballot;
  CHECK(ballot.hear_of(5));
  CHECK_FALSE(ballot.hear_of(5));
  CHECK_FALSE(ballot.hear_of(4));
  CHECK_FALSE(ballot.ask(4, "a"));
  CHECK(ballot.vote() == Vote{});
  CHECK(ballot.ask(5, "a"));
  // Its own election comes after all that it has heard of.
  CHECK(ballot.begin() == 6);
  CHECK_FALSE(ballot.ask(5, "b"));
}

TEST_CASE("a leader needs a majority of all sentinels, and the quorum") {
  const std::vector<Vote> two{{"a", 3}, {"a", 3}};
  CHECK(winner(two, 3, 3, 2) == "a");
  CHECK(winner(two, 3, 3, 1) == "a");  // the quorum is less than a majority: the majority counts
  CHECK_FALSE(winner(two, 3, 4, 2));   // two of four are none
  CHECK_FALSE(winner(two, 3, 3, 3));   // the quorum is more than a majority: the quorum counts
  CHECK_FALSE(winner(two, 4, 3, 2));   // of another epoch
  CHECK_FALSE(winner({}, 0, 1, 1));
  const std::vector<Vote> one{{"a", 1}};
  CHECK(winner(one, 1, 1, 1) == "a");
  const std::vector<Vote> split{{"a", 3}, {"b", 3}, {"a", 2}};
  CHECK_FALSE(winner(split, 3, 3, 2));
}

TEST_CASE("of several with as many votes the first leads") {
  const std::vector<Vote> votes{{"old", 2}, {"b", 3}, {"a", 3}, {"", 3}};
  std::size_t count = 0;
  CHECK(most_voted(votes, 3, count) == Vote{"b", 3});
  CHECK(count == 1);
}

TEST_CASE("replicas are ranked by priority, then offset, then run id") {
  const auto best = [](std::vector<Candidate> candidates) { return best_replica(candidates); };
  CHECK_FALSE(best({}));
  CHECK(best({{0, 100, 5, "a"}, {1, 10, 1, "b"}}) == 1u);   // the lower priority number, whatever it misses
  CHECK(best({{0, 100, 5, "b"}, {1, 100, 6, "c"}}) == 1u);  // else whoever has more
  CHECK(best({{0, 100, 5, "b"}, {1, 100, 5, "a"}}) == 1u);  // else the smaller run id
  CHECK(best({{0, 100, 5, ""}, {1, 100, 5, "z"}}) == 1u);   // one without a run id comes last
  CHECK_FALSE(best({{0, 0, 9, "a"}, {1, 0, 9, "b"}}));      // priority 0 is never promoted
  CHECK(best({{0, 0, 9, "a"}, {1, 200, 1, "b"}}) == 1u);
}

/// What the rules are for: whatever order requests for votes come in, at most one sentinel wins an epoch.
TEST_CASE("no epoch has two leaders") {
  rc::prop("in any order of requests", [] {
    const auto sentinels = *rc::gen::inRange<std::size_t>(1, 6);
    const auto quorum = *rc::gen::inRange<std::size_t>(1, sentinels + 1);
    std::vector<Ballot> ballots(sentinels);
    // What each candidate has heard: by candidate and voter, the latest vote that it was told.
    std::vector<std::vector<Vote>> told(sentinels, std::vector<Vote>(sentinels));
    std::map<Epoch, std::set<std::string>> leaders;
    const auto steps = *rc::gen::container<std::vector<std::tuple<std::size_t, std::size_t, bool>>>(
        rc::gen::tuple(rc::gen::inRange<std::size_t>(0, sentinels), rc::gen::inRange<std::size_t>(0, sentinels),
                       rc::gen::arbitrary<bool>()));
    std::vector<Epoch> epochs(sentinels, 0);
    for (const auto& [candidate, voter, begins] : steps) {
      const std::string name = std::to_string(candidate);
      if (begins || epochs[candidate] == 0) {
        epochs[candidate] = ballots[candidate].begin();
        ballots[candidate].ask(epochs[candidate], name);
        told[candidate][candidate] = ballots[candidate].vote();
      }
      ballots[voter].ask(epochs[candidate], name);
      told[candidate][voter] = ballots[voter].vote();
      const auto leader = winner(told[candidate], epochs[candidate], sentinels, quorum);
      if (leader) leaders[epochs[candidate]].insert(*leader);
    }
    for (const auto& [epoch, names] : leaders) RC_ASSERT(names.size() == 1u);
    RC_CLASSIFY(!leaders.empty());
  });
}

}  // namespace lockstep::models::redis::sentinel_rules_test
