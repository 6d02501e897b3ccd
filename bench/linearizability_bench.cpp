// What the linearizability checker costs: long lock histories on the near-linear path, short register histories and a
// late violation on the search. Prints seconds and megabytes, and the verdicts; judges nothing. One thread, and so its
// processor time is what is printed: how long it takes on a machine that does nothing else. Each case runs in a process
// of its own, so that its peak memory is its own: history and checker, without parsing.
//
//   linearizability_bench [WORDS]    only the cases whose line contains these words

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/lock_history.hpp"
#include "checker/linearizability/linearizability.hpp"
#include "sim/schedules/random.hpp"

namespace {

namespace checker = lockstep::checker;
namespace sim = lockstep::sim;
using checker::HistoryOperation;
using checker::OperationHistory;
using lockstep::bench::lock_history;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds_of(const std::function<void()>& body) {
  const double begin = processor_seconds();
  body();
  return processor_seconds() - begin;
}

std::string_view wanted;

void in_own_process(std::string_view what, const std::function<void()>& body) {
  if (what.find(wanted) == std::string_view::npos) return;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) fmt::print("  died with status {}\n", status);
}

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// A third of the clients write. Near the end, a few times a writer takes the lock while somebody else has it. Of so many
/// acquires that find it taken, one is a try that fails.
OperationHistory read_write_history(std::size_t operations, std::uint32_t clients, bool is_stolen,
                                    std::uint64_t tried_one_in = 0) {
  enum class Doing : std::uint8_t { thinking, acquiring, acquired, holding, releasing, released };
  sim::Random random(clients);
  std::vector<Doing> doing(clients, Doing::thinking);
  std::vector<std::size_t> open(clients, 0);
  OperationHistory h;
  h.operations.reserve(operations);
  std::uint32_t readers = 0;
  std::uint32_t writers = 0;
  int thefts = is_stolen ? 8 : 0;
  std::int64_t position = 0;
  while (h.operations.size() < operations) {
    const auto p = static_cast<std::uint32_t>(random.below(clients));
    const bool writes = p % 3 == 0;
    const auto invoke = [&](bool releases) {
      open[p] = h.operations.size();
      h.operations.push_back({.invoked = position++,
                              .process = p,
                              .function = static_cast<std::uint16_t>((writes ? 2 : 0) + (releases ? 1 : 0)),
                              .phase = sim::Phase::info});
    };
    switch (doing[p]) {
      case Doing::thinking: invoke(false); break;
      case Doing::acquiring: {
        const bool is_free = writers == 0 && (!writes || readers == 0);
        if (!is_free && tried_one_in != 0 && random.one_in(tried_one_in)) {
          h.operations[open[p]].returned = position++;
          h.operations[open[p]].phase = sim::Phase::fail;
          doing[p] = Doing::thinking;
          continue;
        }
        // From somebody who is about to hold it, so that the two holds overlap.
        const bool is_about_to_hold = std::find(doing.begin(), doing.end(), Doing::acquired) != doing.end();
        const bool steals =
            !is_free && thefts > 0 && writes && is_about_to_hold && h.operations.size() > operations - operations / 100;
        if (!is_free && !steals) continue;
        thefts -= steals ? 1 : 0;
        ++(writes ? writers : readers);
        break;
      }
      case Doing::holding: invoke(true); break;
      case Doing::releasing: --(writes ? writers : readers); break;
      case Doing::acquired:
      case Doing::released:
        h.operations[open[p]].returned = position++;
        h.operations[open[p]].phase = sim::Phase::ok;
        break;
    }
    doing[p] = static_cast<Doing>((static_cast<int>(doing[p]) + 1) % 6);
  }
  return h;
}

/// Everybody gives back what is held, and then somebody tries in vain.
void add_try_of_free_lock(OperationHistory& h) {
  std::int64_t position = 0;
  std::uint32_t processes = 0;
  for (const HistoryOperation& o : h.operations) {
    position = std::max({position, o.invoked + 1, o.returned + 1});
    processes = std::max(processes, o.process + 1);
  }
  std::vector<HistoryOperation> last(processes);
  for (HistoryOperation& o : h.operations) {
    // What is still open at the end has never been.
    if (o.is_unknown()) {
      o.phase = o.function % 2 == 0 ? sim::Phase::fail : sim::Phase::ok;
      o.returned = position++;
    }
    if (o.phase == sim::Phase::ok) last[o.process] = o;
  }
  h.operations.erase(std::remove_if(h.operations.begin(), h.operations.end(),
                                    [&](const HistoryOperation& o) {
                                      return o.phase == sim::Phase::fail && o.returned >= position - processes;
                                    }),
                     h.operations.end());
  const auto add = [&](std::uint32_t process, std::uint16_t function, sim::Phase phase) {
    h.operations.push_back(
        {.invoked = position, .returned = position + 1, .process = process, .function = function, .phase = phase});
    position += 2;
  };
  for (std::uint32_t p = 0; p < processes; ++p) {
    if (last[p].returned != 0 && last[p].function % 2 == 0)
      add(p, static_cast<std::uint16_t>(last[p].function + 1), sim::Phase::ok);
  }
  add(0, 0, sim::Phase::fail);
}

