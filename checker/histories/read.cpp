#include "checker/histories/read.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "checker/histories/formats/edn.hpp"
#include "checker/histories/formats/intervals.hpp"
#include "checker/histories/formats/json.hpp"
#include "checker/histories/formats/log.hpp"

namespace lockstep::checker::history_formats {
namespace {

constexpr std::array<std::string_view, 7> kFormats{"auto", "edn", "json", "log", "intervals", "csv", "pattern"};

bool is_between_values(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

/// By the first thing that is no blank and no comment. JSON and EDN maps differ in their first key.
Format detect(std::string_view text, Format otherwise) {
  std::size_t i = 0;
  bool in_brackets = false;
  for (;;) {
    while (i < text.size() && is_between_values(text[i])) ++i;
    if (i == text.size()) return in_brackets ? Format::edn : Format::automatic;
    const char c = text[i];
    if (c == ';' || c == '#' || c == '(') return begins_with_interval(text) ? Format::intervals : Format::edn;
    if (c == '[' && !in_brackets) {
      in_brackets = true;
      ++i;
      continue;
    }
    if (c == '{') {
      ++i;
      while (i < text.size() && is_between_values(text[i])) ++i;
      const bool is_json = i < text.size() && (text[i] == '"' || text[i] == '\'');
      if (begins_with_interval(text)) return Format::intervals;
      return is_json ? Format::json : Format::edn;
    }
    if (!in_brackets && begins_with_table(text.substr(i))) return Format::table;
    return in_brackets ? Format::edn : otherwise;
  }
}

std::unique_ptr<EventReader> reader_of(Format format, Window& window, std::span<const Pattern> patterns) {
  switch (format) {
    case Format::json: return std::make_unique<JsonEvents>(window);
    case Format::log: return std::make_unique<LogEvents>(window);
    case Format::intervals: return std::make_unique<IntervalEvents>(window);
    case Format::table: return std::make_unique<TableEvents>(window);
    case Format::pattern: return std::make_unique<PatternEvents>(window, patterns);
    case Format::edn:
    case Format::automatic: break;
  }
  return std::make_unique<EdnEvents>(window);
}

}  // namespace

std::span<const std::string_view> format_names() { return kFormats; }

Format format_of_name(std::string_view file_name) {
  constexpr std::pair<std::string_view, Format> endings[] = {
      {".edn", Format::edn}, {".json", Format::json}, {".jsonl", Format::json}, {".ndjson", Format::json}};
  for (const auto& [ending, format] : endings) {
    if (file_name.ends_with(ending)) return format;
  }
  return Format::log;
}

ReadResult read_history(Source source, Format format, const Sink& sink, std::size_t chunk, Format otherwise,
                        std::span<const Pattern> patterns) {
  Window window(std::move(source), chunk);
  ReadResult result{.format = format};
  if (format == Format::automatic) {
    // A little more than a short read gives; a comment longer than this is taken for what it begins with.
    while (!window.is_complete() && window.end() - window.begin() < 4096) window.grow();
    result.format = detect({window.begin(), static_cast<std::size_t>(window.end() - window.begin())}, otherwise);
  }
  const std::unique_ptr<EventReader> reader = reader_of(result.format, window, patterns);
  Event event;
  for (;;) {
    const EventReader::Step step = reader->next(event);
    if (step == EventReader::Step::bad) result.trouble = reader->trouble();
    if (step != EventReader::Step::event) break;
    ++result.events;
    if (const std::optional<Complaint> complaint = sink(event)) {
      result.trouble = trouble_of(window, *complaint);
      break;
    }
  }
  result.lines_skipped = reader->lines_skipped();
  result.first_skipped = reader->first_skipped();
  if (!result.trouble && result.events == 0 && result.first_skipped) {
    result.trouble = *result.first_skipped;
    result.trouble->message =
        fmt::format("no line is as --pattern has it; the first that is not empty should have {} here",
                    result.first_skipped->message);
  }
  if (!result.trouble && result.events == 0) {
    const std::string_view which =
        result.format == Format::automatic ? "history" : kFormats[static_cast<std::size_t>(result.format)];
    result.trouble = Trouble{
        .message =
            result.lines_skipped == 0
                ? "no operations: the file is empty, or has only blanks and comments"
                : fmt::format("no operations in {} lines, read as {}; expected lines like 0 :invoke :read nil, maps "
                              "as Jepsen's history.edn has them, or JSON objects (docs/manual/linearize.md)",
                              result.lines_skipped, which)};
  }
  return result;
}

}  // namespace lockstep::checker::history_formats
