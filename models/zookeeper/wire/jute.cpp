#include "models/zookeeper/wire/jute.hpp"

namespace lockstep::models::zookeeper::wire {

void put_int(std::string& out, std::int32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
}

void put_long(std::string& out, std::int64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
}

void put_bool(std::string& out, bool value) { out += value ? '\1' : '\0'; }

void put_text(std::string& out, std::string_view text) {
  put_int(out, static_cast<std::int32_t>(text.size()));
  out += text;
}

void put_texts(std::string& out, const std::vector<std::string>& texts) {
  put_int(out, static_cast<std::int32_t>(texts.size()));
  for (const std::string& text : texts) put_text(out, text);
}

std::string_view Reader::take(std::size_t size) {
  is_whole_ = is_whole_ && bytes_.size() >= size;
  const std::string_view taken = bytes_.substr(0, is_whole_ ? size : 0);
  bytes_.remove_prefix(taken.size());
  return taken;
}

std::uint64_t Reader::take_number(std::size_t size) {
  std::uint64_t value = 0;
  for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::int32_t Reader::take_int() { return static_cast<std::int32_t>(static_cast<std::uint32_t>(take_number(4))); }

std::int64_t Reader::take_long() { return static_cast<std::int64_t>(take_number(8)); }

bool Reader::take_bool() { return take_number(1) != 0; }

std::string Reader::take_text(std::int32_t least_length) {
  const std::int32_t length = take_int();
  is_whole_ = is_whole_ && length >= least_length;
  return std::string(take(length > 0 ? static_cast<std::size_t>(length) : 0));
}

std::string Reader::take_text() { return take_text(-1); }

std::string Reader::take_some_text() { return take_text(0); }

std::vector<std::string> Reader::take_texts() {
  std::int32_t count = take_int();
  is_whole_ = is_whole_ && count != -1;
  std::vector<std::string> texts;
  for (; count > 0 && is_whole_; --count) texts.push_back(take_some_text());
  return texts;
}

}  // namespace lockstep::models::zookeeper::wire
