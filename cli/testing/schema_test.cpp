// lockstep schema, and the hint at it that lockstep new writes.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "cli/testing/called.hpp"

namespace lockstep::cli::schema_test {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path path = fs::temp_directory_path() / ("lockstep-schema-" + std::to_string(::getpid()));
};

std::string content_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("schema: it is printed, and takes no arguments") {
  const Called printed = called({"schema"});
  CHECK(printed.exit == 0);
  CHECK(printed.out.starts_with("{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\""));
  CHECK(contains(printed.out, "processor time inside the critical section"));
  CHECK(contains(printed.out, "\"set-nx-px-lua\""));
  CHECK(called({"schema", "--json"}).out == printed.out);
  CHECK(called({"schema", "x"}).exit == 2);
  CHECK(contains(called({"schema", "--help"}).out, "#:schema lockstep.schema.json"));
  CHECK(contains(called({"shcema"}).err, "did you mean \"schema\""));
}

TEST_CASE("schema: new stories point at it where it lies beside them") {
  const Folder folder;
  REQUIRE(called({"new", (folder.path / "without").string()}).exit == 0);
  CHECK_FALSE(contains(content_of(folder.path / "without.toml"), "#:schema"));
  std::ofstream(folder.path / "lockstep.schema.json") << called({"schema"}).out;
  REQUIRE(called({"new", (folder.path / "with").string()}).exit == 0);
  CHECK(content_of(folder.path / "with.toml").starts_with("#:schema lockstep.schema.json\n"));
  CHECK(called({"run", (folder.path / "with.toml").string()}).exit == 0);
}

}  // namespace lockstep::cli::schema_test
