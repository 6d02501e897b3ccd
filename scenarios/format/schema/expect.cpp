// [pin], [properties] and [expect]: the order that a document tells, and what is to be observed.

#include <algorithm>
#include <map>
#include <tuple>

#include "checker/properties/properties.hpp"
#include "scenarios/format/schema/fault_texts.hpp"
#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using checker::Verdict;
using namespace std::string_view_literals;

using Thresholds = std::map<std::string, std::string, std::less<>>;

constexpr std::array<std::pair<std::string_view, Verdict>, 4> kVerdicts{{{"holds", Verdict::holds},
                                                                         {"violated", Verdict::violated},
                                                                         {"unknown", Verdict::unknown},
                                                                         {"not judged", Verdict::not_judged}}};

/// "B.SETNX#2@redis2".
PinEntry pin_of(const Node& node, Draft& draft) {
  const std::string& text = text_of(node, "an entry such as \"B.SETNX\"");
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) {
    fail(node,
         in_quotes(text) + " names no client; expected CLIENT.COMMAND, as in \"B.SETNX\" or \"B.SETNX#2@redis1\"");
  }
  const std::size_t sign = text.find('@', dot);
  const std::string_view said = std::string_view(text).substr(dot + 1, sign == text.npos ? sign : sign - dot - 1);
  const Step step = step_of(node, said, dot + 1, StepKind::message, draft);
  PinEntry entry{text.substr(0, dot), step.name, step.occurrence, "", node.at};
  draft.names.mention(Who::client, entry.client, node, 0);
  if (sign != std::string::npos) {
    entry.server = text.substr(sign + 1);
    draft.names.mention(Who::server, entry.server, node, sign + 1);
    if (step.name == "read" || step.name == "write") {
      throw Bad{node.at, "order: " + in_quotes(step.name) + " goes to the resource, not to a server; leave out the @",
                sign};
    }
  }
  return entry;
}

/// A numbered step happens once, at whichever server.
void read_order(const Node& value, Draft& draft) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, Position> numbered;
  for (const Node& element : array_of(value, "an array such as [\"B.GET\", \"C.GET\"]")) {
    PinEntry entry = pin_of(element, draft);
    if (entry.occurrence) {
      const auto [first, is_new] = numbered.try_emplace({entry.client, entry.command, *entry.occurrence}, entry.at);
      if (!is_new) {
        fail(element, in_quotes(std::get<std::string>(element.value)) + " stands here a second time (first in line " +
                          std::to_string(first->second.line) + "); it happens only once");
      }
    }
    draft.scenario.pin.push_back(std::move(entry));
  }
}

Value write_order(const Saved& saved) {
  std::vector<std::string> order;
  for (const PinEntry& entry : saved.scenario.pin) {
    std::string& text = order.emplace_back(entry.client + "." + entry.command);
    if (entry.occurrence) text += "#" + std::to_string(*entry.occurrence);
    if (!entry.server.empty()) text += "@" + entry.server;
  }
  return as_toml(order);
}

constexpr Key<Draft> kPin[] = {
    {"order", "array of CLIENT.COMMAND[#n][@server]", kRequired,
     "commands in the order in which their servers handle them; #n: the client's n-th such command",
     both(read_order, write_order)},
};

constexpr Key<Scenario> kRecoverable[] = {
    {"within", "duration", kRequired, "a fresh client must have the lock this long after everybody is done or dead",
     field<&Scenario::recover_within, duration_of>},
};

constexpr Key<Scenario> kNoDeadlock[] = {
    {"lasting", "duration", kRequired, "a circle of clients that wait for each other is a deadlock if it lasts so long",
     field<&Scenario::deadlock_lasting, duration_of>},
};

constexpr Key<Scenario> kNoLostWakeup[] = {
    {"within", "duration", kRequired, "nobody may wait longer than this for a lock that is free",
     field<&Scenario::wake_within, duration_of>},
};

constexpr Key<Scenario> kProgress[] = {
    {"within", "duration", kRequired, "nobody may try longer than this while nobody has the lock or gets it",
     field<&Scenario::progress_within, duration_of>},
};

constexpr Key<Scenario> kFair[] = {
    {"overtakings", "whole number, 0 to 1000", kRequired, "how often somebody may be overtaken by those who came later",
     field<&Scenario::fair_overtakings, whole<0, 1000>>},
};

constexpr Key<Scenario> kProperties[] = {
    {"fair", "table", "never, for locks that claim to be fair", "how often somebody may be overtaken", inside<kFair>},
    {"recoverable", "table", "the longest lease and some round trips", "how fast the lock must be free again",
     inside<kRecoverable>},
    {"no-deadlock", "table", "the longest lease, the longest retry and some round trips; without leases at once",
     "how long clients must wait in a circle", inside<kNoDeadlock>},
    {"no-lost-wakeup", "table", "some round trips, and twice the timeout", "how long a free lock may be waited for",
     inside<kNoLostWakeup>},
    {"progress", "table", "the longest lease, retry and work, and some round trips",
     "how long somebody may try while nobody has the lock", inside<kProgress>},
};

