#include "reports/run/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "models/servers/server_kind.hpp"
#include "reports/run/lane_state.hpp"
#include "reports/text/figures.hpp"
#include "reports/text/text.hpp"
#include "sim/worlds/fault_words.hpp"

namespace lockstep::reports {
namespace {

using scenarios::Lane;
using sim::Duration;
using sim::EventKind;
using sim::Instant;
using sim::Operation;
using sim::ProcessId;
using sim::Step;
using sim::TraceRecord;

/// "+switch-master mymaster redis1 6379 redis2 6379" of a push whose last two parts are the channel and the message;
/// else empty.
std::string announced_switch(std::string_view push) {
  constexpr std::string_view kChannel = "+switch-master";
  const std::size_t channel = push.find(fmt::format("\"{}\"", kChannel));
  const std::size_t close = push.rfind('"');
  if (channel == std::string_view::npos || close <= channel + kChannel.size() + 1) return "";
  const std::size_t open = push.rfind('"', close - 1);
  return fmt::format("{} {}", kChannel, push.substr(open + 1, close - open - 1));
}

/// What happens in one step comes in this order.
enum class Rank : std::uint8_t { message, completion, invocation, fault };

class Collector {
 public:
  explicit Collector(const Story& story) : story_(story), outcome_(story.outcome), states_(story) {
    for (std::size_t i = 0; i < records().size(); ++i) {
      const TraceRecord& r = records()[i];
      if (r.kind != EventKind::message) continue;
      // What a primary sends its replicas leaves before the answer does.
      if (r.is_reply && !is_between_servers(r)) replies_.emplace(std::pair(r.cause, r.from), i);
      if (!r.lost) message_in_.emplace(r.step, i);
    }
    for (const Operation& operation : outcome_.history.operations) {
      if (operation.function == "acquire" || operation.function == "reenter")
        attempts_[operation.process].push_back(&operation);
      if (operation.function == "acquire") acquires_[operation.process].push_back(&operation);
    }
  }

  std::vector<Event> collect() {
    for (const TraceRecord& r : records()) add_record(r);
    for (const Operation& operation : outcome_.history.operations) add_operation(operation);
    for (const sim::Interruption& interruption : outcome_.history.interruptions) add_interruption(interruption);
    for (const auto& hold : states_.holds()) {
      if (hold.end != checker::BeliefEnd::deadline || hold.is_empty()) continue;
      add_between(*hold.to, hold.process, "its lease is over by its own clock", Ink::plain);
    }
    for (const scenarios::FaultSpec& fault : story_.scenario.faults) add_partition(fault);

    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::tuple(a.event.at.offset(), a.event.step, a.rank, a.order) <
             std::tuple(b.event.at.offset(), b.event.step, b.rank, b.order);
    });
    std::vector<Event> events;
    for (Found& found : found_) {
      if (!belongs_to_the_story(found.event)) continue;
      const std::string command = printable(std::string_view(found.event.text).substr(0, found.event.command_size));
      found.event.text = command + printable(std::string_view(found.event.text).substr(found.event.command_size));
      found.event.command_size = command.size();
      events.push_back(std::move(found.event));
    }
    return events;
  }

 private:
  struct Found {
    Event event;
    Rank rank;
    std::size_t order;
  };

  const std::vector<TraceRecord>& records() const { return outcome_.trace.records; }

  Lane::Role role_of(ProcessId process) const {
    return process.index < outcome_.lanes.size() ? outcome_.lanes[process.index].role : Lane::Role::client;
  }
  std::string name(ProcessId process) const { return name_of(outcome_, process); }

  bool belongs_to_the_story(const Event& event) const {
    if (shows_probe(outcome_)) return true;
    const auto is_probe = [&](ProcessId p) { return p.is_valid() && role_of(p) == Lane::Role::probe; };
    return !is_probe(event.who) && !(event.arrow && (is_probe(event.arrow->from) || is_probe(event.arrow->to)));
  }

  Event& add(Rank rank, Instant at, Step step, ProcessId who, std::string text, Ink ink = Ink::plain) {
    Event event;
    event.at = at;
    event.step = step;
    event.is_fault = rank == Rank::fault;
    event.who = who;
    event.text = std::move(text);
    event.ink = ink;
    found_.push_back({std::move(event), rank, found_.size()});
    return found_.back().event;
  }

  /// At a time at which nothing is executed: after everything earlier, before whatever is executed at that time.
  Event& add_between(Instant at, ProcessId who, std::string text, Ink ink) {
    Step step = 0;
    for (const TraceRecord& r : records()) {
      if (!r.lost && r.at.offset() < at.offset()) step = std::max(step, r.step);
    }
    return add(Rank::fault, at, step, who, std::move(text), ink);
  }

