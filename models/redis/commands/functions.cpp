// FUNCTION and FCALL.
//
// A library is run anew for each call, its functions register themselves, and then the one that is meant runs: so a
// call is a function of the library's text, keys, arguments and replies, as a script is, and explorations may go back
// and forth between calls. What a library would keep in its own variables from one call to the next is lost by this,
// and a first run when it is loaded says what is in it.

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "models/redis/data/glob.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"
#include "models/redis/wire/command.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::string_view kWrongName =
    "Library names can only contain letters, numbers, or underscores(_) and must be at least one character long";

/// Behind `kLibraryMark` in front of a library's text, on the line that its shebang leaves empty, so that lines keep
/// their numbers. While the library is loaded the only global is `redis`, which has little but register_function; what
/// its functions find later is what scripts find, without KEYS and ARGV.
constexpr std::string_view kOpening =
    "local lockstep_list, lockstep_by_name, lockstep_loaded = {}, {}, false "
    "local lockstep_redis, lockstep_bind = redis, _G['lockstep bind'] "
    "local function lockstep_fail(text) error({err = 'ERR ' .. text}) end "
    "local lockstep_flags = {['no-writes'] = 1, ['allow-oom'] = 1, ['allow-stale'] = 1, ['no-cluster'] = 1, "
    "['allow-cross-slot-keys'] = 1} "
    "local function lockstep_register(...) "
    "if lockstep_loaded then lockstep_fail('redis.register_function can only be called on FUNCTION LOAD command') end "
    "local count, given, callback = select('#', ...), ... local name, description, flags = nil, false, {} "
    "if count < 1 or count > 2 then lockstep_fail('wrong number of arguments to redis.register_function') end "
    "if count == 2 then "
    "if type(given) ~= 'string' then lockstep_fail('first argument to redis.register_function must be a string') end "
    "if type(callback) ~= 'function' then "
    "lockstep_fail('second argument to redis.register_function must be a function') end "
    "name = given else "
    "if type(given) ~= 'table' then lockstep_fail('calling redis.register_function with a single argument is only "
    "applicable to Lua table (representing named arguments).') end "
    "for key, value in pairs(given) do "
    "if type(key) ~= 'string' then "
    "lockstep_fail('named argument key given to redis.register_function is not a string') end "
    "key = string.lower(key) "
    "if key == 'function_name' then if type(value) ~= 'string' then "
    "lockstep_fail('function_name argument given to redis.register_function must be a string') end name = value "
    "elseif key == 'description' then if type(value) ~= 'string' then "
    "lockstep_fail('description argument given to redis.register_function must be a string') end description = value "
    "elseif key == 'callback' then if type(value) ~= 'function' then "
    "lockstep_fail('callback argument given to redis.register_function must be a function') end callback = value "
    "elseif key == 'flags' then if type(value) ~= 'table' then "
    "lockstep_fail('flags argument to redis.register_function must be a table representing function flags') end "
    "for i = 1, #value do local flag = string.lower(tostring(value[i])) "
    "if not lockstep_flags[flag] then lockstep_fail('unknown flag given') end flags[i] = flag end "
    "else lockstep_fail('unknown argument given to redis.register_function') end end "
    "if not name then lockstep_fail('redis.register_function must get a function name argument') end "
    "if not callback then lockstep_fail('redis.register_function must get a callback argument') end end "
    "if not string.find(name, '^[%w_]+$') then lockstep_fail('Library names can only contain letters, numbers, or "
    "underscores(_) and must be at least one character long') end "
    "local key = string.lower(name) "
    "if lockstep_by_name[key] then lockstep_fail('Function already exists in the library') end "
    "lockstep_by_name[key] = callback lockstep_list[#lockstep_list + 1] = {name, description, flags} end "
    "local lockstep_members = {register_function = lockstep_register} "
    "for _, name in ipairs({'log', 'LOG_DEBUG', 'LOG_VERBOSE', 'LOG_NOTICE', 'LOG_WARNING', 'REDIS_VERSION', "
    "'REDIS_VERSION_NUM'}) do lockstep_members[name] = lockstep_redis[name] end "
    "local lockstep_api, lockstep_meta = {}, {__index = lockstep_members} setmetatable(lockstep_api, lockstep_meta) "
    "local function lockstep_library(...) ";
