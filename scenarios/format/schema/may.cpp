// [[may]]: what might happen, anywhere, in `check` and `fuzz`.

#include "scenarios/format/schema/fault_texts.hpp"
#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using sim::FaultKind;

constexpr std::int64_t kTimesMax = 1'000;

constexpr auto kAllowedKinds = sim::named_fault_kinds();
constexpr std::string_view kFailover = "failover";
constexpr FixedText kAllowedKindNames = [] {
  std::array<std::string_view, kAllowedKinds.size() + 1> names{};
  for (std::size_t i = 0; i < kAllowedKinds.size(); ++i) names[i] = kAllowedKinds[i].first;
  names.back() = kFailover;
  return listed(names, "\"", " or ");
}();

constexpr Kinds kAllowedOfAMessage = bits_where(kAllowedKinds, sim::strikes_message);
constexpr Kinds kAllowedOfClients =
    bits_where(kAllowedKinds, [](FaultKind k) { return sim::may_name(k, sim::Whose::clients); });
constexpr Kinds kAllowedOfServers =
    bits_where(kAllowedKinds, [](FaultKind k) { return sim::may_name(k, sim::Whose::servers); });
constexpr Kinds kAllowedComingBack = bits_where(kAllowedKinds, sim::may_come_back);
constexpr Kinds kLimited =
    bits_where(kAllowedKinds, [](FaultKind k) { return sim::entry_of(k).limited != sim::Limited::no; });

/// "any client; jump: any server".
constexpr FixedText kUnlessNamed = [] {
  FixedText text;
  text += "any client";
  std::string_view between = "; ";
  for (const FaultKind kind : sim::kFaultKinds) {
    if (sim::entry_of(kind).unless_named != sim::Whose::servers) continue;
    (text += between) += sim::name_of(kind);
    between = ", ";
  }
  text += ": any server";
  return text;
}();

constexpr std::array<std::pair<std::string_view, sim::Activity>, 5> kDuring{{{"anything", sim::Activity::anything},
                                                                             {"work", sim::Activity::work},
                                                                             {"acquire", sim::Activity::acquire},
                                                                             {"release", sim::Activity::release},
                                                                             {"renewal", sim::Activity::renewal}}};

constexpr std::array<std::pair<std::string_view, FaultSpec::Direction>, 2> kAllowedDirections{
    {{"request", FaultSpec::Direction::request}, {"reply", FaultSpec::Direction::reply}}};

struct MayTable : MaySpec {
  bool of_client;
};

struct MayDraft {
  using Spec = MayTable;
  Draft& draft;
  MaySpec may;
  const Node* who = nullptr;
  MaySpec& spec() { return may; }
};

void read_who(const Node& value, MayDraft& d, Who who) {
  if (d.who != nullptr) {
    throw Bad{value.at, "both \"client\" and \"server\"; write one [[may]] for the clients and one for the servers"};
  }
  d.who = &value;
  for (const Node* name : one_or_more(value, "a name such as \"A\", or names such as [\"A\", \"B\"]")) {
    d.may.who.push_back(std::get<std::string>(name->value));
    d.draft.names.mention(who, *name);
  }
}

std::string message_of(const Node& value, Draft& draft) {
  const std::string& text = text_of(value, "a message such as \"SET\"");
  const Step step = step_of(value, text, 0, StepKind::message, draft);
  if (step.occurrence)
    fail(value, "any of these messages might be struck, so none has a number; write " + in_quotes(step.name));
  return step.name;
}

template <bool of_client>
Value write_whom(const MayTable& may) {
  return may.of_client == of_client ? names_as_toml(may.who) : Value{};
}

constexpr Key<MayDraft> kMay[] = {
    {"kind", kAllowedKindNames, kRequired,
     "what might happen; \"failover\" is short for a crash of the primary that sentinels watch",
     choice<&MaySpec::kind, kAllowedKinds>},
    {"client", "name, or array of names", kUnlessNamed, "whom it might strike",
     both([](const Node& value, MayDraft& d) { read_who(value, d, Who::client); }, write_whom<true>),
     kAllowedOfClients},
    {"server", "name, or array of names", "none", "whom it might strike, if no client",
     both([](const Node& value, MayDraft& d) { read_who(value, d, Who::service); }, write_whom<false>),
     kAllowedOfServers},
    {"length", "duration or range", kRequired, "how long it may be; delay: on top of the latency",
     field<&MaySpec::length, range_of>, bits_where(kAllowedKinds, sim::lasts)},
    {"during", "\"anything\", \"work\", \"acquire\", \"release\" or \"renewal\"", "\"anything\"",
     "only while a client is at that; lose, delay: only messages of that", choice<&MaySpec::during, kDuring>, kLimited},
    {"message", "step that is sent", "any", "only such requests of a client, and the replies to them",
     field<&MaySpec::message, message_of>, kAllowedOfAMessage},
    {"direction", "\"request\" or \"reply\"", "either", "only the requests, or only the replies to them",
     choice<&MaySpec::direction, kAllowedDirections>, kAllowedOfAMessage},
    {"between", "two arrays of names", "whom it strikes, and all others",
     "who may be cut off from whom; \"resource\" is the resource", field<&MaySpec::between, sides_of>,
     bits_where(kAllowedKinds, sim::cuts_off), "server"},
    {"by", "duration or range, may be negative", kRequired, "how far the clock may jump, or be off from the start",
     field<&MaySpec::length, signed_range_of>, bits_where(kAllowedKinds, sim::moves_clock)},
    {"restart_after", "duration or range", "never", "how long after the crash it comes back",
     field<&MaySpec::restart_after, range_of>, kAllowedComingBack},
    {"keep", "true or false", "false", "whether a crashed server still has its keys when it comes back",
     field<&MaySpec::keep, flag_of>, kAllowedComingBack},
    {"times", "whole number, 1 to 1000", "1", "at most this often in one execution",
     field<&MaySpec::times, whole<1, kTimesMax>>},
};

