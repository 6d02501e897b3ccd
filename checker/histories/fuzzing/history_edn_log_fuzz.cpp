// Feeds the readers of EDN and of logs arbitrary bytes: whatever they are, the answer is events, or a message with a place
// in the text; and it is the same whatever pieces the text comes in.

#include "checker/histories/fuzzing/fuzzed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::checker::history_formats;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz_history(text, Format::automatic);
  fuzz_history(text, Format::edn);
  fuzz_history(text, Format::log);
  return 0;
}
