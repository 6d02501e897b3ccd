#pragma once

// The isolation level of a lock's transactions, as a parameter.

#include <array>
#include <string>
#include <string_view>

#include "models/locks/parameters.hpp"
#include "models/sql/engine/statement.hpp"

namespace lockstep::models::locks {

/// In the order of `sql::Isolation`.
inline constexpr std::array<std::string_view, 3> isolation_names{"standard", "read-committed", "repeatable-read"};

inline ParameterSpec isolation_parameter() {
  return {"isolation", std::string(isolation_names[0]),
          "of its transactions; standard: the server's own, which PostgreSQL and MariaDB differ in", isolation_names};
}

inline sql::Isolation isolation_of(const Parameters& parameters) {
  const std::string name = parameters.choice("isolation");
  if (name == isolation_names[0]) return sql::Isolation::standard;
  return name == isolation_names[1] ? sql::Isolation::read_committed : sql::Isolation::repeatable_read;
}

}  // namespace lockstep::models::locks
