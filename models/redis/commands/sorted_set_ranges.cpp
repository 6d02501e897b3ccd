// Commands on parts of a sorted set: by rank, by score, or by the members' bytes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// One end of a range of scores: `5`, `(5`, `-inf`, or a timestamp.
struct Bound {
  Score score;
  bool excluded = false;
};

struct ScoreRange {
  Bound least;
  Bound most;

  bool contains(const Score& score, const sim::World& world) const {
    const bool above = least.excluded ? least.score.less_than(score, world) : !score.less_than(least.score, world);
    if (!above) return false;
    return most.excluded ? score.less_than(most.score, world) : !most.score.less_than(score, world);
  }
};

/// Unlike a score, a bound may have blanks in front, be empty (0) or too large (infinite), as strtod has it.
std::optional<Bound> read_bound(const Value& argument) {
  if (const Timestamp* t = argument.timestamp()) return Bound{Score(*t), false};
  std::string text = argument.text();
  const bool excluded = text.starts_with('(');
  if (excluded) text.erase(0, 1);
  // Redis reads up to the first zero byte.
  text = text.c_str();
  char* end = nullptr;
  const Real number = std::strtod(text.c_str(), &end);
  if (*end != '\0' || std::isnan(number)) return std::nullopt;
  return Bound{Score(number), excluded};
}

std::optional<ScoreRange> read_score_range(const Value& least, const Value& most) {
  const std::optional<Bound> from = read_bound(least);
  const std::optional<Bound> to = read_bound(most);
  if (!from || !to) return std::nullopt;
  return ScoreRange{*from, *to};
}

Reply bad_range() { return Reply::error("ERR min or max is not a float"); }

/// One end of a range of members: `[a`, `(a`, `-` (before all) or `+` (behind all).
struct LexBound {
  enum class Kind : std::uint8_t { first, member, last };
  Kind kind = Kind::member;
  std::string member;
  bool excluded = true;
};

std::optional<LexBound> read_lex_bound(const Value& argument) {
  const std::string text = argument.text();
  // Redis looks at the byte behind - and +, and takes a zero byte for the end.
  const bool is_one_byte = text.c_str()[text.empty() ? 0 : 1] == '\0';
  if (text.starts_with('-') && is_one_byte) return LexBound{LexBound::Kind::first, ""};
  if (text.starts_with('+') && is_one_byte) return LexBound{LexBound::Kind::last, ""};
  if (text.starts_with('(')) return LexBound{LexBound::Kind::member, text.substr(1)};
  if (text.starts_with('[')) return LexBound{LexBound::Kind::member, text.substr(1), false};
  return std::nullopt;
}

/// Means something where all scores are the same. Where they are not, this does what Redis does with a small set.
struct LexRange {
  LexBound least;
  LexBound most;

  bool is_above_least(std::string_view member) const {
    if (least.kind != LexBound::Kind::member) return least.kind == LexBound::Kind::first;
    return least.excluded ? member > least.member : member >= least.member;
  }
  bool is_below_most(std::string_view member) const {
    if (most.kind != LexBound::Kind::member) return most.kind == LexBound::Kind::last;
    return most.excluded ? member < most.member : member <= most.member;
  }
  bool is_empty() const {
    if (least.kind != LexBound::Kind::member || most.kind != LexBound::Kind::member) return least.kind >= most.kind;
    return least.member > most.member || (least.member == most.member && (least.excluded || most.excluded));
  }
};

std::optional<LexRange> read_lex_range(const Value& least, const Value& most) {
  std::optional<LexBound> from = read_lex_bound(least);
  std::optional<LexBound> to = read_lex_bound(most);
  if (!from || !to) return std::nullopt;
  return LexRange{*std::move(from), *std::move(to)};
}

Reply bad_lex_range() { return Reply::error("ERR min or max not valid string range item"); }

/// From the first member inside up to the last before one that is outside, `skipped` of them left out unseen; from the
/// other end if it is reversed.
std::vector<std::uint32_t> within(const Call& call, const SortedSet& set, const LexRange& range, bool reversed = false,
                                  std::int64_t skipped = 0) {
  const std::span<const std::uint32_t> order = set.order(call.world());
  std::vector<std::uint32_t> positions(order.begin(), order.end());
  const auto key = [&](std::uint32_t position) -> std::string_view { return set.member(position).key; };
  if (range.is_empty() || !range.is_above_least(key(positions.back())) ||
      !range.is_below_most(key(positions.front()))) {
    return {};
  }
  if (reversed) std::reverse(positions.begin(), positions.end());
  const auto is_inside = [&](std::uint32_t position, bool far_end) {
    return far_end != reversed ? range.is_below_most(key(position)) : range.is_above_least(key(position));
  };
  const auto first =
      std::find_if(positions.begin(), positions.end(), [&](std::uint32_t p) { return is_inside(p, false); });
  if (first == positions.end() || !is_inside(*first, true)) return {};
  const auto left = positions.end() - first;
  const auto begin = skipped < 0 || skipped >= left ? positions.end() : first + static_cast<std::ptrdiff_t>(skipped);
  const auto end = std::find_if(begin, positions.end(), [&](std::uint32_t p) { return !is_inside(p, true); });
  return {begin, end};
}

