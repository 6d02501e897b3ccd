// [[fault]]: what does happen in a run, to whom, and when.

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

struct FaultDraft {
  Draft& draft;
  FaultSpec fault;
  const Node* who = nullptr;
  const Node* trigger = nullptr;
  const Node* keep = nullptr;
  bool of_server = false;
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

void read_step(const Node& value, FaultDraft& d, Trigger::Kind moment, StepKind steps) {
  claim_trigger(value, d);
  const std::string& text = text_of(value, "a step such as \"SETNX\" or \"SET#2\"");
  if (d.of_server && moment != Trigger::Kind::after) {
    fail(value,
         "a server has no steps of its own; expected at = \"150ms\", the true time of the fault, or after = "
         "\"A.SET\", what it has carried out");
  }
  const Step step = d.of_server ? carried_out_of(value, text, d.draft) : step_of(value, text, 0, steps, d.draft);
  d.fault.trigger.kind = moment;
  d.fault.trigger.step = step.name;
  d.fault.trigger.occurrence = step.occurrence.value_or(1);
}

constexpr Key<FaultDraft> kFault[] = {
    {"kind", kKindNames, kRequired, "what happens",
     [](const Node& value, FaultDraft& d) { d.fault.kind = choice_of(value, kKinds); }},
    {"client", "name", "none", "whom it strikes; for lose and delay: whose message",
     [](const Node& value, FaultDraft& d) { read_who(value, d, Who::thread); }, kOfClients},
    {"server", "name", "none", "whom it strikes, if no client",
     [](const Node& value, FaultDraft& d) { read_who(value, d, Who::service); }, kOfServers},
    {"at", "duration", "none", "when: at this true time",
     [](const Node& value, FaultDraft& d) {
       claim_trigger(value, d);
       d.fault.trigger.time = duration_of(value);
     },
     kOfAProcess},
    {"before", "step", "none", "when: the client is about to send it, and it has not left yet",
     [](const Node& value, FaultDraft& d) { read_step(value, d, Trigger::Kind::before, StepKind::any); }, kOfAProcess},
    {"sent", "step", "none", "when: it has just left; the reply will find the client so",
     [](const Node& value, FaultDraft& d) { read_step(value, d, Trigger::Kind::sent, StepKind::any); }, kOfAProcess},
    {"after", "step", "none",
     "when: the client has handled the reply and run on to its next wait; a server: it has carried it out",
     [](const Node& value, FaultDraft& d) { read_step(value, d, Trigger::Kind::after, StepKind::handled); },
     kOfAProcess},
    {"message", "step that is sent", kRequired, "which message of the client is lost or delayed",
     [](const Node& value, FaultDraft& d) { read_step(value, d, Trigger::Kind::sent, StepKind::message); },
     kOfAMessage},
    {"direction", "\"request\" or \"reply\"", "\"request\"", "the message itself, or the reply to it",
     [](const Node& value, FaultDraft& d) { d.fault.direction = choice_of(value, kDirections); }, kOfAMessage},
    {"length", "duration", kRequired, "how long it lasts; delay: on top of the latency",
     [](const Node& value, FaultDraft& d) { d.fault.length = exact_of(value); }, bits_where(kKinds, sim::lasts)},
    {"restart_after", "duration", "never", "how long after the crash it comes back",
     [](const Node& value, FaultDraft& d) { d.fault.restart_after = exact_of(value); }, kComingBack},
    {"keep", "true or false", "false", "whether a crashed server still has its keys when it comes back",
     [](const Node& value, FaultDraft& d) {
       d.fault.keep = flag_of(value);
       d.keep = &value;
     },
     kComingBack},
    {"by", "duration, may be negative", kRequired, "how far the wall clock jumps",
     [](const Node& value, FaultDraft& d) { d.fault.by = signed_exact_of(value); },
     bits_where(kKinds, sim::moves_clock)},
    {"between", "two arrays of names", kRequired, "who cannot reach whom; \"resource\" is the resource",
     [](const Node& value, FaultDraft& d) { d.fault.between = sides_of(value, d.draft); }, kCutsOff},
    {"from", "duration", kRequired, "when the partition begins, in true time",
     [](const Node& value, FaultDraft& d) { d.fault.trigger.time = duration_of(value); }, kCutsOff},
};

/// What no single key can know.
void check_together(const FaultDraft& d, const std::string& name) {
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
  if (d.keep != nullptr && d.who->key != "server") {
    fail(*d.keep, "a client keeps nothing in a crash; \"keep\" is for servers");
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
    read_table(table, {"a [[fault]]", bits_where(kKinds, [&](FaultKind k) { return k == fault.fault.kind; }), name},
               kFault, fault);
    check_together(fault, name);
    draft.scenario.faults.push_back(std::move(fault.fault));
  });
}

void list_faults(std::vector<TableRow>& tables) {
  tables.push_back({"[[fault]]", rows_of(std::span<const Key<FaultDraft>>(kFault)), names_of(kKinds)});
}

}  // namespace lockstep::scenarios::schema
