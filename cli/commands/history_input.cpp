#include "cli/commands/history_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPackedBytes = std::size_t{64} << 10U;
/// The most exact first: a log has no index, and other lines besides.
constexpr std::string_view kNames[] = {"history.edn", "history.edn.gz", "history.jsonl", "history.json",
                                       "history.txt", "history.txt.gz", "jepsen.log",    "jepsen.log.gz"};

std::optional<std::string> history_within(const fs::path& directory) {
  std::error_code error;
  for (const std::string_view name : kNames) {
    if (fs::is_regular_file(directory / name, error)) return (directory / name).string();
  }
  return std::nullopt;
}

/// Other ways to pack, and what is no text at all, by how they begin.
struct Magic {
  std::string_view begin;
  std::string_view message;
};
constexpr Magic kMagics[] = {
    {"JEPSEN",
     "a file of Jepsen's binary format, which lockstep does not read; Jepsen writes history.edn and history.txt into "
     "the same directory"},
    {std::string_view("\xFD"
                      "7zXZ",
                      5),
     "packed by xz, which lockstep does not unpack: xz -dc FILE | lockstep linearize - …"},
    {std::string_view("\x28\xB5\x2F\xFD", 4),
     "packed by zstd, which lockstep does not unpack: zstd -dc FILE | lockstep linearize - …"},
    {"BZh", "packed by bzip2, which lockstep does not unpack: bzip2 -dc FILE | lockstep linearize - …"},
    {"PK\x03\x04", "a zip archive, which lockstep does not unpack: unzip -p FILE history.edn | lockstep linearize - …"},
};

}  // namespace

std::variant<std::string, NoHistory> find_history(const std::string& name) {
  std::error_code error;
  if (name != "-" && fs::is_directory(name, error)) {
    if (auto found = history_within(name)) return *found;
    if (auto found = history_within(fs::path(name) / "latest")) return *found;
    return NoHistory{
        "a directory without a history; expected history.edn, history.txt or jepsen.log in it, as in Jepsen's "
        "store/TEST/TIME, or name a file"};
  }
  if (name.ends_with(".jepsen") && fs::is_regular_file(name, error)) {
    if (auto found = history_within(fs::path(name).parent_path())) return *found;
    return NoHistory{
        "a file of Jepsen's binary format, which lockstep does not read, and no history.edn, history.txt or jepsen.log "
        "is beside it"};
  }
  return name;
}

HistorySource::HistorySource(checker::history_formats::Source inner)
    : inner_(std::move(inner)), packed_(kPackedBytes) {}

HistorySource::~HistorySource() {
  if (is_packed_) inflateEnd(&stream_);
}

std::optional<std::size_t> HistorySource::fail(std::string message) {
  trouble_ = std::move(message);
  errno = EIO;
  return std::nullopt;
}

/// More of the file behind what is there. False: there is no more, or reading failed.
bool HistorySource::fill() {
  if (next_ > 0) {
    std::memmove(packed_.data(), packed_.data() + next_, end_ - next_);
    end_ -= next_;
    next_ = 0;
  }
  const std::optional<std::size_t> n = inner_(std::span(packed_).subspan(end_));
  is_failed_ = !n;
  is_complete_ = !n || *n == 0;
  end_ += n.value_or(0);
  return !is_complete_;
}

std::optional<std::size_t> HistorySource::unpack(std::span<char> space) {
  stream_.next_out = reinterpret_cast<Bytef*>(space.data());
  stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(space.size(), std::numeric_limits<int>::max()));
  const uInt room = stream_.avail_out;
  while (stream_.avail_out == room) {
    if (next_ == end_ && !fill()) {
      if (is_failed_) return std::nullopt;
      if (is_member_over_) return 0;
      return fail("the text packed by gzip ends too early; is the file cut off?");
    }
    // Several files packed one by one, and put together, are one.
    if (is_member_over_) {
      inflateReset(&stream_);
      is_member_over_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data() + next_);
    stream_.avail_in = static_cast<uInt>(end_ - next_);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    next_ = end_ - stream_.avail_in;
    is_member_over_ = result == Z_STREAM_END;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return fail(fmt::format("not what gzip packs: {}; is the file damaged?",
                              stream_.msg != nullptr ? stream_.msg : "it cannot be unpacked"));
    }
  }
  const std::size_t n = room - stream_.avail_out;
  unpacked_ += n;
  if (unpacked_ > unpacked_bytes_max) return fail("unpacks to more than 16 GB; is this a history?");
  return n;
}

std::optional<std::size_t> HistorySource::read_on(std::span<char> space) {
  if (!is_begun_) {
    is_begun_ = true;
    while (end_ < 8 && fill()) {
    }
    if (is_failed_) return std::nullopt;
    const std::string_view begin(packed_.data(), end_);
    for (const Magic& magic : kMagics) {
      if (begin.starts_with(magic.begin)) return fail(std::string(magic.message));
    }
    // 16: with a header, as gzip writes it.
    is_packed_ = begin.starts_with("\x1F\x8B") && inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK;
  }
  if (!trouble_.empty()) return std::nullopt;
  if (is_packed_) return unpack(space);
  if (next_ == end_) return is_complete_ ? std::optional<std::size_t>(0) : inner_(space);
  const std::size_t n = std::min(space.size(), end_ - next_);
  std::memcpy(space.data(), packed_.data() + next_, n);
  next_ += n;
  return n;
}

std::optional<std::size_t> HistorySource::read(std::span<char> space) {
  if (peeked_next_ == peeked_.size()) return read_on(space);
  const std::size_t n = std::min(space.size(), peeked_.size() - peeked_next_);
  std::memcpy(space.data(), peeked_.data() + peeked_next_, n);
  peeked_next_ += n;
  return n;
}

std::string_view HistorySource::peek(std::size_t bytes) {
  std::size_t size = 0;
  peeked_.resize(bytes);
  while (size < bytes) {
    const std::optional<std::size_t> n = read_on({peeked_.data() + size, bytes - size});
    if (!n || *n == 0) break;
    size += *n;
  }
  peeked_.resize(size);
  return peeked_;
}

}  // namespace lockstep::cli
