#include "cli/arguments/reading.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <thread>
#include <utility>

#include "checker/linearizability/linearizability.hpp"
#include "cli/arguments/typed.hpp"
#include "reports/run/history_file.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

using scenarios::suggestion;

constexpr std::array<std::string_view, 6> kLists{"algorithms", "scenarios", "properties",
                                                 "faults",     "failures",  "specs"};
constexpr std::array<std::string_view, 3> kColours{"auto", "always", "never"};
constexpr std::array<std::string_view, 2> kLanguages{"en", "zh"};
constexpr std::array<std::string_view, 7> kEverywhere{"--json", "--seed",  "--jobs", "--color",
                                                      "--lang", "--width", "--help"};
constexpr std::array<std::string_view, 19> kOnlyCheck{"--graph",
                                                      "--margins-json",
                                                      "--witness",
                                                      "--parameter",
                                                      "--no-reduction",
                                                      "--ticks",
                                                      "--max-seconds",
                                                      "--max-traces",
                                                      "--all",
                                                      "--checkpoint",
                                                      "--resume",
                                                      "--junit",
                                                      "--no-times",
                                                      "--wait-for",
                                                      "--max-events",
                                                      "--thorough",
                                                      "--no-second-opinion",
                                                      "--given",
                                                      "--only-failures"};
constexpr std::array<std::string_view, 7> kOnlyRun{"--timeline", "--no-timeline",   "--junit",   "--history",
                                                   "--export",   "--only-failures", "--may-seed"};
constexpr std::array<std::string_view, 2> kOnlyNew{"--algorithm", "--lock"};
constexpr std::array<std::string_view, 10> kOnlyLinearize{
    "--model",      "--format",      "--permits", "--initial", "--independent", "--check-failed", "--nil-reads-unknown",
    "--max-memory", "--max-seconds", "--html"};

constexpr std::array<std::string_view, 3> kOnlyCompare{"--algorithms", "--clients", "--seconds"};
constexpr std::array<std::string_view, 5> kOnlyMatrix{"--faults", "--max-traces", "--max-events", "--runs",
                                                      "--witnesses"};
constexpr std::array<std::string_view, 11> kOnlyFuzz{"--algorithm", "--max-seconds", "--runs",      "--found",
                                                     "--resume",    "--shard",       "--merge",     "--strategy",
                                                     "--depth",     "--no-coverage", "--as-written"};
constexpr std::array<std::string_view, 6> kOnlyConfirm{"--redis",  "--flush", "--max-seconds",
                                                       "--record", "--table", "--junit"};
constexpr std::array<std::string_view, 2> kOnlyServe{"--port", "--step"};
constexpr std::array<std::string_view, 2> kOnlyReport{"--single", "--stories"};
constexpr std::array<std::string_view, 1> kOnlyPlay{"--port"};

/// Unknown options, commands and whatever else nobody wanted.
Answer unexpected(const std::vector<std::string>& words, std::string_view command) {
  const std::string& word = words.front();
  if (word.starts_with('-') && word != "-") {
    std::vector<std::string_view> valid(kEverywhere.begin(), kEverywhere.end());
    if (command == "run") valid.insert(valid.end(), kOnlyRun.begin(), kOnlyRun.end());
    if (command == "check") valid.insert(valid.end(), kOnlyCheck.begin(), kOnlyCheck.end());
    if (command == "compare") valid.insert(valid.end(), kOnlyCompare.begin(), kOnlyCompare.end());
    if (command == "matrix") valid.insert(valid.end(), kOnlyMatrix.begin(), kOnlyMatrix.end());
    if (command == "linearize") valid.insert(valid.end(), kOnlyLinearize.begin(), kOnlyLinearize.end());
    if (command == "fuzz") valid.insert(valid.end(), kOnlyFuzz.begin(), kOnlyFuzz.end());
    if (command == "report") valid.insert(valid.end(), kOnlyReport.begin(), kOnlyReport.end());
    if (command == "new") valid.insert(valid.end(), kOnlyNew.begin(), kOnlyNew.end());
    if (command == "confirm") valid.insert(valid.end(), kOnlyConfirm.begin(), kOnlyConfirm.end());
    if (command == "play") valid.insert(valid.end(), kOnlyPlay.begin(), kOnlyPlay.end());
    if (command == "serve") valid.insert(valid.end(), kOnlyServe.begin(), kOnlyServe.end());
    if (command.empty()) valid.emplace_back("--version");
    const std::string name = word.substr(0, word.find('='));
    return wrong(fmt::format("unknown option {}; {}", scenarios::in_quotes(name), suggestion(name, valid)), command);
  }
  std::string commands;
  for (const std::string_view name : command_names())
    commands += fmt::format("{}{}", commands.empty() ? "" : ", ", name);
  std::string message = fmt::format("unknown command {}; ", scenarios::in_quotes(word));
  const std::string near = suggestion(word, command_names());
  if (near.starts_with("did you mean")) message += near + " ";
  return wrong(message + "there are: " + commands);
}

