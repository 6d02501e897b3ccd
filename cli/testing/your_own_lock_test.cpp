// `new --lock`: what docs/your-own-lock.md begins with.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"

namespace lockstep::cli::your_own_lock_test {
namespace {

namespace fs = std::filesystem;

struct Said {
  int exit;
  std::string out;
  std::string err;
};

Said call(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  const int exit = run(args, out, err, models::locks::Catalogue::built_in(), {});
  return {exit, out.str(), err.str()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("your own lock: new --lock writes a lock that can be run, checked, compared and put in the matrix") {
  const fs::path folder = fs::temp_directory_path() / ("lockstep-new-lock-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string name = (folder / "mine").string();
  const std::string story = name + ".toml", script = name + ".lua";
  CHECK(call({"new", "--lock", name}).exit == 0);
  CHECK(fs::exists(script));
  CHECK(call({"run", story}).exit == 0);
  const Said checked = call({"check", story, "--witness", (folder / "broken.toml").string()});
  CHECK(checked.exit == 1);
  CHECK(checked.out.find("for every pause above 70ms, and for none up to it") != std::string::npos);
  const Said broken = call({"run", (folder / "broken.toml").string()});
  CHECK(broken.exit == 0);
  CHECK(broken.out.find("mutual-exclusion violated by A, B at 102ms") != std::string::npos);
  const Said listed = call({"list", "algorithms", script});
  CHECK(listed.out.find("ttl = 30s") != std::string::npos);
  const Said compared = call({"compare", story, "--seconds", "20", "--algorithms", script + ",set-nx-px-lua"});
  INFO(compared.out << compared.err);
  CHECK(compared.exit == 0);
  std::vector<std::string> rows;
  for (const std::string& line : lines_of(compared.out)) {
    if (line.starts_with("mine.lua") || line.starts_with("set-nx-px-lua")) rows.push_back(line.substr(13));
  }
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == rows[1]);
  const Said matrix = call({"matrix", script, "--faults", "pause", "--runs", "10"});
  CHECK(matrix.exit == 0);
  CHECK(matrix.out.find("mine.lua") != std::string::npos);

  // What is there is left as it is.
  CHECK(call({"new", "--lock", name}).exit == 2);
  fs::remove(story);
  const Said second = call({"new", "--lock", name});
  CHECK(second.exit == 2);
  CHECK(second.err.find("mine.lua is there already") != std::string::npos);
  CHECK(call({"new", "--lock", "--algorithm", "setnx-del", name}).exit == 2);
  // Either of the two files may be named.
  for (const std::string other : {"other.lua", "third.toml"}) {
    CHECK(call({"new", "--lock", (folder / other).string()}).exit == 0);
    const fs::path stem = folder / fs::path(other).stem();
    CHECK(fs::exists(stem.string() + ".lua"));
    CHECK(fs::exists(stem.string() + ".toml"));
  }
  CHECK(call({"matrix", (folder / "none.lua").string()}).err.find("no such file") != std::string::npos);
  fs::remove_all(folder);
}

}  // namespace lockstep::cli::your_own_lock_test
