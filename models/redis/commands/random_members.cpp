// HRANDFIELD and ZRANDMEMBER: what `World::choose` takes.

#include <limits>
#include <span>
#include <vector>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/database.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

std::span<const HashField> members_of(const Hash& hash) { return hash.items(); }
std::span<const ScoredMember> members_of(const SortedSet& set) { return set.members(); }

/// `Type` has members by position, `append(replies, member, with_more)` adds what is told of one.
template <class Type, class Append>
Reply random_members(Call& call, std::string_view option, Append append) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const bool has_count = call.size() > 2;
  const bool with_more = call.size() > 3;
  std::int64_t count = 1;
  if (has_count) {
    const std::optional<std::int64_t> read = call.arguments[2].integer();
    if (!read) return not_an_integer();
    if (*read < -kMost) {
      return Reply::error("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807");
    }
    if (call.size() > 4 || (with_more && !call.arguments[3].is_word(option))) return syntax_error();
    if (with_more && (*read < -(kMost / 2) || *read > kMost / 2)) return Reply::error("ERR value is out of range");
    count = *read;
  }
  const auto found = find_object<Type>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return has_count ? Reply::array({}) : Reply::nil();
  const auto members = members_of(*found.object);
  const auto any = [&](std::size_t options) {
    return static_cast<std::size_t>(call.world().choose(sim::Choice::model, options));
  };
  std::vector<Reply> taken;
  const auto all = [&] { return with_more ? Reply::pairs(std::move(taken)) : Reply::array(std::move(taken)); };
  if (!has_count) {
    append(taken, members[any(members.size())], false);
    return std::move(taken.front());
  }
  if (count < 0) {
    // With repetition, as many as asked for; a request for millions of them is a mistake that a server would survive.
    constexpr std::int64_t kMostRepeated = 100'000;
    for (count = std::min(-count, kMostRepeated); count > 0; --count) {
      append(taken, members[any(members.size())], with_more);
    }
    return all();
  }
  std::vector<std::size_t> left(members.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  for (; count > 0 && !left.empty(); --count) {
    const std::size_t i = any(left.size());
    append(taken, members[left[i]], with_more);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return all();
}

}  // namespace

Reply hrandfield_command(Call& call) {
  return random_members<Hash>(call, "WITHVALUES",
                              [](std::vector<Reply>& replies, const HashField& field, bool with_value) {
                                replies.push_back(Reply::bulk(field.key));
                                if (with_value) replies.push_back(Reply::bulk(field.value));
                              });
}

Reply zrandmember_command(Call& call) {
  return random_members<SortedSet>(call, "WITHSCORES",
                                   [](std::vector<Reply>& replies, const ScoredMember& member, bool with_score) {
                                     replies.push_back(Reply::bulk(member.key));
                                     if (with_score) replies.push_back(Reply::real(member.score.value()));
                                   });
}

}  // namespace lockstep::models::redis