constexpr FixedText kThresholds = [] {
  FixedText text;
  ((text += "table: ") += listed(sim::kFaultParameters, "", " or ")) += " = duration";
  return text;
}();

/// Later may be as bad as earlier: what strikes who has come back is a matter of when that was.
constexpr auto kWithUpper = [] {
  constexpr auto kinds = sim::named_kinds([](sim::FaultKind kind) { return sim::may_come_back(kind); });
  std::array<std::string_view, kinds.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = sim::entry_of(kinds[i].second).parameter;
  return names;
}();
constexpr FixedText kUpperThresholds = [] {
  FixedText text;
  ((text += "table: ") += listed(kWithUpper, "", " or ")) += " = duration";
  return text;
}();

constexpr Kinds kRun = 1;
constexpr Kinds kCheck = 2;

struct ExpectationDraft {
  using Spec = Expectation;
  Draft& draft;
  Expectation expectation;
  const Node* said = nullptr;  ///< which of holds, violated, violated_by

  void say(const Node& value, Verdict verdict) {
    if (said != nullptr) {
      throw Bad{value.at, "both \"" + said->key + "\" and \"" + value.key + "\"; expected one verdict"};
    }
    said = &value;
    expectation.verdict = verdict;
  }
  Expectation& spec() { return expectation; }
};

/// `violated = false` could mean that it holds, or that it is unknown.
template <Verdict verdict>
void read_verdict(const Node& value, ExpectationDraft& d) {
  if (!flag_of(value)) fail(value, "expected true; write the verdict that you expect instead");
  d.say(value, verdict);
}

Value write_violated(const Expectation& expectation) {
  return expectation.verdict == Verdict::violated && expectation.violated_by.empty() ? as_toml(true) : Value{};
}

/// Which range of the file a threshold is about. `example` is for messages.
Thresholds thresholds_of(const Node& value, std::span<const std::string_view> parameters, std::string_view example) {
  Thresholds thresholds;
  for (const Entry& entry : table_of(value, "a table such as " + std::string(example))) {
    const std::string& name = entry.node.key;
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
      throw Bad{entry.key_at, "there is no threshold of " + in_quotes(name) + ": " + suggestion(name, parameters)};
    }
    signed_duration_of(entry.node);
    thresholds.emplace(name, std::get<std::string>(entry.node.value));
  }
  if (thresholds.empty()) fail(value, "expected a threshold such as " + std::string(example) + ", not an empty table");
  return thresholds;
}

Thresholds thresholds_from(const Node& value) {
  return thresholds_of(value, sim::kFaultParameters, "{ pause = \"91ms\" }");
}

Thresholds thresholds_up_to(const Node& value) {
  return thresholds_of(value, kWithUpper, "{ restart_after = \"36ms\" }");
}

std::string frontier_of(const Node& value) { return text_of(value, "a frontier such as \"pause + skew > 63ms\""); }

constexpr Key<ExpectationDraft> kExpectation[] = {
    {"holds", "true", "none", "it is never broken",
     both(read_verdict<Verdict::holds>, [](const Expectation&) { return Value{}; })},
    {"violated", "true", "none", "it is broken, by anyone", both(read_verdict<Verdict::violated>, write_violated)},
    {"violated_by", "name, or array of names", "none", "it is broken, by these clients, the earlier holder first",
     both(
         [](const Node& value, ExpectationDraft& d) {
           d.say(value, Verdict::violated);
           for (const Node* name : one_or_more(value, "names of clients such as [\"B\", \"C\"]")) {
             d.expectation.violated_by.push_back(std::get<std::string>(name->value));
             d.draft.names.mention(Who::thread, *name);
           }
         },
         [](const Expectation& expectation) { return names_as_toml(expectation.violated_by); })},
    {"at", "duration", "any time", "true time at which it is first broken", field<&Expectation::at, duration_of>, kRun},
    {"from", kThresholds, "any", "the smallest value that breaks it", field<&Expectation::from, thresholds_from>,
     kCheck},
    {"up_to", kUpperThresholds, "any", "the largest value that breaks it", field<&Expectation::up_to, thresholds_up_to>,
     kCheck},
    {"frontier", "text such as \"pause + skew > 63ms\"", "any",
     "for which values of several parameters together it is broken, as `check` prints it",
     field<&Expectation::frontier, frontier_of>, kCheck},
};

