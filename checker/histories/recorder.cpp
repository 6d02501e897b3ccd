#include "checker/histories/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "checker/histories/canonical.hpp"
#include "checker/histories/formats/edn.hpp"

namespace lockstep::checker::history_formats {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kSmallProcesses = 1 << 16;

// While a file is read, texts are numbers below those that a file may hold: which ones there are is known at its end.
constexpr std::int64_t kTexts = nil + 1;
constexpr std::int64_t kNumberMin = -(std::int64_t{1} << 62);

using Argument = ModelFunction::Argument;
using Result = ModelFunction::Result;

bool is_pair(const Value& value) { return value.is(Value::Kind::list) && value.items.size() == 2; }

Complaint complaint(const char* at, std::string message) { return {at, std::move(message), {}, {}}; }

/// As reports show keys, objects and processes: strings without quotes.
std::string name_of(const Value& value) {
  if (value.is(Value::Kind::text)) return std::string(value.text);
  std::string text;
  append_canonical(text, value);
  return text;
}

std::string process_of_event(const Event& event) {
  return event.process.is(Value::Kind::integer) ? std::to_string(event.process.number)
                                                : std::string(event.process.text);
}

}  // namespace

std::uint32_t Recorder::Interned::id(std::string_view text, std::string_view shown) {
  const auto found = ids_.find(text);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.emplace_back(shown);
  ids_.emplace(text, id);
  return id;
}

std::vector<std::string> Recorder::Interned::take() {
  ids_.clear();
  return std::move(texts_);
}

Recorder::Recorder(const Model& model, RecorderOptions options)
    : model_(model),
      is_lock_(model.near_linear_path() == NearLinearPath::alternation ||
               model.near_linear_path() == NearLinearPath::holds),
      options_(std::move(options)),
      aliases_(aliases(model)) {}

std::optional<std::uint16_t> Recorder::find(std::string_view name) {
  for (const Function& function : functions_) {
    if (function.name == name) return function.index;
  }
  const std::optional<std::string_view> function = function_named(aliases_, name);
  if (!function) return std::nullopt;
  functions_.push_back({std::string(name), *model_.find_function(*function)});
  return functions_.back().index;
}

std::uint32_t Recorder::process_of(const Value& process) {
  const auto add = [&] {
    open_.push_back(kNone);
    recorded_.operations.process_names.emplace_back();
    recorded_.operations.process_names.back() = name_of(process);
    return static_cast<std::uint32_t>(open_.size() - 1);
  };
  if (process.is_word()) {
    const std::uint32_t name = processes_by_name_.id(process.text, process.text);
    if (name == process_of_name_.size()) process_of_name_.push_back(add());
    return process_of_name_[name];
  }
  if (process.number < kSmallProcesses) {
    const auto number = static_cast<std::size_t>(process.number);
    if (number >= processes_by_small_number_.size()) processes_by_small_number_.resize(number + 1, kNone);
    std::uint32_t& id = processes_by_small_number_[number];
    if (id == kNone) id = add();
    return id;
  }
  const auto [entry, is_new] = processes_by_number_.try_emplace(process.number, 0);
  if (is_new) entry->second = add();
  return entry->second;
}

std::optional<Complaint> Recorder::take(const Event& event) {
  const std::uint32_t position = recorded_.events++;
  if (event.index) {
    if (last_index_ && *event.index <= *last_index_) {
      return complaint(event.index_at, fmt::format("index {} after index {}: the operations are not in their order",
                                                   *event.index, *last_index_));
    }
    last_index_ = event.index;
  }
  if (std::optional<Complaint> trouble = judge_time(event)) return trouble;
  if (event.is_nemesis()) {
    Note note{.event = position, .line = event.line, .text = std::string(event.function)};
    for (const Value* more : {&event.value, &event.error}) {
      if (!more->is_nothing()) note.text.append(" ").append(to_string(*more));
    }
    recorded_.notes.push_back(std::move(note));
    if (options_.order == EventOrder::times) note_times_.push_back(*event.time);
    return std::nullopt;
  }
  const std::optional<std::uint16_t> function = find(event.function);
  bool is_other = false;
  if (std::optional<Complaint> trouble = judge_object(event, function.has_value(), is_other)) return trouble;
  if (is_other) return std::nullopt;
  const std::uint32_t process = process_of(event.process);
  count_pair(event);
  has_times_ = has_times_ || event.time.has_value();
  if (options_.order == EventOrder::times) {
    last_times_.resize(open_.size(), std::numeric_limits<std::int64_t>::min());
    if (*event.time < last_times_[process]) {
      return complaint(event.begin, fmt::format("time {} of process {} after its time {}: which event of a process is "
                                                "the earlier one has to be clear from the file",
                                                *event.time, process_of_event(event), last_times_[process]));
    }
    last_times_[process] = *event.time;
  }
  return event.phase == sim::Phase::invoke ? invoke(event, process, *function) : end(event, process, *function);
}

