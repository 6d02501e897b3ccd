// Unions, intersections and differences of sorted sets, and of sets, whose members score 1.

#include <algorithm>
#include <cstdint>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/commands.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

enum class Aggregate : std::uint8_t { sum, least, most };

enum class SortedSetOperation : std::uint8_t { unite, intersect, subtract };

struct Query {
  SortedSetOperation operation = SortedSetOperation::unite;
  std::size_t first = 1;     ///< which argument tells how many keys there are
  bool stores = false;       ///< the argument before that is where to
  bool counts = false;       ///< ZINTERCARD
  bool with_scores = false;  ///< of those that reply members
  std::int64_t limit = 0;    ///< ZINTERCARD; 0: none
  std::size_t keys = 0;
  std::vector<Real> weights;
  Aggregate aggregate = Aggregate::sum;
};

/// The arguments behind the keys, or the error.
std::optional<Reply> read_options(const Call& call, Query& query) {
  query.weights.assign(query.keys, 1);
  const bool has_weights = query.operation != SortedSetOperation::subtract && !query.counts;
  for (std::size_t i = query.first + 1 + query.keys; i < call.size(); ++i) {
    const std::size_t left = call.size() - i;
    if (has_weights && left > query.keys && call.arguments[i].is_word("WEIGHTS")) {
      for (Real& weight : query.weights) {
        const std::optional<Real> read = parse_real(call.arguments[++i].text());
        if (!read) return Reply::error("ERR weight value is not a float");
        weight = *read;
      }
    } else if (has_weights && left > 1 && call.arguments[i].is_word("AGGREGATE")) {
      const Value& word = call.arguments[++i];
      if (word.is_word("SUM")) {
        query.aggregate = Aggregate::sum;
      } else if (word.is_word("MIN")) {
        query.aggregate = Aggregate::least;
      } else if (word.is_word("MAX")) {
        query.aggregate = Aggregate::most;
      } else {
        return syntax_error();
      }
    } else if (!query.stores && !query.counts && call.arguments[i].is_word("WITHSCORES")) {
      query.with_scores = true;
    } else if (query.counts && left > 1 && call.arguments[i].is_word("LIMIT")) {
      const std::optional<std::int64_t> limit = call.arguments[++i].integer();
      if (!limit || *limit < 0) return Reply::error("ERR LIMIT can't be negative");
      query.limit = *limit;
    } else {
      return syntax_error();
    }
  }
  return std::nullopt;
}

/// A sorted set, or a set whose members score 1, with weights applied. `error` if a score has no name.
std::vector<ScoredMember> weighted(const Entry* entry, Real weight, bool& error, bool keeps_no_numbers = false) {
  std::vector<ScoredMember> members;
  if (entry == nullptr) return members;
  if (const Set* set = std::get_if<Set>(&entry->object)) {
    for (const SetMember& member : set->items()) members.push_back({member.key, member.hash, Score(Real{1})});
  } else {
    const auto all = std::get<SortedSet>(entry->object).members();
    members.assign(all.begin(), all.end());
  }
  for (ScoredMember& member : members) {
    const std::optional<Score> product = Score::product(member.score, weight);
    if (!product) error = true;
    // Infinity times zero: Redis takes it for nothing, but for those that ZINTER adds to what it has.
    if (product) member.score = product->is_not_a_number() && !keeps_no_numbers ? Score(Real{0}) : *product;
  }
  return members;
}

std::optional<Score> aggregated(const Score& a, const Score& b, Aggregate how, const sim::World& world) {
  // A comparison with what is no number is never true.
  if (b.is_not_a_number()) return how == Aggregate::sum ? Score(Real{0}) : a;
  if (how == Aggregate::least) return b.less_than(a, world) ? b : a;
  if (how == Aggregate::most) return a.less_than(b, world) ? b : a;
  const std::optional<Score> sum = Score::sum(a, b);
  return sum && sum->is_not_a_number() ? Score(Real{0}) : sum;
}

/// The members of the first key that are in none of the others.
SortedSet difference(Call& call, const Query& query, std::size_t first_key) {
  SortedSet result;
  bool error = false;
  for (const ScoredMember& member : weighted(call.keys.peek(call.key(first_key)), 1, error)) {
    result.set(member.key, member.score);
  }
  for (std::size_t i = 1; i < query.keys; ++i) {
    const std::string key(call.key(first_key + i));
    // Of what is subtracted only the names count.
    for (const ScoredMember& member : weighted(call.keys.peek(key), 1, error)) result.erase(member.key);
  }
  return result;
}

