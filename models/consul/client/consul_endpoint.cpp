#include "models/consul/client/consul_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::consul {

std::optional<Told> RequestCall::await_resume() {
  std::optional<Told> told = Call::await_resume();
  if (told && told->is_lost) told.reset();
  if (!told && changes_) session_.missed_reply = true;
  return told;
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
  const auto known = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const Known& server) { return server.datacentre == datacentre; });
  const sim::ConnectionId connection = (known == servers_.end() ? servers_.front() : *known).connection;
  return {client_, connection, std::move(request), timeout, changes};
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
