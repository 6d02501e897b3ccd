#include "confirm/real_side.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "sim/worlds/world.hpp"

namespace lockstep::confirm {
namespace {

using models::redis::Command;
using models::redis::Delivery;
using models::redis::Node;
using models::redis::Reply;
using models::redis::Request;
using sim::Duration;

/// A server that has not said by then that it waits for something will not say it.
constexpr int kBlocksAfterMs = 3;
/// What the model has now, the real server has had this long to bring.
constexpr int kOverdueAfterMs = 200;
constexpr int kAnswersWithinMs = 5'000;
/// How long something that came early waits for the story.
constexpr Duration kEarly = Duration::milliseconds(25);

std::int64_t real_time() {
  // tidy: real processes — leases run out by their clocks, so the story goes by ours.
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

bool is_message(const Reply& reply) {
  if (!reply.is_array() || reply.items().size() < 3 || !reply.items().front().is_bulk()) return false;
  const std::string kind = reply.items().front().value().text();
  return kind == "message" || kind == "pmessage" || kind == "smessage";
}

bool is_order_to_follow(const Command& command) {
  return command.size() == 3 && (command[0].is_word("REPLICAOF") || command[0].is_word("SLAVEOF"));
}

constexpr std::int64_t kPortInStories = 6379;

std::string shown(const std::optional<Reply>& reply) { return reply ? reply->describe() : "(waits)"; }

}  // namespace

sim::Duration RealSide::elapsed() const {
  const std::int64_t began = began_;
  return began == 0 ? Duration::milliseconds(-1) : Duration::nanoseconds(real_time() - began);
}

std::size_t RealSide::number_of(const Node& node) const {
  const auto found =
      std::find_if(servers_.begin(), servers_.end(), [&](const Server& server) { return server.name == node.name(); });
  return static_cast<std::size_t>(found - servers_.begin());
}

Endpoint RealSide::endpoint_of(const Server& server) const {
  return server.process ? server.process->endpoint() : *settings_.server;
}

// --- What is asked.

std::optional<Reply> RealSide::answered(Node& node, sim::ConnectionId connection, const Request& request,
                                        std::optional<Reply> answer) {
  const sim::ProcessId client = world().client_of(connection);
  nodes_.insert_or_assign(node.name(), &node);
  if (scenario_.sentinels && std::any_of(scenario_.sentinels->each.begin(), scenario_.sentinels->each.end(),
                                         [&](const auto& each) { return each.name == world().name(client); })) {
    carry_out_orders(node, request);
    return answer;
  }
  if (settings_.tampering && settings_.tampering->with_model) settings_.tampering->with_model(request, answer);
  Line& line = line_of(node, connection);
  line.kin = kin_of(request);
  has_told_times_ = has_told_times_ || line.kin == Kin::times;
  line.said = request.describe();
  line.answer.reset();
  std::string bytes;
  const std::size_t server = number_of(node);
  for (const Command& command : request.in_front) append_request(bytes, translated(command, server));
  append_request(bytes, translated(request.command, server));
  const bool subscribes = request.command[0].is_word("SUBSCRIBE") || request.command[0].is_word("PSUBSCRIBE");
  line.hears_messages = line.hears_messages || subscribes;
  wait_for_ends(node);
  line.wire->send(bytes);
  ends_.follow(node);

  std::vector<Reply> replies;
  const std::size_t own = answer && answer->is_several() ? answer->items().size() : 1;
  const std::size_t wanted = request.in_front.size() + own;
  while (replies.size() < wanted) {
    const bool is_last = !answer && replies.size() + 1 == wanted;
    if (!take_in(line, is_last ? kBlocksAfterMs : kAnswersWithinMs)) break;
    replies.push_back(as_in_story(*std::exchange(line.answer, std::nullopt)));
  }
  note_lateness(node);
  std::optional<Reply> real;
  if (replies.size() == wanted && own > 1) {
    real = Reply::several({replies.end() - static_cast<std::ptrdiff_t>(own), replies.end()});
  } else if (replies.size() == wanted && answer) {
    real = std::move(replies.back());
  } else if (replies.size() == wanted) {
    // It may only be a little earlier than the model's: replicas have acknowledged at once.
    line.answer = std::move(replies.back());
    line.is_awaited = true;
    early_.emplace(connection.index, elapsed());
  } else if (line.wire->is_over()) {
    real = Reply::unknown();
    lines_.erase(connection.index);
  } else {
    line.is_awaited = true;
  }
  if (real || answer) add(node, connection, request.describe(), answer, real, kin_of(request));
  Server& there = servers_[server];
  if (there.process) there.log.emplace_back(world().now().offset(), there.process->log_size());
  if (real && answer) compare_keys(node);
  return real;
}

/// Replies of the line come one after the other, and messages whenever they like. Whether there is one.
bool RealSide::take_in(Line& line, int milliseconds) const {
  while (!line.answer) {
    std::optional<Reply> reply = line.wire->receive_within(milliseconds);
    if (!reply) return false;
    sort_in(line, std::move(*reply));
  }
  return true;
}

void RealSide::sort_in(Line& line, Reply reply) const {
  if (line.hears_messages && is_message(reply)) {
    line.messages.push_back(std::move(reply));
  } else {
    line.answer = std::move(reply);
  }
}

RealSide::Line& RealSide::line_of(Node& node, sim::ConnectionId connection) {
  Line& line = lines_[connection.index];
  // Messages may be there, or its end: sentinels hang up on the clients of a server that they promote.
  if (line.wire && !line.is_awaited) take_in(line, 0);
  if (line.wire && !line.wire->is_over()) return line;
  line = Line{};
  line.node = &node;
  line.wire.emplace(endpoint_of(server_of(node)));
  return line;
}

/// What the model's sentinels ask is answered by the model. What they order is done, unless real ones have to find out
/// for themselves.
void RealSide::carry_out_orders(const Node& node, const Request& request) {
  if (sentinels_) return;
  const std::size_t server = number_of(node);
  const auto obey = [&](const Command& command) {
    if (!is_order_to_follow(command)) return;
    Server& there = servers_[server];
    const Reply reply = ask(there, translated(command, server));
    Exchange exchange{.at = world().now().offset(),
                      .client = "sentinel",
                      .server = there.name,
                      .said = command.describe(),
                      .model = "OK",
                      .real = reply.describe()};
    if (!reply.is_status()) exchange.sameness = Exchange::Sameness::differs;
    exchanges_.push_back(std::move(exchange));
  };
  for (const Command& command : request.in_front) obey(command);
  obey(request.command);
}

Command RealSide::translated(const Command& command, std::size_t server) const {
  if (links_ && is_order_to_follow(command) && !(command[1].is_word("NO") && command[2].is_word("ONE"))) {
    const std::string host = command[1].text();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      if (servers_[i].name == host && i != server)
        return Command{"REPLICAOF", "127.0.0.1", static_cast<std::int64_t>(links_->port(server, i))};
    }
  }
  return settings_.tampering && settings_.tampering->with_real ? settings_.tampering->with_real(command) : command;
}

/// Servers call each other by ports of this machine, and clients know them by their names.
Reply RealSide::as_in_story(const Reply& reply) const {
  if (!links_ || !reply.is_array()) return reply;
  std::vector<Reply> items;
  for (const Reply& item : reply.items()) {
    const bool follows_host = !items.empty() && items.back().is_bulk() && items.back().value() == "127.0.0.1";
    const Server* server = follows_host ? server_at(item) : nullptr;
    if (server == nullptr) {
      items.push_back(as_in_story(item));
      continue;
    }
    items.back() = Reply::bulk(server->name);
    items.push_back(item.is_integer() ? Reply::integer(kPortInStories) : Reply::bulk(kPortInStories));
  }
  return Reply::array(std::move(items));
}

/// Null: there is none at such a port.
const RealSide::Server* RealSide::server_at(const Reply& port) const {
  const std::optional<std::int64_t> number = port.is_integer() ? port.integer()
                                             : port.is_bulk()  ? port.value().integer()
                                                               : std::nullopt;
  for (std::size_t i = 0; number && i < servers_.size(); ++i) {
    bool is_its_own = servers_[i].process->port() == *number;
    for (std::size_t follower = 0; follower < servers_.size(); ++follower)
      is_its_own = is_its_own || links_->port(follower, i) == *number;
    if (is_its_own) return &servers_[i];
  }
  return nullptr;
}

// --- What nobody asks for.

std::optional<Reply> RealSide::delivered(Node& node, const Delivery& delivery) {
  const sim::ConnectionId connection{delivery.to};
  early_.erase(delivery.to);
  const auto found = lines_.find(delivery.to);
  if (found == lines_.end()) return delivery.reply;
  Line& line = found->second;
  if (delivery.kind == Delivery::Kind::close) {
    lines_.erase(found);
    return delivery.reply;
  }
  std::optional<Reply> real;
  const bool is_answer = delivery.kind == Delivery::Kind::reply;
  if (is_answer && !line.is_awaited) return std::nullopt;
  if (is_answer) {
    if (take_in(line, kOverdueAfterMs)) real = std::exchange(line.answer, std::nullopt);
    line.is_awaited = !real.has_value();
  } else {
    while (line.messages.empty()) {
      std::optional<Reply> reply = line.wire->receive_within(kOverdueAfterMs);
      if (!reply) break;
      sort_in(line, std::move(*reply));
    }
    if (!line.messages.empty()) {
      real = std::move(line.messages.front());
      line.messages.pop_front();
    }
  }
  add(node, connection, is_answer ? line.said : "(message)", delivery.reply, real, is_answer ? line.kin : Kin::nothing);
  return real;
}

void RealSide::closed(Node&, sim::ConnectionId connection) {
  lines_.erase(connection.index);
  early_.erase(connection.index);
}

/// What has come early, and what the story does not bring, comes into it now: the world goes on with what is real.
void RealSide::bring_in() {
  is_entering_ = false;
  const auto due = std::exchange(early_, {});
  for (const auto& [connection, since] : due) {
    const auto found = lines_.find(connection);
    if (found == lines_.end()) continue;
    Line& line = found->second;
    if (line.is_awaited && line.answer) {
      line.is_awaited = false;
      const Reply answer = *std::exchange(line.answer, std::nullopt);
      add(*line.node, {connection}, line.said, std::nullopt, answer, line.kin);
      line.node->pass_on({connection}, answer);
    }
    for (const Reply& message : std::exchange(line.messages, {})) {
      add(*line.node, {connection}, "(message)", std::nullopt, message, Kin::nothing);
      line.node->pass_on({connection}, message);
    }
  }
}

void RealSide::add(const Node& node, sim::ConnectionId connection, std::string said, const std::optional<Reply>& model,
                   const std::optional<Reply>& real, Kin kin) {
  Exchange exchange{.at = world().now().offset(),
                    .client = world().name(world().client_of(connection)),
                    .server = node.name(),
                    .said = std::move(said),
                    .model = shown(model),
                    .real = shown(real)};
  exchange.sameness = model && real ? compare(*model, *real, kin, tolerance()) : Exchange::Sameness::differs;
  if (exchange.sameness == Exchange::Sameness::differs) note_difference();
  exchanges_.push_back(std::move(exchange));
}

void RealSide::note_difference() {
  if (!lateness_at_difference_) lateness_at_difference_ = lateness_;
}

void RealSide::remark(std::string sentence) {
  note_difference();
  if (std::find(remarks_.begin(), remarks_.end(), sentence) == remarks_.end()) remarks_.push_back(std::move(sentence));
}

// --- Time.

/// A lease that is over when a command comes ends in reality as late as it began, and Redis counts milliseconds. A
/// command that comes at the very end comes after it here, too. One that is to come just before it cannot be helped so:
/// `Plan` sees to those.
void RealSide::wait_for_ends(const Node& node) const {
  constexpr Duration kBehindEnd = Duration::milliseconds(5);
  const Duration now = world().now().offset();
  Duration until;
  for (const Duration end : ends_.of(node)) {
    if (end <= now) until = std::max(until, end + lateness_ + kBehindEnd);
  }
  while (elapsed() < until) {
    const std::int64_t left = (until - elapsed()).count_ns();
    const timespec time{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    if (left > 0) ppoll(nullptr, 0, &time, nullptr);
  }
}

void RealSide::note_lateness(const Node&) { lateness_ = std::max(lateness_, elapsed() - world().now().offset()); }

/// Redis rounds to milliseconds, once when a lease begins and once when it is asked.
sim::Duration RealSide::tolerance() const { return lateness_ + Duration::milliseconds(3); }

bool RealSide::wait_until(sim::Instant instant) {
  if (began_ == 0) began_ = real_time() - world().now().offset().count_ns();
  const Duration moment = instant.offset();
  while (true) {
    if (settings_.interrupted && settings_.interrupted()) throw Interrupted();
    const Duration now = elapsed();
    pause_servers(now);
    set_clocks(now);
    if (let_in_early_answers(now)) return false;
    if (now >= moment) return true;
    look_for_answers(now, moment - now);
  }
}

void RealSide::look_for_answers(Duration now, Duration patience) {
  constexpr Duration kInterruptible = Duration::milliseconds(100);
  patience = std::min(patience, kInterruptible);
  for (const auto& [connection, since] : early_) patience = std::min(patience, since + kEarly - now);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i].is_paused) continue;
    for (std::size_t p = 0; p < world().process_count(); ++p) {
      const sim::ProcessState& state = world().state(sim::ProcessId{static_cast<std::uint16_t>(p)});
      if (state.name == servers_[i].name) patience = std::min(patience, state.frozen_until.offset() - now);
    }
  }
  std::vector<pollfd> waiting;
  std::vector<std::uint32_t> whose;
  for (const auto& [connection, line] : lines_) {
    if (!line.is_awaited && !line.hears_messages) continue;
    if (line.wire->is_over() || early_.contains(connection)) continue;
    waiting.push_back({line.wire->fd(), POLLIN, 0});
    whose.push_back(connection);
  }
  const std::int64_t left = std::max<std::int64_t>(patience.count_ns(), 0);
  const timespec time{.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  ppoll(waiting.data(), waiting.size(), &time, nullptr);
  for (std::size_t i = 0; i < whose.size(); ++i) {
    if (waiting[i].revents == 0) continue;
    Line& line = lines_.at(whose[i]);
    take_in(line, 0);
    if (line.answer || !line.messages.empty()) early_.emplace(whose[i], elapsed());
  }
}

