#include "reports/text/embedded_text.hpp"

#include <algorithm>
#include <cassert>

namespace lockstep::reports {

std::optional<std::string_view> find_embedded_text(std::string_view path) {
  const std::span<const EmbeddedText> texts = embedded_texts();
  const auto found = std::find_if(texts.begin(), texts.end(), [&](const EmbeddedText& t) { return t.path == path; });
  return found == texts.end() ? std::nullopt : std::optional(found->text());
}

std::string_view embedded_text(std::string_view path) {
  const auto text = find_embedded_text(path);
  assert(text && "every text of a page is embedded: cmake/Texts.cmake");
  return *text;
}

}  // namespace lockstep::reports
