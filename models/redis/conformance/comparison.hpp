#pragma once

// For the tests of this folder: the simulated server and a real one, told the same, every reply compared byte by byte.
//
// Where Redis itself promises less than bytes, the comparison asks for what it promises:
//   - SMEMBERS, SINTER, SUNION, SDIFF, HGETALL, HKEYS, HVALS, KEYS, SCAN and its relatives, PUBSUB CHANNELS,
//     CONFIG GET: any order;
//   - RANDOMKEY: a key; INFO: its last section, without the average ages;
//   - SPOP: the simulated server is made to choose as the real one did; SRANDMEMBER, HRANDFIELD, ZRANDMEMBER: as many;
//   - COMMAND, COMMAND COUNT, DOCS and INFO without names: of the same type; CLIENT INFO, CLIENT LIST: the fields that are modelled, without the ids;
//   - TTL, PTTL, EXPIRETIME, PEXPIRETIME: within 30 seconds, which is what a slow test may take;
//   - the messages that one client gets of one PUBLISH for several of its patterns: any order;
//   - TIME, CLIENT ID, the id in HELLO: of the same form.

#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/redis/conformance/random_commands.hpp"
#include "models/redis/conformance/real_redis.hpp"
#include "models/redis/database/database.hpp"
#include "sim/schedules/decisions.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {

using namespace sim::literals;

constexpr std::size_t kConnections = 5;

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Takes the members of a set in the order in which the real server took them.
class Guided final : public sim::Decisions {
 public:
  std::uint64_t choose(sim::Choice, std::uint64_t options, sim::EventId) override {
    if (set == nullptr || next == wanted.size()) return 0;
    const std::string member = wanted[next++];
    const auto members = set->items();
    const auto found =
        std::find_if(members.begin(), members.end(), [&](const SetMember& m) { return m.key == member; });
    const auto position = static_cast<std::uint64_t>(found - members.begin());
    return position < options ? position : 0;
  }
  const Set* set = nullptr;
  std::vector<std::string> wanted;
  std::size_t next = 0;
};

/// Of each connection that CLIENT LIST tells of.
inline std::string modelled_fields(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); out += '\n') {
    std::istringstream fields(line);
    for (std::string field; fields >> field;) {
      const std::string_view name = std::string_view(field).substr(0, field.find('='));
      if (is_one_of(name, {"name", "flags", "db", "sub", "psub", "ssub", "multi", "user", "redir", "resp"})) {
        // The real one listens on a socket in the file system, which it tells with a U.
        if (name == "flags") std::erase(field, 'U');
        out += (field == "flags=" ? "flags=N" : field) + ' ';
      }
    }
  }
  return out;
}

/// RESP3's type for an array, or nothing in RESP2.
inline std::string type_of(const Reply& reply) {
  return reply.protocol() == Protocol::resp3 ? reply.resp().substr(0, 1) : "";
}

/// INFO keyspace: how long keys live on the average a real server finds out at random.
inline std::string without_ages(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += line.substr(0, line.find(",avg_ttl")) + '\n';
  return out;
}

