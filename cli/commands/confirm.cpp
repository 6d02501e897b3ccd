#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/output_files.hpp"
#include "cli/interrupt.hpp"
#include "confirm/confirm.hpp"
#include "confirm/record.hpp"
#include "confirm/report.hpp"
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
                                                              const Call& call, Output& output) {
  const Interrupt interrupt;
  confirm::ConfirmOptions options;
  if (call.confirm.host) options.server = confirm::Endpoint{*call.confirm.host, call.confirm.port};
  options.flush = call.confirm.flush;
  if (call.confirm.longest) options.longest = *call.confirm.longest;
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
  const std::size_t jobs = options.server ? 1 : call.jobs * kAtOncePerJob;
  scenarios::in_parallel(stories.size(), jobs, [&](std::size_t i) {
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

}  // namespace

Exit confirm_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const std::optional<std::vector<Scenario>> loaded = load_all(call.files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
  if (!call.confirm.host && confirm::installed_redis_version().empty()) {
    output.err << "lockstep: no redis-server is installed: apt-get install redis-server, or name one that runs "
                  "elsewhere by --redis=HOST:PORT\n";
    return Exit::bad_input;
  }
  std::vector<std::string> inputs;
  for (const Scenario& story : *loaded) inputs.push_back(story.file);
  const OutputOption outputs[] = {
      {"--record", call.confirm.record}, {"--table", call.confirm.table}, {"--junit", call.junit}};
  if (const std::optional<std::string> trouble = refuse_outputs(outputs, inputs)) {
    output.err << "lockstep: " << *trouble << '\n';
    return Exit::bad_input;
  }
  std::optional<confirm::Record> record;
  const std::string folder =
      call.confirm.record ? std::filesystem::path(*call.confirm.record).parent_path().string() : ".";
  if (call.confirm.record) {
    const auto stray =
        std::find_if(loaded->begin(), loaded->end(), [&](const Scenario& s) { return !is_below(s, folder); });
    if (stray != loaded->end()) {
      output.err << fmt::format(
          "lockstep: --record {}: {} is not in a folder below it; put the record above the stories\n",
          *call.confirm.record, stray->file);
      return Exit::bad_input;
    }
    record = read_record_file(*call.confirm.record, output.err);
    if (!record) return Exit::bad_input;
  }
  const auto result = confirm_each(*loaded, catalogue, call, output);
  if (const Stopped* stopped = std::get_if<Stopped>(&result)) {
    output.err << (stopped->by_user ? "lockstep: interrupted\n" : fmt::format("lockstep: {}\n", stopped->trouble));
    return stopped->by_user ? Exit::incomplete : Exit::bad_input;
  }
  const auto& confirmations = std::get<std::vector<Confirmation>>(result);
  if (call.json) {
    output.out << confirm::json(confirmations);
  } else {
    output.out << reports::to_string(confirmations.size() == 1 ? confirm::report(confirmations.front(), output.width)
                                                               : confirm::report(confirmations, output.width),
                                     output.colour);
  }
  if (call.junit && !write_file(*call.junit, confirm::junit_xml(*loaded, confirmations), output.err))
    return Exit::bad_input;
  if (!record) record.emplace();
  confirm::add(*record, confirmations, folder, today());
  if (call.confirm.record && !write_file(*call.confirm.record, confirm::text_of(*record), output.err))
    return Exit::bad_input;
  if (call.confirm.table && !write_file(*call.confirm.table, confirm::table_of(*record), output.err))
    return Exit::bad_input;
  return exit_of(confirmations);
}

}  // namespace lockstep::cli
