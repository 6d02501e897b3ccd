#pragma once

// What CONFIG GET shows and CONFIG SET takes: the parameters that mean something to the simulated server.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/redis/database/notified_events.hpp"
#include "sim/time/time.hpp"

namespace lockstep::models::redis {

struct Parameter {
  std::string_view name;
  std::string value;  ///< as CONFIG GET prints it
  bool is_number = true;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

/// With redis-server 7.0.15's defaults, persistence off.
class Configuration {
 public:
  Configuration();
  std::span<const Parameter> parameters() const { return parameters_; }
  Parameter* find(std::string_view name);
  /// What every write asks for, without a search.
  std::int64_t min_replicas_to_write() const { return min_replicas_to_write_; }
  sim::Duration min_replicas_max_lag() const { return min_replicas_max_lag_; }
  /// Of which changes subscribers hear.
  NotifiedEvents notified_events() const { return notified_events_; }
  void set(std::string_view name, std::string value);
  bool has_changed() const { return has_changed_; }

 private:
  std::vector<Parameter> parameters_;
  std::int64_t min_replicas_to_write_ = 0;
  sim::Duration min_replicas_max_lag_ = sim::Duration::seconds(10);
  NotifiedEvents notified_events_;
  bool has_changed_ = false;
};

}  // namespace lockstep::models::redis
