// Consul's lock: a key that a session acquires. Whoever finds it acquired asks by blocking queries until it is not; the
// holder watches it in the same way.
// Source: Consul 1.18, api/lock.go.
// Claims: mutual-exclusion as long as the session lives, and for the lock-delay after it; own-release, recoverable.
// Breaks: consul-session-pause (a pause that outlasts twice the TTL), consul-pause-outlasts-lock-delay,
//         consul-two-datacentres (each datacentre has a key of its own), and consul-stale-read (reads = "stale").

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/locks/consul/session.hpp"
#include "models/locks/entries.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

/// LockFlagValue: marks a key as a lock's.
constexpr std::uint64_t kLockFlag = 0x2ddccbc058a50c18;

constexpr std::array<std::string_view, 3> kReads{"default", "consistent", "stale"};

consul::Consistency consistency_of(const std::string& reads) {
  return static_cast<consul::Consistency>(std::find(kReads.begin(), kReads.end(), reads) - kReads.begin());
}

class ConsulLock final : public LockAlgorithm {
 public:
  explicit ConsulLock(const Parameters& p)
      : datacentre_(p.choice("datacentre")),
        waits_(consul_waits_of(p)),
        reads_sequencer_(p.flag("sequencer")),
        asks_why_(p.flag("asks_why")),
        unlocks_when_lost_(p.flag("unlocks_when_lost")),
        ends_with_renewal_(p.flag("ends_with_renewal")),
        survives_errors_(p.flag("survives_errors")),
        keeps_session_(p.flag("keeps_session")),
        reads_(consistency_of(p.choice("reads"))),
        monitor_retries_(p.number("monitor_retries")),
        monitor_retry_time_(p.duration("monitor_retry_time")),
        session_{.ttl = p.duration("ttl"), .lock_delay = p.duration("lock_delay")} {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, waits_.whole);
    co_return co_await take(client, &patience);
  }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, nullptr); }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 6: release the key. Unlock does not look at what it is told.
    const consul::SessionId id = hold.token.integer().value_or(0);
    auto& sessions = client.shared<ConsulSessions>("");
    if (const std::shared_ptr<ConsulSession> session = sessions.find(id)) {
      session->is_given_back = true;
      session->acquire = 0;
    }
    const std::optional<consul::Told> released =
        co_await client.to<consul::Endpoint>().write(datacentre_, lock_write(consul::Write::How::release, id));
    // 7: end the session.
    if (!keeps_session_) sessions.close(id);
    co_return released && released->answer.error == consul::Error::none;
  }

 private:
  consul::Write lock_write(consul::Write::How how, consul::SessionId session) const {
    return {.key = key().text(), .flags = kLockFlag, .how = how, .session = session};
  }

  /// `patience`: null if it waits for nobody.
  sim::Task<std::optional<Hold>> take(Client& client, Patience* patience) const {
    // 1: a session.
    auto& sessions = client.shared<ConsulSessions>("");
    const std::shared_ptr<ConsulSession> session = keeps_session_
                                                       ? co_await sessions.keep(client, datacentre_, session_)
                                                       : co_await sessions.open(client, datacentre_, session_);
    if (!session) co_return std::nullopt;
    session->is_given_back = false;
    session->ends_with_renewal = ends_with_renewal_;
    session->survives_errors = survives_errors_;
    Hold hold{session->id};
    bool is_held = co_await get_key(client, *session, patience);
    if (is_held && reads_sequencer_) {
      hold.fencing_token = co_await read_sequencer(client, *session);
      is_held = hold.fencing_token.has_value();
    }
    if (!is_held) {
      if (!keeps_session_) sessions.close(session->id);
      co_return std::nullopt;
    }
    // 5: watch the key from now on. Who asks only whether the lock is free leaves it to its session.
    session->acquire = client.session().operation;
    if (patience != nullptr) client.run_in_background(monitor(client.background(), session));
    co_return hold;
  }

  sim::Task<bool> get_key(Client& client, const ConsulSession& session, Patience* patience) const {
    auto& server = client.to<consul::Endpoint>();
    consul::Index index = 0;
    for (bool is_first = true; is_first || (patience != nullptr && !patience->is_over()); is_first = false) {
      // 2: wait until nobody has it.
      const consul::Query look{.key = key().text(), .index = index, .wait = waits_.of_query(), .consistency = reads_};
      std::optional<consul::Told> told;
      std::size_t failures = 0;
      do {
        told = co_await server.query(datacentre_, look, waits_.is_endless());
      } while (server.asks_again(told, failures));
      if (!told || told->answer.error != consul::Error::none) co_return false;
      if (is_foreign(told->answer)) co_return false;
      const consul::SessionId holder = session_of(told->answer);
      if (holder == session.id) co_return true;
      if (holder != 0) {
        index = told->answer.index;
        continue;
      }

      // 3: acquire the key.
      told = co_await server.write(datacentre_, lock_write(consul::Write::How::acquire, session.id));
      if (!told || told->answer.error != consul::Error::none) co_return false;
      if (told->answer.ok) co_return true;

      // 4: somebody was faster; or nobody has it, and a lock-delay is in force. (Until #1008 nobody asked.)
      index = 0;
      if (asks_why_) {
        const consul::Query why{.key = key().text(), .consistency = reads_};
        failures = 0;
        do {
          told = co_await server.query(datacentre_, why);
        } while (server.asks_again(told, failures));
        if (!told || told->answer.error != consul::Error::none) co_return false;
        if (session_of(told->answer) != 0) index = told->answer.index;
      }
      if (index != 0 || patience == nullptr) continue;
      Latch nobody;
      co_await nobody.acquire(client, {.timeout = waits_.retry, .patience = patience});
    }
    co_return false;
  }

  static bool is_foreign(const consul::Answer& answer) {
    return !answer.kvs.empty() && answer.kvs.front().flags != kLockFlag;
  }
  static consul::SessionId session_of(const consul::Answer& answer) {
    return answer.kvs.empty() ? 0 : answer.kvs.front().session;
  }

  /// How often the key was acquired so far. Nothing: the session has it no longer.
  sim::Task<std::optional<std::int64_t>> read_sequencer(Client& client, const ConsulSession& session) const {
    const std::optional<consul::Told> told = co_await client.to<consul::Endpoint>().query(
        datacentre_, {.key = key().text(), .consistency = consul::Consistency::consistent});
    if (!told || session_of(told->answer) != session.id) co_return std::nullopt;
    co_return told->answer.kvs.front().lock_index;
  }

  /// monitorLock. Whoever hears that the lock is lost, or hears nothing, calls Unlock, as `consul lock` does: else the
  /// session would be renewed for ever (#4935).
  sim::Task<void> monitor(Client& background, std::shared_ptr<ConsulSession> session) const {
    auto& server = background.to<consul::Endpoint>();
    const sim::OperationId hold = session->acquire;
    std::int64_t retries = monitor_retries_;
    for (consul::Index index = 0; true;) {
      const consul::Query watch{.key = key().text(), .index = index, .consistency = consul::Consistency::consistent};
      std::optional<consul::Told> told;
      std::size_t failures = 0;
      do {
        told = co_await server.query(datacentre_, watch, true);
      } while (server.asks_again(told, failures));
      if (session->is_given_back || session->acquire != hold) co_return;
      const bool is_answered = told && told->answer.error == consul::Error::none;
      if (!is_answered && retries > 0) {
        --retries;
        index = 0;
        co_await background.tick(monitor_retry_time_);
        continue;
      }
      if (!is_answered || session_of(told->answer) != session->id) break;
      retries = monitor_retries_;
      index = told->answer.index;
    }
    session->lose(background);
    if (!unlocks_when_lost_) co_return;
    static_cast<void>(co_await server.write(datacentre_, lock_write(consul::Write::How::release, session->id)));
    background.shared<ConsulSessions>("").close(session->id);
  }

  std::string datacentre_;
  ConsulWaits waits_;
  bool reads_sequencer_;
  bool asks_why_;
  bool unlocks_when_lost_;
  bool ends_with_renewal_;
  bool survives_errors_;
  bool keeps_session_;
  consul::Consistency reads_;
  std::int64_t monitor_retries_;
  sim::Duration monitor_retry_time_;
  consul::Session session_;
};

}  // namespace

