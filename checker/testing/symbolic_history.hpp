#pragma once

// Histories with symbolic instants, made at random, and what they are at concrete times: for the tests of violations.hpp.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "checker/explorer/explored.hpp"
#include "checker/time/difference_constraints.hpp"
#include "sim/schedules/random.hpp"
#include "sim/worlds/history.hpp"

namespace lockstep::checker {

/// The history with each anchor at its time. Effects come in the order of their times; at one moment, as they were. The
/// pauses among `faults` become interruptions; one within work begins `earlier[i]` before its latest beginning.
inline sim::History at_times(const sim::History& symbolic, std::span<const ExploredFault> faults,
                             std::span<const std::int64_t> times, std::span<const std::int64_t> earlier = {}) {
  const auto set = [&](sim::Instant& instant) {
    instant = sim::Instant::at(sim::Duration::nanoseconds(times[instant.anchor()]) + instant.offset());
  };
  sim::History history = symbolic;
  for (sim::Operation& operation : history.operations) {
    set(operation.invoked);
    if (operation.phase != sim::Phase::invoke) set(operation.completed);
    if (operation.valid_until) set(*operation.valid_until);
    if (operation.lease_until) set(*operation.lease_until);
  }
  for (sim::Effect& effect : history.effects) {
    set(effect.at);
    if (effect.lives_until) set(*effect.lives_until);
  }
  for (auto it = history.effects.begin(); it != history.effects.end(); ++it) {
    const auto place =
        std::upper_bound(history.effects.begin(), it, *it,
                         [](const sim::Effect& a, const sim::Effect& b) { return a.at.offset() < b.at.offset(); });
    std::rotate(place, it, it + 1);
  }
  for (sim::Interruption& interruption : history.interruptions) {
    set(interruption.from);
    if (interruption.until) set(*interruption.until);
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!freezes(faults[i].kind)) continue;
    sim::Interruption& pause = history.interruptions.emplace_back();
    pause.process = faults[i].process;
    pause.from = faults[i].from;
    pause.until = faults[i].until;
    set(pause.from);
    set(*pause.until);
    if (i < earlier.size()) {
      pause.from = pause.from - sim::Duration::nanoseconds(earlier[i]);
      pause.until = *pause.until - sim::Duration::nanoseconds(earlier[i]);
    }
  }
  return history;
}

/// Clients that acquire, release, lose, crash and are paused, a lock on one or two servers, and a resource; each moment is
/// a variable. Times are a few nanoseconds, so that moments meet.
class SymbolicHistory {
 public:
  static constexpr sim::ProcessId resource_server{5};
  /// The servers of the lock are between the third client and this one.
  static sim::ProcessId client(std::size_t number) {
    return {static_cast<std::uint16_t>(number < 3 ? number : number + 3)};
  }

  /// What happens at all, so that each part can be tested for itself.
  struct Kind {
    bool has_deadlines = true;
    bool has_unknown_acquires = true;
    std::uint64_t zero_length_one_in = 8;  ///< of the delays
    std::uint64_t locks = 1;               ///< more: who holds one may ask for another
    bool has_members = false;              ///< the servers' objects have parts, with names or without
    bool has_nested = false;               ///< holds are shared, entered again, and renewed, also when they are over
    bool takes_several = false;            ///< who has a lock takes it once more, and releases what it may not have
    std::uint16_t more_clients = 0;        ///< than the two or three, each with two more actions
  };

  SymbolicHistory(std::uint64_t seed, Kind kind) : random_(seed), kind_(kind) {
    const auto clients = static_cast<std::uint16_t>(2 + random_.below(2) + kind.more_clients);
    clients_.resize(clients);
    for (Client& client : clients_) client.last = advance(0);
    servers_.assign(6, 0);
    const std::uint64_t actions = 3 + random_.below(7) + 2 * std::uint64_t{kind.more_clients};
    for (std::uint64_t i = 0; i < actions; ++i) act(static_cast<std::uint16_t>(random_.below(clients)));
  }

