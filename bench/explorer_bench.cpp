// What an exhaustive search costs: traces, events per second and seconds of reference worlds, one thread.
//
// The counts are part of the figure: a faster search that explores other traces is another search.

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <variant>

#include "scenarios/exploration.hpp"
#include "scenarios/loader.hpp"

namespace {

using namespace lockstep;
using namespace lockstep::scenarios;

struct Reference {
  const char* name;
  const char* lock;
  int clients;
  int rounds;
  const char* more;
};

constexpr const char* kLua = "algorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n";
constexpr const char* kRedlock = "algorithm = \"redlock-seq\"\nttl = \"100ms\"\n";
constexpr const char* kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

std::string text_of(const Reference& reference) {
  std::string text = fmt::format(
      "title = {{ en = \"t\", zh = \"t\" }}\nstory = {{ en = \"t\", zh = \"t\" }}\nlesson = {{ en = \"t\", zh = \"t\" "
      "}}\n"
      "[lock]\n{}[network]\nlatency = [\"1ms\", \"10ms\"]\n{}",
      reference.lock, reference.more);
  for (int i = 0; i < reference.clients; ++i) {
    text += fmt::format(
        "[[client]]\nname = \"{}\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = [\"5ms\", \"20ms\"]\nrounds = {}\n"
        "between = \"3ms\"\nattempts = 1\n",
        static_cast<char>('A' + i), reference.rounds);
  }
  return text;
}

void measure(const Reference& reference, const models::locks::Catalogue& catalogue) {
  const auto scenario = parse(text_of(reference), "reference.toml", catalogue);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = explore(std::get<Scenario>(scenario), catalogue);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const auto& found = std::get<Exploration>(result);
  const std::string threshold = found.pause_threshold ? sim::to_string(found.pause_threshold->value) : "-";
  fmt::print("{:<34} {:<9} {:>9} {:>9} {:>10} {:>11} {:>8} {:>7.2f} s {:>6.2f} M/s\n", reference.name,
             checker::to_string(found.mutual_exclusion), found.counts.traces, found.counts.blocked,
             found.counts.infeasible, found.counts.events, threshold, seconds,
             static_cast<double>(found.counts.events) / seconds / 1e6);
}

}  // namespace

int main() {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  fmt::print("{:<34} {:<9} {:>9} {:>9} {:>10} {:>11} {:>8}\n", "world", "verdict", "traces", "blocked", "infeasible",
             "events", "pause >");
  for (const Reference& reference : {
           Reference{"set-nx-px-lua, 2 clients", kLua, 2, 1, ""},
           Reference{"set-nx-px-lua, 2 clients, a pause", kLua, 2, 1, kPause},
           Reference{"set-nx-px-lua, 3 x 2 rounds", kLua, 3, 2, ""},
           Reference{"set-nx-px-lua, 3 x 2, a pause", kLua, 3, 2, kPause},
           Reference{"redlock-seq, 3 servers, 2 clients", kRedlock, 2, 1, "[servers]\ncount = 3\n"},
           Reference{"  the same, a pause", kRedlock, 2, 1,
                     "[servers]\ncount = 3\n[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n"},
       }) {
    measure(reference, catalogue);
  }
}
