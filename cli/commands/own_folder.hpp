#pragma once

// A folder that a command fills file by file, such as `fuzz --found DIR`: what it did not write, or what somebody has
// edited since, it leaves alone; and nobody else fills it meanwhile.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep::cli {

class OwnFolder {
 public:
  OwnFolder() = default;
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  /// Others may fill it again; so they may if the process is killed.
  ~OwnFolder();

  /// Makes the folder that an option names. Why it cannot be filled: nobody may write there, or somebody else does.
  std::optional<std::string> open(std::string_view option, const std::string& folder);
  /// Writes the whole file or nothing. Why it is not written; nothing: it is there. Requires: `open`.
  std::optional<std::string> write(const std::string& name, std::string_view content);

 private:
  std::optional<std::string> add(std::string_view line);
  bool is_ours(const std::string& name, std::string_view content) const;

  std::filesystem::path path_;
  int list_ = -1;  ///< the file that says what was written; whoever has it locked fills the folder
};

}  // namespace lockstep::cli
