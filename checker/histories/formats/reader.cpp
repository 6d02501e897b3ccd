#include "checker/histories/formats/reader.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

constexpr std::size_t kShownMax = 60;

void show(std::string& out, const Value& value) {
  if (out.size() > kShownMax) return;
  switch (value.kind) {
    case Value::Kind::absent: break;
    case Value::Kind::nil: out += "nil"; break;
    case Value::Kind::boolean: out += value.number != 0 ? "true" : "false"; break;
    case Value::Kind::integer: out += std::to_string(value.number); break;
    case Value::Kind::number:
    case Value::Kind::name: out += value.text; break;
    case Value::Kind::text: out.append("\"").append(value.text).append("\""); break;
    case Value::Kind::list:
    case Value::Kind::set:
    case Value::Kind::map: {
      const bool is_list = value.is(Value::Kind::list);
      out += is_list ? "[" : value.is(Value::Kind::set) ? "#{" : "{";
      const char* between = "";
      for (const Value& item : value.items) {
        if (out.size() > kShownMax) break;
        out += between;
        show(out, item);
        between = " ";
      }
      out += is_list ? ']' : '}';
      break;
    }
  }
}

/// At most 60 characters, and none of them cut in half.
std::string cut(std::string text) {
  if (text.size() <= kShownMax) return text;
  std::size_t size = kShownMax;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80) --size;
  text.resize(size);
  return text + "…";
}

constexpr std::array<std::string_view, 11> kParts{"type",  "f",       "process", "value", "key",  "object",
                                                  "model", "permits", "time",    "index", "error"};

std::string_view without_colon(std::string_view text) {
  if (text.starts_with(':')) text.remove_prefix(1);
  return text;
}

}  // namespace

std::string to_string(const Value& value) {
  std::string text;
  show(text, value);
  return cut(std::move(text));
}

void Scratch::clear() {
  stack.clear();
  lists_used_ = 0;
  texts_used_ = 0;
}

std::string& Scratch::text() {
  if (texts_used_ == texts_.size()) texts_.emplace_back();
  std::string& text = texts_[texts_used_++];
  text.clear();
  return text;
}

std::span<const Value> Scratch::list(std::size_t from) {
  if (lists_used_ == lists_.size()) lists_.emplace_back();
  std::vector<Value>& list = lists_[lists_used_++];
  list.assign(stack.begin() + static_cast<std::ptrdiff_t>(from), stack.end());
  stack.resize(from);
  return list;
}

bool ValueReader::fail(const char* at, std::string message, std::string given, std::vector<std::string> valid) {
  complaint_ = {at, std::move(message), std::move(given), std::move(valid)};
  return false;
}

bool ValueReader::ended(std::string_view what) {
  wants_more_ = !is_complete_;
  if (is_complete_) fail(end_, fmt::format("the text ends inside {}; is the file cut off?", what));
  return false;
}

bool ValueReader::string(Value& value, unsigned char lowest) {
  const char* begin = ++p_;
  const char* plain = begin;
  std::string* decoded = nullptr;
  for (;; ++p_) {
    while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= lowest) ++p_;
    if (p_ == end_) return ended("a string");
    if (*p_ == '"') break;
    if (*p_ != '\\') return fail(p_, "a control character in a string; expected it as \\n or \\u00XX");
    if (decoded == nullptr) decoded = &scratch_.text();
    decoded->append(plain, p_);
    if (!escape(*decoded)) return false;
    plain = p_ + 1;
  }
  value.kind = Value::Kind::text;
  if (decoded != nullptr) {
    decoded->append(plain, p_);
    value.text = *decoded;
  } else {
    value.text = std::string_view(begin, static_cast<std::size_t>(p_ - begin));
  }
  ++p_;
  return true;
}

std::optional<char> ValueReader::escaped(char letter) {
  switch (letter) {
    case 't': return '\t';
    case 'n': return '\n';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case '\\':
    case '"':
    case '/': return letter;
    default: return std::nullopt;
  }
}