enum class By : std::uint8_t { rank, score, lex };

/// ZRANGE and its five relatives are one command: what they say by their name, ZRANGE says by options.
struct RangeQuery {
  By by = By::rank;
  bool reversed = false;
  bool may_choose = false;  ///< ZRANGE: BYSCORE and REV are options
  bool with_scores = false;
  bool stores = false;  ///< ZRANGESTORE: the scores come along unasked
  std::int64_t offset = 0;
  std::int64_t limit = -1;
};

/// The options from the fifth argument on, or the error.
std::optional<Reply> read_options(const Call& call, RangeQuery& query) {
  for (std::size_t i = 4; i < call.size(); ++i) {
    const Value& word = call.arguments[i];
    if (!query.stores && word.is_word("WITHSCORES")) {
      query.with_scores = true;
    } else if (word.is_word("LIMIT") && i + 2 < call.size()) {
      const std::optional<std::int64_t> offset = call.arguments[i + 1].integer();
      const std::optional<std::int64_t> limit = call.arguments[i + 2].integer();
      if (!offset || !limit) return not_an_integer();
      query.offset = *offset;
      query.limit = *limit;
      i += 2;
    } else if (query.may_choose && !query.reversed &&
               word.is_word("REV")) {  // once; WITHSCORES and LIMIT may be repeated
      query.reversed = true;
    } else if (query.may_choose && query.by == By::rank && word.is_word("BYSCORE")) {
      query.by = By::score;
    } else if (query.may_choose && query.by == By::rank && word.is_word("BYLEX")) {
      query.by = By::lex;
    } else {
      return syntax_error();
    }
  }
  if (query.limit != -1 && query.by == By::rank) {
    return Reply::error("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  }
  if (query.with_scores && query.by == By::lex) {
    return Reply::error("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  return std::nullopt;
}

/// Positions of the members with a score in the range, lowest first. Only what lies inside has to be put in order.
std::vector<std::uint32_t> within(const Call& call, const SortedSet& set, const ScoreRange& range) {
  std::vector<std::uint32_t> positions;
  for (const std::uint32_t position : set.order(call.world())) {
    if (range.contains(set.member(position).score, call.world())) positions.push_back(position);
  }
  return positions;
}

Reply members(const SortedSet& set, std::span<const std::uint32_t> positions, bool with_scores) {
  std::vector<Reply> items;
  for (const std::uint32_t position : positions) {
    items.push_back(Reply::bulk(set.member(position).key));
    if (with_scores) items.push_back(Reply::real(set.member(position).score.value()));
  }
  return with_scores ? Reply::pairs(std::move(items)) : Reply::array(std::move(items));
}

/// What a range has of a set; without a set, nothing.
struct Selection {
  const SortedSet* set = nullptr;
  std::vector<std::uint32_t> positions;
};

std::variant<Selection, Reply> by_rank(Call& call, const RangeQuery& query) {
  const std::optional<std::int64_t> start = call.arguments[2].integer();
  const std::optional<std::int64_t> stop = call.arguments[3].integer();
  if (!start || !stop) return not_an_integer();
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Selection{};
  const std::span<const std::uint32_t> order = found->order(call.world());
  std::vector<std::uint32_t> positions(order.begin(), order.end());
  if (query.reversed) std::reverse(positions.begin(), positions.end());
  const IndexRange range = index_range(*start, *stop, positions.size());
  positions.erase(positions.begin() + static_cast<std::ptrdiff_t>(range.end), positions.end());
  positions.erase(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(range.first));
  return Selection{found.object, std::move(positions)};
}

std::variant<Selection, Reply> by_score(Call& call, const RangeQuery& query) {
  const Value& first = call.arguments[2];
  const Value& second = call.arguments[3];
  const auto range = query.reversed ? read_score_range(second, first) : read_score_range(first, second);
  if (!range) return bad_range();
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Selection{};
  std::vector<std::uint32_t> positions = within(call, *found.object, *range);
  if (query.reversed) std::reverse(positions.begin(), positions.end());
  const auto size = static_cast<std::int64_t>(positions.size());
  // A negative offset skips everything, a negative limit nothing.
  const std::int64_t from = query.offset < 0 ? size : std::min(query.offset, size);
  const std::int64_t count = query.limit < 0 ? size - from : std::min(query.limit, size - from);
  const auto begin = positions.begin() + static_cast<std::ptrdiff_t>(from);
  return Selection{found.object, {begin, begin + static_cast<std::ptrdiff_t>(count)}};
}

std::variant<Selection, Reply> by_lex(Call& call, const RangeQuery& query) {
  const Value& first = call.arguments[2];
  const Value& second = call.arguments[3];
  const auto range = query.reversed ? read_lex_range(second, first) : read_lex_range(first, second);
  if (!range) return bad_lex_range();
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Selection{};
  std::vector<std::uint32_t> positions = within(call, *found.object, *range, query.reversed, query.offset);
  const auto size = static_cast<std::int64_t>(positions.size());
  positions.resize(static_cast<std::size_t>(query.limit < 0 ? size : std::min(query.limit, size)));
  return Selection{found.object, std::move(positions)};
}

std::variant<Selection, Reply> selection(Call& call, RangeQuery& query) {
  if (auto error = read_options(call, query)) return *std::move(error);
  switch (query.by) {
    case By::rank: return by_rank(call, query);
    case By::score: return by_score(call, query);
    case By::lex: break;
  }
  return by_lex(call, query);
}

Reply range(Call& call, RangeQuery query) {
  const auto selected = selection(call, query);
  if (const Reply* error = std::get_if<Reply>(&selected)) return *error;
  const auto& [set, positions] = std::get<Selection>(selected);
  return set != nullptr ? members(*set, positions, query.with_scores) : Reply::array({});
}

Reply remove(Call& call, Found<SortedSet>& found, std::span<const std::uint32_t> positions) {
  std::vector<std::string> names;
  for (const std::uint32_t position : positions) names.push_back(found->member(position).key);
  for (const std::string& name : names) {
    found->erase(name);
    call.keys.part_changed(found.entry->key, name, MemberChange::removed);
  }
  if (!names.empty()) found.shrunk(call);
  return Reply::integer(static_cast<std::int64_t>(names.size()));
}

/// Of a range of scores no order matters: only what lies within it.
std::vector<std::uint32_t> unordered_within(const Call& call, const SortedSet& set, const ScoreRange& range) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (range.contains(set.member(i).score, call.world())) positions.push_back(i);
  }
  return positions;
}

}  // namespace

Reply zrange_command(Call& call) { return range(call, {.may_choose = true}); }
Reply zrevrange_command(Call& call) { return range(call, {.reversed = true}); }
Reply zrangebyscore_command(Call& call) { return range(call, {.by = By::score}); }
Reply zrevrangebyscore_command(Call& call) { return range(call, {.by = By::score, .reversed = true}); }

Reply zrangestore_command(Call& call) {
  // Behind its destination it is a ZRANGE.
  Call inner{call.database, call.keys, call.session, call.arguments.subspan(1), call.clock, call.command, false};
  RangeQuery query{.may_choose = true, .stores = true};
  const auto selected = selection(inner, query);
  if (const Reply* error = std::get_if<Reply>(&selected)) return *error;
  const auto& [set, positions] = std::get<Selection>(selected);
  SortedSet stored;
  for (const std::uint32_t position : positions) stored.set(set->member(position).key, set->member(position).score);
  const auto size = static_cast<std::int64_t>(stored.size());
  store_result(call, std::move(stored));
  return Reply::integer(size);
}

Reply zrangebylex_command(Call& call) { return range(call, {.by = By::lex}); }
Reply zrevrangebylex_command(Call& call) { return range(call, {.by = By::lex, .reversed = true}); }

Reply zlexcount_command(Call& call) {
  const auto range = read_lex_range(call.arguments[2], call.arguments[3]);
  if (!range) return bad_lex_range();
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  return Reply::integer(static_cast<std::int64_t>(within(call, *found.object, *range).size()));
}

Reply zremrangebylex_command(Call& call) {
  const auto range = read_lex_range(call.arguments[2], call.arguments[3]);
  if (!range) return bad_lex_range();
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  return remove(call, found, within(call, *found.object, *range));
}

Reply zcount_command(Call& call) {
  const auto range = read_score_range(call.arguments[2], call.arguments[3]);
  if (!range) return bad_range();
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  return Reply::integer(static_cast<std::int64_t>(unordered_within(call, *found.object, *range).size()));
}

Reply zremrangebyscore_command(Call& call) {
  const auto range = read_score_range(call.arguments[2], call.arguments[3]);
  if (!range) return bad_range();
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  return remove(call, found, unordered_within(call, *found.object, *range));
}

Reply zremrangebyrank_command(Call& call) {
  const std::optional<std::int64_t> start = call.arguments[2].integer();
  const std::optional<std::int64_t> stop = call.arguments[3].integer();
  if (!start || !stop) return not_an_integer();
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  const IndexRange range = index_range(*start, *stop, found->size());
  const std::span<const std::uint32_t> order = found->order(call.world());
  return remove(call, found, order.subspan(range.first, range.end - range.first));
}

}  // namespace lockstep::models::redis
