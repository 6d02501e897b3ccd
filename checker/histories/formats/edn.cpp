#include "checker/histories/formats/edn.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "checker/histories/formats/characters.hpp"

namespace lockstep::checker::history_formats {
namespace {

enum Class : std::uint8_t { word, blank, delimiter };

constexpr std::array<Class, 256> classes() {
  std::array<Class, 256> table{};
  for (const char c : {' ', '\t', '\n', '\r', '\f', '\v', ','}) table[static_cast<unsigned char>(c)] = blank;
  for (const char c : {'(', ')', '[', ']', '{', '}', '"', ';'}) table[static_cast<unsigned char>(c)] = delimiter;
  return table;
}
constexpr std::array<Class, 256> kClasses = classes();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
char closer_of(char opener) { return opener == '(' ? ')' : opener == '[' ? ']' : '}'; }

}  // namespace

bool EdnValues::skip_blanks() {
  for (;;) {
    while (p_ < end_ && class_of(*p_) == blank) ++p_;
    if (p_ == end_) return true;
    if (*p_ == ';') {
      const void* line_end = std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_));
      if (line_end == nullptr) {
        p_ = end_;
        return true;
      }
      p_ = static_cast<const char*>(line_end) + 1;
    } else if (*p_ == '#' && p_ + 1 < end_ && p_[1] == '_') {
      p_ += 2;
      // `#_ #_ a b` discards both; each waits for the next.
      if (discarding_ == kDepthMax) return fail(p_, fmt::format("nested deeper than {} levels", kDepthMax));
      ++discarding_;
      const bool done = skip();
      --discarding_;
      if (!done) return false;
    } else {
      return true;
    }
  }
}

bool EdnValues::atom(const char*& begin) {
  begin = p_;
  while (p_ < end_ && class_of(*p_) == word) ++p_;
  // What touches the end of the window may go on behind it.
  return p_ < end_ || is_complete_ || ended("a value");
}

bool EdnValues::escape(std::string& out) {
  const char* begin = p_++;
  if (p_ == end_) return ended("a string");
  if (const std::optional<char> one = escaped(*p_)) {
    out += *one;
    return true;
  }
  std::uint32_t code = 0;
  if (*p_ == 'u') {
    if (!code_unit(code, begin)) return false;
  } else if (*p_ >= '0' && *p_ <= '7') {
    code = static_cast<std::uint32_t>(*p_ - '0');
    for (int i = 0; i < 2; ++i) {
      if (p_ + 1 == end_) return ended("a string");
      if (p_[1] < '0' || p_[1] > '7') break;
      code = code * 8 + static_cast<std::uint32_t>(*++p_ - '0');
    }
  } else {
    return fail(begin, fmt::format("\\ followed by {}: expected \\\\, \\\", \\n, \\t, \\r, \\b, \\f or \\uXXXX",
                                   shown(p_, end_)));
  }
  // Halves of a pair stand for themselves in Java; here they become the replacement character.
  append_utf8(out, code >= 0xD800 && code <= 0xDFFF ? 0xFFFD : code);
  return true;
}

bool EdnValues::number(const char* begin, Value& value) {
  const char* digits = begin + (*begin == '+' || *begin == '-' ? 1 : 0);
  const char* p = digits;
  while (p < p_ && is_digit(*p)) ++p;
  if (p == p_) return integer(begin, p_, value);
  if (p + 1 == p_ && *p == 'N') return integer(begin, p, value);
  for (; p < p_; ++p) {
    if (!is_digit(*p) && std::string_view(".eE+-/MNxXrRaAbBcCdDfF").find(*p) == std::string_view::npos) {
      return fail(begin, fmt::format("{} is no number", std::string(begin, p_)));
    }
  }
  value.kind = Value::Kind::number;
  value.text = std::string_view(begin, static_cast<std::size_t>(p_ - begin));
  return true;
}

bool EdnValues::sequence(char closer, Value::Kind kind, Value& value, std::size_t depth) {
  const char* opened = p_++;
  if (depth >= kDepthMax) return fail(opened, fmt::format("nested deeper than {} levels", kDepthMax));
  const std::size_t from = scratch_.stack.size();
  for (;;) {
    if (!skip_blanks()) return false;
    if (p_ == end_) return ended(fmt::format("what \"{}\" opened", *opened));
    if (*p_ == closer) break;
    Value item;
    if (!read(item, depth + 1)) return false;
    scratch_.stack.push_back(item);
  }
  ++p_;
  if (kind == Value::Kind::map && (scratch_.stack.size() - from) % 2 != 0) {
    return fail(opened, "a map whose last key has no value");
  }
  value.kind = kind;
  value.items = scratch_.list(from);
  return true;
}