Entry consul_lock() {
  std::vector<ParameterSpec> parameters = consul_parameters();
  parameters.insert(parameters.begin() + 1, {"lock_delay",
                                             15_s,
                                             "after its session has ended nobody gets the lock for so long",
                                             {},
                                             0,
                                             ParameterRole::lock_delay});
  parameters.push_back({"sequencer", false, "reads the LockIndex of the key after it has the lock: a fencing token"});
  parameters.push_back({"asks_why", true, "after a refusal it looks whether somebody has the lock (since #1008)"});
  parameters.push_back({"unlocks_when_lost", true, "ends its session when it hears that the lock is lost, or nothing"});
  parameters.push_back({"survives_errors", true, "a renewal without an answer is tried again (since #912)"});
  parameters.push_back(
      {"ends_with_renewal", false, "a session that could not be renewed for its TTL counts as lost (not in Consul)"});
  parameters.push_back(
      {"reads", std::string(kReads.front()), "how it looks who has the lock, before it has it", kReads});
  parameters.push_back({"keeps_session", false, "one session for all attempts of a process (LockOptions.Session)"});
  parameters.push_back(
      {"monitor_retries", std::int64_t{0}, "errors that its watch survives, one after the other; consul lock: 3"});
  parameters.push_back({"monitor_retry_time", 2_s, "pause of its watch after an error; consul lock: 1s"});
  return {.id = "consul-lock",
          .summary = "Consul's lock: a key that a session acquires, watched by whoever waits and by the holder",
          .documents = {"lock-summary"},
          .parameters = std::move(parameters),
          .claims = {"mutual-exclusion", "own-release", "recoverable"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &consul_kind(),
          .make = [](const Parameters& p) { return std::make_unique<ConsulLock>(p); }};
}

}  // namespace lockstep::models::locks
