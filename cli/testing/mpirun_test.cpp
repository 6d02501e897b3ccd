// Real processes of MPI, where there is one.

#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>

#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::cli::mpirun_test {
namespace {

namespace fs = std::filesystem;

/// Real time is of this run alone.
std::string without_times(const std::string& json) {
  return std::regex_replace(json, std::regex(R"re("(spent|after)_ms": [0-9]+)re"), "\"$1_ms\": 0");
}

const std::string kExpires = in_tree("scenarios/stories/lock-summary/f001-6-expires-between-get-and-del.toml");

}  // namespace

TEST_CASE("-n 2 gives the JSON of one process") {
  const fs::path program = built_program();
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0 || !fs::exists(program.parent_path() / "lockstep_mpi.so")) {
    std::cout << "\nSKIPPED: mpirun and a build with MPI are needed: apt-get install libopenmpi-dev openmpi-bin\n";
    return;
  }
  const fs::path folder = fs::temp_directory_path() / "lockstep-mpirun-test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string found = (folder / "found").string();
  const std::string call = " fuzz " + kExpires + " --runs 3000 --jobs 1 --json --found " + found;
  const std::string together = "timeout 60 mpirun --allow-run-as-root --oversubscribe -n 2 " + program.string() + call +
                               " >" + (folder / "json").string() + " 2>" + (folder / "err").string();
  const int status = std::system(together.c_str());
  std::ostringstream json;
  json << std::ifstream(folder / "json").rdbuf();
  std::ostringstream err;
  err << std::ifstream(folder / "err").rdbuf();
  INFO(err.str());
  CHECK(WEXITSTATUS(status) == 1);
  fs::remove_all(found);
  const Called alone = called({"fuzz", kExpires, "--runs", "3000", "--jobs", "1", "--json", "--found", found});
  CHECK(without_times(json.str()) == without_times(alone.out));
  fs::remove_all(folder);
}

}  // namespace lockstep::cli::mpirun_test
