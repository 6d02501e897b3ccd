#include <algorithm>
#include <ostream>

#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"

namespace lockstep::cli {
namespace {

using From = Format::From;

std::string text_for_people(const Result& result, std::string_view, const Output& output) {
  return reports::to_string(result.lines(), output.colour);
}
std::string json_document(const Result& result, std::string_view, const Output&) { return result.json(); }
std::string junit_document(const Result& result, std::string_view command, const Output&) {
  return reports::junit_xml("lockstep " + std::string(command), result.cases());
}
std::string html_page(const Result& result, std::string_view, const Output&) { return result.page(); }

constexpr Format kFormats[] = {
    {"", "", "", From::lines, text_for_people},
    {"--json", "", "", From::json, json_document},
    {"--junit", "FILE", "also write the results as JUnit XML", From::cases, junit_document},
    {"--html", "FILE", "also write a page with a picture of each of them", From::page, html_page},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

std::vector<const Format*> formats_for(const Manual& manual) {
  std::vector<const Format*> possible;
  for (const Format& format : kFormats) {
    if (format.option.empty()) continue;
    if (format.from == From::cases && !manual.has_cases) continue;
    if (format.from == From::page && !manual.has_page) continue;
    possible.push_back(&format);
  }
  return possible;
}

bool report(Call& call, const Result& result, Output& output) {
  const std::string_view command = call.manual().name;
  const Format& shown = call.shows_text() ? kFormats[0] : *call.shown;
  output.out << shown.write(result, command, output);
  return std::all_of(call.written.begin(), call.written.end(), [&](const auto& each) {
    const auto& [format, file] = each;
    return write_file(file, format->write(result, command, output), output.err);
  });
}

}  // namespace lockstep::cli
