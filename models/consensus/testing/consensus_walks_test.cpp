// Long random runs of three and five replicas, with losses, duplicates and restarts.

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string_view>

#include <catch2/catch.hpp>

#include "models/consensus/testing/lab.hpp"
#include "models/consensus/testing/mutants.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::models::consensus::consensus_walks_test {
namespace {

using namespace testing;

struct Walked {
  std::size_t steps = 0;
  Index committed = 0;  ///< of all walks together
  Term terms = 0;
  std::size_t reads = 0;
  std::optional<Judge<Command>::Breach> breach = {};
};

template <class Rules>
Walked walk(std::size_t nodes, std::uint64_t first_seed, std::uint64_t walks) {
  constexpr std::size_t kLength = 1'000;
  Walked all;
  for (std::uint64_t seed = first_seed; seed < first_seed + walks && !all.breach; ++seed) {
    ReplicaSettings settings;
    settings.nodes = nodes;
    settings.entries_per_message_max = 1 + seed % 3;
    settings.announces_commit = seed % 2 == 0;
    settings.saves_commit = seed % 5 == 0;
    settings.pre_vote = seed % 7 == 0;
    Lab<Rules> lab(settings);
    sim::Random random(seed);
    for (std::size_t i = 0; i < kLength && !all.breach; ++i) {
      lab.step_at_random(random);
      ++all.steps;
      all.breach = lab.judge().breach();
    }
    all.committed += lab.judge().committed().size();
    all.terms += lab.judge().leaders().size();
    for (const ReadAnswer& answer : lab.answers()) all.reads += answer.index ? 1 : 0;
  }
  return all;
}

TEST_CASE("consensus: long random runs break no promise") {
  for (const std::size_t nodes : {1u, 3u, 4u, 5u}) {
    const Walked walked = walk<RaftRules>(nodes, 1, sim::cases<std::uint64_t>(400, 20));
    std::cout << nodes << " nodes: " << walked.steps << " steps, " << walked.terms << " terms with a leader, "
              << walked.committed << " entries committed, " << walked.reads << " reads answered\n";
    INFO(nodes);
    CHECK_FALSE(walked.breach);
    CHECK(walked.committed > walked.steps / 200);
    CHECK(walked.terms > walked.steps / 1'000);
    CHECK(walked.reads > walked.steps / 1'000);
  }
}

template <class Rules>
void is_found(std::string_view name, std::uint64_t walks) {
  const Walked walked = walk<Rules>(3, 1, walks);
  INFO(name);
  CHECK(walked.breach);
  if (walked.breach)
    std::cout << name << ": " << to_string(walked.breach->promise) << " broken after " << walked.steps << " steps\n";
}

TEST_CASE("consensus: long random runs of replicas with a broken rule break promises") {
  if (sim::takes_few_cases()) return;
  is_found<VotesTwice>("votes twice", 3'000);
  is_found<VotesForWhoIsBehind>("votes for who is behind", 3'000);
  is_found<VotesForTheLongerLog>("votes for the longer log", 3'000);
  is_found<ElectedByTooFew>("elected by too few", 3'000);
  is_found<CommitsWithTooFew>("commits with too few", 3'000);
  is_found<CountsOldAnswers>("counts old answers", 3'000);
  is_found<DoesNotMatchLogs>("does not match logs", 3'000);
  is_found<TruncatesWhatMatches>("truncates what matches", 3'000);
  is_found<KeepsWhatConflicts>("keeps what conflicts", 3'000);
  is_found<CommitsOldTerms>("commits old terms' entries", 3'000);
  is_found<CommitsWhatWasNotShown>("commits what was not shown", 3'000);
  is_found<ForgetsTerm>("forgets its term", 3'000);
  is_found<ForgetsLog>("forgets its log", 3'000);
  is_found<ReadsWithoutQuorum>("reads without a quorum", 3'000);
  is_found<ReadsBeforeOwnTerm>("reads before its term has committed", 3'000);
}

}  // namespace
}  // namespace lockstep::models::consensus::consensus_walks_test
