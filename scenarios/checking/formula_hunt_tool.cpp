// Formulas of random worlds against searches of their own: at random figures within its box a formula says up to where the lock is kept; there it has to be
// kept, and a microsecond beyond it broken.
//
//   formula_hunt [WORLDS [FIRST]]   200 from world 0 if not said otherwise; exit 1 if one differed
//   formula_hunt world SEED         that world as a file, and its formulas

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "scenarios/checking/check.hpp"
#include "scenarios/checking/formula.hpp"
#include "scenarios/checking/lengths.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/format/writer.hpp"
#include "sim/schedules/random.hpp"

namespace {

using namespace lockstep;
using scenarios::Formula;
using scenarios::FormulaTerm;
using scenarios::Scenario;
using sim::Duration;

const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue built_in = models::locks::Catalogue::built_in();
  return built_in;
}

/// Two clients, seldom three, under a lock with a lease or a session; pauses, jumps, late messages, or nothing.
Scenario world_of(std::uint64_t seed) {
  sim::Random random(sim::combine64(0x666f726d756c61, seed));
  const auto ms = [&](std::int64_t lo, std::int64_t hi) { return fmt::format("\"{}ms\"", random.between(lo, hi)); };
  constexpr std::array kLocks = {
      "algorithm = \"set-nx-px-lua\"\nttl = ", "algorithm = \"redisson-lock\"\nwait = \"0s\"\nlease = ",
      "algorithm = \"setnx-ts-del-setnx\"\nttl = ", "algorithm = \"getset-java\"\nttl = "};
  const std::size_t lock = random.below(kLocks.size());
  std::string text = fmt::format("title = {{ en = \"t\", zh = \"t\" }}\n[lock]\n{}{}\n", kLocks[lock], ms(60, 200));
  const std::int64_t least = random.between(1, 4);
  text += fmt::format("[network]\nlatency = [\"{}ms\", \"{}ms\"]\n", least, least + random.between(1, 9));
  const int clients = random.one_in(6) ? 3 : 2;
  for (int i = 0; i < clients; ++i) {
    text += fmt::format("[[client]]\nname = \"{}\"\nacquire_at = [\"0ms\", \"1s\"]\nattempts = 1\nhold = ",
                        static_cast<char>('A' + i));
    const std::int64_t hold = random.between(5, 40);
    text += random.one_in(2) ? fmt::format("\"{}ms\"\n", hold)
                             : fmt::format("[\"{}ms\", \"{}ms\"]\n", hold, hold + random.between(1, 20));
  }
  // Some have one length, and in the formula all up to any.
  const auto length = [&] { return random.one_in(4) ? ms(5, 150) : std::string("[\"0ms\", \"5s\"]"); };
  if (!random.one_in(4)) {
    text += "[[may]]\nkind = \"pause\"\nlength = " + length() + "\n";
    if (random.one_in(4)) text += "times = 2\n";
    // Redisson's clients have tasks beside their work.
    if (random.one_in(4) && lock != 1) text += "during = \"work\"\n";
  }
  if (random.one_in(4)) {
    text += "[[may]]\nkind = \"jump\"\n";
    // A client's clock is known to jump by one length only.
    text += random.one_in(2) ? "client = \"B\"\nby = " + ms(5, 150) + "\n" : "by = " + length() + "\n";
  }
  if (random.one_in(4)) text += "[[may]]\nkind = \"delay\"\nlength = " + length() + "\n";
  auto parsed = scenarios::parse(text, fmt::format("world-{}.toml", seed), catalogue());
  if (const auto* trouble = std::get_if<scenarios::Diagnostic>(&parsed)) {
    fmt::print("{}\n{}", trouble->to_string(), text);
    std::exit(2);
  }
  return std::get<Scenario>(std::move(parsed));
}

class Point {
 public:
  explicit Point(const Scenario& story) : lengths_(scenarios::lengths_of(story, catalogue())), story_(story) {}

  const scenarios::StoryLength& set(const std::string& name, Duration value) {
    for (const scenarios::StoryLength& length : lengths_) {
      if (length.name != name) continue;
      length.set(story_, value);
      return length;
    }
    fmt::print("a formula speaks of {}, which is no length\n", name);
    std::exit(1);
  }
  const Scenario& story() const { return story_; }

 private:
  std::vector<scenarios::StoryLength> lengths_;
  Scenario story_;
};

