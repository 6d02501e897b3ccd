#include "reports/site/frame/template.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "reports/picture/shape.hpp"
#include "reports/text/embedded_text.hpp"

namespace lockstep::reports::site {

std::string both_markup(std::string_view en, std::string_view zh) {
  if (zh.empty() || en == zh) return std::string(en);
  // The shortest element that HTML has for a phrase of a language: a site has fifty thousand of these pairs.
  return fmt::format("<i lang=\"en\">{}</i><i lang=\"zh\">{}</i>", en, zh);
}

std::string both(std::string_view en, std::string_view zh) {
  return both_markup(picture::escaped_markup(en), picture::escaped_markup(zh));
}

std::string both(const Text& text) { return both(text.en, text.zh); }

namespace {

/// Words in both languages as markup, or in one as it is.
std::string with_languages(std::string_view text, std::optional<Language> language) {
  constexpr std::string_view kBegin = "{{#both}}", kEnd = "{{/both}}";
  std::string out;
  for (std::size_t begin = text.find(kBegin); begin != std::string_view::npos; begin = text.find(kBegin)) {
    const std::size_t end = text.find(kEnd, begin);
    assert(end != std::string_view::npos && "every {{#both}} of a template has its end");
    const std::string_view words = text.substr(begin + kBegin.size(), end - begin - kBegin.size());
    const std::size_t bar = words.find('|');
    assert(bar != std::string_view::npos && "{{#both}}English|中文{{/both}}");
    const std::string_view en = words.substr(0, bar), zh = words.substr(bar + 1);
    out.append(text.substr(0, begin)).append(!language ? both(en, zh) : *language == Language::zh ? zh : en);
    text.remove_prefix(end + kEnd.size());
  }
  return out.append(text);
}

/// A tag of a section that has a line to itself leaves none, as the format's specification has it. The library knows
/// that of sections that are shown only.
std::string without_lines_of_tags(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool is_section = line.starts_with("{{#") || line.starts_with("{{^") || line.starts_with("{{/");
    out.append(line);
    if (!is_section || line.find("}}") + 2 != line.size()) out += '\n';
  }
  return out;
}

std::string fill(std::string_view path, const Values& values, std::optional<Language> language) {
  kainjow::mustache::mustache page{with_languages(without_lines_of_tags(embedded_text(path)), language)};
  assert(page.is_valid() && "a template that is not well formed");
  page.set_custom_escape([](const std::string& text) { return picture::escaped_markup(text); });
  return page.render(values.object());
}

}  // namespace

Value::Value(std::string_view text) : data_(false) {
  if (!text.empty()) data_ = std::string(text);
}

Value::Value(const scenarios::Text& text) : Value(both(text)) {}

Value::Value(const std::optional<Values>& values) : data_(false) {
  if (values) data_ = values->object();
}

Value::Value(std::vector<Values> rows) : data_(kainjow::mustache::list()) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].set("is_next", i > 0);
    data_.push_back(rows[i].object());
  }
}

Values::Values(std::initializer_list<std::pair<const char*, Value>> values) {
  for (const auto& [name, value] : values) set(name, value);
}

void Values::set(const char* name, const Value& value) {
  values_.insert_or_assign(name, kainjow::mustache::data(value.data()));
}

std::string filled(std::string_view path, const Values& values) { return fill(path, values, std::nullopt); }

std::string filled(std::string_view path, const Values& values, Language language) {
  return fill(path, values, language);
}

}  // namespace lockstep::reports::site
