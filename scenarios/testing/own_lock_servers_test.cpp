// Scripts on servers of other kinds than Redis: what each call gives, what is refused, and where.

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>

#include "scenarios/exploring/exploration.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "scenarios/testing/stories_testing.hpp"

namespace lockstep::scenarios::own_lock_servers_test {
namespace {

using testing::catalogue;

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("lockstep-own-servers-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::variant<Scenario, Diagnostic> story(const std::string& script, const std::string& rest = "") const {
    std::ofstream(path_ / "mine.lua") << script;
    return parse("title = \"t\"\n" + rest +
                     "[lock]\nscript = \"mine.lua\"\n[network]\ntimeout = \"50ms\"\n[[client]]\nname = \"A\"\nhold = "
                     "\"5ms\"\n",
                 (path_ / "s.toml").string(), catalogue());
  }

 private:
  fs::path path_;
};

/// A whole script around the body of acquire. Who looks afterwards whether the lock is to be had executes nothing of it.
std::string acquiring(const std::string& kind, const std::string& body) {
  return "server = '" + kind + "'\nfunction acquire(c) if c.name ~= 'A' then return nil end\n" + body +
         "\nend\nfunction release(c, hold) return true end\n";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What a run says of the script's mistakes; "got it": it got the lock, and made none.
std::string said(const Folder& folder, const std::string& script, const std::string& rest = "") {
  auto loaded = folder.story(script, rest);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) return trouble->to_string();
  const auto result = run(std::get<Scenario>(loaded), catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) return trouble->message;
  const Outcome& outcome = std::get<Outcome>(result);
  std::string text;
  for (const std::string& mistake : outcome.script_mistakes) text += mistake + "\n";
  for (const sim::Operation& operation : outcome.history.operations) {
    if (text.empty() && operation.function == "acquire" && operation.phase == sim::Phase::ok) return "got it";
  }
  return text;
}

/// A body that ends with the lock if all of these lines hold, and else with an error that names the first that does not.
std::string holding(const std::string& before, std::initializer_list<std::string> claims) {
  std::string body = before;
  for (const std::string& claim : claims) body += "\nif not (" + claim + ") then error([[not: " + claim + "]]) end";
  return body + "\nreturn { token = 'mine' }";
}

}  // namespace

TEST_CASE("own lock: a script says on which kind of server it runs, and its story has no other") {
  const Folder folder;
  CHECK(
      contains(said(folder, acquiring("zookeper", "return nil")),
               "s.toml:3:10: script: mine.lua: server: there is no kind of server \"zookeper\" for scripts: there are "
               "\"redis\", \"zookeeper\""));
  const std::string fits = acquiring("zookeeper", "return c:token()");
  CHECK(said(folder, fits) == "got it");
  CHECK(said(folder, fits, "[[server]]\nkind = \"zookeeper\"\n") == "got it");
  const std::string other = said(folder, fits, "[[server]]\nkind = \"redis\"\n");
  INFO(other);
  CHECK(contains(other, "s.toml:3:8"));
  CHECK(contains(other, "runs on servers of kind \"zookeeper\", not on \"redis\""));
  CHECK(contains(said(folder, acquiring("redis", "return c:token()"), "[[server]]\nkind = \"zookeeper\"\n"),
                 "runs on servers of kind \"redis\", not on \"zookeeper\""));
  CHECK(contains(said(folder, fits + "subscribes = true"), "subscribes: only servers of kind \"redis\" have that"));
  CHECK(contains(said(folder, fits + "servers = 'several'"), "servers: only servers of kind \"redis\" have that"));
  CHECK(contains(said(folder, acquiring("zookeeper", "c.redis:get(c.key)")),
                 "mine.lua:3: there is no c.redis: this script runs on servers of kind \"zookeeper\", c.zookeeper"));
  CHECK(contains(said(folder, acquiring("redis", "c.zookeeper:close()")), "mine.lua:3: there is no c.zookeeper"));
  CHECK(contains(said(folder, acquiring("zookeeper", "c:ask({ 'GET', c.key })")),
                 "mine.lua:3: c:ask is for servers of kind \"redis\""));
}

