#include "scenarios/format/schema/schema.hpp"

#include <algorithm>
#include <set>

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/failures.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::array<std::pair<std::string_view, Cost>, 3> kCosts{
    {{"fast", Cost::fast}, {"slow", Cost::slow}, {"rare", Cost::rare}}};

template <auto language>
Value write_paragraph(const Text& text) {
  return {(text.*language).empty() ? "" : toml_text::paragraph(text.*language)};
}

constexpr Key<Text> kText[] = {
    {"en", "string", kRequired, "in English",
     both([](const Node& value, Text& text) { text.en = text_of(value, "a text in English"); },
          write_paragraph<&Text::en>)},
    {"zh", "string", "the English text", "in Chinese",
     both([](const Node& value, Text& text) { text.zh = text_of(value, "a text in Chinese"); },
          write_paragraph<&Text::zh>)},
};

void read_text(const Node& node, Text& text) {
  if (std::holds_alternative<std::string>(node.value)) {
    text.en = text_of(node, "a text in English, or { en = \"...\", zh = \"...\" }");
    return;
  }
  if (!std::holds_alternative<Table>(node.value)) fail_expecting(node, "a text, or { en = \"...\", zh = \"...\" }");
  read_table(node, {node.key}, kText, text);
}

Value write_title(const Saved& saved) {
  const auto& [en, zh] = saved.scenario.title;
  return zh.empty() ? as_toml(en) : Value{toml_text::inline_table({as_toml(en).of("en"), as_toml(zh).of("zh")})};
}

template <auto text>
Value write_text(const Saved& saved) {
  return (saved.scenario.*text).en.empty() ? Value{} : headed(write_table(kText, saved.scenario.*text, {}));
}