std::optional<Complaint> Recorder::judge_time(const Event& event) {
  if (options_.order == EventOrder::times && !event.time)
    return complaint(event.begin, "an event without a time, and times are to count; leave out --order times");
  if (options_.order != EventOrder::lines || !event.time) return std::nullopt;
  if (last_time_ && *event.time < *last_time_) {
    return complaint(event.begin, fmt::format("time {} after time {}: either the events are not in their order, then "
                                              "--order times sorts them; or the clocks are wrong, then --order lines "
                                              "takes the file's order",
                                              *event.time, *last_time_));
  }
  last_time_ = event.time;
  return std::nullopt;
}

/// Positions become moments. What touches is concurrent (HistoryOperation), as it should be: of two events of one time
/// nobody knows which came first.
void Recorder::order_by_times() {
  std::vector<std::int64_t> moments = note_times_;
  for (const auto& [invoked, ended] : recorded_.times) {
    moments.push_back(invoked);
    moments.push_back(ended);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  const auto moment_of = [&](std::int64_t time) {
    return std::lower_bound(moments.begin(), moments.end(), time) - moments.begin();
  };
  std::vector<HistoryOperation>& operations = recorded_.operations.operations;
  std::vector<std::size_t> order(operations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(recorded_.times[a].first, a) < std::pair(recorded_.times[b].first, b);
  });
  RecordedHistory sorted;
  for (const std::size_t i : order) {
    HistoryOperation& operation = sorted.operations.operations.emplace_back(operations[i]);
    operation.invoked = moment_of(recorded_.times[i].first);
    operation.returned = moment_of(recorded_.times[i].second);
    sorted.lines.push_back(recorded_.lines[i]);
    sorted.times.push_back(recorded_.times[i]);
  }
  operations = std::move(sorted.operations.operations);
  recorded_.lines = std::move(sorted.lines);
  recorded_.times = std::move(sorted.times);
  for (std::size_t i = 0; i < note_times_.size(); ++i)
    recorded_.notes[i].event = static_cast<std::uint32_t>(moment_of(note_times_[i]));
  std::sort(recorded_.notes.begin(), recorded_.notes.end(),
            [](const Note& a, const Note& b) { return std::pair(a.event, a.line) < std::pair(b.event, b.line); });
}

std::optional<Complaint> Recorder::unknown_function(const Event& event) const {
  if (event.function == "txn") {
    return complaint(
        event.function_at,
        fmt::format("a transaction, which a {} does not have; the model multi-register has transactions that "
                    "read and write. (For serializability, and for lists, use a checker of transactions)",
                    model_.name()));
  }
  Complaint unknown{.at = event.function_at,
                    .message = fmt::format("unknown function \"{}\" of the model {}", event.function, model_.name()),
                    .given = std::string(event.function)};
  for (const Alias& alias : aliases_) unknown.valid.emplace_back(alias.name);
  return unknown;
}

std::optional<Complaint> Recorder::judge_object(const Event& event, bool is_known, bool& is_other) {
  if (event.object.is_nothing()) return is_known ? std::nullopt : unknown_function(event);
  const std::string name = name_of(event.object);
  auto object = std::find_if(objects_.begin(), objects_.end(), [&](const Object& o) { return o.name == name; });
  if (object == objects_.end()) {
    objects_.push_back({.name = name, .line = event.line});
    object = objects_.end() - 1;
  }
  is_other = !is_known;
  if (is_known && !object->unknown.empty()) {
    return complaint(event.function_at,
                     fmt::format("{} of {}, on which line {} has {}, which a {} does not have", event.function,
                                 object->name, object->line, object->unknown.front(), model_.name()));
  }
  if (!is_known && object->is_known) return unknown_function(event);
  object->is_known = is_known;
  if (!is_known && std::find(object->unknown.begin(), object->unknown.end(), event.function) == object->unknown.end()) {
    object->unknown.emplace_back(event.function);
  }
  return std::nullopt;
}

std::optional<Trouble> Recorder::trouble() const {
  if (!recorded_.operations.operations.empty()) return std::nullopt;
  if (objects_.empty()) return Trouble{.message = "no operations of clients"};
  Trouble trouble{.message = fmt::format("no operation that a {} has; the file has", model_.name())};
  for (const Object& object : objects_) {
    trouble.message += fmt::format("{} {} of {}", &object == objects_.data() ? "" : ",",
                                   fmt::join(object.unknown, " and "), object.name);
  }
  return trouble;
}

