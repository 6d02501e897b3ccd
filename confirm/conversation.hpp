#pragma once

// What clients and servers said to each other in a run, and how the answers of two servers compare.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/redis/server/node.hpp"
#include "models/redis/wire/messages.hpp"
#include "models/redis/wire/reply.hpp"
#include "sim/time/time.hpp"

namespace lockstep::confirm {

/// One request and the answers to it, or a message that nobody asked for.
struct Exchange {
  enum class Sameness : std::uint8_t {
    same,
    as_times,  ///< they tell how much time is left, what time it is, or how far replicas are, and mean the same
    differs
  };
  sim::Duration at;  ///< time of the story
  std::string client;
  std::string server;
  std::string said;   ///< "SET lock A-1 NX PX 100"; of a message: "(message)"
  std::string model;  ///< what the simulated server answers
  std::string real;
  Sameness sameness = Sameness::same;
};

/// What may differ between two answers that mean the same.
enum class Kin : std::uint8_t { nothing, times, offsets };
/// Of this request: times, as above; offsets, of a replication stream, which a real server also fills with its pings.
Kin kin_of(const models::redis::Request& request);
/// `tolerance`: how far apart two times may be.
Exchange::Sameness compare(const models::redis::Reply& model, const models::redis::Reply& real, Kin kin,
                           sim::Duration tolerance);

/// When the leases end that a server holds or held, as its commands come. What has just ended counts until a command
/// has come after it.
class LeaseEnds {
 public:
  /// A command is about to be compared with the ends. All of them are true times.
  const std::vector<sim::Duration>& of(const models::redis::Node& node) const;
  /// It has been carried out.
  void follow(const models::redis::Node& node);
  void forget(const models::redis::Node& node);

 private:
  std::map<std::string, std::vector<sim::Duration>, std::less<>> ends_;  ///< by server
};

/// Runs beside the simulated servers of a story and lets them answer for themselves: how close events come to the ends
/// of leases, whether anybody asks for the server's time, and the digest by which a story is known.
class Listener final : public models::redis::Relay {
 public:
  std::optional<models::redis::Reply> answered(models::redis::Node& node, sim::ConnectionId connection,
                                               const models::redis::Request& request,
                                               std::optional<models::redis::Reply> answer) override;
  std::optional<models::redis::Reply> delivered(models::redis::Node& node,
                                                const models::redis::Delivery& delivery) override;
  void closed(models::redis::Node&, sim::ConnectionId) override {}
  void crashed(models::redis::Node& node, bool keep) override;
  void restarted(models::redis::Node&) override {}

  /// How long, at least, before the end of a lease a command comes. One that comes after it may as well come later.
  /// Nothing: there is no such command.
  std::optional<sim::Duration> margin() const { return margin_; }
  bool asks_for_time() const { return asks_for_time_; }
  std::size_t exchanges() const { return exchanges_; }
  /// Of all that was said, by whom and when.
  std::uint64_t digest() const { return digest_; }

 private:
  void note(const models::redis::Node& node, std::string_view said, std::string_view answer);
  void measure(const models::redis::Node& node);

  LeaseEnds ends_;
  std::optional<sim::Duration> margin_;
  bool asks_for_time_ = false;
  std::size_t exchanges_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace lockstep::confirm
