#include "scenarios/format/other_algorithm.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/story/own_lock.hpp"

namespace lockstep::scenarios {
namespace {

void keep_declared(LockParameters& parameters, const models::locks::Entry& entry, bool of_client) {
  std::erase_if(parameters, [&](const auto& set) {
    return std::none_of(entry.parameters.begin(), entry.parameters.end(),
                        [&](const models::locks::ParameterSpec& spec) {
                          return spec.name == set.first && models::locks::accepts(spec, set.second) &&
                                 !(of_client && !spec.one_for_all.empty());
                        });
  });
}

}  // namespace

Scenario replace_algorithm(const Scenario& story, const models::locks::Entry& entry) {
  Scenario other = story;
  other.lock.algorithm = entry.id;
  other.lock.own = own_lock_of(entry);
  keep_declared(other.lock.parameters, entry, false);
  if (entry.many_nodes && other.servers.size() == 1) {
    for (std::size_t i = 1; i < 3; ++i) other.servers.push_back(other.servers.front());
    for (std::size_t i = 0; i < 3; ++i) other.servers[i].name = fmt::format("redis{}", i + 1);
  }
  for (ClientSpec& client : other.clients) {
    keep_declared(client.parameters, entry, true);
    for (ClientSpec& thread : client.threads) keep_declared(thread.parameters, entry, true);
  }
  return other;
}

std::variant<Scenario, std::string> with_algorithm(const Scenario& story, const models::locks::Entry& entry,
                                                   const models::locks::Catalogue& catalogue) {
  Scenario other = replace_algorithm(story, entry);
  other.expect_run.clear();
  other.expect_check.clear();
  other.expect_traces.reset();
  // What strikes or pins commands of the one may mean nothing to the other.
  auto read = parse(to_toml(other), story.file, catalogue);
  if (auto* trouble = std::get_if<Diagnostic>(&read)) return std::move(trouble->message);
  Scenario& result = std::get<Scenario>(read);
  result.id = fmt::format("{}-{}", story.id, entry.id);
  return std::move(result);
}

}  // namespace lockstep::scenarios
