#include <array>

#include "cli/arguments/call.hpp"

namespace lockstep::cli {
namespace {

constexpr std::array<std::string_view, 13> kCommands{"list",      "new",    "run",     "check",  "fuzz",
                                                     "linearize", "matrix", "compare", "report", "confirm",
                                                     "serve",     "play",   "schema"};

constexpr std::string_view kProgram =
    R"(Runs distributed locks on simulated servers, in virtual time, and says which promise breaks.

usage: lockstep COMMAND [OPTIONS]

  list        what there is: lock algorithms, scenarios, properties, faults, failures, specs
              example: lockstep list algorithms
  new         write a scenario file to begin with
              example: lockstep new mine --algorithm redlock-seq
  run         run scenario files, and compare what happens with what each file expects
              example: lockstep run scenarios
  check       explore scenario files in every order and with every delay, for verdicts and exact margins
              example: lockstep check scenarios
  fuzz        look for what breaks in random worlds, and make it small: a scenario file for each finding
              example: lockstep fuzz --algorithm redlock-seq --max-seconds 30
  linearize   judge a history from elsewhere: Jepsen's EDN or log, JSON lines
              example: lockstep linearize history.edn --model cas-register
  matrix      every lock algorithm under every kind of fault: proved within bounds, fuzzed, or broken
              example: lockstep matrix set-nx-px-lua redlock-seq
  compare     what locks cost under the same workload: messages, waiting, handover, fairness, recovery
              example: lockstep compare scenarios/stories/compare --algorithms set-nx-px-lua,redlock-par --clients 2,8,32
  report      a site of pages: each story's run to step through, why it failed, what holds and what does not
              example: lockstep report out
  confirm     play scenario files at real Redis servers: does what the model shows happen there, too?
              example: lockstep confirm scenarios/stories/redis-lock-java --redis
  serve       let redis-cli and other real clients talk to a scenario's servers
              example: lockstep serve scenarios/stories/reference/set-nx-px-lua-3x2.toml --port 6400
  play        a story in your browser: edit it, let things go wrong by a click, check it
              example: lockstep play scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml
  schema      the scenario format as a JSON schema, for editors
              example: lockstep schema > lockstep.schema.json

  lockstep COMMAND --help   the options of a command, with examples
  lockstep --version

Exit status: 0 everything as expected, 1 something was not, 2 the input or the call was wrong,
3 a bound was hit so that the answer is not complete.
)";

constexpr std::string_view kList = R"(Shows what there is to use in scenario files.

usage: lockstep list [algorithms|scenarios|properties|faults|failures|specs] [NAME|DIR|FILE...] [OPTIONS]

  algorithms   lock algorithms (this is the default); with NAMEs, the parameters and claims of these
  scenarios    the scenario files below each DIR ("scenarios" if none is given)
  properties   what is judged, and whose truth it is about
  faults       what can go wrong in a scenario
  failures     the documented failures, and the scenario files below each DIR that reproduce them
  specs        the models of lockstep linearize, and their functions

  --json                      one JSON document on stdout, nothing else
  --lang en|zh                language of titles and meanings
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --seed N, --jobs N          taken by every command; nothing depends on them here
  --help

example: lockstep list scenarios --json
example: lockstep list algorithms redlock-seq
)";

constexpr std::string_view kNew =
    R"(Writes a scenario file to begin with: two clients, one lock, a pause that might come, and comments that say what to
try. A file that is there already is left as it is.

usage: lockstep new NAME [OPTIONS]
       lockstep new --lock [NAME]

  --algorithm NAME            of lockstep list algorithms (set-nx-px-lua)
  --lock                      a lock of your own as well: NAME.lua, a Lua script, and NAME.toml, a story about it
                              (my-lock, if no name is given; docs/your-own-lock.md)
  --json, --seed, --lang, --width, --color, --jobs
                              taken by every command; nothing depends on them here
  --help

example: lockstep new mine
example: lockstep new stories/mine.toml --algorithm redisson-lock
example: lockstep new --lock my-lock
)";

constexpr std::string_view kRun = R"(Runs each scenario once, and compares what happens with what its file expects.

