// COMMAND: what a client asks of the table of commands when it connects.

#include <string>
#include <vector>

#include "models/redis/database/commands.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

bool is_subcommand(const CommandSpec& spec) { return spec.name.find(' ') != std::string_view::npos; }

/// The first six of the ten parts that Redis 7 sends, which are what clients use; the others are empty.
Reply info_of(const CommandSpec& spec) {
  std::vector<Reply> flags;
  for (const auto& [flag, name] :
       {std::pair(kWrite, "write"), std::pair(kReadOnly, "readonly"), std::pair(kNoScript, "noscript")}) {
    if (spec.is(flag)) flags.push_back(Reply::status(name));
  }
  std::vector<Reply> parts = {Reply::bulk(error_name(spec.name)), Reply::integer(spec.arity),
                              Reply::set(std::move(flags)),       Reply::integer(spec.first_key),
                              Reply::integer(spec.last_key),      Reply::integer(spec.key_step)};
  while (parts.size() < 9) parts.push_back(Reply::set({}));
  parts.push_back(Reply::array({}));
  return Reply::array(std::move(parts));
}

/// What a list of all commands has of this one.
bool is_listed(const Call& call, const CommandSpec& spec) { return !is_subcommand(spec) && call.database.has(spec); }

Reply infos_of_all(const Call& call) {
  std::vector<Reply> all;
  for (const CommandSpec& spec : command_table()) {
    if (is_listed(call, spec)) all.push_back(info_of(spec));
  }
  return Reply::array(std::move(all));
}

}  // namespace

Reply command_command(Call& call) { return infos_of_all(call); }

Reply command_count_command(Call& call) {
  std::int64_t count = 0;
  for (const CommandSpec& spec : command_table()) count += is_listed(call, spec) ? 1 : 0;
  return Reply::integer(count);
}

Reply command_info_command(Call& call) {
  if (call.size() == 2) return infos_of_all(call);
  std::vector<Reply> infos;
  for (std::size_t i = 2; i < call.size(); ++i) {
    const CommandSpec* spec = find_command(call.arguments.subspan(i, 1));
    infos.push_back(spec == nullptr || !call.database.has(*spec) ? Reply::nil() : info_of(*spec));
  }
  return Reply::array(std::move(infos));
}

/// Nothing is documented here; redis-cli then completes and explains nothing.
Reply command_docs_command(Call&) { return Reply::map({}); }

}  // namespace lockstep::models::redis
