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

With --clients, --work, --pause, --failover or --redisson it is a file about a deployment as a team knows it:
how many instances, how long a job works, the longest pause, whether a replica takes over.

)",
        .options = {text({"--algorithm", "NAME", "of lockstep list algorithms (set-nx-px-lua)"}, algorithm_),
                    whole({"--clients", "N", "instances that compete for the lock (2), 1 to 16"}, {.min = 1, .max = 16},
                          clients_),
                    word({"--work", "LENGTH", "how long a job works with the lock: 2s, or 2s..15s"},
                         [this](const std::string& value) { return take_work(value); }),
                    word({"--pause", "LENGTH", "the longest pause of an instance to reckon with: 5s"},
                         [this](const std::string& value) { return take_pause(value); }),
                    flag({"--failover", "", "a replica takes over when the primary dies"}, failover_),
                    text({"--redisson", "CALL",
                          "the call in your code: 'tryLock(5s, 10s)', 'tryLock(5, 10, TimeUnit.SECONDS)', 'lock()'"},
                         redisson_),
                    flag({"--lock", "",
                          "a lock of your own as well: NAME.lua, a Lua script, and NAME.toml, a story about it\n"
                          "(my-lock, if no name is given; docs/your-own-lock.md)"},
                         lock_)},
        .tail = R"(
example: lockstep new mine
example: lockstep new stories/mine.toml --algorithm redisson-lock
example: lockstep new orders --redisson 'tryLock(5s, 10s)' --clients 3 --work 2s..15s --pause 5s --failover
example: lockstep new --lock my-lock
)",
        .json = "",
        .is_laid_out = false};
  }

  std::string mistake() override {
    if (lock_ && algorithm_)
      return "--lock writes a lock of your own, and --algorithm names one that there is; leave out one of them";
    if (redisson_ && algorithm_)
      return "--redisson is about redisson-lock, and --algorithm names one, too; leave out one of them";
    if (lock_ && is_of_deployment())
      return "--lock writes a lock and a small story about it; leave out --clients, --work, --pause, --failover and "
             "--redisson";
    if (lock_ && files.empty()) files.emplace_back("my-lock");
    if (files.size() != 1 || files.front().empty()) return "new needs the name of one story, e.g. lockstep new mine";
    return "";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  std::string take_work(const std::string& value);
  std::string take_pause(const std::string& value);
  bool is_of_deployment() const { return clients_ || work_ || pause_ || failover_ || redisson_; }

  std::optional<std::string> algorithm_;
  bool lock_ = false;
  std::optional<std::uint64_t> clients_;
  std::optional<sim::DurationRange> work_;
  std::optional<sim::Duration> pause_;
  bool failover_ = false;
  std::optional<std::string> redisson_;
};

std::string NewStory::take_work(const std::string& value) {
  const std::string wrong = expected("--work", value, "a length such as 2s, or two of them such as 2s..15s");
  const std::size_t dots = value.find("..");
  const auto least = sim::parse_duration(std::string_view(value).substr(0, dots));
  const auto most = dots == std::string::npos ? least : sim::parse_duration(std::string_view(value).substr(dots + 2));
  if (!least || !most || *least < sim::Duration::zero() || *most < *least) return wrong;
  work_ = sim::DurationRange{*least, *most};
  return "";
}

std::string NewStory::take_pause(const std::string& value) {
  pause_ = sim::parse_duration(value);
  const bool is_good = pause_ && *pause_ > sim::Duration::zero();
  return is_good ? "" : expected("--pause", value, "a length such as 5s");
}

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
  scenarios::KnownDeployment known;
  known.clients = static_cast<std::int64_t>(clients_.value_or(2));
  if (work_) known.work = *work_;
  known.pause = pause_;
  known.failover = failover_;
  if (redisson_) {
    auto call = scenarios::redisson_call(*redisson_);
    if (const auto* wrong = std::get_if<std::string>(&call))
      return refuse(output, expected("--redisson", *redisson_, *wrong));
    known.parameters = std::get<scenarios::RedissonCall>(std::move(call)).parameters;
  }
  const std::string algorithm = algorithm_.value_or(redisson_ ? "redisson-lock" : "set-nx-px-lua");
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
                           (is_of_deployment() ? scenarios::new_story(*entry, title, one_line(file.string()), known)
                                               : scenarios::new_story(*entry, title, one_line(file.string())));
  if (!write_file(file.string(), text, output.err)) return Exit::bad_input;
  if (lock_) output.out << fmt::format("{} is written: the lock.\n", one_line(script.string()));
  output.out << fmt::format("{} is written. Next:\n  lockstep run {}\n  lockstep check {}\n", one_line(file.string()),
                            one_line(file.string()), one_line(file.string()));
  return Exit::as_expected;
}

}  // namespace

std::unique_ptr<Call> new_call() { return std::make_unique<NewStory>(); }

}  // namespace lockstep::cli
