#include "models/redis/commands.hpp"

#include <algorithm>
#include <array>

#include "models/redis/handlers.hpp"

namespace lockstep::models::redis {
namespace {

// Arity, keys and flags are those that Redis 7.0.15 prints for COMMAND INFO.
constexpr auto kCommands = std::to_array<CommandSpec>({
    {"APPEND", 3, 1, 1, 1, kWrite, append_command},
    {"DECR", 2, 1, 1, 1, kWrite, decr_command},
    {"DECRBY", 3, 1, 1, 1, kWrite, decrby_command},
    {"DEL", -2, 1, -1, 1, kWrite, del_command},
    {"ECHO", 2, 0, 0, 0, 0, echo_command},
    {"EVAL", -3, 0, 0, 0, kNoScript | kScriptWriter, eval_command},
    {"EVALSHA", -3, 0, 0, 0, kNoScript | kScriptReader, evalsha_command},
    {"EXISTS", -2, 1, -1, 1, kReadOnly, exists_command},
    {"EXPIRE", -3, 1, 1, 1, kWrite, expire_command},
    {"EXPIREAT", -3, 1, 1, 1, kWrite, expireat_command},
    {"EXPIRETIME", 2, 1, 1, 1, kReadOnly, expiretime_command},
    {"FLUSHALL", -1, 0, 0, 0, kWrite | kEveryKey, flushall_command},
    {"GET", 2, 1, 1, 1, kReadOnly, get_command},
    {"GETDEL", 2, 1, 1, 1, kWrite, getdel_command},
    {"GETSET", 3, 1, 1, 1, kWrite, getset_command},
    {"INCR", 2, 1, 1, 1, kWrite, incr_command},
    {"INCRBY", 3, 1, 1, 1, kWrite, incrby_command},
    {"PERSIST", 2, 1, 1, 1, kWrite, persist_command},
    {"PEXPIRE", -3, 1, 1, 1, kWrite, pexpire_command},
    {"PEXPIREAT", -3, 1, 1, 1, kWrite, pexpireat_command},
    {"PEXPIRETIME", 2, 1, 1, 1, kReadOnly, pexpiretime_command},
    {"PING", -1, 0, 0, 0, 0, ping_command},
    {"PSETEX", 4, 1, 1, 1, kWrite, psetex_command},
    {"PTTL", 2, 1, 1, 1, kReadOnly, pttl_command},
    {"SCRIPT", -2, 0, 0, 0, kNoScript, nullptr},
    {"SCRIPT EXISTS", -3, 0, 0, 0, kNoScript | kScriptReader, script_exists_command},
    {"SCRIPT FLUSH", -2, 0, 0, 0, kNoScript | kScriptWriter, script_flush_command},
    {"SCRIPT LOAD", 3, 0, 0, 0, kNoScript | kScriptWriter, script_load_command},
    {"SET", -3, 1, 1, 1, kWrite, set_command},
    {"SETEX", 4, 1, 1, 1, kWrite, setex_command},
    {"SETNX", 3, 1, 1, 1, kWrite, setnx_command},
    {"STRLEN", 2, 1, 1, 1, kReadOnly, strlen_command},
    {"TIME", 1, 0, 0, 0, 0, time_command},
    {"TTL", 2, 1, 1, 1, kReadOnly, ttl_command},
    {"TYPE", 2, 1, 1, 1, kReadOnly, type_command},
    {"UNLINK", -2, 1, -1, 1, kWrite, del_command},
});

static_assert(std::ranges::is_sorted(kCommands, {}, &CommandSpec::name));

constexpr std::size_t kLongestName = 24;

/// A name in capitals, or nothing when it is too long to be one.
struct Capitals {
  std::array<char, kLongestName> characters;
  std::size_t length = 0;

  bool append(std::string_view text) {
    if (length + text.size() > characters.size()) return false;
    for (const char c : text) characters[length++] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return true;
  }
  std::string_view view() const { return {characters.data(), length}; }
};

const CommandSpec* find_by_name(std::string_view capitals) {
  const auto found = std::ranges::lower_bound(kCommands, capitals, {}, &CommandSpec::name);
  return found != kCommands.end() && found->name == capitals ? &*found : nullptr;
}

}  // namespace

bool CommandSpec::accepts(std::size_t arguments) const {
  return arity >= 0 ? arguments == static_cast<std::size_t>(arity) : arguments >= static_cast<std::size_t>(-arity);
}

std::span<const CommandSpec> command_table() { return kCommands; }

const CommandSpec* find_command(std::span<const Value> arguments) {
  const auto bytes = arguments[0].bytes();
  Capitals name;
  // A blank in the name would find "SCRIPT LOAD" sent as one word.
  if (!bytes || !name.append(*bytes) || bytes->find(' ') != std::string_view::npos) return nullptr;
  const CommandSpec* found = find_by_name(name.view());
  if (found == nullptr || found->handler != nullptr || arguments.size() < 2) return found;
  const auto subcommand = arguments[1].bytes();
  if (!subcommand || !name.append(" ") || !name.append(*subcommand)) return found;
  const CommandSpec* of_container = find_by_name(name.view());
  return of_container != nullptr ? of_container : found;
}

std::string error_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == ' ') c = '|';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace lockstep::models::redis
