#pragma once

// A lock that a scenario file brings along, as a script (`[lock] script = "my-lock.lua"`) or inside of programs.

#include <filesystem>
#include <string>
#include <string_view>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::scenarios {

/// Reads a script from disk; or says what is wrong, with the script's file and line.
std::variant<OwnLock, std::string> read_own_lock(const std::filesystem::path& file);

/// For stories that are made for an algorithm: its script, if it is one.
OwnLock own_lock_of(const models::locks::Entry& entry);

/// Where the script lies as a file in `folder` would name it; no folder: from everywhere.
std::string script_from(const OwnLock& lock, const std::filesystem::path& folder);

/// The lock of a story whose clients are all programs, and whose file names no algorithm: what it does only they know.
/// In no catalogue, and not to be named in files.
inline constexpr std::string_view kLockOfPrograms = "programs";
inline bool is_lock_of_programs(const LockSpec& lock) { return lock.algorithm == kLockOfPrograms; }
/// It claims what every lock is for. Nobody can take it but by running a program: its attempts fail.
const models::locks::Entry& lock_of_programs();

/// The algorithm of a story: its own script, that of programs, or of the catalogue. Null: there is none.
const models::locks::Entry* find_entry(const LockSpec& lock, const models::locks::Catalogue& catalogue);

/// For stories that are made for an algorithm: how long its lease is, and how long a server lets a client wait,
/// wherever it has a parameter for that and the story says nothing.
void set_lease_and_patience(const models::locks::Entry& entry, sim::Duration lease, sim::Duration patience,
                            LockSpec& lock);

/// Adds the script that `name` is the file of, for commands that take algorithms by name, and makes `name` its id. What
/// is wrong, or nothing. Does nothing if `name` does not end in ".lua".
std::string add_script(std::string& name, models::locks::Catalogue& catalogue);

}  // namespace lockstep::scenarios
