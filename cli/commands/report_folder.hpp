#pragma once

// The folder that `lockstep report` fills: it touches nothing in it that it did not write.

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/site/site.hpp"

namespace lockstep::cli {

class ReportFolder {
 public:
  explicit ReportFolder(std::filesystem::path path) : path_(std::move(path)) {}

  /// Makes it, if it is not there. Why it cannot be used, if it cannot: it holds something, and that is no report.
  std::optional<std::string> open();
  /// All of them, each whole; then what an earlier report had and this one has not goes. Requires: `open`.
  std::optional<std::string> write(const std::vector<reports::site::SiteFile>& files);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path marker() const { return path_ / ".lockstep-report"; }
  std::vector<std::string> written_before() const;

  std::filesystem::path path_;
};

/// Results of earlier calls, by a name that says all that they depend on. From any thread.
class ResultsKept {
 public:
  /// Keeps nothing.
  ResultsKept() = default;
  explicit ResultsKept(std::filesystem::path folder);

  std::optional<std::string> find(const std::string& name);
  void keep(const std::string& name, const std::string& text);
  /// What nobody asked for since this began.
  void forget_others();

 private:
  std::filesystem::path file_of(const std::string& name) const;

  std::filesystem::path folder_;  ///< empty: nowhere
  std::set<std::string> used_;
  std::mutex mutex_;
};

}  // namespace lockstep::cli
