#include "models/locks/redis/watch_release.hpp"

#include "models/client/client.hpp"
#include "models/redis/client/endpoint.hpp"

namespace lockstep::models::locks {

using redis::Command;
using redis::Reply;

sim::Task<bool> release_watched(Client& client, Value key, Value token, bool in_transaction) {
  for (;;) {
    // 1 and 2: from here on the server notes whether the key changes. Is it mine?
    co_await redis::server_of(client).call(Command{"WATCH", key});
    const Reply present = co_await redis::server_of(client).get(key);

    // 3: somebody else's, or gone: leave it alone.
    if (!present.is_bulk() || !client.equal(present.value(), token)) {
      co_await redis::server_of(client).call(Command{"UNWATCH"});
      co_return false;
    }

    if (!in_transaction) {
      const Reply deleted = co_await redis::server_of(client).del(key);
      co_return deleted.is_integer();
    }

    // 4: delete it, if it is still as it was. Otherwise look again.
    const Reply done = co_await redis::server_of(client).transaction({Command{"DEL", key}});
    if (!done.is_nil()) co_return done.is_array();
  }
}

}  // namespace lockstep::models::locks
