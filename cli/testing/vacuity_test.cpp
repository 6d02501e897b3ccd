// No ✓ for what nobody looked at: every property, at every kind of server, in every way to be blind. Each blind world
// has a twin that sees: were there a ✓ nowhere, the table would say nothing.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/testing/called.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::cli::vacuity_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// How a script takes and frees a lock at one kind of server. `{take}` gives a token, or leaves `acquire` with nil.
struct Kind {
  std::string_view name;
  std::string_view parameters;
  std::string_view take;
  std::string_view free;
};

constexpr Kind kKinds[] = {
    {"redis", "",
     "local token = c:token()\nif c.redis:set(c.key, token, { nx = true, px = 1000 }) ~= 'OK' then return nil end",
     "if c.redis:get(c.key) ~= hold.token then return false end\nreturn c.redis:del(c.key) == 1"},
    {"etcd", "parameters = { ttl = { default = '60s', role = 'renewed_lease' } }",
     "local lease = c.etcd:session(c.parameters.ttl)\nif lease == unknown then return nil end\n"
     "local reply = c.etcd:txn({ compare = { { 'create_revision', c.key, '=', 0 } },\n"
     "  success = { { 'put', c.key, '', { lease = lease } } } })\n"
     "if reply == unknown or error_of(reply) or not reply.succeeded then c.etcd:close(lease) return nil end\n"
     "local token = lease",
     "local reply = c.etcd:delete(c.key)\nc.etcd:close(hold.token)\nreturn reply ~= unknown and not error_of(reply)"},
    {"zookeeper", "parameters = { session_timeout = { default = '10s', role = 'renewed_lease' } }",
     "if not c.zookeeper:open(c.parameters.session_timeout) then return nil end\n"
     "local token = c.zookeeper:create('/' .. c.key, { ephemeral = true })\n"
     "if token == unknown or error_of(token) then return nil end",
     "return c.zookeeper:delete(hold.token) == true"},
    {"consul", "parameters = { ttl = { default = '15s', role = 'session_ttl' } }",
     "local token = c.consul:session({ ttl = c.parameters.ttl })\nif token == unknown then return nil end\n"
     "if c.consul:put(c.key, c.name, { acquire = token }) ~= true then c.consul:close(token) return nil end",
     "local freed = c.consul:put(c.key, '', { release = hold.token })\nc.consul:close(hold.token)\nreturn freed == "
     "true"},
    {"sql", "",
     "local token = c:token()\nlocal made = c.sql:insert('owners', { c.key, token })\n"
     "if made == unknown or error_of(made) then return nil end",
     "local gone = c.sql:delete('owners', { { 'name', '=', c.key }, { 'owner', '=', hold.token } })\n"
     "return gone ~= unknown and not error_of(gone)"},
};

/// What makes a world blind: what stands before the attempt, instead of it, and behind it; and how it is asked.
struct Blindness {
  std::string_view name;
  std::string_view before;
  bool takes = true;
  std::string_view behind;
  std::vector<std::string> options;
  std::vector<std::string_view> spared;  ///< properties of which it hides nothing
};

