#pragma once

// The real servers of a story: what the simulated ones are asked they are asked too, at that moment, on connections of
// their own for each of the story's, and their answers count.

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "confirm/conversation.hpp"
#include "confirm/real_sentinels.hpp"
#include "confirm/real_server.hpp"
#include "confirm/slow_links.hpp"
#include "confirm/wire.hpp"
#include "models/redis/server/node.hpp"
#include "models/redis/server/relay.hpp"
#include "scenarios/story/scenario.hpp"
#include "sim/schedules/simulation.hpp"
#include "sim/worlds/process.hpp"

namespace lockstep::confirm {

/// Ctrl-C.
struct Interrupted {};

/// Whether the clock of this server is off, drifts or jumps.
bool has_clock_of_its_own(const scenarios::Scenario& scenario, const scenarios::ServerSpec& server);

/// For tests: what is done to a simulated server's answers, or to what the real one is sent, before they meet.
struct Tampering {
  std::function<void(const models::redis::Request&, std::optional<models::redis::Reply>&)> with_model;
  std::function<models::redis::Command(const models::redis::Command&)> with_real;
};

/// Also the clock of the run: nothing happens in the story before its time has come in reality, and so leases run out
/// by the real servers' own clocks.
class RealSide final : public models::redis::Relay, public sim::Pace {
 public:
  struct Settings {
    std::optional<Endpoint> server;  ///< somebody else's; nothing: our own
    std::function<bool()> interrupted;
    std::optional<Tampering> tampering;
    /// What the clocks of the story show at its beginning besides what it says: the time of the machine, or nothing.
    sim::Duration epoch;
  };
  /// Starts the servers, and lets replicas catch up. Requires: `scenario` outlives it. Throws ServerTrouble.
  RealSide(const scenarios::Scenario& scenario, Settings settings);
  /// Our own servers are gone; on somebody else's the story's keys are.
  ~RealSide() override;

  /// What comes from outside enters the world as an event of this process. Requires: it is added to the story's world.
  sim::Process& process() { return entrance_; }

  /// The story is over, and its world is still there: whether the same servers lead.
  void finish();

  /// Whether real sentinels watch the servers.
  bool has_sentinels() const { return sentinels_ != nullptr; }
  /// What was said, in order.
  const std::vector<Exchange>& exchanges() const { return exchanges_; }
  /// Differences that are no answer: what real servers hold besides, what came late.
  const std::vector<std::string>& remarks() const { return remarks_; }
  /// How late, at most, a command came to a real server.
  sim::Duration lateness() const { return lateness_; }
  /// The same up to the first difference; nothing: there is none. What comes after it may wait in vain for what the
  /// model has.
  std::optional<sim::Duration> lateness_at_difference() const { return lateness_at_difference_; }
  const std::string& version() const { return version_; }
  /// Time of the story, which is real time.
  sim::Duration elapsed() const;

  // --- models::redis::Relay. The first three throw `ServerTrouble`.

  std::optional<models::redis::Reply> answered(models::redis::Node& node, sim::ConnectionId connection,
                                               const models::redis::Request& request,
                                               std::optional<models::redis::Reply> answer) override;
  std::optional<models::redis::Reply> delivered(models::redis::Node& node,
                                                const models::redis::Delivery& delivery) override;
  void closed(models::redis::Node& node, sim::ConnectionId connection) override;
  void crashed(models::redis::Node& node, bool keep) override;
  void restarted(models::redis::Node& node) override;

  // --- sim::Pace. Throws `Interrupted`.

  bool wait_until(sim::Instant moment) override;

 private:
  struct Entrance final : sim::Process {
    explicit Entrance(RealSide& s) : side(s) {}
    void start() override { side.bring_in(); }
    RealSide& side;
  };
  using Reply = models::redis::Reply;
  using Node = models::redis::Node;

  /// The real connection that belongs to one of the story's.
  struct Line {
    std::optional<Wire> wire;
    bool is_awaited = false;  ///< a request of it has no answer yet
    Kin kin = Kin::nothing;   ///< of that answer
    bool hears_messages = false;
    std::deque<Reply> messages;  ///< of channels, that have come and have not been passed on
    std::optional<Reply> answer;
    std::string said;
    Node* node = nullptr;
  };
  struct Server {
    std::string name;
    std::unique_ptr<RealServer> process;  ///< null: somebody else's
    std::optional<Wire> inspector;
    /// When the append-only file had how many bytes.
    std::vector<std::pair<sim::Duration, std::uint64_t>> log;
    bool is_paused = false;
    bool has_own_clock = false;
  };

  sim::World& world() const { return entrance_.world(); }
  void bring_in();
  Reply ask(Server& server, const models::redis::Command& command);
  bool leads(Server& server);
  void start_sentinels();
  std::size_t number_of(const Node& node) const;
  Server& server_of(const Node& node) { return servers_[number_of(node)]; }
  Endpoint endpoint_of(const Server& server) const;
  std::vector<std::string> arguments_of(const scenarios::ServerSpec& spec) const;
  void launch(Server& server, const scenarios::ServerSpec& spec);
  void await_ready(Server& server, const scenarios::ServerSpec& spec);
  void start_servers();
  void connect_links();
  void follow(std::size_t follower, std::size_t primary);
  models::redis::Command translated(const models::redis::Command& command, std::size_t server) const;
  Reply as_in_story(const Reply& reply) const;
  const Server* server_at(const Reply& port) const;
  Line& line_of(Node& node, sim::ConnectionId connection);
  void sort_in(Line& line, Reply reply) const;
  bool take_in(Line& line, int milliseconds) const;
  void carry_out_orders(const Node& node, const models::redis::Request& request);
  void add(const Node& node, sim::ConnectionId connection, std::string said, const std::optional<Reply>& model,
           const std::optional<Reply>& real, Kin kin);
  void wait_for_ends(const Node& node) const;
  void note_lateness(const Node& node);
  void compare_keys(const Node& node);
  void note_difference();
  void remark(std::string sentence);
  sim::Duration tolerance() const;
  void pause_servers(sim::Duration now);
  void set_clocks(sim::Duration now);
  void look_for_answers(sim::Duration now, sim::Duration patience);
  bool let_in_early_answers(sim::Duration now);

  Entrance entrance_{*this};
  const scenarios::Scenario& scenario_;
  Settings settings_;
  TemporaryFolder folder_;
  std::deque<Server> servers_;
  std::unique_ptr<SlowLinks> links_;
  std::unique_ptr<RealSentinels> sentinels_;  ///< null: there are none, or the model's
  std::map<std::string, Node*, std::less<>> nodes_;
  std::set<std::pair<models::redis::DatabaseId, std::string>> keys_;  ///< that were there once
  std::map<std::uint32_t, Line> lines_;
  LeaseEnds ends_;
  std::map<std::uint32_t, sim::Duration>
      early_;                 ///< connections on which something came that the story does not have yet, and when
  bool is_entering_ = false;  ///< an event is under way that brings them in
  std::vector<Exchange> exchanges_;
  std::vector<std::string> remarks_;
  std::string version_;
  sim::Duration lateness_;
  std::optional<sim::Duration> lateness_at_difference_;
  bool has_told_times_ =
      false;  ///< some request was about time: keys may hold times that were reckoned from the answer
  std::atomic<std::int64_t> began_ = 0;  ///< nanoseconds of the real clock; 0: the story has not begun
};

}  // namespace lockstep::confirm
