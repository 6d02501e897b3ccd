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

constexpr ExportFormat kExportFormats[] = {
    {.kind = ExportKind::shiviz, .name = "shiviz", .needs_trace = true},
    {.kind = ExportKind::chrome_trace, .name = "chrome-trace", .needs_trace = true, .needs_key_states = true},
    {.kind = ExportKind::itf, .name = "itf", .needs_trace = true, .needs_key_states = true},
    {.kind = ExportKind::edn, .name = "edn"},
    {.kind = ExportKind::dot, .name = "dot", .needs_trace = true},
    {.kind = ExportKind::graphml, .name = "graphml", .needs_trace = true},
    {.kind = ExportKind::sarif, .name = "sarif", .takes_many = true},
    {.kind = ExportKind::junit, .name = "junit", .takes_many = true},
    {.kind = ExportKind::markdown, .name = "markdown", .needs_trace = true, .needs_key_states = true},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kExportFormats; }

const ExportFormat& format_of(ExportKind kind) { return kExportFormats[static_cast<std::size_t>(kind)]; }

const ExportFormat* find_export_format(std::string_view name) {
  const auto found = std::find_if(std::begin(kExportFormats), std::end(kExportFormats),
                                  [&](const ExportFormat& format) { return format.name == name; });
  return found == std::end(kExportFormats) ? nullptr : &*found;
}

std::string exported(ExportKind kind, const ExportInput& input, std::string_view path) {
  switch (kind) {
    case ExportKind::shiviz: return shiviz_log(input.stories.front());
    case ExportKind::chrome_trace: return chrome_trace(input.stories.front());
    case ExportKind::itf: return itf_trace(input.stories.front());
    case ExportKind::edn: return history_text(input.stories.front().outcome, HistoryFormat::edn);
    case ExportKind::dot: return happens_before_dot(input.stories.front());
    case ExportKind::graphml: return happens_before_graphml(input.stories.front());
    case ExportKind::sarif: return sarif_log(input.stories, input.not_run, input.version);
    case ExportKind::junit: return junit_xml(input.stories);
    case ExportKind::markdown: {
      const std::string picture = picture_beside(path);
      return markdown_page(input.stories.front(), input.language, picture.substr(picture.find_last_of('/') + 1));
    }
  }
  return "";
}

}  // namespace lockstep::reports
