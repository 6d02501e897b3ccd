#include "scenarios/fuzzing/shrink.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <rapidcheck/Shrinkable.h>
#include <rapidcheck/seq/Operations.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrink/Shrink.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Operations.h>

#include "models/servers/server_kind.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "scenarios/fuzzing/loose_replay.hpp"
#include "scenarios/running/runner.hpp"

namespace lockstep::scenarios {
namespace {

using sim::Duration;
using sim::DurationRange;
using What = sim::EventName::What;

constexpr std::uint64_t kShrunkEventsMax = 400'000;  // of one run with its probe: what is smaller does not take longer

/// Whether a process is this client, or a part of it ("A/1").
bool is_part_of(std::string_view process, std::string_view client) {
  if (!process.starts_with(client)) return false;
  return process.size() == client.size() || process[client.size()] == '/';
}

void erase_name(std::vector<std::vector<std::string>>& sides, std::string_view name) {
  for (std::vector<std::string>& side : sides) std::erase(side, name);
}

bool has_empty_side(const FaultSpec& fault) {
  return cuts_off(fault.kind) &&
         std::any_of(fault.between.begin(), fault.between.end(), [](const auto& side) { return side.empty(); });
}

/// Without this client or server, and without what the story says of it.
void forget_process(Scenario& story, std::string_view name) {
  std::erase_if(story.pin, [&](const PinEntry& entry) { return entry.client == name || entry.server == name; });
  for (ClientSpec& client : story.clients) {
    if (client.server == name) client.server.clear();
  }
  std::erase_if(story.schedule,
                [&](const ScheduleEntry& entry) { return is_part_of(entry.process, name) || entry.server == name; });
  const std::string of_it = std::string(name) + ".";
  std::erase_if(story.faults,
                [&](const FaultSpec& fault) { return fault.who == name || fault.trigger.step.starts_with(of_it); });
  for (FaultSpec& fault : story.faults) erase_name(fault.between, name);
  std::erase_if(story.faults, has_empty_side);
}

Scenario without_client(const Scenario& story, std::size_t index) {
  Scenario smaller = story;
  const std::string name = story.clients[index].name;
  smaller.clients.erase(smaller.clients.begin() + static_cast<std::ptrdiff_t>(index));
  forget_process(smaller, name);
  return smaller;
}

/// Faults that strike at a given time are numbered in the schedule, so it forgets all of this kind at this process.
Scenario without_fault(const Scenario& story, std::size_t index) {
  Scenario smaller = story;
  const FaultSpec fault = story.faults[index];
  smaller.faults.erase(smaller.faults.begin() + static_cast<std::ptrdiff_t>(index));
  std::erase_if(smaller.schedule, [&](const ScheduleEntry& entry) {
    return sim::EventName::is_fault(entry.what) && entry.process == fault.who;
  });
  return smaller;
}

/// Each client starts when its first start in the schedule says, and not within a range.
Scenario with_starts_of_schedule(const Scenario& story) {
  Scenario changed = story;
  for (ClientSpec& client : changed.clients) {
    if (client.acquire_at.is_exact()) continue;
    const auto entry = std::find_if(story.schedule.begin(), story.schedule.end(), [&](const ScheduleEntry& e) {
      return e.what == What::start && e.process == client.name && e.occurrence == 1;
    });
    if (entry == story.schedule.end() || entry->time < client.acquire_at.lo || entry->time > client.acquire_at.hi)
      continue;
    client.acquire_at = DurationRange::exactly(entry->time);
  }
  return changed;
}

/// What is tried, made only when its turn comes: of a large story most versions are never made.
using Edit = std::function<Scenario(const Scenario&)>;
using Edits = std::vector<Edit>;

template <class Change>
Edit edit(Change change) {
  return [change](const Scenario& story) {
    Scenario next = story;
    change(next);
    return next;
  };
}

Scenario with_longest_holds(const Scenario& story) {
  Scenario changed = story;
  for (ClientSpec& client : changed.clients) client.hold = DurationRange::exactly(client.hold.hi);
  return changed;
}

void forget_last_server(Scenario& story) {
  const std::string name = story.servers.back().name;
  story.servers.pop_back();
  forget_process(story, name);
  ServerSpec& first = story.servers.front();
  if (story.servers.size() == 1 && first.name == server_name(*first.kind, 0, 2))
    rename_server(story, first.name, server_name(*first.kind, 0, 1));
}

void forget_resource(Scenario& story) {
  story.resource.reset();
  for (FaultSpec& fault : story.faults) erase_name(fault.between, "resource");
  std::erase_if(story.faults, has_empty_side);
  std::erase_if(story.schedule, [](const ScheduleEntry& e) { return e.step == "read" || e.step == "write"; });
}

/// Large steps first: whole parts of the story.
Edits without_parts(const Scenario& story) {
  Edits edits;
  const auto without_schedule = [](Scenario& s) { s.schedule.clear(); };
  if (!story.schedule.empty()) {
    edits.push_back(edit(without_schedule));
    edits.push_back([=](const Scenario& s) { return edit(without_schedule)(with_starts_of_schedule(s)); });
    edits.push_back(
        [=](const Scenario& s) { return edit(without_schedule)(with_longest_holds(with_starts_of_schedule(s))); });
    const bool has_ranges = std::any_of(story.clients.begin(), story.clients.end(),
                                        [](const ClientSpec& client) { return !client.acquire_at.is_exact(); });
    if (has_ranges) edits.emplace_back(with_starts_of_schedule);
  }
  if (story.clients.size() > 1) {
    for (std::size_t i = story.clients.size(); i-- > 0;)
      edits.push_back([i](const Scenario& s) { return without_client(s, i); });
  }
  for (std::size_t i = story.faults.size(); i-- > 0;)
    edits.push_back([i](const Scenario& s) { return without_fault(s, i); });
  if (story.resource) edits.push_back(edit(forget_resource));
  const bool are_independent = !story.sentinels && story.servers.front().kind->are_independent(story.servers);
  if (story.servers.size() > 1 && are_independent && story.schedule.empty()) edits.push_back(edit(forget_last_server));
  return edits;
}

/// As the loader has it: who could wait for ever must give up.
bool needs_timeout(const Scenario& story) {
  return story.sentinels || std::any_of(story.faults.begin(), story.faults.end(),
                                        [](const FaultSpec& fault) { return silences(fault.kind); });
}

/// Values that a duration may be instead, simplest first.
std::vector<Duration> simpler(Duration value) {
  std::vector<Duration> values;
  if (value == Duration::zero()) return values;
  values.push_back(Duration::zero());
  for (const std::int64_t grain_ms : {1000, 100, 10, 1}) {
    const Duration grain = Duration::milliseconds(grain_ms);
    const Duration down = grain * (value.count_ns() / grain.count_ns());
    for (const Duration rounded : {down, down + grain}) {
      if (rounded != value && rounded != Duration::zero() && (rounded < value || down != value))
        values.push_back(rounded);
    }
  }
  const Duration half = Duration::milliseconds((value / 2).floor_ms());
  if (half != Duration::zero() && half != value) values.push_back(half);
  // What is round already only gets shorter, or it would go back and forth.
  const auto is_round = [](Duration d) { return d == Duration::milliseconds(d.floor_ms()); };
  if (is_round(value)) {
    const auto is_longer = [&](Duration d) { return std::max(d, -d) >= std::max(value, -value); };
    std::erase_if(values, is_longer);
  }
  return values;
}

class Details {
 public:
  enum class Which : std::uint8_t { all, numbers };
  explicit Details(const Scenario& story, Which which = Which::all) : story_(story) {
    numbers();
    if (which == Which::numbers) return;
    settings();
    times();
  }
  Edits take() { return std::move(edits_); }

