#include "checker/histories/formats/json.hpp"

#include <fmt/format.h>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

/// Control characters have to be escaped.
constexpr unsigned char kLowest = 0x20;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

bool JsonValues::skip_blanks() {
  while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) ++p_;
  return true;
}

bool JsonValues::escape(std::string& out) {
  if (++p_ == end_) return ended("a string");
  if (const std::optional<char> one = escaped(*p_)) {
    out += *one;
    return true;
  }
  if (*p_ != 'u') return fail(p_, fmt::format("\\ followed by {} in a string", shown(p_, end_)));
  std::uint32_t code = 0;
  if (!code_unit(code)) return false;
  if (code >= 0xD800 && code < 0xDC00) {
    if (end_ - p_ < 7 && !is_complete_) return ended("a string");
    if (end_ - p_ >= 7 && p_[1] == '\\' && p_[2] == 'u') {
      p_ += 2;
      std::uint32_t low = 0;
      if (!code_unit(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return fail(p_, "half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    }
  }
  if (code >= 0xD800 && code <= 0xDFFF) return fail(p_, "half of a surrogate pair");
  append_utf8(out, code);
  return true;
}

bool JsonValues::word(Value& value) {
  const char* begin = p_;
  while (p_ < end_ && is_letter(*p_)) ++p_;
  if (p_ == end_ && !is_complete_) return ended("a value");
  const std::string_view text(begin, static_cast<std::size_t>(p_ - begin));
  if (text == "null") {
    value.kind = Value::Kind::nil;
  } else if (text == "true" || text == "false") {
    value.kind = Value::Kind::boolean;
    value.number = text == "true" ? 1 : 0;
  } else {
    return fail(begin, fmt::format("{}: expected a JSON value", shown(begin, end_)));
  }
  return true;
}

bool JsonValues::number(Value& value) {
  const char* begin = p_;
  if (*p_ == '-') ++p_;
  const char* digits = p_;
  while (p_ < end_ && is_digit(*p_)) ++p_;
  const char* whole_end = p_;
  const bool is_fraction = p_ < end_ && *p_ == '.';
  if (is_fraction) {
    ++p_;
    while (p_ < end_ && is_digit(*p_)) ++p_;
  }
  const bool is_fraction_empty = is_fraction && p_[-1] == '.';
  const bool has_exponent = p_ < end_ && (*p_ == 'e' || *p_ == 'E');
  if (has_exponent) {
    ++p_;
    if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
    while (p_ < end_ && is_digit(*p_)) ++p_;
  }
  if (p_ == end_ && !is_complete_) return ended("a number");
  if (whole_end == digits) return fail(begin, "- without a number");
  if (is_fraction_empty || (has_exponent && !is_digit(p_[-1]))) {
    return fail(begin, fmt::format("{} is no number", std::string_view(begin, static_cast<std::size_t>(p_ - begin))));
  }
  if (*digits == '0' && whole_end - digits > 1) return fail(begin, "a number with a leading zero");
  if (p_ == whole_end) return integer(begin, p_, value);
  value.kind = Value::Kind::number;
  value.text = std::string_view(begin, static_cast<std::size_t>(p_ - begin));
  return true;
}

bool JsonValues::separator(char closer, bool& is_closed) {
  if (!skip_blanks()) return false;
  if (p_ == end_) return ended(closer == ']' ? "an array" : "an object");
  is_closed = *p_ == closer;
  if (!is_closed && *p_ != ',') {
    return fail(p_, fmt::format("{}: expected \",\" or \"{}\"", shown(p_, end_), closer));
  }
  ++p_;
  return is_closed || skip_blanks();
}

bool JsonValues::array(Value& value, std::size_t depth) {
  if (depth >= kDepthMax) return fail(p_, fmt::format("nested deeper than {} levels", kDepthMax));
  ++p_;
  const std::size_t from = scratch_.stack.size();
  if (!skip_blanks()) return false;
  bool is_closed = p_ < end_ && *p_ == ']';
  if (is_closed) ++p_;
  while (!is_closed) {
    Value item;
    if (!read(item, depth + 1)) return false;
    scratch_.stack.push_back(item);
    if (!separator(']', is_closed)) return false;
  }
  value.kind = Value::Kind::list;
  value.items = scratch_.list(from);
  return true;
}

bool JsonValues::key(Value& name) {
  if (p_ == end_) return ended("an object");
  if (*p_ == ':') return fail(p_, "a keyword, as in EDN: one file, one format (--format says which)");
  if (*p_ == '\'') {
    return fail(p_,
                "a key in single quotes, as Python prints a dict; JSON has double quotes: write it with json.dumps");
  }
  if (*p_ != '"') return fail(p_, fmt::format("{}: expected a key in quotes", shown(p_, end_)));
  if (!string(name, kLowest) || !skip_blanks()) return false;
  if (p_ == end_) return ended("an object");
  if (*p_ != ':') return fail(p_, fmt::format("{}: expected \":\" after a key", shown(p_, end_)));
  ++p_;
  return skip_blanks();
}

bool JsonValues::object(Value& value, std::size_t depth) {
  if (depth >= kDepthMax) return fail(p_, fmt::format("nested deeper than {} levels", kDepthMax));
  ++p_;
  const std::size_t from = scratch_.stack.size();
  if (!skip_blanks()) return false;
  bool is_closed = p_ < end_ && *p_ == '}';
  if (is_closed) ++p_;
  while (!is_closed) {
    Value name;
    Value item;
    if (!key(name) || !read(item, depth + 1)) return false;
    scratch_.stack.push_back(name);
    scratch_.stack.push_back(item);
    if (!separator('}', is_closed)) return false;
  }
  value.kind = Value::Kind::map;
  value.items = scratch_.list(from);
  return true;
}

bool JsonValues::read(Value& value, std::size_t depth) {
  if (p_ == end_) return ended("a value");
  switch (*p_) {
    case '[': return array(value, depth);
    case '{': return object(value, depth);
    case '"': return string(value, kLowest);
    case '-': return number(value);
    default: break;
  }
  if (is_digit(*p_)) return number(value);
  if (is_letter(*p_)) return word(value);
  return fail(p_, fmt::format("{}: expected a JSON value", shown(p_, end_)));
}

bool JsonValues::skip() {
  const std::size_t from = scratch_.stack.size();
  Value ignored;
  const bool done = read(ignored, 1);
  if (done) scratch_.stack.resize(from);
  return done;
}

bool JsonValues::event(Event& event) {
  scratch_.clear();
  parts_.begin(event, p_);
  ++p_;
  if (!skip_blanks()) return false;
  bool is_closed = p_ < end_ && *p_ == '}';
  if (is_closed) ++p_;
  while (!is_closed) {
    const char* key_at = p_;
    Value name;
    if (!key(name)) return false;
    const char* at = p_;
    if (const std::optional<EventParts::Part> part = EventParts::part(name.text)) {
      Value value;
      if (!read(value)) return false;
      // Nothing ends here but a text that is cut off.
      if (p_ == end_) return ended("an object");
      if (!parts_.take(*part, value, key_at, at, complaint_)) return false;
    } else if (!skip()) {
      return false;
    }
    if (!separator('}', is_closed)) return false;
  }
  return parts_.finish(complaint_);
}

EventReader::Step JsonEvents::end() {
  if (window_.trouble()) {
    trouble_ = *window_.trouble();
    return Step::bad;
  }
  if (!in_array_ || is_closed_) return Step::end;
  return fail({window_.end(),
               fmt::format("the text ends, but the \"[\" in line {}, column {} is still open; expected \"]\"",
                           opened_.line, opened_.column),
               {},
               {}});
}

EventReader::Step JsonEvents::next(Event& event) {
  for (;;) {
    values_.skip_blanks();
    if (values_.is_at_end()) {
      if (window_.is_complete()) return end();
      window_.give_up_to(window_.end());
      window_.grow();
      reset();
      continue;
    }
    const char* at = values_.place();
    const char c = *at;
    const auto pass = [&] { values_.set(at + 1, window_.end(), window_.is_complete()); };
    if (is_closed_) return fail({at, "more text after the history's closing bracket", {}, {}});
    if (c == '[' && !in_array_ && !has_events_) {
      in_array_ = true;
      opened_ = window_.position(at);
      pass();
      continue;
    }
    if (in_array_ && c == ']' && !has_comma_) {
      is_closed_ = true;
      pass();
      continue;
    }
    if (in_array_ && needs_comma_) {
      if (c != ',') return fail({at, fmt::format("{}: expected \",\" or \"]\"", shown(at, window_.end())), {}, {}});
      needs_comma_ = false;
      has_comma_ = true;
      pass();
      continue;
    }
    if (c != '{') {
      return fail(
          {at,
           fmt::format("{}: expected an operation, like {{\"process\": 0, \"type\": \"invoke\", \"f\": \"read\"}}",
                       shown(at, window_.end())),
           {},
           {}});
    }
    if (values_.event(event)) {
      has_events_ = needs_comma_ = true;
      has_comma_ = false;
      event.line = window_.line(event.begin);
      return Step::event;
    }
    if (!values_.wants_more()) {
      Complaint complaint = values_.complaint();
      if (complaint.at == window_.end() && !window_.trouble()) {
        const Position begin = window_.position(at);
        complaint.message += fmt::format(" The operation began in line {}, column {}.", begin.line, begin.column);
      }
      return fail(complaint);
    }
    window_.give_up_to(at);
    window_.grow();
    reset();
  }
}

}  // namespace lockstep::checker::history_formats
