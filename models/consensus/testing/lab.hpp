#pragma once

// Nodes, their disks, the messages that are under way and a judge: one step at a time, in whatever order the test says.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/consensus/properties.hpp"
#include "models/consensus/replica.hpp"
#include "sim/schedules/random.hpp"

namespace lockstep::models::consensus::testing {

using Command = std::uint32_t;
using Mail = Message<Command>;
using TestLog = Log<Command>;

template <class Rules = RaftRules>
class Lab {
 public:
  explicit Lab(const ReplicaSettings& settings = {}) : settings_(settings), judge_(settings.nodes) {
    for (std::size_t i = 0; i < settings.nodes; ++i) {
      nodes_.emplace_back(static_cast<NodeId>(i), settings);
      disks_.emplace_back();
      timers_.push_back({});
      restart(static_cast<NodeId>(i));
    }
  }

  void time_out(NodeId node, Timer timer) {
    timers_[node][static_cast<std::size_t>(timer)] = false;
    nodes_[node].timed_out(timer, out_);
    finish(node);
  }
  /// `keeps`: it comes once more. Requires: `which < mail().size()`.
  void deliver(std::size_t which, bool keeps = false) {
    const Mail message = mail_[which];
    if (!keeps) lose(which);
    nodes_[message.to].receive(message, out_);
    finish(message.to);
  }
  /// The oldest of these. False: there is none.
  bool deliver(MessageKind kind, NodeId from, NodeId to, bool keeps = false) {
    for (std::size_t i = 0; i < mail_.size(); ++i) {
      if (mail_[i].kind != kind || mail_[i].from != from || mail_[i].to != to) continue;
      deliver(i, keeps);
      return true;
    }
    return false;
  }
  void lose(std::size_t which) { mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(which)); }
  void lose_all() { mail_.clear(); }
  std::optional<Position> propose(NodeId node, Command command) {
    const std::optional<Position> position = nodes_[node].propose(command, out_);
    finish(node);
    return position;
  }
  ReadId read(NodeId node) {
    const ReadId id = ++read_count_;
    judge_.read_began(id);
    nodes_[node].read(id, out_);
    finish(node);
    return id;
  }
  void restart(NodeId node) {
    judge_.restarted(node);
    nodes_[node].start(disks_[node], out_);
    finish(node);
  }
  /// Everything that is under way between these arrives, and what comes of it, oldest first.
  void settle(const std::vector<NodeId>& among) {
    const auto is_among = [&](NodeId node) { return std::find(among.begin(), among.end(), node) != among.end(); };
    for (std::size_t i = 0; i < mail_.size();) {
      if (is_among(mail_[i].from) && is_among(mail_[i].to)) {
        deliver(i);
        i = 0;
      } else {
        ++i;
      }
    }
  }
  /// With the votes of these.
  void elect(NodeId node, const std::vector<NodeId>& voters) {
    time_out(node, Timer::election);
    for (const NodeId voter : voters) {
      deliver(MessageKind::request_vote, node, voter);
      deliver(MessageKind::vote, voter, node);
    }
  }

  /// Anything that may happen. Messages are lost and doubled, too.
  void step_at_random(sim::Random& random) {
    const auto node = static_cast<NodeId>(random.below(nodes_.size()));
    constexpr std::size_t kUnderWayMax = 16;
    while (mail_.size() > kUnderWayMax) lose(random.below(mail_.size()));
    switch (random.below(40)) {
      case 0: time_out(node, Timer::election); break;
      case 1:
      case 2: time_out(node, Timer::heartbeat); break;
      case 3:
        if (random.one_in(4)) time_out(node, Timer::quorum);
        break;
      case 4:
        if (random.one_in(2)) restart(node);
        break;
      case 5:
      case 6: propose(node, static_cast<Command>(random.below(1'000))); break;
      case 7: read(node); break;
      case 8:
        if (!mail_.empty()) lose(random.below(mail_.size()));
        break;
      case 9:
        if (!mail_.empty()) deliver(random.below(mail_.size()), true);
        break;
      default:
        if (!mail_.empty()) deliver(random.below(mail_.size()));
    }
  }

  const Replica<Command, Rules>& node(NodeId node) const { return nodes_[node]; }
  const Durable<Command>& disk(NodeId node) const { return disks_[node]; }
  const std::vector<Mail>& mail() const { return mail_; }
  const Judge<Command>& judge() const { return judge_; }
  const ReplicaSettings& settings() const { return settings_; }
  bool is_running(NodeId node, Timer timer) const { return timers_[node][static_cast<std::size_t>(timer)]; }
  /// In the order in which they came.
  const std::vector<ReadAnswer>& answers() const { return answers_; }
  /// How many believe to lead.
  std::size_t leaders() const {
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](const auto& node) { return node.believes_to_lead(); }));
  }

 private:
  void finish(NodeId node) {
    const Replica<Command, Rules>& replica = nodes_[node];
    save<Command, Rules>(out_, replica.durable(), disks_[node]);
    if (out_.elected) judge_.elected(node, replica.term(), disks_[node].log);
    for (Index index = out_.committed_from; index <= out_.committed_to; ++index)
      judge_.committed(node, replica.term(), index, replica.entry(index));
    for (const ReadAnswer& answer : out_.reads) {
      judge_.read_ended(answer);
      answers_.push_back(answer);
    }
    for (std::size_t i = 0; i < kTimers; ++i) {
      if (out_.timers[i] != TimerChange::keep) timers_[node][i] = out_.timers[i] == TimerChange::set;
    }
    mail_.insert(mail_.end(), out_.messages.begin(), out_.messages.end());
    out_.clear();
    std::vector<const TestLog*> logs;
    for (const Durable<Command>& disk : disks_) logs.push_back(&disk.log);
    if (logs.size() == settings_.nodes) judge_.disks(logs);
  }

  ReplicaSettings settings_;
  std::vector<Replica<Command, Rules>> nodes_;
  std::vector<Durable<Command>> disks_;
  std::vector<std::array<bool, kTimers>> timers_;
  std::vector<Mail> mail_;
  Judge<Command> judge_;
  std::vector<ReadAnswer> answers_;
  ReadId read_count_ = 0;
  Output<Command> out_;
};

}  // namespace lockstep::models::consensus::testing