 private:
  template <class Change>
  void add(Change change) {
    edits_.push_back(edit(change));
  }

  void number(std::int64_t value, std::int64_t least, auto set) {
    rc::Seq<std::int64_t> values = rc::shrink::towards(value, least);
    for (auto next = values.next(); next; next = values.next()) {
      add([set, n = *next](Scenario& s) { set(s, n); });
    }
  }

  void duration(Duration value, auto set) {
    for (const Duration next : simpler(value)) add([set, next](Scenario& s) { set(s, next); });
  }

  void numbers() {
    for (std::size_t i = 0; i < story_.clients.size(); ++i) {
      const ClientSpec& client = story_.clients[i];
      number(client.rounds, 1, [i](Scenario& s, std::int64_t n) { s.clients[i].rounds = n; });
      if (client.attempts) number(*client.attempts, 1, [i](Scenario& s, std::int64_t n) { s.clients[i].attempts = n; });
      number(client.reenter, 0, [i](Scenario& s, std::int64_t n) { s.clients[i].reenter = n; });
    }
  }

  void settings() {
    const ClockSpec none;
    for (std::size_t i = 0; i < story_.clients.size(); ++i) {
      if (story_.clients[i].clock != none) add([i](Scenario& s) { s.clients[i].clock = {}; });
      if (!story_.clients[i].release) add([i](Scenario& s) { s.clients[i].release = true; });
      if (story_.clients[i].retry && story_.clients[i].attempts == 1)
        add([i](Scenario& s) { s.clients[i].retry.reset(); });
      const bool uses_lock = story_.clients[i].commands.empty();
      if (uses_lock && story_.clients[i].between != DurationRange{})
        add([i](Scenario& s) { s.clients[i].between = {}; });
      if (!story_.clients[i].hold.is_exact()) {
        add([i](Scenario& s) { s.clients[i].hold.hi = s.clients[i].hold.lo; });
        add([i](Scenario& s) { s.clients[i].hold.lo = s.clients[i].hold.hi; });
      }
    }
    for (std::size_t i = 0; i < story_.servers.size(); ++i) {
      if (story_.servers[i].clock != none) add([i](Scenario& s) { s.servers[i].clock = {}; });
      if (story_.servers[i].latency) add([i](Scenario& s) { s.servers[i].latency.reset(); });
    }
    if (story_.network.timeout && !needs_timeout(story_)) add([](Scenario& s) { s.network.timeout.reset(); });
    if (!story_.network.latency.is_exact()) {
      add([](Scenario& s) { s.network.latency.hi = s.network.latency.lo; });
      add([](Scenario& s) { s.network.latency.lo = s.network.latency.hi; });
    }
  }

