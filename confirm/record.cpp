#include "confirm/record.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "confirm/report.hpp"
#include "reports/json/json.hpp"

namespace lockstep::confirm {
namespace {

using reports::Json;

/// What would end a cell of a table of Markdown.
std::string in_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.replace(at, 1, "\\|");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string key_of(const std::string& file, const std::string& folder) {
  namespace fs = std::filesystem;
  return fs::absolute(file)
      .lexically_normal()
      .lexically_relative(fs::absolute(folder.empty() ? "." : folder).lexically_normal())
      .generic_string();
}

std::string text_of(const Record& record) {
  Json stories = Json::object();
  for (const auto& [file, entry] : record) {
    stories[file] = {{"standing", entry.standing},   {"digest", fmt::format("{:016x}", entry.digest)},
                     {"redis", entry.redis},         {"date", entry.date},
                     {"algorithm", entry.algorithm}, {"observed", entry.observed},
                     {"pace", entry.pace},           {"notes", entry.notes}};
  }
  const Json document{{"lockstep", 1}, {"stories", stories}};
  return document.dump(1) + '\n';
}

std::variant<Record, std::string> read_record(std::string_view text) {
  try {
    Record record;
    const auto document = nlohmann::json::parse(text);
    for (const auto& [file, entry] : document.at("stories").items()) {
      Recorded& recorded = record[file];
      recorded.standing = entry.at("standing");
      const std::string digest = entry.at("digest");
      std::from_chars(digest.data(), digest.data() + digest.size(), recorded.digest, 16);
      recorded.redis = entry.at("redis");
      recorded.date = entry.at("date");
      recorded.algorithm = entry.at("algorithm");
      recorded.observed = entry.at("observed");
      recorded.pace = entry.at("pace");
      recorded.notes = entry.at("notes").get<std::vector<std::string>>();
    }
    return record;
  } catch (const nlohmann::json::exception& error) {
    return std::string(error.what());
  }
}

void add(Record& record, std::span<const Confirmation> confirmations, const std::string& folder,
         const std::string& date) {
  for (const Confirmation& c : confirmations) {
    record[key_of(c.file, folder)] = {.standing = std::string(to_string(c.standing)),
                                      .digest = c.digest,
                                      .redis = c.version,
                                      .date = date,
                                      .algorithm = c.algorithm,
                                      .observed = observed_text(c),
                                      .pace = pace_text(c.scale),
                                      .notes = c.notes};
  }
}

std::string table_of(const Record& record) {
  std::map<std::string, std::size_t> counts;
  std::set<std::string> versions;
  std::set<std::string> dates;
  for (const auto& [file, entry] : record) {
    ++counts[entry.standing];
    if (!entry.redis.empty()) versions.insert(entry.redis);
    dates.insert(entry.date);
  }
  std::string text = fmt::format(
      "# What was confirmed on real servers\n\n"
      "Written by `lockstep confirm`; how, and what a row means, says [confirm.md](../manual/confirm.md). Played with "
      "redis-server {} on {}.\n\n",
      fmt::join(versions, ", "), fmt::join(dates, ", "));
  for (const auto& [standing, count] : counts) text += fmt::format("- {}: {} of {}\n", standing, count, record.size());
  text += "\n| story | algorithm | | what was observed |\n| --- | --- | --- | --- |\n";
  for (const auto& [file, entry] : record) {
    std::string observed = entry.observed;
    if (!entry.pace.empty()) observed += "; " + entry.pace;
    for (const std::string& note : entry.notes) observed += "; " + note;
    text += fmt::format("| {} | {} | {} | {} |\n", file.substr(0, file.rfind(".toml")), entry.algorithm, entry.standing,
                        in_cell(std::move(observed)));
  }
  return text;
}

}  // namespace lockstep::confirm
