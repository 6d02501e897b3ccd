#include "models/redis/commands.hpp"

#include <algorithm>
#include <array>

#include "models/redis/handlers.hpp"

namespace lockstep::models::redis {
namespace {

// Arity, keys and flags are those that Redis 7.0.15 prints for COMMAND INFO.
constexpr auto kCommands = std::to_array<CommandSpec>({
    {"APPEND", 3, 1, 1, 1, kWrite, append_command},
    {"BGSAVE", -1, 0, 0, 0, kNoScript, bgsave_command},
    {"BLMOVE", 6, 1, 2, 1, kWrite | kNoScript, blmove_command},
    {"BLPOP", -3, 1, -2, 1, kWrite | kNoScript, blpop_command},
    {"BRPOP", -3, 1, -2, 1, kWrite | kNoScript, brpop_command},
    {"CLIENT", -2, 0, 0, 0, 0, nullptr},
    {"CLIENT GETNAME", 2, 0, 0, 0, kNoScript | kWhileLoading, client_getname_command},
    {"CLIENT ID", 2, 0, 0, 0, kNoScript | kWhileLoading, client_id_command},
    {"CLIENT KILL", -3, 0, 0, 0, kNoScript | kWhileLoading, client_kill_command},
    {"CLIENT PAUSE", -3, 0, 0, 0, kNoScript | kWhileLoading, client_pause_command},
    {"CLIENT SETNAME", 3, 0, 0, 0, kNoScript | kWhileLoading, client_setname_command},
    {"CLIENT UNPAUSE", 2, 0, 0, 0, kNoScript | kWhileLoading, client_unpause_command},
    {"CONFIG", -2, 0, 0, 0, 0, nullptr},
    {"CONFIG GET", -3, 0, 0, 0, kNoScript | kWhileLoading, config_get_command},
    {"CONFIG REWRITE", 2, 0, 0, 0, kNoScript | kWhileLoading, config_rewrite_command},
    {"CONFIG SET", -4, 0, 0, 0, kNoScript | kWhileLoading, config_set_command},
    {"DBSIZE", 1, 0, 0, 0, kReadOnly | kEveryKey, dbsize_command},
    {"DECR", 2, 1, 1, 1, kWrite, decr_command},
    {"DECRBY", 3, 1, 1, 1, kWrite, decrby_command},
    {"DEL", -2, 1, -1, 1, kWrite, del_command},
    {"DISCARD", 1, 0, 0, 0, kNoScript | kAtOnce | kWhileLoading, discard_command},
    {"ECHO", 2, 0, 0, 0, kWhileLoading, echo_command},
    {"EVAL", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptWriter, eval_command},
    {"EVALSHA", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptReader, evalsha_command},
    {"EVALSHA_RO", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptReader, evalsha_ro_command},
    {"EVAL_RO", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptWriter, eval_ro_command},
    {"EXEC", 1, 0, 0, 0, kNoScript | kAtOnce | kRunsCommands | kWhileLoading, exec_command},
    {"EXISTS", -2, 1, -1, 1, kReadOnly, exists_command},
    {"EXPIRE", -3, 1, 1, 1, kWrite, expire_command},
    {"EXPIREAT", -3, 1, 1, 1, kWrite, expireat_command},
    {"EXPIRETIME", 2, 1, 1, 1, kReadOnly, expiretime_command},
    {"FAILOVER", -1, 0, 0, 0, kNoScript, failover_command},
    {"FLUSHALL", -1, 0, 0, 0, kWrite | kEveryKey, flushall_command},
    {"FLUSHDB", -1, 0, 0, 0, kWrite | kEveryKey, flushall_command},
    {"GET", 2, 1, 1, 1, kReadOnly, get_command},
    {"GETDEL", 2, 1, 1, 1, kWrite, getdel_command},
    {"GETEX", -2, 1, 1, 1, kWrite, getex_command},
    {"GETSET", 3, 1, 1, 1, kWrite, getset_command},
    {"HDEL", -3, 1, 1, 1, kWrite, hdel_command},
    {"HELLO", -1, 0, 0, 0, kNoScript | kWhileLoading, hello_command},
    {"HEXISTS", 3, 1, 1, 1, kReadOnly, hexists_command},
    {"HGET", 3, 1, 1, 1, kReadOnly, hget_command},
    {"HGETALL", 2, 1, 1, 1, kReadOnly, hgetall_command},
    {"HINCRBY", 4, 1, 1, 1, kWrite, hincrby_command},
    {"HKEYS", 2, 1, 1, 1, kReadOnly, hkeys_command},
    {"HLEN", 2, 1, 1, 1, kReadOnly, hlen_command},
    {"HMGET", -3, 1, 1, 1, kReadOnly, hmget_command},
    {"HMSET", -4, 1, 1, 1, kWrite, hmset_command},
    {"HSCAN", -3, 1, 1, 1, kReadOnly, hscan_command},
    {"HSET", -4, 1, 1, 1, kWrite, hset_command},
    {"HSETNX", 4, 1, 1, 1, kWrite, hsetnx_command},
    {"HSTRLEN", 3, 1, 1, 1, kReadOnly, hstrlen_command},
    {"HVALS", 2, 1, 1, 1, kReadOnly, hvals_command},
    {"INCR", 2, 1, 1, 1, kWrite, incr_command},
    {"INCRBY", 3, 1, 1, 1, kWrite, incrby_command},
    {"INFO", -1, 0, 0, 0, kEveryKey | kWhileLoading, info_command},
    {"KEYS", 2, 0, 0, 0, kReadOnly | kEveryKey, keys_command},
    {"LINDEX", 3, 1, 1, 1, kReadOnly, lindex_command},
    {"LINSERT", 5, 1, 1, 1, kWrite, linsert_command},
    {"LLEN", 2, 1, 1, 1, kReadOnly, llen_command},
    {"LMOVE", 5, 1, 2, 1, kWrite, lmove_command},
    {"LPOP", -2, 1, 1, 1, kWrite, lpop_command},
    {"LPUSH", -3, 1, 1, 1, kWrite, lpush_command},
    {"LPUSHX", -3, 1, 1, 1, kWrite, lpushx_command},
    {"LRANGE", 4, 1, 1, 1, kReadOnly, lrange_command},
    {"LREM", 4, 1, 1, 1, kWrite, lrem_command},
    {"LSET", 4, 1, 1, 1, kWrite, lset_command},
    {"LTRIM", 4, 1, 1, 1, kWrite, ltrim_command},
    {"MGET", -2, 1, -1, 1, kReadOnly, mget_command},
    {"MSET", -3, 1, -1, 2, kWrite, mset_command},
    {"MSETNX", -3, 1, -1, 2, kWrite, msetnx_command},
    {"MULTI", 1, 0, 0, 0, kNoScript | kAtOnce | kWhileLoading, multi_command},
    {"PERSIST", 2, 1, 1, 1, kWrite, persist_command},
    {"PEXPIRE", -3, 1, 1, 1, kWrite, pexpire_command},
    {"PEXPIREAT", -3, 1, 1, 1, kWrite, pexpireat_command},
    {"PEXPIRETIME", 2, 1, 1, 1, kReadOnly, pexpiretime_command},
    {"PING", -1, 0, 0, 0, kSubscriber, ping_command},
    {"PSETEX", 4, 1, 1, 1, kWrite, psetex_command},
    {"PSUBSCRIBE", -2, 0, 0, 0, kNoScript | kSubscriber | kWhileLoading, psubscribe_command},
    {"PTTL", 2, 1, 1, 1, kReadOnly, pttl_command},
    {"PUBLISH", 3, 0, 0, 0, kWhileLoading, publish_command},
    {"PUBSUB", -2, 0, 0, 0, 0, nullptr},
    {"PUBSUB CHANNELS", -2, 0, 0, 0, kWhileLoading, pubsub_channels_command},
    {"PUBSUB NUMPAT", 2, 0, 0, 0, kWhileLoading, pubsub_numpat_command},
    {"PUBSUB NUMSUB", -2, 0, 0, 0, kWhileLoading, pubsub_numsub_command},
    {"PUNSUBSCRIBE", -1, 0, 0, 0, kNoScript | kSubscriber | kWhileLoading, punsubscribe_command},
    {"QUIT", -1, 0, 0, 0, kNoScript | kAtOnce | kSubscriber | kWhileLoading, quit_command},
    {"RENAME", 3, 1, 2, 1, kWrite, rename_command},
    {"RENAMENX", 3, 1, 2, 1, kWrite, renamenx_command},
    {"REPLICAOF", 3, 0, 0, 0, kNoScript, replicaof_command},
    {"RESET", 1, 0, 0, 0, kNoScript | kAtOnce | kSubscriber | kWhileLoading, reset_command},
    {"ROLE", 1, 0, 0, 0, kNoScript | kWhileLoading, role_command},
    {"RPOP", -2, 1, 1, 1, kWrite, rpop_command},
    {"RPOPLPUSH", 3, 1, 2, 1, kWrite, rpoplpush_command},
    {"RPUSH", -3, 1, 1, 1, kWrite, rpush_command},
    {"RPUSHX", -3, 1, 1, 1, kWrite, rpushx_command},
    {"SADD", -3, 1, 1, 1, kWrite, sadd_command},
    {"SAVE", 1, 0, 0, 0, kNoScript, save_command},
    {"SCAN", -2, 0, 0, 0, kReadOnly | kEveryKey, scan_command},
    {"SCARD", 2, 1, 1, 1, kReadOnly, scard_command},
    {"SCRIPT", -2, 0, 0, 0, 0, nullptr},
    {"SCRIPT EXISTS", -3, 0, 0, 0, kNoScript | kScriptReader, script_exists_command},
    {"SCRIPT FLUSH", -2, 0, 0, 0, kNoScript | kScriptWriter, script_flush_command},
    {"SCRIPT KILL", 2, 0, 0, 0, kNoScript, script_kill_command},
    {"SCRIPT LOAD", 3, 0, 0, 0, kNoScript | kScriptWriter, script_load_command},
    {"SDIFF", -2, 1, -1, 1, kReadOnly, sdiff_command},
    {"SDIFFSTORE", -3, 1, -1, 1, kWrite, sdiffstore_command},
    {"SELECT", 2, 0, 0, 0, kWhileLoading, select_command},
    {"SET", -3, 1, 1, 1, kWrite, set_command},
    {"SETEX", 4, 1, 1, 1, kWrite, setex_command},
    {"SETNX", 3, 1, 1, 1, kWrite, setnx_command},
    {"SINTER", -2, 1, -1, 1, kReadOnly, sinter_command},
    {"SINTERSTORE", -3, 1, -1, 1, kWrite, sinterstore_command},
    {"SISMEMBER", 3, 1, 1, 1, kReadOnly, sismember_command},
    {"SLAVEOF", 3, 0, 0, 0, kNoScript, replicaof_command},
    {"SMEMBERS", 2, 1, 1, 1, kReadOnly, smembers_command},
    {"SMISMEMBER", -3, 1, 1, 1, kReadOnly, smismember_command},
    {"SMOVE", 4, 1, 2, 1, kWrite, smove_command},
    {"SPOP", -2, 1, 1, 1, kWrite, spop_command},
    {"SRANDMEMBER", -2, 1, 1, 1, kReadOnly, srandmember_command},
    {"SREM", -3, 1, 1, 1, kWrite, srem_command},
    {"SSCAN", -3, 1, 1, 1, kReadOnly, sscan_command},
    {"STRLEN", 2, 1, 1, 1, kReadOnly, strlen_command},
    {"SUBSCRIBE", -2, 0, 0, 0, kNoScript | kSubscriber | kWhileLoading, subscribe_command},
    {"SUNION", -2, 1, -1, 1, kReadOnly, sunion_command},
    {"SUNIONSTORE", -3, 1, -1, 1, kWrite, sunionstore_command},
    {"TIME", 1, 0, 0, 0, kWhileLoading, time_command},
    {"TOUCH", -2, 1, -1, 1, kReadOnly, exists_command},
    {"TTL", 2, 1, 1, 1, kReadOnly, ttl_command},
    {"TYPE", 2, 1, 1, 1, kReadOnly, type_command},
    {"UNLINK", -2, 1, -1, 1, kWrite, del_command},
    {"UNSUBSCRIBE", -1, 0, 0, 0, kNoScript | kSubscriber | kWhileLoading, unsubscribe_command},
    {"UNWATCH", 1, 0, 0, 0, kNoScript | kWhileLoading, unwatch_command},
    {"WAIT", 3, 0, 0, 0, kNoScript, wait_command},
    {"WATCH", -2, 1, -1, 1, kNoScript | kAtOnce | kWhileLoading, watch_command},
    {"ZADD", -4, 1, 1, 1, kWrite, zadd_command},
    {"ZCARD", 2, 1, 1, 1, kReadOnly, zcard_command},
    {"ZCOUNT", 4, 1, 1, 1, kReadOnly, zcount_command},
    {"ZINCRBY", 4, 1, 1, 1, kWrite, zincrby_command},
    {"ZINTERSTORE", -4, 1, 1, 1, kWrite, zinterstore_command},
    {"ZMSCORE", -3, 1, 1, 1, kReadOnly, zmscore_command},
    {"ZPOPMAX", -2, 1, 1, 1, kWrite, zpopmax_command},
    {"ZPOPMIN", -2, 1, 1, 1, kWrite, zpopmin_command},
    {"ZRANGE", -4, 1, 1, 1, kReadOnly, zrange_command},
    {"ZRANGEBYSCORE", -4, 1, 1, 1, kReadOnly, zrangebyscore_command},
    {"ZRANK", 3, 1, 1, 1, kReadOnly, zrank_command},
    {"ZREM", -3, 1, 1, 1, kWrite, zrem_command},
    {"ZREMRANGEBYRANK", 4, 1, 1, 1, kWrite, zremrangebyrank_command},
    {"ZREMRANGEBYSCORE", 4, 1, 1, 1, kWrite, zremrangebyscore_command},
    {"ZREVRANGE", -4, 1, 1, 1, kReadOnly, zrevrange_command},
    {"ZREVRANGEBYSCORE", -4, 1, 1, 1, kReadOnly, zrevrangebyscore_command},
    {"ZREVRANK", 3, 1, 1, 1, kReadOnly, zrevrank_command},
    {"ZSCAN", -3, 1, 1, 1, kReadOnly, zscan_command},
    {"ZSCORE", 3, 1, 1, 1, kReadOnly, zscore_command},
    {"ZUNIONSTORE", -4, 1, 1, 1, kWrite, zunionstore_command},
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