  void times() {
    for (std::size_t i = 0; i < story_.faults.size(); ++i) {
      const FaultSpec& fault = story_.faults[i];
      duration(fault.length.lo, [i](Scenario& s, Duration d) { s.faults[i].length = DurationRange::exactly(d); });
      duration(fault.by.lo, [i](Scenario& s, Duration d) { s.faults[i].by = DurationRange::exactly(d); });
      if (fault.restart_after)
        duration(fault.restart_after->lo,
                 [i](Scenario& s, Duration d) { s.faults[i].restart_after = DurationRange::exactly(d); });
      if (fault.trigger.kind == Trigger::Kind::at)
        duration(fault.trigger.time, [i](Scenario& s, Duration d) { s.faults[i].trigger.time = d; });
    }
    for (std::size_t i = 0; i < story_.clients.size(); ++i) {
      const ClientSpec& client = story_.clients[i];
      if (client.acquire_at.is_exact())
        duration(client.acquire_at.lo,
                 [i](Scenario& s, Duration d) { s.clients[i].acquire_at = DurationRange::exactly(d); });
      if (client.hold.is_exact())
        duration(client.hold.lo, [i](Scenario& s, Duration d) { s.clients[i].hold = DurationRange::exactly(d); });
      duration(client.clock.offset, [i](Scenario& s, Duration d) { s.clients[i].clock.offset = d; });
    }
    for (std::size_t i = 0; i < story_.servers.size(); ++i) {
      duration(story_.servers[i].clock.offset, [i](Scenario& s, Duration d) { s.servers[i].clock.offset = d; });
    }
  }

  const Scenario& story_;
  Edits edits_;
};

/// The versions that these edits make, each when it is asked for.
template <class Version, class Make>
rc::Seq<Version> versions(Edits edits, Make make) {
  return rc::seq::map(rc::seq::fromContainer(std::move(edits)), std::move(make));
}

/// Leaves out what can be left out, in halves, quarters, … of the list: Zeller's delta debugging, without its
/// complements.
template <class Item, class Test, class Over>
std::vector<Item> without_needless(std::vector<Item> items, Test is_enough, Over is_over) {
  for (std::size_t size = items.size(); size > 0; size /= 2) {
    for (std::size_t at = 0; at < items.size() && !is_over();) {
      std::vector<Item> fewer = items;
      const auto begin = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, fewer.size() - at)));
      if (is_enough(fewer)) {
        items = std::move(fewer);
      } else {
        at += size;
      }
    }
  }
  return items;
}

