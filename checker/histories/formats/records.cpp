#include "checker/histories/formats/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <tuple>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

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
                                {"event", Field::type},
                                {"kind", Field::type},
                                {"time", Field::begin},
                                {"start", Field::begin},
                                {"begin", Field::begin},
                                {"call", Field::begin},
                                {"invoke", Field::begin},
                                {"invoked", Field::begin},
                                {"starttime", Field::begin},
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

std::string plain(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') letters += lower(c);
  }
  return letters;
}

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What a result says of whether it took effect; nothing: it is what was read.
std::optional<sim::Phase> outcome_of(const Value& result) {
  if (result.is_nothing()) return sim::Phase::ok;
  if (result.is(Value::Kind::boolean)) return result.number != 0 ? sim::Phase::ok : sim::Phase::fail;
  if (!result.is_word()) return std::nullopt;
  const std::string word = plain(result.text);
  if (is_among(word, {"ok", "true", "success", "succeeded", "acquired", "released", "granted"})) return sim::Phase::ok;
  if (is_among(word, {"fail", "failed", "false", "denied", "refused", "rejected"})) return sim::Phase::fail;
  if (is_among(word, {"info", "unknown", "timeout", "error"})) return sim::Phase::info;
  return std::nullopt;
}

/// What the type of an event says. An end that says nothing else leaves it to its result how it ended.
enum class Said : std::uint8_t { begins, ends, ends_ok, ends_fail, ends_info };

std::optional<Said> type_of(const Value& type) {
  if (type.is(Value::Kind::boolean)) return type.number == 0 ? Said::begins : Said::ends;
  if (!type.is_word()) return std::nullopt;
  const std::string word = plain(type.text);
  if (is_among(word, {"invoke", "invoked", "call", "called", "begin", "start", "started", "request"}))
    return Said::begins;
  if (is_among(word, {"return", "returned", "end", "ended", "done", "finish", "finished", "complete", "completed",
                      "response", "reply"}))
    return Said::ends;
  const std::optional<sim::Phase> outcome = outcome_of(type);
  if (!outcome) return std::nullopt;
  return *outcome == sim::Phase::ok ? Said::ends_ok : *outcome == sim::Phase::fail ? Said::ends_fail : Said::ends_info;
}

bool complain(Complaint& complaint, const Record& record, std::string message) {
  complaint = {record.at, std::move(message), {}, {}};
  return false;
}

}  // namespace

std::optional<Field> field_named(std::string_view name) {
  const std::string letters = plain(name);
  const auto found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.name == letters; });
  return found == std::end(kNames) ? std::nullopt : std::optional(found->field);
}

Value& field_of(Record& record, Field field) {
  switch (field) {
    case Field::process: return record.process;
    case Field::function: return record.function;
    case Field::type: return record.type;
    case Field::begin: return record.begin;
    case Field::end: return record.end;
    case Field::value: return record.value;
    case Field::result: return record.result;
    case Field::key: break;
  }
  return record.key;
}

std::string names_of(Field field) {
  std::string names;
  for (const FieldName& name : kNames) {
    if (name.field == field) names.append(names.empty() ? "" : ", ").append(name.name);
  }
  return names;
}

const Value* find_in(const Value& map, std::string_view name) {
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (map.items[i].is_word() && plain(map.items[i].text) == name) return &map.items[i + 1];
  }
  return nullptr;
}

Value RecordEvents::value_of(std::string_view text) {
  Value value{.kind = text.empty() ? Value::Kind::absent : Value::Kind::text, .text = text};
  if (text == "nil" || text == "null") value.kind = Value::Kind::nil;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!text.empty() && error == std::errc() && stop == text.data() + text.size())
    return {.kind = Value::Kind::integer, .number = number, .text = text};
  if (text.empty() || std::string_view("[{(\"#").find(text.front()) == std::string_view::npos) return value;
  Value read;
  cells_.set(text.data(), text.data() + text.size(), true);
  return cells_.read(read) && cells_.is_at_end() ? read : value;
}

bool RecordEvents::time_of(const Record& record, const Value& value, End& end, Complaint& complaint) {
  Clock clock = Clock::plain;
  end.time = value.number;
  if (value.is_word() || value.is(Value::Kind::number)) {
    std::string_view text = value.text;
    if (text.starts_with("#inst \"")) text = text.substr(7, text.size() - 8);
    const std::optional<Moment> moment = moment_at(text);
    if (!moment || moment->size != text.size()) {
      return complain(complaint, record,
                      to_string(value) + ": expected a time, like 12, 12ms, 12:00:05.250 or 2024-05-01T12:00:05.250Z");
    }
    clock = moment->clock;
    end.time = moment->time;
  } else if (!value.is(Value::Kind::integer)) {
    return complain(complaint, record, to_string(value) + ": expected a time, like 12, 12ms or 12:00:05.250");
  }
  end.has_time = true;
  if (clock_.value_or(clock) != clock) {
    return complain(complaint, record,
                    to_string(value) +
                        " is a time of another kind than those before it; expected all of them with a "
                        "date, or all without one, or numbers of one clock");
  }
  clock_ = clock;
  return true;
}

