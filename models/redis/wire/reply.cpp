#include "models/redis/wire/reply.hpp"

#include <array>
#include <cassert>

#include "models/redis/data/symbolic_number.hpp"
#include "sim/last_words.hpp"
#include "sim/worlds/world.hpp"

namespace lockstep::models::redis {
namespace {

/// What the digest of a reply begins with, by its kind.
constexpr auto kBegins = [] {
  std::array<std::uint64_t, 10> begins{};
  for (std::size_t kind = 0; kind < begins.size(); ++kind) begins[kind] = digest_number(kind, digest_bytes("reply"));
  return begins;
}();

void append_line(std::string& out, char kind, std::string_view text) {
  out += kind;
  out += text;
  out += "\r\n";
}

/// Milliseconds since the origin are a clock's reading, which no exploration rounds.
SymbolicNumber number_of(const TimeLeft& left) {
  assert(left.world != nullptr);
  const bool is_time = left.now.identical(sim::Instant::origin()) && left.unit <= sim::Duration::milliseconds(1);
  return {left.deadline, left.now, left.unit,
          is_time ? SymbolicNumber::Rounding::none : SymbolicNumber::Rounding::down};
}

}  // namespace

Value Reply::one_line(std::string_view text) {
  if (text.find_first_of("\r\n") == std::string_view::npos) return text;
  std::string line(text);
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return line;
}

Reply Reply::verbatim(Value text, std::string_view format) {
  Reply reply = bulk(std::move(text)).as(Form::verbatim);
  for (std::size_t i = 0; i < reply.tag_.format.size(); ++i) reply.tag_.format[i] = i < format.size() ? format[i] : ' ';
  return reply;
}

Reply Reply::time_left(TimeLeft time) {
  Reply reply(Kind::time_left, Value());
  std::construct_at(&reply.content_.time, std::make_unique<TimeLeft>(time));
  return reply;
}

Reply::Reply(Kind kind, std::vector<Reply> items) : tag_{kind} { std::construct_at(&content_.items, std::move(items)); }

Reply::Reply(const Reply& other) : tag_(other.tag_) {
  if (is_flat()) {
    std::construct_at(&content_.value, other.content_.value);
  } else if (is_time_left()) {
    std::construct_at(&content_.time, std::make_unique<TimeLeft>(other.remaining()));
  } else {
    std::construct_at(&content_.items, other.content_.items);
  }
}

void Reply::take_apart(Reply& other) noexcept {
  if (is_time_left()) {
    std::construct_at(&content_.time, std::move(other.content_.time));
  } else {
    std::construct_at(&content_.items, std::move(other.content_.items));
  }
}

void Reply::drop_apart() noexcept {
  if (is_time_left()) {
    std::destroy_at(&content_.time);
  } else {
    std::destroy_at(&content_.items);
  }
}

bool Reply::is_integer(std::int64_t n) const {
  if (!is_time_left()) return tag_.kind == Kind::integer && integer() == n;
  // A lease that is known to run.
  if (n < 0 && remaining().longest < sim::Duration::forever()) return false;
  return number_of(remaining()).equals(static_cast<Number>(n), *remaining().world);
}

bool Reply::is_less_than(std::int64_t n) const {
  return is_time_left() ? number_of(remaining()).is_less_than(static_cast<Number>(n), *remaining().world)
                        : integer() < n;
}

bool Reply::is_at_most(std::int64_t n) const {
  return is_time_left() ? number_of(remaining()).is_at_most(static_cast<Number>(n), *remaining().world)
                        : integer() <= n;
}

/// Stays in every build: what a reply is, only its server knows.
void Reply::end_misread(std::string_view wanted, std::string_view question) const {
  sim::end_with("the reply " + describe() + " was read as " + std::string(wanted),
                "Ask reply." + std::string(question) + " first: a server can reply with an error, nil, or not at all.");
}

std::int64_t Reply::integer() const {
  if (!is_integer()) [[unlikely]]
    end_misread("a number", "is_integer()");
  if (!is_time_left()) return *content_.value.integer();
  remaining().world->give_up(
      "an algorithm needs the digits of how much time is left, which an exploration does not have");
  return remaining().longest.count_ns() / remaining().unit.count_ns();
}

const TimeLeft& Reply::remaining() const {
  assert(is_time_left());
  return *content_.time;
}

const Value& Reply::value() const {
  if (!is_bulk()) [[unlikely]]
    end_misread("a string", "is_bulk()");
  return content_.value;
}

/// They are bytes from the beginning, so they lie in the value.
std::string_view Reply::text() const {
  if (!(is_status() || is_error())) [[unlikely]]
    end_misread("a status or an error", "is_status() or reply.is_error()");
  return *content_.value.bytes();
}

const std::vector<Reply>& Reply::items() const {
  if (!(is_array() || is_several())) [[unlikely]]
    end_misread("an array", "is_array()");
  return content_.items;
}

sim::DurationRange Reply::duration(sim::Duration unit) const {
  if (is_time_left()) return {sim::Duration::zero(), remaining().longest};
  return sim::DurationRange::exactly(unit * integer());
}

std::string Reply::describe() const {
  switch (tag_.kind) {
    case Kind::nil:
    case Kind::null_array: return "(nil)";
    case Kind::unknown: return "(no answer)";
    case Kind::status: return std::string(text());
    case Kind::error: return "(error) " + std::string(text());
    case Kind::integer: return "(integer) " + content_.value.text();
    case Kind::time_left: return "(integer) <time left>";
    case Kind::bulk: {
      if (const Timestamp* t = value().timestamp(); t != nullptr && t->instant.anchor() != 0) return "(timestamp)";
      std::string out;
      append_quoted(out, value().text());
      return out;
    }
    case Kind::several: {
      std::string out;
      for (const Reply& reply : items()) {
        if (!out.empty()) out += "; ";
        out += reply.describe();
      }
      return out;
    }
    case Kind::array: break;
  }
  if (items().empty()) return "(empty array)";
  std::string out;
  for (std::size_t i = 0; i < items().size(); ++i) {
    const Reply& item = items()[i];
    if (i > 0) out += ' ';
    out += std::to_string(i + 1) + ") ";
    out += item.is_array() ? "[" + item.describe() + "]" : item.describe();
  }
  return out;
}

std::string Reply::resp() const {
  std::string out;
  append_resp(out);
  return out;
}

void Reply::append_resp(std::string& out, Protocol around) const {
  const Protocol protocol = tag_.protocol == Protocol::as_around ? around : tag_.protocol;
  if (protocol == Protocol::resp3 && (is_nil() || tag_.form != Form::plain)) {
    append_resp3(out);
    return;
  }
  switch (tag_.kind) {
    case Kind::nil: out += "$-1\r\n"; return;
    case Kind::null_array: out += "*-1\r\n"; return;
    case Kind::unknown: assert(false && "an unknown reply has no bytes: it never came"); return;
    case Kind::status: append_line(out, '+', text()); return;
    case Kind::error: append_line(out, '-', text()); return;
    case Kind::integer: append_line(out, ':', content_.value.text()); return;
    case Kind::bulk: {
      std::string scratch;
      const std::string_view bytes = value().view(scratch);
      append_line(out, '$', std::to_string(bytes.size()));
      out += bytes;
      out += "\r\n";
      return;
    }
    case Kind::time_left: assert(false && "how much time is left has no digits in an exploration"); return;
    case Kind::array: append_line(out, '*', std::to_string(items().size())); [[fallthrough]];
    case Kind::several:
      for (const Reply& item : items()) item.append_resp(out, protocol);
      return;
  }
}

/// What RESP3 has a type for.
void Reply::append_resp3(std::string& out) const {
  if (is_nil()) {
    out += "_\r\n";
    return;
  }
  const auto append_items = [&](char type, std::size_t count) {
    append_line(out, type, std::to_string(count));
    for (const Reply& item : items()) item.append_resp(out, Protocol::resp3);
  };
  switch (tag_.form) {
    case Form::plain: assert(false && "RESP2 has bytes for it"); return;
    case Form::map: append_items('%', items().size() / 2); return;
    case Form::set: append_items('~', items().size()); return;
    case Form::push: append_items('>', items().size()); return;
    case Form::pairs:
      append_line(out, '*', std::to_string(items().size() / 2));
      for (std::size_t i = 0; i + 1 < items().size(); i += 2) {
        append_line(out, '*', "2");
        items()[i].append_resp(out, Protocol::resp3);
        items()[i + 1].append_resp(out, Protocol::resp3);
      }
      return;
    case Form::real: append_line(out, ',', value().text()); return;
    case Form::big_number: append_line(out, '(', value().text()); return;
    case Form::boolean: append_line(out, '#', integer() != 0 ? "t" : "f"); return;
    case Form::verbatim: {
      const std::string text = value().text();
      append_line(out, '=', std::to_string(text.size() + format().size() + 1));
      out.append(format()).append(":").append(text).append("\r\n");
      return;
    }
  }
}

std::uint64_t Reply::digest() const {
  std::uint64_t digest = kBegins[static_cast<std::size_t>(tag_.kind)];
  switch (tag_.kind) {
    case Kind::nil:
    case Kind::null_array:
    case Kind::unknown: return digest;
    case Kind::status:
    case Kind::error: return digest_bytes(text(), digest);
    case Kind::integer: return digest_number(static_cast<std::uint64_t>(integer()), digest);
    case Kind::bulk: return digest_number(value().digest(), digest);
    case Kind::time_left:
      digest = digest_number(remaining().deadline.anchor(), digest);
      return digest_number(remaining().now.anchor(), digest);
    case Kind::array: digest = digest_number(items().size(), digest); break;
    case Kind::several: break;
  }
  for (const Reply& item : items()) digest = digest_number(item.digest(), digest);
  return digest;
}

bool Reply::operator==(const Reply& other) const {
  if (tag_.kind != other.tag_.kind || tag_.form != other.tag_.form || tag_.format != other.tag_.format) return false;
  if (is_flat()) return content_.value == other.content_.value;
  if (!is_time_left()) return items() == other.items();
  return remaining().deadline.identical(other.remaining().deadline) && remaining().now.identical(other.remaining().now);
}

}  // namespace lockstep::models::redis
