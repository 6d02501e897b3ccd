#pragma once

// The operations of one run as a history that other tools read: Jepsen's EDN, or JSON lines with the same keys.
// `lockstep linearize` reads both, and judges them as `run` does.

#include <optional>
#include <string>
#include <string_view>

#include "scenarios/deployment/outcome.hpp"

namespace lockstep::reports {

enum class HistoryFormat : std::uint8_t { edn, json_lines };

/// By the end of the file's name: .edn, .jsonl or .ndjson; nothing for another one.
std::optional<HistoryFormat> history_format_of(std::string_view file_name);

/// One event on each line, in an order in which operations overlap exactly if they do, or touch, in true time. Times
/// are true times in ns. A hold that its client gave up, or crashed with, or knew by its clock to be over, ends with a
/// release of unknown outcome (as checker/properties/belief/mutex_history.hpp has it): a perfect mutex does not free
/// itself. A lock that is taken again within a hold is acquired and released as often. Crashes and pauses are lines of
/// the nemesis.
std::string history_text(const scenarios::Outcome& outcome, HistoryFormat format);

}  // namespace lockstep::reports