std::optional<Value> Recorder::key_of(const Event& event, Value& value) const {
  if (!event.key.is_nothing()) return event.key;
  if (!event.object.is_nothing()) return event.object;
  const bool has_keys = options_.independent || model_.name() == "kv";
  if (!has_keys || !is_pair(value)) return std::nullopt;
  const Value key = value.items[0];
  value = value.items[1];
  return key;
}

/// [key value], and of a cas [key [old new]].
void Recorder::count_pair(const Event& event) {
  if (event.value.is_nothing() || event.value.is_word()) return;
  ++values_;
  const bool is_cas = event.function == "cas" || event.function == "compare-and-set";
  if (is_pair(event.value) && (!is_cas || is_pair(event.value.items[1]))) ++pairs_;
  if (!event.key.is_nothing() || !event.object.is_nothing()) pairs_ = 0;
}

std::uint32_t Recorder::key_id(const Value& key) {
  buffer_.clear();
  append_canonical(buffer_, key);
  return keys_.id(buffer_, name_of(key));
}

std::int64_t Recorder::number_of(const Value& value) {
  if (value.is_nothing()) return nil;
  const bool is_kv = model_.name() == "kv";
  if (value.is(Value::Kind::integer) && !is_kv && value.number >= kNumberMin) return value.number;
  has_texts_ = true;
  // In a map of texts a text is all there is; elsewhere "3" and 3 are two values.
  if (is_kv && value.is(Value::Kind::text)) return kTexts + texts_.id(value.text, value.text);
  buffer_.clear();
  append_canonical(buffer_, value);
  return kTexts + texts_.id(buffer_, buffer_);
}

void Recorder::make_all_texts() {
  OperationHistory& history = recorded_.operations;
  const auto make_text = [&](std::int64_t& value) {
    if (value == nil) return;
    if (value < kNumberMin) {
      value -= kTexts;
    } else {
      const std::string text = std::to_string(value);
      value = texts_.id(text, text);
    }
  };
  for (HistoryOperation& operation : history.operations) {
    const ModelFunction& function = model_.functions()[operation.function];
    if (function.argument == Argument::value || function.argument == Argument::pair) make_text(operation.a);
    if (function.argument == Argument::pair) make_text(operation.b);
    if (function.argument == Argument::none && function.result == Result::value) make_text(operation.out);
  }
  for (MicroOperation& micro : history.micro_operations) make_text(micro.value);
  for (std::int64_t& element : history.elements) make_text(element);
  if (recorded_.initial) make_text(*recorded_.initial);
  history.values_are_texts = true;
  history.texts_are_quoted = model_.name() != "kv";
}

RecordedHistory Recorder::finish() {
  if (!options_.initial.empty()) {
    Value initial{.kind = Value::Kind::text, .text = options_.initial};
    EdnValues values;
    values.set(options_.initial.data(), options_.initial.data() + options_.initial.size(), true);
    Value read;
    // A bare word is a string.
    const bool is_value = values.skip_blanks() && values.read(read) && values.is_at_end();
    const bool is_symbol = read.is(Value::Kind::name) && !read.text.starts_with(':');
    if (is_value && !is_symbol) initial = read;
    recorded_.initial = number_of(initial);
  }
  if (has_texts_ && !is_lock_) make_all_texts();
  const bool has_keys = options_.independent || model_.name() == "kv" || model_.name() == "multi-register";
  recorded_.looks_independent = !has_keys && values_ > 0 && pairs_ == values_;
  recorded_.operations.texts = texts_.take();
  recorded_.operations.key_names = keys_.take();
  if (has_times_) recorded_.times.resize(recorded_.lines.size());
  if (options_.order == EventOrder::times) order_by_times();
  for (const Object& object : objects_) {
    if (!object.is_known)
      recorded_.other_objects.push_back(fmt::format("{}: {}", object.name, fmt::join(object.unknown, ", ")));
  }
  return std::move(recorded_);
}

