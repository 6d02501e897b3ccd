#include "models/redis/kind/held_keys.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

namespace lockstep::models::redis {
namespace {

/// More of a collection tells nobody anything.
constexpr std::size_t kPartsShown = 24;
constexpr std::size_t kBytesShown = 400;

std::string shown(const std::string& bytes) {
  if (bytes.size() <= kBytesShown) return plain_or_quoted(bytes);
  return plain_or_quoted(bytes.substr(0, kBytesShown)) + fmt::format("… ({} bytes)", bytes.size());
}

std::string shown(std::vector<std::string> parts, char open, char close) {
  const std::size_t count = parts.size();
  if (count > kPartsShown) {
    parts.resize(kPartsShown);
    parts.push_back(fmt::format("… ({} in all)", count));
  }
  return fmt::format("{}{}{}", open, fmt::join(parts, ", "), close);
}

std::string text_of(const Value& value, const sim::World& /*world*/) { return shown(value.text()); }

/// By name: the order of a hash in memory depends on which was removed last.
std::string text_of(const Hash& hash, const sim::World& /*world*/) {
  std::vector<std::string> fields;
  for (const HashField& field : hash.items())
    fields.push_back(fmt::format("{}: {}", shown(field.key), shown(field.value.text())));
  std::sort(fields.begin(), fields.end());
  return shown(std::move(fields), '{', '}');
}

std::string text_of(const List& list, const sim::World& /*world*/) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < list.size(); ++i) elements.push_back(shown(list[i].text()));
  return shown(std::move(elements), '[', ']');
}

std::string text_of(const Set& set, const sim::World& /*world*/) {
  std::vector<std::string> members;
  for (const SetMember& member : set.items()) members.push_back(shown(member.key));
  std::sort(members.begin(), members.end());
  return shown(std::move(members), '{', '}');
}

std::string text_of(const SortedSet& set, const sim::World& world) {
  std::vector<std::string> members;
  for (const std::uint32_t position : set.order(world)) {
    const ScoredMember& member = set.member(position);
    members.push_back(fmt::format("{} at {}", shown(member.key), member.score.value().text()));
  }
  return shown(std::move(members), '[', ']');
}

}  // namespace

std::vector<HeldObject> held_keys(const Database& database, const sim::World& world) {
  std::vector<HeldObject> keys;
  for (DatabaseId number = 0; number < kDatabases; ++number) {
    for (const Entry& entry : database.keys().entries(number)) {
      HeldObject& held = keys.emplace_back();
      held.name = name_in_history(entry.key, number);
      held.type = type_name(entry.object);
      held.text = std::visit([&](const auto& object) { return text_of(object, world); }, entry.object);
      if (entry.expires) held.expires = entry.at;
    }
  }
  return keys;
}

std::vector<std::string> holdings_of(const Database& database) {
  std::vector<std::string> keys;
  for (const Entry& entry : database.keys().entries(0)) {
    std::string text = plain_or_quoted(entry.key) + " = ";
    if (const auto* value = std::get_if<Value>(&entry.object)) {
      text += value->timestamp() != nullptr ? "a time" : plain_or_quoted(value->text());
    } else {
      text += "a collection";
    }
    if (entry.expires) text += ", with a lease";
    keys.push_back(std::move(text));
  }
  return keys;
}

}  // namespace lockstep::models::redis
