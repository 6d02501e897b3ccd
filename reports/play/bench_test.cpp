// What `lockstep play` answers, without sockets: who may ask, what a text becomes, and where files go.

#include "reports/play/bench.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/new_story.hpp"
#include "sim/testing/in_tree.hpp"

using namespace lockstep;
using namespace lockstep::reports;
using nlohmann::json;

namespace {

constexpr const char* kToken = "0123456789abcdef";

const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue all = models::locks::Catalogue::built_in();
  return all;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const std::string kStory = R"(title = "A story"   # of two

[lock]
algorithm = "set-nx-px-lua"  # the best known
ttl = "100ms"                # short

[network]
latency = "1ms"

[[client]]
name = "A"
hold = "30ms"

# it comes later
[[client]]
name = "B"
acquire_at = "10ms"
hold = "30ms"
attempts = 5
)";

/// A bench in a folder of its own.
class Played {
 public:
  Played() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-play-XXXXXX").string();
    folder = mkdtemp(name.data());
    setup.door = {8000, kToken};
    setup.file = "story.toml";
    setup.folder = folder;
    setup.text = kStory;
    bench.emplace(setup, catalogue(), [] { return 0.0; });
  }
  ~Played() { std::filesystem::remove_all(folder); }

  static play::Request post(const std::string& path, const std::string& body) {
    play::Request request;
    request.method = "POST";
    request.path = path;
    request.hosts = {"127.0.0.1:8000"};
    request.token = kToken;
    request.body = body;
    return request;
  }
  static play::Request get(const std::string& path) {
    play::Request request = post(path, "");
    request.method = "GET";
    std::swap(request.token, request.query_token);
    return request;
  }
  play::Response ask(const std::string& path, const json& body) { return bench->answer(post(path, body.dump())); }
  json asked(const std::string& path, const json& body) { return json::parse(ask(path, body).body); }
  std::string edited(const std::string& text, json change) {
    change["text"] = text;
    const json answer = asked("/edit", change);
    INFO(answer.dump());
    REQUIRE(answer.contains("text"));
    return answer["text"];
  }

  play::BenchSetup setup;
  std::filesystem::path folder;
  std::optional<play::Bench> bench;
};

void replace_once(std::string& text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  text.replace(at, what.size(), by);
}

std::size_t row_with(const json& answer, const std::string& text) {
  // The table of steps: <tr id="s4" …
  const std::string body = answer["body"];
  const std::size_t at = body.find(text, body.find("<table class=\"steps\""));
  REQUIRE(at != std::string::npos);
  const std::size_t row = body.rfind("<tr id=\"s", at);
  return static_cast<std::size_t>(std::stoul(body.substr(row + 9))) - 1;
}

}  // namespace

TEST_CASE("play: only our own page on this machine, with the token, is answered") {
  Played played;
  const json story = {{"text", kStory}};
  CHECK(played.bench->answer(Played::get("/")).status == 200);
  CHECK(played.ask("/run", story).status == 200);
  for (const char* host :
       {"evil.example:8000", "127.0.0.1:8001", "127.0.0.1", "localhost:80", "", "127.0.0.1:8000.evil"}) {
    play::Request request = Played::post("/run", story.dump());
    request.hosts = {host};
    CHECK(played.bench->answer(request).status == 421);
    request = Played::get("/");
    request.hosts = {host};
    CHECK(played.bench->answer(request).status == 421);
  }
  play::Request two = Played::post("/run", story.dump());
  two.hosts = {"127.0.0.1:8000", "evil.example"};
  CHECK(played.bench->answer(two).status == 421);
  two.hosts = {};
  CHECK(played.bench->answer(two).status == 421);
  two.hosts = {"localhost:8000"};
  CHECK(played.bench->answer(two).status == 200);

  for (const char* token : {"", "0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"}) {
    play::Request request = Played::post("/run", story.dump());
    request.token = token;
    CHECK(played.bench->answer(request).status == 403);
    request = Played::get("/");
    request.query_token = token;
    CHECK(played.bench->answer(request).status == 403);
  }
  play::Request in_query = Played::post("/run", story.dump());
  std::swap(in_query.token, in_query.query_token);
  CHECK(played.bench->answer(in_query).status == 403);
}

