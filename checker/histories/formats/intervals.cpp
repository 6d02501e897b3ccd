#include "checker/histories/formats/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "checker/histories/formats/characters.hpp"
#include "checker/histories/formats/json.hpp"

namespace lockstep::checker::history_formats {
namespace {

/// Keys of JSON stand in quotes, those of EDN do not.
bool is_json(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t key = text.find_first_not_of(" \t\r\n,", open == std::string_view::npos ? open : open + 1);
  return key != std::string_view::npos && (text[key] == '"' || text[key] == '\'');
}

std::unique_ptr<ValueReader> reader_of(std::string_view text) {
  if (is_json(text)) return std::make_unique<JsonValues>();
  return std::make_unique<EdnValues>();
}

/// The objects of a text, whatever brackets there are around them.
class Objects {
 public:
  Objects(ValueReader& values, std::string_view text) : values_(values), end_(text.data() + text.size()) {
    values.set(text.data(), end_, true);
  }
  const char* at() const { return values_.place(); }
  bool is_bad() const { return complaint_.at != nullptr; }
  const Complaint& complaint() const { return complaint_; }

  /// At the next object. False: there is none, or what is there is none.
  bool go_on() {
    for (; values_.skip_blanks(); values_.set(at() + 1, end_, true)) {
      if (values_.is_at_end()) return false;
      if (*at() == '{' || *at() == '#') return true;
      if (std::string_view("[],()").find(*at()) != std::string_view::npos) continue;
      complaint_ = {at(), shown(at(), end_) + ": expected an operation in braces", {}, {}};
      return false;
    }
    complaint_ = values_.complaint();
    return false;
  }
  bool read(Value& object) {
    const char* begin = at();
    if (!values_.read(object)) {
      complaint_ = values_.complaint();
    } else if (!object.is(Value::Kind::map)) {
      complaint_ = {begin, to_string(object) + ": expected an operation in braces", {}, {}};
    }
    return !is_bad();
  }

 private:
  ValueReader& values_;
  const char* end_;
  Complaint complaint_;
};

/// Porcupine's operations are numbers: 0 reads, 1 writes. `input`: what an operation was called with.
bool take_input(Record& record, const Value& input, Complaint& complaint) {
  const Value* op = find_in(input, "op");
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
  const Value* written = find_in(input, "value");
  const bool is_read = record.function.text == "read" || record.function.text == "get";
  record.value = is_read || written == nullptr ? Value() : *written;
  if (const Value* key = find_in(input, "key")) record.key = *key;
  return true;
}

/// What an operation answered; it is of use to one that reads only.
Value output_of(const Value& output) {
  if (!output.is(Value::Kind::map)) return output;
  const Value* value = find_in(output, "value");
  return value == nullptr ? Value() : *value;
}

bool take_porcupine(Record& record, const Value& object, Complaint& complaint) {
  const Value* input = find_in(object, "input");
  const Value* output = find_in(object, "output");
  if (input != nullptr && output != nullptr && input->is(Value::Kind::map)) {
    if (find_in(*input, "op") == nullptr) return true;
    if (!take_input(record, *input, complaint)) return false;
    const bool is_read = record.value.is(Value::Kind::absent);
    record.result = is_read ? output_of(*output) : Value();
    return true;
  }
  const Value* kind = find_in(object, "kind");
  if (kind == nullptr || !record.value.is(Value::Kind::map)) return true;
  if (kind->is(Value::Kind::integer)) record.type.kind = Value::Kind::boolean;
  if (record.type.is(Value::Kind::boolean) && record.type.number == 0)
    return take_input(record, Value(record.value), complaint);
  record.result = output_of(record.value);
  record.value = Value();
  return true;
}

}  // namespace

bool begins_with_interval(std::string_view text) {
  const std::unique_ptr<ValueReader> values = reader_of(text);
  Objects objects(*values, text);
  Value first;
  if (!objects.go_on() || !objects.read(first)) return false;
  const auto has = [&](Field field) {
    for (std::size_t i = 0; i + 1 < first.items.size(); i += 2) {
      if (first.items[i].is_word() && field_named(first.items[i].text) == field) return true;
    }
    return false;
  };
  const bool has_type = find_in(first, "type") != nullptr;
  if (has_type && find_in(first, "process") != nullptr) return false;
  return (!has_type && has(Field::begin) && has(Field::end)) || (has(Field::type) && has(Field::process));
}

bool IntervalEvents::read_all(Complaint& complaint) {
  const std::string_view text(window_.begin(), static_cast<std::size_t>(window_.end() - window_.begin()));
  values_ = reader_of(text);
  Objects objects(*values_, text);
  std::uint32_t line = 1;
  const char* counted = text.data();
  while (objects.go_on()) {
    const char* at = objects.at();
    line += static_cast<std::uint32_t>(std::count(counted, at, '\n'));
    counted = at;
    Value object;
    if (!objects.read(object)) break;
    Record record{.at = at, .line = line};
    for (std::size_t i = 0; i + 1 < object.items.size(); i += 2) {
      const auto field = object.items[i].is_word() ? field_named(object.items[i].text) : std::nullopt;
      if (field) field_of(record, *field) = object.items[i + 1];
    }
    if (!take_porcupine(record, object, complaint) || !take(record, complaint)) return false;
  }
  complaint = objects.complaint();
  return !objects.is_bad();
}

bool begins_with_table(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
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

/// Up to its comma, or to the end of the line.
std::string_view TableEvents::cell(const char*& p, const char* end) {
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
  return text;
}

bool TableEvents::read_all(Complaint& complaint) {
  std::vector<std::optional<Field>> columns;
  std::uint32_t number = 0;
  for (const char* p = window_.begin(); p < window_.end();) {
    ++number;
    const char* at = p;
    const char* end = std::find(p, window_.end(), '\n');
    std::vector<std::string_view> cells;
    for (bool has_more = true; has_more;) {
      cells.push_back(cell(p, end));
      has_more = p < end;
      if (has_more) ++p;
    }
    p = end == window_.end() ? end : end + 1;
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (columns.empty()) {
      for (const std::string_view name : cells) columns.push_back(field_named(name));
      continue;
    }
    if (cells.size() > columns.size()) {
      complaint = {at, fmt::format("{} values below {} names of columns", cells.size(), columns.size()), {}, {}};
      return false;
    }
    Record record{.at = at, .line = number};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns[i]) field_of(record, *columns[i]) = value_of(cells[i]);
    }
    if (!take(record, complaint)) return false;
  }
  return true;
}

}  // namespace lockstep::checker::history_formats
