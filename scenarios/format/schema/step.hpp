#pragma once

// Steps of a client: what faults strike at and pins put in order.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/format/schema/parts.hpp"

namespace lockstep::scenarios::schema {

enum class StepKind : std::uint8_t {
  any,       ///< a request to a server as its kind calls it ("SET"), or acquire, release, read, write
  handled,   ///< the same, or start, work, sleep, timeout, reset: what a client can have done
  message,   ///< what travels: such a request, read or write
  scheduled  ///< the same, and what servers say to each other
};

struct Step {
  std::string name;
  std::optional<std::int64_t> occurrence;  ///< "SET#2"
};

/// The number after a #.
std::int64_t occurrence_of(const Node& node, std::string_view text, std::size_t inside);

/// The way back: the first is meant without a number.
std::string text_of_step(const std::string& name, std::int64_t occurrence);

/// Reads `text`, which stands `inside` bytes from the begin of the string at `node`.
Step step_of(const Node& node, std::string_view text, std::size_t inside, StepKind kind, Draft& draft);

/// "A.SET#2": what another process has sent, as a server or a sentinel knows it; the name of the step is "A.SET". Or a
/// step of its own, such as "timeout".
Step step_of_server(const Node& node, std::string_view text, bool is_sentinel, Draft& draft);

/// The two sides of a partition. Nobody may stand on both, or he would be cut off from himself.
std::vector<std::vector<std::string>> sides_of(const Node& node, Draft& draft);

/// A command line such as `SET lock A NX PX 100`: a command that exists, with as many arguments as it takes.
ClientSpec::Line command_of(const Node& node);

}  // namespace lockstep::scenarios::schema
