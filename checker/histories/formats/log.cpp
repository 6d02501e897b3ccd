#include "checker/histories/formats/log.hpp"

#include <fmt/format.h>

#include <cstring>

namespace lockstep::checker::history_formats {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::size_t skip_blanks(std::string_view text, std::size_t from) {
  while (from < text.size() && is_blank(text[from])) ++from;
  return from;
}

/// The word at `from`, up to the next blank.
std::string_view word_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && !is_blank(text[end])) ++end;
  return text.substr(from, end - from);
}

bool is_process(std::string_view word) {
  if (word == ":nemesis" || word == "nemesis") return true;
  const std::size_t digits = word.starts_with('-') ? 1 : 0;
  return word.size() > digits && word.find_first_not_of("0123456789", digits) == std::string_view::npos;
}

bool is_type(std::string_view word) { return word.starts_with(':') && phase_of(word).has_value(); }

/// Is it a map, tagged or not, whose first key is one of an operation?
bool begins_with_operation(std::string_view line) {
  if (line[0] != '{' && line[0] != '#') return false;
  const std::size_t opened = line.find('{');
  if (opened == std::string_view::npos) return false;
  std::string_view key = word_at(line, skip_blanks(line, opened + 1));
  if (key.starts_with('"')) key = key.substr(1, key.find('"', 1) - 1);
  if (key.starts_with(':')) key.remove_prefix(1);
  using Part = EventParts::Part;
  const std::optional<Part> part = EventParts::part(key);
  return part == Part::process || part == Part::type || part == Part::function || part == Part::index;
}

}  // namespace

const char* event_in_log_line(std::string_view line) {
  const std::size_t first = skip_blanks(line, 0);
  const std::string_view word = word_at(line, first);
  // Indented, it may be a line of the test map or the results that Jepsen prints.
  const bool is_alone = first > 0 && !is_type(word_at(line, skip_blanks(line, first + word.size())));
  if (is_process(word) && !is_alone) return line.data() + first;
  constexpr std::string_view logger = "jepsen.util";
  const std::size_t found = line.find(logger);
  if (found != std::string_view::npos) {
    std::size_t at = found + logger.size();
    if (at < line.size() && line[at] == ':') ++at;
    at = skip_blanks(line, at);
    if (at < line.size() && line[at] == '-') at = skip_blanks(line, at + 1);
    if (is_process(word_at(line, at))) return line.data() + at;
  }
  // Another logger: the word before the type is the process, whatever it is.
  for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    if (at < 2 || !is_blank(line[at - 1]) || !is_type(word_at(line, at))) continue;
    std::size_t end = at;
    while (end > 0 && is_blank(line[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && !is_blank(line[begin - 1])) --begin;
    if (end > begin) return line.data() + begin;
  }
  return nullptr;
}

bool LogEvents::columns(const char* begin, const char* end, Event& event) {
  using Part = EventParts::Part;
  constexpr std::string_view layout = "expected process, type, function and value, like 0 :invoke :read nil";
  parts_.begin(event, begin);
  values_.scratch().clear();
  values_.set(begin, end, true);
  sim::Phase phase = sim::Phase::invoke;
  const auto complain = [&](const char* at, std::string message) {
    complaint_ = {at, std::move(message), {}, {}};
    return false;
  };
  for (const Part part : {Part::process, Part::type, Part::function, Part::value}) {
    values_.skip_blanks();
    const char* at = values_.place();
    if (values_.is_at_end()) return complain(at, fmt::format("the line ends too early; {}", layout));
    Value value;
    if (!values_.read(value)) {
      complaint_ = values_.complaint();
      return false;
    }
    if (part == Part::type) {
      if (!value.is_word() || !is_type(value.text)) {
        return complain(at, fmt::format("{}: expected one of :invoke, :ok, :fail, :info", to_string(value)));
      }
      phase = *phase_of(value.text);
    }
    // What an unknown outcome has instead of a value is why.
    const bool is_reason = part == Part::value && (phase == sim::Phase::info || phase == sim::Phase::fail) &&
                           value.is_word() && value.text.starts_with(':');
    if (!parts_.take(is_reason ? Part::error : part, value, at, at, complaint_)) return false;
    if (is_reason) continue;
    if (part == Part::value) {
      values_.skip_blanks();
      const char* rest = values_.place();
      std::string_view error(rest, static_cast<std::size_t>(end - rest));
      while (!error.empty() && is_blank(error.back())) error.remove_suffix(1);
      // An error, a latency, a hint: nothing that is judged, and not always EDN.
      if (!error.empty()) parts_.take(Part::error, {.kind = Value::Kind::name, .text = error}, rest, rest, complaint_);
    }
  }
  return parts_.finish(complaint_);
}

EventReader::Step LogEvents::next(Event& event) {
  for (;;) {
    const auto left = static_cast<std::size_t>(window_.end() - next_);
    const void* found = left == 0 ? nullptr : std::memchr(next_, '\n', left);
    if (found == nullptr && !window_.is_complete()) {
      window_.give_up_to(next_);
      window_.grow();
      next_ = window_.begin();
      continue;
    }
    if (found == nullptr && window_.trouble()) {
      trouble_ = *window_.trouble();
      return Step::bad;
    }
    if (left == 0) return Step::end;
    const char* begin = next_;
    const char* end = found == nullptr ? window_.end() : static_cast<const char*>(found);
    next_ = found == nullptr ? end : end + 1;

    const std::string_view line(begin, static_cast<std::size_t>(end - begin));
    const std::size_t first = skip_blanks(line, 0);
    if (first == line.size()) continue;
    // Jepsen prints other maps, too: its test before the first operation, its results behind the last.
    if (begins_with_operation(line)) {
      return bad(begin, "a map in a log: one file, one format (--format says which)");
    }
    if (const char* columns_begin = event_in_log_line(line)) {
      if (!columns(columns_begin, end, event)) return fail(complaint_);
      event.line = window_.line(begin);
      return Step::event;
    }
    ++lines_skipped_;
  }
}

}  // namespace lockstep::checker::history_formats