class Shrinking {
 public:
  Shrinking(const models::locks::Catalogue& catalogue, std::string_view property, std::function<bool()> is_late,
            std::uint64_t max_tries, std::uint64_t max_events)
      : catalogue_(catalogue),
        property_(property),
        is_late_(std::move(is_late)),
        max_tries_(max_tries),
        max_events_(max_events) {}

  bool is_over() const { return tried_ >= max_tries_ || events_ >= max_events_ || is_late(); }

  /// An edit may leave out what others need: what no file could say is no story. To ask for that takes three times as
  /// long as a run, which refuses names of nobody itself; so only what is violated is asked.
  bool violates_edited(const Scenario& story) { return violates(story) && !refusal_of(story, catalogue_); }

  bool violates(const Scenario& story) {
    if (is_over()) return false;
    ++tried_;
    // A verdict is all that is asked, so the probe may end as soon as it is decided.
    const auto result = run(story, catalogue_, {.brief = true, .max_events = kShrunkEventsMax});
    const auto* outcome = std::get_if<Outcome>(&result);
    // Each event is looked for in the whole schedule.
    events_ += story.schedule.size() * story.schedule.size() / 16 + (outcome == nullptr ? 0 : outcome->events);
    if (outcome == nullptr || !outcome->notes.empty()) return false;
    return std::any_of(outcome->properties.begin(), outcome->properties.end(), [&](const Judgement& judgement) {
      return judgement.finding.property == property_ && judgement.finding.verdict == checker::Verdict::violated;
    });
  }

  /// With a schedule again; nothing: without it the story is not violated.
  std::optional<Scenario> smallest_loosely(LooseStory story) {
    std::optional<Scenario> exact;
    const auto is_over = [&] { return tried_ >= max_tries_ / 2 || events_ >= max_events_ / 2 || is_late(); };
    const auto is_violated = [&](const LooseStory& smaller) {
      if (is_over()) return false;
      ++tried_;
      LooseRun run = play_loosely(smaller, catalogue_, property_, kShrunkEventsMax);
      events_ += run.events;
      if (run.violates) exact = std::move(run.exact);
      return run.violates;
    };
    if (!is_violated(story)) return std::nullopt;
    const auto shrinks = [](const LooseStory& larger) {
      Edits edits = without_parts(larger.story);
      Edits fewer = Details(larger.story, Details::Which::numbers).take();
      edits.insert(edits.end(), fewer.begin(), fewer.end());
      return versions<LooseStory>(
          std::move(edits), [larger](const Edit& change) { return LooseStory{change(larger.story), larger.delays}; });
    };
    std::size_t before = 0;
    do {
      before = story.delays.size();
      const auto is_edited_violated = [&](const LooseStory& smaller) {
        return !refusal_of(smaller.story, catalogue_) && is_violated(smaller);
      };
      story = rc::shrinkable::findLocalMin(rc::shrinkable::shrinkRecur(story, shrinks), is_edited_violated).first;
      story.delays = without_needless(
          std::move(story.delays),
          [&](const std::vector<NamedDelay>& delays) { return is_violated({story.story, delays}); }, is_over);
    } while (story.delays.size() < before);
    return exact;
  }

  Scenario smallest(Scenario story) {
    const auto is_violated = [this](const Scenario& smaller) { return violates_edited(smaller); };
    const auto shrinks = [](const Scenario& larger) {
      Edits edits = without_parts(larger);
      Edits details = Details(larger).take();
      edits.insert(edits.end(), details.begin(), details.end());
      return versions<Scenario>(std::move(edits), [larger](const Edit& change) { return change(larger); });
    };
    std::size_t before = 0;
    do {
      before = story.schedule.size();
      story.schedule = without_needless(
          std::move(story.schedule),
          [&](const std::vector<ScheduleEntry>& schedule) {
            Scenario smaller = story;
            smaller.schedule = schedule;
            return violates(smaller);
          },
          [this] { return is_over(); });
      story = rc::shrinkable::findLocalMin(rc::shrinkable::shrinkRecur(story, shrinks), is_violated).first;
    } while (story.schedule.size() < before);
    return story;
  }

