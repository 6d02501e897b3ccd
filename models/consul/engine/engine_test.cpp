// What Consul's own tests expect of its state store (agent/consul/state: kvs_test.go, session_test.go), told again with
// its figures: indices count from the first request.

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include "models/consul/engine/engine.hpp"

namespace lockstep::models::consul {
namespace {

using namespace sim::literals;

/// Indices as Consul's tests have them, where nothing was written before: 1 is the first request's.
class Store {
 public:
  bool set(const std::string& key, const std::string& value) { return engine.write({.key = key, .value = value}).ok; }
  Answer acquire(const std::string& key, SessionId session, const std::string& value = {}) {
    return engine.write({.key = key, .value = value, .how = Write::How::acquire, .session = session});
  }
  Answer release(const std::string& key, SessionId session, const std::string& value = {}) {
    return engine.write({.key = key, .value = value, .how = Write::How::release, .session = session});
  }
  bool cas(const std::string& key, const std::string& value, Index index) {
    return engine.write({.key = key, .value = value, .how = Write::How::cas, .index = index + kBefore}).ok;
  }
  bool remove_cas(const std::string& key, Index index) {
    return engine.remove({.key = key, .how = Delete::How::cas, .index = index + kBefore}).ok;
  }
  void remove_tree(const std::string& prefix) { engine.remove({.key = prefix, .how = Delete::How::recurse}); }
  /// "lock 1, create 4, modify 5, bar"
  std::string at(const std::string& key) const {
    const KeyValue* kv = engine.find(key);
    if (kv == nullptr) return "missing";
    std::string text = "lock " + std::to_string(kv->lock_index) + ", create " +
                       std::to_string(kv->create_index - kBefore) + ", modify " +
                       std::to_string(kv->modify_index - kBefore) + ", " + kv->value;
    if (kv->session != 0) text += ", session " + std::to_string(kv->session);
    return text;
  }
  Index index_of(Query::What what, const std::string& key) const {
    return engine.read({.what = what, .key = key}).index - kBefore;
  }
  Index index_below(const std::string& prefix) const { return index_of(Query::What::recurse, prefix); }
  /// Requests of others go through the log, too.
  void pass(int entries) {
    for (int i = 0; i < entries; ++i) engine.destroy_session(99);
  }

