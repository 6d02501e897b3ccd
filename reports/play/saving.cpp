#include "reports/play/saving.hpp"

#include <algorithm>
#include <cassert>
#include <system_error>

#include <fmt/format.h>

#include "reports/text/output_file.hpp"

namespace lockstep::reports::play {

bool is_name_of_story(std::string_view name) {
  constexpr std::string_view kEnding = ".toml";
  constexpr std::size_t kLengthMax = 100;
  if (name.size() <= kEnding.size() || name.size() > kLengthMax || !name.ends_with(kEnding)) return false;
  name.remove_suffix(kEnding.size());
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::optional<NotSaved> save_story(const std::filesystem::path& folder, std::string_view name, std::string_view text,
                                   bool overwrites) {
  assert(is_name_of_story(name));
  namespace fs = std::filesystem;
  const fs::path path = folder / name;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::exists(status)) {
    // A link may lead out of the folder.
    if (!fs::is_regular_file(status))
      return NotSaved{
          {fmt::format("{} is there and is no regular file", name), fmt::format("{} 已存在，且不是普通文件", name)}};
    if (!overwrites)
      return NotSaved{{fmt::format("{} is there already", name), fmt::format("{} 已经存在", name)}, true};
  }
  if (const auto trouble = write_whole(path.string(), text))
    return NotSaved{
        {fmt::format("{} cannot be written: {}", name, *trouble), fmt::format("无法写入 {}：{}", name, *trouble)}};
  return std::nullopt;
}

}  // namespace lockstep::reports::play
