#include "checker/histories/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <tuple>
#include <utility>

#include "checker/histories/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

enum class Field : std::uint8_t { process, function, type, begin, end, value, result, key };

/// In small letters, without "_" and "-".
struct FieldName {
  std::string_view name;
  Field field;
};
constexpr FieldName kNames[] = {{"process", Field::process},
                                {"client", Field::process},
                                {"clientid", Field::process},
                                {"thread", Field::process},
                                {"actor", Field::process},
                                {"node", Field::process},
                                {"instance", Field::process},
                                {"worker", Field::process},
                                {"f", Field::function},
                                {"op", Field::function},
                                {"operation", Field::function},
                                {"function", Field::function},
                                {"action", Field::function},
                                {"method", Field::function},
                                {"type", Field::type},
                                {"phase", Field::type},
                                {"start", Field::begin},
                                {"begin", Field::begin},
                                {"call", Field::begin},
                                {"invoke", Field::begin},
                                {"invoked", Field::begin},
                                {"starttime", Field::begin},
                                {"time", Field::begin},
                                {"end", Field::end},
                                {"return", Field::end},
                                {"returned", Field::end},
                                {"complete", Field::end},
                                {"completed", Field::end},
                                {"finish", Field::end},
                                {"finished", Field::end},
                                {"endtime", Field::end},
                                {"value", Field::value},
                                {"arg", Field::value},
                                {"argument", Field::value},
                                {"input", Field::value},
                                {"result", Field::result},
                                {"output", Field::result},
                                {"outcome", Field::result},
                                {"status", Field::result},
                                {"ok", Field::result},
                                {"key", Field::key},
                                {"lock", Field::key},
                                {"resource", Field::key},
                                {"object", Field::key}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') letters += lower(c);
  }
  return letters;
}

std::optional<Field> field_named(std::string_view name) {
  const std::string letters = plain(name);
  const auto found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.name == letters; });
  return found == std::end(kNames) ? std::nullopt : std::optional(found->field);
}

/// What a result says of whether it took effect; nothing: it is what was read.
std::optional<sim::Phase> outcome_of(const Value& result) {
  if (result.is_nothing()) return sim::Phase::ok;
  if (result.is(Value::Kind::boolean)) return result.number != 0 ? sim::Phase::ok : sim::Phase::fail;
  if (!result.is_word()) return std::nullopt;
  const std::string word = plain(result.text);
  for (const std::string_view good : {"ok", "true", "success", "succeeded", "acquired", "released", "granted"}) {
    if (word == good) return sim::Phase::ok;
  }
  for (const std::string_view bad : {"fail", "failed", "false", "denied", "refused", "rejected"}) {
    if (word == bad) return sim::Phase::fail;
  }
  for (const std::string_view open : {"info", "unknown", "timeout", "error"}) {
    if (word == open) return sim::Phase::info;
  }
  return std::nullopt;
}

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

const Value* find(const Value& object, std::string_view name) {
  for (std::size_t i = 0; i + 1 < object.items.size(); i += 2) {
    if (object.items[i].is_word() && plain(object.items[i].text) == name) return &object.items[i + 1];
  }
  return nullptr;
}

}  // namespace

bool begins_with_interval(std::string_view text) {
  const std::size_t open = text.find('{');
  if (open == std::string_view::npos) return false;
  // The names of the first object, those of objects within it included.
  bool has_begin = false, has_end = false;
  for (std::size_t at = open; at < text.size() && text[at] != '\n';) {
    const std::size_t quote = text.find('"', at);
    const std::size_t close = quote == std::string_view::npos ? quote : text.find('"', quote + 1);
    if (close == std::string_view::npos) break;
    std::size_t colon = close + 1;
    while (colon < text.size() && (text[colon] == ' ' || text[colon] == '\t')) ++colon;
    if (colon < text.size() && text[colon] == ':') {
      const auto field = field_named(text.substr(quote + 1, close - quote - 1));
      if (field == Field::type) return false;
      has_begin = has_begin || field == Field::begin;
      has_end = has_end || field == Field::end;
      if (has_begin && has_end) return true;
    }
    at = close + 1;
  }
  return false;
}