  Engine engine;
  static constexpr Index kBefore = 1;
};

}  // namespace

TEST_CASE("consul engine: a key keeps the index of its creation and its session, and a write sets neither") {
  Store store;
  CHECK(store.set("foo", "bar"));
  CHECK(store.at("foo") == "lock 0, create 1, modify 1, bar");
  store.set("foo", "baz");
  CHECK(store.at("foo") == "lock 0, create 1, modify 2, baz");
  store.pass(2);
  store.engine.create_session({.id = 7});
  CHECK(store.acquire("foo", 7, "locked").ok);
  CHECK(store.at("foo") == "lock 1, create 1, modify 6, locked, session 7");
  store.set("foo", "stoleit");
  CHECK(store.at("foo") == "lock 0, create 1, modify 7, stoleit, session 7");
  store.set("other", "yup");
  CHECK(store.index_of(Query::What::key, "foo") == 7);
  CHECK(store.index_of(Query::What::key, "nope") == 8);
}

TEST_CASE("consul engine: a write that changes nothing keeps the ModifyIndex, and wakes nobody") {
  Store store;
  store.set("foo", "bar");
  CHECK_FALSE(store.engine.ask(1, {.key = "foo", .index = 2}));
  store.set("foo", "bar");
  CHECK(store.at("foo") == "lock 0, create 1, modify 1, bar");
  CHECK(store.engine.take_replies().empty());
  store.engine.write({.key = "foo", .value = "bar", .flags = 1});
  CHECK(store.at("foo") == "lock 0, create 1, modify 3, bar");
  CHECK(store.engine.take_replies().size() == 1);
}

TEST_CASE("consul engine: to acquire") {
  Store store;
  CHECK(store.acquire("foo", 0).error == Error::missing_session);
  CHECK(store.acquire("foo", 5).error == Error::invalid_session);
  store.engine.create_session({.id = 1});
  CHECK(store.acquire("foo", 1, "foo").ok);
  CHECK(store.at("foo") == "lock 1, create 4, modify 4, foo, session 1");
  CHECK(store.acquire("foo", 1, "bar").ok);
  CHECK(store.at("foo") == "lock 1, create 4, modify 5, bar, session 1");
  CHECK(store.release("foo", 1, "baz").ok);
  CHECK(store.acquire("foo", 1, "zoo").ok);
  CHECK(store.at("foo") == "lock 2, create 4, modify 7, zoo, session 1");
  store.set("bar", "bar");
  CHECK(store.acquire("bar", 1, "xxx").ok);
  CHECK(store.at("bar") == "lock 1, create 8, modify 9, xxx, session 1");
  store.engine.create_session({.id = 2});
  const Answer refused = store.acquire("bar", 2, "nope");
  CHECK(refused.error == Error::none);
  CHECK_FALSE(refused.ok);
  CHECK(store.at("bar") == "lock 1, create 8, modify 9, xxx, session 1");
}

TEST_CASE("consul engine: to release") {
  Store store;
  CHECK(store.release("foo", 0).error == Error::missing_session);
  store.engine.create_session({.id = 1});
  CHECK_FALSE(store.release("foo", 1, "bar").ok);
  store.set("foo", "bar");
  CHECK_FALSE(store.release("foo", 1, "baz").ok);
  CHECK(store.at("foo") == "lock 0, create 4, modify 4, bar");
  store.acquire("foo", 1, "bar");
  store.engine.create_session({.id = 2});
  CHECK_FALSE(store.release("foo", 2, "zoo").ok);
  CHECK(store.at("foo") == "lock 1, create 4, modify 6, bar, session 1");
  CHECK(store.release("foo", 1, "zoo").ok);
  CHECK(store.at("foo") == "lock 1, create 4, modify 9, zoo");
  CHECK_FALSE(store.release("foo", 1, "nope").ok);
  CHECK(store.at("foo") == "lock 1, create 4, modify 9, zoo");
}

TEST_CASE("consul engine: check-and-set") {
  Store store;
  CHECK_FALSE(store.cas("foo", "foo", 1));
  CHECK(store.cas("foo", "foo", -Store::kBefore));
  CHECK(store.at("foo") == "lock 0, create 2, modify 2, foo");
  CHECK_FALSE(store.cas("foo", "foo", -Store::kBefore));
  CHECK_FALSE(store.cas("foo", "bar", 3));
  CHECK(store.cas("foo", "bar", 2));
  CHECK(store.at("foo") == "lock 0, create 2, modify 5, bar");
  store.engine.create_session({.id = 1});
  store.acquire("foo", 1, "locked");
  CHECK(store.cas("foo", "written", 7));
  CHECK(store.at("foo") == "lock 0, create 2, modify 8, written, session 1");
}

TEST_CASE("consul engine: to delete; a key that is missing is deleted whatever its index") {
  Store store;
  store.set("foo", "foo");
  store.set("bar", "bar");
  store.set("baz", "baz");
  CHECK_FALSE(store.remove_cas("bar", 1));
  CHECK(store.at("bar") == "lock 0, create 2, modify 2, bar");
  CHECK(store.remove_cas("bar", 2));
  CHECK(store.at("bar") == "missing");
  CHECK(store.index_of(Query::What::key, "bar") == 5);
  store.set("some/other/key", "baz");
  CHECK(store.index_below("bar") == 5);
  CHECK(store.remove_cas("bar", 2));
  CHECK(store.index_of(Query::What::key, "nope") == 6);
}

TEST_CASE("consul engine: keys below a prefix, and their index") {
  Store store;
  for (const char* key : {"foo", "foo/bar", "foo/bar/zip", "foo/bar/zip/zorp", "foo/bar/baz"}) store.set(key, key);
  CHECK(store.engine.read({.what = Query::What::recurse}).kvs.size() == 5);
  CHECK(store.index_below("") == 5);
  const Answer zips = store.engine.read({.what = Query::What::recurse, .key = "foo/bar/zip"});
  REQUIRE(zips.kvs.size() == 2);
  CHECK(zips.kvs[1].key == "foo/bar/zip/zorp");
  CHECK(store.index_below("foo/bar/zip") == 4);
  store.engine.remove({.key = "foo/bar/baz"});
  CHECK(store.index_below("foo/bar/baz") == 6);
  store.set("some/other/key", "");
  CHECK(store.index_below("foo/bar/baz") == 6);
  CHECK(store.index_below("") == 7);
}

TEST_CASE("consul engine: names of keys up to a separator") {
  Store store;
  for (const char* key :
       {"foo", "foo/bar", "foo/bar/baz", "foo/bar/zip", "foo/bar/zip/zam", "foo/bar/zip/zorp", "some/other/prefix"}) {
    store.set(key, key);
  }
  const Answer cut = store.engine.read({.what = Query::What::keys, .key = "foo/bar/", .separator = "/"});
  CHECK(cut.keys == std::vector<std::string>{"foo/bar/baz", "foo/bar/zip", "foo/bar/zip/"});
  CHECK(cut.index - Store::kBefore == 6);
  CHECK(store.engine.read({.what = Query::What::keys, .key = "foo"}).keys.size() == 6);
}

TEST_CASE("consul engine: deleting a tree leaves one tombstone, and none for everything") {
  Store store;
  for (const char* key : {"foo", "foo/bar", "foo/bar/zip", "foo/bar/zip/zorp", "foo/bar/zip/zap", "foo/nope"})
    store.set(key, key);
  CHECK(store.index_below("foo/bar") == 5);
  store.remove_tree("foo/bar/zip");
  CHECK(store.index_below("foo/bar") == 7);
  CHECK(store.engine.kvs().size() == 3);
  store.set("some/other/key", "");
  // Nothing was ever below this one: the index is that of all keys.
  CHECK(store.index_below("foo/bar/baz") == 8);
  store.remove_tree("bar");
  CHECK(store.index_below("") == 8);
  store.remove_tree("");
  CHECK(store.index_below("/foo/bar") == 10);
}

TEST_CASE(
    "consul engine: a query does not hear that what it asks for was deleted with a tree above it, if it has heard of a "
    "deletion before") {
  Store store;
  store.set("a/b/c", "1");
  store.engine.remove({.key = "a/b/c"});
  store.set("a/b/d", "1");
  CHECK(store.index_below("a/b") == 3);
  CHECK_FALSE(store.engine.ask(1, {.what = Query::What::recurse, .key = "a/b", .index = 3 + Store::kBefore}));
  store.remove_tree("a/");
  CHECK(store.engine.take_replies().empty());
  CHECK(store.engine.give_up(1).kvs.empty());
}

TEST_CASE("consul engine: a session that ends releases its keys or deletes them, after a lock-delay in both cases") {
  const Behavior behavior = GENERATE(Behavior::releases, Behavior::deletes);
  Store store;
  store.engine.create_session({.id = 1, .lock_delay = 50_ms, .behavior = behavior});
  store.engine.create_session({.id = 2});
  store.engine.write({.key = "/foo", .value = "test", .flags = 42, .how = Write::How::acquire, .session = 1});
  store.engine.destroy_session(1);
  CHECK(store.at("/foo") == (behavior == Behavior::releases ? "lock 1, create 3, modify 4, test" : "missing"));
  CHECK(store.index_of(Query::What::key, "/foo") == 4);
  const std::vector<Engine::LockDelay> delays = store.engine.take_lock_delays();
  REQUIRE(delays.size() == 1);
  CHECK(delays[0].key == "/foo");
  CHECK(delays[0].length == 50_ms);
  CHECK_FALSE(store.acquire("/foo", 2).ok);
  // That was refused before the log.
  CHECK(store.engine.last_index() - Store::kBefore == 4);
  CHECK(store.set("/foo", "written all the same"));
  store.engine.end_lock_delay("/foo");
  CHECK(store.acquire("/foo", 2).ok);
}

TEST_CASE(
    "consul engine: no lock-delay after a release, nor where there is to be none, and none longer than a minute") {
  Store store;
  for (SessionId id = 1; id <= 3; ++id) store.engine.create_session({.id = id, .lock_delay = 60_s * (id - 1)});
  store.acquire("a", 1);
  store.engine.destroy_session(1);
  CHECK(store.engine.take_lock_delays().empty());
  store.acquire("a", 2);
  store.release("a", 2);
  store.engine.destroy_session(2);
  CHECK(store.engine.take_lock_delays().empty());
  store.acquire("a", 3);
  store.engine.destroy_session(3);
  REQUIRE(store.engine.take_lock_delays().front().length == 60_s);
}

TEST_CASE("consul engine: a session ends with a health check that it depends on") {
  Store store;
  CHECK(store.engine.create_session({.id = 1, .checks = {"bar"}}).error == Error::missing_check);
  store.engine.update_check({"bar", CheckUpdate::Status::critical});
  CHECK(store.engine.create_session({.id = 1, .checks = {"bar"}}).error == Error::critical_check);
  store.engine.update_check({"bar"});
  CHECK(store.engine.create_session({.id = 1, .checks = {"bar"}}).ok);
  CHECK(store.engine.create_session({.id = 2}).ok);
  store.acquire("a", 1);
  const auto status = GENERATE(CheckUpdate::Status::critical, CheckUpdate::Status::deregistered);
  store.engine.update_check({"bar", status});
  CHECK(store.engine.find_session(1) == nullptr);
  CHECK(store.engine.find_session(2) != nullptr);
  CHECK(store.at("a") == "lock 1, create 7, modify 8, ");
  CHECK(store.index_of(Query::What::session_list, "") == 8);
  CHECK(store.engine.take_lock_delays().size() == 1);
}

TEST_CASE("consul engine: a blocking query waits until its key changes, and is not disturbed by others") {
  Store store;
  store.set("a", "1");
  const std::optional<Answer> first = store.engine.ask(1, {.key = "a"});
  REQUIRE(first);
  CHECK_FALSE(store.engine.ask(2, {.key = "a", .index = first->index}));
  store.set("b", "1");
  CHECK(store.engine.take_replies().empty());
  store.engine.remove({.key = "a"});
  const std::vector<Engine::Reply> replies = store.engine.take_replies();
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].answer.kvs.empty());
  // Of a key that is missing the writes of others are no news: it is asked again with their index.
  CHECK_FALSE(store.engine.ask(3, {.key = "a", .index = replies[0].answer.index}));
  store.set("b", "2");
  CHECK(store.engine.take_replies().empty());
  store.set("a", "2");
  CHECK(store.engine.take_replies().size() == 1);
}

TEST_CASE(
    "consul engine: whoever asks with an index that is still to come hears of a key that was found missing twice") {
  Store store;
  CHECK_FALSE(store.engine.ask(1, {.key = "a", .index = 1000}));
  store.set("a", "1");
  store.engine.remove({.key = "a"});
  CHECK(store.engine.take_replies().empty());
  store.set("a", "2");
  CHECK(store.engine.take_replies().size() == 1);
}

}  // namespace lockstep::models::consul