TEST_CASE("own lock: what ZooKeeper answers a script") {
  const Folder folder;
  const std::string open = "local zk = c.zookeeper\nif not zk:open('10s') then error('not open') end\n";
  const auto check = [&](const std::string& before, std::initializer_list<std::string> claims) {
    CHECK(said(folder, acquiring("zookeeper", holding(open + before, claims))) == "got it");
  };
  check("local path, stat = zk:create('/a', { data = 5 })\nlocal again = zk:create('/a')",
        {"path == '/a'", "stat.version == 0", "stat.dataLength == 1", "error_of(again) == 'NodeExists'",
         "error_of(path) == nil"});
  check("local path, stat = zk:create('/deep/er/n-', { ephemeral = true, sequential = true, makepath = true })",
        {"path == '/deep/er/n-0000000000'", "stat.ephemeralOwner == zk:session()"});
  check("local path = zk:create('/deep/n-', { ephemeral = true, sequential = true, protected = true })",
        {"path:match('^/deep/_c_.*-n%-0000000000$')"});
  check("zk:create('/a', { data = 'x' })\nlocal data, stat = zk:get('/a')\nlocal none = zk:get('/b')",
        {"data == 'x'", "stat.version == 0", "error_of(none) == 'NoNode'",
         "zk:set('/a', 'y', { version = 0 }).version == 1",
         "error_of(zk:delete('/a', { version = 0 })) == 'BadVersion'", "zk:delete('/a', { version = 1 }) == true",
         "error_of(zk:delete('/a')) == 'NoNode'", "zk:exists('/a') == nil", "zk:sync('/') == true"});
  check("zk:create('/a') zk:create('/a/y') zk:create('/a/x')\nlocal names, watch = zk:children('/a', { watch = true })",
        {"names.n == 2", "names[1] == 'x'", "names[2] == 'y'", "watch:wait(10) == nil", "zk:state() == 'connected'"});
  check("local none, watch = zk:exists('/a', { watch = true })\nzk:create('/a')", {"watch:wait(10) == 'NodeCreated'"});
  check("zk:create('/a')\nlocal _, _, watch = zk:get('/a', { watch = true })\nzk:set('/a', 'x')",
        {"watch:wait({ length = 10 }) == 'NodeDataChanged'"});
  check("zk:create('/a')\nlocal _, watch = zk:exists('/a', { watch = true })\nzk:delete('/a')",
        {"watch:wait({ patience = c:patience(10) }) == 'NodeDeleted'"});
  check(
      "local old = zk:session()\nzk:close()\nlocal state = zk:state()\nzk:open('10s')",
      {"state == 'closed'", "old ~= zk:session()", "error_of(zk:create('/a', { session = old })) == 'SessionExpired'"});
}

TEST_CASE("own lock: what a script asks of ZooKeeper in the wrong way is told with its line") {
  const Folder folder;
  const auto check = [&](const std::string& body, std::string_view expected) {
    const std::string text = said(folder, acquiring("zookeeper", body));
    INFO(body << "\n" << text);
    CHECK(contains(text, expected));
    CHECK(contains(text, "(uncaught: acquire ended there)"));
  };
  check("c.zookeeper:create('/a')", "mine.lua:3: there is no session: c.zookeeper:open(timeout) comes first");
  check("c.zookeeper:open()", "mine.lua:3: the session's timeout is nil; expected milliseconds");
  check("c.zookeeper:open(0)", "a session's timeout is to be 1ms or more");
  check("c.zookeeper.open('1s')", "expected an object in front of a colon, as in c.zookeeper:open(");
  const std::string open = "c.zookeeper:open('1s')\n";
  check(open + "c.zookeeper:create('a')", "mine.lua:4: the path is \"a\"; one begins with /");
  check(open + "c.zookeeper:create('/a/')", "the path is \"/a/\"");
  check(open + "c.zookeeper:create('/a', { ephemral = true })", "create has the options ephemeral, sequential, ");
  check(open + "c.zookeeper:create('/a', { ephemeral = 1 })", "ephemeral of create: expected true or false");
  check(open + "c.zookeeper:create('/a', 'x')", "argument 2 of create is a string; expected a table of options");
  check(open + "c.zookeeper:create('/a', { data = c:now() })", "data is a time, which `check` gives no digits");
  check(open + "c.zookeeper:delete('/a', { version = 1.5 })", "version is number; expected a whole number");
  check(open + "c.zookeeper:gett('/a')", "attempt to call method 'gett' (a nil value)");
  check(open + "local names, watch = c.zookeeper:children('/', { watch = true }) watch.wait(5)",
        "expected an object in front of a colon, as in watch:wait(");
  check(open + "local names, watch = c.zookeeper:children('/', { watch = true }) watch:wait({ lenght = 5 })",
        "wait has the options length, patience");
}

