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

constexpr std::array<std::pair<std::string_view, Verdict>, 3> kVerdicts{
    {{"holds", Verdict::holds}, {"violated", Verdict::violated}, {"unknown", Verdict::unknown}}};

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

constexpr Key<Draft> kPin[] = {
    {"order", "array of CLIENT.COMMAND[#n][@server]", kRequired,
     "commands in the order in which their servers handle them; #n: the client's n-th such command", read_order},
};

constexpr Key<Draft> kRecoverable[] = {
    {"within", "duration", kRequired, "a fresh client must have the lock this long after everybody is done or dead",
     [](const Node& value, Draft& draft) { draft.scenario.recover_within = duration_of(value); }},
};

constexpr Key<Draft> kNoDeadlock[] = {
    {"lasting", "duration", kRequired, "a circle of clients that wait for each other is a deadlock if it lasts so long",
     [](const Node& value, Draft& draft) { draft.scenario.deadlock_lasting = duration_of(value); }},
};

constexpr Key<Draft> kNoLostWakeup[] = {
    {"within", "duration", kRequired, "nobody may wait longer than this for a lock that is free",
     [](const Node& value, Draft& draft) { draft.scenario.wake_within = duration_of(value); }},
};

constexpr Key<Draft> kProgress[] = {
    {"within", "duration", kRequired, "nobody may try longer than this while nobody has the lock or gets it",
     [](const Node& value, Draft& draft) { draft.scenario.progress_within = duration_of(value); }},
};

constexpr Key<Draft> kFair[] = {
    {"overtakings", "whole number, 0 to 1000", kRequired, "how often somebody may be overtaken by those who came later",
     [](const Node& value, Draft& draft) { draft.scenario.fair_overtakings = whole_of(value, 0, 1000); }},
};

constexpr Key<Draft> kProperties[] = {
    {"fair", "table", "never, for locks that claim to be fair", "how often somebody may be overtaken",
     [](const Node& value, Draft& draft) { read_table(value, {"fair"}, kFair, draft); }},
    {"recoverable", "table", "the longest lease and some round trips", "how fast the lock must be free again",
     [](const Node& value, Draft& draft) { read_table(value, {"recoverable"}, kRecoverable, draft); }},
    {"no-deadlock", "table", "the longest lease, the longest retry and some round trips; without leases at once",
     "how long clients must wait in a circle",
     [](const Node& value, Draft& draft) { read_table(value, {"no-deadlock"}, kNoDeadlock, draft); }},
    {"no-lost-wakeup", "table", "some round trips, and twice the timeout", "how long a free lock may be waited for",
     [](const Node& value, Draft& draft) { read_table(value, {"no-lost-wakeup"}, kNoLostWakeup, draft); }},
    {"progress", "table", "the longest lease, retry and work, and some round trips",
     "how long somebody may try while nobody has the lock",
     [](const Node& value, Draft& draft) { read_table(value, {"progress"}, kProgress, draft); }},
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
};

/// `violated = false` could mean that it holds, or that it is unknown.
void want_true(const Node& value) {
  if (!flag_of(value)) fail(value, "expected true; write the verdict that you expect instead");
}

/// Which range of the file a threshold is about. `example` is for messages.
void read_thresholds(const Node& value, std::span<const std::string_view> parameters, std::string_view example,
                     std::map<std::string, std::string, std::less<>>& thresholds) {
  for (const Entry& entry : table_of(value, "a table such as " + std::string(example))) {
    const std::string& name = entry.node.key;
    if (std::find(parameters.begin(), parameters.end(), name) == parameters.end()) {
      throw Bad{entry.key_at, "there is no threshold of " + in_quotes(name) + ": " + suggestion(name, parameters)};
    }
    signed_duration_of(entry.node);
    thresholds.emplace(name, std::get<std::string>(entry.node.value));
  }
  if (thresholds.empty()) fail(value, "expected a threshold such as " + std::string(example) + ", not an empty table");
}

constexpr Key<ExpectationDraft> kExpectation[] = {
    {"holds", "true", "none", "it is never broken",
     [](const Node& value, ExpectationDraft& d) {
       want_true(value);
       d.say(value, Verdict::holds);
     }},
    {"violated", "true", "none", "it is broken, by anyone",
     [](const Node& value, ExpectationDraft& d) {
       want_true(value);
       d.say(value, Verdict::violated);
     }},
    {"violated_by", "name, or array of names", "none", "it is broken, by these clients, the earlier holder first",
     [](const Node& value, ExpectationDraft& d) {
       d.say(value, Verdict::violated);
       for (const Node* name : one_or_more(value, "names of clients such as [\"B\", \"C\"]")) {
         d.expectation.violated_by.push_back(std::get<std::string>(name->value));
         d.draft.names.mention(Who::thread, *name);
       }
     }},
    {"at", "duration", "any time", "true time at which it is first broken",
     [](const Node& value, ExpectationDraft& d) { d.expectation.at = duration_of(value); }, kRun},
    {"from", kThresholds, "any", "the smallest value that breaks it",
     [](const Node& value, ExpectationDraft& d) {
       read_thresholds(value, sim::kFaultParameters, "{ pause = \"91ms\" }", d.expectation.from);
     },
     kCheck},
    {"up_to", kUpperThresholds, "any", "the largest value that breaks it",
     [](const Node& value, ExpectationDraft& d) {
       read_thresholds(value, kWithUpper, "{ restart_after = \"36ms\" }", d.expectation.up_to);
     },
     kCheck},
    {"frontier", "text such as \"pause + skew > 63ms\"", "any",
     "for which values of two parameters together it is broken, as `check` prints it",
     [](const Node& value, ExpectationDraft& d) {
       d.expectation.frontier = text_of(value, "a frontier such as \"pause + skew > 63ms\"");
     },
     kCheck},
};

