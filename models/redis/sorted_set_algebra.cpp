// ZUNIONSTORE and ZINTERSTORE.

#include <algorithm>
#include <cstdint>

#include "models/redis/database.hpp"
#include "models/redis/handlers.hpp"

namespace lockstep::models::redis {
namespace {

enum class Aggregate : std::uint8_t { sum, least, most };

struct Query {
  std::size_t keys = 0;
  std::vector<Real> weights;
  Aggregate aggregate = Aggregate::sum;
};

/// The arguments behind the keys, or the error.
std::optional<Reply> read_options(const Call& call, Query& query) {
  query.weights.assign(query.keys, 1);
  for (std::size_t i = 3 + query.keys; i < call.size(); ++i) {
    const std::size_t left = call.size() - i;
    if (left > query.keys && call.arguments[i].is_word("WEIGHTS")) {
      for (Real& weight : query.weights) {
        const std::optional<Real> read = parse_real(call.arguments[++i].text());
        if (!read) return Reply::error("ERR weight value is not a float");
        weight = *read;
      }
    } else if (left > 1 && call.arguments[i].is_word("AGGREGATE")) {
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
    } else {
      return syntax_error();
    }
  }
  return std::nullopt;
}

/// A sorted set, or a set whose members score 1, with weights applied. `error` if a score has no name.
std::vector<ScoredMember> weighted(const Entry* entry, Real weight, bool& error) {
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
    // Infinity times zero: Redis takes it for nothing.
    if (product) member.score = product->is_not_a_number() ? Score(Real{0}) : *product;
  }
  return members;
}

std::optional<Score> aggregated(const Score& a, const Score& b, Aggregate how, const sim::World& world) {
  if (how == Aggregate::least) return b.less_than(a, world) ? b : a;
  if (how == Aggregate::most) return a.less_than(b, world) ? b : a;
  const std::optional<Score> sum = Score::sum(a, b);
  return sum && sum->is_not_a_number() ? Score(Real{0}) : sum;
}

Reply combine(Call& call, bool only_common) {
  const std::optional<std::int64_t> count = call.arguments[2].integer();
  if (!count) return not_an_integer();
  if (*count < 1) {
    return Reply::error("ERR at least 1 input key is needed for '" + error_name(call.command) + "' command");
  }
  if (*count > static_cast<std::int64_t>(call.size()) - 3) return syntax_error();
  Query query;
  query.keys = static_cast<std::size_t>(*count);

  for (std::size_t i = 0; i < query.keys; ++i) {
    const Entry* entry = call.keys.find(call.key(3 + i), call.clock);
    if (entry == nullptr) continue;
    if (!std::holds_alternative<SortedSet>(entry->object) && !std::holds_alternative<Set>(entry->object)) {
      return wrong_type();
    }
  }
  if (const auto error = read_options(call, query)) return *error;

  // Redis begins with the smallest: of floating-point sums the order can matter.
  std::vector<std::size_t> sources;
  const auto size_at = [&](std::size_t i) {
    const Entry* entry = call.keys.peek(call.key(3 + i));
    if (entry == nullptr) return std::size_t{0};
    const Set* set = std::get_if<Set>(&entry->object);
    return set != nullptr ? set->size() : std::get<SortedSet>(entry->object).size();
  };
  for (std::size_t i = 0; i < query.keys; ++i) sources.push_back(i);
  std::sort(sources.begin(), sources.end(),
            [&](std::size_t a, std::size_t b) { return size_at(a) != size_at(b) ? size_at(a) < size_at(b) : a < b; });

  bool has_no_name = false;
  SortedSet result;
  for (std::size_t turn = 0; turn < sources.size(); ++turn) {
    const std::size_t source = sources[turn];
    const std::vector<ScoredMember> members =
        weighted(call.keys.peek(call.key(3 + source)), query.weights[source], has_no_name);
    SortedSet next;
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
  if (has_no_name) {
    return call.database.give_up("a sum of scores needs the digits of a time, which an exploration does not have");
  }
  const auto size = static_cast<std::int64_t>(result.size());
  store_result(call, std::move(result));
  return Reply::integer(size);
}

}  // namespace

Reply zunionstore_command(Call& call) { return combine(call, false); }
Reply zinterstore_command(Call& call) { return combine(call, true); }

}  // namespace lockstep::models::redis
