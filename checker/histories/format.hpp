#pragma once

// What histories are written in.

#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep::checker::history_formats {

enum class Format : std::uint8_t { automatic, edn, json, log };

/// Their names on the command line, in the order of the enumerators: "auto", "edn", "json", "log".
std::span<const std::string_view> format_names();

}  // namespace lockstep::checker::history_formats
