// [[client]]: who uses the lock, and who sends commands past it.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::size_t kClientsMax = 256;
constexpr std::size_t kLocksMax = 16;
constexpr std::size_t kCallsMax = 100;
constexpr std::int64_t kRoundsMax = 1'000'000;
constexpr std::int64_t kReenterMax = 100;
constexpr std::int64_t kThreadsMax = 64;
constexpr std::int64_t kThreadIdMax = 1'000'000;

constexpr Kinds kUser = 1;       ///< uses the lock
constexpr Kinds kCommander = 2;  ///< sends `commands` instead
constexpr Kinds kProgram = 4;    ///< is a program

constexpr std::array<std::pair<std::string_view, bool>, 2> kVia{{{"servers", false}, {"sentinel", true}}};
constexpr std::array<std::pair<std::string_view, ClientSpec::Role>, 2> kRoles{
    {{"seller", ClientSpec::Role::seller}, {"buyer", ClientSpec::Role::buyer}}};

/// What is written as one table: neighbours with the same settings.
struct ClientTable : ClientSpec {
  std::filesystem::path folder = {};  ///< of the file; empty: it may lie anywhere
  std::vector<std::string> names = {};
};

struct ClientDraft {
  using Spec = ClientTable;
  Draft& draft;
  ClientSpec settings;  ///< of all clients of this table
  std::vector<const Node*> names;
  const Node* threads = nullptr;
  const Node* lock = nullptr;
  ClientSpec& spec() { return settings; }
};

constexpr std::array<std::pair<std::string_view, models::Mode>, 2> kModes{
    {{"read", models::Mode::shared}, {"write", models::Mode::exclusive}}};

void read_names(const Node& value, ClientDraft& c) {
  c.names = one_or_more(value, "a name such as \"A\", or names such as [\"B\", \"C\"]");
}

/// The same key may stand there twice: whether that works is a question to the lock.
std::vector<std::string> locks_of(const Node& value) {
  const std::string example = "an array of keys such as [\"stock\", \"account\"]";
  const Array& keys = array_of(value, example);
  if (keys.empty()) fail(value, "expected at least one key; leave \"locks\" out for the key of [lock]");
  if (keys.size() > kLocksMax) fail(value, "more than 16 locks of one client");
  std::vector<std::string> locks;
  for (const Node& key : keys) locks.push_back(text_of(key, "a key such as \"stock\""));
  return locks;
}

std::string process_name_of(const Node& value) {
  return text_of(value, "a name that its lock library takes for unique, such as \"host-1\"");
}

std::string account_of(const Node& value) { return string_of(value, "a name such as \"A\""); }

std::vector<models::locks::Call> calls_of(const Node& value, const Draft& draft) {
  const Array& names = array_of(value, "an array of calls such as [\"isHeldByCurrentThread\", \"unlock\"]");
  if (names.empty()) fail(value, "expected at least one call; release = false is for who never gives back");
  if (names.size() > kCallsMax) fail(value, "more than 100 calls");
  std::vector<models::locks::Call> calls;
  for (const Node& call : names) {
    calls.push_back(choice_of(call, models::locks::call_names));
    const models::locks::Entry* entry = find_entry(draft.scenario.lock, draft.catalogue);
    if (calls.back() != models::locks::Call::unlock && entry != nullptr && !entry->answers_calls)
      fail(call, std::string(entry->id) + " has no such call; \"unlock\" is the only one that every lock has");
  }
  return calls;
}

Value write_parameters(const ClientTable& client) {
  return client.parameters.empty() ? Value{} : Value{inline_table(keys_of(client.parameters))};
}

Value write_threads(const ClientTable& client);

std::vector<ClientSpec::Line> commands_of(const Node& value) {
  std::vector<ClientSpec::Line> commands;
  const Array& lines = array_of(value, "an array of commands such as [\"DEL lock\"]");
  if (lines.empty()) fail(value, "expected at least one command, not an empty array");
  read_each(lines, [&](const Node& line) { commands.push_back(command_of(line)); });
  return commands;
}