std::string source_of(const Node& value) { return text_of(value, "a document and a place in it"); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "F000-2i": F and three digits of the document, then the scenario in it.
bool is_failure_id(std::string_view id) {
  const auto is_word = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return id.size() >= 6 && id.size() <= 32 && id[0] == 'F' && std::all_of(id.begin() + 1, id.begin() + 4, is_digit) &&
         id[4] == '-' && std::all_of(id.begin() + 5, id.end(), is_word);
}

std::vector<std::string_view> failure_ids() {
  std::vector<std::string_view> ids;
  for (const Failure& failure : failures()) ids.push_back(failure.id);
  return ids;
}

std::vector<std::string> reproduces_of(const Node& value) {
  std::vector<std::string> ids;
  std::set<std::string_view> seen;
  for (const Node& element : array_of(value, "an array of ids such as [\"F000-2\"]")) {
    const std::string& id = string_of(element, "an id such as \"F000-2\"");
    if (!is_failure_id(id)) fail_expecting(element, "the id of a documented failure such as \"F000-2\"");
    if (find_failure(id) == nullptr)
      fail(element, "there is no documented failure " + in_quotes(id) + ": " + suggestion(id, failure_ids()));
    if (!seen.insert(id).second) fail(element, in_quotes(id) + " stands here twice");
    ids.push_back(id);
  }
  return ids;
}

constexpr Key<Draft> kTop[] = {
    {"title", "string, or table: en, zh", kRequired, "one line, in English or in both languages",
     both([](const Node& value, Draft& draft) { read_text(value, draft.scenario.title); }, write_title)},
    {"story", "string, or table: en, zh", "none", "what happens",
     both([](const Node& value, Draft& draft) { read_text(value, draft.scenario.story); },
          write_text<&Scenario::story>)},
    {"lesson", "string, or table: en, zh", "none", "what to take from it",
     both([](const Node& value, Draft& draft) { read_text(value, draft.scenario.lesson); },
          write_text<&Scenario::lesson>)},
    {"source", "string", "none", "the document that tells it, and where", field<&Scenario::source, source_of>},
    {"reproduces", "array of ids", "none",
     "documented failures, as the catalogue numbers them: F and three digits, -, a word",
     field<&Scenario::reproduces, reproduces_of>},
    {"cost", "\"fast\", \"slow\" or \"rare\"", "\"fast\"", "how long it takes, and so how often it is run",
     choice<&Scenario::cost, kCosts>},
    {"lock", "table", kRequired, "the table [lock] with the algorithm", both(read_lock, write_lock)},
    {"network", "table", "see there", "latency and timeouts", both(read_network, write_network), kEveryKind,
     "sentinel"},
    {"servers", "table", "one server", "several servers, all alike", both(read_all_servers, write_all_servers)},
    {"server", "array of tables", "one server", "each server for itself", both(read_servers, write_servers)},
    {"sentinels", "table", "none", "who watches the primary and replaces it", both(read_sentinels, write_sentinels)},
    {"sentinel", "array of tables", "all alike", "each sentinel for itself",
     both(read_each_sentinel, write_each_sentinel)},
    {"resource", "table", "none", "what the lock protects", both(read_resource, write_resource)},
    {"market", "table", "none", "clients are sellers and buyers", both(read_market, write_market)},
    {"client", "array of tables", kRequired, "at least one table [[client]]", both(read_clients, write_clients)},
    {"fault", "array of tables", "none", "what does happen, in `run`", both(read_faults, write_faults)},
    {"may", "array of tables", "none", "what might happen, in `check` and `fuzz`", both(read_may, write_may)},
    {"pin", "table", "none", "commands in the order in which they are handled", both(read_pin, write_pin)},
    {"schedule", "table", "none", "events at exactly given times", both(read_schedule, write_schedule)},
    {"properties", "table", "none", "bounds of properties", both(read_properties, write_properties)},
    {"expect", "table", "none", "what each property is expected to be", both(read_expect, write_expect)},
};

/// The kind that the script of [lock] says. Null: there is no script, or something is wrong with it.
const models::ServerKind* server_kind_of_script(const Node& lock, const std::filesystem::path& folder,
                                                const OwnLock* known) {
  const Node* script = find(lock, "script");
  const auto* path = script != nullptr ? std::get_if<std::string>(&script->value) : nullptr;
  if (path == nullptr) return nullptr;
  if (known != nullptr && known->entry != nullptr && known->path == *path)
    return &models::locks::server_kind_of(*known->entry);
  const auto read = read_own_lock(folder / *path);
  const auto* own = std::get_if<OwnLock>(&read);
  return own != nullptr ? &models::locks::server_kind_of(*own->entry) : nullptr;
}

/// What [lock] runs on, which the servers above it have to know. If there is no such lock, its reader says so.
const models::ServerKind& server_kind_of(const Node& root, const models::locks::Catalogue& catalogue,
                                         const std::filesystem::path& folder, const OwnLock* known) {
  const Node* lock = find(root, "lock");
  if (lock == nullptr || !std::holds_alternative<Table>(lock->value)) return models::standard_server_kind();
  if (const models::ServerKind* kind = server_kind_of_script(*lock, folder, known)) return *kind;
  const Node* algorithm = find(*lock, "algorithm");
  const auto* id = algorithm != nullptr ? std::get_if<std::string>(&algorithm->value) : nullptr;
  const models::locks::Entry* entry = id != nullptr ? catalogue.find(*id) : nullptr;
  return entry != nullptr ? models::locks::server_kind_of(*entry) : models::standard_server_kind();
}

/// In a market everybody has a role, and elsewhere nobody.
void check_roles(const Scenario& scenario) {
  for (const ClientSpec& client : scenario.clients) {
    const bool has_role = client.role != ClientSpec::Role::none;
    if (has_role && !scenario.market)
      throw Bad{client.at, in_quotes(client.name) + " has a role, which needs a [market]"};
    if (!client.account.empty() && !has_role)
      throw Bad{client.at, in_quotes(client.name) + " has an account and no role: add role = \"buyer\""};
    if (!has_role && scenario.market && client.commands.empty() && !client.is_program())
      throw Bad{client.at, in_quotes(client.name) + " needs role = \"seller\" or \"buyer\", since there is a [market]"};
  }
}

/// A server that nobody taught a fault would look like one that withstands it.
void check_implemented(const Scenario& scenario, const models::ServerKind& kind) {
  const auto check = [&](const auto& fault, bool strikes_server) {
    const bool is_theirs = strikes_server || !strikes_process(fault.kind);
    const std::span<const sim::FaultKind> known = kind.implements();
    if (!is_theirs || std::find(known.begin(), known.end(), fault.kind) != known.end()) return;
    throw Bad{fault.at, "servers of kind " + in_quotes(kind.name()) + " know no " + in_quotes(name_of(fault.kind)) +
                            ", so nothing would follow from it; leave it out"};
  };
  const auto is_server = [&](std::string_view name) { return !is_client(scenario, name); };
  for (const FaultSpec& fault : scenario.faults) check(fault, is_server(fault.who));
  for (const MaySpec& may : scenario.may)
    check(may, may.who.empty() ? entry_of(may.kind).unless_named == sim::Whose::servers
                               : std::any_of(may.who.begin(), may.who.end(), is_server));
}

/// A program has its own patience.
void check_losses(const Scenario& scenario) {
  const bool has_only_programs = std::all_of(scenario.clients.begin(), scenario.clients.end(),
                                             [](const ClientSpec& client) { return client.is_program(); });
  if (scenario.network.timeout || has_only_programs) return;
  const std::string remedy = "a lost message, and a client that waits for ever: add timeout = \"50ms\" to [network]";
  for (const FaultSpec& fault : scenario.faults) {
    if (loses_message(fault.kind)) throw Bad{fault.at, remedy};
  }
  for (const MaySpec& may : scenario.may) {
    if (loses_message(may.kind)) throw Bad{may.at, remedy};
  }
}

/// A threshold is the smallest value of a range, so the file must have that range.
void check_thresholds(const Scenario& scenario) {
  for (const Expectation& expectation : scenario.expect_check) {
    std::map<std::string, std::string, std::less<>> thresholds = expectation.from;
    thresholds.insert(expectation.up_to.begin(), expectation.up_to.end());
    for (const auto& [parameter, value] : thresholds) {
      const sim::FaultKind kind = *sim::kind_of_parameter(parameter);
      const bool ranges = std::any_of(scenario.may.begin(), scenario.may.end(), [&](const MaySpec& may) {
        return may.kind == kind && length_of(may) != nullptr;
      });
      if (ranges) continue;
      const std::string remedy = "kind = " + in_quotes(name_of(kind)) + " and a range" +
                                 (name_of(kind) == parameter ? "" : " of " + in_quotes(parameter));
      throw Bad{expectation.position,
                expectation.property + ": a threshold of " + in_quotes(parameter) + " needs a [[may]] with " + remedy};
    }
  }
}

/// Whose threads or background tasks share a process has no work that a pause makes longer (`Client::work`).
void check_work(const Scenario& scenario, const models::locks::Entry& entry) {
  for (const MaySpec& may : scenario.may) {
    if (may.during != sim::Activity::work || !freezes(may.kind)) continue;
    const bool has_threads = std::any_of(scenario.clients.begin(), scenario.clients.end(),
                                         [](const ClientSpec& client) { return !client.threads.empty(); });
    if (!has_threads && !entry.has_background) continue;
    throw Bad{may.at,
              std::string("during = \"work\" is for clients that do one thing at a time; ") +
                  (has_threads ? "these have threads" : "those of this algorithm have tasks in the background") +
                  ": leave it out"};
  }
}

/// Both fix an order, and could contradict each other.
void check_order(const Node& root, const Scenario& scenario) {
  if (scenario.schedule.empty() || scenario.pin.empty()) return;
  throw Bad{find(root, "pin")->at, "both [pin] and [schedule]; a schedule fixes the order already: leave out [pin]"};
}

/// A thread stops or dies at steps of its own program; its messages and clocks are its process's, and nobody starts it
/// again.
void check_threads(const Scenario& scenario) {
  for (const FaultSpec& fault : scenario.faults) {
    if (fault.who.find('/') == std::string::npos) continue;
    const std::string client = fault.who.substr(0, fault.who.find('/'));
    const bool stops = entry_of(fault.kind).stops != sim::HowLong::never;
    if (!stops || fault.restart_after) {
      throw Bad{fault.at,
                "this fault strikes a process and not one of its threads; write client = " + in_quotes(client)};
    }
    constexpr std::string_view steps[] = {"acquire", "release", "leave", "renew", "write", "read"};
    const bool is_own = std::find(std::begin(steps), std::end(steps), fault.trigger.step) != std::end(steps);
    if (fault.trigger.kind == Trigger::Kind::at || !is_own) {
      throw Bad{fault.at,
                "a thread stops at a step of its own program; expected before or after with \"acquire\", "
                "\"release\", \"leave\", \"renew\", \"read\" or \"write\", or client = " +
                    in_quotes(client)};
    }
  }
}

/// If something is wrong with the clients, their reader says so.
bool has_only_programs(const Node& root) {
  const Node* clients = find(root, "client");
  const auto* tables = clients != nullptr ? std::get_if<Array>(&clients->value) : nullptr;
  return tables != nullptr && !tables->empty() && std::all_of(tables->begin(), tables->end(), [](const Node& client) {
           return std::holds_alternative<Table>(client.value) && find(client, "command") != nullptr;
         });
}

void check_overrides(const Draft& draft) {
  const models::locks::Entry* entry = find_entry(draft.scenario.lock, draft.catalogue);
  const auto declares = [&](std::string_view name) {
    return std::any_of(entry->parameters.begin(), entry->parameters.end(),
                       [&](const models::locks::ParameterSpec& spec) { return spec.name == name; });
  };
  for (const ClientSpec& client : draft.scenario.clients) {
    for (const std::string_view name : {"attempts", "retry"}) {
      const bool set = name == "retry" ? client.retry.has_value() : client.attempts.has_value();
      if (set && !declares(name)) {
        throw Bad{client.at, in_quotes(client.name) + " sets " + in_quotes(name) + ", which " + std::string(entry->id) +
                                 " does not have; leave it out"};
      }
    }
  }
}

}  // namespace

