#pragma once

// From the events of a file to the operations of a model: pairs each invocation with its end, finds the model's
// function behind the file's name for it, and turns values into numbers.
//
// What counts is the order of the events in the file. Times have to agree with it: where one goes back, either the file
// is not in the order of its events (the logs of several clients, one after the other) or the clocks are not to be
// trusted, and only whoever wrote it knows which.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>  // tidy: lookup only
#include <utility>
#include <vector>

#include "checker/histories/aliases.hpp"
#include "checker/histories/formats/event.hpp"
#include "checker/linearizability/linearizability.hpp"
#include "checker/linearizability/model/operation_history.hpp"

namespace lockstep::checker::history_formats {

/// Something that the file says besides operations: what the nemesis did.
struct Note {
  std::uint32_t event = 0;  ///< ordinal in the file, or by time
  std::uint32_t line = 0;
  std::string text;  ///< "start-partition [:n1 :n2]"
};

/// Lines on which an operation begins and ends; 0: it never ended.
struct Lines {
  std::uint32_t invoked = 0;
  std::uint32_t ended = 0;
};

struct RecordedHistory {
  /// By invocation. `invoked` and `returned` are positions of events in the file, from 0, or of moments if times count.
  OperationHistory operations;
  std::vector<Lines> lines;                                  ///< of the operation at the same position
  std::vector<std::pair<std::int64_t, std::int64_t>> times;  ///< ns, of both ends; empty if the file has none
  std::vector<Note> notes;
  /// Objects that the file names and the model has nothing to do with, and their functions: "resource: read, write".
  std::vector<std::string> other_objects;
  std::uint32_t events = 0;
  /// Every value is a pair, as those of independent objects are, but they were not read as such.
  bool looks_independent = false;
  std::optional<std::int64_t> initial;  ///< RecorderOptions::initial as a value of this history
};

enum class EventOrder : std::uint8_t {
  lines,  ///< that of the file, which times, if there are any, must not contradict
  only_lines,
  times  ///< every event needs one; those of one process must not go back. At one moment invocations come first.
};

struct RecorderOptions {
  EventOrder order = EventOrder::lines;
  /// Values are [key value], and each key is an object of its own. Models that have keys read them in any case.
  bool independent = false;
  /// What nobody wrote: a value as EDN has it, or a bare word; empty: nil.
  std::string initial;
  /// A read that returned nil is one whose value is not known, as Knossos has it.
  bool nil_reads_unknown = false;
};

class Recorder {
 public:
  /// The model must outlive the recorder.
  Recorder(const Model& model, RecorderOptions options);
  std::optional<Complaint> take(const Event& event);
  /// Is there anything that this model judges? To be asked after the last event.
  std::optional<Trouble> trouble() const;
  /// All operations that are still open have unknown outcomes. To be called once.
  RecordedHistory finish();

 private:
  struct Function {
    std::string name;  ///< in the file
    std::uint16_t index = 0;
  };
  struct TextHash {
    using is_transparent = void;
    // tidy: lookup only
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  class Interned {
   public:
    /// `shown`: what stands for it in reports, if it is new.
    std::uint32_t id(std::string_view text, std::string_view shown);
    std::vector<std::string> take();

   private:
    // tidy: lookup only
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> ids_;
    std::vector<std::string> texts_;
  };

  std::optional<Complaint> judge_time(const Event& event);
  void order_by_times();
  std::optional<Complaint> invoke(const Event& event, std::uint32_t process, std::uint16_t function);
  std::optional<Complaint> end(const Event& event, std::uint32_t process, std::uint16_t function);
  std::optional<Complaint> unknown_function(const Event& event) const;
  /// An object none of whose functions the model knows is another kind of thing, and is left out.
  std::optional<Complaint> judge_object(const Event& event, bool is_known, bool& is_other);
  std::optional<Complaint> argument(const Event& event, const Value& value, HistoryOperation& operation);
  std::optional<Complaint> result(const Event& event, const Value& value, HistoryOperation& operation);
  /// A read that returned nil, if that says nothing.
  bool is_unseen(const Value& value) const { return options_.nil_reads_unknown && value.is(Value::Kind::nil); }
  std::optional<Complaint> transaction(const Event& event, const Value& value, HistoryOperation& operation,
                                       bool is_end);
  std::optional<Complaint> token(const Event& event, const Value& value, HistoryOperation& operation);

  struct Object {
    std::string name;
    bool is_known = false;
    std::vector<std::string> unknown;  ///< functions that the model does not have
    std::uint32_t line = 0;            ///< of the first operation
  };

  std::optional<std::uint16_t> find(std::string_view name);
  std::uint32_t process_of(const Value& process);
  /// The key of an event, and what is left of its value. Nothing if there is none.
  std::optional<Value> key_of(const Event& event, Value& value) const;
  std::uint32_t key_id(const Value& key);
  void count_pair(const Event& event);
  /// A value as a number.
  std::int64_t number_of(const Value& value);
  void make_all_texts();

  const Model& model_;
  bool is_lock_;
  RecorderOptions options_;
  RecordedHistory recorded_;
  std::vector<Alias> aliases_;
  std::deque<Function> functions_;  ///< that have occurred
  // tidy: lookup only
  std::unordered_map<std::int64_t, std::uint32_t> processes_by_number_;
  std::vector<std::uint32_t> processes_by_small_number_;
  Interned processes_by_name_;
  std::vector<std::uint32_t> process_of_name_;
  Interned keys_;
  Interned texts_;
  std::size_t values_ = 0;  ///< that are not nil
  std::size_t pairs_ = 0;   ///< of these
  bool has_texts_ = false;
  bool has_times_ = false;
  std::vector<std::uint32_t> open_;  ///< by process: its operation, or none
  std::optional<std::int64_t> last_index_;
  std::optional<std::int64_t> last_time_;
  std::vector<std::int64_t> last_times_;  ///< by process, if times count
  std::vector<std::int64_t> note_times_;  ///< likewise
  std::vector<Object> objects_;
  std::string buffer_;
};

}  // namespace lockstep::checker::history_formats
