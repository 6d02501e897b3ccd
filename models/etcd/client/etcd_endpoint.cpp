#include "models/etcd/client/etcd_endpoint.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "sim/worlds/world.hpp"

namespace lockstep::models::etcd {

namespace {

/// Errors of a member that cannot say: another one may.
bool is_unavailable(const Told& told) {
  const Error error = told.answer.error;
  return told.is_lost || error == Error::timed_out || error == Error::leader_changed;
}

}  // namespace

RequestCall::RequestCall(Endpoint& endpoint, std::size_t member, sim::MessagePtrOf<Request> request,
                         std::optional<sim::Duration> timeout, bool changes)
    : Call(endpoint.client_, endpoint.members_[member], std::move(request), timeout),
      endpoint_(endpoint),
      member_(member),
      changes_(changes) {}

std::optional<Told> RequestCall::await_resume() {
  std::optional<Told> told = Call::await_resume();
  if (told && is_unavailable(*told)) told.reset();
  if (!told) endpoint_.has_failed(member_);
  if (!told && changes_) endpoint_.client_.session().missed_reply = true;
  return told;
}

std::size_t Endpoint::chosen() { return members_.size() == 1 ? 0 : client_.shared<Choice>("").member.value_or(first_); }

/// Unless a thread has chosen another one meanwhile.
void Endpoint::has_failed(std::size_t member) {
  if (members_.size() > 1 && chosen() == member) client_.shared<Choice>("").member = (member + 1) % members_.size();
}

bool Endpoint::asks_again(const std::optional<Told>& told) {
  failures_ = told ? 0 : failures_ + 1;
  if (failures_ < members_.size()) return !told;
  failures_ = 0;
  return false;
}

template <class Content>
RequestCall Endpoint::ask(Content content, std::optional<sim::Duration> timeout, bool changes) {
  auto request = client_.world().make<Request>();
  request->content = std::move(content);
  // A watch waits at the server, until its client has gone.
  request->opens_session = std::is_same_v<Content, Watch>;
  request->operation = client_.session().operation;
  return {*this, chosen(), std::move(request), timeout, changes};
}

RequestCall Endpoint::range(Range range) { return ask(Operation(std::move(range)), timeout_, false); }
RequestCall Endpoint::put(Put put) { return ask(Operation(std::move(put)), timeout_, true); }
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