std::optional<Complaint> Recorder::invoke(const Event& event, std::uint32_t process, std::uint16_t function) {
  if (open_[process] != kNone) {
    return complaint(
        event.begin,
        fmt::format("process {} invokes {}, but its operation from line {} has not ended; after an unknown "
                    "outcome (info) it may go on",
                    process_of_event(event), event.function, recorded_.lines[open_[process]].invoked));
  }
  HistoryOperation operation{
      .invoked = recorded_.events - 1, .process = process, .function = function, .phase = sim::Phase::invoke};
  Value value = event.value;
  const std::optional<Value> key = key_of(event, value);
  if (!key && (options_.independent || model_.name() == "kv")) {
    return complaint(event.value_at, fmt::format("{} of {}: expected [key value], or a key beside the value",
                                                 event.function, to_string(event.value)));
  }
  if (key) operation.key = key_id(*key);
  if (std::optional<Complaint> trouble = argument(event, value, operation)) return trouble;
  open_[process] = static_cast<std::uint32_t>(recorded_.operations.operations.size());
  recorded_.operations.operations.push_back(operation);
  recorded_.lines.push_back({.invoked = event.line});
  if (event.time) {
    recorded_.times.resize(recorded_.lines.size());
    recorded_.times.back().first = *event.time;
  }
  return std::nullopt;
}

std::optional<Complaint> Recorder::end(const Event& event, std::uint32_t process, std::uint16_t function) {
  const std::uint32_t open = open_[process];
  if (open == kNone) {
    return complaint(event.begin,
                     fmt::format("{} of process {} ends here, but it was never invoked; every end needs an invoke of "
                                 "the same process before it: is the beginning of the file missing?",
                                 event.function, process_of_event(event)));
  }
  HistoryOperation& operation = recorded_.operations.operations[open];
  const Lines& lines = recorded_.lines[open];
  if (operation.function != function) {
    return complaint(event.function_at,
                     fmt::format("process {} ends {}, but what it invoked in line {} is {}", process_of_event(event),
                                 event.function, lines.invoked, model_.functions()[operation.function].name));
  }
  Value value = event.value;
  const std::optional<Value> key = key_of(event, value);
  // Some write only the result into the end, and some nothing at all into that of a failure.
  if (key && event.phase == sim::Phase::ok && key_id(*key) != operation.key) {
    return complaint(event.value_at, fmt::format("process {} ends {} of another key than that of line {}",
                                                 process_of_event(event), event.function, lines.invoked));
  }
  // tryLock has answered, and the answer is that it did not get the lock; likewise unlock.
  const bool is_refused =
      is_lock_ && event.phase == sim::Phase::ok && value.is(Value::Kind::boolean) && value.number == 0;
  operation.phase = is_refused ? sim::Phase::fail : event.phase;
  operation.returned = recorded_.events - 1;
  if (operation.phase == sim::Phase::ok) {
    if (std::optional<Complaint> trouble = result(event, value, operation)) return trouble;
  }
  open_[process] = kNone;
  recorded_.lines[open].ended = event.line;
  if (event.time) {
    recorded_.times.resize(recorded_.lines.size());
    recorded_.times[open].second = *event.time;
  }
  return std::nullopt;
}

std::optional<Complaint> Recorder::argument(const Event& event, const Value& value, HistoryOperation& operation) {
  const ModelFunction& function = model_.functions()[operation.function];
  switch (function.argument) {
    case Argument::none: return std::nullopt;
    case Argument::value: {
      if (is_lock_) {
        // How many permits; one if nothing is said.
        operation.a = value.is(Value::Kind::integer) ? value.number : 1;
        if (!value.is_nothing() && !value.is(Value::Kind::integer)) {
          return complaint(event.value_at,
                           fmt::format("{} {}: expected a number of permits, or nothing{}", event.function,
                                       to_string(value), is_pair(value) ? "; [key permits] needs --independent" : ""));
        }
        if (operation.a < 1) {
          return complaint(event.value_at,
                           fmt::format("{} {}: expected one permit or more", event.function, operation.a));
        }
        return std::nullopt;
      }
      // A register may be written nil; nothing else can hold it.
      const bool may_be_nil = function.name == "write" && value.is(Value::Kind::nil);
      if (value.is_nothing() && !may_be_nil) {
        return complaint(event.value_at, fmt::format("{} without a value", event.function));
      }
      operation.a = number_of(value);
      return std::nullopt;
    }
    case Argument::pair: {
      if (!is_pair(value)) {
        return complaint(event.value_at, fmt::format("{} {}: expected [old new]", event.function, to_string(value)));
      }
      operation.a = number_of(value.items[0]);
      operation.b = number_of(value.items[1]);
      return std::nullopt;
    }
    case Argument::transaction: return transaction(event, value, operation, false);
  }
  return std::nullopt;
}