Scenario read_scenario(const Node& root, const models::locks::Catalogue& catalogue, const std::filesystem::path& folder,
                       const OwnLock* known) {
  Draft draft{catalogue, server_kind_of(root, catalogue, folder, known), folder, known, has_only_programs(root), {},
              {}};
  read_table(root, {"a scenario"}, kTop, draft);
  Scenario& scenario = draft.scenario;
  if (scenario.clients.empty()) throw Bad{find(root, "client")->at, "client: expected at least one [[client]]"};
  if (scenario.servers.empty()) add_servers(draft, 1);
  const models::locks::Entry& entry = *find_entry(scenario.lock, catalogue);
  draft.names.resolve(scenario, entry.has_background);
  Mistakes mistakes;
  mistakes.attempt([&] { read_own_parameters(draft); });
  mistakes.attempt([&] { check_threads(scenario); });
  mistakes.attempt([&] { check_server_kind(root, draft); });
  mistakes.attempt([&] { check_sentinels(entry, scenario); });
  mistakes.attempt([&] { check_resource(root, entry, scenario); });
  mistakes.attempt([&] { check_losses(scenario); });
  mistakes.attempt([&] { check_implemented(scenario, draft.server_kind); });
  mistakes.attempt([&] { check_work(scenario, entry); });
  mistakes.attempt([&] { check_roles(scenario); });
  mistakes.attempt([&] { check_order(root, scenario); });
  mistakes.attempt([&] { check_thresholds(scenario); });
  mistakes.attempt([&] { check_overrides(draft); });
  mistakes.attempt([&] { check_programs(root, draft); });
  mistakes.complain();
  return std::move(scenario);
}

std::string write_scenario(const Scenario& scenario, const std::filesystem::path& folder) {
  const Scenario standard;
  Keys keys = write_table(kTop, {scenario, folder}, {standard, folder});
  keys.front().key = "title ";  // as wide as "source"
  return toml_text::file(keys);
}

std::vector<TableRow> tables() {
  std::vector<TableRow> tables{{"", rows_of(kTop)}, {"text", rows_of(kText)}};
  list_lock(tables);
  list_world(tables);
  list_servers(tables);
  list_sentinels(tables);
  list_clients(tables);
  list_faults(tables);
  list_may(tables);
  list_schedule(tables);
  list_expect(tables);
  return tables;
}

}  // namespace lockstep::scenarios::schema
