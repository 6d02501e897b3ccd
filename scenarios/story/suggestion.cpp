#include "scenarios/story/suggestion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <system_error>
#include <vector>

#include "sim/utf8.hpp"

namespace lockstep::scenarios {
namespace {

/// Nobody mistypes a longer name, and the distance costs the product of the lengths.
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestList = 24;
constexpr std::size_t kLongestQuote = 40;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Optimal string alignment: Levenshtein's distance, and a swap of neighbours counts once.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

/// What people call it elsewhere, in small letters without "_" and "-"; and what it is here. Of several the first that
/// is valid.
struct Synonym {
  std::string_view elsewhere;
  std::string_view here;
};
constexpr Synonym kSynonyms[] = {{"leasetime", "lease"},
                                 {"leasetime", "ttl"},
                                 {"lease", "ttl"},
                                 {"ttl", "lease"},
                                 {"expire", "ttl"},
                                 {"expire", "lease"},
                                 {"expiry", "ttl"},
                                 {"expiry", "lease"},
                                 {"expiration", "ttl"},
                                 {"expiration", "lease"},
                                 {"lockatmostfor", "lock_at_most_for"},
                                 {"waittime", "wait"},
                                 {"waittime", "acquire_timeout"},
                                 {"watchdog", "watchdog_timeout"},
                                 {"retries", "attempts"},
                                 {"retrycount", "attempts"},
                                 {"retrydelay", "retry"},
                                 {"retryinterval", "retry"},
                                 {"work", "hold"},
                                 {"job", "hold"},
                                 {"duration", "length"},
                                 {"duration", "hold"},
                                 {"rtt", "latency"},
                                 {"ping", "latency"},
                                 {"instances", "client"},
                                 {"instance", "client"},
                                 {"clients", "client"},
                                 {"workers", "client"},
                                 {"nodes", "servers"},
                                 {"masters", "servers"},
                                 {"failover", "servers"},
                                 {"replica", "replicas"},
                                 {"slaves", "replicas"},
                                 {"gc", "pause"},
                                 {"gcpause", "pause"},
                                 {"garbagecollection", "pause"},
                                 {"stoptheworld", "pause"},
                                 {"kill", "crash"},
                                 {"death", "crash"},
                                 {"restart", "crash"},
                                 {"failover", "crash"},
                                 {"drop", "lose"},
                                 {"loss", "lose"},
                                 {"netsplit", "partition"},
                                 {"networkpartition", "partition"},
                                 {"split", "partition"},
                                 {"ntp", "jump"},
                                 {"clockjump", "jump"},
                                 {"clockskew", "skew"},
                                 {"drift", "skew"}};

std::optional<std::string_view> synonym_of(std::string_view given, std::span<const std::string_view> valid) {
  std::string plain;
  for (const char c : given.substr(0, kLongestName)) {
    if (c != '_' && c != '-' && c != ' ') plain += lower(c);
  }
  for (const Synonym& synonym : kSynonyms) {
    const bool is_valid = std::find(valid.begin(), valid.end(), synonym.here) != valid.end();
    if (plain == synonym.elsewhere && is_valid) return synonym.here;
  }
  return std::nullopt;
}

/// Near enough to be meant: not every letter is another one.
bool is_slip(std::string_view given, std::string_view name) {
  if (given.size() > kLongestName) return false;
  const std::size_t edits = distance(given, name);
  return edits <= std::max<std::size_t>(1, given.size() / 3) && edits < std::max(given.size(), name.size());
}

/// Less than half of it is otherwise.
bool is_near(std::string_view given, std::string_view name) {
  return given.size() <= kLongestName && 2 * distance(given, name) < std::max(given.size(), name.size());
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view given, std::span<const std::string_view> valid) {
  given = given.substr(0, kLongestName);
  const auto best = std::min_element(valid.begin(), valid.end(), [&](std::string_view a, std::string_view b) {
    return distance(given, a) < distance(given, b);
  });
  if (best == valid.end()) return std::nullopt;
  return *best;
}

std::string suggestion(std::string_view given, std::span<const std::string_view> valid) {
  const std::optional<std::string_view> best = nearest(given, valid);
  if (!best) return "there is none to choose from";
  if (const auto synonym = synonym_of(given, valid)) return "did you mean " + in_quotes(*synonym) + "?";
  if (is_slip(given, *best)) return "did you mean " + in_quotes(*best) + "?";
  if (valid.size() > kLongestList) {
    if (is_near(given, *best)) return "the nearest is " + in_quotes(*best);
    return fmt::format("there are {}, such as {}, {} and {}", valid.size(), valid[0], valid[valid.size() / 2],
                       valid.back());
  }
  std::string list = valid.size() == 1 ? "expected " : "expected one of ";
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (i > 0) list += ", ";
    list += valid[i];
  }
  return list;
}

namespace {

/// A character as a terminal can show it in one line, and as nothing that it would obey.
void append_visible(std::string& out, const sim::Character& c) {
  if (c.code == '\n') {
    out += "\\n";
  } else if (c.bytes.size() == 1 && (sim::is_control(c.code) || c.code == sim::no_character)) {
    out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c.bytes.front()));
  } else if (sim::is_control(c.code)) {
    out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.code));
  } else {
    out += c.bytes;
  }
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const sim::Character c = sim::first_character(text);
    append_visible(out, c);
    text.remove_prefix(c.bytes.size());
  }
  return sim::screenful(out, sim::kMessageBytesMax / 2);  // a message has words beside it
}

std::string suggestion_beside(const std::filesystem::path& file, std::string_view ending) {
  constexpr std::size_t kNamesMax = 1000;
  std::set<std::string> names;  // a directory's own order is the file system's
  std::error_code error;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ending && names.size() < kNamesMax) names.insert(it->path().filename().string());
  }
  const std::vector<std::string_view> valid(names.begin(), names.end());
  const std::string hint = suggestion(file.filename().string(), valid);
  return hint.starts_with("did you mean") ? "; " + hint : "";
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  std::size_t characters = 0;
  while (!text.empty()) {
    if (++characters > kLongestQuote) return out + "...\"";
    const sim::Character c = sim::first_character(text);
    append_visible(out, c);
    text.remove_prefix(c.bytes.size());
  }
  return out + "\"";
}

}  // namespace lockstep::scenarios