TEST_CASE("own lock: what etcd answers a script") {
  const Folder folder;
  const auto check = [&](const std::string& before, std::initializer_list<std::string> claims) {
    CHECK(said(folder, acquiring("etcd", holding("local etcd = c.etcd\n" + before, claims))) == "got it");
  };
  check("local put = etcd:put('k', 5)\nlocal reply = etcd:range('k')",
        {"reply.kvs.n == 1", "reply.count == 1", "reply.kvs[1].key == 'k'", "reply.kvs[1].value == '5'",
         "reply.kvs[1].version == 1", "reply.kvs[1].create_revision == put.revision", "etcd:delete('k').deleted == 1",
         "etcd:range('k').kvs.n == 0"});
  check(
      "etcd:put('q/a', 1) etcd:put('q/b', 2)\nlocal last = etcd:range('q/', { prefix = true, limit = 1, sort_by = "
      "'create_revision', order = 'descend' })",
      {"last.kvs.n == 1", "last.kvs[1].key == 'q/b'", "last.more == true",
       "etcd:delete('q/', { prefix = true }).deleted == 2"});
  check(
      "local function take() return etcd:txn({ compare = { { 'create_revision', 'k', '=', 0 } }, success = { { "
      "'put', 'k', 'x' } }, failure = { { 'range', 'k' } } }) end\nlocal one, two = take(), take()",
      {"one.succeeded == true", "two.succeeded == false", "two.responses[1].kvs[1].value == 'x'",
       "two.revision == one.revision"});
  check("local lease = etcd:lease_grant('2s')\netcd:put('k', '', { lease = lease })",
        {"etcd:lease_keep_alive(lease) == true", "etcd:range('k').kvs[1].lease == lease",
         "etcd:lease_revoke(lease) == true", "etcd:range('k').kvs.n == 0", "etcd:lease_keep_alive(lease) == false",
         "error_of(etcd:put('k', '', { lease = lease })) == 'etcdserver: requested lease not found'"});
  check("local put = etcd:put('k', 1)\netcd:delete('k')\nlocal events = etcd:watch('k', { revision = put.revision })",
        {"events[1].type == 'PUT'", "events[1].kv.value == '1'",
         "etcd:watch('k', { revision = put.revision + 5, length = "
         "20 }) == nil"});
  // A session's lease lives on while nobody asks for it; one that nobody keeps alive does not.
  check("local kept, left = etcd:session('3s'), etcd:lease_grant('3s')\nc:sleep('9s')",
        {"etcd:lease_keep_alive(kept) == true", "etcd:lease_keep_alive(left) == false"});
  check("local lease = etcd:session('3s')\netcd:close(lease)\nc:sleep(20)", {"etcd:lease_keep_alive(lease) == false"});
}

