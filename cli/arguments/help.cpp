#include "cli/arguments/help.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/formats/format.hpp"

namespace lockstep::cli {
namespace {

/// The columns of a row's title: what it says begins right of them.
constexpr std::size_t kTitleColumns = 28;

void add_row(std::string& out, std::string_view title, std::string_view help) {
  out += fmt::format("  {:<{}}", title, kTitleColumns);
  if (title.size() + 2 > kTitleColumns) out += fmt::format("\n{:{}}", "", kTitleColumns + 2);
  for (const char c : help) {
    out += c;
    if (c == '\n') out.append(kTitleColumns + 2, ' ');
  }
  out += '\n';
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

void add_options(std::string& out, const std::vector<Option>& options) {
  std::string title;
  for (const Option& option : options) {
    title += fmt::format("{}{}{}{}", title.empty() ? "" : ", ", option.name, option.argument.empty() ? "" : " ",
                         option.argument);
    if (option.help.empty()) continue;
    add_row(out, title, option.help);
    title.clear();
  }
}

}  // namespace

std::string help_of_program(std::span<const std::unique_ptr<Call>> commands) {
  std::string out =
      "Runs distributed locks on simulated servers, in virtual time, and says which promise breaks.\n\n"
      "usage: lockstep COMMAND [OPTIONS]\n\n";
  for (const std::unique_ptr<Call>& command : commands) {
    const Manual manual = command->manual();
    out += fmt::format("  {:<12}{}\n{:14}example: lockstep {}\n", manual.name, manual.summary, "", manual.example);
  }
  return out + R"(
  lockstep COMMAND --help   the options of a command, with examples
  lockstep --version

Exit status: 0 everything as expected, 1 something was not, 2 the input or the call was wrong,
3 a bound was hit so that the answer is not complete.
)";
}

std::string help_of(const Manual& manual) {
  std::string out(manual.head);
  add_options(out, manual.options);
  // Then what every command is told, in one order everywhere.
  std::vector<std::string_view> unused;
  std::vector<std::string_view> unused_with_arguments;
  const auto shared = [&](std::string_view title, std::string_view help) {
    if (!help.empty()) return add_row(out, title, help);
    unused.push_back(title.substr(0, title.find(' ')));
    unused_with_arguments.push_back(title);
  };
  shared("--json", manual.json);
  for (const Format* format : formats_for(manual)) {
    if (!format->help.empty()) add_row(out, fmt::format("{} {}", format->option, format->argument), format->help);
  }
  shared("--seed N", manual.seed);
  shared("--jobs N", manual.jobs);
  shared("--lang en|zh", manual.language);
  shared("--width N", manual.is_laid_out ? "columns to use (40 to 1000)" : "");
  shared("--color auto|always|never", manual.is_laid_out ? "colours; auto: on a terminal without NO_COLOR" : "");
  if (!unused.empty()) {
    const std::string all = joined(unused_with_arguments);
    add_row(out, all.size() + 2 <= kTitleColumns ? all : joined(unused),
            fmt::format("taken by every command; nothing depends on {} here", unused.size() == 1 ? "it" : "them"));
  }
  out += "  --help\n";
  return out.append(manual.tail);
}

}  // namespace lockstep::cli
