#include "models/redis/reply.hpp"

#include <cassert>

namespace lockstep::models::redis {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

void append_line(std::string& out, char kind, std::string_view text) {
  out += kind;
  out += text;
  out += "\r\n";
}

}  // namespace

std::string Reply::one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

bool Reply::is_status(std::string_view text) const {
  const auto* status = std::get_if<Status>(&content_);
  return status != nullptr && status->text == text;
}

bool Reply::is_integer(std::int64_t n) const {
  assert(!(is_time_left() && n >= 0) && "how much time is left has no number in an exploration: take its duration");
  const auto* integer = std::get_if<std::int64_t>(&content_);
  return integer != nullptr && *integer == n;
}

const std::string& Reply::text() const {
  if (const auto* error = std::get_if<Error>(&content_)) return error->text;
  return std::get<Status>(content_).text;
}

sim::DurationRange Reply::duration(sim::Duration unit) const {
  if (const auto* remaining = std::get_if<Remaining>(&content_)) {
    return {sim::Duration::zero(), remaining->time.longest};
  }
  return sim::DurationRange::exactly(unit * integer());
}

std::string Reply::describe() const {
  return std::visit(Overloaded{
                        [](Nil) -> std::string { return "(nil)"; },
                        [](NullArray) -> std::string { return "(nil)"; },
                        [](Unknown) -> std::string { return "(no answer)"; },
                        [](const Status& s) { return s.text; },
                        [](const Error& e) { return "(error) " + e.text; },
                        [](std::int64_t n) { return "(integer) " + std::to_string(n); },
                        [](const Value& v) {
                          if (const Timestamp* t = v.timestamp(); t != nullptr && t->instant.anchor() != 0) {
                            return std::string("(timestamp)");
                          }
                          std::string out;
                          append_quoted(out, v.text());
                          return out;
                        },
                        [](const Remaining&) -> std::string { return "(integer) <time left>"; },
                        [](const Several& several) {
                          std::string out;
                          for (const Reply& reply : several.replies) {
                            if (!out.empty()) out += "; ";
                            out += reply.describe();
                          }
                          return out;
                        },
                        [](const std::vector<Reply>& items) {
                          if (items.empty()) return std::string("(empty array)");
                          std::string out;
                          for (std::size_t i = 0; i < items.size(); ++i) {
                            if (i > 0) out += ' ';
                            out += std::to_string(i + 1) + ") ";
                            out += items[i].is_array() ? "[" + items[i].describe() + "]" : items[i].describe();
                          }
                          return out;
                        },
                    },
                    content_);
}

std::string Reply::resp() const {
  std::string out;
  append_resp(out);
  return out;
}

void Reply::append_resp(std::string& out) const {
  assert(!is_unknown() && "an unknown reply has no bytes: it never came");
  std::visit(Overloaded{
                 [&](Nil) { out += "$-1\r\n"; },
                 [&](NullArray) { out += "*-1\r\n"; },
                 [&](Unknown) {},
                 [&](const Status& s) { append_line(out, '+', s.text); },
                 [&](const Error& e) { append_line(out, '-', e.text); },
                 [&](std::int64_t n) { append_line(out, ':', std::to_string(n)); },
                 [&](const Value& v) {
                   std::string scratch;
                   const std::string_view bytes = v.view(scratch);
                   append_line(out, '$', std::to_string(bytes.size()));
                   out += bytes;
                   out += "\r\n";
                 },
                 [&](const Remaining&) { assert(false && "how much time is left has no digits in an exploration"); },
                 [&](const Several& several) {
                   for (const Reply& reply : several.replies) reply.append_resp(out);
                 },
                 [&](const std::vector<Reply>& items) {
                   append_line(out, '*', std::to_string(items.size()));
                   for (const Reply& item : items) item.append_resp(out);
                 },
             },
             content_);
}

std::uint64_t Reply::digest() const {
  const std::uint64_t seed = digest_number(content_.index(), digest_bytes("reply"));
  return std::visit(Overloaded{
                        [&](const Status& s) { return digest_bytes(s.text, seed); },
                        [&](const Error& e) { return digest_bytes(e.text, seed); },
                        [&](std::int64_t n) { return digest_number(static_cast<std::uint64_t>(n), seed); },
                        [&](const Value& v) { return digest_number(v.digest(), seed); },
                        [&](const Remaining& remaining) {
                          const std::uint64_t until = digest_number(remaining.time.deadline.anchor(), seed);
                          return digest_number(remaining.time.now.anchor(), until);
                        },
                        [&](const Several& several) {
                          std::uint64_t digest = seed;
                          for (const Reply& reply : several.replies) digest = digest_number(reply.digest(), digest);
                          return digest;
                        },
                        [&](const std::vector<Reply>& items) {
                          std::uint64_t digest = digest_number(items.size(), seed);
                          for (const Reply& item : items) digest = digest_number(item.digest(), digest);
                          return digest;
                        },
                        [&](const auto&) { return seed; },
                    },
                    content_);
}

bool Reply::operator==(const Reply& other) const { return content_ == other.content_; }

}  // namespace lockstep::models::redis
