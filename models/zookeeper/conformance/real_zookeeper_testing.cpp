// The process behind `RealZooKeeper`, and a client of its protocol.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "models/zookeeper/conformance/real_zookeeper.hpp"
#include "models/zookeeper/wire/records.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::zookeeper::conformance {
namespace {

constexpr const char* kJava = "/usr/bin/java";
constexpr const char* kJar = "/usr/share/java/zookeeper.jar";
/// In milliseconds: a machine that is busy with other things is no server that does not answer.
constexpr int kPatience = 60'000;
/// In milliseconds: a server of 3.6 to 3.8.0 may put a request aside and sleep until the next one comes (ZOOKEEPER-4537).
/// Clients ping who wait, and that wakes it.
constexpr int kPing = 2'000;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) throw std::runtime_error("ZooKeeper does not listen");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// False: nothing came in that time, or the connection is closed.
bool read_some(int fd, int milliseconds, std::string& received) {
  pollfd poll_at{fd, POLLIN, 0};
  if (poll(&poll_at, 1, milliseconds) <= 0) return false;
  char some[4096];
  const ssize_t size = read(fd, some, sizeof some);
  if (size <= 0) return false;
  received.append(some, static_cast<std::size_t>(size));
  return true;
}

bool is_closed(int fd) {
  char more = 0;
  return recv(fd, &more, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// What an administrator's word is answered with; empty: nobody listens yet.
std::string answer_to(std::uint16_t port, std::string_view word) {
  const int fd = sim::connect_to_port(port);
  if (fd < 0) return "";
  write_all(fd, word);
  std::string received;
  while (read_some(fd, 500, received)) {
  }
  close(fd);
  return received;
}

/// A folder for the servers. Empty: there is no ZooKeeper, and `why` says so.
std::string prepare(std::string& why) {
  if (access(kJava, X_OK) != 0 || access(kJar, R_OK) != 0) {
    why = "no ZooKeeper is installed (Debian: zookeeper)";
    return "";
  }
  std::string folder = (std::filesystem::temp_directory_path() / "lockstep-zookeeper-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return folder;
}

std::string config_of(int tick_milliseconds, const std::string& data, std::uint16_t port) {
  return "tickTime=" + std::to_string(tick_milliseconds) + "\ndataDir=" + data +
         "\nclientPortAddress=127.0.0.1\nclientPort=" + std::to_string(port) +
         // Tests have more connections at a time than the 60 that an address may have.
         "\nmaxClientCnxns=0\n";
}

}  // namespace

void RealZooKeeper::launch(Server& server, const std::string& config, const char* main_class) {
  server.pid = fork();
  if (server.pid != 0) return;
  if (chdir(folder_.c_str()) != 0) _exit(126);
  const int log = open((config + ".log").c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(log, 1);
  dup2(log, 2);
  execl(kJava, kJava, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
        "-Dzookeeper.admin.enableServer=false", "-cp", kJar, main_class, config.c_str(), static_cast<char*>(nullptr));
  _exit(127);
}

std::unique_ptr<RealZooKeeper> RealZooKeeper::start(std::string& why, int tick_milliseconds) {
  const std::string folder = prepare(why);
  if (folder.empty()) return nullptr;
  std::unique_ptr<RealZooKeeper> real(new RealZooKeeper(folder));
  Server& server = real->servers_.emplace_back();
  server.port = sim::free_port();
  std::ofstream(folder + "/zoo.cfg") << config_of(tick_milliseconds, folder + "/data", server.port);
  real->launch(server, "zoo.cfg", "org.apache.zookeeper.server.ZooKeeperServerMain");
  real->leader();
  return real;
}

std::unique_ptr<RealZooKeeper> RealZooKeeper::start_ensemble(std::string& why, std::size_t servers,
                                                             int tick_milliseconds) {
  const std::string folder = prepare(why);
  if (folder.empty()) return nullptr;
  std::unique_ptr<RealZooKeeper> real(new RealZooKeeper(folder));
  std::string all = "initLimit=50\nsyncLimit=10\nmaxSessionTimeout=600000\n";
  for (std::size_t i = 0; i < servers; ++i) {
    all += "server." + std::to_string(i + 1) + "=127.0.0.1:" + std::to_string(sim::free_port()) + ":" +
           std::to_string(sim::free_port()) + "\n";
    real->servers_.push_back({sim::free_port(), 0});
  }
  for (std::size_t i = 0; i < servers; ++i) {
    const std::string name = "server" + std::to_string(i + 1);
    const std::string data = folder + "/" + name;
    std::filesystem::create_directory(data);
    std::ofstream(data + "/myid") << i + 1 << "\n";
    std::ofstream(data + ".cfg") << config_of(tick_milliseconds, data, real->servers_[i].port) << all;
    real->launch(real->servers_[i], name + ".cfg", "org.apache.zookeeper.server.quorum.QuorumPeerMain");
  }
  real->leader();
  return real;
}

std::size_t RealZooKeeper::leader() {
  for (int i = 0; i < 3000; ++i) {
    std::optional<std::size_t> leads;
    bool are_all_there = true;
    for (std::size_t each = 0; each < servers_.size(); ++each) {
      if (servers_[each].pid == 0) continue;
      const std::string told = answer_to(servers_[each].port, "srvr");
      const std::size_t begin = told.find("version: ");
      const bool is_there = begin != std::string::npos && told.find("Mode: ") != std::string::npos;
      are_all_there = are_all_there && is_there;
      if (!is_there) break;
      version_ = told.substr(begin + 9, told.find_first_of("-,", begin) - begin - 9);
      if (told.find("Mode: follower") == std::string::npos) leads = each;
    }
    if (are_all_there && leads) return *leads;
    usleep(10'000);
  }
  throw std::runtime_error("ZooKeeper did not come up");
}

std::unique_ptr<RealZooKeeper> RealZooKeeper::at(std::uint16_t port) {
  std::unique_ptr<RealZooKeeper> real(new RealZooKeeper(""));
  real->servers_.push_back({port, 0});
  return real;
}

void RealZooKeeper::kill(std::size_t server) {
  ::kill(servers_[server].pid, SIGKILL);
  waitpid(servers_[server].pid, nullptr, 0);
  servers_[server].pid = 0;
}

RealZooKeeper::~RealZooKeeper() {
  for (const auto& [id, session] : sessions_) {
    if (session.fd >= 0) close(session.fd);
  }
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i].pid != 0) kill(i);
  }
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

void RealZooKeeper::send(Session& session, std::string_view packet) {
  std::string bytes;
  wire::put_packet(bytes, packet);
  write_all(session.fd, bytes);
}

std::optional<std::string> RealZooKeeper::receive(Session& session, int milliseconds) {
  while (true) {
    if (session.received.size() >= 4) {
      const auto size = static_cast<std::size_t>(wire::Reader(session.received).take_int());
      if (session.received.size() >= 4 + size) {
        std::string packet = session.received.substr(4, size);
        session.received.erase(0, 4 + size);
        return packet;
      }
    }
    if (!read_some(session.fd, milliseconds, session.received)) return std::nullopt;
  }
}

RealZooKeeper::Connected RealZooKeeper::connect(Session& session) {
  session.fd = sim::connect_to_port(servers_[session.server].port);
  if (session.fd < 0) return Connected::refused;
  session.received.clear();
  std::string request;
  wire::put(request, wire::ConnectRequest{.last_zxid_seen = session.seen,
                                          .timeout_ms = timeout_,
                                          .session = session.real_id,
                                          .password = session.password});
  send(session, request);
  const std::optional<std::string> told = receive(session, kPatience);
  if (!told) return Connected::refused;
  wire::Reader in(*told);
  const wire::ConnectResponse response = wire::take_connect_response(in);
  session.timeout = response.timeout_ms;
  session.real_id = response.session;
  session.password = response.password;
  return session.timeout > 0 ? Connected::yes : Connected::expired;
}

std::optional<RealZooKeeper::Packet> RealZooKeeper::receive_reply(Session& session, std::vector<WatchedEvent>& events,
                                                                  int milliseconds) {
  while (const std::optional<std::string> told = receive(session, milliseconds)) {
    wire::Reader in(*told);
    const wire::ReplyHeader header = wire::take_reply_header(in);
    if (header.xid != wire::kNotificationXid) return Packet{header, std::string(in.rest())};
    events.push_back(wire::take_event(in));
  }
  return std::nullopt;
}

RealZooKeeper::Packet RealZooKeeper::ask(Session& session, wire::OpCode type, const std::string& content,
                                         std::vector<WatchedEvent>& events, std::int32_t xid) {
  const auto send_request = [&](std::int32_t number, wire::OpCode code, const std::string& words) {
    std::string request;
    wire::put(request, wire::RequestHeader{number, code});
    send(session, request + words);
  };
  send_request(xid, type, content);
  std::optional<Packet> packet = receive_reply(session, events, kPing);
  int pings = 0;
  for (; !packet; packet = receive_reply(session, events, kPing)) {
    if (is_closed(session.fd)) throw std::runtime_error("ZooKeeper has closed a connection");
    if (pings * kPing >= kPatience) throw std::runtime_error("ZooKeeper did not answer");
    send_request(wire::kPingXid, wire::OpCode::ping, "");
    ++pings;
  }
  if (packet->header.xid != xid) throw std::runtime_error("ZooKeeper answers another request");
  if (pings > 0)
    std::cout << "ZooKeeper answered request " << static_cast<int>(type) << " after " << pings << " pings\n";
  // Answers come in the order of the requests.
  while (pings > 0 && receive_reply(session, events, kPatience)) --pings;
  return *packet;
}

void RealZooKeeper::name_owner(Result& result) const {
  if (!result.stat || result.stat->ephemeral_owner == 0) return;
  const SessionId owner = result.stat->ephemeral_owner;
  for (const auto& [id, session] : sessions_) {
    if (session.real_id == owner) result.stat->ephemeral_owner = id;
  }
}

RealZooKeeper::Outcome RealZooKeeper::carry_out(const Step& step) {
  Outcome outcome;
  Session& session = sessions_[step.session];
  switch (step.kind) {
    case Step::Kind::open:
      if (connect(session) != Connected::yes) throw std::runtime_error("ZooKeeper opens no session");
      break;
    case Step::Kind::reconnect:
      hang_up(step.session);
      if (!reconnect(step.session)) throw std::runtime_error("ZooKeeper has closed a session");
      break;
    case Step::Kind::close: {
      outcome.answer.zxid = ask(session, wire::OpCode::close_session, "", outcome.events, ++last_xid_).header.zxid;
      hang_up(step.session);
      return outcome;
    }
    case Step::Kind::operation: break;
  }
  if (step.kind != Step::Kind::operation) {
    outcome.answer.zxid = ask(session, wire::OpCode::ping, "", outcome.events, wire::kPingXid).header.zxid;
    return outcome;
  }

  std::string content;
  wire::put(content, step.operation);
  const wire::OpCode type = wire::type_of(step.operation);
  const Packet packet = ask(session, type, content, outcome.events,
                            type == wire::OpCode::set_watches ? wire::kSetWatchesXid : ++last_xid_);
  session.seen = std::max(session.seen, packet.header.zxid);
  wire::Reader in(packet.content);
  outcome.answer = wire::take_answer(in, type, packet.header);
  if (!in.is_whole() || !in.is_at_end()) throw std::runtime_error("ZooKeeper: more or less than was expected");
  name_owner(outcome.answer.result);
  for (Result& each : outcome.answer.results) name_owner(each);
  return outcome;
}

std::vector<WatchedEvent> RealZooKeeper::events_of(SessionId session) {
  std::vector<WatchedEvent> events;
  ask(sessions_.at(session), wire::OpCode::ping, "", events, wire::kPingXid);
  return events;
}

std::optional<std::vector<WatchedEvent>> RealZooKeeper::events_until_closed(SessionId id, int milliseconds) {
  Session& session = sessions_.at(id);
  std::vector<WatchedEvent> events;
  while (const std::optional<std::string> told = receive(session, milliseconds)) {
    wire::Reader in(*told);
    if (wire::take_reply_header(in).xid != wire::kNotificationXid) throw std::runtime_error("ZooKeeper: not asked for");
    events.push_back(wire::take_event(in));
  }
  if (!is_closed(session.fd)) return std::nullopt;
  return events;
}

void RealZooKeeper::hang_up(SessionId id) {
  Session& session = sessions_.at(id);
  if (session.fd >= 0) close(std::exchange(session.fd, -1));
}

bool RealZooKeeper::reconnect(SessionId id) {
  Session& session = sessions_.at(id);
  for (int i = 0; i < 500; ++i) {
    const Connected is_connected = connect(session);
    if (is_connected != Connected::refused) return is_connected == Connected::yes;
    if (session.fd >= 0) hang_up(id);
    usleep(20'000);
  }
  throw std::runtime_error("ZooKeeper refuses a session");
}

}  // namespace lockstep::models::zookeeper::conformance
