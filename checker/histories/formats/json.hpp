#pragma once

// JSON: one object for each event, one after the other or all in one array. docs/manual/linearize.md has the schema;
// its names are Jepsen's, so that its maps, written as JSON by whatever tool, are read as they are.
//
// Source: RFC 8259.

#include "checker/histories/formats/reader.hpp"

namespace lockstep::checker::history_formats {

class JsonValues : public ValueReader {
 public:
  bool skip_blanks() override;
  bool read(Value& value, std::size_t depth = 0) override;
  bool skip() override;
  /// The object of an event, whose brace is next.
  bool event(Event& event);

 private:
  bool escape(std::string& out) override;
  bool word(Value& value);
  bool number(Value& value);
  bool array(Value& value, std::size_t depth);
  bool object(Value& value, std::size_t depth);
  /// "key" and its colon, up to the value.
  bool key(Value& name);
  /// After an element: at the next one, or past the closing bracket.
  bool separator(char closer, bool& is_closed);

  EventParts parts_;
};

class JsonEvents : public EventReader {
 public:
  explicit JsonEvents(Window& window) : EventReader(window) { reset(); }
  Step next(Event& event) override;

 private:
  void reset() { values_.set(window_.begin(), window_.end(), window_.is_complete()); }
  Step end();

  JsonValues values_;
  bool in_array_ = false;
  bool is_closed_ = false;
  bool needs_comma_ = false;
  bool has_comma_ = false;
  bool has_events_ = false;
  Position opened_;
};

}  // namespace lockstep::checker::history_formats