bool RealSide::let_in_early_answers(Duration now) {
  if (is_entering_) return false;
  is_entering_ =
      std::any_of(early_.begin(), early_.end(), [&](const auto& each) { return now >= each.second + kEarly; });
  if (is_entering_) world().start(entrance_.id(), sim::DurationRange::exactly(std::max(now, world().now().offset())));
  return is_entering_;
}

void RealSide::set_clocks(Duration now) {
  for (std::size_t p = 0; p < world().process_count(); ++p) {
    const sim::ProcessState& state = world().state(sim::ProcessId{static_cast<std::uint16_t>(p)});
    for (Server& server : servers_) {
      if (server.name != state.name || !server.has_own_clock) continue;
      const sim::Instant moment = sim::Instant::at(std::max(now, world().now().offset()));
      server.process->shift_clock(
          (state.wall.reading_at(moment).offset() - moment.offset() - settings_.epoch).count_ns());
    }
  }
}

void RealSide::pause_servers(Duration now) {
  if (settings_.server) return;
  for (std::size_t p = 0; p < world().process_count(); ++p) {
    const sim::ProcessState& state = world().state(sim::ProcessId{static_cast<std::uint16_t>(p)});
    for (Server& server : servers_) {
      if (server.name != state.name) continue;
      const bool is_paused = state.was_paused && state.alive && state.frozen_until.offset() > now;
      if (is_paused && !server.is_paused) server.process->stop();
      if (!is_paused && server.is_paused) server.process->go_on();
      server.is_paused = is_paused;
    }
  }
}

}  // namespace lockstep::confirm