std::vector<std::string> command_line_of(const Node& value) {
  const Array& words = array_of(value, "a program and its arguments such as [\"python3\", \"app.py\"]");
  if (words.empty()) fail(value, "expected a program and its arguments such as [\"python3\", \"app.py\"]");
  std::vector<std::string> command;
  for (const Node& word : words) {
    command.push_back(command.empty() ? text_of(word, "a program such as \"python3\"")
                                      : string_of(word, "an argument such as \"app.py\""));
    if (command.back().find('\0') != std::string::npos) fail(word, "a zero byte, which no argument can have");
  }
  return command;
}

namespace fs = std::filesystem;

std::string folder_from(const fs::path& folder, const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder / path, error);
  fs::path normal = (error ? folder / path : absolute).lexically_normal();
  return normal.has_filename() || normal == normal.root_path() ? normal.string() : normal.parent_path().string();
}

void read_folder(const Node& value, ClientDraft& c) {
  const std::string& path = text_of(value, "a folder such as \"app\"");
  c.settings.program.folder = folder_from(c.draft.folder, path);
  std::error_code error;
  if (!fs::is_directory(c.settings.program.folder, error)) fail(value, "there is no folder " + in_quotes(path));
}

/// A file that may lie anywhere names the folder from the root on.
Value write_folder(const ClientTable& client) {
  if (client.program.folder.empty() || client.folder.empty()) return as_toml(client.program.folder);
  const fs::path relative = fs::path(client.program.folder).lexically_relative(folder_from(client.folder, ""));
  if (relative == ".") return {};
  return as_toml(relative.empty() ? client.program.folder : relative.string());
}

void read_environment(const Node& value, ClientDraft& c) {
  for (const Entry& entry : table_of(value, "a table such as { TTL = \"100\" }")) {
    const std::string& name = entry.node.key;
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
      throw Bad{entry.key_at, in_quotes(name) + " is no name of an environment variable"};
    const std::string& text = string_of(entry.node, "a text such as \"100\"");
    if (text.find('\0') != std::string::npos) fail(entry.node, "a zero byte, which no environment variable can have");
    c.settings.program.environment.emplace(name, text);
  }
}

Value write_environment(const ClientTable& client) {
  return client.program.environment.empty() ? Value{} : as_toml(client.program.environment);
}

