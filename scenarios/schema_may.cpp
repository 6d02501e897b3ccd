// [[may]]: what might happen, anywhere, in `check` and `fuzz`.

#include "scenarios/schema_parts.hpp"
#include "scenarios/schema_value.hpp"
#include "scenarios/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using Kind = MaySpec::Kind;

constexpr Kinds bit(Kind kind) { return static_cast<Kinds>(1u << static_cast<unsigned>(kind)); }

constexpr std::int64_t kTimesMax = 1'000;

constexpr std::array<std::pair<std::string_view, Kind>, 5> kKinds{
    {{"pause", Kind::pause}, {"crash", Kind::crash}, {"lose", Kind::lose}, {"jump", Kind::jump}, {"skew", Kind::skew}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> kDuring{{{"anything", false}, {"work", true}}};

struct MayDraft {
  Draft& draft;
  MaySpec may;
  const Node* who = nullptr;
  const Node* keep = nullptr;
  const Node* during = nullptr;
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

constexpr Key<MayDraft> kMay[] = {
    {"kind", "\"pause\", \"crash\", \"lose\", \"jump\" or \"skew\"", kRequired, "what might happen",
     [](const Node& value, MayDraft& d) { d.may.kind = choice_of(value, kKinds); }},
    {"client", "name, or array of names", "any client; jump: any server", "whom it might strike",
     [](const Node& value, MayDraft& d) { read_who(value, d, Who::client); }},
    {"server", "name, or array of names", "none", "whom it might strike, if no client",
     [](const Node& value, MayDraft& d) { read_who(value, d, Who::service); },
     bit(Kind::pause) | bit(Kind::crash) | bit(Kind::jump) | bit(Kind::skew)},
    {"length", "duration or range", kRequired, "how long the pause may be",
     [](const Node& value, MayDraft& d) { d.may.length = range_of(value); }, bit(Kind::pause)},
    {"during", "\"anything\" or \"work\"", "\"anything\"",
     "whether it strikes anywhere, or only while a client works in its critical section",
     [](const Node& value, MayDraft& d) {
       d.may.during_work = choice_of(value, kDuring);
       if (d.may.during_work) d.during = &value;
     },
     bit(Kind::pause)},
    {"by", "duration or range, may be negative", kRequired, "how far the clock may jump, or be off from the start",
     [](const Node& value, MayDraft& d) { d.may.length = signed_range_of(value); }, bit(Kind::jump) | bit(Kind::skew)},
    {"restart_after", "duration or range", "never", "how long after the crash it comes back",
     [](const Node& value, MayDraft& d) { d.may.restart_after = range_of(value); }, bit(Kind::crash)},
    {"keep", "true or false", "false", "whether a crashed server still has its keys when it comes back",
     [](const Node& value, MayDraft& d) {
       d.may.keep = flag_of(value);
       d.keep = &value;
     },
     bit(Kind::crash)},
    {"times", "whole number, 1 to 1000", "1", "at most this often in one execution",
     [](const Node& value, MayDraft& d) { d.may.times = whole_of(value, 1, kTimesMax); }},
};

}  // namespace

void read_may(const Node& node, Draft& draft) {
  read_each(tables_of(node, "[[may]]"), [&](const Node& table) {
    MayDraft may{draft, {}};
    may.may.at = table.at;
    const Node* kind = find(table, "kind");
    if (kind == nullptr) throw Bad{table.at, "a [[may]] needs \"kind\": what might happen"};
    may.may.kind = choice_of(*kind, kKinds);
    const std::string name = "kind = " + in_quotes(std::get<std::string>(kind->value));
    read_table(table, {"a [[may]]", bit(may.may.kind), name}, kMay, may);
    if (may.keep != nullptr && (may.who == nullptr || may.who->key != "server")) {
      fail(*may.keep, "a client keeps nothing in a crash; \"keep\" needs \"server\"");
    }
    if (may.during != nullptr && may.who != nullptr && may.who->key == "server") {
      fail(*may.during, "a server has no critical section to work in; \"during\" needs clients");
    }
    draft.scenario.may.push_back(std::move(may.may));
  });
}

void list_may(std::vector<TableRow>& tables) {
  tables.push_back({"[[may]]", rows_of(std::span<const Key<MayDraft>>(kMay)), names_of(kKinds)});
}

}  // namespace lockstep::scenarios::schema