TEST_CASE("own lock: what Consul answers a script") {
  const Folder folder;
  const auto check = [&](const std::string& before, std::initializer_list<std::string> claims) {
    CHECK(said(folder, acquiring("consul", holding("local consul = c.consul\n" + before, claims))) == "got it");
  };
  check("local put = consul:put('k', 5, { flags = '3304740253564472344' })\nlocal kv, index = consul:get('k')",
        {"put == true", "kv.value == '5'", "kv.flags == '3304740253564472344'", "kv.session == nil",
         "index == kv.modify_index", "consul:put('k', 6, { cas = 0 }) == false",
         "consul:put('k', 6, { cas = kv.modify_index }) == true", "consul:get('k').value == '6'",
         "consul:delete('k') == true", "consul:get('k') == nil"});
  check("local mine, other = consul:session({ ttl = '10s' }), consul:session_create({ ttl = '10s' })",
        {"consul:put('k', '', { acquire = mine }) == true", "consul:put('k', '', { acquire = other }) == false",
         "consul:get('k').session == mine", "consul:get('k').lock_index == 1",
         "consul:put('k', '', { release = mine }) == true", "consul:session_destroy(other) == true",
         "error_of(consul:put('k', '', { acquire = other }))"});
  check(
      "local before = c:monotonic() consul:put('k', 1)\nlocal kv, index = consul:get('k')\nlocal same, at = "
      "consul:get('k', { index = index, wait = "
      "'1s' })",
      {"c:monotonic() < before + 2000", "same.value == '1'", "at == index",
       "consul:get('k', { consistency = 'stale' }).value == '1'"});
  // One that is renewed lives on beyond twice its TTL.
  check("local kept, left = consul:session({ ttl = '10s' }), consul:session_create({ ttl = '10s' })\nc:sleep('50s')",
        {"consul:session_renew(kept) == true", "error_of(consul:session_renew(left))"});
  check("local session = consul:session({ ttl = '10s' })\nconsul:close(session)\nc:sleep(20)",
        {"error_of(consul:session_renew(session))"});
  check("", {"error_of(consul:get('k', { dc = 'dc7' })) == 'No path to datacenter'"});
}

TEST_CASE("own lock: what SQL answers a script") {
  const Folder folder;
  const auto check = [&](const std::string& before, std::initializer_list<std::string> claims) {
    CHECK(said(folder, acquiring("sql", holding("local sql = c.sql\n" + before, claims)) + "background = true") ==
          "got it");
  };
  check(
      "local one = sql:insert('owners', { 'x', 'A' })\nlocal two, code = sql:insert('owners', { 'x', 'B' })\nlocal "
      "where = { { 'name', '=', 'x' } }\nlocal found = sql:select('owners', where)",
      {"one.affected == 1", "error_of(two) == 'duplicate key value violates unique constraint'", "code == '23505'",
       "found.rows.n == 1", "found.rows[1][1] == 'x'", "found.rows[1][2] == 'A'",
       "sql:update('owners', { { 'owner', 'C' } }, where).affected == 1",
       "sql:select('owners', where).rows[1][2] == 'C'", "sql:delete('owners', where).affected == 1",
       "sql:select('owners', where).affected == 0"});
  check(
      "sql:begin({ isolation = 'repeatable-read' })\nlocal locked = sql:select('locks', { { 'name', '=', c.key } }, { "
      "lock = 'for update nowait' })",
      {"locked.affected == 1", "sql:insert('owners', { 'x', 'A' }).affected == 1", "error_of(sql:rollback()) == nil",
       "sql:select('owners', { { 'name', '=', 'x' } }).affected == 0"});
  check(
      "local ends = c:now() + 50\nlocal over = { { 'name', '=', 'x' }, { 'lock_until', '<=', { now = 0 } } }\n"
      "sql:insert('shedlock', { 'x', ends, { now = 0 }, 'A' })",
      {"sql:delete('shedlock', over).affected == 0", "c:sleep(60) == nil",
       "sql:delete('shedlock', over).affected == 1"});
  check("",
        {"sql:try_advisory_lock(7).affected == 1", "sql:advisory_unlock(7).affected == 1", "sql:now() <= sql:now()"});
  // What another session has locked.
  check(
      "c:spawn(function(b) b.sql:begin() b.sql:select('locks', { { 'name', '=', c.key } }, { lock = 'for update' }) "
      "b:sleep(40) b.sql:rollback() end)\nc:sleep(10)\nlocal function take(lock) return sql:select('locks', { { "
      "'name', "
      "'=', c.key } }, { lock = lock }) end\nlocal reply, code = take('for update nowait')",
      {"error_of(reply) == 'could not obtain lock'", "code == '55P03'", "take('for update skip locked').affected == 0",
       "take('for update').affected == 1"});
}