void declare_everywhere(CLI::App& app, Typed& typed) {
  app.add_flag("-h,--help", typed.help);
  app.add_flag("--json", typed.json);
  app.add_option("--seed", typed.seed)->take_last();
  app.add_option("--jobs", typed.jobs)->take_last();
  app.add_option("--color", typed.colour)->take_last();
  app.add_option("--lang", typed.language)->take_last();
  app.add_option("--width", typed.width)->take_last();
}

void declare_linearize(CLI::App& linearize, Typed& typed) {
  linearize.set_help_flag();
  linearize.add_option("histories", typed.files);
  linearize.add_flag("--independent", typed.independent);
  linearize.add_flag("--check-failed", typed.check_failed);
  linearize.add_flag("--nil-reads-unknown", typed.nil_reads_unknown);
  linearize.add_option("--model", typed.model)->take_last();
  linearize.add_option("--format", typed.format)->take_last();
  linearize.add_option("--permits", typed.permits)->take_last();
  linearize.add_option("--initial", typed.initial)->take_last();
  linearize.add_option("--max-memory", typed.max_memory)->take_last();
  linearize.add_option("--max-seconds", typed.max_seconds)->take_last();
  linearize.add_option("--html", typed.html)->take_last();
}

std::optional<Answer> take_numbers(const Typed& typed, Call& call, std::string_view command) {
  const auto take_seed = [&](std::string_view option, const std::optional<std::string>& text,
                             std::optional<std::uint64_t>& seed) -> std::optional<Answer> {
    if (text) seed = whole_number(*text, 0, UINT64_MAX);
    if (!text || seed) return std::nullopt;
    return wrong(fmt::format("{} {}: expected a whole number from 0 to 2^64-1", option, scenarios::in_quotes(*text)),
                 command);
  };
  if (auto answer = take_seed("--seed", typed.seed, call.seed)) return answer;
  if (auto answer = take_seed("--may-seed", typed.may_seed, call.may_seed)) return answer;
  call.jobs = std::max(1U, std::thread::hardware_concurrency());
  if (typed.jobs) {
    const auto jobs = whole_number(*typed.jobs, 1, 1024);
    if (!jobs)
      return wrong(fmt::format("--jobs {}: expected a whole number from 1 to 1024", scenarios::in_quotes(*typed.jobs)),
                   command);
    call.jobs = *jobs;
  }
  if (typed.width) {
    const auto width = whole_number(*typed.width, 40, 1000);
    if (!width)
      return wrong(
          fmt::format("--width {}: expected a whole number from 40 to 1000", scenarios::in_quotes(*typed.width)),
          command);
    call.width = *width;
  }
  return std::nullopt;
}

std::optional<Answer> take_words(const Typed& typed, Call& call, std::string_view command) {
  if (typed.colour) {
    const auto colour = std::find(kColours.begin(), kColours.end(), *typed.colour);
    if (colour == kColours.end()) {
      return wrong(
          fmt::format("--color {}: {}", scenarios::in_quotes(*typed.colour), suggestion(*typed.colour, kColours)),
          command);
    }
    call.colour = static_cast<Call::Colour>(colour - kColours.begin());
  }
  if (typed.language) {
    const auto language = std::find(kLanguages.begin(), kLanguages.end(), *typed.language);
    if (language == kLanguages.end()) {
      return wrong(
          fmt::format("--lang {}: {}", scenarios::in_quotes(*typed.language), suggestion(*typed.language, kLanguages)),
          command);
    }
    call.language = *language == "zh" ? reports::Language::zh : reports::Language::en;
  }
  return std::nullopt;
}