/// A reply, as a client has parsed it, in the form in which two servers must agree on it.
inline std::string comparable(const Command& command, const Reply& reply) {
  std::string_view name = command.name();
  if (name.starts_with("EVAL")) {
    // The scripts that run their arguments as a command.
    if (command.size() < 4 || !command[2].integer() || *command[2].integer() != 0) return reply.resp();
    if (command[1].text().find("(unpack(ARGV))") == std::string::npos) return reply.resp();
    Command inner;
    for (std::size_t i = 3; i < command.size(); ++i) inner.push_back(command[i]);
    return comparable(inner, reply);
  }
  if (is_one_of(name, {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}) && reply.is_integer() && reply.integer() > 0) {
    return "a time";
  }
  if (name == "CLIENT ID" && reply.is_integer()) return "a number";
  if (name == "HELLO" && reply.is_array() && reply.items().size() == 14) {
    std::string out;
    for (std::size_t i = 0; i < reply.items().size(); ++i) out += i == 7 ? "a number" : reply.items()[i].resp();
    return out;
  }
  if (name == "RANDOMKEY" && reply.is_bulk()) return "a key";
  if (name == "INFO" && command.size() == 1 && reply.is_bulk()) return "what there is";
  if (name == "INFO" && reply.is_bulk()) return without_ages(reply.value().text());
  if (name == "TIME" && reply.is_array()) return "a time";
  if (name == "COMMAND COUNT" && reply.is_integer()) return "a number";
  if (is_one_of(name, {"COMMAND", "COMMAND DOCS"}) && reply.is_array()) return "what there is";
  if (name == "COMMAND INFO" && command.size() == 2 && reply.is_array()) return "what there is";
  if (is_one_of(name, {"CLIENT INFO", "CLIENT LIST"}) && reply.is_bulk()) {
    return type_of(reply) + modelled_fields(reply.value().text());
  }
  if (is_one_of(name, {"SRANDMEMBER", "HRANDFIELD", "ZRANDMEMBER"}) && !reply.is_error()) {
    if (!reply.is_array()) return type_of(reply) + (reply.is_nil() ? "none" : "a member");
    const bool is_nested = !reply.items().empty() && reply.items().front().is_array();
    return type_of(reply) + std::to_string(reply.items().size()) + (is_nested ? " pairs" : " members");
  }
  const bool is_unordered =
      is_one_of(name, {"SMEMBERS", "SINTER", "SUNION", "SDIFF", "HKEYS", "HVALS", "KEYS", "PUBSUB CHANNELS"});
  if ((is_unordered || name == "FUNCTION LIST") && reply.is_array()) {
    std::vector<std::string> items;
    for (const Reply& item : reply.items()) items.push_back(item.resp());
    std::sort(items.begin(), items.end());
    std::string out = type_of(reply) + "in any order:";
    for (const std::string& item : items) out += item;
    return out;
  }
  const bool is_scan = is_one_of(name, {"SCAN", "HSCAN", "SSCAN", "ZSCAN"});
  if ((is_one_of(name, {"HGETALL", "CONFIG GET"}) || is_scan) && reply.is_array() && !reply.is_error()) {
    if (is_scan && reply.items().size() != 2) return reply.resp();
    const auto& items = is_scan ? reply.items()[1].items() : reply.items();
    const std::size_t width = is_one_of(name, {"HGETALL", "CONFIG GET", "HSCAN", "ZSCAN"}) ? 2 : 1;
    std::vector<std::string> groups;
    for (std::size_t i = 0; i + width <= items.size(); i += width) {
      groups.push_back(items[i].resp() + (width == 2 ? items[i + 1].resp() : ""));
    }
    std::sort(groups.begin(), groups.end());
    std::string out = type_of(reply) + (is_scan ? reply.items()[0].resp() : "");
    for (const std::string& group : groups) out += group;
    return out;
  }
  return reply.resp();
}

/// Both servers, and what has been said to them.
class Comparison {
 public:
  /// All connections begin with HELLO 3 if that is the protocol.
  explicit Comparison(const RealRedis& real, Protocol protocol = Protocol::resp2)
      : clock_(world_, now(), 0), database_(scripts_) {
    for (std::size_t i = 0; i < kConnections; ++i) real_.push_back(real.connect());
    admin_ = std::make_unique<RealRedis::Connection>(real.connect());
    for (std::size_t i = 0; i < kConnections && protocol == Protocol::resp3; ++i) send(i, "HELLO 3");
  }

  /// One request, compared at once.
  void send(std::size_t who, const Command& command) { send(who, std::vector<Command>{command}); }
  void send(std::size_t who, std::string_view line) { send(who, std::get<Command>(parse_command_line(line))); }

  /// Several requests on one connection, sent as one. Only the last may block.
  void send(std::size_t who, const std::vector<Command>& commands) {
    clock_.jump(1_ms);
    std::string bytes;
    for (const Command& command : commands) append_request(bytes, command);
    real_[who].send(bytes);
    for (const Command& command : commands) {
      try {
        exchange(who, command);
      } catch (const std::runtime_error& error) {
        fail(error.what());
      }
    }
    sent_ += commands.size();
  }

