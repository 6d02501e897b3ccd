#pragma once

// The readers and writers of the tables of a scenario file; schema.cpp puts them together.

#include <filesystem>
#include <vector>

#include "models/locks/catalogue.hpp"
#include "models/servers/server_kind.hpp"
#include "scenarios/format/schema/names.hpp"
#include "scenarios/format/schema/table.hpp"

namespace lockstep::scenarios::schema {

/// A scenario while its file is being written.
struct Saved {
  const Scenario& scenario;
  const std::filesystem::path& folder;  ///< of the file; empty: it may lie anywhere
  const Scenario& spec() const { return scenario; }
};

/// A scenario while its file is being read.
struct Draft {
  using Spec = Saved;
  const models::locks::Catalogue& catalogue;
  const models::ServerKind& server_kind;  ///< of the lock, which may stand below its servers
  std::filesystem::path folder;           ///< of the file
  const OwnLock* known;                   ///< a script that need not be read again, or null
  bool has_only_programs;                 ///< as clients, so that the lock may be theirs
  Scenario scenario;
  Names names;
  /// What clients have of the lock's parameters; which these are, is known when [lock] is read, which may stand below.
  struct OwnLock {
    const Node* table;
    std::size_t first, last;  ///< of which clients
  };
  std::vector<OwnLock> own_locks = {};
  std::vector<Node> told_tables = {};  ///< [[may]] tables as they are meant: names in them are found later
  Scenario& spec() { return scenario; }
};

// Each reads one value of the top of a file into the draft.

void read_lock(const Node& node, Draft& draft);
void read_network(const Node& node, Draft& draft);
void read_all_servers(const Node& node, Draft& draft);
void read_servers(const Node& node, Draft& draft);
/// That many, all alike.
void add_servers(Draft& draft, std::size_t count);
void read_sentinels(const Node& node, Draft& draft);
void read_each_sentinel(const Node& node, Draft& draft);
void read_resource(const Node& node, Draft& draft);
void read_market(const Node& node, Draft& draft);
void read_clients(const Node& node, Draft& draft);
void read_faults(const Node& node, Draft& draft);
void read_may(const Node& node, Draft& draft);
void read_pin(const Node& node, Draft& draft);
void read_schedule(const Node& node, Draft& draft);
void read_properties(const Node& node, Draft& draft);
void read_expect(const Node& node, Draft& draft);

/// The parameters of clients that have their own. Requires: all tables are read.
void read_own_parameters(Draft& draft);

ClockSpec clock_of(const Node& node);
/// Of somebody who is a server, or is named like one.
std::string declared_server(const Node& node, Draft& draft);
std::string mentioned_server(const Node& node, Draft& draft);

// The way back: what stands at the top of a file.

Value write_lock(const Saved& saved);
Value write_network(const Saved& saved);
Value write_all_servers(const Saved& saved);
Value write_servers(const Saved& saved);
Value write_sentinels(const Saved& saved);
Value write_each_sentinel(const Saved& saved);
Value write_resource(const Saved& saved);
Value write_market(const Saved& saved);
Value write_clients(const Saved& saved);
Value write_faults(const Saved& saved);
Value write_may(const Saved& saved);
Value write_pin(const Saved& saved);
Value write_schedule(const Saved& saved);
Value write_properties(const Saved& saved);
Value write_expect(const Saved& saved);

Keys keys_of(const LockParameters& parameters);

/// What no single key can know, and the defaults that depend on others. Requires: names are resolved.
void check_server_kind(const Node& root, const Draft& draft);
void check_resource(const Node& root, const models::locks::Entry& entry, const Scenario& scenario);
void check_sentinels(const models::locks::Entry& entry, Scenario& scenario);
void check_programs(const Node& root, const Draft& draft);

/// The tables inside an array of tables. Throws if it is a single table, which wants another pair of brackets.
const Array& tables_of(const Node& node, std::string_view heading);

// What each adds to `tables()`.

void list_lock(std::vector<TableRow>& tables);
void list_world(std::vector<TableRow>& tables);
void list_servers(std::vector<TableRow>& tables);
void list_sentinels(std::vector<TableRow>& tables);
void list_clients(std::vector<TableRow>& tables);
void list_faults(std::vector<TableRow>& tables);
void list_may(std::vector<TableRow>& tables);
void list_schedule(std::vector<TableRow>& tables);
void list_expect(std::vector<TableRow>& tables);

}  // namespace lockstep::scenarios::schema
