// What an exhaustive search costs: traces, events per second, seconds and memory of reference worlds, judged for mutual exclusion and
// all other properties, with one thread and with two.
//
// The counts are part of the figure: a faster search that explores other traces is another search.
//
//   explorer_bench [EXPERIMENT...]   runs these programs, too, and prints the seconds that they take beside ours: the engine experiment's
//                                    `single nc=3 cyc=2 start=1000`, `… pause=500`, `redlock nc=3 nn=3 start=1000`, `redlock nc=2 nn=5 start=1000`

#include <fmt/format.h>

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "checker/explorer/branches_ahead.hpp"
#include "scenarios/exploring/exploration.hpp"
#include "scenarios/exploring/explored_story.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/workers/threads.hpp"

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
constexpr const char* kParallel = "algorithm = \"redlock-par\"\nttl = \"100ms\"\n";
constexpr const char* kWorkPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\nduring = \"work\"\n";
constexpr const char* kPause = "[[may]]\nkind = \"pause\"\nlength = [\"0ms\", \"10s\"]\n";

/// A may crash at any time; B and C try every 10ms for 150ms.
constexpr const char* kPolling = R"([[client]]
name = "A"
acquire_at = "0ms"
hold = "20ms"
[[client]]
name = ["B", "C"]
acquire_at = "5ms"
hold = "5ms"
attempts = 16
retry = "10ms"
[[may]]
kind = "crash"
client = "A"
)";

