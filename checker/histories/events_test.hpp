#pragma once

// Events of a text, with everything in them copied: for the tests of the readers.

#include <string>
#include <string_view>
#include <vector>

#include "checker/histories/read.hpp"

namespace lockstep::checker::history_formats {

/// "12: 0 invoke read nil", and what else an event has: " key=x time=5 index=0 error=:timeout".
inline std::string shown(const Event& event) {
  constexpr std::string_view phases[] = {"invoke", "ok", "fail", "info"};
  std::string text = std::to_string(event.line) + ": " + to_string(event.process) + " " +
                     std::string(phases[static_cast<std::size_t>(event.phase)]) + " " + std::string(event.function);
  if (!event.value.is(Value::Kind::absent)) text += " " + to_string(event.value);
  if (!event.key.is(Value::Kind::absent)) text += " key=" + to_string(event.key);
  if (!event.object.is(Value::Kind::absent)) text += " object=" + to_string(event.object);
  if (event.time) text += " time=" + std::to_string(*event.time);
  if (event.index) text += " index=" + std::to_string(*event.index);
  if (!event.error.is(Value::Kind::absent)) text += " error=" + to_string(event.error);
  return text;
}

struct Events {
  std::vector<std::string> all;
  ReadResult result;
};

inline Events events_of(std::string_view text, std::size_t chunk = 1 << 20, Format format = Format::automatic) {
  Events events;
  events.result = read_history(
      text_source(text), format,
      [&](const Event& event) {
        events.all.push_back(shown(event));
        return std::optional<Complaint>();
      },
      chunk);
  return events;
}

/// "3:7: message", or "" if the text is good.
inline std::string trouble_in(std::string_view text, Format format = Format::automatic, std::size_t chunk = 1 << 20) {
  const ReadResult result = events_of(text, chunk, format).result;
  if (!result.trouble) return "";
  const Position at = result.trouble->at;
  return std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + result.trouble->message;
}

}  // namespace lockstep::checker::history_formats
