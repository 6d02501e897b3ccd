#include "cli/arguments/reading.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/arguments/help.hpp"
#include "cli/commands/commands.hpp"
#include "cli/formats/format.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {
namespace {

using Takes = Option::Takes;
using Options = std::vector<Option>;

/// A message about the call; every one of them says how to go on.
Answer wrong(std::string_view message, std::string_view command) {
  const std::string more = command.empty() ? "lockstep --help" : fmt::format("lockstep {} --help", command);
  return {fmt::format("lockstep: {}\n{} shows how to call it\n", message, more), Exit::bad_input};
}

/// Those of every command; they may stand before its name, too. Commands say in their manuals what they mean to them.
Options shared_options(Settings& settings) {
  Options options;
  for (const Format& format : formats()) {
    if (format.option.empty() || !format.argument.empty()) continue;
    const auto take = [&settings, &format](const std::string&) {
      settings.shown = &format;
      return std::string();
    };
    options.push_back({.name = format.option, .take = take});
  }
  options.push_back(whole({"--seed", "", ""}, {.min = 0}, settings.seed));
  options.push_back(whole({"--jobs", "", ""}, {.max = 1024}, settings.jobs));
  options.push_back(one_of({"--color", "", ""}, {"auto", "always", "never"},
                           [&](std::size_t i) { settings.colour = static_cast<Colour>(i); }));
  options.push_back(one_of({"--lang", "", ""}, {"en", "zh"},
                           [&](std::size_t i) { settings.language = static_cast<reports::Language>(i); }));
  options.push_back(whole({"--width", "", ""}, {.min = 40, .max = 1000}, settings.width));
  for (const std::string_view asked : {"--help", "--version"})
    options.push_back({.name = asked, .take = [](const std::string&) { return std::string(); }});
  return options;
}

/// Formats that go to a file.
void add_formats(const Manual& manual, Call& call, Options& options) {
  for (const Format* format : formats_for(manual)) {
    if (format->argument.empty()) continue;
    const auto take = [&call, format](const std::string& value) {
      call.written.emplace_back(format, value);
      return value.empty() ? fmt::format("{} needs the name of a file", format->option) : "";
    };
    options.push_back(word({format->option, format->argument, format->help}, take));
  }
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

/// A command line, before any value is looked at.
struct Sorted {
  std::vector<std::vector<std::string>> values;  ///< by option; an empty one where it stands without a value
  std::vector<std::string> words;                ///< the others
  std::size_t first_word = 0;                    ///< which argument it is; their number if there is none
  std::string unknown;                           ///< the first option that nobody knows
  std::size_t unknown_at = 0;
  std::string trouble;  ///< the first option whose value is missing, or one too many
};

Sorted sorted(std::span<const std::string> args, const Options& options) {
  Sorted all{.values = {}, .words = {}, .first_word = args.size()};
  all.values.resize(options.size());
  const auto add_word = [&](std::size_t at) {
    if (all.words.empty()) all.first_word = at;
    all.words.push_back(args[at]);
  };
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      while (++i < args.size()) add_word(i);
      break;
    }
    if (!is_option(args[i])) {
      add_word(i);
      continue;
    }
    const std::size_t sign = args[i].find('=');
    const std::string name = args[i] == "-h" ? "--help" : args[i].substr(0, sign);
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.take && o.name == name; });
    if (option == options.end()) {
      if (all.unknown.empty()) all.unknown_at = i;
      if (all.unknown.empty()) all.unknown = name;
      continue;
    }
    std::vector<std::string>& values = all.values[static_cast<std::size_t>(option - options.begin())];
    const auto next_is_value = [&] { return i + 1 < args.size() && !is_option(args[i + 1]); };
    if (sign != std::string::npos) {
      values.push_back(args[i].substr(sign + 1));
      if (option->takes == Takes::nothing && all.trouble.empty()) all.trouble = name + " takes no value";
    } else if (option->takes == Takes::nothing || (option->takes == Takes::a_word_if_any && !next_is_value())) {
      values.emplace_back();
    } else if (i + 1 < args.size()) {
      values.push_back(args[++i]);  // whatever it looks like
      while (option->takes == Takes::words && next_is_value()) values.push_back(args[++i]);
    } else if (all.trouble.empty()) {
      all.trouble = name + " needs a value";
    }
  }
  return all;
}

