#include "cli/commands/report_folder.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "cli/commands/output_files.hpp"
#include "reports/text/output_file.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "written by lockstep report; these files of this folder are its own:";

/// A path that stays below the folder, whatever somebody has written into the marker.
bool is_below(const std::string& path) {
  const fs::path p(path);
  return !path.empty() && p.is_relative() &&
         std::none_of(p.begin(), p.end(), [](const fs::path& part) { return part == ".." || part == "."; });
}

}  // namespace

std::optional<std::string> ReportFolder::open() {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  const std::string name = path_.string();
  if (fs::exists(status) && !fs::is_directory(status))
    return fmt::format("report {}: it is a file; name a folder", name);
  const bool is_ours = fs::exists(marker(), error);
  if (fs::exists(status) && !is_ours && !fs::is_empty(path_, error))
    return fmt::format("report {}: the folder holds files that are no report; name an empty one or a new one", name);
  if (auto trouble = trouble_with_folder("report", name)) return trouble;
  if (is_ours) return std::nullopt;
  if (const auto why = reports::write_whole(marker().string(), fmt::format("{}\n", kHead)))
    return cannot_write(marker().string(), *why);
  return std::nullopt;
}

std::vector<std::string> ReportFolder::written_before() const {
  std::ifstream in(marker());
  std::vector<std::string> paths;
  std::string line;
  std::getline(in, line);
  if (line != kHead) return {};
  while (std::getline(in, line)) {
    if (is_below(line)) paths.push_back(line);
  }
  return paths;
}

std::optional<std::string> ReportFolder::write(const std::vector<reports::site::SiteFile>& files) {
  const std::vector<std::string> before = written_before();
  std::set<std::string> now;
  std::string list = fmt::format("{}\n", kHead);
  for (const reports::site::SiteFile& file : files) {
    now.insert(file.path);
    list += file.path + "\n";
  }
  for (const std::string& path : now) {
    std::error_code error;
    const bool is_known = std::find(before.begin(), before.end(), path) != before.end();
    if (!is_known && fs::exists(fs::symlink_status(path_ / path, error)))
      return fmt::format("{} is there, and no report wrote it; move it away, or name another folder",
                         (path_ / path).string());
  }
  // Should it end half way, all that is there is known.
  std::string known = list;
  for (const std::string& path : before) {
    if (!now.contains(path)) known += path + "\n";
  }
  if (const auto why = reports::write_whole(marker().string(), known)) return cannot_write(marker().string(), *why);
  for (const reports::site::SiteFile& file : files) {
    const fs::path path = path_ / file.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (const auto why = reports::write_whole(path.string(), file.content)) return cannot_write(path.string(), *why);
  }
  for (const std::string& path : before) {
    std::error_code error;
    if (!now.contains(path)) fs::remove(path_ / path, error);
  }
  if (const auto why = reports::write_whole(marker().string(), list)) return cannot_write(marker().string(), *why);
  return std::nullopt;
}

ResultsKept::ResultsKept(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
}

fs::path ResultsKept::file_of(const std::string& name) const {
  std::string file = reports::site::sha256_of(name);
  std::replace(file.begin(), file.end(), '/', '_');
  return folder_ / file;
}

/// The name stands before the text, so that no other one is taken for it.
std::optional<std::string> ResultsKept::find(const std::string& name) {
  if (folder_.empty()) return std::nullopt;
  const fs::path path = file_of(name);
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream content;
  content << in.rdbuf();
  std::string text = std::move(content).str();
  if (!text.starts_with(name + "\n")) return std::nullopt;
  const std::lock_guard lock(mutex_);
  used_.insert(path.filename().string());
  return text.substr(name.size() + 1);
}

void ResultsKept::keep(const std::string& name, const std::string& text) {
  if (folder_.empty()) return;
  const fs::path path = file_of(name);
  // Nobody needs to know where it cannot be kept: it is found out again.
  static_cast<void>(reports::write_whole(path.string(), name + "\n" + text));
  const std::lock_guard lock(mutex_);
  used_.insert(path.filename().string());
}

void ResultsKept::forget_others() {
  std::error_code error;
  if (folder_.empty()) return;
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (!used_.contains(entry.path().filename().string())) others.push_back(entry.path());
  }
  for (const fs::path& path : others) fs::remove(path, error);
}

}  // namespace lockstep::cli
