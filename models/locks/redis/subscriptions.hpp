#pragma once

// A process's subscriptions to channels of locks: one for each channel, shared by all threads that wait for it.

#include <list>
#include <optional>

#include "models/client/latch.hpp"
#include "models/redis/wire/reply.hpp"

namespace lockstep::models::locks {

/// Waits for a message no longer than another's lease still runs, which `pttl` says (milliseconds; negative: without
/// end). `server`: of which that is the reply, and it has just come; nothing: some time ago.
PermitLimits while_leased(const redis::Reply& pttl, Client& client, std::optional<std::size_t> server,
                          Patience& patience);

/// In `Client::shared`. Messages are delivered at most once: what is published while the connection is down is lost.
class Subscriptions final : public ProcessObject {
 public:
  struct Channel {
    std::size_t server;
    Value name;
    std::size_t users = 0;
    bool is_ready = false;
    Latch ready;    ///< the second to come waits for the first one's SUBSCRIBE
    Latch message;  ///< a permit for each message: the waiter that takes it may try
  };

  /// Null: it was not subscribed in time. Else `leave` it when done. Requires: `thread` outlives the wait.
  sim::Task<Channel*> join(Client& thread, std::size_t server, Value name, Patience& patience);
  void leave(Client& thread, Channel& channel);

  /// The message that wakes one waiter, and the one that wakes all of them.
  static constexpr std::string_view kWakeOne = "0";
  static constexpr std::string_view kWakeAll = "1";

 private:
  Channel* find(std::size_t server, const Value& name);
  void abandon(Channel& channel);
  sim::Task<void> listen(Client& process, std::size_t server);
  sim::Task<void> unsubscribe(Client& process, std::size_t server, Value name);

  std::list<Channel> channels_;
  std::vector<std::size_t> listening_;  ///< servers whose messages are being read
};

}  // namespace lockstep::models::locks
