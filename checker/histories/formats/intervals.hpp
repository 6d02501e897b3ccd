#pragma once

// Records of a history as JSON objects or as EDN maps, and as a table of comma-separated values. Porcupine's operations
// (ClientId, Call, Return, Input, Output) and events (ClientId, Kind, Value) are among them.

#include <deque>
#include <memory>
#include <string>

#include "checker/histories/formats/records.hpp"

namespace lockstep::checker::history_formats {

/// Whether the text begins with an object or a map that is a record, and no event as Jepsen has them.
bool begins_with_interval(std::string_view text);
/// Whether its first line is the head of such a table: names, separated by commas, of a process and an operation.
bool begins_with_table(std::string_view text);

class IntervalEvents final : public RecordEvents {
 public:
  explicit IntervalEvents(Window& window) : RecordEvents(window) {}

 private:
  bool read_all(Complaint& complaint) override;

  std::unique_ptr<ValueReader> values_;  ///< texts and lists of all records are in its memory
};

class TableEvents final : public RecordEvents {
 public:
  explicit TableEvents(Window& window) : RecordEvents(window) {}

 private:
  bool read_all(Complaint& complaint) override;
  std::string_view cell(const char*& p, const char* end);

  std::deque<std::string> texts_;
};

}  // namespace lockstep::checker::history_formats