/// Without a name it says what there is.
constexpr std::string_view kClosing =
    "\nend local lockstep_done, lockstep_unknown, lockstep_readonly = lockstep_bind(lockstep_library, lockstep_api) "
    "setmetatable(lockstep_members, {__index = lockstep_unknown}) lockstep_meta.__newindex = lockstep_readonly "
    "lockstep_library() lockstep_done() lockstep_loaded = true local name = table.remove(ARGV, 1) "
    "if not name then return lockstep_list end "
    "return lockstep_by_name[string.lower(name)](KEYS, ARGV)";

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_same_word(std::string_view a, std::string_view b) { return lower(std::string(a)) == lower(std::string(b)); }

/// What the first line says: "#!lua name=locks"; or why it is none.
std::variant<std::string, Reply> library_name(std::string_view code) {
  if (!code.starts_with("#!")) return Reply::error("ERR Missing library metadata");
  const std::size_t end = code.find('\n');
  if (end == std::string_view::npos) return Reply::error("ERR Invalid library metadata");
  const auto line = parse_command_line(code.substr(0, end));
  const Command* words = std::get_if<Command>(&line);
  if (words == nullptr || words->empty()) return Reply::error("ERR Invalid library metadata");
  std::optional<std::string> name;
  for (std::size_t i = 1; i < words->size(); ++i) {
    const std::string word = (*words)[i].text();
    if (!is_same_word(std::string_view(word).substr(0, 5), "name=")) {
      return Reply::error("ERR Invalid metadata value given: " + word);
    }
    if (name) return Reply::error("ERR Invalid metadata value, name argument was given multiple times");
    name = word.substr(5);
  }
  if (!name) return Reply::error("ERR Library name was not given");
  if (!is_name(*name)) return Reply::error("ERR " + std::string(kWrongName));
  const std::string engine = (*words)[0].text().substr(2);
  if (!is_same_word(engine, "lua")) return Reply::error("ERR Engine '" + engine + "' not found");
  return *std::move(name);
}

std::string body_of(const Library& library) { return library.code.substr(library.code.find('\n')); }

std::string script_of(const Library& library) {
  return std::string(kLibraryMark) + std::string(kOpening) + body_of(library) + std::string(kClosing);
}

/// Errors of Lua name the script by its text's digest and its lines as those of a script.
std::string as_of_function(std::string text, std::string_view sha1, std::string_view function) {
  for (std::size_t at = text.find("user_script:"); at != std::string::npos; at = text.find("user_script:", at)) {
    text.replace(at, 12, "user_function:");
  }
  const std::size_t at = text.rfind(" script: " + std::string(sha1));
  if (at == std::string::npos) return text;
  if (function.empty()) return text.substr(0, at);
  return text.replace(at + 9, sha1.size(), function);
}

/// Fills in the functions, or says why it cannot be loaded.
std::optional<Reply> register_functions(Call& call, Library& library) {
  // Alone first, so that it is the library that must be closed where it begins.
  const auto alone = call.database.compile_script(body_of(library));
  if (const Reply* error = std::get_if<Reply>(&alone)) {
    std::string text(error->text());
    constexpr std::string_view kOfScript = "ERR Error compiling script (new function): ";
    if (text.starts_with(kOfScript)) text.replace(0, kOfScript.size(), "ERR Error compiling function: ");
    return Reply::error(as_of_function(std::move(text), "", ""));
  }
  const auto compiled = call.database.compile_script(script_of(library));
  if (const Reply* error = std::get_if<Reply>(&compiled)) return *error;
  const ScriptId script = std::get<ScriptId>(compiled);
  const Reply listed = call.database.run_script(call.session, script, false, {}, {});
  if (listed.is_error()) {
    if (call.database.has_given_up()) return listed;
    return Reply::error("ERR Error registering functions: " +
                        as_of_function(std::string(listed.text()), call.database.sha1_of(script), ""));
  }
  for (const Reply& item : listed.items()) {
    Library::Function& function = library.functions.emplace_back();
    function.name = item.items()[0].value().text();
    if (item.items()[1].is_bulk()) function.description = item.items()[1].value().text();
    for (const Reply& flag : item.items()[2].items()) function.flags.push_back(flag.value().text());
  }
  if (library.functions.empty()) return Reply::error("ERR No functions registered");
  return std::nullopt;
}

