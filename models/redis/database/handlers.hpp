#pragma once

// The functions behind the table of commands, by family.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "models/redis/data/ids.hpp"
#include "models/redis/data/objects.hpp"
#include "models/redis/database/call.hpp"
#include "models/redis/database/session.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "models/value.hpp"

namespace lockstep::models::redis {

// strings.cpp
Reply set_command(Call& call);
Reply setnx_command(Call& call);
Reply setex_command(Call& call);
Reply psetex_command(Call& call);
Reply get_command(Call& call);
Reply key_holds_command(Call& call);
Reply getset_command(Call& call);
Reply getdel_command(Call& call);
Reply getex_command(Call& call);
Reply incr_command(Call& call);
Reply decr_command(Call& call);
Reply incrby_command(Call& call);
Reply decrby_command(Call& call);
Reply append_command(Call& call);
Reply strlen_command(Call& call);
Reply mget_command(Call& call);
Reply mset_command(Call& call);
Reply msetnx_command(Call& call);

// keys.cpp
Reply del_command(Call& call);
Reply exists_command(Call& call);
Reply type_command(Call& call);
Reply expire_command(Call& call);
Reply pexpire_command(Call& call);
Reply expireat_command(Call& call);
Reply pexpireat_command(Call& call);
Reply ttl_command(Call& call);
Reply pttl_command(Call& call);
Reply expiretime_command(Call& call);
Reply pexpiretime_command(Call& call);
Reply persist_command(Call& call);
Reply rename_command(Call& call);
Reply renamenx_command(Call& call);
Reply copy_command(Call& call);

// databases.cpp
Reply select_command(Call& call);
Reply move_command(Call& call);
Reply swapdb_command(Call& call);
Reply flushall_command(Call& call);
Reply flushdb_command(Call& call);
Reply randomkey_command(Call& call);
void append_keyspace_info(std::string& out, Call& call);
/// A database's number, or the error.
std::variant<DatabaseId, Reply> read_database(const Value& argument);

// string_ranges.cpp
Reply getrange_command(Call& call);
Reply setrange_command(Call& call);

// hashes.cpp
Reply hset_command(Call& call);
Reply hmset_command(Call& call);
Reply hsetnx_command(Call& call);
Reply hget_command(Call& call);
Reply hmget_command(Call& call);
Reply hgetall_command(Call& call);
Reply hkeys_command(Call& call);
Reply hvals_command(Call& call);
Reply hdel_command(Call& call);
Reply hexists_command(Call& call);
Reply hlen_command(Call& call);
Reply hstrlen_command(Call& call);
Reply hincrby_command(Call& call);
Reply hrandfield_command(Call& call);

// fractions.cpp
Reply incrbyfloat_command(Call& call);
Reply hincrbyfloat_command(Call& call);

// lists.cpp
Reply lpush_command(Call& call);
Reply rpush_command(Call& call);
Reply lpushx_command(Call& call);
Reply rpushx_command(Call& call);
Reply lpop_command(Call& call);
Reply rpop_command(Call& call);
Reply llen_command(Call& call);
Reply lindex_command(Call& call);
Reply lset_command(Call& call);
Reply lrange_command(Call& call);
Reply ltrim_command(Call& call);
Reply lrem_command(Call& call);
Reply linsert_command(Call& call);
Reply lmove_command(Call& call);
Reply lpos_command(Call& call);
Reply rpoplpush_command(Call& call);

// blocking.cpp
Reply blpop_command(Call& call);
Reply brpop_command(Call& call);
Reply blmove_command(Call& call);
Reply brpoplpush_command(Call& call);
Reply bzpopmin_command(Call& call);
Reply bzpopmax_command(Call& call);
Reply lmpop_command(Call& call);
Reply zmpop_command(Call& call);
Reply blmpop_command(Call& call);
Reply bzmpop_command(Call& call);
/// Whether a command that waits for a key can do with what is there now; then what it does, and its reply.
bool can_serve(const Waiting& waiting, const Object& object);
Reply serve_blocked(Call& call, const Waiting& waiting, const std::string& key);
/// The command without waiting that does the same, but for how many it takes.
Command plain_of(const Waiting& waiting, const std::string& key);

// sets.cpp
Reply sadd_command(Call& call);
Reply srem_command(Call& call);
Reply sismember_command(Call& call);
Reply smismember_command(Call& call);
Reply scard_command(Call& call);
Reply smembers_command(Call& call);
Reply sinter_command(Call& call);
Reply sintercard_command(Call& call);
Reply sunion_command(Call& call);
Reply sdiff_command(Call& call);
Reply sinterstore_command(Call& call);
Reply sunionstore_command(Call& call);
Reply sdiffstore_command(Call& call);
Reply spop_command(Call& call);
Reply srandmember_command(Call& call);
Reply smove_command(Call& call);

// sorted_sets.cpp
Reply zadd_command(Call& call);
Reply zincrby_command(Call& call);
Reply zrem_command(Call& call);
Reply zscore_command(Call& call);
Reply zmscore_command(Call& call);
Reply zcard_command(Call& call);
Reply zrank_command(Call& call);
Reply zrevrank_command(Call& call);
Reply zpopmin_command(Call& call);
Reply zpopmax_command(Call& call);

// sorted_set_ranges.cpp
Reply zrange_command(Call& call);
Reply zrangebylex_command(Call& call);
Reply zrevrangebylex_command(Call& call);
Reply zlexcount_command(Call& call);
Reply zremrangebylex_command(Call& call);
Reply zrandmember_command(Call& call);
Reply zrevrange_command(Call& call);
Reply zrangebyscore_command(Call& call);
Reply zrevrangebyscore_command(Call& call);
Reply zcount_command(Call& call);
Reply zremrangebyscore_command(Call& call);
Reply zremrangebyrank_command(Call& call);

Reply zrangestore_command(Call& call);

// sorted_set_algebra.cpp
Reply zunionstore_command(Call& call);
Reply zinterstore_command(Call& call);
Reply zdiffstore_command(Call& call);
Reply zunion_command(Call& call);
Reply zinter_command(Call& call);
Reply zdiff_command(Call& call);
Reply zintercard_command(Call& call);

// scan.cpp
Reply scan_command(Call& call);
Reply hscan_command(Call& call);
Reply sscan_command(Call& call);
Reply zscan_command(Call& call);
Reply keys_command(Call& call);
Reply dbsize_command(Call& call);

// transactions.cpp
Reply multi_command(Call& call);
Reply exec_command(Call& call);
Reply discard_command(Call& call);
Reply watch_command(Call& call);
Reply unwatch_command(Call& call);

// pubsub.cpp
Reply subscribe_command(Call& call);
Reply psubscribe_command(Call& call);
Reply unsubscribe_command(Call& call);
Reply punsubscribe_command(Call& call);
Reply publish_command(Call& call);
Reply pubsub_channels_command(Call& call);
Reply pubsub_numsub_command(Call& call);
Reply pubsub_numpat_command(Call& call);
/// A message to whoever has subscribed to its channel; how many that are.
std::int64_t send_to_subscribers(Database& database, const std::string& channel, const Value& payload);

// clients.cpp
Reply client_id_command(Call& call);
Reply client_info_command(Call& call);
Reply client_list_command(Call& call);
Reply client_no_evict_command(Call& call);
Reply client_getname_command(Call& call);
Reply client_setname_command(Call& call);
Reply client_kill_command(Call& call);
Reply client_pause_command(Call& call);
Reply client_unpause_command(Call& call);
Reply auth_command(Call& call);
Reply client_unblock_command(Call& call);
void append_clients_info(std::string& out, Call& call);
Reply hello_command(Call& call);
Reply reset_command(Call& call);
Reply quit_command(Call& call);

// command_commands.cpp
Reply command_command(Call& call);
Reply command_count_command(Call& call);
Reply command_docs_command(Call& call);
Reply command_info_command(Call& call);

// server.cpp
Reply ping_command(Call& call);
Reply echo_command(Call& call);
Reply time_command(Call& call);
Reply debug_command(Call& call);
Reply info_command(Call& call);
Reply config_get_command(Call& call);
Reply config_set_command(Call& call);
Reply config_rewrite_command(Call& call);

// replication_commands.cpp
Reply wait_command(Call& call);
Reply role_command(Call& call);
Reply replicaof_command(Call& call);
Reply failover_command(Call& call);
Reply save_command(Call& call);
Reply bgsave_command(Call& call);
void append_replication_info(std::string& out, Call& call);

// scripting.cpp
Reply eval_command(Call& call);
Reply evalsha_command(Call& call);
Reply eval_ro_command(Call& call);
Reply evalsha_ro_command(Call& call);
Reply script_load_command(Call& call);
Reply script_exists_command(Call& call);
Reply script_flush_command(Call& call);
Reply script_kill_command(Call& call);

// functions.cpp
Reply fcall_command(Call& call);
Reply fcall_ro_command(Call& call);
Reply function_load_command(Call& call);
Reply function_delete_command(Call& call);
Reply function_flush_command(Call& call);
Reply function_kill_command(Call& call);
Reply function_list_command(Call& call);
Reply function_stats_command(Call& call);

// --- Replies that several of them give.

Reply wrong_type();
Reply not_an_integer();
Reply syntax_error();
Reply not_positive();
Reply wrong_number_of_arguments(const Call& call);
/// As C prints it, which is how Redis puts it into errors: up to the first zero byte, and at most so many.
std::string up_to_zero(const Value& argument, std::size_t most = std::string::npos);
Reply unknown_subcommand_or_arity(const Call& call, std::string_view container);
Reply invalid_expire_time(const Call& call);

}  // namespace lockstep::models::redis
