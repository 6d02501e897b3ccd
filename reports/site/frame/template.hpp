#pragma once

// Templates of pages: markup in a `.mustache` file of its own, values from here. Start here to write one.
//
//   {{x}}                        text, escaped
//   {{{x}}}                      what is markup already, such as a `Text` in both languages
//   {{#x}}…{{/x}}                if there is any, or for each of its rows; `is_next` in all rows but the first
//   {{#both}}en|zh{{/both}}      words of the page itself, in both languages

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kainjow/mustache.hpp>

#include "reports/run/verdicts.hpp"
#include "scenarios/story/scenario.hpp"

namespace lockstep::reports::site {

using scenarios::Text;

/// In both languages; which one is seen, the reader says. As text within a line, escaped.
std::string both(const Text& text);
std::string both(std::string_view en, std::string_view zh);
/// The same of what is HTML already.
std::string both_markup(std::string_view en, std::string_view zh);

class Value;

class Values {
 public:
  Values() = default;
  Values(std::initializer_list<std::pair<const char*, Value>> values);
  void set(const char* name, const Value& value);
  const kainjow::mustache::object& object() const { return values_; }

 private:
  kainjow::mustache::object values_;
};

class Value {
 public:
  Value(std::string_view text);
  Value(const std::string& text) : Value(std::string_view(text)) {}
  Value(const char* text) : Value(std::string_view(text)) {}
  Value(const Text& both);
  Value(const Values& values) : data_(values.object()) {}
  Value(const std::optional<Values>& values);  ///< nothing: there is none
  Value(std::vector<Values> rows);
  Value(std::same_as<bool> auto is_so) : data_(is_so) {}
  Value(std::unsigned_integral auto number)
    requires(!std::same_as<decltype(number), bool>)
      : Value(std::to_string(number)) {}

  const kainjow::mustache::data& data() const { return data_; }

 private:
  kainjow::mustache::data data_;
};

/// The template of this path in the tree, filled. Requires: it is one.
std::string filled(std::string_view path, const Values& values);
/// The same with the words of the page in one language alone.
std::string filled(std::string_view path, const Values& values, Language language);

}  // namespace lockstep::reports::site