/// Nothing where an exploration has no name for a score.
std::optional<SortedSet> combination(Call& call, const Query& query, std::size_t first_key) {
  const bool only_common = query.operation == SortedSetOperation::intersect;
  // Redis begins with the smallest: of floating-point sums the order can matter.
  std::vector<std::size_t> sources;
  const auto size_at = [&](std::size_t i) {
    const Entry* entry = call.keys.peek(call.key(first_key + i));
    if (entry == nullptr) return std::size_t{0};
    const Set* set = std::get_if<Set>(&entry->object);
    return set != nullptr ? set->size() : std::get<SortedSet>(entry->object).size();
  };
  for (std::size_t i = 0; i < query.keys; ++i) sources.push_back(i);
  std::sort(sources.begin(), sources.end(),
            [&](std::size_t a, std::size_t b) { return size_at(a) != size_at(b) ? size_at(a) < size_at(b) : a < b; });

  const auto empty = [&] { return query.stores ? SortedSet() : SortedSet::with_signed_zeros(); };
  bool has_no_name = false;
  SortedSet result = empty();
  for (std::size_t turn = 0; turn < sources.size(); ++turn) {
    const std::size_t source = sources[turn];
    const std::vector<ScoredMember> members = weighted(call.keys.peek(call.key(first_key + source)),
                                                       query.weights[source], has_no_name, only_common && turn > 0);
    SortedSet next = empty();
    for (const ScoredMember& member : members) {
      const ScoredMember* before = result.find(member.key);
      if (before == nullptr) {
        if (turn == 0 || !only_common) next.set(member.key, member.score);
        continue;
      }
      const auto score = aggregated(before->score, member.score, query.aggregate, call.world());
      if (!score) has_no_name = true;
      if (score) next.set(member.key, *score);
    }
    if (!only_common) {
      for (const ScoredMember& before : result.members()) {
        if (next.find(before.key) == nullptr) next.set(before.key, before.score);
      }
    }
    result = std::move(next);
  }
  if (has_no_name) return std::nullopt;
  return result;
}

Reply combine(Call& call, Query query) {
  const std::optional<std::int64_t> count = call.arguments[query.first].integer();
  if (!count) return not_an_integer();
  if (*count < 1) {
    return Reply::error("ERR at least 1 input key is needed for '" + error_name(call.command) + "' command");
  }
  if (*count > static_cast<std::int64_t>(call.size() - query.first) - 1) return syntax_error();
  query.keys = static_cast<std::size_t>(*count);

  const std::size_t first_key = query.first + 1;
  for (std::size_t i = 0; i < query.keys; ++i) {
    const Entry* entry = call.keys.find(call.key(first_key + i), call.clock);
    if (entry == nullptr) continue;
    if (!std::holds_alternative<SortedSet>(entry->object) && !std::holds_alternative<Set>(entry->object)) {
      return wrong_type();
    }
  }
  if (const auto error = read_options(call, query)) return *error;

  std::optional<SortedSet> result = query.operation == SortedSetOperation::subtract
                                        ? difference(call, query, first_key)
                                        : combination(call, query, first_key);
  if (!result) {
    return call.database.give_up("a sum of scores needs the digits of a time, which an exploration does not have");
  }
  const auto size = static_cast<std::int64_t>(result->size());
  if (query.counts) return Reply::integer(query.limit > 0 ? std::min(size, query.limit) : size);
  if (query.stores) {
    store_result(call, *std::move(result));
    return Reply::integer(size);
  }
  std::vector<Reply> items;
  for (const std::uint32_t position : result->order(call.world())) {
    const ScoredMember& member = result->member(position);
    items.push_back(Reply::bulk(member.key));
    if (query.with_scores) items.push_back(Reply::real(member.score.value()));
  }
  return query.with_scores ? Reply::pairs(std::move(items)) : Reply::array(std::move(items));
}

}  // namespace

Reply zunionstore_command(Call& call) { return combine(call, {.first = 2, .stores = true}); }
Reply zinterstore_command(Call& call) {
  return combine(call, {.operation = SortedSetOperation::intersect, .first = 2, .stores = true});
}
Reply zdiffstore_command(Call& call) {
  return combine(call, {.operation = SortedSetOperation::subtract, .first = 2, .stores = true});
}
Reply zunion_command(Call& call) { return combine(call, {}); }
Reply zinter_command(Call& call) { return combine(call, {.operation = SortedSetOperation::intersect}); }
Reply zdiff_command(Call& call) { return combine(call, {.operation = SortedSetOperation::subtract}); }
Reply zintercard_command(Call& call) {
  return combine(call, {.operation = SortedSetOperation::intersect, .counts = true});
}

}  // namespace lockstep::models::redis
