#pragma once

// A replica in a world: the part of a simulated server that keeps a log with its peers, over connections, by its own
// clock, and through crashes. ZooKeeper, etcd and Consul servers are processes that have one.
//
//   class Server : public sim::Process, private MemberOwner<Command> {
//     void start() override { member_.start(); }
//     void receive(sim::Message& request, sim::ConnectionId connection) override {
//       if (member_.receive(request)) return;                   // a peer's
//       … member_.propose(command) or member_.read(id), and the answer when `applied` or `read_answered` is called
//     }
//     void crashed(bool) override { member_.crashed(); … }
//     void reset() override { member_.reset(); … }
//     bool is_service() const override { return true; }          // heartbeats keep no story from ending
//     Member<Command> member_{*this, *this, id, settings, times};
//   };

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/consensus/replica.hpp"
#include "models/consensus/types.hpp"
#include "sim/schedules/random.hpp"
#include "sim/time/time.hpp"
#include "sim/worlds/message.hpp"
#include "sim/worlds/process.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::consensus {

/// A message between members. Requires: `Command` has `describe()` (text) and `digest()` (64 bits, equal for equal
/// ones).
template <class Command>
class PeerMessage final : public sim::Message {
 public:
  explicit PeerMessage(consensus::Message<Command> m) : mail(std::move(m)) {}

  std::string_view name() const override { return to_string(mail.kind); }
  std::string describe() const override {
    std::string text = std::string(name()) + " term " + std::to_string(mail.term);
    if (mail.preliminary) text += ", preliminary";
    switch (mail.kind) {
      case MessageKind::request_vote:
        text += ", last " + std::to_string(mail.last.index) + " of term " + std::to_string(mail.last.term);
        break;
      case MessageKind::vote: text += mail.accepted ? ", granted" : ", denied"; break;
      case MessageKind::append_entries:
        text += ", after " + std::to_string(mail.last.index) + ", committed " + std::to_string(mail.commit);
        for (const Entry<Command>& entry : mail.entries)
          text += "; " + (entry.command ? entry.command->describe() : std::string("no-op"));
        break;
      case MessageKind::appended:
        text += (mail.accepted ? ", up to " : ", not beyond ") + std::to_string(mail.match);
        break;
    }
    return text;
  }
  std::uint64_t digest() const override {
    std::uint64_t sum =
        static_cast<std::uint64_t>(mail.kind) * 4 + (mail.accepted ? 1u : 0u) + (mail.preliminary ? 2u : 0u);
    for (const std::uint64_t part : {std::uint64_t{mail.from}, std::uint64_t{mail.to}, mail.term, mail.last.term,
                                     mail.last.index, mail.commit, mail.match, mail.round})
      sum = sim::combine64(sum, part);
    for (const Entry<Command>& entry : mail.entries)
      sum = sim::combine64(sim::combine64(sum, entry.term), entry.command ? entry.command->digest() : 0);
    return sum;
  }

  consensus::Message<Command> mail;
};

/// What a member tells its server.
template <class Command>
class MemberOwner {
 public:
  /// In order, each once; after a restart from 1 again, whose state machine begins anew. A no-op, too.
  virtual void applied(Index index, const Entry<Command>& entry) = 0;
  virtual void read_answered(const ReadAnswer& answer) = 0;
  /// It leads from now on, as far as it knows.
  virtual void elected() {}
  /// It led. What it was asked to propose may be committed yet, or never.
  virtual void deposed() {}
  /// It takes another node for the leader than before, or none, or the same one in a later term. Comes before whatever
  /// is committed by then.
  virtual void leader_changed() {}

 protected:
  ~MemberOwner() = default;
};