bool EdnValues::unreadable() {
  std::size_t open = 0;
  for (; p_ < end_; ++p_) {
    if (*p_ == '<') ++open;
    if (*p_ == '>' && --open == 0) {
      ++p_;
      return true;
    }
  }
  return ended("what \"#<\" opened");
}

bool EdnValues::dispatch(Value& value, std::size_t depth) {
  const char* begin = p_++;
  if (p_ == end_) return ended("a tag");
  const auto whole_text = [&] {
    value = {.kind = Value::Kind::name, .text = std::string_view(begin, static_cast<std::size_t>(p_ - begin))};
    return true;
  };
  switch (*p_) {
    case '{': return sequence('}', Value::Kind::set, value, depth);
    case '(': return sequence(')', Value::Kind::list, value, depth);
    case '"': return string(value, 0);
    case '<': return unreadable() && whole_text();
    case '#':
    case '\'': {
      ++p_;
      const char* name = nullptr;
      return atom(name) && whole_text();
    }
    default: break;
  }
  if (class_of(*p_) != word) return fail(begin, "# without a tag");
  const char* tag = nullptr;
  if (!atom(tag)) return false;
  const std::string_view name(tag, static_cast<std::size_t>(p_ - tag));
  const bool is_object = name == "object";
  if (!skip_blanks()) return false;
  if (p_ == end_) return ended("a tagged value");
  // A tag can follow a tag, so this is a level, too.
  if (depth >= kDepthMax) return fail(begin, fmt::format("nested deeper than {} levels", kDepthMax));
  // What is written as a string, and is none.
  const bool is_written = (name == "inst" || name == "uuid") && *p_ == '"';
  if (!is_object && !is_written) return read(value, depth + 1);
  return skip() && whole_text();
}

bool EdnValues::read(Value& value, std::size_t depth) {
  if (p_ == end_) return ended("a value");
  const char c = *p_;
  switch (c) {
    case '[': return sequence(']', Value::Kind::list, value, depth);
    case '(': return sequence(')', Value::Kind::list, value, depth);
    case '{': return sequence('}', Value::Kind::map, value, depth);
    case '"': return string(value, 0);
    case '#': return dispatch(value, depth);
    case '^': {
      ++p_;
      if (depth >= kDepthMax) return fail(p_, fmt::format("nested deeper than {} levels", kDepthMax));
      if (!skip_blanks()) return false;
      if (!skip() || !skip_blanks()) return false;
      return read(value, depth + 1);
    }
    case '\\': {
      const char* begin = p_++;
      const char* rest = nullptr;
      if (p_ == end_) return ended("a character");
      if (class_of(*p_) != word) ++p_;
      if (!atom(rest)) return false;
      value = {.kind = Value::Kind::name, .text = std::string_view(begin, static_cast<std::size_t>(p_ - begin))};
      return true;
    }
    case ')':
    case ']':
    case '}': return fail(p_, fmt::format("\"{}\" closes what nothing has opened", c));
    default: break;
  }
  const char* begin = nullptr;
  if (!atom(begin)) return false;
  const std::string_view text(begin, static_cast<std::size_t>(p_ - begin));
  const bool is_signed = (c == '-' || c == '+') && text.size() > 1 && is_digit(text[1]);
  if (is_digit(c) || is_signed) return number(begin, value);
  value.kind = Value::Kind::name;
  value.text = text;
  if (text == "nil") {
    value.kind = Value::Kind::nil;
  } else if (text == "true" || text == "false") {
    value.kind = Value::Kind::boolean;
    value.number = text == "true" ? 1 : 0;
  } else if (text == ":") {
    return fail(begin, "a colon without a name");
  }
  return true;
}

bool EdnValues::skip() {
  // Like `read`, but it does not look at what it passes over, and needs no memory for it.
  const std::size_t from = scratch_.stack.size();
  Value ignored;
  const bool done = skip_blanks() && (p_ < end_ || ended("a value")) && read(ignored, 1);
  scratch_.stack.resize(done ? from : scratch_.stack.size());
  return done;
}

