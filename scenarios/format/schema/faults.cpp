// [[fault]]: what does happen in a run, to whom, and when.

#include <algorithm>

#include "scenarios/format/schema/fault_texts.hpp"
#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using sim::FaultKind;
using Direction = FaultSpec::Direction;

constexpr auto kKinds = sim::planned_fault_kinds();

constexpr FixedText kKindNames = listed_kinds(kKinds);

constexpr Kinds kOfAProcess = bits_where(kKinds, sim::strikes_process);
constexpr Kinds kOfAMessage = bits_where(kKinds, sim::strikes_message);
constexpr Kinds kOfClients =
    bits_where(kKinds, [](FaultKind k) { return !sim::cuts_off(k) && sim::may_name(k, sim::Whose::clients); });
constexpr Kinds kOfServers =
    bits_where(kKinds, [](FaultKind k) { return sim::strikes_process(k) && sim::may_name(k, sim::Whose::servers); });
constexpr Kinds kCutsOff = bits_where(kKinds, sim::cuts_off);
constexpr Kinds kComingBack = bits_where(kKinds, sim::may_come_back);

constexpr std::array<std::pair<std::string_view, Direction>, 2> kDirections{
    {{"request", Direction::request}, {"reply", Direction::reply}}};

struct FaultTable : FaultSpec {
  bool of_client;
};

struct FaultDraft {
  using Spec = FaultTable;
  Draft& draft;
  FaultSpec fault;
  const Node* who = nullptr;
  const Node* trigger = nullptr;
  bool of_server = false;
  FaultSpec& spec() { return fault; }
};

void read_who(const Node& value, FaultDraft& d, Who who) {
  if (d.who != nullptr) {
    throw Bad{value.at, "both \"client\" and \"server\": a [[fault]] strikes one process; write one for each"};
  }
  d.fault.who = text_of(value, who == Who::thread ? "the name of a client" : "the name of a server");
  d.who = &value;
  d.draft.names.mention(who, value);
}

void claim_trigger(const Node& value, FaultDraft& d) {
  if (d.trigger != nullptr) {
    throw Bad{value.at, "both \"" + d.trigger->key + "\" and \"" + value.key + "\": a fault strikes at one moment"};
  }
  d.trigger = &value;
}

bool is_sentinel(const Scenario& scenario, std::string_view name) {
  return scenario.sentinels && std::any_of(scenario.sentinels->each.begin(), scenario.sentinels->each.end(),
                                           [&](const SentinelSpec& sentinel) { return sentinel.name == name; });
}

template <Trigger::Kind moment, StepKind steps>
void read_step(const Node& value, FaultDraft& d) {
  claim_trigger(value, d);
  const std::string& text = text_of(value, "a step such as \"SETNX\" or \"SET#2\"");
  if (d.of_server && moment != Trigger::Kind::after) {
    fail(value,
         "a server has no steps of its own; expected at = \"150ms\", the true time of the fault, or after = "
         "\"A.SET\", what it has carried out");
  }
  const Step step = d.of_server ? step_of_server(value, text, is_sentinel(d.draft.scenario, d.fault.who), d.draft)
                                : step_of(value, text, 0, steps, d.draft);
  d.fault.trigger.kind = moment;
  d.fault.trigger.step = step.name;
  d.fault.trigger.occurrence = step.occurrence.value_or(1);
}

template <bool of_client>
Value write_who(const FaultTable& fault) {
  return fault.of_client == of_client ? as_toml(fault.who) : Value{};
}

void read_time(const Node& value, FaultDraft& d) { d.fault.trigger.time = duration_of(value); }
Value write_time(const FaultTable& fault) { return as_toml(fault.trigger.time); }

void read_at(const Node& value, FaultDraft& d) {
  claim_trigger(value, d);
  read_time(value, d);
}

Value write_at(const FaultTable& fault) {
  return fault.trigger.kind == Trigger::Kind::at ? write_time(fault) : Value{};
}

Value write_message(const FaultTable& fault) {
  return as_toml(text_of_step(fault.trigger.step, fault.trigger.occurrence));
}

template <Trigger::Kind moment>
Value write_step(const FaultTable& fault) {
  return fault.trigger.kind == moment ? write_message(fault) : Value{};
}

template <Trigger::Kind moment, StepKind steps>
constexpr auto kStep = both(read_step<moment, steps>, write_step<moment>);

