#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/arguments/call.hpp"
#include "cli/commands/output_files.hpp"
#include "scenarios/format/new_story.hpp"
#include "scenarios/story/own_lock.hpp"
#include "scenarios/story/suggestion.hpp"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;
using scenarios::one_line;

class NewStory final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "new",
        .summary = "write a scenario file to begin with",
        .example = "new mine --algorithm redlock-seq",
        .head =
            R"(Writes a scenario file to begin with: two clients, one lock, a pause that might come, and comments that say what to
try. A file that is there already is left as it is.

usage: lockstep new NAME [OPTIONS]
       lockstep new --lock [NAME]

)",
        .options = {text({"--algorithm", "NAME", "of lockstep list algorithms (set-nx-px-lua)"}, algorithm_),
                    flag({"--lock", "",
                          "a lock of your own as well: NAME.lua, a Lua script, and NAME.toml, a story about it\n"
                          "(my-lock, if no name is given; docs/your-own-lock.md)"},
                         lock_)},
        .tail = R"(
example: lockstep new mine
example: lockstep new stories/mine.toml --algorithm redisson-lock
example: lockstep new --lock my-lock
)",
        .json = "",
        .is_laid_out = false};
  }

  std::string mistake() override {
    if (lock_ && algorithm_)
      return "--lock writes a lock of your own, and --algorithm names one that there is; leave out one of them";
    if (lock_ && files.empty()) files.emplace_back("my-lock");
    if (files.size() != 1 || files.front().empty()) return "new needs the name of one story, e.g. lockstep new mine";
    return "";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  std::optional<std::string> algorithm_;
  bool lock_ = false;
};

Exit NewStory::perform(const models::locks::Catalogue& catalogue, Output& output) {
  fs::path file = files.front();
  // Who asks for a lock may name either of the two files.
  if (lock_ && file.extension() == ".lua") file.replace_extension(".toml");
  if (file.extension() != ".toml") file += ".toml";
  std::error_code error;
  if (fs::exists(fs::symlink_status(file, error)))
    return refuse(output, fmt::format("{} is there already; choose another name", one_line(file.string())));
  fs::path script = file;
  script.replace_extension(".lua");
  if (lock_) {
    if (fs::exists(fs::symlink_status(script, error)))
      return refuse(output, fmt::format("{} is there already; choose another name", one_line(script.string())));
    if (!write_file(script.string(), scenarios::new_lock(), output.err)) return Exit::bad_input;
  }
  scenarios::OwnLock own;
  const std::string algorithm = algorithm_.value_or("set-nx-px-lua");
  const models::locks::Entry* entry = catalogue.find(algorithm);
  if (lock_) {
    auto read = scenarios::read_own_lock(script);
    if (const auto* problem = std::get_if<std::string>(&read)) return refuse(output, *problem);
    own = std::get<scenarios::OwnLock>(std::move(read));
    entry = own.entry.get();
  }
  if (entry == nullptr) {
    return refuse(output, not_one_of("--algorithm", algorithm, catalogue.ids()));
  }
  // What can be shown can be a title, whatever the file is called.
  const std::string title = one_line(file.stem().string());
  // A hint at a file that is not there would be a mistake in every editor.
  constexpr std::string_view kSchemaFile = "lockstep.schema.json";
  const bool has_schema = fs::is_regular_file(file.parent_path() / kSchemaFile, error);
  const std::string text = (has_schema ? fmt::format("#:schema {}\n", kSchemaFile) : "") +
                           scenarios::new_story(*entry, title, one_line(file.string()));
  if (!write_file(file.string(), text, output.err)) return Exit::bad_input;
  if (lock_) output.out << fmt::format("{} is written: the lock.\n", one_line(script.string()));
  output.out << fmt::format("{} is written. Next:\n  lockstep run {}\n  lockstep check {}\n", one_line(file.string()),
                            one_line(file.string()), one_line(file.string()));
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> new_call() { return std::make_unique<NewStory>(); }

}  // namespace lockstep::cli
