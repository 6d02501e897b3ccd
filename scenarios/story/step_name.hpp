#pragma once

// What files call the accesses to the resource, and what the world calls them. Everything else has one name.

#include <string>

namespace lockstep::scenarios {

/// "read" → "READ": a step of a file as the name of a message.
inline std::string message_named(const std::string& step) {
  if (step == "read") return "READ";
  if (step == "write") return "WRITE";
  return step;
}

/// "READ" → "read".
inline std::string step_in_file(const std::string& message) {
  if (message == "READ") return "read";
  if (message == "WRITE") return "write";
  return message;
}

}  // namespace lockstep::scenarios
