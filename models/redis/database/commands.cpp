#include "models/redis/database/commands.hpp"

#include <algorithm>
#include <array>

#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

// Arity, keys and flags are those that Redis 7.0.15 prints for COMMAND INFO.
constexpr auto kCommands = std::to_array<CommandSpec>({
    {"APPEND", 3, 1, 1, 1, kWrite, append_command},
    {"AUTH", -2, 0, 0, 0, kNoScript | kWhileLoading, auth_command},
    {"BGSAVE", -1, 0, 0, 0, kNoScript, bgsave_command},
    {"BLMOVE", 6, 1, 2, 1, kWrite | kNoScript, blmove_command},
    {"BLMPOP", -5, 0, 0, 0, kWrite | kNoScript, blmpop_command},
    {"BLPOP", -3, 1, -2, 1, kWrite | kNoScript, blpop_command},
    {"BRPOP", -3, 1, -2, 1, kWrite | kNoScript, brpop_command},
    {"BRPOPLPUSH", 4, 1, 2, 1, kWrite | kNoScript, brpoplpush_command},
    {"BZMPOP", -5, 0, 0, 0, kWrite | kNoScript, bzmpop_command},
    {"BZPOPMAX", -3, 1, -2, 1, kWrite | kNoScript, bzpopmax_command},
    {"BZPOPMIN", -3, 1, -2, 1, kWrite | kNoScript, bzpopmin_command},
    {"CLIENT", -2, 0, 0, 0, kContainer, nullptr},
    {"CLIENT GETNAME", 2, 0, 0, 0, kNoScript | kWhileLoading, client_getname_command},
    {"CLIENT ID", 2, 0, 0, 0, kNoScript | kWhileLoading, client_id_command},
    {"CLIENT INFO", 2, 0, 0, 0, kNoScript | kWhileLoading, client_info_command},
    {"CLIENT KILL", -3, 0, 0, 0, kNoScript | kWhileLoading, client_kill_command},
    {"CLIENT LIST", -2, 0, 0, 0, kNoScript | kWhileLoading, client_list_command},
    {"CLIENT NO-EVICT", 3, 0, 0, 0, kNoScript | kWhileLoading, client_no_evict_command},
    {"CLIENT PAUSE", -3, 0, 0, 0, kNoScript | kWhileLoading, client_pause_command},
    {"CLIENT SETNAME", 3, 0, 0, 0, kNoScript | kWhileLoading, client_setname_command},
    {"CLIENT UNBLOCK", -3, 0, 0, 0, kNoScript | kWhileLoading, client_unblock_command},
    {"CLIENT UNPAUSE", 2, 0, 0, 0, kNoScript | kWhileLoading, client_unpause_command},
    {"COMMAND", -1, 0, 0, 0, kContainer, command_command},
    {"COMMAND COUNT", 2, 0, 0, 0, 0, command_count_command},
    {"COMMAND DOCS", -2, 0, 0, 0, 0, command_docs_command},
    {"COMMAND INFO", -2, 0, 0, 0, 0, command_info_command},
    {"CONFIG", -2, 0, 0, 0, kContainer, nullptr},
    {"CONFIG GET", -3, 0, 0, 0, kNoScript | kWhileLoading, config_get_command},
    {"CONFIG REWRITE", 2, 0, 0, 0, kNoScript | kWhileLoading, config_rewrite_command},
    {"CONFIG SET", -4, 0, 0, 0, kNoScript | kWhileLoading, config_set_command},
    {"COPY", -3, 1, 2, 1, kWrite, copy_command},
    {"DBSIZE", 1, 0, 0, 0, kReadOnly | kEveryKey, dbsize_command},
    {"DEBUG", -2, 0, 0, 0, kNoScript, debug_command},
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
    {"FCALL", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptReader, fcall_command},
    {"FCALL_RO", -3, 0, 0, 0, kNoScript | kRunsCommands | kScriptReader, fcall_ro_command},
    {"FLUSHALL", -1, 0, 0, 0, kWrite | kEveryKey, flushall_command},
    {"FLUSHDB", -1, 0, 0, 0, kWrite | kEveryKey, flushdb_command},
    {"FUNCTION", -2, 0, 0, 0, kContainer, nullptr},
    {"FUNCTION DELETE", 3, 0, 0, 0, kWrite | kNoScript | kEveryKey, function_delete_command},
    {"FUNCTION FLUSH", -2, 0, 0, 0, kWrite | kNoScript | kEveryKey, function_flush_command},
    {"FUNCTION KILL", 2, 0, 0, 0, kNoScript, function_kill_command},
    {"FUNCTION LIST", -2, 0, 0, 0, kNoScript | kEveryKey, function_list_command},
    {"FUNCTION LOAD", -3, 0, 0, 0, kWrite | kNoScript | kEveryKey, function_load_command},
    {"FUNCTION STATS", 2, 0, 0, 0, kNoScript | kEveryKey, function_stats_command},
    {"GET", 2, 1, 1, 1, kReadOnly, get_command},
    {"GETDEL", 2, 1, 1, 1, kWrite, getdel_command},
    {"GETEX", -2, 1, 1, 1, kWrite, getex_command},
    {"GETRANGE", 4, 1, 1, 1, kReadOnly, getrange_command},
    {"GETSET", 3, 1, 1, 1, kWrite, getset_command},
    {"HDEL", -3, 1, 1, 1, kWrite, hdel_command},
    {"HELLO", -1, 0, 0, 0, kNoScript | kWhileLoading, hello_command},
    {"HEXISTS", 3, 1, 1, 1, kReadOnly, hexists_command},
    {"HGET", 3, 1, 1, 1, kReadOnly, hget_command},
    {"HGETALL", 2, 1, 1, 1, kReadOnly, hgetall_command},
    {"HINCRBY", 4, 1, 1, 1, kWrite, hincrby_command},
    {"HINCRBYFLOAT", 4, 1, 1, 1, kWrite, hincrbyfloat_command},
    {"HKEYS", 2, 1, 1, 1, kReadOnly, hkeys_command},
    {"HLEN", 2, 1, 1, 1, kReadOnly, hlen_command},
    {"HMGET", -3, 1, 1, 1, kReadOnly, hmget_command},
    {"HMSET", -4, 1, 1, 1, kWrite, hmset_command},
    {"HRANDFIELD", -2, 1, 1, 1, kReadOnly, hrandfield_command},
    {"HSCAN", -3, 1, 1, 1, kReadOnly, hscan_command},
    {"HSET", -4, 1, 1, 1, kWrite, hset_command},
    {"HSETNX", 4, 1, 1, 1, kWrite, hsetnx_command},
    {"HSTRLEN", 3, 1, 1, 1, kReadOnly, hstrlen_command},
    {"HVALS", 2, 1, 1, 1, kReadOnly, hvals_command},
    {"INCR", 2, 1, 1, 1, kWrite, incr_command},
    {"INCRBY", 3, 1, 1, 1, kWrite, incrby_command},
    {"INCRBYFLOAT", 3, 1, 1, 1, kWrite, incrbyfloat_command},
    {"INFO", -1, 0, 0, 0, kEveryKey | kWhileLoading, info_command},
    {"KEYS", 2, 0, 0, 0, kReadOnly | kEveryKey, keys_command},
    {"LINDEX", 3, 1, 1, 1, kReadOnly, lindex_command},
    {"LINSERT", 5, 1, 1, 1, kWrite, linsert_command},
    {"LLEN", 2, 1, 1, 1, kReadOnly, llen_command},
    {"LMOVE", 5, 1, 2, 1, kWrite, lmove_command},
    {"LMPOP", -4, 0, 0, 0, kWrite, lmpop_command},
    {"LPOP", -2, 1, 1, 1, kWrite, lpop_command},
    {"LPOS", -3, 1, 1, 1, kReadOnly, lpos_command},
    {"LPUSH", -3, 1, 1, 1, kWrite, lpush_command},
    {"LPUSHX", -3, 1, 1, 1, kWrite, lpushx_command},
    {"LRANGE", 4, 1, 1, 1, kReadOnly, lrange_command},
    {"LREM", 4, 1, 1, 1, kWrite, lrem_command},
    {"LSET", 4, 1, 1, 1, kWrite, lset_command},
    {"LTRIM", 4, 1, 1, 1, kWrite, ltrim_command},
    {"MGET", -2, 1, -1, 1, kReadOnly, mget_command},
    {"MOVE", 3, 1, 1, 1, kWrite, move_command},
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
    {"PUBSUB", -2, 0, 0, 0, kContainer, nullptr},
    {"PUBSUB CHANNELS", -2, 0, 0, 0, kWhileLoading, pubsub_channels_command},
    {"PUBSUB NUMPAT", 2, 0, 0, 0, kWhileLoading, pubsub_numpat_command},
    {"PUBSUB NUMSUB", -2, 0, 0, 0, kWhileLoading, pubsub_numsub_command},
    {"PUNSUBSCRIBE", -1, 0, 0, 0, kNoScript | kSubscriber | kWhileLoading, punsubscribe_command},
    {"QUIT", -1, 0, 0, 0, kNoScript | kAtOnce | kSubscriber | kWhileLoading, quit_command},
    {"RANDOMKEY", 1, 0, 0, 0, kReadOnly | kEveryKey, randomkey_command},
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
    {"SAVE", 1, 0, 0, 0, kNoScript | kNoTransaction, save_command},
    {"SCAN", -2, 0, 0, 0, kReadOnly | kEveryKey, scan_command},
    {"SCARD", 2, 1, 1, 1, kReadOnly, scard_command},
    {"SCRIPT", -2, 0, 0, 0, kContainer, nullptr},
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
    {"SETRANGE", 4, 1, 1, 1, kWrite, setrange_command},
    {"SINTER", -2, 1, -1, 1, kReadOnly, sinter_command},
    {"SINTERCARD", -3, 0, 0, 0, kReadOnly, sintercard_command},
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
    {"SUBSTR", 4, 1, 1, 1, kReadOnly, getrange_command},
    {"SUNION", -2, 1, -1, 1, kReadOnly, sunion_command},
    {"SUNIONSTORE", -3, 1, -1, 1, kWrite, sunionstore_command},
    {"SWAPDB", 3, 0, 0, 0, kWrite | kEveryKey, swapdb_command},
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
    {"ZDIFF", -3, 0, 0, 0, kReadOnly, zdiff_command},
    {"ZDIFFSTORE", -4, 1, 1, 1, kWrite, zdiffstore_command},
    {"ZINCRBY", 4, 1, 1, 1, kWrite, zincrby_command},
    {"ZINTER", -3, 0, 0, 0, kReadOnly, zinter_command},
    {"ZINTERCARD", -3, 0, 0, 0, kReadOnly, zintercard_command},
    {"ZINTERSTORE", -4, 1, 1, 1, kWrite, zinterstore_command},
    {"ZLEXCOUNT", 4, 1, 1, 1, kReadOnly, zlexcount_command},
    {"ZMPOP", -4, 0, 0, 0, kWrite, zmpop_command},
    {"ZMSCORE", -3, 1, 1, 1, kReadOnly, zmscore_command},
    {"ZPOPMAX", -2, 1, 1, 1, kWrite, zpopmax_command},
    {"ZPOPMIN", -2, 1, 1, 1, kWrite, zpopmin_command},
    {"ZRANDMEMBER", -2, 1, 1, 1, kReadOnly, zrandmember_command},
    {"ZRANGE", -4, 1, 1, 1, kReadOnly, zrange_command},
    {"ZRANGEBYLEX", -4, 1, 1, 1, kReadOnly, zrangebylex_command},
    {"ZRANGEBYSCORE", -4, 1, 1, 1, kReadOnly, zrangebyscore_command},
    {"ZRANGESTORE", -5, 1, 2, 1, kWrite, zrangestore_command},
    {"ZRANK", 3, 1, 1, 1, kReadOnly, zrank_command},
    {"ZREM", -3, 1, 1, 1, kWrite, zrem_command},
    {"ZREMRANGEBYLEX", 4, 1, 1, 1, kWrite, zremrangebylex_command},
    {"ZREMRANGEBYRANK", 4, 1, 1, 1, kWrite, zremrangebyrank_command},
    {"ZREMRANGEBYSCORE", 4, 1, 1, 1, kWrite, zremrangebyscore_command},
    {"ZREVRANGE", -4, 1, 1, 1, kReadOnly, zrevrange_command},
    {"ZREVRANGEBYLEX", -4, 1, 1, 1, kReadOnly, zrevrangebylex_command},
    {"ZREVRANGEBYSCORE", -4, 1, 1, 1, kReadOnly, zrevrangebyscore_command},
    {"ZREVRANK", 3, 1, 1, 1, kReadOnly, zrevrank_command},
    {"ZSCAN", -3, 1, 1, 1, kReadOnly, zscan_command},
    {"ZSCORE", 3, 1, 1, 1, kReadOnly, zscore_command},
    {"ZUNION", -3, 0, 0, 0, kReadOnly, zunion_command},
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

constexpr std::size_t kBuckets = 1024;

constexpr std::size_t bucket_of(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) hash = hash * 31 + static_cast<unsigned char>(c);
  return (hash ^ hash >> 10) % kBuckets;
}

/// Where each entry stands, plus one, by its bucket or the next that was free: every request is looked up once.
constexpr auto kPlaces = [] {
  std::array<std::uint16_t, kBuckets> places{};
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    std::size_t bucket = bucket_of(kCommands[i].name);
    while (places[bucket] != 0) bucket = (bucket + 1) % kBuckets;
    places[bucket] = static_cast<std::uint16_t>(i + 1);
  }
  return places;
}();