  /// The longest that a message between these two may take by itself.
  Duration latency_max(ProcessId a, ProcessId b) const {
    const scenarios::Scenario& s = story_.scenario;
    for (const ProcessId p : {a, b}) {
      if (role_of(p) == Lane::Role::resource && s.resource && s.resource->latency) return s.resource->latency->hi;
      for (const scenarios::ServerSpec& server : s.servers) {
        if (server.name == name(p) && server.latency) return server.latency->hi;
      }
    }
    return s.network.latency.hi;
  }
  bool is_late(const TraceRecord& r) const { return r.at.offset() - r.sent.offset() > latency_max(r.from, r.process); }

  /// The failed attempt during which this process sent something in `step`; 0 if there is none.
  sim::OperationId failed_attempt(ProcessId process, Step step) const {
    const auto own = attempts_.find(process);
    if (own == attempts_.end()) return 0;
    // A process has one operation open at a time, so they are in order.
    const auto after = std::partition_point(own->second.begin(), own->second.end(),
                                            [&](const Operation* o) { return o->invoked_in <= step; });
    if (after == own->second.begin()) return 0;
    const Operation& last = **std::prev(after);
    if (last.phase == sim::Phase::fail && step < last.completed_in) return last.id;
    return 0;
  }

  void add_record(const TraceRecord& r) {
    switch (r.kind) {
      case EventKind::start:
        if (role_of(r.process) == Lane::Role::probe) {
          add(Rank::message, r.at, r.step, r.process, "comes when all is quiet, and wants the lock", Ink::plain);
        }
        return;
      case EventKind::timer:
        if (r.name == "timeout") add_timeout(r);
        return;
      case EventKind::fault:
        // What stops its victim is in the history, with its end.
        if (const auto kind = sim::kind_named(r.name);
            kind && entry_of(*kind).stops == sim::HowLong::never && !r.text.empty())
          add(Rank::fault, r.at, r.step, r.process, strikes(*kind, r.text.substr(r.text.rfind(' ') + 1)), Ink::warning);
        return;
      case EventKind::message:
        if (is_between_servers(r)) return add_replication(r);
        if (is_of_sentinel(r)) return add_word_of_sentinel(r);
        if (r.lost) return add_lost(r);
        return r.is_reply ? add_reply(r) : add_request(r);
    }
  }

  bool is_between_servers(const TraceRecord& r) const {
    return role_of(r.from) == Lane::Role::server && role_of(r.process) == Lane::Role::server;
  }