  bool is_blocked(std::size_t who) const { return database_.is_blocked(id(who)); }
  bool takes_subscriptions_alone(std::size_t who) { return database_.session(id(who)).takes_subscriptions_alone(); }
  bool is_in_transaction(std::size_t who) { return database_.session(id(who)).in_transaction; }
  DatabaseId database_of(std::size_t who) { return database_.session(id(who)).database; }
  std::size_t sent() const { return sent_; }
  /// How many messages of channels were compared.
  std::size_t messages() const { return messages_; }
  const std::map<std::string, int>& met() const { return met_; }
  const Database& database() const { return database_; }

  /// Real time, and as much for the simulated server.
  void sleep(sim::Duration d) {
    usleep(static_cast<useconds_t>(d.count_ns() / 1000));
    clock_.jump(d);
  }
  void time_out(std::size_t who) {
    database_.time_out(id(who));
    receive_deliveries();
  }

  /// Nobody has anything more to read.
  void require_silence() {
    if (differences_count_ > 0) fail("some differences");
    for (std::size_t who = 0; who < kConnections; ++who) {
      const auto more = real_[who].receive_within(0);
      if (more) fail("the real server also sends to " + std::to_string(who) + ": " + more->describe());
    }
  }
  std::uint64_t now_seconds() const {
    return static_cast<std::uint64_t>(clock_.now().offset().count_ns() / 1'000'000'000);
  }

 private:
  static SessionId id(std::size_t who) { return static_cast<SessionId>(who + 1); }
  static sim::Duration now() { return sim::Duration::seconds(static_cast<std::int64_t>(::time(nullptr))); }

  void exchange(std::size_t who, const Command& command) {
    if (is_in_transaction(who)) {
      if (queue_[who].empty()) queue_[who].push_back(Command{"MULTI"});
      queue_[who].push_back(command);
    }
    log_.push_back(std::to_string(who) + "> " + command.describe());
    const bool pops = command.name() == "SPOP";
    std::vector<Reply> theirs;
    if (pops) {
      // Messages may come first.
      while (heard(theirs).replies.empty()) theirs.push_back(real_[who].receive());
      guide(who, command, theirs.back());
    }
    const std::vector<Command> queued = database_.session(id(who)).queue;
    std::optional<Reply> ours = database_.execute(id(who), command, clock_);
    decisions_.set = nullptr;
    if (!ours) {
      wait_until_blocked();
      return;
    }
    ++met_[std::string(command.name())];
    // As a client parses its bytes: also of what it has published to itself.
    const Heard our_own = heard(parsed(ours->resp()));
    while (theirs.size() < our_own.parsed) theirs.push_back(real_[who].receive());
    const Heard their_own = heard(theirs);
    if (our_own.messages != their_own.messages) {
      fail("messages among the replies\n  real:\n" + their_own.shown() + "  simulated:\n" + our_own.shown());
    }
    messages_ += our_own.messages.size();
    if (our_own.replies.size() != their_own.replies.size()) fail("another number of replies");
    if (command.name() == "EXEC" && ours->is_array()) {
      compare_items(queued, *ours, our_own.replies, their_own.replies);
    } else {
      for (std::size_t i = 0; i < our_own.replies.size(); ++i) {
        compare(command, our_own.replies[i], their_own.replies[i]);
      }
      if (!our_own.replies.empty()) compare_times(command, our_own.replies.back(), their_own.replies.back());
    }
    receive_deliveries();
  }

  static std::vector<Reply> parsed(std::string_view bytes) {
    ReplyParser parser;
    parser.feed(bytes);
    std::vector<Reply> replies;
    while (true) {
      auto next = parser.next();
      if (Reply* reply = std::get_if<Reply>(&next)) {
        replies.push_back(std::move(*reply));
      } else if (const auto* error = std::get_if<ProtocolError>(&next)) {
        throw std::runtime_error("the simulated server: " + error->message);
      } else {
        return replies;
      }
    }
  }

  /// What one request brought: messages may be anywhere among the replies, even inside of an array, where they push its last items out of it.
  struct Heard {
    std::size_t parsed = 0;      ///< as a client counts them
    std::vector<Reply> replies;  ///< without the messages
    /// And in front of which reply, or item of one, each came: "0.3.1". Not counted from the beginning, as COMMAND DOCS may be of any length.
    std::vector<std::pair<std::string, std::string>> messages;
    std::string shown() const {
      std::string out;
      for (const auto& [place, message] : messages) {
        out += "    before " + place + ": " + parse_one(message).describe() + "\n";
      }
      return out;
    }
  };

  static Reply parse_one(std::string_view bytes) { return parsed(bytes).front(); }

  static Heard heard(const std::vector<Reply>& replies) {
    Heard result{.parsed = replies.size()};
    std::string bytes;
    std::size_t place = 0;
    std::vector<std::pair<std::size_t, std::string>> messages;
    for (const Reply& reply : replies) separate(reply, bytes, place, messages);
    result.replies = parsed(bytes);
    if (messages.empty()) return result;
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < result.replies.size(); ++i) add_paths(result.replies[i], std::to_string(i), paths);
    for (auto& [at, message] : messages) {
      result.messages.emplace_back(at < paths.size() ? paths[at] : "the end", std::move(message));
    }
    // Several patterns of one message come in any order.
    auto& all = result.messages;
    const auto subject = [](const std::string& message) {
      const Reply reply = parse_one(message);
      return reply.items().size() == 4 ? reply.items()[2].resp() + reply.items()[3].resp() : "";
    };
    for (auto first = all.begin(); first != all.end();) {
      const auto end = std::find_if_not(first, all.end(), [&](const auto& other) {
        return first->first == other.first && subject(first->second) == subject(other.second);
      });
      if (!subject(first->second).empty()) std::sort(first, end);
      first = end;
    }
    return result;
  }

