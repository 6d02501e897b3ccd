// Commands on lists that wait for nothing.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

enum class End : std::uint8_t { left, right };

Value take(List& list, End end) { return end == End::left ? list.pop_front() : list.pop_back(); }

void put(List& list, End end, const Value& value) {
  if (end == End::left) {
    list.push_front(value);
  } else {
    list.push_back(value);
  }
}

Reply push(Call& call, End end, bool only_if_present) {
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found && only_if_present) return Reply::integer(0);
  List& list = found.get_or_create(call);
  for (std::size_t i = 2; i < call.size(); ++i) put(list, end, call.arguments[i]);
  return Reply::integer(static_cast<std::int64_t>(list.size()));
}

Reply pop(Call& call, End end) {
  if (call.size() > 3) return wrong_number_of_arguments(call);
  const bool has_count = call.size() == 3;
  std::int64_t count = 1;
  if (has_count) {
    const std::optional<std::int64_t> read = call.arguments[2].integer();
    if (!read || *read < 0) return not_positive();
    count = *read;
  }
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return has_count ? Reply::null_array() : Reply::nil();
  std::vector<Reply> taken;
  while (count-- > 0 && !found->empty()) taken.push_back(Reply::bulk(take(*found.object, end)));
  if (!taken.empty()) found.shrunk(call);
  return has_count ? Reply::array(std::move(taken)) : std::move(taken.front());
}

std::optional<End> read_end(const Value& word) {
  if (word.is_word("LEFT")) return End::left;
  if (word.is_word("RIGHT")) return End::right;
  return std::nullopt;
}

/// An index that may count from the end.
std::int64_t from_front(std::int64_t index, std::size_t size) {
  return index < 0 ? index + static_cast<std::int64_t>(size) : index;
}

Reply move(Call& call, End from, End to) {
  auto source = find_object<List>(call);
  if (source.is_wrong()) return wrong_type();
  if (!source) return Reply::nil();
  auto destination = find_object<List>(call, 2);
  if (destination.is_wrong()) return wrong_type();
  source = find_object<List>(call);  // an expiry of the other key may have moved it
  Value value = take(*source.object, from);
  if (call.key(1) == std::string(call.key(2))) {
    put(*source.object, to, value);
    call.keys.written(*source.entry);
    call.keys.part_changed(source.entry->key, {}, MemberChange::nameless);
    return Reply::bulk(std::move(value));
  }
  // What creates a key may move the others.
  source.shrunk(call);
  destination = find_object<List>(call, 2);
  put(destination.get_or_create(call, 2), to, value);
  return Reply::bulk(std::move(value));
}

}  // namespace

Reply lpush_command(Call& call) { return push(call, End::left, false); }
Reply rpush_command(Call& call) { return push(call, End::right, false); }
Reply lpushx_command(Call& call) { return push(call, End::left, true); }
Reply rpushx_command(Call& call) { return push(call, End::right, true); }
Reply lpop_command(Call& call) { return pop(call, End::left); }
Reply rpop_command(Call& call) { return pop(call, End::right); }
Reply llen_command(Call& call) { return size_of<List>(call); }

Reply lindex_command(Call& call) {
  const auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::nil();
  const std::optional<std::int64_t> index = call.arguments[2].integer();
  if (!index) return not_an_integer();
  const std::int64_t at = from_front(*index, found->size());
  if (at < 0 || at >= static_cast<std::int64_t>(found->size())) return Reply::nil();
  return Reply::bulk((*found.object)[static_cast<std::size_t>(at)]);
}

Reply lset_command(Call& call) {
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::error("ERR no such key");
  const std::optional<std::int64_t> index = call.arguments[2].integer();
  if (!index) return not_an_integer();
  const std::int64_t at = from_front(*index, found->size());
  if (at < 0 || at >= static_cast<std::int64_t>(found->size())) return Reply::error("ERR index out of range");
  (*found.object)[static_cast<std::size_t>(at)] = call.arguments[3];
  call.keys.written(*found.entry);
  call.keys.part_changed(found.entry->key, {}, MemberChange::nameless);
  return Reply::ok();
}

Reply lrange_command(Call& call) {
  const std::optional<std::int64_t> start = call.arguments[2].integer();
  const std::optional<std::int64_t> stop = call.arguments[3].integer();
  if (!start || !stop) return not_an_integer();
  const auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> items;
  if (found) {
    const IndexRange range = index_range(*start, *stop, found->size());
    for (std::size_t i = range.first; i < range.end; ++i) items.push_back(Reply::bulk((*found.object)[i]));
  }
  return Reply::array(std::move(items));
}

