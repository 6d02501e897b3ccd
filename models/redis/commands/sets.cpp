// Commands on sets.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

bool add(Set& set, std::string_view member) {
  const std::uint64_t hash = digest_bytes(member);
  if (set.find(member, hash) != nullptr) return false;
  set.insert(member, hash);
  return true;
}

bool remove(Set& set, std::string_view member) {
  SetMember* found = set.find(member, digest_bytes(member));
  if (found == nullptr) return false;
  set.erase(*found);
  return true;
}

Reply members_of(const Set& set) {
  std::vector<Reply> members;
  members.reserve(set.size());
  for (const SetMember& member : set.items()) members.push_back(Reply::bulk(member.key));
  return Reply::set(std::move(members));
}

/// Which member comes out is the server's freedom, so the world chooses.
std::size_t any_position(const Call& call, std::size_t size) {
  return static_cast<std::size_t>(call.world().choose(sim::Choice::model, size));
}

enum class Operation : std::uint8_t { intersection, sum, difference };

/// The result of an operation on the sets at the arguments from `first` to before `end`.
std::variant<Set, Reply> combined(Call& call, std::size_t first, std::size_t end, Operation operation) {
  Set result;
  // Types are checked before anything else; a missing key is an empty set.
  for (std::size_t i = first; i < end; ++i) {
    if (find_object<Set>(call, i).is_wrong()) return wrong_type();
  }
  for (std::size_t i = first; i < end; ++i) {
    // Whatever had expired is gone by now.
    const Entry* entry = call.keys.peek(call.key(i));
    const Set* found = entry != nullptr ? std::get_if<Set>(&entry->object) : nullptr;
    if (i == first || operation == Operation::sum) {
      if (found != nullptr) {
        for (const SetMember& member : found->items()) add(result, member.key);
      }
      continue;
    }
    for (std::size_t m = result.size(); m > 0; --m) {
      SetMember& member = result.items()[m - 1];
      const bool is_there = found != nullptr && found->find(member.key) != nullptr;
      if (is_there == (operation == Operation::difference)) result.erase(member);
    }
  }
  return result;
}

Reply combine(Call& call, Operation operation) {
  const auto result = combined(call, 1, call.size(), operation);
  if (const Reply* error = std::get_if<Reply>(&result)) return *error;
  return members_of(std::get<Set>(result));
}

Reply combine_and_store(Call& call, Operation operation) {
  auto result = combined(call, 2, call.size(), operation);
  if (const Reply* error = std::get_if<Reply>(&result)) return *error;
  auto& set = std::get<Set>(result);
  const auto size = static_cast<std::int64_t>(set.size());
  store_result(call, std::move(set));
  return Reply::integer(size);
}

}  // namespace

Reply sintercard_command(Call& call) {
  const std::optional<std::int64_t> keys = call.arguments[1].integer();
  if (!keys || *keys < 1) return Reply::error("ERR numkeys should be greater than 0");
  if (*keys > static_cast<std::int64_t>(call.size()) - 2) {
    return Reply::error("ERR Number of keys can't be greater than number of args");
  }
  const std::size_t end = 2 + static_cast<std::size_t>(*keys);
  std::int64_t limit = 0;
  for (std::size_t i = end; i < call.size(); i += 2) {
    if (!call.arguments[i].is_word("LIMIT") || i + 1 == call.size()) return syntax_error();
    const std::optional<std::int64_t> read = call.arguments[i + 1].integer();
    if (!read || *read < 0) return Reply::error("ERR LIMIT can't be negative");
    limit = *read;
  }
  const auto result = combined(call, 2, end, Operation::intersection);
  if (const Reply* error = std::get_if<Reply>(&result)) return *error;
  const auto size = static_cast<std::int64_t>(std::get<Set>(result).size());
  return Reply::integer(limit > 0 ? std::min(limit, size) : size);
}

Reply sadd_command(Call& call) {
  auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  Set& set = found ? *found.object : found.get_or_create(call);
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.size(); ++i) {
    if (!add(set, call.key(i))) continue;
    call.keys.part_changed(found.entry->key, call.key(i), MemberChange::written);
    ++added;
  }
  if (added > 0) call.keys.written(*found.entry);
  return Reply::integer(added);
}

Reply srem_command(Call& call) {
  auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  std::int64_t removed = 0;
  for (std::size_t i = 2; found && i < call.size(); ++i) {
    if (!remove(*found.object, call.key(i))) continue;
    call.keys.part_changed(found.entry->key, call.key(i), MemberChange::removed);
    ++removed;
  }
  if (removed > 0) found.shrunk(call);
  return Reply::integer(removed);
}