std::optional<Complaint> Recorder::transaction(const Event& event, const Value& value, HistoryOperation& operation,
                                               bool is_end) {
  const auto wrong = [&](std::string_view what) {
    return complaint(event.value_at,
                     fmt::format("{}: {}; expected [[:read key nil] [:write key value] …]", to_string(value), what));
  };
  std::vector<MicroOperation>& all = recorded_.operations.micro_operations;
  // `read [key nil]` is a transaction of one part.
  const bool is_single = event.function != "txn";
  if (is_single ? !is_pair(value) : !value.is(Value::Kind::list)) {
    return is_end ? std::nullopt : std::optional(wrong("a transaction"));
  }
  const std::size_t parts = is_single ? 1 : value.items.size();
  if (!is_end) {
    operation.a = static_cast<std::int64_t>(all.size());
    operation.b = static_cast<std::int64_t>(parts);
  } else if (std::cmp_not_equal(operation.b, parts)) {
    return wrong("another number of parts than it was invoked with");
  }
  for (std::size_t i = 0; i < parts; ++i) {
    const Value& part = is_single ? value : value.items[i];
    if (!is_single && (!part.is(Value::Kind::list) || part.items.size() != 3 || !part.items[0].is_word())) {
      return wrong("a part of a transaction");
    }
    std::string_view what = is_single ? event.function : part.items[0].text;
    if (what.starts_with(':')) what.remove_prefix(1);
    const bool is_write = what == "write" || what == "w";
    if (!is_write && what != "read" && what != "r") return wrong(fmt::format("\"{}\" in a transaction", what));
    const Value& key = part.items[is_single ? 0 : 1];
    const Value& content = part.items[is_single ? 1 : 2];
    MicroOperation micro{
        .register_index = key_id(key), .is_write = is_write, .value = number_of(content), .is_known = is_write};
    if (!is_end) {
      all.push_back(micro);
      continue;
    }
    MicroOperation& begun = all[static_cast<std::size_t>(operation.a) + i];
    if (begun.register_index != micro.register_index || begun.is_write != is_write ||
        (is_write && begun.value != micro.value)) {
      return wrong("another transaction than it was invoked with");
    }
    if (is_write || is_unseen(content)) continue;
    begun.value = micro.value;
    begun.is_known = true;
  }
  return std::nullopt;
}

/// A fencing token: a number, or in a map under :fence or :token.
std::optional<Complaint> Recorder::token(const Event& event, const Value& value, HistoryOperation& operation) {
  const Value* token = &value;
  if (value.is(Value::Kind::map)) {
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const std::string_view name = value.items[i].text;
      if (name == ":fence" || name == ":token" || name == "fence" || name == "token") token = &value.items[i + 1];
    }
  }
  if (token->is_nothing()) return std::nullopt;
  if (!token->is(Value::Kind::integer) || token->number == nil) {
    return complaint(event.value_at,
                     fmt::format("{} {}: expected the fencing token, a number, or nil{}", event.function,
                                 to_string(value), is_pair(value) ? "; [key token] needs --independent" : ""));
  }
  operation.out = token->number;
  operation.out_known = true;
  return std::nullopt;
}

std::optional<Complaint> Recorder::result(const Event& event, const Value& value, HistoryOperation& operation) {
  const ModelFunction& function = model_.functions()[operation.function];
  if (function.argument == Argument::transaction) return transaction(event, value, operation, true);
  if (function.result == Result::none) return std::nullopt;
  if (is_lock_) return token(event, value, operation);
  if (value.is(Value::Kind::absent)) return std::nullopt;
  if (function.result == Result::elements) {
    if (value.is(Value::Kind::nil)) return std::nullopt;
    if (!value.is(Value::Kind::list) && !value.is(Value::Kind::set)) {
      return complaint(event.value_at, fmt::format("{} {}: expected the elements, like #{{1 2}} or [1 2]",
                                                   event.function, to_string(value)));
    }
    operation.a = static_cast<std::int64_t>(recorded_.operations.elements.size());
    operation.b = static_cast<std::int64_t>(value.items.size());
    for (const Value& item : value.items) {
      if (item.is_nothing()) {
        return complaint(event.value_at, fmt::format("{} is no element of a set", to_string(item)));
      }
      recorded_.operations.elements.push_back(number_of(item));
    }
    operation.out_known = true;
    return std::nullopt;
  }
  if (function.argument == Argument::value) {
    // add and remove: whether it changed anything. Most files repeat the argument, which says nothing.
    if (!value.is(Value::Kind::boolean)) return std::nullopt;
    operation.out = value.number;
    operation.out_known = true;
    return std::nullopt;
  }
  const bool is_read = function.name == "read" || function.name == "get";
  if (is_read && is_unseen(value)) return std::nullopt;
  operation.out = number_of(value);
  operation.out_known = true;
  return std::nullopt;
}

}  // namespace lockstep::checker::history_formats