TEST_CASE("play: a page of another origin cannot make it run or write anything") {
  Played played;
  for (const char* path : {"/run", "/check", "/save", "/edit", "/step", "/history", "/witness"}) {
    for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001", ""}) {
      play::Request request = Played::post(path, json{{"text", kStory}, {"name", "x.toml"}}.dump());
      request.origins = {origin};
      CHECK(played.bench->answer(request).status == 403);
    }
    play::Request request = Played::get(path);
    const int status = played.bench->answer(request).status;
    CHECK(status == 404);
    request.method = "OPTIONS";
    CHECK(played.bench->answer(request).status == 405);
    request.method = "PUT";
    CHECK(played.bench->answer(request).status == 405);
  }
  CHECK(std::filesystem::is_empty(played.folder));
  CHECK(played.asked("/check/state", {})["phase"] == "idle");
  play::Request ours = Played::post("/save", json{{"text", kStory}, {"name", "x.toml"}}.dump());
  ours.origins = {"http://localhost:8000", "http://localhost:8000"};
  CHECK(played.bench->answer(ours).status == 403);
  ours.origins = {"http://localhost:8000"};
  CHECK(played.bench->answer(ours).status == 200);
  CHECK(file_text(played.folder / "x.toml") == kStory);
}

TEST_CASE("play: stories are saved into the folder, under plain names, and overwrite nothing unasked") {
  Played played;
  for (const std::string name : {"../x.toml", "/tmp/x.toml", ".toml", "..toml", ".x.toml", "a/b.toml", "a\\b.toml", "x",
                                 "x.toml ", "x.txt", "x\n.toml", "%2e%2e.toml", "x.toml.toml", "", "ü.toml"}) {
    INFO(name);
    CHECK(played.ask("/save", {{"text", kStory}, {"name", name}, {"overwrite", true}}).status == 400);
  }
  CHECK(played.ask("/save", {{"text", kStory}, {"name", std::string(200, 'a') + ".toml"}}).status == 400);
  CHECK(played.ask("/save", {{"text", kStory}, {"name", std::string("x\0.toml", 7)}}).status == 400);
  CHECK(std::filesystem::is_empty(played.folder));

  CHECK(played.asked("/save", {{"text", "title ="}, {"name", "broken.toml"}}).contains("problems"));
  CHECK(std::filesystem::is_empty(played.folder));

  CHECK(played.asked("/save", {{"text", kStory}, {"name", "mine.toml"}}).contains("saved"));
  const std::string other = kStory + "# changed\n";
  CHECK(played.asked("/save", {{"text", other}, {"name", "mine.toml"}})["exists"] == true);
  CHECK(file_text(played.folder / "mine.toml") == kStory);
  CHECK(played.asked("/save", {{"text", other}, {"name", "mine.toml"}, {"overwrite", true}}).contains("saved"));
  CHECK(file_text(played.folder / "mine.toml") == other);

  const std::filesystem::path outside = played.folder.string() + "-outside";
  std::ofstream(outside) << "mine";
  std::filesystem::create_symlink(outside, played.folder / "link.toml");
  const json linked = played.asked("/save", {{"text", kStory}, {"name", "link.toml"}, {"overwrite", true}});
  CHECK_FALSE(linked.contains("saved"));
  CHECK(file_text(outside) == "mine");
  std::filesystem::remove(outside);
}