bool begins_with_table(std::string_view text) {
  std::string_view line = first_line(text);
  bool has_process = false, has_function = false;
  if (line.find(',') == std::string_view::npos) return false;
  while (!line.empty()) {
    const std::size_t comma = line.find(',');
    std::string_view name = line.substr(0, comma);
    while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.remove_suffix(1);
    const auto field = field_named(name);
    has_process = has_process || field == Field::process;
    has_function = has_function || field == Field::function;
    line = comma == std::string_view::npos ? std::string_view() : line.substr(comma + 1);
  }
  return has_process && has_function;
}

// --- Records become events.

Value* RecordEvents::field_of(Record& record, std::string_view name) {
  const std::optional<Field> field = field_named(name);
  if (!field) return nullptr;
  switch (*field) {
    case Field::process: return &record.process;
    case Field::function: return &record.function;
    case Field::type: return &record.type;
    case Field::begin: return &record.begin;
    case Field::end: return &record.end;
    case Field::value: return &record.value;
    case Field::result: return &record.result;
    case Field::key: return &record.key;
  }
  return nullptr;
}

Event RecordEvents::event_of(const Record& record) const {
  Event event;
  event.process = record.process;
  event.function = record.function.text;
  event.value = record.value;
  event.key = record.key;
  event.line = record.line;
  event.begin = event.process_at = event.function_at = event.value_at = event.index_at = record.at;
  return event;
}

bool RecordEvents::take(const Record& record, Complaint& complaint) {
  const auto complain = [&](std::string message) {
    complaint = {record.at, std::move(message), {}, {}};
    return false;
  };
  if (record.process.is_nothing())
    return complain("a record without a process; expected one of process, client, thread, actor, node");
  if (!record.function.is_word())
    return complain("a record without an operation; expected its name as one of f, op, operation, function");
  if (record.type.is_nothing()) return take_interval(record, complaint);
  const std::optional<sim::Phase> phase =
      record.type.is_word() ? phase_of(record.type.text) : std::optional<sim::Phase>();
  if (!phase) return complain("an unknown type; expected invoke, ok, fail or info");
  Event event = event_of(record);
  event.phase = *phase;
  if (record.begin.is(Value::Kind::integer)) event.time = record.begin.number;
  events_.push_back(event);
  return true;
}

bool RecordEvents::take_interval(const Record& record, Complaint& complaint) {
  const auto complain = [&](std::string message) {
    complaint = {record.at, std::move(message), {}, {}};
    return false;
  };
  if (!record.begin.is(Value::Kind::integer))
    return complain("an operation without a whole number as its beginning; expected one of start, call, begin");
  has_intervals_ = true;
  Event event = event_of(record);
  event.time = record.begin.number;
  events_.push_back(event);
  if (record.end.is_nothing()) return true;
  if (!record.end.is(Value::Kind::integer))
    return complain("an operation whose end is no whole number; expected one of end, return, completed");
  if (record.end.number < record.begin.number) return complain("an operation that ends before it begins");
  event.time = record.end.number;
  const std::optional<sim::Phase> outcome = outcome_of(record.result);
  event.phase = outcome.value_or(sim::Phase::ok);
  if (!outcome) event.value = record.result;
  events_.push_back(event);
  return true;
}

