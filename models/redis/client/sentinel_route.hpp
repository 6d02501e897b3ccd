#pragma once

// How a client that was given the addresses of sentinels finds the primary, and finds it again. Source: the guidelines
// for Sentinel clients (redis.io), as Jedis and redis-py follow them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/redis/client/connection.hpp"
#include "sim/coroutines/task.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::models::redis {

/// The way to the present primary. Requests that are made while none is known wait until it is found, but not much
/// longer than it takes to ask every sentinel once (`patience`); then their outcome counts as unknown.
///
/// The primary is looked for when it is needed: ask one sentinel after the other, the one that answered last
/// first, and believe an answer when the server's ROLE confirms it. It is forgotten when a request to it stayed without
/// answer, when it closed the connection (which a sentinel makes a server do whose role it changes), when it answers
/// READONLY, and when a sentinel announces +switch-master. A request in flight is never sent twice: its outcome is
/// unknown. Subscriptions end with the connection; a wait for a message ends with `unknown`.
class PrimaryRoute final : public Route {
 public:
  struct Sentinel {
    sim::ConnectionId requests;
    sim::ConnectionId messages;
  };
  struct Server {
    std::string host;
    sim::ConnectionId connection;
  };

  /// Who is known in the beginning.
  enum class Begin : std::uint8_t {
    nobody,        ///< the primary is looked for when it is first needed
    first_server,  ///< the client has worked with it for long; the sentinel is a `Promoter`, whose word is enough
  };

  /// Requires: `client` and `inboxes` outlive the route; there is a server and a sentinel.
  PrimaryRoute(sim::Process& client, Inboxes& inboxes, std::string primary_name, std::vector<Sentinel> sentinels,
               std::vector<Server> servers, std::optional<sim::Duration> timeout, Begin begin = Begin::nobody)
      : client_(&client),
        inboxes_(&inboxes),
        primary_name_(std::move(primary_name)),
        sentinels_(std::move(sentinels)),
        servers_(std::move(servers)),
        timeout_(timeout),
        begin_(begin) {
    forget();
  }

  bool is_known() const override { return is_known_; }
  /// To the primary, or to the one that was it last.
  sim::ConnectionId connection() const override { return servers_[current_].connection; }
  /// How long a request waits for the primary to be found: until each sentinel could have kept it waiting, and one
  /// server.
  std::optional<sim::Duration> patience() const override {
    if (!timeout_) return std::nullopt;
    return *timeout_ * (static_cast<std::int64_t>(sentinels_.size()) + 1);
  }
  sim::Process& client() const override { return *client_; }
  sim::Executor& executor() const { return client_->executor(); }

  void join(CommandCall& call) override;
  void leave(CommandCall& call) override;
  /// The connection is lost, or leads to a server that is no primary.
  void lost(sim::ConnectionId connection) override;
  /// An unsolicited message of a server or a sentinel. False: it is for the inbox.
  bool notified(const Reply& content, sim::ConnectionId connection);
  /// The client has died, or the world starts over.
  void forget();
  /// What one of them hears of a promotion, all of them have heard: the ways of one process.
  void share_news(std::vector<PrimaryRoute*>& company) {
    company_ = &company;
    company.push_back(this);
  }

 private:
  void hear(const std::string& payload);
  sim::Task<void> discover();
  sim::Task<void> listen(std::size_t sentinel);
  void found(std::size_t server);

  sim::Process* client_;
  Inboxes* inboxes_;
  std::string primary_name_;
  std::vector<Sentinel> sentinels_;
  std::vector<Server> servers_;
  std::vector<bool> is_listening_;
  std::optional<sim::Duration> timeout_;
  Begin begin_;
  std::vector<PrimaryRoute*>* company_ = nullptr;
  std::size_t current_ = 0;
  std::size_t first_ = 0;  ///< the sentinel to ask first
  bool is_known_ = false;
  bool is_discovering_ = false;
  bool owes_end_of_messages_ = false;  ///< of a subscription that was lost while no program waited for its messages
  std::vector<CommandCall*> waiting_;  ///< in the order in which they came
};

}  // namespace lockstep::models::redis
