#include "programs/story_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "programs/program_client.hpp"

namespace lockstep::programs {
namespace {

std::string address_of(std::size_t server) { return fmt::format("127.0.0.1:{}", ProgramClient::kFirstPort + server); }

std::string addresses_of(const scenarios::Scenario& story) {
  std::string all;
  for (std::size_t i = 0; i < story.servers.size(); ++i) all += (i == 0 ? "" : ",") + address_of(i);
  return all;
}

/// Where programs are looked for is the caller's business; of all else every machine gives the same.
std::map<std::string, std::string, std::less<>> environment_of(const scenarios::Scenario& story,
                                                               const scenarios::ClientSpec& client) {
  const char* path = std::getenv("PATH");
  std::map<std::string, std::string, std::less<>> all{
      {"PATH", path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin"},
      {"HOME", "/nonexistent"},
      {"LANG", "C.UTF-8"},
      {"PYTHONUNBUFFERED", "1"},  // what it says of its locks is told when it says it
      {"JAVA_TOOL_OPTIONS", "-XX:-UsePerfData"},
      {"LOCKSTEP_CLIENT", client.name},
      {"LOCKSTEP_SERVERS", addresses_of(story)},
      {"REDIS_URL", "redis://" + address_of(0)},
  };
  for (const auto& [name, text] : client.program.environment) all[name] = filled(text, story, client);
  return all;
}

class StoryPrograms final : public scenarios::ProgramMaker {
 public:
  std::unique_ptr<scenarios::ProgramProcess> make(const scenarios::Scenario& story, const scenarios::ClientSpec& client,
                                                  std::size_t number) const override {
    tracer::Command command;
    for (const std::string& word : client.program.command) command.arguments.push_back(filled(word, story, client));
    for (const auto& [name, text] : environment_of(story, client)) command.environment.push_back(name + "=" + text);
    command.directory = client.program.folder;
    return std::make_unique<ProgramClient>(std::move(command), 1 + number);
  }
};

}  // namespace

std::string filled(std::string_view text, const scenarios::Scenario& story, const scenarios::ClientSpec& client) {
  std::string result(text);
  const auto fill = [&](const std::string& name, const std::string& value) {
    const std::string hole = "{" + name + "}";
    for (std::size_t at = 0; (at = result.find(hole, at)) != std::string::npos; at += value.size())
      result.replace(at, hole.size(), value);
  };
  fill("client", client.name);
  for (std::size_t i = 0; i < story.servers.size(); ++i) fill(story.servers[i].name, address_of(i));
  return result;
}

const scenarios::ProgramMaker& story_programs() {
  static const StoryPrograms programs;
  return programs;
}

}  // namespace lockstep::programs
