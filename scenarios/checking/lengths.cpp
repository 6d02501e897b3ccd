#include "scenarios/checking/lengths.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/story/own_lock.hpp"
#include "sim/worlds/fault_kinds.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using Kind = StoryLength::Kind;

/// The range in a story that was copied.
using Where = std::function<DurationRange*(Scenario&)>;

/// Who uses the lock: clients, and of those that have threads the threads.
std::vector<ClientSpec*> users_of(Scenario& story) {
  std::vector<ClientSpec*> users;
  for (ClientSpec& client : story.clients) {
    if (!client.commands.empty()) continue;
    if (client.threads.empty()) users.push_back(&client);
    for (ClientSpec& thread : client.threads) users.push_back(&thread);
  }
  return users;
}

/// A length, or both ends of a range. `names`: exact, least, greatest.
void add(std::vector<StoryLength>& all, DurationRange now, const std::array<std::string, 3>& names,
         const std::vector<Where>& places) {
  const auto setter = [&](Kind kind) {
    return [places, kind](Scenario& story, Duration value) {
      for (const Where& place : places) {
        DurationRange& range = *place(story);
        if (kind != Kind::greatest) range.lo = value;
        if (kind != Kind::least) range.hi = value;
      }
    };
  };
  const auto put = [&](Kind kind, const std::string& name, Duration value) {
    all.push_back({.name = name, .range = names[0], .kind = kind, .value = value, .set = setter(kind)});
  };
  if (now.is_exact()) {
    put(Kind::exact, names[0], now.lo);
    return;
  }
  put(Kind::least, names[1], now.lo);
  put(Kind::greatest, names[2], now.hi);
}

std::array<std::string, 3> names_of(std::string_view name) {
  return {std::string(name), fmt::format("least {}", name), fmt::format("greatest {}", name)};
}

void add_settings(std::vector<StoryLength>& all, const Scenario& story, const models::locks::Catalogue& catalogue) {
  const models::locks::Entry* entry = find_entry(story.lock, catalogue);
  if (entry == nullptr) return;
  for (const models::locks::ParameterSpec& spec : entry->parameters) {
    const auto set = story.lock.parameters.find(spec.name);
    const models::locks::ParameterValue& value = set == story.lock.parameters.end() ? spec.fallback : set->second;
    const std::string key(spec.name);
    if (const auto* length = std::get_if<Duration>(&value)) {
      all.push_back({.name = key,
                     .range = key,
                     .value = *length,
                     .is_setting = true,
                     .set = [key](Scenario& changed, Duration to) { changed.lock.parameters[key] = to; }});
    } else if (const auto* range = std::get_if<DurationRange>(&value)) {
      const auto place = [key, fallback = *range](Scenario& changed) {
        return &std::get<DurationRange>(changed.lock.parameters.try_emplace(key, fallback).first->second);
      };
      const std::size_t first = all.size();
      add(all, *range, names_of(key), {place});
      for (std::size_t i = first; i < all.size(); ++i) all[i].is_setting = true;
    }
  }
}

/// What clients have each: alike ones together.
void add_of_clients(std::vector<StoryLength>& all, const Scenario& story, std::string_view name,
                    DurationRange ClientSpec::* field) {
  Scenario copy = story;
  const std::vector<ClientSpec*> users = users_of(copy);
  std::vector<std::pair<DurationRange, std::vector<std::size_t>>> ways;
  for (std::size_t i = 0; i < users.size(); ++i) {
    const DurationRange range = users[i]->*field;
    const auto same = std::find_if(ways.begin(), ways.end(), [&](const auto& way) { return way.first == range; });
    if (same == ways.end())
      ways.push_back({range, {i}});
    else
      same->second.push_back(i);
  }
  for (const auto& [range, which] : ways) {
    std::string whose;
    std::vector<Where> places;
    for (const std::size_t i : which) {
      whose += (whose.empty() ? " of " : ", ") + users[i]->name;
      places.push_back([i, field](Scenario& changed) { return &(users_of(changed)[i]->*field); });
    }
    if (ways.size() == 1) whose.clear();
    const std::size_t first = all.size();
    const bool is_start = field == &ClientSpec::acquire_at;
    const std::array<std::string, 3> names = {fmt::format("{}{}", name, whose),
                                              fmt::format("{} {}{}", is_start ? "earliest" : "least", name, whose),
                                              fmt::format("{} {}{}", is_start ? "latest" : "greatest", name, whose)};
    add(all, range, names, places);
    for (std::size_t i = first; i < all.size(); ++i)
      all[i].is_work = field == &ClientSpec::hold && all[i].kind != Kind::least;
  }
}

