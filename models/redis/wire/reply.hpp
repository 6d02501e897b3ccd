#pragma once

// What a client gets back from a server: one of Redis' replies, or no answer.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/value.hpp"
#include "sim/time/time.hpp"

namespace lockstep::sim {
class World;
}

namespace lockstep::models::redis {

/// How long until a deadline, where an exploration has no number for it: both ends are symbolic. As a number it is the
/// integer part of (deadline - now) / unit; with the clock's origin as `now` it is a time.
struct TimeLeft {
  sim::Instant deadline;
  sim::Instant now;
  sim::Duration longest;  ///< certainly not more than this; more than zero
  sim::Duration unit = sim::Duration::milliseconds(1);
  sim::World* world = nullptr;  ///< decides comparisons
};

/// The protocol of a connection: what HELLO chooses.
enum class Protocol : std::uint8_t { as_around = 0, resp2 = 2, resp3 = 3 };

/// What RESP3 tells of a reply beyond RESP2. RESP2 has none of it, so a reply holds what RESP2 sends, and its form
/// changes nothing but the bytes of RESP3.
enum class Form : std::uint8_t {
  plain,
  map,         ///< of an array: keys and values by turns
  set,         ///< of an array
  push,        ///< of an array: unsolicited
  pairs,       ///< of an array that RESP2 sends flat: an array of arrays of two
  real,        ///< of a bulk string: a double
  big_number,  ///< of a bulk string: digits
  verbatim,    ///< of a bulk string: a text to be shown as it is
  boolean      ///< of an integer: 0 or 1
};

/// A reply. The simulated world's errors are values like any other: `-WRONGTYPE …` is an error reply, and a request
/// whose reply never came is `unknown` (the command may have been executed, may still be, or never).
class Reply {
 public:
  static Reply nil() { return Reply(Kind::nil); }
  static Reply ok() { return Reply(Kind::status, Value::lasting("OK")); }
  static Reply pong() { return Reply(Kind::status, Value::lasting("PONG")); }
  static Reply status(std::string_view text) { return Reply(Kind::status, one_line(text)); }
  static Reply integer(std::int64_t n) { return Reply(Kind::integer, Value(n)); }
  static Reply time_left(TimeLeft time);
  static Reply bulk(Value value) { return Reply(Kind::bulk, std::move(value)); }
  /// `text` begins with the code: "ERR value is not an integer or out of range". Line breaks in it become spaces, as on
  /// the wire.
  static Reply error(std::string_view text) { return Reply(Kind::error, one_line(text)); }
  static Reply array(std::vector<Reply> items) { return Reply(Kind::array, std::move(items)); }
  /// RESP2's null array (`*-1`), as EXEC or BLPOP answer.
  static Reply null_array() { return Reply(Kind::null_array); }
  /// What is sent for one request though it is several replies, one after the other: SUBSCRIBE to three channels.
  /// Inside the array that EXEC replies they stand as such, and so does Redis. Requires: more than one.
  static Reply several(std::vector<Reply> replies) { return Reply(Kind::several, std::move(replies)); }
  static Reply unknown() { return Reply(Kind::unknown); }
  Reply() : Reply(Kind::nil) {}

  // --- Replies that RESP3 has a type of its own for.

  static Reply map(std::vector<Reply> keys_and_values) { return array(std::move(keys_and_values)).as(Form::map); }
  static Reply set(std::vector<Reply> items) { return array(std::move(items)).as(Form::set); }
  static Reply push(std::vector<Reply> items) { return array(std::move(items)).as(Form::push); }
  /// Members with their scores by turns. Requires: an even number.
  static Reply pairs(std::vector<Reply> items) { return array(std::move(items)).as(Form::pairs); }
  static Reply real(Value digits) { return bulk(std::move(digits)).as(Form::real); }
  static Reply big_number(Value digits) { return bulk(std::move(digits)).as(Form::big_number); }
  static Reply boolean(bool value) { return integer(value ? 1 : 0).as(Form::boolean); }
  /// `format`: "txt", "mkd"; of more than three characters the first three, of less with blanks behind.
  static Reply verbatim(Value text, std::string_view format = "txt");
  /// Requires: the form is one of this kind of reply.
  Reply&& as(Form form) && {
    tag_.form = form;
    return std::move(*this);
  }
  /// The reply, and what is in it, goes to a connection that speaks this. Without it, and `as_around`: RESP2, or what
  /// the reply speaks that it is in.
  void speak(Protocol protocol) { tag_.protocol = protocol; }

  Reply(const Reply& other);
  Reply(Reply&& other) noexcept : tag_(other.tag_) { take(other); }
  Reply& operator=(const Reply& other) {
    if (this != &other) *this = Reply(other);
    return *this;
  }
  Reply& operator=(Reply&& other) noexcept {
    if (this == &other) return *this;
    drop();
    tag_ = other.tag_;
    take(other);
    return *this;
  }
  ~Reply() { drop(); }