/// What is wrong with the first value that is; empty: all are taken.
std::string take_all(const Options& options, const Sorted& all) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const Option& option = options[i];
    const std::vector<std::string>& values = all.values[i];
    const bool last_counts = option.takes == Takes::a_word || option.takes == Takes::a_word_if_any;
    for (std::size_t v = last_counts && !values.empty() ? values.size() - 1 : 0; v < values.size(); ++v) {
      std::size_t begin = 0;
      while (begin != std::string::npos) {
        const std::size_t end = option.in_commas ? values[v].find(',', begin) : std::string::npos;
        if (std::string problem = option.take(values[v].substr(begin, end - begin)); !problem.empty()) return problem;
        begin = end == std::string::npos ? end : end + 1;
      }
    }
  }
  return "";
}

Answer unknown_option(const std::string& name, const Options& options, std::string_view command) {
  std::vector<std::string_view> valid;
  for (const Option& option : options) {
    if (option.take && (command.empty() || option.name != "--version")) valid.push_back(option.name);
  }
  return wrong(fmt::format("unknown option {}; {}", scenarios::in_quotes(name), scenarios::suggestion(name, valid)),
               command);
}

Answer unknown_command(const std::string& word, std::span<const std::unique_ptr<Call>> commands) {
  std::vector<std::string_view> names;
  for (const std::unique_ptr<Call>& each : commands) names.push_back(each->manual().name);
  std::string message = fmt::format("unknown command {}; ", scenarios::in_quotes(word));
  const std::string near = scenarios::suggestion(word, names);
  if (near.starts_with("did you mean")) message += near + " ";
  return wrong(fmt::format("{}there are: {}", message, fmt::join(names, ", ")), "");
}

}  // namespace

std::variant<std::unique_ptr<Call>, Answer> read_arguments(std::span<const std::string> args) {
  Settings settings;
  settings.jobs = std::max(1U, std::thread::hardware_concurrency());
  Options options = shared_options(settings);
  Sorted all = sorted(args, options);

  std::vector<std::unique_ptr<Call>> commands = all_commands();
  const auto found = std::find_if(commands.begin(), commands.end(), [&](const std::unique_ptr<Call>& each) {
    return !all.words.empty() && each->manual().name == all.words.front();
  });
  Call* const call = found == commands.end() ? nullptr : found->get();
  const Manual manual = call == nullptr ? Manual() : call->manual();
  if (call != nullptr) {
    std::vector<std::string> rest(args.begin(), args.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(all.first_word));
    options.insert(options.end(), manual.options.begin(), manual.options.end());
    add_formats(manual, *call, options);
    all = sorted(rest, options);
    call->files = all.words;
  }
  const auto is_given = [&](std::string_view name) {
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == name; });
    return !all.values[static_cast<std::size_t>(option - options.begin())].empty();
  };
  if (is_given("--help") || (call == nullptr && !all.words.empty() && all.words.front() == "help"))
    return Answer{call == nullptr ? help_of_program(commands) : help_of(manual), Exit::as_expected};
  if (is_given("--version")) return Answer{fmt::format("lockstep {}\n", kVersion), Exit::as_expected};
  if (!all.trouble.empty()) return wrong(all.trouble, manual.name);
  if (!all.unknown.empty() && (call != nullptr || all.unknown_at < all.first_word))
    return unknown_option(all.unknown, options, manual.name);
  if (call == nullptr && all.words.empty()) return Answer{help_of_program(commands), Exit::bad_input};
  if (call == nullptr || (!manual.takes_words && !all.words.empty()))
    return unknown_command(all.words.front(), commands);
  if (const std::string problem = take_all(options, all); !problem.empty()) return wrong(problem, manual.name);

  static_cast<Settings&>(*call) = settings;
  std::vector<OutputFile> named;
  for (const auto& [format, file] : call->written) named.push_back({std::string(format->option), file, {format->mark}});
  for (const Option& option : manual.options) {
    if (option.output != nullptr && *option.output)
      named.push_back({std::string(option.name), **option.output, option.marks});
  }
  call->outputs.insert(call->outputs.begin(), named.begin(), named.end());
  if (const std::string mistake = call->mistake(); !mistake.empty()) return wrong(mistake, manual.name);
  return std::move(*found);
}

}  // namespace lockstep::cli
