#pragma once

// Histories as people have them: a record for each operation with its beginning and its end, or for each of its two
// events, as objects, rows of a table or lines of a log. docs/manual/linearize.md has the names of fields.
//
// An operation's two ends are events at their times, so a file of operations is read as a whole and put in the order of
// its times; what begins and what ends at one moment is concurrent.

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "checker/histories/formats/edn.hpp"
#include "checker/histories/formats/moments.hpp"
#include "checker/histories/formats/reader.hpp"

namespace lockstep::checker::history_formats {

/// One record of a file, whatever its names are.
struct Record {
  Value process, function, type, begin, end, value, result, key;
  const char* at = nullptr;
  std::uint32_t line = 0;
};

enum class Field : std::uint8_t { process, function, type, begin, end, value, result, key };

/// What a name stands for, whatever its capitals, "_" and "-"; nothing: it is none that is known.
std::optional<Field> field_named(std::string_view name);
Value& field_of(Record& record, Field field);
/// All names of a field, for messages: "process, client, …".
std::string names_of(Field field);
/// Of the first value with this name in a map; null: there is none.
const Value* find_in(const Value& map, std::string_view name);

/// Reads all of it before the first event.
class RecordEvents : public EventReader {
 public:
  Step next(Event& event) override;

  /// More text is refused: all of it is in memory, and its operations are, too.
  static constexpr std::size_t bytes_max = std::size_t{32} << 20U;

 protected:
  explicit RecordEvents(Window& window) : EventReader(window) {}
  /// Takes all records of the text. False: `complaint` says why not all.
  virtual bool read_all(Complaint& complaint) = 0;
  bool take(Record record, Complaint& complaint);
  /// What a cell of a table or a part of a line says: a number, nil, a value in brackets or quotes as EDN and JSON have
  /// it, or else a text.
  Value value_of(std::string_view text);

 private:
  struct End {
    std::int64_t time = 0;
    std::size_t record = 0;
    sim::Phase phase = sim::Phase::invoke;
    bool has_time = false;
    bool says_result = false;  ///< its value is the record's result
  };

  void load();
  bool take_event(Record& record, Complaint& complaint);
  bool take_interval(const Record& record, Complaint& complaint);
  /// The end of a record, as its result has it.
  End end_of(const Record& record) const;
  bool time_of(const Record& record, const Value& value, End& end, Complaint& complaint);

  bool is_loaded_ = false;
  bool has_intervals_ = false;
  std::optional<Complaint> complaint_;
  std::optional<Clock> clock_;
  std::deque<Record> records_;
  std::map<std::string, std::size_t> begun_;  ///< the last record with which a process began something
  std::vector<End> ends_;
  std::size_t next_ = 0;
  EdnValues cells_;
};

}  // namespace lockstep::checker::history_formats
