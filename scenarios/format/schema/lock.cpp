// [lock]: the algorithm, and whatever parameters it declares.

#include <algorithm>

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

using models::locks::ParameterSpec;
using models::locks::ParameterValue;

bool is_own(const LockSpec& lock) { return lock.own.entry != nullptr && lock.own.entry->id == lock.algorithm; }

constexpr Key<Draft> kLock[] = {
    {"algorithm", "string", "required without a script, unless all clients are programs",
     "the id of a lock algorithm; `lockstep list algorithms` shows them",
     both(
         [](const Node& value, Draft& draft) {
           draft.scenario.lock.algorithm = std::get<std::string>(value.value);
           draft.scenario.lock.algorithm_at = value.at;
         },
         [](const Saved& saved) {
           const LockSpec& lock = saved.scenario.lock;
           return is_own(lock) || is_lock_of_programs(lock) ? Value{} : as_toml(lock.algorithm);
         })},
    {"script", "string", "none", "instead of an algorithm: a Lua script, from the folder of this file",
     both([](const Node& value, Draft& draft) { draft.scenario.lock.algorithm_at = value.at; },
          [](const Saved& saved) {
            const LockSpec& lock = saved.scenario.lock;
            return is_own(lock) ? as_toml(script_from(lock.own, saved.folder)) : Value{};
          })},
    {"key", "string", "\"lock\"", "the key that the lock is kept under",
     both([](const Node& value, Draft& draft) { draft.scenario.lock.key = text_of(value, "a key such as \"lock\""); },
          [](const Saved& saved) { return as_toml(saved.scenario.lock.key); })},
};

struct ReadParameter {
  const Node& node;
  const ParameterSpec& spec;

  /// A server counts leases in milliseconds, and refuses one of none. Where there may be no lease, that is the default.
  ParameterValue operator()(sim::Duration fallback) const {
    const sim::Duration value = duration_of(node);
    using models::locks::ParameterRole;
    const bool is_lease = spec.role == ParameterRole::lease || spec.role == ParameterRole::renewed_lease ||
                          spec.role == ParameterRole::session_ttl;
    if (is_lease && fallback > sim::Duration::zero() && value < sim::Duration::milliseconds(1))
      fail_expecting(node, "a lease of 1ms or more");
    return value;
  }
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

/// The lock that the file brings along.
const models::locks::Entry& own_lock_of(const Node& lock, const Node& script, Draft& draft) {
  const std::string& path = text_of(script, "the path of a Lua script such as \"my-lock.lua\"");
  if (find(lock, "algorithm") != nullptr)
    throw Bad{script.at, "both \"script\" and \"algorithm\"; a lock has one of them: leave out the other"};
  const bool is_known = draft.known != nullptr && draft.known->entry != nullptr && draft.known->path == path;
  auto read = is_known ? std::variant<OwnLock, std::string>(*draft.known) : read_own_lock(draft.folder / path);
  if (const auto* problem = std::get_if<std::string>(&read)) throw Bad{script.at, "script: " + *problem};
  draft.scenario.lock.own = std::get<OwnLock>(std::move(read));
  draft.scenario.lock.algorithm = draft.scenario.lock.own.entry->id;
  return *draft.scenario.lock.own.entry;
}

const models::locks::Entry& algorithm_of(const Node& lock, Draft& draft) {
  const Node* id = find(lock, "algorithm");
  if (const Node* script = std::holds_alternative<Table>(lock.value) ? find(lock, "script") : nullptr)
    return own_lock_of(lock, *script, draft);
  const models::locks::Catalogue& catalogue = draft.catalogue;
  if (id == nullptr) {
    table_of(lock, "the table [lock]");
    if (draft.has_only_programs) {
      draft.scenario.lock.algorithm = kLockOfPrograms;
      return lock_of_programs();
    }
    throw Bad{lock.at, "[lock] needs \"algorithm\": " + std::string(kLock[0].meaning) +
                           "; or \"script\": a lock of your own in Lua"};
  }
  const std::string& text = text_of(*id, "the id of a lock algorithm");
  if (const models::locks::Entry* entry = catalogue.find(text)) return *entry;
  const std::vector<std::string_view> ids = catalogue.ids();
  std::string hint = suggestion(text, ids);
  if (hint.starts_with("there are")) hint += "; lockstep list algorithms shows all of them";
  const bool is_script = text.ends_with(".lua");
  fail(*id, "there is no algorithm " + in_quotes(text) + ": " +
                (is_script ? "a script of your own is `script = " + in_quotes(text) + "`" : hint));
}

}  // namespace

