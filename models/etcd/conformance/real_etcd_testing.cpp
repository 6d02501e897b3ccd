// The process behind `RealEtcd`, and its JSON.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/etcd/conformance/real_etcd.hpp"
#include "sim/testing/local_socket.hpp"

namespace lockstep::models::etcd::conformance {
namespace {

using Json = nlohmann::json;

constexpr const char* kProgram = "/usr/bin/etcd";
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string base64(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j > bytes.size() - i ? '=' : kDigits[group >> (18 - 6 * j) & 63];
  }
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255);
  }
  return bytes;
}

/// 64-bit numbers are strings, and zero is left out.
std::int64_t number(const Json& json, const char* name) {
  return json.contains(name) ? std::stoll(json[name].get<std::string>()) : 0;
}
std::string bytes(const Json& json, const char* name) {
  return json.contains(name) ? from_base64(json[name].get<std::string>()) : "";
}

Json json_of(const Span& span) {
  Json json{{"key", base64(span.key)}};
  if (!span.range_end.empty()) json["range_end"] = base64(span.range_end);
  return json;
}

Json json_of(const Range& range) {
  static constexpr std::array kOrders{"NONE", "ASCEND", "DESCEND"};
  static constexpr std::array kTargets{"KEY", "VERSION", "CREATE", "MOD", "VALUE"};
  Json json = json_of(range.span);
  json["limit"] = range.limit;
  json["revision"] = range.revision;
  json["sort_order"] = kOrders[static_cast<std::size_t>(range.order)];
  json["sort_target"] = kTargets[static_cast<std::size_t>(range.sort_by)];
  json["max_create_revision"] = range.max_create_revision;
  if (range.serializable) json["serializable"] = true;
  return json;
}

Json json_of(const Operation& operation) {
  if (const auto* put = std::get_if<Put>(&operation))
    return {{"key", base64(put->key)}, {"value", base64(put->value)}, {"lease", put->lease}};
  if (const auto* removed = std::get_if<DeleteRange>(&operation)) return json_of(removed->span);
  return json_of(std::get<Range>(operation));
}

Json json_of(const Compare& compare) {
  static constexpr std::array kTargets{"VERSION", "CREATE", "MOD", "VALUE"};
  static constexpr std::array kFields{"version", "create_revision", "mod_revision", "value"};
  static constexpr std::array kResults{"EQUAL", "GREATER", "LESS", "NOT_EQUAL"};
  Json json = json_of(compare.span);
  const auto target = static_cast<std::size_t>(compare.target);
  json["target"] = kTargets[target];
  json["result"] = kResults[static_cast<std::size_t>(compare.is)];
  if (compare.target == Compare::Target::value) {
    json[kFields[target]] = base64(compare.value);
  } else {
    json[kFields[target]] = compare.number;
  }
  return json;
}

Json json_of(const Txn& txn) {
  static constexpr std::array kRequests{"request_range", "request_put", "request_delete_range"};
  Json json{{"compare", Json::array()}, {"success", Json::array()}, {"failure", Json::array()}};
  for (const Compare& each : txn.compare) json["compare"].push_back(json_of(each));
  for (const auto& [name, branch] : {std::pair("success", &txn.success), std::pair("failure", &txn.failure)}) {
    for (const Operation& each : *branch) json[name].push_back(Json{{kRequests[each.index()], json_of(each)}});
  }
  return json;
}

KeyValue key_value_of(const Json& json) {
  return {bytes(json, "key"),           number(json, "create_revision"),
          number(json, "mod_revision"), number(json, "version"),
          bytes(json, "value"),         number(json, "lease")};
}

Revision revision_of(const Json& json) { return json.contains("header") ? number(json["header"], "revision") : 0; }