/// As one of Jepsen's short logs of an etcd register: five clients, of which some never hear back.
OperationHistory register_history(std::uint64_t seed, std::size_t operations, bool is_wrong) {
  sim::Random random(seed);
  constexpr std::uint32_t clients = 5;
  struct Client {
    std::uint32_t process = 0;
    std::size_t open = 0;
    int stage = 0;  // idle, invoked, took effect
    bool failed = false;
  };
  std::vector<Client> all(clients);
  for (std::uint32_t i = 0; i < clients; ++i) all[i].process = i;
  std::uint32_t next_process = clients;
  OperationHistory h;
  std::int64_t value = checker::nil;
  std::int64_t position = 0;
  while (h.operations.size() < operations) {
    Client& client = all[random.below(clients)];
    if (client.stage == 0) {
      client.open = h.operations.size();
      HistoryOperation o{.invoked = position++, .process = client.process, .phase = sim::Phase::info};
      o.function = static_cast<std::uint16_t>(random.below(3));
      if (o.function != 0) o.a = random.between(0, 4);
      if (o.function == 2) o.b = random.between(0, 4);
      h.operations.push_back(o);
      client.stage = 1;
      continue;
    }
    HistoryOperation& o = h.operations[client.open];
    if (client.stage == 1) {
      const bool is_lost = random.one_in(12);
      client.failed = false;
      if (!is_lost || random.one_in(2)) {
        if (o.function == 0) o.out = value;
        if (o.function == 1) value = o.a;
        if (o.function == 2) {
          client.failed = value != o.a;
          value = client.failed ? value : o.b;
        }
      }
      if (!is_lost) {
        client.stage = 2;
        continue;
      }
      client.process = next_process++;
      client.stage = 0;
      o.out = checker::nil;
      continue;
    }
    o.returned = position++;
    o.phase = client.failed ? sim::Phase::fail : sim::Phase::ok;
    o.out_known = o.function == 0;
    if (is_wrong && o.out_known && h.operations.size() > operations * 3 / 4) {
      o.out = o.out == 4 ? 0 : o.out + 1;
      is_wrong = false;
    }
    client.stage = 0;
  }
  return h;
}

enum class Wrong : std::uint8_t { nowhere, early, late };

/// Clients that do something to one of several objects, see it happen at some moment, and are told some time later.
/// `take_effect` gives an operation its result.
template <class Begin, class TakeEffect>
OperationHistory client_history(std::size_t operations, std::uint32_t clients, std::uint64_t seed, Begin begin,
                                TakeEffect take_effect) {
  sim::Random random(seed);
  std::vector<int> stage(clients, 0);  // idle, invoked, took effect
  std::vector<std::size_t> open(clients, 0);
  OperationHistory h;
  std::int64_t position = 0;
  for (bool is_open = true; is_open;) {
    const auto p = static_cast<std::uint32_t>(random.below(clients));
    if (stage[p] == 0 && h.operations.size() < operations) {
      open[p] = h.operations.size();
      h.operations.push_back({.invoked = position++, .process = p, .phase = sim::Phase::info});
      begin(random, h, h.operations.back());
      stage[p] = 1;
    } else if (stage[p] == 1) {
      take_effect(h, h.operations[open[p]]);
      stage[p] = 2;
    } else if (stage[p] == 2) {
      h.operations[open[p]].returned = position++;
      h.operations[open[p]].phase = sim::Phase::ok;
      stage[p] = 0;
    }
    is_open = h.operations.size() < operations || std::any_of(stage.begin(), stage.end(), [](int s) { return s != 0; });
  }
  return h;
}

