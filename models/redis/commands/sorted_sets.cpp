// Commands on one sorted set: members, scores, ranks.

#include <cstdint>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

struct AddOptions {
  bool only_new = false;       // NX
  bool only_present = false;   // XX
  bool only_greater = false;   // GT
  bool only_less = false;      // LT
  bool count_changed = false;  // CH
  bool increment = false;      // INCR
};

/// How often each thing happened, and the last score that was set.
struct AddResult {
  std::int64_t added = 0;
  std::int64_t changed = 0;
  std::optional<Score> score;
};

Reply bad_float() { return Reply::error("ERR value is not a valid float"); }
Reply no_such_sum(Call& call) {
  return call.database.give_up("a sum of scores needs the digits of a time, which an exploration does not have");
}

/// Adds one pair, as the options have it; the error if the sum is none.
std::optional<Reply> add_one(Call& call, SortedSet& set, const AddOptions& options, Score score,
                             std::string_view member, AddResult& result) {
  const ScoredMember* present = set.find(member);
  if (present == nullptr) {
    if (options.only_present) return std::nullopt;
    set.set(member, score);
    ++result.added;
    result.score = score;
    return std::nullopt;
  }
  if (options.only_new) return std::nullopt;
  const Score before = present->score;
  if (options.increment) {
    const std::optional<Score> sum = Score::sum(before, score);
    if (!sum) return no_such_sum(call);
    if (sum->is_not_a_number()) return Reply::error("ERR resulting score is not a number (NaN)");
    score = *sum;
  }
  if (options.only_less && !score.less_than(before, call.world())) return std::nullopt;
  if (options.only_greater && !before.less_than(score, call.world())) return std::nullopt;
  result.score = score;
  if (score.equals(before, call.world())) return std::nullopt;
  set.set(member, score);
  ++result.changed;
  return std::nullopt;
}

/// ZADD from the first pair on, which are `pairs` arguments.
Reply add(Call& call, const AddOptions& options, std::size_t first) {
  if (options.only_new && options.only_present) {
    return Reply::error("ERR XX and NX options at the same time are not compatible");
  }
  if ((options.only_greater && options.only_new) || (options.only_less && options.only_new) ||
      (options.only_greater && options.only_less)) {
    return Reply::error("ERR GT, LT, and/or NX options at the same time are not compatible");
  }
  if (options.increment && call.size() - first > 2) {
    return Reply::error("ERR INCR option supports a single increment-element pair");
  }
  std::vector<Score> scores;
  for (std::size_t i = first; i < call.size(); i += 2) {
    const std::optional<Score> score = Score::read(call.arguments[i]);
    if (!score) return bad_float();
    scores.push_back(*score);
  }
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  AddResult result;
  std::optional<Reply> error;
  if (found || !options.only_present) {
    SortedSet& set = found ? *found.object : found.get_or_create(call);
    for (std::size_t i = 0; i < scores.size() && !error; ++i) {
      const std::int64_t before = result.added + result.changed;
      error = add_one(call, set, options, scores[i], call.key(first + 2 * i + 1), result);
      if (result.added + result.changed == before) continue;
      call.keys.part_changed(found.entry->key, call.key(first + 2 * i + 1), MemberChange::written);
    }
    if (result.added + result.changed > 0) call.keys.written(*found.entry);
  }
  if (error) return *error;
  if (options.increment) return result.score ? Reply::real(result.score->value()) : Reply::nil();
  return Reply::integer(options.count_changed ? result.added + result.changed : result.added);
}

/// The position in `order`, or nothing.
std::optional<std::size_t> rank_of(const Call& call, const SortedSet& set, std::string_view member) {
  if (set.find(member) == nullptr) return std::nullopt;
  const std::span<const std::uint32_t> order = set.order(call.world());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (set.member(order[i]).key == member) return i;
  }
  return std::nullopt;
}