Expectation expectation_of(const Entry& entry, Kinds of_mode, Draft& draft) {
  const Node& node = entry.node;
  ExpectationDraft d{draft, {}};
  d.expectation.property = node.key;
  d.expectation.position = entry.key_at;
  if (std::holds_alternative<Table>(node.value)) {
    const std::string_view mode = of_mode == kRun ? "an expectation of `run`" : "an expectation of `check`";
    read_table(node, {"an expectation", of_mode, mode}, kExpectation, d);
    if (d.said == nullptr) fail(node, "expected a verdict: one of \"holds\", \"violated\", \"violated_by\"");
    const bool tells_when = d.expectation.at || !d.expectation.from.empty() || !d.expectation.up_to.empty() ||
                            !d.expectation.frontier.empty();
    if (d.expectation.verdict != Verdict::violated && tells_when) {
      fail(node, "\"at\", \"from\", \"up_to\" and \"frontier\" tell when it is broken, and this expects that it holds");
    }
  } else if (std::holds_alternative<std::string>(node.value)) {
    d.expectation.verdict = choice_of(node, kVerdicts);
  } else {
    fail_expecting(
        node,
        "\"holds\", \"violated\", \"unknown\", \"not judged\", or a table such as { violated_by = [\"B\", \"C\"] }");
  }
  return std::move(d.expectation);
}

/// The keys of this table are the properties that Lockstep can judge, and `traces`.
template <Kinds mode, auto list>
void read_mode(const Node& node, Draft& draft) {
  std::vector<std::string_view> valid;
  for (const checker::Property& property : checker::properties()) valid.push_back(property.name);
  if (mode == kCheck) valid.push_back("traces");
  Mistakes mistakes;
  for (const Entry& entry : table_of(node, "a table of properties")) {
    const std::string& key = entry.node.key;
    if (mode == kCheck && key == "traces") {
      mistakes.attempt([&] { draft.scenario.expect_traces = whole_of(entry.node, 1); });
    } else if (checker::find_property(key) == nullptr) {
      mistakes.add({entry.key_at, "there is no property " + in_quotes(key) + ": " + suggestion(key, valid)});
    } else {
      mistakes.attempt([&] { (draft.scenario.*list).push_back(expectation_of(entry, mode, draft)); });
    }
  }
  mistakes.complain();
}

/// A verdict that has nothing with it is a word.
Value write_expectation(const Expectation& expectation, Kinds mode) {
  const Keys keys = write_table(kExpectation, expectation, {}, mode);
  const bool is_word = keys.empty() || (keys.size() == 1 && keys.front().key == "violated");
  return is_word ? as_toml(std::string(checker::to_string(expectation.verdict))) : Value{inline_table(keys)};
}

template <Kinds mode, auto list>
Value write_mode(const Saved& saved) {
  Keys keys;
  for (const Expectation& expectation : saved.scenario.*list)
    keys.push_back(write_expectation(expectation, mode).of(expectation.property));
  const std::optional<std::int64_t>& traces = saved.scenario.expect_traces;
  if (mode == kCheck && traces) keys.push_back(as_toml(*traces).of("traces"));
  return keys.empty() ? Value{} : headed(std::move(keys));
}

template <Kinds mode, auto list>
constexpr auto kMode = both(read_mode<mode, list>, write_mode<mode, list>);

constexpr Key<Draft> kExpect[] = {
    {"run", "table", "nothing", "what `lockstep run` must observe", kMode<kRun, &Scenario::expect_run>},
    {"check", "table", "nothing", "what `lockstep check` must find; also traces = how many it explores",
     kMode<kCheck, &Scenario::expect_check>},
};

}  // namespace

void read_pin(const Node& node, Draft& draft) { read_table(node, {"[pin]"}, kPin, draft); }

Value write_pin(const Saved& saved) { return headed(write_table(kPin, saved, saved)); }

void read_properties(const Node& node, Draft& draft) {
  read_table(node, {"[properties]"}, kProperties, draft.scenario);
}

Value write_properties(const Saved& saved) { return headed(write_table(kProperties, saved.scenario, {})); }

void read_expect(const Node& node, Draft& draft) { read_table(node, {"[expect]"}, kExpect, draft); }

Value write_expect(const Saved& saved) {
  const Scenario standard;
  return headed(write_table(kExpect, saved, {standard, saved.folder}));
}

void list_expect(std::vector<TableRow>& tables) {
  tables.push_back({"[pin]", rows_of(kPin)});
  tables.push_back({"[properties]", rows_of(kProperties)});
  tables.push_back({"fair", rows_of(kFair)});
  tables.push_back({"recoverable", rows_of(kRecoverable)});
  tables.push_back({"no-deadlock", rows_of(kNoDeadlock)});
  tables.push_back({"no-lost-wakeup", rows_of(kNoLostWakeup)});
  tables.push_back({"progress", rows_of(kProgress)});
  tables.push_back({"[expect]", rows_of(kExpect)});
  tables.push_back({"an expectation", rows_of(kExpectation), {"run", "check"}});
}

}  // namespace lockstep::scenarios::schema
