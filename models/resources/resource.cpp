#include "models/resources/resource.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/schedules/random.hpp"

namespace lockstep::models::resources {

std::string Access::describe() const {
  if (kind == Kind::read) return "READ";
  return token ? fmt::format("WRITE {} token {}", value, *token) : fmt::format("WRITE {}", value);
}

std::uint64_t Access::digest() const {
  return sim::combine64(static_cast<std::uint64_t>(value), token ? static_cast<std::uint64_t>(*token) + 1 : 0);
}

std::string AccessReply::describe() const {
  if (kind == Access::Kind::read) return fmt::format("{}", content.value);
  return content.accepted ? "written" : "refused: a newer token was here";
}

std::uint64_t AccessReply::digest() const {
  return sim::combine64(static_cast<std::uint64_t>(content.value), content.accepted ? 1 : 0);
}

void Resource::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<Access&>(message);
  world().access(0, request.kind == Access::Kind::write);
  auto reply = world().make<AccessReply>();
  reply->kind = request.kind;
  auto effect = sim::Effect::Kind::read;
  if (request.kind == Access::Kind::write) {
    const bool is_stale = fenced_ && request.token && largest_token_ && *request.token < *largest_token_;
    effect = is_stale ? sim::Effect::Kind::reject : sim::Effect::Kind::write;
    reply->content.accepted = !is_stale;
    if (!is_stale) {
      value_ = request.value;
      if (request.token) largest_token_ = std::max(largest_token_.value_or(*request.token), *request.token);
    }
  }
  reply->content.value = value_;
  world().record_effect(effect, id(), object_, world().client_of(connection), request.operation, request.token);
  world().send_reply(connection, request, std::move(reply));
}

void Resource::reset() {
  value_ = 0;
  largest_token_.reset();
}

sim::Call<AccessReply> read(sim::Process& client, sim::ConnectionId connection, sim::OperationId operation,
                            std::optional<sim::Duration> timeout) {
  auto request = client.world().make<Access>();
  request->operation = operation;
  return {client, connection, std::move(request), timeout};
}

sim::Call<AccessReply> write(sim::Process& client, sim::ConnectionId connection, sim::OperationId operation,
                             std::int64_t value, std::optional<std::int64_t> token,
                             std::optional<sim::Duration> timeout) {
  auto request = client.world().make<Access>();
  request->kind = Access::Kind::write;
  request->value = value;
  request->token = token;
  request->operation = operation;
  return {client, connection, std::move(request), timeout};
}

}  // namespace lockstep::models::resources