/// Two dequeues, `operations / 2` or `operations / 10` from the end, get each other's values.
OperationHistory queue_history(std::size_t operations, std::uint32_t clients, Wrong wrong) {
  std::deque<std::int64_t> queue;
  std::int64_t next = 0;
  OperationHistory h = client_history(
      operations, clients, operations + clients,
      [&](sim::Random& random, OperationHistory&, HistoryOperation& o) {
        o.function = random.one_in(2) ? 1 : 0;
        if (o.function == 0) o.a = next++;
      },
      [&](OperationHistory&, HistoryOperation& o) {
        if (o.function == 0) {
          queue.push_back(o.a);
          return;
        }
        o.out_known = true;
        if (queue.empty()) return;
        o.out = queue.front();
        queue.pop_front();
      });
  if (wrong == Wrong::nowhere) return h;
  HistoryOperation* first = nullptr;
  for (std::size_t i = wrong == Wrong::early ? operations / 2 : operations * 9 / 10; i < operations; ++i) {
    HistoryOperation& o = h.operations[i];
    if (o.out == checker::nil) continue;
    if (first == nullptr) {
      first = &o;
    } else if (o.invoked > first->returned + 40) {
      std::swap(o.out, first->out);
      break;
    }
  }
  return h;
}

/// A third each of get, put and append of a text that nobody else writes. Wrong: a get shows what an earlier one did.
OperationHistory map_history(std::size_t operations, std::uint32_t clients, std::uint32_t keys,
                             std::uint64_t puts_one_in, Wrong wrong) {
  std::vector<std::string> values(keys);
  OperationHistory h = client_history(
      operations, clients, operations + clients,
      [&](sim::Random& random, OperationHistory& history, HistoryOperation& o) {
        o.key = static_cast<std::uint32_t>(random.below(keys));
        o.function = random.one_in(2) ? 0 : random.one_in(puts_one_in) ? 1 : 2;
        if (o.function == 0) return;
        o.a = static_cast<std::int64_t>(history.texts.size());
        history.texts.push_back(fmt::format("x {} {} y", o.process, history.operations.size()));
      },
      [&](OperationHistory& history, HistoryOperation& o) {
        if (o.function == 1) values[o.key].clear();
        if (o.function != 0) {
          values[o.key] += history.texts[o.a];
          return;
        }
        o.out = static_cast<std::int64_t>(history.texts.size());
        o.out_known = true;
        history.texts.push_back(values[o.key]);
      });
  h.values_are_texts = true;
  if (wrong == Wrong::nowhere) return h;
  for (std::size_t i = wrong == Wrong::early ? operations / 2 : operations * 9 / 10; i < operations; ++i) {
    HistoryOperation& o = h.operations[i];
    if (o.function != 0) continue;
    for (std::size_t j = i / 2; j < i; ++j) {
      const HistoryOperation& earlier = h.operations[j];
      if (earlier.function == 0 && earlier.key == o.key && h.texts[earlier.out] != h.texts[o.out]) {
        o.out = earlier.out;
        return h;
      }
    }
  }
  return h;
}

void report(const std::string& what, const checker::LinearizabilityResult& result, double seconds) {
  fmt::print("{:68} {:9} {:7.3f} s  peak {:5} MB  conflict of {}, {} configurations\n", what,
             checker::to_string(result.verdict), seconds, peak_megabytes(), result.conflict.size(),
             result.statistics.configurations);
}

void check_locks(std::string_view model, std::uint32_t permits, bool has_tokens) {
  constexpr std::size_t operations = 1'000'000;
  for (const std::uint32_t clients : {4U, 16U, 64U}) {
    if (clients <= 2 * permits) continue;
    for (const bool is_stolen : {false, true}) {
      const std::string what =
          fmt::format("{}, 10^6 operations, {} clients, {}", model, clients, is_stolen ? "one hold too many" : "valid");
      in_own_process(what, [&] {
        const OperationHistory h = lock_history(operations, clients, permits, has_tokens, is_stolen);
        checker::LinearizabilityResult result;
        checker::LinearizabilityOptions options;
        options.permits = permits;
        const double seconds =
            seconds_of([&] { result = checker::check_linearizable(h, *checker::find_model(model), options); });
        report(what, result, seconds);
      });
    }
  }
}

/// The history up to the moment at which it is wrong: nothing is invoked later, and what returns later has not yet.
OperationHistory until(OperationHistory h, std::int64_t at) {
  std::erase_if(h.operations, [&](const HistoryOperation& o) { return o.invoked > at; });
  for (HistoryOperation& o : h.operations) {
    if (o.phase == sim::Phase::ok && o.returned > at) o.phase = sim::Phase::info;
  }
  return h;
}

