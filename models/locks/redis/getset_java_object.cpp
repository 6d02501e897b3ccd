// The lock of the Java code as the object that it is: its fields belong to all threads of a process, and its methods
// are synchronized.
// Source: redis-lock-java, Java code of lock() and unlock(): fields lockValue and locked, both methods synchronized,
//         100ms between two rounds of a budget of 10s that counts the sleeps alone.
// Claims: mutual-exclusion with equal clocks, own-release, recoverable.
// Breaks: java-monitor-asleep (a waiter sleeps in the monitor, and the owner cannot unlock), java-value-overwritten (a
//         thread that fails has written over the value by which the owner knows its lock), java-no-owner-thread (any
//         thread may unlock).

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/locks/entries.hpp"
#include "models/locks/redis/getset_java.hpp"
#include "models/locks/redis/timestamp_release.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

/// What all threads share.
class JavaLockObject final : public ProcessObject {
 public:
  JavaLockObject() { monitor.release(); }

  Latch monitor;
  sim::Instant lock_value;
  bool locked = false;
};

class GetsetJavaObject final : public GetsetJava {
 public:
  explicit GetsetJavaObject(const Parameters& p)
      : GetsetJava(p.duration("ttl")),
        budget_(p.duration("budget")),
        sleep_(p.duration("sleep")),
        is_synchronized_(p.flag("synchronized")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    JavaLockObject& object = client.shared<JavaLockObject>(key().text());
    if (is_synchronized_) co_await object.monitor.acquire(client);
    std::optional<Hold> hold;
    for (sim::Duration left = budget_; left > sim::Duration::zero(); left = left - sleep_) {
      // 1: whoever tries writes his value into the field, whether he gets the lock or not.
      object.lock_value = client.clock().now() + expiry() + 1_ms;
      // 2: SETNX, or GET and GETSET.
      hold = co_await take(client, object.lock_value);
      if (hold) break;
      // 3: sleeps, and keeps the monitor.
      co_await client.doze(sleep_);
    }
    if (hold) object.locked = true;
    if (is_synchronized_) object.monitor.release();
    co_return hold;
  }

  sim::Task<bool> release(Client& client, Hold) const override {
    JavaLockObject& object = client.shared<JavaLockObject>(key().text());
    if (is_synchronized_) co_await object.monitor.acquire(client);
    // Whether the object is locked, and what it last stored: neither says by which thread.
    bool released = false;
    if (object.locked) released = co_await release_if_unchanged(client, key(), timestamp_hold(object.lock_value));
    if (released) object.locked = false;
    if (is_synchronized_) object.monitor.release();
    co_return released;
  }

 private:
  sim::Duration budget_;
  sim::Duration sleep_;
  bool is_synchronized_;
};

}  // namespace

Entry getset_java_object() {
  return {.id = "getset-java-object",
          .summary = "getset-java as one object of all threads of a process, with a monitor that a waiter keeps asleep",
          .documents = {"redis-lock-java"},
          .parameters = {lease_parameter("ttl", 60_s, "how long an owner lets its lock be valid, by its own clock"),
                         {"budget", 10_s, "how long an attempt sleeps altogether"},
                         {"sleep", 100_ms, "between two rounds of one attempt"},
                         {"synchronized", true, "lock and unlock exclude each other among the threads of a process"},
                         attempts_parameter(1),
                         retry_parameter({100_ms, 100_ms})},
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .repaired_by = "redisson-lock",
          .is_blind_to_names = true,
          .make = [](const Parameters& p) { return std::make_unique<GetsetJavaObject>(p); }};
}

}  // namespace lockstep::models::locks
