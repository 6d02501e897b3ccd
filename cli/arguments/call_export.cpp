#include "cli/arguments/typed.hpp"

namespace lockstep::cli {
namespace {

std::vector<std::string_view> names_of_kinds() {
  std::vector<std::string_view> names;
  for (const reports::ExportFormat& format : reports::export_formats()) names.push_back(format.name);
  return names;
}

}  // namespace

std::optional<Answer> take_exports(const Typed& typed, Call& call) {
  for (const std::string& text : typed.exports) {
    const std::string quoted = scenarios::in_quotes(text);
    const std::size_t sign = text.find('=');
    const std::string name = text.substr(0, sign);
    const reports::ExportFormat* format = reports::find_export_format(name);
    if (format == nullptr)
      return wrong(
          fmt::format("--export {}: {}", scenarios::in_quotes(name), scenarios::suggestion(name, names_of_kinds())),
          "run");
    if (sign == std::string::npos || sign + 1 == text.size())
      return wrong(fmt::format("--export {} needs the name of a file, e.g. --export {}=run.out", quoted, name), "run");
    call.exports.push_back({format->kind, text.substr(sign + 1)});
  }
  return std::nullopt;
}

}  // namespace lockstep::cli