std::string text_of(const Reference& reference) {
  std::string text = fmt::format(
      "title = {{ en = \"t\", zh = \"t\" }}\nstory = {{ en = \"t\", zh = \"t\" }}\nlesson = {{ en = \"t\", zh = \"t\" "
      "}}\n"
      "[lock]\n{}[network]\nlatency = [\"1ms\", \"10ms\"]\n{}",
      reference.lock, reference.more);
  for (int i = 0; i < reference.clients; ++i) {
    text += fmt::format(
        "[[client]]\nname = \"{}\"\nacquire_at = [\"0ms\", \"1s\"]\nhold = {}\nrounds = {}\n"
        "between = \"3ms\"\nattempts = 1\n",
        static_cast<char>('A' + i), "[\"5ms\", \"20ms\"]", reference.rounds);
  }
  return text;
}

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Measured {
  double seconds[2] = {kNever, kNever};  ///< with one thread, with two
  double apart = kNever;                 ///< two threads, each of which explores all of it
  double at_best = 0;                    ///< see `speedup_of_two`
  double cpu_seconds = kNever;           ///< with one thread; on a machine that others use it says more
  Exploration found;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Until it returns false, or it is enough. What is measured takes the least: what others do on the machine meanwhile only adds. What takes long needs no second
/// time.
template <class Once>
void run_often(const Once& once) {
  constexpr double enough_seconds = 8;
  constexpr int runs_most = 200;
  const double begin = seconds_now();
  for (int run = 0; run < runs_most && (run == 0 || seconds_now() - begin < enough_seconds); ++run) {
    if (!once()) return;
  }
}

/// Processor time of this thread, or of this process, so far.
double cpu_seconds(clockid_t whose) {
  timespec now{};
  clock_gettime(whose, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// By how much two threads are faster than one on a machine that nobody else uses: all branches are explored one after another, each takes the processor
/// time that it takes, and who is free begins the next as a thread would. What threads wait for each other is thus counted, and
/// what others take from them on a shared machine is not. Judges nothing.
double speedup_of_two(const Scenario& scenario, const models::locks::Catalogue& catalogue) {
  struct Found {
    checker::BranchOutcome outcome;
  };
  struct Thread {
    std::shared_ptr<checker::Branch> branch;  ///< null: it waits
    Found found;
    double until = 0;
  };
  checker::ExplorerOptions options;
  options.faults = std::get<std::vector<checker::FaultBudget>>(fault_budgets(scenario));
  options.alike = alike_processes(scenario, catalogue);
  checker::Explorer explorer(options);
  ExploredStory story(scenario, catalogue, explorer, ExploredStory::Probe::when_all_is_over);
  checker::BranchStack stack;
  checker::BranchesAhead<Found> ahead;
  std::array<Thread, 2> threads;
  double now = 0;
  double work = 0;
  while (!stack.is_done()) {
    for (Thread& thread : threads) {
      if (thread.branch) continue;
      thread.branch = ahead.begin_next(stack);
      if (!thread.branch) continue;
      const double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
      story.begin_branch(!thread.branch->from && !thread.branch->at_root);
      thread.found.outcome = explorer.explore(story, *thread.branch, {.events = thread.branch->events},
                                              [](checker::Explorer&) { return true; });
      const double seconds = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
      work += seconds;
      thread.until = now + seconds;
    }
    const auto next = std::min_element(threads.begin(), threads.end(), [](const Thread& a, const Thread& b) {
      return a.branch && (!b.branch || a.until < b.until);
    });
    now = next->until;
    ahead.hand_in(*next->branch, std::move(next->found));
    next->branch.reset();
    while (std::optional<Found> found = ahead.next(stack)) stack.take_in(std::move(found->outcome));
  }
  return work / now;
}

Measured measure(const Reference& reference, const models::locks::Catalogue& catalogue) {
  const auto scenario = parse(text_of(reference), "reference.toml", catalogue);
  if (const auto* problem = std::get_if<Diagnostic>(&scenario)) {
    fmt::print("{}\n", problem->to_string());
    std::exit(1);
  }
  Measured measured;
  measured.at_best = speedup_of_two(std::get<Scenario>(scenario), catalogue);
  Threads one(1);
  Threads two(2);
  const auto explore_with = [&](Threads& threads) {
    ExplorationOptions options;
    options.threads = &threads;
    return std::get<Exploration>(explore(std::get<Scenario>(scenario), catalogue, options));
  };
  const auto keep_least = [](double& least, double seconds) { least = std::min(least, seconds); };
  run_often([&] {
    for (Threads* const threads : {&one, &two}) {
      const double run_begin = seconds_now();
      const double cpu_begin = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
      Exploration found = explore_with(*threads);
      keep_least(measured.seconds[threads->size() - 1], seconds_now() - run_begin);
      if (threads == &one) keep_least(measured.cpu_seconds, cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin);
      measured.found = std::move(found);
    }
    const double run_begin = seconds_now();
    two.run([&](std::size_t) {
      Threads own(1);
      explore_with(own);
    });
    keep_least(measured.apart, seconds_now() - run_begin);
    return true;
  });
  return measured;
}

/// Nothing: it cannot be run.
std::optional<double> least_seconds_of(const std::string& program) {
  double least = kNever;
  bool runs = true;
  run_often([&] {
    const double begin = seconds_now();
    runs = runs && std::system((program + " > /dev/null").c_str()) == 0;
    least = std::min(least, seconds_now() - begin);
    return runs;
  });
  return runs ? std::optional(least) : std::nullopt;
}

/// Peak memory of this process so far, in MB.
long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void print(const Reference& reference, const Measured& measured, std::optional<double> experiment) {
  const checker::ExplorerCounts& counts = measured.found.counts;
  const ExploredProperty& property = measured.found.property("mutual-exclusion");
  const std::string threshold =
      property.thresholds.empty() ? "-" : sim::to_string(property.thresholds.front().infimum.value);
  fmt::print("{:<34} {:<9} {:>8} {:>8} {:>9} {:>10} {:>7} {:>8.4f} {:>8.4f} {:>6.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>6}",
             reference.name, checker::to_string(property.verdict), counts.traces, counts.blocked, counts.infeasible,
             counts.events, threshold, measured.seconds[0], measured.cpu_seconds,
             measured.seconds[0] / measured.seconds[1], 2 * measured.seconds[0] / measured.apart, measured.at_best,
             static_cast<double>(counts.events) / measured.cpu_seconds / 1e6, peak_megabytes());
  if (experiment) fmt::print(" {:>8.3f} {:>6.2f}", *experiment, *experiment / measured.seconds[0]);
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  const models::locks::Catalogue catalogue = models::locks::Catalogue::built_in();
  fmt::print("{:<34} {:<9} {:>8} {:>8} {:>9} {:>10} {:>7} {:>8} {:>8} {:>6} {:>7} {:>7} {:>7} {:>6}{}\n", "world",
             "mutual-ex", "traces", "blocked", "infeasib.", "events", "pause >", "seconds", "cpu s", "jobs 2", "apart",
             "at best", "M ev/s", "MB", count > 1 ? " experim. ratio" : "");
  const char* const three = "[servers]\ncount = 3\n";
  const char* const five = "[servers]\ncount = 5\n";
  const std::string three_paused = std::string(three) + kPause;
  // The experiment's worlds first, in the order of its programs.
  const Reference references[] = {
      {"set-nx-px-lua, 3 x 2 rounds", kLua, 3, 2, ""},
      {"  the same, a pause of the work", kLua, 3, 2, kWorkPause},
      {"redlock-seq, 3 servers, 3 clients", kRedlock, 3, 1, three},
      {"redlock-seq, 5 servers, 2 clients", kRedlock, 2, 1, five},
      {"set-nx-px-lua, 3 x 2, pause anywhere", kLua, 3, 2, kPause},
      {"set-nx-px-lua, 2 clients, a pause", kLua, 2, 1, kPause},
      {"redlock-seq, 3 x 2, a pause", kRedlock, 2, 1, three_paused.c_str()},
      {"crashed holder, two that poll", kLua, 0, 1, kPolling},
      {"redlock-par, 5 servers, 2 clients", kParallel, 2, 1, five},
  };
  int next = 1;
  for (const Reference& reference : references) {
    std::optional<double> experiment;
    if (next < count) experiment = least_seconds_of(arguments[next++]);
    print(reference, measure(reference, catalogue), experiment);
  }
}
