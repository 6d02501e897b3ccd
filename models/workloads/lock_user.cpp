#include "models/workloads/lock_user.hpp"

#include <utility>
#include <vector>

#include "models/client/client.hpp"
#include "models/resources/resource.hpp"

namespace lockstep::models::workloads {
namespace {

/// A hold, and the operation that got it.
struct Grant {
  locks::Hold hold;
  sim::OperationId acquire = 0;
  std::vector<locks::Hold> inner = {};  ///< that a finally block is to give back
};

sim::OperationId invoke(Client& client, std::string_view function, std::string_view object, sim::OperationId of) {
  const sim::OperationId id = client.world().invoke(client.self(), function, object);
  client.world().operation(id).of = of;
  client.session().operation = id;
  client.session().missed_reply = false;
  return id;
}

sim::Task<std::optional<Grant>> attempt(Client& client, const UsedLock& lock) {
  co_await client.step("acquire", sim::Moment::before);
  const sim::OperationId id = invoke(client, "acquire", lock.name, 0);
  client.world().operation(id).is_shared = client.mode() == Mode::shared;
  std::optional<locks::Hold> hold = co_await lock.algorithm->acquire(client);
  if (hold) {
    sim::Operation& operation = client.world().operation(id);
    operation.is_renewed = hold->is_renewed;
    const sim::Clock& clock = hold->on_monotonic_clock ? client.monotonic() : client.clock();
    operation.valid_on_wall_clock = !hold->on_monotonic_clock;
    if (hold->valid_until) operation.valid_until = clock.true_time_of(*hold->valid_until);
    if (hold->lease_until) operation.lease_until = client.clock().true_time_of(*hold->lease_until);
    operation.value = hold->fencing_token;
  }
  complete(client, id, hold.has_value());
  if (!hold) co_return std::nullopt;
  co_await client.step("acquire", sim::Moment::after);
  co_return Grant{std::move(*hold), id};
}

/// Nothing: it does not know.
sim::Task<std::optional<std::int64_t>> read_resource(Client& client, const UsedLock& lock, const LockUser& settings,
                                                     sim::OperationId id) {
  if (settings.use == Use::row) co_return co_await lock.algorithm->read_row(client);
  const std::optional<resources::Answer> answer =
      co_await resources::read(client, settings.resource, id, settings.timeout);
  client.session().missed_reply = !answer;
  if (!answer) co_return std::nullopt;
  co_return answer->value;
}

sim::Task<void> write(Client& client, const UsedLock& lock, const LockUser& settings, const Grant& grant,
                      std::int64_t value) {
  co_await client.step("write", sim::Moment::before);
  const sim::OperationId id = invoke(client, "write", "resource", grant.acquire);
  client.world().operation(id).value = value;
  if (settings.use == Use::row) {
    const bool is_written = co_await lock.algorithm->write_row(client, value);
    complete(client, id, is_written);
    co_return;
  }
  const std::optional<resources::Answer> answer =
      co_await resources::write(client, settings.resource, id, value, grant.hold.fencing_token, settings.timeout);
  client.session().missed_reply = !answer;
  complete(client, id, answer && answer->accepted);
}

/// Takes again what it holds, works, and gives back as often.
sim::Task<void> nested_section(Client& client, const UsedLock& lock, const LockUser& settings, Grant& grant) {
  std::vector<locks::Hold> holds;
  for (std::int64_t i = 0; i < settings.reenter; ++i) {
    std::optional<locks::Hold> hold;
    for (std::int64_t tried = 0; !hold && tried < settings.attempts; ++tried) {
      if (tried > 0) co_await client.sleep(settings.retry);
      const sim::OperationId id = invoke(client, "reenter", lock.name, grant.acquire);
      hold = co_await lock.algorithm->acquire(client);
      complete(client, id, hold.has_value());
    }
    if (hold || settings.in_finally) holds.push_back(hold ? std::move(*hold) : locks::Hold{});
    if (!hold) break;
  }
  if (settings.inner_hold.hi > sim::Duration::zero()) co_await client.work(settings.inner_hold);
  if (!settings.finally.empty()) {
    grant.inner = std::move(holds);
    co_return;
  }
  while (!holds.empty()) {
    co_await client.step("leave", sim::Moment::before);
    const sim::OperationId id = invoke(client, "leave", lock.name, grant.acquire);
    const bool released = co_await lock.algorithm->release(client, std::move(holds.back()));
    complete(client, id, released);
    holds.pop_back();
  }
}

sim::Task<void> critical_section(Client& client, const UsedLock& lock, const LockUser& settings, Grant& grant) {
  std::int64_t value = client.self().index;
  if (settings.use == Use::increment || settings.use == Use::row) {
    const sim::OperationId id = invoke(client, "read", "resource", grant.acquire);
    const std::optional<std::int64_t> read = co_await read_resource(client, lock, settings, id);
    if (read) value = *read + 1;
    client.world().operation(id).value = read;
    complete(client, id, read.has_value());
    if (!read) co_return;
    co_await client.step("read", sim::Moment::after);
  }
  if (settings.hold.hi > sim::Duration::zero()) co_await client.work(settings.hold);
  if (settings.reenter > 0) co_await nested_section(client, lock, settings, grant);
  // Whoever has learnt that the lock is not his any more leaves the resource alone.
  if (settings.use != Use::none && !client.knows_lost(grant.acquire)) {
    co_await write(client, lock, settings, grant, value);
  }
}

sim::Task<void> give_back(Client& client, const UsedLock& lock, Grant grant) {
  co_await client.step("release", sim::Moment::before);
  if (client.knows_lost(grant.acquire)) co_return;
  const sim::OperationId id = invoke(client, "release", lock.name, grant.acquire);
  const bool released = co_await lock.algorithm->release(client, std::move(grant.hold));
  complete(client, id, released);
  co_await client.step("release", sim::Moment::after);
}

/// `grant`: whose acquire is 0 if it never got the lock.
sim::Task<void> finally_block(Client& client, const UsedLock& lock, const LockUser& settings, Grant grant) {
  co_await client.step("release", sim::Moment::before);
  bool holds = grant.acquire != 0;
  for (const locks::Call what : settings.finally) {
    if (what == locks::Call::unlock) {
      const bool is_inner = !grant.inner.empty();
      if (is_inner) co_await client.step("leave", sim::Moment::before);
      const sim::OperationId id =
          invoke(client, is_inner ? "leave" : "release", lock.name, holds ? grant.acquire : sim::OperationId{0});
      locks::Hold hold = is_inner ? std::move(grant.inner.back()) : std::move(grant.hold);
      if (is_inner) grant.inner.pop_back();
      holds = holds && is_inner;
      const bool released = co_await lock.algorithm->release(client, std::move(hold));
      complete(client, id, released);
      if (!released) break;
    } else if (what == locks::Call::force_unlock) {
      const sim::OperationId id = invoke(client, "release", lock.name, holds ? grant.acquire : sim::OperationId{0});
      const locks::Answer answer = co_await lock.algorithm->call(client, what);
      // To have freed a lock says nothing of whose it was.
      complete(client, id, holds && answer == locks::Answer::yes);
      holds = false;
      grant.inner.clear();
      if (answer == locks::Answer::unknown) break;
    } else if (co_await lock.algorithm->call(client, what) != locks::Answer::yes) {
      break;
    }
  }
  // It goes on with something else, as who forgets to release.
  if (holds) complete(client, invoke(client, "lost", lock.name, grant.acquire), true);
  co_await client.step("release", sim::Moment::after);
}

/// Takes its locks from this one on, does what they protect, and gives them back.
sim::Task<void> round(Client& client, const LockUser& settings, std::size_t first) {
  const UsedLock& lock = settings.locks[first];
  std::optional<Grant> grant;
  for (std::int64_t tried = 0; !grant && tried < settings.attempts; ++tried) {
    if (tried > 0) co_await client.sleep(settings.retry);
    grant = co_await attempt(client, lock);
  }
  if (!grant) {
    // A finally block that does not ask whether the lock was got.
    if (!settings.finally.empty())
      co_await finally_block(client, lock, settings, Grant{});
    else if (settings.in_finally)
      co_await give_back(client, lock, Grant{});
    co_return;
  }

  if (first + 1 < settings.locks.size()) {
    co_await round(client, settings, first + 1);
  } else {
    co_await critical_section(client, lock, settings, *grant);
  }
  if (!settings.finally.empty()) {
    co_await finally_block(client, lock, settings, std::move(*grant));
  } else if (settings.release) {
    co_await give_back(client, lock, std::move(*grant));
  } else {
    // It goes on with something else and never thinks of the lock again: nobody believes, nobody gives back.
    complete(client, invoke(client, "lost", lock.name, grant->acquire), true);
  }
}

}  // namespace

void complete(Client& client, sim::OperationId id, bool succeeded) {
  const sim::Phase negative = client.session().missed_reply ? sim::Phase::info : sim::Phase::fail;
  client.world().complete(id, succeeded ? sim::Phase::ok : negative);
  client.session().operation = 0;
  client.session().missed_reply = false;
}

sim::Task<void> run(Client& client, const LockUser& settings) {
  if (settings.after.hi > sim::Duration::zero()) co_await client.sleep(settings.after);
  for (std::int64_t i = 0; i < settings.rounds; ++i) {
    if (i > 0 && settings.between.hi > sim::Duration::zero()) co_await client.sleep(settings.between);
    co_await round(client, settings, 0);
  }
  client.end_program();
}

}  // namespace lockstep::models::workloads
