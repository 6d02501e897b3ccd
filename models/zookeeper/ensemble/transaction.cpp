#include "models/zookeeper/ensemble/transaction.hpp"

#include <array>

#include <fmt/format.h>

#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::zookeeper {

std::string Transaction::describe() const {
  switch (kind) {
    case Kind::open_session: return fmt::format("session {} opens for {}", session, sim::to_string(timeout));
    case Kind::close_session: return fmt::format("session {} {}", session, expires ? "expires" : "closes");
    case Kind::refused: return fmt::format("session {}: refused", session);
    case Kind::operation: break;
  }
  return fmt::format("session {}: {}", session, zookeeper::describe(operation));
}

std::uint64_t Transaction::digest() const {
  return sim::combine64(digest_bytes(describe()), sim::combine64(serial, origin));
}

std::string_view Packet::name() const {
  static constexpr std::array<std::string_view, 7> kNames{"REQUEST",     "LEADER_PING", "TOUCHES", "REVALIDATE",
                                                          "REVALIDATED", "LEADER_SYNC", "SYNCED"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string Packet::describe() const {
  std::string text(name());
  if (kind == Kind::request) text += " " + transaction.describe();
  for (const SessionId session : sessions) text += fmt::format(" {}", session);
  if (!pinged.empty()) text += ", pinged";
  for (const SessionId session : pinged) text += fmt::format(" {}", session);
  if (kind == Kind::revalidated) text += timeout == sim::Duration::zero() ? ": expired" : " is there";
  if (kind == Kind::synced) text += fmt::format(" up to {}", index);
  return text;
}

std::uint64_t Packet::digest() const {
  return sim::combine64(digest_bytes(describe()), sim::combine64(serial, sim::combine64(term, from)));
}

}  // namespace lockstep::models::zookeeper
