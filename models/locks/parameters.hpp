#pragma once

// Parameters of lock algorithms: what a scenario file may set, with kinds, units and defaults.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/time/time.hpp"

namespace lockstep::models::locks {

using ParameterValue = std::variant<sim::Duration, sim::DurationRange, std::int64_t, bool, std::string>;

/// The meaning of a parameter to code that knows nothing else of the algorithm: new stories, the matrix, bounds of
/// properties.
enum class ParameterRole : std::uint8_t {
  other,
  lease,             ///< how long a hold lasts that is not released; zero: there is none
  renewed_lease,     ///< the same of a hold that is renewed, which it is unless there is a lease
  newcomers_lease,   ///< how long a hold counts for clients that come later
  session_ttl,       ///< of a session that is renewed, and that its server ends after twice as long (Consul)
  lock_delay,        ///< how long nobody gets the lock after a session has ended that had it
  server_patience,   ///< how long it waits for the reply of one server
  replica_patience,  ///< how long a server waits for its replicas before it replies
  longest_delay,     ///< the longest pause between two tries inside one attempt
  places             ///< how many may hold it at once: with it the lock is a semaphore
};

/// Declares one parameter. The kind is the alternative that `fallback` holds.
struct ParameterSpec {
  std::string_view name;     ///< snake_case, as in scenario files
  ParameterValue fallback;   ///< the value when a file says nothing: the document's own figure where it has one
  std::string_view meaning;  ///< one line
  std::span<const std::string_view> choices = {};  ///< for strings: all allowed values
  std::int64_t min = 0;                            ///< for numbers: the smallest allowed value
  ParameterRole role = ParameterRole::other;
  /// Why all clients have the same value, in a few words; empty: a `[[client]]` may have its own.
  std::string_view one_for_all = "";
};

/// Parameters that every algorithm has: how often a client tries, and how long it waits in between.
ParameterSpec attempts_parameter(std::int64_t fallback);
ParameterSpec retry_parameter(sim::DurationRange fallback);

// Declarations of parameters with a role, under the documents' names for them.

ParameterSpec lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning);
ParameterSpec renewed_lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning);
ParameterSpec session_ttl_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning);
ParameterSpec newcomers_lease_parameter(std::string_view name, sim::Duration fallback, std::string_view meaning);
/// At least one, and the same for all clients.
ParameterSpec places_parameter(std::string_view name, std::int64_t fallback, std::string_view meaning);

/// "duration", "duration range", "whole number", "true or false", "one of a, b".
std::string kind_of(const ParameterSpec& spec);

/// Whether a parameter of this kind, choice and least number can have the value.
bool accepts(const ParameterSpec& spec, const ParameterValue& value);

/// The parameter with this role, or null. An algorithm has at most one of each.
const ParameterSpec* find(std::span<const ParameterSpec> specs, ParameterRole role);

/// The parameter that sets the length of the lease: the one that counts when a file says nothing. Null: there is no
/// lease.
const ParameterSpec* find_lease(std::span<const ParameterSpec> specs);

/// The values of one algorithm's parameters: the defaults, overlaid with what the scenario set.
class Parameters {
 public:
  explicit Parameters(std::span<const ParameterSpec> specs);

  const ParameterSpec* find(std::string_view name) const;
  /// The duration with this role; nothing if the algorithm has none.
  std::optional<sim::Duration> duration(ParameterRole role) const;
  /// Requires: `name` is declared, and `value` is of its kind (the loader checks what files say).
  void set(std::string_view name, ParameterValue value);

  /// Each requires that `name` is declared with that kind: anything else is a bug of the algorithm.
  sim::Duration duration(std::string_view name) const { return std::get<sim::Duration>(get(name)); }
  sim::DurationRange range(std::string_view name) const { return std::get<sim::DurationRange>(get(name)); }
  std::int64_t number(std::string_view name) const { return std::get<std::int64_t>(get(name)); }
  bool flag(std::string_view name) const { return std::get<bool>(get(name)); }
  const std::string& choice(std::string_view name) const { return std::get<std::string>(get(name)); }

  std::span<const ParameterSpec> specs() const { return specs_; }
  const ParameterValue& get(std::string_view name) const;

 private:
  std::span<const ParameterSpec> specs_;
  std::vector<ParameterValue> values_;
};

/// How long a hold lasts with these values if it is neither released nor renewed. Nothing: for ever.
std::optional<sim::Duration> lease_of(const Parameters& parameters);

}  // namespace lockstep::models::locks
