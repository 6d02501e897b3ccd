#pragma once

// The table of lock algorithms: every one that a scenario file can name. Start here to add one.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/client/mode.hpp"
#include "models/locks/lock.hpp"
#include "models/locks/parameters.hpp"

namespace lockstep::models {
class ServerKind;
}

namespace lockstep::models::locks {

/// One algorithm as the catalogue lists it.
struct Entry {
  std::string_view id;                      ///< "set-nx-px-lua"
  std::string_view summary;                 ///< one sentence
  std::vector<std::string_view> documents;  ///< ids of the texts that describe it
  std::vector<ParameterSpec> parameters;
  std::vector<std::string_view> claims;  ///< properties that its documents promise
  std::string_view repaired_by = "";     ///< id of the algorithm that repairs it, if there is one
  bool many_nodes = false;               ///< works on several independent servers; otherwise it uses the first only
  bool has_background = false;           ///< needs a place for background tasks in every process: `Client::background`
  bool subscribes = false;               ///< needs a second connection for messages of channels: `Client::subscriber`
  bool reaches_row = false;    ///< reads and writes a row of its server for its holder: `[resource] kind = "row"`
  bool answers_calls = false;  ///< its lock object has `Call`: isHeldByCurrentThread and the like
  /// To each server, of an attempt that finds nobody there. The probe is allowed twice as many, which has to be enough.
  std::int64_t round_trips = 4;
  /// It only compares names of clients, its own and those in the servers' keys, for equality. Then clients that differ
  /// in their names alone are alike, and `check` explores one order of them. False where a sorted set orders members of
  /// one score by their bytes.
  bool is_blind_to_names = false;
  /// Why an exploration cannot follow it with these parameters, in one sentence; empty: it can. Null: it always can.
  std::string_view (*not_explored)(const Parameters&) = nullptr;
  const ServerKind* server_kind = nullptr;  ///< whose servers keep it; null: the standard kind's
  std::string_view server_version = "";     ///< the first that has its commands, as `version` of [[server]]; empty: any
  Mode mode = Mode::exclusive;              ///< of clients that do not say how they take it
  std::string script = "";                  ///< of a script: where it lies
  bool claims_nothing_itself = false;  ///< a script without `claims`: it is held to those that every lock must keep
  std::function<std::unique_ptr<LockAlgorithm>(const Parameters&)> make;
};

/// On which kind of server it runs.
const ServerKind& server_kind_of(const Entry& entry);
/// How many servers it has in a world that is made up.
std::size_t usual_servers(const Entry& entry);

/// An explicit list, in the order in which `lockstep list algorithms` shows it.
class Catalogue {
 public:
  /// All algorithms of this project. A program that brings its own starts from this one and adds to it.
  static Catalogue built_in();

  /// Requires: no entry with this id yet.
  void add(Entry entry);
  const Entry* find(std::string_view id) const;
  /// What can be named, in the list's order.
  std::vector<std::string_view> ids() const;
  std::span<const Entry> entries() const { return entries_; }
  /// Those of the table of kinds, then those of the entries that are not there.
  std::vector<const ServerKind*> server_kinds() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace lockstep::models::locks