usage: lockstep run FILE|DIR... [OPTIONS]

One story is shown as a timeline, several as a table. All files are read before the first is run:
if one of them is bad, every bad one gets a message, and nothing is run. A story that turns out to be
impossible gets a message, and the others are run; the exit status is 2 then.

  --only-failures             of several stories show those alone that are not as expected
  --timeline, --no-timeline   a timeline of each story; or of none, also when there is only one
  --seed N                    random delays and ties, reproducible by N, where the file pins nothing
  --may-seed N                one of the executions that check looks at, drawn by N, instead of that of the file: delays,
                              and faults of [[may]]; what check expects to hold is expected of it, too
  --json                      one JSON document on stdout, nothing else
  --junit FILE                also write the results as JUnit XML
  --history FILE              also write the operations of the one story, as EDN (FILE.edn) or JSON lines (FILE.jsonl)
  --export KIND=FILE          also write the run for another tool, as often as you like (docs/manual/exports.md)
                              of one story: shiviz, chrome-trace, itf, edn, dot, graphml, markdown (and FILE.svg)
                              of any number: sarif (what was not as expected), junit (as --junit)
  --lang en|zh                language of titles, stories and lessons
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --jobs N                    run N stories at a time; the results are the same for any N
  --help

example: lockstep run scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml
example: lockstep run scenarios --junit build/lockstep.xml
example: lockstep run mine.toml --export shiviz=mine.log --export markdown=mine.md
)";

constexpr std::string_view kCompare =
    R"(Runs the clients of each file again and again, under one lock algorithm after the other, and tells what each lock
costs in virtual time: messages, waiting, handover, fairness, recovery from a crashed holder. Whether it holds is not
asked here; that is what check and matrix are for.

usage: lockstep compare FILE|DIR... [OPTIONS]

  --algorithms NAME,NAME...   these algorithms (without it: the file's own)
  --clients N,N...            so many clients: the file's are repeated (without it: as many as the file has)
  --seconds N                 how long, in virtual time (60)
  --seed N                    of the random delays (1)
  --json                      one JSON document on stdout, nothing else
  --jobs N                    N runs at a time; the results are the same for any N
  --lang en|zh                language of the report
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --help

example: lockstep compare scenarios/stories/compare/short-work.toml --algorithms set-nx-px-lua,redlock-seq --clients 2,8,32
)";

constexpr std::string_view kFuzz =
    R"(Plays random runs of the stories, or of worlds made up for algorithms, judges each by every property that the
algorithm claims, and makes what breaks one small: a scenario file for each cause, which run replays.

usage: lockstep fuzz [FILE|DIR...] [OPTIONS]

A story's [[may]] says what may go wrong in it. In one that has none, what its [[fault]]s show may strike anybody, and
sometimes something else. Without FILE: worlds of 2 to 64 clients and 1 to 9 servers are made up for each --algorithm.

  --algorithm NAME,NAME...    these locks instead of the stories' own, or made-up worlds of them; all: every one
  --max-seconds S             end after S seconds (60, unless --runs says something)
  --runs N                    end after N runs: then the same call finds the same, whatever --jobs is
  --seed N                    of worlds and runs (1)
  --found DIR                 where findings and the campaign's state go (found)
  --resume                    go on with the campaign that is in --found, also if it was killed
  --shard I/N                 only part I (from 0 on) of N parts that share nothing
  --merge DIR...              fuzz nothing: join the findings of these folders in --found
  --strategy NAME             how delays are drawn: boundary, uniform, priority, or a portfolio of all (portfolio)
  --depth N                   priority: N - 1 changes of who is slow (3)
  --no-coverage               do not go on from runs that showed something new
  --as-written                nothing but [[may]] goes wrong: the bounds of check
  --json                      one JSON document on stdout, nothing else
  --jobs N                    threads (as many as there are cores)
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --lang en|zh                taken by every command; the report is English
  --help

Exit status: 0 nothing was found, 1 something was, 2 the input or the call was wrong, 3 interrupted.

example: lockstep fuzz scenarios/stories/redisson-source --runs 100000 --found build/found
)";

