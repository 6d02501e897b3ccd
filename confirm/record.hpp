#pragma once

// What was confirmed once, as a file in the tree: so that it can be shown without real servers, and nothing is claimed
// that was not played.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "confirm/confirm.hpp"

namespace lockstep::confirm {

/// The name of such a file, in the folder of the stories that it is about, or in one above them.
inline constexpr std::string_view kRecordName = "confirmed.json";

struct Recorded {
  std::string standing;  ///< as `to_string(Standing)`
  std::uint64_t digest = 0;
  std::string redis;  ///< the version
  std::string date;   ///< "2026-11-23"
  std::string algorithm;
  std::string observed;  ///< "violated: mutual-exclusion", or what differs, or why it cannot be played
  std::string pace;      ///< "10 times slower"; empty: as told
  std::vector<std::string> notes;
};

/// By the story's file, relative to the folder of the record.
using Record = std::map<std::string, Recorded, std::less<>>;

std::string text_of(const Record& record);
/// Or what is wrong with the text.
std::variant<Record, std::string> read_record(std::string_view text);
/// Adds what was played, or puts it in place of what was there. `folder`: of the record.
void add(Record& record, std::span<const Confirmation> confirmations, const std::string& folder,
         const std::string& date);
/// The file of a story as a record in `folder` calls it.
std::string key_of(const std::string& file, const std::string& folder);
/// For people: Markdown.
std::string table_of(const Record& record);

}  // namespace lockstep::confirm
