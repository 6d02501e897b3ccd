#include "door/zookeeper/zookeeper_door.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "sim/schedules/random.hpp"

namespace lockstep::door {
namespace {

namespace wire = models::zookeeper::wire;

/// KeeperException.Code.AUTHFAILED.
constexpr std::int32_t kAuthFailed = -115;

/// Whoever has a session can say this of it. Not a secret: servers here are to be visited.
std::string password_of(models::zookeeper::SessionId session) {
  constexpr std::uint64_t kFirst = 0x6c6f636b, kSecond = 0x73746570;
  std::string password;
  for (const std::uint64_t half : {kFirst, kSecond}) {
    wire::put_long(password, static_cast<std::int64_t>(sim::combine64(half, static_cast<std::uint64_t>(session))));
  }
  return password;
}

/// What ZooKeeper 3.8 knows and this server does not do, or not in every way.
bool is_known(wire::OpCode type) {
  switch (type) {
    case wire::OpCode::create:
    case wire::OpCode::create2:
    case wire::OpCode::create_container:
    case wire::OpCode::set_watches2:
    case wire::OpCode::create_session:
    case wire::OpCode::set_acl:
    case wire::OpCode::check:
    case wire::OpCode::reconfig:
    case wire::OpCode::delete_container:
    case wire::OpCode::create_ttl:
    case wire::OpCode::multi_read:
    case wire::OpCode::get_ephemerals:
    case wire::OpCode::get_all_children_number:
    case wire::OpCode::add_watch:
    case wire::OpCode::who_am_i: return true;
    default: return false;
  }
}

/// What administrators ask (ServerCnxn.java).
bool is_word_of_four(std::string_view word) {
  constexpr std::array<std::string_view, 18> kWords{"conf", "cons", "crst", "dirs", "dump", "envi",
                                                    "gtmk", "hash", "isro", "mntr", "ruok", "srst",
                                                    "srvr", "stat", "stmk", "wchc", "wchp", "wchs"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace

void ZooKeeperDoor::ZooKeeperVisit::forget_input() {
  received = std::string();
  used = 0;
}

void ZooKeeperDoor::ZooKeeperVisit::begin() {
  forget_input();
  has_greeted = is_of_before_34 = closes = false;
  refusal = wire::Refusal::none;
  on = {};
}

/// One request at a time: its answer is written before the next one is carried out, as a session's order asks for.
void ZooKeeperDoor::ZooKeeperVisit::serve() {
  while (state == State::open && !is_waiting() && !is_over) {
    const std::optional<std::string_view> packet = next_packet();
    if (!packet) return;
    if (std::exchange(has_greeted, true)) {
      handle(*packet);
    } else {
      greet(*packet);
    }
  }
}

std::optional<std::string_view> ZooKeeperDoor::ZooKeeperVisit::next_packet() {
  constexpr std::size_t kLengthSize = 4;
  const std::string_view ahead = std::string_view(received).substr(used);
  const auto wait_for_more = [&] {
    received.erase(0, std::exchange(used, 0));
    return std::nullopt;
  };
  if (ahead.size() < kLengthSize) return wait_for_more();
  const std::string_view word = ahead.substr(0, kLengthSize);
  if (!has_greeted && is_word_of_four(word)) {
    answer_word(word);
    return std::nullopt;
  }
  const std::int32_t length = wire::Reader(ahead).take_int();
  if (length < 0 || static_cast<std::size_t>(length) > wire::kLongestPacket) {
    is_over = true;
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(length);
  if (ahead.size() < kLengthSize + size) return wait_for_more();
  used += kLengthSize + size;
  return ahead.substr(kLengthSize, size);
}

/// As of ZooKeeper 3.5 a server answers those that its configuration lists.
void ZooKeeperDoor::ZooKeeperVisit::answer_word(std::string_view word) {
  if (word == "ruok") {
    output += "imok";
  } else if (word == "srvr") {
    if (serves()) {
      const auto* member = ensemble_server();
      const std::string_view mode = member == nullptr ? "standalone" : member->leads() ? "leader" : "follower";
      output += fmt::format("Zookeeper version: 3.8, simulated by Lockstep\nMode: {}\n", mode);
    } else {
      output += "This ZooKeeper instance is not currently serving requests\n";
    }
  } else {
    output += std::string(word) + " is not executed because it is not in the whitelist.\n";
  }
  is_over = true;
}

void ZooKeeperDoor::ZooKeeperVisit::greet(std::string_view packet) {
  wire::Reader in(packet);
  const wire::ConnectRequest request = wire::take_connect_request(in);
  if (!in.is_whole()) {
    is_over = true;
    return;
  }
  is_of_before_34 = !request.may_be_read_only;
  // It has been at a server that knows more, or this one knows no leader: it is to try another one.
  if (request.last_zxid_seen > engine().zxid() || !serves()) {
    is_over = true;
    return;
  }
  if (request.session != 0 && request.password != password_of(request.session)) return answer_greeting({});
  const auto timeout = sim::Duration::milliseconds(std::max(request.timeout_ms, 1));
  ask(models::zookeeper::Connect{.session = request.session, .timeout = timeout, .seen = request.last_zxid_seen});
}

void ZooKeeperDoor::ZooKeeperVisit::answer_greeting(const models::zookeeper::Told& told) {
  on = told.on;
  wire::ConnectResponse response;
  if (on.session != 0) {
    response.timeout_ms = static_cast<std::int32_t>(told.timeout.floor_ms());
    response.session = on.session;
    response.password = password_of(on.session);
  } else {
    // It has expired, or is not this client's: the client hears of it, and is hung up on.
    is_over = true;
  }
  if (is_of_before_34) response.is_read_only.reset();
  std::string packet;
  wire::put(packet, response);
  wire::put_packet(output, packet);
}

void ZooKeeperDoor::ZooKeeperVisit::handle(std::string_view packet) {
  wire::Reader in(packet);
  header = wire::take_request_header(in);
  if (!in.is_whole()) {
    is_over = true;
    return;
  }
  refusal = wire::Refusal::none;
  closes = false;
  if (header.type == OpCode::auth) return authenticate(in);
  if (header.type == OpCode::ping) return ask(models::zookeeper::Ping{});
  if (header.type == OpCode::close_session) {
    closes = true;
    return ask(models::zookeeper::CloseSession{});
  }
  if (header.type == OpCode::sasl) return offer_no_sasl();
  if (header.type == OpCode::get_acl) {
    asked = models::zookeeper::GetData{in.take_some_text()};
    if (!in.is_whole()) return refuse(wire::Refusal::marshalling_error);
    return ask(asked);
  }
  auto operation = wire::take_operation(in, header.type);
  if (const auto* why = std::get_if<wire::Refusal>(&operation)) {
    // A request that is unknown to ZooKeeper as well ends the connection, after the answer.
    closes = *why == wire::Refusal::unimplemented && !is_known(header.type);
    return refuse(*why);
  }
  asked = std::get<models::zookeeper::Operation>(operation);
  ask(asked);
}

/// Whoever asks for something odd is heard of all the same, and the answer bears the number of the latest transaction.
void ZooKeeperDoor::ZooKeeperVisit::refuse(wire::Refusal why) {
  refusal = why;
  ask(models::zookeeper::Ping{});
}

/// As a server without a login configuration.
void ZooKeeperDoor::ZooKeeperVisit::offer_no_sasl() {
  std::string nothing;
  wire::put_int(nothing, -1);
  put_reply(header.xid, 0, 0, nothing);
}

/// Anybody is let in, with whatever name: nothing here is forbidden to anybody.
void ZooKeeperDoor::ZooKeeperVisit::authenticate(wire::Reader& in) {
  in.take_int();
  const std::string scheme = in.take_some_text();
  in.take_text();
  if (!in.is_whole()) {
    is_over = true;
    return;
  }
  const bool is_accepted = scheme == "digest" || scheme == "ip";
  put_reply(header.xid, 0, is_accepted ? 0 : kAuthFailed, "");
  is_over = !is_accepted;
}

void ZooKeeperDoor::ZooKeeperVisit::ask(models::zookeeper::Content content) {
  auto request = door.world().make<models::zookeeper::Request>();
  request->on = on;
  request->content = std::move(content);
  send(std::move(request));
}

void ZooKeeperDoor::ZooKeeperVisit::answer(sim::Message& message) {
  const models::zookeeper::Told& told = static_cast<const models::zookeeper::Reply&>(message).content;
  if (told.is_lost) {
    // The session has expired, or its client has connected anew elsewhere.
    is_over = true;
    return;
  }
  if (on.session == 0) return answer_greeting(told);
  const models::zookeeper::Answer& answer = told.answer;
  const std::int32_t error = refusal != wire::Refusal::none ? static_cast<std::int32_t>(refusal)
                                                            : static_cast<std::int32_t>(answer.result.error);
  std::string content;
  if (error != 0) {
    // The header says all.
  } else if (header.type == OpCode::get_acl) {
    wire::put_open_access_list(content);
    wire::put(content, *answer.result.stat);
  } else if (header.type != OpCode::ping && header.type != OpCode::close_session) {
    wire::put_answer(content, header.type, asked, answer);
  }
  put_reply(header.xid, answer.zxid, error, content);
  is_over = is_over || closes;
}

void ZooKeeperDoor::ZooKeeperVisit::hear(sim::Message& message) {
  if (const auto* closed = dynamic_cast<const models::zookeeper::Closed*>(&message)) {
    is_over = is_over || closed->on == on;
    return;
  }
  const auto* notification = dynamic_cast<const models::zookeeper::Notification*>(&message);
  // Or of somebody who was on this connection before.
  if (notification == nullptr || !(notification->on == on)) return;
  std::string content;
  wire::put(content, notification->event);
  put_reply(wire::kNotificationXid, -1, 0, content);
}

/// A session that is over has no connection, whoever ended it. Its own request to close it is answered before.
bool ZooKeeperDoor::ZooKeeperVisit::has_ended() const {
  return on.session != 0 && !is_waiting() && !engine().is_open(on.session);
}

const sim::Process& ZooKeeperDoor::ZooKeeperVisit::server() const {
  return *door.world().state(door.world().server_of(connection)).process;
}

const models::zookeeper::EnsembleServer* ZooKeeperDoor::ZooKeeperVisit::ensemble_server() const {
  return dynamic_cast<const models::zookeeper::EnsembleServer*>(&server());
}

bool ZooKeeperDoor::ZooKeeperVisit::serves() const {
  const auto* member = ensemble_server();
  return member == nullptr || member->serves();
}

const models::zookeeper::Engine& ZooKeeperDoor::ZooKeeperVisit::engine() const {
  if (const auto* member = ensemble_server()) return member->engine();
  return dynamic_cast<const models::zookeeper::Server&>(server()).engine();
}

void ZooKeeperDoor::ZooKeeperVisit::put_reply(std::int32_t xid, std::int64_t zxid, std::int32_t error,
                                              std::string_view content) {
  std::string packet;
  wire::put(packet, wire::ReplyHeader{xid, zxid, error});
  packet += content;
  wire::put_packet(output, packet);
}

}  // namespace lockstep::door