Reply sismember_command(Call& call) {
  const auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  return Reply::integer(found && found->find(call.key(2)) != nullptr ? 1 : 0);
}

Reply smismember_command(Call& call) {
  const auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> answers;
  for (std::size_t i = 2; i < call.size(); ++i) {
    answers.push_back(Reply::integer(found && found->find(call.key(i)) != nullptr ? 1 : 0));
  }
  return Reply::array(std::move(answers));
}

Reply scard_command(Call& call) { return size_of<Set>(call); }
Reply smembers_command(Call& call) { return combine(call, Operation::sum); }
Reply sinter_command(Call& call) { return combine(call, Operation::intersection); }
Reply sunion_command(Call& call) { return combine(call, Operation::sum); }
Reply sdiff_command(Call& call) { return combine(call, Operation::difference); }
Reply sinterstore_command(Call& call) { return combine_and_store(call, Operation::intersection); }
Reply sunionstore_command(Call& call) { return combine_and_store(call, Operation::sum); }
Reply sdiffstore_command(Call& call) { return combine_and_store(call, Operation::difference); }

Reply spop_command(Call& call) {
  if (call.size() > 3) return syntax_error();
  const bool has_count = call.size() == 3;
  std::int64_t count = 1;
  if (has_count) {
    const std::optional<std::int64_t> read = call.arguments[2].integer();
    if (!read || *read < 0) return not_positive();
    count = *read;
  }
  auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return has_count ? Reply::set({}) : Reply::nil();
  std::vector<Reply> taken;
  Command effect{"SREM", call.arguments[1]};
  while (count-- > 0 && !found->empty()) {
    SetMember& member = found->items()[any_position(call, found->size())];
    taken.push_back(Reply::bulk(member.key));
    effect.push_back(member.key);
    call.keys.part_changed(found.entry->key, member.key, MemberChange::removed);
    found->erase(member);
  }
  if (!taken.empty()) {
    found.shrunk(call);
    call.database.replicate_as(std::move(effect));
  }
  return has_count ? Reply::set(std::move(taken)) : std::move(taken.front());
}

Reply srandmember_command(Call& call) {
  if (call.size() > 3) return syntax_error();
  const bool has_count = call.size() == 3;
  std::int64_t count = 1;
  if (has_count) {
    const std::optional<std::int64_t> read = call.arguments[2].integer();
    if (!read) return not_an_integer();
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (*read < -kMost) {
      return Reply::error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807");
    }
    count = *read;
  }
  const auto found = find_object<Set>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return has_count ? Reply::array({}) : Reply::nil();
  std::vector<Reply> taken;
  if (count < 0) {
    // With repetition, as many as asked for; a request for millions of them is a mistake that a server would survive.
    constexpr std::int64_t kMostRepeated = 100'000;
    for (count = std::min(-count, kMostRepeated); count > 0; --count) {
      taken.push_back(Reply::bulk(found->items()[any_position(call, found->size())].key));
    }
  } else {
    std::vector<std::size_t> left(found->size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
    while (count-- > 0 && !left.empty()) {
      const std::size_t i = any_position(call, left.size());
      taken.push_back(Reply::bulk(found->items()[left[i]].key));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return has_count ? Reply::array(std::move(taken)) : std::move(taken.front());
}

Reply smove_command(Call& call) {
  auto source = find_object<Set>(call);
  if (source.entry == nullptr) return Reply::integer(0);
  if (source.is_wrong()) return wrong_type();
  const auto destination = find_object<Set>(call, 2);
  if (destination.is_wrong()) return wrong_type();
  source = find_object<Set>(call);
  const std::string member(call.key(3));
  if (source.entry == destination.entry) {
    return Reply::integer(source->find(member) != nullptr ? 1 : 0);
  }
  if (!remove(*source.object, member)) return Reply::integer(0);
  call.keys.part_changed(source.entry->key, member, MemberChange::removed);
  source.shrunk(call);
  auto target = find_object<Set>(call, 2);
  if (add(target ? *target.object : target.get_or_create(call, 2), member)) {
    call.keys.written(*target.entry);
    call.keys.part_changed(target.entry->key, member, MemberChange::written);
  }
  return Reply::integer(1);
}

}  // namespace lockstep::models::redis