constexpr Key<ClientDraft> kClient[] = {
    {"name", "name, or array of names", kRequired, "one client, or several with the same settings",
     both(read_names, [](const ClientTable& client) { return names_as_toml(client.names); })},
    {"command", "array of strings", "none",
     "it is a program, which is run as it is: itself and its arguments; {redis} is the address of that server",
     both([](const Node& value, ClientDraft& c) { c.settings.program.command = command_line_of(value); },
          [](const ClientTable& client) { return client.is_program() ? as_toml(client.program.command) : Value{}; }),
     kProgram},
    {"cwd", "string", "the folder of this file", "where the program is started, from the folder of this file",
     both(read_folder, write_folder), kProgram},
    {"env", "table of strings", "none", "environment variables of the program, besides those that all have",
     both(read_environment, write_environment), kProgram},
    {"acquire_at", "duration or range", "\"0ms\"",
     "when it starts its first attempt, in true time; of a program: when it is started",
     field<&ClientSpec::acquire_at, range_of>},
    {"hold", "duration or range", "\"0ms\"", "processor time inside the critical section; a pause lengthens it",
     field<&ClientSpec::hold, range_of>, kUser},
    {"locks", "array of keys", "the key of [lock]",
     "the locks that it takes, one after the other in this order; it gives them back in reverse",
     field<&ClientSpec::locks, locks_of>, kUser},
    {"lock", "table", "the values of [lock]", "parameters of the algorithm of which it has values of its own",
     both([](const Node& value, ClientDraft& c) { c.lock = &value; }, write_parameters), kUser, "mode"},
    {"rounds", "whole number, 1 to 1000000", "1", "how often it acquires, holds and releases",
     field<&ClientSpec::rounds, whole<1, kRoundsMax>>, kUser},
    {"between", "duration or range", "\"0ms\"", "from a release, or from giving up, to the next round",
     field<&ClientSpec::between, range_of>, kUser},
    {"attempts", "whole number, 1 or more", "the algorithm's", "how often it tries before it gives up",
     field<&ClientSpec::attempts, whole<1>>, kUser},
    {"retry", "duration or range", "the algorithm's", "pause between two attempts", field<&ClientSpec::retry, range_of>,
     kUser},
    {"release", "true or false", "true", "false: it forgets to release, and lives on",
     field<&ClientSpec::release, flag_of>, kUser},
    {"reenter", "whole number, 0 to 100", "0",
     "after `hold` it takes the lock again this often, and gives back as often",
     field<&ClientSpec::reenter, whole<0, kReenterMax>>, kUser},
    {"inner_hold", "duration or range", "\"0ms\"", "processor time after it has taken the lock again",
     field<&ClientSpec::inner_hold, range_of>, kUser},
    {"in_finally", "true or false", "false", "true: it releases as often as it tried to acquire, got or not",
     field<&ClientSpec::in_finally, flag_of>, kUser},
    {"finally", "array of calls", "none",
     "instead of releases: what it calls in the end, got or not; \"unlock\", \"forceUnlock\" or a question",
     field<&ClientSpec::finally, calls_of>, kUser},
    {"mode", "\"read\" or \"write\"", "the algorithm's", "how it takes a lock that readers can share",
     choice<&ClientSpec::mode, kModes>, kUser},
    {"process_name", "string", "its name; another after a crash",
     "what its lock library takes for unique among all processes", field<&ClientSpec::process_name, process_name_of>,
     kUser},
    {"thread_id", "whole number, 1 or more", "1", "of its first thread, unique within the process",
     field<&ClientSpec::thread_id, whole<1, kThreadIdMax>>, kUser},
    {"threads", "whole number, or array of tables", "none",
     "it has several threads, named A/1, A/2, …: so many alike, or one for each table with settings of its own",
     both([](const Node& value, ClientDraft& c) { c.threads = &value; }, write_threads), kUser, "via"},
    {"role", "\"seller\" or \"buyer\"", "none", "in a market, what it does in each round",
     choice<&ClientSpec::role, kRoles>, kUser},
    {"account", "string", "its own", "in a market, for whom: several clients may be one buyer",
     field<&ClientSpec::account, account_of>, kUser},
    {"clock", "table", "true time", "its clocks", field<&ClientSpec::clock, clock_of>},
    {"via", "\"servers\" or \"sentinel\"", "\"servers\"",
     "\"sentinel\": its only server is whoever is primary; it asks the sentinels, and again when the primary is gone",
     choice<&ClientSpec::via_sentinel, kVia>, kUser | kCommander},
    {"commands", "array of command lines", "none",
     "it does not use the lock but sends these to a server, quoted as for redis-cli",
     field<&ClientSpec::commands, commands_of>, kCommander},
    {"server", "name", "the first", "to whom it sends its commands", field<&ClientSpec::server, mentioned_server>,
     kCommander},
};

/// The same of one of its threads.
constexpr Key<ClientDraft> of_thread(std::string_view name) {
  Key<ClientDraft> key =
      *std::find_if(std::begin(kClient), std::end(kClient), [&](const auto& k) { return k.name == name; });
  key.kinds = kEveryKind;
  return key;
}

constexpr Key<ClientDraft> kThread[] = {
    {"acquire_at", "duration or range", "\"0ms\"", "when it starts its first attempt, from the start of its process",
     field<&ClientSpec::acquire_at, range_of>},
    of_thread("hold"),
    of_thread("rounds"),
    of_thread("between"),
    of_thread("attempts"),
    of_thread("retry"),
    of_thread("release"),
    of_thread("reenter"),
    of_thread("inner_hold"),
    of_thread("in_finally"),
    of_thread("finally"),
    of_thread("mode"),
};

Value write_threads(const ClientTable& client) {
  ClientTable standard = client;
  standard.acquire_at = {};
  Value threads;
  for (const ClientSpec& thread : client.threads)
    threads.elements.push_back(inline_table(write_table(kThread, {thread}, standard)));
  return threads;
}