  /// Whether each fault and each client is needed.
  bool is_minimal(const Scenario& story) {
    if (is_late()) return false;
    max_tries_ = tried_ + story.faults.size() + story.clients.size();
    max_events_ = UINT64_MAX;
    for (std::size_t i = 0; i < story.faults.size(); ++i) {
      if (violates_edited(without_fault(story, i))) return false;
    }
    for (std::size_t i = 0; i < story.clients.size() && story.clients.size() > 1; ++i) {
      if (violates_edited(without_client(story, i))) return false;
    }
    return true;
  }

  std::uint64_t tried() const { return tried_; }

 private:
  /// Those that show the story itself are run in any case.
  bool is_late() const { return tried_ >= 3 && is_late_ && is_late_(); }

  const models::locks::Catalogue& catalogue_;
  std::string_view property_;
  std::function<bool()> is_late_;
  std::uint64_t max_tries_;
  std::uint64_t max_events_;
  std::uint64_t tried_ = 0;
  std::uint64_t events_ = 0;
};

/// Without names and times: "# got the lock at # while #, who got it at #, still believed to hold it (until #)".
std::string without_particulars(const std::string& why, const Scenario& story) {
  const auto is_of_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.';
  };
  const auto is_name = [&](std::string_view word) {
    const auto is_it = [&](const auto& process) { return is_part_of(word, process.name); };
    return std::any_of(story.clients.begin(), story.clients.end(), is_it) ||
           std::any_of(story.servers.begin(), story.servers.end(), is_it);
  };
  std::string text;
  for (std::size_t i = 0; i < why.size();) {
    if (!is_of_word(why[i])) {
      text += why[i++];
      continue;
    }
    std::size_t end = i;
    while (end < why.size() && is_of_word(why[end])) ++end;
    const std::string_view word = std::string_view(why).substr(i, end - i);
    const bool has_digit = std::any_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (has_digit || is_name(word)) {
      text += '#';
    } else {
      text += word;
    }
    i = end;
  }
  return text;
}

bool has_skew(const Scenario& story) {
  const auto is_off = [](const auto& process) { return process.clock.offset != Duration::zero(); };
  return std::any_of(story.clients.begin(), story.clients.end(), is_off) ||
         std::any_of(story.servers.begin(), story.servers.end(), is_off);
}

std::vector<std::string> faults_of(const Scenario& story) {
  std::vector<std::string> faults;
  for (const FaultSpec& fault : story.faults) {
    const bool is_of_server = std::any_of(story.servers.begin(), story.servers.end(),
                                          [&](const ServerSpec& server) { return server.name == fault.who; });
    faults.push_back(fmt::format("{}{}", is_of_server ? "server-" : "", name_of(fault.kind)));
  }
  if (has_skew(story)) faults.emplace_back("skew");
  std::sort(faults.begin(), faults.end());
  faults.erase(std::unique(faults.begin(), faults.end()), faults.end());
  return faults;
}

/// The world's faults of the kinds that are still there, so that `check` asks how much of them it takes.
std::vector<MaySpec> mays_for(const Scenario& story, const Scenario& world) {
  std::vector<MaySpec> mays;
  const auto is_there = [&](const std::string& name) {
    const auto is_it = [&](const auto& process) { return process.name == name; };
    return std::any_of(story.clients.begin(), story.clients.end(), is_it) ||
           std::any_of(story.servers.begin(), story.servers.end(), is_it);
  };
  for (const MaySpec& may : world.may) {
    const bool is_needed = is_from_the_start(may.kind)
                               ? has_skew(story)
                               : std::any_of(story.faults.begin(), story.faults.end(),
                                             [&](const FaultSpec& fault) { return fault.kind == may.kind; });
    if (!is_needed) continue;
    MaySpec kept = may;
    std::erase_if(kept.who, [&](const std::string& name) { return !is_there(name); });
    if (kept.who.empty() && !may.who.empty()) continue;
    for (std::vector<std::string>& side : kept.between)
      std::erase_if(side, [&](const std::string& name) { return !is_there(name); });
    if (std::any_of(kept.between.begin(), kept.between.end(), [](const auto& side) { return side.empty(); })) continue;
    mays.push_back(std::move(kept));
  }
  return mays;
}