std::variant<Call, Answer> list_call(const Typed& typed, Call call) {
  call.command = Call::Command::list;
  if (!typed.list_words.empty()) {
    call.what = typed.list_words.front();
    call.files.assign(typed.list_words.begin() + 1, typed.list_words.end());
  }
  if (std::find(kLists.begin(), kLists.end(), call.what) == kLists.end()) {
    return wrong(fmt::format("list {}: {}", scenarios::in_quotes(call.what), suggestion(call.what, kLists)), "list");
  }
  const bool of_files = call.what == "scenarios" || call.what == "failures";
  if (!of_files && call.what != "algorithms" && !call.files.empty()) {
    return wrong(
        fmt::format("list {} takes no files, but was given {}", call.what, scenarios::in_quotes(call.files.front())),
        "list");
  }
  if (of_files && call.files.empty()) call.files = {"scenarios"};
  return call;
}

std::variant<Call, Answer> run_call(const Typed& typed, Call call) {
  call.command = Call::Command::run;
  call.files = typed.files;
  if (typed.timeline && typed.no_timeline) return wrong("--timeline and --no-timeline exclude each other", "run");
  if (typed.timeline) call.timeline = true;
  if (typed.no_timeline) call.timeline = false;
  call.only_failures = typed.only_failures;
  call.junit = typed.junit;
  if (call.junit && call.junit->empty()) return wrong("--junit needs the name of a file", "run");
  call.history = typed.history;
  if (call.history && !reports::history_format_of(*call.history)) {
    return wrong(
        fmt::format("--history {}: expected a name that ends in .edn or .jsonl", scenarios::in_quotes(*call.history)),
        "run");
  }
  if (auto answer = take_exports(typed, call)) return *answer;
  if (call.files.empty()) return wrong("run needs scenario files or directories, e.g. lockstep run scenarios", "run");
  return call;
}

/// "512MB", "4GB", "1000000": in bytes.
std::optional<std::uint64_t> bytes(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> units{{{"KB", 1ULL << 10U},
                                                                             {"MB", 1ULL << 20U},
                                                                             {"GB", 1ULL << 30U},
                                                                             {"K", 1ULL << 10U},
                                                                             {"M", 1ULL << 20U},
                                                                             {"G", 1ULL << 30U},
                                                                             {"", 1}}};
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    const auto n = whole_number(text.substr(0, text.size() - unit.size()), 1, (1ULL << 50U) / factor);
    return n ? std::optional(*n * factor) : std::nullopt;
  }
  return std::nullopt;
}

