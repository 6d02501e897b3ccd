#pragma once

// ZooKeeper's protocol, both sides of it: how requests and answers stand in packets. Start here. Each packet comes
// behind its length; a client's first one asks for a session (`ConnectRequest`), those after it begin with a header.
// Source: zookeeper.jute, ZooDefs and ClientCnxn of ZooKeeper 3.8.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/zookeeper/engine/request.hpp"
#include "models/zookeeper/wire/jute.hpp"

namespace lockstep::models::zookeeper::wire {

/// ZooDefs.OpCode.
enum class OpCode : std::int32_t {
  create = 1,
  remove = 2,
  exists = 3,
  get_data = 4,
  set_data = 5,
  get_acl = 6,
  set_acl = 7,
  get_children = 8,
  sync = 9,
  ping = 11,
  get_children2 = 12,
  check = 13,
  multi = 14,
  create2 = 15,
  reconfig = 16,
  check_watches = 17,
  remove_watches = 18,
  create_container = 19,
  delete_container = 20,
  create_ttl = 21,
  multi_read = 22,
  auth = 100,
  set_watches = 101,
  sasl = 102,
  get_ephemerals = 103,
  get_all_children_number = 104,
  set_watches2 = 105,
  add_watch = 106,
  who_am_i = 107,
  create_session = -10,
  close_session = -11,
  error = -1
};

/// What stands for the number of a request where it is none of the client's own.
inline constexpr std::int32_t kNotificationXid = -1, kPingXid = -2, kAuthXid = -4, kSetWatchesXid = -8;

/// jute.maxbuffer: no packet is longer.
inline constexpr std::size_t kLongestPacket = 0xfffff;
inline constexpr std::size_t kPasswordSize = 16;

struct ConnectRequest {
  std::int32_t protocol_version = 0;
  Zxid last_zxid_seen = 0;
  std::int32_t timeout_ms = 0;
  SessionId session = 0;  ///< 0: a new one
  std::string password = std::string(kPasswordSize, '\0');
  std::optional<bool> may_be_read_only = false;  ///< nothing: a client of before 3.4, which does not say
};
struct ConnectResponse {
  std::int32_t timeout_ms = 0;  ///< 0: the session has expired
  SessionId session = 0;
  std::string password = std::string(kPasswordSize, '\0');
  std::optional<bool> is_read_only = false;
};
struct RequestHeader {
  std::int32_t xid = 0;
  OpCode type = OpCode::ping;
};
struct ReplyHeader {
  std::int32_t xid = 0;
  Zxid zxid = 0;
  std::int32_t error = 0;
};

/// A packet with its length before it.
void put_packet(std::string& out, std::string_view packet);

void put(std::string& out, const ConnectRequest& request);
void put(std::string& out, const ConnectResponse& response);
void put(std::string& out, const RequestHeader& header);
void put(std::string& out, const ReplyHeader& header);
ConnectRequest take_connect_request(Reader& in);
ConnectResponse take_connect_response(Reader& in);
RequestHeader take_request_header(Reader& in);
ReplyHeader take_reply_header(Reader& in);

OpCode type_of(const Operation& operation);
/// What follows the header.
void put(std::string& out, const Operation& operation);
/// KeeperException's codes, of requests that no engine sees.
enum class Refusal : std::int32_t {
  none = 0,
  marshalling_error = -5,  ///< what follows the header is none of its type
  unimplemented = -6,      ///< of this server, or of ZooKeeper as it is configured by default
  bad_arguments = -8,
  invalid_acl = -114
};
/// The operation that follows a header of this type. An access list is read over: everybody may do everything, but
/// somebody may. A container is a persistent node that nobody removes.
std::variant<Operation, Refusal> take_operation(Reader& in, OpCode type);

/// What follows the header of an answer to an operation of this type. In the answer to a multi an error stands with the
/// part that has it.
void put_answer(std::string& out, OpCode type, const Operation& asked, const Answer& answer);
/// Children in the order of their names: ZooKeeper's are in none.
Answer take_answer(Reader& in, OpCode type, const ReplyHeader& header);

void put(std::string& out, const WatchedEvent& event);
WatchedEvent take_event(Reader& in);

/// A node's times are 0 (1970), and so is its access list's version.
void put(std::string& out, const Stat& stat);
Stat take_stat(Reader& in);
/// Everybody may do everything.
void put_open_access_list(std::string& out);

}  // namespace lockstep::models::zookeeper::wire
