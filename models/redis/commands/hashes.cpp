// Commands on hashes.

#include <cstdint>

#include "models/redis/commands/objects_of_calls.hpp"
#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

/// True if the field is new.
bool set_field(Hash& hash, std::string_view name, const Value& value) {
  const std::uint64_t digest = digest_bytes(name);
  HashField* field = hash.find(name, digest);
  const bool is_new = field == nullptr;
  if (is_new) field = &hash.insert(name, digest);
  field->value = value;
  return is_new;
}

Reply value_of(const Hash* hash, std::string_view name) {
  const HashField* field = hash != nullptr ? hash->find(name) : nullptr;
  return field != nullptr ? Reply::bulk(field->value) : Reply::nil();
}

enum class Part : std::uint8_t { both, names, values };

Reply all_fields(Call& call, Part part) {
  const auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> items;
  if (found) {
    for (const HashField& field : found->items()) {
      if (part != Part::values) items.push_back(Reply::bulk(field.key));
      if (part != Part::names) items.push_back(Reply::bulk(field.value));
    }
  }
  return part == Part::both ? Reply::map(std::move(items)) : Reply::array(std::move(items));
}

/// HSET and HMSET differ in nothing but their reply.
std::variant<std::int64_t, Reply> set_fields(Call& call) {
  if (call.size() % 2 != 0) return wrong_number_of_arguments(call);
  auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  Hash& hash = found.get_or_create(call);
  std::int64_t added = 0;
  for (std::size_t i = 2; i < call.size(); i += 2) {
    if (set_field(hash, call.key(i), call.arguments[i + 1])) ++added;
    call.keys.part_changed(found.entry->key, call.key(i), MemberChange::written);
  }
  return added;
}

}  // namespace

Reply hset_command(Call& call) {
  const auto added = set_fields(call);
  if (const Reply* error = std::get_if<Reply>(&added)) return *error;
  return Reply::integer(std::get<std::int64_t>(added));
}

Reply hmset_command(Call& call) {
  const auto added = set_fields(call);
  if (const Reply* error = std::get_if<Reply>(&added)) return *error;
  return Reply::ok();
}

Reply hsetnx_command(Call& call) {
  auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  if (found && found->find(call.key(2)) != nullptr) return Reply::integer(0);
  set_field(found.get_or_create(call), call.key(2), call.arguments[3]);
  call.keys.part_changed(found.entry->key, call.key(2), MemberChange::written);
  return Reply::integer(1);
}

Reply hget_command(Call& call) {
  const auto found = find_object<Hash>(call);
  return found.is_wrong() ? wrong_type() : value_of(found.object, call.key(2));
}

Reply hmget_command(Call& call) {
  const auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  std::vector<Reply> values;
  for (std::size_t i = 2; i < call.size(); ++i) values.push_back(value_of(found.object, call.key(i)));
  return Reply::array(std::move(values));
}

Reply hgetall_command(Call& call) { return all_fields(call, Part::both); }
Reply hkeys_command(Call& call) { return all_fields(call, Part::names); }
Reply hvals_command(Call& call) { return all_fields(call, Part::values); }

Reply hdel_command(Call& call) {
  auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  std::int64_t removed = 0;
  for (std::size_t i = 2; found && i < call.size(); ++i) {
    const std::string_view name = call.key(i);
    if (HashField* field = found->find(name, digest_bytes(name))) {
      found->erase(*field);
      call.keys.part_changed(found.entry->key, name, MemberChange::removed);
      ++removed;
    }
  }
  if (removed > 0) found.shrunk(call);
  return Reply::integer(removed);
}

Reply hexists_command(Call& call) {
  const auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  return Reply::integer(found && found->find(call.key(2)) != nullptr ? 1 : 0);
}

Reply hlen_command(Call& call) { return size_of<Hash>(call); }

Reply hstrlen_command(Call& call) {
  const auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  const HashField* field = found ? found->find(call.key(2)) : nullptr;
  if (field == nullptr) return Reply::integer(0);
  return Reply::integer(static_cast<std::int64_t>(field->value.view(call.scratch).size()));
}

Reply hincrby_command(Call& call) {
  const std::optional<std::int64_t> increment = call.arguments[3].integer();
  if (!increment) return not_an_integer();
  auto found = find_object<Hash>(call);
  if (found.is_wrong()) return wrong_type();
  std::int64_t sum = 0;
  if (const HashField* field = found ? found->find(call.key(2)) : nullptr) {
    const std::optional<std::int64_t> number = field->value.integer();
    if (!number) return Reply::error("ERR hash value is not an integer");
    sum = *number;
  }
  if (__builtin_add_overflow(sum, *increment, &sum)) return Reply::error("ERR increment or decrement would overflow");
  set_field(found.get_or_create(call), call.key(2), sum);
  call.keys.part_changed(found.entry->key, call.key(2), MemberChange::written);
  return Reply::integer(sum);
}

}  // namespace lockstep::models::redis
