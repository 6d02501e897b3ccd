// Words without end, of scripts, stories, histories and calls: people are told a screenful of them.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/messages.hpp"
#include "cli/testing/called.hpp"
#include "sim/utf8.hpp"

namespace lockstep::cli::long_messages_test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBytesInAll = 30'000;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "lockstep-long-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path / name) << content;
    return (path / name).string();
  }
  std::string story_of(const std::string& script) const {
    file("own.lua", script);
    return file("own.toml", "title = \"x\"\n[lock]\nscript = \"own.lua\"\n[[client]]\nname = \"A\"\n");
  }
  fs::path path;
};

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  return longest;
}

Called bounded(const std::vector<std::string>& args) {
  Called result = called(args);
  INFO(args.front() << " " << args.back().substr(0, 100) << "\n" << result.err.substr(0, 300));
  CHECK(result.out.size() + result.err.size() < kBytesInAll);
  CHECK(longest_line(result.err) < sim::kMessageBytesMax + 100);
  return result;
}

}  // namespace

TEST_CASE("a screenful says how much it leaves out, and cuts no character in two") {
  CHECK(sim::screenful("short") == "short");
  CHECK(sim::screenful("abcdef", 6) == "abcdef");
  CHECK(sim::screenful("abcdef", 4) == "abcd… (2 more bytes)");
  CHECK(sim::screenful("aéé", 2) == "a… (4 more bytes)");
  CHECK(sim::screenful(std::string(1'234'567, 'x'), 0) == "… (1,234,567 more bytes)");
  CHECK(sim::screenful(std::string(5'000, 'x'), 2'000).ends_with("x… (3,000 more bytes)"));
}

TEST_CASE("messages: each line is cut by itself, however it comes") {
  std::ostringstream to;
  {
    Messages messages(to);
    const std::string much(10'000, 'x');
    messages << "short\n" << much.substr(0, 5'000);
    messages << much.substr(5'000) << '\n' << "\rgoes" << std::flush;
    CHECK(to.str() == "short\n" + sim::screenful(much) + "\n\rgoes");
    messages << "last";
  }
  CHECK(to.str().ends_with("\rgoeslast"));
}

TEST_CASE("errors of scripts without end are told in a screenful, and JSON stays JSON") {
  const Folder folder;
  constexpr const char* kRelease = "\nfunction release(c, hold) end\n";
  for (const std::string& script : {
           std::string("function acquire(c)\n  error((\"x\"):rep(1e6))\nend"),
           std::string("error((\"x\"):rep(1e6))"),
           "function acquire(c) return " + std::string(100'000, 'a') + " b end",
       }) {
    const std::string story = folder.story_of(script + kRelease);
    for (const std::string command : {"run", "check"}) {
      bounded({command, story});
      const Called json = bounded({command, story, "--json"});
      if (!json.out.empty()) CHECK(nlohmann::json::accept(json.out));
    }
  }
  CHECK(contains(
      bounded({"run", folder.story_of(std::string("function acquire(c)\n  error((\"x\"):rep(1e6))\nend") + kRelease)})
          .err,
      " more bytes)"));
}

TEST_CASE("long words of stories, histories and calls are told in a screenful") {
  const Folder folder;
  const std::string much(60'000, 'x');
  const std::string rest = "[lock]\nalgorithm = \"setnx-del\"\n[[client]]\nname = \"A\"\n";
  for (const std::string& text :
       {"title = \"" + much + "\"\n" + rest,
        "title = \"t\"\nstory = \"" + much + "\"\nlesson = \"" + much + "\"\n" + rest,
        "title = \"t\"\n" + much + " = 3\n" + rest, "title = \"t\"\n" + rest + "hold = \"" + much + "\"\n",
        "title = \"t\"\n[lock]\nscript = \"" + much + ".lua\"\n[[client]]\nname = \"A\"\n",
        "title = \"t\"\n" + rest + "hold = 1" + much + "\n"}) {
    const std::string story = folder.file("x.toml", text);
    for (const std::string command : {"run", "check"}) bounded({command, story});
  }
  const std::string value(1'000'000, 'v');
  for (const std::string& text : {"{:process 0 :type :invoke :f :" + value + " :value 1}\n", value,
                                  "{:process 0 :type :" + value + " :f :read}\n",
                                  "{:process 0 :type :invoke :f :write :value \"" + value + "\"}\n"}) {
    const std::string history = folder.file("x.edn", text);
    bounded({"linearize", history});
    bounded({"linearize", history, "--model", "register"});
  }
  for (const char* command : {"run", "check", "linearize", "fuzz", "matrix", "compare", "list", "new", "report", "play",
                              "serve", "confirm", "schema", "--"}) {
    bounded({command, much});
    bounded({command, "--" + much});
  }
  bounded({much});
}

}  // namespace lockstep::cli::long_messages_test