/// By the node's own monotonic clock, which may drift. The defaults are etcd's.
struct MemberTimes {
  /// How long no leader is heard before a node stands for election: anew each time, anything within.
  sim::DurationRange election{sim::Duration::milliseconds(1'000), sim::Duration::milliseconds(2'000)};
  /// The same for a node that knows of no leader. Nothing: `election`.
  std::optional<sim::DurationRange> leaderless{};
  /// Each node takes a slice of this range, so that where nothing is left to chance they do not all stand for election
  /// at once; where something is, any slice. No: all of it, and the host has given each node another lower end. Then
  /// the length of the wait is all that is chosen, and a schedule that names it is enough to play a run again.
  bool slices_election = true;
  sim::Duration heartbeat = sim::Duration::milliseconds(100);
  /// A leader that no quorum has answered for so long gives up, after at most twice that. Nothing: it goes on.
  std::optional<sim::Duration> quorum = sim::Duration::milliseconds(1'000);
};

template <class Command>
class Member {
 public:
  /// Requires: `process` and `owner` outlive it.
  Member(sim::Process& process, MemberOwner<Command>& owner, NodeId self, const ReplicaSettings& settings,
         const MemberTimes& times)
      : process_(process), owner_(owner), settings_(settings), times_(times), replica_(self, settings) {
    peers_.resize(settings.nodes);
    for (std::size_t i = 0; i < kTimers; ++i) {
      timers_[i].member = this;
      timers_[i].which = static_cast<Timer>(i);
    }
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Requires: the process is the client of this connection, and the peer its server.
  void connect(NodeId peer, sim::ConnectionId connection) { peers_[peer] = connection; }

  // --- From the process's functions of the same names.

  void start() {
    replica_.start(disk_, out_);
    finish();
  }
  /// Instead of the first `start`: see `Replica::start_elected`.
  void start_elected(NodeId leader) {
    replica_.start_elected(leader, out_);
    finish();
  }
  /// False: it is no peer's.
  bool receive(sim::Message& message) {
    const auto* peers = dynamic_cast<const PeerMessage<Command>*>(&message);
    if (peers == nullptr) return false;
    if (is_stalled_) {
      unheard_.push_back(peers->mail);
    } else {
      replica_.receive(peers->mail, out_);
      finish();
    }
    return true;
  }
  /// It neither hears nor says anything while the rest of the process goes on: its log waits for the disk. What comes
  /// meanwhile is heard afterwards, in its order; a timer that runs out meanwhile is set anew, with its whole length.
  /// Requires until then: no proposals, no reads.
  void stall() { is_stalled_ = true; }
  void resume() {
    is_stalled_ = false;
    for (TimerEnd& timer : timers_) {
      if (std::exchange(timer.is_late, false)) change(timer, TimerChange::set);
    }
    for (const Message<Command>& mail : std::exchange(unheard_, {})) {
      replica_.receive(mail, out_);
      finish();
    }
  }
  bool is_stalled() const { return is_stalled_; }
  /// The disk stays.
  void crashed() {
    for (TimerEnd& timer : timers_) {
      timer.ref = {};
      timer.is_late = false;
    }
    is_stalled_ = false;
    unheard_.clear();
    applied_ = 0;
    told_ = {};
    replica_ = Replica<Command>(replica_.self(), settings_);
  }
  void reset() {
    crashed();
    disk_ = {};
  }

  // --- For the server. Also from within the owner's functions.

  std::optional<Position> propose(Command command) {
    const std::optional<Position> position = replica_.propose(std::move(command), out_);
    finish();
    return position;
  }
  void read(ReadId id) {
    replica_.read(id, out_);
    finish();
  }
  /// Does not wait until its time for it has come. Nothing, if it leads.
  void stand_for_election() {
    replica_.timed_out(Timer::election, out_);
    finish();
  }
  /// The host knows that the leader has gone, by a connection that was closed: from now on it is as without one.
  void leader_is_gone() {
    replica_.forget_leader(out_);
    finish();
  }
  /// The host knows that no quorum hears it. For hosts with `MemberTimes::quorum` of their own.
  void resign() {
    // The first one only forgets who was heard.
    for (int i = 0; i < 2; ++i) replica_.timed_out(Timer::quorum, out_);
    finish();
  }
  const Replica<Command>& replica() const { return replica_; }
  /// What a crash would leave.
  const Durable<Command>& disk() const { return disk_; }
  /// Up to where the owner was told: what a read that may be stale sees.
  Index applied() const { return applied_; }

 private:
  struct TimerEnd final : sim::TimerOwner {
    void timer_fired() override {
      ref = {};
      is_late = member->is_stalled_;
      if (is_late) return;
      member->replica_.timed_out(which, member->out_);
      member->finish();
    }
    Member* member = nullptr;
    Timer which = Timer::election;
    sim::TimerRef ref;
    bool is_late = false;  ///< it ran out while the member stalled
  };

  /// Does what the replica has put out: save, send, set timers, and tell the owner.
  void finish() {
    save(out_, replica_.durable(), disk_);
    for (Message<Command>& mail : out_.messages) {
      if (const std::optional<sim::ConnectionId> peer = peers_[mail.to])
        process_.world().send_request(*peer, process_.world().template make<PeerMessage<Command>>(std::move(mail)));
    }
    for (std::size_t i = 0; i < kTimers; ++i) change(timers_[i], out_.timers[i]);
    if (out_.deposed) changes_.push_back(false);
    if (out_.elected) changes_.push_back(true);
    reads_.insert(reads_.end(), out_.reads.begin(), out_.reads.end());
    out_.clear();
    tell_owner();
  }

  /// What the owner does then comes back here: it is told of that by the one that is telling already.
  void tell_owner() {
    if (std::exchange(is_telling_, true)) return;
    while (true) {
      const Leadership now{replica_.term(), replica_.leader()};
      if (told_.leader != now.leader || (now.leader && told_.term != now.term)) {
        told_ = now;
        owner_.leader_changed();
      } else if (!changes_.empty()) {
        const bool elected = changes_.front();
        changes_.erase(changes_.begin());
        elected ? owner_.elected() : owner_.deposed();
      } else if (applied_ < replica_.commit()) {
        ++applied_;
        // A copy: the log grows when the owner proposes something.
        const Entry<Command> entry = replica_.entry(applied_);
        owner_.applied(applied_, entry);
      } else if (!reads_.empty()) {
        const ReadAnswer answer = reads_.front();
        reads_.erase(reads_.begin());
        owner_.read_answered(answer);
      } else {
        break;
      }
    }
    is_telling_ = false;
  }

  void change(TimerEnd& timer, TimerChange change) {
    if (change == TimerChange::keep) return;
    stop(timer);
    if (change == TimerChange::stop) return;
    switch (timer.which) {
      case Timer::election:
        set(timer, election_length(replica_.leader() ? times_.election : times_.leaderless.value_or(times_.election)));
        break;
      case Timer::heartbeat: set(timer, sim::DurationRange::exactly(times_.heartbeat)); break;
      case Timer::quorum:
        if (times_.quorum) set(timer, sim::DurationRange::exactly(*times_.quorum));
        break;
    }
  }

  void stop(TimerEnd& timer) {
    process_.world().cancel_timer(std::exchange(timer.ref, {}));
    timer.is_late = false;
  }

  /// Requires: it is stopped.
  void set(TimerEnd& timer, sim::DurationRange length) {
    sim::World& world = process_.world();
    const sim::Clock& clock = process_.monotonic();
    const sim::DurationRange by_its_clock{clock.true_length(length.lo), clock.true_length(length.hi)};
    timer.ref = world.is_explored() ? world.set_timer(process_.id(), by_its_clock, sim::TimerKind::tick, timer)
                                    : world.set_background_timer(process_.id(), by_its_clock, timer);
  }

  /// See `MemberTimes::slices_election`.
  sim::DurationRange election_length(sim::DurationRange range) {
    if (!times_.slices_election) return range;
    const std::size_t nodes = settings_.nodes;
    const std::uint64_t chosen = process_.world().choose(sim::Choice::model, nodes);
    const auto slice = static_cast<std::int64_t>((replica_.self() + chosen) % nodes);
    const sim::Duration width = (range.hi - range.lo) / static_cast<std::int64_t>(nodes);
    return {range.lo + width * slice, range.lo + width * (slice + 1)};
  }

  sim::Process& process_;
  MemberOwner<Command>& owner_;
  ReplicaSettings settings_;
  MemberTimes times_;
  Replica<Command> replica_;
  Durable<Command> disk_;
  std::vector<std::optional<sim::ConnectionId>> peers_;
  std::array<TimerEnd, kTimers> timers_;
  Index applied_ = 0;
  struct Leadership {
    Term term = 0;
    std::optional<NodeId> leader = {};
  };
  Leadership told_;  ///< of whom the owner knows
  bool is_telling_ = false;
  bool is_stalled_ = false;
  std::vector<Message<Command>> unheard_;  ///< what came while it stalled
  std::vector<bool> changes_;              ///< elected or deposed, not told yet
  std::vector<ReadAnswer> reads_;          ///< not told yet
  Output<Command> out_;
};

}  // namespace lockstep::models::consensus