std::variant<Call, Answer> linearize_call(const Typed& typed, Call call) {
  const auto in_quotes = [](const std::optional<std::string>& text) { return scenarios::in_quotes(*text); };
  const auto refuse = [](std::string message) { return wrong(std::move(message), "linearize"); };
  call.command = Call::Command::linearize;
  call.files = typed.files;
  if (call.files.empty()) return refuse("linearize needs histories, e.g. lockstep linearize history.edn --model mutex");
  if (std::count(call.files.begin(), call.files.end(), "-") > 1)
    return refuse("standard input (-) can be read only once");
  call.linearize.model = typed.model.value_or("");
  if (typed.model && checker::find_model(call.linearize.model) == nullptr) {
    std::vector<std::string_view> names;
    for (const checker::Model* model : checker::models()) names.push_back(model->name());
    return refuse(fmt::format("--model {}: {}", in_quotes(typed.model), suggestion(call.linearize.model, names)));
  }
  if (typed.format) {
    const auto names = checker::history_formats::format_names();
    const auto format = std::find(names.begin(), names.end(), *typed.format);
    if (format == names.end())
      return refuse(fmt::format("--format {}: {}", in_quotes(typed.format), suggestion(*typed.format, names)));
    call.linearize.format = static_cast<checker::history_formats::Format>(format - names.begin());
  }
  if (typed.permits) {
    const auto permits = whole_number(*typed.permits, 1, 1'000'000'000);
    if (!permits)
      return refuse(fmt::format("--permits {}: expected a whole number from 1 to 10^9", in_quotes(typed.permits)));
    if (call.linearize.model != "semaphore" && typed.model)
      return refuse(fmt::format("--permits is for the model semaphore, not for {}", call.linearize.model));
    call.linearize.permits = static_cast<std::int64_t>(*permits);
  }
  if (typed.initial) {
    if (!call.linearize.model.ends_with("register")) {
      return refuse(fmt::format("--initial is for the models register, cas-register and multi-register{}",
                                typed.model ? ", not for " + call.linearize.model : ": say which by --model"));
    }
    call.linearize.initial = *typed.initial == "nil" ? "" : *typed.initial;
  }
  call.linearize.independent = typed.independent;
  call.linearize.check_failed = typed.check_failed;
  call.linearize.nil_reads_unknown = typed.nil_reads_unknown;
  if (typed.max_memory) {
    call.linearize.max_memory = bytes(*typed.max_memory);
    if (!call.linearize.max_memory)
      return refuse(fmt::format("--max-memory {}: expected a size like 512MB or 4GB", in_quotes(typed.max_memory)));
  }
  if (typed.max_seconds) {
    call.linearize.max_seconds = seconds_of(*typed.max_seconds);
    if (!call.linearize.max_seconds)
      return refuse(fmt::format("--max-seconds {}: expected a number of seconds such as 60 or 0.5",
                                in_quotes(typed.max_seconds)));
  }
  call.linearize.html = typed.html;
  if (call.linearize.html && call.linearize.html->empty()) return refuse("--html needs the name of a file");
  return call;
}

/// "HOST:PORT", or nothing at all: a server of our own.
std::optional<Answer> take_redis(const std::string& text, Call::Confirm& confirm) {
  if (text.empty()) return std::nullopt;
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(text.substr(colon + 1), 1, UINT16_MAX);
  if (!port || colon == 0) {
    return wrong(fmt::format("--redis={}: expected HOST:PORT, e.g. --redis=127.0.0.1:6379, or --redis alone",
                             scenarios::in_quotes(text)),
                 "confirm");
  }
  confirm.host = text.substr(0, colon);
  confirm.port = static_cast<std::uint16_t>(*port);
  return std::nullopt;
}

std::variant<Call, Answer> confirm_call(const Typed& typed, Call call) {
  call.command = Call::Command::confirm;
  call.files = typed.files;
  if (call.files.empty())
    return wrong(
        "confirm needs scenario files or directories, e.g. lockstep confirm scenarios/stories/redis-lock-java --redis",
        "confirm");
  if (!typed.redis)
    return wrong("confirm needs to know which kind of server: --redis, or --redis=HOST:PORT", "confirm");
  if (auto answer = take_redis(*typed.redis, call.confirm)) return *answer;
  call.confirm.flush = typed.flush;
  if (call.confirm.flush && !call.confirm.host)
    return wrong("--flush is for a server that is not ours: --redis=HOST:PORT", "confirm");
  call.confirm.record = typed.record;
  call.confirm.table = typed.table;
  call.junit = typed.junit;
  for (const auto& [option, file] : {std::pair{"--record", call.confirm.record},
                                     std::pair{"--table", call.confirm.table}, std::pair{"--junit", call.junit}}) {
    if (file && file->empty()) return wrong(fmt::format("{} needs the name of a file", option), "confirm");
  }
  if (typed.max_seconds) {
    const std::optional<double> seconds = seconds_of(*typed.max_seconds);
    constexpr double kDay = 86'400;
    if (!seconds || *seconds > kDay) {
      return wrong(fmt::format("--max-seconds {}: expected seconds, up to a day, such as 60 or 0.5",
                               scenarios::in_quotes(*typed.max_seconds)),
                   "confirm");
    }
    call.confirm.longest = sim::Duration::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
  }
  return call;
}

void declare_confirm(CLI::App& confirm, Typed& typed) {
  confirm.set_help_flag();
  confirm.add_option("files", typed.files);
  confirm.add_option("--redis", typed.redis)->expected(0, 1)->take_last();
  confirm.add_flag("--flush", typed.flush);
  confirm.add_option("--max-seconds", typed.max_seconds)->take_last();
  confirm.add_option("--record", typed.record)->take_last();
  confirm.add_option("--table", typed.table)->take_last();
  confirm.add_option("--junit", typed.junit)->take_last();
}

std::optional<Answer> take_port(const Typed& typed, std::string_view command, std::uint16_t& taken) {
  if (!typed.port) return std::nullopt;
  const auto port = whole_number(*typed.port, 0, UINT16_MAX);
  if (!port)
    return wrong(fmt::format("--port {}: expected a whole number from 0 to 65535", scenarios::in_quotes(*typed.port)),
                 command);
  taken = static_cast<std::uint16_t>(*port);
  return std::nullopt;
}

std::variant<Call, Answer> play_call(const Typed& typed, Call call) {
  call.command = Call::Command::play;
  call.files = typed.files;
  if (call.files.size() > 1)
    return wrong("play takes one scenario file, e.g. lockstep play mine.toml; without one it begins with a new story",
                 "play");
  if (auto answer = take_port(typed, "play", call.play.port)) return *answer;
  return call;
}

std::variant<Call, Answer> serve_call(const Typed& typed, Call call) {
  call.command = Call::Command::serve;
  call.files = typed.files;
  call.serve.step = typed.step;
  if (call.files.size() != 1) {
    return wrong(
        "serve needs one scenario file, e.g. lockstep serve scenarios/stories/reference/set-nx-px-lua-3x2.toml",
        "serve");
  }
  if (auto answer = take_port(typed, "serve", call.serve.port)) return *answer;
  return call;
}

std::variant<Call, Answer> matrix_call(const Typed& typed, Call call) {
  call.command = Call::Command::matrix;
  call.files = typed.files;
  call.matrix.faults = typed.faults;
  call.matrix.witnesses = typed.witnesses;
  if (call.matrix.witnesses && call.matrix.witnesses->empty())
    return wrong("--witnesses needs the name of a folder", "matrix");
  Call::Matrix& bounds = call.matrix;
  if (auto answer = take_bound("--max-traces", typed.max_traces, "matrix", bounds.max_traces)) return *answer;
  if (auto answer = take_bound("--max-events", typed.max_events, "matrix", bounds.max_events)) return *answer;
  if (auto answer = take_bound("--runs", typed.runs, "matrix", bounds.runs)) return *answer;
  return call;
}

std::variant<Call, Answer> compare_call(const Typed& typed, Call call) {
  call.command = Call::Command::compare;
  call.files = typed.files;
  call.compare.algorithms = typed.algorithms;
  for (const std::string& text : typed.clients) {
    const auto clients = whole_number(text, 1, 256);
    if (!clients) {
      return wrong(
          fmt::format("--clients {}: expected whole numbers from 1 to 256, such as 2,8,64", scenarios::in_quotes(text)),
          "compare");
    }
    call.compare.clients.push_back(static_cast<std::size_t>(*clients));
  }
  if (typed.seconds) {
    const std::optional<double> seconds = seconds_of(*typed.seconds);
    constexpr double kDay = 86'400;
    if (!seconds || *seconds > kDay) {
      return wrong(fmt::format("--seconds {}: expected seconds of virtual time, up to a day, such as 60 or 0.5",
                               scenarios::in_quotes(*typed.seconds)),
                   "compare");
    }
    call.compare.length = sim::Duration::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
  }
  if (call.files.empty()) {
    return wrong(
        "compare needs scenario files or directories, e.g. lockstep compare scenarios/stories/compare/short-work.toml",
        "compare");
  }
  return call;
}

std::variant<Call, Answer> new_call(const Typed& typed, Call call) {
  call.command = Call::Command::new_story;
  call.files = typed.files;
  if (typed.algorithm) call.new_story.algorithm = *typed.algorithm;
  call.new_story.lock = typed.lock;
  if (typed.lock && typed.algorithm)
    return wrong("--lock writes a lock of your own, and --algorithm names one that there is; leave out one of them",
                 "new");
  if (call.new_story.lock && call.files.empty()) call.files.emplace_back("my-lock");
  if (call.files.size() != 1 || call.files.front().empty())
    return wrong("new needs the name of one story, e.g. lockstep new mine", "new");
  return call;
}

void declare_compare(CLI::App& compare, Typed& typed) {
  compare.set_help_flag();
  compare.add_option("files", typed.files);
  compare.add_option("--algorithms", typed.algorithms)->delimiter(',');
  compare.add_option("--clients", typed.clients)->delimiter(',');
  compare.add_option("--seconds", typed.seconds)->take_last();
}

void declare_matrix(CLI::App& matrix, Typed& typed) {
  matrix.set_help_flag();
  matrix.add_option("algorithms", typed.files);
  matrix.add_option("--faults", typed.faults)->delimiter(',');
  matrix.add_option("--max-traces", typed.max_traces)->take_last();
  matrix.add_option("--max-events", typed.max_events)->take_last();
  matrix.add_option("--runs", typed.runs)->take_last();
  matrix.add_option("--witnesses", typed.witnesses)->take_last();
}

}  // namespace

