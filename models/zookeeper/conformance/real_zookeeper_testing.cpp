// The process behind `RealZooKeeper`, and its protocol: records as jute writes them, numbers with their high bytes
// first, each packet behind its length.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "models/zookeeper/conformance/real_zookeeper.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::zookeeper::conformance {
namespace {

constexpr const char* kJava = "/usr/bin/java";
constexpr const char* kJar = "/usr/share/java/zookeeper.jar";

// ZooDefs.OpCode.
constexpr std::int32_t kCreate = 1, kDelete = 2, kExists = 3, kGetData = 4, kSetData = 5, kGetChildren = 8, kSync = 9,
                       kPing = 11, kGetChildren2 = 12, kCheck = 13, kMulti = 14, kCreate2 = 15, kSetWatches = 101,
                       kCloseSession = -11, kError = -1;
constexpr std::int32_t kNotificationXid = -1, kPingXid = -2, kSetWatchesXid = -8;

void put_int(std::string& out, std::int32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
}
void put_long(std::string& out, std::int64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
}
void put_bool(std::string& out, bool value) { out += value ? '\1' : '\0'; }
void put_text(std::string& out, const std::string& text) {
  put_int(out, static_cast<std::int32_t>(text.size()));
  out += text;
}
void put_texts(std::string& out, const std::vector<std::string>& texts) {
  put_int(out, static_cast<std::int32_t>(texts.size()));
  for (const std::string& text : texts) put_text(out, text);
}

std::string_view take(std::string_view& bytes, std::size_t count) {
  if (bytes.size() < count) throw std::runtime_error("ZooKeeper: a packet is too short");
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}
std::int64_t take_number(std::string_view& bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (const char c : take(bytes, count)) value = value << 8 | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(value);
}
std::int32_t take_int(std::string_view& bytes) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(bytes, 4)));
}
std::int64_t take_long(std::string_view& bytes) { return take_number(bytes, 8); }
/// A length of -1: none.
std::string take_text(std::string_view& bytes) {
  const std::int32_t size = take_int(bytes);
  return std::string(take(bytes, size < 0 ? 0 : static_cast<std::size_t>(size)));
}
/// In their order: ZooKeeper's are in none.
std::vector<std::string> take_names(std::string_view& bytes) {
  std::vector<std::string> names;
  for (std::int32_t count = take_int(bytes); count > 0; --count) names.push_back(take_text(bytes));
  std::sort(names.begin(), names.end());
  return names;
}

void put(std::string& out, const Create& create) {
  put_text(out, create.path);
  put_text(out, create.data);
  // Anybody may do anything.
  put_int(out, 1);
  put_int(out, 31);
  put_text(out, "world");
  put_text(out, "anyone");
  put_int(out, static_cast<std::int32_t>(create.mode));
}
void put(std::string& out, const Delete& asked) {
  put_text(out, asked.path);
  put_int(out, asked.version);
}
void put(std::string& out, const SetData& set) {
  put_text(out, set.path);
  put_text(out, set.data);
  put_int(out, set.version);
}
void put(std::string& out, const Check& check) {
  put_text(out, check.path);
  put_int(out, check.version);
}
template <class Read>
void put(std::string& out, const Read& asked) {
  put_text(out, asked.path);
  put_bool(out, asked.watches);
}
void put(std::string& out, const Sync& asked) { put_text(out, asked.path); }
void put(std::string& out, const SetWatches& asked) {
  put_long(out, asked.relative_zxid);
  for (const auto* paths : {&asked.data, &asked.exist, &asked.child}) put_texts(out, *paths);
}

std::int32_t type_of(const Create& create) { return create.asks_for_stat ? kCreate2 : kCreate; }
std::int32_t type_of(const Delete&) { return kDelete; }
std::int32_t type_of(const SetData&) { return kSetData; }
std::int32_t type_of(const Check&) { return kCheck; }
std::int32_t type_of(const Exists&) { return kExists; }
std::int32_t type_of(const GetData&) { return kGetData; }
std::int32_t type_of(const GetChildren& asked) { return asked.asks_for_stat ? kGetChildren2 : kGetChildren; }
std::int32_t type_of(const Multi&) { return kMulti; }
std::int32_t type_of(const SetWatches&) { return kSetWatches; }
std::int32_t type_of(const Sync&) { return kSync; }

void put(std::string& out, const Multi& multi) {
  const auto put_header = [&](std::int32_t type, bool is_done) {
    put_int(out, type);
    put_bool(out, is_done);
    put_int(out, -1);
  };
  for (const MultiOperation& operation : multi.operations) {
    std::visit(
        [&](const auto& each) {
          put_header(type_of(each), false);
          put(out, each);
        },
        operation);
  }
  put_header(-1, true);
}

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

}  // namespace

namespace {

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
         "\nclientPortAddress=127.0.0.1\nclientPort=" + std::to_string(port) + "\n";
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
  std::string all = "initLimit=50\nsyncLimit=10\n";
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
  std::filesystem::remove_all(folder_);
}

void RealZooKeeper::send(Session& session, std::string_view packet) {
  std::string bytes;
  put_int(bytes, static_cast<std::int32_t>(packet.size()));
  bytes += packet;
  write_all(session.fd, bytes);
}

