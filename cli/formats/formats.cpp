#include <algorithm>
#include <ostream>

#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"

namespace lockstep::cli {

/// In the order of help. Whoever adds a format adds its line here, and nowhere else.
#define LOCKSTEP_FORMATS(X) \
  X(text)                   \
  X(json)                   \
  X(junit)                  \
  X(html)

#define LOCKSTEP_DECLARE(format) Format format##_format();
LOCKSTEP_FORMATS(LOCKSTEP_DECLARE)
#undef LOCKSTEP_DECLARE

// Those that need no more than a line, since results have such a form.

Format text_format() {
  return {.from = Format::From::lines, .write = [](const Result& result, std::string_view, const Output& output) {
            return reports::to_string(result.lines(), output.colour);
          }};
}

Format json_format() {
  return {.option = "--json",
          .from = Format::From::json,
          .write = [](const Result& result, std::string_view, const Output&) { return result.json(); }};
}

Format junit_format() {
  return {.option = "--junit",
          .argument = "FILE",
          .help = "also write the results as JUnit XML",
          .from = Format::From::cases,
          .write = [](const Result& result, std::string_view command,
                      const Output&) { return reports::junit_xml("lockstep " + std::string(command), result.cases()); },
          .mark = R"(<testsuite name="lockstep )"};
}

Format html_format() {
  return {.option = "--html",
          .argument = "FILE",
          .help = "also write a page with a picture of each of them",
          .from = Format::From::page,
          .write = [](const Result& result, std::string_view, const Output&) { return result.page(); },
          .mark = "lockstep linearize"};
}

std::span<const Format> formats() {
#define LOCKSTEP_ADD(format) format##_format(),
  static const Format all[] = {LOCKSTEP_FORMATS(LOCKSTEP_ADD)};
#undef LOCKSTEP_ADD
  return all;
}

std::vector<const Format*> formats_for(const Manual& manual) {
  std::vector<const Format*> possible;
  for (const Format& format : formats()) {
    if (format.option.empty()) continue;
    if (format.from == Format::From::cases && !manual.has_cases) continue;
    if (format.from == Format::From::page && !manual.has_page) continue;
    possible.push_back(&format);
  }
  return possible;
}

bool report(Call& call, const Result& result, Output& output) {
  const std::string_view command = call.manual().name;
  const Format& shown = call.shows_text() ? formats().front() : *call.shown;
  output.out << shown.write(result, command, output);
  return std::all_of(call.written.begin(), call.written.end(), [&](const auto& each) {
    const auto& [format, file] = each;
    return write_file(file, format->write(result, command, output), output.err);
  });
}

}  // namespace lockstep::cli
