#include "models/locks/redis/watch_release.hpp"

#include "models/client/client.hpp"

namespace lockstep::models::locks {

using redis::Command;
using redis::Reply;

sim::Task<bool> release_watched(Client& client, redis::Value key, redis::Value token, bool in_transaction) {
  for (;;) {
    // 1 and 2: from here on the server notes whether the key changes. Is it mine?
    co_await client.redis().call(Command{"WATCH", key});
    const Reply present = co_await client.redis().get(key);

    // 3: somebody else's, or gone: leave it alone.
    if (!present.is_bulk() || !client.equal(present.value(), token)) {
      co_await client.redis().call(Command{"UNWATCH"});
      co_return false;
    }

    if (!in_transaction) {
      const Reply deleted = co_await client.redis().del(key);
      co_return deleted.is_integer();
    }

    // 4: delete it, if it is still as it was. Otherwise look again.
    const Reply done = co_await client.redis().transaction({Command{"DEL", key}});
    if (!done.is_nil()) co_return done.is_array();
  }
}

}  // namespace lockstep::models::locks
