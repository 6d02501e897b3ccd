// The way of somebody who has a deployment and a question: a story from what is known, an answer, a page, a failing CI.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/testing/called.hpp"

namespace lockstep::cli::deployment_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / ("lockstep-deployment-" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string in(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(in(name)) << text;
    return in(name);
  }

 private:
  fs::path path_;
};

std::string content_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

const std::string kOrders =
    "title = \"Our order lock\"\n[lock]\nalgorithm = \"redisson-lock\"\nwait = \"5s\"\nlease = \"10s\"\n[network]\n"
    "latency = [\"1ms\", \"5ms\"]\ntimeout = \"3s\"\n[[client]]\nname = [\"svc1\", \"svc2\"]\nacquire_at = [\"0s\", "
    "\"10s\"]\n"
    "hold = [\"2s\", \"15s\"]\n[[may]]\nkind = \"pause\"\nlength = [\"0s\", \"5s\"]\n";
/// The same question of a world that is searched in milliseconds.
const std::string kSmall =
    "title = \"Small\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n[network]\nlatency = [\"1ms\", "
    "\"5ms\"]\n"
    "[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", \"200ms\"]\nhold = [\"20ms\", \"150ms\"]\n[[may]]\n"
    "kind = \"pause\"\nlength = [\"0ms\", \"50ms\"]\n";
const std::string kGood =
    "title = \"t\"\n[lock]\nalgorithm = \"set-nx-px-lua\"\n[[client]]\nname = [\"A\", \"B\"]\nacquire_at = "
    "[\"0ms\", \"50ms\"]\nhold = \"5ms\"\n";

}  // namespace

TEST_CASE("deployment: check begins with the answer, and finds the formula when asked") {
  const Folder folder("answer");
  const std::string file = folder.write("orders.toml", kOrders);
  const Called plain = called({"check", file});
  CHECK(plain.exit == 1);
  CHECK(contains(plain.out, "✗ Breaks once a job takes more than 9996ms; or, with jobs of 2s"));
  const Called asked = called({"check", folder.write("small.toml", kSmall), "--formula"});
  CHECK(contains(asked.out, "safe while ttl + least latency ≥ pause + greatest latency + greatest hold"));
  CHECK(contains(asked.out, "shown at "));
  const Called several = called({"check", file, folder.write("other.toml", kGood), "--formula"});
  CHECK(several.exit == 2);
  CHECK(contains(several.err, "--formula needs exactly one story"));
}

TEST_CASE("deployment: the page of a lock that breaks is not green, and draws the run that breaks it") {
  const Folder folder("page");
  const std::string file = folder.write("small.toml", kSmall);
  const std::string page = folder.in("page.html");
  CHECK(called({"report", "--single", page, "--stories", file}).exit == 0);
  const std::string html = content_of(page);
  const std::size_t answer = html.find("<div class=\"verdict bad\" id=\"answer\">");
  REQUIRE(answer != std::string::npos);
  CHECK(contains(html.substr(answer, 600), "Breaks once a job takes more than 96ms"));
  CHECK(html.find("class=\"verdict good\"") == std::string::npos);
  CHECK(html.find("<section id=\"breaking\">") < html.find("<section id=\"run\">"));
}

