#pragma once

// EDN, as Clojure prints it and as Jepsen writes histories: one map for each event, one after the other or all in one
// vector or list. Tags, metadata and comments are passed over; of an object that cannot be read back (`#object[…]`,
// `#<…>`) the text is kept.
//
// Source: the EDN specification (edn-format), and what Jepsen 0.1 to 0.3 writes into history.edn.

#include "checker/histories/formats/reader.hpp"

namespace lockstep::checker::history_formats {

class EdnValues : public ValueReader {
 public:
  bool skip_blanks() override;
  bool read(Value& value, std::size_t depth = 0) override;
  bool skip() override;
  /// Tags before an event: #jepsen.history.Op{…}, #knossos.op.Op{…}.
  bool skip_tags();
  /// The map of an event, whose brace is next.
  bool event(Event& event);

 private:
  bool escape(std::string& out) override;
  bool atom(const char*& begin);
  bool sequence(char closer, Value::Kind kind, Value& value, std::size_t depth);
  bool dispatch(Value& value, std::size_t depth);
  bool number(const char* begin, Value& value);
  /// Past `#<…>`, whose brackets may be nested.
  bool unreadable();

  EventParts parts_;
  std::size_t discarding_ = 0;
};

class EdnEvents : public EventReader {
 public:
  explicit EdnEvents(Window& window) : EventReader(window) { reset(); }
  Step next(Event& event) override;

 private:
  void reset() { values_.set(window_.begin(), window_.end(), window_.is_complete()); }
  /// Makes the window longer, and begins again at `from`.
  void grow(const char* from);
  Step end();

  EdnValues values_;
  char closer_ = '\0';  ///< inside a vector or list
  Position opened_;
  bool is_closed_ = false;
  bool has_events_ = false;
};

}  // namespace lockstep::checker::history_formats
