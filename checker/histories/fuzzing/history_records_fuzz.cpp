// As history_edn_log_fuzz.cpp, for records: objects, tables, and lines by a pattern. The first line of a text is
// taken for a pattern, too.

#include "checker/histories/fuzzing/fuzzed.hpp"

namespace lockstep::checker::history_formats {
namespace {

std::vector<Pattern> patterns_for(std::string_view text) {
  std::vector<Pattern> patterns;
  for (const std::string_view pattern : {std::string_view("{time} {client} {event} {op} {value}"),
                                         std::string_view("{_}[{client}] {op}({key}) {call}..{return} = {result}"),
                                         std::string_view("{client}{event=ok}"), text.substr(0, text.find('\n'))}) {
    auto parsed = Pattern::parse(pattern);
    if (auto* good = std::get_if<Pattern>(&parsed)) patterns.push_back(std::move(*good));
  }
  return patterns;
}

}  // namespace
}  // namespace lockstep::checker::history_formats

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::checker::history_formats;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz_history(text, Format::intervals);
  fuzz_history(text, Format::table);
  fuzz_history(text, Format::pattern, patterns_for(text));
  return 0;
}
