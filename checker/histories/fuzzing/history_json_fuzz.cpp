// As history_edn_log_fuzz.cpp, for JSON.

#include "checker/histories/fuzzing/fuzzed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep::checker::history_formats;
  fuzz_history(std::string_view(reinterpret_cast<const char*>(data), size), Format::json);
  return 0;
}
