// Stories with programs among their clients, run as `lockstep run` runs them.

#include "programs/story_programs.hpp"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <variant>

#include "models/locks/catalogue.hpp"
#include "scenarios/format/loader.hpp"
#include "scenarios/running/runner.hpp"
#include "sim/testing/in_tree.hpp"

namespace lockstep::programs {
namespace story_programs_test {

using scenarios::Diagnostic;
using scenarios::Outcome;

const models::locks::Catalogue& catalogue() {
  static const models::locks::Catalogue all = models::locks::Catalogue::built_in();
  return all;
}

bool has_python() {
  if (::access("/usr/bin/python3", X_OK) == 0) return true;
  std::cout << "SKIPPED: there is no /usr/bin/python3 on this machine\n";
  return false;
}

scenarios::Scenario story_of(const std::string& text) {
  auto loaded = scenarios::parse(text, "story.toml", catalogue(), nullptr, scenarios::Programs::taken);
  if (const auto* trouble = std::get_if<Diagnostic>(&loaded)) FAIL(trouble->to_string());
  auto story = std::get<scenarios::Scenario>(std::move(loaded));
  story.programs.maker = &story_programs();
  return story;
}

/// A lock of 100ms, twice, for so much work; `patience` for answers, in seconds, if any.
std::string turns(const std::string& work, const std::string& more = "", const std::string& patience = "",
                  const std::string& lock = "") {
  std::string command = "[\"/usr/bin/python3\", \"redis_lock.py\", \"{redis}\", \"" + work + "\"";
  if (!patience.empty()) command += ", \"" + patience + "\"";
  return "title = \"Turns\"\n[lock]\nkey = \"stock\"\n" + lock +
         "[network]\nlatency = \"1ms\"\n[[client]]\nname = [\"A\", \"B\"]\ncommand = " + command + "]\ncwd = \"" +
         in_tree("programs/samples") + "\"\n" + more;
}

std::string fault(const std::string& rest) { return "[[fault]]\n" + rest + "\n"; }

struct Ran {
  std::size_t acquired = 0;
  std::string mutual_exclusion;  ///< "holds", or when it was violated
  std::string all;               ///< for people
  std::vector<scenarios::Judgement> properties;
};

Ran ran(const std::string& text) {
  const scenarios::Scenario story = story_of(text);
  const auto result = scenarios::run_twice(story, catalogue());
  if (const auto* trouble = std::get_if<Diagnostic>(&result)) FAIL(trouble->to_string());
  const auto& outcome = std::get<Outcome>(result);
  Ran ran{.properties = outcome.properties};
  const auto& operations = outcome.history.operations;
  ran.acquired = static_cast<std::size_t>(std::count_if(operations.begin(), operations.end(), [](const auto& each) {
    return each.function == "acquire" && each.object == "stock" && each.process.index < 2;
  }));
  for (const auto& [finding, expected, claim, as_expected] : outcome.properties) {
    ran.all += std::string(finding.property) + ": " + finding.why + "\n";
    if (finding.property != "mutual-exclusion") continue;
    ran.mutual_exclusion = finding.verdict == checker::Verdict::holds ? "holds" : "not judged";
    if (finding.verdict == checker::Verdict::violated) ran.mutual_exclusion = sim::to_string(finding.at->offset());
  }
  for (const std::string& note : outcome.notes) ran.all += note + "\n";
  return ran;
}

std::string trouble_of(const std::string& text) {
  const auto result = scenarios::run_twice(story_of(text), catalogue());
  const auto* trouble = std::get_if<Diagnostic>(&result);
  return trouble == nullptr ? "" : trouble->message;
}

std::string python(const std::string& code) {
  return "title = \"t\"\n[lock]\n[[client]]\nname = [\"A\", \"B\"]\ncommand = [\"/usr/bin/python3\", \"-c\", '''" +
         code + "''']\n";
}

TEST_CASE("a program that works longer than its lease breaks mutual exclusion, one that does not keeps it") {
  if (!has_python()) return;
  const Ran good = ran(turns("0.02"));
  INFO(good.all);
  CHECK(good.acquired == 4);
  CHECK(good.mutual_exclusion == "holds");
  const Ran bad = ran(turns("0.15"));
  INFO(bad.all);
  CHECK(bad.mutual_exclusion.starts_with("132"));
}

TEST_CASE("what programs do not tell is not judged") {
  if (!has_python()) return;
  const auto verdicts = [](const Ran& ran, checker::Verdict verdict) {
    return std::count_if(ran.properties.begin(), ran.properties.end(),
                         [&](const auto& each) { return each.finding.verdict == verdict; });
  };
  const Ran silent = ran(python("print('nothing of locks')"));
  INFO(silent.all);
  CHECK(verdicts(silent, checker::Verdict::not_judged) == static_cast<long>(silent.properties.size()));
  CHECK(verdicts(ran(turns("0.02")), checker::Verdict::holds) == 1);
  // An algorithm that is named is that of the client that comes afterwards.
  const Ran named = ran(turns("0.02", "", "", "algorithm = \"set-nx-px-lua\"\nttl = \"100ms\"\n"));
  INFO(named.all);
  CHECK(verdicts(named, checker::Verdict::holds) == 2);
}

TEST_CASE("faults strike programs as they strike any client") {
  if (!has_python()) return;
  SECTION("a pause that outlives the lease, at a time or at a step") {
    CHECK(ran(turns("0.02", fault("kind = \"pause\"\nclient = \"A\"\nat = \"5ms\"\nlength = \"150ms\"")))
              .mutual_exclusion.starts_with("132"));
    CHECK(ran(turns("0.02", fault("kind = \"pause\"\nclient = \"A\"\nafter = \"SET\"\nlength = \"150ms\"")))
              .mutual_exclusion.starts_with("132"));
  }
  SECTION("a crash: its beliefs die with it, and it comes back if it shall") {
    const std::string crash = "kind = \"crash\"\nclient = \"A\"\nat = \"5ms\"\n";
    const Ran dead = ran(turns("0.02", fault(crash)));
    INFO(dead.all);
    CHECK(dead.mutual_exclusion == "holds");
    CHECK(dead.acquired == 3);
    const Ran back = ran(turns("0.02", fault(crash + "restart_after = \"500ms\"")));
    CHECK(back.mutual_exclusion == "holds");
    CHECK(back.acquired == 5);
  }
  SECTION("a reply that is lost: only a program with patience goes on") {
    const std::string lose = fault("kind = \"lose\"\nclient = \"A\"\nmessage = \"SET\"\ndirection = \"reply\"");
    const Ran patient = ran(turns("0.02", lose, "0.05"));
    INFO(patient.all);
    CHECK(patient.acquired == 4);
    const Ran waits = ran(turns("0.02", lose));
    INFO(waits.all);
    CHECK(waits.acquired == 2);
    CHECK_THAT(waits.all, Catch::Contains("A: it has not ended, and waits"));
  }
  SECTION("a message that is late") {
    const Ran late =
        ran(turns("0.02", fault("kind = \"delay\"\nclient = \"A\"\nmessage = \"SET\"\nlength = \"70ms\""), "0.05"));
    INFO(late.all);
    CHECK(late.acquired == 4);
  }
  SECTION("a partition, in which it connects in vain more often than it has connections") {
    const Ran cut = ran(turns(
        "0.02", fault("kind = \"partition\"\nbetween = [[\"A\"], [\"redis\"]]\nfrom = \"0ms\"\nlength = \"500ms\""),
        "0.02"));
    INFO(cut.all);
    CHECK(cut.acquired == 4);
    CHECK(cut.mutual_exclusion == "holds");
  }
  SECTION("a server that dies and comes back empty") {
    const Ran empty = ran(
        turns("0.06", fault("kind = \"crash\"\nserver = \"redis\"\nat = \"10ms\"\nrestart_after = \"5ms\""), "0.02"));
    INFO(empty.all);
    CHECK(empty.mutual_exclusion.ends_with("ms"));
  }
  SECTION("a clock that jumps, as the program sees it") {
    const std::string jump = fault("kind = \"jump\"\nclient = \"A\"\nat = \"5ms\"\nby = \"60s\"");
    const std::string sees =
        "import time\nbefore = time.monotonic()\ntime.sleep(0.01)\n"
        "moved = time.time() > 1700000059 and time.monotonic() - before < 1\nprint('lockstep: acquired', 'stock' if "
        "moved else '-')";
    CHECK(ran(python(sees) + jump).acquired == 1);
    CHECK(ran(python(sees)).acquired == 0);
  }
}

TEST_CASE("redis-py's own lock in a story: it keeps what it promises, but not through a pause longer than its lease") {
  if (!has_python() || std::system("/usr/bin/python3 -c 'import redis' 2>/dev/null") != 0) {
    std::cout << "SKIPPED: there is no python3-redis on this machine\n";
    return;
  }
  const auto with = [](const std::string& more) {
    return "title = \"redis-py\"\n[lock]\n[network]\nlatency = \"1ms\"\n[[client]]\nname = [\"A\", \"B\"]\n"
           "command = [\"/usr/bin/python3\", \"redis_py.py\"]\ncwd = \"" +
           in_tree("programs/samples") + "\"\n" + more;
  };
  const Ran good = ran(with(""));
  INFO(good.all);
  CHECK(good.mutual_exclusion == "holds");
  const auto pause = [](const std::string& who) {
    return fault("kind = \"pause\"\nclient = \"" + who + "\"\nat = \"10ms\"\nlength = \"150ms\"");
  };
  CHECK(ran(with(pause("A") + pause("B"))).mutual_exclusion == "holds");
  const bool breaks =
      ran(with(pause("A"))).mutual_exclusion != "holds" || ran(with(pause("B"))).mutual_exclusion != "holds";
  CHECK(breaks);
}

TEST_CASE("a program of which nothing can be known is a message") {
  if (!has_python()) return;
  CHECK(trouble_of("title = \"t\"\n[lock]\n[[client]]\nname = \"A\"\ncommand = [\"/nonexistent/program\"]\n") ==
        "client A cannot be executed: \"/nonexistent/program\"");
  CHECK_THAT(trouble_of(python("import nothing_of_this_name")),
             Catch::Contains("client A did nothing, and ended with status 1: ModuleNotFoundError"));
  CHECK_THAT(trouble_of(python("print('lockstep: acquired stock')\nprint('lockstep: released stock')")),
             Catch::Contains("it has to print \"lockstep: releasing stock\""));
  CHECK_THAT(trouble_of(python("print('lockstep: acquired stock')\nprint('lockstep: acquired stock')")),
             Catch::Contains("which it holds already"));
}

TEST_CASE("a program that ends holds nothing any more") {
  if (!has_python()) return;
  const Ran left =
      ran(python("import time, os\nif os.environ['LOCKSTEP_CLIENT'] == 'B': time.sleep(1)\n"
                 "print('lockstep: acquired stock')"));
  INFO(left.all);
  CHECK(left.acquired == 2);
  CHECK(left.mutual_exclusion == "holds");
}

TEST_CASE("a program that does not do the same twice gets no verdict, but the first difference") {
  if (!has_python()) return;
  const std::string file = "/tmp/lockstep-counter-" + std::to_string(::getpid());
  const std::string counts =
      "open('" + file + "', 'a').write('x')\nprint('lockstep: acquired', len(open('" + file + "').read()))";
  CHECK_THAT(trouble_of(python(counts)),
             Catch::StartsWith("not deterministic, so there is no verdict: two runs differ; "
                               "the first time A: acquire of 1 at 0ms, the second time "
                               "A: acquire of 3 at 0ms"));
  ::unlink(file.c_str());
}

TEST_CASE("a program is told who it is and where the servers are") {
  const scenarios::Scenario story =
      story_of("title = \"t\"\n[lock]\n[servers]\ncount = 2\n[[client]]\nname = \"C\"\ncommand = [\"true\"]\n");
  CHECK(filled("{client}={redis2},{redis1};{none}", story, story.clients[0]) ==
        "C=127.0.0.1:6380,127.0.0.1:6379;{none}");
  if (!has_python()) return;
  const std::string code =
      "import os\nenv = os.environ\nright = [env['LOCKSTEP_CLIENT'] in 'AB', env['REDIS_URL'] == "
      "'redis://127.0.0.1:6379', "
      "env['LOCKSTEP_SERVERS'] == '127.0.0.1:6379', env['OWN'] == '<' + env['LOCKSTEP_CLIENT'] + '>']\n"
      "print('lockstep: acquired', 'stock' if all(right) else right)";
  CHECK(ran(python(code) + "env = { OWN = \"<{client}>\" }\n").acquired == 2);
}

}  // namespace story_programs_test
}  // namespace lockstep::programs
