// Clients that send the commands of a file, which only Redis has so far.

#include <algorithm>

#include <fmt/format.h>

#include "models/redis/client/endpoint.hpp"
#include "models/redis/script/script_engine.hpp"
#include "models/redis/script/sha1.hpp"
#include "scenarios/deployment/deployment.hpp"
#include "sim/invariant.hpp"

namespace lockstep::scenarios {

sim::Task<void> Deployment::command_program(models::Client& client, const ClientSpec& spec) {
  const auto named = std::find_if(scenario_.servers.begin(), scenario_.servers.end(),
                                  [&](const ServerSpec& server) { return server.name == spec.server; });
  const auto number = spec.server.empty() ? 0 : static_cast<std::size_t>(named - scenario_.servers.begin());
  const auto servers = models::redis::servers_of(client);
  sim::invariant(number < servers.size(), "commands are for a server of the story");
  models::redis::Connection server = servers[number];
  for (const ClientSpec::Line& line : spec.commands) {
    const models::redis::Reply reply = co_await server.call(line.command);
    if (reply.is_error() && models::redis::is_mistake_of_script(reply.text()))
      world_.note_mistake("a script among the commands of the story");
    if (trouble_) continue;
    if (const auto trouble = servers_->trouble()) trouble_ = ScriptTrouble{trouble->message, line.at};
  }
}

std::string Deployment::place_of_script(std::string_view sha1) const {
  for (const ClientSpec& client : scenario_.clients) {
    for (const ClientSpec::Line& line : client.commands) {
      for (const models::Value& argument : line.command.values()) {
        const auto text = argument.bytes();
        if (text && models::redis::sha1_hex(*text) == sha1)
          return fmt::format("{}:{}:{}", scenario_.file, line.at.line, line.at.column);
      }
    }
  }
  return fmt::format("a script of {}", scenario_.lock.algorithm);
}

}  // namespace lockstep::scenarios