constexpr std::string_view kMatrix =
    R"(Puts each lock algorithm into a small world for each kind of fault, explores it in every order and with every
delay, and says whether it is proved within these bounds or broken, and from which margin on. What a bound leaves open
is run at random in a larger world.

usage: lockstep matrix [ALGORITHM...] [OPTIONS]

Without names: all algorithms of lockstep list algorithms that claim mutual exclusion.

  --faults NAME,NAME...       these columns alone (without it: all)
  --max-traces N              end each exploration after N traces (50000)
  --max-events N              or after N events, of runs that are no traces, too (5000000)
  --runs N                    random runs of what was neither proved nor broken (300)
  --seed N                    of the random runs (1)
  --witnesses DIR             write each run that breaks something as a scenario file there
  --json                      one JSON document on stdout, nothing else
  --jobs N                    work on N cells at a time; the results are the same for any N
  --lang en|zh                language of the report
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --help

example: lockstep matrix set-nx-px-lua redlock-seq --faults pause,crash --witnesses build/witnesses
)";

constexpr std::string_view kCheck =
    R"(Explores each scenario in every order, with every delay and with every fault that its file allows, and
compares the verdicts with what the file expects.

usage: lockstep check FILE|DIR... [OPTIONS]

One story is shown in full: what was explored, each verdict, from which pause (or jump, …) on it breaks,
and a run that breaks it. Several are shown as a table. Of directories only stories of cost "fast" are
explored; a file that is named is explored whatever it costs.

  --all                       of directories, also the stories of cost "slow" and "rare"
  --witness FILE              write the run that breaks the first broken property as a scenario file
                              (needs exactly one story)
  --graph FILE                write the graph of all states, as DOT (.dot) or GraphML (.graphml); for small
                              worlds (needs exactly one story)
  --wait-for FILE             write who waits for whom in the deadlock that was found, as DOT (needs exactly one
                              story)
  --margins-json FILE         write what happens for every pause, delay, skew and latency of the run and of the
                              witnesses, in pieces within which all times are linear, and from which event on a
                              violation cannot be avoided any more (docs/manual/margins.md; needs exactly one story)
  --parameter P               look for the threshold of P alone: pause, jump, skew or restart_after
  --given P=LENGTH            with faults of parameter P of at most LENGTH (restarts: of just that), as in
                              --parameter pause --given skew=20ms; nothing is then compared with the file
  --max-traces N              stop each story after N traces
  --max-events N              stop each story after N events, those of runs that are no traces included
  --max-seconds S             stop each story after S seconds
  --checkpoint FILE           keep what has been explored in FILE, now and then and at a bound (needs
                              exactly one story)
  --resume                    go on from the checkpoint
  --no-reduction              explore all interleavings, also those that cannot make a difference
  --thorough                  search in another way, that shares less with the usual one; takes much longer
                              (docs/argument/exploring.md, "What time does not allow")
  --no-second-opinion         leave out the concrete runs that try to break what the search calls kept
  --ticks D                   brute force instead: run every multiple of D in each range, e.g. 1ms
  --json                      one JSON document on stdout, nothing else
  --only-failures             of several stories show those alone that are not as expected, or incomplete
  --no-times                  leave real time out, so that equal results are equal bytes
  --junit FILE                also write the results as JUnit XML
  --lang en|zh                language
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --jobs N                    N threads in one story, or N stories at a time; the results are the same
  --seed N                    taken by every command; nothing depends on it here
  --help

Exit status: 0 all as expected and complete, 1 something was not as expected, 2 the input or the call was
wrong, 3 a bound was hit or Ctrl-C was pressed, so that the answer is not complete, and nothing that was
found contradicts a file. A file that expects nothing of check is held to what its algorithm claims.

example: lockstep check scenarios --max-seconds 60
example: lockstep check scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml --witness broken.toml
)";

constexpr std::string_view kLinearize =
    R"(Judges histories: is there an order of the operations that one perfect object could have gone through?

usage: lockstep linearize HISTORY... [--model MODEL] [OPTIONS]

