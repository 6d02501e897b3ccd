#pragma once

// What servers say to each other: a replica asks for the stream and acknowledges it, a primary sends it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "models/redis/data/keyspace.hpp"
#include "models/redis/database/replication.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models::redis {

/// One message of a link between two servers. A link is one attempt of a replica to follow: `number` tells what belongs
/// to it from what an earlier one has left on its way.
class LinkMessage final : public sim::Message {
 public:
  enum class Kind : std::uint8_t {
    psync,           ///< replica: from `offset` of the history `id`
    acknowledges,    ///< replica: has everything up to `offset`
    closed,          ///< either: this link is over, since its process died or somebody closed it
    refused,         ///< primary: cannot serve now; will say `reachable` when it can
    full_resync,     ///< primary: its keys, which are history `id` up to `offset`
    partial_resync,  ///< primary: it can go on; the history is called `id`
    stream,          ///< primary: what comes next
    reachable        ///< a server, to all others: whoever wants to follow may try now
  };

  LinkMessage(Kind k, std::uint64_t link_number) : kind(k), number(link_number) {}
  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;

  Kind kind;
  std::uint64_t number;
  std::string id = {};
  std::int64_t offset = 0;
  bool takes_over = false;  ///< psync: and be the primary from now on (FAILOVER)
  std::shared_ptr<const StreamPart> part = {};
  std::shared_ptr<const Keyspace> keys = {};
};

}  // namespace lockstep::models::redis