/// Of judging a history of a mutex once.
double seconds_in_own_process(const OperationHistory& history) {
  int ends[2] = {};
  if (pipe(ends) != 0) return 0;
  if (fork() == 0) {
    checker::LinearizabilityResult result;
    const double seconds =
        seconds_of([&] { result = checker::check_linearizable(history, *checker::find_model("mutex"), {}); });
    const bool is_told = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
    _exit(is_told ? 0 : 1);
  }
  close(ends[1]);
  double seconds = 0;
  if (read(ends[0], &seconds, sizeof seconds) != sizeof seconds) fmt::print("  a process told nothing\n");
  close(ends[0]);
  int status = 0;
  wait(&status);
  return seconds;
}

/// What it costs to say which operations cannot all be, besides that they cannot: a history that its last return makes wrong, and the same one without that
/// return, which is right. Two other histories would differ by more than is asked.
void check_conflict(std::uint32_t clients) {
  const std::string what = fmt::format("mutex, 10^6 operations, {} clients, the conflict alone", clients);
  in_own_process(what, [&] {
    const checker::Model& mutex = *checker::find_model("mutex");
    OperationHistory bad = lock_history(1'005'000, clients, 1, false, true);
    checker::LinearizabilityResult result = checker::check_linearizable(bad, mutex, {});
    if (!result.at) {
      fmt::print("  {}: one hold too many is none\n", what);
      return;
    }
    bad = until(std::move(bad), *result.at);
    result = checker::check_linearizable(bad, mutex, {});
    OperationHistory good = bad;
    for (HistoryOperation& o : good.operations) {
      if (o.phase == sim::Phase::ok && o.returned == *result.at) o.phase = sim::Phase::info;
    }
    if (checker::check_linearizable(good, mutex, {}).verdict != checker::Verdict::holds)
      fmt::print("  without its last return it is wrong, too\n");
    // In a process of its own each time, as `linearize` does it: what is done for the second time finds its memory there.
    double without = 1e9;
    double with = 1e9;
    for (int i = 0; i < 15; ++i) {
      without = std::min(without, seconds_in_own_process(good));
      with = std::min(with, seconds_in_own_process(bad));
    }
    fmt::print("{:68} {:9} {:7.1f} ms of {:.0f} ms, conflict of {}\n", what, checker::to_string(result.verdict),
               (with - without) * 1e3, with * 1e3, result.conflict.size());
  });
}