/// The world with the processes that are left, to compare clocks with.
Scenario world_of(const Scenario& story, const Scenario& world) {
  Scenario original = story;
  const auto take_clocks = [](auto& to, const auto& from) {
    for (auto& process : to) {
      for (const auto& before : from) {
        if (before.name == process.name) process.clock = before.clock;
      }
    }
  };
  take_clocks(original.clients, world.clients);
  take_clocks(original.servers, world.servers);
  original.id = world.id;
  return original;
}

Text lesson_of(const Shrunk& shrunk, std::string_view property) {
  if (!shrunk.is_minimal) {
    return {
        fmt::format("Found by `lockstep fuzz` and made smaller, but perhaps not as small as can be: {} is violated.",
                    property),
        fmt::format("由 `lockstep fuzz` 找到并缩小，但可能还不是最小的：{} 被违反。", property)};
  }
  const bool has_faults = !shrunk.story.faults.empty();
  return {
      fmt::format("Found by `lockstep fuzz` and made small: without any one of its {}clients, {} is not violated here.",
                  has_faults ? "faults or " : "", property),
      fmt::format("由 `lockstep fuzz` 找到并缩小：去掉任何一个{}客户端，{} 都不再被违反。", has_faults ? "故障或" : "",
                  property)};
}

}  // namespace

std::variant<Shrunk, Unconfirmed> shrink(const Scenario& found, const std::vector<NamedDelay>& delays,
                                         const Scenario& world, const models::locks::Catalogue& catalogue,
                                         std::string_view property, std::function<bool()> is_late,
                                         std::uint64_t max_tries, std::uint64_t max_events) {
  Shrinking shrinking(catalogue, property, std::move(is_late), max_tries, max_events);
  // First without a schedule, which most of what can be left out would make impossible.
  LooseStory loose{.story = found, .delays = delays};
  loose.story.schedule.clear();
  Scenario smallest = found;
  bool is_shown = false;
  if (std::optional<Scenario> exact = shrinking.smallest_loosely(std::move(loose))) {
    is_shown = shrinking.violates(*exact);
    if (is_shown) smallest = *std::move(exact);
  }
  if (!is_shown) is_shown = shrinking.violates(found);
  // Where a schedule cannot say all of what happened, less of it may.
  for (const Edit& change : is_shown ? Edits() : without_parts(found)) {
    smallest = change(found);
    is_shown = shrinking.violates_edited(smallest);
    if (is_shown) break;
  }
  if (!is_shown) {
    std::variant<Witness, Unconfirmed> shown = confirm(found, world, catalogue, property, {});
    if (auto* trouble = std::get_if<Unconfirmed>(&shown)) return std::move(*trouble);
    return Unconfirmed{"the run is too long to be made small", to_toml(found)};
  }
  smallest = shrinking.smallest(smallest);
  const bool is_minimal = shrinking.is_minimal(smallest);
  const Scenario original = world_of(smallest, world);
  std::variant<Witness, Unconfirmed> shown = confirm(std::move(smallest), original, catalogue, property, {});
  if (auto* trouble = std::get_if<Unconfirmed>(&shown)) return std::move(*trouble);
  Witness& witness = std::get<Witness>(shown);
  Shrunk shrunk{.story = std::move(witness.scenario),
                .text = {},
                .why = std::move(witness.why),
                .cause = {},
                .tried = shrinking.tried(),
                .is_minimal = is_minimal};
  shrunk.faults = faults_of(shrunk.story);
  shrunk.cause = fmt::format("{}|{}|{}|{}", property, world.lock.algorithm, fmt::join(shrunk.faults, "+"),
                             without_particulars(shrunk.why, shrunk.story));
  shrunk.story.may = mays_for(shrunk.story, world);
  shrunk.story.lesson = lesson_of(shrunk, property);
  shrunk.text = to_toml(shrunk.story);
  return shrunk;
}

}  // namespace lockstep::scenarios
