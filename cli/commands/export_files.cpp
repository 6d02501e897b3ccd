#include "cli/commands/export_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands/output_files.hpp"
#include "reports/export/markdown.hpp"

namespace lockstep::cli {

std::vector<ExportFile> files_of_exports(const Call& call) {
  std::vector<ExportFile> files;
  for (const Call::Export& each : call.exports) {
    const std::string option = fmt::format("--export {}", reports::format_of(each.kind).name);
    files.push_back({option, each.file});
    if (each.kind == reports::ExportKind::markdown)
      files.push_back({option + "'s picture", reports::picture_beside(each.file)});
  }
  return files;
}

std::optional<std::string> refuse_exports(const Call& call, std::size_t stories) {
  for (const Call::Export& each : call.exports) {
    const reports::ExportFormat& format = reports::format_of(each.kind);
    if (format.takes_many || stories == 1) continue;
    return fmt::format("--export {} takes one story, but there are {}; name one file", format.name, stories);
  }
  return std::nullopt;
}

bool exports_need_trace(const Call& call) {
  return std::any_of(call.exports.begin(), call.exports.end(),
                     [](const Call::Export& each) { return reports::format_of(each.kind).needs_trace; });
}

bool exports_need_key_states(const Call& call) {
  return std::any_of(call.exports.begin(), call.exports.end(),
                     [](const Call::Export& each) { return reports::format_of(each.kind).needs_key_states; });
}

bool write_exports(const Call& call, std::span<const reports::Story> stories,
                   std::span<const scenarios::Diagnostic> not_run, std::ostream& err) {
  const reports::ExportInput input{
      .stories = stories, .not_run = not_run, .language = call.language, .version = kVersion};
  return std::all_of(call.exports.begin(), call.exports.end(), [&](const Call::Export& each) {
    if (!write_file(each.file, reports::exported(each.kind, input, each.file), err)) return false;
    if (each.kind != reports::ExportKind::markdown) return true;
    return write_file(reports::picture_beside(each.file), reports::markdown_picture(stories.front(), call.language),
                      err);
  });
}

}  // namespace lockstep::cli
