// SCAN and its relatives, and KEYS.
//
// A cursor is a number of items not visited yet, and a scan goes downwards. That keeps Redis' promise in the simplest
// way: removing an item puts the last one into its place, and the last one has been visited or is just about to be; so
// what is there from the beginning of a scan to its end is returned, once or more often. What comes or goes meanwhile
// may be.

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/data/glob.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

struct ScanQuery {
  std::uint64_t cursor = 0;
  std::int64_t count = 10;
  std::optional<std::string> pattern;
  std::optional<std::string> type;

  /// A lone star is no pattern: it takes also what is empty.
  bool takes(std::string_view name) const { return !pattern || *pattern == "*" || glob_matches(*pattern, name); }
};

std::optional<std::uint64_t> read_cursor(const Value& argument) {
  const std::string text = argument.text();
  std::string_view digits = text;
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (text.empty()) return 0;
  std::uint64_t cursor = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), cursor);
  if (digits.empty() || read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return is_negative ? 0 - cursor : cursor;  // as strtoul has it
}

Reply invalid_cursor() { return Reply::error("ERR invalid cursor"); }

std::optional<Reply> read_options(const Call& call, std::size_t first, bool with_type, ScanQuery& query) {
  for (std::size_t i = first; i < call.size(); i += 2) {
    const Value& word = call.arguments[i];
    if (i + 1 == call.size()) return syntax_error();
    const Value& value = call.arguments[i + 1];
    if (word.is_word("COUNT")) {
      const std::optional<std::int64_t> count = value.integer();
      if (!count) return not_an_integer();
      if (*count < 1) return syntax_error();
      query.count = *count;
    } else if (word.is_word("MATCH")) {
      query.pattern = value.text();
    } else if (with_type && word.is_word("TYPE")) {
      query.type = value.text();
      for (char& c : *query.type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      return syntax_error();
    }
  }
  return std::nullopt;
}

/// Visits items from the cursor downwards and replies with the new cursor and what `visit` put into the list.
template <class Visit>
Reply scan(const ScanQuery& query, std::size_t size, Visit visit) {
  std::size_t left = query.cursor == 0 ? size : std::min<std::size_t>(query.cursor, size);
  std::vector<Reply> found;
  for (std::int64_t i = query.count; i > 0 && left > 0; --i) visit(--left, found);
  return Reply::array({Reply::bulk(std::to_string(left)), Reply::array(std::move(found))});
}

/// HSCAN, SSCAN and ZSCAN. `append` adds what stands for one item.
template <class Type, class Append>
Reply scan_object(Call& call, Append append) {
  const std::optional<std::uint64_t> cursor = read_cursor(call.arguments[2]);
  if (!cursor) return invalid_cursor();
  const auto found = find_object<Type>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::array({Reply::bulk("0"), Reply::array({})});
  ScanQuery query{.cursor = *cursor};
  if (const auto error = read_options(call, 3, false, query)) return *error;
  return scan(query, found->size(),
              [&](std::size_t position, std::vector<Reply>& out) { append(*found.object, position, query, out); });
}

}  // namespace

Reply scan_command(Call& call) {
  const std::optional<std::uint64_t> cursor = read_cursor(call.arguments[1]);
  if (!cursor) return invalid_cursor();
  ScanQuery query{.cursor = *cursor};
  if (const auto error = read_options(call, 2, true, query)) return *error;
  return scan(query, call.keys.size(), [&](std::size_t position, std::vector<Reply>& out) {
    if (position >= call.keys.size()) return;
    const std::string name = call.keys.entries()[position].key;
    const Entry* entry = call.keys.find(name, call.clock);
    if (entry == nullptr || !query.takes(name)) return;
    if (query.type && *query.type != type_name(entry->object)) return;
    out.push_back(Reply::bulk(name));
  });
}

Reply hscan_command(Call& call) {
  return scan_object<Hash>(call, [](Hash& hash, std::size_t i, const ScanQuery& query, std::vector<Reply>& out) {
    const HashField& field = hash.items()[i];
    if (!query.takes(field.key)) return;
    out.push_back(Reply::bulk(field.key));
    out.push_back(Reply::bulk(field.value));
  });
}

Reply sscan_command(Call& call) {
  return scan_object<Set>(call, [](Set& set, std::size_t i, const ScanQuery& query, std::vector<Reply>& out) {
    if (query.takes(set.items()[i].key)) out.push_back(Reply::bulk(set.items()[i].key));
  });
}

Reply zscan_command(Call& call) {
  return scan_object<SortedSet>(call,
                                [](SortedSet& set, std::size_t i, const ScanQuery& query, std::vector<Reply>& out) {
                                  const ScoredMember& member = set.members()[i];
                                  if (!query.takes(member.key)) return;
                                  out.push_back(Reply::bulk(member.key));
                                  out.push_back(Reply::bulk(member.score.value()));
                                });
}

Reply keys_command(Call& call) {
  const std::string pattern = call.arguments[1].text();
  std::vector<Reply> found;
  for (std::size_t i = call.keys.size(); i > 0; --i) {
    const std::string name = call.keys.entries()[i - 1].key;
    const bool takes = pattern == "*" || glob_matches(pattern, name);
    if (takes && call.keys.find(name, call.clock) != nullptr) found.push_back(Reply::bulk(name));
  }
  return Reply::array(std::move(found));
}

/// Without the keys whose time is up: a real server counts those until it happens to come across them.
Reply dbsize_command(Call& call) {
  std::int64_t alive = 0;
  for (std::size_t i = call.keys.size(); i > 0; --i) {
    const std::string name = call.keys.entries()[i - 1].key;
    if (call.keys.find(name, call.clock) != nullptr) ++alive;
  }
  return Reply::integer(alive);
}

}  // namespace lockstep::models::redis
