// The keys of replicated and persistent servers: read, written, refused.

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include "models/locks/catalogue.hpp"
#include "models/redis/kind/server_settings.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"

namespace lockstep::scenarios::replication_format_test {
namespace {

constexpr std::string_view kTop = R"(title  = { en = "t", zh = "t" }
story  = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }

[lock]
algorithm = "master-replica-lock"

[[client]]
name = "A"

)";

std::variant<Scenario, Diagnostic> parsed(std::string_view servers) {
  return parse(std::string(kTop) + std::string(servers), "story.toml", models::locks::Catalogue::built_in());
}

std::string refusal(std::string_view servers) {
  const auto result = parsed(servers);
  const auto* diagnostic = std::get_if<Diagnostic>(&result);
  return diagnostic != nullptr ? diagnostic->to_string() : "accepted";
}

}  // namespace

TEST_CASE("replication keys: what is read is written, and read again") {
  const auto result = parsed(R"([network]
latency = "2ms"
replication = ["1ms", "50ms"]

[[server]]
min_replicas = 1
min_replicas_max_lag = "3s"
append_only = "everysec"
save = { after = "60s", changes = 10 }
loading = "20ms"
restart_delay = "30s"

[[server]]
name = "copy"
replica_of = "redis1"
priority = 0
snapshot_delay = "1s"

[[client]]
name = "operator"
commands = ["REPLICAOF NO ONE"]
server = "copy"
)");
  if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) FAIL(diagnostic->to_string());
  const Scenario& scenario = std::get<Scenario>(result);
  REQUIRE(scenario.servers.size() == 2);
  const models::redis::ServerSettings primary = models::redis::server_settings(scenario.servers[0].settings);
  const models::redis::ServerSettings copy = models::redis::server_settings(scenario.servers[1].settings);
  CHECK(primary.persistence.append_only == models::redis::PersistenceSettings::AppendOnly::everysec);
  REQUIRE(primary.persistence.save.size() == 1);
  CHECK(primary.persistence.save[0].after == sim::Duration::seconds(60));
  CHECK(primary.persistence.save[0].changes == 10);
  CHECK(primary.min_replicas == 1);
  CHECK(primary.min_replicas_max_lag == sim::Duration::seconds(3));
  CHECK(primary.loading == sim::Duration::milliseconds(20));
  CHECK(scenario.servers[0].restart_delay == sim::Duration::seconds(30));
  CHECK(copy.replica_of == "redis1");
  CHECK(copy.priority == 0);
  CHECK(copy.snapshot_delay == sim::Duration::seconds(1));
  CHECK(scenario.clients.back().server == "copy");
  REQUIRE(scenario.network.replication);
  CHECK(scenario.network.replication->hi == sim::Duration::milliseconds(50));

  const auto again = parse(to_toml(scenario), "story.toml", models::locks::Catalogue::built_in());
  if (const auto* diagnostic = std::get_if<Diagnostic>(&again)) FAIL(diagnostic->to_string());
  CHECK(without_positions(std::get<Scenario>(again)) == without_positions(scenario));
}

TEST_CASE("replication keys: what cannot be is refused with its place and a remedy") {
  CHECK(refusal("[[server]]\n[[server]]\nreplica_of = \"redsi1\"\n") ==
        R"(story.toml:13:14: replica_of: no server is called "redsi1": did you mean "redis1"?)");
  CHECK(refusal("[[server]]\n[[server]]\nreplica_of = \"redis2\"\n") ==
        R"(story.toml:13:14: replica_of: "redis2" cannot be its own replica; name another server)");
  CHECK(refusal("[[server]]\n[[server]]\nreplica_of = \"redis1\"\n[[server]]\nreplica_of = \"redis2\"\n") ==
        R"(story.toml:15:14: replica_of: "redis2" is a replica itself, of "redis1"; name that one)");
  CHECK(refusal("[[server]]\nappend_only = \"evrysec\"\n").find("\"everysec\"") != std::string::npos);
  CHECK(refusal("[[server]]\nsave = \"60s\"\n").starts_with("story.toml:12:8: save:"));
  CHECK(refusal("[[client]]\nname = \"o\"\ncommands = [\"PING\"]\nserver = \"A\"\n") ==
        R"(story.toml:14:10: server: "A" is a client; expected the name of a server)");
}

}  // namespace lockstep::scenarios::replication_format_test
