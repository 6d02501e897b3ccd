#pragma once

// What the readers of all formats share: the place in the window, the memory behind values, and the two ways to stop:
// the window ends too early (`more`), or the text is wrong (`bad`).

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checker/histories/formats/event.hpp"
#include "checker/histories/formats/window.hpp"

namespace lockstep::checker::history_formats {

/// Lists and decoded strings of one event. Cleared, its memory is kept for the next.
class Scratch {
 public:
  void clear();
  std::string& text();
  /// Takes all values from `from` on off the stack, as one list.
  std::span<const Value> list(std::size_t from);
  std::vector<Value> stack;

 private:
  std::vector<std::vector<Value>> lists_;
  std::size_t lists_used_ = 0;
  std::deque<std::string> texts_;
  std::size_t texts_used_ = 0;
};

/// Nesting beyond this is no history.
inline constexpr std::size_t kDepthMax = 128;

/// A reader of values in a piece of text. `false` of any function: look at `wants_more`, else at `complaint`.
class ValueReader {
 public:
  virtual ~ValueReader() = default;

  void set(const char* begin, const char* end, bool is_complete) {
    p_ = begin;
    end_ = end;
    is_complete_ = is_complete;
    wants_more_ = false;
  }
  const char* place() const { return p_; }
  bool is_at_end() const { return p_ == end_; }
  bool wants_more() const { return wants_more_; }
  const Complaint& complaint() const { return complaint_; }
  Scratch& scratch() { return scratch_; }

  /// Blanks, and in EDN comments.
  virtual bool skip_blanks() = 0;
  virtual bool read(Value& value, std::size_t depth = 0) = 0;
  virtual bool skip() = 0;

 protected:
  ValueReader() = default;
  ValueReader(const ValueReader&) = default;
  ValueReader& operator=(const ValueReader&) = default;

  bool fail(const char* at, std::string message, std::string given = {}, std::vector<std::string> valid = {});
  /// The text ends inside `what`.
  bool ended(std::string_view what);
  /// A string in quotes, at the first of them; of characters from `lowest` on, and escapes.
  bool string(Value& value, unsigned char lowest);
  /// At a backslash; afterwards at the last character of the escape.
  virtual bool escape(std::string& out) = 0;
  /// What an escape of one letter stands for, which EDN and JSON have alike; nothing: it is none.
  static std::optional<char> escaped(char letter);
  /// At the u of \uXXXX; afterwards at its last digit. `complain_at`: where what is no digit is told; null: at itself.
  bool code_unit(std::uint32_t& unit, const char* complain_at = nullptr);
  /// Of the digits from `begin` to `end`: all of them, with a sign.
  bool integer(const char* begin, const char* end, Value& value);

  const char* p_ = nullptr;
  const char* end_ = nullptr;
  bool is_complete_ = false;
  bool wants_more_ = false;
  Complaint complaint_;
  Scratch scratch_;
};

/// The parts of an event that a map or an object names, gathered one by one and checked at the end.
class EventParts {
 public:
  enum class Part : std::uint8_t { type, function, process, value, key, object, model, permits, time, index, error };

  /// The event is filled in as its parts come.
  void begin(Event& event, const char* at);
  /// Of a key without its colon; nothing for keys that mean nothing here.
  static std::optional<Part> part(std::string_view key);
  /// One more part. False: `complaint` says why not.
  bool take(Part part, const Value& value, const char* key_at, const char* at, Complaint& complaint);
  /// Is there all that an event needs? False: `complaint` says what is missing.
  bool finish(Complaint& complaint);

 private:
  Event* event_ = nullptr;
  std::uint32_t seen_ = 0;
};

/// "invoke", ":ok", …
std::optional<sim::Phase> phase_of(std::string_view text);

/// Takes events off a window one by one.
class EventReader {
 public:
  enum class Step : std::uint8_t { event, end, bad };
  virtual ~EventReader() = default;
  virtual Step next(Event& event) = 0;
  const Trouble& trouble() const { return trouble_; }
  /// Lines that are no events but may stand there.
  std::size_t lines_skipped() const { return lines_skipped_; }
  /// Where the first of them, looked at by a pattern, is not as that has it, and what was expected there.
  const std::optional<Trouble>& first_skipped() const { return first_skipped_; }

 protected:
  explicit EventReader(Window& window) : window_(window) {}
  EventReader(const EventReader&) = default;
  EventReader& operator=(const EventReader&) = delete;
  Step fail(const Complaint& complaint);

  Window& window_;
  Trouble trouble_;
  std::size_t lines_skipped_ = 0;
  std::optional<Trouble> first_skipped_;
};

Trouble trouble_of(const Window& window, const Complaint& complaint);

}  // namespace lockstep::checker::history_formats
