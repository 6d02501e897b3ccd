// Feeds the loader arbitrary bytes: whatever they are, the answer is a scenario, or a message with a place in the text.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/loader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  static const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = scenarios::parse(text, "fuzz.toml", catalogue);
  if (const auto* diagnostic = std::get_if<scenarios::Diagnostic>(&result)) {
    const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
    if (diagnostic->message.empty() || diagnostic->at.line > lines) std::abort();
  }
  return 0;
}
