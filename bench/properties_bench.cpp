// What judging a run costs, by property, and how that grows with the run: worlds of n clients and m rounds, and of four times as
// many of either. `growth` is that of the time, beside that of the history (operations and effects) in brackets: of what judges in
// near-linear time they are alike. Prints; judges nothing. From anywhere: ./build/release/bench/properties_bench.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checker/properties/belief/progress.hpp"
#include "checker/properties/properties.hpp"
#include "checker/properties/server/no_lost_wakeup.hpp"
#include "checker/properties/server/order_properties.hpp"
#include "checker/properties/server/recoverable.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;
using namespace lockstep::sim::literals;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Once>
double least_seconds(const Once& once) {
  double least = std::numeric_limits<double>::infinity();
  const double begin = cpu_seconds();
  for (int i = 0; i < 20 && (i < 3 || cpu_seconds() - begin < 0.3); ++i) {
    const double from = cpu_seconds();
    once();
    least = std::min(least, cpu_seconds() - from);
  }
  return least;
}

struct World {
  const char* what;
  const char* lock;               ///< TOML
  const char* story;              ///< TOML of the whole
  std::vector<const char*> each;  ///< TOML of the clients: of the first, of the second, …, and again
};

const World kWorlds[] = {
    {"a mutex", "algorithm = 'set-nx-px-lua'", "", {""}},
    {"a mutex whose holders forget it", "algorithm = 'set-nx-px-lua'\nttl = '30ms'", "", {"release = false"}},
    {"two locks, in both orders",
     "algorithm = 'set-nx-px-lua'\nttl = '200ms'",
     "",
     {"locks = ['a', 'b']", "locks = ['b', 'a']"}},
    {"two locks, in one order", "algorithm = 'set-nx-px-lua'", "", {"locks = ['a', 'b']"}},
    {"readers and writers", "algorithm = 'redisson-write'", "", {"mode = 'read'", ""}},
    {"a lock taken again", "algorithm = 'redisson-hash-owner'", "", {"reenter = 1\ninner_hold = '2ms'"}},
    {"a queue", "algorithm = 'redisson-fair'", "", {""}},
    {"a semaphore", "algorithm = 'ria-sem-fair'\nlimit = 5", "", {""}},
    {"a semaphore with room for half", "algorithm = 'ria-sem-unfair'\nlimit = 50", "", {""}},
    {"a fenced resource", "algorithm = 'redisson-fenced'", "[resource]\nkind = 'counter'\n", {""}},
};

std::string text_of(const World& world, int clients, int rounds) {
  std::string text =
      fmt::format("title = 'x'\n[lock]\n{}\n[network]\nlatency = ['1ms', '5ms']\n{}", world.lock, world.story);
  const int kinds = static_cast<int>(world.each.size());
  for (int kind = 0; kind < kinds; ++kind) {
    text += "[[client]]\nname = [";
    for (int i = kind; i < clients; i += kinds) text += fmt::format("'N{}', ", i);
    text += fmt::format("]\nhold = '5ms'\nrounds = {}\nattempts = 20\n{}\n", rounds, world.each[kind]);
  }
  return text;
}

[[noreturn]] void give_up(const std::string& why) {
  fmt::print("{}\n", why);
  std::exit(1);
}

struct Judged {
  std::size_t history = 0;
  std::vector<double> seconds;  ///< by property
  std::vector<checker::Verdict> verdicts;
};

Judged judge(const World& world, int clients, int rounds, const models::locks::Catalogue& catalogue) {
  const auto read = parse(text_of(world, clients, rounds), "x.toml", catalogue);
  if (const auto* trouble = std::get_if<Diagnostic>(&read)) give_up(trouble->to_string());
  const Scenario& story = std::get<Scenario>(read);
  const auto played = run(story, catalogue, {.asks = [](std::string_view name) { return name == "recoverable"; }});
  if (const auto* trouble = std::get_if<Diagnostic>(&played)) give_up(trouble->to_string());
  const Outcome& outcome = std::get<Outcome>(played);
  checker::Names names;
  std::vector<sim::ProcessId> resources;
  sim::ProcessId server, probe;
  for (std::size_t i = 0; i < outcome.lanes.size(); ++i) {
    const sim::ProcessId id{static_cast<std::uint16_t>(i)};
    names.push_back(outcome.lanes[i].name);
    if (outcome.lanes[i].role == Lane::Role::resource) resources.push_back(id);
    if (outcome.lanes[i].role == Lane::Role::probe) probe = id;
    if (outcome.lanes[i].role == Lane::Role::server && !server.is_valid()) server = id;
  }
  const sim::Instant end = outcome.quiescent;
  const checker::ProgressQuestion progress{.within = 10_s, .end = end};
  const checker::WakeupQuestion wakeup{.server = server, .object = story.lock.key, .within = 10_s, .end = end};
  const checker::RecoverableQuestion recoverable{
      .probe = probe, .quiescent = end, .within = 0_ms, .probed_until = end + 1_s};
  std::optional<std::vector<checker::Breach>> breaches;
  const checker::JudgedRun all{.story = outcome.history,
                               .all = outcome.history,
                               .names = names,
                               .resources = resources,
                               .lock = story.lock.key,
                               .places = outcome.places,
                               .overtakings = 3,
                               .deadlock_lasting = 100_ms,
                               .progress = progress,
                               .recoverable = recoverable,
                               .wakeup = wakeup,
                               .breaches = [&]() -> std::span<const checker::Breach> {
                                 // Each of those that ask for them pays for them.
                                 breaches = checker::order_breaches(outcome.history);
                                 return *breaches;
                               }};
  Judged judged{.history = outcome.history.operations.size() + outcome.history.effects.size()};
  for (const checker::Property& property : checker::properties()) {
    checker::Verdict& verdict = judged.verdicts.emplace_back();
    judged.seconds.push_back(least_seconds([&] { verdict = property.judge(all).verdict; }));
  }
  return judged;
}

}  // namespace

int main() {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  constexpr int kClients = 25, kRounds = 25, kTimes = 4;
  for (const World& world : kWorlds) {
    const Judged small = judge(world, kClients, kRounds, catalogue);
    const Judged wide = judge(world, kTimes * kClients, kRounds, catalogue);
    const Judged deep = judge(world, kClients, kTimes * kRounds, catalogue);
    const auto growth = [&](const Judged& large) {
      return static_cast<double>(large.history) / static_cast<double>(small.history);
    };
    fmt::print("{}\n  {:<17} {:>9} {:>9} ({:>5.1f}) {:>9} ({:>5.1f})   {} operations and effects at {} x {}\n",
               world.what, "property", fmt::format("{}x{}", kClients, kRounds),
               fmt::format("{}x{}", kTimes * kClients, kRounds), growth(wide),
               fmt::format("{}x{}", kClients, kTimes * kRounds), growth(deep), small.history, kClients, kRounds);
    for (std::size_t i = 0; i < checker::properties().size(); ++i) {
      if (wide.verdicts[i] == checker::Verdict::unknown) continue;  // there is nothing to judge
      fmt::print("  {:<17} {:>7.2f}ms {:>7.1f}ms ({:>5.1f}) {:>7.1f}ms ({:>5.1f})   {}\n",
                 checker::properties()[i].name, small.seconds[i] * 1e3, wide.seconds[i] * 1e3,
                 wide.seconds[i] / small.seconds[i], deep.seconds[i] * 1e3, deep.seconds[i] / small.seconds[i],
                 to_string(wide.verdicts[i]));
    }
  }
}
