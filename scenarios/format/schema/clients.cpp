// [[client]]: who uses the lock, and who sends commands past it.

#include "scenarios/format/schema/parts.hpp"
#include "scenarios/format/schema/step.hpp"
#include "scenarios/format/schema/value.hpp"
#include "scenarios/story/own_lock.hpp"

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

constexpr std::array<std::pair<std::string_view, bool>, 2> kVia{{{"servers", false}, {"sentinel", true}}};
constexpr std::array<std::pair<std::string_view, ClientSpec::Role>, 2> kRoles{
    {{"seller", ClientSpec::Role::seller}, {"buyer", ClientSpec::Role::buyer}}};

struct ClientDraft {
  Draft& draft;
  ClientSpec settings;  ///< of all clients of this table
  std::vector<const Node*> names;
  const Node* threads = nullptr;
  const Node* lock = nullptr;
};

constexpr std::array<std::pair<std::string_view, models::Mode>, 2> kModes{
    {{"read", models::Mode::shared}, {"write", models::Mode::exclusive}}};

/// The same key may stand there twice: whether that works is a question to the lock.
void read_locks(const Node& value, std::vector<std::string>& locks) {
  const std::string example = "an array of keys such as [\"stock\", \"account\"]";
  const Array& keys = array_of(value, example);
  if (keys.empty()) fail(value, "expected at least one key; leave \"locks\" out for the key of [lock]");
  if (keys.size() > kLocksMax) fail(value, "more than 16 locks of one client");
  for (const Node& key : keys) locks.push_back(text_of(key, "a key such as \"stock\""));
}

void read_calls(const Node& value, ClientDraft& client) {
  const Array& calls = array_of(value, "an array of calls such as [\"isHeldByCurrentThread\", \"unlock\"]");
  if (calls.empty()) fail(value, "expected at least one call; release = false is for who never gives back");
  if (calls.size() > kCallsMax) fail(value, "more than 100 calls");
  client.settings.finally.clear();
  for (const Node& call : calls) {
    client.settings.finally.push_back(choice_of(call, models::locks::call_names));
    const models::locks::Entry* entry = find_entry(client.draft.scenario.lock, client.draft.catalogue);
    if (client.settings.finally.back() != models::locks::Call::unlock && entry != nullptr && !entry->answers_calls)
      fail(call, std::string(entry->id) + " has no such call; \"unlock\" is the only one that every lock has");
  }
}

constexpr Key<ClientDraft> kClient[] = {
    {"name", "name, or array of names", kRequired, "one client, or several with the same settings",
     [](const Node& value, ClientDraft& c) {
       c.names = one_or_more(value, "a name such as \"A\", or names such as [\"B\", \"C\"]");
     }},
    {"acquire_at", "duration or range", "\"0ms\"", "when it starts its first attempt, in true time",
     [](const Node& value, ClientDraft& c) { c.settings.acquire_at = range_of(value); }},
    {"hold", "duration or range", "\"0ms\"", "processor time inside the critical section; a pause lengthens it",
     [](const Node& value, ClientDraft& c) { c.settings.hold = range_of(value); }, kUser},
    {"locks", "array of keys", "the key of [lock]",
     "the locks that it takes, one after the other in this order; it gives them back in reverse",
     [](const Node& value, ClientDraft& c) { read_locks(value, c.settings.locks); }, kUser},
    {"lock", "table", "the values of [lock]", "parameters of the algorithm of which it has values of its own",
     [](const Node& value, ClientDraft& c) { c.lock = &value; }, kUser},
    {"rounds", "whole number, 1 to 1000000", "1", "how often it acquires, holds and releases",
     [](const Node& value, ClientDraft& c) { c.settings.rounds = whole_of(value, 1, kRoundsMax); }, kUser},
    {"between", "duration or range", "\"0ms\"", "from a release, or from giving up, to the next round",
     [](const Node& value, ClientDraft& c) { c.settings.between = range_of(value); }, kUser},
    {"attempts", "whole number, 1 or more", "the algorithm's", "how often it tries before it gives up",
     [](const Node& value, ClientDraft& c) { c.settings.attempts = whole_of(value, 1); }, kUser},
    {"retry", "duration or range", "the algorithm's", "pause between two attempts",
     [](const Node& value, ClientDraft& c) { c.settings.retry = range_of(value); }, kUser},
    {"release", "true or false", "true", "false: it forgets to release, and lives on",
     [](const Node& value, ClientDraft& c) { c.settings.release = flag_of(value); }, kUser},
    {"reenter", "whole number, 0 to 100", "0",
     "after `hold` it takes the lock again this often, and gives back as often",
     [](const Node& value, ClientDraft& c) { c.settings.reenter = whole_of(value, 0, kReenterMax); }, kUser},
    {"inner_hold", "duration or range", "\"0ms\"", "processor time after it has taken the lock again",
     [](const Node& value, ClientDraft& c) { c.settings.inner_hold = range_of(value); }, kUser},
    {"in_finally", "true or false", "false", "true: it releases as often as it tried to acquire, got or not",
     [](const Node& value, ClientDraft& c) { c.settings.in_finally = flag_of(value); }, kUser},
    {"finally", "array of calls", "none",
     "instead of releases: what it calls in the end, got or not; \"unlock\", \"forceUnlock\" or a question",
     [](const Node& value, ClientDraft& c) { read_calls(value, c); }, kUser},
    {"mode", "\"read\" or \"write\"", "the algorithm's", "how it takes a lock that readers can share",
     [](const Node& value, ClientDraft& c) { c.settings.mode = choice_of(value, kModes); }, kUser},
    {"process_name", "string", "its name; another after a crash",
     "what its lock library takes for unique among all processes",
     [](const Node& value, ClientDraft& c) {
       c.settings.process_name = text_of(value, "a name that its lock library takes for unique, such as \"host-1\"");
     },
     kUser},
    {"thread_id", "whole number, 1 or more", "1", "of its first thread, unique within the process",
     [](const Node& value, ClientDraft& c) { c.settings.thread_id = whole_of(value, 1, kThreadIdMax); }, kUser},
    {"threads", "whole number, or array of tables", "none",
     "it has several threads, named A/1, A/2, …: so many alike, or one for each table with settings of its own",
     [](const Node& value, ClientDraft& c) { c.threads = &value; }, kUser},
    {"role", "\"seller\" or \"buyer\"", "none", "in a market, what it does in each round",
     [](const Node& value, ClientDraft& c) { c.settings.role = choice_of(value, kRoles); }, kUser},
    {"account", "string", "its own", "in a market, for whom: several clients may be one buyer",
     [](const Node& value, ClientDraft& c) { c.settings.account = string_of(value, "a name such as \"A\""); }, kUser},
    {"clock", "table", "true time", "its clocks",
     [](const Node& value, ClientDraft& c) { read_clock(value, c.settings.clock); }},
    {"via", "\"servers\" or \"sentinel\"", "\"servers\"",
     "\"sentinel\": its only server is whoever is primary; it asks the sentinels, and again when the primary is gone",
     [](const Node& value, ClientDraft& c) { c.settings.via_sentinel = choice_of(value, kVia); }},
    {"commands", "array of command lines", "none",
     "it does not use the lock but sends these to a server, quoted as for redis-cli",
     [](const Node& value, ClientDraft& c) {
       const Array& lines = array_of(value, "an array of commands such as [\"DEL lock\"]");
       if (lines.empty()) fail(value, "expected at least one command, not an empty array");
       read_each(lines, [&](const Node& line) { c.settings.commands.push_back(command_of(line)); });
     },
     kCommander},
    {"server", "name", "the first", "to whom it sends its commands",
     [](const Node& value, ClientDraft& c) {
       c.settings.server = text_of(value, "the name of a server");
       c.draft.names.mention(Who::server, value);
     },
     kCommander},
};

