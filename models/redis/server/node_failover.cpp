// FAILOVER: a primary that hands over to a replica which has everything.

#include <algorithm>

#include "models/redis/server/node.hpp"

namespace lockstep::models::redis {

using State = Replication::Failover;

/// Writes wait; who has acknowledged all that was written before is the successor.
void Node::begin_failover() {
  Replication& replication = database_.replication();
  replication.set_failover(State::waits_for_sync);
  database_.hold_writes(clock());
  failover_offset_ = replication.offset();
  if (const auto timeout = database_.failover_request().timeout) {
    failover_end_.timer = world().set_timer(id(), sim::DurationRange::exactly(clock().true_length(*timeout)),
                                            sim::TimerKind::deadline, failover_end_);
  }
  send_part(replication.append_ack_request());
}

void Node::look_for_synced_replica() {
  const Replication& replication = database_.replication();
  if (replication.failover() != State::waits_for_sync) return;
  const std::optional<Address>& wanted = database_.failover_request().to;
  const auto& replicas = replication.replicas();
  const auto synced = std::find_if(replicas.begin(), replicas.end(), [&](const Replica& replica) {
    return replica.state == Replica::State::online && replica.acknowledged >= failover_offset_ &&
           (!wanted || replica.address == *wanted);
  });
  if (synced != replicas.end()) hand_over(Address(synced->address));
}

/// It becomes a replica of its successor, and in the same message asks it to lead.
void Node::hand_over(const Address& successor) {
  Replication& replication = database_.replication();
  world().cancel_timer(failover_end_.timer);
  failover_end_.timer = {};
  replication.set_failover(State::in_progress);
  replication.follow(successor);
  database_.unblock_all();
  send_deliveries();
  connect_to_primary();
}

/// Writes that have waited find a replica.
void Node::end_failover() {
  database_.replication().set_failover(State::none);
  world().cancel_timer(failover_end_.timer);
  failover_end_.timer = {};
  database_.resume();
  if (!held_.empty()) release_held();
}

/// It stays what it was.
void Node::abort_failover() {
  Replication& replication = database_.replication();
  if (replication.failover() == State::in_progress) {
    replication.set_failover(State::none);
    leave_primary();
    replication.lead();
    close_replicas();
    if (has_refused_) say_reachable();
  }
  end_failover();
}

void Node::failover_timed_out() {
  world().access_all();
  failover_end_.timer = {};
  const Database::FailoverRequest& request = database_.failover_request();
  if (request.force && request.to) {
    hand_over(*request.to);
  } else {
    abort_failover();
  }
}

}  // namespace lockstep::models::redis
