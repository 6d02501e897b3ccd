// What a parameter is, its entry says: an algorithm whose lease has a name that nobody knows is treated as one that calls it "ttl".

#include <catch2/catch.hpp>

#include "scenarios/deployment/deployment.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/matrix/matrix.hpp"

namespace lockstep::scenarios::parameter_roles_test {
namespace {

using namespace sim::literals;
using models::locks::Catalogue;
using models::locks::Entry;
using models::locks::Parameters;
using models::locks::ParameterSpec;

/// The entry with another name for one of its parameters, which only its own `make` knows.
Entry renamed(const Entry& original, std::string_view id, std::string_view from, std::string_view to) {
  Entry entry = original;
  entry.id = id;
  for (ParameterSpec& spec : entry.parameters) {
    if (spec.name == from) spec.name = to;
  }
  entry.make = [original, from, to](const Parameters& given) {
    Parameters parameters(original.parameters);
    for (const ParameterSpec& spec : original.parameters)
      parameters.set(spec.name, given.get(spec.name == from ? to : spec.name));
    return original.make(parameters);
  };
  return entry;
}

Catalogue with_renamed() {
  Catalogue catalogue;
  const Catalogue built_in = Catalogue::built_in();
  const Entry& entry = *built_in.find("set-nx-px-lua");
  catalogue.add(entry);
  catalogue.add(renamed(entry, "own", "ttl", "expires_in"));
  const Entry& redlock = *built_in.find("redlock-seq");
  catalogue.add(redlock);
  catalogue.add(renamed(redlock, "own-redlock", "node_timeout", "give_up"));
  return catalogue;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string summary(const Catalogue& catalogue, const std::string& algorithm) {
  MatrixOptions options;
  options.algorithms = {algorithm};
  options.faults = {"none", "pause"};
  options.runs = 20;
  options.max_traces = 300;
  auto result = matrix(catalogue, options);
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  std::string text;
  for (const MatrixCell& cell : std::get<Matrix>(result).cells) {
    for (const MatrixAnswer& answer : cell.answers) {
      text += std::string(cell.fault->name) + "/" + std::string(answer.question->name) + " " +
              std::to_string(static_cast<int>(answer.ground)) + " " + std::to_string(answer.traces) + "\n";
    }
  }
  return text;
}

Scenario story_of(const std::string& text, const Catalogue& catalogue) {
  auto loaded = parse(text, "own.toml", catalogue);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  return std::get<Scenario>(std::move(loaded));
}

}  // namespace

TEST_CASE("parameter roles: the matrix sets the lease of an algorithm that calls it otherwise") {
  const Catalogue catalogue = with_renamed();
  const std::string theirs = summary(catalogue, "set-nx-px-lua");
  CHECK(theirs.find("pause/mutual-exclusion") != std::string::npos);
  CHECK(summary(catalogue, "own") == theirs);
}

TEST_CASE("parameter roles: a new story sets the lease, and the stories are the same but for the names") {
  const Catalogue catalogue = with_renamed();
  const std::string own = new_story(*catalogue.find("own"), "t", "f.toml");
  CHECK(own.find("\nexpires_in = \"100ms\"") != std::string::npos);
  const std::string theirs = new_story(*catalogue.find("set-nx-px-lua"), "t", "f.toml");
  CHECK(replaced(replaced(own, "\"own\"", "\"set-nx-px-lua\""), "expires_in", "ttl") == theirs);
  // Where holds are renewed unless they have a lease, that of the watchdog counts.
  const Catalogue built_in = Catalogue::built_in();
  const std::string redisson = new_story(*built_in.find("redisson-lock"), "t", "f.toml");
  CHECK(redisson.find("\n# lease = \"0ms\"") != std::string::npos);
  CHECK(redisson.find("\nwatchdog_timeout = \"100ms\"") != std::string::npos);
  CHECK(new_story(*built_in.find("redisson-permit-expirable-semaphore"), "t", "f.toml").find("\nlease = \"100ms\"") !=
        std::string::npos);
}

TEST_CASE("parameter roles: the bounds of properties know the lease and the patience") {
  const Catalogue catalogue = with_renamed();
  const auto bounds = [&](const std::string& lock) {
    const Scenario story = story_of("title = \"t\"\n[lock]\n" + lock + "[[client]]\nname = \"A\"\n", catalogue);
    sim::DefaultDecisions decisions;
    Deployment deployment(story, catalogue, decisions);
    return std::tuple(deployment.lease(), deployment.recovery_bound(), deployment.patience(),
                      deployment.progress_question().within);
  };
  const auto own = bounds("algorithm = \"own\"\nexpires_in = \"70ms\"\n");
  CHECK(own == bounds("algorithm = \"set-nx-px-lua\"\nttl = \"70ms\"\n"));
  CHECK(std::get<0>(own) == 70_ms);
  const auto redlock = bounds("algorithm = \"own-redlock\"\nttl = \"70ms\"\ngive_up = \"9ms\"\n");
  CHECK(redlock == bounds("algorithm = \"redlock-seq\"\nttl = \"70ms\"\nnode_timeout = \"9ms\"\n"));
  CHECK(std::get<2>(redlock) == 9_ms);
}

TEST_CASE("parameter roles: the built-in algorithms have one of each at most, and no lease without the role") {
  const Catalogue built_in = Catalogue::built_in();
  for (const Entry& entry : built_in.entries()) {
    for (const ParameterSpec& spec : entry.parameters) {
      INFO(entry.id << " " << spec.name);
      using models::locks::ParameterRole;
      if (spec.role != ParameterRole::other) CHECK(models::locks::find(entry.parameters, spec.role) == &spec);
      const bool is_lease = spec.role == ParameterRole::lease || spec.role == ParameterRole::renewed_lease ||
                            spec.role == ParameterRole::newcomers_lease || spec.role == ParameterRole::session_ttl;
      const bool sounds_so = spec.name == "ttl" || spec.name == "lease" || spec.name == "watchdog_timeout" ||
                             spec.name == "session_timeout";
      CHECK(sounds_so == is_lease);
      if (spec.name == "limit") CHECK(spec.role == ParameterRole::places);
    }
  }
}

}  // namespace lockstep::scenarios::parameter_roles_test
