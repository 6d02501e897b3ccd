#include "models/redis/database.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::models::redis {
namespace {

/// Redis shows about 128 bytes of what it did not understand.
constexpr std::size_t kShownBytes = 128;

Reply unknown_command(const Command& command) {
  std::string shown;
  for (std::size_t i = 1; i < command.size() && shown.size() < kShownBytes; ++i) {
    const std::size_t room = kShownBytes - shown.size();
    shown += "'" + command[i].text().substr(0, room) + "' ";
  }
  return Reply::error("ERR unknown command '" + command[0].text().substr(0, kShownBytes) +
                      "', with args beginning with: " + shown);
}

Reply unknown_subcommand(const CommandSpec& container, const Command& command) {
  return Reply::error("ERR unknown subcommand '" + command[1].text().substr(0, kShownBytes) + "'. Try " +
                      std::string(container.name) + " HELP.");
}

}  // namespace

Reply Database::execute(const Command& command, const sim::Clock& server_clock) {
  assert(!command.empty());
  clock_ = &server_clock;
  keys_.begin_request();
  touched_more_than_keys_ = false;

  const CommandSpec* spec = command.spec();
  if (spec == nullptr) return unknown_command(command);
  const bool is_container = spec->handler == nullptr;
  if (is_container && command.size() > 1) return unknown_subcommand(*spec, command);
  if (is_container || !spec->accepts(command.size())) {
    return Reply::error("ERR wrong number of arguments for '" + error_name(spec->name) + "' command");
  }
  return run(*spec, command);
}

Reply Database::run(const CommandSpec& spec, const Command& command) {
  if (spec.is(kEveryKey) || spec.is(kScriptReader)) touched_more_than_keys_ = true;
  keys_.begin_command();
  Call call{*this, keys_, command.values(), *clock_, spec.name};
  return spec.handler(call);
}

Reply Database::call_from_script(const Command& command, bool may_write) {
  const CommandSpec* spec = command.spec();
  if (spec == nullptr || (spec->handler == nullptr && command.size() > 1)) {
    return Reply::error("ERR Unknown Redis command called from script");
  }
  if (spec->handler == nullptr || !spec->accepts(command.size())) {
    return Reply::error("ERR Wrong number of args calling Redis command from script");
  }
  if (spec->is(kNoScript)) return Reply::error("ERR This Redis command is not allowed from script");
  if (spec->is(kWrite) && !may_write) return Reply::error("ERR Write commands are not allowed from read-only scripts.");
  return run(*spec, command);
}

std::variant<ScriptId, Reply> Database::load_script(const Value& text) {
  std::string scratch;
  auto compiled = scripts_->compile(text.view(scratch));
  if (const ScriptId* script = std::get_if<ScriptId>(&compiled)) {
    if (std::find(cached_.begin(), cached_.end(), *script) == cached_.end()) {
      cached_.push_back(*script);
      touched_more_than_keys_ = true;
    }
  }
  return compiled;
}

std::optional<ScriptId> Database::cached_script(const Value& sha1) const {
  std::string wanted = sha1.text();
  for (char& c : wanted) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const ScriptId script : cached_) {
    if (scripts_->sha1(script) == wanted) return script;
  }
  return std::nullopt;
}

void Database::forget_scripts() {
  cached_.clear();
  touched_more_than_keys_ = true;
}

Reply Database::run_script(ScriptId script, std::span<const Value> keys, std::span<const Value> arguments) {
  ScriptEngine::Result result = scripts_->run(script, keys, arguments, *this);
  if (result.limit_hit && !limit_hit_) limit_hit_ = std::move(result.limit_hit);
  return std::move(result.reply);
}

void Database::reset() {
  restart_empty();
  limit_hit_.reset();
}

void Database::restart_empty() {
  keys_.reset();
  cached_.clear();
  touched_more_than_keys_ = false;
}

}  // namespace lockstep::models::redis
