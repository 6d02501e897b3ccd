#include "models/redis/node.hpp"

namespace lockstep::models::redis {

void Node::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<Request&>(message);
  Reply reply = database_.execute(request.command, clock());
  const sim::ProcessId by = world().client_of(connection);
  for (const KeyChange& change : database_.changes()) {
    const bool is_expiry = change.kind == sim::Effect::Kind::expire;
    world().record_effect(change.kind, id(), change.key, is_expiry ? sim::ProcessId{} : by,
                          is_expiry ? 0 : request.operation);
  }
  // A name from the command table outlives the request; an unknown command's own text would not.
  const std::string_view name = request.command.spec() != nullptr ? request.name() : "UNKNOWN";
  world().send_reply(connection, request, world().make<Response>(name, std::move(reply)));
}

void Node::crashed(bool keep) {
  if (keep) {
    database_.restart_with_keys();
  } else {
    database_.restart_empty();
  }
}

void Node::reset() { database_.reset(); }

}  // namespace lockstep::models::redis
