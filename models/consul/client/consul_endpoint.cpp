#include "models/consul/client/consul_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::consul {

namespace {

/// Errors of a server that cannot say: another one may.
bool is_unavailable(const Told& told) {
  const Error error = told.answer.error;
  return told.is_lost || error == Error::leadership_lost || error == Error::no_leader || error == Error::not_leader ||
         error == Error::refused;
}

}  // namespace

RequestCall::RequestCall(Endpoint& endpoint, std::size_t server, sim::MessagePtrOf<Request> request,
                         std::optional<sim::Duration> timeout, bool changes)
    : Call(endpoint.client_, endpoint.servers_[server].connection, std::move(request), timeout),
      endpoint_(endpoint),
      server_(server),
      changes_(changes) {}

std::optional<Told> RequestCall::await_resume() {
  std::optional<Told> told = Call::await_resume();
  if (!told || is_unavailable(*told)) endpoint_.has_failed(server_);
  if (told && (told->is_lost || told->answer.error == Error::leadership_lost)) told.reset();
  if (!told && changes_) endpoint_.client_.session().missed_reply = true;
  return told;
}

std::size_t Endpoint::chosen(const std::string& datacentre) {
  if (is_cluster()) return client_.shared<Choice>("").server.value_or(first_);
  const auto known = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const Known& server) { return server.datacentre == datacentre; });
  return known == servers_.end() ? 0 : static_cast<std::size_t>(known - servers_.begin());
}

/// Unless a thread has chosen another one meanwhile.
void Endpoint::has_failed(std::size_t server) {
  if (is_cluster() && chosen("") == server) client_.shared<Choice>("").server = (server + 1) % servers_.size();
}

bool Endpoint::asks_again(const std::optional<Told>& told, std::size_t& failures) const {
  if (told || !is_cluster()) return false;
  return ++failures < servers_.size();
}

template <class Content>
RequestCall Endpoint::ask(const std::string& datacentre, Content content, bool changes) {
  return ask(datacentre, std::move(content), changes, timeout_, false, false);
}

template <class Content>
RequestCall Endpoint::ask(const std::string& datacentre, Content content, bool changes,
                          std::optional<sim::Duration> timeout, bool is_blocking, bool is_repeated) {
  auto request = client_.world().make<Request>();
  request->content = std::move(content);
  request->datacentre = datacentre;
  request->is_repeated = is_repeated;
  // A blocking query waits at the server, until its client has gone.
  request->opens_session = is_blocking;
  request->operation = client_.session().operation;
  return {*this, chosen(datacentre), std::move(request), timeout, changes};
}

RequestCall Endpoint::write(const std::string& datacentre, Write write) {
  return ask(datacentre, std::move(write), true);
}
RequestCall Endpoint::remove(const std::string& datacentre, Delete asked) {
  return ask(datacentre, std::move(asked), true);
}
RequestCall Endpoint::query(const std::string& datacentre, Query query, bool is_repeated) {
  const bool is_blocking = query.index > 0;
  return ask(datacentre, std::move(query), false, is_blocking ? std::nullopt : timeout_, is_blocking, is_repeated);
}
RequestCall Endpoint::create(const std::string& datacentre, Session session) {
  return ask(datacentre, std::move(session), false);
}
RequestCall Endpoint::destroy(const std::string& datacentre, SessionId session) {
  return ask(datacentre, SessionDestroy{session}, false);
}
RequestCall Endpoint::renew(const std::string& datacentre, SessionId session, std::optional<sim::Duration> patience) {
  return ask(datacentre, SessionRenew{session}, false, patience ? patience : timeout_, false, false);
}

}  // namespace lockstep::models::consul
