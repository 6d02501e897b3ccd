#pragma once

// Values as jute writes them: numbers with their high bytes first, texts behind their length.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::models::zookeeper::wire {

void put_int(std::string& out, std::int32_t value);
void put_long(std::string& out, std::int64_t value);
void put_bool(std::string& out, bool value);
void put_text(std::string& out, std::string_view text);
void put_texts(std::string& out, const std::vector<std::string>& texts);

/// Takes values away from the front. What is not there reads as zero, and from then on it is not `is_whole`.
class Reader {
 public:
  /// Requires: `bytes` outlive it.
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::int32_t take_int();
  std::int64_t take_long();
  bool take_bool();
  /// A length of -1 stands for none, which reads as an empty one.
  std::string take_text();
  /// One that may not be none, such as a path.
  std::string take_some_text();
  /// May not be none either. A count below that is one of zero, as ZooKeeper has it.
  std::vector<std::string> take_texts();

  /// Nothing was missing so far, and no length of a text was below -1.
  bool is_whole() const { return is_whole_; }
  bool is_at_end() const { return bytes_.empty(); }
  std::string_view rest() const { return bytes_; }

 private:
  std::uint64_t take_number(std::size_t size);
  std::string_view take(std::size_t size);
  std::string take_text(std::int32_t least_length);

  std::string_view bytes_;
  bool is_whole_ = true;
};

}  // namespace lockstep::models::zookeeper::wire