// Nearly all requests have a name that fits a number, and a number is compared at once.

constexpr std::size_t kShortName = sizeof(std::uint64_t);

/// Requires: at most `kShortName` characters.
constexpr std::uint64_t packed(std::string_view name) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c)) << 8 * i;
  }
  return word;
}

struct ShortName {
  std::uint64_t word = 0;
  const CommandSpec* spec = nullptr;
};

constexpr std::size_t bucket_of(std::uint64_t word) { return (word * 0x9e3779b97f4a7c15) >> 54; }

constexpr auto kShortNames = [] {
  std::array<ShortName, 1024> names{};
  for (const CommandSpec& spec : kCommands) {
    if (spec.name.size() > kShortName) continue;
    const std::uint64_t word = packed(spec.name);
    std::size_t bucket = bucket_of(word);
    while (names[bucket].spec != nullptr) bucket = (bucket + 1) % names.size();
    names[bucket] = {word, &spec};
  }
  return names;
}();
static_assert(std::ranges::none_of(kCommands, [](const CommandSpec& spec) {
  return spec.name.size() <= kShortName && spec.name.find(' ') != std::string_view::npos;
}));

const CommandSpec* find_by_short_name(std::string_view name) {
  const std::uint64_t word = packed(name);
  for (std::size_t bucket = bucket_of(word); kShortNames[bucket].spec != nullptr;
       bucket = (bucket + 1) % kShortNames.size()) {
    const ShortName& found = kShortNames[bucket];
    if (found.word == word && found.spec->name.size() == name.size()) return found.spec;
  }
  return nullptr;
}

