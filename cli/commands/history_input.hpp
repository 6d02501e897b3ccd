#pragma once

// Histories as the command line names them: files, packed or not, "-", and the directories that Jepsen leaves behind.

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checker/histories/formats/window.hpp"

namespace lockstep::cli {

/// What is wrong with a name, as one sentence without the name.
struct NoHistory {
  std::string message;
};

/// The file that is meant: of a directory the history within, or within its `latest`; of Jepsen's binary file the
/// history beside it; otherwise the name itself, whether there is such a file or not.
std::variant<std::string, NoHistory> find_history(const std::string& name);

/// The text of a history, unpacked if it is packed by gzip. Nothing is in memory but what was read last.
class HistorySource {
 public:
  explicit HistorySource(checker::history_formats::Source inner);
  HistorySource(const HistorySource&) = delete;
  HistorySource& operator=(const HistorySource&) = delete;
  ~HistorySource();

  /// As checker::history_formats::Source has it. Nothing: reading failed, and `trouble` or errno says why.
  std::optional<std::size_t> read(std::span<char> space);
  /// What is wrong with how it is packed; empty if nothing is.
  const std::string& trouble() const { return trouble_; }
  /// The first so many bytes of text, or all. They are read again afterwards.
  std::string_view peek(std::size_t bytes);

  /// What unpacks to more is not read on: a file of a few megabytes may hold terabytes of nothing.
  static constexpr std::uint64_t unpacked_bytes_max = std::uint64_t{16} << 30U;

 private:
  bool fill();
  std::optional<std::size_t> unpack(std::span<char> space);
  std::optional<std::size_t> read_on(std::span<char> space);
  std::optional<std::size_t> fail(std::string message);

  checker::history_formats::Source inner_;
  std::vector<char> packed_;  ///< what has been read of the file, from `next_` to `end_`
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  bool is_begun_ = false;
  bool is_packed_ = false;
  bool is_member_over_ = false;
  bool is_failed_ = false;  ///< reading, not unpacking
  bool is_complete_ = false;
  std::uint64_t unpacked_ = 0;
  z_stream stream_{};
  std::string peeked_;
  std::size_t peeked_next_ = 0;
  std::string trouble_;
};

}  // namespace lockstep::cli
