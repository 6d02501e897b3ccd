#pragma once

// A loop around programs that is no simulation: a line of time, random latencies, and a server with one lock. For tests
// of the tracer alone.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/tracer/program.hpp"

namespace lockstep::programs::tracer::testing {

/// Off by so much, and gaining a thousandth where it drifts.
struct ToyClock {
  std::int64_t offset = 0;
  bool drifts = false;
};

class ToyWorld {
 public:
  explicit ToyWorld(std::uint64_t seed);
  ~ToyWorld();

  void add(std::vector<std::string> arguments, ToyClock clock = {});
  /// Until nothing happens any more, or for so many seconds of virtual time.
  void run(std::int64_t seconds = 60);
  /// Everything that happened, a line each.
  const std::string& events() const { return events_; }
  const Program& program(std::size_t number) const;

 private:
  class Client;
  void later(std::int64_t delay, std::function<void()> action);
  std::int64_t latency();
  void note(const std::string& line);
  std::string answer(const std::string& question);

  std::uint64_t seed_;
  std::uint64_t random_;
  std::int64_t now_ = 0;
  std::uint64_t emitted_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, std::function<void()>> pending_;
  std::deque<std::unique_ptr<Client>> clients_;
  std::string holder_;
  std::string events_;
};

inline constexpr std::uint16_t kToyPort = 6379;

}  // namespace lockstep::programs::tracer::testing