Reply rank(Call& call, bool from_end) {
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::nil();
  const std::optional<std::size_t> position = rank_of(call, *found.object, call.key(2));
  if (!position) return Reply::nil();
  return Reply::integer(static_cast<std::int64_t>(from_end ? found->size() - 1 - *position : *position));
}

Reply score_of(const SortedSet* set, std::string_view member) {
  const ScoredMember* found = set != nullptr ? set->find(member) : nullptr;
  return found != nullptr ? Reply::real(found->score.value()) : Reply::nil();
}

Reply pop(Call& call, bool from_end) {
  if (call.size() > 3) return syntax_error();
  std::int64_t count = 1;
  if (call.size() == 3) {
    const std::optional<std::int64_t> read = call.arguments[2].integer();
    if (!read || *read < 0) return not_positive();
    count = *read;
  }
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> taken;
  for (; found && count > 0 && !found->empty(); --count) {
    const std::span<const std::uint32_t> order = found->order(call.world());
    const ScoredMember& member = found->member(from_end ? order.back() : order.front());
    taken.push_back(Reply::bulk(member.key));
    taken.push_back(Reply::real(member.score.value()));
    call.keys.part_changed(found.entry->key, member.key, MemberChange::removed);
    found->erase(std::string(member.key));
  }
  if (!taken.empty()) {
    Command effect{"ZREM", call.arguments[1]};
    for (std::size_t i = 0; i < taken.size(); i += 2) effect.push_back(taken[i].value());
    found.shrunk(call);
    call.database.replicate_as(std::move(effect));
  }
  // One pair comes flat if no number was asked for.
  return call.size() == 3 ? Reply::pairs(std::move(taken)) : Reply::array(std::move(taken));
}

}  // namespace

namespace {

/// ZINCRBY reads options, too, though its arity leaves room for none.
Reply add(Call& call, AddOptions options) {
  std::size_t first = 2;
  for (; first < call.size(); ++first) {
    const Value& word = call.arguments[first];
    if (word.is_word("NX")) {
      options.only_new = true;
    } else if (word.is_word("XX")) {
      options.only_present = true;
    } else if (word.is_word("GT")) {
      options.only_greater = true;
    } else if (word.is_word("LT")) {
      options.only_less = true;
    } else if (word.is_word("CH")) {
      options.count_changed = true;
    } else if (word.is_word("INCR")) {
      options.increment = true;
    } else {
      break;
    }
  }
  if (first == call.size() || (call.size() - first) % 2 != 0) return syntax_error();
  return add(call, options, first);
}

}  // namespace

Reply zadd_command(Call& call) { return add(call, AddOptions{}); }
Reply zincrby_command(Call& call) { return add(call, AddOptions{.increment = true}); }

Reply zrem_command(Call& call) {
  auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  std::int64_t removed = 0;
  for (std::size_t i = 2; found && i < call.size(); ++i) {
    if (!found->erase(call.key(i))) continue;
    call.keys.part_changed(found.entry->key, call.key(i), MemberChange::removed);
    ++removed;
  }
  if (removed > 0) found.shrunk(call);
  return Reply::integer(removed);
}

Reply zscore_command(Call& call) {
  const auto found = find_object<SortedSet>(call);
  return found.is_wrong() ? wrong_type() : score_of(found.object, call.key(2));
}

Reply zmscore_command(Call& call) {
  const auto found = find_object<SortedSet>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> scores;
  for (std::size_t i = 2; i < call.size(); ++i) scores.push_back(score_of(found.object, call.key(i)));
  return Reply::array(std::move(scores));
}

Reply zcard_command(Call& call) { return size_of<SortedSet>(call); }
Reply zrank_command(Call& call) { return rank(call, false); }
Reply zrevrank_command(Call& call) { return rank(call, true); }
Reply zpopmin_command(Call& call) { return pop(call, false); }
Reply zpopmax_command(Call& call) { return pop(call, true); }

}  // namespace lockstep::models::redis