constexpr Key<FaultDraft> kFault[] = {
    {"kind", kKindNames, kRequired, "what happens", choice<&FaultSpec::kind, kKinds>},
    {"client", "name", "none", "whom it strikes; for lose and delay: whose message",
     both([](const Node& value, FaultDraft& d) { read_who(value, d, Who::thread); }, write_who<true>), kOfClients},
    {"server", "name", "none", "whom it strikes, if no client",
     both([](const Node& value, FaultDraft& d) { read_who(value, d, Who::service); }, write_who<false>), kOfServers},
    {"at", "duration", "none", "when: at this true time", both(read_at, write_at), kOfAProcess},
    {"before", "step", "none", "when: the client is about to send it, and it has not left yet",
     kStep<Trigger::Kind::before, StepKind::any>, kOfAProcess},
    {"sent", "step", "none", "when: it has just left; the reply will find the client so",
     kStep<Trigger::Kind::sent, StepKind::any>, kOfAProcess},
    {"after", "step", "none",
     "when: the client has handled the reply and run on to its next wait; a server: it has carried \"A.SET\" out, or a "
     "time of its own is up: \"timeout\", \"sleep\", \"tick\"",
     kStep<Trigger::Kind::after, StepKind::handled>, kOfAProcess},
    {"message", "step that is sent", kRequired, "which message of the client is lost or delayed",
     both(read_step<Trigger::Kind::sent, StepKind::message>, write_message), kOfAMessage},
    {"direction", "\"request\" or \"reply\"", "\"request\"", "the message itself, or the reply to it",
     choice<&FaultSpec::direction, kDirections>, kOfAMessage},
    {"length", "duration", kRequired, "how long it lasts; delay: on top of the latency",
     field<&FaultSpec::length, exact_of>, bits_where(kKinds, sim::lasts), "from"},
    {"restart_after", "duration", "never", "how long after the crash it comes back",
     field<&FaultSpec::restart_after, exact_of>, kComingBack},
    {"keep", "true or false", "false", "whether a crashed server still has its keys when it comes back",
     field<&FaultSpec::keep, flag_of>, kComingBack},
    {"by", "duration, may be negative", kRequired, "how far the wall clock jumps",
     field<&FaultSpec::by, signed_exact_of>, bits_where(kKinds, sim::moves_clock)},
    {"between", "two arrays of names", kRequired, "who cannot reach whom; \"resource\" is the resource",
     field<&FaultSpec::between, sides_of>, kCutsOff},
    {"from", "duration", kRequired, "when the partition begins, in true time", both(read_time, write_time), kCutsOff},
};

/// What no single key can know.
void check_together(const Node& table, const FaultDraft& d, const std::string& name) {
  const FaultKind kind = d.fault.kind;
  if (!cuts_off(kind) && d.who == nullptr) {
    const bool of_servers = sim::may_name(kind, sim::Whose::servers);
    const bool of_clients = sim::may_name(kind, sim::Whose::clients);
    throw Bad{d.fault.at, name + " needs " + (of_clients ? "\"client\"" : "") +
                              (of_clients && of_servers ? " or " : "") + (of_servers ? "\"server\"" : "") +
                              ": the name of the process that it strikes"};
  }
  if (strikes_process(kind)) {
    if (d.trigger == nullptr) {
      throw Bad{d.fault.at, name + " needs a moment: one of \"at\", \"before\", \"sent\", \"after\""};
    }
  }
  const Node* keep = find(table, "keep");
  if (keep != nullptr && d.who->key != "server") {
    fail(*keep, "a client keeps nothing in a crash; \"keep\" is for servers");
  }
}

}  // namespace

void read_faults(const Node& node, Draft& draft) {
  read_each(tables_of(node, "[[fault]]"), [&](const Node& table) {
    FaultDraft fault{draft, {}};
    fault.fault.at = table.at;
    const Node* kind = find(table, "kind");
    if (kind == nullptr) throw Bad{table.at, "a [[fault]] needs \"kind\": what happens"};
    fault.fault.kind = choice_of(*kind, kKinds);
    const std::string name = "kind = " + in_quotes(std::get<std::string>(kind->value));
    fault.of_server = find(table, "server") != nullptr && find(table, "client") == nullptr;
    read_table(table, {"a [[fault]]", bit_of(fault.fault.kind, kKinds), name}, kFault, fault);
    check_together(table, fault, name);
    draft.scenario.faults.push_back(std::move(fault.fault));
  });
}

Value write_faults(const Saved& saved) {
  // When it strikes is always said.
  FaultTable standard{{}, false};
  standard.trigger.kind = Trigger::Kind::after;
  Value written{.is_array = true};
  for (const FaultSpec& fault : saved.scenario.faults)
    written.tables.push_back(
        write_table(kFault, {fault, is_client(saved.scenario, fault.who)}, standard, bit_of(fault.kind, kKinds)));
  return written;
}

void list_faults(std::vector<TableRow>& tables) { tables.push_back({"[[fault]]", rows_of(kFault), names_of(kKinds)}); }

}  // namespace lockstep::scenarios::schema