A HISTORY is Jepsen's history.edn, a Jepsen log or history.txt, or JSON (an object on each line, or an array), also
packed by gzip; a directory stands for the history in it; - is standard input. docs/manual/linearize.md has the formats. What
`lockstep run --history` writes says its model; of others --model has to. An operation that ended with :info, or never, may have taken
effect at any later time, or never; one that failed did not.

  MODEL                   functions (other names that files use for them)
  mutex, owner-mutex, reentrant-mutex, fenced-mutex, reentrant-fenced-mutex
                          acquire (lock), release (unlock); fenced: acquire returns a token
  read-write-lock         acquire-read (read-lock, rlock), release-read, acquire-write (write-lock), release-write
  semaphore               acquire, release [N]; --permits
  register, cas-register  read (get), write (put, set); cas (compare-and-set) [OLD NEW]
  multi-register          txn [[:read K nil] [:write K V]]; read, write [K V]
  kv                      get (read), put (write), append; [KEY VALUE], or :key beside :value
  set                     add (insert), remove (delete), contains, read
  fifo-queue              enqueue (push), dequeue (pop, poll)
  lockstep list specs     all of them, with all names

  --format auto|edn|json|log  what the files are; auto: by their beginning
  --permits N                 permits of the semaphore (what the history says, or 1)
  --initial V                 what a register holds at first (nil)
  --independent               values are [KEY VALUE], and each key is an object of its own
  --check-failed              a failed acquire needs a moment at which the lock was taken, a failed cas one at which the
                              value was another; otherwise what failed is left out
  --nil-reads-unknown         a read that returned nil is one whose value is not known, as Knossos has it
  --max-memory SIZE           for the search, e.g. 512MB (4GB); beyond it the answer is unknown
  --max-seconds S             for all histories together; beyond it the answer is unknown
  --html FILE                 also write a page with a picture of each history
  --json                      one JSON document on stdout, nothing else
  --lang en|zh                language of the page
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --seed N, --jobs N          taken by every command; nothing depends on them here
  --help

Exit status: 0 all are linearizable, 1 one is not, 2 a history or the call is wrong, 3 unknown: a bound was hit.

example: lockstep linearize store/latest/history.edn --model cas-register --html why.html
example: lockstep run story.toml --history story.edn; lockstep linearize story.edn
)";

constexpr std::string_view kConfirm =
    R"(Plays what run shows at real Redis servers, and says whether the same happens there.

usage: lockstep confirm FILE|DIR... --redis[=HOST:PORT] [OPTIONS]

The clients, their lock code, the network and the faults are the scenario's; the servers are processes of
redis-server, and what clients hear is what those answer. Time is real, slowed down or sped up for each
scenario so that nothing comes near the end of a lease. docs/manual/confirm.md has more.

  --redis                     our own servers, started in a temporary folder and gone afterwards
  --redis=HOST:PORT           a server that is there; it must be empty, and keeps nothing of it
  --flush                     of that server: delete whatever is on it first
  --max-seconds N             a scenario that takes longer, however fast it is played, is not played (120)
  --record FILE               keep what came out, beside what the file knows of other scenarios; lockstep
                              list failures reads scenarios/confirmed.json
  --table FILE                the same as a table for people (Markdown)
  --junit FILE                a test report for build servers

  --json                      one JSON document on stdout, nothing else
  --jobs N                    threads (as many as there are cores); four scenarios at once for each
  --width N                   columns to use (40 to 1000)
  --color auto|always|never   colours; auto: on a terminal without NO_COLOR
  --seed N, --lang en|zh      taken by every command; nothing depends on them here
  --help

Exit status: 0 all confirmed, 1 something differs, 2 the input or the call was wrong or no server could be
had, 3 something could not be played, or this machine was too busy for it.

example: lockstep confirm scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml --redis
)";

constexpr std::string_view kReport =
    R"(Writes a site of pages that opens from disk, in English and Chinese: an overview, and for each story its run as a
diagram to step through, why it failed, what every other execution does and by which margin, what repairs it, questions.

