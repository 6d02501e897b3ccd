// Values against a tiny evaluator of its own: what two texts mean, decided without putting them into one form.

#include "checker/histories/canonical.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "checker/histories/formats/edn.hpp"
#include "checker/histories/formats/json.hpp"
#include "sim/schedules/random.hpp"
#include "sim/testing/test_effort.hpp"

namespace lockstep::canonical_test {

using namespace lockstep::checker::history_formats;

namespace {

std::string canonical_edn(const std::string& text) {
  EdnValues values;
  values.set(text.data(), text.data() + text.size(), true);
  Value value;
  REQUIRE(values.skip_blanks());
  REQUIRE(values.read(value));
  std::string out;
  append_canonical(out, value);
  return out;
}

std::string canonical_json(const std::string& text) {
  JsonValues values;
  values.set(text.data(), text.data() + text.size(), true);
  Value value;
  REQUIRE(values.read(value));
  std::string out;
  append_canonical(out, value);
  return out;
}

bool are_equal(const std::string& a, const std::string& b) { return canonical_edn(a) == canonical_edn(b); }

/// A value as it was thought of: an atom is its kind and its content, a collection its parts.
struct Thought {
  enum class Kind : std::uint8_t { nothing, boolean, whole, tenths, text, keyword, symbol, list, set, map };
  Kind kind = Kind::nothing;
  std::int64_t number = 0;
  std::vector<Thought> parts;

  /// By definition: two sets are equal if each has what the other has.
  bool operator==(const Thought& other) const {
    if (kind != other.kind || number != other.number || parts.size() != other.parts.size()) return false;
    if (kind != Kind::set && kind != Kind::map) return parts == other.parts;
    const std::size_t each = kind == Kind::map ? 2 : 1;
    for (std::size_t i = 0; i < parts.size(); i += each) {
      bool is_there = false;
      for (std::size_t j = 0; j < parts.size(); j += each) {
        is_there = is_there || std::equal(&parts[i], &parts[i] + each, &other.parts[j]);
      }
      if (!is_there) return false;
    }
    return true;
  }
};

using Kind = Thought::Kind;

Thought random_thought(sim::Random& random, int depth) {
  Thought thought{.kind = static_cast<Kind>(random.below(depth > 0 ? 10 : 7)), .number = random.between(-2, 2)};
  if (thought.kind == Kind::nothing) thought.number = 0;
  if (thought.kind == Kind::boolean) thought.number = thought.number > 0 ? 1 : 0;
  if (thought.kind < Kind::list) return thought;
  thought.number = 0;
  const std::uint64_t size = random.below(3);
  for (std::uint64_t i = 0; i < size; ++i) {
    Thought part = random_thought(random, depth - 1);
    // A key or an element twice is no map and no set.
    const std::size_t each = thought.kind == Kind::map ? 2 : 1;
    bool is_new = true;
    for (std::size_t k = 0; k < thought.parts.size(); k += each) is_new = is_new && !(thought.parts[k] == part);
    if (thought.kind != Kind::list && !is_new) continue;
    thought.parts.push_back(std::move(part));
    if (thought.kind == Kind::map) thought.parts.push_back(random_thought(random, depth - 1));
  }
  return thought;
}

/// One of the ways to write it.
std::string written(const Thought& thought, sim::Random& random) {
  const auto pick = [&](const std::vector<std::string>& ways) { return ways[random.below(ways.size())]; };
  const std::string number = std::to_string(thought.number);
  const std::string digit = std::to_string(thought.number < 0 ? -thought.number : thought.number);
  const std::string sign = thought.number < 0 ? "-" : random.one_in(2) ? "+" : "";
  switch (thought.kind) {
    case Kind::nothing: return "nil";
    case Kind::boolean: return thought.number != 0 ? "true" : "false";
    case Kind::whole: return pick({number, sign + digit, number + "N", sign + "0" + digit});
    case Kind::tenths:
      return sign +
             pick({"0." + digit, "0." + digit + "0", digit + "e-1", "0" + digit + "0E-2", "0.0" + digit + "e+1"});
    case Kind::text: return pick({"\"" + number + "\"", "#_ x \"" + number + "\""});
    case Kind::keyword: return ":k" + number;
    case Kind::symbol: return "k" + number;
    default: break;
  }
  std::vector<std::string> parts;
  const std::size_t each = thought.kind == Kind::map ? 2 : 1;
  for (std::size_t i = 0; i < thought.parts.size(); i += each) {
    parts.push_back(written(thought.parts[i], random));
    if (each == 2) parts.back() += " " + written(thought.parts[i + 1], random);
  }
  if (thought.kind != Kind::list) {
    for (std::size_t i = parts.size(); i > 1; --i) std::swap(parts[i - 1], parts[random.below(i)]);
  }
  std::string text;
  for (const std::string& part : parts) text += part + (random.one_in(2) ? " " : ", ");
  if (thought.kind == Kind::set) return "#{" + text + "}";
  if (thought.kind == Kind::map) return "{" + text + "}";
  return random.one_in(2) ? "[" + text + "]" : "(" + text + ")";
}

}  // namespace

TEST_CASE("values: two are equal exactly if what was thought of is, however it is written") {
  std::uint64_t equal = 0;
  const auto pairs = sim::cases<std::uint64_t>(40'000, 2'000);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    sim::Random random(seed);
    const Thought one = random_thought(random, 3);
    const Thought other = random.one_in(3) ? one : random_thought(random, 2);
    const std::string a = written(one, random);
    const std::string b = written(other, random);
    INFO("seed " << seed << "\n" << a << "\n" << b << "\n" << canonical_edn(a) << "\n" << canonical_edn(b));
    REQUIRE((canonical_edn(a) == canonical_edn(b)) == (one == other));
    // A canonical text is one of the ways to write it.
    REQUIRE(are_equal(canonical_edn(a), a));
    equal += one == other ? 1 : 0;
  }
  CHECK(equal * 4 > pairs);
  CHECK(equal * 4 < 3 * pairs);
}

