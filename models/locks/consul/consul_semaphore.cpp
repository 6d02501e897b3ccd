// Consul's semaphore: each contender acquires a key of its own below a prefix, and one more key, written by
// check-and-set, tells which of their sessions hold a place. Whose own key is gone is left out by the next who comes.
// Source: Consul 1.18, api/semaphore.go.
// Claims: capacity as long as the sessions live, recoverable.
// Breaks: consul-semaphore-pause (a pause that outlasts twice the TTL: there is no lock-delay for places).

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/client/latch.hpp"
#include "models/consul/client/consul_endpoint.hpp"
#include "models/locks/consul/session.hpp"
#include "models/locks/entries.hpp"
#include "models/servers/kinds.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

/// SemaphoreFlagValue: marks a key as a semaphore's.
constexpr std::uint64_t kSemaphoreFlag = 0xe0f69a2baa414de0;

/// What the key ".lock" holds, as JSON with its keys in order, as Go writes it.
struct Slots {
  std::int64_t limit = 0;
  std::set<std::string> holders = {};  ///< sessions
};

std::string to_json(const Slots& slots) {
  std::string text = fmt::format("{{\"Limit\":{},\"Holders\":{{", slots.limit);
  for (const std::string& holder : slots.holders)
    text += fmt::format("{}\"{}\":true", text.back() == '{' ? "" : ",", holder);
  return text + "}}";
}

