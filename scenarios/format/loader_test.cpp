// What a good file becomes, and which files a command line means.

#include "scenarios/format/loader.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "scenarios/format/loader_samples.hpp"

namespace lockstep::loader_test {

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;
using namespace lockstep::sim::literals;
using sim::DurationRange;
namespace fs = std::filesystem;

Scenario good(std::string_view text) {
  auto result = parse(text, "stories/a-story.toml", samples::catalogue());
  if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) FAIL(diagnostic->to_string());
  return std::get<Scenario>(std::move(result));
}

std::string message(const std::variant<Scenario, Diagnostic>& result) {
  const auto* diagnostic = std::get_if<Diagnostic>(&result);
  return diagnostic == nullptr ? "(a scenario)" : diagnostic->to_string();
}

/// A directory that is gone after the test.
struct Folder {
  fs::path path;

  Folder() {
    std::string name = (fs::temp_directory_path() / "loader-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  std::string write(const std::string& name, std::string_view text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

std::string found(const Folder& folder, std::vector<std::string> arguments) {
  for (std::string& argument : arguments) argument = (folder.path / argument).string();
  const auto result = find_scenarios(arguments);
  if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) {
    return fs::path(diagnostic->file).filename().string() + ": " + diagnostic->message;
  }
  std::string list;
  for (const fs::path& file : std::get<std::vector<fs::path>>(result)) {
    list += (list.empty() ? "" : " ") + file.lexically_relative(folder.path).string();
  }
  return list;
}

}  // namespace

TEST_CASE("loader: the head of a file") {
  const Scenario s = good(samples::kGood);
  CHECK(s.file == "stories/a-story.toml");
  CHECK(s.id == "a-story");
  CHECK(s.title.en == "Two holders");
  CHECK(s.title.zh == "两个持有者");
  CHECK(s.story.en == "A is slow.");
  CHECK(s.lesson.zh == "使用令牌。");
  CHECK(s.source == "a document, scenario 2");
  CHECK(s.reproduces == std::vector<std::string>{"F000-2", "F000-2i"});
  CHECK(s.cost == Cost::slow);
}

TEST_CASE("loader: a lock has the parameters that its file sets, in the kinds that its algorithm declares") {
  const LockSpec lock = good(samples::kGood).lock;
  CHECK(lock.algorithm == "sample");
  CHECK(lock.algorithm_at.line == 9);
  CHECK(lock.algorithm_at.column == 13);
  CHECK(lock.key == "stock");
  CHECK(lock.parameters.size() == 5);
  CHECK(std::get<sim::Duration>(lock.parameters.at("ttl")) == 100_ms);
  CHECK(std::get<DurationRange>(lock.parameters.at("retry")) == DurationRange{5_ms, 10_ms});
  CHECK(std::get<std::int64_t>(lock.parameters.at("attempts")) == 3);
  CHECK(std::get<bool>(lock.parameters.at("unlock_all")));
  CHECK(std::get<std::string>(lock.parameters.at("mode")) == "lenient");
}

TEST_CASE("loader: servers, network and resource") {
  const Scenario s = good(samples::kGood);
  CHECK(s.network.latency == DurationRange{1_ms, 5_ms});
  CHECK(s.network.timeout == 50_ms);
  REQUIRE(s.servers.size() == 2);
  CHECK(s.servers[0].name == "redis1");
  CHECK(s.servers[0].clock.offset == -(5_ms));
  CHECK(s.servers[0].clock.drift_ppm == 100);
  CHECK(s.servers[0].clock.uptime == 7_s);
  CHECK_FALSE(s.servers[0].latency);
  CHECK(s.servers[1].name == "redis2");
  CHECK(s.servers[1].latency == DurationRange::exactly(2_ms));
  REQUIRE(s.resource);
  CHECK(s.resource->kind == ResourceSpec::Kind::counter);
  CHECK(s.resource->fenced);
  CHECK(s.resource->latency == DurationRange::exactly(3_ms));
}

TEST_CASE("loader: clients that share a table share its settings") {
  const std::vector<ClientSpec> clients = good(samples::kGood).clients;
  REQUIRE(clients.size() == 4);
  CHECK(clients[0].name == "A");
  CHECK(clients[0].hold == DurationRange::exactly(20_ms));
  CHECK(clients[0].rounds == 2);
  CHECK(clients[0].between == DurationRange::exactly(7_ms));
  CHECK(clients[0].release);
  CHECK_FALSE(clients[0].attempts);
  CHECK(clients[0].clock.offset == 200_ms);
  CHECK(clients[1].name == "B");
  CHECK(clients[2].name == "C");
  CHECK(clients[2].at.line == 41);
  CHECK(clients[2].at.column == 14);
  for (const std::size_t i : {1u, 2u}) {
    CHECK(clients[i].acquire_at == DurationRange::exactly(150_ms));
    CHECK(clients[i].attempts == 1);
    CHECK(clients[i].retry == DurationRange::exactly(4_ms));
    CHECK_FALSE(clients[i].release);
    CHECK(clients[i].commands.empty());
  }
  CHECK(clients[3].acquire_at == DurationRange{10_ms, 12_ms});
  REQUIRE(clients[3].commands.size() == 2);
  CHECK(clients[3].commands[0].command == models::redis::Command{"DEL", "lock"});
  CHECK(clients[3].commands[1].command == models::redis::Command{"SET", "lock", "x y"});
  CHECK(clients[3].commands[1].at.line == 50);
}

TEST_CASE("loader: faults") {
  const std::vector<FaultSpec> faults = good(samples::kGood).faults;
  REQUIRE(faults.size() == 6);

  CHECK(faults[0].kind == FaultSpec::Kind::pause);
  CHECK(faults[0].at.line == 52);
  CHECK(faults[0].who == "A");
  CHECK(faults[0].trigger.kind == Trigger::Kind::after);
  CHECK(faults[0].trigger.step == "SETNX");
  CHECK(faults[0].trigger.occurrence == 1);
  CHECK(faults[0].length == DurationRange::exactly(400_ms));

  CHECK(faults[1].kind == FaultSpec::Kind::crash);
  CHECK(faults[1].who == "redis2");
  CHECK(faults[1].trigger.kind == Trigger::Kind::at);
  CHECK(faults[1].trigger.time == 150_ms);
  CHECK(faults[1].restart_after == DurationRange::exactly(1_s));
  CHECK(faults[1].keep);

  CHECK(faults[2].kind == FaultSpec::Kind::jump);
  CHECK(faults[2].trigger.kind == Trigger::Kind::sent);
  CHECK(faults[2].trigger.occurrence == 5);
  CHECK(faults[2].by == DurationRange::exactly(-(120_s)));

  CHECK(faults[3].kind == FaultSpec::Kind::lose);
  CHECK(faults[3].trigger.step == "SET");
  CHECK(faults[3].trigger.occurrence == 2);
  CHECK(faults[3].direction == FaultSpec::Direction::reply);

  CHECK(faults[4].kind == FaultSpec::Kind::delay);
  CHECK(faults[4].trigger.step == "read");
  CHECK(faults[4].direction == FaultSpec::Direction::request);
  CHECK(faults[4].length == DurationRange::exactly(9_ms));

  CHECK(faults[5].kind == FaultSpec::Kind::partition);
  CHECK(faults[5].between == std::vector<std::vector<std::string>>{{"A", "B"}, {"redis1", "resource"}});
  CHECK(faults[5].trigger.time == 10_ms);
  CHECK(faults[5].length == DurationRange::exactly(30_ms));
}

TEST_CASE("loader: what may happen, the pinned order, and expectations") {
  const Scenario s = good(samples::kGood);
  REQUIRE(s.may.size() == 2);
  CHECK(s.may[0].kind == MaySpec::Kind::pause);
  CHECK(s.may[0].who == std::vector<std::string>{"A"});
  CHECK(s.may[0].length == DurationRange{0_ms, 10_s});
  CHECK(s.may[0].times == 2);
  CHECK(s.may[1].kind == MaySpec::Kind::skew);
  CHECK(s.may[1].who == std::vector<std::string>{"redis1", "redis2"});
  CHECK(s.may[1].length == DurationRange{-(1_s), 1_s});
  CHECK(s.may[1].times == 1);

  REQUIRE(s.pin.size() == 5);
  CHECK(s.pin[0].client == "B");
  CHECK(s.pin[0].command == "GET");
  CHECK_FALSE(s.pin[0].occurrence);
  CHECK(s.pin[0].server.empty());
  CHECK(s.pin[1].occurrence == 2);
  CHECK(s.pin[2].server == "redis2");
  CHECK(s.pin[3].command == "SETNX");
  CHECK(s.pin[3].occurrence == 2);
  CHECK(s.pin[3].server == "redis1");
  CHECK(s.pin[4].command == "write");
  CHECK(s.recover_within == 200_ms);

  REQUIRE(s.expect_run.size() == 3);
  CHECK(s.expect_run[0].property == "mutual-exclusion");
  CHECK(s.expect_run[0].verdict == checker::Verdict::violated);
  CHECK(s.expect_run[0].violated_by == std::vector<std::string>{"B", "C"});
  CHECK(s.expect_run[0].at == 163_ms);
  CHECK(s.expect_run[1].verdict == checker::Verdict::holds);
  CHECK(s.expect_run[2].verdict == checker::Verdict::unknown);
  REQUIRE(s.expect_check.size() == 2);
  CHECK(s.expect_check[0].verdict == checker::Verdict::violated);
  CHECK(s.expect_check[0].violated_by.empty());
  CHECK(s.expect_check[0].from.at("pause") == "91ms");
  CHECK(s.expect_check[1].verdict == checker::Verdict::holds);
  CHECK(s.expect_traces == 123);
}

TEST_CASE("loader: what a file does not say has its default") {
  const Scenario s = good(samples::kLeast);
  CHECK(s.cost == Cost::fast);
  CHECK(s.lock.key == "lock");
  CHECK(s.lock.parameters.empty());
  CHECK(s.network.latency == DurationRange::exactly(1_ms));
  CHECK_FALSE(s.network.timeout);
  REQUIRE(s.servers.size() == 1);
  CHECK(s.servers[0].name == "redis");
  CHECK_FALSE(s.resource);
  CHECK(s.clients[0].rounds == 1);
  CHECK(s.clients[0].hold == DurationRange::exactly(0_ms));
  CHECK_FALSE(s.recover_within);
  CHECK_FALSE(s.expect_traces);
}

TEST_CASE("loader: five servers that are all alike take one line") {
  const Scenario s = good(std::string(samples::kLeast) + "[servers]\ncount = 5\n");
  REQUIRE(s.servers.size() == 5);
  CHECK(s.servers[0].name == "redis1");
  CHECK(s.servers[4].name == "redis5");
}

TEST_CASE("loader: the order of tables does not matter, and neither does a byte order mark") {
  const std::string text =
      "\xEF\xBB\xBF"
      "fault = [{ kind = \"lose\", client = \"A\", message = \"GET\" }]\n" +
      std::string(samples::kLeast) + "[network]\ntimeout = \"1s\"\n";
  CHECK(good(text).faults.size() == 1);
}

TEST_CASE("loader: files on disk that are no scenarios give one message each") {
  const Folder folder;
  const auto load_message = [&](const std::string& file) {
    std::string text = message(load(file, samples::catalogue()));
    return text.starts_with(folder.path.string()) ? text.substr(folder.path.string().size() + 1) : text;
  };
  const std::string story = folder.write("story.toml", samples::kLeast);
  CHECK(load_message(story) == "(a scenario)");
  CHECK(load_message(folder.path / "storey.toml") == "storey.toml: no such file; did you mean \"story.toml\"?");
  CHECK(load_message(folder.path / "nothing.toml") == "nothing.toml: no such file");
  CHECK(load_message(story + "/x.toml") == "story.toml/x.toml: no such file");
  fs::create_directory(folder.path / "folder.toml");
  CHECK(load_message(folder.path / "folder.toml") == "folder.toml: a directory; expected a scenario file");
  fs::create_symlink("loop.toml", folder.path / "loop.toml");
  CHECK(load_message(folder.path / "loop.toml") == "loop.toml: cannot be read: Too many levels of symbolic links");
  CHECK(load_message("/dev/zero") == "/dev/zero: larger than 1 MiB, which no scenario needs: is this the right file?");
  CHECK(load_message(folder.write("empty.toml", "")).starts_with("empty.toml: an empty file; expected a scenario"));
  if (geteuid() != 0) {
    fs::permissions(story, fs::perms::none);
    CHECK(load_message(story) == "story.toml: cannot be read: Permission denied");
  }
}

TEST_CASE("loader: a file of 100 MB is refused without reading it") {
  const Folder folder;
  const std::string file = folder.write("large.toml", "# begins well\n");
  fs::resize_file(file, 100'000'000);
  CHECK(message(load(file, samples::catalogue())) ==
        file + ": larger than 1 MiB, which no scenario needs: is this the right file?");
}

TEST_CASE("loader: a command line names files and directories") {
  const Folder folder;
  for (const char* name : {"d/b.toml", "d/sub/c.toml", "d/B.toml", "d/notes.md", "a.toml"}) folder.write(name, "");
  fs::create_directory_symlink(folder.path / "d", folder.path / "d/sub/again");
  CHECK(found(folder, {"d"}) == "d/B.toml d/b.toml d/sub/c.toml");
  CHECK(found(folder, {"d/b.toml", "a.toml", "d"}) == "d/b.toml a.toml d/B.toml d/sub/c.toml");
  CHECK(found(folder, {"a.toml", "./a.toml", "d/../a.toml"}) == "a.toml");
  CHECK(found(folder, {"d/notes.md"}) == "d/notes.md");  // named outright: the user's choice
  CHECK(found(folder, {"b.toml"}) == "b.toml: no such file; did you mean \"a.toml\"?");
  CHECK(found(folder, {""}).ends_with("no scenarios in this directory; expected files named *.toml") == false);

  fs::create_directory(folder.path / "void");
  CHECK(found(folder, {"void"}) == "void: no scenarios in this directory; expected files named *.toml");
  fs::create_directory(folder.path / "void/x.toml");
  CHECK(found(folder, {"void"}) == "x.toml: a directory; expected a scenario file of that name");
  CHECK(found(folder, {"void/x.toml"}) == "x.toml: no scenarios in this directory; expected files named *.toml");
  fs::create_symlink("round", folder.path / "round");
  CHECK(found(folder, {"round"}) == "round: cannot be read: Too many levels of symbolic links");
}

TEST_CASE("loader: a message is one line, also about a key with a line break in its name") {
  const auto result = lockstep::scenarios::parse("\"a\\nb\" = 1\n\"a\\nb\" = 2\n", "file.toml",
                                                 lockstep::models::locks::Catalogue::built_in());
  const auto* diagnostic = std::get_if<lockstep::scenarios::Diagnostic>(&result);
  REQUIRE(diagnostic != nullptr);
  INFO(diagnostic->message);
  CHECK(diagnostic->message.find('\n') == std::string::npos);
  CHECK(diagnostic->message.find("a\\nb") != std::string::npos);
}

}  // namespace lockstep::loader_test