/// "failover" is short for: the primary dies for good, and who watches it does the rest.
Node as_told(const Node& table, const Draft& draft) {
  const Node* kind = find(table, "kind");
  const auto* text = kind == nullptr ? nullptr : std::get_if<std::string>(&kind->value);
  if (text == nullptr || *text != kFailover) return table;
  if (!draft.scenario.sentinels || draft.scenario.servers.empty()) {
    fail(*kind,
         "nobody watches the primary: add [servers] with replicas = 1 and failover = \"sentinel\", or [sentinels]");
  }
  for (const std::string_view other : {"client", "server", "restart_after", "keep", "between", "length"}) {
    if (const Node* key = find(table, other))
      fail(*key, "a failover is the death of the primary, for good; leave out " + in_quotes(other) +
                     ", or write kind = \"crash\"");
  }
  Node told = table;
  Table& entries = std::get<Table>(told.value);
  for (Entry& entry : entries) {
    if (entry.node.key == "kind") entry.node.value = std::string(sim::name_of(FaultKind::crash));
  }
  const std::string& primary = draft.scenario.sentinels->primary;
  entries.push_back({kind->at, {kind->at, "server", primary.empty() ? draft.scenario.servers.front().name : primary}});
  return told;
}

}  // namespace

void read_may(const Node& node, Draft& draft) {
  // Names are found later, by where they stand.
  std::vector<Node>& told = draft.told_tables;
  told.reserve(tables_of(node, "[[may]]").size());
  read_each(tables_of(node, "[[may]]"), [&](const Node& written) {
    const Node& table = told.emplace_back(as_told(written, draft));
    MayDraft may{draft, {}};
    may.may.at = table.at;
    const Node* kind = find(table, "kind");
    if (kind == nullptr) throw Bad{table.at, "a [[may]] needs \"kind\": what might happen"};
    may.may.kind = choice_of(*kind, kAllowedKinds);
    const std::string name = "kind = " + in_quotes(std::get<std::string>(kind->value));
    read_table(table, {"a [[may]]", bit_of(may.may.kind, kAllowedKinds), name}, kMay, may);
    const bool has_during = may.may.during != sim::Activity::anything;
    const auto key = [&](std::string_view k) { return find(table, k); };
    if (key("keep") != nullptr && (may.who == nullptr || may.who->key != "server")) {
      fail(*key("keep"), "a client keeps nothing in a crash; \"keep\" needs \"server\"");
    }
    if (key("between") != nullptr && may.who != nullptr) {
      fail(*key("between"), "both " + in_quotes(may.who->key) +
                                " and \"between\": write whom it cuts off from everybody, or the two sides");
    }
    if (may.may.during == sim::Activity::work && strikes_message(may.may.kind)) {
      fail(*key("during"),
           "what is sent at work goes to the resource; write message = \"read\" or \"write\", or \"acquire\", "
           "\"release\" or \"renewal\"");
    }
    if (has_during && may.who != nullptr && may.who->key == "server") {
      fail(*key("during"), "a server does not use the lock; \"during\" needs clients");
    }
    draft.scenario.may.push_back(std::move(may.may));
  });
}

Value write_may(const Saved& saved) {
  Value written{.is_array = true};
  for (const MaySpec& may : saved.scenario.may) {
    const bool of_client = !may.who.empty() && is_client(saved.scenario, may.who.front());
    written.tables.push_back(write_table(kMay, {may, of_client}, {}, bit_of(may.kind, kAllowedKinds)));
  }
  return written;
}

void list_may(std::vector<TableRow>& tables) { tables.push_back({"[[may]]", rows_of(kMay), names_of(kAllowedKinds)}); }

}  // namespace lockstep::scenarios::schema