  static void add_paths(const Reply& reply, const std::string& path, std::vector<std::string>& paths) {
    paths.push_back(path);
    if (!reply.is_array()) return;
    for (std::size_t i = 0; i < reply.items().size(); ++i) {
      add_paths(reply.items()[i], path + "." + std::to_string(i), paths);
    }
  }

  static void separate(const Reply& reply, std::string& bytes, std::size_t& place,
                       std::vector<std::pair<std::size_t, std::string>>& messages) {
    const auto is_message = [&] {
      const std::size_t size = reply.items().size();
      return (size == 3 && reply.items()[0] == Reply::bulk("message")) ||
             (size == 4 && reply.items()[0] == Reply::bulk("pmessage"));
    };
    if (reply.is_array() && is_message()) {
      messages.emplace_back(place, reply.resp());
      return;
    }
    ++place;
    const std::string all = reply.resp();
    if (!reply.is_array()) {
      bytes += all;
      return;
    }
    bytes += all.substr(0, all.find('\n') + 1);
    for (const Reply& item : reply.items()) separate(item, bytes, place, messages);
  }

  /// A client takes as many items as EXEC has commands, although the server writes some more: several confirmations of one SUBSCRIBE push the
  /// last items out of the array.
  void compare_items(const std::vector<Command>& queued, const Reply& ours, const std::vector<Reply>& our_replies,
                     const std::vector<Reply>& their_replies) {
    if (!their_replies.front().is_array() ||
        our_replies.front().items().size() != their_replies.front().items().size()) {
      return compare(Command{"EXEC"}, our_replies.front(), their_replies.front());
    }
    const auto all = [](const std::vector<Reply>& replies) {
      std::vector<Reply> items = replies.front().items();
      items.insert(items.end(), replies.begin() + 1, replies.end());
      return items;
    };
    const std::vector<Reply> our_items = all(our_replies), their_items = all(their_replies);
    std::size_t at = 0;
    for (std::size_t i = 0; i < queued.size(); ++i) {
      ++met_[std::string(queued[i].name())];
      const std::size_t written = heard(parsed(ours.items()[i].resp())).replies.size();
      for (std::size_t k = 0; k < written; ++k, ++at) compare(queued[i], our_items[at], their_items[at]);
    }
  }

  void guide(std::size_t who, const Command& command, const Reply& theirs) {
    decisions_.wanted.clear();
    decisions_.next = 0;
    if (theirs.is_bulk()) decisions_.wanted.push_back(theirs.value().text());
    if (theirs.is_array()) {
      for (const Reply& item : theirs.items()) decisions_.wanted.push_back(item.value().text());
    }
    const Entry* entry = command.size() > 1 ? database_.keys().peek(command[1].text(), database_of(who)) : nullptr;
    decisions_.set = entry != nullptr ? std::get_if<Set>(&entry->object) : nullptr;
  }

