#pragma once

// Scenario files and a catalogue for the loader's tests, independent of the algorithms that the project has.

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/loader.hpp"

namespace lockstep::scenarios::samples {

/// Two algorithms; "sample" declares a parameter of every kind.
inline models::locks::Catalogue catalogue() {
  using sim::Duration;
  using sim::DurationRange;
  static constexpr std::array<std::string_view, 2> modes{"strict", "lenient"};
  models::locks::Catalogue catalogue;
  catalogue.add({.id = "sample",
                 .summary = "a parameter of every kind",
                 .parameters = {{.name = "ttl",
                                 .fallback = Duration::milliseconds(100),
                                 .meaning = "how long the key lives",
                                 .role = models::locks::ParameterRole::lease},
                                {"retry", DurationRange::exactly(Duration::milliseconds(10)), "between attempts"},
                                {"attempts", std::int64_t{1}, "how often", {}, 1},
                                {"unlock_all", false, "everywhere"},
                                {"mode", std::string("strict"), "how", modes}}});
  catalogue.add({.id = "plain", .summary = "no parameters"});
  return catalogue;
}

/// Uses every table and nearly every key. The bad inputs of loader_bad_input_test.cpp are one change of it each, and
/// give positions in it: new lines go to the end.
inline constexpr std::string_view kGood = R"(title  = { en = "Two holders", zh = "两个持有者" }
story  = { en = "A is slow.", zh = "A 很慢。" }
lesson = { en = "Use tokens.", zh = "使用令牌。" }
source = "a document, scenario 2"
reproduces = ["F000-2", "F000-2i"]
cost = "slow"

[lock]
algorithm = "sample"
key = "stock"
ttl = "100ms"
retry = ["5ms", "10ms"]
attempts = 3
unlock_all = true
mode = "lenient"

[network]
latency = ["1ms", "5ms"]
timeout = "50ms"

[[server]]
name = "redis1"
clock = { offset = "-5ms", drift_ppm = 100, uptime = "7s" }

[[server]]
latency = "2ms"

[resource]
kind = "counter"
fenced = true
latency = "3ms"

[[client]]
name = "A"
hold = "20ms"
rounds = 2
between = "7ms"
clock = { offset = "200ms" }

[[client]]
name = ["B", "C"]
acquire_at = "150ms"
attempts = 1
retry = "4ms"
release = false

[[client]]
name = "operator"
acquire_at = ["10ms", "12ms"]
commands = ["DEL lock", 'SET lock "x y"']

[[fault]]
kind = "pause"
client = "A"
after = "SETNX"
length = "400ms"

[[fault]]
kind = "crash"
server = "redis2"
at = "150ms"
restart_after = "1s"
keep = true

[[fault]]
kind = "jump"
client = "B"
sent = "SET#5"
by = "-2min"

[[fault]]
kind = "lose"
client = "C"
message = "SET#2"
direction = "reply"

[[fault]]
kind = "delay"
client = "C"
message = "read"
length = "9ms"

[[fault]]
kind = "partition"
between = [["A", "B"], ["redis1", "resource"]]
from = "10ms"
length = "30ms"

[[may]]
kind = "pause"
client = "A"
length = ["0ms", "10s"]
times = 2

[[may]]
kind = "skew"
server = ["redis1", "redis2"]
by = ["-1s", "1s"]

[pin]
order = ["B.GET", "C.SETNX#2", "A.SET@redis2", "A.SETNX#2@redis1", "C.write"]

[properties]
recoverable = { within = "200ms" }

[expect.run]
mutual-exclusion = { violated_by = ["B", "C"], at = "163ms" }
own-release = "holds"
fencing = "unknown"

[expect.check]
traces = 123
mutual-exclusion = { violated = true, from = { pause = "91ms" } }
own-release = { holds = true }
)";

/// The least that is a scenario, but for the client.
inline constexpr std::string_view kHead = R"(title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
lock.algorithm = "plain"
)";

/// The least that is a scenario.
inline constexpr std::string_view kLeast = R"(title = { en = "t", zh = "t" }
story = { en = "s", zh = "s" }
lesson = { en = "l", zh = "l" }
lock.algorithm = "plain"
[[client]]
name = "A"
)";

/// `kGood` with `from` replaced by `to` where it first stands, and what the loader must say about it.
struct BadInput {
  std::string_view from;
  std::string_view to;
  std::string_view message;  ///< "line:column: ...", without the file
};

// In place of `from`: what `to` is appended to.
inline constexpr std::string_view kWhole = "(nothing)";
inline constexpr std::string_view kAppended = "(kGood)";
inline constexpr std::string_view kHeadAnd = "(kHead)";
inline constexpr std::string_view kLeastAnd = "(kLeast)";

inline std::string text_of(const BadInput& input) {
  const std::string to(input.to);
  if (input.from == kWhole) return to;
  if (input.from == kAppended) return std::string(kGood) + to;
  if (input.from == kHeadAnd) return std::string(kHead) + to;
  if (input.from == kLeastAnd) return std::string(kLeast) + to;
  std::string text(kGood);
  const std::size_t at = text.find(input.from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, input.from.size(), to);
}

/// "line:column: message", or "message" about the file as a whole.
inline std::string refusal(std::string_view text) {
  const auto result = parse(text, "x", catalogue());
  const auto* diagnostic = std::get_if<Diagnostic>(&result);
  if (diagnostic == nullptr) return "(a scenario)";
  const std::string said = diagnostic->to_string();
  return said.substr(diagnostic->at.line == 0 ? 3 : 2);
}

/// Each of them is refused with just its message.
inline void expect_refused(const std::vector<BadInput>& inputs) {
  for (const BadInput& input : inputs) {
    CAPTURE(input.from, input.to);
    CHECK(refusal(text_of(input)) == input.message);
  }
}

}  // namespace lockstep::scenarios::samples