  Form form() const { return tag_.form; }
  Protocol protocol() const { return tag_.protocol; }
  /// Of a verbatim string: "txt".
  std::string_view format() const { return {tag_.format.data(), tag_.format.size()}; }
  bool is_nil() const { return tag_.kind == Kind::nil || tag_.kind == Kind::null_array; }
  bool is_null_array() const { return tag_.kind == Kind::null_array; }
  bool is_ok() const { return is_status("OK"); }
  bool is_status(std::string_view text) const { return is_status() && this->text() == text; }
  bool is_status() const { return tag_.kind == Kind::status; }
  /// A number, or a time that is left.
  bool is_integer() const { return tag_.kind == Kind::integer || is_time_left(); }
  /// Of a time that is left this and the next two ask its world, which may fork an exploration.
  bool is_integer(std::int64_t n) const;
  bool is_less_than(std::int64_t n) const;  ///< Requires: is_integer()
  bool is_at_most(std::int64_t n) const;    ///< Requires: is_integer()
  bool is_time_left() const { return tag_.kind == Kind::time_left; }
  bool is_bulk() const { return tag_.kind == Kind::bulk; }
  bool is_error() const { return tag_.kind == Kind::error; }
  bool is_array() const { return tag_.kind == Kind::array; }
  bool is_several() const { return tag_.kind == Kind::several; }
  bool is_unknown() const { return tag_.kind == Kind::unknown; }

  /// Requires: is_time_left()
  const TimeLeft& remaining() const;
  /// A time that is left has no digits in an exploration: then its world is told that this execution says nothing, and
  /// some number is given. Ask `is_less_than` instead, or `duration`. Requires: is_integer()
  std::int64_t integer() const;
  /// A number of `unit`s as a length of time to wait. Of a time that is left an exploration knows only that it is more
  /// than zero and no longer than the key was to live, so there it is a range, and what follows is explored for all of
  /// it: never too little, sometimes too much. Requires: is_integer(), not negative.
  sim::DurationRange duration(sim::Duration unit) const;
  const Value& value() const;     ///< Requires: is_bulk()
  std::string_view text() const;  ///< Requires: is_status() or is_error()
  /// Requires: is_array() or is_several()
  const std::vector<Reply>& items() const;

  /// As redis-cli shows it, on one line: `OK`, `(nil)`, `(integer) 1`, `"text"`, `(error) ERR …`, `1) "a" 2) "b"`, and
  /// `(no answer)` for unknown, `(timestamp)` for one that has no digits yet.
  std::string describe() const;
  /// The bytes on the wire, of the protocol in which it is spoken. Requires: not unknown.
  std::string resp() const;
  void append_resp(std::string& out, Protocol around = Protocol::resp2) const;
  /// Neither form nor protocol counts here: what was asked decides the one, and the other is the connection's.
  std::uint64_t digest() const;
  /// The protocol does not count.
  bool operator==(const Reply& other) const;

 private:
  /// The order is part of the digest.
  enum class Kind : std::uint8_t { nil, null_array, unknown, status, error, integer, bulk, array, several, time_left };
  static Value one_line(std::string_view text);

  /// One word, so that a move copies it at once.
  struct Tag {
    Kind kind;
    Form form = Form::plain;
    Protocol protocol = Protocol::as_around;
    std::array<char, 3> format = {'t', 'x', 't'};  ///< of a verbatim string
  };

  explicit Reply(Kind kind) : tag_{kind} { std::construct_at(&content_.value); }
  Reply(Kind kind, Value value) : tag_{kind} { std::construct_at(&content_.value, std::move(value)); }
  Reply(Kind kind, std::vector<Reply> items);
  /// All kinds but the last three: then a move copies the bytes of a `Value`, and nothing is called.
  bool is_flat() const { return tag_.kind <= Kind::bulk; }
  /// Makes `content_`, for the present kind.
  void take(Reply& other) noexcept {
    if (is_flat()) [[likely]] {
      std::construct_at(&content_.value, std::move(other.content_.value));
    } else {
      take_apart(other);
    }
  }
  void take_apart(Reply& other) noexcept;
  /// Ends `content_`.
  void drop() noexcept {
    if (is_flat()) [[likely]] {
      std::destroy_at(&content_.value);
    } else {
      drop_apart();
    }
  }
  void drop_apart() noexcept;
  [[noreturn]] void end_misread(std::string_view wanted, std::string_view question) const;

  union Content {
    Content() noexcept {}  // NOLINT(modernize-use-equals-default): `Reply` makes the member that its kind says
    ~Content() {}          // NOLINT(modernize-use-equals-default)
    Value value;
    std::vector<Reply> items;
    std::unique_ptr<TimeLeft> time;
  };
  void append_resp3(std::string& out) const;

  Content content_;
  Tag tag_;
};
static_assert(sizeof(Reply) == 40);

}  // namespace lockstep::models::redis