TEST_CASE("values: kinds are kept apart") {
  const std::vector<std::string> apart{"1.5",     "\"1.5\"", "15",    "1.5M",     "3",
                                       "3.0",     "\"3\"",   ":a",    "a",        "\":a\"",
                                       "\\a",     "\"a\"",   "[1 2]", "#{1 2}",   "{1 2}",
                                       "nil",     "\"nil\"", "true",  "\"true\"", "[]",
                                       "#{}",     "{}",      "1/2",   "##NaN",    "#inst \"2020\"",
                                       "\"2020\""};
  for (std::size_t i = 0; i < apart.size(); ++i) {
    for (std::size_t j = 0; j < apart.size(); ++j) {
      INFO(apart[i] << " and " << apart[j]);
      CHECK(are_equal(apart[i], apart[j]) == (i == j));
    }
  }
}

TEST_CASE("values: numbers of any size, in the form that says most") {
  CHECK(canonical_edn("123456789012345678901234567890") == "123456789012345678901234567890");
  CHECK(canonical_edn("+0123456789012345678901234567890N") == "123456789012345678901234567890");
  CHECK(canonical_edn("-18446744073709551616") == "-18446744073709551616");
  CHECK(!are_equal("18446744073709551616", "18446744073709551617"));
  CHECK(!are_equal("18446744073709551616", "0"));
  CHECK(canonical_edn("-9223372036854775808") == "-9223372036854775808");
  CHECK(canonical_edn("1.50") == "1.5");
  CHECK(canonical_edn("1e2") == "100.0");
  CHECK(canonical_edn("-0.0") == "0.0");
  CHECK(canonical_edn("0.00012e-3") == "0.00000012");
  CHECK(canonical_edn("1234.5e40") == "1.2345e43");
  CHECK(canonical_edn("1.0M") == "1.0M");
  CHECK(canonical_edn("1e99999999999999999999") == "1e99999999999999999999");
  CHECK(canonical_json("1.50") == "1.5");
  CHECK(canonical_json("150e-2") == "1.5");
  CHECK(canonical_json("99999999999999999999") == "99999999999999999999");
  CHECK(canonical_json("{\"b\": [1, 2.0], \"a\": null}") == canonical_json("{\"a\": null, \"b\": [1, 2.00]}"));
  CHECK(canonical_json("{\"a\": 1}") == canonical_edn("{\"a\" 1}"));
}

}  // namespace lockstep::canonical_test