usage: lockstep report [FOLDER] [OPTIONS]

  FOLDER                      where to write, "report" if not said otherwise: a new folder, an empty one, or an earlier report's
  --stories FILE|DIR...       of these stories, "scenarios" if not said otherwise
  --single FILE               instead: one page of one story that needs no other file, to be mailed
  --jobs N                    threads
  --json, --seed, --lang, --width, --color
                              taken by every command; nothing depends on them here: pages have both languages
  --help

What was explored is kept in FOLDER/.results, and used again where story, program and bounds are the same.
Stories that take long, or do not end, are run and not explored; their pages say so.

example: lockstep report out
example: lockstep report --single f003-2.html --stories scenarios/stories/redisson-source/f003-2-pause-outlives-lease.toml
)";

constexpr std::string_view kServe =
    R"(Serves a scenario's Redis servers to real clients: redis-cli, client libraries, test suites.

usage: lockstep serve FILE [OPTIONS]

Each server of the scenario gets a port of 127.0.0.1, which is printed, and behaves there as in the
simulation: its clock, and the pauses, crashes and jumps that the file plans for it at given times. The
scenario's clients do not run. Ctrl-C ends it. docs/manual/serve.md has more.

  --port N                    of the first server; the next ones have N+1, N+2, ...; 0: free ones (0)
  --step                      time stands still until a client sends DEBUG STEP seconds, so that a lease
                              runs out exactly when you say; otherwise it runs with the real clock
  --seed N                    what SPOP and its like take (1)
  --json                      the ports as one JSON document on stdout, nothing else
  --lang, --width, --color, --jobs
                              taken by every command; nothing depends on them here
  --help

Exit status: 0 ended by Ctrl-C, 2 the file or the call was wrong, or a port is taken.

example: lockstep serve scenarios/stories/reference/set-nx-px-lua-3x2.toml --port 6400
example: redis-cli -p 6400 SET lock me NX PX 30000
)";

constexpr std::string_view kPlay =
    R"(Opens a story in your browser: its text on one side, on the other what happens, anew after every change. Sliders move
its figures, a click on the diagram pauses, crashes or loses something just there, check runs behind the page, and a
history that is dropped onto it is judged.

usage: lockstep play [FILE] [OPTIONS]

Prints an address of 127.0.0.1 with a token, which nobody else knows; open it. Without FILE it begins with a new story.
Stories are saved into the folder of FILE, or into the one that it was called in, and nowhere else; a file that is there
is overwritten only after a question. Ctrl-C ends it. docs/manual/play.md has more.

  --port N                    of 127.0.0.1; 0: a free one (0)
  --json                      the address as one JSON document on stdout, nothing else
  --jobs N                    threads of a check (as many as there are cores)
  --seed, --lang, --width, --color
                              taken by every command; nothing depends on them here
  --help

Exit status: 0 ended by Ctrl-C, 2 the file cannot be read, the call was wrong, or the port is taken.

example: lockstep play scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml
)";

constexpr std::string_view kSchema =
    R"(Prints the scenario format as a JSON schema (draft 07). An editor with a TOML extension that knows schemas (Even
Better TOML, Taplo) then completes keys, says what they mean, and marks what is wrong while you write.

usage: lockstep schema

Save it beside your stories, and name it in the first line of each:

  lockstep schema > lockstep.schema.json
  #:schema lockstep.schema.json

lockstep new writes that line where such a file is there. docs/manual/scenario-format.md has more.

  --json, --seed, --lang, --width, --color, --jobs
                              taken by every command; nothing depends on them here
  --help

example: lockstep schema > lockstep.schema.json
)";

}  // namespace

std::span<const std::string_view> command_names() { return kCommands; }

std::string_view help_of(std::string_view command) {
  if (command == "list") return kList;
  if (command == "new") return kNew;
  if (command == "run") return kRun;
  if (command == "check") return kCheck;
  if (command == "fuzz") return kFuzz;
  if (command == "matrix") return kMatrix;
  if (command == "compare") return kCompare;
  if (command == "linearize") return kLinearize;
  if (command == "confirm") return kConfirm;
  if (command == "report") return kReport;
  if (command == "serve") return kServe;
  if (command == "play") return kPlay;
  if (command == "schema") return kSchema;
  return kProgram;
}

}  // namespace lockstep::cli