RecordEvents::End RecordEvents::end_of(const Record& record) const {
  const std::optional<sim::Phase> outcome = outcome_of(record.result);
  const bool read_nil = record.result.is(Value::Kind::nil) && record.value.is(Value::Kind::absent);
  return {.record = records_.size(), .phase = outcome.value_or(sim::Phase::ok), .says_result = !outcome || read_nil};
}

bool RecordEvents::take(Record record, Complaint& complaint) {
  if (record.process.is_nothing())
    return complain(complaint, record, "a record without a process; expected one of " + names_of(Field::process));
  const bool is_number = record.process.is(Value::Kind::integer) && record.process.number >= 0;
  if (!is_number && (!record.process.is_word() || record.process.text.empty())) {
    return complain(
        complaint, record,
        fmt::format("process {}: expected a whole number from 0 on, below 2^63, or a name", to_string(record.process)));
  }
  if (!(record.type.is_nothing() ? take_interval(record, complaint) : take_event(record, complaint))) return false;
  records_.push_back(record);
  return true;
}

bool RecordEvents::take_event(Record& record, Complaint& complaint) {
  const std::optional<Said> said = type_of(record.type);
  if (!said) {
    return complain(complaint, record,
                    fmt::format("an unknown type, {}; expected invoke, ok, fail or info, or a word like call, start, "
                                "return, end, done, timeout, error",
                                to_string(record.type)));
  }
  const std::string process =
      record.process.is_word() ? std::string(record.process.text) : std::to_string(record.process.number);
  // What ends is what its process has begun.
  const auto begun = begun_.find(process);
  if (record.function.is_nothing() && *said != Said::begins && begun != begun_.end()) {
    record.function = records_[begun->second].function;
    if (record.key.is_nothing()) record.key = records_[begun->second].key;
  }
  if (!record.function.is_word())
    return complain(complaint, record, "a record without an operation; expected one of " + names_of(Field::function));
  End end = end_of(record);
  if (*said == Said::begins) {
    end.phase = sim::Phase::invoke;
    end.says_result = false;
    begun_[process] = records_.size();
  }
  if (*said == Said::ends_ok) end.phase = sim::Phase::ok;
  if (*said == Said::ends_fail) end.phase = sim::Phase::fail;
  if (*said == Said::ends_info) end.phase = sim::Phase::info;
  const Value& time = record.begin.is_nothing() ? record.end : record.begin;
  if (!time.is_nothing() && !time_of(record, time, end, complaint)) return false;
  ends_.push_back(end);
  return true;
}

bool RecordEvents::take_interval(const Record& record, Complaint& complaint) {
  if (!record.function.is_word())
    return complain(complaint, record, "a record without an operation; expected one of " + names_of(Field::function));
  if (record.begin.is_nothing())
    return complain(complaint, record, "an operation without its beginning; expected one of " + names_of(Field::begin));
  End begin{.record = records_.size()};
  End end = end_of(record);
  const bool is_ended = !record.end.is_nothing();
  if (!time_of(record, record.begin, begin, complaint)) return false;
  if (is_ended && !time_of(record, record.end, end, complaint)) return false;
  if (is_ended && end.time < begin.time) return complain(complaint, record, "an operation that ends before it begins");
  has_intervals_ = true;
  ends_.push_back(begin);
  if (is_ended) ends_.push_back(end);
  return true;
}

void RecordEvents::load() {
  is_loaded_ = true;
  while (!window_.is_complete()) window_.grow(bytes_max);
  Complaint complaint;
  if (!read_all(complaint)) complaint_ = complaint;
  if (!has_intervals_) return;
  // What begins when another one ends is concurrent with it. Those of one moment stay in the order of the file.
  const auto place = [](const End& end) {
    return std::tuple(end.time, end.phase == sim::Phase::invoke ? 0 : 1, end.record);
  };
  std::sort(ends_.begin(), ends_.end(), [&](const End& a, const End& b) { return place(a) < place(b); });
}

EventReader::Step RecordEvents::next(Event& event) {
  if (!is_loaded_) load();
  if (next_ == ends_.size()) {
    if (window_.trouble()) {
      trouble_ = *window_.trouble();
      return Step::bad;
    }
    return complaint_ ? fail(*complaint_) : Step::end;
  }
  const End& end = ends_[next_++];
  const Record& record = records_[end.record];
  event = Event{};
  event.phase = end.phase;
  event.process = record.process;
  event.function = record.function.text;
  if (event.function.starts_with(':')) event.function.remove_prefix(1);
  event.value = end.says_result ? record.result : record.value;
  event.key = record.key;
  if (end.has_time) event.time = end.time;
  event.line = record.line;
  event.begin = event.process_at = event.function_at = event.value_at = event.index_at = record.at;
  return Step::event;
}

}  // namespace lockstep::checker::history_formats
