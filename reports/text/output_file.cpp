#include "reports/text/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace lockstep::reports {
namespace {

namespace fs = std::filesystem;

std::string reason() {
  const std::string said = std::generic_category().message(errno);
  return errno == EFBIG ? said + " (ulimit -f)" : said;
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// `beside` ends in XXXXXX, which become a name that is free. False, and errno: there is none to be had.
bool give_name(int file, std::string& beside) {
  const std::string itself = "/proc/self/fd/" + std::to_string(file);
  const std::size_t end = beside.size() - 6;
  for (unsigned i = 0; i < 1'000'000; ++i) {
    const std::string number = std::to_string(1'000'000 + i);
    beside.replace(end, 6, number, 1, 6);
    if (::linkat(AT_FDCWD, itself.c_str(), AT_FDCWD, beside.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

/// The file that a chain of symbolic links ends at, which need not exist.
fs::path target_of(const fs::path& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

}  // namespace

std::optional<std::string> write_whole(const std::string& path, std::string_view content) {
  const fs::path target = target_of(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return "it is a directory";
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    const int file = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return reason();
    const bool done = write_all(file, content);
    std::optional<std::string> trouble;
    if (!done) trouble = reason();
    ::close(file);
    return trouble;
  }

  // Without a name until all of it is there: whoever is killed meanwhile leaves nothing behind.
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::string beside = target.string() + ".XXXXXX";
  int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  const bool has_name = file < 0;
  if (has_name) file = ::mkstemp(beside.data());
  if (file < 0) return reason();
  // It is private so far; a report is as readable as any new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  bool done = ::fchmod(file, 0666 & ~mask) == 0 && write_all(file, content) && ::fsync(file) == 0 &&
              (has_name || give_name(file, beside));
  std::optional<std::string> trouble;
  if (!done) trouble = reason();
  if (::close(file) != 0 && done) {
    done = false;
    trouble = reason();
  }
  if (done && ::rename(beside.c_str(), target.c_str()) != 0) {
    done = false;
    trouble = reason();
  }
  if (!done) ::unlink(beside.c_str());
  return trouble;
}

}  // namespace lockstep::reports
