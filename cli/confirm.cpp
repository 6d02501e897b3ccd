#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <ostream>
#include <variant>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "confirm/confirm.hpp"
#include "confirm/report.hpp"
#include "scenarios/in_parallel.hpp"

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
      if (output.progress) output.err << fmt::format("\r{} of {} stories played\x1b[K", done, stories.size()) << std::flush;
    } catch (const confirm::Interrupted&) {
      stop({.by_user = true});
    } catch (const confirm::ServerTrouble& trouble) {
      stop({.trouble = trouble.what()});
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

}  // namespace

Exit confirm_stories(const Call& call, const models::locks::Catalogue& catalogue, Output& output) {
  const std::optional<std::vector<Scenario>> loaded = load_all(call.files, catalogue, output.err);
  if (!loaded) return Exit::bad_input;
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
  return exit_of(confirmations);
}

}  // namespace lockstep::cli