OperationAnswer operation_answer_of(const Json& json) {
  OperationAnswer answer{.revision = revision_of(json)};
  if (json.contains("kvs")) {
    for (const Json& kv : json["kvs"]) answer.kvs.push_back(key_value_of(kv));
  }
  answer.more = json.value("more", false);
  answer.count = number(json, "count");
  answer.deleted = number(json, "deleted");
  return answer;
}

Error error_of(const std::string& message) {
  for (int i = 1; i <= static_cast<int>(Error::lease_exists); ++i) {
    if (to_string(static_cast<Error>(i)) == message) return static_cast<Error>(i);
  }
  throw std::runtime_error("etcd: " + message);
}

std::string_view path_of(const Step& step) {
  static constexpr std::array<std::string_view, 3> kOperations{"kv/range", "kv/put", "kv/deleterange"};
  switch (step.kind) {
    case Step::Kind::operation: return kOperations[step.operation.index()];
    case Step::Kind::txn: return "kv/txn";
    case Step::Kind::compact: return "kv/compaction";
    case Step::Kind::grant: return "lease/grant";
    case Step::Kind::revoke: return "lease/revoke";
    case Step::Kind::keep_alive: return "lease/keepalive";
    case Step::Kind::time_to_live: break;
  }
  return "lease/timetolive";
}

Json json_of(const Step& step, std::int64_t ttl_seconds) {
  switch (step.kind) {
    case Step::Kind::operation: return json_of(step.operation);
    case Step::Kind::txn: return json_of(step.txn);
    case Step::Kind::compact: return {{"revision", step.revision}, {"physical", true}};
    case Step::Kind::grant: return {{"ID", step.lease}, {"TTL", ttl_seconds}};
    case Step::Kind::time_to_live: return {{"ID", step.lease}, {"keys", true}};
    case Step::Kind::revoke:
    case Step::Kind::keep_alive: break;
  }
  return {{"ID", step.lease}};
}

std::string request(std::string_view path, const std::string& body) {
  return "POST /v3/" + std::string(path) + " HTTP/1.1\r\nHost: etcd\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written <= 0) throw std::runtime_error("etcd does not listen");
    text.remove_prefix(static_cast<std::size_t>(written));
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

/// Removes the head of an answer. Nothing: not all of it is there.
std::optional<std::string> take_head(std::string& received) {
  const std::size_t end = received.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  std::string head = received.substr(0, end + 2);
  received.erase(0, end + 4);
  return head;
}

/// Removes a chunk. Nothing: not all of it is there. Empty: it is the last one.
std::optional<std::string> take_chunk(std::string& received) {
  const std::size_t line = received.find("\r\n");
  if (line == std::string::npos) return std::nullopt;
  const std::size_t size = std::stoul(received.substr(0, line), nullptr, 16);
  if (received.size() < line + 2 + size + 2) return std::nullopt;
  std::string chunk = received.substr(line + 2, size);
  received.erase(0, line + 2 + size + 2);
  return chunk;
}

}  // namespace

namespace {

bool is_installed(std::string& why) {
  if (access(kProgram, X_OK) == 0) return true;
  why = "no etcd is installed (Debian: etcd-server)";
  return false;
}

/// It takes a socket's name for a host with a port, and so without a folder.
std::string socket_of(const char* what, std::size_t number) { return what + std::to_string(number) + ":1"; }

}  // namespace

RealEtcd::Folder::Folder() : path((std::filesystem::temp_directory_path() / "lockstep-etcd-XXXXXX").string()) {
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
}

RealEtcd::Folder::~Folder() { std::filesystem::remove_all(path); }

std::unique_ptr<RealEtcd> RealEtcd::start(std::string& why) {
  if (!is_installed(why)) return nullptr;
  std::unique_ptr<RealEtcd> server(new RealEtcd(std::make_shared<const Folder>(), 0, 1));
  server->start_process();
  server->wait_until_up();
  return server;
}

