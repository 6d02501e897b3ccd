#include "models/redis/sentinel/promoter.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::models::redis {

void Promoter::watch(std::string host, sim::ConnectionId requests, sim::ConnectionId death) {
  servers_.push_back({std::move(host), requests, death});
}

void Promoter::begin() {
  for (const Watched& server : servers_) world().open_session(server.death);
}

void Promoter::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<SentinelRequest&>(message);
  // An answer that names the dead one would only bring the question again.
  if (is_promoting_)
    askers_.push_back({connection, request});
  else
    answer(connection, request);
}

void Promoter::answer(sim::ConnectionId connection, const SentinelRequest& request) {
  const bool is_question = request.name() == "SENTINEL GET-MASTER-ADDR-BY-NAME";
  Reply reply = is_question ? Reply::array({Reply::bulk(servers_[primary_].host), Reply::bulk(kServerPort)})
                            : Reply::error("ERR the abstract sentinel is asked for the primary alone");
  world().send_reply(connection, request, world().make<Response>(request.name(), std::move(reply)));
}

void Promoter::closed(sim::ConnectionId connection) {
  const auto dead = std::find_if(servers_.begin(), servers_.end(),
                                 [&](const Watched& server) { return server.death.index == connection.index; });
  if (dead == servers_.end()) return;
  dead->is_dead = true;
  const bool is_primary = static_cast<std::size_t>(dead - servers_.begin()) == primary_;
  if (is_primary && !std::exchange(is_promoting_, true)) spawn(promote());
}

/// Any of the replicas that live. One that dies before it has answered never becomes primary, and the next is asked.
sim::Task<void> Promoter::promote() {
  std::size_t before = primary_;
  for (;;) {
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (!servers_[i].is_dead) fit.push_back(i);
    }
    if (fit.empty()) co_return;
    const std::size_t chosen = fit[world().choose(sim::Choice::model, fit.size())];
    const std::optional<Reply> reply = co_await sim::Call<Response>(
        *this, servers_[chosen].requests, world().make<Request>(Command{"REPLICAOF", "NO", "ONE"}), std::nullopt);
    if (!reply || reply->is_unknown() || reply->is_error()) {
      servers_[chosen].is_dead = true;
      continue;
    }
    before = std::exchange(primary_, chosen);
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (i == chosen || servers_[i].is_dead) continue;
      co_await sim::Call<Response>(*this, servers_[i].requests,
                                   world().make<Request>(Command{"REPLICAOF", servers_[chosen].host, kServerPort}),
                                   std::nullopt);
    }
    break;
  }
  is_promoting_ = false;
  for (Asker& asker : std::exchange(askers_, {})) answer(asker.connection, asker.request);
  const std::string port(kServerPort);
  const std::string payload =
      primary_name_ + " " + servers_[before].host + " " + port + " " + servers_[primary_].host + " " + port;
  for (const sim::ConnectionId listener : listeners_) {
    Reply news = Reply::array({Reply::bulk("message"), Reply::bulk("+switch-master"), Reply::bulk(payload)});
    world().send_push(listener, world().make<Response>("MESSAGE", std::move(news)));
  }
}

void Promoter::crashed(bool) { reset(); }

void Promoter::reset() {
  for (Watched& server : servers_) server.is_dead = false;
  primary_ = 0;
  is_promoting_ = false;
  askers_.clear();
}

}  // namespace lockstep::models::redis