Reply ltrim_command(Call& call) {
  const std::optional<std::int64_t> start = call.arguments[2].integer();
  const std::optional<std::int64_t> stop = call.arguments[3].integer();
  if (!start || !stop) return not_an_integer();
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::ok();
  const IndexRange range = index_range(*start, *stop, found->size());
  found->erase(range.end, found->size() - range.end);
  found->erase(0, range.first);
  found.shrunk(call);  // a write even if nothing was cut: a client that watches it would notice
  return Reply::ok();
}

Reply lrem_command(Call& call) {
  const std::optional<std::int64_t> count = call.arguments[2].integer();
  if (!count) return not_an_integer();
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  const bool from_right = *count < 0;
  // The most negative number has no positive; no list is that long.
  const std::int64_t most = *count == 0 ? std::int64_t{1} << 62 : (from_right ? -(*count + 1) + 1 : *count);
  std::int64_t removed = 0;
  for (std::size_t step = 0, i = 0; removed < most && step < found->size();) {
    i = from_right ? found->size() - 1 - step : step;
    if (call.equal((*found.object)[i], call.arguments[3])) {
      found->erase(i);
      ++removed;
    } else {
      ++step;
    }
  }
  if (removed > 0) found.shrunk(call);
  return Reply::integer(removed);
}

Reply linsert_command(Call& call) {
  const bool before = call.arguments[2].is_word("BEFORE");
  if (!before && !call.arguments[2].is_word("AFTER")) return syntax_error();
  auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  if (!found) return Reply::integer(0);
  for (std::size_t i = 0; i < found->size(); ++i) {
    if (!call.equal((*found.object)[i], call.arguments[3])) continue;
    found->insert(before ? i : i + 1, call.arguments[4]);
    call.keys.written(*found.entry);
    call.keys.part_changed(found.entry->key, {}, MemberChange::nameless);
    return Reply::integer(static_cast<std::int64_t>(found->size()));
  }
  return Reply::integer(-1);
}

Reply lmove_command(Call& call) {
  const std::optional<End> from = read_end(call.arguments[3]);
  const std::optional<End> to = read_end(call.arguments[4]);
  return from && to ? move(call, *from, *to) : syntax_error();
}

Reply rpoplpush_command(Call& call) { return move(call, End::right, End::left); }

/// The first, or the RANKth, or COUNT of the positions at which an element stands.
Reply lpos_command(Call& call) {
  std::int64_t rank = 1, longest = 0;
  std::optional<std::int64_t> count;
  for (std::size_t i = 3; i < call.size(); i += 2) {
    if (i + 1 == call.size()) return syntax_error();
    const std::optional<std::int64_t> read = call.arguments[i + 1].integer();
    if (call.arguments[i].is_word("RANK")) {
      if (!read) return not_an_integer();
      // The smallest has no opposite: the real server then takes what it meets first, from the end.
      rank = *read == std::numeric_limits<std::int64_t>::min() ? -1 : *read;
      if (rank == 0) {
        return Reply::error(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to "
            "start from the end of the list");
      }
    } else if (call.arguments[i].is_word("COUNT")) {
      if (!read || *read < 0) return Reply::error("ERR COUNT can't be negative");
      count = *read;
    } else if (call.arguments[i].is_word("MAXLEN")) {
      if (!read || *read < 0) return Reply::error("ERR MAXLEN can't be negative");
      longest = *read;
    } else {
      return syntax_error();
    }
  }
  const auto found = find_object<List>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> positions;
  const auto size = static_cast<std::int64_t>(found ? found->size() : 0);
  const std::int64_t most = count ? *count : 1;
  std::int64_t to_skip = (rank < 0 ? -rank : rank) - 1;
  for (std::int64_t n = 0; n < size && (longest == 0 || n < longest); ++n) {
    const std::int64_t at = rank < 0 ? size - 1 - n : n;
    if (!call.equal((*found.object)[static_cast<std::size_t>(at)], call.arguments[2]) || to_skip-- > 0) continue;
    positions.push_back(Reply::integer(at));
    if (most > 0 && static_cast<std::int64_t>(positions.size()) == most) break;
  }
  if (count) return Reply::array(std::move(positions));
  return positions.empty() ? Reply::nil() : positions.front();
}

}  // namespace lockstep::models::redis