checker::Verdict verdict_of(const Scenario& story) {
  scenarios::CheckOptions options;
  options.exploration.max_events = 2'000'000;
  const auto result = scenarios::check(story, catalogue(), options);
  const auto* exploration = std::get_if<scenarios::Exploration>(&result);
  if (exploration == nullptr || exploration->disagreements > 0) return checker::Verdict::unknown;
  return exploration->property("mutual-exclusion").verdict;
}

/// Whether this formula, too, says that it is kept.
bool is_satisfied(const Formula& formula, const Scenario& story) {
  std::int64_t sum = formula.constant;
  for (const scenarios::StoryLength& length : scenarios::lengths_of(story, catalogue())) {
    for (const FormulaTerm& term : formula.terms)
      sum += term.length == length.name ? term.coefficient * length.value.count_ns() : 0;
  }
  return formula.is_strict ? sum > 0 : sum >= 0;
}

/// How often a search says otherwise.
std::uint64_t compare(const Scenario& story, const Formula& formula, const std::vector<Formula>& all,
                      sim::Random& random, std::uint64_t& points) {
  constexpr int kPoints = 4;
  std::uint64_t differences = 0;
  for (int i = 0; i < kPoints; ++i) {
    Point point(story);
    for (const std::string& fault : formula.without) point.set(fault, Duration::zero());
    const FormulaTerm& margin = formula.terms.front();
    std::int64_t sum = formula.constant;
    for (const FormulaTerm& term : formula.terms) {
      if (&term == &margin) continue;
      const std::int64_t us = random.between(term.box.lo.count_ns() / 1'000, term.box.hi.count_ns() / 1'000);
      // What algorithms send are whole milliseconds.
      const bool is_setting = point.set(term.length, term.value).is_setting;
      const std::int64_t ns = is_setting ? us / 1'000 * 1'000'000 : us * 1'000;
      point.set(term.length, Duration::nanoseconds(ns));
      sum += term.coefficient * ns;
    }
    const std::int64_t up_to = sum / -margin.coefficient;
    if (up_to <= 1'000) continue;
    for (const bool is_beyond : {false, true}) {
      const std::int64_t kept = up_to - (formula.is_strict ? 1'000 : 0);
      point.set(margin.length, Duration::nanoseconds(is_beyond ? up_to + 1'000 : kept));
      const auto agrees = [&](const Formula& one) { return is_satisfied(one, point.story()); };
      if (!is_beyond && !std::all_of(all.begin(), all.end(), agrees)) continue;
      // Two ends of a range may have changed places: that is no story.
      const auto read = scenarios::parse(scenarios::to_toml(point.story()), story.file, catalogue());
      if (std::holds_alternative<scenarios::Diagnostic>(read)) continue;
      ++points;
      const checker::Verdict verdict = verdict_of(point.story());
      if (verdict == (is_beyond ? checker::Verdict::violated : checker::Verdict::holds)) continue;
      ++differences;
      fmt::print("{}: {}; with {} of {}ns it is {}\n{}", story.file, to_string(formula), margin.length,
                 is_beyond ? up_to + 1'000 : kept, checker::to_string(verdict), scenarios::to_toml(point.story()));
    }
  }
  return differences;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "world") {
    const Scenario story = world_of(std::strtoull(argv[2], nullptr, 10));
    const auto found = scenarios::formulas_of(story, catalogue(), "mutual-exclusion", {});
    fmt::print("{}", scenarios::to_toml(story));
    for (const Formula& formula : found.all) fmt::print("# {}\n", to_string(formula));
    if (!found.why.empty()) fmt::print("# {}\n", found.why);
    return 0;
  }
  const std::uint64_t worlds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  std::uint64_t with = 0, formulas = 0, points = 0, differences = 0;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    const Scenario story = world_of(seed);
    const auto found = scenarios::formulas_of(story, catalogue(), "mutual-exclusion", {});
    with += found.all.empty() ? 0 : 1;
    sim::Random random(seed);
    for (const Formula& formula : found.all) {
      ++formulas;
      differences += compare(story, formula, found.all, random, points);
    }
    std::fflush(stdout);
  }
  fmt::print("worlds {} to {}: {} with a formula, {} formulas, {} points searched, {} differ\n", first,
             first + worlds - 1, with, formulas, points, differences);
  return differences > 0 ? 1 : 0;
}