/// The same fault with at most `most` of its length, to the sides to which the file has it. What the file has as one
/// length is of any up to that one: a shorter one may do harm as well.
DurationRange up_to(const DurationRange& length, Duration most, bool is_one_length) {
  const Duration above = length.hi > Duration::zero() ? most : Duration::zero();
  const Duration below = length.lo < Duration::zero() ? -most : Duration::zero();
  if (is_one_length) return {below + above, below + above};
  if (length.is_exact()) return {below, above};
  if (length.hi < Duration::zero()) return {below, std::max(below, length.hi)};
  return {length.lo < Duration::zero() ? below : std::min(length.lo, above), above};
}

void add_faults(std::vector<StoryLength>& all, const Scenario& story) {
  for (const MaySpec& may : story.may) {
    const std::string_view name = sim::entry_of(may.kind).parameter;
    if (name.empty() || sim::may_come_back(may.kind)) continue;
    const auto is_it = [&](const StoryLength& length) { return length.name == name; };
    if (std::any_of(all.begin(), all.end(), is_it)) continue;
    StoryLength& added = all.emplace_back();
    added.name = added.range = name;
    added.kind = Kind::fault;
    std::vector<std::function<void(Scenario&, Duration)>> setters;
    for (std::size_t i = 0; i < story.may.size(); ++i) {
      const MaySpec& each = story.may[i];
      if (sim::entry_of(each.kind).parameter != name) continue;
      const DurationRange range = *length_of(each);
      const bool is_one_length = has_one_length(story, each);
      added.is_one_length = added.is_one_length || is_one_length;
      added.value = std::max({added.value, range.hi, -range.lo});
      setters.emplace_back(
          [=](Scenario& changed, Duration most) { *length_of(changed.may[i]) = up_to(range, most, is_one_length); });
    }
    added.set = [setters = std::move(setters)](Scenario& changed, Duration most) {
      for (const auto& set : setters) set(changed, most);
    };
  }
}

}  // namespace

std::vector<StoryLength> lengths_of(const Scenario& story, const models::locks::Catalogue& catalogue) {
  std::vector<StoryLength> all;
  add_settings(all, story, catalogue);
  add(all, story.network.latency, names_of("latency"), {[](Scenario& changed) { return &changed.network.latency; }});
  if (story.network.replication) {
    add(all, *story.network.replication, names_of("replication"),
        {[](Scenario& changed) { return &*changed.network.replication; }});
  }
  if (story.network.timeout) {
    all.push_back({.name = "timeout",
                   .range = "timeout",
                   .value = *story.network.timeout,
                   .set = [](Scenario& changed, Duration to) { changed.network.timeout = to; }});
  }
  for (std::size_t i = 0; i < story.servers.size(); ++i) {
    if (!story.servers[i].latency) continue;
    add(all, *story.servers[i].latency, names_of(fmt::format("latency of {}", story.servers[i].name)),
        {[i](Scenario& changed) { return &*changed.servers[i].latency; }});
  }
  if (story.sentinels) {
    all.push_back({.name = "down_after",
                   .range = "down_after",
                   .value = story.sentinels->down_after,
                   .is_setting = true,
                   .set = [](Scenario& changed, Duration to) { changed.sentinels->down_after = to; }});
  }
  add_of_clients(all, story, "start", &ClientSpec::acquire_at);
  add_of_clients(all, story, "hold", &ClientSpec::hold);
  add_of_clients(all, story, "between", &ClientSpec::between);
  add_of_clients(all, story, "inner hold", &ClientSpec::inner_hold);
  add_faults(all, story);
  // What is nothing and no fault is not there: rounds that are none, holds inside of holds.
  std::erase_if(all, [](const StoryLength& length) {
    return length.kind == Kind::exact && length.value == Duration::zero() &&
           (length.range.starts_with("between") || length.range.starts_with("inner hold"));
  });
  return all;
}

}  // namespace lockstep::scenarios
