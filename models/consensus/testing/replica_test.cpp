// One step after the other: what a replica puts out.

#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch.hpp>

#include "models/consensus/properties.hpp"
#include "models/consensus/replica.hpp"
#include "models/consensus/testing/lab.hpp"
#include "models/consensus/types.hpp"

namespace lockstep::models::consensus::replica_test {
namespace {

using namespace testing;

const std::vector<NodeId> kAll{0, 1, 2};

Lab<> with_leader(const ReplicaSettings& settings = {}) {
  Lab<> lab(settings);
  lab.elect(0, {1});
  lab.settle(kAll);
  return lab;
}

TEST_CASE("replica: who is elected by a quorum begins with a no-op") {
  Lab<> lab;
  CHECK(lab.is_running(0, Timer::election));
  lab.time_out(0, Timer::election);
  CHECK(lab.node(0).role() == Role::candidate);
  CHECK(lab.disk(0).voted_for == NodeId{0});
  lab.deliver(MessageKind::request_vote, 0, 1);
  CHECK(lab.disk(1).voted_for == NodeId{0});
  lab.deliver(MessageKind::vote, 1, 0);
  CHECK(lab.node(0).believes_to_lead());
  CHECK_FALSE(lab.node(0).has_committed_in_own_term());
  CHECK_FALSE(lab.is_running(0, Timer::election));
  CHECK(lab.is_running(0, Timer::heartbeat));
  CHECK(lab.is_running(0, Timer::quorum));
  CHECK(lab.disk(0).log == TestLog{{1, std::nullopt}});
  lab.settle(kAll);
  CHECK(lab.node(0).has_committed_in_own_term());
  CHECK(lab.node(2).commit() == 1);
  CHECK(lab.node(2).leader() == NodeId{0});
}

TEST_CASE("replica: a world that begins with a leader begins as it would be after an election") {
  Lab<> lab;
  lab.elect(0, {1, 2});
  lab.settle(kAll);
  for (const NodeId node : kAll) {
    Replica<testing::Command> begun(node, {});
    Output<testing::Command> out;
    begun.start_elected(0, out);
    const auto& elected = lab.node(node);
    CHECK(begun.role() == elected.role());
    CHECK(begun.leader() == elected.leader());
    CHECK(begun.commit() == elected.commit());
    CHECK(begun.durable() == elected.durable());
    CHECK(out.elected == (node == 0));
    for (const NodeId other : kAll) {
      CHECK(begun.progress(other).next == elected.progress(other).next);
      CHECK(begun.progress(other).match == elected.progress(other).match);
    }
    Durable<testing::Command> disk;
    save(out, begun.durable(), disk);
    CHECK(disk == begun.durable());
  }
}

TEST_CASE("replica: what is proposed is committed when a quorum has it, and everybody hears of it at once") {
  Lab<> lab = with_leader();
  CHECK(lab.propose(0, 7) == Position{1, 2});
  CHECK(lab.node(0).commit() == 1);
  lab.deliver(MessageKind::append_entries, 0, 2);
  lab.deliver(MessageKind::appended, 2, 0);
  CHECK(lab.node(0).commit() == 2);
  lab.settle(kAll);
  CHECK(lab.node(1).commit() == 2);
  CHECK(lab.node(2).commit() == 2);
  CHECK(lab.judge().committed() == TestLog{{1, std::nullopt}, {1, 7}});
}

TEST_CASE("replica: who does not lead takes no proposals and answers no reads") {
  Lab<> lab = with_leader();
  CHECK_FALSE(lab.propose(1, 7));
  const ReadId read = lab.read(1);
  CHECK(lab.answers() == std::vector<ReadAnswer>{{read, std::nullopt}});
}

TEST_CASE("replica: a node of its own is an ensemble") {
  ReplicaSettings settings;
  settings.nodes = 1;
  Lab<> lab(settings);
  lab.time_out(0, Timer::election);
  CHECK(lab.node(0).commit() == 1);
  lab.propose(0, 7);
  CHECK(lab.node(0).commit() == 2);
  const ReadId read = lab.read(0);
  CHECK(lab.answers() == std::vector<ReadAnswer>{{read, 2}});
}

TEST_CASE("replica: a candidate whose log is behind gets no vote") {
  Lab<> lab = with_leader();
  lab.propose(0, 7);
  lab.deliver(MessageKind::append_entries, 0, 1);
  lab.lose_all();
  lab.elect(2, {0, 1});
  CHECK(lab.leaders() == 0);
  // The leader of the old term has heard of the new one.
  CHECK(lab.node(0).role() == Role::follower);
  CHECK(lab.node(0).term() == 2);
  lab.elect(1, {2});
  CHECK(lab.node(1).believes_to_lead());
  lab.settle(kAll);
  CHECK(lab.disk(2).log == TestLog{{1, std::nullopt}, {1, 7}, {3, std::nullopt}});
}

TEST_CASE("replica: a log that conflicts gives way, and one that is behind is filled, message by message") {
  ReplicaSettings settings;
  settings.entries_per_message_max = 1;
  Lab<> lab = with_leader(settings);
  lab.propose(0, 7);
  lab.propose(0, 8);
  lab.lose_all();
  lab.elect(1, {2});
  lab.propose(1, 9);
  lab.settle(kAll);
  const TestLog log{{1, std::nullopt}, {2, std::nullopt}, {2, 9}};
  CHECK(lab.disk(0).log == log);
  CHECK(lab.disk(2).log == log);
  CHECK(lab.judge().committed() == log);
}

TEST_CASE("replica: what is lost comes with the next heartbeat") {
  Lab<> lab = with_leader();
  lab.propose(0, 7);
  lab.lose_all();
  CHECK(lab.node(0).commit() == 1);
  lab.time_out(0, Timer::heartbeat);
  lab.settle(kAll);
  CHECK(lab.node(0).commit() == 2);
  CHECK(lab.disk(1).log.size() == 2);
}

TEST_CASE("replica: an old message that comes again does no harm") {
  Lab<> lab = with_leader();
  lab.propose(0, 7);
  lab.deliver(MessageKind::append_entries, 0, 1, true);
  lab.propose(0, 8);
  lab.lose(0);
  const TestLog before = lab.disk(1).log;
  lab.settle(kAll);
  CHECK(before.size() == 2);
  CHECK(lab.disk(1).log.size() == 3);
  CHECK(lab.judge().committed().size() == 3);
}

TEST_CASE("replica: a leader gives up when no quorum has answered since it last asked itself") {
  Lab<> lab = with_leader();
  lab.time_out(0, Timer::quorum);
  CHECK(lab.node(0).believes_to_lead());
  lab.time_out(0, Timer::heartbeat);
  lab.deliver(MessageKind::append_entries, 0, 1);
  lab.deliver(MessageKind::appended, 1, 0);
  lab.time_out(0, Timer::quorum);
  CHECK(lab.node(0).believes_to_lead());
  const ReadId read = lab.read(0);
  lab.time_out(0, Timer::quorum);
  CHECK_FALSE(lab.node(0).believes_to_lead());
  CHECK(lab.node(0).term() == 1);
  CHECK_FALSE(lab.is_running(0, Timer::heartbeat));
  CHECK_FALSE(lab.is_running(0, Timer::quorum));
  CHECK(lab.is_running(0, Timer::election));
  CHECK(lab.answers() == std::vector<ReadAnswer>{{read, std::nullopt}});
}

TEST_CASE("replica: an old leader takes proposals, but answers no read") {
  Lab<> lab = with_leader();
  lab.lose_all();
  lab.elect(1, {2});
  lab.settle({1, 2});
  lab.propose(1, 7);
  lab.settle({1, 2});
  CHECK(lab.leaders() == 2);
  CHECK(lab.propose(0, 8) == Position{1, 2});
  lab.read(0);
  CHECK(lab.answers().empty());
  CHECK(lab.node(0).commit() == 1);
  lab.settle(kAll);
  CHECK(lab.leaders() == 1);
  REQUIRE(lab.answers().size() == 1);
  CHECK_FALSE(lab.answers()[0].index);
  CHECK(lab.disk(0).log == TestLog{{1, std::nullopt}, {2, std::nullopt}, {2, 7}});
}

TEST_CASE("replica: a read waits for an answer to what was sent after it, and for an entry of the leader's term") {
  Lab<> lab;
  lab.elect(0, {1});
  const ReadId early = lab.read(0);
  lab.settle(kAll);
  CHECK(lab.answers() == std::vector<ReadAnswer>{{early, 1}});
  lab.propose(0, 7);
  const ReadId late = lab.read(0);
  lab.deliver(MessageKind::append_entries, 0, 1);
  lab.deliver(MessageKind::appended, 1, 0);
  CHECK(lab.node(0).commit() == 2);
  CHECK(lab.answers().size() == 1);
  lab.deliver(MessageKind::append_entries, 0, 1);
  lab.deliver(MessageKind::appended, 1, 0);
  CHECK(lab.answers().back() == ReadAnswer{late, 1});
}

TEST_CASE("replica: after a restart it has its term, its vote and its log; what is committed if that is saved") {
  const bool saves = GENERATE(false, true);
  ReplicaSettings settings;
  settings.saves_commit = saves;
  Lab<> lab = with_leader(settings);
  lab.propose(0, 7);
  lab.settle(kAll);
  lab.restart(0);
  CHECK(lab.node(0).role() == Role::follower);
  CHECK(lab.node(0).term() == 1);
  CHECK(lab.node(0).durable().voted_for == NodeId{0});
  CHECK(lab.node(0).durable().log.size() == 2);
  CHECK(lab.node(0).commit() == (saves ? 2 : 0));
  CHECK(lab.judge().applied()[0] == (saves ? 2 : 0));
  lab.elect(1, {0});
  lab.settle(kAll);
  CHECK(lab.node(0).commit() == 3);
  CHECK_FALSE(lab.judge().breach());
}

TEST_CASE("replica: with pre-vote, a term begins only if a quorum hears no leader") {
  ReplicaSettings settings;
  settings.pre_vote = true;
  Lab<> lab(settings);
  lab.time_out(0, Timer::election);
  CHECK(lab.node(0).term() == 0);
  lab.settle(kAll);
  CHECK(lab.node(0).believes_to_lead());
  CHECK(lab.node(0).term() == 1);
  CHECK(lab.node(2).commit() == 1);
  // The others hear the leader.
  lab.time_out(1, Timer::election);
  lab.settle(kAll);
  CHECK(lab.node(1).role() == Role::candidate);
  CHECK(lab.node(1).is_asking_before_election());
  CHECK(lab.node(0).believes_to_lead());
  CHECK(lab.node(1).term() == 1);
  lab.time_out(0, Timer::heartbeat);
  lab.settle(kAll);
  CHECK(lab.node(1).role() == Role::follower);
  // Node 0 is silent: the first to ask hears no, the second yes.
  lab.time_out(1, Timer::election);
  lab.settle({1, 2});
  CHECK(lab.node(1).term() == 1);
  lab.time_out(2, Timer::election);
  lab.settle({1, 2});
  CHECK(lab.node(2).believes_to_lead());
  CHECK(lab.node(2).term() == 2);
  lab.settle(kAll);
  CHECK(lab.leaders() == 1);
  CHECK_FALSE(lab.judge().breach());
}

TEST_CASE("replica: a timer that it has stopped does nothing") {
  Lab<> lab = with_leader();
  lab.time_out(0, Timer::election);
  lab.time_out(1, Timer::heartbeat);
  lab.time_out(1, Timer::quorum);
  CHECK(lab.node(0).believes_to_lead());
  CHECK(lab.node(0).term() == 1);
  CHECK(lab.mail().empty());
}

// --- The judge, on outputs written by hand.

using TestJudge = Judge<Command>;

TEST_CASE("consensus judge: two leaders of a term") {
  TestJudge judge(3);
  judge.elected(0, 1, {});
  judge.elected(1, 2, {});
  CHECK_FALSE(judge.breach());
  judge.elected(2, 1, {});
  CHECK(judge.breach()->promise == Promise::election_safety);
}

TEST_CASE("consensus judge: a leader lacks what an earlier term has committed") {
  const TestLog log{{1, 7}};
  TestJudge judge(3);
  judge.committed(0, 2, 1, log[0]);
  judge.elected(1, 2, {});
  CHECK_FALSE(judge.breach());
  judge.elected(2, 3, log);
  CHECK_FALSE(judge.breach());
  judge.elected(1, 4, {{2, 7}});
  CHECK(judge.breach()->promise == Promise::leader_completeness);
}

TEST_CASE("consensus judge: what is applied differs, or is left out") {
  TestJudge differs(3);
  differs.committed(0, 1, 1, {1, 7});
  differs.committed(1, 1, 1, {1, 8});
  CHECK(differs.breach()->promise == Promise::state_machine_safety);
  TestJudge leaves_out(3);
  leaves_out.committed(0, 1, 1, {1, 7});
  leaves_out.committed(0, 1, 3, {1, 8});
  CHECK(leaves_out.breach()->promise == Promise::state_machine_safety);
  TestJudge restarted(3);
  restarted.committed(0, 1, 1, {1, 7});
  restarted.restarted(0);
  restarted.committed(0, 1, 1, {1, 7});
  CHECK_FALSE(restarted.breach());
}

TEST_CASE("consensus judge: logs, and how many have what is committed") {
  const TestLog longer{{1, 7}, {1, 8}, {2, 9}};
  const TestLog shorter{{1, 7}, {1, 8}};
  const TestLog conflicting{{1, 7}, {3, 1}};
  const TestLog wrong{{1, 6}, {1, 8}};
  CHECK(logs_match(longer, shorter));
  CHECK(logs_match(longer, conflicting));
  CHECK_FALSE(logs_match(longer, wrong));
  CHECK(logs_match(longer, TestLog{}));
  TestJudge judge(3);
  judge.committed(0, 1, 1, {1, 7});
  judge.committed(0, 1, 2, {1, 8});
  judge.disks(std::vector<const TestLog*>{&longer, &conflicting, &shorter});
  CHECK_FALSE(judge.breach());
  judge.disks(std::vector<const TestLog*>{&longer, &conflicting, &conflicting});
  CHECK(judge.breach()->promise == Promise::committed_is_kept);
}

TEST_CASE("consensus judge: a read that sees less than was committed when it began") {
  TestJudge judge(3);
  judge.read_began(1);
  judge.committed(0, 1, 1, {1, 7});
  judge.read_ended({1, 0});
  judge.read_began(2);
  judge.read_ended({2, std::nullopt});
  CHECK_FALSE(judge.breach());
  judge.read_began(3);
  judge.read_ended({3, 0});
  CHECK(judge.breach()->promise == Promise::reads_are_current);
}

}  // namespace
}  // namespace lockstep::models::consensus::replica_test
