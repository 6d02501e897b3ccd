#pragma once

// The documented failures: what the five documents say goes wrong, or what they overlook, under the names that scenario
// files use in `reproduces`.

#include <span>
#include <string_view>

namespace lockstep::scenarios {

struct Failure {
  std::string_view id;          ///< "F000-1"
  std::string_view document;    ///< of the five texts, the one that it is about
  std::string_view algorithm;   ///< as in the catalogue; several are separated by ", "
  std::string_view meaning;     ///< what goes wrong, in a sentence
  std::string_view meaning_zh;  ///< the same in Chinese
  bool told = true;             ///< false: the document does not say so; it was deduced
};

/// In the order of the documents.
std::span<const Failure> failures();
/// Null if there is none with this name.
const Failure* find_failure(std::string_view id);

}  // namespace lockstep::scenarios