void check_bounded(const std::string& what, std::string_view model, const std::function<OperationHistory()>& history,
                   bool check_failed = false, std::uint32_t permits = 1) {
  in_own_process(what, [&] {
    const OperationHistory h = history();
    const double begin = processor_seconds();
    checker::LinearizabilityOptions options;
    options.max_memory = std::size_t{1} << 30;
    options.check_failed = check_failed;
    options.permits = permits;
    options.is_out_of_time = [&] { return processor_seconds() - begin > 10; };
    checker::LinearizabilityResult result;
    const double seconds =
        seconds_of([&] { result = checker::check_linearizable(h, *checker::find_model(model), options); });
    report(what, result, seconds);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  for (const std::string_view model : {"mutex", "owner-mutex", "reentrant-mutex"}) check_locks(model, 1, false);
  for (const std::string_view model : {"fenced-mutex", "reentrant-fenced-mutex"}) check_locks(model, 1, true);
  for (const std::uint32_t clients : {4U, 16U, 64U}) check_conflict(clients);
  check_locks("semaphore", 8, false);
  for (const std::uint32_t clients : {4U, 16U, 64U}) {
    for (const bool is_stolen : {false, true}) {
      check_bounded(fmt::format("read-write-lock, 10^6 operations, {} clients, {}", clients,
                                is_stolen ? "one hold too many" : "valid"),
                    "read-write-lock", [&] { return read_write_history(1'000'000, clients, is_stolen); });
    }
  }
  for (const std::string_view model : {"mutex", "owner-mutex", "reentrant-mutex"}) {
    for (const bool is_stolen : {false, true}) {
      const char* end = is_stolen ? "one hold too many" : "valid";
      check_bounded(fmt::format("{}, 10^6 operations, 16 clients, 1% lost, {}", model, end), model,
                    [&] { return lock_history(1'000'000, 16, 1, false, is_stolen, {.lost_one_in = 100}); });
      check_bounded(fmt::format("{}, the same, processes keep their number, {}", model, end), model, [&] {
        return lock_history(1'000'000, 16, 1, false, is_stolen, {.lost_one_in = 100, .keeps_number = true});
      });
    }
  }
  for (const std::string_view model : {"mutex", "owner-mutex", "reentrant-mutex", "fenced-mutex",
                                       "reentrant-fenced-mutex", "read-write-lock", "semaphore"}) {
    for (const std::uint32_t clients : {4U, 16U, 64U}) {
      const std::uint32_t permits = model == "semaphore" ? std::max(2U, clients / 8) : 1;
      for (const bool is_stolen : {false, true}) {
        const auto history = [&] {
          if (model == "read-write-lock") return read_write_history(1'000'000, clients, is_stolen, 10);
          return lock_history(1'000'000, clients, permits, model.find("fenced") != std::string_view::npos, is_stolen,
                              {.tried_one_in = 10});
        };
        check_bounded(fmt::format("{}, 10^6 operations, {} clients, tries that fail, {}", model, clients,
                                  is_stolen ? "one hold too many" : "valid"),
                      model, history, true, permits);
        if (is_stolen) continue;
        check_bounded(
            fmt::format("{}, the same, the last one with nobody in its way", model), model,
            [&] {
              OperationHistory h = history();
              add_try_of_free_lock(h);
              return h;
            },
            true, permits);
      }
    }
  }
  for (const auto& [wrong, name] : {std::pair(Wrong::nowhere, "valid"), std::pair(Wrong::early, "wrong in the middle"),
                                    std::pair(Wrong::late, "wrong near the end")}) {
    for (const std::size_t operations : {1'000, 100'000}) {
      check_bounded(fmt::format("fifo-queue, {} operations, 8 clients, {}", operations, name), "fifo-queue",
                    [&] { return queue_history(operations, 8, wrong); });
    }
    check_bounded(fmt::format("kv, 1000 operations, 50 clients, 10 keys, {}", name), "kv",
                  [&] { return map_history(1'000, 50, 10, 2, wrong); });
    check_bounded(fmt::format("kv, the same with one put in 20 writes, {}", name), "kv",
                  [&] { return map_history(1'000, 50, 10, 20, wrong); });
    check_bounded(fmt::format("kv, 1000 operations, 50 clients, 1 key, {}", name), "kv",
                  [&] { return map_history(1'000, 50, 1, 20, wrong); });
    check_bounded(fmt::format("kv, 20000 operations, 50 clients, 1 key, {}", name), "kv",
                  [&] { return map_history(20'000, 50, 1, 20, wrong); });
  }

  in_own_process("cas-register, 102 logs of 84 operations, 5 clients", [] {
    std::vector<OperationHistory> histories;
    for (std::uint64_t seed = 0; seed < 102; ++seed) histories.push_back(register_history(seed, 84, seed % 4 == 0));
    checker::LinearizabilityOptions options;
    options.check_failed = true;
    for (const bool minimizes : {false, true}) {
      options.minimize_conflict = minimizes;
      int violated = 0;
      std::uint64_t configurations = 0;
      double longest = 0;
      const double seconds = seconds_of([&] {
        for (const OperationHistory& h : histories) {
          checker::LinearizabilityResult result;
          longest = std::max(longest, seconds_of([&] {
                               result = checker::check_linearizable(h, *checker::find_model("cas-register"), options);
                             }));
          violated += result.verdict == checker::Verdict::violated ? 1 : 0;
          configurations += result.statistics.configurations;
        }
      });
      fmt::print("{:68} {} of 102 violated, {:7.4f} s (longest {:.4f} s), {} configurations\n",
                 minimizes ? "the same with minimal conflicts" : "cas-register, 102 logs of 84 operations, 5 clients",
                 violated, seconds, longest, configurations);
    }
  });

  for (const std::string_view model : {"mutex", "owner-mutex", "fenced-mutex", "semaphore"}) {
    for (const std::size_t operations : {std::size_t{1'000}, std::size_t{100'000}}) {
      const std::string what = fmt::format("search: {}, {} operations, 64 clients, late violation", model, operations);
      in_own_process(what, [&] {
        checker::LinearizabilityOptions options{.permits = 8, .search_only = true, .minimize_conflict = false};
        const OperationHistory h =
            lock_history(operations, 64, model == "semaphore" ? 8 : 1, model == "fenced-mutex", true);
        checker::LinearizabilityResult result;
        const double seconds =
            seconds_of([&] { result = checker::check_linearizable(h, *checker::find_model(model), options); });
        report(what, result, seconds);
        if (operations > 1'000) return;
        options.minimize_conflict = true;
        const double explained =
            seconds_of([&] { result = checker::check_linearizable(h, *checker::find_model(model), options); });
        report("  the same, and as small a conflict as can be found", result, explained);
      });
    }
  }
}