/// What a thread does not say, its client says for it, but not when it starts.
void read_threads(const Node& node, ClientDraft& client) {
  ClientSpec alike = client.settings;
  alike.acquire_at = {};
  alike.clock = {};
  alike.process_name.clear();
  alike.thread_id = 1;
  if (std::holds_alternative<std::int64_t>(node.value)) {
    client.settings.threads.assign(static_cast<std::size_t>(whole_of(node, 1, kThreadsMax)), alike);
    return;
  }
  const Array& tables = array_of(node, "a number of threads, or an array of tables such as [{ hold = \"5ms\" }]");
  if (tables.empty() || tables.size() > static_cast<std::size_t>(kThreadsMax)) {
    fail(node, "expected 1 to " + std::to_string(kThreadsMax) + " threads, not " + std::to_string(tables.size()));
  }
  read_each(tables, [&](const Node& table) {
    ClientDraft thread{client.draft, alike, {}};
    table_of(table, "a table such as { hold = \"5ms\" }");
    read_table(table, {"a thread"}, kThread, thread);
    client.settings.threads.push_back(std::move(thread.settings));
  });
}

}  // namespace

const Array& tables_of(const Node& node, std::string_view heading) {
  const std::string what = std::string(heading) + " with two brackets (there may be several)";
  const Array& tables = array_of(node, what);
  for (const Node& table : tables) table_of(table, what);
  return tables;
}

namespace {

void read_client(const Node& table, Draft& draft) {
  ClientDraft client{draft, {}, {}};
  const bool sends_commands = find(table, "commands") != nullptr;
  const bool is_program = !sends_commands && find(table, "command") != nullptr;
  const Heading heading = sends_commands ? Heading{"a [[client]]", kCommander, "a client with commands"}
                          : is_program   ? Heading{"a [[client]]", kProgram, "a client that is a program"}
                                         : Heading{"a [[client]]", kUser, "a client"};
  read_table(table, heading, kClient, client);
  if (is_program && client.settings.program.folder.empty())
    client.settings.program.folder = folder_from(draft.folder, "");
  if (client.threads != nullptr) read_threads(*client.threads, client);
  const Node* finally = find(table, "finally");
  if (finally != nullptr && (client.settings.in_finally || !client.settings.release))
    fail(*finally, "it says all that is given back in the end; leave out \"release\" and \"in_finally\"");
  const std::size_t first = draft.scenario.clients.size();
  for (const Node* name : client.names) {
    if (draft.scenario.clients.size() == kClientsMax) fail(*name, "more than 256 clients");
    client.settings.name = draft.names.declare_client(*name);
    client.settings.at = name->at;
    draft.scenario.clients.push_back(client.settings);
  }
  if (client.lock != nullptr) draft.own_locks.push_back({client.lock, first, draft.scenario.clients.size()});
}

}  // namespace

void read_clients(const Node& node, Draft& draft) {
  read_each(tables_of(node, "[[client]]"), [&](const Node& table) { read_client(table, draft); });
}

Value write_clients(const Saved& saved) {
  const auto keys_of_client = [](const ClientTable& table) {
    const Kinds kind = table.is_program() ? kProgram : table.commands.empty() ? kUser : kCommander;
    return write_table(kClient, table, {}, kind);
  };
  std::vector<ClientTable> tables;
  Keys before;
  for (const ClientSpec& client : saved.scenario.clients) {
    Keys keys = keys_of_client({client, saved.folder});
    if (tables.empty() || keys != before) tables.push_back({client, saved.folder});
    tables.back().names.push_back(client.name);
    before = std::move(keys);
  }
  Value written{.is_array = true};
  for (const ClientTable& table : tables) written.tables.push_back(keys_of_client(table));
  return written;
}

void list_clients(std::vector<TableRow>& tables) {
  tables.push_back({"[[client]]", rows_of(kClient), {"users", "with commands", "programs"}});
  tables.push_back({"threads", rows_of(kThread)});
}

}  // namespace lockstep::scenarios::schema
