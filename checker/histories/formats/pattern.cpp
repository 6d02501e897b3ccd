#include "checker/histories/formats/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::checker::history_formats {
namespace {

bool is_gap(char c) { return c == ' ' || c == '\t'; }

std::size_t skip_gap(std::string_view line, std::size_t place) {
  while (place < line.size() && is_gap(line[place])) ++place;
  return place;
}

}  // namespace

// --- A pattern, from its text

bool Pattern::has(Field field) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return part.kind == Part::Kind::field && part.field == field; }) ||
         std::any_of(said_.begin(), said_.end(), [&](const auto& said) { return said.first == field; });
}

std::optional<Pattern::Mistake> Pattern::add_field(std::string_view name) {
  const std::size_t equals = name.find('=');
  const std::optional<Field> field = field_named(name.substr(0, equals));
  const bool is_ignored = name == "_";
  if (!field && !is_ignored) {
    Mistake unknown{.message = fmt::format("{{{}}} is no field", name), .given = std::string(name.substr(0, equals))};
    for (const std::string_view known :
         {"time", "client", "event", "op", "key", "value", "result", "call", "return", "_"})
      unknown.valid.emplace_back(known);
    return unknown;
  }
  if (field && has(*field)) return Mistake{.message = fmt::format("{{{}}} is there twice", name.substr(0, equals))};
  if (equals != std::string_view::npos) {
    said_.emplace_back(*field, name.substr(equals + 1));
    return std::nullopt;
  }
  const bool follows_field =
      !parts_.empty() && (parts_.back().kind == Part::Kind::field || parts_.back().kind == Part::Kind::ignored);
  if (follows_field)
    return Mistake{.message = fmt::format("nothing stands between {{{}}} and what is before it", name)};
  parts_.push_back({.kind = is_ignored ? Part::Kind::ignored : Part::Kind::field,
                    .text = fmt::format("{{{}}}", name),
                    .field = field.value_or(Field::process)});
  return std::nullopt;
}

/// What is missing in a pattern as a whole.
std::optional<Pattern::Mistake> Pattern::mistake() const {
  if (!has(Field::process)) return Mistake{.message = "a pattern needs {client}, or another name of who it was"};
  const bool is_interval = !has(Field::type);
  if (is_interval && (!has(Field::begin) || !has(Field::end))) {
    return Mistake{
        .message =
            "a pattern needs {event}, where lines say invoke, ok, fail or info, or {event=invoke}; or {call} "
            "and {return}, where one line has both ends"};
  }
  if (is_interval && !has(Field::function)) return Mistake{.message = "a pattern needs {op}, or {op=lock}"};
  return std::nullopt;
}

std::variant<Pattern, Pattern::Mistake> Pattern::parse(std::string_view text) {
  constexpr std::size_t size_max = 1000;
  if (text.size() > size_max) return Mistake{.message = fmt::format("it has more than {} characters", size_max)};
  Pattern pattern;
  std::string literal;
  const auto end_literal = [&] {
    if (!literal.empty()) pattern.parts_.push_back({.text = std::exchange(literal, {})});
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const bool is_doubled = (c == '{' || c == '}') && text.substr(i + 1).starts_with(c);
    if (is_gap(c)) {
      end_literal();
      i = skip_gap(text, i);
      pattern.parts_.push_back({.kind = Part::Kind::blank});
    } else if (c == '{' && !is_doubled) {
      end_literal();
      const std::size_t close = text.find('}', i);
      if (close == std::string_view::npos) return Mistake{.message = "a { without its }; a brace itself is {{"};
      if (auto mistake = pattern.add_field(text.substr(i + 1, close - i - 1))) return *mistake;
      i = close + 1;
    } else if (c == '}' && !is_doubled) {
      return Mistake{.message = "a } without its {; a brace itself is }}"};
    } else {
      literal += c;
      i += is_doubled ? 2 : 1;
    }
  }
  end_literal();
  if (auto mistake = pattern.mistake()) return *mistake;
  return pattern;
}

