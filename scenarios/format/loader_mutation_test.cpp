// Files that are nearly good: whatever an editor's accident makes of one, the loader answers, and points into the file.

#include <algorithm>
#include <catch2/catch.hpp>
#include <rapidcheck.h>
#include <rapidcheck/catch.h>

#include "scenarios/format/loader.hpp"
#include "scenarios/format/loader_samples.hpp"

namespace lockstep::loader_mutation_test {

namespace {

using namespace lockstep::scenarios;

void answers(const std::string& text) {
  static const auto catalogue = samples::catalogue();
  const auto result = parse(text, "mutant.toml", catalogue);
  RC_CLASSIFY(std::holds_alternative<Scenario>(result), "still good");
  const auto* diagnostic = std::get_if<Diagnostic>(&result);
  if (diagnostic == nullptr) return;
  RC_ASSERT(!diagnostic->message.empty());
  RC_ASSERT(diagnostic->message.find('\n') == std::string::npos);
  if (diagnostic->at.line == 0) return;  // about the file as a whole

  // The place is in the file: at most one column behind the end of its line.
  std::string_view rest = text;
  for (std::uint32_t line = 1; line < diagnostic->at.line; ++line) {
    const std::size_t end = rest.find('\n');
    RC_ASSERT(end != std::string_view::npos);
    rest.remove_prefix(end + 1);
  }
  const std::size_t line_bytes = std::min(rest.find('\n'), rest.size());
  RC_ASSERT(diagnostic->at.column >= 1u);
  RC_ASSERT(diagnostic->at.column <= line_bytes + 1);
}

/// Bytes that mean something to TOML or to the loader are likelier than others.
rc::Gen<char> byte() {
  return rc::gen::oneOf(rc::gen::elementOf(std::string("\"'[]{}=.,#\n\\-0129aA \r\t")), rc::gen::arbitrary<char>());
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n') + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

TEST_CASE("loader: a good file with a few other bytes") {
  rc::prop("gives a scenario, or a message about a place in it", [] {
    std::string text(samples::kGood);
    for (int edits = *rc::gen::inRange(1, 6); edits > 0; --edits) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: text[at] = *byte(); break;
        case 1: text.insert(at, 1, *byte()); break;
        default: text.erase(at, *rc::gen::inRange<std::size_t>(1, 20));
      }
    }
    answers(text);
  });
}

TEST_CASE("loader: a good file with lines left out, repeated or moved") {
  rc::prop("gives a scenario, or a message about a place in it", [] {
    std::vector<std::string> lines = lines_of(samples::kGood);
    for (int edits = *rc::gen::inRange(1, 5); edits > 0; --edits) {
      const auto from = *rc::gen::inRange<std::size_t>(0, lines.size());
      const std::string line = lines[from];
      if (*rc::gen::arbitrary<bool>()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(from));
      if (*rc::gen::arbitrary<bool>()) {
        const auto to = *rc::gen::inRange<std::size_t>(0, lines.size());
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(to), line);
      }
    }
    answers(joined(lines));
  });
}

TEST_CASE("loader: a good file with the value of one key given to another") {
  rc::prop("gives a scenario, or a message about a place in it", [] {
    std::vector<std::string> lines = lines_of(samples::kGood);
    const auto is_pair = [](const std::string& line) { return line.find(" = ") != std::string::npos; };
    std::vector<std::size_t> pairs;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (is_pair(lines[i])) pairs.push_back(i);
    }
    std::string& to = lines[*rc::gen::elementOf(pairs)];
    const std::string from = lines[*rc::gen::elementOf(pairs)];
    to = to.substr(0, to.find(" = ")) + from.substr(from.find(" = "));
    answers(joined(lines));
  });
}

TEST_CASE("loader: a good file that ends early") {
  for (std::size_t size = 0; size < samples::kGood.size(); ++size) {
    const auto result = parse(samples::kGood.substr(0, size), "cut.toml", samples::catalogue());
    if (const auto* diagnostic = std::get_if<Diagnostic>(&result)) CHECK_FALSE(diagnostic->message.empty());
  }
}

}  // namespace lockstep::loader_mutation_test
