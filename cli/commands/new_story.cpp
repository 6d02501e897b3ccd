#include <fmt/format.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/output_files.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;
using scenarios::one_line;

Exit new_story(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const auto refuse = [&](const std::string& message) {
    output.err << "lockstep: " << message << '\n';
    return Exit::bad_input;
  };
  fs::path file = call.files.front();
  if (file.extension() != ".toml") file += ".toml";
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error)))
    return refuse(fmt::format("{} is there already; choose another name", one_line(file.string())));
  fs::path script = file;
  script.replace_extension(".lua");
  if (call.new_story.lock) {
    if (fs::exists(fs::symlink_status(script, error)))
      return refuse(fmt::format("{} is there already; choose another name", one_line(script.string())));
    if (!write_file(script.string(), scenarios::new_lock(), output.err)) return Exit::bad_input;
  }
  scenarios::OwnLock own;
  const models::locks::Entry* entry = catalogue.find(call.new_story.algorithm);
  if (call.new_story.lock) {
    auto read = scenarios::read_own_lock(script);
    if (const auto* problem = std::get_if<std::string>(&read)) return refuse(*problem);
    own = std::get<scenarios::OwnLock>(std::move(read));
    entry = own.entry.get();
  }
  if (entry == nullptr) {
    const std::vector<std::string_view> known = catalogue.ids();
    return refuse(fmt::format("--algorithm {}: {}", scenarios::in_quotes(call.new_story.algorithm),
                              scenarios::suggestion(call.new_story.algorithm, known)));
  }
  // What can be shown can be a title, whatever the file is called.
  const std::string title = one_line(file.stem().string());
  // A hint at a file that is not there would be a mistake in every editor.
  constexpr std::string_view kSchemaFile = "lockstep.schema.json";
  const bool has_schema = fs::is_regular_file(file.parent_path() / kSchemaFile, error);
  const std::string text = (has_schema ? fmt::format("#:schema {}\n", kSchemaFile) : "") +
                           scenarios::new_story(*entry, title, one_line(file.string()));
  if (!write_file(file.string(), text, output.err)) return Exit::bad_input;
  if (call.new_story.lock) output.out << fmt::format("{} is written: the lock.\n", one_line(script.string()));
  output.out << fmt::format("{} is written. Next:\n  lockstep run {}\n  lockstep check {}\n", one_line(file.string()),
                            one_line(file.string()), one_line(file.string()));
  return Exit::as_expected;
}

}  // namespace lockstep::cli