void read_lock(const Node& node, Draft& draft) {
  LockSpec& lock = draft.scenario.lock;
  const models::locks::Entry& entry = algorithm_of(node, draft);
  // The keys of this table: those above, then the algorithm's own.
  std::vector<KeyRow> rows = rows_of(kLock);
  const std::size_t own = rows.size();
  // What no algorithm is named for, nobody tries or waits for.
  const bool has_algorithm = !is_lock_of_programs(lock);
  for (const ParameterSpec& spec : entry.parameters) {
    if (has_algorithm) rows.push_back({spec.name, "", "", spec.meaning});
  }
  const std::string heading = "[lock] of " + std::string(entry.id);
  visit_table(node, {heading}, rows, [&](std::size_t i, const Node& value) {
    if (i < own) return kLock[i].way.read(value, draft);
    const ParameterSpec& spec = entry.parameters[i - own];
    lock.parameters.emplace(spec.name, std::visit(ReadParameter{value, spec}, spec.fallback));
  });
}

Value write_lock(const Saved& saved) {
  const Scenario standard;
  Keys keys = write_table(kLock, saved, {standard, saved.folder});
  for (Value& parameter : keys_of(saved.scenario.lock.parameters)) keys.push_back(std::move(parameter));
  return headed(std::move(keys));
}

Keys keys_of(const LockParameters& parameters) {
  Keys keys;
  for (const auto& [name, value] : parameters) keys.push_back(as_toml(value).of(name));
  return keys;
}

namespace {

/// Why a client cannot have its own value; empty: it can.
std::string refusal(const ParameterSpec& spec) {
  if (spec.name == "attempts" || spec.name == "retry") return "write it in the [[client]] itself, beside \"lock\"";
  if (spec.one_for_all.empty()) return "";
  return "all clients have the same, for " + std::string(spec.one_for_all) + ": set it in [lock]";
}

LockParameters own_parameters(const Node& node, const models::locks::Entry& entry) {
  std::vector<KeyRow> rows;
  for (const ParameterSpec& spec : entry.parameters) {
    if (refusal(spec).empty()) rows.push_back({spec.name, "", "", spec.meaning});
  }
  if (rows.empty()) fail(node, "a client cannot have values of its own for any parameter of " + std::string(entry.id));
  if (!std::holds_alternative<Table>(node.value)) {
    fail_expecting(node, "a table such as { " + std::string(rows.front().name) +
                             " = … } with parameters of the algorithm; which locks it takes is \"locks\"");
  }
  // What nobody can have of his own is no unknown key, and none to suggest.
  const auto why_not = [&](std::string_view name) -> std::string {
    if (name == "algorithm") return "all clients use the algorithm of [lock]; only its parameters can differ";
    if (name == "key") return "write locks = [\"…\"] in the [[client]] itself, beside \"lock\"";
    for (const ParameterSpec& spec : entry.parameters) {
      if (spec.name == name) return refusal(spec);
    }
    return "";
  };
  Mistakes mistakes;
  Node rest = node;
  std::erase_if(std::get<Table>(rest.value), [&](const Entry& set) {
    const std::string reason = why_not(set.node.key);
    if (!reason.empty()) mistakes.add({set.key_at, set.node.key + ": " + reason});
    return !reason.empty();
  });
  LockParameters parameters;
  const std::string heading = "\"lock\" of a [[client]] with " + std::string(entry.id);
  mistakes.attempt([&] {
    visit_table(rest, {heading}, rows, [&](std::size_t i, const Node& value) {
      const auto spec = std::find_if(entry.parameters.begin(), entry.parameters.end(),
                                     [&](const ParameterSpec& one) { return one.name == rows[i].name; });
      parameters.emplace(spec->name, std::visit(ReadParameter{value, *spec}, spec->fallback));
    });
  });
  mistakes.complain();
  return parameters;
}

}  // namespace

void read_own_parameters(Draft& draft) {
  const models::locks::Entry& entry = *find_entry(draft.scenario.lock, draft.catalogue);
  Mistakes mistakes;
  for (const Draft::OwnLock& own : draft.own_locks) {
    mistakes.attempt([&] {
      const LockParameters parameters = own_parameters(*own.table, entry);
      for (std::size_t i = own.first; i < own.last; ++i) {
        ClientSpec& client = draft.scenario.clients[i];
        client.parameters = parameters;
        for (ClientSpec& thread : client.threads) thread.parameters = parameters;
      }
    });
  }
  mistakes.complain();
}

void list_lock(std::vector<TableRow>& tables) { tables.push_back({"[lock]", rows_of(kLock)}); }

}  // namespace lockstep::scenarios::schema
