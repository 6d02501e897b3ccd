// SET NX PX whose grants are numbered, so that the resource can refuse whoever comes after a later number.
// Source: redis.io distlock page; lock-summary ("the business must stay correct by itself").
// Claims: mutual-exclusion within the lease, own-release, recoverable, fencing at a resource that compares tokens.
// Breaks: f004-4-each-believes-alone-fixed (a paused owner still believes; it does no damage). As a variant, and not as
//         specified: fencing-token-drawn-late (the number is drawn in a second command, and the owner is refused).

#include <array>

#include "models/client/client.hpp"
#include "models/locks/entries.hpp"
#include "models/redis/client/endpoint.hpp"
#include "models/scripts.hpp"

namespace lockstep::models::locks {

using namespace sim::literals;

namespace {

using redis::Command;
using redis::Reply;

constexpr std::array<std::string_view, 3> kTokens{"with-grant", "second-command", "hash"};

class FencedWrite final : public LockAlgorithm {
 public:
  explicit FencedWrite(const Parameters& p) : ttl_(p.duration("ttl")), token_(p.choice("token")) {}

  sim::Task<std::optional<Hold>> acquire(Client& client) const override {
    if (token_ == "second-command") co_return co_await take_then_count(client);

    // 1: create the key and draw the number in one step of the server.
    const Value mine = client.unique_token();
    const std::string_view script = token_ == "hash" ? scripts::set_with_hash_token_lua : scripts::set_with_token_lua;
    const Reply drawn =
        co_await redis::server_of(client).eval(script, {key(), key().text() + ":token"}, {mine, ttl_.floor_ms()});
    if (!drawn.is_integer()) co_return std::nullopt;
    co_return hold(mine, drawn);
  }

  sim::Task<bool> release(Client& client, Hold hold) const override {
    // 2: delete the key if it is still mine.
    const Reply deleted = co_await redis::server_of(client).eval(scripts::delete_if_mine_lua, {key()}, {hold.token});
    co_return deleted.is_integer(1);
  }

 private:
  static Hold hold(Value mine, const Reply& number) {
    Hold hold{std::move(mine)};
    hold.fencing_token = number.integer();
    return hold;
  }

  /// The wrong way: the lock may be lost, and granted again, before its number is drawn.
  sim::Task<std::optional<Hold>> take_then_count(Client& client) const {
    const Value mine = client.unique_token();
    const Reply created = co_await redis::server_of(client).set(key(), mine, {.nx = true, .px = ttl_});
    if (!created.is_ok()) co_return std::nullopt;
    const Reply drawn = co_await redis::server_of(client).call(Command{"INCR", key().text() + ":token"});
    if (!drawn.is_integer()) co_return std::nullopt;
    co_return hold(mine, drawn);
  }

  sim::Duration ttl_;
  std::string token_;
};

}  // namespace

Entry fenced_write() {
  return {
      .id = "fenced-write",
      .summary = "SET NX PX whose grants carry a fencing token for the resource",
      .documents = {"lock-summary"},
      .parameters = {lease_parameter("ttl", 30_s, "time to live of the key"),
                     {"token", std::string("with-grant"),
                      "where the number comes from: a counter or a hash, in the step of the grant, or INCR after it",
                      kTokens},
                     attempts_parameter(1),
                     retry_parameter({100_ms, 100_ms})},
      .claims = {"mutual-exclusion", "own-release", "recoverable", "fencing"},
      .is_blind_to_names = true,
      .make = [](const Parameters& p) { return std::make_unique<FencedWrite>(p); }};
}

}  // namespace lockstep::models::locks
