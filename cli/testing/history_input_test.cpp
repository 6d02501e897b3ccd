#include "cli/commands/history_input.hpp"

#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/testing/called.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::history_input_test {

using namespace lockstep;
namespace fs = std::filesystem;
namespace formats = checker::history_formats;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "lockstep-history-input-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// As gzip packs it, by the library's own writer of files.
std::string packed(std::string_view text) {
  const std::string file = (fs::temp_directory_path() / "lockstep-packed.gz").string();
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  std::ifstream in(file, std::ios::binary);
  std::string result{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  fs::remove(file);
  return result;
}

/// Gives at most so many bytes at once.
formats::Source in_pieces(std::string_view text, std::size_t each) {
  return [source = formats::text_source(text), each](std::span<char> space) {
    return source(space.first(std::min(each, space.size())));
  };
}

struct Read {
  std::string text;
  std::string trouble;
};

Read read_all(std::string_view file, std::size_t each, std::size_t peeked, std::size_t space) {
  cli::HistorySource source(in_pieces(file, each));
  Read read;
  const std::string beginning(source.peek(peeked));
  std::string buffer(space, '\0');
  for (;;) {
    const auto n = source.read(buffer);
    if (!n || *n == 0) break;
    read.text.append(buffer, 0, *n);
  }
  read.trouble = source.trouble();
  if (read.trouble.empty()) CHECK(read.text.starts_with(beginning));
  return read;
}

constexpr std::string_view kGood =
    "{:process 0, :type :invoke, :f :write, :value 1}\n{:process 0, :type :ok, :f :write, :value 1}\n";

}  // namespace

