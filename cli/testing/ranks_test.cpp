// Several processes do one call: what the first one reports is what one alone would.

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "scenarios/testing/ranks_in_threads.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::ranks_test {
namespace {

namespace fs = std::filesystem;

struct Said {
  int status = 0;
  std::string out, err;
};

Said called(const std::vector<std::string>& args, scenarios::Ranks* ranks) {
  std::ostringstream out;
  std::ostringstream err;
  Said said;
  said.status = cli::run(args, out, err, models::locks::Catalogue::built_in(), {}, ranks);
  said.out = std::move(out).str();
  said.err = std::move(err).str();
  return said;
}

/// Of each rank.
std::vector<Said> called_by(std::size_t count, const std::vector<std::string>& args) {
  std::vector<Said> all(count);
  scenarios::in_ranks(count, [&](scenarios::Ranks& ranks) { all[ranks.rank()] = called(args, &ranks); });
  return all;
}

/// Real time is of this run alone.
std::string without_times(const std::string& json) {
  return std::regex_replace(json, std::regex(R"re("(spent|after)_ms": [0-9]+)re"), "\"$1_ms\": 0");
}

fs::path fresh_folder() {
  const fs::path folder = fs::temp_directory_path() / "lockstep-ranks-test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

const std::string kExpires = in_tree("scenarios/stories/lock-summary/f001-6-expires-between-get-and-del.toml");

std::vector<std::string> fuzz_into(const fs::path& folder) {
  return {"fuzz", kExpires, "--runs", "3000", "--jobs", "1", "--json", "--found", folder.string()};
}

void require_same(const std::vector<std::string>& args) {
  const Said alone = called(args, nullptr);
  INFO(alone.err);
  REQUIRE(!alone.out.empty());
  for (const std::size_t count : {1, 2, 3}) {
    const std::vector<Said> all = called_by(count, args);
    INFO(count << " ranks");
    CHECK(all[0].out == alone.out);
    CHECK(all[0].err == alone.err);
    CHECK(all[0].status == alone.status);
    for (std::size_t rank = 1; rank < count; ++rank) {
      CHECK(all[rank].out.empty());
      CHECK(all[rank].err.empty());
      CHECK(all[rank].status == 0);
    }
  }
}

}  // namespace

TEST_CASE("ranks: check of a folder is the same for any number of them") {
  // Margins, and a deadlock with its circle.
  require_same({"check", in_tree("scenarios/stories/several-locks"), kExpires,
                in_tree("scenarios/stories/redisson-source/f003-2-pause-margin.toml"), "--no-times", "--jobs", "1",
                "--json"});
}

TEST_CASE("ranks: so is the matrix") {
  require_same({"matrix", "setnx-del", "set-nx-px-lua", "--faults", "pause", "--runs", "20", "--jobs", "1", "--json"});
}

TEST_CASE("ranks: what is wrong with a call is said once") {
  require_same({"list"});
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", "there/is/none"}, {"fuzz", "--algorithm", "none"}, {"matrix", "none"}}) {
    const std::vector<Said> all = called_by(2, args);
    CHECK(all[0].status == 2);
    CHECK(all[0].err == called(args, nullptr).err);
    CHECK(all[1].err.empty());
  }
}

TEST_CASE("ranks: a campaign has the same findings and files, and others go on with it") {
  const fs::path folder = fresh_folder();
  const Said alone = called(fuzz_into(folder / "found"), nullptr);
  REQUIRE(alone.status == 1);
  fs::rename(folder / "found", folder / "alone");
  const std::vector<Said> all = called_by(3, fuzz_into(folder / "found"));
  CHECK(without_times(all[0].out) == without_times(alone.out));
  CHECK(all[0].status == 1);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "alone")) {
    if (entry.path().extension() != ".toml") continue;
    ++files;
    std::ostringstream expected;
    std::ostringstream found;
    expected << std::ifstream(entry.path()).rdbuf();
    found << std::ifstream(folder / "found" / entry.path().filename()).rdbuf();
    CHECK(found.str() == expected.str());
  }
  CHECK(files > 0);

  // There is a campaign in the folder now.
  CHECK(called_by(2, fuzz_into(folder / "found"))[0].status == 2);
  std::vector<std::string> more = fuzz_into(folder / "found");
  more.emplace_back("--resume");
  more[3] = "5000";
  std::vector<std::string> at_once = fuzz_into(folder / "whole");
  at_once[3] = "5000";
  const std::string resumed = without_times(called_by(2, more)[0].out);
  const std::string whole = without_times(called(at_once, nullptr).out);
  CHECK(std::regex_replace(resumed, std::regex("/found/"), "/whole/") == whole);
  fs::remove_all(folder);
}

}  // namespace lockstep::ranks_test