const std::vector<Blindness>& ways() {
  static const std::vector<Blindness> all{
      {"a script error before the attempt", "local x = nothing.of.mine", true, "", {}, {}},
      {"a script error behind the attempt", "", true, "local x = c.nothing.of_mine", {}, {}},
      {"a script error in what c:spawn started", "c:spawn(function() error('no luck') end)", true, "", {}, {}},
      {"a script error in what c:every repeats", "c:every(1, function() return nil + 1 end)", true, "", {}, {}},
      // Who asks nobody has no lock that comes back, and that is seen.
      {"nothing granted", "if true then return nil end", true, "", {}, {"recoverable"}},
      {"nothing written",
       "local token = 'mine'",
       false,
       "",
       {},
       {"mutual-exclusion", "linearizable", "recoverable", "progress", "truthful-reports", "no-lost-wakeup"}},
      {"a bound hit", "", true, "", {"--max-traces", "1"}, {}},
      {"a run that does not end", "while true do c:sleep(1) end", true, "", {"--max-events", "2000"}, {}},
  };
  return all;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-vacuity-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(std::string_view name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

/// A story of two clients that get in each other's way. Null: nothing is blind.
std::string story_of(const Folder& folder, const Kind& kind, const Blindness* blind, std::string_view claims) {
  std::string script = "server = \"" + std::string(kind.name) + "\"\nbackground = true\nclaims = { " +
                       std::string(claims) + " }\n" + std::string(kind.parameters) + "\nfunction acquire(c)\n";
  if (blind != nullptr) script += std::string(blind->before) + "\n";
  if (blind == nullptr || blind->takes) script += std::string(kind.take) + "\n";
  if (blind != nullptr) script += std::string(blind->behind) + "\n";
  script += "return { token = token }\nend\nfunction release(c, hold)\n" + std::string(kind.free) + "\nend\n";
  folder.write("lock.lua", script);
  return folder.write("story.toml",
                      "title = \"t\"\n[lock]\nscript = \"lock.lua\"\nattempts = 2\nretry = \"5ms\"\n"
                      "[network]\nlatency = \"1ms\"\n[[client]]\nname = [\"A\", \"B\"]\nacquire_at = [\"0ms\", "
                      "\"3ms\"]\nhold = \"10ms\"\n");
}

json result_of(const Called& asked) {
  const json document = json::parse(asked.out, nullptr, false);
  return document.is_discarded() || document["results"].empty() ? json::object() : document["results"][0];
}

/// Properties that are said to hold, but for these.
std::string kept(const json& result, const std::vector<std::string_view>& spared) {
  std::string names;
  for (const json& property : result.value("properties", json::array())) {
    const auto name = property["name"].get<std::string>();
    if (property["verdict"] == "holds" && std::find(spared.begin(), spared.end(), name) == spared.end())
      names += name + " ";
  }
  return names;
}

}  // namespace

TEST_CASE(
    "vacuity: in no way to be blind, at no kind of server, anything holds, and what is claimed is not as expected") {
  const Folder folder;
  const std::size_t worlds = std::size(kKinds) * ways().size();
  // Few of them in CI, of each way and each kind some; the rest with LOCKSTEP_CASES=all.
  for (std::size_t i = 0; i < worlds; i += sim::cases<std::size_t>(1, 3)) {
    const Kind& kind = kKinds[i % std::size(kKinds)];
    const Blindness& blind = ways()[i / std::size(kKinds)];
    INFO(kind.name << ", " << blind.name);
    const std::string story = story_of(folder, kind, &blind, "\"mutual-exclusion\", \"own-release\"");
    for (const std::string command : {"check", "run"}) {
      std::vector<std::string> call{command, story, "--json"};
      if (command == "check") call.insert(call.end(), blind.options.begin(), blind.options.end());
      if (command == "run" && !blind.options.empty()) continue;  // a bound of the search
      const Called asked = called(call);
      INFO(asked.out << asked.err);
      CHECK(kept(result_of(asked), blind.spared) == "");
      // Nor is anything known of what makes no difference.
      if (blind.name.starts_with("a script error")) CHECK_FALSE(result_of(asked).contains("no_effect"));
      if (command == "check") CHECK(asked.exit != 0);
    }
  }
}

TEST_CASE("vacuity: fuzz says no ✓ for runs that nobody could judge") {
  const Folder folder;
  for (const Blindness& blind : ways()) {
    if (blind.name == "a bound hit" || blind.name == "nothing written") continue;
    INFO(blind.name);
    const std::string story = story_of(folder, kKinds[0], &blind, "\"mutual-exclusion\", \"own-release\"");
    const std::string found =
        folder.write("unused", "") + "-" + std::string(1, static_cast<char>('a' + (&blind - ways().data())));
    const Called asked = called({"fuzz", story, "--runs", "1", "--found", found});
    INFO(asked.out << asked.err);
    CHECK(asked.exit == 3);
    CHECK_FALSE(contains(asked.out, "✓"));
  }
}

TEST_CASE("vacuity: the same worlds, not blind, are told to hold") {
  const Folder folder;
  for (const Kind& kind : kKinds) {
    INFO(kind.name);
    const Called asked = called({"check", story_of(folder, kind, nullptr, "\"mutual-exclusion\""), "--json"});
    INFO(asked.out << asked.err);
    const std::string held = kept(result_of(asked), {});
    for (const char* property : {"mutual-exclusion", "progress", "truthful-reports"}) CHECK(contains(held, property));
    // Nobody enters again, nothing is renewed by the script, and there is nothing to protect.
    for (const char* property : {"reentrancy", "no-lost-update", "fencing", "capacity"})
      CHECK_FALSE(contains(held, property));
  }
}

namespace {

/// What is said of each property, by name.
std::map<std::string, std::string> verdicts_of(const json& result) {
  std::map<std::string, std::string> verdicts;
  for (const json& property : result.value("properties", json::array()))
    verdicts[property["name"].get<std::string>()] = property["verdict"].get<std::string>();
  return verdicts;
}

std::string with(std::string text, std::string_view old, std::string_view now) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + now.size()))
    text.replace(at, old.size(), now);
  return text;
}

}  // namespace

