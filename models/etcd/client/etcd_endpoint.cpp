#include "models/etcd/client/etcd_endpoint.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::etcd {

std::optional<Told> RequestCall::await_resume() {
  std::optional<Told> told = Call::await_resume();
  if (told && told->is_lost) told.reset();
  if (!told && changes_) session_.missed_reply = true;
  return told;
}

template <class Content>
RequestCall Endpoint::ask(Content content, std::optional<sim::Duration> timeout, bool changes) {
  auto request = client_.world().make<Request>();
  request->content = std::move(content);
  // A watch waits at the server, until its client has gone.
  request->opens_session = std::is_same_v<Content, Watch>;
  request->operation = client_.session().operation;
  return {client_, *server_, std::move(request), timeout, changes};
}

RequestCall Endpoint::range(Range range) { return ask(Operation(std::move(range)), timeout_, false); }
RequestCall Endpoint::delete_range(Span span) { return ask(Operation(DeleteRange{std::move(span)}), timeout_, true); }
RequestCall Endpoint::txn(Txn txn) { return ask(std::move(txn), timeout_, true); }
RequestCall Endpoint::grant(sim::Duration ttl) { return ask(LeaseGrant{ttl}, timeout_, false); }
RequestCall Endpoint::revoke(LeaseId lease) { return ask(LeaseRevoke{lease}, timeout_, false); }
RequestCall Endpoint::keep_alive(LeaseId lease, sim::Duration patience) {
  return ask(LeaseKeepAlive{lease}, std::min(patience, timeout_.value_or(patience)), false);
}
RequestCall Endpoint::watch(Span span, Revision start_revision) {
  return ask(Watch{std::move(span), start_revision}, std::nullopt, false);
}

}  // namespace lockstep::models::etcd
