#pragma once

// Files of the tree that are within the program: styles, scripts and templates of pages, and the sources of locks.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace lockstep::reports {

struct EmbeddedText {
  std::string_view path;  ///< from the root of the tree
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes), size}; }
};

/// All of them, by path.
std::span<const EmbeddedText> embedded_texts();

/// Nothing if there is none of this path.
std::optional<std::string_view> find_embedded_text(std::string_view path);
/// Requires: there is one.
std::string_view embedded_text(std::string_view path);

}  // namespace lockstep::reports
