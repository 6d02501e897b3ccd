#include "scenarios/deployment/key_states.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace lockstep::scenarios {
namespace {

namespace redis = models::redis;

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

std::string text_of(const models::Value& value, const sim::World& /*world*/) { return shown(value.text()); }

/// By name: the order of a hash in memory depends on which was removed last.
std::string text_of(const redis::Hash& hash, const sim::World& /*world*/) {
  std::vector<std::string> fields;
  for (const redis::HashField& field : hash.items())
    fields.push_back(fmt::format("{}: {}", shown(field.key), shown(field.value.text())));
  std::sort(fields.begin(), fields.end());
  return shown(std::move(fields), '{', '}');
}

std::string text_of(const redis::List& list, const sim::World& /*world*/) {
  std::vector<std::string> elements;
  for (std::size_t i = 0; i < list.size(); ++i) elements.push_back(shown(list[i].text()));
  return shown(std::move(elements), '[', ']');
}

std::string text_of(const redis::Set& set, const sim::World& /*world*/) {
  std::vector<std::string> members;
  for (const redis::SetMember& member : set.items()) members.push_back(shown(member.key));
  std::sort(members.begin(), members.end());
  return shown(std::move(members), '{', '}');
}

std::string text_of(const redis::SortedSet& set, const sim::World& world) {
  std::vector<std::string> members;
  for (const std::uint32_t position : set.order(world)) {
    const redis::ScoredMember& member = set.member(position);
    members.push_back(fmt::format("{} at {}", shown(member.key), member.score.value().text()));
  }
  return shown(std::move(members), '[', ']');
}

}  // namespace

std::string plain_or_quoted(const std::string& bytes) {
  const bool is_plain = !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_' ||
           c == ':' || c == '.';
  });
  if (is_plain) return bytes;
  std::string quoted;
  models::append_quoted(quoted, bytes);
  return quoted;
}

KeyStateRecorder::Keys KeyStateRecorder::keys_of(const redis::Database& database) const {
  constexpr redis::DatabaseId kDatabases = 16;
  Keys keys;
  for (redis::DatabaseId number = 0; number < kDatabases; ++number) {
    for (const redis::Entry& entry : database.keys().entries(number)) {
      Seen& seen = keys[redis::name_in_history(entry.key, number)];
      seen.type = redis::type_name(entry.object);
      seen.text = std::visit([&](const auto& object) { return text_of(object, world_); }, entry.object);
      if (entry.expires) seen.expires = entry.at;
    }
  }
  return keys;
}

void KeyStateRecorder::note(const Server& server, const std::string& key, const Seen* seen) {
  KeyState& state = states_.emplace_back();
  state.step = world_.step();
  state.at = world_.now();
  state.server = server.process;
  state.key = key;
  if (seen == nullptr) return;
  state.type = seen->type;
  state.text = seen->text;
  state.expires_by_own_clock = seen->expires;
  if (seen->expires) state.expires = server.clock->true_time_of(*seen->expires);
}

void KeyStateRecorder::look() {
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Server& server = servers_[i];
    const std::uint64_t digest = server.database->digest();
    if (std::exchange(digests_[i], digest) == digest && known_.contains(i)) continue;
    Keys keys = keys_of(*server.database);
    Keys& known = known_[i];
    std::set<std::string> names;
    for (const auto& [name, seen] : known) names.insert(name);
    for (const auto& [name, seen] : keys) names.insert(name);
    for (const std::string& name : names) {
      const auto before = known.find(name);
      const auto after = keys.find(name);
      if (after == keys.end()) {
        note(server, name, nullptr);
      } else if (before == known.end() || before->second != after->second) {
        note(server, name, &after->second);
      }
    }
    known = std::move(keys);
  }
}

}  // namespace lockstep::scenarios