bool ValueReader::code_unit(std::uint32_t& unit, const char* complain_at) {
  if (end_ - p_ < 5) return ended("a string");
  unit = 0;
  for (int i = 0; i < 4; ++i) {
    ++p_;
    const char c = lower(*p_);
    if (!is_digit(c) && (c < 'a' || c > 'f'))
      return fail(complain_at == nullptr ? p_ : complain_at, "\\u: expected four hexadecimal digits");
    unit = unit * 16 + static_cast<std::uint32_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  return true;
}

bool ValueReader::integer(const char* begin, const char* end, Value& value) {
  const char* digits = *begin == '+' ? begin + 1 : begin;
  // Nearly all of them: too short to be out of range.
  constexpr std::ptrdiff_t short_max = 18;
  if (*begin != '-' && end - digits <= short_max && digits < end) {
    std::int64_t n = 0;
    const char* p = digits;
    for (; p < end && *p >= '0' && *p <= '9'; ++p) n = n * 10 + (*p - '0');
    if (p == end) {
      value.number = n;
      value.kind = Value::Kind::integer;
      return true;
    }
  }
  const auto [stop, error] = std::from_chars(digits, end, value.number);
  if (error == std::errc::result_out_of_range) {
    value.kind = Value::Kind::number;
    value.text = std::string_view(begin, static_cast<std::size_t>(end - begin));
    return true;
  }
  if (error != std::errc() || stop != end) {
    return fail(begin, fmt::format("{} is no number", cut(std::string(begin, end))));
  }
  value.kind = Value::Kind::integer;
  return true;
}

std::optional<sim::Phase> phase_of(std::string_view text) {
  text = without_colon(text);
  if (text == "invoke") return sim::Phase::invoke;
  if (text == "ok") return sim::Phase::ok;
  if (text == "fail") return sim::Phase::fail;
  if (text == "info") return sim::Phase::info;
  return std::nullopt;
}

void EventParts::begin(Event& event, const char* at) {
  event = Event{};
  event.begin = at;
  event_ = &event;
  seen_ = 0;
}

std::optional<EventParts::Part> EventParts::part(std::string_view key) {
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (key == kParts[i]) return static_cast<Part>(i);
  }
  return std::nullopt;
}

bool EventParts::take(Part part, const Value& value, const char* key_at, const char* at, Complaint& complaint) {
  const auto refuse = [&complaint](const char* where, std::string message) {
    complaint = {where, std::move(message), {}, {}};
    return false;
  };
  const std::uint32_t bit = 1U << static_cast<unsigned>(part);
  const std::string_view name = kParts[static_cast<std::size_t>(part)];
  if ((seen_ & bit) != 0) return refuse(key_at, fmt::format("a second {} in one operation", name));
  seen_ |= bit;
  switch (part) {
    case Part::type: {
      const std::optional<sim::Phase> phase = value.is_word() ? phase_of(value.text) : std::nullopt;
      if (!phase) {
        return refuse(at, fmt::format("type {}: expected one of invoke, ok, fail, info", to_string(value)));
      }
      event_->phase = *phase;
      break;
    }
    case Part::function:
      if (!value.is_word() || without_colon(value.text).empty()) {
        return refuse(at, fmt::format("f {}: expected the name of a function", to_string(value)));
      }
      event_->function = without_colon(value.text);
      event_->function_at = at;
      break;
    case Part::process: {
      const bool is_number = value.is(Value::Kind::integer) && value.number >= 0;
      const bool is_name = value.is_word() && !value.text.empty();
      if (!is_number && !is_name) {
        return refuse(
            at, fmt::format("process {}: expected a whole number from 0 on, below 2^63, or a name", to_string(value)));
      }
      event_->process = value;
      event_->process_at = at;
      break;
    }
    case Part::value:
      event_->value = value;
      event_->value_at = at;
      break;
    case Part::key: event_->key = value; break;
    case Part::object: event_->object = value; break;
    case Part::model: event_->model = value; break;
    case Part::permits: event_->permits = value; break;
    case Part::error: event_->error = value; break;
    case Part::time:
    case Part::index:
      if (value.is_nothing()) break;
      if (!value.is(Value::Kind::integer)) {
        return refuse(at, fmt::format("{} {}: expected a whole number{}", name, to_string(value),
                                      part == Part::time ? " of nanoseconds" : ""));
      }
      if (part == Part::time) {
        event_->time = value.number;
      } else if (value.number < 0) {
        return refuse(at, fmt::format("index {}: expected a number from 0 on", value.number));
      } else {
        event_->index = value.number;
        event_->index_at = at;
      }
      break;
  }
  return true;
}

bool EventParts::finish(Complaint& complaint) {
  for (const Part needed : {Part::type, Part::process, Part::function}) {
    if ((seen_ & (1U << static_cast<unsigned>(needed))) != 0) continue;
    complaint = {event_->begin,
                 fmt::format("an operation without {}; expected at least type, process and f",
                             kParts[static_cast<std::size_t>(needed)]),
                 {},
                 {}};
    return false;
  }
  if (event_->value_at == nullptr) event_->value_at = event_->begin;
  return true;
}

Trouble trouble_of(const Window& window, const Complaint& complaint) {
  // What follows the last character that could be read matters more than what is missing because of it.
  if (complaint.at == window.end() && window.trouble()) return *window.trouble();
  return {.at = window.position(complaint.at),
          .message = complaint.message,
          .given = complaint.given,
          .valid = complaint.valid};
}

EventReader::Step EventReader::fail(const Complaint& complaint) {
  trouble_ = trouble_of(window_, complaint);
  return Step::bad;
}

}  // namespace lockstep::checker::history_formats
