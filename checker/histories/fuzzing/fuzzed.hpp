#pragma once

// What must hold of any text, for the fuzzers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "checker/histories/read.hpp"
#include "checker/histories/recorder.hpp"

namespace lockstep::checker::history_formats {

struct FuzzedReading {
  std::string events;
  std::string trouble;
};

inline FuzzedReading read_fuzzed(std::string_view text, Format format, std::size_t chunk,
                                 std::span<const Pattern> patterns) {
  FuzzedReading reading;
  const ReadResult result = read_history(
      text_source(text), format,
      [&](const Event& event) {
        reading.events += to_string(event.process) + std::string(event.function) + to_string(event.value) +
                          std::to_string(event.line) + "\n";
        return std::optional<Complaint>();
      },
      chunk, Format::log, patterns);
  if (result.trouble) {
    const Trouble& trouble = *result.trouble;
    const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
    if (trouble.message.empty() || trouble.at.line > lines || trouble.at.column > text.size() + 1) std::abort();
    if ((trouble.at.line == 0) != (trouble.at.column == 0)) std::abort();
    reading.trouble = std::to_string(trouble.at.line) + ":" + std::to_string(trouble.at.column) + trouble.message;
  } else if (result.events == 0) {
    std::abort();
  }
  return reading;
}

inline void fuzz_history(std::string_view text, Format format, std::span<const Pattern> patterns = {}) {
  constexpr std::size_t whole_chunk = std::size_t{1} << 13U;  // libFuzzer's texts have 4 KiB at most
  const FuzzedReading whole = read_fuzzed(text, format, whole_chunk, patterns);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{11}}) {
    const FuzzedReading pieces = read_fuzzed(text, format, chunk, patterns);
    if (pieces.events != whole.events || pieces.trouble != whole.trouble) std::abort();
  }
  for (const char* name : {"cas-register", "kv", "set", "multi-register", "semaphore", "fenced-mutex"}) {
    Recorder recorder(*find_model(name), {.independent = text.size() % 2 == 1});
    const ReadResult result = read_history(
        text_source(text), format, [&](const Event& event) { return recorder.take(event); }, whole_chunk, Format::log,
        patterns);
    if (result.trouble || recorder.trouble()) continue;
    const RecordedHistory recorded = recorder.finish();
    if (recorded.lines.size() != recorded.operations.operations.size()) std::abort();
    for (const HistoryOperation& operation : recorded.operations.operations) {
      if (operation.process >= recorded.operations.process_names.size()) std::abort();
      if (!operation.is_unknown() && operation.returned <= operation.invoked) std::abort();
    }
  }
}

}  // namespace lockstep::checker::history_formats
