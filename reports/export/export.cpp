#include "reports/export/export.hpp"

#include <algorithm>

#include "reports/export/chrome_trace.hpp"
#include "reports/export/happens_before.hpp"
#include "reports/export/itf.hpp"
#include "reports/export/markdown.hpp"
#include "reports/export/sarif.hpp"
#include "reports/export/shiviz.hpp"
#include "reports/run/history_file.hpp"
#include "reports/run/junit.hpp"

namespace lockstep::reports {
namespace {

using Input = const ExportInput&;
using Path = std::string_view;

/// Of a format that shows one story.
template <std::string (*kWrite)(const Story&)>
std::string of_one(Input input, Path) {
  return kWrite(input.stories.front());
}

std::string edn(Input input, Path) { return history_text(input.stories.front().outcome, HistoryFormat::edn); }
std::string sarif(Input input, Path) { return sarif_log(input.stories, input.not_run, input.version); }
std::string junit(Input input, Path) { return junit_xml("lockstep run", junit_cases(input.stories)); }
std::string markdown(Input input, Path path) {
  const std::string picture = picture_beside(path);
  return markdown_page(input.stories.front(), input.language, picture.substr(picture.find_last_of('/') + 1));
}
std::string picture(Input input) { return markdown_picture(input.stories.front(), input.language); }

constexpr ExportFormat kExportFormats[] = {
    {.name = "shiviz",
     .mark = R"((?<host>\S*) (?<clock>{.*})\n(?<event>.*))",
     .needs_trace = true,
     .write = of_one<shiviz_log>},
    {.name = "chrome-trace",
     .mark = R"("displayTimeUnit": "ms")",
     .needs_trace = true,
     .needs_key_states = true,
     .write = of_one<chrome_trace>},
    {.name = "itf",
     .mark = R"("format": "ITF")",
     .needs_trace = true,
     .needs_key_states = true,
     .write = of_one<itf_trace>},
    {.name = "edn", .mark = ":type :invoke", .write = edn},
    {.name = "dot", .mark = "digraph G {", .needs_trace = true, .write = of_one<happens_before_dot>},
    {.name = "graphml", .mark = "<graphml", .needs_trace = true, .write = of_one<happens_before_graphml>},
    {.name = "sarif", .mark = kSarifMark, .takes_many = true, .write = sarif},
    {.name = "junit", .mark = R"(<testsuite name="lockstep )", .takes_many = true, .write = junit},
    {.name = "markdown",
     .mark = "`lockstep ",
     .needs_trace = true,
     .needs_key_states = true,
     .write = markdown,
     .picture_path = picture_beside,
     .write_picture = picture,
     .picture_mark = R"(id="diagram" class="diagram")"},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kExportFormats; }

const ExportFormat* find_export_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kExportFormats), std::end(kExportFormats),
                                  [&](const ExportFormat& format) { return format.name == name; });
  return found == std::end(kExportFormats) ? nullptr : &*found;
}

}  // namespace lockstep::reports
