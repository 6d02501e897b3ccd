#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/load_all.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/formats/format.hpp"
#include "cli/interrupt.hpp"
#include "confirm/confirm.hpp"
#include "confirm/record.hpp"
#include "confirm/report.hpp"
#include "scenarios/story/suggestion.hpp"
#include "scenarios/workers/in_parallel.hpp"

namespace lockstep::cli {
namespace {

using confirm::Confirmation;
using confirm::Standing;
using scenarios::Scenario;

/// A story that is played does little but wait: more of them than there are cores share one.
constexpr std::size_t kAtOncePerJob = 4;

struct Stopped {
  bool by_user = false;
  std::string trouble;
};

std::variant<std::vector<Confirmation>, Stopped> confirm_each(const std::vector<Scenario>& stories,
                                                              const models::locks::Catalogue& catalogue,
                                                              confirm::ConfirmOptions options, std::size_t jobs,
                                                              Output& output) {
  const Interrupt interrupt;
  std::vector<Confirmation> results(stories.size());
  std::mutex mutex;
  std::optional<Stopped> stopped;
  std::size_t done = 0;
  const auto is_stopped = [&] {
    const std::lock_guard lock(mutex);
    return stopped.has_value();
  };
  options.interrupted = [&] { return is_stopped() || interrupt.is_requested(); };
  const auto stop = [&](Stopped why) {
    const std::lock_guard lock(mutex);
    if (!stopped) stopped = std::move(why);
  };
  // What is on somebody else's server belongs to one story at a time.
  const std::size_t at_once = options.server ? 1 : jobs * kAtOncePerJob;
  scenarios::in_parallel(stories.size(), at_once, [&](std::size_t i) {
    if (is_stopped()) return;
    try {
      results[i] = confirm::confirm(stories[i], catalogue, options);
      const std::lock_guard lock(mutex);
      ++done;
      if (output.progress)
        output.err << fmt::format("\r{} of {} stories played\x1b[K", done, stories.size()) << std::flush;
    } catch (const confirm::Interrupted&) {
      stop({.by_user = true});
    } catch (const confirm::ServerTrouble& trouble) {
      // Of somebody else's server every story says the same.
      if (options.server) return stop({.trouble = trouble.what()});
      results[i] = {.file = stories[i].file, .id = stories[i].id, .algorithm = stories[i].lock.algorithm};
      results[i].reason = trouble.what();
    }
  });
  if (output.progress) output.err << "\r\x1b[K" << std::flush;
  if (stopped) return *stopped;
  return results;
}

Exit exit_of(const std::vector<Confirmation>& results) {
  const auto any = [&](auto... standings) {
    return std::any_of(results.begin(), results.end(),
                       [&](const Confirmation& c) { return ((c.standing == standings) || ...); });
  };
  if (any(Standing::differs)) return Exit::not_as_expected;
  return any(Standing::disturbed, Standing::cannot_be_played) ? Exit::incomplete : Exit::as_expected;
}

std::string today() {
  // tidy: real processes — a record says when they were there.
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// What stands in the record of other stories, stays. Nothing after a message, if it is no record.
std::optional<confirm::Record> read_record_file(const std::string& file, std::ostream& err) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return confirm::Record();
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  auto read = confirm::read_record(text);
  if (const auto* trouble = std::get_if<std::string>(&read)) {
    err << fmt::format("lockstep: {} is no record of confirmations: {}; name another file, or remove it\n", file,
                       *trouble);
    return std::nullopt;
  }
  return std::get<confirm::Record>(std::move(read));
}

/// Records are about the stories of their folder, and of those below it.
bool is_below(const Scenario& story, const std::string& folder) {
  return !confirm::key_of(story.file, folder).starts_with("..");
}

class Confirm final : public Call {
 public:
  Manual manual() override {
    return {
        .name = "confirm",
        .summary = "play scenario files at real Redis servers: does what the model shows happen there, too?",
        .example = "confirm scenarios/stories/redis-lock-java --redis",
        .head = R"(Plays what run shows at real Redis servers, and says whether the same happens there.

usage: lockstep confirm FILE|DIR... --redis[=HOST:PORT] [OPTIONS]

The clients, their lock code, the network and the faults are the scenario's; the servers are processes of
redis-server, and what clients hear is what those answer. Time is real, slowed down or sped up for each
scenario so that nothing comes near the end of a lease. docs/manual/confirm.md has more.

)",
        .options = {word(
                        {"--redis", "", "our own servers, started in a temporary folder and gone afterwards"},
                        [this](const std::string& value) { return take_server(value); }, Option::Takes::a_word_if_any),
                    {.name = "--redis=HOST:PORT",
                     .help = "a server that is there; it must be empty, and keeps nothing of it"},
                    flag({"--flush", "", "of that server: delete whatever is on it first"}, options_.flush),
                    length({"--max-seconds", "N",
                            "a scenario that takes longer, however fast it is played, is not played (120)"},
                           "seconds", options_.longest),
                    file({"--record", "FILE",
                          "keep what came out, beside what the file knows of other scenarios; lockstep\n"
                          "list failures reads scenarios/confirmed.json"},
                         {}, record_),
                    file({"--table", "FILE", "the same as a table for people (Markdown)"}, {"lockstep confirm"},
                         table_)},
        .tail = R"(
Exit status: 0 all confirmed, 1 something differs, 2 the input or the call was wrong or no server could be
had, 3 something could not be played, or this machine was too busy for it.

example: lockstep confirm scenarios/stories/redis-lock-java/f000-2-both-delete-expired.toml --redis
)",
        .jobs = "threads (as many as there are cores); four scenarios at once for each",
        .has_cases = true};
  }

