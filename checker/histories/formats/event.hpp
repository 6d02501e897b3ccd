#pragma once

// Histories from files, whoever wrote them: Jepsen's EDN, Jepsen's logs, JSON lines. Start here.
//
//   Window (window.hpp)     the text, a piece at a time, with the position of each character
//   read_history (read.hpp) finds out which format it is, and gives each event, in the order of the file, to a sink
//   Recorder (recorder.hpp) pairs invocations with their ends, as operations of a model
//
// An event is neutral: it knows functions and values as the file writes them, and no model. Texts and lists point into
// the reader's own memory, and are gone when the sink returns.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/worlds/history.hpp"

namespace lockstep::checker::history_formats {

/// Line and column from 1; the column counts characters, not bytes. 0:0 is the file as a whole.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// Why a file is no history. One sentence or two: what was found and what was expected.
struct Trouble {
  Position at;
  std::string message;
  /// A name that nobody knows, and those that could have been meant: for "did you mean".
  std::string given;
  std::vector<std::string> valid;
};

/// What a file says of an argument or a result. canonical.hpp says which are equal.
struct Value {
  enum class Kind : std::uint8_t {
    absent,   ///< nothing was said
    nil,      ///< nil, null
    boolean,  ///< `number` is 0 or 1
    integer,
    number,  ///< one that is not whole, or too large: `text`, as it is written
    text,    ///< a string
    name,    ///< keywords with their colon, symbols, characters, tagged strings: `text`, as they are written
    list,    ///< vectors, lists: `items`
    set,     ///< `items`
    map      ///< `items`: their keys and values in turn
  };
  Kind kind = Kind::absent;
  std::int64_t number = 0;
  std::string_view text;
  std::span<const Value> items;

  bool is(Kind k) const { return kind == k; }
  bool is_nothing() const { return kind == Kind::absent || kind == Kind::nil; }
  /// Where a string and a keyword mean the same: functions, types, processes.
  bool is_word() const { return kind == Kind::text || kind == Kind::name; }
};

/// The value as a message shows it: `[3 "x" nil]`, cut after some 60 characters.
std::string to_string(const Value& value);

/// One line of a history.
struct Event {
  sim::Phase phase = sim::Phase::invoke;
  Value process;              ///< integer or word; ":nemesis" is no client
  std::string_view function;  ///< without a colon: "read"
  Value value;
  Value key;      ///< a key that stands beside the value (`:key "x"`)
  Value object;   ///< as Lockstep's own histories have it: which lock or resource this is about
  Value model;    ///< likewise: the name of its model
  Value permits;  ///< likewise: of a semaphore
  Value error;
  std::optional<std::int64_t> time;   ///< ns
  std::optional<std::int64_t> index;  ///< not negative
  std::uint32_t line = 0;             ///< on which it begins
  // Where a complaint about each part points to.
  const char* begin = nullptr;
  const char* process_at = nullptr;
  const char* function_at = nullptr;
  const char* value_at = nullptr;
  const char* index_at = nullptr;

  bool is_nemesis() const { return process.is_word() && (process.text == ":nemesis" || process.text == "nemesis"); }
};

/// What a sink has against an event.
struct Complaint {
  const char* at = nullptr;  ///< one of the event's places
  std::string message;
  std::string given;
  std::vector<std::string> valid;
};

using Sink = std::function<std::optional<Complaint>(const Event&)>;

}  // namespace lockstep::checker::history_formats
