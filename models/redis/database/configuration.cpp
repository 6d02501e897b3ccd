#include "models/redis/database/configuration.hpp"

#include <array>
#include <limits>

#include "models/value.hpp"

namespace lockstep::models::redis {
namespace {

/// Two names of the same thing.
constexpr std::array<std::array<std::string_view, 2>, 6> kAliases = {{
    {"busy-reply-threshold", "lua-time-limit"},
    {"hash-max-listpack-entries", "hash-max-ziplist-entries"},
    {"hash-max-listpack-value", "hash-max-ziplist-value"},
    {"list-max-listpack-size", "list-max-ziplist-size"},
    {"zset-max-listpack-entries", "zset-max-ziplist-entries"},
    {"zset-max-listpack-value", "zset-max-ziplist-value"},
}};

}  // namespace

/// How objects lie in memory is kept and shown, and hardly anything that a client can see hangs on it: OBJECT ENCODING,
/// and the sign of a score of zero.
Configuration::Configuration() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();
  parameters_ = {
      {"appendfsync", "everysec", false, 0, 0},
      {"appendonly", "no", false, 0, 0},
      {"busy-reply-threshold", "5000", true, 0, kMost},
      {"hash-max-listpack-entries", "512", true, 0, kMost},
      {"hash-max-listpack-value", "64", true, 0, kMost},
      {"hash-max-ziplist-entries", "512", true, 0, kMost},
      {"hash-max-ziplist-value", "64", true, 0, kMost},
      {"list-compress-depth", "0", true, 0, kMostInt},
      {"list-max-listpack-size", "-2", true, -kMostInt - 1, kMostInt},
      {"list-max-ziplist-size", "-2", true, -kMostInt - 1, kMostInt},
      {"lua-time-limit", "5000", true, 0, kMost},
      {"maxmemory", "0", true, 0, kMost},
      {"min-replicas-max-lag", "10", true, 0, kMostInt},
      {"min-replicas-to-write", "0", true, 0, kMostInt},
      {"notify-keyspace-events", "", false, 0, 0},
      {"repl-backlog-size", "1048576", true, 1, kMost},
      {"replica-priority", "100", true, 0, kMostInt},
      {"save", "", false, 0, 0},
      {"set-max-intset-entries", "512", true, 0, kMost},
      {"timeout", "0", true, 0, kMostInt},
      {"zset-max-listpack-entries", "128", true, 0, kMost},
      {"zset-max-listpack-value", "64", true, 0, kMost},
      {"zset-max-ziplist-entries", "128", true, 0, kMost},
      {"zset-max-ziplist-value", "64", true, 0, kMost},
  };
}

Parameter* Configuration::find(std::string_view name) {
  for (Parameter& parameter : parameters_) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

void Configuration::set(std::string_view name, std::string value) {
  for (const auto& [one, other] : kAliases) {
    if (name == one) find(other)->value = value;
    if (name == other) find(one)->value = value;
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
