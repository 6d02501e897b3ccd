#include "cli/call.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>

#include "scenarios/suggestion.hpp"

namespace lockstep::cli {
namespace {

using scenarios::suggestion;

constexpr std::array<std::string_view, 4> kLists{"algorithms", "scenarios", "properties", "faults"};
constexpr std::array<std::string_view, 3> kColours{"auto", "always", "never"};
constexpr std::array<std::string_view, 2> kLanguages{"en", "zh"};
constexpr std::array<std::string_view, 7> kEverywhere{"--json", "--seed",  "--jobs", "--color",
                                                      "--lang", "--width", "--help"};
constexpr std::array<std::string_view, 3> kOnlyRun{"--timeline", "--no-timeline", "--junit"};

/// Option values as they were typed: this file's own messages are better than a library's.
struct Typed {
  bool help = false, version = false, json = false, timeline = false, no_timeline = false;
  std::optional<std::string> seed, jobs, colour, language, width, junit;
  std::vector<std::string> list_words, run_files;
};

/// A message about the call; every one of them says how to go on.
Answer wrong(std::string message, std::string_view command = "") {
  const std::string more = command.empty() ? "lockstep --help" : fmt::format("lockstep {} --help", command);
  return {fmt::format("lockstep: {}\n{} shows how to call it\n", message, more), Exit::bad_input};
}

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < min || n > max) return std::nullopt;
  return n;
}

/// Unknown options, commands and whatever else nobody wanted.
Answer unexpected(const std::vector<std::string>& words, std::string_view command) {
  const std::string& word = words.front();
  if (word.starts_with('-') && word != "-") {
    std::vector<std::string_view> valid(kEverywhere.begin(), kEverywhere.end());
    if (command == "run") valid.insert(valid.end(), kOnlyRun.begin(), kOnlyRun.end());
    if (command.empty()) valid.emplace_back("--version");
    const std::string name = word.substr(0, word.find('='));
    return wrong(fmt::format("unknown option {}; {}", scenarios::quoted(name), suggestion(name, valid)), command);
  }
  std::string commands;
  for (const std::string_view name : command_names())
    commands += fmt::format("{}{}", commands.empty() ? "" : ", ", name);
  std::string message = fmt::format("unknown command {}; ", scenarios::quoted(word));
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

std::optional<Answer> take_numbers(const Typed& typed, Call& call, std::string_view command) {
  if (typed.seed) {
    call.seed = whole_number(*typed.seed, 0, UINT64_MAX);
    if (!call.seed)
      return wrong(fmt::format("--seed {}: expected a whole number from 0 to 2^64-1", scenarios::quoted(*typed.seed)),
                   command);
  }
  if (typed.jobs) {
    const auto jobs = whole_number(*typed.jobs, 1, 1024);
    if (!jobs)
      return wrong(fmt::format("--jobs {}: expected a whole number from 1 to 1024", scenarios::quoted(*typed.jobs)),
                   command);
    call.jobs = *jobs;
  }
  if (typed.width) {
    const auto width = whole_number(*typed.width, 60, 1000);
    if (!width)
      return wrong(fmt::format("--width {}: expected a whole number from 60 to 1000", scenarios::quoted(*typed.width)),
                   command);
    call.width = *width;
  }
  return std::nullopt;
}

std::optional<Answer> take_words(const Typed& typed, Call& call, std::string_view command) {
  if (typed.colour) {
    const auto colour = std::find(kColours.begin(), kColours.end(), *typed.colour);
    if (colour == kColours.end()) {
      return wrong(fmt::format("--color {}: {}", scenarios::quoted(*typed.colour), suggestion(*typed.colour, kColours)),
                   command);
    }
    call.colour = static_cast<Call::Colour>(colour - kColours.begin());
  }
  if (typed.language) {
    const auto language = std::find(kLanguages.begin(), kLanguages.end(), *typed.language);
    if (language == kLanguages.end()) {
      return wrong(
          fmt::format("--lang {}: {}", scenarios::quoted(*typed.language), suggestion(*typed.language, kLanguages)),
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
    return wrong(fmt::format("list {}: {}", scenarios::quoted(call.what), suggestion(call.what, kLists)), "list");
  }
  if (call.what != "scenarios" && !call.files.empty()) {
    return wrong(
        fmt::format("list {} takes no files, but was given {}", call.what, scenarios::quoted(call.files.front())),
        "list");
  }
  if (call.what == "scenarios" && call.files.empty()) call.files = {"scenarios"};
  return call;
}

std::variant<Call, Answer> run_call(const Typed& typed, Call call) {
  call.command = Call::Command::run;
  call.files = typed.run_files;
  if (typed.timeline && typed.no_timeline) return wrong("--timeline and --no-timeline exclude each other", "run");
  if (typed.timeline) call.timeline = true;
  if (typed.no_timeline) call.timeline = false;
  call.junit = typed.junit;
  if (call.junit && call.junit->empty()) return wrong("--junit needs the name of a file", "run");
  if (call.files.empty()) return wrong("run needs scenario files or directories, e.g. lockstep run scenarios", "run");
  return call;
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
  run->add_option("files", typed.run_files);
  run->add_flag("--timeline", typed.timeline);
  run->add_flag("--no-timeline", typed.no_timeline);
  run->add_option("--junit", typed.junit)->take_last();

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
  const std::string_view command = run->parsed() ? "run" : list->parsed() ? "list" : "";
  const std::vector<std::string> extras = app.remaining(true);
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
  return command == "run" ? run_call(typed, std::move(call)) : list_call(typed, std::move(call));
}

}  // namespace lockstep::cli
