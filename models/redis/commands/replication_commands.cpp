// Commands on replication: REPLICAOF, ROLE, WAIT, and the replication section of INFO.

#include <algorithm>
#include <string>

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// Whole seconds between two readings of the server's clock; an exploration has none to show.
std::int64_t seconds_since(sim::Instant moment, const sim::Clock& clock) {
  const sim::Instant now = clock.now();
  if (now.anchor() != moment.anchor()) return 0;
  return std::max<std::int64_t>(0, (now.offset() - moment.offset()).floor_ms() / 1000);
}

void append_line(std::string& out, std::string_view name, const std::string& value) {
  out += std::string(name) + ":" + value + "\r\n";
}
void append_line(std::string& out, std::string_view name, std::int64_t value) {
  append_line(out, name, std::to_string(value));
}

std::string name_of(Replication::Failover state) {
  switch (state) {
    case Replication::Failover::none: return "no-failover";
    case Replication::Failover::waits_for_sync: return "waiting-for-sync";
    case Replication::Failover::in_progress: return "failover-in-progress";
  }
  return "?";
}

void append_link_info(std::string& out, const Call& call, const Replication& replication) {
  const bool is_up = replication.link() == LinkState::connected;
  append_line(out, "master_host", replication.primary()->host);
  append_line(out, "master_port", replication.primary()->port);
  append_line(out, "master_link_status", is_up ? "up" : "down");
  append_line(out, "master_last_io_seconds_ago",
              is_up ? seconds_since(replication.heard_of_primary(), call.clock) : -1);
  append_line(out, "master_sync_in_progress", replication.link() == LinkState::sync ? 1 : 0);
  append_line(out, "slave_read_repl_offset", replication.offset());
  append_line(out, "slave_repl_offset", replication.offset());
  if (!is_up) append_line(out, "master_link_down_since_seconds", seconds_since(replication.down_since(), call.clock));
  append_line(out, "slave_priority", call.database.configuration().find("replica-priority")->value);
  append_line(out, "slave_read_only", 1);
  append_line(out, "replica_announced", 1);
}

}  // namespace

void append_replication_info(std::string& out, Call& call) {
  const Replication& replication = call.database.replication();
  append_line(out, "role", replication.is_replica() ? "slave" : "master");
  if (replication.is_replica()) append_link_info(out, call, replication);
  append_line(out, "connected_slaves", static_cast<std::int64_t>(replication.replicas().size()));
  const std::int64_t wanted = call.database.configuration().min_replicas_to_write();
  if (wanted > 0) {
    append_line(out, "min_slaves_good_slaves",
                replication.good_replicas(call.clock, call.database.configuration().min_replicas_max_lag()));
  }
  std::int64_t number = 0;
  for (const Replica& replica : replication.replicas()) {
    const bool is_online = replica.state == Replica::State::online;
    append_line(
        out, "slave" + std::to_string(number++),
        "ip=" + replica.address.host + ",port=" + std::to_string(replica.address.port) +
            ",state=" + (is_online ? "online" : "wait_bgsave") + ",offset=" + std::to_string(replica.acknowledged) +
            ",lag=" + std::to_string(replication.has_periodic_acks() ? seconds_since(replica.heard, call.clock) : 0));
  }
  append_line(out, "master_failover_state", name_of(replication.failover()));
  append_line(out, "master_replid", replication.id());
  append_line(out, "master_replid2", replication.second_id());
  append_line(out, "master_repl_offset", replication.offset());
  append_line(out, "second_repl_offset", replication.second_offset());
  append_line(out, "repl_backlog_active", replication.is_recording() ? 1 : 0);
  append_line(out, "repl_backlog_size", replication.backlog_size());
  append_line(out, "repl_backlog_first_byte_offset", replication.is_recording() ? replication.backlog_begin() + 1 : 0);
  append_line(out, "repl_backlog_histlen",
              replication.is_recording() ? replication.offset() - replication.backlog_begin() : 0);
}

Reply role_command(Call& call) {
  call.database.touches_more_than_keys();
  const Replication& replication = call.database.replication();
  if (replication.is_replica()) {
    return Reply::array({Reply::bulk("slave"), Reply::bulk(replication.primary()->host),
                         Reply::integer(replication.primary()->port), Reply::bulk(to_string(replication.link())),
                         Reply::integer(replication.link() == LinkState::connected ? replication.offset() : -1)});
  }
  std::vector<Reply> replicas;
  for (const Replica& replica : replication.replicas()) {
    if (replica.state != Replica::State::online) continue;
    replicas.push_back(
        Reply::array({Reply::bulk(replica.address.host), Reply::bulk(std::to_string(replica.address.port)),
                      Reply::bulk(std::to_string(replica.acknowledged))}));
  }
  return Reply::array({Reply::bulk("master"), Reply::integer(replication.offset()), Reply::array(std::move(replicas))});
}