bool EdnValues::skip_tags() {
  while (p_ < end_ && *p_ == '#') {
    const char* begin = p_++;
    const char* tag = nullptr;
    if (!atom(tag)) return false;
    if (p_ == tag && p_ < end_) return fail(begin, "# without a tag");
    if (!skip_blanks()) return false;
    if (p_ == end_) return ended("a tagged value");
  }
  return true;
}

bool EdnValues::event(Event& event) {
  scratch_.clear();
  const char* opened = p_++;
  parts_.begin(event, opened);
  for (;;) {
    if (!skip_blanks()) return false;
    if (p_ == end_) return ended("an operation");
    if (*p_ == '}') break;
    const char* key_at = p_;
    if (*p_ != ':') {
      const bool is_string = *p_ == '"';
      if (!skip()) return false;
      if (is_string && p_ < end_ && *p_ == ':') {
        return fail(key_at, "a key in quotes with a colon, as in JSON: one file, one format (--format says which)");
      }
      if (!skip_blanks() || !skip()) return false;
      continue;
    }
    const char* key = nullptr;
    if (!atom(key)) return false;
    const std::optional<EventParts::Part> part =
        EventParts::part(std::string_view(key + 1, static_cast<std::size_t>(p_ - key - 1)));
    if (!skip_blanks()) return false;
    if (p_ == end_) return ended("an operation");
    if (*p_ == '}') return fail(key_at, "a key without a value");
    if (!part) {
      if (!skip()) return false;
      continue;
    }
    const char* at = p_;
    Value value;
    if (!read(value)) return false;
    // Nothing ends here but a text that is cut off.
    if (p_ == end_) return ended("an operation");
    if (!parts_.take(*part, value, key_at, at, complaint_)) return false;
  }
  ++p_;
  return parts_.finish(complaint_);
}

void EdnEvents::grow(const char* from) {
  window_.give_up_to(from);
  window_.grow();
  reset();
}

EventReader::Step EdnEvents::end() {
  if (window_.trouble()) {
    trouble_ = *window_.trouble();
    return Step::bad;
  }
  if (closer_ == '\0' || is_closed_) return Step::end;
  return fail({window_.end(),
               fmt::format("the text ends, but the \"{}\" in line {}, column {} is still open; expected \"{}\"",
                           closer_ == ']' ? '[' : '(', opened_.line, opened_.column, closer_),
               {},
               {}});
}

EventReader::Step EdnEvents::next(Event& event) {
  for (;;) {
    const char* from = values_.place();
    const bool good = values_.skip_blanks() && values_.skip_tags();
    if (good ? values_.is_at_end() && !window_.is_complete() : values_.wants_more()) {
      grow(from);
      continue;
    }
    if (!good) return fail(values_.complaint());
    if (values_.is_at_end()) return end();

    const char c = *values_.place();
    const char* at = values_.place();
    if (is_closed_) return fail({at, "more text after the history's closing bracket", {}, {}});
    if (closer_ != '\0' && c == closer_) {
      is_closed_ = true;
      values_.set(at + 1, window_.end(), window_.is_complete());
      continue;
    }
    if ((c == '[' || c == '(') && closer_ == '\0' && !has_events_) {
      closer_ = closer_of(c);
      opened_ = window_.position(at);
      values_.set(at + 1, window_.end(), window_.is_complete());
      continue;
    }
    if (c != '{') {
      std::string message =
          fmt::format("{}: expected an operation, like {{:process 0, :type :invoke, :f :read, :value nil}}",
                      shown(at, window_.end()));
      if (c == ')' || c == ']' || c == '}') message = fmt::format("\"{}\" closes what nothing has opened", c);
      return fail({at, std::move(message), {}, {}});
    }
    if (values_.event(event)) {
      has_events_ = true;
      event.line = window_.line(event.begin);
      return Step::event;
    }
    if (!values_.wants_more()) {
      // A map that is never closed ends where the text does; where it began says more.
      const Complaint& complaint = values_.complaint();
      if (complaint.at == window_.end() && !window_.trouble()) {
        const Position begin = window_.position(at);
        Complaint longer = complaint;
        longer.message += fmt::format(" The operation began in line {}, column {}.", begin.line, begin.column);
        return fail(longer);
      }
      return fail(complaint);
    }
    grow(from);
  }
}

}  // namespace lockstep::checker::history_formats
