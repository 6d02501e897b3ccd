#include "models/redis/wire/resp.hpp"

#include <algorithm>

namespace lockstep::models::redis {
namespace {

/// More than that is not reserved for an array on the word of its header.
constexpr std::int64_t kTrustedItems = 64;
constexpr std::size_t kKeptGarbage = 4096;
/// "txt:" before a verbatim string.
constexpr std::int64_t kFormatBytes = 4;

Reply in_resp3(Reply reply) {
  reply.speak(Protocol::resp3);
  return reply;
}

Reply in_form(Reply array, Form form) {
  return form == Form::plain ? std::move(array) : in_resp3(std::move(array).as(form));
}

}  // namespace

// --- Bytes.

void RespBuffer::give_memory_back() {
  if (bytes_.capacity() > kKeptGarbage) *this = RespBuffer();
}

void RespBuffer::feed(std::string_view bytes) {
  if (at_ > kKeptGarbage && at_ * 2 > bytes_.size()) {
    bytes_.erase(0, at_);
    searched_ -= std::min(searched_, at_);
    at_ = 0;
  }
  bytes_ += bytes;
}

std::optional<std::string_view> RespBuffer::line() {
  const std::size_t end = bytes_.find('\n', std::max(at_, searched_));
  if (end == std::string::npos) {
    searched_ = bytes_.size();
    return std::nullopt;
  }
  std::string_view found(bytes_.data() + at_, end - at_);
  if (found.ends_with('\r')) found.remove_suffix(1);
  at_ = end + 1;
  return found;
}

std::optional<std::string_view> RespBuffer::line_without_nul() {
  const std::size_t stop = bytes_.find_first_of(std::string_view("\n\0", 2), std::max(at_, searched_));
  if (stop != std::string::npos && bytes_[stop] == '\0') {
    searched_ = stop;
    return std::nullopt;
  }
  return line();
}

std::optional<std::string_view> RespBuffer::block(std::size_t size) {
  if (waiting() < size + 2) return std::nullopt;
  const std::string_view found(bytes_.data() + at_, size);
  at_ += size + 2;
  return found;
}

// --- Requests.

std::variant<Incomplete, Command, ProtocolError> RequestParser::next() {
  while (true) {
    if (error_) return *error_;
    std::optional<Result> result;
    if (missing_ > 0) {
      result = argument();
    } else if (buffer_.empty()) {
      buffer_.give_memory_back();
      result = Incomplete{};
    } else {
      result = buffer_.front() == '*' ? begin_array() : inline_request();
    }
    if (result) return std::move(*result);
  }
}

RequestParser::Result RequestParser::fail(std::string message) {
  error_ = ProtocolError{"Protocol error: " + std::move(message)};
  return *error_;
}

std::optional<RequestParser::Result> RequestParser::inline_request() {
  const auto line = buffer_.line_without_nul();
  if (!line) {
    if (buffer_.waiting() > limits_.line_bytes) return fail("too big inline request");
    return Incomplete{};
  }
  if (line->find_first_not_of(std::string_view(" \t\n\r\v\f\0", 7)) == std::string_view::npos) return std::nullopt;
  auto command = parse_command_line(*line);
  if (std::holds_alternative<CommandLineError>(command)) return fail("unbalanced quotes in request");
  return std::get<Command>(std::move(command));
}

std::optional<RequestParser::Result> RequestParser::begin_array() {
  const auto line = buffer_.line_without_nul();
  if (!line) {
    if (buffer_.waiting() > limits_.line_bytes) return fail("too big mbulk count string");
    return Incomplete{};
  }
  const std::optional<std::int64_t> count = parse_integer(line->substr(1));
  if (!count || *count > limits_.arguments) return fail("invalid multibulk length");
  missing_ = std::max<std::int64_t>(0, *count);
  held_ = 0;
  command_.clear();
  return std::nullopt;
}

std::optional<RequestParser::Result> RequestParser::argument() {
  if (!size_) {
    if (!buffer_.empty() && buffer_.front() != '$') {
      return fail(std::string("expected '$', got '") + buffer_.front() + "'");
    }
    const auto line = buffer_.line_without_nul();
    if (!line) {
      if (buffer_.waiting() > limits_.line_bytes) return fail("too big bulk count string");
      return Incomplete{};
    }
    size_ = parse_integer(line->substr(1));
    if (!size_ || *size_ < 0 || *size_ > limits_.bulk_bytes) return fail("invalid bulk length");
    held_ += static_cast<std::size_t>(*size_) + sizeof(Value);
    if (held_ > limits_.request_bytes) return fail("too big a request");
  }
  const auto bytes = buffer_.block(static_cast<std::size_t>(*size_));
  if (!bytes) return Incomplete{};
  size_.reset();
  command_.push_back(Value(*bytes));
  if (--missing_ > 0) return std::nullopt;
  return std::exchange(command_, Command());
}

// --- Replies.

std::variant<Incomplete, Reply, ProtocolError> ReplyParser::next() {
  while (true) {
    if (error_) return *error_;
    std::optional<Result> result;
    if (size_) {
      const auto bytes = buffer_.block(static_cast<std::size_t>(*size_));
      if (!bytes) return Incomplete{};
      size_.reset();
      result = block_arrived(*bytes);
    } else {
      const auto line = buffer_.line();
      if (!line) {
        if (buffer_.waiting() > limits_.line_bytes) return fail("too long a line");
        return Incomplete{};
      }
      result = element(*line);
    }
    if (result) return std::move(*result);
  }
}

ReplyParser::Result ReplyParser::fail(std::string message) {
  error_ = ProtocolError{"Protocol error: " + std::move(message)};
  return *error_;
}

std::optional<ReplyParser::Result> ReplyParser::element(std::string_view line) {
  if (line.empty()) return fail("an empty line where a reply begins");
  const std::string_view text = line.substr(1);
  if (line[0] == '+') return finished(Reply::status(std::string(text)));
  if (line[0] == '-') return finished(Reply::error(std::string(text)));
  if (line[0] == ',') return finished(in_resp3(Reply::real(text)));
  if (line[0] == '(') return finished(in_resp3(Reply::big_number(text)));
  if (line == "_") return finished(in_resp3(Reply::nil()));
  if (line == "#t" || line == "#f") return finished(in_resp3(Reply::boolean(line[1] == 't')));
  const std::optional<std::int64_t> number = parse_integer(text);
  switch (line[0]) {
    case ':': return number ? finished(Reply::integer(*number)) : fail("invalid integer");
    case '$':
      if (number == -1) return finished(Reply::nil());
      return begin_block(number, false);
    case '=': return begin_block(number, true);
    case '*':
      if (number == -1) return finished(inside_resp3() ? Reply::nil() : Reply::null_array());
      return begin_items(number, Form::plain);
    case '%': return begin_items(number, Form::map);
    case '~': return begin_items(number, Form::set);
    case '>': return begin_items(number, Form::push);
    default: return fail(std::string("unknown type '") + line[0] + "'");
  }
}

/// RESP3 has one null: inside its maps, sets and messages RESP2's two are the same.
bool ReplyParser::inside_resp3() const {
  return std::ranges::any_of(open_, [](const Open& array) { return array.form != Form::plain; });
}

std::optional<ReplyParser::Result> ReplyParser::begin_block(std::optional<std::int64_t> size, bool is_verbatim) {
  if (!size || *size < (is_verbatim ? kFormatBytes : 0) || *size > limits_.bulk_bytes) {
    return fail("invalid bulk length");
  }
  size_ = size;
  is_verbatim_ = is_verbatim;
  return std::nullopt;
}

std::optional<ReplyParser::Result> ReplyParser::block_arrived(std::string_view bytes) {
  if (!is_verbatim_) return finished(Reply::bulk(bytes));
  return finished(in_resp3(Reply::verbatim(bytes.substr(kFormatBytes), bytes.substr(0, kFormatBytes - 1))));
}

std::optional<ReplyParser::Result> ReplyParser::begin_items(std::optional<std::int64_t> count, Form form) {
  if (!count || *count < 0 || *count > limits_.arguments) return fail("invalid multibulk length");
  const std::int64_t items = form == Form::map ? *count * 2 : *count;
  if (items == 0) return finished(in_form(Reply::array({}), form));
  if (open_.size() == limits_.depth) return fail("too many arrays in arrays");
  open_.push_back({{}, items, form});
  open_.back().items.reserve(static_cast<std::size_t>(std::min(items, kTrustedItems)));
  return std::nullopt;
}

/// Puts a reply into the innermost open array; that may be its last item, and so on outwards.
std::optional<ReplyParser::Result> ReplyParser::finished(Reply reply) {
  while (!open_.empty()) {
    Open& array = open_.back();
    array.items.push_back(std::move(reply));
    if (--array.missing > 0) return std::nullopt;
    reply = in_form(Reply::array(std::move(array.items)), array.form);
    open_.pop_back();
  }
  return reply;
}

void append_request(std::string& out, const Command& command) {
  out += '*' + std::to_string(command.size()) + "\r\n";
  std::string scratch;
  for (const Value& value : command.values()) {
    const std::string_view bytes = value.view(scratch);
    out += '$' + std::to_string(bytes.size()) + "\r\n";
    out += bytes;
    out += "\r\n";
  }
}

}  // namespace lockstep::models::redis