std::vector<std::unique_ptr<RealEtcd>> RealEtcd::start_cluster(std::size_t members, std::string& why) {
  std::vector<std::unique_ptr<RealEtcd>> cluster;
  if (!is_installed(why)) return cluster;
  const auto folder = std::make_shared<const Folder>();
  for (std::size_t i = 0; i < members; ++i) cluster.emplace_back(new RealEtcd(folder, i, members))->start_process();
  for (const auto& member : cluster) member->wait_until_up();
  const auto leads = [](const auto& member) { return member->leads(); };
  for (int i = 0; i < 1000 && std::none_of(cluster.begin(), cluster.end(), leads); ++i) usleep(10'000);
  return cluster;
}

void RealEtcd::start_process() {
  const std::string client = "unix://" + socket_of("client", number_);
  const std::string peer = "unix://" + socket_of("peer", number_);
  std::string all;
  for (std::size_t i = 0; i < members_; ++i)
    all += (i == 0 ? "m" : ",m") + std::to_string(i) + "=unix://" + socket_of("peer", i);
  std::vector<std::string> words{kProgram,
                                 "--name",
                                 "m" + std::to_string(number_),
                                 "--data-dir",
                                 "data" + std::to_string(number_),
                                 "--unsafe-no-fsync",
                                 "--listen-client-urls",
                                 client,
                                 "--advertise-client-urls",
                                 client,
                                 "--listen-peer-urls",
                                 peer,
                                 "--initial-advertise-peer-urls",
                                 peer,
                                 "--initial-cluster",
                                 all};
  if (members_ > 1) words.insert(words.end(), {"--heartbeat-interval", "20", "--election-timeout", "200"});
  pid_ = fork();
  if (pid_ != 0) return;
  if (chdir(folder_->path.c_str()) != 0) _exit(126);
  const int log = open(("log" + std::to_string(number_)).c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(log, 1);
  dup2(log, 2);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(kProgram, arguments.data());
  _exit(127);
}

void RealEtcd::wait_until_up() {
  for (int i = 0; i < 1000; ++i) {
    fd_ = connect();
    if (fd_ >= 0) {
      write_all(fd_, "GET /version HTTP/1.1\r\nHost: etcd\r\n\r\n");
      std::string received;
      while (received.find('}') == std::string::npos) {
        if (!read_some(fd_, 10'000, received)) throw std::runtime_error("etcd did not answer");
      }
      version_ = Json::parse(received.substr(received.find('{')))["etcdserver"].get<std::string>();
      return;
    }
    usleep(10'000);
  }
  throw std::runtime_error("etcd did not come up");
}

void RealEtcd::kill() {
  close(std::exchange(fd_, -1));
  ::kill(pid_, SIGKILL);
  waitpid(std::exchange(pid_, 0), nullptr, 0);
}

void RealEtcd::start_again() {
  std::filesystem::remove(folder_->path + "/" + socket_of("client", number_));
  std::filesystem::remove(folder_->path + "/" + socket_of("peer", number_));
  start_process();
  wait_until_up();
}

RealEtcd::~RealEtcd() {
  if (pid_ != 0) kill();
}

int RealEtcd::connect() const { return sim::connect_to(folder_->path + "/" + socket_of("client", number_)); }

bool RealEtcd::leads() {
  const Json json = Json::parse(post("maintenance/status", "{}"));
  return json.contains("leader") && json["leader"] == json["header"]["member_id"];
}

std::int64_t RealEtcd::time_to_live(LeaseId lease) {
  return number(Json::parse(post("lease/timetolive", Json{{"ID", lease}}.dump())), "TTL");
}

std::string RealEtcd::post(std::string_view path, const std::string& body) {
  write_all(fd_, request(path, body));
  std::string received;
  std::optional<std::string> head;
  std::string answer;
  while (true) {
    if (!read_some(fd_, 10'000, received)) throw std::runtime_error("etcd did not answer");
    if (!head) head = take_head(received);
    if (!head) continue;
    if (const std::size_t length = head->find("Content-Length: "); length != std::string::npos) {
      if (received.size() >= std::stoul(head->substr(length + 16))) return received;
      continue;
    }
    while (const auto chunk = take_chunk(received)) {
      if (chunk->empty()) return answer;
      answer += *chunk;
    }
  }
}

Outcome RealEtcd::carry_out(const Step& step, std::int64_t ttl_seconds) {
  const std::optional<Outcome> outcome = try_to_carry_out(step, ttl_seconds);
  if (!outcome) throw std::runtime_error("etcd cannot tell");
  return *outcome;
}

std::optional<Outcome> RealEtcd::try_to_carry_out(const Step& step, std::int64_t ttl_seconds) {
  Json json = Json::parse(post(path_of(step), json_of(step, ttl_seconds).dump()));
  if (json.contains("error")) {
    const std::string error = json["error"].get<std::string>();
    // "etcdserver: request timed out, possibly due to previous leader failure", "etcdserver: leader changed", …
    for (const std::string_view unavailable : {"request timed out", "leader changed", "no leader"}) {
      if (error.find(unavailable) != std::string::npos) return std::nullopt;
    }
    return Outcome{{.error = error_of(error)}};
  }
  if (json.contains("result")) json = Json(json["result"]);
  Outcome outcome{{.revision = revision_of(json)}};
  if (step.kind == Step::Kind::operation) outcome.answer.responses.push_back(operation_answer_of(json));
  outcome.answer.succeeded = json.value("succeeded", false);
  if (json.contains("responses")) {
    for (const Json& each : json["responses"])
      outcome.answer.responses.push_back(operation_answer_of(each.begin().value()));
  }
  // A lease with less than a second left has a time to live of 0, one that is not there -1.
  if (step.kind == Step::Kind::keep_alive) outcome.lease_lives = number(json, "TTL") > 0;
  if (step.kind == Step::Kind::time_to_live) outcome.lease_lives = number(json, "TTL") >= 0;
  if (json.contains("keys")) {
    for (const Json& key : json["keys"]) outcome.lease_keys.push_back(from_base64(key.get<std::string>()));
  }
  std::sort(outcome.lease_keys.begin(), outcome.lease_keys.end());
  return outcome;
}

RealEtcd::Watch::Watch(const RealEtcd& server, const Span& span, Revision start_revision) : fd_(server.connect()) {
  Json json = json_of(span);
  json["start_revision"] = start_revision;
  write_all(fd_, request("watch", Json{{"create_request", json}}.dump()));
  // From the word that it is there.
  std::optional<std::string> head;
  std::optional<std::string> created;
  while (!created) {
    if (!read_within(10'000)) throw std::runtime_error("etcd did not answer");
    if (!head) head = take_head(received_);
    if (head) created = take_chunk(received_);
  }
  if (created->find("created") == std::string::npos) throw std::runtime_error("no watch: " + *created);
  take_lines();
}

RealEtcd::Watch::~Watch() { close(fd_); }

bool RealEtcd::Watch::read_within(int milliseconds) { return read_some(fd_, milliseconds, received_); }

void RealEtcd::Watch::take_lines() {
  while (const auto chunk = take_chunk(received_)) text_ += *chunk;
  for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    if (line.empty()) continue;
    const Json json = Json::parse(line)["result"];
    if (json.value("canceled", false)) compact_revision = number(json, "compact_revision");
    if (!json.contains("events")) continue;
    for (const Json& event : json["events"])
      events.push_back({event.value("type", "PUT") == "DELETE", key_value_of(event["kv"])});
  }
}

void RealEtcd::Watch::listen(std::size_t count, bool is_cancelled, int milliseconds_more) {
  while (events.size() < count || (is_cancelled && compact_revision == 0)) {
    if (!read_within(5'000)) return;
    take_lines();
  }
  while (read_within(milliseconds_more)) take_lines();
}

}  // namespace lockstep::models::etcd::conformance
