// EVAL, EVALSHA and the script cache.

#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// `arguments` is: name, script or SHA1, number of keys, keys, arguments.
std::optional<Reply> wrong_number_of_keys(const Call& call) {
  const std::optional<std::int64_t> keys = call.arguments[2].integer();
  if (!keys) return not_an_integer();
  if (*keys > static_cast<std::int64_t>(call.arguments.size()) - 3) {
    return Reply::error("ERR Number of keys can't be greater than number of args");
  }
  if (*keys < 0) return Reply::error("ERR Number of keys can't be negative");
  return std::nullopt;
}

Reply run(Call& call, ScriptId script, bool may_write) {
  // A script with a first line of options that does not say no-writes is a write as a whole.
  if (call.database.script_declares_writes(script)) {
    if (auto error = call.database.write_error()) return *std::move(error);
  }
  if (!may_write && call.database.script_declares_writes(script)) {
    return Reply::error("ERR Can not execute a script with write flag using *_ro command.");
  }
  const auto keys = static_cast<std::size_t>(*call.arguments[2].integer());
  return call.database.run_script(call.session, script, may_write, call.arguments.subspan(3, keys),
                                  call.arguments.subspan(3 + keys));
}

Reply eval(Call& call, bool may_write) {
  if (auto error = wrong_number_of_keys(call)) return *error;
  const auto compiled = call.database.compile_script(call.arguments[1]);
  if (const Reply* error = std::get_if<Reply>(&compiled)) return *error;
  const ScriptId script = std::get<ScriptId>(compiled);
  Reply reply = run(call, script, may_write);
  // Last, since nothing of the above depends on the cache: whoever looks at what this command depends on first meets
  // its keys.
  call.database.cache_script(script);
  return reply;
}

Reply evalsha(Call& call, bool may_write) {
  // A text of another length than a SHA1's is known to be missing before the keys are counted.
  constexpr std::size_t kSha1Digits = 40;
  const Reply missing = Reply::error("NOSCRIPT No matching script. Please use EVAL.");
  if (call.key(1).size() != kSha1Digits) return missing;
  if (auto error = wrong_number_of_keys(call)) return *error;
  const std::optional<ScriptId> script = call.database.cached_script(call.arguments[1]);
  return script ? run(call, *script, may_write) : missing;
}

}  // namespace

Reply eval_command(Call& call) { return eval(call, true); }
Reply eval_ro_command(Call& call) { return eval(call, false); }
Reply evalsha_command(Call& call) { return evalsha(call, true); }
Reply evalsha_ro_command(Call& call) { return evalsha(call, false); }

/// A script runs in no time, so nobody ever finds one running.
Reply script_kill_command(Call&) { return Reply::error("NOTBUSY No scripts in execution right now."); }

Reply script_load_command(Call& call) {
  const auto compiled = call.database.compile_script(call.arguments[2]);
  if (const Reply* error = std::get_if<Reply>(&compiled)) return *error;
  const ScriptId script = std::get<ScriptId>(compiled);
  call.database.cache_script(script);
  return Reply::bulk(std::string(call.database.sha1_of(script)));
}

Reply script_exists_command(Call& call) {
  std::vector<Reply> found;
  for (const Value& sha1 : call.arguments.subspan(2)) {
    found.push_back(Reply::integer(call.database.cached_script(sha1) ? 1 : 0));
  }
  return Reply::array(std::move(found));
}

Reply script_flush_command(Call& call) {
  const auto options = call.arguments.subspan(2);
  if (options.size() > 1 || (options.size() == 1 && !options[0].is_word("SYNC") && !options[0].is_word("ASYNC"))) {
    return Reply::error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  }
  call.database.forget_scripts();
  return Reply::ok();
}

}  // namespace lockstep::models::redis
