// `lockstep confirm` as a call. What it finds is tested in confirm/; without an installed redis-server it says SKIPPED.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/testing/called.hpp"
#include "cli/testing/spawned_testing.hpp"
#include "confirm/real_server.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::confirm_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

bool has_redis() {
  if (!confirm::installed_redis_version().empty()) return true;
  std::cout << "SKIPPED: no redis-server is installed; nothing was confirmed\n";
  return false;
}

std::string story(const char* name) {
  return in_tree("scenarios/stories/redis-lock-java/" + std::string(name) + ".toml");
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("confirm: a call that is wrong is told what is right") {
  const std::string file = story("f000-2-both-delete-expired");
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls{
      {{"confirm", "--redis"}, "confirm needs scenario files"},
      {{"confirm", file}, "--redis, or --redis=HOST:PORT"},
      {{"confirm", file, "--redis=6379"}, "expected HOST:PORT, e.g. --redis=127.0.0.1:6379"},
      {{"confirm", file, "--redis=:6379"}, "expected HOST:PORT"},
      {{"confirm", file, "--redis=localhost:0"}, "expected HOST:PORT"},
      {{"confirm", file, "--redis", "--flush"}, "--flush is for a server that is not ours"},
      {{"confirm", file, "--redis", "--max-seconds", "soon"}, "expected seconds"},
      {{"confirm", file, "--redis", "--record", ""}, "--record needs the name of a file"},
      {{"confirm", file, "--redis", "--table", "/nowhere/x.md", "--junit", "/nowhere/x.md"}, "--junit"},
      {{"confirm", file, "--redis", "--recrod", "x"}, "did you mean \"--record\""},
      {{"confirm", file, "--redis=127.0.0.1:1"}, "no server answers at 127.0.0.1:1"},
      {{"confirm", "nowhere.toml", "--redis"}, "nowhere.toml"},
      {{"confirm", file, "--redis", "--record", "/tmp/lockstep-elsewhere/confirmed.json"},
       "put the record above the stories"},
  };
  for (const auto& [arguments, message] : calls) {
    const cli::Called called = cli::called(arguments);
    INFO(called.err);
    CHECK(called.exit == 2);
    CHECK(called.out.empty());
    CHECK(cli::contains(called.err, message));
  }
}

TEST_CASE("confirm: exit status, report and document say the same") {
  if (!has_redis()) return;
  const std::string file = story("f000-2-both-delete-expired");
  const cli::Called text = cli::called({"confirm", file, "--redis"});
  CHECK(text.exit == 0);
  CHECK(text.err.empty());
  CHECK(cli::contains(text.out, "✗ mutual-exclusion violated by B, C, as in the model"));
  CHECK(cli::contains(text.out, "✓ confirmed: 12 answers and messages and 15 verdicts are those of the model"));

  const cli::Called both = cli::called({"confirm", file, story("f000-2-both-delete-expired-fixed"), "--redis"});
  CHECK(both.exit == 0);
  CHECK(cli::contains(both.out, "2 of 2 stories confirmed"));

  const cli::Called json = cli::called({"confirm", file, "--redis", "--json"});
  CHECK(json.exit == 0);
  const auto document = nlohmann::json::parse(json.out);
  CHECK(document["command"] == "confirm");
  CHECK(document["summary"]["confirmed"] == 1);
  CHECK(document["results"][0]["standing"] == "confirmed");
  CHECK(document["results"][0]["exchanges"].size() == 12);
  CHECK(document["results"][0]["exchanges"][0]["real"] == "(integer) 1");
  CHECK(document["results"][0]["properties"][0]["by"] == std::vector<std::string>{"B", "C"});

  const cli::Called brief =
      cli::called({"confirm", story("f000-1-crashed-holder"), "--redis", "--max-seconds", "0.01"});
  CHECK(brief.exit == 3);
  CHECK(cli::contains(brief.out, "give it more by --max-seconds"));
}

TEST_CASE("confirm: a real server that answers otherwise is exit 1, and told in every report") {
  if (!has_redis()) return;
  const confirm::TemporaryFolder folder;
  // It takes no more keys: every SETNX is refused.
  const confirm::RealServer full(folder.path() + "/full", {"--maxmemory", "1", "--maxmemory-policy", "noeviction"});
  full.await_ready();
  const std::string junit = folder.path() + "/report.xml";
  const cli::Called called = cli::called({"confirm", story("f000-2-both-delete-expired"), "--junit", junit,
                                          "--redis=127.0.0.1:" + std::to_string(full.port())});
  INFO(called.out << called.err);
  CHECK(called.exit == 1);
  CHECK(cli::contains(called.out, "the model answers (integer) 1, the real server (error) OOM"));
  CHECK(cli::contains(called.out, "✗ differs"));
  CHECK(cli::contains(content_of(junit), "failures=\"1\""));
  CHECK(cli::contains(content_of(junit), "OOM"));
}

TEST_CASE("confirm: what is recorded is listed, until the story changes") {
  if (!has_redis()) return;
  const confirm::TemporaryFolder folder;
  const std::string copy = folder.path() + "/both.toml";
  fs::copy_file(story("f000-2-both-delete-expired"), copy);
  const std::string record = folder.path() + "/confirmed.json";
  const std::string table = folder.path() + "/table.md";
  CHECK(!cli::contains(cli::called({"list", "failures", copy}).out, "confirmed"));
  CHECK(cli::called({"confirm", copy, "--redis", "--record", record, "--table", table}).exit == 0);
  CHECK(cli::contains(content_of(table), "| both | setnx-ts-del-setnx | confirmed | violated: mutual-exclusion"));
  CHECK(cli::contains(cli::called({"list", "failures", copy}).out, "both.toml  confirmed on redis "));
  CHECK(cli::contains(cli::called({"list", "failures", copy}).out, "1 confirmed on real servers"));
  const auto listed = nlohmann::json::parse(cli::called({"list", "failures", copy, "--json"}).out);
  std::size_t confirmed = 0;
  for (const auto& failure : listed["failures"]) confirmed += failure["confirmed"].size();
  CHECK(confirmed == 1);

  std::string text = content_of(copy);
  const std::size_t at = text.rfind("\nhold");
  REQUIRE(at != std::string::npos);
  const std::size_t number = text.find_first_of("0123456789", at);
  text.insert(number, "1");
  std::ofstream(copy, std::ios::binary) << text;
  CHECK(!cli::contains(cli::called({"list", "failures", copy}).out, "confirmed"));

  std::ofstream(record, std::ios::binary) << "no record";
  const cli::Called broken = cli::called({"confirm", copy, "--redis", "--record", record});
  CHECK(broken.exit == 2);
  CHECK(cli::contains(broken.err, "is no record of confirmations"));
  CHECK(content_of(record) == "no record");
}

TEST_CASE("confirm: Ctrl-C ends it at once, and leaves nothing") {
  if (!has_redis()) return;
  const confirm::TemporaryFolder folder;
  const std::string record = folder.path() + "/confirmed.json";
  const std::string copy = folder.path() + "/long.toml";
  fs::copy_file(in_tree("scenarios/stories/lock-summary/f001-10-sentinel-split-brain.toml"), copy);
  const cli::Spawned spawned = cli::spawned({"confirm", copy, "--redis", "--record", record},
                                            {.interrupt_after_ms = 700, .patience_ms = 10'000});
  CHECK(!spawned.is_hanging);
  CHECK(spawned.exit == 3);
  CHECK(spawned.err == "lockstep: interrupted\n");
  CHECK(spawned.out.empty());
  CHECK(!fs::exists(record));
}

}  // namespace lockstep::confirm_test