std::optional<std::string> RealZooKeeper::receive(Session& session, int milliseconds) {
  while (true) {
    std::string_view bytes = session.received;
    if (bytes.size() >= 4) {
      const auto size = static_cast<std::size_t>(take_int(bytes));
      if (bytes.size() >= size) {
        std::string packet(bytes.substr(0, size));
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
  put_int(request, 0);  // the protocol's version
  put_long(request, session.seen);
  put_int(request, timeout_);
  put_long(request, session.real_id);
  put_text(request, session.password);
  put_bool(request, false);  // it may not be read-only
  send(session, request);
  const std::optional<std::string> told = receive(session, 10'000);
  if (!told) return Connected::refused;
  std::string_view bytes = *told;
  take_int(bytes);
  session.timeout = take_int(bytes);
  session.real_id = take_long(bytes);
  session.password = take_text(bytes);
  return session.timeout > 0 ? Connected::yes : Connected::expired;
}

RealZooKeeper::Packet RealZooKeeper::receive_reply(Session& session, std::vector<WatchedEvent>& events) {
  while (true) {
    const std::optional<std::string> told = receive(session, 10'000);
    if (!told) throw std::runtime_error("ZooKeeper did not answer");
    std::string_view bytes = *told;
    Packet packet{take_int(bytes), take_long(bytes), take_int(bytes), {}};
    if (packet.xid != kNotificationXid) {
      packet.content = bytes;
      return packet;
    }
    const auto type = static_cast<EventType>(take_int(bytes));
    take_int(bytes);  // the connection's state
    events.push_back({type, take_text(bytes)});
  }
}

RealZooKeeper::Packet RealZooKeeper::ask(Session& session, std::int32_t type, const std::string& content,
                                         std::vector<WatchedEvent>& events, std::int32_t xid) {
  std::string request;
  put_int(request, xid);
  put_int(request, type);
  send(session, request + content);
  Packet packet = receive_reply(session, events);
  if (packet.xid != xid) throw std::runtime_error("ZooKeeper answers another request");
  return packet;
}

Stat RealZooKeeper::stat_of(std::string_view& bytes) const {
  Stat stat;
  stat.czxid = take_long(bytes);
  stat.mzxid = take_long(bytes);
  take_long(bytes);  // times of its creation and of its data
  take_long(bytes);
  stat.version = take_int(bytes);
  stat.cversion = take_int(bytes);
  take_int(bytes);  // the version of its access list
  const std::int64_t owner = take_long(bytes);
  stat.data_length = take_int(bytes);
  stat.num_children = take_int(bytes);
  stat.pzxid = take_long(bytes);
  stat.ephemeral_owner = owner;
  for (const auto& [id, session] : sessions_) {
    if (owner != 0 && session.real_id == owner) stat.ephemeral_owner = id;
  }
  return stat;
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
      outcome.answer.zxid = ask(session, kCloseSession, "", outcome.events, ++last_xid_).zxid;
      hang_up(step.session);
      return outcome;
    }
    case Step::Kind::operation: break;
  }
  if (step.kind != Step::Kind::operation) {
    outcome.answer.zxid = ask(session, kPing, "", outcome.events, kPingXid).zxid;
    return outcome;
  }

  std::string content;
  const std::int32_t type = std::visit(
      [&](const auto& each) {
        put(content, each);
        return type_of(each);
      },
      step.operation);
  const Packet packet = ask(session, type, content, outcome.events, type == kSetWatches ? kSetWatchesXid : ++last_xid_);
  outcome.answer.zxid = packet.zxid;
  session.seen = std::max(session.seen, packet.zxid);
  Result& result = outcome.answer.result;
  result.error = static_cast<Error>(packet.error);
  std::string_view bytes = packet.content;
  if (type == kMulti) {
    // What one of them says is in its own answer.
    result.error = Error::none;
    while (true) {
      const std::int32_t part = take_int(bytes);
      const bool is_done = take(bytes, 1)[0] != '\0';
      const std::int32_t error = take_int(bytes);
      if (is_done) break;
      Result& own = outcome.answer.results.emplace_back();
      if (part == kError) own.error = static_cast<Error>(take_int(bytes));
      if (part != kError && error != 0) throw std::runtime_error("ZooKeeper: an error that is none");
      if (part == kCreate || part == kCreate2) own.path = take_text(bytes);
      if (part == kCreate2 || part == kSetData) own.stat = stat_of(bytes);
    }
  } else if (result.error == Error::none) {
    if (type == kCreate || type == kCreate2 || type == kSync) result.path = take_text(bytes);
    if (type == kGetData) result.data = take_text(bytes);
    if (type == kGetChildren || type == kGetChildren2) result.children = take_names(bytes);
    const bool has_stat =
        type == kCreate2 || type == kSetData || type == kExists || type == kGetData || type == kGetChildren2;
    if (has_stat) result.stat = stat_of(bytes);
  }
  if (!bytes.empty()) throw std::runtime_error("ZooKeeper: more than was expected");
  return outcome;
}

std::vector<WatchedEvent> RealZooKeeper::events_of(SessionId session) {
  std::vector<WatchedEvent> events;
  ask(sessions_.at(session), kPing, "", events, kPingXid);
  return events;
}

std::optional<std::vector<WatchedEvent>> RealZooKeeper::events_until_closed(SessionId id, int milliseconds) {
  Session& session = sessions_.at(id);
  std::vector<WatchedEvent> events;
  while (const std::optional<std::string> told = receive(session, milliseconds)) {
    std::string_view bytes = *told;
    if (take_int(bytes) != kNotificationXid) throw std::runtime_error("ZooKeeper: not asked for");
    take_long(bytes);
    take_int(bytes);
    const auto type = static_cast<EventType>(take_int(bytes));
    take_int(bytes);
    events.push_back({type, take_text(bytes)});
  }
  char more = 0;
  if (recv(session.fd, &more, 1, MSG_DONTWAIT) != 0) return std::nullopt;
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