  const sim::History& history() const { return history_; }
  const std::vector<ExploredFault>& faults() const { return faults_; }
  DifferenceConstraints& constraints() { return constraints_; }
  /// How much earlier than at its `from` each pause may have begun at most, at these times. (Of those of one work, none earlier than the one before it.)
  std::vector<std::int64_t> slack(std::span<const std::int64_t> times) const {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < faults_.size(); ++i) {
      result.push_back(faults_[i].is_further ? result.back()
                                             : times[faults_[i].from.anchor()] - times[work_begins_[i]]);
    }
    return result;
  }
  sim::Random& random() { return random_; }

 private:
  struct Client {
    Variable last = 0;
    sim::OperationId hold = 0;
    std::vector<sim::OperationId> outer;  ///< holds that it had before
    sim::OperationId latest = 0;          ///< the last hold, also if it is over
  };

  sim::Instant instant(Variable v) const { return {v, sim::Duration::zero()}; }
  Variable advance(Variable from) {
    const std::int64_t lo = random_.one_in(kind_.zero_length_one_in) ? 0 : random_.between(1, 4);
    const std::int64_t hi = random_.one_in(4) ? lo : lo + random_.between(0, 8);
    return constraints_.add_variable(from, {sim::Duration::nanoseconds(lo), sim::Duration::nanoseconds(hi)});
  }

  void act(std::uint16_t who) {
    Client& client = clients_[who];
    const sim::ProcessId process = SymbolicHistory::client(who);
    if (random_.one_in(6) && faults_.size() < 3) pause(client, process);
    if (kind_.has_nested && client.latest != 0 && random_.one_in(3)) {
      nested(client, process);
      return;
    }
    if (client.hold == 0) {
      acquire(client, process);
      return;
    }
    if ((kind_.locks > 1 || kind_.takes_several) && random_.one_in(2)) {
      client.outer.push_back(client.hold);
      client.hold = 0;
      acquire(client, process);
      return;
    }
    switch (random_.below(8)) {
      case 0:
      case 1: use(client, process); return;
      case 2:
        if (random_.one_in(2)) operation(client, process, "lost", sim::Phase::ok, client.hold);
        if (random_.one_in(3)) client.hold = 0;
        return;
      case 3: crash(client, process); return;
      default: release(client, process); return;
    }
  }

  void pause(Client& client, sim::ProcessId process) {
    ExploredFault fault;
    fault.process = process;
    fault.event = step_;
    const Variable work_begin = client.last;
    fault.work_from = instant(work_begin);
    const bool is_within = random_.one_in(2);
    fault.place = is_within ? ExploredFault::Place::within : ExploredFault::Place::after;
    if (is_within) client.last = advance(client.last);
    // Several pauses of one work follow each other.
    do {
      work_begins_.push_back(is_within ? work_begin : client.last);
      fault.from = instant(client.last);
      client.last = constraints_.add_variable(client.last, {sim::Duration::nanoseconds(random_.between(0, 3)),
                                                            sim::Duration::nanoseconds(random_.between(4, 30))});
      fault.until = instant(client.last);
      faults_.push_back(fault);
      fault.is_further = true;
    } while (is_within && faults_.size() < 3 && random_.one_in(3));
    ++step_;
  }

  sim::OperationId operation(Client& client, sim::ProcessId process, std::string_view function, sim::Phase phase,
                             sim::OperationId of, std::string_view object = "lock") {
    sim::Operation o;
    o.id = static_cast<sim::OperationId>(history_.operations.size() + 1);
    o.process = process;
    o.function = function;
    o.object = object;
    o.phase = phase;
    o.of = of;
    if (kind_.has_members && random_.one_in(6)) o.place = "m" + std::to_string(random_.below(2));
    if (random_.one_in(2)) {
      client.last = advance(client.last);
      ++step_;
    }
    o.invoked = instant(client.last);
    o.invoked_in = step_;
    history_.operations.push_back(std::move(o));
    return history_.operations.back().id;
  }

  void complete(Client& client, sim::OperationId id) {
    client.last = advance(client.last);
    sim::Operation& o = history_.operations[id - 1];
    ++step_;
    if (o.phase == sim::Phase::invoke) return;
    o.completed = instant(client.last);
    o.completed_in = step_;
  }

  sim::Effect& effect(Client& client, sim::Effect::Kind kind, sim::ProcessId where, sim::ProcessId by,
                      sim::OperationId id) {
    // As late as it takes, so that the order at the server never contradicts the delays.
    const Variable at = constraints_.add_variable(
        client.last, {sim::Duration::nanoseconds(random_.between(0, 3)), sim::Duration::forever()});
    constraints_.add_at_most(instant(servers_[where.index]), instant(at));
    servers_[where.index] = at;
    client.last = at;
    sim::Effect e;
    e.kind = kind;
    e.server = where;
    e.object = "lock";
    e.by = by;
    e.operation = id;
    e.at = instant(at);
    e.step = ++step_;
    e.first_member = static_cast<std::uint32_t>(history_.members.size());
    const bool may_end = kind == sim::Effect::Kind::write || kind == sim::Effect::Kind::touch;
    if (may_end && random_.one_in(3)) e.lives_until = e.at + sim::Duration::nanoseconds(random_.between(1, 30));
    if (kind_.has_members && where != resource_server) add_members(e);
    history_.effects.push_back(std::move(e));
    return history_.effects.back();
  }

  /// What it did to a part of the object: to one of two members, or to something without a name.
  void add_members(sim::Effect& e) {
    using enum sim::MemberChange::Kind;
    const bool is_removal = e.kind == sim::Effect::Kind::remove;
    if (!is_removal && e.kind != sim::Effect::Kind::write) return;
    // A member that is taken out leaves the object there as a rule.
    if (is_removal && !random_.one_in(3)) e.kind = sim::Effect::Kind::write;
    const bool is_whole = e.kind == sim::Effect::Kind::remove ? !random_.one_in(4) : random_.one_in(4);
    if (is_whole) return;
    if (random_.one_in(4)) {
      history_.members.push_back({"", nameless});
      e.members = 1;
      return;
    }
    if (e.kind == sim::Effect::Kind::remove) return;
    for (std::uint64_t i = 1 + random_.below(2); i > 0; --i) {
      history_.members.push_back({"m" + std::to_string(random_.below(2)), is_removal ? removed : written});
      ++e.members;
    }
  }

  std::string some_lock() { return kind_.locks == 1 ? "lock" : "lock" + std::to_string(random_.below(kind_.locks)); }
  sim::ProcessId some_server() { return {static_cast<std::uint16_t>(3 + random_.below(2))}; }

  void acquire(Client& client, sim::ProcessId process) {
    using enum sim::Phase;
    const sim::Phase phase = random_.one_in(kind_.has_unknown_acquires ? 5 : 1'000'000'000)
                                 ? (random_.one_in(2) ? info : invoke)
                             : random_.one_in(6) ? fail
                                                 : ok;
    const sim::OperationId id = operation(client, process, "acquire", phase, 0, some_lock());
    if (random_.one_in(3)) effect(client, sim::Effect::Kind::remove, some_server(), process, id);
    const std::uint64_t writes = random_.below(3);
    for (std::uint64_t i = 0; i < writes; ++i) {
      if (random_.one_in(12)) {
        effect(client, sim::Effect::Kind::lose, some_server(), {}, 0);
      } else {
        effect(client, random_.one_in(4) ? sim::Effect::Kind::expire : sim::Effect::Kind::write, some_server(), process,
               id);
      }
    }
    complete(client, id);
    if (kind_.takes_several && (phase == info || phase == invoke) && random_.one_in(4)) client.hold = id;
    if (phase != ok) return;
    sim::Operation& o = history_.operations[id - 1];
    const auto in = [&](std::int64_t ns) { return sim::Duration::nanoseconds(ns); };
    if (kind_.has_deadlines && random_.one_in(2)) o.valid_until = o.invoked + in(random_.between(0, 40));
    if (random_.one_in(3)) o.lease_until = o.invoked + in(random_.between(10, 40));
    client.hold = client.latest = id;
    if (!kind_.has_nested) return;
    o.is_shared = random_.one_in(5);
    o.is_renewed = random_.one_in(2);
  }

  /// Takes a hold again, gives one of these back, or renews it, also if it has none any more.
  void nested(Client& client, sim::ProcessId process) {
    using enum sim::Phase;
    const std::uint64_t what = random_.below(3);
    const std::string_view function = what == 0 ? "reenter" : what == 1 ? "leave" : "renew";
    const sim::Phase phase = random_.one_in(3) ? (random_.one_in(2) ? fail : info) : ok;
    const sim::OperationId id = operation(client, process, function, phase, client.latest);
    using Kind = sim::Effect::Kind;
    const Kind kind = what == 0 ? Kind::write : what == 2 || random_.one_in(2) ? Kind::touch : Kind::remove;
    if (!random_.one_in(4)) effect(client, kind, some_server(), process, id);
    complete(client, id);
  }

  void release(Client& client, sim::ProcessId process) {
    using enum sim::Phase;
    const sim::Phase phase = random_.one_in(3) ? (random_.one_in(2) ? fail : info) : ok;
    const sim::OperationId id =
        operation(client, process, "release", phase, client.hold, history_.operations[client.hold - 1].object);
    if (random_.one_in(2)) effect(client, sim::Effect::Kind::remove, some_server(), process, id);
    complete(client, id);
    if (random_.one_in(12)) return;
    client.hold = 0;
    if (client.outer.empty()) return;
    client.hold = client.outer.back();
    client.outer.pop_back();
  }

  void use(Client& client, sim::ProcessId process) {
    const bool reads = random_.one_in(2);
    const sim::OperationId id =
        operation(client, process, reads ? "read" : "write", sim::Phase::ok, client.hold, "resource");
    sim::Effect& done =
        effect(client, reads ? sim::Effect::Kind::read : sim::Effect::Kind::write, resource_server, process, id);
    if (!reads && random_.one_in(4)) done.token = random_.between(1, 3);
    complete(client, id);
  }

  void crash(Client& client, sim::ProcessId process) {
    if (random_.one_in(2)) client.last = advance(client.last);
    sim::Interruption i;
    i.kind = sim::Interruption::Kind::crash;
    i.process = process;
    i.from = instant(client.last);
    i.step = ++step_;
    client.last = advance(client.last);
    i.until = instant(client.last);
    ++step_;
    history_.interruptions.push_back(i);
    client.hold = 0;
    client.outer.clear();
  }

  sim::Random random_;
  Kind kind_;
  DifferenceConstraints constraints_;
  sim::History history_;
  std::vector<ExploredFault> faults_;
  std::vector<Variable> work_begins_;
  std::vector<Client> clients_;
  std::vector<Variable> servers_;
  sim::Step step_ = 1;
};

}  // namespace lockstep::checker
