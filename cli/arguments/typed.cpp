#include "cli/arguments/typed.hpp"

#include <charconv>
#include <system_error>

namespace lockstep::cli {

Answer wrong(std::string message, std::string_view command) {
  const std::string more = command.empty() ? "lockstep --help" : fmt::format("lockstep {} --help", command);
  return {fmt::format("lockstep: {}\n{} shows how to call it\n", message, more), Exit::bad_input};
}

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < min || n > max) return std::nullopt;
  return n;
}

std::optional<double> seconds_of(const std::string& text) {
  constexpr double kMost = 1e9;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0 && seconds <= kMost))
    return std::nullopt;
  return seconds;
}

}  // namespace lockstep::cli