constexpr Key<ClientDraft> kThread[] = {
    {"acquire_at", "duration or range", "\"0ms\"", "when it starts its first attempt, from the start of its process",
     [](const Node& value, ClientDraft& c) { c.settings.acquire_at = range_of(value); }},
    {"hold", "duration or range", "\"0ms\"", "processor time inside the critical section; a pause lengthens it",
     [](const Node& value, ClientDraft& c) { c.settings.hold = range_of(value); }},
    {"rounds", "whole number, 1 to 1000000", "1", "how often it acquires, holds and releases",
     [](const Node& value, ClientDraft& c) { c.settings.rounds = whole_of(value, 1, kRoundsMax); }},
    {"between", "duration or range", "\"0ms\"", "from a release, or from giving up, to the next round",
     [](const Node& value, ClientDraft& c) { c.settings.between = range_of(value); }},
    {"attempts", "whole number, 1 or more", "the algorithm's", "how often it tries before it gives up",
     [](const Node& value, ClientDraft& c) { c.settings.attempts = whole_of(value, 1); }},
    {"retry", "duration or range", "the algorithm's", "pause between two attempts",
     [](const Node& value, ClientDraft& c) { c.settings.retry = range_of(value); }},
    {"release", "true or false", "true", "false: it forgets to release, and lives on",
     [](const Node& value, ClientDraft& c) { c.settings.release = flag_of(value); }},
    {"reenter", "whole number, 0 to 100", "0",
     "after `hold` it takes the lock again this often, and gives back as often",
     [](const Node& value, ClientDraft& c) { c.settings.reenter = whole_of(value, 0, kReenterMax); }},
    {"inner_hold", "duration or range", "\"0ms\"", "processor time after it has taken the lock again",
     [](const Node& value, ClientDraft& c) { c.settings.inner_hold = range_of(value); }},
    {"in_finally", "true or false", "false", "true: it releases as often as it tried to acquire, got or not",
     [](const Node& value, ClientDraft& c) { c.settings.in_finally = flag_of(value); }},
    {"finally", "array of calls", "none",
     "instead of releases: what it calls in the end, got or not; \"unlock\", \"forceUnlock\" or a question",
     [](const Node& value, ClientDraft& c) { read_calls(value, c); }},
    {"mode", "\"read\" or \"write\"", "the algorithm's", "how it takes a lock that readers can share",
     [](const Node& value, ClientDraft& c) { c.settings.mode = choice_of(value, kModes); }},
};

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
  const bool commands = find(table, "commands") != nullptr;
  read_table(table, {"a [[client]]", commands ? kCommander : kUser, commands ? "a client with commands" : "a client"},
             kClient, client);
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

void list_clients(std::vector<TableRow>& tables) {
  tables.push_back({"[[client]]", rows_of(std::span<const Key<ClientDraft>>(kClient)), {"users", "with commands"}});
  tables.push_back({"threads", rows_of(std::span<const Key<ClientDraft>>(kThread))});
}

}  // namespace lockstep::scenarios::schema
