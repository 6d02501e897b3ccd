#include "models/workloads/market.hpp"

#include <vector>

#include <fmt/format.h>

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"
#include "models/workloads/lock_user.hpp"

namespace lockstep::models::workloads {
namespace {

using redis::Command;
using redis::Reply;

/// How one attempt ended.
enum class Deal : std::uint8_t {
  done,
  again,   ///< somebody else was there: it may succeed if it is tried again
  nothing  ///< not there, or not affordable
};

struct Outcome {
  Deal deal = Deal::nothing;
  std::int64_t funds_left = 0;
};

/// The locks that one attempt holds.
struct Held {
  struct One {
    std::unique_ptr<locks::LockAlgorithm> lock;
    locks::Hold hold;
  };
  std::vector<One> locks;
};

std::int64_t number_or(const Reply& reply, std::int64_t otherwise) {
  if (reply.is_integer()) return reply.integer();
  if (!reply.is_bulk()) return otherwise;
  return reply.value().integer().value_or(otherwise);
}

std::string seller_of(const std::string& item) { return item.substr(item.find('.') + 1); }

/// In the order of the calls, which is the same for all: the item, then the funds.
sim::Task<bool> take(Client& client, const Trader& trader, Held& held, std::string key) {
  std::unique_ptr<locks::LockAlgorithm> lock = trader.lock(key);
  std::optional<locks::Hold> hold = co_await lock->acquire(client);
  if (!hold) co_return false;
  held.locks.push_back({std::move(lock), std::move(*hold)});
  co_return true;
}

sim::Task<void> give_back(Client& client, Held& held) {
  while (!held.locks.empty()) {
    co_await held.locks.back().lock->release(client, held.locks.back().hold);
    held.locks.pop_back();
  }
}

/// Whether all that the guard asks for is held. What was taken of it stays in `held`.
sim::Task<bool> take_all(Client& client, const Trader& trader, Held& held, std::string item) {
  switch (trader.guard) {
    case Guard::watch: co_return true;
    case Guard::market_lock: co_return co_await take(client, trader, held, trader.market_key + ":lock");
    case Guard::item_lock:
    case Guard::item_and_funds: break;
  }
  const bool has_item = co_await take(client, trader, held, trader.market_key + ":" + item);
  if (!has_item || trader.sells || trader.guard == Guard::item_lock) co_return has_item;
  co_return co_await take(client, trader, held, "funds:" + trader.account);
}

std::vector<Command> purchase(const Trader& trader, const std::string& item, std::int64_t price) {
  std::vector<Command> commands;
  commands.push_back(Command{"HINCRBY", "users:" + seller_of(item), "funds", price});
  commands.push_back(Command{"HINCRBY", "users:" + trader.account, "funds", -price});
  commands.push_back(Command{"SADD", "inventory:" + trader.account, item});
  commands.push_back(Command{"ZREM", trader.market_key, item});
  return commands;
}

/// One attempt to buy the item: look, and if it is there and affordable, change all that belongs to it in one
/// transaction.
sim::Task<Outcome> buy_once(Client& client, const Trader& trader, std::string item) {
  Held held;
  const bool has_locks = co_await take_all(client, trader, held, item);
  Outcome outcome{.deal = Deal::again};
  if (has_locks) {
    const bool watches = trader.guard == Guard::watch;
    if (watches) co_await redis::server_of(client).call(Command{"WATCH", trader.market_key, "users:" + trader.account});
    const Reply price = co_await redis::server_of(client).call(Command{"ZSCORE", trader.market_key, item});
    const Reply funds = co_await redis::server_of(client).call(Command{"HGET", "users:" + trader.account, "funds"});
    const std::int64_t asked = number_or(price, 0);
    if (!price.is_bulk() || number_or(funds, 0) < asked) {
      if (watches) co_await redis::server_of(client).call(Command{"UNWATCH"});
      outcome.deal = price.is_bulk() ? Deal::nothing : Deal::again;
    } else {
      const Reply done = co_await redis::server_of(client).transaction(purchase(trader, item, asked));
      outcome.deal = done.is_array() ? Deal::done : Deal::again;
      if (done.is_array()) outcome.funds_left = number_or(done.items()[1], 0);
    }
  }
  co_await give_back(client, held);
  co_return outcome;
}

/// The same for a listing: from one's goods to the market.
sim::Task<Outcome> list_once(Client& client, const Trader& trader, std::string item) {
  const Value goods = "inventory:" + trader.account;
  Held held;
  const bool has_locks = co_await take_all(client, trader, held, item);
  Outcome outcome{.deal = Deal::again};
  if (has_locks) {
    const bool watches = trader.guard == Guard::watch;
    if (watches) co_await redis::server_of(client).call(Command{"WATCH", goods});
    const Reply has = co_await redis::server_of(client).call(Command{"SISMEMBER", goods, item});
    if (!has.is_integer(1)) {
      if (watches) co_await redis::server_of(client).call(Command{"UNWATCH"});
      outcome.deal = Deal::nothing;
    } else {
      std::vector<Command> commands;
      commands.push_back(Command{"ZADD", trader.market_key, trader.price, item});
      commands.push_back(Command{"SREM", goods, item});
      const Reply done = co_await redis::server_of(client).transaction(std::move(commands));
      outcome.deal = done.is_array() ? Deal::done : Deal::again;
    }
  }
  co_await give_back(client, held);
  co_return outcome;
}

sim::OperationId invoke(Client& client, std::string_view function, const std::string& object) {
  const sim::OperationId id = client.world().invoke(client.id(), function, object);
  client.session().operation = id;
  client.session().missed_reply = false;
  return id;
}

/// One of those that are listed, another for each client and round; empty if nothing is.
sim::Task<std::string> choose_item(Client& client, const Trader& trader, std::int64_t round) {
  constexpr int kLastSeen = 15;
  const Reply listed = co_await redis::server_of(client).call(Command{"ZRANGE", trader.market_key, 0, kLastSeen});
  if (!listed.is_array() || listed.items().empty()) co_return std::string();
  const auto which = static_cast<std::size_t>(round + client.id().index) % listed.items().size();
  co_return listed.items()[which].value().text();
}

sim::Task<void> buy(Client& client, const Trader& trader, std::int64_t round) {
  for (std::int64_t tried = 0; tried < trader.attempts; ++tried) {
    if (tried > 0) co_await client.sleep(trader.retry);
    const std::string item = co_await choose_item(client, trader, round + tried);
    if (item.empty()) continue;
    const sim::OperationId id = invoke(client, "buy", item);
    const Outcome outcome = co_await buy_once(client, trader, item);
    if (outcome.deal == Deal::done) client.world().operation(id).value = outcome.funds_left;
    complete(client, id, outcome.deal == Deal::done);
    if (outcome.deal != Deal::again) co_return;
  }
}

sim::Task<void> list(Client& client, const Trader& trader, std::int64_t round) {
  const std::string item = fmt::format("{}{}.{}", client.name(), round + 1, trader.account);
  co_await redis::server_of(client).call(Command{"SADD", "inventory:" + trader.account, item});
  for (std::int64_t tried = 0; tried < trader.attempts; ++tried) {
    if (tried > 0) co_await client.sleep(trader.retry);
    const sim::OperationId id = invoke(client, "list", item);
    const Outcome outcome = co_await list_once(client, trader, item);
    complete(client, id, outcome.deal == Deal::done);
    if (outcome.deal != Deal::again) co_return;
  }
}

}  // namespace

sim::Task<void> trade(Client& client, const Trader& trader) {
  if (!trader.sells) {
    co_await redis::server_of(client).call(Command{"HSETNX", "users:" + trader.account, "funds", trader.funds});
  }
  for (std::int64_t round = 0; round < trader.rounds; ++round) {
    if (round > 0 && trader.between.hi > sim::Duration::zero()) co_await client.sleep(trader.between);
    if (trader.sells) {
      co_await list(client, trader, round);
    } else {
      co_await buy(client, trader, round);
    }
  }
}

}  // namespace lockstep::models::workloads