TEST_CASE("own lock: what a script asks of etcd, Consul and SQL in the wrong way is told with its line") {
  const Folder folder;
  const auto check = [&](const std::string& kind, const std::string& body, std::string_view expected) {
    const std::string text = said(folder, acquiring(kind, body));
    INFO(body << "\n" << text);
    CHECK(contains(text, "mine.lua:3: " + std::string(expected)));
  };
  check("etcd", "c.etcd:range()", "the key is nil; expected a text or a number");
  check("etcd", "c.etcd:range('', { prefix = true })", "a prefix is not empty");
  check("etcd", "c.etcd:range('k', { sort_by = 'age' })", "sort_by is \"age\"; expected one of key, version");
  check("etcd", "c.etcd:put('k', 'v', { leese = 1 })", "put has the options lease");
  check("etcd", "c.etcd:session(0)", "a lease's time to live is to be 1ms or more");
  check("etcd", "c.etcd:txn({ compares = {} })", "txn has compare, success and failure");
  check("etcd", "c.etcd:txn({ success = { { 'get', 'k' } } })", "an operation of txn is \"get\"; expected one of put");
  check("etcd", "c.etcd:txn({ compare = { { 'version', 'k', '==', 0 } } })",
        "the comparison is \"==\"; expected one of =");
  check("consul", "c.consul:session({})", "a session that is renewed needs a ttl");
  check("consul", "c.consul:put('k', '', { acquire = 1, cas = 0 })", "put has one of cas, acquire and release");
  check("consul", "c.consul:put('k', '', { flags = -1 })", "flags of put is \"-1\"");
  check("consul", "c.consul:get('k', { consistency = 'strong' })",
        "consistency is \"strong\"; expected one of default");
  check("sql", "c.sql:select('locks', { name = c.key })", "expected a list such as { { \"name\", \"=\", c.key } }");
  check("sql", "c.sql:select('locks', { { 'name', '<', 1 } })", "a comparison is \"<\"; expected one of =, <=, >");
  check("sql", "c.sql:select('locks', {}, { lock = 'exclusive' })",
        "lock is \"exclusive\"; expected one of for update");
  check("sql", "c.sql:select('lock', {})", "there is no table \"lock\"; expected one of locks, owners");
  check("sql", "c.sql:select('locks', { { 'nam', '=', 1 } })",
        "the table locks has no column \"nam\"; expected one of name");
  check("sql", "c.sql:insert('owners', { 'x' })", "a row of owners has the columns name, owner");
  check("sql", "c.sql:insert('versions', { 'x', 'y' })", "the column version holds whole numbers");
  check("sql", "c.sql:insert('versions', { 'x', { column = 'version' } })",
        "a row that is inserted has no columns yet");
  check("sql", "c.sql:insert('owners', { 'x', c:now() })", "a time is for the columns lock_until and locked_at");
  check("sql", "c.sql:insert('shedlock', { 'x', 1, c:now(), 'y' })", "the columns lock_until and locked_at hold times");
  check("sql", "c.sql:delete('owners', {})", "what locks rows says which one");
  check("sql", "c.sql:update('owners', { { 'name', 'y' } }, { { 'name', '=', 'x' } })",
        "the primary key of a row does not change");
  check("sql", "c.sql:update('owners', { { 'owner', { column = 'name' } } }, { { 'name', '=', 'x' } })",
        "{ column = … } is for the column version");
  check("sql", "c.sql:begin({ isolation = 'serial' })", "isolation is \"serial\"; expected one of standard");
  check("sql", "c.sql:insert('owners', { 'x', { plus = 1 } })", "a term is a value, { column = ");
}

TEST_CASE("own lock: an answer that never comes is unknown, of every kind") {
  const Folder folder;
  const auto check = [&](const std::string& kind, const std::string& message, const std::string& body) {
    const std::string loses =
        "[[fault]]\nkind = \"lose\"\nclient = \"A\"\nmessage = \"" + message + "\"\ndirection = \"reply\"\n";
    CHECK(said(folder, acquiring(kind, holding(body, {"reply == unknown", "error_of(reply) == nil"})), loses) ==
          "got it");
  };
  check("zookeeper", "CREATE", "c.zookeeper:open('10s')\nlocal reply = c.zookeeper:create('/a')");
  check("etcd", "PUT", "local reply = c.etcd:put('k', 'v')");
  check("consul", "PUT", "local reply = c.consul:put('k', 'v')");
  check("sql", "INSERT", "local reply = c.sql:insert('owners', { 'x', 'A' })");
}

}  // namespace lockstep::scenarios::own_lock_servers_test
