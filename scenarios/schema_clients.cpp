// [[client]]: who uses the lock, and who sends commands past it.

#include "scenarios/schema_parts.hpp"
#include "scenarios/schema_step.hpp"
#include "scenarios/schema_value.hpp"

namespace lockstep::scenarios::schema {
namespace {

constexpr std::size_t kClientsMax = 256;
constexpr std::size_t kLocksMax = 16;
constexpr std::int64_t kRoundsMax = 1'000'000;

constexpr Kinds kUser = 1;       ///< uses the lock
constexpr Kinds kCommander = 2;  ///< sends `commands` instead

struct ClientDraft {
  Draft& draft;
  ClientSpec settings;  ///< of all clients of this table
  std::vector<const Node*> names;
};

/// The same key may stand there twice: whether that works is a question to the lock.
void read_locks(const Node& value, std::vector<std::string>& locks) {
  const std::string example = "an array of keys such as [\"stock\", \"account\"]";
  const Array& keys = array_of(value, example);
  if (keys.empty()) fail(value, "expected at least one key; leave \"locks\" out for the key of [lock]");
  if (keys.size() > kLocksMax) fail(value, "more than 16 locks of one client");
  for (const Node& key : keys) locks.push_back(text_of(key, "a key such as \"stock\""));
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
    {"clock", "table", "true time", "its clocks",
     [](const Node& value, ClientDraft& c) { read_clock(value, c.settings.clock); }},
    {"commands", "array of command lines", "none",
     "it does not use the lock but sends these to the first server, quoted as for redis-cli",
     [](const Node& value, ClientDraft& c) {
       const Array& lines = array_of(value, "an array of commands such as [\"DEL lock\"]");
       if (lines.empty()) fail(value, "expected at least one command, not an empty array");
       for (const Node& line : lines) c.settings.commands.push_back(command_of(line));
     },
     kCommander},
};

}  // namespace

const Array& tables_of(const Node& node, std::string_view heading) {
  const std::string what = std::string(heading) + " with two brackets (there may be several)";
  const Array& tables = array_of(node, what);
  for (const Node& table : tables) table_of(table, what);
  return tables;
}

void read_clients(const Node& node, Draft& draft) {
  for (const Node& table : tables_of(node, "[[client]]")) {
    ClientDraft client{draft, {}, {}};
    const bool commands = find(table, "commands") != nullptr;
    read_table(table, {"a [[client]]", commands ? kCommander : kUser, commands ? "a client with commands" : "a client"},
               kClient, client);
    for (const Node* name : client.names) {
      if (draft.scenario.clients.size() == kClientsMax) fail(*name, "more than 256 clients");
      client.settings.name = draft.names.declare_client(*name);
      client.settings.at = name->at;
      draft.scenario.clients.push_back(client.settings);
    }
  }
}

void list_clients(std::vector<TableRow>& tables) {
  tables.push_back({"[[client]]", rows_of(std::span<const Key<ClientDraft>>(kClient)), {"users", "with commands"}});
}

}  // namespace lockstep::scenarios::schema
