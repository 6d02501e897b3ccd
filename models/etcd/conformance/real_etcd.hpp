#pragma once

// A real etcd of one node, and what it says through its JSON gateway. For tests, where it is installed.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/etcd/conformance/steps.hpp"
#include "models/etcd/engine/request.hpp"

namespace lockstep::models::etcd::conformance {

/// A server of its own, in a folder of its own, on a socket there. It ends with this object.
class RealEtcd {
 public:
  /// Nothing: it is not installed, and `why` says so.
  static std::unique_ptr<RealEtcd> start(std::string& why);
  ~RealEtcd();

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
  explicit RealEtcd(std::string folder) : folder_(std::move(folder)) {}
  int connect() const;
  std::string post(std::string_view path, const std::string& body);

  std::string folder_;
  std::string version_;
  int pid_ = 0;
  int fd_ = -1;
};

}  // namespace lockstep::models::etcd::conformance