// --- A line

bool Pattern::is_word(Field field) {
  return field == Field::process || field == Field::function || field == Field::type || field == Field::key;
}

std::optional<std::size_t> Pattern::pass_texts(std::string_view line, std::size_t place, std::size_t part) const {
  for (; part < parts_.size(); ++part) {
    const Part& here = parts_[part];
    if (here.kind == Part::Kind::blank) {
      const std::size_t behind = skip_gap(line, place);
      if (behind == place) return std::nullopt;
      place = behind;
    } else if (here.kind == Part::Kind::text) {
      if (!line.substr(place).starts_with(here.text)) return std::nullopt;
      place += here.text.size();
    } else {
      return place;
    }
  }
  return place == line.size() ? std::optional(place) : std::nullopt;
}

std::optional<std::size_t> Pattern::end_of(std::string_view line, std::size_t place, std::size_t part) const {
  const Part& here = parts_[part];
  const bool is_field = here.kind == Part::Kind::field;
  if (is_field && (here.field == Field::begin || here.field == Field::end)) {
    const std::optional<Moment> moment = moment_at(line.substr(place));
    return moment ? std::optional(place + moment->size) : std::nullopt;
  }
  const bool is_one_word = is_field && is_word(here.field);
  for (std::size_t end = place; end <= line.size(); ++end) {
    if (pass_texts(line, end, part + 1)) return is_one_word && end == place ? std::nullopt : std::optional(end);
    if (end == line.size() || !is_gap(line[end])) continue;
    if (is_one_word) return std::nullopt;
    // What does not follow the first of several blanks does not follow the others.
    while (end + 1 < line.size() && is_gap(line[end + 1])) ++end;
  }
  return std::nullopt;
}

Pattern::Reach Pattern::match(std::string_view line, Found& found) const {
  found.assign(said_.begin(), said_.end());
  std::size_t place = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Part& here = parts_[part];
    if (here.kind == Part::Kind::text) {
      if (!line.substr(place).starts_with(here.text)) return {place, fmt::format("\"{}\"", here.text)};
      place += here.text.size();
    } else if (here.kind == Part::Kind::blank) {
      const std::size_t behind = skip_gap(line, place);
      if (behind == place) return {place, "a blank"};
      place = behind;
    } else {
      const std::optional<std::size_t> end = end_of(line, place, part);
      if (!end) return {place, here.text + (part + 1 < parts_.size() ? " and what follows it" : "")};
      std::string_view cell = line.substr(place, *end - place);
      while (!cell.empty() && is_gap(cell.back())) cell.remove_suffix(1);
      if (here.kind == Part::Kind::field) found.emplace_back(here.field, cell);
      place = *end;
    }
  }
  return place == line.size() ? Reach{} : Reach{place, "the end of the line"};
}

// --- All lines

bool PatternEvents::read_all(Complaint& complaint) {
  std::uint32_t number = 0;
  Pattern::Found found;
  for (const char* p = window_.begin(); p < window_.end();) {
    ++number;
    const char* at = p;
    const char* end = std::find(p, window_.end(), '\n');
    p = end == window_.end() ? end : end + 1;
    std::string_view line(at, static_cast<std::size_t>(end - at));
    while (!line.empty() && (is_gap(line.back()) || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    Pattern::Reach furthest;
    bool is_record = false;
    for (const Pattern& pattern : patterns_) {
      const Pattern::Reach reach = pattern.match(line, found);
      is_record = reach.expected.empty();
      if (is_record) break;
      if (furthest.expected.empty() || reach.place > furthest.place) furthest = reach;
    }
    if (!is_record) {
      if (lines_skipped_++ == 0) first_skipped_ = trouble_of(window_, {at + furthest.place, furthest.expected, {}, {}});
      continue;
    }
    Record record{.at = at, .line = number};
    for (const auto& [field, text] : found) field_of(record, field) = value_of(text);
    if (!take(record, complaint)) return false;
  }
  return true;
}

}  // namespace lockstep::checker::history_formats
