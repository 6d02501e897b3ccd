#pragma once

// Histories as people have them: one record for each operation, with its beginning and its end, as JSON or as a table
// of comma-separated values; and tables of events. docs/manual/linearize.md has the names of columns that are known.
//
// An operation's two ends are events at their times, so a file of operations is read as a whole and put in the order of
// its times; what begins and what ends at one moment is concurrent. Porcupine's operations (ClientId, Call, Return,
// Input, Output) are among them.

#include <deque>
#include <string>
#include <vector>

#include "checker/histories/json.hpp"
#include "checker/histories/reader.hpp"

namespace lockstep::checker::history_formats {

/// Whether the text begins with a JSON object that has both ends of an operation, and no type of an event.
bool begins_with_interval(std::string_view text);
/// Whether its first line is the head of such a table: names, separated by commas, of a process and an operation.
bool begins_with_table(std::string_view text);

/// One record of a file, whatever its names are.
struct Record {
  Value process, function, type, begin, end, value, result, key;
  const char* at = nullptr;
  std::uint32_t line = 0;
};

/// Reads all of it before the first event.
class RecordEvents : public EventReader {
 public:
  Step next(Event& event) override;

 protected:
  explicit RecordEvents(Window& window) : EventReader(window) {}
  /// Takes all records of the text. False: `complaint` says why not all.
  virtual bool read_all(Complaint& complaint) = 0;
  bool take(const Record& record, Complaint& complaint);
  /// Which field a name stands for; null: none that is known.
  static Value* field_of(Record& record, std::string_view name);

 private:
  void load();
  bool take_interval(const Record& record, Complaint& complaint);
  Event event_of(const Record& record) const;

  bool is_loaded_ = false;
  bool has_intervals_ = false;
  std::optional<Complaint> complaint_;
  std::vector<Event> events_;
  std::size_t next_ = 0;
};

class IntervalEvents final : public RecordEvents {
 public:
  explicit IntervalEvents(Window& window) : RecordEvents(window) {}

 private:
  bool read_all(Complaint& complaint) override;
  bool is_porcupine(Record& record, const Value& object, Complaint& complaint) const;

  JsonValues values_;
};

class TableEvents final : public RecordEvents {
 public:
  explicit TableEvents(Window& window) : RecordEvents(window) {}

 private:
  bool read_all(Complaint& complaint) override;
  Value cell(const char*& p, const char* end);

  std::deque<std::string> texts_;
};

}  // namespace lockstep::checker::history_formats