std::variant<Call, Answer> read_arguments(std::span<const std::string> args) {
  Typed typed;
  CLI::App app("lockstep");
  app.set_help_flag();
  // Options of every command may stand before the command too, and what nobody knows is judged here.
  app.fallthrough();
  app.allow_extras();
  app.require_subcommand(0, 1);
  declare_everywhere(app, typed);
  app.add_flag("--version", typed.version);
  CLI::App* list = app.add_subcommand("list");
  list->set_help_flag();
  list->add_option("words", typed.list_words);
  CLI::App* run = app.add_subcommand("run");
  run->set_help_flag();
  run->add_option("files", typed.files);
  run->add_flag("--timeline", typed.timeline);
  run->add_flag("--no-timeline", typed.no_timeline);
  run->add_flag("--only-failures", typed.only_failures);
  run->add_option("--may-seed", typed.may_seed)->take_last();
  run->add_option("--junit", typed.junit)->take_last();
  CLI::App* check = app.add_subcommand("check");
  declare_check(*check, typed);
  run->add_option("--history", typed.history)->take_last();
  run->add_option("--export", typed.exports)->allow_extra_args(false);
  CLI::App* serve = app.add_subcommand("serve");
  serve->set_help_flag();
  serve->add_option("files", typed.files);
  serve->add_option("--port", typed.port)->take_last();
  serve->add_flag("--step", typed.step);
  CLI::App* play = app.add_subcommand("play");
  play->set_help_flag();
  play->add_option("files", typed.files);
  play->add_option("--port", typed.port)->take_last();
  CLI::App* fresh = app.add_subcommand("new");
  fresh->set_help_flag();
  fresh->add_option("name", typed.files);
  fresh->add_option("--algorithm", typed.algorithm)->take_last();
  fresh->add_flag("--lock", typed.lock);
  CLI::App* schema = app.add_subcommand("schema");
  schema->set_help_flag();
  CLI::App* linearize = app.add_subcommand("linearize");
  declare_linearize(*linearize, typed);
  CLI::App* matrix = app.add_subcommand("matrix");
  declare_matrix(*matrix, typed);
  CLI::App* compare = app.add_subcommand("compare");
  declare_compare(*compare, typed);
  CLI::App* fuzz = app.add_subcommand("fuzz");
  declare_fuzz(*fuzz, typed);
  CLI::App* confirm = app.add_subcommand("confirm");
  declare_confirm(*confirm, typed);
  CLI::App* report = app.add_subcommand("report");
  declare_report(*report, typed);

  std::vector<std::string> reversed(args.rbegin(), args.rend());
  std::optional<std::string> trouble;
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    trouble = what.substr(0, what.find(':')) + " needs a value";
  } catch (const CLI::ParseError& error) {
    trouble = error.what();
  }
  const std::string_view command = run->parsed()         ? "run"
                                   : check->parsed()     ? "check"
                                   : list->parsed()      ? "list"
                                   : linearize->parsed() ? "linearize"
                                   : matrix->parsed()    ? "matrix"
                                   : compare->parsed()   ? "compare"
                                   : fuzz->parsed()      ? "fuzz"
                                   : confirm->parsed()   ? "confirm"
                                   : serve->parsed()     ? "serve"
                                   : play->parsed()      ? "play"
                                   : fresh->parsed()     ? "new"
                                   : report->parsed()    ? "report"
                                   : schema->parsed()    ? "schema"
                                                         : "";
  std::vector<std::string> extras = app.remaining(true);
  std::erase(extras, "--");  // what comes after it has been taken as names
  if (typed.help || (command.empty() && !extras.empty() && extras.front() == "help")) {
    return Answer{std::string(help_of(command)), Exit::as_expected};
  }
  if (typed.version) return Answer{fmt::format("lockstep {}\n", kVersion), Exit::as_expected};
  if (trouble) return wrong(*trouble, command);
  if (!extras.empty()) return unexpected(extras, command);
  if (command.empty()) return Answer{std::string(help_of("")), Exit::bad_input};

  Call call;
  call.json = typed.json;
  if (std::optional<Answer> answer = take_numbers(typed, call, command)) return *answer;
  if (std::optional<Answer> answer = take_words(typed, call, command)) return *answer;
  if (command == "run") return run_call(typed, std::move(call));
  if (command == "check") return check_call(typed, std::move(call));
  if (command == "linearize") return linearize_call(typed, std::move(call));
  if (command == "compare") return compare_call(typed, std::move(call));
  if (command == "matrix") return matrix_call(typed, std::move(call));
  if (command == "fuzz") return fuzz_call(typed, std::move(call));
  if (command == "confirm") return confirm_call(typed, std::move(call));
  if (command == "report") return report_call(typed, std::move(call));
  if (command == "serve") return serve_call(typed, std::move(call));
  if (command == "play") return play_call(typed, std::move(call));
  if (command == "new") return new_call(typed, std::move(call));
  if (command == "schema") {
    call.command = Call::Command::schema;
    return call;
  }
  return list_call(typed, std::move(call));
}

}  // namespace lockstep::cli