  /// What a replica learns, and that it asks; not how both keep the link up.
  /// What was on its way when the replica left its primary is lost with the connection.
  void add_replication(const TraceRecord& r) {
    if (r.name == "FULLRESYNC" || r.name == "CONTINUE") left_primary_.erase(r.process);
    if (r.name == "STREAM" && left_primary_.contains(r.process)) return;
    if (r.text.starts_with("PUBLISH __sentinel__:hello "))
      return;  // every sentinel says so every two seconds, for ever
    const bool is_told = r.name == "STREAM" || r.name == "PSYNC" || r.name == "FULLRESYNC" || r.name == "CONTINUE";
    if (!is_told || r.text == "connection reset" || r.text.starts_with("REPLCONF")) return;
    if (r.lost) return add_lost_request(r);
    const bool is_stream = r.name == "STREAM";
    Event& event = add(Rank::message, r.at, r.step, r.from,
                       is_stream ? fmt::format("{} learns of {}", name(r.process), r.text) : r.text, Ink::plain);
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::arrives};
    event.shape = fmt::format("{} {}", r.process.index, r.name);
  }

  void add_lost_request(const TraceRecord& r) {
    Event& event = add(Rank::message, r.sent, r.step, r.from, r.text + " is lost", Ink::warning);
    event.command_size = r.text.size();
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::lost};
    event.shape = "lost " + r.name;
  }

  bool is_of_sentinel(const TraceRecord& r) const {
    return role_of(r.from) == Lane::Role::sentinel || role_of(r.process) == Lane::Role::sentinel;
  }

  /// Of all that sentinels say and hear without end: whom they tell to follow whom, and what clients learn from them.
  void add_word_of_sentinel(const TraceRecord& r) {
    if (r.lost || r.text == "connection reset") return;
    constexpr std::string_view kOrder = "EXEC: REPLICAOF ";
    const bool is_order = r.text.starts_with(kOrder) && !r.is_reply;
    if (is_order) left_primary_.insert(r.process);
    const bool is_answer = r.name == "SENTINEL GET-MASTER-ADDR-BY-NAME" && r.is_reply;
    const std::string announced = r.name == "MESSAGE" ? announced_switch(r.text) : "";
    const bool is_announcement = !announced.empty();
    if (!is_order && !is_answer && !is_announcement) return;
    std::string text = r.text;
    if (is_order) text = r.text.substr(kOrder.find("REPLICAOF"), r.text.find(';') - kOrder.find("REPLICAOF"));
    if (is_answer) text = fmt::format("tells {} who is primary: {}", name(r.process), r.text);
    if (is_announcement) text = fmt::format("tells {}: {}", name(r.process), announced);
    Event& event = add(Rank::message, r.at, r.step, r.from, std::move(text), Ink::plain);
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::arrives};
    event.shape = "sentinel " + r.name;
  }

  /// A server answers a client that has waited long enough.
  void add_end_of_wait(const TraceRecord& r) {
    const auto answer = std::find_if(records().begin(), records().end(), [&](const TraceRecord& other) {
      return other.is_reply && other.cause == r.step && other.from == r.process;
    });
    if (answer == records().end()) return;
    Event& event = add(Rank::message, r.at, r.step, r.process,
                       fmt::format("lets {} wait no longer: {}", name(answer->process), answer->text), Ink::plain);
    event.attempt = failed_attempt(answer->process, r.step);
    event.shape = fmt::format("end of wait {}", answer->text);
  }

  void add_timeout(const TraceRecord& r) {
    if (role_of(r.process) == Lane::Role::server) return add_end_of_wait(r);
    std::string command;
    ProcessId server;
    for (const TraceRecord& sent : records()) {
      if (sent.kind != EventKind::message || sent.is_reply || sent.from != r.process || sent.cause != r.cause) continue;
      command = sent.name;
      server = sent.process;
    }
    Event& event = add(Rank::message, r.at, r.step, r.process,
                       command.empty() ? "waits no longer for an answer"
                                       : fmt::format("waits no longer for {}'s answer to {}", name(server), command),
                       Ink::warning);
    event.attempt = failed_attempt(r.process, r.cause);
    event.shape = "timeout " + command;
  }

  void add_lost(const TraceRecord& r) {
    const std::string what =
        r.is_reply ? fmt::format("the answer to {} is lost: {}", r.name, r.text) : r.text + " is lost";
    Event& event = add(Rank::message, r.sent, r.step, r.from, what, Ink::warning);
    event.command_size = r.is_reply ? 0 : r.text.size();
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::lost};
    const ProcessId client = r.is_reply ? r.process : r.from;
    event.attempt = failed_attempt(client, r.cause);
    event.shape = "lost " + r.name;
  }

  void add_request(const TraceRecord& r) {
    if (r.name == "REPLICAOF" || r.name == "SLAVEOF") left_primary_.insert(r.process);
    if (is_late(r)) {
      Event& left = add(Rank::invocation, r.sent, r.cause, r.from,
                        fmt::format("{} leaves, arrives only at {}", r.text, time_text(r.at)), Ink::warning);
      left.command_size = r.text.size();
      left.arrow = Arrow{r.from, r.process, Arrow::Fate::leaves};
      left.attempt = failed_attempt(r.from, r.cause);
      left.shape = "late " + r.name;
    }
    std::string text = r.text;
    const auto reply = replies_.find({r.step, r.process});
    const std::string answer = reply == replies_.end() ? "" : records()[reply->second].text;
    if (!answer.empty()) text += " → " + answer;
    const auto [remark, ink] = remark_on_key(r);
    if (!remark.empty()) text += ": " + remark;
    Event& event = add(Rank::message, r.at, r.step, r.from, text, ink);
    event.command_size = r.text.size();
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::arrives};
    event.attempt = failed_attempt(r.from, r.cause);
    event.shape = fmt::format("{} {} {} {}", r.process.index, r.name, answer, remark);
  }

  /// What a command did to the lock's key beyond its own words.
  std::pair<std::string, Ink> remark_on_key(const TraceRecord& r) const {
    bool expired = false;
    std::string remark;
    Ink ink = Ink::plain;
    std::optional<ProcessId> writer;
    std::string_view key;  ///< whose writer it is
    const auto& effects = outcome_.history.effects;
    auto effect =
        std::partition_point(effects.begin(), effects.end(), [&](const sim::Effect& e) { return e.step < r.step; });
    for (; effect != effects.end() && effect->step == r.step; ++effect) {
      if (effect->server != r.process || !states_.is_lock(effect->object)) continue;
      if (effect->object != key) {
        key = effect->object;
        writer = states_.key_writer_before(r.process, key, r.step);
      }
      if (effect->kind == sim::Effect::Kind::expire) {
        expired = true;
        writer.reset();
      }
      if (!writer || *writer == effect->by || states_.lets_several_in(effect->operation)) continue;
      if (effect->kind == sim::Effect::Kind::remove) {
        remark = fmt::format("removes {}'s key", name(*writer));
        ink = Ink::warning;
      }
      if (effect->kind == sim::Effect::Kind::write) {
        remark = fmt::format("overwrites {}'s key", name(*writer));
        ink = Ink::warning;
      }
    }
    if (remark.empty() && expired) remark = "the key had expired";
    return {remark, ink};
  }

  void add_reply(const TraceRecord& r) {
    if (r.text == "connection reset") {
      Event& event = add(Rank::message, r.at, r.step, r.process,
                         fmt::format("{} does not answer {}: connection reset", name(r.from), r.name), Ink::warning);
      event.arrow = Arrow{r.from, r.process, Arrow::Fate::arrives};
      event.attempt = failed_attempt(r.process, r.cause);
      event.shape = "reset";
      return;
    }
    // A reply that brings news has its row with the operation that it completes.
    if (!is_late(r) || completes_an_operation(r)) return;
    Event& event = add(Rank::message, r.at, r.step, r.process,
                       fmt::format("sees the answer to {} only now: {}", r.name, r.text), Ink::warning);
    event.arrow = Arrow{r.from, r.process, Arrow::Fate::arrives};
    event.attempt = failed_attempt(r.process, r.cause);
    event.shape = "late answer";
  }

  bool completes_an_operation(const TraceRecord& r) const {
    const auto& all = outcome_.history.operations;
    return std::any_of(all.begin(), all.end(), [&](const Operation& o) {
      return o.process == r.process && o.completed_in == r.step && o.phase != sim::Phase::invoke && has_news(o);
    });
  }

  /// Of whose finally block: it may end without an unlock.
  bool calls_in_the_end(ProcessId process) const {
    const std::string who = name(process);
    for (const scenarios::ClientSpec& client : story_.scenario.clients) {
      if (client.name == who) return !client.finally.empty();
      for (std::size_t i = 0; i < client.threads.size(); ++i) {
        if (fmt::format("{}/{}", client.name, i + 1) == who) return !client.threads[i].finally.empty();
      }
    }
    return false;
  }

  bool forgets_to_release(ProcessId process) const {
    const std::string who = name(process);
    for (const scenarios::ClientSpec& client : story_.scenario.clients) {
      if (client.name == who && client.threads.empty()) return !client.release;
      for (std::size_t i = 0; i < client.threads.size(); ++i) {
        if (fmt::format("{}/{}", client.name, i + 1) == who) return !client.threads[i].release;
      }
    }
    return false;
  }

  bool is_last_attempt(const Operation& operation) const {
    return acquires_.at(operation.process).back() == &operation;
  }

  /// Whether its end says more than the last command's answer did.
  bool has_news(const Operation& o) const {
    if (o.phase == sim::Phase::info) return true;
    if (o.function == "acquire") return o.phase == sim::Phase::ok || is_last_attempt(o);
    if (o.function == "release") return o.phase == sim::Phase::fail;
    return o.function == "lost";
  }

  std::string news_of(const Operation& o, Ink& ink) const {
    if (o.function == "lost") {
      if (calls_in_the_end(o.process)) return "leaves its finally block, and does not think of the lock again";
      return forgets_to_release(o.process) ? "goes on without giving the lock back" : "learns that it lost the lock";
    }
    const bool is_acquire = o.function == "acquire";
    ink = Ink::warning;
    if (o.phase == sim::Phase::info) {
      if (is_acquire) return "does not know whether it got the lock";
      return o.function == "release" ? "does not know whether it released the lock"
                                     : fmt::format("does not know what became of its {}", o.function);
    }
    if (!is_acquire) return o.of == 0 ? "was not the owner" : "was not the owner any more";
    if (o.phase == sim::Phase::fail) {
      return role_of(o.process) == Lane::Role::probe ? "never gets the lock" : "gives up: no lock";
    }
    ink = Ink::accent;
    std::string text = "has " + lock_of(o);
    if (const auto until = o.valid_until ? o.valid_until : o.lease_until) text += " until " + time_text(*until);
    std::vector<std::string> others;
    for (const ProcessId holder : states_.overlapping({o.completed, o.completed_in})) {
      if (holder != o.process) others.push_back(name(holder));
    }
    if (!others.empty()) {
      ink = Ink::bad;
      text += fmt::format(", and so {} {}", others.size() == 1 ? "has" : "have", joined(others, " and "));
    }
    return text;
  }

  /// Of several locks, which.
  std::string lock_of(const Operation& o) const {
    return scenarios::lock_keys(story_.scenario).size() == 1 ? "the lock" : o.object;
  }

  void add_operation(const Operation& o) {
    if (o.function == "release") add(Rank::invocation, o.invoked, o.invoked_in, o.process, "releases " + lock_of(o));
    if (o.phase == sim::Phase::invoke || !has_news(o)) return;
    Ink ink = Ink::plain;
    std::string text = news_of(o, ink);
    const auto message = message_in_.find(o.completed_in);
    const bool by_reply = message != message_in_.end() && records()[message->second].process == o.process;
    if (by_reply) {
      const TraceRecord& r = records()[message->second];
      if (is_late(r)) text = fmt::format("sees the answer to {} only now: {}", r.name, text);
    }
    Event& event = add(Rank::completion, o.completed, o.completed_in, o.process, text, ink);
    if (by_reply) event.arrow = Arrow{records()[message->second].from, o.process, Arrow::Fate::arrives};
  }

  std::string what_survives(const std::string& server) const {
    if (keeps_keys(story_.scenario, server)) return ", its keys survive";
    for (const scenarios::ServerSpec& spec : story_.scenario.servers) {
      if (spec.name == server && spec.kind->has_disk(spec.settings)) return ", what is on its disk survives";
    }
    return " and forgets its keys";
  }

  static std::string strikes(sim::FaultKind kind, const std::string& length, const std::string& data = "") {
    return fmt::format(fmt::runtime(sim::words_of(kind).strikes), fmt::arg("length", length), fmt::arg("data", data));
  }

  void add_interruption(const sim::Interruption& i) {
    const std::string over(sim::words_of(i.kind).over);
    if (kills(i.kind)) {
      const bool has_data = role_of(i.process) == Lane::Role::server;
      add(Rank::fault, i.from, i.step, i.process, strikes(i.kind, "", has_data ? what_survives(name(i.process)) : ""),
          Ink::bad);
      if (i.until) add_between(*i.until, i.process, over, Ink::plain);
      return;
    }
    if (outcome_.history.ends_in_crash(i)) {
      add(Rank::fault, i.from, i.step, i.process, "is paused until it crashes", Ink::warning);
      return;
    }
    add(Rank::fault, i.from, i.step, i.process,
        strikes(i.kind, i.until ? sim::to_string(rounded_for_reading(i.until->offset() - i.from.offset())) : "ever"),
        Ink::warning);
    if (!i.until) return;
    const Moment end{*i.until, sim::no_step};
    if (states_.is_dead(i.process, end) || states_.is_paused(i.process, end)) return;
    add_between(*i.until, i.process, over, Ink::plain);
  }

  void add_partition(const scenarios::FaultSpec& fault) {
    if (!cuts_off(fault.kind) || fault.between.size() < 2) return;
    const std::string sides = joined(fault.between[0]) + " from " + joined(fault.between[1]);
    const Instant from = Instant::at(fault.trigger.time);
    add_between(from, {}, "the network cuts off " + sides, Ink::warning);
    add_between(from + fault.length.lo, {},
                "the network joins " + joined(fault.between[0]) + " and " + joined(fault.between[1]), Ink::plain);
  }

  const Story& story_;
  const scenarios::Outcome& outcome_;
  LaneStates states_;
  std::map<std::pair<Step, ProcessId>, std::size_t> replies_;  ///< by the step that emitted it, and by whom
  std::map<Step, std::size_t> message_in_;
  std::set<ProcessId> left_primary_;  ///< servers that have been told whom to follow, and have not heard from it yet
  std::map<ProcessId, std::vector<const Operation*>> acquires_;
  std::map<ProcessId, std::vector<const Operation*>> attempts_;  ///< to take it for the first time, or again
  std::vector<Found> found_;
};

}  // namespace

bool shows_probe(const scenarios::Outcome& outcome) {
  return std::any_of(outcome.properties.begin(), outcome.properties.end(), [](const scenarios::Judgement& j) {
    return j.finding.property == "recoverable" && j.finding.verdict == checker::Verdict::violated;
  });
}

std::vector<Event> events_of(const Story& story) { return Collector(story).collect(); }

}  // namespace lockstep::reports
