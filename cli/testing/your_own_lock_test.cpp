// docs/your-own-lock.md: what it quotes of the program is what the program says; and `new --lock`.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run.hpp"
#include "sim/testing/in_tree.hpp"

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

/// A command of the document, and the lines that it shows of what comes of it.
struct Quote {
  std::vector<std::string> args;
  std::vector<std::string> shown;
};

std::vector<Quote> quotes_of(const std::string& document) {
  constexpr std::string_view kCommand = "    $ ./lockstep ";
  std::vector<Quote> quotes;
  bool is_inside = false;
  for (const std::string& line : lines_of(document)) {
    if (line.starts_with(kCommand)) {
      std::istringstream words(line.substr(kCommand.size()));
      Quote& quote = quotes.emplace_back();
      for (std::string word; words >> word;) {
        const bool is_path = word.starts_with("scenarios/");
        quote.args.push_back(is_path ? in_tree(word) : word);
      }
      is_inside = true;
    } else if (is_inside && line.starts_with("    ")) {
      if (line != "    ...") quotes.back().shown.push_back(line.substr(4));
    } else {
      is_inside = false;
    }
  }
  return quotes;
}

}  // namespace

TEST_CASE("your own lock: the document shows what the program says, in its order") {
  std::ifstream in(in_tree("docs/your-own-lock.md"), std::ios::binary);
  REQUIRE(in);
  const std::string document{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::vector<Quote> quotes = quotes_of(document);
  CHECK(quotes.size() == 2);
  for (const Quote& quote : quotes) {
    const Said said = call(quote.args);
    INFO(said.out << said.err);
    CHECK(said.exit == 0);
    REQUIRE_FALSE(quote.shown.empty());
    const std::vector<std::string> lines = lines_of(said.out);
    std::size_t next = 0;
    for (const std::string& line : lines) {
      if (next < quote.shown.size() && line == quote.shown[next]) ++next;
    }
    INFO("not said there: " << (next < quote.shown.size() ? quote.shown[next] : ""));
    CHECK(next == quote.shown.size());
  }
}

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
  CHECK(call({"matrix", (folder / "none.lua").string()}).err.find("no such file") != std::string::npos);
  fs::remove_all(folder);
}

}  // namespace lockstep::cli::your_own_lock_test
