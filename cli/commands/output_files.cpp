#include "cli/commands/output_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <system_error>

#include "reports/text/output_file.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using scenarios::one_line;

/// Also of a file that is not there yet: by the directory that it is in.
bool are_same(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error) && !error) return true;
  const fs::path one = fs::weakly_canonical(a, error);
  if (error) return false;
  const fs::path other = fs::weakly_canonical(b, error);
  return !error && one == other;
}

/// A terminal or /dev/null may be named as often as one likes.
bool is_kept(const std::string& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

/// A file that is there, has something in it, and was not written by lockstep for this option: a list of files in a
/// shell may have put a story where a result should go.
bool is_foreign(const OutputFile& output) {
  constexpr std::size_t kLooked = 1U << 20U;
  std::error_code error;
  if (output.marks.empty() || !fs::is_regular_file(output.file, error)) return false;
  std::string head(kLooked, '\0');
  std::ifstream in(output.file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return !head.empty() && std::none_of(output.marks.begin(), output.marks.end(),
                                       [&](std::string_view mark) { return head.find(mark) != std::string::npos; });
}

}  // namespace

std::optional<std::string> refuse_outputs(std::span<const OutputFile> files, std::span<const std::string> inputs) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [option, file, marks] = files[i];
    if (!is_kept(file)) continue;
    for (const std::string& input : inputs) {
      if (are_same(file, input))
        return fmt::format("{} {} would overwrite an input; name another file", option, one_line(file));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (are_same(file, files[j].file))
        return fmt::format("{} and {} name the same file, {}; name another", files[j].option, option, one_line(file));
    }
    if (is_foreign(files[i]))
      return fmt::format("{} {} is there, and is none that lockstep wrote; remove it, or name another file", option,
                         one_line(file));
  }
  return std::nullopt;
}

std::string cannot_write(const std::string& file, std::string_view why) {
  return fmt::format("cannot write {}: {}", one_line(file), why);
}

std::optional<std::string> trouble_with_folder(std::string_view option, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && ::access(folder.c_str(), W_OK | X_OK) != 0) error = std::error_code(errno, std::generic_category());
  if (!error) return std::nullopt;
  return fmt::format("{} {}: cannot write there: {}", option, one_line(folder), error.message());
}

bool write_file(const std::string& file, std::string_view content, std::ostream& err) {
  const std::optional<std::string> trouble = reports::write_whole(file, content);
  if (trouble) err << fmt::format("lockstep: {}\n", cannot_write(file, *trouble));
  return !trouble;
}

}  // namespace lockstep::cli
