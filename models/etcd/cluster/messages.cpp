#include "models/etcd/cluster/messages.hpp"

#include <array>

#include <fmt/format.h>

#include "models/value.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::etcd {

std::string Command::describe() const {
  if (const auto* one = std::get_if<Operation>(&content)) return etcd::describe(*one);
  if (const auto* txn = std::get_if<Txn>(&content)) return etcd::describe(*txn);
  if (const auto* lease = std::get_if<GrantedLease>(&content))
    return fmt::format("LEASE_GRANT {} {}", lease->id, to_string(lease->ttl));
  return fmt::format("LEASE_REVOKE {}", std::get<LeaseRevoke>(content).lease);
}

std::uint64_t Command::digest() const { return sim::combine64(id, digest_bytes(describe())); }

std::string_view MemberMessage::name() const {
  static constexpr std::array<std::string_view, 5> kNames{"PROPOSE", "READINDEX", "READINDEXRESP", "RENEW", "RENEWED"};
  return kNames[content.index()];
}

std::string MemberMessage::describe() const {
  std::string text(name());
  if (const auto* proposed = std::get_if<Propose>(&content)) return text + " " + proposed->command.describe();
  if (const auto* told = std::get_if<TellIndex>(&content)) return fmt::format("{} {}", text, told->index);
  if (const auto* asked = std::get_if<Renew>(&content)) return fmt::format("{} {}", text, asked->lease);
  if (const auto* told = std::get_if<Renewed>(&content)) return text + (told->lives ? "" : ": no such lease");
  return text;
}

std::uint64_t MemberMessage::digest() const {
  const std::uint64_t text = digest_bytes(describe());
  if (const auto* proposed = std::get_if<Propose>(&content)) return sim::combine64(text, proposed->command.digest());
  const RequestId id = std::visit(
      [](const auto& each) {
        if constexpr (requires { each.id; }) return each.id;
        return RequestId{0};
      },
      content);
  return sim::combine64(text, id);
}

}  // namespace lockstep::models::etcd
