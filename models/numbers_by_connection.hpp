#pragma once

#include <cstdint>
#include <map>

#include "sim/worlds/ids.hpp"

namespace lockstep::models {

/// Numbers that a server gives to what is opened at it. Each connection has numbers of its own, so that it does not
/// matter who asks first. 1, 2, … for the first of each connection.
class NumbersByConnection {
 public:
  std::int64_t next(sim::ConnectionId connection) {
    constexpr std::int64_t kConnections = 0x1000;
    return connection.index + 1 + kConnections * given_[connection.index]++;
  }
  void clear() { given_.clear(); }

 private:
  std::map<std::uint32_t, std::int64_t> given_;  ///< so far, by connection
};

}  // namespace lockstep::models