  void compare(const Command& command, const Reply& ours, const Reply& theirs) {
    const std::string a = comparable(command, ours);
    const std::string b = comparable(command, theirs);
    if (a == b) return;
    differences_ +=
        command.describe() + "\n  real:      " + theirs.describe() + "\n  simulated: " + ours.describe() + "\n";
    // The first difference explains most of those that follow, but seldom all.
    if (++differences_count_ == 10) fail("ten differences");
  }

  void compare_times(const Command& command, const Reply& ours, const Reply& theirs) {
    if (!ours.is_integer() || !theirs.is_integer() || theirs.integer() <= 0) return;
    const bool seconds = is_one_of(command.name(), {"TTL", "EXPIRETIME"});
    if (!seconds && !is_one_of(command.name(), {"PTTL", "PEXPIRETIME"})) return;
    const std::int64_t tolerance = seconds ? 30 : 30'000;
    if (std::abs(ours.integer() - theirs.integer()) > tolerance) fail(command.describe() + ": times differ");
  }

  /// What others get to hear of it.
  void receive_deliveries() {
    std::map<std::size_t, std::vector<Reply>> ours;
    for (const Delivery& delivery : database_.deliveries()) {
      log_.push_back(std::to_string(delivery.to - 1) + "< " + delivery.reply.describe());
      if (delivery.kind == Delivery::Kind::message) ++messages_;
      for (Reply& part : parsed(delivery.reply.resp())) ours[delivery.to - 1].push_back(std::move(part));
    }
    for (auto& [who, replies] : ours) {
      std::vector<Reply> theirs;
      while (theirs.size() < replies.size()) theirs.push_back(real_[who].receive());
      const Heard our_own = heard(replies), their_own = heard(theirs);
      const auto bytes = [](const std::vector<Reply>& all) {
        std::string out;
        for (const Reply& reply : all) out += reply.resp();
        return out;
      };
      if (our_own.messages == their_own.messages && bytes(our_own.replies) == bytes(their_own.replies)) continue;
      std::string difference;
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        difference += "\n  real:      " + theirs[i].describe() + "\n  simulated: " + replies[i].describe();
      }
      fail("what is sent to " + std::to_string(who) + difference);
    }
  }

  /// The real server reads its sockets in any order: the others must not speak before it has met this command.
  void wait_until_blocked() {
    std::size_t blocked = 0;
    for (std::size_t who = 0; who < kConnections; ++who) blocked += is_blocked(who) ? 1 : 0;
    for (int i = 0; i < 1000; ++i) {
      std::string request;
      append_request(request, Command{"INFO", "clients"});
      admin_->send(request);
      const std::string info = admin_->receive().value().text();
      if (info.find("blocked_clients:" + std::to_string(blocked) + "\r\n") != std::string::npos) return;
      usleep(1000);
    }
    fail("the real server does not block");
  }

  [[noreturn]] void fail(const std::string& what) {
    std::string story;
    const std::size_t first = log_.size() > 60 ? log_.size() - 60 : 0;
    for (std::size_t i = first; i < log_.size(); ++i) story += "\n  " + log_[i];
    FAIL("after" << story << "\n" << what << "\n" << differences_);
    throw std::logic_error("unreachable");
  }

  Guided decisions_;
  sim::World world_{decisions_};
  sim::Simulation simulation_{world_};
  sim::Clock clock_;
  ScriptEngine scripts_;
  Database database_;
  std::vector<RealRedis::Connection> real_;
  std::unique_ptr<RealRedis::Connection> admin_;
  std::vector<std::string> log_;
  std::string differences_;
  int differences_count_ = 0;
  std::map<std::size_t, std::vector<Command>> queue_;
  std::map<std::string, int> met_;
  std::size_t sent_ = 0;
  std::size_t messages_ = 0;
};

/// A pair of servers, or nothing and a word that nothing was tested.
inline std::unique_ptr<RealRedis> real_server() {
  std::string why;
  auto server = RealRedis::start(why);
  if (server == nullptr) {
    std::cout << "SKIPPED: " << why << "; nothing was compared\n";
    WARN("SKIPPED: " << why << "; nothing was compared");
  }
  return server;
}

}  // namespace lockstep::models::redis
