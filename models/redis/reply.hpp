#pragma once

// What a client gets back from a server: one of Redis' replies, or no answer.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/redis/value.hpp"
#include "sim/time.hpp"

namespace lockstep::models::redis {

/// How long until a deadline, where an exploration has no number for it: both ends are symbolic.
struct TimeLeft {
  sim::Instant deadline;
  sim::Instant now;
  sim::Duration longest;  ///< certainly not more than this; more than zero
};

/// A reply. The simulated world's errors are values like any other: `-WRONGTYPE …` is an error reply, and a request
/// whose reply never came is `unknown` (the command may have been executed, may still be, or never).
class Reply {
 public:
  static Reply nil() { return Reply(Nil{}); }
  static Reply ok() { return Reply(Status{"OK"}); }
  static Reply status(std::string text) { return Reply(Status{one_line(std::move(text))}); }
  static Reply integer(std::int64_t n) { return Reply(n); }
  static Reply time_left(TimeLeft time) { return Reply(Remaining{time}); }
  static Reply bulk(Value value) { return Reply(std::move(value)); }
  /// `text` begins with the code: "ERR value is not an integer or out of range". Line breaks in it become spaces, as on
  /// the wire.
  static Reply error(std::string text) { return Reply(Error{one_line(std::move(text))}); }
  static Reply array(std::vector<Reply> items) { return Reply(std::move(items)); }
  /// RESP2's null array (`*-1`), as EXEC or BLPOP answer.
  static Reply null_array() { return Reply(NullArray{}); }
  /// What is sent for one request though it is several replies, one after the other: SUBSCRIBE to three channels. Inside
  /// the array that EXEC replies they stand as such, and so does Redis. Requires: more than one.
  static Reply several(std::vector<Reply> replies) { return Reply(Several{std::move(replies)}); }
  static Reply unknown() { return Reply(Unknown{}); }
  Reply() : Reply(Nil{}) {}

  bool is_nil() const { return std::holds_alternative<Nil>(content_) || std::holds_alternative<NullArray>(content_); }
  bool is_null_array() const { return std::holds_alternative<NullArray>(content_); }
  bool is_ok() const { return is_status("OK"); }
  bool is_status(std::string_view text) const;
  bool is_status() const { return std::holds_alternative<Status>(content_); }
  /// A number, or a time that is left.
  bool is_integer() const { return std::holds_alternative<std::int64_t>(content_) || is_time_left(); }
  /// Requires: n < 0 if it is a time that is left, which never is.
  bool is_integer(std::int64_t n) const;
  bool is_time_left() const { return std::holds_alternative<Remaining>(content_); }
  bool is_bulk() const { return std::holds_alternative<Value>(content_); }
  bool is_error() const { return std::holds_alternative<Error>(content_); }
  bool is_array() const { return std::holds_alternative<std::vector<Reply>>(content_); }
  bool is_several() const { return std::holds_alternative<Several>(content_); }
  bool is_unknown() const { return std::holds_alternative<Unknown>(content_); }

  /// Requires: is_integer(), not is_time_left()
  std::int64_t integer() const { return std::get<std::int64_t>(content_); }
  /// A number of `unit`s as a length of time to wait. Of a time that is left an exploration knows only that it is more
  /// than zero and no longer than the key was to live, so there it is a range, and what follows is explored for all of it:
  /// never too little, sometimes too much. Requires: is_integer(), not negative.
  sim::DurationRange duration(sim::Duration unit) const;
  const Value& value() const { return std::get<Value>(content_); }  ///< Requires: is_bulk()
  const std::string& text() const;                                  ///< Requires: is_status() or is_error()
  /// Requires: is_array() or is_several()
  const std::vector<Reply>& items() const {
    return is_several() ? std::get<Several>(content_).replies : std::get<std::vector<Reply>>(content_);
  }

  /// As redis-cli shows it, on one line: `OK`, `(nil)`, `(integer) 1`, `"text"`, `(error) ERR …`, `1) "a" 2) "b"`, and
  /// `(no answer)` for unknown, `(timestamp)` for one that has no digits yet.
  std::string describe() const;
  /// The bytes on the wire (RESP2). Requires: not unknown.
  std::string resp() const;
  void append_resp(std::string& out) const;
  std::uint64_t digest() const;
  bool operator==(const Reply& other) const;

 private:
  struct Nil {
    bool operator==(const Nil&) const = default;
  };
  struct NullArray {
    bool operator==(const NullArray&) const = default;
  };
  struct Unknown {
    bool operator==(const Unknown&) const = default;
  };
  struct Remaining {
    TimeLeft time;
    bool operator==(const Remaining& other) const {
      return time.deadline.identical(other.time.deadline) && time.now.identical(other.time.now);
    }
  };
  struct Status {
    std::string text;
    bool operator==(const Status&) const = default;
  };
  struct Error {
    std::string text;
    bool operator==(const Error&) const = default;
  };
  struct Several {
    std::vector<Reply> replies;
    bool operator==(const Several&) const = default;
  };
  using Content =
      std::variant<Nil, NullArray, Unknown, Status, Error, std::int64_t, Value, std::vector<Reply>, Several, Remaining>;
  static std::string one_line(std::string text);
  explicit Reply(Content content) : content_(std::move(content)) {}
  Content content_;
};

}  // namespace lockstep::models::redis
