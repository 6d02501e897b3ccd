#include <array>

#include "cli/call.hpp"

namespace lockstep::cli {
namespace {

constexpr std::array<std::string_view, 2> kCommands{"list", "run"};

constexpr std::string_view kProgram =
    R"(Runs distributed locks on simulated servers, in virtual time, and says which promise breaks.

usage: lockstep COMMAND [OPTIONS]

  list   what there is: lock algorithms, scenarios, properties, faults
         example: lockstep list algorithms
  run    run scenario files, and compare what happens with what each file expects
         example: lockstep run scenarios

  lockstep COMMAND --help   the options of a command, with examples
  lockstep --version

Exit status: 0 everything as expected, 1 something was not, 2 the input or the call was wrong,
3 a bound was hit so that the answer is not complete.
)";

constexpr std::string_view kList = R"(Shows what there is to use in scenario files.

usage: lockstep list [algorithms|scenarios|properties|faults] [DIR|FILE...] [OPTIONS]

  algorithms   lock algorithms with their parameters and claims (this is the default)
  scenarios    the scenario files below each DIR ("scenarios" if none is given)
  properties   what is judged, and whose truth it is about
  faults       what can go wrong in a scenario

  --json                      one JSON document on stdout, nothing else
  --lang en|zh                language of titles and meanings
  --width N                   columns to use (60 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --seed N, --jobs N          taken by every command; nothing depends on them here
  --help

example: lockstep list scenarios --json
)";

constexpr std::string_view kRun = R"(Runs each scenario once, and compares what happens with what its file expects.

usage: lockstep run FILE|DIR... [OPTIONS]

One story is shown as a timeline, several as a table. All files are read before the first is run:
if one of them is bad, every bad one gets a message, and nothing is run.

  --timeline, --no-timeline   a timeline of each story; or of none, also when there is only one
  --seed N                    random delays and ties, reproducible by N, where the file pins nothing
  --json                      one JSON document on stdout, nothing else
  --junit FILE                also write the results as JUnit XML
  --lang en|zh                language of titles, stories and lessons
  --width N                   columns to use (60 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --jobs N                    run N stories at a time; the results are the same for any N
  --help

example: lockstep run scenarios/redis-lock-java/f000-2-both-delete-expired.toml
example: lockstep run scenarios --junit build/lockstep.xml
)";

}  // namespace

std::span<const std::string_view> command_names() { return kCommands; }

std::string_view help_of(std::string_view command) {
  if (command == "list") return kList;
  if (command == "run") return kRun;
  return kProgram;
}

}  // namespace lockstep::cli