void RecordEvents::load() {
  is_loaded_ = true;
  while (!window_.is_complete()) window_.grow();
  Complaint complaint;
  if (!read_all(complaint)) complaint_ = complaint;
  if (!has_intervals_) return;
  // What begins when another one ends is concurrent with it. Those of one moment stay in the order of the file.
  std::vector<std::size_t> order(events_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&](std::size_t i) {
    const Event& event = events_[i];
    return std::tuple(event.time.value_or(0), event.phase == sim::Phase::invoke ? 0 : 1, i);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::vector<Event> sorted;
  for (const std::size_t i : order) sorted.push_back(events_[i]);
  events_ = std::move(sorted);
}

EventReader::Step RecordEvents::next(Event& event) {
  if (!is_loaded_) load();
  if (next_ < events_.size()) {
    event = events_[next_++];
    return Step::event;
  }
  if (window_.trouble()) {
    trouble_ = *window_.trouble();
    return Step::bad;
  }
  return complaint_ ? fail(*complaint_) : Step::end;
}

// --- JSON

/// Its operations are numbers: 0 reads, 1 writes.
bool IntervalEvents::is_porcupine(Record& record, const Value& object, Complaint& complaint) const {
  const Value* input = find(object, "input");
  const Value* output = find(object, "output");
  if (input == nullptr || output == nullptr || !input->is(Value::Kind::map)) return true;
  const Value* op = find(*input, "op");
  if (op == nullptr) return true;
  const bool is_number = op->is(Value::Kind::integer) || op->is(Value::Kind::boolean);
  if (is_number && op->number != 0 && op->number != 1) {
    complaint = {record.at, "an operation of Porcupine's with another number than 0 (read) and 1 (write)", {}, {}};
    return false;
  }
  record.function = *op;
  if (is_number) {
    record.function.kind = Value::Kind::text;
    record.function.text = op->number == 0 ? "read" : "write";
  }
  const bool is_read = record.function.text == "read" || record.function.text == "get";
  const Value* written = find(*input, "value");
  const Value* read = output->is(Value::Kind::map) ? find(*output, "value") : output;
  record.value = is_read || written == nullptr ? Value() : *written;
  record.result = is_read && read != nullptr ? *read : Value();
  if (const Value* key = find(*input, "key")) record.key = *key;
  return true;
}

bool IntervalEvents::read_all(Complaint& complaint) {
  values_.set(window_.begin(), window_.end(), true);
  std::uint32_t line = 1;
  const char* counted = window_.begin();
  bool in_array = false;
  for (;;) {
    values_.skip_blanks();
    if (values_.is_at_end()) return true;
    const char* at = values_.place();
    if (*at == '[' || *at == ',' || *at == ']') {
      in_array = in_array || *at == '[';
      values_.set(at + 1, window_.end(), true);
      continue;
    }
    line += static_cast<std::uint32_t>(std::count(counted, at, '\n'));
    counted = at;
    Value object;
    if (*at != '{' || !values_.read(object)) {
      complaint = *at == '{' ? values_.complaint()
                             : Complaint{at, shown(at, window_.end()) + ": expected an operation in braces", {}, {}};
      return false;
    }
    Record record{.at = at, .line = line};
    for (std::size_t i = 0; i + 1 < object.items.size(); i += 2) {
      if (Value* field = field_of(record, object.items[i].text)) *field = object.items[i + 1];
    }
    if (!is_porcupine(record, object, complaint) || !take(record, complaint)) return false;
  }
}

// --- Tables

/// Up to its comma, or to the end of the line.
Value TableEvents::cell(const char*& p, const char* end) {
  Value value;
  std::string_view text;
  if (p < end && *p == '"') {
    std::string& decoded = texts_.emplace_back();
    for (++p; p < end; ++p) {
      if (*p == '"' && (p + 1 == end || p[1] != '"')) break;
      if (*p == '"') ++p;
      decoded += *p;
    }
    while (p < end && *p != ',') ++p;
    text = decoded;
  } else {
    const char* begin = p;
    while (p < end && *p != ',') ++p;
    text = std::string_view(begin, static_cast<std::size_t>(p - begin));
  }
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text.empty()) return value;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && stop == text.data() + text.size();
  value.kind = is_number ? Value::Kind::integer : Value::Kind::text;
  value.number = number;
  value.text = text;
  return value;
}

bool TableEvents::read_all(Complaint& complaint) {
  std::vector<std::string> names;
  std::uint32_t number = 0;
  for (const char* p = window_.begin(); p < window_.end();) {
    ++number;
    const char* at = p;
    const char* end = std::find(p, window_.end(), '\n');
    std::vector<Value> cells;
    for (bool has_more = true; has_more;) {
      cells.push_back(cell(p, end));
      has_more = p < end;
      if (has_more) ++p;
    }
    p = end == window_.end() ? end : end + 1;
    if (cells.size() == 1 && cells.front().is_nothing()) continue;
    if (names.empty()) {
      for (const Value& name : cells) names.emplace_back(name.text);
      continue;
    }
    if (cells.size() > names.size()) {
      complaint = {at, fmt::format("{} values below {} names of columns", cells.size(), names.size()), {}, {}};
      return false;
    }
    Record record{.at = at, .line = number};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (Value* field = field_of(record, names[i])) *field = cells[i];
    }
    if (!take(record, complaint)) return false;
  }
  return true;
}

}  // namespace lockstep::checker::history_formats