// The place of a lock is what its grants write, whatever that is called.
TEST_CASE("vacuity: under another key or prefix the same is said as under the lock's own") {
  const Folder folder;
  const auto said_of = [&](const Kind& kind, std::string_view take, std::string_view free) {
    std::map<std::string, std::map<std::string, std::string>> said;
    for (const std::string_view key : {"c.key", "'app:' .. c.key", "'x-' .. c.key .. '-y'"}) {
      const std::string taking = with(std::string(take), "c.key", key);
      const std::string freeing = with(std::string(free), "c.key", key);
      const Kind named{kind.name, kind.parameters, taking, freeing};
      const std::string story = story_of(folder, named, nullptr, "\"mutual-exclusion\", \"own-release\"");
      for (const char* command : {"check", "run"}) {
        const Called asked = called({command, story, "--json"});
        INFO(asked.out << asked.err);
        REQUIRE_FALSE(asked.out.empty());
        said[command + std::string(" ") + std::string(key)] = verdicts_of(result_of(asked));
      }
    }
    for (const char* command : {"check ", "run "}) {
      const auto& own = said.at(std::string(command) + "c.key");
      CHECK(own.at("mutual-exclusion") != "not judged");
      for (const auto& [asked, verdicts] : said) {
        INFO(kind.name << ": " << asked);
        if (asked.starts_with(command)) CHECK(verdicts == own);
      }
    }
    return said.at("check c.key");
  };
  for (const Kind& kind : kKinds) CHECK(said_of(kind, kind.take, kind.free).at("mutual-exclusion") == "holds");
  // A lease that is over before its holder is done, who then frees whatever is there.
  const auto broken =
      said_of(kKinds[0], with(std::string(kKinds[0].take), "px = 1000", "px = 5"), "return c.redis:del(c.key) == 1");
  CHECK(broken.at("mutual-exclusion") == "violated");
  CHECK(broken.at("own-release") == "violated");
}

// Nobody comes to see that it has run out.
TEST_CASE("vacuity: a lease that was to be renewed and is not, with nobody who looks, is no lease that is kept") {
  const Folder folder;
  folder.write("lock.lua",
               "background = true\nclaims = { 'faithful-renewal' }\nfunction acquire(c)\nlocal token = c:token()\n"
               "if c.redis:set(c.key, token, { nx = true, px = 20 }) ~= 'OK' then return nil end\n"
               "return c:hold({ token = token, renewed = true })\nend\n"
               "function release(c, hold) return true end\n");
  const std::string story = folder.write("story.toml",
                                         "title = \"t\"\n[lock]\nscript = \"lock.lua\"\n[network]\nlatency = "
                                         "\"1ms\"\n[[client]]\nname = \"A\"\nhold = \"50ms\"\n");
  for (const char* command : {"check", "run"}) {
    const Called asked = called({command, story, "--json"});
    INFO(asked.out << asked.err);
    CHECK(verdicts_of(result_of(asked)).at("faithful-renewal") == "violated");
  }
}

}  // namespace lockstep::cli::vacuity_test