const CommandSpec* find_by_name(std::string_view capitals) {
  for (std::size_t bucket = bucket_of(capitals); kPlaces[bucket] != 0; bucket = (bucket + 1) % kBuckets) {
    const CommandSpec& spec = kCommands[kPlaces[bucket] - 1U];
    if (spec.name == capitals) return &spec;
  }
  return nullptr;
}

}  // namespace

std::span<const CommandSpec> command_table() { return kCommands; }

const CommandSpec* find_command(std::span<const Value> arguments) {
  const auto bytes = arguments[0].bytes();
  if (!bytes) return nullptr;
  Capitals name;
  const CommandSpec* found = nullptr;
  if (bytes->size() <= kShortName) {
    found = find_by_short_name(*bytes);
  } else if (name.append(*bytes) && bytes->find(' ') == std::string_view::npos) {
    // A blank in the name would find "SCRIPT LOAD" sent as one word.
    found = find_by_name(name.view());
  }
  if (found == nullptr || !found->is(kContainer) || arguments.size() < 2) return found;
  name.length = 0;
  name.append(found->name);
  const auto subcommand = arguments[1].bytes();
  if (!subcommand || !name.append(" ") || !name.append(*subcommand)) return found;
  const CommandSpec* of_container = find_by_name(name.view());
  return of_container != nullptr ? of_container : found;
}

const CommandSpec& key_holds_spec() {
  static constexpr CommandSpec spec{"GET", 3, 1, 1, 1, kReadOnly, key_holds_command};
  return spec;
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