TEST_CASE("play: what is wrong with a text is told with its line, and hostile texts are only text") {
  Played played;
  std::string broken = kStory;
  replace_once(broken, "ttl = ", "tll = ");
  json answer = played.asked("/run", {{"text", broken}});
  CHECK(answer["problems"][0]["line"] == 5);
  CHECK_THAT(answer["problems"][0]["message"].get<std::string>(), Catch::Contains("ttl"));
  answer = played.asked("/run", {{"text", "title = \"x\"\n[lock\n"}});
  CHECK(answer["problems"][0]["line"] == 2);

  std::string hostile = kStory;
  replace_once(hostile, "title = \"A story\"", "title = '<script>alert(1)</script></textarea>{{told}}\"'");
  answer = played.asked("/run", {{"text", hostile}});
  REQUIRE(answer.contains("body"));
  CHECK(answer["title"].get<std::string>().find('<') == std::string::npos);
  CHECK(answer["body"].get<std::string>().find("<script>alert") == std::string::npos);
  Played other;
  other.setup.text = hostile;
  other.bench.emplace(other.setup, catalogue(), [] { return 0.0; });
  const std::string page = other.bench->answer(Played::get("/")).body;
  CHECK(page.find("<script>alert") == std::string::npos);
  CHECK(page.find("&lt;/textarea&gt;{{told}}") != std::string::npos);

  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string("null"), std::string("{\"text\": 5}"), std::string("\xff\xfe"),
        std::string(200'000, '['), json{{"text", std::string((1U << 20U) + 1, '#')}}.dump()}) {
    for (const char* path : {"/run", "/edit", "/step", "/faults", "/check", "/save", "/witness", "/history"})
      CHECK(played.bench->answer(Played::post(path, body)).status >= 200);
    CHECK(played.bench->answer(Played::post("/run", body)).status == 400);
  }
  CHECK(played.bench->answer(Played::post("/run", std::string(play::kBodyBytesMax + 1, ' '))).status == 413);
}

TEST_CASE("play: a story that does not end is stopped, and says so") {
  Played played;
  std::string endless = kStory;
  replace_once(endless, "attempts = 5", "attempts = 5\nrounds = 1000000");
  const json answer = played.asked("/run", {{"text", endless}});
  REQUIRE(answer.contains("problems"));
  CHECK_THAT(answer["problems"][0]["message"].get<std::string>(), Catch::Contains("events"));
}

TEST_CASE("play: a field changes its value, and neither comments nor layout") {
  Played played;
  std::string expected = kStory;
  replace_once(expected, "ttl = \"100ms\"                # short", "ttl = \"20ms\"  # short");
  CHECK(played.edited(kStory, {{"field", "lock.ttl"}, {"value", "20ms"}}) == expected);

  expected = kStory;
  replace_once(expected, "latency = \"1ms\"", "latency = [\"1ms\", \"5ms\"]");
  CHECK(played.edited(kStory, {{"field", "network.latency"}, {"value", " 1ms..5ms "}}) == expected);

  expected = kStory;
  replace_once(expected, "latency = \"1ms\"\n", "latency = \"1ms\"\ntimeout = \"9ms\"\n");
  CHECK(played.edited(kStory, {{"field", "network.timeout"}, {"value", "9ms"}}) == expected);
  CHECK(played.edited(expected, {{"field", "network.timeout"}, {"value", ""}}) == kStory);

  expected = kStory;
  replace_once(expected, "acquire_at = \"10ms\"", "acquire_at = \"0ms\"");
  CHECK(played.edited(kStory, {{"field", "client.1.acquire_at"}, {"value", "0ms"}}) == expected);

  // Clients that are alike, each with a table of its own, are two; those of one table are one.
  std::string alike = kStory;
  replace_once(alike, "acquire_at = \"10ms\"\nhold = \"30ms\"\nattempts = 5\n", "hold = \"30ms\"\n");
  CHECK(played.edited(alike, {{"field", "client.1.hold"}, {"value", "5ms"}}) ==
        alike.substr(0, alike.rfind("hold")) + "hold = \"5ms\"\n");
  replace_once(alike, "name = \"B\"", "name = [\"B\", \"C\"]");
  CHECK(played.edited(alike, {{"field", "client.1.hold"}, {"value", "5ms"}}) ==
        alike.substr(0, alike.rfind("hold")) + "hold = \"5ms\"\n");
  CHECK(played.asked("/edit", {{"text", alike}, {"field", "client.2.hold"}, {"value", "5ms"}}).contains("problems"));

  // Where a value stands is not where lines say: then all of it is laid out anew, and says what was meant.
  std::string inline_lock = kStory;
  replace_once(inline_lock,
               "[lock]\nalgorithm = \"set-nx-px-lua\"  # the best known\nttl = \"100ms\"                # short\n",
               "lock = { algorithm = \"set-nx-px-lua\", ttl = \"100ms\" }\n");
  const json answer = played.asked("/edit", {{"text", inline_lock}, {"field", "lock.ttl"}, {"value", "20ms"}});
  CHECK(answer["rewritten"] == true);
  const auto read = scenarios::parse(answer["text"].get<std::string>(), "story.toml", catalogue());
  const auto& scenario = std::get<scenarios::Scenario>(read);
  CHECK(std::get<sim::Duration>(scenario.lock.parameters.at("ttl")) == sim::Duration::milliseconds(20));

  for (const json& bad :
       {json{{"field", "lock.ttl"}, {"value", "soon"}}, json{{"field", "lock.nothing"}, {"value", "1ms"}},
        json{{"field", "client.7.hold"}, {"value", "1ms"}},
        json{{"field", "lock.ttl"}, {"value", "1ms\"\n[evil]\nx=\""}}, json{{"field", "...."}, {"value", "1"}},
        json{{"without_fault", 0}}, json{{"algorithm", "no-such-lock"}}, json::object()}) {
    json change = bad;
    change["text"] = kStory;
    INFO(bad.dump());
    CHECK(played.asked("/edit", change).contains("problems"));
  }
}

TEST_CASE("play: another algorithm keeps the rest of the story") {
  Played played;
  std::string expected = kStory;
  replace_once(expected, "algorithm = \"set-nx-px-lua\"  # the best known\nttl = \"100ms\"                # short",
               "algorithm = \"redlock-seq\"  # the best known\nttl = \"100ms\"                # short");
  expected += "\n[servers]\ncount = 3\n";
  CHECK(played.edited(kStory, {{"algorithm", "redlock-seq"}}) == expected);
  // Whatever is chosen, what comes out can be read.
  for (const models::locks::Entry& entry : catalogue().entries()) {
    INFO(entry.id);
    const std::string text = played.edited(kStory, {{"algorithm", entry.id}});
    const auto read = scenarios::parse(text, "story.toml", catalogue());
    REQUIRE(std::holds_alternative<scenarios::Scenario>(read));
    CHECK(std::get<scenarios::Scenario>(read).lock.algorithm == entry.id);
  }
}

TEST_CASE("play: a click lets something go wrong just there") {
  Played played;
  const json before = played.asked("/run", {{"text", kStory}});
  const std::size_t row = row_with(before, "SET lock B-");
  const auto with = [&](const std::string& fault, const std::string& length) {
    return played.edited(kStory, {{"fault", fault}, {"row", row}, {"length", length}});
  };
  CHECK(with("pause-sent", "150ms") ==
        kStory + "\n[[fault]]\nkind = \"pause\"\nclient = \"B\"\nsent = \"SET\"\nlength = \"150ms\"\n");
  CHECK(with("crash-before", "1ms") == kStory + "\n[[fault]]\nkind = \"crash\"\nclient = \"B\"\nbefore = \"SET\"\n");
  CHECK(with("crash-carried-out", "1ms") ==
        kStory + "\n[[fault]]\nkind = \"crash\"\nserver = \"redis\"\nafter = \"B.SET\"\n");
  std::string lost = kStory;
  replace_once(lost, "latency = \"1ms\"\n", "latency = \"1ms\"\ntimeout = \"50ms\"\n");
  CHECK(with("lose-reply", "1ms") ==
        lost + "\n[[fault]]\nkind = \"lose\"\nclient = \"B\"\nmessage = \"SET\"\ndirection = \"reply\"\n");
  CHECK(played.edited(with("pause-sent", "150ms"), {{"without_fault", 0}}) == kStory + "\n");

  CHECK(played.asked("/edit", {{"text", kStory}, {"fault", "pause-sent"}, {"row", row}, {"length", "soon"}})
            .contains("problems"));
  CHECK(played.asked("/edit", {{"text", kStory}, {"fault", "pause-sent"}, {"row", 100'000}, {"length", "1ms"}})
            .contains("problems"));
  CHECK(played.asked("/edit", {{"text", kStory}, {"fault", "explode"}, {"row", row}, {"length", "1ms"}})
            .contains("problems"));
}

TEST_CASE("play: every fault that a row offers can be had, and strikes") {
  Played played;
  for (const std::string& text :
       {kStory, file_text(in_tree("scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml")),
        scenarios::new_story(*catalogue().find("redlock-par"), "many servers", "x.toml")}) {
    const json before = played.asked("/run", {{"text", text}});
    const std::size_t rows = json::parse(before["data"].get<std::string>())["rows"].size();
    for (std::size_t row = 0; row < rows; ++row) {
      const json faults = played.asked("/faults", {{"text", text}, {"row", row}});
      for (const json& fault : faults["faults"]) {
        const std::string changed = played.edited(text, {{"fault", fault["id"]}, {"row", row}, {"length", "7ms"}});
        const json after = played.asked("/run", {{"text", changed}});
        INFO(row << " " << fault.dump() << "\n" << changed);
        REQUIRE(after.contains("body"));
        CHECK(after["faults"] == before["faults"].get<int>() + 1);
        // A fault whose moment never comes is told as a note. The new one comes last, and may take their moment from those before it.
        const auto last = static_cast<std::ptrdiff_t>(changed.rfind("[[fault]]"));
        const auto line = 1 + std::count(changed.begin(), changed.begin() + last, '\n');
        CHECK(after["notes"].dump().find("line " + std::to_string(line) + " never struck") == std::string::npos);
        if (before["faults"] == 0) CHECK(after["notes"] == before["notes"]);
      }
    }
  }
}

TEST_CASE("play: event by event from place to place; a place of another text is gone") {
  Played played;
  const json first = played.asked("/step", {{"text", kStory}});
  INFO(first.dump());
  CHECK(first["events"] == 0);
  REQUIRE_FALSE(first["options"].empty());
  const json place = first["options"][0]["place"];
  const json second = played.asked("/step", {{"text", kStory}, {"place", place}});
  CHECK(second["events"] == 1);
  CHECK_THAT(second["text"].get<std::string>(), Catch::Contains("[schedule]"));
  CHECK(played.asked("/step", {{"text", kStory}, {"place", place}})["at"] == second["at"]);
  CHECK(played.ask("/step", {{"text", kStory + "\n"}, {"place", place}}).status == 409);
  CHECK(played.ask("/step", {{"text", kStory}, {"place", 1'000'000}}).status == 409);
  CHECK(played.asked("/step", {{"text", "title ="}}).contains("problems"));
}

TEST_CASE("play: a check runs behind the page, one at a time, and its witness is a story") {
  Played played;
  const std::string text = file_text(in_tree("scenarios/stories/redisson-source/f003-2-pause-margin.toml"));
  REQUIRE(played.asked("/check", {{"text", text}}).contains("started"));
  const auto phase = [&] { return played.asked("/check/state", {})["phase"].get<std::string>(); };
  for (int waited = 0; phase() == "running"; ++waited) {
    REQUIRE(waited < 6000);
    const timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  REQUIRE(phase() == "done");
  const json answer = played.asked("/run", {{"text", text}});
  CHECK_THAT(answer["body"].get<std::string>(), Catch::Contains("71ms"));
  REQUIRE_FALSE(answer["witnesses"].empty());
  CHECK(answer["witnesses"][0] == "mutual-exclusion");
  CHECK(answer["answer"]["look"] == "bad");
  CHECK(std::string(answer["answer"]["en"]).starts_with("✗ Breaks once"));
  const json witness = played.asked("/witness", {{"text", text}, {"property", "mutual-exclusion"}});
  const json shown = played.asked("/run", {{"text", witness["text"]}});
  CHECK_THAT(shown["body"].get<std::string>(), Catch::Contains("verdict bad"));
  // Of another text nothing is known.
  CHECK(played.asked("/run", {{"text", text + "\n"}})["witnesses"].empty());
  CHECK(played.ask("/witness", {{"text", text + "\n"}, {"property", "mutual-exclusion"}}).status == 409);
}

TEST_CASE("play: a check that takes long can be cancelled, and a second one is refused meanwhile") {
  Played played;
  std::string large = kStory;
  for (const char* name : {"C", "D", "E", "F", "G"})
    large += std::string("\n[[client]]\nname = \"") + name +
             "\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = [\"1ms\", \"30ms\"]\nattempts = 4\n";
  large += "\n[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"1s\"]\ntimes = 2\n";
  REQUIRE(played.asked("/check", {{"text", large}}).contains("started"));
  CHECK(played.ask("/check", {{"text", kStory}}).status == 409);
  played.ask("/check/cancel", {});
  for (int waited = 0; played.asked("/check/state", {})["phase"] == "running"; ++waited) {
    REQUIRE(waited < 2000);
    const timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  CHECK(played.asked("/check", {{"text", kStory}}).contains("started"));
}

TEST_CASE("play: what nobody waits for any more is stopped, at the end all of it") {
  Played played;
  std::ofstream(played.folder / "slow.lua")
      << "function acquire(c)\n  while true do for i = 1, 300000 do end c:sleep(1) end\nend\n"
         "function release(c, hold) end\n";
  played.setup.file = played.folder / "story.toml";
  const std::string story = "title = \"slow\"\n[lock]\nscript = \"slow.lua\"\n[[client]]\nname = [\"A\", \"B\"]\n";
  const auto is_stopped = [&] {
    const json answer = played.asked("/run", {{"text", story}});
    INFO(answer.dump());
    REQUIRE(answer.contains("problems"));
    return answer["problems"][0]["message"].get<std::string>().find("takes longer than 10 s") != std::string::npos;
  };
  double now = 0;
  played.bench.emplace(played.setup, catalogue(), [&] { return now += 1; });
  CHECK(is_stopped());
  CHECK(now < 20);
  played.bench.emplace(played.setup, catalogue(), [] { return 0.0; });
  played.bench->end();
  CHECK(is_stopped());
}

TEST_CASE("play: a history is judged as a page without scripts") {
  Played played;
  const std::string good = R"({"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"ok","f":"write","value":1}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":1,"type":"ok","f":"read","value":1}
)";
  std::string bad = good;
  replace_once(bad, "\"f\":\"read\",\"value\":1", "\"f\":\"read\",\"value\":2");
  CHECK(played.asked("/history", {{"text", good}, {"name", "h.jsonl"}}).contains("problem"));
  CHECK(played.asked("/history", {{"text", good}, {"name", "h.jsonl"}, {"model", "register"}})["verdict"] == "holds");
  const json judged = played.asked("/history", {{"text", bad}, {"name", "<script>.jsonl"}, {"model", "register"}});
  CHECK(judged["verdict"] == "violated");
  CHECK(judged["n"] == 2);
  play::Request page = Played::get("/history");
  page.query_number = "2";
  const play::Response shown = played.bench->answer(page);
  CHECK(shown.status == 200);
  CHECK(shown.body.find("<script") == std::string::npos);
  CHECK_THAT(shown.policy, Catch::Contains("sandbox") && Catch::Contains("default-src 'none'"));
  page.query_token = "";
  CHECK(played.bench->answer(page).status == 403);
  for (const char* number : {"0", "3", "", "x", "-1", "99999999999999999999"}) {
    page = Played::get("/history");
    page.query_number = number;
    CHECK(played.bench->answer(page).status == 404);
  }
  const json broken =
      played.asked("/history", {{"text", "{\"process\":0\n"}, {"name", "h.json"}, {"model", "register"}});
  CHECK_THAT(broken["problem"]["en"].get<std::string>(), Catch::Contains("line"));
}