const Library* library_with(const std::vector<Library>& libraries, std::string_view function,
                            const Library::Function** found) {
  for (const Library& library : libraries) {
    for (const Library::Function& each : library.functions) {
      if (!is_same_word(each.name, function)) continue;
      *found = &each;
      return &library;
    }
  }
  return nullptr;
}

/// What was told to this server its replicas are told as well.
Reply replicated(Call& call, Reply reply) {
  Command same;
  for (const Value& word : call.arguments) same.push_back(word);
  call.database.replicate_as(std::move(same));
  return reply;
}

Reply call_function(Call& call, bool may_write) {
  const Library::Function* function = nullptr;
  const Library* library = library_with(call.keys.libraries(), call.key(1), &function);
  if (library == nullptr) return Reply::error("ERR Function not found");
  const std::optional<std::int64_t> count = call.arguments[2].integer();
  if (!count) return Reply::error("ERR Bad number of keys provided");
  if (*count > static_cast<std::int64_t>(call.size()) - 3) {
    return Reply::error("ERR Number of keys can't be greater than number of args");
  }
  if (*count < 0) return Reply::error("ERR Number of keys can't be negative");
  const bool only_reads =
      std::find(function->flags.begin(), function->flags.end(), "no-writes") != function->flags.end();
  if (!only_reads) {
    if (call.database.replication().is_replica()) {
      return Reply::error("READONLY Can not run script with write flag on readonly replica");
    }
    if (!may_write) return Reply::error("ERR Can not execute a script with write flag using *_ro command.");
    if (auto error = call.database.write_error()) return *std::move(error);
  }
  const auto compiled = call.database.compile_script(script_of(*library));
  if (const Reply* error = std::get_if<Reply>(&compiled)) return *error;
  const ScriptId script = std::get<ScriptId>(compiled);
  const auto keys = static_cast<std::size_t>(*count);
  std::vector<Value> arguments = {Value(function->name)};
  const auto rest = call.arguments.subspan(3 + keys);
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  const std::string name = function->name;
  Reply reply = call.database.run_script(call.session, script, !only_reads, call.arguments.subspan(3, keys), arguments);
  if (!reply.is_error()) return reply;
  return Reply::error(as_of_function(std::string(reply.text()), call.database.sha1_of(script), name));
}

}  // namespace

Reply fcall_command(Call& call) { return call_function(call, true); }
Reply fcall_ro_command(Call& call) { return call_function(call, false); }

Reply function_load_command(Call& call) {
  bool replaces = false;
  std::size_t i = 2;
  for (; i + 1 < call.size(); ++i) {
    if (!call.arguments[i].is_word("REPLACE")) {
      return Reply::error("ERR Unknown option given: " + up_to_zero(call.arguments[i]));
    }
    replaces = true;
  }
  Library library;
  library.code = call.arguments[i].text();
  auto name = library_name(library.code);
  if (const Reply* error = std::get_if<Reply>(&name)) return *error;
  library.name = std::get<std::string>(std::move(name));
  std::vector<Library> others = call.keys.libraries();
  if (std::erase_if(others, [&](const Library& other) { return other.name == library.name; }) > 0 && !replaces) {
    return Reply::error("ERR Library '" + library.name + "' already exists");
  }
  if (auto error = register_functions(call, library)) return *std::move(error);
  for (const Library::Function& function : library.functions) {
    const Library::Function* other = nullptr;
    if (library_with(others, function.name, &other) != nullptr) {
      return Reply::error("ERR Function " + function.name + " already exists");
    }
  }
  const std::string loaded = library.name;
  others.push_back(std::move(library));
  call.keys.set_libraries(std::move(others));
  return replicated(call, Reply::bulk(loaded));
}