  std::string mistake() override {
    if (files.empty())
      return "confirm needs scenario files or directories, e.g. lockstep confirm scenarios/stories/redis-lock-java "
             "--redis";
    if (!is_redis_) return "confirm needs to know which kind of server: --redis, or --redis=HOST:PORT";
    if (options_.flush && !options_.server) return "--flush is for a server that is not ours: --redis=HOST:PORT";
    return "";
  }

  Exit perform(const models::locks::Catalogue& catalogue, Output& output) override;

 private:
  /// "HOST:PORT", or nothing at all: a server of our own.
  std::string take_server(const std::string& value) {
    is_redis_ = true;
    if (value.empty()) return std::string();
    const std::size_t colon = std::min(value.rfind(':'), value.size());
    const auto port = whole_number(value.substr(std::min(colon + 1, value.size())), 1, 65535);
    if (!port || colon == 0) {
      return fmt::format(
          "--redis={}: expected HOST:PORT, e.g. --redis=127.0.0.1:6379, or "
          "--redis alone",
          scenarios::in_quotes(value));
    }
    options_.server = {value.substr(0, colon), static_cast<std::uint16_t>(*port)};
    return std::string();
  }

  confirm::ConfirmOptions options_;
  bool is_redis_ = false;
  std::optional<std::string> record_;
  std::optional<std::string> table_;
};

Exit Confirm::perform(const models::locks::Catalogue& catalogue, Output& output) {
  const std::optional<std::vector<Scenario>> loaded = load_all(*this, files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (!options_.server && confirm::installed_redis_version().empty()) {
    return refuse(output,
                  "no redis-server is installed: apt-get install redis-server, or name one that runs elsewhere by "
                  "--redis=HOST:PORT");
  }
  std::optional<confirm::Record> record = confirm::Record();
  const std::string folder = record_ ? std::filesystem::path(*record_).parent_path().string() : ".";
  if (record_) {
    const auto stray =
        std::find_if(loaded->begin(), loaded->end(), [&](const Scenario& s) { return !is_below(s, folder); });
    if (stray != loaded->end()) {
      return refuse(output, fmt::format("--record {}: {} is not in a folder below it; put the record above the stories",
                                        *record_, stray->file));
    }
    record = read_record_file(*record_, output.err);
    if (!record) return Exit::bad_input;
  }
  const auto result = confirm_each(*loaded, catalogue, options_, jobs, output);
  if (const Stopped* stopped = std::get_if<Stopped>(&result)) {
    refuse(output, stopped->by_user ? "interrupted" : stopped->trouble);
    return stopped->by_user ? Exit::incomplete : Exit::bad_input;
  }
  const auto& confirmations = std::get<std::vector<Confirmation>>(result);
  const auto lines = [&] {
    return confirmations.size() == 1 ? confirm::report(confirmations.front(), output.width)
                                     : confirm::report(confirmations, output.width);
  };
  if (!report(*this,
              {.lines = lines,
               .json = [&] { return confirm::json(confirmations); },
               .cases = [&] { return confirm::junit_cases(*loaded, confirmations); }},
              output))
    return Exit::bad_input;
  confirm::add(*record, confirmations, folder, today());
  if (record_ && !write_file(*record_, confirm::text_of(*record), output.err)) return Exit::bad_input;
  if (table_ && !write_file(*table_, confirm::table_of(*record), output.err)) return Exit::bad_input;
  return exit_of(confirmations);
}

}  // namespace

std::unique_ptr<Call> confirm_call() { return std::make_unique<Confirm>(); }

}  // namespace lockstep::cli
