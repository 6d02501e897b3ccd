#include "cli/messages.hpp"

#include <string_view>

#include "sim/utf8.hpp"

namespace lockstep::cli {

Messages::Lines::~Lines() { to_ << sim::screenful(line_); }

void Messages::Lines::take(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    line_ += text.substr(0, end);
    to_ << sim::screenful(line_) << '\n';
    line_.clear();
    text.remove_prefix(end + 1);
  }
  line_ += text;
}

Messages::Lines::int_type Messages::Lines::overflow(int_type c) {
  const char character = traits_type::to_char_type(c);
  if (!traits_type::eq_int_type(c, traits_type::eof())) take({&character, 1});
  return traits_type::not_eof(c);
}

std::streamsize Messages::Lines::xsputn(const char* text, std::streamsize size) {
  take({text, static_cast<std::size_t>(size)});
  return size;
}

/// Of a line that comes and goes.
int Messages::Lines::sync() {
  to_ << sim::screenful(line_) << std::flush;
  line_.clear();
  return to_ ? 0 : -1;
}

}  // namespace lockstep::cli