/// Reads what `to_json` writes: nobody else writes the key.
Slots from_json(const std::string& text) {
  Slots slots;
  constexpr std::string_view kLimit = "{\"Limit\":";
  std::from_chars(text.data() + kLimit.size(), text.data() + text.size(), slots.limit);
  constexpr std::string_view kHolders = "\"Holders\":{";
  std::size_t at = text.find(kHolders) + kHolders.size();
  while ((at = text.find('"', at)) != std::string::npos) {
    const std::size_t end = text.find('"', at + 1);
    slots.holders.insert(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return slots;
}

class ConsulSemaphore final : public LockAlgorithm {
 public:
  explicit ConsulSemaphore(const Parameters& p)
      : datacentre_(p.choice("datacentre")),
        waits_(consul_waits_of(p)),
        limit_(p.number("own_limit") == 0 ? p.number("limit") : p.number("own_limit")),
        session_{.ttl = p.duration("ttl"), .behavior = consul::Behavior::deletes} {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    Patience patience(client, waits_.whole);
    co_return co_await take(client, &patience);
  }
  sim::Task<std::optional<Hold>> try_acquire(Client& client) const override { return take(client, nullptr); }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    const consul::SessionId id = hold.token.integer().value_or(0);
    auto& sessions = client.shared<ConsulSessions>("");
    if (const std::shared_ptr<ConsulSession> session = sessions.find(id)) session->is_given_back = true;
    const bool is_done = co_await leave(client, id);
    sessions.close(id);
    co_return is_done;
  }

 private:
  std::string lock_key() const { return key().text() + "/.lock"; }
  std::string own_key(consul::SessionId session) const { return fmt::format("{}/{}", key().text(), session); }

  /// `patience`: null if it waits for nobody.
  sim::Task<std::optional<Hold>> take(Client& client, Patience* patience) const {
    // 1: a session, whose keys are deleted with it.
    auto& sessions = client.shared<ConsulSessions>("");
    const std::shared_ptr<ConsulSession> session = co_await sessions.open(client, datacentre_, session_);
    if (!session) co_return std::nullopt;
    if (!co_await get_slot(client, *session, patience)) {
      sessions.close(session->id);
      co_return std::nullopt;
    }
    // 6: watch the place from now on. Who asks only whether one is free leaves it to its session.
    session->acquire = client.session().operation;
    if (patience != nullptr) client.run_in_background(monitor(client.background(), session));
    co_return Hold{session->id};
  }

  sim::Task<bool> get_slot(Client& client, const ConsulSession& session, Patience* patience) const {
    auto& server = client.to<consul::Endpoint>();
    // 2: the contender's own key.
    std::optional<consul::Told> told = co_await server.write(datacentre_, {.key = own_key(session.id),
                                                                           .flags = kSemaphoreFlag,
                                                                           .how = consul::Write::How::acquire,
                                                                           .session = session.id});
    if (!told || !told->answer.ok) co_return false;

    consul::Index index = 0;
    for (bool is_first = true; is_first || (patience != nullptr && !patience->is_over()); is_first = false) {
      // 3: who is there, and who holds a place?
      const consul::Query look{
          .what = consul::Query::What::recurse, .key = key().text(), .index = index, .wait = waits_.of_query()};
      std::size_t failures = 0;
      do {
        told = co_await server.query(datacentre_, look, waits_.is_endless());
      } while (server.asks_again(told, failures));
      if (!told || told->answer.error != consul::Error::none) co_return false;
      const consul::KeyValue* lock = lock_of(told->answer);
      if (lock != nullptr && lock->flags != kSemaphoreFlag) co_return false;
      Slots slots = slots_of(lock);
      // All must agree on the limit.
      if (slots.limit != limit_) co_return false;
      prune_dead_holders(slots, told->answer);

      // 4: wait until a place is free.
      if (static_cast<std::int64_t>(slots.holders.size()) >= slots.limit) {
        index = told->answer.index;
        continue;
      }

      // 5: take it, unless somebody has written meanwhile.
      slots.holders.insert(std::to_string(session.id));
      told = co_await swap(client, slots, lock == nullptr ? 0 : lock->modify_index);
      if (!told || told->answer.error != consul::Error::none) co_return false;
      if (told->answer.ok) co_return true;
    }
    co_return false;
  }

  const consul::KeyValue* lock_of(const consul::Answer& answer) const {
    const auto found = std::find_if(answer.kvs.begin(), answer.kvs.end(),
                                    [&](const consul::KeyValue& kv) { return kv.key == lock_key(); });
    return found == answer.kvs.end() ? nullptr : &*found;
  }
  Slots slots_of(const consul::KeyValue* lock) const {
    return lock == nullptr || lock->value.empty() ? Slots{limit_} : from_json(lock->value);
  }
  static void prune_dead_holders(Slots& slots, const consul::Answer& answer) {
    std::erase_if(slots.holders, [&](const std::string& holder) {
      return std::none_of(answer.kvs.begin(), answer.kvs.end(), [&](const consul::KeyValue& kv) {
        return kv.session != 0 && std::to_string(kv.session) == holder;
      });
    });
  }
  consul::RequestCall swap(Client& client, const Slots& slots, consul::Index index) const {
    return client.to<consul::Endpoint>().write(datacentre_, {.key = lock_key(),
                                                             .value = to_json(slots),
                                                             .flags = kSemaphoreFlag,
                                                             .how = consul::Write::How::cas,
                                                             .index = index});
  }

  /// Release. Whoever is not among the holders any more is done, too.
  sim::Task<bool> leave(Client& client, consul::SessionId id) const {
    auto& server = client.to<consul::Endpoint>();
    while (true) {
      // 7: take the own session out.
      std::optional<consul::Told> told;
      std::size_t failures = 0;
      do {
        told = co_await server.query(datacentre_, {.key = lock_key()});
      } while (server.asks_again(told, failures));
      if (!told || told->answer.error != consul::Error::none) co_return false;
      const consul::KeyValue* lock = told->answer.kvs.empty() ? nullptr : &told->answer.kvs.front();
      Slots slots = slots_of(lock);
      if (slots.holders.erase(std::to_string(id)) == 0) break;
      told = co_await swap(client, slots, lock->modify_index);
      if (!told || told->answer.error != consul::Error::none) co_return false;
      if (told->answer.ok) break;
    }
    // 8: delete the own key.
    const std::optional<consul::Told> deleted = co_await server.remove(datacentre_, {.key = own_key(id)});
    co_return deleted && deleted->answer.error == consul::Error::none;
  }

  /// monitorLock. Whoever hears that the place is lost, or hears nothing, calls Release, as `consul lock` does.
  sim::Task<void> monitor(Client& background, std::shared_ptr<ConsulSession> session) const {
    auto& server = background.to<consul::Endpoint>();
    for (consul::Index index = 0; true;) {
      const consul::Query watch{.what = consul::Query::What::recurse,
                                .key = key().text(),
                                .index = index,
                                .consistency = consul::Consistency::consistent};
      std::optional<consul::Told> told;
      std::size_t failures = 0;
      do {
        told = co_await server.query(datacentre_, watch, true);
      } while (server.asks_again(told, failures));
      if (session->is_given_back) co_return;
      if (!told || told->answer.error != consul::Error::none) break;
      Slots slots = slots_of(lock_of(told->answer));
      prune_dead_holders(slots, told->answer);
      if (!slots.holders.contains(std::to_string(session->id))) break;
      index = told->answer.index;
    }
    session->lose(background);
    static_cast<void>(co_await leave(background, session->id));
    background.shared<ConsulSessions>("").close(session->id);
  }

  std::string datacentre_;
  ConsulWaits waits_;
  std::int64_t limit_;
  consul::Session session_;
};

}  // namespace

Entry consul_semaphore() {
  std::vector<ParameterSpec> parameters = consul_parameters();
  parameters.push_back(places_parameter("limit", 1, "how many may hold it at once"));
  parameters.push_back({"own_limit", std::int64_t{0}, "the limit that a client takes for agreed; 0: the limit"});
  return {.id = "consul-semaphore",
          .summary = "Consul's semaphore: a key for each contender's session, and one that tells who holds a place",
          .documents = {},
          .parameters = std::move(parameters),
          .claims = {"capacity", "recoverable"},
          .has_background = true,
          .is_blind_to_names = true,
          .server_kind = &consul_kind(),
          .make = [](const Parameters& p) { return std::make_unique<ConsulSemaphore>(p); }};
}

}  // namespace lockstep::models::locks
