#include "cli/commands/own_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "cli/commands/output_files.hpp"
#include "reports/site/frame/page.hpp"
#include "reports/text/output_file.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

/// A line for each file that was written: what it held, as a hash, and its name.
constexpr std::string_view kListFile = ".lockstep-files";
constexpr std::string_view kListHead =
    "written by lockstep; its files in this folder, each with a hash of what it held:";

std::string line_of(const std::string& name, std::string_view content) {
  return fmt::format("{} {}", reports::site::sha256_of(content), name);
}

}  // namespace

OwnFolder::~OwnFolder() {
  if (list_ >= 0) ::close(list_);
}

std::optional<std::string> OwnFolder::open(std::string_view option, const std::string& folder) {
  if (auto trouble = trouble_with_folder(option, folder)) return trouble;
  path_ = folder;
  const std::string list = (path_ / kListFile).string();
  list_ = ::open(list.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (list_ < 0) return cannot_write(list, std::generic_category().message(errno));
  // Where the file system has no locks, nobody is kept out.
  if (::flock(list_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fmt::format("{} {}: another call of lockstep is writing there; wait for its end, or name another folder",
                       option, scenarios::one_line(folder));
  }
  std::string first;
  if (std::ifstream in(list, std::ios::binary); !std::getline(in, first)) return add(kListHead);
  if (first == kListHead) return std::nullopt;
  return fmt::format("{} {}: {} is not lockstep's; move it away, or name another folder", option,
                     scenarios::one_line(folder), kListFile);
}

std::optional<std::string> OwnFolder::add(std::string_view line) {
  const std::string whole = fmt::format("{}\n", line);
  if (::write(list_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size())) return std::nullopt;
  return cannot_write((path_ / kListFile).string(), std::generic_category().message(errno));
}

bool OwnFolder::is_ours(const std::string& name, std::string_view content) const {
  std::ifstream list(path_ / kListFile, std::ios::binary);
  const std::string wanted = line_of(name, content);
  for (std::string line; std::getline(list, line);) {
    if (line == wanted) return true;
  }
  return false;
}

std::optional<std::string> OwnFolder::write(const std::string& name, std::string_view content) {
  const std::filesystem::path file = path_ / name;
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error))) {
    std::ifstream in(file, std::ios::binary);
    const std::string present{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in && present == content) return std::nullopt;
    if (!in || !is_ours(name, present)) {
      return fmt::format("{} is there, and not as lockstep wrote it; move it away, or name another folder",
                         scenarios::one_line(file.string()));
    }
  }
  // The line first: should it end between the two, what was there before is still known.
  if (auto trouble = add(line_of(name, content))) return trouble;
  if (const auto why = reports::write_whole(file.string(), content)) return cannot_write(file.string(), *why);
  return std::nullopt;
}

}  // namespace lockstep::cli