struct ExpectDraft {
  Draft& draft;
  Kinds mode;
  std::vector<Expectation>& list;
};

void read_expectation(const Entry& entry, ExpectDraft& expect) {
  const Node& node = entry.node;
  ExpectationDraft d{expect.draft, {}};
  d.expectation.property = node.key;
  d.expectation.position = entry.key_at;
  if (std::holds_alternative<Table>(node.value)) {
    const std::string_view mode = expect.mode == kRun ? "an expectation of `run`" : "an expectation of `check`";
    read_table(node, {"an expectation", expect.mode, mode}, kExpectation, d);
    if (d.said == nullptr) fail(node, "expected a verdict: one of \"holds\", \"violated\", \"violated_by\"");
    const bool tells_when = d.expectation.at || !d.expectation.from.empty() || !d.expectation.up_to.empty() ||
                            !d.expectation.frontier.empty();
    if (d.expectation.verdict != Verdict::violated && tells_when) {
      fail(node, "\"at\", \"from\", \"up_to\" and \"frontier\" tell when it is broken, and this expects that it holds");
    }
  } else if (std::holds_alternative<std::string>(node.value)) {
    d.expectation.verdict = choice_of(node, kVerdicts);
  } else {
    fail_expecting(node, "\"holds\", \"violated\", \"unknown\", or a table such as { violated_by = [\"B\", \"C\"] }");
  }
  expect.list.push_back(std::move(d.expectation));
}

/// The keys of this table are the properties that Lockstep can judge, and `traces`.
void read_mode(const Node& node, ExpectDraft& expect) {
  std::vector<std::string_view> valid;
  for (const checker::Property& property : checker::properties()) valid.push_back(property.name);
  if (expect.mode == kCheck) valid.push_back("traces");
  Mistakes mistakes;
  for (const Entry& entry : table_of(node, "a table of properties")) {
    const std::string& key = entry.node.key;
    if (expect.mode == kCheck && key == "traces") {
      mistakes.attempt([&] { expect.draft.scenario.expect_traces = whole_of(entry.node, 1); });
    } else if (checker::find_property(key) == nullptr) {
      mistakes.add({entry.key_at, "there is no property " + in_quotes(key) + ": " + suggestion(key, valid)});
    } else {
      mistakes.attempt([&] { read_expectation(entry, expect); });
    }
  }
  mistakes.complain();
}

constexpr Key<Draft> kExpect[] = {
    {"run", "table", "nothing", "what `lockstep run` must observe",
     [](const Node& value, Draft& draft) {
       ExpectDraft expect{draft, kRun, draft.scenario.expect_run};
       read_mode(value, expect);
     }},
    {"check", "table", "nothing", "what `lockstep check` must find; also traces = how many it explores",
     [](const Node& value, Draft& draft) {
       ExpectDraft expect{draft, kCheck, draft.scenario.expect_check};
       read_mode(value, expect);
     }},
};

}  // namespace

void read_pin(const Node& node, Draft& draft) { read_table(node, {"[pin]"}, kPin, draft); }

void read_properties(const Node& node, Draft& draft) { read_table(node, {"[properties]"}, kProperties, draft); }

void read_expect(const Node& node, Draft& draft) { read_table(node, {"[expect]"}, kExpect, draft); }

void list_expect(std::vector<TableRow>& tables) {
  tables.push_back({"[pin]", rows_of(std::span<const Key<Draft>>(kPin))});
  tables.push_back({"[properties]", rows_of(std::span<const Key<Draft>>(kProperties))});
  tables.push_back({"fair", rows_of(std::span<const Key<Draft>>(kFair))});
  tables.push_back({"recoverable", rows_of(std::span<const Key<Draft>>(kRecoverable))});
  tables.push_back({"no-deadlock", rows_of(std::span<const Key<Draft>>(kNoDeadlock))});
  tables.push_back({"no-lost-wakeup", rows_of(std::span<const Key<Draft>>(kNoLostWakeup))});
  tables.push_back({"progress", rows_of(std::span<const Key<Draft>>(kProgress))});
  tables.push_back({"[expect]", rows_of(std::span<const Key<Draft>>(kExpect))});
  tables.push_back({"an expectation", rows_of(std::span<const Key<ExpectationDraft>>(kExpectation)), {"run", "check"}});
}

}  // namespace lockstep::scenarios::schema
