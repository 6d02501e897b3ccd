#pragma once

// What members of an etcd cluster write into their log, and what they send each other besides Raft's own messages.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "models/consensus/types.hpp"
#include "models/etcd/engine/request.hpp"
#include "models/etcd/server/etcd_server.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models::etcd {

/// Of a request, a read or a renewal: no two in a cluster have the same, over crashes, too.
using RequestId = std::uint64_t;

/// A lease as the log has it: its member has made the id up.
struct GrantedLease {
  LeaseId id = 0;
  sim::Duration ttl;
};

/// An entry of the log.
struct Command {
  RequestId id = 0;
  std::variant<Operation, Txn, GrantedLease, LeaseRevoke> content;
  /// For histories; invalid and 0: the leader's lessor has found that a lease is over.
  sim::ProcessId by;
  sim::OperationId operation = 0;

  std::string describe() const;
  std::uint64_t digest() const;
};

class MemberMessage final : public sim::Message {
 public:
  struct Propose {
    Command command;
  };
  /// Up to where has the leader committed?
  struct AskIndex {
    RequestId id = 0;
  };
  struct TellIndex {
    RequestId id = 0;
    consensus::Index index = 0;
  };
  struct Renew {
    RequestId id = 0;
    LeaseId lease = 0;
  };
  struct Renewed {
    RequestId id = 0;
    bool lives = false;  ///< else there is no such lease
  };

  explicit MemberMessage(std::variant<Propose, AskIndex, TellIndex, Renew, Renewed> c) : content(std::move(c)) {}

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;

  std::variant<Propose, AskIndex, TellIndex, Renew, Renewed> content;
};

}  // namespace lockstep::models::etcd
