#pragma once

// What a ZooKeeper ensemble keeps in its log, and what its servers tell each other besides the log.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/consensus/types.hpp"
#include "models/zookeeper/engine/request.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/ids.hpp"
#include "sim/worlds/message.hpp"

namespace lockstep::models::zookeeper {

/// One request that changes something, as its leader put it into the order of all.
struct Transaction {
  enum class Kind : std::uint8_t {
    open_session,
    close_session,
    operation,
    refused  ///< it came from a session that is over, or is connected elsewhere by now
  };
  Kind kind = Kind::operation;
  SessionId session = 0;
  sim::Duration timeout = {};  ///< of a session that is opened
  Operation operation = {};
  bool expires = false;  ///< of a session that is closed: nothing was heard of it

  // Who asked, and who is to answer.
  consensus::NodeId origin = 0;  ///< the server that the client is connected to
  std::uint64_t serial = 0;      ///< of the request there; 0: nobody asked
  sim::ProcessId by = {};
  sim::OperationId operation_id = 0;

  std::string describe() const;
  std::uint64_t digest() const;
};

/// Between a server and its leader. ZooKeeper's QuorumPacket.
class Packet final : public sim::Message {
 public:
  enum class Kind : std::uint8_t {
    request,      ///< a follower passes on what its client asks for
    ping,         ///< of the leader, every half tick
    touches,      ///< in answer: sessions that the follower has heard of since the last one
    revalidate,   ///< a follower asks whether a session still is
    revalidated,  ///< in answer
    sync,         ///< a follower asks up to where the leader's log reaches
    synced        ///< in answer
  };
  Kind kind = Kind::request;
  consensus::NodeId from = 0;
  consensus::Term term = 0;  ///< of the leader, as the sender has it
  Transaction transaction = {};
  std::vector<SessionId> sessions = {};  ///< touches; revalidate and its answer: one
  std::vector<SessionId> pinged = {};    ///< touches: those that have only sent pings
  std::uint64_t serial = 0;              ///< of a question and its answer
  sim::Duration timeout = {};            ///< revalidated: of the session; zero: it has expired
  consensus::Index index = 0;            ///< synced

  std::string_view name() const override;
  std::string describe() const override;
  std::uint64_t digest() const override;
};

}  // namespace lockstep::models::zookeeper
