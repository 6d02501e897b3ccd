#include "models/testing/registers/register_server.hpp"

#include <fmt/format.h>

#include "models/value.hpp"
#include "sim/schedules/random.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::registers {

std::string Ask::describe() const {
  if (kind == Kind::fetch) return "FETCH " + name_of_register;
  std::string text = fmt::format("CAS {} \"{}\" \"{}\"", name_of_register, expected, desired);
  if (lease) text += " " + sim::to_string(*lease);
  return text;
}

std::uint64_t Ask::digest() const { return digest_bytes(describe()); }

std::string Told::describe() const {
  if (kind == Ask::Kind::fetch) return fmt::format("\"{}\"", content.value);
  return content.swapped ? fmt::format("swapped, version {}", content.version)
                         : fmt::format("no: \"{}\"", content.value);
}

std::uint64_t Told::digest() const { return digest_bytes(describe()); }

/// A lease that has run out is noticed by whoever comes next.
void RegisterServer::end_lease(Register& one, const std::string& name) {
  if (!one.until || !clock().has_reached(*one.until)) return;
  one.value.clear();
  one.until.reset();
  ++one.version;
  world().record_effect(sim::Effect::Kind::expire, id(), name, sim::ProcessId{}, 0);
}

void RegisterServer::receive(sim::Message& message, sim::ConnectionId connection) {
  const auto& request = static_cast<Ask&>(message);
  // Also a question may find that a lease is over, which is a change.
  world().access(digest_bytes(request.name_of_register), true);
  Register& one = registers_[request.name_of_register];
  end_lease(one, request.name_of_register);
  auto effect = sim::Effect::Kind::read;
  auto reply = world().make<Told>();
  reply->kind = request.kind;
  reply->content.swapped = request.kind == Ask::Kind::cas && one.value == request.expected;
  if (reply->content.swapped) {
    one.value = request.desired;
    ++one.version;
    one.until.reset();
    if (request.lease) one.until = clock().now() + *request.lease + grace_;
    effect = one.value.empty() ? sim::Effect::Kind::remove : sim::Effect::Kind::write;
  }
  reply->content.value = one.value;
  reply->content.version = one.version;
  world().record_effect(effect, id(), request.name_of_register, world().client_of(connection), request.operation);
  world().send_reply(connection, request, std::move(reply));
}

void RegisterServer::crashed(bool keep) {
  if (keep || is_durable_) return;
  for (const auto& [name, one] : registers_) {
    if (!one.value.empty()) world().record_effect(sim::Effect::Kind::lose, id(), name, sim::ProcessId{}, 0);
  }
  registers_.clear();
}

std::uint64_t RegisterServer::digest() const {
  std::uint64_t digest = 0;
  for (const auto& [name, one] : registers_)
    digest = sim::combine64(sim::combine64(digest, digest_bytes(name)), static_cast<std::uint64_t>(one.version));
  return digest;
}

}  // namespace lockstep::models::registers
