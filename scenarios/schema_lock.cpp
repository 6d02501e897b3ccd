// [lock]: the algorithm, and whatever parameters it declares.

#include <algorithm>

#include "scenarios/schema_parts.hpp"
#include "scenarios/schema_value.hpp"
#include "scenarios/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using models::locks::ParameterSpec;
using models::locks::ParameterValue;

constexpr Key<LockSpec> kLock[] = {
    {"algorithm", "string", kRequired, "the id of a lock algorithm; `lockstep list algorithms` shows them",
     [](const Node& value, LockSpec& lock) {
       lock.algorithm = std::get<std::string>(value.value);
       lock.algorithm_at = value.at;
     }},
    {"key", "string", "\"lock\"", "the key that the lock is kept under",
     [](const Node& value, LockSpec& lock) { lock.key = text_of(value, "a key such as \"lock\""); }},
};

struct ReadParameter {
  const Node& node;
  const ParameterSpec& spec;

  ParameterValue operator()(sim::Duration) const { return duration_of(node); }
  ParameterValue operator()(sim::DurationRange) const { return range_of(node); }
  ParameterValue operator()(std::int64_t) const { return whole_of(node, spec.min); }
  ParameterValue operator()(bool) const { return flag_of(node); }
  ParameterValue operator()(const std::string&) const {
    const std::string& text = string_of(node, kind_of(spec));
    const bool allowed =
        spec.choices.empty() || std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end();
    if (!allowed) fail_choice(node, spec.choices);
    return text;
  }
};

const models::locks::Entry& algorithm_of(const Node& lock, const models::locks::Catalogue& catalogue) {
  const Node* id = find(lock, "algorithm");
  if (id == nullptr) {
    table_of(lock, "the table [lock]");
    throw Bad{lock.at, "[lock] needs \"algorithm\": " + std::string(kLock[0].meaning)};
  }
  const std::string& text = text_of(*id, "the id of a lock algorithm");
  if (const models::locks::Entry* entry = catalogue.find(text)) return *entry;
  std::vector<std::string_view> ids;
  for (const models::locks::Entry& entry : catalogue.entries()) ids.push_back(entry.id);
  std::string hint = suggestion(text, ids);
  if (hint.starts_with("there are")) hint += "; lockstep list algorithms shows all of them";
  fail(*id, "there is no algorithm " + in_quotes(text) + ": " + hint);
}

}  // namespace

void read_lock(const Node& node, Draft& draft) {
  LockSpec& lock = draft.scenario.lock;
  const models::locks::Entry& entry = algorithm_of(node, draft.catalogue);
  // The keys of this table: the two above, then the algorithm's own.
  std::vector<KeyRow> rows = rows_of(std::span<const Key<LockSpec>>(kLock));
  const std::size_t own = rows.size();
  for (const ParameterSpec& spec : entry.parameters) rows.push_back({spec.name, "", "", spec.meaning});
  const std::string heading = "[lock] of " + std::string(entry.id);
  visit_table(node, {heading}, rows, [&](std::size_t i, const Node& value) {
    if (i < own) return kLock[i].read(value, lock);
    const ParameterSpec& spec = entry.parameters[i - own];
    lock.parameters.emplace(spec.name, std::visit(ReadParameter{value, spec}, spec.fallback));
  });
}

void list_lock(std::vector<TableRow>& tables) {
  tables.push_back({"[lock]", rows_of(std::span<const Key<LockSpec>>(kLock))});
}

}  // namespace lockstep::scenarios::schema
