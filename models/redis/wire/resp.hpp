#pragma once

// RESP2 and RESP3, the protocols between Redis and its clients: bytes that arrive in pieces of any size become requests
// or replies. How a reply becomes bytes is `Reply::append_resp`.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/wire/command.hpp"
#include "models/redis/wire/reply.hpp"

namespace lockstep::models::redis {

/// Redis 7.0's limits (networking.c, and proto-max-bulk-len's default).
struct RespLimits {
  std::size_t line_bytes = 64 * 1024;              ///< of an inline request, and of a length
  std::int64_t arguments = 2'147'483'647;          ///< of one request
  std::int64_t bulk_bytes = 512LL * 1024 * 1024;   ///< of one argument
  std::size_t request_bytes = 1024 * 1024 * 1024;  ///< of one request, with what holding it costs
  std::size_t depth = 1024;                        ///< of arrays in arrays in a reply
};

/// What the bytes violate: "Protocol error: invalid bulk length". A server sends it as `-ERR …` and closes the
/// connection.
struct ProtocolError {
  std::string message;
};

/// Nothing wrong so far, but more bytes are needed.
struct Incomplete {};

/// Bytes in, lines and blocks of bytes out. Holds what has arrived, and never more than that: an announced length is a
/// promise of a stranger.
class RespBuffer {
 public:
  void feed(std::string_view bytes);
  bool empty() const { return at_ == bytes_.size(); }
  /// Of what has been read nothing is kept, if it was much. Requires: it is empty.
  void give_memory_back();
  char front() const { return bytes_[at_]; }
  std::size_t waiting() const { return bytes_.size() - at_; }
  /// Up to the next line feed, without it and without a carriage return before it.
  std::optional<std::string_view> line();
  /// As a program reads it for which a string ends at a NUL: behind one no line ends.
  std::optional<std::string_view> line_without_nul();
  /// As many bytes and the two that end a block, or nothing.
  std::optional<std::string_view> block(std::size_t size);

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  std::size_t searched_ = 0;  ///< no line feed before it
};

/// What a server makes of the bytes of a client: arrays of bulk strings, or lines as one types them into telnet. After
/// an error it stays with the error.
class RequestParser {
 public:
  explicit RequestParser(RespLimits limits = {}) : limits_(limits) {}
  void feed(std::string_view bytes) { buffer_.feed(bytes); }
  /// How many bytes have arrived that no request has used up.
  std::size_t waiting() const { return buffer_.waiting(); }
  /// And how many with the arguments of a request that is not whole, and what holding them costs.
  std::size_t unfinished() const {
    const auto announced = static_cast<std::size_t>(size_.value_or(0));  // which is `held_` already, and not there yet
    return waiting() + (missing_ > 0 ? held_ - announced : 0);
  }
  /// The next request, which is never empty: requests without arguments are skipped, as Redis does.
  std::variant<Incomplete, Command, ProtocolError> next();

 private:
  using Result = std::variant<Incomplete, Command, ProtocolError>;
  std::optional<Result> inline_request();
  std::optional<Result> begin_array();
  std::optional<Result> argument();
  Result fail(std::string message);

  RespLimits limits_;
  RespBuffer buffer_;
  std::int64_t missing_ = 0;  ///< arguments of the request that is being read
  std::size_t held_ = 0;      ///< bytes of that request
  std::optional<std::int64_t> size_;
  Command command_;
  std::optional<ProtocolError> error_;
};

/// What a client makes of the bytes of a server. What only RESP3 has is marked as spoken in it, so that a reply becomes
/// the same bytes again. Attributes, which Redis sends for DEBUG alone, are refused.
class ReplyParser {
 public:
  explicit ReplyParser(RespLimits limits = {}) : limits_(limits) {}
  void feed(std::string_view bytes) { buffer_.feed(bytes); }
  std::variant<Incomplete, Reply, ProtocolError> next();

 private:
  using Result = std::variant<Incomplete, Reply, ProtocolError>;
  struct Open {
    std::vector<Reply> items;
    std::int64_t missing;
    Form form = Form::plain;
  };
  Result fail(std::string message);
  std::optional<Result> element(std::string_view line);
  bool inside_resp3() const;
  std::optional<Result> begin_block(std::optional<std::int64_t> size, bool is_verbatim);
  std::optional<Result> begin_items(std::optional<std::int64_t> count, Form form);
  std::optional<Result> block_arrived(std::string_view bytes);
  std::optional<Result> finished(Reply reply);

  RespLimits limits_;
  RespBuffer buffer_;
  std::optional<std::int64_t> size_;  ///< of the bulk string that is being read
  bool is_verbatim_ = false;          ///< and it is a verbatim string
  std::vector<Open> open_;
  std::optional<ProtocolError> error_;
};

/// A request as a client library sends it: an array of bulk strings. Requires: no symbolic timestamp in it.
void append_request(std::string& out, const Command& command);

}  // namespace lockstep::models::redis
