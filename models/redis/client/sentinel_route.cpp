#include "models/redis/client/sentinel_route.hpp"

#include <algorithm>
#include <utility>

#include "models/redis/sentinel/sentinel.hpp"

namespace lockstep::models::redis {
namespace {

constexpr std::string_view kSwitch = "+switch-master";
/// Between two rounds of asking everybody.
constexpr sim::Duration kPatience = sim::Duration::milliseconds(100);

bool is_primary(const std::optional<Reply>& role) {
  return role && role->is_array() && !role->items().empty() && role->items()[0] == Reply::bulk("master");
}

}  // namespace

void PrimaryRoute::join(CommandCall& call) {
  waiting_.push_back(&call);
  if (std::exchange(is_discovering_, true)) return;
  for (std::size_t i = 0; i < sentinels_.size(); ++i) {
    if (!is_listening_[i]) client_->spawn(listen(i));
  }
  client_->spawn(discover());
}

void PrimaryRoute::leave(CommandCall& call) { std::erase(waiting_, &call); }

void PrimaryRoute::lost(sim::ConnectionId connection) {
  if (!is_known_ || connection.index != this->connection().index) return;
  is_known_ = false;
  owes_end_of_messages_ = inboxes_->end(connection);
}

bool PrimaryRoute::notified(const Reply& content, sim::ConnectionId connection) {
  for (const Sentinel& sentinel : sentinels_) {
    if (sentinel.messages.index != connection.index) continue;
    if (!content.is_array() || content.items().size() != 3 || content.items()[1] != Reply::bulk(kSwitch)) return true;
    const std::string payload = content.items()[2].value().text();
    if (company_ == nullptr) {
      hear(payload);
    } else {
      for (PrimaryRoute* route : *company_) route->hear(payload);
    }
    return true;
  }
  if (content.is_array()) return false;
  lost(connection);
  return true;
}

/// "mymaster redis1 6379 redis2 6379"
void PrimaryRoute::hear(const std::string& payload) {
  const std::string news = " " + servers_[current_].host + " " + std::string(kServerPort);
  if (payload.starts_with(primary_name_ + " ") && !payload.ends_with(news)) lost(connection());
}

void PrimaryRoute::forget() {
  waiting_.clear();
  is_known_ = begin_ == Begin::first_server;
  is_listening_.assign(sentinels_.size(), is_known_);
  current_ = first_ = 0;
  is_discovering_ = owes_end_of_messages_ = false;
}

sim::Task<void> PrimaryRoute::listen(std::size_t sentinel) {
  is_listening_[sentinel] = true;
  const std::optional<Reply> reply =
      co_await sim::Call<Response>(*client_, sentinels_[sentinel].messages,
                                   client_->world().make<SentinelRequest>(Command{"SUBSCRIBE", kSwitch}), timeout_);
  if (!reply) is_listening_[sentinel] = false;
}

/// Goes on while somebody waits. That it tries again is a tick: nothing but the patience of those who wait ends it.
sim::Task<void> PrimaryRoute::discover() {
  while (!waiting_.empty()) {
    for (std::size_t asked = 0; asked < sentinels_.size() && !waiting_.empty(); ++asked) {
      const std::size_t sentinel = (first_ + asked) % sentinels_.size();
      const std::optional<Reply> address = co_await sim::Call<Response>(
          *client_, sentinels_[sentinel].requests,
          client_->world().make<SentinelRequest>(Command{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", primary_name_}),
          timeout_);
      if (!address && begin_ == Begin::nobody) is_listening_[sentinel] = false;
      if (!address || !address->is_array()) continue;
      const std::string host = address->items()[0].value().text();
      const auto server =
          std::find_if(servers_.begin(), servers_.end(), [&](const Server& s) { return s.host == host; });
      if (server == servers_.end()) continue;
      if (begin_ == Begin::nobody) {
        const std::optional<Reply> role = co_await sim::Call<Response>(
            *client_, server->connection, client_->world().make<Request>(Command{"ROLE"}), timeout_);
        if (!is_primary(role)) continue;
      }
      first_ = sentinel;
      found(static_cast<std::size_t>(server - servers_.begin()));
      co_return;
    }
    if (!waiting_.empty()) co_await sim::Wait(*client_, sim::DurationRange::exactly(kPatience), sim::TimerKind::tick);
  }
  is_discovering_ = false;
}

void PrimaryRoute::found(std::size_t server) {
  current_ = server;
  is_known_ = true;
  is_discovering_ = false;
  if (std::exchange(owes_end_of_messages_, false)) inboxes_->at(connection()).put(Reply::unknown());
  for (CommandCall* call : std::exchange(waiting_, {})) call->go(connection());
}

}  // namespace lockstep::models::redis