Reply function_delete_command(Call& call) {
  std::vector<Library> libraries = call.keys.libraries();
  const std::string name = call.arguments[2].text();
  if (std::erase_if(libraries, [&](const Library& library) { return library.name == name; }) == 0) {
    return Reply::error("ERR Library not found");
  }
  call.keys.set_libraries(std::move(libraries));
  return replicated(call, Reply::ok());
}

Reply function_flush_command(Call& call) {
  const auto options = call.arguments.subspan(2);
  if (options.size() > 1) return unknown_subcommand_or_arity(call, "FUNCTION");
  if (options.size() == 1 && !options[0].is_word("SYNC") && !options[0].is_word("ASYNC")) {
    return Reply::error("ERR FUNCTION FLUSH only supports SYNC|ASYNC option");
  }
  call.keys.set_libraries({});
  return replicated(call, Reply::ok());
}

/// A function runs in no time, so nobody ever finds one running.
Reply function_kill_command(Call&) { return Reply::error("NOTBUSY No scripts in execution right now."); }

Reply function_list_command(Call& call) {
  bool with_code = false;
  std::optional<std::string> pattern;
  for (std::size_t i = 2; i < call.size(); ++i) {
    if (!with_code && call.arguments[i].is_word("WITHCODE")) {
      with_code = true;
    } else if (!pattern && call.arguments[i].is_word("LIBRARYNAME")) {
      if (++i == call.size()) return Reply::error("ERR library name argument was not given");
      pattern = lower(call.arguments[i].text());
    } else {
      return Reply::error("ERR Unknown argument " + up_to_zero(call.arguments[i]));
    }
  }
  std::vector<Reply> list;
  for (const Library& library : call.keys.libraries()) {
    if (pattern && !glob_matches(*pattern, lower(library.name))) continue;
    std::vector<Reply> functions;
    for (const Library::Function& function : library.functions) {
      std::vector<Reply> flags;
      for (const std::string& flag : function.flags) flags.push_back(Reply::status(flag));
      functions.push_back(Reply::map({Reply::bulk("name"), Reply::bulk(function.name), Reply::bulk("description"),
                                      function.description ? Reply::bulk(*function.description) : Reply::nil(),
                                      Reply::bulk("flags"), Reply::set(std::move(flags))}));
    }
    std::vector<Reply> parts = {Reply::bulk("library_name"), Reply::bulk(library.name),
                                Reply::bulk("engine"),       Reply::bulk("LUA"),
                                Reply::bulk("functions"),    Reply::array(std::move(functions))};
    if (with_code) {
      parts.push_back(Reply::bulk("library_code"));
      parts.push_back(Reply::bulk(library.code));
    }
    list.push_back(Reply::map(std::move(parts)));
  }
  return Reply::array(std::move(list));
}

Reply function_stats_command(Call& call) {
  std::int64_t functions = 0;
  for (const Library& library : call.keys.libraries()) functions += static_cast<std::int64_t>(library.functions.size());
  return Reply::map({Reply::bulk("running_script"), Reply::nil(), Reply::bulk("engines"),
                     Reply::map({Reply::bulk("LUA"),
                                 Reply::map({Reply::bulk("libraries_count"),
                                             Reply::integer(static_cast<std::int64_t>(call.keys.libraries().size())),
                                             Reply::bulk("functions_count"), Reply::integer(functions)})})});
}

}  // namespace lockstep::models::redis
