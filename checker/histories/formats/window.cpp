#include "checker/histories/formats/window.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace lockstep::checker::history_formats {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;

/// Bytes at the front that are ASCII.
std::size_t ascii_prefix(const char* text, std::size_t size) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text + i, 8);
    if ((eight & kHighBits) != 0) break;
  }
  while (i < size && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; }

enum class Sequence : std::uint8_t { good, bad, cut };

/// The character of several bytes at the front, and its size.
std::pair<Sequence, std::size_t> sequence(const char* text, std::size_t size) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0xC2 || lead > 0xF4) return {Sequence::bad, 0};
  const std::size_t wanted = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  std::uint32_t code = lead & (0x7FU >> wanted);
  for (std::size_t i = 1; i < wanted; ++i) {
    if (i == size) return {Sequence::cut, 0};
    if (!is_continuation(text[i])) return {Sequence::bad, 0};
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  const bool is_valid = code >= smallest[wanted] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return {is_valid ? Sequence::good : Sequence::bad, wanted};
}

std::size_t characters(const char* from, const char* to) {
  return static_cast<std::size_t>(std::count_if(from, to, [](char c) { return !is_continuation(c); }));
}

std::uint32_t newlines(const char* from, const char* to) {
  std::uint32_t n = 0;
  while (from < to) {
    const void* found = std::memchr(from, '\n', static_cast<std::size_t>(to - from));
    if (found == nullptr) break;
    ++n;
    from = static_cast<const char*>(found) + 1;
  }
  return n;
}

}  // namespace

Source text_source(std::string_view text) {
  return [text](std::span<char> space) mutable -> std::optional<std::size_t> {
    const std::size_t n = std::min(space.size(), text.size());
    std::memcpy(space.data(), text.data(), n);
    text.remove_prefix(n);
    return n;
  };
}

Source file_source(int file) {
  return [file](std::span<char> space) -> std::optional<std::size_t> {
    for (;;) {
      const ssize_t n = ::read(file, space.data(), space.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno == EAGAIN) {
        pollfd waiting{file, POLLIN, 0};
        ::poll(&waiting, 1, -1);
      } else if (errno != EINTR) {
        return std::nullopt;
      }
    }
  };
}

Window::Window(Source source, std::size_t chunk) : source_(std::move(source)), chunk_(chunk) {
  // Whether the text begins with a mark is settled before any of it is given up: what begins the window later may look
  // like one too.
  while (is_first_ && !is_complete_) grow();
}

void Window::grow(std::size_t bytes_max) {
  // What is left moves to the front; what is long makes the window grow, and so is read over at most twice.
  if (begin_ > 0) {
    std::memmove(text_.data(), text_.data() + begin_, end_ - begin_);
    checked_ -= begin_;
    counted_ -= std::min(counted_, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ >= std::max(chunk_, bytes_max)) {
    const char* const first = std::find_if(begin(), end(), [](char c) { return c != ' ' && c != '\n' && c != '\r'; });
    const bool is_whole = bytes_max > record_bytes_max;
    trouble_ = Trouble{
        .at = position(first),
        .message = is_whole ? "more than 32 MB, too much to be put in the order of its times; EDN and JSON lines "
                              "of events are read at any length"
                            : "one operation, or one line, of more than 8 MB; is this a history?"};
    is_complete_ = true;
    return;
  }
  const std::size_t space = std::max(chunk_, end_);
  if (text_.size() < end_ + space) text_.resize(end_ + space);
  // A pipe gives what there is, and what has been read so far is parsed again each time: so all of the space is filled
  // first.
  for (const std::size_t wanted = end_ + space; end_ < wanted && !is_complete_;) {
    const std::optional<std::size_t> n = source_({text_.data() + end_, wanted - end_});
    if (!n) trouble_ = Trouble{.message = "cannot be read: " + std::generic_category().message(errno)};
    is_complete_ = !n || *n == 0;
    if (n) end_ += *n;
  }
  check_encoding(checked_);
}

void Window::check_encoding(std::size_t from) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  // Before anything is looked at: the mark is no character of the first line.
  if (is_first_ && (end_ >= mark.size() || is_complete_)) {
    is_first_ = false;
    if (std::string_view(text_.data(), end_).starts_with(mark)) begin_ = counted_ = from = mark.size();
  }
  std::size_t i = from;
  while (i < end_) {
    i += ascii_prefix(text_.data() + i, end_ - i);
    if (i == end_) break;
    const auto [found, size] = sequence(text_.data() + i, end_ - i);
    if (found == Sequence::cut && !is_complete_) break;
    if (found != Sequence::good) {
      const Position at = position(text_.data() + i);
      trouble_ = Trouble{.at = at, .message = "a byte that is not UTF-8; expected a history in UTF-8 (or ASCII)"};
      end_ = i;
      is_complete_ = true;
      break;
    }
    i += size;
  }
  checked_ = i;
}

void Window::give_up_to(const char* at) {
  const char* line_begin = begin();
  line_ = line(at);
  for (const char* p = at; p > begin(); --p) {
    if (p[-1] == '\n') {
      line_begin = p;
      column_ = 0;
      break;
    }
  }
  column_ += characters(line_begin, at);
  begin_ = static_cast<std::size_t>(at - text_.data());
}

std::uint32_t Window::line(const char* at) {
  const char* from = text_.data() + counted_;
  if (at < from || counted_ < begin_) {
    from = begin();
    counted_line_ = line_;
  }
  counted_line_ += newlines(from, at);
  counted_ = static_cast<std::size_t>(at - text_.data());
  return counted_line_;
}

Position Window::position(const char* at) const {
  const std::uint32_t line = line_ + newlines(begin(), at);
  const char* line_begin = at;
  while (line_begin > begin() && line_begin[-1] != '\n') --line_begin;
  const std::size_t given_up = line == line_ ? column_ : 0;
  return {line, static_cast<std::uint32_t>(given_up + characters(line_begin, at) + 1)};
}

}  // namespace lockstep::checker::history_formats
