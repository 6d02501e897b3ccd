#include "checker/histories/aliases.hpp"

#include <algorithm>
#include <array>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

/// What else files call a function, by the function's name in the models. A name that is a function of the model itself
/// always means that one.
constexpr std::array kAliases{
    Alias{"lock", "acquire"},
    Alias{"tryLock", "acquire"},
    Alias{"trylock", "acquire"},
    Alias{"try-lock", "acquire"},
    Alias{"try_lock", "acquire"},
    Alias{"unlock", "release"},
    Alias{"read-lock", "acquire-read"},
    Alias{"lock-read", "acquire-read"},
    Alias{"rlock", "acquire-read"},
    Alias{"read-unlock", "release-read"},
    Alias{"unlock-read", "release-read"},
    Alias{"runlock", "release-read"},
    Alias{"write-lock", "acquire-write"},
    Alias{"lock-write", "acquire-write"},
    Alias{"write-unlock", "release-write"},
    Alias{"unlock-write", "release-write"},
    Alias{"r", "read"},
    Alias{"get", "read"},
    Alias{"w", "write"},
    Alias{"put", "write"},
    Alias{"set", "write"},
    Alias{"compare-and-set", "cas"},
    Alias{"read", "get"},
    Alias{"write", "put"},
    Alias{"enq", "enqueue"},
    Alias{"push", "enqueue"},
    Alias{"deq", "dequeue"},
    Alias{"pop", "dequeue"},
    Alias{"poll", "dequeue"},
    Alias{"insert", "add"},
    Alias{"delete", "remove"},
    // A transaction of one part, whose value is [key value].
    Alias{"read", "txn"},
    Alias{"write", "txn"},
    Alias{"r", "txn"},
    Alias{"w", "txn"},
};

bool is_same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string_view> function_named(std::span<const Alias> aliases, std::string_view name) {
  auto found = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.name == name; });
  if (found == aliases.end())
    found = std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return is_same_word(a.name, name); });
  return found == aliases.end() ? std::nullopt : std::optional(found->function);
}

std::vector<Alias> aliases(const Model& model) {
  std::vector<Alias> all;
  for (const ModelFunction& function : model.functions()) all.push_back({function.name, function.name});
  for (const Alias& alias : kAliases) {
    if (!model.find_function(alias.function)) continue;
    const bool is_taken = std::any_of(all.begin(), all.end(), [&](const Alias& a) { return a.name == alias.name; });
    if (!is_taken) all.push_back(alias);
  }
  return all;
}

std::optional<SaidModel> model_said(const Event& event) {
  const Model* model = event.model.is_word() ? find_model(event.model.text) : nullptr;
  if (model == nullptr) return std::nullopt;
  const bool has_permits = event.permits.is(Value::Kind::integer) && event.permits.number > 0;
  return SaidModel{model, has_permits ? std::optional(event.permits.number) : std::nullopt};
}

const Model* model_with(std::span<const std::string> functions) {
  // The plainest first: of what one model has, others have more.
  for (const std::string_view name :
       {"mutex", "read-write-lock", "register", "cas-register", "fifo-queue", "set", "kv"}) {
    const Model* model = find_model(name);
    const std::vector<Alias> known = aliases(*model);
    const bool has_all = std::all_of(functions.begin(), functions.end(),
                                     [&](const std::string& f) { return function_named(known, f).has_value(); });
    if (has_all && !functions.empty()) return model;
  }
  return nullptr;
}

}  // namespace lockstep::checker::history_formats
