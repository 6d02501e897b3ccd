// The readers of values against other judges: JSON against a library, EDN against the value that was printed.

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "checker/histories/formats/edn.hpp"
#include "checker/histories/formats/json.hpp"

namespace lockstep::values_test {

using namespace lockstep::checker::history_formats;
using nlohmann::json;

namespace {

/// The value in a form of its own, in which nothing is left out: what two readers must agree on.
std::string canonical(const Value& value) {
  switch (value.kind) {
    case Value::Kind::absent: return "absent";
    case Value::Kind::nil: return "nil";
    case Value::Kind::boolean: return value.number != 0 ? "T" : "F";
    case Value::Kind::integer: return "i" + std::to_string(value.number);
    case Value::Kind::text: return "t" + std::to_string(value.text.size()) + ":" + std::string(value.text);
    case Value::Kind::number:
    case Value::Kind::name: return "n" + std::string(value.text);
    case Value::Kind::list:
    case Value::Kind::set:
    case Value::Kind::map: break;
  }
  std::string text = value.is(Value::Kind::list) ? "(" : "{";
  for (const Value& item : value.items) text += canonical(item) + " ";
  return text + "]";
}

std::string canonical(const json& value) {
  if (value.is_null()) return "nil";
  if (value.is_boolean()) return value.get<bool>() ? "T" : "F";
  if (value.is_number_integer()) return "i" + std::to_string(value.get<std::int64_t>());
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    return "t" + std::to_string(text.size()) + ":" + text;
  }
  std::string text = value.is_array() ? "(" : "{";
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) text += canonical(json(key)) + " ";
    text += canonical(item) + " ";
  }
  return text + "]";
}

std::string random_text() {
  // Letters that need escapes, characters of all lengths in UTF-8, and what looks like something else.
  const auto piece =
      rc::gen::element<std::string>("a", "\"", "\\", "\n", "\t", "中", "é", "😀", " ", ":", "]", "}", ";", "#", "1");
  return *rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const std::vector<std::string>& pieces) {
    std::string text;
    for (const std::string& p : pieces) text += p;
    return text;
  });
}

json random_json(int depth) {
  const int kind = *rc::gen::inRange(0, depth > 0 ? 7 : 5);
  switch (kind) {
    case 0: return nullptr;
    case 1: return *rc::gen::arbitrary<bool>();
    case 2:
    case 3: return *rc::gen::arbitrary<std::int64_t>();
    case 4: return random_text();
    default: break;
  }
  json value = kind == 5 ? json::array() : json::object();
  const int n = *rc::gen::inRange(0, 4);
  for (int i = 0; i < n; ++i) {
    if (kind == 5) {
      value.push_back(random_json(depth - 1));
    } else {
      value[random_text()] = random_json(depth - 1);
    }
  }
  return value;
}

/// EDN for the same value, with blanks, commas, comments, tags and discarded forms wherever EDN allows them.
std::string edn_of(const json& value) {
  const auto between = [] {
    return *rc::gen::element<std::string>(" ", ", ", "\n", " ; ] comment\n", " #_ [x {:y 1}] ", " #tag/x ", " ^:meta ");
  };
  // A tag and metadata need a value behind them.
  const auto blank = [] { return *rc::gen::element<std::string>(" ", ",", "\r\n", "; }\n", " #_\"x\" "); };
  if (value.is_null()) return between() + "nil";
  if (value.is_boolean()) return between() + (value.get<bool>() ? "true" : "false");
  if (value.is_number_integer()) return between() + std::to_string(value.get<std::int64_t>());
  if (value.is_string()) {
    std::string text = "\"";
    for (const char c : value.get_ref<const std::string&>()) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    return between() + text + "\"";
  }
  std::string text = between() + (value.is_array() ? "[" : "{");
  for (const auto& [key, item] : value.items()) {
    if (value.is_object()) text += edn_of(json(key));
    text += edn_of(item);
  }
  return text + blank() + (value.is_array() ? "]" : "}");
}

template <class Values>
std::string read_by(const std::string& text) {
  Values values;
  values.set(text.data(), text.data() + text.size(), true);
  Value value;
  if (!values.skip_blanks() || !values.read(value)) return "bad: " + values.complaint().message;
  if (!values.skip_blanks() || !values.is_at_end()) return "something is left";
  return canonical(value);
}

/// Is every strict prefix either wanting more, or a value that ends where a number or word could go on?
template <class Values>
void check_prefixes(const std::string& text) {
  for (std::size_t size = 0; size < text.size(); ++size) {
    Values values;
    values.set(text.data(), text.data() + size, false);
    Value value;
    const bool done = values.skip_blanks() && values.read(value);
    if (!done) RC_ASSERT(values.wants_more());
  }
}

}  // namespace

TEST_CASE("json: every value is read as a library reads it, and no prefix of it is an error") {
  rc::prop("json agrees", [] {
    const json value = random_json(4);
    const std::string text = value.dump(*rc::gen::inRange(-1, 3), ' ', *rc::gen::arbitrary<bool>());
    RC_ASSERT(read_by<JsonValues>(text) == canonical(value));
    if (text.size() < 300) check_prefixes<JsonValues>(text);
  });
}

TEST_CASE("json: what a library refuses is refused, and what it accepts is accepted") {
  rc::prop("json refuses", [] {
    std::string text = random_json(3).dump();
    const int changes = *rc::gen::inRange(1, 3);
    for (int i = 0; i < changes && !text.empty(); ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      const char c = *rc::gen::element('{', '}', '[', ']', '"', ':', ',', '0', '-', '.', 'e', 'n', '\\', ' ');
      if (*rc::gen::arbitrary<bool>())
        text[at] = c;
      else
        text.erase(at, 1);
    }
    // Half a character is the window's business, before any reader sees it.
    RC_PRE(json(text).dump(-1, ' ', false, json::error_handler_t::replace).find("\xEF\xBF\xBD") == std::string::npos);
    const json by_library = json::parse(text, nullptr, false);
    const std::string ours = read_by<JsonValues>(text);
    const bool refused = ours.starts_with("bad") || ours.starts_with("something");
    // What is out of our range of whole numbers, the library makes a fraction of; fractions stay texts with us.
    const auto is_fraction = [](const auto& self, const json& v) -> bool {
      if (v.is_number_float() || v.is_number_unsigned())
        return v.is_number_float() || v.get<std::uint64_t>() > INT64_MAX;
      return v.is_structured() && std::any_of(v.begin(), v.end(), [&](const json& item) { return self(self, item); });
    };
    if (!by_library.is_discarded() && is_fraction(is_fraction, by_library)) return;
    // It also refuses powers of ten that no floating-point number has.
    if (by_library.is_discarded() && text.find_first_of("eE") != std::string::npos) return;
    RC_ASSERT(refused == by_library.is_discarded());
  });
}

TEST_CASE("edn: every value is read as it was printed, and no prefix of it is an error") {
  rc::prop("edn round trip", [] {
    const json value = random_json(4);
    const std::string text = edn_of(value);
    RC_ASSERT(read_by<EdnValues>(text) == canonical(value));
    if (text.size() < 300) check_prefixes<EdnValues>(text);
  });
}

}  // namespace lockstep::values_test