TEST_CASE("deployment: code scanning gets what is broken at its line, and a refused file keeps nothing from it") {
  const Folder folder("sarif");
  const std::string broken = folder.write("orders.toml", kOrders);
  const std::string good = folder.write("good.toml", kGood);
  const std::string bad = folder.write("bad.toml", "title = \"t\"\n[lock]\nalgorithm = \"nothing\"\n");
  const std::string sarif = folder.in("locks.sarif");
  const Called result = called({"check", good, bad, broken, folder.in("none.toml"), "--export", "sarif=" + sarif});
  CHECK(result.exit == 2);
  CHECK(contains(result.err, "bad.toml:3:"));
  CHECK(contains(result.err, "none.toml: no such file"));
  CHECK(contains(result.err, "2 of 4 stories could not be explored"));
  CHECK(contains(result.out, "orders"));
  const json run = json::parse(content_of(sarif))["runs"][0];
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
  CHECK(run["invocations"][0]["toolExecutionNotifications"].size() >= 2);
  REQUIRE_FALSE(run["results"].empty());
  CHECK(run["results"][0]["ruleId"] == "mutual-exclusion");
  CHECK(run["results"][0]["level"] == "error");
  CHECK(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 3);

  CHECK(called({"check", good, "--export", "sarif=" + sarif}).exit == 0);
  CHECK(json::parse(content_of(sarif))["runs"][0]["results"].empty());
  // What a bound leaves open is no error.
  CHECK(called({"check", good, "--max-traces", "1", "--export", "sarif=" + sarif}).exit == 3);
  const json cut = json::parse(content_of(sarif));
  for (const json& open : cut["runs"][0]["results"]) CHECK(open["level"] == "warning");
  CHECK(called({"check", bad, folder.in("none.toml")}).exit == 2);
  CHECK(called({"check", good, "--export", "shiviz=x"}).exit == 2);
}

TEST_CASE("deployment: a search that is cut plays random runs, and says how many") {
  const Folder folder("cut");
  const std::string good = folder.write("good.toml", kGood);
  const Called text = called({"check", good, "--max-traces", "1"});
  CHECK(text.exit == 3);
  CHECK(contains(text.out, "random runs"));
  const json result = json::parse(called({"check", good, "--max-traces", "1", "--json"}).out)["results"][0];
  CHECK(result["random_runs"] > 0);
  CHECK_FALSE(json::parse(called({"check", good, "--json"}).out)["results"][0].contains("random_runs"));
}

TEST_CASE("deployment: new writes what a team knows, and run finds a failure by its id") {
  const Folder folder("new");
  const std::string file = folder.in("orders.toml");
  CHECK(called({"new", file, "--redisson", "tryLock(5s, 10s)", "--clients", "3", "--work", "2s..15s", "--pause", "5s",
                "--failover"})
            .exit == 0);
  const std::string text = content_of(file);
  for (const char* line : {"wait = \"5s\"", "lease = \"10s\"", "name = [\"A\", \"B\", \"C\"]",
                           "hold = [\"2s\", \"15s\"]", "replicas = 1", "kind = \"failover\""})
    CHECK(contains(text, line));
  CHECK(called({"run", file}).exit == 0);
  CHECK(called({"new", folder.in("a"), "--work", "5s..2s"}).exit == 2);
  CHECK(called({"new", folder.in("a"), "--redisson", "unlock()"}).exit == 2);
  CHECK(called({"new", folder.in("a"), "--redisson", "lock()", "--algorithm", "redlock-seq"}).exit == 2);
  CHECK_FALSE(fs::exists(folder.in("a.toml")));

  const Called found = called({"run", "F000-2"});
  CHECK(found.exit == 0);
  CHECK(contains(found.out, "f000-2-"));
  CHECK(called({"run", "f000-2-both-delete-expired"}).exit == 0);
  CHECK(called({"run", "F999-9"}).exit == 2);
}

TEST_CASE("deployment: what other tools call so leads to the key") {
  const Folder folder("words");
  const auto message = [&](const std::string& text) {
    return called({"run", folder.write("story.toml", "title = \"t\"\n" + text)}).err;
  };
  const std::string clients = "[[client]]\nname = \"A\"\n";
  CHECK(contains(message("[lock]\nalgorithm = \"redisson-lock\"\nleaseTime = \"10s\"\n" + clients),
                 "did you mean \"lease\"?"));
  CHECK(contains(message("[lock]\nalgorithm = \"redisson-lock\"\nwaitTime = \"5s\"\n" + clients),
                 "did you mean \"wait\"?"));
  const std::string lock = "[lock]\nalgorithm = \"set-nx-px-lua\"\n";
  CHECK(contains(message(lock + clients + "[[may]]\nkind = \"gc\"\n"), "did you mean \"pause\"?"));
  CHECK(contains(message(lock + "[[instances]]\nname = \"A\"\n"), "did you mean \"client\"?"));
}

}  // namespace lockstep::cli::deployment_test
