#include "models/redis/database/commands.hpp"

#include <algorithm>
#include <array>

#include "models/redis/database/handlers.hpp"

namespace lockstep::models::redis {
namespace {

constexpr auto kCommands = std::to_array<CommandSpec>({
#define LOCKSTEP_COMMAND(name, arity, first_key, last_key, key_step, flags, function) \
  {name, arity, first_key, last_key, key_step, flags, function},
#define LOCKSTEP_CONTAINER(name, arity) {name, arity, 0, 0, 0, kContainer, nullptr},
#include "models/redis/database/command_rows.def"
});

static_assert(std::ranges::is_sorted(kCommands, {}, &CommandSpec::name));

constexpr std::size_t kLongestName = 24;

/// A name in capitals, or nothing when it is too long to be one.
struct Capitals {
  std::array<char, kLongestName> characters;
  std::size_t length = 0;

  bool append(std::string_view text) {
    if (length + text.size() > characters.size()) return false;
    for (const char c : text) characters[length++] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return true;
  }
  std::string_view view() const { return {characters.data(), length}; }
};

constexpr std::size_t kBuckets = 1024;

constexpr std::size_t bucket_of(std::string_view name) {
  std::uint32_t hash = 0;
  for (const char c : name) hash = hash * 31 + static_cast<unsigned char>(c);
  return (hash ^ hash >> 10) % kBuckets;
}

/// Where each entry stands, plus one, by its bucket or the next that was free: every request is looked up once.
constexpr auto kPlaces = [] {
  std::array<std::uint16_t, kBuckets> places{};
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    std::size_t bucket = bucket_of(kCommands[i].name);
    while (places[bucket] != 0) bucket = (bucket + 1) % kBuckets;
    places[bucket] = static_cast<std::uint16_t>(i + 1);
  }
  return places;
}();

// Nearly all requests have a name that fits a number, and a number is compared at once.

constexpr std::size_t kShortName = sizeof(std::uint64_t);

/// Requires: at most `kShortName` characters.
constexpr std::uint64_t packed(std::string_view name) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c)) << 8 * i;
  }
  return word;
}

struct ShortName {
  std::uint64_t word = 0;
  const CommandSpec* spec = nullptr;
};

constexpr std::size_t bucket_of(std::uint64_t word) { return (word * 0x9e3779b97f4a7c15) >> 54; }

constexpr auto kShortNames = [] {
  std::array<ShortName, 1024> names{};
  for (const CommandSpec& spec : kCommands) {
    if (spec.name.size() > kShortName) continue;
    const std::uint64_t word = packed(spec.name);
    std::size_t bucket = bucket_of(word);
    while (names[bucket].spec != nullptr) bucket = (bucket + 1) % names.size();
    names[bucket] = {word, &spec};
  }
  return names;
}();
static_assert(std::ranges::none_of(kCommands, [](const CommandSpec& spec) {
  return spec.name.size() <= kShortName && spec.name.find(' ') != std::string_view::npos;
}));

const CommandSpec* find_by_short_name(std::string_view name) {
  const std::uint64_t word = packed(name);
  for (std::size_t bucket = bucket_of(word); kShortNames[bucket].spec != nullptr;
       bucket = (bucket + 1) % kShortNames.size()) {
    const ShortName& found = kShortNames[bucket];
    if (found.word == word && found.spec->name.size() == name.size()) return found.spec;
  }
  return nullptr;
}

const CommandSpec* find_by_name(std::string_view capitals) {
  for (std::size_t bucket = bucket_of(capitals); kPlaces[bucket] != 0; bucket = (bucket + 1) % kBuckets) {
    const CommandSpec& spec = kCommands[kPlaces[bucket] - 1U];
    if (spec.name == capitals) return &spec;
  }
  return nullptr;
}

}  // namespace

std::span<const CommandSpec> command_table() { return kCommands; }

const CommandSpec* find_command(std::span<const Value> arguments) {
  const auto bytes = arguments[0].bytes();
  if (!bytes) return nullptr;
  Capitals name;
  const CommandSpec* found = nullptr;
  if (bytes->size() <= kShortName) {
    found = find_by_short_name(*bytes);
  } else if (name.append(*bytes) && bytes->find(' ') == std::string_view::npos) {
    // A blank in the name would find "SCRIPT LOAD" sent as one word.
    found = find_by_name(name.view());
  }
  if (found == nullptr || !found->is(kContainer) || arguments.size() < 2) return found;
  name.length = 0;
  name.append(found->name);
  const auto subcommand = arguments[1].bytes();
  if (!subcommand || !name.append(" ") || !name.append(*subcommand)) return found;
  const CommandSpec* of_container = find_by_name(name.view());
  return of_container != nullptr ? of_container : found;
}

const CommandSpec& key_holds_spec() {
  static constexpr CommandSpec spec{"GET", 3, 1, 1, 1, kReadOnly, key_holds_command};
  return spec;
}

std::string error_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    if (c == ' ') c = '|';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace lockstep::models::redis
