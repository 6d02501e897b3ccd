#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checker/linearizability/linearizability.hpp"
#include "cli/arguments/call.hpp"
#include "cli/run.hpp"
#include "cli/testing/called.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::linearize_test {

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kGood =
    "{:process 0, :type :invoke, :f :write, :value 1}\n"
    "{:process 1, :type :invoke, :f :read, :value nil}\n"
    "{:process 0, :type :ok, :f :write, :value 1}\n"
    "{:process 1, :type :ok, :f :read, :value 1}\n";

/// 1 is written and has returned, and then nil is read. In between somebody kills a node.
constexpr std::string_view kBad =
    "0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n:nemesis\t:info\t:kill\t[\"n1\" \"<b>\"]\n"
    "1\t:invoke\t:read\tnil\n2\t:invoke\t:write\t2\n1\t:ok\t:read\tnil\n2\t:info\t:write\t:timeout\n";

/// A folder of histories that goes away with the test.
class Histories {
 public:
  Histories() : path_(fs::temp_directory_path() / "lockstep-linearize-test") {
    fs::remove_all(path_);
    fs::create_directories(path_);
    write("good.edn", kGood);
    write("bad.log", kBad);
  }
  ~Histories() { fs::remove_all(path_); }
  std::string write(const char* name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return (path_ / name).string();
  }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::string content(const char* name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  bool has(const char* name) const { return fs::exists(path_ / name); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("linearize: a history that is linearizable exits 0, and one that is not exits 1") {
  const Histories histories;
  const cli::Called good = cli::called({"linearize", histories / "good.edn", "--model", "register"});
  CHECK(good.exit == 0);
  CHECK(good.err.empty());
  CHECK(cli::contains(good.out, "good.edn: linearizable as a register"));
  CHECK(cli::contains(good.out, "2 operations by 2 processes"));

  const cli::Called bad = cli::called({"linearize", histories / "bad.log", "--model", "cas-register"});
  CHECK(bad.exit == 1);
  CHECK(cli::contains(bad.out, "bad.log: not linearizable as a cas-register"));
  CHECK(cli::contains(bad.out, "read → nil of process 1"));
  CHECK(cli::contains(bad.out, "1-2"));
  CHECK(cli::contains(bad.out, "has no place"));
  CHECK(cli::contains(bad.out, "The nemesis, last before that: kill"));

  const cli::Called both =
      cli::called({"linearize", histories / "bad.log", histories / "good.edn", "--model", "register"});
  CHECK(both.exit == 1);
  CHECK(cli::contains(both.out, "2 histories: 1 linearizable, 1 not, 0 unknown"));
}

TEST_CASE("linearize: --json is one document, with the lines of the file") {
  const Histories histories;
  const cli::Called result =
      cli::called({"linearize", histories / "bad.log", histories / "good.edn", "--model", "register", "--json"});
  CHECK(result.exit == 1);
  const auto document = nlohmann::json::parse(result.out);
  CHECK(document["command"] == "linearize");
  CHECK(document["model"] == "register");
  const auto& bad = document["results"][0];
  CHECK(bad["format"] == "log");
  CHECK(bad["verdict"] == "violated");
  CHECK(bad["operations"] == 3);
  CHECK(bad["unknown_outcomes"] == 1);
  CHECK(bad["conflict"].size() == 2);
  CHECK(bad["conflict"][0]["invoked_line"] == 1);
  CHECK(bad["conflict"][0]["ended_line"] == 2);
  CHECK(bad["has_no_place"]["process"] == "1");
  CHECK(bad["has_no_place"]["ended_line"] == 6);
  CHECK(bad["longest_prefix"]["operations"] == 1);
  CHECK(bad["seconds"].is_number());
  CHECK(document["results"][1]["verdict"] == "holds");
  CHECK(document["summary"]["not_linearizable"] == 1);
}

TEST_CASE("linearize: too many acquires for the releases between them are explained by counting them") {
  const Histories histories;
  // Four clients acquire, two release, all of it within lines 3 to 12; before that somebody held the lock in peace.
  std::string text = "9 :invoke :lock nil\n9 :ok :lock nil\n";
  for (int i = 0; i < 4; ++i) text += fmt::format("{} :invoke :lock nil\n", i);
  text += "9 :invoke :unlock nil\n7 :invoke :unlock nil\n";
  for (int i = 0; i < 4; ++i) text += fmt::format("{} :ok :lock nil\n", i);
  text += "9 :ok :unlock nil\n7 :ok :unlock nil\n";
  const std::string file = histories.write("many.log", text);
  const cli::Called shown = cli::called({"linearize", file, "--model", "mutex", "--html", histories / "many.html"});
  CHECK(shown.exit == 1);
  CHECK(cli::contains(shown.out, "Within lines 1 to 11 are 4 acquires from beginning to end, which need 3 releases"));
  CHECK(cli::contains(shown.out, "only 2 can have taken effect there."));
  CHECK(cli::contains(shown.out, "No order explains these 4, though one would without any one of them"));
  CHECK(cli::contains(histories.content("many.html"), "are 4 acquires from beginning to end"));
  cli::called({"linearize", file, "--model", "mutex", "--lang", "zh", "--html", histories / "many.html"});
  CHECK(cli::contains(histories.content("many.html"), "完整地包含 4 个加锁操作，它们之间需要 3 个解锁操作"));

  const auto document = nlohmann::json::parse(cli::called({"linearize", file, "--model", "mutex", "--json"}).out);
  const auto& stretch = document["results"][0]["stretch"];
  CHECK(stretch["to_line"] == 11);
  CHECK(stretch["inside"]["function"] == "acquire");
  CHECK(stretch["inside"]["operations"] == 4);
  CHECK(stretch["between"]["operations"] == 2);
  CHECK(stretch["between"]["needed"] == 3);
  CHECK(document["results"][0]["conflict_is_minimal"] == true);
}

TEST_CASE("linearize: --html is a page without scripts, in the language that was asked for") {
  const Histories histories;
  const cli::Called en =
      cli::called({"linearize", histories / "bad.log", "--model", "register", "--html", histories / "en.html"});
  CHECK(en.exit == 1);
  const std::string page = histories.content("en.html");
  CHECK(cli::contains(page, "not linearizable"));
  CHECK(cli::contains(page, "class=\"culprit\""));
  CHECK(cli::contains(page, "<title>process 1: read → nil&#10;lines 4–6"));
  CHECK(cli::contains(page, "prefers-color-scheme:dark"));
  CHECK(!cli::contains(page, "<script"));
  CHECK(!cli::contains(page, "http://localhost"));
  CHECK(cli::contains(page, "&lt;b&gt;"));
  CHECK(!cli::contains(page, "<b>"));
  cli::called(
      {"linearize", histories / "bad.log", "--model", "register", "--lang", "zh", "--html", histories / "zh.html"});
  CHECK(cli::contains(histories.content("zh.html"), "不可线性化"));
  const cli::Called good =
      cli::called({"linearize", histories / "good.edn", "--model", "register", "--html", histories / "good.html"});
  CHECK(good.exit == 0);
  CHECK(cli::contains(histories.content("good.html"), "class=\"point\""));
}

TEST_CASE("linearize: the page has all keys, the violated ones first, and no name becomes markup") {
  const Histories histories;
  const auto row = [](std::string_view key, int line, std::string_view f) {
    return fmt::format("c{1},{2},{3},{4},{0}\n", key, line, f, 10 * line, 10 * line + 5);
  };
  std::string table = "client,op,start,end,key\n" + row("fine", 1, "lock");
  table += row("<b>late</b>", 5, "lock") + row("<b>late</b>", 6, "lock");
  table += row("early", 2, "lock") + row("early", 3, "lock");
  const cli::Called called =
      cli::called({"linearize", histories.write("keys.csv", table), "--html", histories / "keys.html"});
  INFO(called.err << called.out);
  CHECK(called.exit == 1);
  const std::string page = histories.content("keys.html");
  const auto early = page.find("<b>early</b> — <span class=\"bad\">");
  const auto late = page.find("<b>&lt;b&gt;late&lt;/b&gt;</b> — <span class=\"bad\">");
  const auto fine = page.find("<b>fine</b> — <span class=\"good\">");
  REQUIRE((early != std::string::npos && late != std::string::npos && fine != std::string::npos));
  CHECK((early < late && late < fine));
  CHECK(!cli::contains(page, "<b>late"));
  CHECK(cli::contains(page, "Not linearizable: 2 of 3 keys, the first to fail at the front."));
  std::size_t pictures = 0;
  for (auto at = page.find("class=\"picture"); at != std::string::npos; at = page.find("class=\"picture", at + 1))
    ++pictures;
  CHECK(pictures == 3);
  // Each of the two conflicts has two operations, which can be reached with the keyboard: in the list and the picture.
  std::size_t stops = 0;
  for (auto at = page.find("clash\" tabindex=\"0\""); at != std::string::npos;
       at = page.find("clash\" tabindex=\"0\"", at + 1))
    ++stops;
  CHECK(stops == 8);
  CHECK(cli::contains(page, "one of 2 that no order explains</title>"));
  CHECK(!cli::contains(page, "<script"));
}

TEST_CASE("linearize: of thousands of keys the page names those that fail, and counts the others") {
  const Histories histories;
  std::string table = "client,op,start,end,key\n";
  for (int key = 0; key < 3000; ++key) {
    const int calls = key < 100 ? 2 : 1;
    for (int call = 0; call < calls; ++call)
      table += fmt::format("c{},lock,{},{},k{}\n", call, 100 * key + 10 * call, 100 * key + 10 * call + 5, key);
  }
  cli::called({"linearize", histories.write("keys.csv", table), "--html", histories / "keys.html"});
  const std::string page = histories.content("keys.html");
  CHECK(cli::contains(page, "Not linearizable: 100 of 3,000 keys"));
  CHECK(cli::contains(page, "60 more keys are not linearizable: k40, k41"));
  CHECK(cli::contains(page, "2,900 more keys are linearizable."));
  CHECK(page.size() < 1'000'000);
}

TEST_CASE("linearize: lines of a log by a pattern, and what is said of those that are passed over") {
  const Histories histories;
  const std::string log = histories.write("app.log",
                                          "12:00:00 pool started\n12:00:01 [a] call LOCK\n12:00:02 [a] done LOCK\n"
                                          "12:00:03 [b] call LOCK\n12:00:04 [b] done LOCK\n");
  const cli::Called judged = cli::called({"linearize", log, "--pattern", "{time} [{client}] {event} {op}"});
  CHECK(judged.exit == 1);
  CHECK(cli::contains(judged.err, "taken for a mutex, by its operations (LOCK)"));
  CHECK(cli::contains(judged.err,
                      "1 other line is passed over; the first is line 1, where --pattern has \"[\" at column 10"));
  CHECK(cli::contains(judged.out, "Both were told that they got the lock, and process a had not released it: "));
  CHECK(cli::contains(judged.out, "acquire of process b (lines 4 to 5)."));
  const cli::Called none = cli::called({"linearize", log, "--pattern", "{time} <{client}> {event} {op}"});
  CHECK(none.exit == 2);
  CHECK(cli::contains(
      none.err, "app.log:1:10: no line is as --pattern has it; the first that is not empty should have \"<\" here"));
  CHECK(none.out.empty());
}

TEST_CASE("linearize: bad input is refused with its place, and the others are judged") {
  const Histories histories;
  histories.write("cut.edn", std::string(kGood) + "{:process 1, :type :inv");
  histories.write("typo.edn", "{:process 1, :type :invoke, :f :wirte, :value 1}\n");
  histories.write("empty.edn", "");
  for (const bool json : {false, true}) {
    std::vector<std::string> args{"linearize",
                                  histories / "good.edn",
                                  histories / "cut.edn",
                                  histories / "typo.edn",
                                  histories / "empty.edn",
                                  histories / "missing.edn",
                                  "--model",
                                  "register",
                                  "--html",
                                  histories / "page.html"};
    if (json) args.emplace_back("--json");
    const cli::Called result = cli::called(args);
    INFO(result.err);
    CHECK(result.exit == 2);
    if (json) {
      const auto judged = nlohmann::json::parse(result.out)["results"];
      REQUIRE(judged.size() == 1);
      CHECK(cli::contains(judged[0]["file"].get<std::string>(), "good.edn"));
    } else {
      CHECK(cli::contains(result.out, "linearizable"));
    }
    CHECK(histories.has("page.html"));
    CHECK(cli::contains(result.err, "cut.edn:5:24: the text ends inside an operation"));
    CHECK(cli::contains(result.err,
                        "typo.edn:1:32: unknown function \"wirte\" of the model register; did you mean \"write\"?"));
    CHECK(cli::contains(result.err, "empty.edn: no operations"));
    CHECK(cli::contains(result.err, "missing.edn: No such file or directory"));
    CHECK(!cli::contains(result.err, "good.edn"));
  }
  CHECK(cli::contains(cli::called({"linearize", histories / "", "--model", "register"}).err,
                      "a directory without a history; expected history.edn"));
}

TEST_CASE("linearize: a bound that is hit is unknown, and exits 3") {
  const Histories histories;
  // Twelve elements, each value twice, go in in any order, and come out in one that needs a search: one value too often.
  std::string text;
  for (int i = 0; i < 12; ++i) text += fmt::format("{} :invoke :enqueue {}\n", i, i % 6);
  for (int i = 0; i < 12; ++i) text += fmt::format("{} :ok :enqueue {}\n", i, i % 6);
  for (int i = 0; i < 12; ++i) text += fmt::format("{} :invoke :dequeue nil\n", i);
  for (int i = 0; i < 12; ++i) text += fmt::format("{} :ok :dequeue {}\n", i, i == 11 ? 0 : i * 5 % 6);
  const cli::Called result = cli::called(
      {"linearize", histories.write("hard.log", text), "--model", "fifo-queue", "--max-memory", "1KB", "--json"});
  const auto document = nlohmann::json::parse(result.out);
  CHECK(result.exit == 3);
  CHECK(document["results"][0]["verdict"] == "unknown");
  CHECK(document["results"][0]["bound"] == "memory");
  CHECK(document["summary"]["unknown"] == 1);
}

TEST_CASE("linearize: run writes a history that linearize reads") {
  const Histories histories;
  const std::string story = in_tree("scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml");
  for (const char* name : {"story.edn", "story.jsonl"}) {
    CHECK(cli::called({"run", story, "--history", histories / name}).exit == 0);
    // It says itself what it is.
    const cli::Called result = cli::called({"linearize", histories / name});
    CHECK(result.exit == 1);
    CHECK(cli::contains(result.out, "not linearizable as an owner-mutex"));
    CHECK(cli::contains(result.out, "acquire of process C"));
    CHECK(cli::called({"linearize", histories / name, "--model", "reentrant-mutex"}).exit == 1);
  }
  const cli::Called many = cli::called({"run", in_tree("scenarios"), "--history", histories / "all.edn"});
  CHECK(many.exit == 2);
  CHECK(cli::contains(many.err, "--history takes the operations of one story"));
  CHECK(!histories.has("all.edn"));
  CHECK(cli::contains(cli::called({"run", story, "--history", "x.txt"}).err,
                      "expected a name that ends in .edn or .jsonl"));
}

TEST_CASE("linearize: a wrong call exits 2 and says how to go on") {
  struct Case {
    std::vector<std::string> args;
    std::string_view message;
  };
  const std::vector<Case> cases{
      {{"linearize"}, "linearize needs histories"},
      {{"linearize", "x", "--initial", "2"}, "multi-register: say which by --model"},
      {{"linearize", "x", "--model", "mutx"}, "did you mean \"mutex\"?"},
      {{"linearize", "x", "--model", "mutex", "--format", "ednn"}, "did you mean \"edn\"?"},
      {{"linearize", "x", "--pattern", "{tiem} {client} {event} {op}"}, "{tiem} is no field; did you mean \"time\"?"},
      {{"linearize", "x", "--pattern", "{time} {client} {op}"}, "a pattern needs {event}"},
      {{"linearize", "x", "--pattern", "{client}{event=ok}", "--format", "edn"}, "leave out --format"},
      {{"linearize", "x", "--model", "mutex", "--permits", "2"}, "--permits is for the model semaphore"},
      {{"linearize", "x", "--model", "semaphore", "--permits", "0"}, "expected a whole number from 1"},
      {{"linearize", "x", "--model", "mutex", "--initial", "2"}, "--initial is for the models register"},
      {{"linearize", "x", "--model", "mutex", "--max-memory", "2TB"}, "expected a size like 512MB or 4GB"},
      {{"linearize", "x", "--model", "mutex", "--max-seconds", "-1"}, "expected a number of seconds such as 60 or 0.5"},
      {{"linearize", "-", "-", "--model", "mutex"}, "standard input (-) can be read only once"},
      {{"linearize", "x", "--model", "mutex", "--htm", "y"}, "did you mean \"--html\"?"},
  };
  for (const Case& c : cases) {
    const cli::Called result = cli::called(c.args);
    INFO(result.err);
    CHECK(result.exit == 2);
    CHECK(result.out.empty());
    CHECK(cli::contains(result.err, c.message));
  }
}

TEST_CASE("linearize: help and list specs name every model") {
  const std::string help = cli::called({"linearize", "--help"}).out;
  const std::string list = cli::called({"list", "specs"}).out;
  const auto document = nlohmann::json::parse(cli::called({"list", "specs", "--json"}).out);
  CHECK(document["specs"].size() == checker::models().size());
  for (const checker::Model* model : checker::models()) {
    CHECK(cli::contains(help, model->name()));
    CHECK(cli::contains(list, model->name()));
    for (const checker::ModelFunction& function : model->functions()) CHECK(cli::contains(help, function.name));
  }
}

}  // namespace lockstep::linearize_test