/// Until as many replicas have acknowledged what this connection has done so far.
Reply wait_command(Call& call) {
  Replication& replication = call.database.replication();
  if (replication.is_replica()) {
    return Reply::error(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
        "configured "
        "to be writable (which is not the default) writes to replicas are just local and are not propagated.");
  }
  const std::optional<std::int64_t> replicas = call.arguments[1].integer();
  if (!replicas) return not_an_integer();
  const std::optional<std::int64_t> timeout = call.arguments[2].integer();
  if (!timeout) return Reply::error("ERR timeout is not an integer or out of range");
  if (*timeout < 0) return Reply::error("ERR timeout is negative");
  call.database.touches_more_than_keys();
  const std::int64_t acknowledged = replication.acknowledged_by(call.session.write_offset);
  if (acknowledged >= *replicas || !call.may_block) return Reply::integer(acknowledged);
  Waiting waiting{.kind = Waiting::Kind::replicas, .replicas = *replicas, .offset = call.session.write_offset};
  constexpr std::int64_t kForever = 10LL * 365 * 86'400 * 1000;
  if (*timeout > 0) waiting.timeout = sim::Duration::milliseconds(std::min(*timeout, kForever));
  call.database.block(call.session, std::move(waiting));
  call.database.intend(Database::Intent::ask_acks);
  return Reply::integer(acknowledged);
}

Reply replicaof_command(Call& call) {
  call.database.touches_more_than_keys();
  Replication& replication = call.database.replication();
  if (replication.failover() != Replication::Failover::none) {
    return Reply::error("ERR REPLICAOF not allowed while failing over.");
  }
  if (call.arguments[1].is_word("NO") && call.arguments[2].is_word("ONE")) {
    if (!replication.is_replica()) return Reply::ok();
    replication.lead();
    call.database.intend(Database::Intent::lead);
    return Reply::ok();
  }
  constexpr std::int64_t kPortMax = 65'535;
  const std::optional<std::int64_t> port = call.arguments[2].integer();
  if (!port || *port < 0 || *port > kPortMax) return Reply::error("ERR Invalid master port");
  Address primary{call.arguments[1].text(), *port};
  if (replication.primary() == primary) return Reply::status("OK Already connected to specified master");
  replication.follow(std::move(primary));
  call.database.intend(Database::Intent::follow);
  return Reply::ok();
}

/// FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]
Reply failover_command(Call& call) {
  using State = Replication::Failover;
  call.database.touches_more_than_keys();
  const Replication& replication = call.database.replication();
  Database::FailoverRequest request;
  bool aborts = false;
  for (std::size_t i = 1; i < call.size(); ++i) {
    const std::size_t left = call.size() - 1 - i;
    if (call.arguments[i].is_word("TIMEOUT") && left >= 1 && !request.timeout) {
      const std::optional<std::int64_t> milliseconds = call.arguments[++i].integer();
      if (!milliseconds) return not_an_integer();
      if (*milliseconds <= 0) return Reply::error("ERR FAILOVER timeout must be greater than 0");
      constexpr std::int64_t kForever = 10LL * 365 * 86'400 * 1000;
      request.timeout = sim::Duration::milliseconds(std::min(*milliseconds, kForever));
    } else if (call.arguments[i].is_word("ABORT") && call.size() == 2) {
      aborts = true;
    } else if (call.arguments[i].is_word("TO") && left >= 2 && !request.to) {
      const std::optional<std::int64_t> port = call.arguments[i + 2].integer();
      if (!port) return not_an_integer();
      request.to = Address{call.arguments[i + 1].text(), *port};
      i += 2;
    } else if (call.arguments[i].is_word("FORCE") && request.to && !request.force) {
      request.force = true;
    } else {
      return syntax_error();
    }
  }
  if (aborts) {
    if (replication.failover() == State::none) return Reply::error("ERR No failover in progress.");
    call.database.intend(Database::Intent::abort_failover);
    return Reply::ok();
  }
  if (replication.failover() != State::none) return Reply::error("ERR FAILOVER already in progress.");
  if (replication.is_replica()) return Reply::error("ERR FAILOVER is not valid when server is a replica.");
  if (replication.replicas().empty()) return Reply::error("ERR FAILOVER requires connected replicas.");
  if (request.force && !request.timeout) {
    return Reply::error("ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  }
  const auto& replicas = replication.replicas();
  const bool is_known = !request.to || std::any_of(replicas.begin(), replicas.end(), [&](const Replica& replica) {
    return replica.address == *request.to;
  });
  if (!is_known) return Reply::error("ERR FAILOVER target HOST and PORT is not a replica.");
  call.database.request_failover(std::move(request));
  call.database.intend(Database::Intent::fail_over);
  return Reply::ok();
}

Reply save_command(Call& call) {
  call.database.touches_more_than_keys();
  call.database.intend(Database::Intent::save);
  return Reply::ok();
}

Reply bgsave_command(Call& call) {
  if (call.size() > 2 || (call.size() == 2 && !call.arguments[1].is_word("SCHEDULE"))) return syntax_error();
  call.database.touches_more_than_keys();
  call.database.intend(Database::Intent::save);
  return Reply::status("Background saving started");
}

}  // namespace lockstep::models::redis
