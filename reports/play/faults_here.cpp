#include "reports/play/faults_here.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "scenarios/story/step_name.hpp"

namespace lockstep::reports::play {
namespace {

using picture::Diagram;
using picture::DiagramMessage;
using picture::DiagramRow;
using scenarios::FaultSpec;
using scenarios::Lane;
using scenarios::Outcome;
using scenarios::Trigger;
using sim::ProcessId;
using sim::TraceRecord;

const Lane* lane_of(const Outcome& outcome, ProcessId process) {
  return process.is_valid() && process.index < outcome.lanes.size() ? &outcome.lanes[process.index] : nullptr;
}

/// The process of the file that can be stopped: of a thread its client. Null: nobody's, or not of the file.
const Lane* struck_lane(const Outcome& outcome, ProcessId process) {
  const Lane* lane = lane_of(outcome, process);
  if (lane != nullptr && lane->host.is_valid()) lane = lane_of(outcome, lane->host);
  if (lane == nullptr || lane->role == Lane::Role::probe || lane->role == Lane::Role::resource) return nullptr;
  return lane;
}

/// The request or answer that a row is about, and its client and server.
struct Conversation {
  const DiagramMessage* message = nullptr;
  const Lane* client = nullptr;
  const Lane* server = nullptr;  ///< null: the resource
  ProcessId client_id;
};

std::optional<Conversation> conversation_of(const Story& story, const Diagram& diagram, const DiagramRow& row) {
  if (!row.arrow) return std::nullopt;
  const DiagramMessage& message = diagram.messages[*row.arrow];
  Conversation found{.message = &message, .client_id = message.is_reply ? message.to : message.from};
  found.client = struck_lane(story.outcome, found.client_id);
  found.server = struck_lane(story.outcome, message.is_reply ? message.from : message.to);
  if (found.client == nullptr || found.client->role != Lane::Role::client) return std::nullopt;
  return found;
}

/// Its ordinal among the client's messages of this name and direction, from 1: requests as they were sent,
/// answers as they were handled.
std::int64_t occurrence_of(const Outcome& outcome, const DiagramMessage& message, ProcessId client, bool as_sent) {
  std::int64_t count = 1;
  for (const TraceRecord& r : outcome.trace.records) {
    if (r.kind != sim::EventKind::message || r.name != message.name || r.is_reply != message.is_reply) continue;
    if ((r.is_reply ? r.process : r.from) != client) continue;
    const bool is_earlier =
        as_sent ? r.sent.offset() < message.sent.at.offset() : !r.lost && r.at.offset() < message.handled.at.offset();
    count += is_earlier ? 1 : 0;
  }
  return count;
}

struct Moment {
  std::string_view id, en, zh;
  Trigger trigger;
};

void add_stops(std::vector<FaultHere>& out, const std::string& who, const Moment& moment, sim::Duration length) {
  FaultSpec fault;
  fault.who = who;
  fault.trigger = moment.trigger;
  fault.length = sim::DurationRange::exactly(length);
  out.push_back({fmt::format("pause-{}", moment.id),
                 {fmt::format("pause {} {}", who, moment.en), fmt::format("{}，{} 停顿", moment.zh, who)},
                 fault});
  fault.kind = FaultSpec::Kind::crash;
  fault.length = {};
  out.push_back({fmt::format("crash-{}", moment.id),
                 {fmt::format("crash {} {}", who, moment.en), fmt::format("{}，{} 崩溃", moment.zh, who)},
                 fault});
}

void add_loss(std::vector<FaultHere>& out, const Conversation& talk, const std::string& step, std::int64_t occurrence,
              FaultSpec::Direction direction) {
  FaultSpec fault;
  fault.kind = FaultSpec::Kind::lose;
  fault.who = talk.client->name;
  fault.direction = direction;
  fault.trigger = {.kind = Trigger::Kind::sent, .time = {}, .step = step, .occurrence = occurrence};
  const bool is_reply = direction == FaultSpec::Direction::reply;
  out.push_back(
      {is_reply ? "lose-reply" : "lose-request",
       is_reply ? scenarios::Text{"lose the answer", "丢失应答"} : scenarios::Text{"lose this message", "丢失这条消息"},
       fault});
}

Trigger at_step(Trigger::Kind kind, std::string step, std::int64_t occurrence) {
  return {.kind = kind, .time = {}, .step = std::move(step), .occurrence = occurrence};
}

void add_of_message(std::vector<FaultHere>& out, const Story& story, const Conversation& talk, sim::Duration length) {
  const DiagramMessage& message = *talk.message;
  const std::string step = scenarios::step_in_file(message.name);
  const std::int64_t sent = occurrence_of(story.outcome, message, talk.client_id, true);
  if (message.is_reply) {
    const std::int64_t handled = occurrence_of(story.outcome, message, talk.client_id, false);
    if (!message.is_lost)
      add_stops(out, talk.client->name,
                {"after", "when it has this answer", "收到这个应答之后", at_step(Trigger::Kind::after, step, handled)},
                length);
    if (!message.is_lost) add_loss(out, talk, step, sent, FaultSpec::Direction::reply);
    return;
  }
  add_stops(out, talk.client->name,
            {"before", "before it sends this", "发送之前", at_step(Trigger::Kind::before, step, sent)}, length);
  add_stops(out, talk.client->name,
            {"sent", "when it has sent this", "发送之后", at_step(Trigger::Kind::sent, step, sent)}, length);
  if (message.is_lost) return;
  add_loss(out, talk, step, sent, FaultSpec::Direction::request);
  add_loss(out, talk, step, sent, FaultSpec::Direction::reply);
  if (talk.server != nullptr && talk.server->role == Lane::Role::server) {
    // As the server counts: requests that have arrived there.
    std::int64_t arrived = 1;
    for (const TraceRecord& r : story.outcome.trace.records) {
      const bool is_alike = r.kind == sim::EventKind::message && !r.is_reply && !r.lost && r.name == message.name &&
                            r.from == talk.client_id && r.process == message.to;
      arrived += is_alike && r.at.offset() < message.handled.at.offset() ? 1 : 0;
    }
    add_stops(out, talk.server->name,
              {"carried-out", "when it has carried this out", "执行之后",
               at_step(Trigger::Kind::after, talk.client->name + "." + step, arrived)},
              length);
  }
}

/// The moment that a fault is meant to strike at, in true time.
sim::Duration moment_of(const FaultHere& here, const Diagram& diagram, const DiagramRow& row) {
  const FaultSpec& fault = here.fault;
  if (fault.trigger.kind == Trigger::Kind::at) return fault.trigger.time;
  const DiagramMessage& message = diagram.messages[*row.arrow];
  const bool is_when_sent = fault.trigger.kind != Trigger::Kind::after;
  return is_when_sent ? message.sent.at.offset() : message.handled.at.offset();
}

/// Whether the run shows the fault at that moment.
bool strikes(const Outcome& outcome, const FaultSpec& fault, sim::Duration moment, const DiagramMessage* message) {
  if (loses_message(fault.kind)) {
    const bool is_reply = fault.direction == FaultSpec::Direction::reply;
    return std::any_of(outcome.trace.records.begin(), outcome.trace.records.end(), [&](const TraceRecord& r) {
      if (!r.lost || r.is_reply != is_reply || r.name != message->name) return false;
      const bool is_this = message->is_reply == is_reply;
      // The answer to a request leaves when that has been handled.
      const sim::Duration left = is_this ? message->sent.at.offset() : message->handled.at.offset();
      const bool same_way = is_this ? r.from == message->from && r.process == message->to
                                    : r.from == message->to && r.process == message->from;
      return same_way && r.sent.offset() == left;
    });
  }
  const auto& all = outcome.history.interruptions;
  return std::any_of(all.begin(), all.end(), [&](const sim::Interruption& interruption) {
    const Lane* lane = lane_of(outcome, interruption.process);
    return interruption.kind == fault.kind && lane != nullptr && lane->name == fault.who &&
           interruption.from.offset() == moment;
  });
}

}  // namespace

std::vector<FaultHere> faults_here(const Story& story, const Diagram& diagram, std::size_t row, sim::Duration length) {
  std::vector<FaultHere> out;
  if (row >= diagram.rows.size()) return out;
  const DiagramRow& here = diagram.rows[row];
  if (const auto talk = conversation_of(story, diagram, here)) {
    add_of_message(out, story, *talk, length);
    return out;
  }
  const Lane* lane = struck_lane(story.outcome, here.event.who);
  if (lane == nullptr) return out;
  add_stops(out, lane->name,
            {"here", "at this moment", "此刻", {.kind = Trigger::Kind::at, .time = here.event.at.offset()}}, length);
  return out;
}

FaultSpec made_sure(const Diagram& diagram, std::size_t row, const FaultHere& here, const RunWith& run) {
  const DiagramRow& at = diagram.rows[row];
  if (here.fault.trigger.kind == Trigger::Kind::at) return here.fault;
  const sim::Duration moment = moment_of(here, diagram, at);
  const DiagramMessage& message = diagram.messages[*at.arrow];
  // Messages of one name may leave at once, to as many servers: their order is not known here.
  for (const std::int64_t away : {0, -1, 1, -2, 2, -3, 3, 4, 5, 6}) {
    FaultSpec fault = here.fault;
    fault.trigger.occurrence += away;
    if (fault.trigger.occurrence < 1) continue;
    const auto outcome = run(fault);
    if (outcome && strikes(*outcome, fault, moment, &message)) return fault;
  }
  FaultSpec fault = here.fault;
  if (!loses_message(fault.kind))
    fault.trigger = {.kind = Trigger::Kind::at, .time = moment, .step = "", .occurrence = 1};
  return fault;
}

}  // namespace lockstep::reports::play