TEST_CASE("history input: what is packed by gzip is read as what is not, in pieces of any size") {
  std::string text;
  sim::Random random(1);
  for (int i = 0; i < 3'000; ++i) text += "line " + std::to_string(random.below(1'000'000)) + "\n";
  const std::string once = packed(text);
  const std::string twice = packed(text.substr(0, 777)) + packed(text.substr(777));
  for (const std::size_t each : {1UL, 7UL, 100'000UL}) {
    for (const std::size_t peeked : {0UL, 5UL, 1'000UL, 1'000'000UL}) {
      for (const std::string& file : {text, once, twice}) {
        const Read read = read_all(file, each, peeked, each == 1 ? 13 : 4'096);
        CHECK(read.trouble.empty());
        CHECK((read.text == text));
      }
    }
  }
  CHECK(read_all("", 1, 8, 8).text.empty());
  CHECK(read_all("\x1F", 1, 8, 8).text == "\x1F");
  CHECK(read_all(packed(""), 1, 8, 8).text.empty());
}

TEST_CASE(
    "history input: a packed file that is cut off or damaged anywhere is said to be, and never read as a shorter one") {
  const std::string file = packed(kGood);
  for (std::size_t size = 2; size < file.size(); ++size) {
    INFO(size);
    CHECK(!read_all(std::string_view(file).substr(0, size), 3, 0, 64).trouble.empty());
  }
  sim::Random random(2);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = file;
    const std::size_t at = 10 + random.below(file.size() - 10);
    damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random.below(255)));
    const Read read = read_all(damaged, 5, 0, 64);
    INFO(at);
    CHECK((!read.trouble.empty() || read.text == kGood));
  }
}

TEST_CASE("history input: a directory stands for the history in it, and a binary file for the one beside it") {
  const Folder folder;
  folder.write("run/jepsen.log", "0 :invoke :write 1\n");
  const auto found = [](const std::string& name) {
    const auto result = cli::find_history(name);
    const auto* none = std::get_if<cli::NoHistory>(&result);
    return none != nullptr ? none->message : fs::path(std::get<std::string>(result)).filename().string();
  };
  CHECK(found(folder / "run") == "jepsen.log");
  folder.write("run/history.txt", "0 :invoke :write 1\n");
  CHECK(found(folder / "run") == "history.txt");
  folder.write("run/history.edn", kGood);
  CHECK(found(folder / "run") == "history.edn");
  fs::create_directory_symlink(folder / "run", folder / "latest");
  CHECK(found(folder / "") == "history.edn");
  CHECK(found(folder.write("run/test.jepsen", "JEPSEN")) == "history.edn");
  CHECK(cli::contains(found(folder.write("alone/test.jepsen", "JEPSEN")),
                      "no history.edn, history.txt or jepsen.log is beside"));
  CHECK(cli::contains(found(folder / "alone"), "a directory without a history"));
  CHECK(found("-") == "-");
  CHECK(found(folder / "nothing.edn") == "nothing.edn");
}

TEST_CASE("history input: linearize reads packed files and directories, and says which file it was") {
  const Folder folder;
  folder.write("run/history.edn.gz", packed(kGood));
  const cli::Called run = cli::called({"linearize", folder / "run", "--model", "register", "--json"});
  CHECK(run.exit == 0);
  const auto document = nlohmann::json::parse(run.out);
  CHECK(cli::contains(document["results"][0]["file"].get<std::string>(), "run/history.edn.gz"));
  CHECK(document["results"][0]["operations"] == 1);
  const std::vector<std::pair<std::string, std::string>> refused{
      {folder.write("binary", "JEPSEN\x01\x02"), "Jepsen's binary format"},
      {folder.write("a.xz", std::string("\xFD"
                                        "7zXZ\0\0",
                                        7)),
       "packed by xz"},
      {folder.write("cut.gz", packed(kGood).substr(0, 30)), "ends too early; is the file cut off?"},
      {folder.write("42.json", "42"), "42.json:1:1: \"4\": expected an operation, like {\"process\": 0"},
      {folder.write("python.json", "{'process': 0}"), "python.json:1:2: a key in single quotes"},
      {folder.write("orphan.log", "0 :ok :read 3\n"),
       "orphan.log:1:1: read of process 0 ends here, but it was never invoked"}};
  for (const auto& [file, message] : refused) {
    const cli::Called result = cli::called({"linearize", file, "--model", "register"});
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(cli::contains(result.err, message));
  }
  const cli::Called modelless =
      cli::called({"linearize", folder.write("put.edn", "{:process 0 :type :invoke :f :poke}\n")});
  CHECK(modelless.exit == 2);
  CHECK(cli::contains(modelless.err, "does not say of which model it is; --model says it, one of mutex, owner-mutex"));
}

TEST_CASE("history input: the operations say of which model they are, and what is no history is refused for that") {
  const Folder folder;
  const std::string locks = "client,op,start,end,result\na,lock,0,1,ok\nb,lock,2,3,ok\na,unlock,4,5,ok\n";
  const cli::Called guessed = cli::called({"linearize", folder.write("locks.csv", locks)});
  CHECK(guessed.exit == 1);
  CHECK(cli::contains(guessed.err, "taken for a mutex, by its operations (lock, unlock); --model says another"));
  CHECK(cli::contains(guessed.out, "not linearizable as a mutex"));
  CHECK(cli::called({"linearize", folder.write("read.log", "0 :invoke :read nil\n0 :ok :read nil\n")}).exit == 0);
  const cli::Called broken = cli::called({"linearize", folder.write("bad.csv", "client,op,start,end\na,lock,5,1\n")});
  CHECK(broken.exit == 2);
  CHECK(cli::contains(broken.err, "bad.csv:2:1: an operation that ends before it begins"));
  CHECK_FALSE(cli::contains(broken.err, "--model"));
}

TEST_CASE(
    "history input: a file that names its model and its permits is judged by them, unless the call says otherwise") {
  const Folder folder;
  std::string text = "{:process \"A\" :type :invoke :f :acquire :object \"s\" :model \"semaphore\" :permits 2}\n";
  text += "{:process \"A\" :type :ok :f :acquire :object \"s\"}\n";
  const auto acquire = [&](const std::string& process) {
    for (const char* type : {"invoke", "ok"})
      text += "{:process \"" + process + "\" :type :" + type + " :f :acquire :object \"s\"}\n";
  };
  acquire("B");
  const std::string two = folder.write("two.edn", text);
  acquire("C");
  const std::string three = folder.write("three.edn", text);
  CHECK(cli::called({"linearize", two}).exit == 0);
  CHECK(cli::called({"linearize", three}).exit == 1);
  CHECK(cli::called({"linearize", three, "--permits", "3"}).exit == 0);
  CHECK(cli::called({"linearize", two, "--permits", "1"}).exit == 1);
  CHECK(cli::called({"linearize", two, "--model", "mutex"}).exit == 1);
  CHECK(cli::called({"linearize", two, three}).exit == 1);
  const std::string mutex = folder.write(
      "mutex.jsonl", R"({"process": "A", "type": "invoke", "f": "acquire", "object": "s", "model": "owner-mutex"})");
  const cli::Called mixed = cli::called({"linearize", two, mutex});
  CHECK(mixed.exit == 2);
  CHECK(cli::contains(mixed.err, "is of the model owner-mutex, but those before it are of semaphore"));
}

TEST_CASE("history input: all violated keys are named with a count, pairs get a hint, and no test is said to be none") {
  const Folder folder;
  std::string text;
  for (int key = 0; key < 5; ++key) {
    text += "0 :invoke :write [" + std::to_string(key) + " 1]\n0 :ok :write [" + std::to_string(key) + " 1]\n";
    const std::string read = key % 2 == 0 ? "7" : "1";
    text +=
        "0 :invoke :read [" + std::to_string(key) + " nil]\n0 :ok :read [" + std::to_string(key) + " " + read + "]\n";
  }
  const std::string keys = folder.write("keys.log", text);
  const std::string page = folder / "page.html";
  const auto content = [&] {
    std::ifstream in(page, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  };
  const cli::Called shown =
      cli::called({"linearize", keys, "--model", "register", "--independent", "--html", page, "--width", "200"});
  CHECK(shown.exit == 1);
  CHECK(
      cli::contains(shown.out, "3 of 5 keys are not linearizable, and the first to fail is explained: 0 (line 4), 2"));
  CHECK(cli::contains(shown.out, "(line 20)."));
  CHECK(cli::contains(shown.out, "Key 0 can be ordered up to line 4"));
  CHECK(!cli::contains(shown.out, "--independent"));
  CHECK(cli::contains(content(), "Not linearizable: 3 of 5 keys"));
  const auto result = nlohmann::json::parse(
      cli::called({"linearize", keys, "--model", "register", "--independent", "--json"}).out)["results"][0];
  REQUIRE(result["violated_keys"].size() == 3);
  CHECK(result["key"] == "0");
  CHECK(result["violated_keys"][2]["key"] == "4");
  CHECK(result["violated_keys"][2]["has_no_place"]["ended_line"] == 20);
  CHECK(result["looks_independent"] == false);

  const cli::Called without = cli::called({"linearize", keys, "--model", "register", "--html", page, "--width", "200"});
  CHECK(cli::contains(without.out,
                      "every value is a pair, as [key value]: if each key is an object of its own, say --independent"));
  CHECK(cli::contains(content(), "say --independent"));

  const std::string nothing = folder.write(
      "nothing.log", "0 :invoke :write 1\n0 :info :write :timeout\n1 :invoke :read nil\n1 :fail :read nil\n");
  const cli::Called none = cli::called({"linearize", nothing, "--model", "register", "--html", page});
  CHECK(none.exit == 0);
  CHECK(cli::contains(none.out, "nothing was tested: of none of 2 operations is known that it took effect"));
  CHECK(cli::contains(content(), "Nothing was tested"));
  const auto json = nlohmann::json::parse(cli::called({"linearize", nothing, "--model", "register", "--json"}).out);
  CHECK(json["results"][0]["nothing_tested"] == true);
  const std::string something = folder.write("something.log", "0 :invoke :write 1\n0 :ok :write 1\n");
  CHECK(!cli::contains(cli::called({"linearize", something, "--model", "register"}).out, "nothing was tested"));

  const std::string nil =
      folder.write("nil.log", "0 :invoke :write 1\n0 :ok :write 1\n1 :invoke :read nil\n1 :ok :read nil\n");
  CHECK(cli::called({"linearize", nil, "--model", "register"}).exit == 1);
  CHECK(cli::called({"linearize", nil, "--model", "register", "--nil-reads-unknown"}).exit == 0);
}

}  // namespace lockstep::history_input_test
