#pragma once

// A real etcd, of one node or of several, and what it says through its JSON gateway. For tests, where it is installed.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/etcd/conformance/steps.hpp"
#include "models/etcd/engine/request.hpp"

namespace lockstep::models::etcd::conformance {

/// A server, in a folder of its own or of its cluster, on a socket there. It ends with this object.
class RealEtcd {
 public:
  /// Nothing: it is not installed, and `why` says so.
  static std::unique_ptr<RealEtcd> start(std::string& why);
  /// The members of one cluster, that has a leader; heartbeats every 20ms, an election timeout of 200ms. Empty: it is
  /// not installed.
  static std::vector<std::unique_ptr<RealEtcd>> start_cluster(std::size_t members, std::string& why);
  ~RealEtcd();

  // --- Of a member of a cluster.

  /// Without a warning, and with its data left. Nothing can be asked of it until it is started again.
  void kill();
  /// Requires: it was killed.
  void start_again();
  /// Whether it takes itself for the leader.
  bool leads();
  /// In whole seconds; below zero: there is no such lease.
  std::int64_t time_to_live(LeaseId lease);
  /// The answer, or nothing: an error that says that this member cannot tell now.
  std::optional<Outcome> try_to_carry_out(const Step& step, std::int64_t ttl_seconds = 3600);

  /// Requires: not a compaction while a watch is behind.
  Outcome carry_out(const Step& step, std::int64_t ttl_seconds = 3600);

  /// A stream of events.
  class Watch {
   public:
    Watch(const RealEtcd& server, const Span& span, Revision start_revision);
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch();
    /// What comes until there are so many events, and until it is cancelled if it is to be, and what comes within these
    /// milliseconds beyond.
    void listen(std::size_t count, bool is_cancelled, int milliseconds_more);

    std::vector<Event> events;
    Revision compact_revision = 0;  ///< not 0: it was cancelled

   private:
    bool read_within(int milliseconds);
    void take_lines();
    int fd_;
    std::string received_;
    std::string text_;
  };
  std::string version() const { return version_; }

 private:
  /// Gone with the last who has it.
  struct Folder {
    std::string path;
    Folder();
    ~Folder();
  };

  RealEtcd(std::shared_ptr<const Folder> folder, std::size_t number, std::size_t members)
      : folder_(std::move(folder)), number_(number), members_(members) {}
  void start_process();
  void wait_until_up();
  int connect() const;
  std::string post(std::string_view path, const std::string& body);

  std::shared_ptr<const Folder> folder_;
  std::size_t number_;  ///< from 0
  std::size_t members_;
  std::string version_;
  int pid_ = 0;
  int fd_ = -1;
};

}  // namespace lockstep::models::etcd::conformance
