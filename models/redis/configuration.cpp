#include "models/redis/configuration.hpp"

#include <limits>

#include "models/redis/value.hpp"

namespace lockstep::models::redis {

Configuration::Configuration() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();
  parameters_ = {
      {"appendfsync", "everysec", false, 0, 0},
      {"appendonly", "no", false, 0, 0},
      {"busy-reply-threshold", "5000", true, 0, kMost},
      {"lua-time-limit", "5000", true, 0, kMost},
      {"maxmemory", "0", true, 0, kMost},
      {"min-replicas-max-lag", "10", true, 0, kMostInt},
      {"min-replicas-to-write", "0", true, 0, kMostInt},
      {"notify-keyspace-events", "", false, 0, 0},
      {"repl-backlog-size", "1048576", true, 1, kMost},
      {"replica-priority", "100", true, 0, kMostInt},
      {"save", "", false, 0, 0},
      {"timeout", "0", true, 0, kMostInt},
  };
}

Parameter* Configuration::find(std::string_view name) {
  for (Parameter& parameter : parameters_) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

void Configuration::set(std::string_view name, std::string value) {
  // Two names of the same thing.
  for (const std::string_view other : {std::string_view("busy-reply-threshold"), std::string_view("lua-time-limit")}) {
    if (name == "busy-reply-threshold" || name == "lua-time-limit") find(other)->value = value;
  }
  Parameter& parameter = *find(name);
  parameter.value = std::move(value);
  if (name == "notify-keyspace-events") {
    notified_events_ = NotifiedEvents::read(parameter.value).value_or(NotifiedEvents());
    parameter.value = notified_events_.letters();
  }
  if (name == "min-replicas-to-write") min_replicas_to_write_ = *parse_integer(parameter.value);
  if (name == "min-replicas-max-lag") {
    min_replicas_max_lag_ = sim::Duration::seconds(*parse_integer(parameter.value));
  }
  has_changed_ = true;
}

}  // namespace lockstep::models::redis
